//! Characters to UTF-8 with AVX-512: 64 of ASCII at once, others sixteen at a time.
//!
//! A character has a lane of four bytes, in which its bytes end at the last; what is before them is left out by `vpcompressb`.

use std::arch::x86_64::*;

use super::{BLOCK, Character, MANY, ROOM, block_by_block};
use crate::split::has_vbmi;

/// Shifts that bring the highest three bits of a character, and three times six, to the beginnings of four bytes.
const SHIFTS: i64 = 0x2026_2C32_0006_0C12;

/// As `super::fill`, or nothing where the processor cannot.
pub(super) fn fill<T: Character>(characters: &[T], out: &mut [u8]) -> Option<Result<usize, usize>> {
    // SAFETY: the processor has what the function asks for.
    has_vbmi().then(|| unsafe { all_of(characters, out) })
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn all_of<T: Character>(characters: &[T], out: &mut [u8]) -> Result<usize, usize> {
    let put = |block: &[T; MANY], out: &mut [u8]| {
        // SAFETY: a block has sixteen characters, of the bytes that the size says.
        let codes = unsafe { load::<T>(block.as_ptr()) };
        put::<T>(codes, out.first_chunk_mut()?)
    };
    block_by_block(characters, out, |block, out| ascii(block, out), put)
}

/// Writes characters if all are ASCII, and says whether they are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn ascii<T: Character>(block: &[T; BLOCK], out: &mut [u8; BLOCK]) -> bool {
    let (from, out) = (block.as_ptr().cast::<__m512i>(), out.as_mut_ptr());
    // SAFETY: a block has 64 characters of the bytes that the size says; 64 bytes are written.
    unsafe {
        match T::BYTES {
            1 => {
                let all = _mm512_loadu_si512(from);
                _mm512_storeu_si512(out.cast(), all);
                _mm512_movepi8_mask(all) == 0
            }
            2 => {
                let (low, high) = (_mm512_loadu_si512(from), _mm512_loadu_si512(from.add(1)));
                let any = _mm512_or_si512(low, high);
                let is_ascii = _mm512_test_epi16_mask(any, _mm512_set1_epi16(!0x7F)) == 0;
                if is_ascii {
                    _mm256_storeu_si256(out.cast(), _mm512_cvtepi16_epi8(low));
                    _mm256_storeu_si256(out.add(32).cast(), _mm512_cvtepi16_epi8(high));
                }
                is_ascii
            }
            _ => {
                let [a, b, c, d] = [0, 1, 2, 3].map(|at| _mm512_loadu_si512(from.add(at)));
                let any = _mm512_or_si512(_mm512_or_si512(a, b), _mm512_or_si512(c, d));
                let is_ascii = _mm512_test_epi32_mask(any, _mm512_set1_epi32(!0x7F)) == 0;
                if is_ascii {
                    for (at, part) in [a, b, c, d].into_iter().enumerate() {
                        _mm_storeu_si128(out.add(MANY * at).cast(), _mm512_cvtepi32_epi8(part));
                    }
                }
                is_ascii
            }
        }
    }
}

/// Writes sixteen characters; gives the number of bytes, or nothing if one is no character.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn put<T: Character>(codes: __m512i, out: &mut [u8; ROOM]) -> Option<usize> {
    let above = |most: i32| _mm512_cmpgt_epu32_mask(codes, _mm512_set1_epi32(most));
    let (two, three) = (above(0x7F), above(0x7FF));
    let surrogate = _mm512_cmpeq_epi32_mask(
        _mm512_and_si512(codes, _mm512_set1_epi32(!0x7FF)),
        _mm512_set1_epi32(0xD800),
    );
    let (four, wrong) = match T::BYTES {
        4 => (above(0xFFFF), surrogate | above(0x10_FFFF)),
        _ => (0, surrogate),
    };
    if wrong != 0 {
        return None;
    }
    // What marks the first byte, and which bytes there are.
    let mark = _mm512_maskz_mov_epi32(two, _mm512_set1_epi32(0x00C0_0000));
    let mark = _mm512_mask_mov_epi32(mark, three, _mm512_set1_epi32(0x0000_E000));
    let mark = _mm512_mask_mov_epi32(mark, four, _mm512_set1_epi32(0x0000_00F0));
    let kept = _mm512_set1_epi32(!0xFF_FFFF);
    let kept = _mm512_mask_mov_epi32(kept, two, _mm512_set1_epi32(!0xFFFF));
    let kept = _mm512_mask_mov_epi32(kept, three, _mm512_set1_epi32(!0xFF));
    let kept = _mm512_movepi8_mask(_mm512_mask_mov_epi32(kept, four, _mm512_set1_epi32(!0)));
    let bits = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(SHIFTS), codes);
    // The lower six bits of each, 0x80, and the mark of the first.
    const AND_OR: i32 = 0b1110_1010;
    let bits = _mm512_ternarylogic_epi32::<AND_OR>(bits, _mm512_set1_epi8(0x3F), _mm512_set1_epi8(!0x7F));
    let bytes = _mm512_mask_or_epi32(_mm512_slli_epi32::<24>(codes), two, bits, mark);
    // SAFETY: there is room for 64 bytes.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(kept, bytes)) };
    Some(kept.count_ones() as usize)
}

/// Sixteen characters.
///
/// # Safety
/// They are there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn load<T: Character>(from: *const T) -> __m512i {
    // SAFETY: as said; each arm reads sixteen of its size.
    unsafe {
        match T::BYTES {
            1 => _mm512_cvtepu8_epi32(_mm_loadu_si128(from.cast())),
            2 => _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast())),
            _ => _mm512_loadu_si512(from.cast()),
        }
    }
}
