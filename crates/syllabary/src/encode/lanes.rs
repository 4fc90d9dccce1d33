//! Merging of sixteen short strings at once, with AVX-512: each has a lane, and does one merge a step.
//!
//! The algorithm is that of `short`, and so are its tables. What is asked once for each merge there (the least rank,
//! the symbols beside it, the bytes of the two new pairs, whether they may be tokens at all) is asked here for
//! sixteen strings with a few instructions; only those of the new pairs that the filter lets pass are looked up one
//! by one: by their bytes or, where merges are a list, by the two ids. A string that is done leaves its lane to the
//! next.
//!
//! Adds: `Lanes`. Leaves out strings of more than `SHORT` bytes, and machines without these instructions (`eights`,
//! `abreast`).

mod vectors;

use std::arch::x86_64::{
    __m512i, _mm_bsrli_si128, _mm_set_epi64x, _mm256_set1_epi32, _mm256_sllv_epi32, _mm256_test_epi32_mask,
    _mm512_add_epi32, _mm512_and_si512, _mm512_cmpneq_epi32_mask, _mm512_cvtepi64_epi32,
    _mm512_cvtepu8_epi32, _mm512_i32gather_epi32, _mm512_i64gather_epi32, _mm512_mask_cmpneq_epi32_mask,
    _mm512_mask_i32gather_epi32, _mm512_mask_or_epi32, _mm512_mask_xor_epi32, _mm512_maskz_compress_epi32,
    _mm512_min_epu32, _mm512_mul_epu32, _mm512_or_si512, _mm512_ror_epi64, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi32, _mm512_sllv_epi32, _mm512_srli_epi64,
    _mm512_sub_epi32, _mm512_sub_epi64, _mm512_xor_si512,
};

use super::{
    abreast::Rules,
    key::{HASH_HIGH, HASH_LOW, HASH_TURN, Key, SHORT},
    short::{BytePairs, NONE, PLACE_BITS},
    tokens::ShortTokens,
};
use vectors::{highest, load, lowest, made, numbers, scatter, shifted, store, wide};

/// Strings at a time, and bytes of a string, and one more.
const LANES: usize = 16;
const _: () = assert!(SHORT < LANES);

type Row = [u32; LANES];

/// Exists only where the processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Able(());

impl Able {
    pub(super) fn new() -> Option<Able> {
        let there = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        there.then_some(Able(()))
    }

    /// Merges strings and hands the number of each to `done`, with its ids and a bit for each byte where one of them
    /// begins, in any order.
    pub(super) fn merge(
        self,
        strings: impl ExactSizeIterator<Item = Key>,
        rules: Rules<'_>,
        done: &mut impl FnMut(usize, &[u32], u32),
    ) {
        let mut lanes = Lanes::new();
        // SAFETY: `self` exists, so the processor has all features that the functions have.
        unsafe {
            match rules.list {
                Some(_) => lanes.run::<true>(strings, rules, done),
                None => lanes.run::<false>(strings, rules, done),
            }
        }
    }
}

/// Sixteen strings on their way.
#[repr(C, align(64))]
struct Lanes {
    /// At each place of each string, the rank and place of the merge there. First the place, then the lane.
    waiting: [Row; LANES],
    /// The symbol at each place. First the lane, then the place.
    ids: [Row; LANES],
    /// A bit for each symbol that is left, at the place of its first byte.
    live: Row,
    /// The bit after the last place.
    end: Row,
    /// The bytes of each string: the first eight, and the others.
    bytes: [[u64; LANES]; 2],
    asked: Asked,
    /// Which of `asked` may be tokens: the lanes of the first, then of the second.
    passed: u32,
    /// Which string is in each lane, and which lanes have one.
    strings: [usize; LANES],
    busy: u32,
}

/// The new pairs of each lane, that of the new symbol with the next and that of the one before with the new one: their
/// keys and hashes, where the first of the two is, and so where the rank goes, and where the second is.
#[repr(C, align(64))]
struct Asked {
    low: [[u64; LANES]; 2],
    high: [[u64; LANES]; 2],
    hash: [[u64; LANES]; 2],
    place: [Row; 2],
    second: [Row; 2],
}

/// What a step finds out about each lane.
struct Found {
    at: __m512i,
    /// The symbol after the new one, or the end; the end of that symbol; the symbol before the new one.
    next: __m512i,
    end: __m512i,
    left: __m512i,
    has_next: u16,
    has_left: u16,
}

impl Lanes {
    fn new() -> Lanes {
        let (rows, halves) = ([[0; LANES]; 2], [[0; LANES]; 2]);
        Lanes {
            waiting: [[NONE; LANES]; LANES],
            ids: [[0; LANES]; LANES],
            live: [0; LANES],
            end: [0; LANES],
            bytes: halves,
            asked: Asked { low: halves, high: halves, hash: halves, place: rows, second: rows },
            passed: 0,
            strings: [0; LANES],
            busy: 0,
        }
    }

    #[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn run<const LISTED: bool>(
        &mut self,
        strings: impl ExactSizeIterator<Item = Key>,
        rules: Rules<'_>,
        done: &mut impl FnMut(usize, &[u32], u32),
    ) {
        let (mut strings, pairs) = (strings.enumerate(), rules.pairs);
        for lane in 0..LANES {
            if let Some((number, key)) = strings.next() {
                self.take(lane, number, key, pairs);
                self.busy |= 1 << lane;
            }
        }
        while self.busy != 0 {
            let mut finished = self.step::<LISTED>(rules);
            while finished != 0 {
                let lane = finished.trailing_zeros() as usize % LANES;
                finished &= finished - 1;
                let (live, mut out) = (self.live[lane], [0; LANES]);
                store(&mut out, _mm512_maskz_compress_epi32(live as u16, load(&self.ids[lane])));
                done(self.strings[lane], &out[..live.count_ones() as usize], live);
                match strings.next() {
                    Some((number, key)) => self.take(lane, number, key, pairs),
                    None => self.busy &= !(1 << lane),
                }
            }
            self.answer::<LISTED>(rules);
        }
    }

    /// Puts a string into a lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn take(&mut self, lane: usize, number: usize, key: Key, pairs: &BytePairs) {
        let (low, high, length) = (key.low, key.high & (u64::MAX >> 8), key.high >> 56);
        self.strings[lane] = number;
        (self.bytes[0][lane], self.bytes[1][lane]) = (low, high);
        (self.live[lane], self.end[lane]) = ((1 << length) - 1, 1 << length);
        let bytes = _mm_set_epi64x(high as i64, low as i64);
        let first = _mm512_cvtepu8_epi32(bytes);
        let second = _mm512_cvtepu8_epi32(_mm_bsrli_si128::<1>(bytes));
        let index = _mm512_or_si512(_mm512_slli_epi32::<8>(first), second);
        let none = _mm512_set1_epi32(NONE as i32);
        let with_next = ((1_u32 << (length - 1)) - 1) as u16;
        // SAFETY: there are ids for all 256 values of a byte, and ranks for all 65,536 pairs of bytes.
        let (ids, ranks) = unsafe {
            (
                _mm512_i32gather_epi32::<4>(first, pairs.ids().as_ptr().cast()),
                _mm512_mask_i32gather_epi32::<4>(none, with_next, index, pairs.ranks().as_ptr().cast()),
            )
        };
        store(&mut self.ids[lane], ids);
        let there = _mm512_cmpneq_epi32_mask(ranks, none);
        let waiting = _mm512_mask_or_epi32(none, there, ranks, numbers());
        let column = _mm512_add_epi32(_mm512_slli_epi32::<4>(numbers()), _mm512_set1_epi32(lane as i32));
        scatter(&mut self.waiting, u16::MAX, column, waiting);
    }

    /// Does the next merge of every lane and asks for the two new pairs; gives the lanes that had none.
    #[inline]
    #[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn step<const LISTED: bool>(&mut self, rules: Rules<'_>) -> u32 {
        let mut least = [0, 1, 2, 3].map(|place| load(&self.waiting[place]));
        for (place, row) in self.waiting.iter().enumerate().skip(4) {
            least[place % 4] = _mm512_min_epu32(least[place % 4], load(row));
        }
        let least =
            _mm512_min_epu32(_mm512_min_epu32(least[0], least[1]), _mm512_min_epu32(least[2], least[3]));
        let none = _mm512_set1_epi32(NONE as i32);
        let active = _mm512_cmpneq_epi32_mask(least, none);
        let found = self.join(least, made::<LISTED>(least, rules.pairs.results()), active);
        let column = |place| _mm512_add_epi32(_mm512_slli_epi32::<4>(place), numbers());
        scatter(&mut self.waiting, active, column(found.at), none);
        scatter(&mut self.waiting, found.has_left, column(found.left), none);
        store(&mut self.asked.place[0], found.at);
        store(&mut self.asked.place[1], found.left);
        if LISTED {
            store(&mut self.asked.second[0], found.next);
            store(&mut self.asked.second[1], found.at);
        }
        self.passed = 0;
        for which in 0..2 {
            let (from, to, wanted) = match which {
                0 => (found.at, found.end, found.has_next),
                _ => (found.left, found.next, found.has_left),
            };
            let tokens = rules.tokens;
            let may_be = self.ask::<0>(which, from, to, tokens) | self.ask::<1>(which, from, to, tokens) << 8;
            self.passed |= (may_be & u32::from(wanted)) << (LANES * which);
        }
        let mut passed = self.passed;
        while passed != 0 {
            let which = passed.trailing_zeros() as usize;
            passed &= passed - 1;
            match rules.list {
                Some(list) if LISTED => {
                    let (left, right) = self.pair(which);
                    self.passed ^= u32::from(!list.may_have(left, right)) << which;
                }
                _ => rules.tokens.fetch(self.asked.hash.as_flattened()[which]),
            }
        }
        self.busy & !u32::from(active)
    }

    /// The two symbols of a new pair.
    #[inline]
    #[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn pair(&self, which: usize) -> (u32, u32) {
        let ids = &self.ids[which % LANES];
        let place = |rows: &[Row; 2]| rows.as_flattened()[which] as usize % LANES;
        (ids[place(&self.asked.place)], ids[place(&self.asked.second)])
    }

    /// Takes the symbol after the place of the least rank into the one there, which becomes `made`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn join(&mut self, least: __m512i, made: __m512i, active: u16) -> Found {
        let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi32(1));
        let at = _mm512_and_si512(least, _mm512_set1_epi32(LANES as i32 - 1));
        let there = _mm512_add_epi32(_mm512_slli_epi32::<4>(numbers()), at);
        scatter(&mut self.ids, active, there, made);
        let bit = _mm512_sllv_epi32(one, at);
        let (live, end) = (load(&self.live), load(&self.end));
        let after = _mm512_and_si512(live, _mm512_sub_epi32(zero, _mm512_add_epi32(bit, bit)));
        let right = lowest(after);
        let live = _mm512_mask_xor_epi32(live, active, live, right);
        store(&mut self.live, live);
        let gone = _mm512_add_epi32(_mm512_slli_epi32::<4>(highest(right)), numbers());
        scatter(&mut self.waiting, active, gone, _mm512_set1_epi32(NONE as i32));
        let after = _mm512_xor_si512(after, right);
        let up_to_end = _mm512_or_si512(after, end);
        let next = lowest(up_to_end);
        let beyond = _mm512_or_si512(_mm512_xor_si512(up_to_end, next), end);
        let before = _mm512_and_si512(live, _mm512_sub_epi32(bit, one));
        Found {
            at,
            next: highest(next),
            end: highest(lowest(beyond)),
            left: highest(before),
            has_next: _mm512_mask_cmpneq_epi32_mask(active, after, zero),
            has_left: _mm512_mask_cmpneq_epi32_mask(active, before, zero),
        }
    }

    /// Makes the keys of the bytes `from` to `to` of eight lanes, the lower or the upper; gives those that may be
    /// tokens.
    #[inline]
    #[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn ask<const HALF: usize>(
        &mut self,
        which: usize,
        from: __m512i,
        to: __m512i,
        tokens: &ShortTokens,
    ) -> u32 {
        let from = wide::<HALF>(from);
        let length = _mm512_sub_epi64(wide::<HALF>(to), from);
        let half = |row: &[u64; LANES]| load(row.as_chunks::<8>().0.get(HALF).unwrap_or(&[0; 8]));
        let (low, high) = shifted(half(&self.bytes[0]), half(&self.bytes[1]), from, length);
        let mixed = _mm512_xor_si512(low, _mm512_ror_epi64::<HASH_TURN>(high));
        let hash = _mm512_xor_si512(
            _mm512_mul_epu32(mixed, _mm512_set1_epi64(HASH_LOW as i64)),
            _mm512_mul_epu32(_mm512_srli_epi64::<32>(mixed), _mm512_set1_epi64(HASH_HIGH as i64)),
        );
        for (row, value) in
            [(&mut self.asked.low, low), (&mut self.asked.high, high), (&mut self.asked.hash, hash)]
        {
            if let Some(half) = row[which].as_chunks_mut::<8>().0.get_mut(HALF) {
                store(half, value);
            }
        }
        let filter = tokens.filter();
        let word =
            _mm512_and_si512(_mm512_srli_epi64::<37>(hash), _mm512_set1_epi64(filter.len() as i64 - 1));
        // SAFETY: the length of the filter is a power of two, so that no index is as high as it.
        let words = unsafe { _mm512_i64gather_epi32::<4>(word, filter.as_ptr().cast()) };
        let bit = _mm512_and_si512(_mm512_srli_epi64::<32>(hash), _mm512_set1_epi64(31));
        let bits = _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm512_cvtepi64_epi32(bit));
        u32::from(_mm256_test_epi32_mask(words, bits))
    }

    /// Looks up what has passed the filter.
    #[inline]
    #[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn answer<const LISTED: bool>(&mut self, rules: Rules<'_>) {
        while self.passed != 0 {
            let which = self.passed.trailing_zeros() as usize;
            self.passed &= self.passed - 1;
            let Asked { low, high, hash, place, .. } = &self.asked;
            let rank = match rules.list {
                Some(list) if LISTED => {
                    let (left, right) = self.pair(which);
                    list.find(left, right).rank
                }
                _ => {
                    let key = Key { low: low.as_flattened()[which], high: high.as_flattened()[which] };
                    rules.tokens.find(key, hash.as_flattened()[which])
                }
            };
            let at = place.as_flattened()[which];
            self.waiting[at as usize % LANES][which % LANES] =
                if rank == NONE { NONE } else { rank << PLACE_BITS | at };
        }
    }
}
