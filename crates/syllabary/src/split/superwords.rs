//! The split for superword merges: lines are cut where no superword may pass, and words stay together.
//!
//! The law; what no alternative matches is a piece of its own:
//!
//! ```text
//! \p{N}{1,3}
//! | ?[^\s\p{L}\p{M}\p{N}](?:[^\s\p{L}\p{M}\p{N}][^\s\p{L}\p{N}]*|[\r\n])[\r\n/]*|\s*[\r\n]+|\s+(?!\S)
//! ```
//!
//! That is: up to three digits; two signs or more, or one before a line end, with the space before them and the
//! line ends after them; white space up to a line end; white space but its last character. What is left between
//! are words, single signs and single spaces. Every boundary is one of `o200k` too, but where a mark stands after
//! a sign.
//!
//! Leaves out nothing if the gaps are kept.

use super::classes::{Classes, LETTER, MARK, NUMBER, SPACE};
use super::gpt4::{is_line_end, last_line_end, numbers_end};

pub(super) const PATTERN: &str = concat!(
    r"\p{N}{1,3}|",
    r" ?[^\s\p{L}\p{M}\p{N}](?:[^\s\p{L}\p{M}\p{N}][^\s\p{L}\p{N}]*|[\r\n])[\r\n/]*|\s*[\r\n]+|\s+(?!\S)"
);

/// A character with none of these bits is a sign.
const NO_SIGN: u8 = LETTER | MARK | NUMBER | SPACE;

/// The first match at or after `from`.
pub(super) fn next(classes: &Classes, text: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let (bits, width) = classes.at(text, at);
        if width == 0 {
            return None;
        }
        if bits & (LETTER | MARK) != 0 {
            at = classes.run(text, at, LETTER | MARK);
            continue;
        }
        let end = match_end(classes, text, at, bits, width);
        if end > at {
            return Some((at, end));
        }
        at += width;
    }
}

/// The end of the match that begins at `at`, or `at`.
fn match_end(classes: &Classes, text: &str, at: usize, bits: u8, width: usize) -> usize {
    if bits & NUMBER != 0 {
        return numbers_end(classes, text, at, 3);
    }
    if bits & SPACE == 0 {
        return signs_end(classes, text, at + width).unwrap_or(at);
    }
    let (next, next_width) = classes.at(text, at + width);
    if text.as_bytes()[at] == b' ' && next_width != 0 && next & NO_SIGN == 0 {
        return signs_end(classes, text, at + width + next_width).unwrap_or(at);
    }
    let end = classes.run(text, at, SPACE);
    match last_line_end(text, at, end) {
        Some(line_end) => line_end,
        None if end == text.len() => end,
        None => text[at..end].char_indices().next_back().map_or(at, |(last, _)| at + last),
    }
}

/// The end of signs and line ends after the first sign, which ends at `at`; `None` if that stands alone.
fn signs_end(classes: &Classes, text: &str, at: usize) -> Option<usize> {
    let (bits, width) = classes.at(text, at);
    if width == 0 {
        return None;
    }
    let end = if bits & NO_SIGN == 0 {
        classes.run_without(text, at + width, LETTER | NUMBER | SPACE)
    } else if is_line_end(text.as_bytes()[at]) {
        at + 1
    } else {
        return None;
    };
    let tail = text.as_bytes()[end..].iter().take_while(|&&byte| is_line_end(byte) || byte == b'/').count();
    Some(end + tail)
}
