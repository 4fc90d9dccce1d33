//! Merging the symbols of a short segment: candidates in an array.
//!
//! ```text
//! repeat: of all neighbouring pairs in the table, take the lowest rank, the leftmost of equals;
//!         replace the two by the result
//! ```
//!
//! Of all pairs that give a token only one is ever used, the last merge when the characters of the token stand alone:
//! before a merge joins two symbols nothing has crossed the borders of what they cover, so all merges inside were, in
//! order, those of that text alone, and that run has but one state of two symbols. The others are left out, which
//! keeps the table small.
//!
//! Leaves out long segments (`merge`).

use super::Pair;
use crate::merge::{Merge, PairTable};

/// Segments of up to so many symbols are merged here.
pub(super) const MOST: usize = 48;
/// Candidates are compared so many at a time.
const LANES: usize = 16;

/// Symbols are below this, and ranks below the next.
const SYMBOL_BOUND: u32 = 1 << 21;
const RANK_BOUND: u32 = 1 << 25;
/// No candidate. Others are a rank and, in the last 6 bits, a place.
const NEVER: i32 = i32::MAX;
const PLACE_BITS: u32 = 6;
/// No symbol.
const END: u8 = u8::MAX;

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
pub(super) struct Pairs(PairTable);

/// The symbols of a segment, a linked list in place.
#[derive(Debug)]
pub(super) struct Scratch {
    ids: [u32; MOST],
    /// For each symbol, rank and place of its merge with the next, and what that makes.
    candidates: [i32; MOST],
    makes: [u32; MOST],
    next: [u8; MOST],
    previous: [u8; MOST],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch {
            ids: [0; MOST],
            candidates: [NEVER; MOST],
            makes: [0; MOST],
            next: [END; MOST],
            previous: [END; MOST],
        }
    }
}

impl Pairs {
    /// Of these pairs; `None` if there are too many. `spell` gives the symbols of a token.
    pub(super) fn new(pairs: &[Pair], spell: impl Fn(u32, &mut Vec<u32>)) -> Option<Pairs> {
        let all = Pairs::of(pairs)?;
        let (mut scratch, mut symbols) = (Scratch::default(), Vec::new());
        let ids = pairs.iter().map(|(_, merge)| merge.id as usize + 1).max().unwrap_or(0);
        let mut last: Vec<Option<Last>> = vec![None; ids];
        let mut is_used = |&((left, right), merge): &Pair| {
            let last = last[merge.id as usize].get_or_insert_with(|| {
                symbols.clear();
                spell(merge.id, &mut symbols);
                all.last(&symbols, &mut scratch)
            });
            match *last {
                Last::Any => true,
                Last::Never => false,
                Last::Pair(first, second) => (first, second) == (left, right),
            }
        };
        let used: Vec<Pair> = pairs.iter().copied().filter(|pair| is_used(pair)).collect();
        Pairs::of(&used)
    }

    /// All of these.
    fn of(pairs: &[Pair]) -> Option<Pairs> {
        let fits = |&((left, right), merge): &Pair| left.max(right) < SYMBOL_BOUND && merge.rank < RANK_BOUND;
        if !pairs.iter().all(fits) {
            return None;
        }
        let mut table = PairTable::for_many(pairs.len());
        pairs.iter().for_each(|&(pair, merge)| table.insert(pair, merge));
        Some(Pairs(table))
    }

    /// The two symbols that symbols alone are at last.
    fn last(&self, symbols: &[u32], scratch: &mut Scratch) -> Last {
        if !(2..=MOST).contains(&symbols.len()) {
            return Last::Any;
        }
        self.run(symbols, scratch, 2);
        let right = scratch.next[0];
        match scratch.next.get(usize::from(right)) {
            Some(&END) => Last::Pair(scratch.ids[0], scratch.ids[usize::from(right)]),
            _ => Last::Never,
        }
    }

    /// The merge of two symbols as a candidate at `at`, and what it makes.
    #[inline(always)]
    fn candidate(&self, left: u32, right: u32, at: usize) -> (i32, u32) {
        match self.0.get(left, right) {
            Some(Merge { rank, id }) => ((rank << PLACE_BITS) as i32 | at as i32, id),
            None => (NEVER, 0),
        }
    }

    /// The table.
    pub(super) fn table(&self) -> &PairTable {
        &self.0
    }

    /// Merges `symbols`, of which there are at most `MOST`, in place.
    pub(super) fn merge(&self, symbols: &mut Vec<u32>, scratch: &mut Scratch) {
        if !(2..=MOST).contains(&symbols.len()) {
            return;
        }
        self.run(symbols, scratch, 1);
        symbols.clear();
        let mut at = 0;
        while at != END {
            symbols.push(scratch.ids[usize::from(at)]);
            at = scratch.next[usize::from(at)];
        }
    }

    /// Merges until no pair is left, or `least` symbols.
    fn run(&self, symbols: &[u32], scratch: &mut Scratch, least: usize) {
        #[cfg(simd_x86)]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions.
            return unsafe { self.run_by_vectors(symbols, scratch, least) };
        }
        self.run_here(symbols, scratch, least);
    }

    /// The same: the least of many is eight comparisons at a time.
    #[cfg(simd_x86)]
    #[target_feature(enable = "avx2")]
    fn run_by_vectors(&self, symbols: &[u32], scratch: &mut Scratch, least: usize) {
        self.run_here(symbols, scratch, least);
    }

    #[inline(always)]
    fn run_here(&self, symbols: &[u32], scratch: &mut Scratch, least: usize) {
        let count = symbols.len();
        scratch.ids[..count].copy_from_slice(symbols);
        let lanes = count.next_multiple_of(LANES);
        scratch.candidates[..lanes].fill(NEVER);
        for at in 0..count {
            scratch.next[at] = if at + 1 == count { END } else { (at + 1) as u8 };
            scratch.previous[at] = (at as u8).wrapping_sub(1);
        }
        for (at, pair) in symbols.windows(2).enumerate() {
            (scratch.candidates[at], scratch.makes[at]) = self.candidate(pair[0], pair[1], at);
        }
        for _ in least..count {
            let best = lowest(&scratch.candidates[..lanes]);
            if best == NEVER {
                return;
            }
            self.join(best as usize % (1 << PLACE_BITS), scratch);
        }
    }

    /// Merges the symbol at `at` with the next.
    #[inline(always)]
    fn join(&self, at: usize, scratch: &mut Scratch) {
        let right = usize::from(scratch.next[at]);
        let (before, after) = (scratch.previous[at], scratch.next[right]);
        let id = scratch.makes[at];
        scratch.ids[at] = id;
        scratch.next[at] = after;
        scratch.candidates[right] = NEVER;
        scratch.candidates[at] = NEVER;
        if after != END {
            let after = usize::from(after);
            scratch.previous[after] = at as u8;
            (scratch.candidates[at], scratch.makes[at]) = self.candidate(id, scratch.ids[after], at);
        }
        if before != END {
            let before = usize::from(before);
            (scratch.candidates[before], scratch.makes[before]) =
                self.candidate(scratch.ids[before], id, before);
        }
    }
}

/// The least of some candidates.
#[inline(always)]
fn lowest(candidates: &[i32]) -> i32 {
    let mut best = [NEVER; LANES];
    for lanes in candidates.as_chunks::<LANES>().0 {
        for (best, lane) in best.iter_mut().zip(lanes) {
            *best = (*best).min(*lane);
        }
    }
    best.into_iter().fold(NEVER, i32::min)
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;

    use super::*;
    use crate::merge::{self, Merges};

    fn random(state: &mut u64, below: usize) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state % below as u64) as usize
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
            dropped += pairs.len() - few.0.iter().count();
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
