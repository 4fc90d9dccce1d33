//! Words of other scripts than Latin, several at a time: where they end, and what is remembered of them.
//!
//! Most pairs of letters of such a script stand together in some token, so only places at ASCII and punctuation are
//! asked whether text may be cut there; what ends nowhere else is cut too seldom, which costs nothing but memory.
//! The lines of all words are asked for before the first is needed. Leaves out words of more than `LONGER` bytes,
//! those that begin with two ASCII characters or with one that is not (`encode`), and models in which few characters
//! stand together.

use super::{
    Charwise,
    alone::{BETWEEN_LOOKS, four},
    out::Out,
    work::Work,
};
use crate::{
    Error,
    encode::{Key, LONGER, Longer, SHORT},
    merge::Merges,
};

/// So many words are looked for together.
pub(super) const AHEAD: usize = 16;
/// Bytes in which the end of a word is looked for.
const WINDOW: usize = 32;
/// A character stands before so many others in tokens, if words are looked for as wholes.
const DENSE: usize = 6;

// As a byte has one id at most.
const _: () = assert!(AHEAD * LONGER <= BETWEEN_LOOKS);

/// Where a word begins and ends, and its hash.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    start: usize,
    end: usize,
    hash: u64,
}

/// Whether characters that are not ASCII stand before many others.
pub(super) fn are_dense(neighbours: &[(char, char)]) -> bool {
    let mut lefts: Vec<char> = neighbours
        .iter()
        .filter(|(left, right)| *left != super::MARK && !left.is_ascii() && !right.is_ascii())
        .map(|(left, _)| *left)
        .collect();
    let pairs = lefts.len();
    lefts.sort_unstable();
    lefts.dedup();
    pairs > 0 && pairs >= DENSE * lefts.len()
}

/// The bytes, as bits, that are ASCII or may begin punctuation of other kinds.
#[cfg(simd_x86)]
#[inline]
fn candidates(window: &[u8; WINDOW]) -> u32 {
    use std::arch::x86_64::*;
    let half = |at: usize| {
        // SAFETY: the window has 32 bytes, and SSE2 is part of x86-64.
        unsafe {
            let bytes = _mm_loadu_si128(window.as_ptr().add(at).cast());
            let latin = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0xC2u8 as i8));
            let general = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0xE2u8 as i8));
            // The highest bit of ASCII is not set.
            !_mm_movemask_epi8(bytes) as u32 & 0xFFFF | _mm_movemask_epi8(_mm_or_si128(latin, general)) as u32
        }
    };
    half(0) | half(16) << 16
}

#[cfg(not(simd_x86))]
#[inline]
fn candidates(window: &[u8; WINDOW]) -> u32 {
    by_bytes(window)
}

/// The same byte by byte.
#[cfg(any(test, not(simd_x86)))]
fn by_bytes(window: &[u8; WINDOW]) -> u32 {
    let is_candidate = |byte: &u8| byte.is_ascii() || [0xC2, 0xE2].contains(byte);
    window.iter().rev().fold(0, |bits, byte| bits << 1 | u32::from(is_candidate(byte)))
}

impl Charwise {
    /// Writes the words from byte `at` on, as far as their ends are found; where the next one begins.
    pub(super) fn ahead<F: FnMut(&[u32]) -> bool>(
        &self,
        text: &str,
        at: usize,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<usize, Error> {
        let bytes = text.as_bytes();
        let (mut count, mut start) = (0, at);
        while count < AHEAD
            && let Some(end) = self.near_end(text, start)
        {
            let length = end - start;
            let hash = match length {
                ..=SHORT => Key::at(bytes, start, length).hash(),
                _ => Longer::at(bytes, start, length).hash(),
            };
            work.memory.ask(length, hash);
            work.ahead[count] = Word { start, end, hash };
            (count, start) = (count + 1, end);
        }
        for number in 0..count {
            let Word { start, end, hash } = work.ahead[number];
            let length = end - start;
            out.make_room();
            let mut short = None;
            if length <= SHORT {
                let key = Key::at(bytes, start, length);
                if let Some((ids, count)) = work.memory.few(key, hash) {
                    out.few(ids, count);
                    continue;
                }
                short = Some((key, hash));
            } else if out.longer(&work.memory, Longer::at(bytes, start, length)) {
                continue;
            }
            self.other_segment(&text[start..end], short, merges, work, out)?;
        }
        Ok(start)
    }

    /// The end of the word that begins with the ASCII character at `start`, if it is near.
    #[inline]
    fn near_end(&self, text: &str, start: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let window = bytes.get(start + 1..)?.first_chunk::<WINDOW>()?;
        match (bytes[start], window[0]) {
            (128.., _) | (_, 0xF0..) => return None,
            (_, b' ') => return Some(start + 1),
            (_, ..128) => return None,
            _ => {}
        }
        let letter = |at: usize| four(bytes, at).map(|here| self.letters.decode(here).0);
        if !letter(start)?.may_join(letter(start + 1)?) {
            return Some(start + 1);
        }
        // The first is the character after the ASCII one, and a word ends before byte `LONGER`.
        let mut rest = candidates(window) & !1 & u32::MAX >> (WINDOW - LONGER);
        while rest != 0 {
            let at = start + 1 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            if bytes[at] == b' ' || !letter(at)?.has_previous() || self.may_cut(text, at) {
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_those_of_bytes() {
        for byte in 0..=255u8 {
            let mut window = [0xCE; WINDOW];
            (window[0], window[15], window[16], window[31]) = (byte, byte, 0xB1, byte);
            assert_eq!(candidates(&window), by_bytes(&window));
        }
    }

    #[test]
    fn dense_are_those_with_many_neighbours() {
        let all: Vec<(char, char)> =
            ('α'..'ι').flat_map(|left| ('α'..'ι').map(move |right| (left, right))).collect();
        assert!(are_dense(&all) && !are_dense(&all[..5]) && !are_dense(&[]) && !are_dense(&[('a', 'b')]));
    }
}
