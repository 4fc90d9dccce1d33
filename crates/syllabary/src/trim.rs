//! Offsets without the whitespace at the ends of tokens.
//!
//! Adds: `Trim`. Whitespace is what begins or ends a token's spelling, in which a space of the byte alphabet is
//! `Ġ`; each symbol of the token that spells it takes its span off. Leaves out spans themselves (`offsets`).
//! (Source: tokenizers, `pre_tokenizers/byte_level.rs`, `process_offsets`.)

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::{
    alphabet::{Spelling, Unit},
    step::Step,
    vocab::Vocab,
};

/// How GPT-2 spells a space.
const SPACE: char = 'Ġ';

/// What is needed to shorten spans.
pub(crate) struct Trim {
    unit: Unit,
    /// Tokens that stand for other text than their spelling.
    untouched: FxHashSet<u32>,
    /// No other white space than spaces is spelled as such.
    only_spaces: bool,
}

/// How many characters of whitespace a text begins and ends with.
fn ends(text: &str) -> (usize, usize) {
    let space = |char: &char| *char == SPACE || char.is_whitespace();
    (text.chars().take_while(space).count(), text.chars().rev().take_while(space).count())
}

impl Trim {
    pub(crate) fn new(spelling: &Spelling<'_>, normalizer: &[Step], pretokenizer: &[Step]) -> Trim {
        let byte_level =
            spelling.unit == Unit::Byte || pretokenizer.iter().any(|step| step.kind == "ByteLevel");
        Trim {
            unit: spelling.unit,
            untouched: spelling.byte_tokens.iter().map(|&(id, _)| id).chain(spelling.unknown).collect(),
            only_spaces: byte_level && normalizer.is_empty(),
        }
    }

    fn ends(&self, vocab: &Vocab, id: u32) -> (usize, usize) {
        let bytes = vocab.bytes(id).unwrap_or_default();
        if self.untouched.contains(&id) {
            (0, 0)
        } else if self.unit == Unit::Byte {
            let space = |byte: &&u8| **byte == b' ';
            (bytes.iter().take_while(space).count(), bytes.iter().rev().take_while(space).count())
        } else {
            ends(&String::from_utf8_lossy(bytes))
        }
    }

    /// What is left of the span of a token with these symbols, which are some.
    pub(crate) fn token(&self, vocab: &Vocab, id: u32, text: &str, symbols: &[Range<usize>]) -> Range<usize> {
        self.shortened(self.ends(vocab, id), text, symbols, false)
    }

    /// The same of a special or added token that was found as `taken`, with the whitespace around it.
    pub(crate) fn named(&self, taken: &str, text: &str, symbols: &[Range<usize>]) -> Range<usize> {
        self.shortened(ends(taken), text, symbols, true)
    }

    fn shortened(
        &self,
        (before, after): (usize, usize),
        text: &str,
        symbols: &[Range<usize>],
        found: bool,
    ) -> Range<usize> {
        let last = symbols.len() - 1;
        if before > last {
            // Nothing but whitespace: its end, or its beginning if it is not in the text, where it was not found.
            let Range { start, end } = symbols[last].clone();
            let there = found || self.is_there(text.get(start..end).unwrap_or_default());
            let at = if there { end } else { start };
            return at..at;
        }
        // A prefix (`##`) is no symbol: then there may be no more symbols than white space after it.
        let start = symbols[before].start;
        start..last.checked_sub(after).map_or(start, |kept| symbols[kept].end)
    }

    /// Whether whitespace that a token ends with comes from this, or was put in front of it.
    fn is_there(&self, original: &str) -> bool {
        if self.only_spaces { original == " " } else { original.chars().all(char::is_whitespace) }
    }
}
