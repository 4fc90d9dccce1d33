//! A way through the lattice as tokens: what becomes of unknown characters.
//!
//! Leaves out finding the way (`lattice`).

use super::{Lattice, NONE, Unigram, lattice::Edge};
use crate::models::Found;

/// Tokens between two questions whether to go on.
const OFTEN: usize = 1 << 16;

impl Unigram {
    /// Hands the tokens of the best way to `found`; unknown characters in a row are one text.
    pub(super) fn spell(&self, piece: &str, lattice: &Lattice, found: &mut impl Found) {
        let mut unknown: Option<(u32, u32)> = None;
        for (number, edge) in lattice.path.iter().enumerate() {
            if number.is_multiple_of(OFTEN) && !lattice.ask.go_on() {
                return;
            }
            if edge.id == NONE || Some(edge.id) == self.unknown {
                unknown = Some((unknown.map_or(edge.start, |(start, _)| start), edge.end));
                continue;
            }
            if let Some(text) = unknown.take() {
                self.unknown(piece, lattice, text, found);
            }
            found.token(edge.id, lattice.bytes(edge.start, edge.end));
        }
        if let Some(text) = unknown {
            self.unknown(piece, lattice, text, found);
        }
    }

    /// Hands the tokens of the way of single characters to `found`.
    pub(crate) fn singly(&self, piece: &str, found: &mut impl Found) {
        let mut lattice = Lattice::default();
        lattice.read(&self.trie, piece, |char| char);
        for start in 0..lattice.len() {
            let mut id = NONE;
            self.trie.prefixes(&lattice.codes[start..=start], |cell, _| id = cell.id);
            lattice.path.push(Edge { start: start as u32, end: start as u32 + 1, id });
        }
        self.spell(piece, &lattice, found);
    }

    fn unknown(&self, piece: &str, lattice: &Lattice, (start, end): (u32, u32), found: &mut impl Found) {
        let range = lattice.bytes(start, end);
        let text = &piece[range.clone()];
        if let Some(id) = self.texts.get(text).filter(|_| !self.single) {
            return found.token(id, range);
        }
        if let Some(ids) =
            self.bytes.as_ref().filter(|ids| text.bytes().all(|byte| ids[usize::from(byte)] != NONE))
        {
            let ids = text.bytes().map(|byte| ids[usize::from(byte)]);
            if !self.surface {
                return ids.for_each(|id| found.token(id, range.clone()));
            }
            let mut last = text.char_indices().flat_map(|(at, char)| {
                let whole = range.start + at..range.start + at + char.len_utf8();
                (1..=char.len_utf8()).map(move |number| (number == char.len_utf8(), whole.clone()))
            });
            for (id, (is_last, character)) in ids.zip(&mut last) {
                if is_last { found.token(id, character) } else { found.before(id, character) }
            }
            return;
        }
        let mut put = |range| match self.unknown {
            Some(id) => found.token(id, range),
            None => found.missing(range),
        };
        if self.fuses {
            put(range);
        } else {
            (start..end).for_each(|at| put(lattice.bytes(at, at + 1)));
        }
    }
}
