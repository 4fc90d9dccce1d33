//! Pieces when all of them are counted: in memory, or under a limit of memory perhaps on disk.
//!
//! Leaves out counting (`gather`, `huggingface_words`) and what the pieces are.

use std::{path::PathBuf, sync::Arc};

use super::{
    GoOn,
    memory::Room,
    spill::Order,
    tally::{Counted, Tally},
};
use crate::Error;

/// Distinct pieces with their counts.
#[derive(Debug, Default)]
pub struct Stored {
    tally: Tally,
    room: Arc<Room>,
    distinct: usize,
}

impl Stored {
    /// The sum of tallies, and of what is in `room` on disk.
    pub(super) fn of(room: &Arc<Room>, tallies: Vec<Tally>, go_on: &mut GoOn<'_>) -> Result<Stored, Error> {
        Ok(Stored::new(room, room.sum(tallies, go_on)?))
    }

    /// A sum, and its number of pieces; if it is empty and has some, these are in `room`.
    pub(super) fn new(room: &Arc<Room>, (tally, distinct): (Tally, usize)) -> Stored {
        Stored { tally, room: Arc::clone(room), distinct }
    }

    /// The number of distinct pieces.
    pub(super) fn distinct(&self) -> usize {
        self.distinct
    }

    /// Calls `f` with every piece, in no order, but each time in the same.
    pub(super) fn each(&self, f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>) -> Result<(), Error> {
        match self.room.spilled() {
            Some(spill) => spill.each(Order::Bytes, f),
            None => self.tally.each(f),
        }
    }

    /// The bytes of memory that they take.
    pub(super) fn memory(&self) -> usize {
        self.tally.memory()
    }

    /// A file that may be made beside the pieces, if memory is limited.
    pub(super) fn beside(&self, name: &str) -> Option<PathBuf> {
        self.room.beside(name)
    }

    /// The pieces as a tally, if they are in memory; nothing is left here.
    pub(super) fn into_tally(self) -> Tally {
        self.tally
    }
}
