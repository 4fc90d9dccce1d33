//! Masks by AVX2.
//!
//! Adds: two vectors of 32 bytes a block; classes of ASCII by comparing. Leaves out: characters that are not ASCII,
//! which go one by one as in `portable`.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_blendv_epi8, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_extract_epi8,
    _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_sub_epi8,
};

use super::super::classes::{Classes, LOWER, MARK, NUMBER, SPACE, UPPER};
use super::super::walk::Walk;
use super::{BLOCK, Lanes, Law, Masks, WINDOW, places_of, portable};

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
    fn masks(self, law: impl Law, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { masks(law, classes, window, last) }
    }

    #[inline(always)]
    fn flatten(self, bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { flatten(bits, base, out) }
    }
}

type Pair = [__m256i; 2];

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn masks(law: impl Law, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks {
    let raw = load(window);
    let mut kinds = [ascii(raw[0]), ascii(raw[1])];
    let wide = tops(raw);
    let (mut inner, mut left) = (0, 0);
    if wide != 0 {
        inner = tops(raw.map(|half| _mm256_cmpgt_epi8(_mm256_set1_epi8(-64), half)));
        let bits = load(&not_ascii(classes, window, wide, inner, last));
        kinds = [0, 1].map(|half| _mm256_blendv_epi8(kinds[half], bits[half], raw[half]));
        if wide >> (BLOCK - 1) != 0 {
            left = _mm256_extract_epi8::<31>(bits[1]) as u8;
        }
    }
    Masks {
        word: any(kinds, law.word()),
        upper: any(kinds, UPPER),
        lower: any(kinds, LOWER),
        mark: any(kinds, MARK),
        number: any(kinds, NUMBER),
        space: any(kinds, SPACE),
        blank: equal(raw, b' '),
        line: equal(raw, b'\n') | equal(raw, b'\r'),
        apostrophe: equal(raw, b'\''),
        slash: equal(raw, b'/'),
        inner,
        last: left,
    }
}

/// As `portable`, with these instructions.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn not_ascii(classes: &Classes, window: &[u8; WINDOW], wide: u64, inner: u64, last: u8) -> [u8; WINDOW] {
    portable::not_ascii(classes, window, wide, inner, last)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn load(window: &[u8; WINDOW]) -> Pair {
    let low: *const __m256i = window.as_ptr().cast();
    // SAFETY: two vectors are shorter than a window; these loads need no alignment.
    unsafe { [_mm256_loadu_si256(low), _mm256_loadu_si256(low.add(1))] }
}

/// The classes of ASCII; 0 for other bytes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn ascii(raw: __m256i) -> __m256i {
    let between = |first: u8, last: u8, class: u8| {
        let over = _mm256_sub_epi8(raw, _mm256_set1_epi8(first as i8));
        let within = _mm256_min_epu8(over, _mm256_set1_epi8((last - first) as i8));
        _mm256_and_si256(_mm256_cmpeq_epi8(over, within), _mm256_set1_epi8(class as i8))
    };
    let letters = _mm256_or_si256(between(b'A', b'Z', UPPER), between(b'a', b'z', LOWER));
    let spaces = _mm256_or_si256(between(b'\t', b'\r', SPACE), between(b' ', b' ', SPACE));
    _mm256_or_si256(_mm256_or_si256(letters, spaces), between(b'0', b'9', NUMBER))
}

/// The top bit of each byte.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn tops(pair: Pair) -> u64 {
    let [low, high] = pair.map(|half| _mm256_movemask_epi8(half));
    u64::from(low as u32) | (u64::from(high as u32) << 32)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn equal(pair: Pair, byte: u8) -> u64 {
    tops(pair.map(|half| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8))))
}

/// Which bytes have any bit of `class`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn any(pair: Pair, class: u8) -> u64 {
    let class = _mm256_set1_epi8(class as i8);
    !tops(pair.map(|half| _mm256_cmpeq_epi8(_mm256_and_si256(half, class), _mm256_setzero_si256())))
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn flatten(bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
    places_of(bits, base, out)
}
