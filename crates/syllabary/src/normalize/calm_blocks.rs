//! What blocks of bytes are: plain ASCII, or Chinese that most maps leave alone.
//!
//! Leaves out what is done with them (`calm`).

/// Bytes of ASCII that are written together.
pub(super) const BLOCK: usize = 32;

/// As bits, which bytes are not from space to `~`, and which are spaces.
#[cfg(simd_x86)]
#[inline]
pub(super) fn classes(block: &[u8; BLOCK]) -> (u32, u32) {
    use std::arch::x86_64::*;
    let class = |half: usize| {
        // SAFETY: the block has 32 bytes, and SSE2 is part of x86-64.
        unsafe {
            let bytes = _mm_loadu_si128(block.as_ptr().add(16 * half).cast());
            // As signed numbers, those from 128 on are below all.
            let low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
            let strange = _mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F)));
            let spaces = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x20));
            (_mm_movemask_epi8(strange) as u32, _mm_movemask_epi8(spaces) as u32)
        }
    };
    let (low, high) = (class(0), class(1));
    (low.0 | high.0 << 16, low.1 | high.1 << 16)
}

#[cfg(not(simd_x86))]
#[inline]
pub(super) fn classes(block: &[u8; BLOCK]) -> (u32, u32) {
    by_bytes(block)
}

/// The same byte by byte.
#[cfg(any(test, not(simd_x86)))]
pub(super) fn by_bytes(block: &[u8; BLOCK]) -> (u32, u32) {
    block.iter().rev().fold((0, 0), |(strange, spaces), byte| {
        let is_strange = !(b' '..0x7F).contains(byte);
        (strange << 1 | u32::from(is_strange), spaces << 1 | u32::from(*byte == b' '))
    })
}

/// The bytes, as bits, that are in no character from U+4000 to U+9FFF.
#[cfg(simd_x86)]
#[inline]
pub(super) fn not_han(block: &[u8; BLOCK]) -> u32 {
    use std::arch::x86_64::*;
    let half = |at: usize| {
        // SAFETY: the block has 32 bytes, and SSE2 is part of x86-64.
        unsafe {
            let bytes = _mm_loadu_si128(block.as_ptr().add(at).cast());
            // As signed numbers, bytes within a character are the lowest.
            let within = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0xC0u8 as i8));
            let from = _mm_cmpgt_epi8(bytes, _mm_set1_epi8(0xE3u8 as i8));
            let to = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0xEAu8 as i8));
            _mm_movemask_epi8(_mm_or_si128(within, _mm_and_si128(from, to))) as u32
        }
    };
    !(half(0) | half(16) << 16)
}

#[cfg(not(simd_x86))]
#[inline]
pub(super) fn not_han(block: &[u8; BLOCK]) -> u32 {
    not_han_by_bytes(block)
}

/// The same byte by byte.
#[cfg(any(test, not(simd_x86)))]
pub(super) fn not_han_by_bytes(block: &[u8; BLOCK]) -> u32 {
    block.iter().rev().fold(0, |bits, byte| bits << 1 | u32::from(!matches!(byte, 0x80..0xC0 | 0xE4..0xEA)))
}
