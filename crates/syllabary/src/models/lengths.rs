//! How long the tokens are that begin with the same bytes as a text.
//!
//! ```text
//! playing    what begins with `play` and a table has: play, player    -> 6, 4 bytes
//! ```
//!
//! Kept by a hash of their first bytes: lengths of other tokens may be among them, none is left out. Leaves out the
//! tokens themselves (`vocab`).

use crate::fetch::fetch;

/// No length from here on is told.
pub(super) const MOST: usize = 31;
/// The most bits of a hash.
const BITS: u32 = 17;

/// For the first bytes of a text the lengths of tokens, a bit each.
#[derive(Debug)]
pub(super) struct Lengths {
    /// Those below 4, by the first byte.
    one: [u32; 256],
    /// Those below 8, by four bytes, and all others, by eight.
    four: Box<[u32]>,
    eight: Box<[u32]>,
    bits: u32,
}

impl Lengths {
    /// Of so many tokens; empty ones are not counted.
    pub(super) fn of<'a>(tokens: impl Iterator<Item = &'a [u8]>, count: usize) -> Lengths {
        let bits = (2 * count + 1).next_power_of_two().trailing_zeros().clamp(1, BITS);
        let table = || vec![0; 1 << bits].into_boxed_slice();
        let mut made = Lengths { one: [0; 256], four: table(), eight: table(), bits };
        for token in tokens.filter(|token| !token.is_empty()) {
            let place = match (token.len(), eight_bytes(token, 0)) {
                (..4, first) => &mut made.one[first as usize & 0xFF],
                (4..8, first) => &mut made.four[place(first << 32, bits)],
                (_, first) => &mut made.eight[place(first, bits)],
            };
            *place |= 1 << token.len().min(MOST);
        }
        made
    }

    /// The lengths that a token of `text[start..end]`, which is not empty, may have, a bit each, and whether it may have any
    /// from `MOST` on, which has no bit. What stands behind the end does not matter.
    #[inline]
    pub(super) fn at(&self, text: &[u8], (start, end): (usize, usize)) -> (u32, bool) {
        let (first, rest) = (eight_bytes(text, start), end - start);
        let four = self.four[place(first << 32, self.bits)];
        let eight = self.eight[place(first, self.bits)];
        let found = self.one[first as usize & 0xFF]
            | if rest >= 4 { four } else { 0 }
            | if rest >= 8 { eight } else { 0 };
        (found & (u32::MAX >> (31 - rest.min(MOST - 1))), rest >= MOST && found >> MOST != 0)
    }

    /// Asks for what `at` looks at, if the text does not end soon.
    #[inline]
    pub(super) fn ask(&self, text: &[u8], start: usize) {
        if let Some(&bytes) = text[start..].first_chunk() {
            let first = u64::from_le_bytes(bytes);
            fetch(&self.four[place(first << 32, self.bits)]);
            fetch(&self.eight[place(first, self.bits)]);
        }
    }
}

/// Where a table has the lengths of what begins with these bytes.
#[inline(always)]
fn place(bytes: u64, bits: u32) -> usize {
    (bytes.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)) as usize
}

/// The bytes from `start` on, the first the lowest, zeros behind the end.
#[inline(always)]
fn eight_bytes(text: &[u8], start: usize) -> u64 {
    let rest = &text[start..];
    match (rest.first_chunk(), text.last_chunk()) {
        (Some(&bytes), _) => u64::from_le_bytes(bytes),
        (None, Some(&bytes)) if !rest.is_empty() => u64::from_le_bytes(bytes) >> (8 * (8 - rest.len())),
        _ => rest.iter().rev().fold(0, |bytes, &byte| bytes << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_length_is_left_out() {
        let text: Vec<u8> = (0..200_u32).map(|at| (at * at % 7) as u8 + b'a').collect();
        let tokens: Vec<&[u8]> = (0..90).map(|at| &text[at * 2..at * 2 + 1 + at * 5 % 20]).collect();
        let long = &text[3..60];
        let lengths = Lengths::of(tokens.iter().copied().chain([long, b""]), tokens.len() + 2);
        let mut told = 0;
        for start in 0..text.len() {
            for end in start + 1..=text.len() {
                let (found, longer) = lengths.at(&text[..end], (start, end));
                assert_eq!(lengths.at(&text, (start, end)), (found, longer));
                told += found.count_ones();
                assert!(found.checked_ilog2().is_none_or(|most| (most as usize) < MOST.min(end - start + 1)));
                let rest = &text[start..end];
                let is_told = |length: usize| found >> length & 1 == 1;
                assert!(tokens.iter().all(|token| !rest.starts_with(token) || is_told(token.len())));
                assert!(!rest.starts_with(long) || longer);
            }
        }
        let none = Lengths::of(std::iter::empty(), 0);
        assert!((0..9).all(|start| none.at(b"abcdefghi", (start, 9)) == (0, false)));
        // Few of those that are no token's.
        assert!(told < 100_000, "{told}");
    }
}
