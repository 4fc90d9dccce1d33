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
const WHOLE: usize = BLOCK - 3;

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

/// The first characters of a text: where each begins, and its number; where the next begins.
pub(crate) struct First {
    places: [u8; LANES],
    chars: [u16; LANES],
    count: usize,
    pub(crate) length: usize,
}

impl First {
    /// Up to one of four bytes, or the last number of two bytes, which tables have nothing behind.
    #[inline]
    pub(crate) fn of(text: &[u8]) -> First {
        let mut block = [0; READ];
        let length = text.len().min(BLOCK);
        match text.first_chunk::<BLOCK>() {
            Some(whole) => block[..BLOCK].copy_from_slice(whole),
            None => block[..length].copy_from_slice(text),
        }
        let begins = starts(&block);
        let whole = if length < BLOCK { (1 << length) - 1 } else { (1 << WHOLE) - 1 };
        let mut first = First { places: [0; LANES], chars: [0; LANES], count: 0, length: 0 };
        let mut left = begins & whole;
        while left != 0 && first.count < LANES {
            let place = left.trailing_zeros() as usize;
            let Some(&four) = block.get(place..).and_then(<[u8]>::first_chunk::<4>) else { break };
            let char = decode(u32::from_le_bytes(four)).0;
            if four[0] >= 0xF0 || char == u16::MAX {
                break;
            }
            first.places[first.count] = place as u8;
            first.chars[first.count] = char;
            first.count += 1;
            left &= left - 1;
        }
        let last = first.count.checked_sub(1);
        let next = last.map_or(1, |last| begins & (u64::MAX << first.places[last] << 1));
        first.length = (next.trailing_zeros() as usize).min(length);
        first
    }

    /// The numbers.
    #[inline(always)]
    pub(crate) fn chars(&self) -> &[u16] {
        &self.chars[..self.count]
    }

    /// Where one begins, or, after the last, the next.
    #[inline(always)]
    pub(crate) fn place(&self, at: usize) -> usize {
        if at < self.count { usize::from(self.places[at]) } else { self.length }
    }

    /// The bytes where those begin of which these are bits.
    #[inline]
    pub(crate) fn bytes(&self, mut bits: u64) -> u64 {
        let mut bytes = 0;
        while bits != 0 {
            bytes |= 1 << self.places[bits.trailing_zeros() as usize % LANES];
            bits &= bits - 1;
        }
        bytes
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
