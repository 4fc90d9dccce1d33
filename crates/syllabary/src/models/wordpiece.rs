//! The longest token first, from the left (`reference/wordpiece.py`).
//!
//! ```text
//! playing -> play ##ing
//! ```
//!
//! The tokens stand in two tables, those that begin a piece and those that go on, these without their prefix: so no
//! text is put together to be looked up. Leaves out the memory of pieces (`run`, `wordwise`).

use std::ops::Range;

use super::Found;
use crate::{Error, parts::Parts, vocab::Vocab};

/// The tables of one tokenizer.
#[derive(Debug)]
pub(crate) struct WordPiece {
    /// Tokens that begin a piece.
    first: Vocab,
    /// Tokens that go on, without the prefix, numbered from 0; and their ids.
    next: Vocab,
    next_ids: Vec<u32>,
    unknown: Option<u32>,
    /// A piece of more characters is unknown.
    longest: usize,
}

impl WordPiece {
    /// Of tokens with the same text, the lowest id counts.
    pub(crate) fn new(parts: &Parts<'_>, vocab: &Vocab) -> Result<WordPiece, Error> {
        let prefix = parts.spelling.continuing_prefix.unwrap_or_default().as_bytes();
        let going_on = vocab.iter().filter_map(|(id, bytes)| Some((id, bytes.strip_prefix(prefix)?)));
        let (next_ids, rests): (Vec<u32>, Vec<&[u8]>) = going_on.unzip();
        Ok(WordPiece {
            first: Vocab::new(vocab.iter())?,
            next: Vocab::new((0..).zip(rests))?,
            next_ids,
            unknown: parts.spelling.unknown,
            longest: parts.longest_piece.unwrap_or(usize::MAX),
        })
    }

    /// The tokens of the piece.
    pub(crate) fn tokens(&self, piece: &str, found: &mut impl Found) {
        // A character has a byte or more: only a piece of many bytes is counted.
        let too_long = piece.len() > self.longest && piece.chars().count() > self.longest;
        if !too_long {
            match longest_token(&self.first, piece, 0) {
                Some((id, end)) if end == piece.len() => return found.token(id, 0..end),
                Some((id, end)) => {
                    if let Some(tokens) = self.going_on(piece, (id, end)) {
                        return tokens.into_iter().for_each(|(id, bytes)| found.token(id, bytes));
                    }
                }
                None => {}
            }
        }
        match self.unknown {
            Some(id) => found.token(id, 0..piece.len()),
            None => found.missing(0..piece.len()),
        }
    }

    /// All tokens, of which the first is known; `None` where none goes on.
    fn going_on(&self, piece: &str, (first, mut at): (u32, usize)) -> Option<Vec<(u32, Range<usize>)>> {
        let mut tokens = Vec::with_capacity(8);
        tokens.push((first, 0..at));
        while at < piece.len() {
            let (number, end) = longest_token(&self.next, piece, at)?;
            tokens.push((self.next_ids[number as usize], at..end));
            at = end;
        }
        Some(tokens)
    }
}

/// The longest token of a table that the piece goes on with, and where it ends.
fn longest_token(table: &Vocab, piece: &str, start: usize) -> Option<(u32, usize)> {
    let mut end = piece.len().min(start.saturating_add(table.longest()));
    while end > start {
        if piece.is_char_boundary(end)
            && let Some(id) = table.id_at(piece.as_bytes(), start, end)
        {
            return Some((id, end));
        }
        end -= 1;
    }
    None
}
