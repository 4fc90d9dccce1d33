//! Where words begin and end, 64 bytes of characters of one byte and two or sixteen of any script at a time, with AVX-512 VBMI.
//!
//! ```text
//! 64 bytes  ->  of each what it is cut from at its left, and of each what is cut at its right: bits in common  =>  a cut
//! ```
//!
//! Leaves out what `cut` does.

use std::arch::x86_64::{
    __m512i, __mmask64, _mm512_add_epi8, _mm512_alignr_epi32, _mm512_and_si512, _mm512_castsi128_si512,
    _mm512_castsi512_si128, _mm512_cmpeq_epi32_mask, _mm512_cmpge_epu8_mask, _mm512_cmpge_epu32_mask,
    _mm512_cvtepi32_epi8, _mm512_cvtepu8_epi32, _mm512_i32gather_epi32, _mm512_loadu_si512,
    _mm512_mask_cmpeq_epi32_mask, _mm512_mask_cmpge_epu32_mask, _mm512_mask_mov_epi8,
    _mm512_maskz_compress_epi8, _mm512_maskz_expand_epi8, _mm512_maskz_loadu_epi8, _mm512_min_epu32,
    _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8,
    _mm512_permutexvar_epi32, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_slli_epi32,
    _mm512_storeu_si512, _mm512_sub_epi8, _mm512_test_epi8_mask, _mm512_test_epi32_mask, _pdep_u64,
};

use super::{
    classes::{ALONE, SPACE, TOKEN},
    cut::{BEFORE, BEHIND, Before, CLASSES, ROW, RUN, Sides},
};
use crate::{
    encode::Several,
    first::{ASCII, first_bits},
    sixteen::{LANES, Sixteen, WINDOW, at_most, first_sixteen, load},
    split::PLACES,
};

impl Sides {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn cut_by_vectors(
        &self,
        classes: &[u32; 1 << 16],
        text: &[u8],
        mut at: usize,
        several: &mut Several,
    ) -> usize {
        let mut before = Before::NOTHING;
        while at < text.len() && several.has_room() {
            let ahead = &text[at..];
            let bytes = load(ahead);
            let there = if ahead.len() < WINDOW { (1 << ahead.len()) - 1 } else { u64::MAX };
            let ascii = (_mm512_movepi8_mask(bytes) | !there).trailing_zeros();
            if ascii >= RUN || ascii as usize == ahead.len() {
                let known = first_bits(ascii as usize);
                let (cuts, spaces) = self.ascii_wide(ahead, bytes, before.side);
                let (starts, ends) = before.edges(cuts & known, (spaces & known, spaces & known), ascii);
                several.cut_apart(starts, ends, at);
                at += ascii as usize;
                before.side = self.behind[usize::from(text[at - 1])];
                continue;
            }
            let (starts, ends, length) = self.narrow_cut(classes, (ahead, bytes), &mut before);
            if length > 0 {
                several.cut_apart(starts, ends, at);
                at += length;
                continue;
            }
            let (starts, ends, length) = sixteen_cut(classes, bytes, ahead.len(), &mut before);
            if length == 0 {
                break;
            }
            several.cut_apart(starts, ends, at);
            at += length;
        }
        at
    }

    /// Before which of the first bytes, all of ASCII, a word may end, and which are white space, as bits; `last` is what the one
    /// before is cut from.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn ascii_wide(&self, ahead: &[u8], bytes: __m512i, last: u8) -> (u64, u64) {
        let there: __mmask64 = if ahead.len() < WINDOW { (1 << ahead.len()) - 1 } else { u64::MAX };
        // SAFETY: the byte before the first is not read, nor what is not there.
        let before = unsafe { _mm512_maskz_loadu_epi8(there & !1, ahead.as_ptr().wrapping_sub(1).cast()) };
        let of = |table: &[u8; ASCII], bytes: __m512i| {
            let (low, high) = (table[..WINDOW].as_ptr(), table[WINDOW..].as_ptr());
            // SAFETY: there are twice 64 bytes.
            let [low, high] = unsafe { [_mm512_loadu_si512(low.cast()), _mm512_loadu_si512(high.cast())] };
            _mm512_permutex2var_epi8(low, bytes, high)
        };
        let sides = of(&self.before, bytes);
        let cuts = _mm512_test_epi8_mask(of(&self.behind, before), sides) & !1;
        let spaces = _mm512_test_epi8_mask(sides, _mm512_set1_epi8(BEFORE[SPACE as usize] as i8));
        (cuts | u64::from(last & self.before[usize::from(ahead[0])] != 0), spaces)
    }

    /// The same as `sixteen_cut` of characters of one byte and two, if there are not too few, and not too many of two.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn narrow_cut(
        &self,
        classes: &[u32; 1 << 16],
        (ahead, bytes): (&[u8], __m512i),
        last: &mut Before,
    ) -> (u64, u64, usize) {
        let at_least = |byte: u8| _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(byte as i8));
        let leads = at_least(0xC0);
        let mut length = (at_least(0xE0).trailing_zeros() as usize).min(ahead.len()).min(WINDOW);
        // The second byte of the last is not read.
        length -= usize::from(length == WINDOW && leads >> (WINDOW - 1) == 1);
        let known = first_bits(length);
        let (leads, ascii) = (leads & known, known & !at_least(0x80));
        if length < RUN as usize || leads.count_ones() > LANES as u32 {
            return (0, 0, 0);
        }
        // SAFETY: there are 64 bytes.
        let places = unsafe { _mm512_loadu_si512(PLACES.as_ptr().cast()) };
        let firsts = _mm512_maskz_compress_epi8(leads, places);
        let byte =
            |at: __m512i| _mm512_cvtepu8_epi32(_mm512_castsi512_si128(_mm512_permutexvar_epi8(at, bytes)));
        let low = |of: __m512i, mask: i32| _mm512_and_si512(of, _mm512_set1_epi32(mask));
        let second = byte(_mm512_add_epi8(firsts, _mm512_set1_epi8(1)));
        let chars = _mm512_or_si512(_mm512_slli_epi32::<6>(low(byte(firsts), 0x1F)), low(second, 0x3F));
        // SAFETY: the numbers are of the table.
        let found = unsafe { _mm512_i32gather_epi32::<4>(chars, classes.as_ptr().cast()) };
        let valid = ((1u32 << leads.count_ones()) - 1) as u16;
        if _mm512_mask_cmpeq_epi32_mask(valid, found, _mm512_setzero_si512()) != 0 {
            return (0, 0, 0);
        }
        let class = _mm512_min_epu32(found, _mm512_set1_epi32(ALONE as i32));
        let narrow =
            |sides: [u8; CLASSES]| _mm512_castsi128_si512(_mm512_cvtepi32_epi8(sides_of(class, sides)));
        let of = |table: &[u8; ASCII], spread: __m512i| {
            let (low, high) = (table[..WINDOW].as_ptr(), table[WINDOW..].as_ptr());
            // SAFETY: there are twice 64 bytes.
            let [low, high] = unsafe { [_mm512_loadu_si512(low.cast()), _mm512_loadu_si512(high.cast())] };
            _mm512_mask_mov_epi8(spread, ascii, _mm512_permutex2var_epi8(low, bytes, high))
        };
        // What a character has at its left its first byte has, and what it has at its right its last.
        let before = of(&self.before, _mm512_maskz_expand_epi8(leads, narrow(BEFORE)));
        let behind = of(&self.behind, _mm512_maskz_expand_epi8(leads << 1, narrow(BEHIND)));
        let shifted = _mm512_permutexvar_epi8(_mm512_sub_epi8(places, _mm512_set1_epi8(1)), behind);
        let shifted = _mm512_mask_mov_epi8(shifted, 1, _mm512_set1_epi8(last.side as i8));
        let cuts = _mm512_test_epi8_mask(shifted, before) & known;
        let spaces = _mm512_test_epi8_mask(before, _mm512_set1_epi8(BEFORE[SPACE as usize] as i8)) & known;
        let space_ends = spaces & ascii | (spaces & leads) << 1;
        let (starts, ends) = last.edges(cuts, (spaces, space_ends), length as u32);
        last.side = match ahead[length - 1] {
            byte @ ..0x80 => self.behind[usize::from(byte)],
            second => {
                let code = usize::from(ahead[length - 2] & 0x1F) << 6 | usize::from(second & 0x3F);
                BEHIND[classes[code].min(ALONE) as usize]
            }
        };
        (starts, ends, length)
    }
}

/// The sides of sixteen classes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn sides_of(class: __m512i, sides: [u8; CLASSES]) -> __m512i {
    let sides: [u32; 2 * CLASSES] = std::array::from_fn(|class| sides[class % CLASSES].into());
    // SAFETY: there are sixteen numbers.
    unsafe { _mm512_permutexvar_epi32(class, _mm512_loadu_si512(sides.as_ptr().cast())) }
}

/// At which bytes words begin, and before which they end, as bits, of up to sixteen characters of some bytes, of which so many
/// are there; how many bytes those have, none if they are not for this way.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn sixteen_cut(
    classes: &[u32; 1 << 16],
    bytes: __m512i,
    length: usize,
    last: &mut Before,
) -> (u64, u64, usize) {
    let number = |number: u32| _mm512_set1_epi32(number as i32);
    let Sixteen { chars, lanes: all, valid, begins, .. } = first_sixteen(bytes, length);
    // SAFETY: the numbers are of the table.
    let found = unsafe { _mm512_i32gather_epi32::<4>(chars, classes.as_ptr().cast()) };
    let is_other = _mm512_cmpge_epu32_mask(chars, number(ASCII as u32));
    let tokens = _mm512_mask_cmpge_epu32_mask(is_other & valid, found, number(TOKEN));
    let unknown = _mm512_cmpeq_epi32_mask(found, _mm512_setzero_si512());
    let lanes = at_most((unknown & valid).trailing_zeros(), all as u32);
    if lanes == 0 || tokens.count_ones() >= ROW {
        return (0, 0, 0);
    }
    let class = _mm512_min_epu32(found, number(ALONE));
    let (behind, before) = (sides_of(class, BEHIND), sides_of(class, BEFORE));
    let lefts = _mm512_alignr_epi32::<15>(behind, number(last.side.into()));
    let cuts = _mm512_test_epi32_mask(lefts, before) & ((1u32 << lanes) - 1) as u16;
    let end = _pdep_u64(1 << lanes, begins).trailing_zeros() as usize;
    let mut rows = [0u32; LANES];
    // SAFETY: there is room for sixteen.
    unsafe { _mm512_storeu_si512(rows.as_mut_ptr().cast(), behind) };
    let spaces = _mm512_cmpeq_epi32_mask(found, number(SPACE)) & ((1u32 << lanes) - 1) as u16;
    let (starts, ends) = last.edges(cuts.into(), (spaces.into(), spaces.into()), lanes);
    last.side = rows[lanes as usize - 1] as u8;
    (_pdep_u64(starts, begins), _pdep_u64(ends, begins), end.min(length))
}
