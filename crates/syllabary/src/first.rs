//! The first sixteen characters of 64 bytes, whatever the processor has.
//!
//! ```text
//! 64 bytes  ->  where characters begin, as bits  ->  the number of each
//! ```
//!
//! Where they begin is found for all at once, so that no character waits for the width of the one before. Leaves out
//! characters of four bytes, the same by vectors (`sixteen`), and what is asked of characters (`charwise`, `wordwise`).

use std::hint::select_unpredictable;

/// Bytes at a time, and bytes that are read of them.
pub(crate) const BLOCK: usize = 64;
pub(crate) const READ: usize = BLOCK + 4;
/// Characters at a time.
pub(crate) const LANES: usize = 16;
/// The last characters of a block may be no whole ones.
pub(crate) const WHOLE: usize = BLOCK - 3;
/// Characters of ASCII.
pub(crate) const ASCII: usize = 128;

#[cfg(not(simd_x86))]
pub(crate) use starts_by_words as starts;

/// The bytes of a block that begin characters, as bits.
#[cfg(simd_x86)]
#[inline]
pub(crate) fn starts(block: &[u8; READ]) -> u64 {
    use std::arch::x86_64::*;

    let mut starts = 0;
    for (part, at) in block[..BLOCK].as_chunks::<16>().0.iter().zip((0..).step_by(16)) {
        // SAFETY: every x86-64 has SSE2, and sixteen bytes are there. All but 10xxxxxx are above -65.
        let bits = unsafe {
            let bytes = _mm_loadu_si128(part.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(-65)))
        };
        starts |= u64::from(bits as u16) << at;
    }
    starts
}

/// The same without vectors.
#[cfg(any(test, not(simd_x86)))]
#[inline]
pub(crate) fn starts_by_words(block: &[u8; READ]) -> u64 {
    const TOP: u64 = 0x8080_8080_8080_8080;
    let mut starts = 0;
    for (word, at) in block[..BLOCK].as_chunks::<8>().0.iter().zip((0..).step_by(8)) {
        let word = u64::from_le_bytes(*word);
        // All but 10xxxxxx.
        let tops = (!word | word << 1) & TOP;
        starts |= ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << at;
    }
    starts
}

/// The number of a character of up to three bytes, which these four begin with, and its width.
#[inline]
pub(crate) fn decode(bytes: u32) -> (u16, usize) {
    let byte = |at: u32| bytes >> (8 * at) & 0xFF;
    let (is_two, is_three) = (byte(0) >= 0xC0, byte(0) >= 0xE0);
    let (last, more) = (byte(1) & 0x3F, byte(2) & 0x3F);
    let two = (byte(0) & 0x1F) << 6 | last;
    // The bits of the first byte beyond the 16 of a character go.
    let three = two << 6 | more;
    // No branches: which width comes next is not to be foretold.
    let code = select_unpredictable(is_two, two, byte(0));
    let code = select_unpredictable(is_three, three, code);
    let width = 1 + usize::from(is_two) + usize::from(is_three);
    (code as u16, width)
}

/// How many bytes, from the first, are ASCII.
#[inline]
pub(crate) fn ascii_bytes(bytes: &[u8]) -> usize {
    let mut count = 0;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let high = u64::from_le_bytes(*word) & 0x8080_8080_8080_8080;
        if high != 0 {
            return count + high.trailing_zeros() as usize / 8;
        }
        count += 8;
    }
    count + rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len())
}

/// The first so many bits.
#[inline(always)]
pub(crate) fn first_bits(count: usize) -> u64 {
    if count < BLOCK { (1 << count) - 1 } else { u64::MAX }
}

/// The first characters of a text, up to one of four bytes, or the last number of two bytes, which tables have nothing behind:
/// where each begins, and its number.
pub(crate) struct First {
    block: [u8; READ],
    /// Where those begin that are left.
    begins: u64,
    length: usize,
}

impl First {
    #[inline(always)]
    pub(crate) fn of(text: &[u8]) -> First {
        let mut block = [0; READ];
        let length = text.len().min(BLOCK);
        match text.first_chunk::<BLOCK>() {
            Some(whole) => block[..BLOCK].copy_from_slice(whole),
            None => block[..length].copy_from_slice(text),
        }
        First { begins: starts(&block) & first_bits(length), block, length }
    }

    /// Where those end that came.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        (self.begins.trailing_zeros() as usize).min(self.length)
    }
}

impl Iterator for First {
    type Item = (usize, u16);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u16)> {
        let place = self.begins.trailing_zeros() as usize;
        if place >= WHOLE && (self.length == BLOCK || place == BLOCK) {
            return None;
        }
        let four = self.block.get(place..)?.first_chunk::<4>()?;
        let char = decode(u32::from_le_bytes(*four)).0;
        if four[0] >= 0xF0 || char == u16::MAX {
            return None;
        }
        self.begins &= self.begins - 1;
        Some((place, char))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_of_characters() {
        let text = "aé漢😀\u{7f}\u{80}\u{fff}\u{10ffff}zßж ".repeat(9);
        for (at, _) in text.char_indices() {
            let Some(block) = text.as_bytes()[at..].first_chunk::<READ>() else { break };
            let expected = (0..BLOCK).filter(|place| text.is_char_boundary(at + place));
            let expected = expected.fold(0, |bits, place| bits | 1 << place);
            assert_eq!((starts(block), starts_by_words(block)), (expected, expected));
        }
    }
}
