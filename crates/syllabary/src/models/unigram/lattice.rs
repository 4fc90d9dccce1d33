//! Viterbi's algorithm: the best way through the lattice of a piece, and by how much.
//!
//! Leaves out what becomes of unknown characters (`spelling`).

use super::{NONE, Unigram};

/// The best way to a place between two characters.
#[derive(Clone, Copy, Debug)]
struct Best {
    score: f64,
    /// The score of the second best.
    second: f64,
    /// Where its last token begins.
    start: u32,
    /// The id of that; `NONE` for an unknown character.
    id: u32,
}

const UNSEEN: Best = Best { score: 0.0, second: f64::NEG_INFINITY, start: NONE, id: NONE };

/// A token of a way: its characters and its id, `NONE` for an unknown character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) id: u32,
}

/// Buffers that one thread reuses from piece to piece.
#[derive(Debug, Default)]
pub(crate) struct Lattice {
    /// The code of each character, and the byte where it begins; the end.
    pub(super) codes: Vec<u32>,
    pub(super) starts: Vec<u32>,
    best: Vec<Best>,
    /// The best way.
    pub(crate) path: Vec<Edge>,
}

impl Lattice {
    /// Takes the characters of a piece.
    pub(super) fn read(&mut self, unigram: &Unigram, piece: &str, canonical: impl Fn(char) -> char) {
        self.codes.clear();
        self.starts.clear();
        for (at, char) in piece.char_indices() {
            self.codes.push(unigram.trie.code(canonical(char)));
            self.starts.push(at as u32);
        }
        self.starts.push(piece.len() as u32);
    }

    /// How many characters the piece has.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The score of the best way, and of what stands before.
    pub(crate) fn score(&self) -> f64 {
        self.best.last().map_or(0.0, |best| best.score)
    }

    /// The bytes from one character to before another.
    #[inline]
    pub(crate) fn bytes(&self, start: u32, end: u32) -> std::ops::Range<usize> {
        self.starts[start as usize] as usize..self.starts[end as usize] as usize
    }

    /// Finds the best way, `from` being the score of what stands before; by how much it is better than any other, but
    /// for rounding.
    pub(super) fn solve<const SINGLE: bool>(&mut self, unigram: &Unigram, from: f64) -> f64 {
        let length = self.codes.len();
        let best = &mut self.best;
        best.clear();
        best.resize(length + 1, UNSEEN);
        best[0].score = from;
        for start in 0..length {
            let so_far = best[start].score;
            let mut is_single = false;
            unigram.trie.prefixes(&self.codes[start..], |id, characters| {
                is_single |= characters == 1;
                let score = round::<SINGLE>(unigram.scores[id as usize] + so_far);
                offer(&mut best[start + characters], score, start, id);
            });
            if !is_single {
                let score = round::<SINGLE>(unigram.unknown_score + so_far);
                offer(&mut best[start + 1], score, start, NONE);
            }
        }
        self.path.clear();
        let (mut end, mut margin) = (length, f64::INFINITY);
        while end > 0 {
            let Best { score, second, start, id } = best[end];
            // Two infinities have no difference.
            margin = if score - second <= margin { score - second } else { margin };
            self.path.push(Edge { start, end: end as u32, id });
            end = start as usize;
        }
        self.path.reverse();
        margin
    }
}

/// Takes a way to a place, if it is better than those before.
#[inline]
fn offer(place: &mut Best, score: f64, start: usize, id: u32) {
    if place.start == NONE {
        *place = Best { score, second: f64::NEG_INFINITY, start: start as u32, id };
    } else if score > place.score {
        *place = Best { score, second: place.score, start: start as u32, id };
    } else if score > place.second {
        place.second = score;
    }
}

/// A sum as it is kept.
#[inline]
pub(super) fn round<const SINGLE: bool>(sum: f64) -> f64 {
    if SINGLE { f64::from(sum as f32) } else { sum }
}
