//! The longest token first, from the left (`reference/wordpiece.py`).
//!
//! ```text
//! playing -> play ##ing
//! ```
//!
//! The tokens stand in two tables, those that begin a piece and those that go on, these without their prefix: so no
//! text is put together to be looked up; and only as long a token is looked up as there are with the same first bytes
//! (`lengths`). Leaves out the memory of pieces (`run`, `wordwise`).

use super::{Found, lengths::Lengths};
use crate::{Error, parts::Parts, vocab::Vocab};

/// A piece of at most so many bytes is put where so many zeros are behind it: then what keys are made of is read at once.
const WORD: usize = 64;
const BEHIND: usize = 16;
/// Tokens of a piece that need no vector.
const FEW: usize = 8;

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
        let mut room = [0; WORD + BEHIND];
        let piece = match room.get_mut(..piece.len()).filter(|_| piece.len() <= WORD) {
            Some(bytes) => {
                bytes.copy_from_slice(piece.as_bytes());
                Piece { bytes: &room, length: piece.len() }
            }
            None => Piece { bytes: piece.as_bytes(), length: piece.len() },
        };
        if !too_long && let Some(tokens) = self.cut(piece) {
            let mut start = 0;
            for (id, end) in tokens.all() {
                found.token(id, start..end);
                start = end;
            }
            return;
        }
        match self.unknown {
            Some(id) => found.token(id, 0..piece.length),
            None => found.missing(0..piece.length),
        }
    }

    /// All tokens; `None` where none goes on.
    fn cut(&self, piece: Piece<'_>) -> Option<Tokens> {
        let (first, mut at) = self.first.longest_token(piece, 0)?;
        let mut tokens = Tokens::default();
        tokens.push(first, at);
        while at < piece.length {
            let (number, end) = self.next.longest_token(piece, at)?;
            tokens.push(self.next_ids[number as usize], end);
            at = end;
        }
        Some(tokens)
    }

    /// Asks for what is needed first of a piece that begins with these bytes.
    #[inline]
    pub(crate) fn ask(&self, text: &[u8], start: usize) {
        self.first.lengths.ask(text, start);
    }
}

/// A piece of so many of these bytes; there may be more behind it, of a short one there are zeros.
#[derive(Clone, Copy)]
struct Piece<'a> {
    bytes: &'a [u8],
    length: usize,
}

impl Piece<'_> {
    /// Whether a character ends before byte `at`.
    #[inline]
    fn is_boundary(self, at: usize) -> bool {
        self.bytes.get(at).is_none_or(|&byte| byte & 0xC0 != 0x80)
    }
}

/// Tokens of a piece and where they end; few are put nowhere else.
#[derive(Default)]
struct Tokens {
    few: [(u32, usize); FEW],
    count: usize,
    more: Vec<(u32, usize)>,
}

impl Tokens {
    #[inline]
    fn push(&mut self, id: u32, end: usize) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = (id, end),
            None => self.more.push((id, end)),
        }
        self.count += 1;
    }

    fn all(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        self.few[..self.count.min(FEW)].iter().chain(&self.more).copied()
    }
}

impl Table {
    fn new(tokens: Vocab) -> Table {
        let lengths = Lengths::of(tokens.iter().map(|(_, bytes)| bytes), tokens.len());
        Table { tokens, lengths }
    }

    /// The longest token that the piece goes on with, and where it ends.
    #[inline]
    fn longest_token(&self, piece: Piece<'_>, start: usize) -> Option<(u32, usize)> {
        let longest = piece.length.min(start.saturating_add(self.tokens.longest()));
        let (lengths, longer) = self.lengths.at(piece.bytes, (start, piece.length));
        let longer = longer.map(|shortest| (start + shortest..=longest).rev());
        longer.into_iter().flatten().chain(lengths.map(|length| start + length)).find_map(|end| {
            let id = piece.is_boundary(end).then(|| self.tokens.id_at(piece.bytes, start, end));
            Some((id.flatten()?, end))
        })
    }
}
