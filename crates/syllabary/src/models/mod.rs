//! The models that are not byte-pair encoding: each makes tokens of a piece.
//!
//! Adds: `Kind`, which names them, and `Model`, the one of a tokenizer. Leaves out: how text is cut into pieces and
//! where these stand in it (`run`).

mod apart;
mod lengths;
mod pairs;
pub(crate) mod unigram;
mod wordlevel;
mod wordpiece;

use std::{ops::Range, sync::Arc};

use crate::{
    Error,
    asking::Ask,
    dropout::{Coins, Ways},
    matching::Stage,
    parts::Parts,
    vocab::Vocab,
};
pub(crate) use unigram::Several;
use unigram::Unigram;
use wordlevel::WordLevel;
pub(crate) use wordpiece::LETTERS;
use wordpiece::WordPiece;

/// How a piece becomes tokens (`TokenizerSpec.model`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Merges of symbols, in their order.
    Bpe,
    /// The longest token that the rest begins with.
    WordPiece,
    /// The most probable tokens.
    Unigram,
    /// The piece is a token.
    WordLevel,
}

/// Takes the tokens of a piece: each id, and its bytes of the piece.
pub(crate) trait Found {
    /// A token.
    fn token(&mut self, id: u32, bytes: Range<usize>);
    /// A token of no width, where these bytes begin.
    fn before(&mut self, id: u32, bytes: Range<usize>);
    /// What has no token, and no unknown one.
    fn missing(&mut self, bytes: Range<usize>);
    /// Whether to go on with a long piece; after a `false` what was found is worth nothing.
    fn ask(&self) -> Ask {
        Ask::default()
    }
}

/// A model with its tables.
#[derive(Debug)]
pub(crate) enum Model {
    Unigram(Arc<Unigram>),
    WordLevel(WordLevel),
    WordPiece(Box<WordPiece>),
}

impl Model {
    /// That of these parts; `None` for byte-pair encoding.
    pub(crate) fn new(parts: &Parts<'_>, vocab: &Vocab) -> Result<Option<Model>, Error> {
        if parts.model != Kind::Bpe {
            check(parts)?;
        }
        match parts.model {
            Kind::Bpe => Ok(None),
            Kind::WordLevel => Ok(Some(Model::WordLevel(WordLevel::new(parts, vocab)?))),
            Kind::WordPiece => Ok(Some(Model::WordPiece(WordPiece::new(parts, vocab)?.into()))),
            Kind::Unigram => Ok(Some(Model::Unigram(Arc::new(Unigram::new(parts, vocab)?)))),
        }
    }

    /// The unknown token, where several in a row, of several pieces of a text, are one.
    pub(crate) fn fused(&self) -> Option<u32> {
        match self {
            Model::WordLevel(model) => model.fused(),
            Model::Unigram(_) | Model::WordPiece(_) => None,
        }
    }

    /// Asks for what is needed first of a piece that begins with the bytes from `start` on.
    #[inline]
    pub(crate) fn ask(&self, text: &[u8], start: usize) {
        if let Model::WordPiece(model) = self {
            model.ask(text, start);
        }
    }

    /// Whether it may write ids of pieces that stand in a text.
    #[inline]
    pub(crate) fn writes(&self) -> bool {
        matches!(self, Model::WordPiece(_))
    }

    /// The ids of a piece of letters of three bytes, as `WordPiece::write` writes them; `None` of other models.
    #[inline]
    pub(crate) fn write(
        &self,
        piece: &[u8],
        among: &[u64; 1 << 10],
        room: &mut [u32; LETTERS],
    ) -> Option<usize> {
        if let Model::WordPiece(model) = self { model.write(piece, among, room) } else { None }
    }

    /// The unknown token, where text is spelled by it.
    pub(crate) fn spelled(&self) -> Option<u32> {
        if let Model::Unigram(model) = self { model.spelled() } else { None }
    }

    /// Hands the tokens of a piece to `found`; those of a way drawn, if the coins are for that.
    pub(crate) fn tokens(&self, piece: &str, coins: &mut Coins, found: &mut impl Found) {
        match self {
            Model::Unigram(model) => match coins.ways() {
                Ways::Drawn(alpha) => model.draw(piece, alpha, coins, found),
                Ways::Best | Ways::Several(_) => model.tokens(piece, found),
            },
            Model::WordLevel(model) => model.tokens(piece, found),
            Model::WordPiece(model) => model.tokens(piece, found),
        }
    }
}

/// The added tokens that the normalizer leaves alone.
fn frozen<'a>(parts: &'a Parts<'_>) -> impl Iterator<Item = (&'a str, u32)> {
    let is_frozen = |text: &str| {
        parts.matching.iter().any(|(name, matching)| name == text && matching.stage == Stage::Frozen)
    };
    parts.added.iter().map(|(text, id)| (text.as_str(), *id)).filter(move |(text, _)| is_frozen(text))
}

/// The ids of bytes.
fn byte_table(tokens: &[(u32, u8)]) -> Box<[Option<u32>; 256]> {
    let mut ids = Box::new([None; 256]);
    tokens.iter().for_each(|&(id, byte)| ids[usize::from(byte)] = Some(id));
    ids
}

/// Nothing is given that belongs to byte-pair encoding alone.
fn check(parts: &Parts<'_>) -> Result<(), Error> {
    let spelling = &parts.spelling;
    let alone = parts.alphabet.is_empty()
        && parts.merges.is_none()
        && spelling.end_of_word.is_none()
        && !parts.whole_pieces
        && spelling.unit == crate::alphabet::Unit::Char
        && (parts.scores.is_some() == (parts.model == Kind::Unigram));
    if alone {
        return Ok(());
    }
    Err(Error::Vocabulary(
        "a model that is not byte-pair encoding has no alphabet, merges, marks or whole pieces, and scores \
         as unigram only"
            .to_owned(),
    ))
}
