//! The first sixteen characters of 64 bytes, with AVX-512 VBMI.
//!
//! ```text
//! 64 bytes  ->  where characters begin  ->  three bytes of each, side by side  ->  their numbers
//! ```
//!
//! Leaves out characters of four bytes, and what is asked of characters (`charwise`, `wordwise`).

use std::arch::x86_64::{
    __m128i, __m512i, __mmask16, __mmask64, _mm512_add_epi8, _mm512_and_si512, _mm512_castsi512_si128,
    _mm512_cmpge_epu32_mask, _mm512_cmplt_epi8_mask, _mm512_cvtepu8_epi32, _mm512_loadu_si512,
    _mm512_mask_mov_epi32, _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8, _mm512_maskz_mov_epi32,
    _mm512_or_si512, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_slli_epi32,
    _pdep_u64,
};

use crate::split::{PLACES, flatten, has_vbmi};

pub(crate) use crate::first::{BLOCK as WINDOW, LANES, WHOLE};

/// Exists only where the processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Able(());

impl Able {
    pub(crate) fn new() -> Option<Able> {
        (has_vbmi() && is_x86_feature_detected!("avx512dq")).then_some(Able(()))
    }

    /// The same as `split::places_of`.
    #[inline(always)]
    pub(crate) fn places_of(self, bits: u64, base: usize, out: &mut [usize; WINDOW]) -> usize {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { flatten(bits, base, out) }
    }
}

/// The first characters of some bytes.
pub(crate) struct Sixteen {
    /// Where each begins, and its number.
    pub(crate) places: __m128i,
    pub(crate) chars: __m512i,
    /// How many they are, and the same as bits.
    pub(crate) lanes: usize,
    pub(crate) valid: __mmask16,
    /// The bytes that begin characters, and how many bytes those read have.
    pub(crate) begins: __mmask64,
    pub(crate) length: usize,
}

/// Up to sixteen whole characters of the table, of so many bytes, of 64 at most those that are there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn first_sixteen(bytes: __m512i, length: usize) -> Sixteen {
    // As signed numbers, bytes within a character are the lowest.
    let there = if length < WINDOW { (1 << length) - 1 } else { u64::MAX };
    let begins = !_mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(0xC0_u8 as i8)) & there;
    let (places, chars, is_number) = numbers(bytes, begins);
    let whole = if length < WINDOW { begins } else { begins & ((1 << WHOLE) - 1) };
    let lanes = at_most(is_number.trailing_ones(), whole.count_ones().min(LANES as u32)) as usize;
    let valid = ((1u32 << lanes) - 1) as u16;
    let after = _pdep_u64(1 << lanes, begins).trailing_zeros() as usize;
    let chars = _mm512_maskz_mov_epi32(valid, chars);
    Sixteen { places, chars, lanes, valid, begins, length: after.min(length) }
}

/// The lower of two numbers, of which the second is the rule: with a branch, what comes next does not wait for the first.
#[inline(always)]
pub(crate) fn at_most(exception: u32, rule: u32) -> u32 {
    #[cold]
    #[inline(never)]
    fn same(number: u32) -> u32 {
        number
    }
    if exception < rule { same(exception) } else { rule }
}

/// The first 64 bytes; zeros for those that are not there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn load(text: &[u8]) -> __m512i {
    let there: __mmask64 = if text.len() < WINDOW { (1 << text.len()) - 1 } else { u64::MAX };
    // SAFETY: what is not there is not read.
    unsafe { _mm512_maskz_loadu_epi8(there, text.as_ptr().cast()) }
}

/// Where the first sixteen characters of 64 bytes begin, their numbers, and which have one of the table; `begins` are the bytes
/// that begin characters.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn numbers(bytes: __m512i, begins: __mmask64) -> (__m128i, __m512i, __mmask16) {
    let number = |number: u32| _mm512_set1_epi32(number as i32);
    // SAFETY: there are 64 bytes.
    let places = unsafe { _mm512_loadu_si512(PLACES.as_ptr().cast()) };
    let places = _mm512_maskz_compress_epi8(begins, places);
    let byte = |after: i8| {
        let at = _mm512_add_epi8(places, _mm512_set1_epi8(after));
        _mm512_cvtepu8_epi32(_mm512_castsi512_si128(_mm512_permutexvar_epi8(at, bytes)))
    };
    let (first, second, third) = (byte(0), byte(1), byte(2));
    let low = |of, mask| _mm512_and_si512(of, number(mask));
    let two = _mm512_or_si512(_mm512_slli_epi32::<6>(low(first, 0x1F)), low(second, 0x3F));
    // The bits of the first byte beyond the 16 of a character go.
    let three = _mm512_or_si512(low(_mm512_slli_epi32::<6>(two), 0xFFFF), low(third, 0x3F));
    let chars = _mm512_mask_mov_epi32(first, _mm512_cmpge_epu32_mask(first, number(0xC0)), two);
    let chars = _mm512_mask_mov_epi32(chars, _mm512_cmpge_epu32_mask(first, number(0xE0)), three);
    // The last number of the table has none behind it.
    let is_other =
        _mm512_cmpge_epu32_mask(first, number(0xF0)) | _mm512_cmpge_epu32_mask(chars, number(0xFFFF));
    (_mm512_castsi512_si128(places), chars, !is_other)
}
