//! The split of `o200k_base`: words by their case, with marks and a contraction at the end.
//!
//! The law, as tiktoken 0.14 writes it:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! Differences from its cousin `gpt4`: a word is capitals, then small letters, where letters without case and
//! marks are both; a contraction belongs to the word before it; signs take `/` too among the line ends; white
//! space at the end of the text also ends after its last line end.
//!
//! subtle: a mark may be the sign before the word or part of it. How the two word alternatives backtrack, for
//! a head run `[s..j)` of capitals and both-kinds, after the optional sign:
//! - a small letter at `j`: the word goes on over the tail run (first alternative);
//! - else the star gives back down to the last both-kinds character, and the word ends after it; the capitals
//!   behind it begin the next piece;
//! - else, nothing but capitals: the sign is given back; if it was a mark, it is a word alone. If not, the
//!   second alternative takes sign and capitals.
//!
//! Every character is looked at by at most three pieces, so the time is linear.
//!
//! Leaves out nothing: every character is in some piece.

use super::classes::{Classes, LETTER, LOWER, MARK, NUMBER, SPACE, UNCASED, UPPER};
use super::gpt2;
use super::gpt4::{contraction_end, is_line_end, last_line_end, numbers_end};

pub(super) const PATTERN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Letters without case and marks: in the head of a word as in its tail.
const BOTH: u8 = UNCASED | MARK;

/// Nemotron's: without contractions, numbers one by one.
pub(super) const NEMOTRON: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|",
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// The end of the piece that begins at `at`, which is before the end of `text`. `NEMOTRON` is its law instead of
/// `PATTERN` where `CONTRACTIONS` is false.
pub(super) fn piece_end<const CONTRACTIONS: bool>(classes: &Classes, text: &str, at: usize) -> usize {
    let byte = text.as_bytes()[at];
    let (bits, width) = classes.at(text, at);
    if bits & NUMBER != 0 {
        return numbers_end(classes, text, at, if CONTRACTIONS { 3 } else { 1 });
    }
    if let Some(end) = word_end(|at| classes.at(text, at), text, at) {
        return match text.as_bytes().get(end) {
            Some(b'\'') if CONTRACTIONS => contraction_end(text.as_bytes(), end).unwrap_or(end),
            _ => end,
        };
    }
    if bits & SPACE == 0 {
        return signs_end(classes, text, at + width);
    }
    let (next, next_width) = classes.at(text, at + width);
    if byte == b' ' && next_width != 0 && next & (NUMBER | SPACE) == 0 {
        return signs_end(classes, text, at + width + next_width);
    }
    space_end(classes, text, at)
}

/// The two word alternatives without the contraction, from `at`; `bits_at` gives the bits and the width of the character
/// at a place.
pub(super) fn word_end(bits_at: impl Fn(usize) -> (u8, usize), text: &str, at: usize) -> Option<usize> {
    let (bits, width) = bits_at(at);
    let signed = bits & LETTER == 0;
    if signed && is_line_end(text.as_bytes()[at]) {
        return None;
    }
    let start = if signed { at + width } else { at };
    let (head, last_both) = head_end(&bits_at, start);
    if bits_at(head).0 & LOWER != 0 {
        return Some(tail_end(&bits_at, head));
    }
    if last_both > start {
        return Some(last_both);
    }
    if bits & MARK != 0 {
        return Some(start);
    }
    if head > start { Some(head) } else { None }
}

/// The run of capitals and both-kinds from `start`: its end, and one past its last both-kinds character
/// (`start` if there is none).
fn head_end(bits_at: impl Fn(usize) -> (u8, usize), start: usize) -> (usize, usize) {
    let (mut at, mut last_both) = (start, start);
    loop {
        let (bits, width) = bits_at(at);
        if bits & (UPPER | BOTH) == 0 {
            return (at, last_both);
        }
        at += width;
        if bits & BOTH != 0 {
            last_both = at;
        }
    }
}

/// The end of the run of small letters and both-kinds from `at`.
fn tail_end(bits_at: impl Fn(usize) -> (u8, usize), mut at: usize) -> usize {
    loop {
        let (bits, width) = bits_at(at);
        if bits & (LOWER | BOTH) == 0 {
            return at;
        }
        at += width;
    }
}

/// `[^\s\p{L}\p{N}]*[\r\n/]*` from `at`.
fn signs_end(classes: &Classes, text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = classes.run_without(text, at, LETTER | NUMBER | SPACE);
    while end < bytes.len() && (is_line_end(bytes[end]) || bytes[end] == b'/') {
        end += 1;
    }
    end
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`, where `at` is white space.
pub(super) fn space_end(classes: &Classes, text: &str, at: usize) -> usize {
    let end = classes.run(text, at, SPACE);
    match last_line_end(text, at, end) {
        Some(line_end) => line_end,
        None => gpt2::space_end(classes, text, at, 0),
    }
}
