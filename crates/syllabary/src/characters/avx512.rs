//! Windows by AVX-512.
//!
//! Adds: one vector a window; the characters of sixteen bytes at once, of which those that begin none are left out.

use std::{arch::x86_64::*, mem::MaybeUninit};

use super::{
    REACH, Unit,
    windows::{self, LANES, Lanes, WINDOW, WRITTEN},
};

/// Exists only where the processor has AVX-512 and the bit instructions.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    #[inline]
    pub(super) fn new() -> Option<Avx512> {
        let there = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt");
        there.then_some(Avx512(()))
    }

    /// The same as `counted`.
    pub(super) fn starts(self, bytes: &[u8]) -> (usize, u8) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { starts(bytes) }
    }

    /// `windows::write`, with these instructions.
    pub(super) fn write<T: Unit>(
        self,
        bytes: &[u8],
        out: &mut [MaybeUninit<T>],
        is_last: bool,
    ) -> Option<(usize, usize)> {
        #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
        fn enter<T: Unit>(
            lanes: Avx512,
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

impl Lanes for Avx512 {
    type Bytes = __m512i;

    #[inline(always)]
    fn load(self, from: &[u8; WINDOW]) -> __m512i {
        // SAFETY: the processor has the instructions; 64 bytes are read of as many.
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }

    #[inline(always)]
    fn at_least(self, bytes: __m512i, byte: u8) -> u64 {
        // SAFETY: the processor has the instructions.
        unsafe { at_least(bytes, byte) }
    }

    #[inline(always)]
    fn equal(self, bytes: __m512i, byte: u8) -> u64 {
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

#[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
fn starts(bytes: &[u8]) -> (usize, u8) {
    let (windows, rest) = bytes.as_chunks::<WINDOW>();
    let (mut count, mut largest) = (0, _mm512_setzero_si512());
    for window in windows {
        // SAFETY: it has 64 bytes.
        let some = unsafe { _mm512_loadu_si512(window.as_ptr().cast()) };
        // As numbers with a sign, 80 to BF are the least.
        let starts = _mm512_cmpge_epi8_mask(some, _mm512_set1_epi8(0xC0_u8 as i8));
        count += starts.count_ones() as usize;
        largest = _mm512_max_epu8(largest, some);
    }
    let mut bytes = [0; WINDOW];
    // SAFETY: there is room for 64.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), largest) };
    let (more, last) = super::counted(rest);
    (count + more, bytes.into_iter().fold(last, u8::max))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
fn at_least(bytes: __m512i, byte: u8) -> u64 {
    if byte == 0x80 {
        return _mm512_movepi8_mask(bytes);
    }
    _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(byte as i8))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
fn put<T: Unit>(window: &[u8; REACH], starts: u64, out: &mut [MaybeUninit<T>; WRITTEN]) {
    let mut at = 0;
    for sixteen in 0..WINDOW / LANES {
        let starts = (starts >> (LANES * sixteen)) as u16;
        // SAFETY: this reads 32 bytes of the window's 80, from the 48th at most; before the last sixteen bytes are
        // at most 48 characters, and sixteen units are written behind them.
        unsafe {
            let codes = codes(window.as_ptr().add(LANES * sixteen));
            store::<T>(_mm512_maskz_compress_epi32(starts, codes), out.as_mut_ptr().add(at));
        }
        at += starts.count_ones() as usize;
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
fn threes<T: Unit>(window: &[u8; REACH], out: &mut [MaybeUninit<T>; LANES]) {
    // Twelve bytes a lane, and of those four bytes for each character, the first highest.
    let twelves = _mm512_set_epi32(0, 11, 10, 9, 0, 8, 7, 6, 0, 5, 4, 3, 0, 2, 1, 0);
    let order = _mm512_broadcast_i32x4(_mm_set_epi8(-1, 9, 10, 11, -1, 6, 7, 8, -1, 3, 4, 5, -1, 0, 1, 2));
    // SAFETY: 64 of the 80 bytes are read; sixteen units are written.
    unsafe {
        let bytes = _mm512_loadu_si512(window.as_ptr().cast());
        let places = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(twelves, bytes), order);
        let bits = _mm512_and_si512(places, _mm512_set1_epi32(0x000F_3F3F));
        store::<T>(joined(bits), out.as_mut_ptr());
    }
}

/// Six bits of each of four bytes, the highest first, as one number.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
fn joined(bits: __m512i) -> __m512i {
    let twice = _mm512_maddubs_epi16(bits, _mm512_set1_epi16(0x4001));
    _mm512_madd_epi16(twice, _mm512_set1_epi32(0x1000_0001))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
fn widen<T: Unit>(window: &[u8; REACH], out: &mut [MaybeUninit<T>; WRITTEN]) {
    let (from, to) = (window.as_ptr(), out.as_mut_ptr());
    for at in (0..WINDOW).step_by(LANES) {
        // SAFETY: sixteen bytes are read and as many units written, of 64 each.
        unsafe {
            let bytes = _mm_loadu_si128(from.add(at).cast());
            match T::BYTES {
                1 => _mm_storeu_si128(to.add(at).cast(), bytes),
                2 => _mm256_storeu_si256(to.add(at).cast(), _mm256_cvtepu8_epi16(bytes)),
                _ => _mm512_storeu_si512(to.add(at).cast(), _mm512_cvtepu8_epi32(bytes)),
            }
        }
    }
}

/// The character that begins at each of sixteen bytes, if one does.
///
/// # Safety
/// There are 32 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
unsafe fn codes(from: *const u8) -> __m512i {
    // SAFETY: as said.
    let bytes = unsafe { _mm512_castsi256_si512(_mm256_loadu_si256(from.cast())) };
    // Four bytes for each place, that of the place highest.
    let fours = _mm512_set_epi32(3, 3, 4, 3, 2, 2, 3, 2, 1, 1, 2, 1, 0, 0, 1, 0);
    let order = _mm512_broadcast_i32x4(_mm_set_epi8(3, 4, 5, 6, 2, 3, 4, 5, 1, 2, 3, 4, 0, 1, 2, 3));
    let places = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(fours, bytes), order);
    // By the upper half of the first byte: what bits of it count, and how many places of six bits are too many.
    let (one, two, three, four) = (0x7F3F_3F3F, 0x1F3F_3F3F, 0x0F3F_3F3F, 0x073F_3F3F);
    let kept =
        _mm512_set_epi32(four, three, two, two, one, one, one, one, one, one, one, one, one, one, one, one);
    let much = _mm512_set_epi32(0, 6, 12, 12, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18);
    let half = _mm512_srli_epi32::<28>(places);
    let bits = _mm512_and_si512(places, _mm512_permutexvar_epi32(half, kept));
    _mm512_srlv_epi32(joined(bits), _mm512_permutexvar_epi32(half, much))
}

/// Writes sixteen units.
///
/// # Safety
/// There is room.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
unsafe fn store<T: Unit>(codes: __m512i, to: *mut MaybeUninit<T>) {
    // SAFETY: as said; each arm writes sixteen of its size.
    unsafe {
        match T::BYTES {
            1 => _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(codes)),
            2 => _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(codes)),
            _ => _mm512_storeu_si512(to.cast(), codes),
        }
    }
}
