//! Windows by AVX2.
//!
//! Adds: two vectors of 32 bytes a window; the characters of eight bytes at once, of which those that begin none are
//! left out by a table of orders.

use std::{arch::x86_64::*, mem::MaybeUninit};

use super::{
    REACH, Unit,
    windows::{self, LANES, Lanes, WINDOW, WRITTEN},
};
use crate::narrow::ORDERS;

/// Exists only where the processor has AVX2 and the bit instructions.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

/// Bytes whose characters are computed at once.
const EIGHT: usize = 8;

impl Avx2 {
    #[inline]
    pub(super) fn new() -> Option<Avx2> {
        let there = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt");
        there.then_some(Avx2(()))
    }

    /// `windows::write`, with these instructions.
    pub(super) fn write<T: Unit>(
        self,
        bytes: &[u8],
        out: &mut [MaybeUninit<T>],
        is_last: bool,
    ) -> Option<(usize, usize)> {
        #[target_feature(enable = "avx2,bmi1,popcnt")]
        fn enter<T: Unit>(
            lanes: Avx2,
            bytes: &[u8],
            out: &mut [MaybeUninit<T>],
            is_last: bool,
        ) -> Option<(usize, usize)> {
            windows::write(lanes, bytes, out, is_last)
        }
        // SAFETY: `self` exists, so the processor has these instructions.
        unsafe { enter(self, bytes, out, is_last) }
    }
}

impl Lanes for Avx2 {
    type Bytes = [__m256i; 2];

    #[inline(always)]
    fn load(self, from: &[u8; WINDOW]) -> Self::Bytes {
        let from: *const __m256i = from.as_ptr().cast();
        // SAFETY: the processor has the instructions; 64 bytes are read of as many.
        unsafe { [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))] }
    }

    #[inline(always)]
    fn at_least(self, bytes: Self::Bytes, byte: u8) -> u64 {
        // SAFETY: the processor has the instructions.
        unsafe { at_least(bytes, byte) }
    }

    #[inline(always)]
    fn equal(self, bytes: Self::Bytes, byte: u8) -> u64 {
        // SAFETY: the processor has the instructions.
        unsafe { equal(bytes, byte) }
    }

    #[inline(always)]
    fn put<T: Unit>(self, window: &[u8; REACH], starts: u64, out: &mut [MaybeUninit<T>; WRITTEN]) {
        // SAFETY: the processor has the instructions.
        unsafe { put(window, starts, out) }
    }

    #[inline(always)]
    fn threes<T: Unit>(self, window: &[u8; REACH], out: &mut [MaybeUninit<T>; LANES]) {
        // SAFETY: the processor has the instructions.
        unsafe { threes(window, out) }
    }

    #[inline(always)]
    fn widen<T: Unit>(self, window: &[u8; REACH], out: &mut [MaybeUninit<T>; WRITTEN]) {
        // SAFETY: the processor has the instructions.
        unsafe { widen(window, out) }
    }
}

/// The top bit of each byte.
#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn tops(bytes: [__m256i; 2]) -> u64 {
    let [low, high] = bytes.map(|half| _mm256_movemask_epi8(half) as u32);
    u64::from(low) | u64::from(high) << 32
}

#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn at_least(bytes: [__m256i; 2], byte: u8) -> u64 {
    if byte == 0x80 {
        return tops(bytes);
    }
    let byte = _mm256_set1_epi8(byte as i8);
    tops(bytes.map(|half| _mm256_cmpeq_epi8(_mm256_max_epu8(half, byte), half)))
}

#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn equal(bytes: [__m256i; 2], byte: u8) -> u64 {
    tops(bytes.map(|half| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8))))
}

#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn put<T: Unit>(window: &[u8; REACH], starts: u64, out: &mut [MaybeUninit<T>; WRITTEN]) {
    let mut at = 0;
    for eight in 0..WINDOW / EIGHT {
        let starts = (starts >> (EIGHT * eight)) as u8;
        // SAFETY: this reads sixteen bytes of the window's 80, from the 56th at most; before the last eight bytes are at
        // most 56 characters, and eight units are written behind them.
        unsafe {
            let order = _mm_loadl_epi64(ORDERS[usize::from(starts)].as_ptr().cast());
            let codes = codes(window.as_ptr().add(EIGHT * eight));
            let codes = _mm256_permutevar8x32_epi32(codes, _mm256_cvtepu8_epi32(order));
            store::<T>(codes, out.as_mut_ptr().add(at));
        }
        at += starts.count_ones() as usize;
    }
}

/// Writes sixteen characters of three bytes.
#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn threes<T: Unit>(window: &[u8; REACH], out: &mut [MaybeUninit<T>; LANES]) {
    // Of twelve bytes four for each character, the first highest.
    let order =
        _mm256_broadcastsi128_si256(_mm_set_epi8(-1, 9, 10, 11, -1, 6, 7, 8, -1, 3, 4, 5, -1, 0, 1, 2));
    for eight in 0..LANES / EIGHT {
        // SAFETY: of the 80 bytes sixteen are read at most from the 36th on; eight units are written of sixteen.
        unsafe {
            let bytes = pair(window.as_ptr().add(3 * EIGHT * eight), 12);
            let places = _mm256_shuffle_epi8(bytes, order);
            let codes = joined(_mm256_and_si256(places, _mm256_set1_epi32(0x000F_3F3F)));
            store::<T>(codes, out.as_mut_ptr().add(EIGHT * eight));
        }
    }
}

/// Writes 64 ASCII characters.
#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn widen<T: Unit>(window: &[u8; REACH], out: &mut [MaybeUninit<T>; WRITTEN]) {
    let (from, to) = (window.as_ptr(), out.as_mut_ptr());
    for at in (0..WINDOW).step_by(LANES) {
        // SAFETY: sixteen bytes are read and as many units written, of 64 each.
        unsafe {
            let bytes = _mm_loadu_si128(from.add(at).cast());
            match T::BYTES {
                1 => _mm_storeu_si128(to.add(at).cast(), bytes),
                2 => _mm256_storeu_si256(to.add(at).cast(), _mm256_cvtepu8_epi16(bytes)),
                _ => {
                    _mm256_storeu_si256(to.add(at).cast(), _mm256_cvtepu8_epi32(bytes));
                    let others = _mm256_cvtepu8_epi32(_mm_srli_si128::<8>(bytes));
                    _mm256_storeu_si256(to.add(at + EIGHT).cast(), others);
                }
            }
        }
    }
}

/// The sixteen bytes at a place, and those so many behind it.
///
/// # Safety
/// They are there.
#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
unsafe fn pair(from: *const u8, behind: usize) -> __m256i {
    // SAFETY: as said.
    unsafe {
        let first = _mm256_castsi128_si256(_mm_loadu_si128(from.cast()));
        _mm256_inserti128_si256::<1>(first, _mm_loadu_si128(from.add(behind).cast()))
    }
}

/// Six bits of each of four bytes, the highest first, as one number.
#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn joined(bits: __m256i) -> __m256i {
    let twice = _mm256_maddubs_epi16(bits, _mm256_set1_epi16(0x4001));
    _mm256_madd_epi16(twice, _mm256_set1_epi32(0x1000_0001))
}

/// The character that begins at each of eight bytes, if one does.
///
/// # Safety
/// There are sixteen bytes.
#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
unsafe fn codes(from: *const u8) -> __m256i {
    // SAFETY: as said.
    let bytes = unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast())) };
    // Four bytes for each place, that of the place highest.
    let order = _mm256_set_epi8(
        7, 8, 9, 10, 6, 7, 8, 9, 5, 6, 7, 8, 4, 5, 6, 7, 3, 4, 5, 6, 2, 3, 4, 5, 1, 2, 3, 4, 0, 1, 2, 3,
    );
    let places = _mm256_shuffle_epi8(bytes, order);
    // By the upper half of the first byte: what bits of it count, and how many places of six bits are too many. Looking
    // up takes the lowest three of its four bits; the highest, which is the highest of the place, says if it is ASCII.
    let half = _mm256_srli_epi32::<28>(places);
    let by_half = |one, [two, three, four]: [i32; 3]| {
        let others = _mm256_set_epi32(four, three, two, two, one, one, one, one);
        let found = _mm256_permutevar8x32_epi32(others, half);
        let is_beyond = _mm256_srai_epi32::<31>(places);
        _mm256_blendv_epi8(_mm256_set1_epi32(one), found, is_beyond)
    };
    let kept = by_half(0x7F3F_3F3F, [0x1F3F_3F3F, 0x0F3F_3F3F, 0x073F_3F3F]);
    let much = by_half(18, [12, 6, 0]);
    _mm256_srlv_epi32(joined(_mm256_and_si256(places, kept)), much)
}

/// Writes eight units.
///
/// # Safety
/// There is room.
#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
unsafe fn store<T: Unit>(codes: __m256i, to: *mut MaybeUninit<T>) {
    let (low, high) = (_mm256_castsi256_si128(codes), _mm256_extracti128_si256::<1>(codes));
    // SAFETY: as said; each arm writes eight of its size.
    unsafe {
        match T::BYTES {
            1 => {
                let twos = _mm_packus_epi32(low, high);
                _mm_storel_epi64(to.cast(), _mm_packus_epi16(twos, twos));
            }
            2 => _mm_storeu_si128(to.cast(), _mm_packus_epi32(low, high)),
            _ => _mm256_storeu_si256(to.cast(), codes),
        }
    }
}
