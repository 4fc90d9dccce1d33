//! The pieces with their scores, as EM has them at one time, and what begins at each place of the words.
//!
//! The longest piece of each place is kept: all others that begin there are beginnings of it, which links tell, from
//! each piece to the longest one that it begins with. A model has some of the pieces of the one before, so what words
//! can be cut into is found in a tree of pieces once (`trie`); after that the longest piece that is left at a place is
//! known from the one before, where that is dropped by its links. Four bytes a symbol. Leaves out: what is done with
//! the pieces (`lattice`).

use super::{
    super::{GoOn, going, parallel::in_parts},
    lattice::round,
    trie::{Order, Trie},
    words::Words,
};
use crate::Error;

/// The piece of a symbol that is none.
pub const UNKNOWN: u32 = u32::MAX;
/// The unknown piece is worse than the worst by so much.
const PENALTY: f64 = 10.0;
/// The places of words are gone through in so many parts, on each thread.
const ROUNDS: usize = 8;

/// A piece: where its symbols stand in `Words::text`, and how many there are.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The first.
    pub start: u32,
    /// How many.
    pub length: u32,
}

impl Piece {
    /// Its symbols.
    pub fn symbols<'a>(&self, text: &'a [u32]) -> &'a [u32] {
        &text[self.start as usize..][..self.length as usize]
    }
}

/// What a piece begins with.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The longest other piece that it begins with, or `UNKNOWN`.
    pub parent: u32,
    /// Its symbols.
    pub length: u32,
}

/// A unigram language model.
#[derive(Debug)]
pub struct Model {
    /// By id.
    pub pieces: Vec<Piece>,
    /// Logarithms of probabilities, by id.
    pub scores: Vec<f64>,
    /// The score of the unknown piece.
    pub unknown: f64,
    /// By id, once places are known.
    pub links: Vec<Link>,
    /// The longest piece at each place of `Words::text`, or `UNKNOWN`.
    pub longest: Vec<u32>,
}

impl Model {
    /// Of pieces with their scores; their places are not known yet.
    pub fn new<const SINGLE: bool>(pieces: Vec<Piece>, scores: Vec<f64>) -> Model {
        let unknown = worst::<SINGLE>(&scores);
        Model { unknown, pieces, scores, links: Vec::new(), longest: Vec::new() }
    }

    /// Finds out what begins at each place.
    ///
    /// # Errors
    /// `Error::Interrupted`.
    pub fn find(&mut self, words: &Words, threads: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let trie = {
            let order = Order::of(&self.pieces, words);
            self.links =
                self.pieces.iter().map(|piece| Link { parent: UNKNOWN, length: piece.length }).collect();
            Trie::new(&self.pieces, words, &order, |id, above| self.links[id as usize].parent = above)
        };
        let size = words.text.len();
        self.longest.reserve_exact(size);
        let share = size.div_ceil(threads.max(1) * ROUNDS).max(1);
        let parts: Vec<_> = (0..size).step_by(share).map(|start| start..(start + share).min(size)).collect();
        for round in parts.chunks(threads.max(1)) {
            let found = in_parts(round.to_vec(), go_on, &|part, go_on: &mut GoOn<'_>| {
                going(go_on)?;
                Ok(part.map(|at| trie.longest(&words.text[at..])).collect::<Vec<u32>>())
            })?;
            found.iter().for_each(|part| self.longest.extend(part));
        }
        Ok(())
    }

    /// With other scores.
    pub fn with<const SINGLE: bool>(self, scores: Vec<f64>) -> Model {
        Model { unknown: worst::<SINGLE>(&scores), scores, ..self }
    }

    /// With some of the pieces, in this order, and scores for them.
    pub fn of<const SINGLE: bool>(self, kept: &[usize], scores: Vec<f64>) -> Model {
        if kept.len() == self.pieces.len() && kept.is_sorted() {
            return self.with::<SINGLE>(scores);
        }
        let mut moved = vec![UNKNOWN; self.pieces.len()];
        for (new, old) in (0..).zip(kept) {
            moved[*old] = new;
        }
        // Of a piece that is dropped, the first that is not on the way from it.
        let left = |mut piece: u32| {
            while piece != UNKNOWN && moved[piece as usize] == UNKNOWN {
                piece = self.links[piece as usize].parent;
            }
            moved.get(piece as usize).copied().unwrap_or(UNKNOWN)
        };
        let link = |old: &usize| Link { parent: left(self.links[*old].parent), ..self.links[*old] };
        let links = kept.iter().map(link).collect();
        let pieces = kept.iter().map(|id| self.pieces[*id]).collect();
        let moved: Vec<u32> = (0..self.pieces.len() as u32).map(left).collect();
        let mut longest = self.longest;
        for piece in &mut longest {
            *piece = moved.get(*piece as usize).copied().unwrap_or(UNKNOWN);
        }
        Model { unknown: worst::<SINGLE>(&scores), pieces, scores, links, longest }
    }

    /// The bytes that learning takes for so many pieces, beside the words: the tree of them, their places, this model
    /// and the next, sums of each thread.
    pub fn memory(&self, words: &Words, threads: usize) -> usize {
        Trie::memory(&self.pieces, words) + 4 * words.text.len() + self.pieces.len() * (132 + 8 * threads)
    }
}

/// The score of the unknown piece.
fn worst<const SINGLE: bool>(scores: &[f64]) -> f64 {
    let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
    round::<SINGLE>(lowest - PENALTY)
}

/// The derivative of the logarithm of the gamma function.
pub fn digamma(mut x: f64) -> f64 {
    let mut found = 0.0;
    while x < 7.0 {
        found -= 1.0 / x;
        x += 1.0;
    }
    x -= 0.5;
    let y = 1.0 / x;
    let y2 = y * y;
    let y4 = y2 * y2;
    found
        + (x.ln() + (1.0 / 24.0) * y2 - (7.0 / 960.0) * y4 + (31.0 / 8064.0) * y4 * y2
            - (127.0 / 30720.0) * y4 * y4)
}
