//! A piece is a token, its bytes, or unknown (`reference/wordlevel.py`).
//!
//! Leaves out the pieces of a text that are taken together (`run`, `gathered`).

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Found, byte_table, frozen};
use crate::{Error, parts::Parts, vocab::Vocab};

/// The tokens by their text.
#[derive(Debug)]
pub(crate) struct WordLevel {
    ids: FxHashMap<Box<str>, u32>,
    unknown: Option<u32>,
    /// Several unknown pieces in a row are one token.
    fuses: bool,
    /// An unknown piece is spelled with bytes, if all of them have tokens; and the last has its place.
    bytes: Option<Box<[Option<u32>; 256]>>,
    surface: bool,
}

impl WordLevel {
    /// Of tokens with the same text, the lowest id counts; but one that the normalizer leaves alone comes first.
    pub(crate) fn new(parts: &Parts<'_>, vocab: &Vocab) -> Result<WordLevel, Error> {
        let spelling = &parts.spelling;
        let of_bytes: FxHashSet<u32> = spelling.byte_tokens.iter().map(|&(id, _)| id).collect();
        let mut ids = FxHashMap::default();
        for (id, bytes) in vocab.iter().filter(|(id, _)| !of_bytes.contains(id)) {
            let text = std::str::from_utf8(bytes)
                .map_err(|_| Error::Vocabulary(format!("token {id} is no UTF-8 text")))?;
            let lowest = ids.entry(Box::from(text)).or_insert(id);
            *lowest = id.min(*lowest);
        }
        ids.extend(frozen(parts).map(|(text, id)| (text.into(), id)));
        Ok(WordLevel {
            ids,
            unknown: spelling.unknown,
            fuses: spelling.fuse_unknown,
            bytes: spelling.fallback.then(|| byte_table(spelling.byte_tokens)),
            surface: spelling.surface_offsets,
        })
    }

    /// The unknown token, if several in a row are one.
    pub(crate) fn fused(&self) -> Option<u32> {
        self.unknown.filter(|_| self.fuses)
    }

    /// Whether unknown pieces are one token, or bytes.
    pub(crate) fn is_plain(&self) -> bool {
        !self.fuses && self.bytes.is_none()
    }

    /// The token of the piece.
    pub(crate) fn tokens(&self, piece: &str, found: &mut impl Found) {
        let whole = 0..piece.len();
        if let Some(&id) = self.ids.get(piece) {
            return found.token(id, whole);
        }
        let ids =
            self.bytes.as_ref().and_then(|ids| piece.bytes().map(|byte| ids[usize::from(byte)]).collect());
        let ids: Vec<u32> = ids.unwrap_or_default();
        match (ids.split_last(), self.unknown) {
            (Some((last, before)), _) => {
                let is_before = self.surface;
                before.iter().for_each(|&id| match is_before {
                    true => found.before(id, whole.clone()),
                    false => found.token(id, whole.clone()),
                });
                found.token(*last, whole);
            }
            (None, Some(id)) => found.token(id, whole),
            (None, None) => found.missing(whole),
        }
    }
}
