//! The pieces with their scores, as EM has them at one time.

use std::sync::OnceLock;

use super::{lattice::round, trie::Trie, words::Words};

/// The piece of a symbol that is none.
pub const UNKNOWN: u32 = u32::MAX;
/// The unknown piece is worse than the worst by so much.
const PENALTY: f64 = 10.0;

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

/// A unigram language model.
#[derive(Debug)]
pub struct Model {
    /// By id.
    pub pieces: Vec<Piece>,
    /// Logarithms of probabilities, by id.
    pub scores: Vec<f64>,
    /// The score of the unknown piece.
    pub unknown: f64,
    /// What became of the pieces of the model before; there is none before the first.
    pub moved: Option<Vec<u32>>,
    trie: OnceLock<Trie>,
}

impl Model {
    /// Of pieces with their scores.
    pub fn new<const SINGLE: bool>(pieces: Vec<Piece>, scores: Vec<f64>) -> Model {
        let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let unknown = round::<SINGLE>(lowest - PENALTY);
        Model { unknown, pieces, scores, moved: None, trie: OnceLock::new() }
    }

    /// With some of the pieces, in this order, and scores for them.
    pub fn of<const SINGLE: bool>(&self, kept: &[usize], scores: Vec<f64>) -> Model {
        let mut moved = vec![UNKNOWN; self.pieces.len()];
        for (new, old) in (0..).zip(kept) {
            moved[*old] = new;
        }
        let pieces = kept.iter().map(|id| self.pieces[*id]).collect();
        Model { moved: Some(moved), ..Model::new::<SINGLE>(pieces, scores) }
    }

    /// The bytes that learning takes for so many pieces, beside the words: the tree of them, their numbers, this model
    /// and the next, sums of each thread.
    pub fn memory(&self, words: &Words, threads: usize) -> usize {
        Trie::memory(&self.texts(words)) + self.pieces.len() * (132 + 8 * threads)
    }

    fn texts<'a>(&self, words: &'a Words) -> Vec<&'a [u32]> {
        self.pieces.iter().map(|piece| piece.symbols(&words.text)).collect()
    }

    /// The pieces by symbols.
    pub fn trie(&self, words: &Words) -> &Trie {
        self.trie.get_or_init(|| Trie::new(&self.texts(words), words.characters.len()))
    }
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
