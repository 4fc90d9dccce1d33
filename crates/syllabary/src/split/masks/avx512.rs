//! Masks by AVX-512, with the byte instructions of VBMI and VBMI2.
//!
//! Adds: one vector a block; the classes of ASCII from a table in registers. Characters of two and three bytes go by
//! *pages*, the 64 characters that differ in the last byte alone: all of one page in the block at once, as their
//! classes too are a table in a register. First bytes all of whose characters have one class need no page. Leaves
//! out: characters of four bytes, which go one by one.

use std::arch::x86_64::{
    __m512i, _mm_cvtsi128_si32, _mm512_add_epi64, _mm512_castsi512_si128, _mm512_cmpeq_epi8_mask,
    _mm512_cmplt_epi8_mask, _mm512_cvtepu8_epi64, _mm512_loadu_si512, _mm512_mask_blend_epi8,
    _mm512_mask_mov_epi8, _mm512_mask_permutexvar_epi8, _mm512_mask_sub_epi8, _mm512_maskz_compress_epi8,
    _mm512_movepi8_mask, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_set1_epi64, _mm512_storeu_si512, _mm512_test_epi8_mask, _mm512_extracti32x4_epi32, _mm_srli_si128,
};

use super::super::classes::{Classes, LOWER, MARK, NUMBER, SPACE, UPPER};
use super::super::walk::Walk;
use super::{BLOCK, Lanes, Law, Masks, WINDOW, class_at};

/// Exists only where the processor has AVX-512 with its byte instructions, and the bit instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Avx512(());

/// 0 to 63.
const PLACES: [u8; BLOCK] = {
    let mut places = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        places[at] = at as u8;
        at += 1;
    }
    places
};

impl Avx512 {
    pub(in super::super) fn new() -> Option<Avx512> {
        let there = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        there.then_some(Avx512(()))
    }

    pub(in super::super) fn enter(self, walk: &mut Walk<'_>, law: impl Law, ends: &mut [usize]) -> usize {
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
        fn enter(lanes: Avx512, walk: &mut Walk<'_>, law: impl Law, ends: &mut [usize]) -> usize {
            walk.run(lanes, law, ends)
        }
        // SAFETY: `self` exists, so the processor has these instructions.
        unsafe { enter(self, walk, law, ends) }
    }
}

impl Lanes for Avx512 {
    #[inline(always)]
    fn masks(self, classes: &Classes, word: u8, window: &[u8; WINDOW], last: u8) -> Masks {
        // SAFETY: `self` exists, so the processor has the instructions; the window has 64 bytes, the table 128.
        unsafe {
            let raw = _mm512_loadu_si512(window.as_ptr().cast());
            let ascii: *const __m512i = classes.ascii.as_ptr().cast();
            let (low, high) = (_mm512_loadu_si512(ascii), _mm512_loadu_si512(ascii.add(1)));
            let mut kinds = _mm512_permutex2var_epi8(low, raw, high);
            let wide = _mm512_movepi8_mask(raw);
            let (mut inner, mut left) = (0, 0);
            if wide != 0 {
                inner = _mm512_cmplt_epi8_mask(raw, _mm512_set1_epi8(-64));
                (kinds, left) = self.wide(classes, window, kinds, wide, inner, last);
            }
            let any = |class: u8| _mm512_test_epi8_mask(kinds, _mm512_set1_epi8(class as i8));
            let equal = |byte: u8| _mm512_cmpeq_epi8_mask(raw, _mm512_set1_epi8(byte as i8));
            Masks {
                word: any(word),
                upper: any(UPPER),
                lower: any(LOWER),
                mark: any(MARK),
                number: any(NUMBER),
                space: any(SPACE),
                blank: equal(b' '),
                line: equal(b'\n') | equal(b'\r'),
                apostrophe: equal(b'\''),
                slash: equal(b'/'),
                inner,
                last: left,
            }
        }
    }

    #[inline(always)]
    fn flatten(self, bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
        let count = bits.count_ones() as usize;
        // SAFETY: `self` exists, so the processor has the instructions; `out` has 64 places, and eight are written
        // at a time.
        unsafe {
            let places = _mm512_loadu_si512(PLACES.as_ptr().cast());
            let mut left = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(bits, places));
            let all = _mm512_maskz_compress_epi8(bits, places);
            let base = _mm512_set1_epi64(base as i64);
            let to: *mut __m512i = out.as_mut_ptr().cast();
            let eight = |eight| _mm512_add_epi64(_mm512_cvtepu8_epi64(eight), base);
            _mm512_storeu_si512(to, eight(left));
            _mm512_storeu_si512(to.add(1), eight(_mm_srli_si128::<8>(left)));
            if count > 16 {
                left = _mm512_extracti32x4_epi32::<1>(all);
                _mm512_storeu_si512(to.add(2), eight(left));
                _mm512_storeu_si512(to.add(3), eight(_mm_srli_si128::<8>(left)));
            }
            if count > 32 {
                for (half, left) in
                    [_mm512_extracti32x4_epi32::<2>(all), _mm512_extracti32x4_epi32::<3>(all)].into_iter().enumerate()
                {
                    _mm512_storeu_si512(to.add(4 + 2 * half), eight(left));
                    _mm512_storeu_si512(to.add(5 + 2 * half), eight(_mm_srli_si128::<8>(left)));
                }
            }
        }
        count
    }
}

impl Avx512 {
    /// The classes of all bytes, where `kinds` has those of ASCII and `last` is that of the character before; and
    /// the class of the last character, if it is not ASCII.
    #[inline(always)]
    fn wide(
        self,
        classes: &Classes,
        window: &[u8; WINDOW],
        kinds: __m512i,
        wide: u64,
        inner: u64,
        last: u8,
    ) -> (__m512i, u8) {
        let leads = wide & !inner;
        // SAFETY: `self` exists, so the processor has the instructions; the window has two bytes more than 64; the
        // table of first bytes has 64; a page is 64 bytes from a multiple of 64 on, below 65,536.
        unsafe {
            let at: *const u8 = window.as_ptr();
            let (raw, second, third) = (
                _mm512_loadu_si512(at.cast()),
                _mm512_loadu_si512(at.add(1).cast()),
                _mm512_loadu_si512(at.add(2).cast()),
            );
            let whole =
                _mm512_permutexvar_epi8(raw, _mm512_loadu_si512(classes.leads.as_ptr().cast()));
            let mut kinds = _mm512_mask_mov_epi8(kinds, leads, whole);
            let mut mixed = _mm512_movepi8_mask(whole) & leads;
            while mixed != 0 {
                let place = mixed.trailing_zeros() as usize & (BLOCK - 1);
                let (first, after) = (window[place], window[place + 1]);
                if first >= 0xF0 {
                    let class = class_at(classes, window, place).0;
                    kinds = _mm512_mask_mov_epi8(kinds, 1 << place, _mm512_set1_epi8(class as i8));
                    mixed &= mixed - 1;
                    continue;
                }
                let three = if first >= 0xE0 { u64::MAX } else { 0 };
                let page = if first >= 0xE0 {
                    (usize::from(first & 0x0F) << 6) | usize::from(after & 0x3F)
                } else {
                    usize::from(first & 0x1F)
                };
                let same = mixed
                    & _mm512_cmpeq_epi8_mask(raw, _mm512_set1_epi8(first as i8))
                    & (_mm512_cmpeq_epi8_mask(second, _mm512_set1_epi8(after as i8)) | !three);
                let index = _mm512_mask_blend_epi8(three, second, third);
                let table = _mm512_loadu_si512(classes.short.as_ptr().add(page << 6).cast());
                kinds = _mm512_mask_permutexvar_epi8(kinds, same, index, table);
                mixed &= !same;
            }
            self.spread(kinds, inner, wide, last)
        }
    }

    /// The class of each first byte to the other bytes of its character.
    #[inline(always)]
    fn spread(self, kinds: __m512i, inner: u64, wide: u64, last: u8) -> (__m512i, u8) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe {
            let one = _mm512_set1_epi8(1);
            let (two, three) = (inner & (inner << 1), inner & (inner << 1) & (inner << 2));
            let mut first = _mm512_loadu_si512(PLACES.as_ptr().cast());
            first = _mm512_mask_sub_epi8(first, inner, first, one);
            first = _mm512_mask_sub_epi8(first, two, first, one);
            first = _mm512_mask_sub_epi8(first, three, first, one);
            let kinds = _mm512_permutexvar_epi8(first, kinds);
            let head = inner & !inner.wrapping_add(1);
            let kinds = _mm512_mask_mov_epi8(kinds, head, _mm512_set1_epi8(last as i8));
            let top = _mm512_permutexvar_epi8(_mm512_set1_epi8(63), kinds);
            let top = _mm_cvtsi128_si32(_mm512_castsi512_si128(top)) as u8;
            (kinds, if wide >> (BLOCK - 1) == 0 { 0 } else { top })
        }
    }
}
