//! Masks by AVX-512, with the byte instructions of VBMI and VBMI2.
//!
//! Adds: one vector a block; the classes of ASCII from a table in registers. Characters of two and three bytes go by
//! *pages*, the 64 characters that differ in the last byte alone: all of four neighbouring pages in the block at
//! once, as their classes too are a table in registers. First bytes all of whose characters have one class, but for
//! a page at most, need no page. Leaves out: characters of four bytes, which go one by one.

use std::arch::x86_64::{
    __m512i, _mm_cvtsi128_si32, _mm_srli_si128, _mm512_add_epi64, _mm512_and_si512, _mm512_castsi512_si128,
    _mm512_cmpeq_epi8_mask, _mm512_cmplt_epi8_mask, _mm512_cvtepu8_epi64, _mm512_loadu_si512,
    _mm512_mask_blend_epi8, _mm512_mask_mov_epi8, _mm512_mask_sub_epi8, _mm512_maskz_compress_epi8,
    _mm512_movepi8_mask, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shuffle_i32x4, _mm512_slli_epi16, _mm512_storeu_si512,
    _mm512_ternarylogic_epi64, _mm512_test_epi8_mask,
};

use super::super::classes::{Classes, LOWER, MARK, NUMBER, SPACE, UPPER};
use super::super::walk::Walk;
use super::{BLOCK, Lanes, Law, Masks, WINDOW, class_at};

/// Exists only where the processor has AVX-512 with its byte instructions, and the bit instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Avx512(());

/// 0 to 63.
pub(crate) const PLACES: [u8; BLOCK] = {
    let mut places = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        places[at] = at as u8;
        at += 1;
    }
    places
};

/// Whether the processor has AVX-512 VBMI and what goes with it here and in `encode::inside_wide`.
pub(crate) fn has_vbmi() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

impl Avx512 {
    pub(in super::super) fn new() -> Option<Avx512> {
        has_vbmi().then_some(Avx512(()))
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
    fn masks<L: Law>(self, law: L, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { masks(law, classes, window, last) }
    }

    #[inline(always)]
    fn flatten(self, bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { flatten(bits, base, out) }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
fn load(bytes: &[u8; BLOCK]) -> __m512i {
    // SAFETY: the vector is as long as `bytes`; this load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// 64 bytes of a table or window from `at` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
fn load_from<const LENGTH: usize>(bytes: &[u8; LENGTH], at: usize) -> __m512i {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(chunk) => load(chunk),
        None => _mm512_setzero_si512(),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
fn masks<L: Law>(law: L, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks {
    let raw = load_from(window, 0);
    let (low, high) = (load_from(&classes.ascii.0, 0), load_from(&classes.ascii.0, BLOCK));
    let mut kinds = _mm512_permutex2var_epi8(low, raw, high);
    let wide = _mm512_movepi8_mask(raw);
    let (mut inner, mut left) = (0, 0);
    if wide != 0 {
        inner = _mm512_cmplt_epi8_mask(raw, _mm512_set1_epi8(-64));
        (kinds, left) = not_ascii(classes, window, kinds, (wide, inner), last);
    }
    let any = |class: u8| _mm512_test_epi8_mask(kinds, _mm512_set1_epi8(class as i8));
    let equal = |byte: u8| _mm512_cmpeq_epi8_mask(raw, _mm512_set1_epi8(byte as i8));
    Masks {
        word: any(law.word()),
        upper: if L::CASES { any(UPPER) } else { 0 },
        lower: if L::CASES { any(LOWER) } else { 0 },
        mark: if L::CASES { any(MARK) } else { 0 },
        number: any(NUMBER),
        space: any(SPACE),
        blank: equal(b' '),
        line: if L::LINES { equal(b'\n') | equal(b'\r') } else { 0 },
        apostrophe: equal(b'\''),
        slash: if L::SLASHES { equal(b'/') } else { 0 },
        inner,
        last: left,
    }
}

/// The classes of all bytes, where `kinds` has those of ASCII; and that of the last character, if it is not ASCII.
/// `last` is that of the character before.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
fn not_ascii(
    classes: &Classes,
    window: &[u8; WINDOW],
    kinds: __m512i,
    (wide, inner): (u64, u64),
    last: u8,
) -> (__m512i, u8) {
    let kinds = by_pages(classes, window, kinds, wide & !inner);
    spread(kinds, inner, wide, last)
}

/// The classes of the first bytes `leads`, besides what `kinds` says of the others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
fn by_pages(classes: &Classes, window: &[u8; WINDOW], kinds: __m512i, leads: u64) -> __m512i {
    let (raw, second, third) = (load_from(window, 0), load_from(window, 1), load_from(window, 2));
    let whole = _mm512_permutexvar_epi8(raw, load(&classes.leads.0));
    let but = _mm512_permutexvar_epi8(raw, load(&classes.but.0));
    let mut mixed = leads & (_mm512_movepi8_mask(whole) | _mm512_cmpeq_epi8_mask(second, but));
    let mut kinds = _mm512_mask_mov_epi8(kinds, leads, whole);
    if mixed == 0 {
        return kinds;
    }
    let (four, two) = (_mm512_set1_epi8(!3), _mm512_set1_epi8(2));
    let (raw_four, second_four) = (_mm512_and_si512(raw, four), _mm512_and_si512(second, four));
    // The low seven of the eight bits of a place in four pages, and the top one.
    let (low_two, low_three) = (seven_bits(raw, second), seven_bits(second, third));
    let (top_two, top_three) = (_mm512_test_epi8_mask(raw, two), _mm512_test_epi8_mask(second, two));
    while mixed != 0 {
        let place = mixed.trailing_zeros() as usize & (BLOCK - 1);
        let (first, after) = (window[place], window[place + 1]);
        if first >= 0xF0 {
            let class = class_at(classes, window, place);
            kinds = _mm512_mask_mov_epi8(kinds, 1 << place, _mm512_set1_epi8(class as i8));
            mixed &= mixed - 1;
            continue;
        }
        let long = first >= 0xE0;
        let three = if long { u64::MAX } else { 0 };
        let page = if long {
            ((first & 0x0F) as usize) << 6 | (after & 0x3C) as usize
        } else {
            (first & 0x1C) as usize
        };
        let key = if long { first } else { first & !3 };
        let keys = _mm512_mask_blend_epi8(three, raw_four, raw);
        let same = mixed
            & _mm512_cmpeq_epi8_mask(keys, _mm512_set1_epi8(key as i8))
            & (_mm512_cmpeq_epi8_mask(second_four, _mm512_set1_epi8((after & !3) as i8)) | !three);
        let low = _mm512_mask_blend_epi8(three, low_two, low_three);
        let top = if long { top_three } else { top_two };
        let [zero, one, two, three] =
            [0, 1, 2, 3].map(|more| load_from(&classes.short.0, (page + more) * BLOCK));
        let lower = _mm512_permutex2var_epi8(zero, low, one);
        let upper = _mm512_permutex2var_epi8(two, low, three);
        kinds = _mm512_mask_mov_epi8(kinds, same, _mm512_mask_blend_epi8(top, lower, upper));
        mixed &= !same;
    }
    kinds
}

/// The last bit of each byte of `page`, and after it the six of `last`; the top bit has no meaning.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
fn seven_bits(page: __m512i, last: __m512i) -> __m512i {
    // By bits, (a & b) | (!a & c).
    _mm512_ternarylogic_epi64::<0xCA>(_mm512_set1_epi8(0x40), _mm512_slli_epi16::<6>(page), last)
}

/// The class of each first byte to the other bytes of its character, and `last` to those of the character before;
/// with the class of the last character, if it is not ASCII.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
fn spread(kinds: __m512i, inner: u64, wide: u64, last: u8) -> (__m512i, u8) {
    let one = _mm512_set1_epi8(1);
    let (two, three) = (inner & (inner << 1), inner & (inner << 1) & (inner << 2));
    let mut first = load(&PLACES);
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

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn flatten(bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
    let count = bits.count_ones() as usize;
    let mut left = count;
    let mut places = _mm512_maskz_compress_epi8(bits, load(&PLACES));
    let base = _mm512_set1_epi64(base as i64);
    // Sixteen at a time, without asking whether there are so many: the places are 64, so they have room.
    for sixteen in out.chunks_exact_mut(16) {
        let bytes = _mm512_castsi512_si128(places);
        let [low, high] = [bytes, _mm_srli_si128::<8>(bytes)]
            .map(|eight| _mm512_add_epi64(_mm512_cvtepu8_epi64(eight), base));
        let to: *mut __m512i = sixteen.as_mut_ptr().cast();
        // Not on x32, whose places have four bytes.
        const { assert!(size_of::<[usize; 16]>() == 2 * size_of::<__m512i>()) };
        // SAFETY: two vectors are as long as sixteen places, and `to` is unique; these stores need no alignment.
        unsafe {
            _mm512_storeu_si512(to, low);
            _mm512_storeu_si512(to.add(1), high);
        }
        left = left.saturating_sub(16);
        if left == 0 {
            break;
        }
        places = _mm512_shuffle_i32x4::<0b11_11_10_01>(places, places);
    }
    count
}
