//! Tokens that have part of a character beside another one: where in a text such a token may stand.
//!
//! ```text
//! token  80 字        the last byte of a character, and all of the next one
//! place  一|字        may be in it, as 一 ends in 80; 学|字 is not, nor 一|学
//! ```
//!
//! Of a token, what it has of both characters is noted: the last bytes of the one, the first of the other. Adds: `Halves`.
//! Leaves out characters that tokens have whole, side by side (`cuts`).

use std::{collections::HashSet, iter::StepBy, ops::Range};

use super::cuts::{LAST, is_inside, width_of};

/// Bytes of a character, at most.
const WIDTH: usize = 4;
/// No bytes.
const NONE: u64 = 0;
/// Slots for each that there is, at least.
const SLOTS: usize = 4;

/// What stands on both sides of places in tokens, of which one is part of a character.
#[derive(Debug, Default)]
pub(super) struct Halves {
    /// Which of the four bytes before a place and the four behind it count: all kinds that there are.
    kinds: Vec<u64>,
    /// Those bytes, and zeros, in open addressing.
    slots: Box<[u64]>,
    /// All of them with their kinds, until there are slots: a byte may be 0, as what does not count is.
    all: HashSet<(u64, u64)>,
}

/// The first four bytes behind a place, the first lowest, and above them those before it, the last highest.
fn number_of(before: &[u8], after: &[u8]) -> u64 {
    let mut bytes = [0; 2 * WIDTH];
    let first = before.len().min(WIDTH);
    bytes[2 * WIDTH - first..].copy_from_slice(&before[before.len() - first..]);
    let last = after.len().min(WIDTH);
    bytes[..last].copy_from_slice(&after[..last]);
    u64::from_le_bytes(bytes)
}

/// All ones where so many bytes before a place and behind it are.
fn kind_of(before: usize, after: usize) -> u64 {
    number_of(&[0xFF; WIDTH][..before], &[0xFF; WIDTH][..after])
}

fn hash_of(number: u64) -> usize {
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

impl Halves {
    /// Adds what a token has of the characters before and behind a place, at least one byte each; whether that is new.
    pub(super) fn add(&mut self, before: &[u8], after: &[u8]) -> bool {
        let kind = kind_of(before.len().min(WIDTH), after.len().min(WIDTH));
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
        self.all.insert((kind, number_of(before, after)))
    }

    /// Makes what was added ready.
    pub(super) fn close(&mut self) {
        let all = std::mem::take(&mut self.all);
        self.slots = vec![NONE; (SLOTS * all.len() + 1).next_power_of_two()].into();
        for (_, number) in all {
            let mut at = hash_of(number) & (self.slots.len() - 1);
            while self.slots[at] != NONE {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = number;
        }
    }

    /// Whether some token may have a part of one of the characters beside this place of a text.
    #[inline]
    pub(super) fn reach(&self, text: &[u8], at: usize) -> bool {
        let around = match at.checked_sub(WIDTH).and_then(|start| text[start..].first_chunk()) {
            Some(&bytes) => u64::from_le_bytes(bytes).rotate_right(u32::BITS),
            None => number_of(&text[..at], &text[at..]),
        };
        self.kinds.iter().any(|kind| self.has(around & kind))
    }

    #[inline]
    fn has(&self, number: u64) -> bool {
        let mut at = hash_of(number) & (self.slots.len() - 1);
        loop {
            match self.slots[at] {
                NONE => return false,
                other if other == number => return true,
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }
}

/// The bytes that a token has of the character before a place and of the one behind it.
pub(super) fn halves_at(token: &[u8], at: usize) -> (&[u8], &[u8]) {
    let start = (at.saturating_sub(WIDTH)..at).rfind(|&start| !is_inside(token[start]));
    let rest = &token[at + 1..(at + width_of(token[at])).min(token.len())];
    let more = rest.iter().take_while(|&&byte| is_inside(byte)).count();
    (&token[start.unwrap_or(at.saturating_sub(WIDTH))..at], &token[at..at + 1 + more])
}

/// The characters that may have these bytes beside a place: those before it or those behind it, whichever are fewer, by
/// their codes, or `LAST`.
pub(super) fn characters_of(before: &[u8], after: &[u8]) -> (bool, StepBy<Range<usize>>) {
    let (befores, afters) = (codes_that_end(before), codes_that_begin(after));
    let is_before = befores.len() <= afters.len();
    (is_before, if is_before { befores } else { afters })
}

/// The codes of characters that end with these bytes, and some more.
fn codes_that_end(bytes: &[u8]) -> StepBy<Range<usize>> {
    let code = bytes.iter().fold(0, |code, byte| code << 6 | usize::from(byte & 0x3F));
    match bytes.len() {
        _ if !is_inside(bytes[0]) => codes_that_begin(bytes),
        count @ 1..=2 => (code..LAST + 1).step_by(1 << (6 * count)),
        _ => (LAST..LAST + 1).step_by(1),
    }
}

/// The codes of characters that begin with these bytes.
fn codes_that_begin(bytes: &[u8]) -> StepBy<Range<usize>> {
    let width = width_of(bytes[0]);
    if width >= WIDTH || width < bytes.len() {
        return (LAST..LAST + 1).step_by(1);
    }
    let first = usize::from(bytes[0]) & (0xFF >> if width == 1 { 1 } else { width + 1 });
    let code = bytes[1..].iter().fold(first, |code, byte| code << 6 | usize::from(byte & 0x3F));
    let missing = 6 * (width - bytes.len());
    (code << missing..(code + 1) << missing).step_by(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_a_place_is_told() {
        let token = "字é😀".as_bytes();
        assert_eq!(halves_at(&token[1..4], 2), (&token[1..3], &token[3..4]));
        assert_eq!(halves_at(token, 3), ("字".as_bytes(), "é".as_bytes()));
        assert_eq!(halves_at(&token[..7], 5), ("é".as_bytes(), &token[5..7]));
        assert_eq!(halves_at(&[0x80; 6], 5).0, [0x80; 4]);
        let told = |before: &[u8], after: &[u8]| {
            let (is_before, codes) = characters_of(before, after);
            (is_before, codes.clone().count(), codes.clone().next(), codes.clone().next_back())
        };
        assert_eq!(told("字".as_bytes(), &[0xE5]), (true, 1, Some(0x5B57), Some(0x5B57)));
        assert_eq!(told(&[0x97], "学".as_bytes()), (false, 1, Some(0x5B66), Some(0x5B66)));
        assert_eq!(told(&[0x97], &[0xE5]), (true, 1024, Some(0x17), Some(0xFFD7)));
        assert_eq!(told(&[0xAD, 0x97], &[0xE5]), (true, 16, Some(0xB57), Some(0xFB57)));
        assert_eq!(told(&[0x97], &[0xE5, 0xAD]), (false, 64, Some(0x5B40), Some(0x5B7F)));
        assert_eq!(told(&[0x97], &[0xC3]), (false, 64, Some(0xC0), Some(0xFF)));
        assert_eq!(told("a".as_bytes(), &[0xC3]), (true, 1, Some(0x61), Some(0x61)));
        assert_eq!(told(&[0x97], &[0xF0]), (false, 1, Some(LAST), Some(LAST)));
        assert_eq!(told("😀".as_bytes(), &[0xE5]), (true, 1, Some(LAST), Some(LAST)));
    }

    /// `00 80|00` is in no text, and of `80|00` it has all the bytes that are not zero.
    #[test]
    fn what_differs_in_zeros_alone_is_new() {
        let mut halves = Halves::default();
        assert!(halves.add(&[0, 0x80], &[0]) && halves.add(&[0x80], &[0]) && !halves.add(&[0x80], &[0]));
        halves.close();
        assert!(halves.reach("\u{5B40}\0".as_bytes(), 3));
    }

    #[test]
    fn only_what_has_these_bytes_is_reached() {
        let mut halves = Halves::default();
        let all: [(&[u8], &[u8]); 4] = [
            (&[0x97], "学".as_bytes()),
            ("字".as_bytes(), &[0xE5]),
            (&[0xAD, 0x97], &[0xE6, 0x98]),
            (b"a", &[0xC3]),
        ];
        assert!(
            all.iter().all(|(before, after)| halves.add(before, after)) && !halves.add(all[0].0, all[0].1)
        );
        halves.close();
        for (text, at, is_reached) in [
            ("字学", 3, true),
            ("字孩", 3, true),
            ("字是", 3, true),
            ("日学", 3, false),
            ("有字学", 6, true),
            ("有字日", 6, false),
            ("有字是", 6, true),
            ("日是", 3, false),
            ("éaé", 3, true),
            ("éaʃ", 3, false),
            ("aé", 1, true),
        ] {
            assert_eq!(halves.reach(text.as_bytes(), at), is_reached, "{text}");
        }
    }
}
