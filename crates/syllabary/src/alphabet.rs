//! The alphabet: how a piece is spelled in initial symbols, before any merge.
//!
//! A symbol is a byte, a character or a whole piece, as the tokenizer's unit says; the first and the last of a
//! piece may be symbols of their own kind (`continuing_prefix`, `end_of_word`). With `fallback`, a symbol that
//! the alphabet lacks is spelled with smaller ones: a piece by characters, a character by bytes; what cannot be
//! spelled becomes `unknown`. Leaves out which symbols then merge (`merge`), and what becomes of characters
//! that are no token where merging goes by scores (`scores`): they are spelled with ids of their own. Spelling
//! itself is in `spell`.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::Error;

/// No id.
pub(crate) const NONE: u32 = u32::MAX;

/// Ids from here on stand for characters that are no token: this and the code point.
pub(crate) const VIRTUAL: u32 = 0xFF00_0000;

/// The character that a virtual id stands for.
pub(crate) fn virtual_char(id: u32) -> Option<char> {
    id.checked_sub(VIRTUAL).and_then(char::from_u32)
}

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

/// How pieces are spelled; the fields are those of `syllabary.spec.TokenizerSpec`.
#[derive(Clone, Copy, Debug)]
pub struct Spelling<'a> {
    /// What a symbol is.
    pub unit: Unit,
    /// The mark of the end of a piece.
    pub end_of_word: Option<&'a str>,
    /// The mark is a symbol of its own.
    pub mark_apart: bool,
    /// The mark of every symbol of a piece but the first.
    pub continuing_prefix: Option<&'a str>,
    /// Symbols outside the alphabet are spelled with smaller ones.
    pub fallback: bool,
    /// `(id, byte)` of the tokens that fallback spells with, where they are not plain symbols.
    pub byte_tokens: &'a [(u32, u8)],
    /// The id of a symbol that cannot be spelled.
    pub unknown: Option<u32>,
    /// Unknown symbols in a row are one.
    pub fuse_unknown: bool,
    /// Of a character spelled with bytes, the last one has the whole span.
    pub surface_offsets: bool,
}

impl<'a> Spelling<'a> {
    /// Plain symbols of this unit and nothing else.
    pub fn plain(unit: Unit) -> Spelling<'a> {
        Spelling {
            unit,
            end_of_word: None,
            mark_apart: false,
            continuing_prefix: None,
            fallback: false,
            byte_tokens: &[],
            unknown: None,
            fuse_unknown: false,
            surface_offsets: false,
        }
    }
}

/// Initial symbols and their ids.
pub struct Alphabet {
    pub(crate) unit: Unit,
    pub(crate) fallback: bool,
    /// The first of a piece is spelled without the prefix, the others with it.
    pub(crate) has_prefix: bool,
    /// The mark is a part of the last symbol.
    pub(crate) marks_end: bool,
    pub(crate) mark_apart: bool,
    pub(crate) unknown: u32,
    pub(crate) fuse_unknown: bool,
    pub(crate) surface_offsets: bool,
    /// Characters are those with a score, all others have virtual ids: nothing is then missing.
    pub(crate) virtual_chars: bool,
    /// Bytes are spelled `<0x0A>`, and marks with them.
    pub(crate) spells_marks: bool,
    pub(crate) prefix: Box<[u8]>,
    pub(crate) mark: Box<[u8]>,
    /// Bytes of a piece, and those at its end.
    pub(crate) bytes: [u32; 256],
    pub(crate) final_bytes: [u32; 256],
    /// The bytes that fallback spells with.
    pub(crate) fallback_bytes: [u32; 256],
    /// Characters, by `Kind`.
    pub(crate) chars: [FxHashMap<char, u32>; 4],
    pub(crate) end_mark: u32,
    pub(crate) pieces: FxHashMap<Box<[u8]>, u32>,
}

/// Which table of characters: not the first of a piece (where there is a prefix), and the last (with a mark).
pub(crate) const CONTINUES: usize = 1;
pub(crate) const ENDS: usize = 2;

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
        spelling: &Spelling<'_>,
        symbols: impl IntoIterator<Item = (&'a [u8], u32)>,
    ) -> Result<Alphabet, Error> {
        let attached = spelling.end_of_word.is_some() && !spelling.mark_apart;
        let mut alphabet = Alphabet {
            unit: spelling.unit,
            fallback: spelling.fallback,
            has_prefix: spelling.continuing_prefix.is_some_and(|prefix| !prefix.is_empty()),
            marks_end: attached && spelling.unit != Unit::Word,
            mark_apart: spelling.end_of_word.is_some() && spelling.mark_apart,
            unknown: spelling.unknown.unwrap_or(NONE),
            fuse_unknown: spelling.fuse_unknown,
            surface_offsets: spelling.surface_offsets,
            virtual_chars: false,
            spells_marks: !spelling.byte_tokens.is_empty(),
            prefix: spelling.continuing_prefix.unwrap_or_default().as_bytes().into(),
            mark: spelling.end_of_word.unwrap_or_default().as_bytes().into(),
            bytes: [NONE; 256],
            final_bytes: [NONE; 256],
            fallback_bytes: [NONE; 256],
            chars: Default::default(),
            end_mark: NONE,
            pieces: FxHashMap::default(),
        };
        for (symbol, id) in symbols {
            alphabet.insert(symbol, id).ok_or_else(|| {
                Error::Vocabulary(format!("`{}` is no symbol of this unit", symbol.escape_ascii()))
            })?;
        }
        alphabet.fallback_bytes = alphabet.bytes;
        for &(id, byte) in spelling.byte_tokens {
            alphabet.fallback_bytes[usize::from(byte)] = id;
        }
        Ok(alphabet)
    }

    /// The same, for merging by scores: the characters are these, and all others have virtual ids.
    pub(crate) fn with_virtual(mut self, chars: FxHashMap<char, u32>) -> Alphabet {
        self.chars[0] = chars;
        self.virtual_chars = true;
        self
    }

    fn insert(&mut self, symbol: &[u8], id: u32) -> Option<()> {
        let is_mark = !self.mark.is_empty() && symbol == &*self.mark;
        if is_mark {
            self.end_mark = id;
        }
        if let &[byte] = symbol {
            self.bytes[byte as usize] = id;
        }
        match self.unit {
            Unit::Byte => {
                let stem = symbol.strip_suffix(&*self.mark).filter(|_| self.marks_end);
                if let Some(&[byte]) = stem {
                    self.final_bytes[byte as usize] = id;
                    return Some(());
                }
                (is_mark || symbol.len() == 1).then_some(())
            }
            Unit::Char => {
                let known = self.insert_char(symbol, id);
                (known || is_mark || symbol.len() == 1).then_some(())
            }
            Unit::Word => {
                if let Some(char) = only_char(symbol) {
                    self.chars[0].insert(char, id);
                }
                self.pieces.insert(symbol.into(), id);
                Some(())
            }
        }
    }

    /// Under every reading of it: a character that is also a mark may be both.
    fn insert_char(&mut self, symbol: &[u8], id: u32) -> bool {
        let bare = symbol.strip_prefix(&*self.prefix).filter(|_| self.has_prefix);
        let stem =
            |symbol: &[u8]| symbol.strip_suffix(&*self.mark).map(<[u8]>::len).filter(|_| self.marks_end);
        let readings = [
            (0, Some(symbol)),
            (CONTINUES, bare),
            (ENDS, stem(symbol).map(|length| &symbol[..length])),
            (CONTINUES | ENDS, bare.and_then(|bare| stem(bare).map(|length| &bare[..length]))),
        ];
        let mut known = false;
        for (kind, reading) in readings {
            if let Some(char) = reading.and_then(only_char) {
                self.chars[kind].insert(char, id);
                known = true;
            }
        }
        known
    }

    /// Whether this character, wherever it stands, is a symbol, and pieces bear no mark.
    pub(crate) fn knows(&self, char: char) -> bool {
        self.chars[0].contains_key(&char) && !self.has_prefix && !self.marks_end && !self.mark_apart
    }

    /// Whether fallback can spell all of these bytes.
    pub(crate) fn spells(&self, bytes: &[u8]) -> bool {
        self.fallback && bytes.iter().all(|&byte| self.fallback_bytes[usize::from(byte)] != NONE)
    }
}
