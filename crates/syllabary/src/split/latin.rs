//! Words of Latin with their enclitics (`-que -ve -ne -met -ce -ci`) cut off.
//!
//! The law:
//!
//! ```text
//! \s*+\w+?(?=(?:que|ve|ne|met|ce|ci)(?!\w))|\s*+\w++|\s*+[^\s\w]++|\s++
//! ```
//!
//! Differences from its cousin `whitespace`: white space belongs to the word or the signs after it, and stands
//! alone only at the end of the text; a word that ends in an enclitic, with a character before it, ends there.
//!
//! The lazy `\w+?` stops at the first place from which only an enclitic is left of the word. No enclitic ends in
//! another, so that is the enclitic at the end of the word, and there is at most one. The enclitic is a word to
//! the next piece, too short to be cut again.
//!
//! Leaves out nothing: every character is in some piece.

use super::classes::{Classes, SPACE, WORD, WORD_IN_CLASS};

pub(super) const PATTERN: &str = r"\s*+\w+?(?=(?:que|ve|ne|met|ce|ci)(?!\w))|\s*+\w++|\s*+[^\s\w]++|\s++";

const ENCLITICS: [&str; 6] = ["que", "ve", "ne", "met", "ce", "ci"];

/// The end of the piece that begins at `at`, which is before the end of `text`.
pub(super) fn piece_end(classes: &Classes, text: &str, at: usize) -> usize {
    let start = classes.run(text, at, SPACE);
    let (bits, width) = classes.at(text, start);
    if bits & WORD == 0 {
        return classes.run_without(text, start + width, WORD_IN_CLASS | SPACE);
    }
    let end = classes.run(text, start + width, WORD);
    let word = &text[start..end];
    match ENCLITICS.iter().find(|enclitic| word.ends_with(**enclitic)) {
        Some(enclitic) if enclitic.len() < word.len() => end - enclitic.len(),
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Split, Tables, tests::pieces};
    use super::*;

    /// The law covers every character, so its matches are all the pieces.
    fn oracle<'t>(regex: &fancy_regex::Regex, text: &'t str) -> Vec<&'t str> {
        regex.find_iter(text).map(|found| found.unwrap().as_str()).collect()
    }

    #[test]
    fn enclitics_of_every_kind() {
        let regex = fancy_regex::Regex::new(PATTERN).unwrap();
        let split = Split::new(Some(PATTERN), Tables::Tiktoken, true).unwrap();
        let parts =
            ["que", "ve", "ne", "met", "ce", "ci", "Que", "a", "1", "_", "\u{304}", "ō", "!", " ", "\n "];
        for first in parts {
            for second in parts {
                for third in parts {
                    for fourth in parts {
                        let text = [first, second, third, fourth].concat();
                        assert_eq!(pieces(&split, &text), oracle(&regex, &text), "{text:?}");
                    }
                }
            }
        }
        let hoc = ["at", "que", " be", "ne", " hoci", "ne", " que", "ne", " ne", " \n"];
        assert_eq!(pieces(&split, "atque bene hocine quene ne \n"), hoc);
    }
}
