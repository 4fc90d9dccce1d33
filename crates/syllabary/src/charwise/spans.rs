//! Where the tokens of a stretch of text are, found again from their ids: each stands for as many characters as it has.
//!
//! ```text
//! a mark before the text      the span of the first character, as tokenizers gives it (`prepend`)
//! an unknown token            its character, or all unknown ones in a row
//! the bytes of a character    each the whole character, or its own byte where no step has been at the text
//! ```
//!
//! Leaves out text that a normalizer rewrites, and scores: the general way (`run`) does those.

use std::ops::Range;

use super::{Charwise, MARK, shape::Prefix};

/// A stretch of text whose tokens are looked for.
pub(crate) struct Stretch<'t> {
    pub(crate) text: &'t str,
    /// Its first byte in the text given.
    pub(crate) base: usize,
    /// Characters of each token.
    pub(crate) widths: &'t [u32],
    /// No step has been at it.
    pub(crate) exact: bool,
}

impl Charwise {
    /// Whether the ids say where tokens are.
    pub(crate) fn replays(&self) -> bool {
        !self.shape.rewrites && !self.shape.cuts_kinds
    }

    /// Hands the span of each of `ids`, which are those of the whole stretch, to `sink`, and whether a piece begins.
    pub(crate) fn spans(&self, stretch: &Stretch<'_>, ids: &[u32], mut sink: impl FnMut(Range<usize>, bool)) {
        let Stretch { text, base, .. } = *stretch;
        let (mut at, mut number) = (0, 0);
        let mut prefix = self.prefixed(text, base == 0);
        while let Some(&id) = ids.get(number) {
            let rest = &text[at..];
            let Some(char) = rest.chars().next() else { break };
            let begins = number == 0 || (self.shape.cuts_marks && [' ', MARK].contains(&char));
            let start = base + at;
            let width = stretch.widths.get(id as usize).map_or(1, |&width| width as usize);
            number += 1;
            if prefix {
                prefix = false;
                at = after(rest, width.saturating_sub(1));
                sink(base..base + at.max(char.len_utf8()), true);
                continue;
            }
            let letter = self.letters.get(char);
            if letter.is_unknown() {
                let is_known = |char: char| !self.letters.get(char).is_unknown();
                let end =
                    if self.fuses { rest.find(is_known).unwrap_or(rest.len()) } else { char.len_utf8() };
                at += end;
                sink(start..base + at, begins);
                continue;
            }
            let (bytes, count) = self.letters.ids(char);
            if count > 1 && bytes[0] == id {
                at += char.len_utf8();
                number += count - 1;
                for byte in 0..count {
                    let own = if stretch.exact { start + byte..start + byte + 1 } else { start..base + at };
                    sink(own, begins && byte == 0);
                }
                continue;
            }
            at += after(rest, width);
            sink(start..base + at, begins);
        }
    }

    /// Whether a mark stands before the text that is not in it.
    fn prefixed(&self, text: &str, first: bool) -> bool {
        let wanted = match self.shape.prefix {
            Prefix::Never => false,
            Prefix::Always => true,
            Prefix::First => first,
        };
        wanted && !(self.shape.unless_marked && text.starts_with([' ', MARK]))
    }
}

/// The bytes of so many characters.
#[inline]
fn after(text: &str, characters: usize) -> usize {
    let bytes = text.as_bytes();
    if bytes.get(..characters).is_some_and(<[u8]>::is_ascii) {
        return characters;
    }
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}
