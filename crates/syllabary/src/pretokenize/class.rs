//! Characters of a class in a text: white space, punctuation, numbers.
//!
//! Leaves out what becomes of them (`cut`).

use crate::normalize::is_common_letter;

/// Characters of up to three bytes.
const NARROW: u32 = 1 << 16;
/// From this byte on, characters have four.
const WIDE: usize = 0xF0;

/// Characters, none of them a common letter beyond ASCII.
pub(super) struct Class {
    /// By the first byte of a character, a bit for the lower bits of the byte behind it: whether one of the class may begin
    /// so. No other byte begins one.
    begins: Box<[u64; 256]>,
    /// A bit for each narrow character.
    narrow: Box<[u64; NARROW as usize / 64]>,
    of: fn(char) -> bool,
}

impl Class {
    pub(super) fn new(of: fn(char) -> bool) -> Class {
        let narrow = Box::new([0; NARROW as usize / 64]);
        let mut class = Class { begins: Box::new([0; 256]), narrow, of };
        for c in (0..NARROW).filter_map(char::from_u32) {
            let is_in = u64::from(!is_common_letter(c) && of(c));
            class.narrow[c as usize / 64] |= is_in << (c as u32 % 64);
            match *c.encode_utf8(&mut [0; 4]).as_bytes() {
                [first, second, ..] => class.begins[usize::from(first)] |= is_in << (second & 0x3F),
                _ => class.begins[c as usize] = is_in * u64::MAX,
            }
        }
        class.begins[WIDE..].fill(u64::MAX);
        class
    }

    /// Whether a character is in it.
    pub(super) fn has(&self, c: char) -> bool {
        match self.narrow.get(c as usize / 64) {
            Some(bits) => bits >> (c as u32 % 64) & 1 != 0,
            None => !is_common_letter(c) && (self.of)(c),
        }
    }

    /// Calls `each` with where its characters begin and end, in order; most text has none.
    pub(super) fn find(&self, text: &str, each: &mut impl FnMut(usize, usize)) {
        let (bytes, mut at) = (text.as_bytes(), 0);
        let begins = |first: u8, second: u8| self.begins[usize::from(first)] >> (second & 0x3F) & 1 != 0;
        loop {
            at += bytes[at..].windows(2).take_while(|pair| !begins(pair[0], pair[1])).count();
            // It may be the last byte, and that the last of a character.
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { return };
            let end = at + c.len_utf8();
            if self.has(c) {
                each(at, end);
            }
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_in_it_or_not() {
        for of in [char::is_numeric, char::is_whitespace, char::is_uppercase] {
            let class = Class::new(of);
            let all: String = (0..=0x10_FFFF).filter_map(char::from_u32).collect();
            let mut found = Vec::new();
            class.find(&all, &mut |start, end| found.extend(all[start..end].chars()));
            assert!(found.iter().copied().eq(all.chars().filter(|&c| class.has(c))));
            assert!(all.chars().all(|c| is_common_letter(c) || class.has(c) == of(c)));
        }
    }

    /// Where parts of a text may begin and end.
    fn spans(text: &str) -> Vec<(usize, usize)> {
        let places = || (0..=text.len()).filter(|&at| text.is_char_boundary(at));
        places().flat_map(|from| places().filter(move |&to| to >= from).map(move |to| (from, to))).collect()
    }

    #[test]
    fn finds_what_is_in_it() {
        for of in [char::is_numeric, char::is_whitespace, char::is_uppercase] {
            let class = Class::new(of);
            let all = "a1 b22\t٣x①\u{a0}\u{3000}漢字7Åé ½\u{85}Ⅷ😀𝟘𐒰";
            for (from, to) in spans(all) {
                let text = &all[from..to];
                let mut found = Vec::new();
                class.find(text, &mut |start, end| found.push(&text[start..end]));
                // Common letters are not asked for.
                let expected = text.char_indices().filter(|(_, c)| of(*c) && !is_common_letter(*c));
                let expected: Vec<&str> = expected.map(|(at, c)| &text[at..at + c.len_utf8()]).collect();
                assert_eq!(found, expected, "{text}");
            }
        }
    }
}
