//! Characters to UTF-8 with AVX2, and with an instruction that takes the bytes out of eight that belong to characters.

use std::arch::x86_64::*;

use super::{BLOCK, Character, MANY, ROOM, block_by_block};

/// Eight characters, a lane each, twice.
type Pair = [__m256i; 2];

/// As `super::fill`, or nothing where the processor cannot.
pub(super) fn fill<T: Character>(characters: &[T], out: &mut [u8]) -> Option<Result<usize, usize>> {
    let able = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt");
    // SAFETY: the processor has what the function asks for.
    able.then(|| unsafe { all_of(characters, out) })
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
fn all_of<T: Character>(characters: &[T], out: &mut [u8]) -> Result<usize, usize> {
    let put = |block: &[T; MANY], out: &mut [u8]| {
        // SAFETY: a block has sixteen characters, of the bytes that the size says.
        let pair = unsafe { load::<T>(block.as_ptr()) };
        put(pair, out)
    };
    block_by_block(characters, out, |block, out| ascii(block, out), put)
}

/// Writes characters if all are ASCII, and says whether they are.
#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn ascii<T: Character>(block: &[T; BLOCK], out: &mut [u8; BLOCK]) -> bool {
    let (from, out) = (block.as_ptr().cast::<__m256i>(), out.as_mut_ptr().cast::<__m256i>());
    // SAFETY: a block has 64 characters of the bytes that the size says; 64 bytes are written.
    unsafe {
        match T::BYTES {
            1 => {
                let (low, high) = (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)));
                _mm256_storeu_si256(out, low);
                _mm256_storeu_si256(out.add(1), high);
                _mm256_movemask_epi8(_mm256_or_si256(low, high)) == 0
            }
            2 => {
                let [a, b, c, d] = [0, 1, 2, 3].map(|at| _mm256_loadu_si256(from.add(at)));
                let any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
                let is_ascii = _mm256_testz_si256(any, every(!0x7F)) != 0;
                if is_ascii {
                    let two = |a, b| _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(a, b));
                    _mm256_storeu_si256(out, two(a, b));
                    _mm256_storeu_si256(out.add(1), two(c, d));
                }
                is_ascii
            }
            // Emoji and the like are in few texts, and sixteen are looked at together too.
            _ => false,
        }
    }
}

/// Sixteen characters.
///
/// # Safety
/// They are there.
#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
unsafe fn load<T: Character>(from: *const T) -> Pair {
    // SAFETY: as said; each arm reads sixteen of its size.
    unsafe {
        match T::BYTES {
            1 => {
                let all = _mm_loadu_si128(from.cast());
                [_mm256_cvtepu8_epi32(all), _mm256_cvtepu8_epi32(_mm_bsrli_si128::<8>(all))]
            }
            2 => [
                _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast())),
                _mm256_cvtepu16_epi32(_mm_loadu_si128(from.add(8).cast())),
            ],
            _ => [_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(8).cast())],
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn all(number: u32) -> __m256i {
    _mm256_set1_epi32(number as i32)
}

#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn every(number: u16) -> __m256i {
    _mm256_set1_epi16(number as i16)
}

/// Writes characters to the beginning of `out`, where there is `ROOM`; gives the number of bytes, or nothing if one is
/// no character.
#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn put([low, high]: Pair, out: &mut [u8]) -> Option<usize> {
    let out = out.first_chunk_mut::<ROOM>()?;
    let any = _mm256_or_si256(low, high);
    if _mm256_testz_si256(any, all(!0x7FF)) == 0 {
        let at = eight(low, out.first_chunk_mut()?)?;
        return Some(at + eight(high, out.get_mut(at..)?.first_chunk_mut()?)?);
    }
    // In order, sixteen bits each.
    let both = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(low, high));
    if _mm256_testz_si256(any, all(!0x7F)) != 0 {
        let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(both, both));
        // SAFETY: there is room for more than sixteen bytes.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), _mm256_castsi256_si128(bytes)) };
        return Some(MANY);
    }
    Some(sixteen(both, out.first_chunk_mut()?))
}

/// The lower six bits of a byte inside a character, and what marks it.
#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn inside(bits: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_and_si256(bits, all(0x3F)), all(0x80))
}

/// The same for sixteen characters below U+0800.
#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn sixteen(codes: __m256i, out: &mut [u8; ROOM / 2]) -> usize {
    let is_two = _mm256_cmpgt_epi16(codes, every(0x7F));
    let first = _mm256_or_si256(_mm256_srli_epi16::<6>(codes), every(0xC0));
    let last = _mm256_or_si256(_mm256_and_si256(codes, every(0x3F)), every(0x80));
    let two = _mm256_or_si256(first, _mm256_slli_epi16::<8>(last));
    let kept = _mm256_or_si256(every(0xFF), _mm256_and_si256(is_two, every(0xFF00)));
    pack(_mm256_blendv_epi8(codes, two, is_two), kept, out)
}

/// The same for eight characters.
#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn eight(codes: __m256i, out: &mut [u8; ROOM / 2]) -> Option<usize> {
    let surrogate = _mm256_cmpeq_epi32(_mm256_and_si256(codes, all(!0x7FF)), all(0xD800));
    let beyond = _mm256_cmpgt_epi32(_mm256_srli_epi32::<16>(codes), all(0x10));
    if _mm256_movemask_epi8(_mm256_or_si256(surrogate, beyond)) != 0 {
        return None;
    }
    let last = inside(codes);
    let (one, more) = (_mm256_srli_epi32::<6>(codes), _mm256_srli_epi32::<12>(codes));
    let (before, first) = (inside(one), inside(more));
    let two = _mm256_or_si256(_mm256_or_si256(one, all(0xC0)), _mm256_slli_epi32::<8>(last));
    let end = _mm256_or_si256(before, _mm256_slli_epi32::<8>(last));
    let three = _mm256_or_si256(_mm256_or_si256(more, all(0xE0)), _mm256_slli_epi32::<8>(end));
    let end = _mm256_or_si256(first, _mm256_slli_epi32::<8>(end));
    let most = _mm256_or_si256(_mm256_srli_epi32::<18>(codes), all(0xF0));
    let four = _mm256_or_si256(most, _mm256_slli_epi32::<8>(end));
    let is_two = _mm256_cmpgt_epi32(codes, all(0x7F));
    let is_three = _mm256_cmpgt_epi32(codes, all(0x7FF));
    let is_four = _mm256_cmpgt_epi32(codes, all(0xFFFF));
    let bytes = _mm256_blendv_epi8(codes, two, is_two);
    let bytes = _mm256_blendv_epi8(_mm256_blendv_epi8(bytes, three, is_three), four, is_four);
    let kept = _mm256_or_si256(all(0xFF), _mm256_and_si256(is_two, all(0xFF00)));
    let kept = _mm256_or_si256(kept, _mm256_and_si256(is_three, all(0xFF_0000)));
    let kept = _mm256_or_si256(kept, _mm256_and_si256(is_four, all(0xFF00_0000)));
    Some(pack(bytes, kept, out))
}

/// Writes those of 32 bytes whose bits are set in `kept`, eight at a time; gives their number.
#[inline]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn pack(bytes: __m256i, kept: __m256i, out: &mut [u8; ROOM / 2]) -> usize {
    let (mut words, mut masks) = ([0_u64; 4], [0_u64; 4]);
    // SAFETY: there is room for 32 bytes in each.
    unsafe {
        _mm256_storeu_si256(words.as_mut_ptr().cast(), bytes);
        _mm256_storeu_si256(masks.as_mut_ptr().cast(), kept);
    }
    let mut at = 0;
    for (word, mask) in words.into_iter().zip(masks) {
        // Before the last word are no more than 24 bytes.
        if let Some(place) = out[at.min(ROOM / 2 - 8)..].first_chunk_mut() {
            *place = _pext_u64(word, mask).to_le_bytes();
        }
        at += mask.count_ones() as usize / 8;
    }
    at
}
