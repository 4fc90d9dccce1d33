//! Pieces in tokens: their initial symbols, merged as far as an earlier training had come.
//!
//! Leaves out what the symbols are (`symbols`).

use std::sync::Arc;

use super::{TrainOptions, symbols::text};
use crate::{
    Error,
    alphabet::{Alphabet, Spelling, Unit},
    merge::{Merges, Scratch},
};

/// Where training begins: tokens that are there already.
#[derive(Debug, Default, Clone)]
pub struct Start {
    /// The bytes of each; those that no merge makes are initial symbols.
    pub tokens: Vec<Vec<u8>>,
    /// `(left, right, result)` as places in `tokens`, in the order in which they merge.
    pub merges: Vec<(u32, u32, u32)>,
}

impl Start {
    /// The initial symbols and their ids.
    pub(super) fn symbols(&self) -> Result<Vec<(u32, &[u8])>, Error> {
        let mut made = vec![false; self.tokens.len()];
        for &(left, right, result) in &self.merges {
            for id in [left, right, result] {
                made.get(id as usize).ok_or_else(|| Error::Training(format!("a merge names token {id}")))?;
            }
            made[result as usize] = true;
        }
        let initial = self.tokens.iter().enumerate().filter(|&(id, _)| !made[id]);
        Ok(initial.map(|(id, token)| (id as u32, &**token)).collect())
    }
}

/// Spells pieces.
pub(super) struct Speller {
    alphabet: Alphabet,
    /// Every byte is a symbol, and nothing else.
    bytes: bool,
    merges: Option<Merges>,
    scratch: Scratch,
    ids: Vec<u32>,
}

impl Speller {
    /// `symbols`: the initial ones and their ids.
    pub fn new(
        unit: Unit,
        symbols: &[(u32, Arc<[u8]>)],
        merges: &[(u32, u32, u32)],
        options: &TrainOptions,
    ) -> Result<Speller, Error> {
        let spelling = Spelling {
            end_of_word: options.end_of_word.as_deref(),
            fallback: options.fallback,
            ..Spelling::plain(unit)
        };
        let merges = if merges.is_empty() { None } else { Some(Merges::from_list(merges)?) };
        let alphabet = Alphabet::new(&spelling, symbols.iter().map(|(id, symbol)| (&**symbol, *id)))?;
        let bytes = unit == Unit::Byte && options.end_of_word.is_none();
        Ok(Speller { alphabet, bytes, merges, scratch: Scratch::default(), ids: Vec::new() })
    }

    /// Appends the tokens of a piece.
    pub fn spell(&mut self, piece: &[u8], places: &mut Vec<u32>) -> Result<(), Error> {
        if self.merges.is_none() && self.bytes {
            places.extend(piece.iter().map(|&byte| self.alphabet.bytes[usize::from(byte)]));
            return Ok(());
        }
        if self.merges.is_none() {
            self.alphabet.spell(text(piece), &mut |id, _| places.push(id), &mut |_| ());
            return Ok(());
        }
        self.ids.clear();
        self.alphabet.spell(text(piece), &mut |id, _| self.ids.push(id), &mut |_| ());
        self.merge(places)
    }

    /// The ids of pieces that are symbols themselves.
    pub fn ids_of<'p>(&self, pieces: impl Iterator<Item = &'p [u8]>) -> Result<Vec<u32>, Error> {
        let mut ids = Vec::new();
        for piece in pieces {
            // With fallback a piece is still one symbol: every piece seen is in the alphabet.
            self.alphabet.spell(text(piece), &mut |id, _| ids.push(id), &mut |_| ());
        }
        Ok(ids)
    }

    /// Whether a sequence of symbols stays as it is.
    pub fn is_plain(&self) -> bool {
        self.merges.is_none()
    }

    /// Appends the tokens of a sequence of symbols.
    pub fn join(&mut self, symbols: impl Iterator<Item = u32>, places: &mut Vec<u32>) -> Result<(), Error> {
        if self.merges.is_none() {
            places.extend(symbols);
            return Ok(());
        }
        self.ids.clear();
        self.ids.extend(symbols);
        self.merge(places)
    }

    fn merge(&mut self, places: &mut Vec<u32>) -> Result<(), Error> {
        if let Some(merges) = &self.merges {
            merges.apply(&mut self.ids, None, &mut self.scratch)?;
        }
        places.extend_from_slice(&self.ids);
        Ok(())
    }
}
