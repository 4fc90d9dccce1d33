//! The pieces with their scores, as EM has them at one time.

use super::{lattice::round, trie::Trie};

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
    /// The pieces by symbols.
    pub trie: Trie,
}

impl Model {
    /// Of pieces with their scores; `symbols`: how many there are.
    pub fn new<const SINGLE: bool>(
        pieces: Vec<Piece>,
        scores: Vec<f64>,
        text: &[u32],
        symbols: usize,
    ) -> Model {
        let texts: Vec<&[u32]> = pieces.iter().map(|piece| piece.symbols(text)).collect();
        let trie = Trie::new(&texts, symbols);
        let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        Model { unknown: round::<SINGLE>(lowest - PENALTY), pieces, scores, trie }
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
