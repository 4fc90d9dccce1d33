//! The alphabet: how a piece is spelled in initial symbols, before any merge.
//!
//! A symbol is a byte, a character or a whole piece, as the tokenizer's unit says. With `fallback`, a symbol
//! that the alphabet lacks is spelled with smaller ones: a piece by characters, a character by bytes.
//! Leaves out which symbols then merge (`merge`).

use std::{fmt, ops::Range};

use rustc_hash::FxHashMap;

use crate::Error;

/// No id.
const NONE: u32 = u32::MAX;

/// What one initial symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A byte of the UTF-8 text.
    Byte,
    /// A character.
    Char,
    /// A whole piece; merges then join neighbouring pieces.
    Word,
}

/// Initial symbols and their ids.
pub struct Alphabet {
    unit: Unit,
    fallback: bool,
    /// Whether the last character of a piece is a symbol of its own kind.
    marks_end: bool,
    bytes: [u32; 256],
    chars: FxHashMap<char, u32>,
    final_chars: FxHashMap<char, u32>,
    end_mark: u32,
    pieces: FxHashMap<Box<[u8]>, u32>,
}

impl fmt::Debug for Alphabet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alphabet").field("unit", &self.unit).finish_non_exhaustive()
    }
}

fn only_char(bytes: &[u8]) -> Option<char> {
    let mut chars = std::str::from_utf8(bytes).ok()?.chars();
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

impl Alphabet {
    /// From `symbol -> id`; a symbol is written as in `TokenizerSpec.alphabet`.
    pub fn new<'a>(
        unit: Unit,
        symbols: impl IntoIterator<Item = (&'a [u8], u32)>,
        end_of_word: Option<&str>,
        fallback: bool,
    ) -> Result<Alphabet, Error> {
        let mut alphabet = Alphabet {
            unit,
            fallback,
            marks_end: end_of_word.is_some(),
            bytes: [NONE; 256],
            chars: FxHashMap::default(),
            final_chars: FxHashMap::default(),
            end_mark: NONE,
            pieces: FxHashMap::default(),
        };
        let mark = end_of_word.unwrap_or_default().as_bytes();
        for (symbol, id) in symbols {
            alphabet.insert(symbol, id, mark).ok_or_else(|| {
                Error::Vocabulary(format!("`{}` is no symbol of this unit", symbol.escape_ascii()))
            })?;
        }
        Ok(alphabet)
    }

    fn insert(&mut self, symbol: &[u8], id: u32, mark: &[u8]) -> Option<()> {
        if let &[byte] = symbol {
            self.bytes[byte as usize] = id;
        }
        match self.unit {
            Unit::Byte => (symbol.len() == 1).then_some(()),
            Unit::Char => self.insert_char(symbol, id, mark),
            Unit::Word => {
                if let Some(char) = only_char(symbol) {
                    self.chars.insert(char, id);
                }
                self.pieces.insert(symbol.into(), id);
                Some(())
            }
        }
    }

    fn insert_char(&mut self, symbol: &[u8], id: u32, mark: &[u8]) -> Option<()> {
        let is_mark = self.marks_end && symbol == mark;
        if is_mark {
            self.end_mark = id;
        }
        // A mark of one character is a symbol of the text as well.
        if let Some(char) = only_char(symbol) {
            self.chars.insert(char, id);
            return Some(());
        }
        let stem = symbol.strip_suffix(mark).filter(|_| self.marks_end);
        if let Some(char) = stem.and_then(only_char) {
            self.final_chars.insert(char, id);
            return Some(());
        }
        (is_mark || symbol.len() == 1).then_some(())
    }

    /// Spells `piece`: `found(id, span)` for each symbol, `missing(span)` for each that has no id.
    ///
    /// Spans are bytes of `piece`; the bare end-of-word mark has an empty one.
    #[inline]
    pub fn spell(
        &self,
        piece: &str,
        found: &mut impl FnMut(u32, Range<usize>),
        missing: &mut impl FnMut(Range<usize>),
    ) {
        match self.unit {
            Unit::Byte => self.spell_bytes(piece, 0..piece.len(), found, missing),
            Unit::Char => self.spell_chars(piece, found, missing),
            Unit::Word => match self.pieces.get(piece.as_bytes()) {
                Some(&id) => found(id, 0..piece.len()),
                None if self.fallback => self.spell_chars(piece, found, missing),
                None => missing(0..piece.len()),
            },
        }
    }

    fn spell_chars(
        &self,
        piece: &str,
        found: &mut impl FnMut(u32, Range<usize>),
        missing: &mut impl FnMut(Range<usize>),
    ) {
        for (start, char) in piece.char_indices() {
            let span = start..start + char.len_utf8();
            let ends = self.marks_end && self.unit == Unit::Char && span.end == piece.len();
            let table = if ends { &self.final_chars } else { &self.chars };
            if let Some(&id) = table.get(&char) {
                found(id, span);
            } else if self.fallback && !(ends && self.end_mark == NONE) {
                let end = span.end;
                self.spell_bytes(piece, span, found, missing);
                if ends {
                    found(self.end_mark, end..end);
                }
            } else {
                missing(span);
            }
        }
    }

    fn spell_bytes(
        &self,
        piece: &str,
        span: Range<usize>,
        found: &mut impl FnMut(u32, Range<usize>),
        missing: &mut impl FnMut(Range<usize>),
    ) {
        for at in span {
            match self.bytes[piece.as_bytes()[at] as usize] {
                NONE => missing(at..at + 1),
                id => found(id, at..at + 1),
            }
        }
    }
}
