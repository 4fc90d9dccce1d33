//! The pieces at each place of each word of a lane, kept from one round to the next.
//!
//! A model has some of the pieces of the one before, so what a word can be cut into is found in the tree of pieces
//! once, and after that in the list of last time: a read in order instead of a walk through a tree that no cache
//! holds. Lists are rewritten in place and only become shorter. Leaves out: what is done with the pieces (`lattice`).

use super::{
    lattice::{Lattice, Node},
    model::{Model, UNKNOWN},
};

/// Set in the span of the last piece of a place.
const LAST: u16 = 1 << 15;
/// Pieces must be shorter than this.
pub const LONGEST: usize = LAST as usize;

/// The lists of a lane's words, one after the other. At each place the shortest piece first; where none is a single
/// symbol, `UNKNOWN` last.
#[derive(Debug, Default)]
pub struct Kept {
    pieces: Vec<u32>,
    /// The length of each piece.
    spans: Vec<u16>,
    read: usize,
    written: usize,
}

impl Kept {
    /// Goes back to the first word.
    pub fn begin(&mut self) {
        (self.read, self.written) = (0, 0);
    }

    /// Forgets what this round has not written.
    pub fn finish(&mut self) {
        self.pieces.truncate(self.written);
        self.spans.truncate(self.written);
    }

    /// Adds the next word.
    pub fn add(&mut self, nodes: &[Node]) {
        for (at, node) in nodes.iter().enumerate() {
            let last = nodes.get(at + 1).is_none_or(|next| next.begin != node.begin);
            self.pieces.push(node.piece);
            self.spans.push((node.end - node.begin) as u16 | if last { LAST } else { 0 });
        }
        self.written = self.pieces.len();
    }

    /// The pieces that the next place still has, as `model` numbers them, to `each` with their lengths.
    ///
    /// As many are written as were read, at most: an unknown one takes the place of the single symbol.
    #[inline]
    fn place(&mut self, model: &Model, moved: &[u32], mut each: impl FnMut(u32, u32, f64)) {
        let mut single = false;
        while let (Some(piece), Some(span)) = (self.pieces.get(self.read), self.spans.get(self.read)) {
            let (piece, span) = (moved.get(*piece as usize).copied().unwrap_or(UNKNOWN), *span);
            let length = span & !LAST;
            self.read += 1;
            if piece != UNKNOWN {
                single |= length == 1;
                self.write(piece, length);
                each(piece, u32::from(length), model.scores[piece as usize]);
            }
            if span & LAST != 0 {
                break;
            }
        }
        if !single {
            self.write(UNKNOWN, 1);
            each(UNKNOWN, 1, model.unknown);
        }
        self.spans[self.written - 1] |= LAST;
    }

    #[inline]
    fn write(&mut self, piece: u32, length: u16) {
        debug_assert!(self.written < self.read);
        self.pieces[self.written] = piece;
        self.spans[self.written] = length;
        self.written += 1;
    }
}

impl Lattice {
    /// Takes the next word of those kept, with `length` symbols. `moved`: what became of the pieces of last time.
    pub fn set_kept(&mut self, length: u32, model: &Model, moved: &[u32], kept: &mut Kept) {
        self.clear();
        for begin in 0..length {
            self.next_place();
            kept.place(model, moved, |piece, span, score| {
                self.push(Node { begin, end: begin + span, piece, score });
            });
        }
        self.next_place();
    }
}
