//! What `lanes` does with sixteen numbers, or with eight that are twice as wide.
//!
//! Leaves out when.

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_andnot_si512, _mm512_castsi512_si256, _mm512_cmpge_epu64_mask,
    _mm512_cvtepu32_epi64, _mm512_extracti64x4_epi64, _mm512_i32gather_epi32, _mm512_loadu_si512,
    _mm512_lzcnt_epi32, _mm512_mask_i32scatter_epi32, _mm512_maskz_andnot_epi64, _mm512_min_epu32,
    _mm512_or_si512, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setr_epi32, _mm512_setzero_si512,
    _mm512_slli_epi64, _mm512_sllv_epi64, _mm512_srli_epi32, _mm512_srlv_epi64, _mm512_storeu_si512,
    _mm512_sub_epi32, _mm512_sub_epi64, _mm512_ternarylogic_epi64,
};

use super::{LANES, Row};
use crate::encode::short::PLACE_BITS;

#[inline]
#[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn load<T, const N: usize>(from: &[T; N]) -> __m512i {
    const { assert!(size_of::<[T; N]>() >= 64) };
    // SAFETY: there are at least 64 bytes.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn store<T, const N: usize>(to: &mut [T; N], value: __m512i) {
    const { assert!(size_of::<[T; N]>() >= 64) };
    // SAFETY: there is room for 64 bytes, and any bits are integers; `T` is `u32` or `u64` in this file.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), value) }
}

/// Writes to `table[place][lane]`, or to `table[lane][place]`, as `index` says: each is below 256.
#[inline]
#[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn scatter(table: &mut [Row; LANES], which: u16, index: __m512i, value: __m512i) {
    let index = _mm512_and_si512(index, _mm512_set1_epi32((LANES * LANES - 1) as i32));
    // SAFETY: the table has 256 places, and no index is higher.
    unsafe { _mm512_mask_i32scatter_epi32::<4>(table.as_mut_ptr().cast(), which, index, value) }
}

/// 0 to 15.
#[inline]
#[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn numbers() -> __m512i {
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

/// The lowest bit of each.
#[inline]
#[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn lowest(bits: __m512i) -> __m512i {
    _mm512_and_si512(bits, _mm512_sub_epi32(_mm512_setzero_si512(), bits))
}

/// The place of the highest bit of each.
#[inline]
#[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn highest(bits: __m512i) -> __m512i {
    _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(bits))
}

/// What the merges of these ranks make, which stand above `PLACE_BITS`.
#[inline]
#[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn made<const LISTED: bool>(least: __m512i, results: &[u32]) -> __m512i {
    let ranks = _mm512_srli_epi32::<PLACE_BITS>(least);
    let Some(last) = results.len().checked_sub(1).filter(|_| LISTED) else { return ranks };
    let ranks = _mm512_min_epu32(ranks, _mm512_set1_epi32(last as i32));
    // SAFETY: there is a result for each rank up to the last.
    unsafe { _mm512_i32gather_epi32::<4>(ranks, results.as_ptr().cast()) }
}

/// Eight of sixteen numbers, wider.
#[inline]
#[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn wide<const HALF: usize>(numbers: __m512i) -> __m512i {
    _mm512_cvtepu32_epi64(match HALF {
        0 => _mm512_castsi512_si256(numbers),
        _ => _mm512_extracti64x4_epi64::<1>(numbers),
    })
}

/// The key of `length` bytes from the byte `from` on, of two times eight. Shifting by 64 or more, or by less than
/// nothing, gives nothing.
#[inline]
#[target_feature(enable = "avx512f,avx512cd,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn shifted(low: __m512i, high: __m512i, from: __m512i, length: __m512i) -> (__m512i, __m512i) {
    let (word, ones) = (_mm512_set1_epi64(64), _mm512_set1_epi64(-1));
    let by = _mm512_slli_epi64::<3>(from);
    const ANY: i32 = 0xFE;
    let first = _mm512_ternarylogic_epi64::<ANY>(
        _mm512_srlv_epi64(low, by),
        _mm512_sllv_epi64(high, _mm512_sub_epi64(word, by)),
        _mm512_srlv_epi64(high, _mm512_sub_epi64(by, word)),
    );
    let bits = _mm512_slli_epi64::<3>(length);
    let first = _mm512_andnot_si512(_mm512_sllv_epi64(ones, bits), first);
    let is_long = _mm512_cmpge_epu64_mask(bits, word);
    let after = _mm512_sllv_epi64(ones, _mm512_sub_epi64(bits, word));
    let second = _mm512_maskz_andnot_epi64(is_long, after, _mm512_srlv_epi64(high, by));
    (first, _mm512_or_si512(second, _mm512_slli_epi64::<56>(length)))
}
