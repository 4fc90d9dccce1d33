//! Text in units of one, two or four bytes a character, as Python keeps it, to UTF-8.
//!
//! Sixteen characters at a time: what each is in UTF-8 and how long that is are found without a branch, so that
//! compilers make vectors of it; then four bytes are written of each, where the one before it ends. Leaves out
//! UTF-16, where two units may be one character: a unit between U+D800 and U+DFFF is no text.

/// Characters at a time.
const MANY: usize = 16;
/// The most bytes of so many.
const ROOM: usize = 4 * MANY;

/// A character of at most so many bits.
pub trait Character: Copy + Default + Into<u32> {
    /// How many bytes it is.
    const BYTES: usize;
    /// The most bytes of one in UTF-8.
    const WIDEST: usize;
}

impl Character for u8 {
    const BYTES: usize = 1;
    const WIDEST: usize = 2;
}

impl Character for u16 {
    const BYTES: usize = 2;
    const WIDEST: usize = 3;
}

impl Character for u32 {
    const BYTES: usize = 4;
    const WIDEST: usize = 4;
}

/// Writes the characters over what is in `buffer` and gives them as text; an error is the place of the first that is
/// none: a surrogate, or beyond U+10FFFF.
pub fn write<'b, T: Character>(characters: &[T], buffer: &'b mut Vec<u8>) -> Result<&'b str, usize> {
    let most = T::WIDEST * characters.len() + ROOM;
    if buffer.len() < most {
        buffer.clear();
        buffer.resize(most, 0);
    }
    let filled = fill(characters, buffer)?;
    // SAFETY: every byte before `filled` was written, as UTF-8 of characters that are checked.
    Ok(unsafe { std::str::from_utf8_unchecked(&buffer[..filled]) })
}

#[cfg(simd_x86)]
fn fill<T: Character>(characters: &[T], out: &mut [u8]) -> Result<usize, usize> {
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has what the function asks for.
        return unsafe { packed::fill(characters, out) };
    }
    by_blocks(characters, out)
}

#[cfg(not(simd_x86))]
fn fill<T: Character>(characters: &[T], out: &mut [u8]) -> Result<usize, usize> {
    by_blocks(characters, out)
}

fn by_blocks<T: Character>(characters: &[T], out: &mut [u8]) -> Result<usize, usize> {
    sixteen_by_sixteen(characters, out, |block, out| put_block(&block.map(Into::into), out))
}

/// Puts sixteen characters after sixteen, and the rest. `put` writes them to the beginning of what it is given, where there
/// is `ROOM`; it gives the number of bytes, or nothing if one is no character.
#[inline(always)]
fn sixteen_by_sixteen<T: Character>(
    characters: &[T],
    out: &mut [u8],
    put: impl Fn(&[T; MANY], &mut [u8]) -> Option<usize>,
) -> Result<usize, usize> {
    let (blocks, rest) = characters.as_chunks::<MANY>();
    let mut filled = 0;
    for (number, block) in blocks.iter().enumerate() {
        let Some(bytes) = put(block, &mut out[filled..]) else {
            return Err(MANY * number + first_wrong(block));
        };
        filled += bytes;
    }
    let mut last = [T::default(); MANY];
    last[..rest.len()].copy_from_slice(rest);
    let Some(bytes) = put(&last, &mut out[filled..]) else {
        return Err(MANY * blocks.len() + first_wrong(&last));
    };
    // Beyond the last character are zeros, a byte each.
    Ok(filled + bytes - (MANY - rest.len()))
}

/// As `put` of `sixteen_by_sixteen`.
fn put_block(codes: &[u32; MANY], out: &mut [u8]) -> Option<usize> {
    let out = out.first_chunk_mut::<ROOM>()?;
    let any = codes.iter().fold(0, |any, &code| any | code);
    // A byte each: most blocks of a text that is not all ASCII are, in Latin script.
    if any < 0x80 {
        *out.first_chunk_mut()? = codes.map(|code| code as u8);
        return Some(MANY);
    }
    if any >= 0xD800 && codes.iter().copied().any(is_wrong) {
        return None;
    }
    Some(put(codes, out))
}

fn is_wrong(code: u32) -> bool {
    // A surrogate comes out as 0 to 0x7FF.
    (code.wrapping_sub(0xD800) < 0x800) | (code > 0x10_FFFF)
}

#[cold]
fn first_wrong<T: Character>(block: &[T; MANY]) -> usize {
    block.iter().position(|&character| is_wrong(character.into())).unwrap_or(0)
}

/// Four bytes of each, where the one before it ends; gives the number of bytes.
fn put(codes: &[u32; MANY], out: &mut [u8; ROOM]) -> usize {
    // All of one kind first, so that vectors do it.
    let (bytes, widths) = (codes.map(spelled), codes.map(width));
    let mut at = 0;
    for (bytes, width) in bytes.into_iter().zip(widths) {
        // Before the last character are no more than `ROOM` - 4 bytes.
        if let Some(place) = out[at.min(ROOM - 4)..].first_chunk_mut() {
            *place = bytes.to_le_bytes();
        }
        at += width as usize;
    }
    at
}

#[inline(always)]
fn width(code: u32) -> u32 {
    1 + u32::from(code >= 0x80) + u32::from(code >= 0x800) + u32::from(code >= 0x1_0000)
}

/// The bytes of a character, the first of them lowest.
#[inline(always)]
fn spelled(code: u32) -> u32 {
    let inside = |shift: u32| 0x80 | (code >> shift & 0x3F);
    let two = 0xC0 | code >> 6 | inside(0) << 8;
    let three = 0xE0 | code >> 12 | inside(6) << 8 | inside(0) << 16;
    let four = 0xF0 | code >> 18 | inside(12) << 8 | inside(6) << 16 | inside(0) << 24;
    let short = if code < 0x80 { code } else { two };
    let long = if code < 0x1_0000 { three } else { four };
    if code < 0x800 { short } else { long }
}

/// The same with AVX2, and with an instruction that takes the bytes out of eight that belong to characters.
#[cfg(simd_x86)]
mod packed {
    use std::arch::x86_64::*;

    use super::{Character, MANY, ROOM, sixteen_by_sixteen};

    /// Eight characters, a lane each, twice.
    type Pair = [__m256i; 2];

    #[target_feature(enable = "avx2,bmi2,popcnt")]
    pub(super) fn fill<T: Character>(characters: &[T], out: &mut [u8]) -> Result<usize, usize> {
        sixteen_by_sixteen(characters, out, |block, out| {
            // SAFETY: a block has sixteen characters, of the bytes that the size says.
            let pair = unsafe { load::<T>(block.as_ptr()) };
            put(pair, out)
        })
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What this processor's way and the portable one both write.
    fn both<'b, T: Character>(characters: &[T], buffer: &'b mut Vec<u8>) -> Result<&'b str, usize> {
        let mut portable = vec![0; T::WIDEST * characters.len() + ROOM];
        let filled = by_blocks(characters, &mut portable);
        let written = write(characters, buffer);
        assert_eq!(written.map(str::as_bytes), filled.map(|filled| &portable[..filled]));
        written
    }

    /// Every character, at every place of a block and in ends of all lengths.
    #[test]
    fn every_character_is_written_as_it_is() {
        let mut buffer = Vec::new();
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for first in (0..all.len()).step_by(977) {
            let wide: Vec<u32> = all[first..all.len().min(first + 1000)].iter().map(|&c| c.into()).collect();
            for text in [&wide[..], &wide[..first % 40]] {
                let expected: String = text.iter().filter_map(|&code| char::from_u32(code)).collect();
                assert_eq!(both(text, &mut buffer), Ok(expected.as_str()));
                let two: Option<Vec<u16>> = text.iter().map(|&code| code.try_into().ok()).collect();
                if let Some(two) = two {
                    assert_eq!(both(&two, &mut buffer), Ok(expected.as_str()));
                }
            }
        }
        let latin: Vec<u8> = (0..=255).collect();
        let expected: String = latin.iter().map(|&byte| char::from(byte)).collect();
        assert_eq!(both(&latin, &mut buffer), Ok(expected.as_str()));
        assert_eq!(both::<u8>(&[], &mut buffer), Ok(""));
    }

    #[test]
    fn mixed_widths() {
        let (mut state, mut buffer) = (1_u64, Vec::new());
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
        for _ in 0..2000 {
            let length = draw(70);
            let some =
                || ["a", "é", "ᾳ", "字", "😀", "\0", "\u{7FF}", "\u{800}", "\u{FFFF}"][draw(9) as usize];
            let text: String = std::iter::repeat_with(some).take(length as usize).collect();
            let wide: Vec<u32> = text.chars().map(u32::from).collect();
            assert_eq!(both(&wide, &mut buffer), Ok(text.as_str()));
        }
    }

    #[test]
    fn what_is_no_character_is_named_by_its_place() {
        let mut buffer = Vec::new();
        for length in 1..50 {
            for at in 0..length {
                for wrong in [0xD800, 0xDBFF, 0xDC00, 0xDFFF] {
                    let mut units = vec![0x3B1_u16; length];
                    units[at] = wrong;
                    assert_eq!(both(&units, &mut buffer), Err(at));
                    units[length - 1] = wrong;
                    assert_eq!(both(&units, &mut buffer), Err(at));
                }
                let mut wide = vec![0x1F600_u32; length];
                wide[at] = 0x11_0000;
                assert_eq!(both(&wide, &mut buffer), Err(at));
            }
        }
    }
}
