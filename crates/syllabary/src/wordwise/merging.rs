//! What makes tokens of the pieces of a word: a model that takes pieces, or merging.
//!
//! Leaves out dropout, scores and places of tokens in their pieces where they are merged: the general way (`run`) has those.

use super::letters::Letters;
use crate::{
    Error,
    asking::Ask,
    dropout::Dropout,
    merge::Scratch,
    models::Found,
    spell::{Edge, Symbols},
    tokenizer::Tokenizer,
};
use crate::{
    charwise::{learn::New, memory::Memory},
    encode::{Listed, Several},
};

/// Buffers to merge in.
#[derive(Debug, Default)]
pub(super) struct Merging {
    ids: Vec<u32>,
    scratch: Scratch,
    new: New,
}

impl Merging {
    /// Remembers what new words become that are merged side by side, if they are pieces and `letters` write them.
    pub(super) fn learn_many(
        &mut self,
        tokenizer: &Tokenizer,
        looked: (&str, &Several, usize),
        (letters, memory): (&mut Letters, &mut Memory),
    ) {
        let Some(pairs) = tokenizer.merges.listed().filter(|_| !tokenizer.whole_pieces) else { return };
        self.new.learn(looked, memory, Listed { pairs, firsts: None }, |word, ids| {
            let mut spelled = Spelled { ids, complete: true };
            let piece = letters.write(word);
            piece.is_some_and(|piece| {
                tokenizer.alphabet.spell_to(piece, &mut spelled);
                spelled.complete
            })
        });
    }

    /// The ids of a word that was missed, if they are known by now.
    #[inline]
    pub(super) fn learned(&self, number: usize) -> Option<(&[u32], usize)> {
        self.new.ids(number)
    }
}

/// Takes symbols as they are spelled.
struct Spelled<'i> {
    ids: &'i mut Vec<u32>,
    complete: bool,
}

impl Symbols for Spelled<'_> {
    fn found(&mut self, id: u32, _span: std::ops::Range<usize>, _edge: Edge) {
        self.ids.push(id);
    }

    fn missing(&mut self, _span: std::ops::Range<usize>) {
        self.complete = false;
    }
}

/// A tokenizer's way from pieces to tokens.
#[derive(Clone, Copy)]
pub(super) struct Maker<'t> {
    pub(super) tokenizer: &'t Tokenizer,
    /// Merging asks whether to go on.
    pub(super) ask: &'t Ask,
}

impl Maker<'_> {
    /// Hands the tokens of a piece to `found`; where it is merged, with the place of all of it.
    #[inline]
    pub(super) fn tokens(
        self,
        piece: &str,
        merging: &mut Merging,
        found: &mut impl Found,
    ) -> Result<(), Error> {
        let Some(model) = &self.tokenizer.model else { return self.merged(piece, merging, found) };
        model.tokens(piece, &mut Dropout::NONE.coins(0), found);
        Ok(())
    }

    fn merged(self, piece: &str, merging: &mut Merging, found: &mut impl Found) -> Result<(), Error> {
        let (tokenizer, whole) = (self.tokenizer, 0..piece.len());
        if tokenizer.whole_pieces
            && let Some(id) = tokenizer.whole_piece(piece)
        {
            found.token(id, whole);
            return Ok(());
        }
        let Merging { ids, scratch, .. } = merging;
        ids.clear();
        let mut spelled = Spelled { ids, complete: true };
        tokenizer.alphabet.spell_to(piece, &mut spelled);
        if !spelled.complete {
            found.missing(whole);
            return Ok(());
        }
        scratch.asking(self.ask, ids.len(), |scratch| tokenizer.merges.apply(ids, None, scratch))?;
        ids.iter().for_each(|&id| found.token(id, whole.clone()));
        Ok(())
    }
}
