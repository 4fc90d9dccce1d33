//! GPT-4's split (`cl100k_base`): a word takes any one sign before it, numbers go by three, line ends are kept
//! with what they end.
//!
//! The law, as tiktoken 0.14 writes it:
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
//! |\s++$|\s*[\r\n]|\s+(?!\S)|\s
//! ```
//!
//! Differences from its cousin `gpt2`: contractions in any case (`ſ`, U+017F, is an `s` to `(?i)`); a word may
//! begin with any sign or white space but a line end; numbers by three characters; signs take the line ends that
//! follow; white space ends after its last line end, except at the end of the text, where it is one piece.
//!
//! Leaves out nothing: every character is in some piece.

use super::classes::{Classes, LETTER, NUMBER, SPACE};
use super::gpt2;

pub(super) const PATTERN: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";

/// The end of the piece that begins at `at`, which is before the end of `text`.
pub(super) fn piece_end(classes: &Classes, text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let byte = bytes[at];
    if byte == b'\''
        && let Some(end) = contraction_end(bytes, at)
    {
        return end;
    }
    let (bits, width) = classes.at(text, at);
    if bits & LETTER != 0 {
        return classes.run(text, at + width, LETTER);
    }
    if bits & NUMBER != 0 {
        return numbers_end(classes, text, at, 3);
    }
    let after = at + width;
    let (next, next_width) = classes.at(text, after);
    if next & LETTER != 0 && !is_line_end(byte) {
        return classes.run(text, after + next_width, LETTER);
    }
    if bits & SPACE == 0 {
        let end = classes.run_without(text, after, LETTER | NUMBER | SPACE);
        return line_ends(bytes, end);
    }
    if byte == b' ' && next_width != 0 && next & (NUMBER | SPACE) == 0 {
        let end = classes.run_without(text, after + next_width, LETTER | NUMBER | SPACE);
        return line_ends(bytes, end);
    }
    space_end(classes, text, at)
}

/// `'(?i:[sdmt]|ll|ve|re)`, where `bytes[at]` is the apostrophe.
pub(super) fn contraction_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes[at + 1..] {
        [b's' | b'd' | b'm' | b't' | b'S' | b'D' | b'M' | b'T', ..] => Some(at + 2),
        [b'l' | b'L', b'l' | b'L', ..] => Some(at + 3),
        [b'v' | b'V' | b'r' | b'R', b'e' | b'E', ..] => Some(at + 3),
        // The two bytes of `ſ`.
        [0xC5, 0xBF, ..] => Some(at + 3),
        _ => None,
    }
}

/// `\p{N}{1,most}`, where `at` is a number.
pub(super) fn numbers_end(classes: &Classes, text: &str, mut at: usize, most: usize) -> usize {
    for _ in 0..most {
        let (bits, width) = classes.at(text, at);
        if bits & NUMBER == 0 {
            break;
        }
        at += width;
    }
    at
}

/// `\s++$|\s*[\r\n]|\s+(?!\S)|\s`, where `at` is white space.
fn space_end(classes: &Classes, text: &str, at: usize) -> usize {
    let end = classes.run(text, at, SPACE);
    if end == text.len() {
        return end;
    }
    match last_line_end(text, at, end) {
        Some(line_end) => line_end,
        None => gpt2::space_end(classes, text, at, 0),
    }
}

/// `\s*[\r\n]` in the white space `at..end`: one past its last line end.
pub(super) fn last_line_end(text: &str, at: usize, end: usize) -> Option<usize> {
    text.as_bytes()[at..end].iter().rposition(|&byte| is_line_end(byte)).map(|last| at + last + 1)
}

/// `[\r\n]*` from `at`.
pub(super) fn line_ends(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && is_line_end(bytes[at]) {
        at += 1;
    }
    at
}

pub(super) fn is_line_end(byte: u8) -> bool {
    byte == b'\r' || byte == b'\n'
}
