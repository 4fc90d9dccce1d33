//! Viterbi's algorithm: the best way through the lattice of a piece, and by how much.
//!
//! Leaves out what becomes of unknown characters (`spelling`).

use std::ops::{Add, Range, Sub};

use super::{
    NONE, Unigram,
    trie::{Cell, Trie},
};

/// Sums of scores, as they are kept.
pub(super) trait Sum: Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Into<f64> {
    const ZERO: Self;
    const LOWEST: Self;
    const HIGHEST: Self;
    /// Sums are counted anew from a place where one is larger.
    const FARTHEST: Self;
    /// The score of the text that ends at a cell.
    fn of(unigram: &Unigram, cell: &Cell) -> Self;
    /// A score that is of this precision already.
    fn exactly(score: f64) -> Self;
}

impl Sum for f32 {
    const ZERO: f32 = 0.0;
    const LOWEST: f32 = f32::NEG_INFINITY;
    const HIGHEST: f32 = f32::INFINITY;
    const FARTHEST: f32 = 100_000.0;

    #[inline]
    fn of(_unigram: &Unigram, cell: &Cell) -> f32 {
        cell.score
    }

    fn exactly(score: f64) -> f32 {
        score as f32
    }
}

impl Sum for f64 {
    const ZERO: f64 = 0.0;
    const LOWEST: f64 = f64::NEG_INFINITY;
    const HIGHEST: f64 = f64::INFINITY;
    const FARTHEST: f64 = f64::INFINITY;

    #[inline]
    fn of(unigram: &Unigram, cell: &Cell) -> f64 {
        unigram.scores[cell.id as usize]
    }

    fn exactly(score: f64) -> f64 {
        score
    }
}

/// The best way to a place between two characters.
#[derive(Clone, Copy, Debug)]
struct Best<S> {
    score: S,
    /// Where its last token begins.
    start: u32,
    /// The id of that; `NONE` for an unknown character.
    id: u32,
}

/// A token of a way: its characters and its id, `NONE` for an unknown character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) id: u32,
}

/// The best ways to all places, and the scores of the second best.
#[derive(Debug)]
pub(super) struct Ways<S> {
    best: Vec<Best<S>>,
    seconds: Vec<S>,
}

impl<S> Default for Ways<S> {
    fn default() -> Ways<S> {
        Ways { best: Vec::new(), seconds: Vec::new() }
    }
}

/// Buffers that one thread reuses from piece to piece.
#[derive(Debug, Default)]
pub(crate) struct Lattice {
    /// The code of each character, and the byte where it begins; the end.
    pub(super) codes: Vec<u32>,
    pub(super) starts: Vec<u32>,
    pub(super) single: Ways<f32>,
    pub(super) double: Ways<f64>,
    /// The best way, from its end to its beginning; its score, with that of what stands before.
    pub(crate) path: Vec<Edge>,
    pub(crate) score: f64,
}

impl Lattice {
    /// Takes the characters of a piece, each read as another.
    #[inline]
    pub(super) fn read(&mut self, trie: &Trie, piece: &str, canonical: impl Fn(char) -> char) {
        self.codes.clear();
        self.starts.clear();
        self.codes.reserve(piece.len());
        self.starts.reserve(piece.len() + 1);
        for (at, char) in piece.char_indices() {
            self.codes.push(trie.code(canonical(char)));
            self.starts.push(at as u32);
        }
        self.starts.push(piece.len() as u32);
    }

    /// How many characters the piece has.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The bytes from one character to before another.
    #[inline]
    pub(crate) fn bytes(&self, start: u32, end: u32) -> Range<usize> {
        self.starts[start as usize] as usize..self.starts[end as usize] as usize
    }
}

impl<S: Sum> Ways<S> {
    /// Finds the best way, `from` being the score of what stands before, and writes it to `path`; its score, and by how
    /// much it is better than any other, but for rounding, if that is asked for.
    pub(super) fn solve<const MARGIN: bool>(
        &mut self,
        unigram: &Unigram,
        codes: &[u32],
        from: f64,
        path: &mut Vec<Edge>,
    ) -> (f64, f64) {
        let unknown = S::exactly(unigram.unknown_score);
        self.best.clear();
        self.best.resize(codes.len() + 1, Best { score: S::ZERO, start: NONE, id: NONE });
        self.best[0].score = S::exactly(from);
        if MARGIN {
            self.seconds.clear();
            self.seconds.resize(codes.len() + 1, S::LOWEST);
        }
        for start in 0..codes.len() {
            let mut so_far = self.best[start].score;
            if so_far > S::FARTHEST || S::ZERO - so_far > S::FARTHEST {
                self.count_anew(start, so_far, unigram.longest);
                so_far = S::ZERO;
            }
            let mut is_single = false;
            unigram.trie.prefixes(&codes[start..], |cell, characters| {
                is_single |= characters == 1;
                self.offer::<MARGIN>(start + characters, S::of(unigram, cell) + so_far, start, cell.id);
            });
            if !is_single {
                self.offer::<MARGIN>(start + 1, unknown + so_far, start, NONE);
            }
        }
        path.clear();
        let (mut end, mut margin) = (codes.len(), S::HIGHEST);
        while end > 0 {
            let Best { score, start, id } = self.best[end];
            if MARGIN {
                // Two infinities have no difference.
                let better = score - self.seconds[end];
                margin = if better <= margin { better } else { margin };
            }
            path.push(Edge { start, end: end as u32, id });
            end = start as usize;
        }
        path.reverse();
        (self.best[codes.len()].score.into(), margin.into())
    }

    /// Counts from a place on: later places that have been reached already are as much nearer.
    #[cold]
    fn count_anew(&mut self, start: usize, so_far: S, longest: usize) {
        let first = &mut self.best[start];
        first.score = S::ZERO;
        for best in self.best.iter_mut().skip(start + 1).take(longest) {
            best.score = best.score - so_far;
        }
    }

    /// Takes a way to a place, if it is better than those before.
    #[inline]
    fn offer<const MARGIN: bool>(&mut self, place: usize, score: S, start: usize, id: u32) {
        let best = &mut self.best[place];
        let is_first = best.start == NONE;
        if is_first || score > best.score {
            if MARGIN && !is_first {
                self.seconds[place] = best.score;
            }
            *best = Best { score, start: start as u32, id };
        } else if MARGIN && score > self.seconds[place] {
            self.seconds[place] = score;
        }
    }
}
