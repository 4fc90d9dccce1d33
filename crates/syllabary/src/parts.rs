//! What a tokenizer is made of, and whether it fits together.
//!
//! Adds: `Parts`, the fields of `syllabary.spec.TokenizerSpec` that decide ids, offsets and text, and the checks
//! on them. Leaves out what they do.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{
    Error,
    alphabet::{Spelling, Unit},
    matching::Matching,
    models::Kind,
    pretokenize::Pretokenizer,
    split::Split,
    step::Step,
    vocab::Vocab,
};

/// Steps of cutting, and splits, that only look at which kind a character is of.
const BY_KIND: [&str; 5] = ["BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Punctuation", "Digits"];
const SPLITS_BY_KIND: [&str; 3] = ["none", "whitespace", "whitespace-split"];

/// What a tokenizer is made of; the fields are those of `syllabary.spec.TokenizerSpec`.
pub struct Parts<'a> {
    /// How text is cut into pieces.
    pub split: Split,
    /// How a piece is spelled in symbols.
    pub spelling: Spelling<'a>,
    /// `(id, bytes)` of every token that is not special.
    pub tokens: Vec<(u32, &'a [u8])>,
    /// Instead of `tokens`, where they are a vocabulary already, in which byte tokens are not found by their bytes.
    pub vocab: Option<Arc<Vocab>>,
    /// `(symbol, id)`.
    pub alphabet: Vec<(&'a [u8], u32)>,
    /// `(left, right, result)` in rank order, or rank order by id or score.
    pub merges: Option<Vec<(u32, u32, u32)>>,
    /// `(id, score)`: merging by scores.
    pub scores: Option<Vec<(u32, f64)>>,
    /// Ids that are cut again after merging.
    pub unused: Vec<u32>,
    /// `(text, id)`, matched as the caller's policy says.
    pub special: Vec<(String, u32)>,
    /// `(text, id)`, always matched.
    pub added: Vec<(String, u32)>,
    /// `(text, how it is found)` of special and added tokens.
    pub matching: Vec<(String, Matching)>,
    /// Whether a piece that is a token becomes it at once.
    pub whole_pieces: bool,
    /// Rewrites text.
    pub normalizer: Vec<Step>,
    /// Cuts normalized text.
    pub pretokenizer: Vec<Step>,
    /// Makes text of tokens; `None`: their bytes joined.
    pub decoder: Option<Vec<Step>>,
    /// Offsets leave out whitespace at the ends of a token.
    pub trim_offsets: bool,
    /// How a piece becomes tokens.
    pub model: Kind,
    /// A piece of more characters is unknown (`Kind::WordPiece`).
    pub longest_piece: Option<usize>,
    /// Scores are added in 32 bits (`Kind::Unigram`).
    pub single_precision: bool,
}

impl<'a> Parts<'a> {
    /// No tokens, and nothing around them.
    pub fn plain(unit: Unit, split: Split) -> Parts<'a> {
        Parts {
            split,
            spelling: Spelling::plain(unit),
            tokens: Vec::new(),
            vocab: None,
            alphabet: Vec::new(),
            merges: None,
            scores: None,
            unused: Vec::new(),
            special: Vec::new(),
            added: Vec::new(),
            matching: Vec::new(),
            whole_pieces: false,
            normalizer: Vec::new(),
            pretokenizer: Vec::new(),
            decoder: None,
            trim_offsets: false,
            model: Kind::Bpe,
            longest_piece: None,
            single_precision: false,
        }
    }

    /// The vocabulary, in which byte tokens are not found by their bytes.
    pub(crate) fn vocab(&self) -> Result<Arc<Vocab>, Error> {
        if let Some(vocab) = &self.vocab {
            return Ok(vocab.clone());
        }
        let hidden: FxHashSet<u32> = self.spelling.byte_tokens.iter().map(|&(id, _)| id).collect();
        Vocab::with_hidden(self.tokens.iter().copied(), &hidden).map(Arc::new)
    }

    /// The same without steps that cut at spaces where the normalizer leaves none, as those of Gemma.
    pub(crate) fn without_idle_steps(mut self) -> Parts<'a> {
        if self.normalizer.last().is_some_and(replaces_spaces) {
            let idle = self.pretokenizer.iter().take_while(|step| is_cut_at_spaces(step)).count();
            self.pretokenizer.drain(..idle);
        }
        self
    }

    /// Whether steps of cutting, and the split, only look at which kind a character is of.
    pub(crate) fn cuts_by_kind(&self) -> bool {
        self.pretokenizer.iter().all(|step| BY_KIND.contains(&step.kind.as_str()))
            && SPLITS_BY_KIND.contains(&self.split.kind())
    }

    /// What steps of cutting do with what they find, of those that have the choice.
    pub(crate) fn behaviors(&self) -> impl Iterator<Item = &str> {
        self.pretokenizer.iter().filter_map(|step| step.text("behavior").ok())
    }

    /// Every symbol is a token, every merge joins two tokens to a third, every id named is one.
    pub(crate) fn check(&self, vocab: &Vocab) -> Result<(), Error> {
        for &(symbol, id) in &self.alphabet {
            if vocab.bytes(id) != Some(symbol) {
                let symbol = symbol.escape_ascii();
                return Err(Error::Vocabulary(format!(
                    "symbol `{symbol}` has id {id}, which is another token"
                )));
            }
        }
        self.check_merges(vocab)?;
        for &(id, byte) in self.spelling.byte_tokens {
            if vocab.bytes(id) != Some(&[byte]) {
                return Err(Error::Vocabulary(format!(
                    "byte_tokens: id {id} is not the token of byte 0x{byte:02X}"
                )));
            }
        }
        let named = |id: u32| self.special.iter().chain(&self.added).any(|&(_, other)| other == id);
        if let Some(id) = self.spelling.unknown
            && vocab.bytes(id).is_none()
            && !named(id)
        {
            return Err(Error::Vocabulary(format!("unknown: no token has the id {id}")));
        }
        self.check_scores(vocab)
    }

    fn check_merges(&self, vocab: &Vocab) -> Result<(), Error> {
        let prefix = self.spelling.continuing_prefix.unwrap_or_default().as_bytes();
        for (rank, &(left, right, id)) in self.merges.iter().flatten().enumerate() {
            let (Some(a), Some(b), Some(joined)) = (vocab.bytes(left), vocab.bytes(right), vocab.bytes(id))
            else {
                return Err(Error::Vocabulary(format!(
                    "merge {rank} ({left}, {right} -> {id}) names an id that no token has"
                )));
            };
            if a.is_empty() || b.is_empty() {
                return Err(Error::Vocabulary(format!(
                    "merge {rank} ({left}, {right} -> {id}) joins an empty token"
                )));
            }
            let b = b.strip_prefix(prefix).unwrap_or(b);
            if joined.strip_prefix(a) != Some(b) || b.is_empty() {
                return Err(Error::Vocabulary(format!(
                    "merge {rank} ({left}, {right} -> {id}) does not give the bytes of token {id}"
                )));
            }
        }
        Ok(())
    }

    fn check_scores(&self, vocab: &Vocab) -> Result<(), Error> {
        let refuse = |reason: &str| Err(Error::Vocabulary(reason.to_owned()));
        if self.scores.is_none() {
            if !self.unused.is_empty() {
                return refuse("unused: only a tokenizer with scores cuts tokens again");
            }
            return Ok(());
        }
        let spelling = &self.spelling;
        if self.model == Kind::Unigram {
            return Ok(());
        }
        if self.merges.is_some() {
            return refuse("scores: a tokenizer merges by scores or by a list, not by both");
        }
        if spelling.unit != Unit::Char
            || spelling.end_of_word.is_some()
            || spelling.continuing_prefix.is_some()
        {
            return refuse("scores: symbols must be plain characters");
        }
        let bytes: FxHashSet<u32> = spelling.byte_tokens.iter().map(|&(id, _)| id).collect();
        let scored: FxHashSet<u32> = self.scores.iter().flatten().map(|&(id, _)| id).collect();
        if let Some(id) = scored.iter().find(|id| vocab.bytes(**id).is_none_or(<[u8]>::is_empty)) {
            return Err(Error::Vocabulary(format!("scores: id {id} is no token, or an empty one")));
        }
        if let Some(id) = bytes.intersection(&scored).next() {
            return Err(Error::Vocabulary(format!(
                "scores: id {id} is a byte token, which merging never makes"
            )));
        }
        match self.unused.iter().find(|id| !scored.contains(*id)) {
            Some(id) => Err(Error::Vocabulary(format!("unused: id {id} has no score"))),
            None => Ok(()),
        }
    }
}

fn replaces_spaces(step: &Step) -> bool {
    let is_plain = step.kind == "Replace" && step.flag("regex") == Ok(false);
    is_plain && step.text("pattern") == Ok(" ") && step.text("content").is_ok_and(|made| !made.contains(' '))
}

fn is_cut_at_spaces(step: &Step) -> bool {
    let flag = |name| step.flag(name) == Ok(false);
    let is_cut = step.kind == "Split" && step.text("pattern") == Ok(" ") && flag("regex") && flag("invert");
    // What cannot be is for the pretokenizer to refuse.
    is_cut && Pretokenizer::new(std::slice::from_ref(step)).is_ok()
}
