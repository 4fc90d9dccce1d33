//! The two splits by white space, as Hugging Face's `Whitespace` and `WhitespaceSplit` cut.
//!
//! The laws:
//!
//! ```text
//! \w+|[^\w\s]+
//! \S+
//! ```
//!
//! Differences from each other: `whitespace` also cuts between words and signs, `whitespace-split` does not.
//! Both match no white space: it is a piece of its own, or dropped, as the caller of the split says.
//!
//! subtle: with Oniguruma's tables `½` matches both `\w` and `[^\w\s]` (see `classes`), so it begins a word but
//! continues a run of signs.

use super::classes::{Classes, SPACE, WORD, WORD_IN_CLASS};

pub(super) const WHITESPACE: &str = r"\w+|[^\w\s]+";
pub(super) const WHITESPACE_SPLIT: &str = r"\S+";

/// The first match of `\w+|[^\w\s]+` at or after `from`.
pub(super) fn next_word_or_signs(classes: &Classes, text: &str, from: usize) -> Option<(usize, usize)> {
    let start = classes.run(text, from, SPACE);
    let (bits, width) = classes.at(text, start);
    if bits & WORD != 0 {
        Some((start, classes.run(text, start + width, WORD)))
    } else if width != 0 {
        Some((start, classes.run_without(text, start + width, WORD_IN_CLASS | SPACE)))
    } else {
        None
    }
}

/// The first match of `\S+` at or after `from`.
pub(super) fn next_non_space(classes: &Classes, text: &str, from: usize) -> Option<(usize, usize)> {
    let start = classes.run(text, from, SPACE);
    if start == text.len() { None } else { Some((start, classes.run_without(text, start, SPACE))) }
}
