//! The ids of short tokens by their bytes: one cache line a look-up.
//!
//! Adds: `ShortTokens`, filled once. Leaves out tokens of more than `SHORT` bytes (`vocab`).

#[cfg(simd_x86)]
use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_set1_epi64x, _mm256_slli_epi64, _mm256_srli_epi64, _mm256_storeu_si256,
};

use super::key::Key;
use crate::{
    fetch::{fetch, fetch_byte},
    pages::{Zero, Zeros},
};

/// Tokens of a cache line.
const WAYS: usize = 3;
/// Of a line that is full, and after which tokens lie that are at home in it or before.
const PASSED: usize = WAYS + 1;
/// No token.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line {
    keys: [Key; WAYS],
    /// Their ids, and how many they are; `PASSED` where another one found no room.
    ids: [u32; WAYS + 1],
}

// SAFETY: numbers are zero where their bytes are.
unsafe impl Zero for Line {
    const ZERO: Line = EMPTY;
}

const EMPTY: Line = Line { keys: [Key::NONE; WAYS], ids: [0; WAYS + 1] };

impl Line {
    #[inline(always)]
    fn used(&self) -> usize {
        self.ids[WAYS] as usize
    }

    /// Which of the keys is this, or `WAYS`, without a branch: which it is nothing foretells.
    #[inline(always)]
    fn way(&self, key: Key) -> usize {
        let (mut way, mut differ) = (0, 1);
        for other in &self.keys {
            differ &= usize::from((other.low ^ key.low) | (other.high ^ key.high) != 0);
            way += differ;
        }
        way
    }
}

/// Keys and ids by open addressing; a line that is full goes on in the next.
#[derive(Debug)]
pub(crate) struct ShortTokens {
    lines: Zeros<Line>,
    /// A bit for the hash of each: most strings that are no token are known by a table that stays in the cache.
    some: Box<[u32]>,
}

impl Default for ShortTokens {
    fn default() -> Self {
        ShortTokens::for_many(0)
    }
}

impl ShortTokens {
    /// Room for `count` tokens.
    pub(crate) fn for_many(count: usize) -> ShortTokens {
        // Two thirds full at the most.
        let lines = (3 * count / (2 * WAYS) + 1).next_power_of_two();
        let some = vec![0; (8 * count / 32 + 1).next_power_of_two()];
        ShortTokens { lines: Zeros::new(lines), some: some.into() }
    }

    /// The filter, a power of two of words: for each token the bit of its hash is set, which `hash >> 37` and the five
    /// bits below say.
    #[cfg(simd_x86)]
    pub(super) fn filter(&self) -> &[u32] {
        &self.some
    }

    #[inline(always)]
    fn bit(&self, hash: u64) -> (usize, u32) {
        ((hash >> 37) as usize & (self.some.len() - 1), 1 << (hash >> 32 & 31))
    }

    /// Whether the filter has a token of this hash.
    #[inline(always)]
    pub(super) fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = self.bit(hash);
        self.some[word] & bit != 0
    }

    #[inline(always)]
    fn line(&self, hash: u64) -> usize {
        (hash >> 14) as usize & (self.lines.len() - 1)
    }

    /// The table in so many parts: `part` says in which `key` is looked for first. Tokens that are added part by part
    /// need few lines at a time.
    pub(crate) const PARTS: usize = 1 << 11;

    pub(crate) fn part(&self, key: Key) -> usize {
        let more = self.lines.len().trailing_zeros().saturating_sub(ShortTokens::PARTS.trailing_zeros());
        self.line(key.mixed()) >> more
    }

    /// The id of `key`.
    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<u32> {
        let hash = key.mixed();
        if !self.may_have(hash) {
            return None;
        }
        let id = self.find(key, hash);
        (id != NONE).then_some(id)
    }

    /// Asks for the line of a hash ahead of its use.
    #[inline(always)]
    pub(super) fn fetch(&self, hash: u64) {
        fetch(&self.lines[self.line(hash)]);
    }

    /// The same if it is to be used at all, without a branch.
    #[inline(always)]
    pub(super) fn fetch_if(&self, is_used: bool, hash: u64) {
        let (line, other) = (std::ptr::from_ref(&self.lines[self.line(hash)]), self.some.as_ptr());
        fetch_byte(std::hint::select_unpredictable(is_used, line.cast(), other.cast()));
    }

    /// The same for four hashes, of each of which all bits of the other say whether.
    #[cfg(simd_x86)]
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn fetch_four(&self, hashes: __m256i, are_used: __m256i) {
        let mask = _mm256_set1_epi64x((size_of_val(&*self.lines) - size_of::<Line>()) as i64);
        let lines = _mm256_slli_epi64::<6>(_mm256_srli_epi64::<14>(hashes));
        let places = _mm256_and_si256(_mm256_and_si256(lines, mask), are_used);
        let mut offsets = [0_usize; 4];
        // SAFETY: there is room for 32 bytes.
        unsafe { _mm256_storeu_si256(offsets.as_mut_ptr().cast(), places) };
        for offset in offsets {
            fetch_byte(self.lines.as_ptr().cast::<u8>().wrapping_add(offset));
        }
    }

    /// The same as the line of `key`, for `get`: if there is anything to look for.
    #[inline(always)]
    pub(super) fn fetch_key(&self, key: Key) {
        let hash = key.mixed();
        if self.may_have(hash) {
            self.fetch(hash);
        }
    }

    /// The same, and for what `get` looks at before.
    #[inline(always)]
    pub(super) fn fetch_all(&self, key: Key) {
        let hash = key.mixed();
        fetch(&self.some[self.bit(hash).0]);
        self.fetch(hash);
    }

    /// The id of `key`, which has this hash, or `u32::MAX`.
    #[inline(always)]
    pub(super) fn find(&self, key: Key, hash: u64) -> u32 {
        let at = self.line(hash);
        let line = &self.lines[at];
        let way = line.way(key);
        // One branch, which is seldom taken: not there, and there may be others.
        if way + line.used() == WAYS + PASSED {
            return self.find_after(key, at);
        }
        line.ids[way.min(WAYS)] | u32::from(way == WAYS).wrapping_neg()
    }

    #[inline(never)]
    fn find_after(&self, key: Key, mut at: usize) -> u32 {
        loop {
            at = (at + 1) & (self.lines.len() - 1);
            let line = &self.lines[at];
            if let Some(way) = line.keys.iter().position(|other| *other == key) {
                return line.ids[way];
            }
            if line.used() < PASSED {
                return NONE;
            }
        }
    }

    /// Adds a token unless its bytes are there, and says whether; no more than there is room for.
    pub(crate) fn insert(&mut self, key: Key, id: u32) -> bool {
        let hash = key.mixed();
        let (word, bit) = self.bit(hash);
        self.some[word] |= bit;
        let mask = self.lines.len() - 1;
        let mut at = self.line(hash);
        loop {
            let line = &mut self.lines[at];
            if line.keys.contains(&key) {
                return false;
            }
            let used = line.used();
            if used < WAYS {
                (line.keys[used], line.ids[used]) = (key, id);
                line.ids[WAYS] += 1;
                return true;
            }
            line.ids[WAYS] = PASSED as u32;
            at = (at + 1) & mask;
        }
    }
}
