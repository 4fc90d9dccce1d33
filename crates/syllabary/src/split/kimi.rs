//! The split of Kimi K2: runs of Han characters apart, else the words of `o200k` without them.
//!
//! The law, as Moonshot's `tokenization_kimi.py` writes it:
//!
//! ```text
//! [\p{Han}]+
//! |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! Differences from its cousin `o200k`: signs take no `/` among the line ends after them, and Han characters. Nearly
//! all of those are letters, which nothing else takes. The few others (radicals, `〇`) begin a run of Han characters
//! too, but go on with the signs or the numbers before them; they are *odd*.
//!
//! Leaves out nothing: every character is in some piece.

use super::Tables;
use super::classes::{Classes, HAN, LETTER, LOWER, MARK, NUMBER, SPACE, UNCASED, UPPER};
use super::gpt4::{contraction_end, line_ends, numbers_end};
use super::o200k::{space_end, word_end};
use crate::error::Error;

pub(super) const PATTERN: &str = concat!(
    r"[\p{Han}]+|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// What a Han character has besides `HAN` if it is no letter; one that is a number has `NUMBER` too.
pub(super) const ODD: u8 = MARK;

/// As everywhere, but for the characters that are Han.
pub(super) fn classes(tables: Tables) -> Result<Classes, Error> {
    const OTHERS: [(&str, u8); 6] = [
        (r"[[\p{Lu}\p{Lt}]--\p{Han}]", UPPER),
        (r"[\p{Ll}--\p{Han}]", LOWER),
        (r"[[\p{Lm}\p{Lo}]--\p{Han}]", UNCASED),
        (r"[\p{M}--\p{Han}]", MARK),
        (r"\p{N}", NUMBER),
        (r"\s", SPACE),
    ];
    let han = [(r"\p{Han}", HAN), (r"[\p{Han}--\p{L}]", ODD)];
    Classes::of_classes(OTHERS.into_iter().chain(han), tables)
}

/// The end of the piece that begins at `at`, which is before the end of `text`.
pub(super) fn piece_end(classes: &Classes, text: &str, at: usize) -> usize {
    let (bits, width) = classes.at(text, at);
    if is_han(bits) {
        return classes.run_of(text, at + width, is_han);
    }
    if bits & NUMBER != 0 {
        return numbers_end(classes, text, at, 3);
    }
    let letters = |at| without_han(classes.at(text, at));
    if let Some(end) = word_end(letters, text, at) {
        return match text.as_bytes().get(end) {
            Some(b'\'') => contraction_end(text.as_bytes(), end).unwrap_or(end),
            _ => end,
        };
    }
    let signs = |at| line_ends(text.as_bytes(), classes.run_of(text, at, is_sign));
    if bits & SPACE == 0 {
        return signs(at + width);
    }
    let (next, next_width) = classes.at(text, at + width);
    if text.as_bytes()[at] == b' ' && next_width != 0 && is_sign(next) {
        return signs(at + width);
    }
    space_end(classes, text, at)
}

fn is_han(bits: u8) -> bool {
    bits & HAN == HAN
}

/// `[^\s\p{L}\p{N}]`.
fn is_sign(bits: u8) -> bool {
    bits & (LETTER | NUMBER | SPACE) == 0 || bits & (HAN | ODD | NUMBER) == HAN | ODD
}

/// A Han character is nothing that words have.
fn without_han((bits, width): (u8, usize)) -> (u8, usize) {
    (if is_han(bits) { 0 } else { bits }, width)
}
