//! Pairs that came to be while others were joined, and were never joined themselves.
//!
//! sentencepiece takes them too when no pair occurs any more. Each word is joined again, by itself; what two
//! neighbours there were is noted, also those that were neighbours only while one pair was joined at its places,
//! from left to right: in `abab`, `ab`+`a` is there before `ab`+`ab` is. Linear in the characters, but for a
//! logarithm. Leaves out their order (`sentencepiece`).

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{piece_rules::Shapes, sequences::SEPARATOR};

/// No place.
const NONE: usize = usize::MAX;
/// What stands at a place whose symbol was joined to the one before.
const GONE: u32 = SEPARATOR;

type Pair = (u32, u32);

/// The pairs, and one word at a time.
pub(super) struct Joining<'s> {
    shapes: &'s Shapes,
    merged: FxHashMap<Pair, u32>,
    merges: &'s [Pair],
    /// The id of the first of the merges.
    first: u32,
    found: FxHashSet<Pair>,
    symbols: Vec<u32>,
    before: Vec<usize>,
    after: Vec<usize>,
    /// What to join next: the pair joined first, at its first place.
    queue: BinaryHeap<Reverse<(u32, usize)>>,
}

impl<'s> Joining<'s> {
    /// For pairs that `shapes` allow.
    pub fn new(merges: &'s [Pair], shapes: &'s Shapes) -> Joining<'s> {
        // Shapes are of characters and then of merges.
        let first = (shapes.len() - merges.len()) as u32;
        Joining {
            shapes,
            merged: merges.iter().copied().zip(first..).collect(),
            merges,
            first,
            found: FxHashSet::default(),
            symbols: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            queue: BinaryHeap::new(),
        }
    }

    /// How many pairs were found by now, merges not counted.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Keeps so many pairs, those of the least keys.
    pub fn keep<K: Ord>(&mut self, most: usize, key: impl Fn(Pair) -> K) {
        if self.found.len() > most {
            let mut all: Vec<_> = self.found.drain().map(|pair| (key(pair), pair)).collect();
            all.sort_unstable();
            self.found.extend(all.into_iter().take(most).map(|(_, pair)| pair));
        }
    }

    /// All pairs that came to be, but for merges; in no order.
    pub fn into_found(self) -> impl Iterator<Item = Pair> {
        self.found.into_iter()
    }
}

impl Joining<'_> {
    /// Joins the symbols of a word as they were joined.
    pub fn word(&mut self, symbols: &[u32]) {
        self.symbols.clear();
        self.symbols.extend_from_slice(symbols);
        let length = self.symbols.len();
        self.before.clear();
        self.before.extend((0..length).map(|at| at.checked_sub(1).unwrap_or(NONE)));
        self.after.clear();
        self.after.extend((1..=length).map(|at| if at < length { at } else { NONE }));
        (1..length).for_each(|at| self.note(at - 1, at));
        while let Some(Reverse((id, at))) = self.queue.pop() {
            let (left, right) = self.merges[(id - self.first) as usize];
            let other = self.after[at];
            if self.symbols[at] != left || other == NONE || self.symbols[other] != right {
                continue;
            }
            let (before, after) = (self.before[at], self.after[other]);
            (self.symbols[at], self.symbols[other]) = (id, GONE);
            self.after[at] = after;
            if before != NONE {
                self.note(before, at);
            }
            if after != NONE {
                self.before[after] = at;
                self.note(at, after);
            }
        }
    }

    /// The symbols at two places are neighbours now.
    fn note(&mut self, at: usize, after: usize) {
        let pair = (self.symbols[at], self.symbols[after]);
        if let Some(&id) = self.merged.get(&pair) {
            self.queue.push(Reverse((id, at)));
        } else if self.shapes.fit(pair) {
            self.found.insert(pair);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::piece_rules::{Character, PieceRules, Script};

    #[test]
    fn what_is_there_for_a_moment_is_found() {
        let letters = ['a', 'b'].map(|text| Character { text, script: Script::ANY, refused: false });
        let rules = PieceRules {
            max_sentencepiece_length: 4,
            split_by_whitespace: true,
            treat_whitespace_as_suffix: false,
            allow_whitespace_only_pieces: false,
        };
        let mut shapes = Shapes::of(&letters, rules);
        shapes.join((0, 1));
        // `ababa` becomes `ab` `ab` `a`.
        let merges = [(0, 1)];
        let mut joining = Joining::new(&merges, &shapes);
        joining.word(&[0, 1, 0, 1, 0]);
        assert_eq!(joining.len(), 3);
        let mut found: Vec<_> = joining.into_found().collect();
        found.sort_unstable();
        assert_eq!(found, [(1, 0), (2, 0), (2, 2)]);
        let mut fewer = Joining::new(&merges, &shapes);
        fewer.word(&[0, 1, 0, 1, 0]);
        fewer.keep(2, |pair| pair);
        let mut found: Vec<_> = fewer.into_found().collect();
        found.sort_unstable();
        assert_eq!(found, [(1, 0), (2, 0)]);
    }
}
