//! What spelling and models find, put into the work buffers.
//!
//! Leaves out who looks (`alphabet`, `models`) and what becomes of it (`run`).

use std::ops::Range;

use crate::{
    asking::Ask,
    models::Found,
    offsets::Place,
    spell::{Edge, Symbols},
    tokenizer::Work,
};

/// Takes tokens as a model finds them.
pub(crate) struct Taken<'w, const SPANS: bool> {
    pub(crate) work: &'w mut Work,
    pub(crate) at: usize,
    pub(crate) place: Place<'w>,
    pub(crate) complete: bool,
    /// The piece, where each of its characters is to be a symbol, not each token.
    pub(crate) letters: Option<&'w str>,
}

impl<const SPANS: bool> Taken<'_, SPANS> {
    /// Each character of a token, of which some may be taken off.
    #[cold]
    fn characters(&mut self, piece: &str, bytes: Range<usize>) {
        for (start, letter) in piece[bytes.clone()].char_indices() {
            let start = self.at + bytes.start + start;
            self.work.symbols.push(self.place.original(start..start + letter.len_utf8()));
        }
    }
}

impl<const SPANS: bool> Found for Taken<'_, SPANS> {
    #[inline]
    fn token(&mut self, id: u32, bytes: Range<usize>) {
        let work = &mut *self.work;
        work.ids.push(id);
        if SPANS {
            work.starts.push(work.symbols.len() as u32);
            match self.letters {
                Some(piece) if !bytes.is_empty() => self.characters(piece, bytes),
                _ => work.symbols.push(self.place.original(self.at + bytes.start..self.at + bytes.end)),
            }
        }
    }

    fn before(&mut self, id: u32, bytes: Range<usize>) {
        let work = &mut *self.work;
        work.ids.push(id);
        if SPANS {
            let start = self.place.original(self.at + bytes.start..self.at + bytes.end).start;
            work.starts.push(work.symbols.len() as u32);
            work.symbols.push(start..start);
        }
    }

    #[inline]
    fn missing(&mut self, _bytes: Range<usize>) {
        self.complete = false;
    }

    fn ask(&self) -> Ask {
        self.work.ask.clone()
    }
}

/// Takes symbols as they are spelled.
pub(crate) struct Spelled<'w, const SPANS: bool> {
    pub(crate) work: &'w mut Work,
    pub(crate) at: usize,
    pub(crate) place: Place<'w>,
    pub(crate) complete: bool,
    /// Whether work is to end.
    pub(crate) stopped: bool,
}

/// Symbols between two questions whether to go on, where they have places.
const OFTEN: usize = 1 << 16;

impl<const SPANS: bool> Symbols for Spelled<'_, SPANS> {
    #[inline]
    fn found(&mut self, id: u32, span: Range<usize>, edge: Edge) {
        if SPANS {
            if self.stopped {
                return;
            }
            if self.work.symbols.len() % OFTEN == OFTEN - 1 {
                self.stopped = !self.work.ask.go_on();
            }
        }
        self.work.ids.push(id);
        if SPANS {
            let Range { start, end } = self.place.original(self.at + span.start..self.at + span.end);
            self.work.symbols.push(match edge {
                Edge::Whole => start..end,
                Edge::Start => start..start,
                Edge::End => end..end,
            });
        }
    }

    #[inline]
    fn missing(&mut self, _span: Range<usize>) {
        self.complete = false;
    }
}
