//! The words of a corpus when all of them are counted, in memory or perhaps on disk.
//!
//! Leaves out counting (`huggingface_words`), and what is learned (`huggingface_learn`).

use std::{collections::BTreeMap, path::PathBuf};

use super::{GoOn, ask, frequent::Best, stored::Stored, table::PieceTable, tally};
use crate::Error;

/// All words of a corpus with their counts.
pub enum Counted {
    /// In memory.
    Table(PieceTable),
    /// Under a limit of memory.
    Stored(Stored),
}

impl Counted {
    /// The number of distinct words.
    #[must_use]
    pub fn distinct(&self) -> usize {
        match self {
            Counted::Table(table) => table.len(),
            Counted::Stored(stored) => stored.distinct(),
        }
    }

    /// Calls `f` with every word, in no order, but each time in the same.
    pub(super) fn each(&self, f: &mut impl FnMut(&[u8], u64) -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Counted::Table(table) => table.iter().try_for_each(|(word, count)| f(word, count)),
            Counted::Stored(stored) => stored.each(&mut |counted| f(counted.piece, counted.count)),
        }
    }

    /// The characters of all words with their counts, by code point.
    ///
    /// # Errors
    /// What the system refuses, where words are on disk.
    pub fn characters(&self) -> Result<BTreeMap<char, u64>, Error> {
        let mut counts = BTreeMap::new();
        self.each(&mut |word, count| {
            for character in String::from_utf8_lossy(word).chars() {
                let total: &mut u64 = counts.entry(character).or_default();
                *total = total.saturating_add(count);
            }
            Ok(())
        })?;
        Ok(counts)
    }

    /// The words that occur `least` times or more, the most frequent first and equal ones in order; at most `most`.
    /// memory: bytes that there are for them.
    ///
    /// # Errors
    /// `Error::Training` where so many words do not fit; `Error::Interrupted`; what the system refuses.
    pub fn most_frequent(
        &self,
        least: u64,
        most: usize,
        memory: Option<usize>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Vec<(String, u64)>, Error> {
        let room = memory.map_or(usize::MAX, |bytes| bytes.saturating_sub(self.memory()));
        let (mut best, mut step) = (Best::new(most, room), 0);
        self.each(&mut |piece, count| {
            step += 1;
            ask(go_on, step)?;
            if count < least { Ok(()) } else { best.take(tally::Counted { piece, count, first: 0 }) }
        })?;
        Ok(best.sorted())
    }

    /// A file that may be made beside the words, if memory is limited.
    pub(super) fn beside(&self, name: &str) -> Option<PathBuf> {
        match self {
            Counted::Table(_) => None,
            Counted::Stored(stored) => stored.beside(name),
        }
    }

    /// The bytes of memory that words take which are on disk where there are too many.
    pub(super) fn memory(&self) -> usize {
        match self {
            Counted::Table(_) => 0,
            Counted::Stored(stored) => stored.memory(),
        }
    }
}
