//! Masks by AVX2.
//!
//! Adds: two vectors of 32 bytes a block; classes of ASCII by comparing. Leaves out: characters that are not ASCII,
//! which go one by one as in `portable`.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_storeu_si256,
    _mm256_sub_epi8,
};

use super::super::classes::{Classes, LOWER, MARK, NUMBER, SPACE, UPPER};
use super::super::walk::Walk;
use super::portable::spread;
use super::{BLOCK, Lanes, Law, Masks, WINDOW};

/// Exists only where the processor has AVX2 and the bit instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Avx2(());

impl Avx2 {
    pub(in super::super) fn new() -> Option<Avx2> {
        let there = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        there.then_some(Avx2(()))
    }

    pub(in super::super) fn enter(self, walk: &mut Walk<'_>, law: impl Law, ends: &mut [usize]) -> usize {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn enter(lanes: Avx2, walk: &mut Walk<'_>, law: impl Law, ends: &mut [usize]) -> usize {
            walk.run(lanes, law, ends)
        }
        // SAFETY: `self` exists, so the processor has these instructions.
        unsafe { enter(self, walk, law, ends) }
    }
}

impl Lanes for Avx2 {
    #[inline(always)]
    fn masks(self, classes: &Classes, word: u8, window: &[u8; WINDOW], last: u8) -> Masks {
        // SAFETY: `self` exists, so the processor has AVX2; the window has 64 bytes and more.
        let raw: Pair = unsafe {
            let low = window.as_ptr().cast();
            [_mm256_loadu_si256(low), _mm256_loadu_si256(low.add(1))]
        };
        let mut kinds = raw.map(|half| self.classes(half));
        let wide = self.tops(raw);
        let (mut inner, mut left) = (0, 0);
        if wide != 0 {
            // SAFETY: as above.
            inner = self.tops(raw.map(|half| unsafe { _mm256_cmpgt_epi8(_mm256_set1_epi8(-64), half) }));
            let mut bits = [0u8; WINDOW];
            // SAFETY: as above; `bits` is as long as the window.
            kinds = unsafe {
                let low: *mut __m256i = bits.as_mut_ptr().cast();
                _mm256_storeu_si256(low, kinds[0]);
                _mm256_storeu_si256(low.add(1), kinds[1]);
                left = spread(classes, window, &mut bits, wide, inner, last);
                let low = bits.as_ptr().cast();
                [_mm256_loadu_si256(low), _mm256_loadu_si256(low.add(1))]
            };
        }
        Masks {
            word: self.any(kinds, word),
            upper: self.any(kinds, UPPER),
            lower: self.any(kinds, LOWER),
            mark: self.any(kinds, MARK),
            number: self.any(kinds, NUMBER),
            space: self.any(kinds, SPACE),
            blank: self.equal(raw, b' '),
            line: self.equal(raw, b'\n') | self.equal(raw, b'\r'),
            apostrophe: self.equal(raw, b'\''),
            slash: self.equal(raw, b'/'),
            inner,
            last: left,
        }
    }

    #[inline(always)]
    fn flatten(self, mut bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
        let count = bits.count_ones() as usize;
        // Eight at a time, without asking whether there are so many: the places are 64, so they have room.
        for eight in out.chunks_exact_mut(8) {
            for place in eight {
                *place = base + bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
        count
    }
}

type Pair = [__m256i; 2];

impl Avx2 {
    /// The classes of ASCII, and 0 or anything for other bytes.
    #[inline(always)]
    fn classes(self, raw: __m256i) -> __m256i {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            let between = |first: u8, last: u8, class: u8| {
                let over = _mm256_sub_epi8(raw, _mm256_set1_epi8(first as i8));
                let within = _mm256_min_epu8(over, _mm256_set1_epi8((last - first) as i8));
                _mm256_and_si256(_mm256_cmpeq_epi8(over, within), _mm256_set1_epi8(class as i8))
            };
            let letters = _mm256_or_si256(between(b'A', b'Z', UPPER), between(b'a', b'z', LOWER));
            let spaces = _mm256_or_si256(between(b'\t', b'\r', SPACE), between(b' ', b' ', SPACE));
            _mm256_or_si256(_mm256_or_si256(letters, spaces), between(b'0', b'9', NUMBER))
        }
    }

    /// The top bit of each byte.
    #[inline(always)]
    fn tops(self, pair: Pair) -> u64 {
        // SAFETY: `self` exists, so the processor has AVX2.
        let [low, high] = pair.map(|half| unsafe { _mm256_movemask_epi8(half) });
        u64::from(low as u32) | (u64::from(high as u32) << 32)
    }

    #[inline(always)]
    fn equal(self, pair: Pair, byte: u8) -> u64 {
        // SAFETY: `self` exists, so the processor has AVX2.
        self.tops(pair.map(|half| unsafe { _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8)) }))
    }

    /// Which bytes have any bit of `class`.
    #[inline(always)]
    fn any(self, pair: Pair, class: u8) -> u64 {
        // SAFETY: `self` exists, so the processor has AVX2.
        let none = pair.map(|half| unsafe {
            _mm256_cmpeq_epi8(_mm256_and_si256(half, _mm256_set1_epi8(class as i8)), _mm256_setzero_si256())
        });
        !self.tops(none)
    }
}
