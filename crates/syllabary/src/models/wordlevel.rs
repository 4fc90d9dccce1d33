//! A piece is a token, or unknown (`reference/wordlevel.py`).

use rustc_hash::FxHashMap;

use super::Found;
use crate::{Error, parts::Parts, vocab::Vocab};

/// The tokens by their text.
#[derive(Debug)]
pub(crate) struct WordLevel {
    ids: FxHashMap<Box<str>, u32>,
    unknown: Option<u32>,
}

impl WordLevel {
    /// Of tokens with the same text, the lowest id counts.
    pub(crate) fn new(parts: &Parts<'_>, vocab: &Vocab) -> Result<WordLevel, Error> {
        let mut ids = FxHashMap::default();
        for &(id, _) in &parts.tokens {
            let bytes = vocab.bytes(id).unwrap_or_default();
            let text = std::str::from_utf8(bytes)
                .map_err(|_| Error::Vocabulary(format!("token {id} is no UTF-8 text")))?;
            let lowest = ids.entry(Box::from(text)).or_insert(id);
            *lowest = id.min(*lowest);
        }
        Ok(WordLevel { ids, unknown: parts.spelling.unknown })
    }

    /// The token of the piece.
    pub(crate) fn tokens(&self, piece: &str, found: &mut impl Found) {
        match self.ids.get(piece).copied().or(self.unknown) {
            Some(id) => found.token(id, 0..piece.len()),
            None => found.missing(0..piece.len()),
        }
    }
}
