//! The longest token first, from the left (`reference/wordpiece.py`).
//!
//! ```text
//! playing -> play ##ing
//! ```
//!
//! The tokens stand in two tables, those that begin a piece and those that go on, these without their prefix: so no
//! text is put together to be looked up; and only as long a token is looked up as there are with the same first bytes
//! (`lengths`). Leaves out the memory of pieces (`run`, `wordwise`).

use std::ops::Range;

use super::{Found, lengths::Lengths};
use crate::{Error, parts::Parts, vocab::Vocab};

/// The tables of one tokenizer.
#[derive(Debug)]
pub(crate) struct WordPiece {
    /// Tokens that begin a piece.
    first: Table,
    /// Tokens that go on, without the prefix, numbered from 0; and their ids.
    next: Table,
    next_ids: Vec<u32>,
    unknown: Option<u32>,
    /// A piece of more characters is unknown.
    longest: usize,
}

/// Tokens by their bytes.
#[derive(Debug)]
struct Table {
    tokens: Vocab,
    lengths: Lengths,
}

impl WordPiece {
    /// Of tokens with the same text, the lowest id counts.
    pub(crate) fn new(parts: &Parts<'_>, vocab: &Vocab) -> Result<WordPiece, Error> {
        let prefix = parts.spelling.continuing_prefix.unwrap_or_default().as_bytes();
        let going_on = vocab.iter().filter_map(|(id, bytes)| Some((id, bytes.strip_prefix(prefix)?)));
        let (next_ids, rests): (Vec<u32>, Vec<&[u8]>) = going_on.unzip();
        Ok(WordPiece {
            first: Table::new(Vocab::new(vocab.iter())?),
            next: Table::new(Vocab::new((0..).zip(rests))?),
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
            match self.first.longest_token(piece, 0) {
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
            let (number, end) = self.next.longest_token(piece, at)?;
            tokens.push((self.next_ids[number as usize], at..end));
            at = end;
        }
        Some(tokens)
    }
}

impl Table {
    fn new(tokens: Vocab) -> Table {
        let lengths = Lengths::of(tokens.iter().map(|(_, bytes)| bytes), tokens.len());
        Table { tokens, lengths }
    }

    /// The longest token that the piece goes on with, and where it ends.
    fn longest_token(&self, piece: &str, start: usize) -> Option<(u32, usize)> {
        let longest = piece.len().min(start.saturating_add(self.tokens.longest()));
        let (lengths, longer) = self.lengths.at(piece.as_bytes(), start);
        let longer = longer.map(|shortest| (start + shortest..=longest).rev());
        longer.into_iter().flatten().chain(lengths.map(|length| start + length)).find_map(|end| {
            let id = piece.is_char_boundary(end).then(|| self.tokens.id_at(piece.as_bytes(), start, end));
            Some((id.flatten()?, end))
        })
    }
}
