//! Pairs that came to be while others were joined, and were never joined themselves.
//!
//! sentencepiece takes them too when no pair occurs any more. Each word is joined again, by itself; what two
//! neighbours there were is noted, also those that were neighbours only while one pair was joined at its places,
//! from left to right: in `abab`, `ab`+`a` is there before `ab`+`ab` is. Linear in the characters, but for a
//! logarithm. Leaves out their order (`sentencepiece`).

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{GoOn, ask, piece_rules::Shapes, sequences::SEPARATOR};
use crate::Error;

/// No place.
const NONE: usize = usize::MAX;
/// What stands at a place whose symbol was joined to the one before.
const GONE: u32 = SEPARATOR;

type Pair = (u32, u32);

/// The pairs, and one word at a time.
struct Joining<'s> {
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

/// All pairs that `shapes` allow, that came to be in `words`, and that are none of `merges`; in no order.
pub(super) fn unused(
    words: impl Iterator<Item = impl Iterator<Item = u32>>,
    merges: &[Pair],
    shapes: &Shapes,
    go_on: &mut GoOn<'_>,
) -> Result<Vec<Pair>, Error> {
    // Shapes are of characters and then of merges.
    let first = (shapes.len() - merges.len()) as u32;
    let mut state = Joining {
        shapes,
        merged: merges.iter().copied().zip(first..).collect(),
        merges,
        first,
        found: FxHashSet::default(),
        symbols: Vec::new(),
        before: Vec::new(),
        after: Vec::new(),
        queue: BinaryHeap::new(),
    };
    for (step, symbol) in words.flatten().enumerate() {
        ask(go_on, step)?;
        if symbol == SEPARATOR {
            state.word();
        } else {
            state.symbols.push(symbol);
        }
    }
    let Joining { found, merged, .. } = state;
    Ok(found.into_iter().filter(|pair| !merged.contains_key(pair)).collect())
}

impl Joining<'_> {
    /// Joins the symbols of a word as they were joined, and forgets them.
    fn word(&mut self) {
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
        self.symbols.clear();
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
        let word = [0, 1, 0, 1, 0, SEPARATOR];
        let mut found =
            unused([word].into_iter().map(IntoIterator::into_iter), &[(0, 1)], &shapes, &mut || true)
                .unwrap();
        found.sort_unstable();
        assert_eq!(found, [(1, 0), (2, 0), (2, 2)]);
    }
}
