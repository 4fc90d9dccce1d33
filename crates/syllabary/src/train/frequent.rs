//! The most frequent words, held while all of them go by.
//!
//! Leaves out where words come from (`sentence_store`, `huggingface_words`).

use std::{cmp::Reverse, collections::BinaryHeap};

use super::tally::Counted;
use crate::Error;

/// What a word takes besides its text, with the copies that become tokens.
const WORD: usize = 128;

/// The most frequent words, of equals the smaller.
pub(super) struct Best {
    heap: BinaryHeap<(Reverse<u64>, String)>,
    bytes: usize,
    most: usize,
    /// So many bytes may be held.
    memory: usize,
}

impl Best {
    /// So many words at most, in so many bytes.
    pub fn new(most: usize, memory: usize) -> Best {
        Best { heap: BinaryHeap::new(), bytes: 0, most, memory }
    }

    /// A word, which comes once, with its count.
    ///
    /// # Errors
    /// `Error::Training` where those that are held exceed memory.
    pub fn take(&mut self, counted: Counted<'_>) -> Result<(), Error> {
        let word = std::str::from_utf8(counted.piece).unwrap_or_default();
        let count = Reverse(counted.count);
        let full = self.heap.len() >= self.most;
        if full && self.heap.peek().is_none_or(|(last, text)| (count, word) > (*last, text.as_str())) {
            return Ok(());
        }
        self.heap.push((count, word.to_owned()));
        self.bytes += WORD + word.len();
        if full && let Some((_, text)) = self.heap.pop() {
            self.bytes -= WORD + text.len();
        }
        if self.bytes <= self.memory {
            return Ok(());
        }
        Err(Error::Training(format!(
            "the memory limit is too small for this vocabulary: over {} words, each of which is a token, need \
             {} MiB; give a higher limit, or ask for fewer",
            self.heap.len(),
            self.memory >> 20
        )))
    }

    /// The most frequent first.
    pub fn sorted(self) -> Vec<(String, u64)> {
        self.heap.into_sorted_vec().into_iter().map(|(Reverse(count), word)| (word, count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(most: usize, memory: usize) -> Result<Vec<(String, u64)>, Error> {
        let mut best = Best::new(most, memory);
        for (piece, count) in [("b", 2), ("a", 2), ("c", 7), ("d", 1)] {
            best.take(Counted { piece: piece.as_bytes(), count, first: 0 })?;
        }
        Ok(best.sorted())
    }

    #[test]
    fn the_smaller_of_equals_and_no_more_than_asked_for() {
        let expected = [("c", 7), ("a", 2)].map(|(word, count)| (word.to_owned(), count));
        assert_eq!(best(2, usize::MAX).unwrap(), expected);
        assert_eq!(best(0, usize::MAX).unwrap(), []);
        assert_eq!(best(9, usize::MAX).unwrap().len(), 4);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        assert!(matches!(best(9, 3 * WORD), Err(Error::Training(_))));
        assert!(best(2, 4 * WORD).is_ok());
    }
}
