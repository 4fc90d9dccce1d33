//! Spelling a piece in initial symbols.
//!
//! Leaves out the tables that say which symbols there are (`alphabet`).

use std::ops::Range;

use crate::alphabet::{Alphabet, CONTINUES, ENDS, NONE, Unit, VIRTUAL};

/// Which part of its span a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// All of it.
    Whole,
    /// Nothing, at its beginning.
    Start,
    /// Nothing, at its end.
    End,
}

/// Symbols as they are found: id, bytes of the piece, which part of them.
pub(crate) trait Symbols {
    fn found(&mut self, id: u32, span: Range<usize>, edge: Edge);
    /// A symbol that nothing stands for.
    fn missing(&mut self, span: Range<usize>);
}

impl Alphabet {
    /// Spells `piece`: `found(id, span)` for each symbol, `missing(span)` for each that has no id.
    ///
    /// Spans are bytes of `piece`; the bare end-of-word mark has an empty one.
    pub fn spell(
        &self,
        piece: &str,
        found: &mut impl FnMut(u32, Range<usize>),
        missing: &mut impl FnMut(Range<usize>),
    ) {
        struct Both<'f, F, M>(&'f mut F, &'f mut M);
        impl<F: FnMut(u32, Range<usize>), M: FnMut(Range<usize>)> Symbols for Both<'_, F, M> {
            fn found(&mut self, id: u32, span: Range<usize>, edge: Edge) {
                let (start, end) = (span.start, span.end);
                self.0(
                    id,
                    match edge {
                        Edge::Whole => span,
                        Edge::Start => start..start,
                        Edge::End => end..end,
                    },
                );
            }
            fn missing(&mut self, span: Range<usize>) {
                self.1(span);
            }
        }
        self.spell_to(piece, &mut Both(found, missing));
    }

    /// The same.
    #[inline]
    pub(crate) fn spell_to(&self, piece: &str, symbols: &mut impl Symbols) {
        match self.unit {
            Unit::Byte if self.marks_end || self.mark_apart || self.unknown != NONE => {
                self.spell_marked_bytes(piece, symbols);
            }
            Unit::Byte => {
                for (at, &byte) in piece.as_bytes().iter().enumerate() {
                    match self.bytes[usize::from(byte)] {
                        NONE => symbols.missing(at..at + 1),
                        id => symbols.found(id, at..at + 1, Edge::Whole),
                    }
                }
            }
            Unit::Char => self.spell_chars(piece, symbols),
            Unit::Word => self.spell_word(piece, symbols),
        }
    }

    fn spell_marked_bytes(&self, piece: &str, symbols: &mut impl Symbols) {
        let mut unknown = Unknown::default();
        for (at, &byte) in piece.as_bytes().iter().enumerate() {
            let ends = self.marks_end && at + 1 == piece.len();
            let table = if ends { &self.final_bytes } else { &self.bytes };
            match table[usize::from(byte)] {
                NONE => self.lacks(at..at + 1, &mut unknown, symbols),
                id => {
                    unknown.flush(self.unknown, symbols);
                    symbols.found(id, at..at + 1, Edge::Whole);
                }
            }
        }
        unknown.flush(self.unknown, symbols);
        self.put_mark(piece, symbols);
    }

    fn spell_chars(&self, piece: &str, symbols: &mut impl Symbols) {
        let mut unknown = Unknown::default();
        for (start, char) in piece.char_indices() {
            let span = start..start + char.len_utf8();
            let ends = self.marks_end && span.end == piece.len();
            let continues = self.has_prefix && start > 0;
            let kind = usize::from(continues) * CONTINUES + usize::from(ends) * ENDS;
            if let Some(&id) = self.chars[kind].get(&char) {
                unknown.flush(self.unknown, symbols);
                symbols.found(id, span, Edge::Whole);
            } else if self.virtual_chars {
                symbols.found(VIRTUAL | u32::from(char), span, Edge::Whole);
            } else if self.can_spell(&piece.as_bytes()[span.clone()], continues, ends) {
                unknown.flush(self.unknown, symbols);
                self.spell_char(piece, span, (continues, ends), symbols);
            } else {
                self.lacks(span, &mut unknown, symbols);
            }
        }
        unknown.flush(self.unknown, symbols);
        self.put_mark(piece, symbols);
    }

    /// Whether fallback can spell a character with the marks that it bears.
    fn can_spell(&self, char: &[u8], continues: bool, ends: bool) -> bool {
        let marks = match (self.spells_marks, ends) {
            (true, _) => (!continues || self.spells(&self.prefix)) && (!ends || self.spells(&self.mark)),
            (false, ends) => !ends || self.end_mark != NONE,
        };
        marks && self.spells(char)
    }

    /// Spells a character with bytes. Where bytes are spelled `<0x0A>`, the marks are spelled with them too, as
    /// tokenizers does.
    fn spell_char(
        &self,
        piece: &str,
        span: Range<usize>,
        (continues, ends): (bool, bool),
        symbols: &mut impl Symbols,
    ) {
        let marks = |bytes: &[u8], edge: Edge, symbols: &mut dyn FnMut(u32, Edge)| {
            bytes.iter().for_each(|&byte| symbols(self.fallback_bytes[usize::from(byte)], edge));
        };
        if continues && self.spells_marks {
            marks(&self.prefix, Edge::Start, &mut |id, edge| symbols.found(id, span.clone(), edge));
        }
        self.put_bytes(piece, span.clone(), symbols);
        if ends && self.spells_marks {
            marks(&self.mark, Edge::End, &mut |id, edge| symbols.found(id, span.clone(), edge));
        } else if ends {
            symbols.found(self.end_mark, span, Edge::End);
        }
    }

    fn put_bytes(&self, piece: &str, span: Range<usize>, symbols: &mut impl Symbols) {
        for at in span.clone() {
            let id = self.fallback_bytes[usize::from(piece.as_bytes()[at])];
            match (self.surface_offsets, at + 1 == span.end) {
                (false, _) => symbols.found(id, at..at + 1, Edge::Whole),
                (true, false) => symbols.found(id, span.clone(), Edge::Start),
                (true, true) => symbols.found(id, span.clone(), Edge::Whole),
            }
        }
    }

    fn spell_word(&self, piece: &str, symbols: &mut impl Symbols) {
        if let Some(&id) = self.pieces.get(piece.as_bytes()) {
            return symbols.found(id, 0..piece.len(), Edge::Whole);
        }
        let mut buffer = [0; 4];
        let spelled = self.fallback
            && piece.chars().all(|char| {
                self.chars[0].contains_key(&char) || self.spells(char.encode_utf8(&mut buffer).as_bytes())
            });
        if !spelled {
            return self.lacks_one(0..piece.len(), symbols);
        }
        for (start, char) in piece.char_indices() {
            let span = start..start + char.len_utf8();
            match self.chars[0].get(&char) {
                Some(&id) => symbols.found(id, span, Edge::Whole),
                None => self.put_bytes(piece, span, symbols),
            }
        }
    }

    /// The mark that is a symbol of its own, at the end of the piece.
    fn put_mark(&self, piece: &str, symbols: &mut impl Symbols) {
        if self.mark_apart {
            let last = piece.len().saturating_sub(1)..piece.len();
            match self.end_mark {
                NONE => symbols.missing(last),
                id => symbols.found(id, last, Edge::End),
            }
        }
    }

    /// A symbol that cannot be spelled.
    fn lacks(&self, span: Range<usize>, unknown: &mut Unknown, symbols: &mut impl Symbols) {
        if self.unknown != NONE && self.fuse_unknown {
            unknown.extend(span);
        } else {
            self.lacks_one(span, symbols);
        }
    }

    fn lacks_one(&self, span: Range<usize>, symbols: &mut impl Symbols) {
        match self.unknown {
            NONE => symbols.missing(span),
            id => symbols.found(id, span, Edge::Whole),
        }
    }
}

/// Unknown symbols in a row that wait to become one.
#[derive(Default)]
struct Unknown(Option<Range<usize>>);

impl Unknown {
    fn extend(&mut self, span: Range<usize>) {
        let start = self.0.as_ref().map_or(span.start, |waiting| waiting.start);
        self.0 = Some(start..span.end);
    }

    #[inline]
    fn flush(&mut self, id: u32, symbols: &mut impl Symbols) {
        if let Some(span) = self.0.take() {
            symbols.found(id, span, Edge::Whole);
        }
    }
}
