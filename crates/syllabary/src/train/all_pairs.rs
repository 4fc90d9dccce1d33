//! Every pair of one corpus, with its count and its places, kept true while tokens merge.
//!
//! The array is that of a corpus whose distinct pieces lie one after the other; a token has its id at the first
//! and the last of its places, so that neighbours are found without a list. Unlike where one corpus alone is
//! trained on, rare pairs are kept: what is rare in one language may be merged for another. Bound: all merges
//! together visit at most as many places as the pieces have symbols.
//!
//! Leaves out: which pair merges (`parity`).

use rustc_hash::FxHashMap;

use crate::{
    Error,
    train::{GoOn, ask},
};

/// Between two pieces.
const SEPARATOR: u32 = u32::MAX;
/// Places that share an entry of `AllPairs::blocks`.
const BLOCK_BITS: u32 = 6;

/// The ids of a pair.
pub(super) type Pair = (u32, u32);

#[derive(Debug, Default)]
struct Entry {
    count: u64,
    /// Where it stood when it was born, ascending.
    places: Vec<u32>,
}

/// One corpus in ids, and its pairs.
#[derive(Debug, Default)]
pub(super) struct AllPairs {
    places: Vec<u32>,
    /// Where each piece begins, and how often it occurs.
    starts: Vec<u32>,
    counts: Vec<u64>,
    /// The piece that holds place `64 * k`.
    blocks: Vec<u32>,
    pairs: FxHashMap<Pair, Entry>,
    tokens: u64,
    max_length: u32,
}

impl AllPairs {
    /// An empty corpus; pairs longer than `max_length` symbols are not counted.
    pub fn new(max_length: u32) -> AllPairs {
        AllPairs { places: vec![SEPARATOR], max_length, ..AllPairs::default() }
    }

    /// Adds a piece that occurs `count` times; `spell` pushes its symbols.
    pub fn push(&mut self, count: u64, spell: impl FnOnce(&mut Vec<u32>)) -> Result<(), Error> {
        let start = self.places.len();
        self.starts.push(place(start)?);
        spell(&mut self.places);
        self.tokens = self.tokens.saturating_add(count.saturating_mul((self.places.len() - start) as u64));
        self.places.push(SEPARATOR);
        self.counts.push(count);
        Ok(())
    }

    /// Finds the pairs, once all pieces are there.
    pub fn finish(&mut self, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let end = place(self.places.len())?;
        let mut piece = 0;
        for first in (0..end).step_by(1 << BLOCK_BITS) {
            while self.starts.get(piece as usize + 1).is_some_and(|&start| start <= first) {
                piece += 1;
            }
            self.blocks.push(piece);
        }
        for at in 1..end.saturating_sub(1) {
            ask(go_on, at as usize)?;
            let pair = (self.places[at as usize], self.places[at as usize + 1]);
            if pair.0 != SEPARATOR && pair.1 != SEPARATOR && self.max_length >= 2 {
                let count = self.count_at(at);
                let entry = self.pairs.entry(pair).or_default();
                entry.count = entry.count.saturating_add(count);
                entry.places.push(at);
            }
        }
        Ok(())
    }

    /// How many tokens the corpus has now.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// How often a pair occurs.
    #[inline]
    pub fn count(&self, pair: Pair) -> u64 {
        self.pairs.get(&pair).map_or(0, |entry| entry.count)
    }

    /// Every pair with its count, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Pair, u64)> {
        self.pairs.iter().map(|(&pair, entry)| (pair, entry.count))
    }

    /// Replaces the pair everywhere, from the left, by token `id`, and adds the pairs that this bears to `born`.
    /// `lengths`: token -> symbols, that of `id` included.
    pub fn merge(
        &mut self,
        pair: Pair,
        id: u32,
        lengths: &[u32],
        born: &mut Vec<Pair>,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        let Some(entry) = self.pairs.remove(&pair) else { return Ok(()) };
        let length = |token: u32| lengths[token as usize];
        for (at, &place) in entry.places.iter().enumerate() {
            ask(go_on, at)?;
            let end = place + length(pair.0);
            if !self.stands(pair, place, end) {
                continue;
            }
            let count = self.count_at(place);
            let end = end + length(pair.1);
            let (before, after) = (self.places[place as usize - 1], self.places[end as usize]);
            self.places[place as usize] = id;
            self.places[end as usize - 1] = id;
            self.tokens = self.tokens.saturating_sub(count);
            // subtle: in a row `before` may be the new token itself, whose pair with the old one was just born.
            if before != SEPARATOR {
                self.lower((before, pair.0), count);
                if u64::from(length(before)) + u64::from(length(id)) <= u64::from(self.max_length) {
                    self.raise((before, id), count, place - length(before), born);
                }
            }
            if after != SEPARATOR {
                self.lower((pair.1, after), count);
                if u64::from(length(after)) + u64::from(length(id)) <= u64::from(self.max_length) {
                    self.raise((id, after), count, place, born);
                }
            }
        }
        Ok(())
    }

    /// Whether the pair still stands at a place where it was born; its right token would begin at `middle`.
    fn stands(&self, (left, right): Pair, place: u32, middle: u32) -> bool {
        let middle = middle as usize;
        self.places[place as usize] == left && self.places[middle - 1] == left && self.places[middle] == right
    }

    fn lower(&mut self, pair: Pair, count: u64) {
        if let Some(entry) = self.pairs.get_mut(&pair) {
            entry.count = entry.count.saturating_sub(count);
        }
    }

    fn raise(&mut self, pair: Pair, count: u64, place: u32, born: &mut Vec<Pair>) {
        let entry = self.pairs.entry(pair).or_default();
        if entry.places.is_empty() {
            born.push(pair);
        }
        entry.count = entry.count.saturating_add(count);
        entry.places.push(place);
    }

    /// How often the piece that holds `at` occurs.
    fn count_at(&self, at: u32) -> u64 {
        let mut piece = self.blocks[(at >> BLOCK_BITS) as usize] as usize;
        while self.starts.get(piece + 1).is_some_and(|&start| start <= at) {
            piece += 1;
        }
        self.counts[piece]
    }
}

fn place(at: usize) -> Result<u32, Error> {
    u32::try_from(at)
        .ok()
        .filter(|&at| at < SEPARATOR)
        .ok_or_else(|| Error::TooLarge("the distinct pieces of one language exceed 2^32 symbols".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(pieces: &[(&[u32], u64)]) -> AllPairs {
        let mut found = AllPairs::new(u32::MAX);
        for (piece, count) in pieces {
            found.push(*count, |places| places.extend_from_slice(piece)).unwrap();
        }
        found.finish(&mut || true).unwrap();
        found
    }

    #[test]
    fn counts_are_those_of_the_merged_sequences() {
        let mut found = corpus(&[(&[0, 0, 0, 0, 1], 3), (&[1, 0, 0, 0], 2)]);
        assert_eq!((found.tokens(), found.count((0, 0)), found.count((0, 1))), (23, 13, 3));
        let mut born = Vec::new();
        found.merge((0, 0), 2, &[1, 1, 2], &mut born, &mut || true).unwrap();
        // 2 2 1 | 1 2 0
        let mut counts: Vec<_> = found.iter().filter(|&(_, count)| count > 0).collect();
        counts.sort_unstable();
        assert_eq!(counts, [((1, 2), 2), ((2, 0), 2), ((2, 1), 3), ((2, 2), 3)]);
        assert_eq!(found.tokens(), 15);
    }
}
