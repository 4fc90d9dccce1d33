//! Characters of a class in a text: white space, punctuation, numbers.
//!
//! Leaves out what becomes of them (`cut`).

use crate::normalize::is_common_letter;

/// Characters, none of them a common letter beyond ASCII.
pub(super) struct Class {
    ascii: [bool; 128],
    of: fn(char) -> bool,
}

impl Class {
    pub(super) fn new(of: fn(char) -> bool) -> Class {
        Class { ascii: std::array::from_fn(|byte| of(char::from(byte as u8))), of }
    }

    /// Calls `each` with where its characters begin and end, in order; most text is ASCII that is not in it.
    pub(super) fn find(&self, text: &str, each: &mut impl FnMut(usize, usize)) {
        let (bytes, mut at) = (text.as_bytes(), 0);
        let passed = |byte: &&u8| self.ascii.get(usize::from(**byte)) == Some(&false);
        loop {
            at += bytes[at..].iter().take_while(passed).count();
            match bytes.get(at) {
                None => return,
                Some(byte) if byte.is_ascii() => {
                    each(at, at + 1);
                    at += 1;
                }
                Some(_) => {
                    for c in text[at..].chars().take_while(|c| !c.is_ascii()) {
                        let end = at + c.len_utf8();
                        if !is_common_letter(c) && (self.of)(c) {
                            each(at, end);
                        }
                        at = end;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_in_it() {
        for of in [char::is_numeric, char::is_whitespace, char::is_uppercase] {
            let class = Class::new(of);
            let text = "a1 b22\t٣x①\u{a0}\u{3000}漢字7Åé ½\u{85}Ⅷ";
            for (from, _) in text.char_indices() {
                let text = &text[from..];
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
