//! The splits of Llama 3, Qwen 2 and Qwen 3.5: GPT-4's words and signs, with the white space of `o200k`.
//!
//! The law, as Llama 3 writes it; Qwen 2 has `\p{N}` in place of `\p{N}{1,3}`, and Qwen 3.5 besides that
//! `[\p{L}\p{M}]` for letters and `[^\s\p{L}\p{M}\p{N}]` for signs:
//!
//! ```text
//! (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
//! |\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! subtle: in Qwen 3.5 a mark may be the sign before the word or a letter of it; both give the same piece, the
//! run of letters and marks.
//!
//! Leaves out nothing: every character is in some piece.

use super::classes::{Classes, LETTER, MARK, NUMBER, SPACE};
use super::gpt4::{contraction_end, is_line_end, line_ends, numbers_end};
use super::masks::words::Words;
use super::o200k;

pub(super) const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
pub(super) const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
pub(super) const QWEN35: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// What the three differ in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    /// The name of the split.
    pub(super) name: &'static str,
    /// The most numbers of a piece.
    numbers: usize,
    /// The classes of the characters of words.
    letters: u8,
}

impl Family {
    /// The same law by masks.
    pub(super) fn masks(self) -> Words<false> {
        Words { word: self.letters, by_three: self.numbers == 3, contractions: true, whole_end: false }
    }
}

/// The family member whose law is `pattern`.
pub(super) fn family(pattern: &str) -> Option<Family> {
    match pattern {
        LLAMA3 => Some(Family { name: "llama3", numbers: 3, letters: LETTER }),
        QWEN2 => Some(Family { name: "qwen2", numbers: 1, letters: LETTER }),
        QWEN35 => Some(Family { name: "qwen3.5", numbers: 1, letters: LETTER | MARK }),
        _ => None,
    }
}

/// The end of the piece that begins at `at`, which is before the end of `text`.
pub(super) fn piece_end(family: Family, classes: &Classes, text: &str, at: usize) -> usize {
    let (bytes, letters) = (text.as_bytes(), family.letters);
    let byte = bytes[at];
    if byte == b'\''
        && let Some(end) = contraction_end(bytes, at)
    {
        return end;
    }
    let (bits, width) = classes.at(text, at);
    if bits & letters != 0 {
        return classes.run(text, at + width, letters);
    }
    if bits & NUMBER != 0 {
        return numbers_end(classes, text, at, family.numbers);
    }
    let after = at + width;
    let (next, next_width) = classes.at(text, after);
    if next & letters != 0 && !is_line_end(byte) {
        return classes.run(text, after + next_width, letters);
    }
    if bits & SPACE == 0 {
        return line_ends(bytes, classes.run_without(text, after, letters | NUMBER | SPACE));
    }
    if byte == b' ' && next_width != 0 && next & (NUMBER | SPACE | letters) == 0 {
        return line_ends(bytes, classes.run_without(text, after + next_width, letters | NUMBER | SPACE));
    }
    o200k::space_end(classes, text, at)
}
