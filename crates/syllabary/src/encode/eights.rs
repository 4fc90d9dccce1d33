//! Merging of eight short strings at once, with AVX2: each has a lane, and does one merge a step.
//!
//! What `lanes` does by AVX-512, where a processor has none: places of bits are found as exponents of floating-point
//! numbers, and what is put into each lane at a place of its own is put there one by one. Two groups of eight take turns,
//! so that nothing waits for what was just written; what may be tokens in both is looked up at the end of a turn.
//!
//! Adds: `merge`. Leaves out strings of more than `SHORT` bytes, and machines without these instructions.

mod vectors;

use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_cmpeq_epi32, _mm256_min_epu32, _mm256_or_si256,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm256_slli_epi32, _mm256_sllv_epi32, _mm256_srli_epi32,
    _mm256_sub_epi32, _mm256_xor_si256,
};

use super::{
    abreast::Rules,
    key::{Key, SHORT},
    short::{BytePairs, NONE, PLACE_BITS},
};
use crate::narrow::Narrow;
use vectors::{Keys, bits, compress, firsts, highest, keys, load, lowest, numbers, passing, slot, store};

/// Strings of a group, and groups.
const LANES: usize = 8;
const GROUPS: usize = 2;
/// Places of a string, the last of which none has.
const PLACES: usize = 16;
const _: () = assert!(SHORT < PLACES);

type Row = [u32; LANES];

/// Merges strings and hands the number of each to `done`, with its ids and a bit for each byte where one of them
/// begins, in any order.
pub(super) fn merge(
    _: Narrow,
    strings: impl ExactSizeIterator<Item = Key>,
    rules: Rules<'_>,
    done: &mut impl FnMut(usize, &[u32], u32),
) {
    // SAFETY: there is a `Narrow`, so the processor has all features that the functions have.
    unsafe {
        match rules.list {
            Some(_) => run::<true>(strings, rules, done),
            None => run::<false>(strings, rules, done),
        }
    }
}

/// Eight strings on their way.
#[repr(C, align(64))]
struct Group {
    /// At each place of each string, the rank and place of the merge there; nothing at the last. First the place, then the
    /// lane.
    waiting: [Row; PLACES],
    /// The symbol at each place. First the lane, then the place.
    ids: [[u32; PLACES]; LANES],
    /// A bit for each symbol that is left, at the place of its first byte.
    live: Row,
    /// The bit after the last place.
    end: Row,
    /// The bytes of each string, at its `slot`: the first eight, and the others.
    bytes: [[u64; LANES]; 2],
    /// The new pairs: that of the new symbol with the next, and that of the one before with the new one.
    asked: [Asked; 2],
    /// Which string is in each lane, and which lanes have one.
    strings: [usize; LANES],
    busy: u32,
}

/// A new pair of each lane: where the first of the two symbols is, and so where the rank goes, and where the second is.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Asked {
    keys: Keys,
    place: Row,
    second: Row,
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run<const LISTED: bool>(
    strings: impl ExactSizeIterator<Item = Key>,
    rules: Rules<'_>,
    done: &mut impl FnMut(usize, &[u32], u32),
) {
    let mut strings = strings.enumerate();
    let mut groups = [const { Group::NEW }; GROUPS];
    for group in &mut groups {
        group.fill((1 << LANES) - 1, &mut strings, rules.pairs);
    }
    while groups.iter().any(|group| group.busy != 0) {
        let (mut passed, mut idle) = (0, [0; GROUPS]);
        for (number, group) in groups.iter_mut().enumerate() {
            let (finished, may_be) = group.step::<LISTED>(rules);
            passed |= may_be << (2 * LANES * number);
            idle[number] = finished;
        }
        for (group, finished) in groups.iter_mut().zip(idle) {
            if finished != 0 {
                group.hand_on(finished, done);
                group.fill(finished, &mut strings, rules.pairs);
            }
        }
        while passed != 0 {
            let which = passed.trailing_zeros() as usize;
            passed &= passed - 1;
            groups[which / (2 * LANES) % GROUPS].answer::<LISTED>(which, rules);
        }
    }
}

impl Group {
    const NEW: Group = {
        let asked = Asked { keys: Keys::NEW, place: [0; LANES], second: [0; LANES] };
        Group {
            waiting: [[NONE; LANES]; PLACES],
            ids: [[0; PLACES]; LANES],
            live: [0; LANES],
            end: [0; LANES],
            bytes: [[0; LANES]; 2],
            asked: [asked; 2],
            strings: [0; LANES],
            busy: 0,
        }
    };

    /// Hands on the ids of some lanes.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn hand_on(&self, mut finished: u32, done: &mut impl FnMut(usize, &[u32], u32)) {
        while finished != 0 {
            let lane = finished.trailing_zeros() as usize % LANES;
            finished &= finished - 1;
            let (mut out, live) = ([0; PLACES], self.live[lane]);
            compress(&self.ids[lane], live, &mut out);
            done(self.strings[lane], &out[..live.count_ones() as usize], live);
        }
    }

    /// Puts the next strings into some lanes.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn fill(&mut self, mut lanes: u32, strings: &mut impl Iterator<Item = (usize, Key)>, pairs: &BytePairs) {
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize % LANES;
            lanes &= lanes - 1;
            match strings.next() {
                Some((number, key)) => self.take(lane, number, key, pairs),
                None => self.busy &= !(1 << lane),
            }
        }
    }

    /// Puts a string into a lane.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn take(&mut self, lane: usize, number: usize, key: Key, pairs: &BytePairs) {
        let (bytes, length) = key.parts();
        self.strings[lane] = number;
        self.busy |= 1 << lane;
        (self.bytes[0][slot(lane)], self.bytes[1][slot(lane)]) = (bytes as u64, (bytes >> 64) as u64);
        (self.live[lane], self.end[lane]) = ((1 << length) - 1, 1 << length);
        let mut waiting = [NONE; PLACES];
        firsts(bytes, length, pairs, (&mut self.ids[lane], &mut waiting));
        for (row, new) in self.waiting.iter_mut().zip(waiting) {
            row[lane] = new;
        }
    }

    /// Does the next merge of every lane and asks for the two new pairs; gives the lanes that had none, and which of the pairs may be
    /// tokens: of the lanes the first, then the second.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn step<const LISTED: bool>(&mut self, rules: Rules<'_>) -> (u32, u32) {
        let mut least = [0, 1].map(|place| load(&self.waiting[place]));
        for (place, row) in self.waiting[..SHORT - 1].iter().enumerate().skip(2) {
            least[place % 2] = _mm256_min_epu32(least[place % 2], load(row));
        }
        let least = _mm256_min_epu32(least[0], least[1]);
        let none = _mm256_set1_epi32(NONE as i32);
        let idle = _mm256_cmpeq_epi32(least, none);
        let mut passed = self.join::<LISTED>(least, idle, rules);
        if let (true, Some(list)) = (LISTED, rules.list) {
            let mut left = passed;
            while left != 0 {
                let which = left.trailing_zeros() as usize;
                left &= left - 1;
                let (first, second) = self.pair(which);
                passed ^= u32::from(!list.may_have(first, second)) << which;
            }
        }
        (self.busy & bits(idle), passed)
    }

    /// The two symbols of a new pair.
    #[inline(always)]
    fn pair(&self, which: usize) -> (u32, u32) {
        let (asked, lane) = (&self.asked[which / LANES % 2], which % LANES);
        let id = |row: &Row| self.ids[lane][row[lane] as usize % PLACES];
        (id(&asked.place), id(&asked.second))
    }

    /// Takes the symbol after the place of the least rank into the one there; gives those of the new pairs that may be tokens.
    /// Where a lane has nothing to do, it is done at the last place.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn join<const LISTED: bool>(&mut self, least: __m256i, idle: __m256i, rules: Rules<'_>) -> u32 {
        let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi32(1));
        let last = _mm256_set1_epi32(PLACES as i32 - 1);
        let at = _mm256_and_si256(least, last);
        let bit = _mm256_sllv_epi32(one, at);
        let (live, end) = (load(&self.live), load(&self.end));
        let after = _mm256_and_si256(live, _mm256_sub_epi32(zero, _mm256_add_epi32(bit, bit)));
        let right = lowest(after);
        let live = _mm256_xor_si256(live, right);
        store(&mut self.live, live);
        let after = _mm256_xor_si256(after, right);
        let up_to_end = _mm256_or_si256(after, end);
        let next = lowest(up_to_end);
        let beyond = _mm256_or_si256(_mm256_xor_si256(up_to_end, next), end);
        let before = _mm256_and_si256(live, _mm256_sub_epi32(bit, one));
        let has_no_next = _mm256_cmpeq_epi32(after, zero);
        let has_no_left = _mm256_or_si256(_mm256_cmpeq_epi32(before, zero), idle);
        let gone = _mm256_and_si256(_mm256_or_si256(highest(right), idle), last);
        let left = _mm256_and_si256(_mm256_or_si256(highest(before), has_no_left), last);
        let (next, end) = (highest(next), highest(lowest(beyond)));
        for places in [gone, at, left] {
            self.clear(places);
        }
        self.set::<LISTED>(at, least, rules);
        let [first, second] = &mut self.asked;
        first.keys = keys(&self.bytes, at, _mm256_and_si256(end, last));
        second.keys = keys(&self.bytes, left, _mm256_and_si256(next, last));
        store(&mut first.place, at);
        store(&mut second.place, left);
        if LISTED {
            store(&mut first.second, _mm256_and_si256(next, last));
            store(&mut second.second, at);
        }
        let tokens = rules.tokens;
        let (first, second) = (&self.asked[0].keys, &self.asked[1].keys);
        let first = passing::<LISTED>(first, has_no_next, tokens);
        let second = passing::<LISTED>(second, has_no_left, tokens);
        first | second << LANES
    }

    /// Nothing waits at a place of each lane.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn clear(&mut self, places: __m256i) {
        let mut indices = [0_u32; LANES];
        store(&mut indices, _mm256_add_epi32(_mm256_slli_epi32::<3>(places), numbers()));
        let waiting = self.waiting.as_flattened_mut();
        for index in indices {
            waiting[index as usize % (LANES * PLACES)] = NONE;
        }
    }

    /// Sets the symbol at a place of each lane to what the merge there makes.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn set<const LISTED: bool>(&mut self, places: __m256i, least: __m256i, rules: Rules<'_>) {
        let (mut indices, mut ranks) = ([0_u32; LANES], [0; LANES]);
        store(&mut indices, _mm256_add_epi32(_mm256_slli_epi32::<4>(numbers()), places));
        store(&mut ranks, _mm256_srli_epi32::<{ PLACE_BITS as i32 }>(least));
        let (ids, results) = (self.ids.as_flattened_mut(), rules.pairs.results());
        for (index, rank) in indices.into_iter().zip(ranks) {
            let made = if LISTED { results.get(rank as usize).copied().unwrap_or(0) } else { rank };
            ids[index as usize % (LANES * PLACES)] = made;
        }
    }

    /// Looks up a pair that may be a token.
    #[inline(always)]
    fn answer<const LISTED: bool>(&mut self, which: usize, rules: Rules<'_>) {
        let (asked, lane) = (&self.asked[which / LANES % 2], which % LANES);
        let rank = match rules.list {
            Some(list) if LISTED => {
                let (left, right) = self.pair(which);
                list.find(left, right).rank
            }
            _ => rules.tokens.find(asked.keys.key(lane), asked.keys.hash(lane)),
        };
        let at = asked.place[lane];
        self.waiting[at as usize % PLACES][lane] = if rank == NONE { NONE } else { rank << PLACE_BITS | at };
    }
}
