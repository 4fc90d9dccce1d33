//! How much memory training may take, and where what exceeds it goes.
//!
//! Leaves out the files (`spill`) and what is left for pairs (`learn`).

use std::path::PathBuf;

use super::{GoOn, spill::Spill, tally::Tally};
use crate::Error;

/// A limit, or none.
#[derive(Debug, Default)]
pub struct Room {
    limit: Option<Limit>,
}

#[derive(Debug)]
struct Limit {
    /// Bytes for all tallies together.
    bytes: usize,
    /// Bytes for the tally of one thread.
    share: usize,
    spill: Spill,
}

impl Room {
    /// So many bytes, of which each of `threads` has its share; what exceeds them goes to files in `folder`.
    pub fn new(bytes: usize, threads: usize, folder: PathBuf) -> Room {
        let share = bytes / threads.max(1);
        Room { limit: Some(Limit { bytes, share, spill: Spill::new(folder) }) }
    }

    /// Makes room in a tally for so many pieces more.
    pub(super) fn make(&self, tally: &mut Tally, more: usize) -> Result<(), Error> {
        match &self.limit {
            Some(limit) if tally.exceeds(more, limit.share) => limit.spill.take(tally, &mut || true),
            _ => Ok(()),
        }
    }

    /// The bytes that there are, if they are limited.
    pub(super) fn bytes(&self) -> Option<usize> {
        self.limit.as_ref().map(|limit| limit.bytes)
    }

    /// A file of another kind beside the pieces, if memory is limited.
    pub(super) fn beside(&self, name: &str) -> Option<PathBuf> {
        self.limit.as_ref().map(|limit| limit.spill.beside(name))
    }

    /// What is on disk, if anything is.
    pub(super) fn spilled(&self) -> Option<&Spill> {
        self.limit.as_ref().map(|limit| &limit.spill).filter(|spill| !spill.is_empty())
    }

    /// Adds tallies up, in memory or on disk; gives the sum, empty if it is on disk, and its number of pieces.
    pub(super) fn sum(&self, mut tallies: Vec<Tally>, go_on: &mut GoOn<'_>) -> Result<(Tally, usize), Error> {
        // Into the largest: fewer pieces move.
        tallies.sort_by_key(Tally::len);
        if let Some(limit) = &self.limit {
            // While they are spelled, with four bytes for each symbol, they are still there.
            let needed = |tally: &Tally| 2 * tally.memory() + 4 * (tally.total_bytes() + tally.len());
            if !limit.spill.is_empty() || tallies.iter().map(needed).sum::<usize>() > limit.bytes {
                tallies.iter_mut().try_for_each(|tally| limit.spill.take(tally, go_on))?;
                drop(tallies);
                return Ok((Tally::default(), limit.spill.merge(go_on)?));
            }
        }
        let mut sum = tallies.pop().unwrap_or_default();
        while let Some(other) = tallies.pop() {
            sum.merge(&other, go_on)?;
        }
        let pieces = sum.len();
        Ok((sum, pieces))
    }
}
