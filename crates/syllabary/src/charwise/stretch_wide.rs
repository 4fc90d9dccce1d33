//! Characters of a stretch read sixteen at a time, with AVX-512 VBMI: what `stretch` asks of each.
//!
//! ```text
//! 64 bytes  ->  where characters begin  ->  their numbers  ->  their codes, and which neighbours may stand together: two gathers
//! ```
//!
//! Leaves out characters of four bytes, and the last of a text, which are read one by one.

use std::arch::x86_64::{
    __m128i, __m512i, _mm_bsrli_si128, _mm_cvtsi32_si128, _mm512_add_epi64, _mm512_alignr_epi32,
    _mm512_and_si512, _mm512_castsi256_si512, _mm512_castsi512_si256, _mm512_cmpeq_epi32_mask,
    _mm512_cmpge_epu32_mask, _mm512_cmplt_epi8_mask, _mm512_cvtepi64_epi32, _mm512_cvtepu8_epi64,
    _mm512_cvtepu32_epi64, _mm512_extracti64x4_epi64, _mm512_i32gather_epi32, _mm512_inserti64x4,
    _mm512_loadu_si512, _mm512_mask_mov_epi32, _mm512_maskz_mov_epi32, _mm512_mullo_epi64, _mm512_or_si512,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_slli_epi64, _mm512_sllv_epi32,
    _mm512_srl_epi64, _mm512_srli_epi32, _mm512_storeu_si512, _mm512_test_epi32_mask, _pdep_u64,
};

use super::{
    joins::{Joins, SPREAD},
    stretch::{READ, Read},
};
use crate::{
    models::unigram::{LATER, Unigram},
    sixteen::{Able, LANES, WHOLE, WINDOW, numbers},
};

impl Able {
    /// Reads characters behind those that are read, as long as there is room and text for sixteen; `space` stands for a space.
    /// Which of them no place is to cut before, as bits.
    pub(super) fn read(
        self,
        unigram: &Unigram,
        joins: &Joins,
        space: char,
        text: &[u8],
        read: &mut Read,
    ) -> u32 {
        // SAFETY: `self` exists, so the processor has all features that the function has.
        unsafe { all(unigram, joins, space, text, read) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn all(unigram: &Unigram, joins: &Joins, space: char, text: &[u8], read: &mut Read) -> u32 {
    let mut opens = 0;
    while let Some(window) = text.get(read.starts[read.count]..).and_then(<[u8]>::first_chunk::<WINDOW>)
        && read.count + LANES <= READ
    {
        let (count, joined) = sixteen(unigram, joins, space, window, read);
        opens |= (joined & ((1 << count) - 1)) << read.count;
        read.count += count;
        if count < LANES / 2 {
            break;
        }
    }
    opens
}

/// Reads up to sixteen: how many, and which of them stand together with the one before.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn sixteen(
    unigram: &Unigram,
    joins: &Joins,
    space: char,
    window: &[u8; WINDOW],
    read: &mut Read,
) -> (usize, u32) {
    let number = |number: u32| _mm512_set1_epi32(number as i32);
    // SAFETY: there are 64 bytes.
    let bytes = unsafe { _mm512_loadu_si512(window.as_ptr().cast()) };
    // As signed numbers, bytes within a character are the lowest.
    let begins = !_mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(0xC0_u8 as i8));
    let (near, chars, is_number) = numbers(bytes, begins);
    let chars = _mm512_mask_mov_epi32(
        chars,
        _mm512_cmpeq_epi32_mask(chars, number(b' '.into())),
        number(space.into()),
    );
    // What stands for a space may be no number of the table.
    let other = !is_number | _mm512_cmpge_epu32_mask(chars, number(0xFFFF));
    let whole = (begins & ((1 << WHOLE) - 1)).count_ones().min(LANES as u32);
    let count = whole.min(other.trailing_zeros()) as usize;
    let there = ((1u32 << count) - 1) as u16;

    let at = read.count;
    let left = _mm512_alignr_epi32::<15>(chars, number(read.chars[at]));
    let joined = may_join(joins, left, chars);
    // SAFETY: the table has a number of 16 bits for each but the last, behind which another one is.
    let found = unsafe {
        _mm512_i32gather_epi32::<2>(_mm512_maskz_mov_epi32(there, chars), unigram.codes().as_ptr().cast())
    };
    let codes = _mm512_and_si512(found, number(0xFFFF));
    let base = read.starts[at];
    let eight =
        |places: __m128i| _mm512_add_epi64(_mm512_cvtepu8_epi64(places), _mm512_set1_epi64(base as i64));
    // SAFETY: there is room for sixteen, in `chars` and `starts` for one more.
    unsafe {
        _mm512_storeu_si512(read.chars[at + 1..at + 1 + LANES].as_mut_ptr().cast(), chars);
        _mm512_storeu_si512(read.codes[at..at + LANES].as_mut_ptr().cast(), codes);
        let starts = read.starts[at..at + LANES].as_mut_ptr();
        _mm512_storeu_si512(starts.cast(), eight(near));
        _mm512_storeu_si512(starts.add(8).cast(), eight(_mm_bsrli_si128::<8>(near)));
    }
    // Where the one after the last begins, which may be behind the window.
    read.starts[at + count] = base + _pdep_u64(1 << count, begins).trailing_zeros() as usize;
    let mut later = _mm512_cmpeq_epi32_mask(codes, number(LATER.into())) & there;
    while later != 0 {
        let lane = later.trailing_zeros() as usize;
        later &= later - 1;
        read.codes[at + lane] = unigram.code(read.chars[at + 1 + lane]);
    }
    (count, joined.into())
}

/// `Joins::may_join` of sixteen pairs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn may_join(joins: &Joins, left: __m512i, right: __m512i) -> u16 {
    let (bits, shift) = joins.bits();
    let shift = _mm_cvtsi32_si128(shift as i32);
    let hash = |left, right| {
        let pair = _mm512_or_si512(
            _mm512_slli_epi64::<32>(_mm512_cvtepu32_epi64(left)),
            _mm512_cvtepu32_epi64(right),
        );
        let product = _mm512_mullo_epi64(pair, _mm512_set1_epi64(SPREAD as i64));
        _mm512_cvtepi64_epi32(_mm512_srl_epi64(product, shift))
    };
    let low = hash(_mm512_castsi512_si256(left), _mm512_castsi512_si256(right));
    let high = hash(_mm512_extracti64x4_epi64::<1>(left), _mm512_extracti64x4_epi64::<1>(right));
    let bit = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
    // SAFETY: a hash is less than the number of bits.
    let found = unsafe { _mm512_i32gather_epi32::<4>(_mm512_srli_epi32::<5>(bit), bits.as_ptr().cast()) };
    let wanted = _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(bit, _mm512_set1_epi32(31)));
    _mm512_test_epi32_mask(found, wanted)
}
