//! The pairs that merge the symbols of a short segment.
//!
//! Of all pairs that give a token only one is ever used, the last merge when the characters of the token stand alone:
//! before a merge joins two symbols nothing has crossed the borders of what they cover, so all merges inside were, in
//! order, those of that text alone, and that run has but one state of two symbols. The others are left out, which
//! keeps the table small.
//!
//! Leaves out merging itself (`merge::scan`) and long segments (`merge`).

use super::Pair;
use crate::{
    encode::Listed,
    merge::{
        Firsts, PairTable,
        scan::{self, RANK_BOUND},
    },
};

pub(super) use crate::merge::scan::{MOST, Scratch};

/// Symbols are below this.
const SYMBOL_BOUND: u32 = 1 << 21;

/// The pair that a token is made of.
#[derive(Clone, Copy)]
enum Last {
    Pair(u32, u32),
    /// Its characters become other tokens.
    Never,
    /// Not known: it has too many characters.
    Any,
}

/// The pairs that merge.
pub(super) struct Pairs {
    table: PairTable,
    firsts: Firsts,
}

impl Pairs {
    /// Of these pairs; `None` if there are too many. `spell` gives the symbols of a token.
    pub(super) fn new(pairs: &[Pair], spell: impl Fn(u32, &mut Vec<u32>)) -> Option<Pairs> {
        let fits = |&((left, right), merge): &Pair| left.max(right) < SYMBOL_BOUND && merge.rank < RANK_BOUND;
        if !pairs.iter().all(fits) {
            return None;
        }
        let all = PairTable::of(pairs);
        let (mut scratch, mut symbols) = (Scratch::default(), Vec::new());
        let ids = pairs.iter().map(|(_, merge)| merge.id as usize + 1).max().unwrap_or(0);
        let mut last: Vec<Option<Last>> = vec![None; ids];
        let mut is_used = |&((left, right), merge): &Pair| {
            let last = last[merge.id as usize].get_or_insert_with(|| {
                symbols.clear();
                spell(merge.id, &mut symbols);
                last_of(&mut symbols, &all, &mut scratch)
            });
            match *last {
                Last::Any => true,
                Last::Never => false,
                Last::Pair(first, second) => (first, second) == (left, right),
            }
        };
        let used: Vec<Pair> = pairs.iter().copied().filter(|pair| is_used(pair)).collect();
        Some(Pairs { table: PairTable::of(&used), firsts: Firsts::new(&used) })
    }

    /// What merges strings side by side.
    pub(super) fn listed(&self) -> Listed<'_> {
        Listed { pairs: &self.table, firsts: Some(&self.firsts) }
    }

    /// Merges `symbols`, of which there are at most `MOST`, in place.
    pub(super) fn merge(&self, symbols: &mut Vec<u32>, scratch: &mut Scratch) {
        scan::apply(|left, right| self.table.get(left, right), symbols, None, scratch, 1);
    }
}

/// The two symbols that these, which are no longer needed, are at last.
fn last_of(symbols: &mut Vec<u32>, table: &PairTable, scratch: &mut Scratch) -> Last {
    if !(2..=MOST).contains(&symbols.len()) {
        return Last::Any;
    }
    scan::apply(|left, right| table.get(left, right), symbols, None, scratch, 2);
    match symbols[..] {
        [left, right] => Last::Pair(left, right),
        _ => Last::Never,
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;

    use super::*;
    use crate::merge::{self, Merge, Merges};

    fn random(state: &mut u64, below: usize) -> usize {
        (crate::drawn::xorshift(state) % below as u64) as usize
    }

    /// Ids are places in the list; the first are the letters.
    fn drawn(state: &mut u64) -> (Vec<Vec<u8>>, Vec<Pair>) {
        let mut tokens: Vec<Vec<u8>> = (0..3).map(|letter| vec![letter]).collect();
        let mut pairs: FxHashMap<(u32, u32), Merge> = FxHashMap::default();
        let ranks = 1 + random(state, 60);
        for rank in 0..random(state, 60) {
            let (left, right) = (random(state, tokens.len()), random(state, tokens.len()));
            let text = [&tokens[left][..], &tokens[right]].concat();
            if text.len() > 60 {
                continue;
            }
            let id = tokens.iter().position(|token| *token == text).unwrap_or(tokens.len());
            if id == tokens.len() {
                tokens.push(text);
            }
            // Ranks in order, shared, or any.
            let rank = if ranks > 40 { rank } else { random(state, ranks) };
            pairs.insert((left as u32, right as u32), Merge { rank: rank as u32, id: id as u32 });
        }
        (tokens, pairs.into_iter().collect())
    }

    #[test]
    fn as_all_pairs_would() {
        let mut state = 0x9E37_79B9_7F4A_7C15;
        let (mut scratch, mut long) = (Scratch::default(), merge::Scratch::default());
        let mut dropped = 0;
        for _ in 0..crate::drawn::drawn(600, 3000) {
            let (tokens, pairs) = drawn(&mut state);
            let spell = |id: u32, symbols: &mut Vec<u32>| {
                symbols.extend(tokens[id as usize].iter().map(|&letter| u32::from(letter)));
            };
            let few = Pairs::new(&pairs, spell).unwrap();
            dropped += pairs.len() - few.table.iter().count();
            let all = Merges::from_pairs(pairs);
            for _ in 0..20 {
                let mut symbols: Vec<u32> =
                    (0..random(&mut state, MOST + 1)).map(|_| random(&mut state, 3) as u32).collect();
                let mut expected = symbols.clone();
                all.apply(&mut expected, None, &mut long).unwrap();
                few.merge(&mut symbols, &mut scratch);
                assert_eq!(symbols, expected);
            }
        }
        assert!(dropped > crate::drawn::drawn(200, 1000));
    }

    #[test]
    fn what_is_too_large_has_no_table() {
        let pair = |left, rank| ((left, 1), Merge { rank, id: 2 });
        let spell = |_: u32, _: &mut Vec<u32>| {};
        assert!(Pairs::new(&[pair(0, 0)], spell).is_some());
        assert!(Pairs::new(&[pair(SYMBOL_BOUND, 0)], spell).is_none());
        assert!(Pairs::new(&[pair(0, RANK_BOUND)], spell).is_none());
    }
}
