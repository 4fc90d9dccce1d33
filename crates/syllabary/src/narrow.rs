//! What x86-64 processors of the last ten years have: vectors of 32 bytes, and counting bits.
//!
//! Adds: tables of ASCII, and the orders of bits. Leaves out wider vectors (`sixteen`), and other processors, which have their own.

#[cfg(simd_x86)]
use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_adds_epu8, _mm256_broadcastsi128_si256, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_xor_si256,
};

#[cfg(simd_x86)]
use crate::first::ASCII;

/// Of a part of a table.
#[cfg(simd_x86)]
const PART: usize = 16;

/// Bits of a byte.
#[cfg(simd_x86)]
const EIGHT: usize = 8;

/// For each eight bits, where those that are set stand.
#[cfg(simd_x86)]
pub(crate) static ORDERS: [[u8; EIGHT]; 256] = orders();

#[cfg(simd_x86)]
const fn orders() -> [[u8; EIGHT]; 256] {
    let mut orders = [[0; EIGHT]; 256];
    let mut bits = 0;
    while bits < orders.len() {
        let (mut at, mut count) = (0, 0);
        while at < EIGHT {
            if bits >> at & 1 != 0 {
                orders[bits][count] = at as u8;
                count += 1;
            }
            at += 1;
        }
        bits += 1;
    }
    orders
}

/// Exists only where the processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow(());

impl Narrow {
    pub(crate) fn new() -> Option<Narrow> {
        #[cfg(simd_x86)]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            return Some(Narrow(()));
        }
        None
    }
}

/// What tables have for each of 32 bytes; nothing for those that are not ASCII. A table is eight parts: for each of them, the
/// places of bytes that are in another one have their highest bit set, which finds a zero.
#[cfg(simd_x86)]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn look<const TABLES: usize>(tables: [&[u8; ASCII]; TABLES], bytes: __m256i) -> [__m256i; TABLES] {
    let mut found = [_mm256_setzero_si256(); TABLES];
    for part in 0..ASCII / PART {
        let here = _mm256_xor_si256(bytes, _mm256_set1_epi8((part * PART) as i8));
        let place = _mm256_adds_epu8(here, _mm256_set1_epi8(0x70));
        for (found, table) in found.iter_mut().zip(tables) {
            // SAFETY: there are sixteen bytes.
            let table = unsafe { _mm_loadu_si128(table[part * PART..][..PART].as_ptr().cast()) };
            let table = _mm256_broadcastsi128_si256(table);
            *found = _mm256_or_si256(*found, _mm256_shuffle_epi8(table, place));
        }
    }
    found
}
