//! The table of pairs that merge: open addressing by cache lines of four, behind a filter.
//!
//! Most pairs that are asked for do not merge, which nothing foretells. So a bit says first whether one of its hash does;
//! and of the four of a line, which it is is found without a branch.

#[cfg(simd_x86)]
use std::arch::x86_64::{
    _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_loadu_si256, _mm256_movemask_pd, _mm256_set1_epi64x,
};

use super::Merge;
use crate::{fetch::fetch, narrow::Narrow};

/// Pairs of a line.
const WAYS: usize = 4;
/// No pair: no two ids are so high.
const NONE: u64 = u64::MAX;
pub(super) const NO_MERGE: Merge = Merge { rank: u32::MAX, id: u32::MAX };
/// Bits of the filter for each pair there may be.
const BITS: usize = 8;

/// Pairs of the same hash, or nearly; those that are free come last.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line {
    pairs: [u64; WAYS],
    merges: [Merge; WAYS],
}

const EMPTY: Line = Line { pairs: [NONE; WAYS], merges: [NO_MERGE; WAYS] };

impl Line {
    /// Which of the pairs is this, or `WAYS`, without a branch.
    #[inline(always)]
    fn way(&self, pair: u64, narrow: Option<Narrow>) -> usize {
        #[cfg(simd_x86)]
        if narrow.is_some() {
            // SAFETY: the processor has the instructions.
            return unsafe { self.way_at_once(pair) };
        }
        #[cfg(not(simd_x86))]
        let _ = narrow;
        let (mut way, mut differ) = (0, 1);
        for &other in &self.pairs {
            differ &= usize::from(other != pair);
            way += differ;
        }
        way
    }

    /// The same by one comparison.
    #[cfg(simd_x86)]
    #[inline]
    #[target_feature(enable = "avx2,bmi1")]
    fn way_at_once(&self, pair: u64) -> usize {
        // SAFETY: there are four.
        let all = unsafe { _mm256_loadu_si256(self.pairs.as_ptr().cast()) };
        let same = _mm256_cmpeq_epi64(all, _mm256_set1_epi64x(pair as i64));
        let same = _mm256_movemask_pd(_mm256_castsi256_pd(same));
        (same | 1 << WAYS).trailing_zeros() as usize
    }
}

/// A pair that is asked for, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pair: u64,
    line: u32,
}

impl Wanted {
    pub(crate) const NOTHING: Wanted = Wanted { pair: NONE, line: 0 };
}

/// Pairs and what they become.
#[derive(Debug)]
pub(crate) struct PairTable {
    lines: Box<[Line]>,
    /// A bit for the hash of each.
    some: Box<[u64]>,
}

fn number_of((left, right): (u32, u32)) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

fn hash_of(pair: u64) -> u64 {
    let product = u128::from(pair ^ 0x9E37_79B9_7F4A_7C15) * 0xD1B5_4A32_D192_ED03_u128;
    product as u64 ^ (product >> 64) as u64
}

impl PairTable {
    /// Room for `count` pairs.
    pub(crate) fn for_many(count: usize) -> PairTable {
        let lines = (2 * count / WAYS + 1).next_power_of_two();
        let some = (BITS * count / 64 + 1).next_power_of_two();
        PairTable { lines: vec![EMPTY; lines].into(), some: vec![0; some].into() }
    }

    /// Of these; the last counts of a pair that is given twice.
    pub(crate) fn of(pairs: &[((u32, u32), Merge)]) -> PairTable {
        let mut table = PairTable::for_many(pairs.len());
        pairs.iter().for_each(|&(pair, merge)| table.insert(pair, merge));
        table
    }

    /// Where a pair of this hash is looked for first.
    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.lines.len() - 1)
    }

    #[inline(always)]
    fn bit(&self, hash: u64) -> (usize, u64) {
        ((hash >> 38) as usize & (self.some.len() - 1), 1 << (hash >> 32 & 63))
    }

    /// Whether a pair may be there; if so its line is on its way.
    #[inline(always)]
    pub(crate) fn may_have(&self, left: u32, right: u32) -> bool {
        self.ask(left, right).1
    }

    /// The same, with what it is found by then.
    #[inline(always)]
    pub(crate) fn ask(&self, left: u32, right: u32) -> (Wanted, bool) {
        let pair = number_of((left, right));
        let hash = hash_of(pair);
        let home = self.home(hash);
        fetch(&self.lines[home]);
        let (word, bit) = self.bit(hash);
        (Wanted { pair, line: home as u32 }, self.some[word] & bit != 0)
    }

    /// What a pair becomes.
    #[inline]
    pub(crate) fn get(&self, left: u32, right: u32) -> Option<Merge> {
        let hash = hash_of(number_of((left, right)));
        let (word, bit) = self.bit(hash);
        if self.some[word] & bit == 0 {
            return None;
        }
        let merge = self.find(left, right);
        (merge.rank != NO_MERGE.rank).then_some(merge)
    }

    /// The same of one that most likely is there; the highest rank, which no merge has, if it is not.
    #[inline(always)]
    pub(crate) fn find(&self, left: u32, right: u32) -> Merge {
        let pair = number_of((left, right));
        self.found(Wanted { pair, line: self.home(hash_of(pair)) as u32 }, None)
    }

    /// The same of one that was asked for, by what the processor has.
    #[inline(always)]
    pub(crate) fn found(&self, Wanted { pair, line }: Wanted, narrow: Option<Narrow>) -> Merge {
        let at = line as usize & (self.lines.len() - 1);
        let line = &self.lines[at];
        match line.way(pair, narrow) {
            WAYS if line.pairs[WAYS - 1] != NONE => self.find_after(pair, at),
            WAYS => NO_MERGE,
            way => line.merges[way],
        }
    }

    #[inline(never)]
    fn find_after(&self, pair: u64, mut at: usize) -> Merge {
        loop {
            at = (at + 1) & (self.lines.len() - 1);
            let line = &self.lines[at];
            if let Some(way) = line.pairs.iter().position(|&other| other == pair || other == NONE) {
                return line.merges[way];
            }
        }
    }

    /// Adds a pair, or gives one that is there another meaning; no more than there is room for.
    pub(crate) fn insert(&mut self, pair: (u32, u32), merge: Merge) {
        let number = number_of(pair);
        let hash = hash_of(number);
        let (word, bit) = self.bit(hash);
        self.some[word] |= bit;
        let (mut at, mask) = (self.home(hash), self.lines.len() - 1);
        loop {
            let line = &mut self.lines[at];
            if let Some(way) = line.pairs.iter().position(|&other| other == number || other == NONE) {
                (line.pairs[way], line.merges[way]) = (number, merge);
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// All pairs, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ((u32, u32), Merge)> {
        let all = self.lines.iter().flat_map(|line| line.pairs.into_iter().zip(line.merges));
        let used = all.filter(|&(pair, _)| pair != NONE);
        used.map(|(pair, merge)| (((pair >> 32) as u32, pair as u32), merge))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::drawn::drawing;

    #[test]
    fn what_is_there_is_found_and_nothing_else() {
        let mut draw = drawing(7);
        for count in [0, 1, 3, 4, 5, 100, 3000] {
            let (mut table, mut all) = (PairTable::for_many(count), HashMap::new());
            for rank in 0..count as u32 {
                let pair = (draw(60) as u32, draw(60) as u32);
                let merge = Merge { rank, id: draw(1000) as u32 };
                table.insert(pair, merge);
                all.insert(pair, merge);
            }
            for (left, right) in (0..61).flat_map(|left| (0..61).map(move |right| (left, right))) {
                let expected = all.get(&(left, right)).map(|merge| (merge.rank, merge.id));
                assert_eq!(table.get(left, right).map(|merge| (merge.rank, merge.id)), expected);
                let found = table.find(left, right);
                assert_eq!((found.rank != u32::MAX).then_some((found.rank, found.id)), expected);
                assert!(table.may_have(left, right) || expected.is_none());
                let (wanted, may_be) = table.ask(left, right);
                assert_eq!(
                    (table.found(wanted, Narrow::new()), may_be),
                    (found, table.may_have(left, right))
                );
            }
            let listed: HashMap<_, _> = table.iter().map(|(pair, merge)| (pair, merge.id)).collect();
            assert_eq!(listed, all.iter().map(|(&pair, merge)| (pair, merge.id)).collect());
        }
    }
}
