//! GPT-2's split: words, numbers and other signs, each with one space before it.
//!
//! The law, as tiktoken writes it (possessive, so that nothing is tried twice) and as GPT-2 and Hugging Face do:
//!
//! ```text
//! '(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s
//! 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//! ```
//!
//! Both cut alike: `\s+` is reached only where `\s+(?!\S)` failed, which is one white space before a sign.
//!
//! Where the text is cut at every digit before, as SmolLM's and StarCoder's is, both together are one pattern, in which
//! white space does not look beyond a number, nor goes with it:
//!
//! ```text
//! '(?:[sdmt]|ll|ve|re)| ?\p{L}++|\p{N}| ?[^\s\p{L}\p{N}]++|\s++(?=\p{N}|$)|\s+(?!\S)|\s
//! ```
//!
//! Leaves out nothing: every character is in some piece.

use super::classes::{Classes, LETTER, NUMBER, SPACE};

pub(super) const TIKTOKEN: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
pub(super) const ORIGINAL: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
/// As in the comment of tiktoken's own source and in many tutorials.
pub(super) const BRACKETED: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Cut at every digit before.
pub(super) const DIGITS: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++|\p{N}| ?[^\s\p{L}\p{N}]++|\s++(?=\p{N}|$)|\s+(?!\S)|\s";

/// The end of the piece that begins at `at`, which is before the end of `text`.
pub(super) fn piece_end<const DIGITS: bool>(classes: &Classes, text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    if bytes[at] == b'\''
        && let Some(end) = contraction_end(bytes, at)
    {
        return end;
    }
    if DIGITS {
        let (bits, width) = classes.at(text, at);
        if bits & NUMBER != 0 {
            return at + width;
        }
    }
    let body = if bytes[at] == b' ' { at + 1 } else { at };
    let (bits, width) = classes.at(text, body);
    if bits & LETTER != 0 {
        classes.run(text, body + width, LETTER)
    } else if !DIGITS && bits & NUMBER != 0 {
        classes.run(text, body + width, NUMBER)
    } else if width != 0 && bits & (SPACE | NUMBER) == 0 {
        classes.run_without(text, body + width, LETTER | NUMBER | SPACE)
    } else {
        space_end(classes, text, at, if DIGITS { NUMBER } else { 0 })
    }
}

/// `'(?:[sdmt]|ll|ve|re)`, where `bytes[at]` is the apostrophe.
pub(super) fn contraction_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes[at + 1..] {
        [b's' | b'd' | b'm' | b't', ..] => Some(at + 2),
        [b'l', b'l', ..] | [b'v', b'e', ..] | [b'r', b'e', ..] => Some(at + 3),
        _ => None,
    }
}

/// `\s++$|\s+(?!\S)|\s`, where `at` is white space: the whole run at the end of the text, else the run without
/// its last character, which goes to what follows, unless that is of the classes `alone`; one character alone stays.
pub(super) fn space_end(classes: &Classes, text: &str, at: usize, alone: u8) -> usize {
    let (mut last, mut end) = (at, at);
    loop {
        let (bits, width) = classes.at(text, end);
        if width == 0 {
            return end;
        }
        if bits & SPACE == 0 {
            return if last > at && bits & alone == 0 { last } else { end };
        }
        last = end;
        end += width;
    }
}
