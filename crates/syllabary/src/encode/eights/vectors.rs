//! What `eights` does with eight numbers, or with two times four that are twice as wide.
//!
//! Leaves out when.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi64_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256, _mm256_castps_si256,
    _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi32,
    _mm256_i32gather_epi32, _mm256_loadu_si256, _mm256_movemask_ps, _mm256_or_si256,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi32,
    _mm256_setzero_si256, _mm256_shuffle_ps, _mm256_slli_epi32, _mm256_slli_epi64, _mm256_sllv_epi32,
    _mm256_sllv_epi64, _mm256_srli_epi32, _mm256_srlv_epi64, _mm256_storeu_si256, _mm256_sub_epi32,
    _mm256_sub_epi64, _mm256_unpackhi_epi32, _mm256_unpacklo_epi32,
};

use super::{LANES, PLACES};
use crate::{
    encode::{
        key::Key,
        short::{BytePairs, NONE},
        tokens::ShortTokens,
        wide::mixed,
    },
    narrow::ORDERS,
};

const HALF: usize = LANES / 2;

/// Where the wide number of a lane is.
#[inline(always)]
pub(super) fn slot(lane: usize) -> usize {
    (lane & 1 | (lane & 2) << 1 | lane >> 1 & 2) % LANES
}

/// Keys of eight strings, and their hashes, each at its `slot`.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Keys {
    low: [[u64; HALF]; 2],
    high: [[u64; HALF]; 2],
    hash: [[u64; HALF]; 2],
}

impl Keys {
    pub(super) const NEW: Keys = Keys { low: [[0; HALF]; 2], high: [[0; HALF]; 2], hash: [[0; HALF]; 2] };

    #[inline(always)]
    pub(super) fn key(&self, lane: usize) -> Key {
        let slot = slot(lane);
        Key { low: self.low.as_flattened()[slot], high: self.high.as_flattened()[slot] }
    }

    #[inline(always)]
    pub(super) fn hash(&self, lane: usize) -> u64 {
        self.hash.as_flattened()[slot(lane)]
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn load<T, const N: usize>(from: &[T; N]) -> __m256i {
    const { assert!(size_of::<[T; N]>() == 32) };
    // SAFETY: there are 32 bytes.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn store<T, const N: usize>(to: &mut [T; N], value: __m256i) {
    const { assert!(size_of::<[T; N]>() == 32) };
    // SAFETY: there is room for 32 bytes, and any bits are integers; `T` is `u32` or `u64` in this file.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), value) }
}

/// 0 to 7.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn numbers() -> __m256i {
    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
}

/// A bit for each that is negative.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn bits(of: __m256i) -> u32 {
    _mm256_movemask_ps(_mm256_castsi256_ps(of)) as u32
}

/// The lowest bit of each.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn lowest(bits: __m256i) -> __m256i {
    _mm256_and_si256(bits, _mm256_sub_epi32(_mm256_setzero_si256(), bits))
}

/// The place of the highest bit of each, which is below 24, in the lowest four bits: a floating-point number has it as its
/// exponent, which is 127 more.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn highest(bits: __m256i) -> __m256i {
    let exponents = _mm256_srli_epi32::<23>(_mm256_castps_si256(_mm256_cvtepi32_ps(bits)));
    _mm256_add_epi32(exponents, _mm256_set1_epi32(1))
}

/// The keys of the bytes `from` to `to` of eight strings, of which the first eight and the others are given.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn keys(bytes: &[[u64; LANES]; 2], from: __m256i, to: __m256i) -> Keys {
    let zero = _mm256_setzero_si256();
    let mut keys = Keys::NEW;
    let length = _mm256_sub_epi32(to, from);
    let froms = [_mm256_unpacklo_epi32(from, zero), _mm256_unpackhi_epi32(from, zero)];
    let lengths = [_mm256_unpacklo_epi32(length, zero), _mm256_unpackhi_epi32(length, zero)];
    let (lows, highs) = (bytes[0].as_chunks::<HALF>().0, bytes[1].as_chunks::<HALF>().0);
    for half in 0..2 {
        let halves = (load(&lows[half]), load(&highs[half]));
        let (low, high) = shifted(halves, froms[half], lengths[half]);
        store(&mut keys.low[half], low);
        store(&mut keys.high[half], high);
        store(&mut keys.hash[half], mixed(low, high));
    }
    keys
}

/// The key of `length` bytes from the byte `from` on. Shifting by 64 or more, or by less than nothing, gives nothing.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn shifted((low, high): (__m256i, __m256i), from: __m256i, length: __m256i) -> (__m256i, __m256i) {
    let (word, ones) = (_mm256_set1_epi64x(64), _mm256_set1_epi64x(-1));
    let (by, bits) = (_mm256_slli_epi64::<3>(from), _mm256_slli_epi64::<3>(length));
    let over = _mm256_sub_epi64(by, word);
    let first = _mm256_or_si256(
        _mm256_or_si256(
            _mm256_srlv_epi64(low, by),
            _mm256_sllv_epi64(high, _mm256_sub_epi64(_mm256_setzero_si256(), over)),
        ),
        _mm256_srlv_epi64(high, over),
    );
    let first = _mm256_andnot_si256(_mm256_sllv_epi64(ones, bits), first);
    let within = _mm256_srlv_epi64(ones, _mm256_sub_epi64(_mm256_set1_epi64x(128), bits));
    let second = _mm256_and_si256(within, _mm256_srlv_epi64(high, by));
    (first, _mm256_or_si256(second, _mm256_slli_epi64::<56>(length)))
}

/// A bit for each key that the filter of tokens, which is a power of two of words, lets pass, unless there is none; these
/// are asked for, unless they are found by their symbols.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn passing<const LISTED: bool>(keys: &Keys, is_none: __m256i, tokens: &ShortTokens) -> u32 {
    const UPPER: i32 = 0b1101_1101;
    let (filter, hashes) = (tokens.filter(), [load(&keys.hash[0]), load(&keys.hash[1])]);
    let (first, second) = (_mm256_castsi256_ps(hashes[0]), _mm256_castsi256_ps(hashes[1]));
    let upper = _mm256_castps_si256(_mm256_shuffle_ps::<UPPER>(first, second));
    let word = _mm256_and_si256(_mm256_srli_epi32::<5>(upper), _mm256_set1_epi32(filter.len() as i32 - 1));
    // SAFETY: the length of the filter is a power of two, so that no index is as high as it.
    let words = unsafe { _mm256_i32gather_epi32::<4>(filter.as_ptr().cast(), word) };
    let bit = _mm256_and_si256(upper, _mm256_set1_epi32(31));
    let bit = _mm256_sllv_epi32(_mm256_set1_epi32(1), bit);
    let passed = _mm256_cmpeq_epi32(_mm256_and_si256(words, bit), bit);
    let passed = _mm256_andnot_si256(is_none, passed);
    if !LISTED {
        let wide = [_mm256_unpacklo_epi32(passed, passed), _mm256_unpackhi_epi32(passed, passed)];
        for half in 0..2 {
            tokens.fetch_four(hashes[half], wide[half]);
        }
    }
    bits(passed)
}

/// The ids of the bytes of a string, and the ranks and places of their pairs.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn firsts(
    bytes: u128,
    length: usize,
    pairs: &BytePairs,
    (ids, waiting): (&mut [u32; PLACES], &mut [u32; PLACES]),
) {
    let none = _mm256_set1_epi32(NONE as i32);
    let (ids, waiting) = (ids.as_chunks_mut::<LANES>().0, waiting.as_chunks_mut::<LANES>().0);
    let (mut bytes, mut places) = (bytes, numbers());
    let with_next = _mm256_set1_epi32(length as i32 - 1);
    for half in 0..PLACES / LANES {
        let eight = |bytes: u128| _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes as i64));
        let (first, second) = (eight(bytes), eight(bytes >> 8));
        let index = _mm256_or_si256(_mm256_slli_epi32::<8>(first), second);
        // SAFETY: there are ids for all 256 values of a byte, and ranks for all 65,536 pairs of bytes.
        let (symbols, ranks) = unsafe {
            (
                _mm256_i32gather_epi32::<4>(pairs.ids().as_ptr().cast(), first),
                _mm256_i32gather_epi32::<4>(pairs.ranks().as_ptr().cast(), index),
            )
        };
        let is_none = _mm256_or_si256(
            _mm256_cmpeq_epi32(ranks, none),
            _mm256_cmpgt_epi32(places, _mm256_sub_epi32(with_next, _mm256_set1_epi32(1))),
        );
        store(&mut ids[half], symbols);
        store(&mut waiting[half], _mm256_or_si256(_mm256_or_si256(ranks, places), is_none));
        bytes >>= 64;
        places = _mm256_add_epi32(places, _mm256_set1_epi32(LANES as i32));
    }
}

/// The numbers whose bits are set, one after the other; behind them stands anything.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn compress(numbers: &[u32; PLACES], live: u32, out: &mut [u32; PLACES]) {
    let mut from = 0;
    for (half, eight) in numbers.as_chunks::<LANES>().0.iter().enumerate() {
        let bits = (live >> (LANES * half)) as u8;
        let order = _mm_cvtsi64_si128(i64::from_le_bytes(ORDERS[usize::from(bits)]));
        let packed = _mm256_permutevar8x32_epi32(load(eight), _mm256_cvtepu8_epi32(order));
        if let Some(room) = out.get_mut(from..).and_then(<[u32]>::first_chunk_mut::<LANES>) {
            store(room, packed);
        }
        from += bits.count_ones() as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::narrow::Narrow;

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn bits_and_numbers() {
        let numbers: [u32; PLACES] = std::array::from_fn(|at| 1000 + at as u32);
        for live in 0..1_u32 << (PLACES - 1) {
            let mut out = [0; PLACES];
            compress(&numbers, live, &mut out);
            let there: Vec<u32> =
                (0..PLACES).filter(|at| live >> at & 1 != 0).map(|at| numbers[at]).collect();
            assert_eq!(out[..there.len()], there);
            let mut places = [0; LANES];
            store(&mut places, highest(_mm256_set1_epi32(live.max(1) as i32)));
            assert_eq!(places.map(|place| place % 16), [live.max(1).ilog2(); LANES]);
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn keys_of_parts() {
        let texts: [[u8; 16]; LANES] =
            std::array::from_fn(|lane| std::array::from_fn(|at| (31 * lane + 7 * at) as u8));
        let mut bytes = [[0; LANES]; 2];
        for (lane, text) in texts.iter().enumerate() {
            let text = u128::from_le_bytes(*text);
            (bytes[0][slot(lane)], bytes[1][slot(lane)]) = (text as u64, (text >> 64) as u64);
        }
        for from in 0..15_usize {
            for turn in 0..LANES {
                let tos: [u32; LANES] =
                    std::array::from_fn(|lane| (from + 1 + (lane + turn) % (15 - from)) as u32);
                let keys = keys(&bytes, _mm256_set1_epi32(from as i32), load(&tos));
                for (lane, (text, to)) in texts.iter().zip(tos).enumerate() {
                    let key = Key::new(&text[from..to as usize]).unwrap();
                    assert_eq!((keys.key(lane), keys.hash(lane)), (key, key.mixed()));
                }
            }
        }
    }

    #[test]
    fn vectors_do_what_numbers_do() {
        if Narrow::new().is_some() {
            // SAFETY: the processor has all features that the functions have.
            unsafe {
                bits_and_numbers();
                keys_of_parts();
            }
        }
    }
}
