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
    len: usize,
}

impl Stored {
    /// The sum of tallies, and of what is in `room` on disk.
    pub(super) fn of(room: &Arc<Room>, tallies: Vec<Tally>, go_on: &mut GoOn<'_>) -> Result<Stored, Error> {
        let (tally, len) = room.sum(tallies, go_on)?;
        Ok(Stored { tally, room: Arc::clone(room), len })
    }

    /// The number of distinct pieces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no piece was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
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
