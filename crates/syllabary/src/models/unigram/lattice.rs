//! Viterbi's algorithm: the best way through the lattice of a piece, and by how much.
//!
//! Leaves out what becomes of unknown characters (`spelling`).

use std::ops::{Add, Range, Sub};

use super::{
    NONE, Unigram,
    automaton::{Automaton, Best},
    brief::Brief,
    trie::{Cell, Trie},
};
use crate::asking::Ask;

/// Characters between two questions whether to go on.
const OFTEN: usize = 1 << 16;

/// Sums of scores, as they are kept.
pub(super) trait Sum: Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Into<f64> {
    const ZERO: Self;
    const LOWEST: Self;
    const HIGHEST: Self;
    /// Sums are counted anew from a place where one is larger.
    const FARTHEST: Self;
    /// The score of a text, which is in a cell in 32 bits, and this in 64.
    fn of(cell: &Cell, score: f64) -> Self;
    /// The same of a row of the automaton.
    fn at(automaton: &Automaton, row: u32) -> Self;
    /// A score that is of this precision already.
    fn exactly(score: f64) -> Self;
}

impl Sum for f32 {
    const ZERO: f32 = 0.0;
    const LOWEST: f32 = f32::NEG_INFINITY;
    const HIGHEST: f32 = f32::INFINITY;
    const FARTHEST: f32 = 100_000.0;

    #[inline]
    fn of(cell: &Cell, _score: f64) -> f32 {
        cell.score
    }

    #[inline]
    fn at(automaton: &Automaton, row: u32) -> f32 {
        automaton.rows[row as usize].score
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
    fn of(_cell: &Cell, score: f64) -> f64 {
        score
    }

    #[inline]
    fn at(automaton: &Automaton, row: u32) -> f64 {
        automaton.doubles[row as usize]
    }

    fn exactly(score: f64) -> f64 {
        score
    }
}

/// The last token of the best way to a place between two characters: where it begins, and its id; `NONE` for an
/// unknown character.
type Last = (u32, u32);

/// A token of a way: its characters and its id, `NONE` for an unknown character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) id: u32,
}

/// The best ways to all places: their scores, and those of the second best.
#[derive(Debug)]
pub(super) struct Ways<S> {
    scores: Vec<S>,
    seconds: Vec<S>,
    lasts: Vec<Last>,
    /// By the automaton: the rows of the last tokens.
    rows: Vec<u32>,
}

impl<S> Default for Ways<S> {
    fn default() -> Ways<S> {
        Ways { scores: Vec::new(), seconds: Vec::new(), lasts: Vec::new(), rows: Vec::new() }
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
    /// The same of a few characters.
    pub(crate) brief: Brief,
    /// The best way, from its end to its beginning; its score, with that of what stands before.
    pub(crate) path: Vec<Edge>,
    pub(crate) score: f64,
    /// Whether to go on with a long piece: after a `false` the way is unfinished.
    pub(crate) ask: Ask,
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
            if self.codes.len().is_multiple_of(OFTEN) && !self.ask.go_on() {
                break;
            }
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
        (codes, ask): (&[u32], &Ask),
        from: f64,
        path: &mut Vec<Edge>,
    ) -> (f64, f64) {
        match unigram.automaton.as_ref().filter(|_| unigram.is_near::<S>(from, codes.len())) {
            Some(automaton) => self.pull::<MARGIN>(automaton, (codes, ask), from, path),
            None => self.push::<MARGIN>(unigram, (codes, ask), from, path),
        }
    }

    /// The same where no sum is counted anew: at each place all tokens that end there, the longest first.
    pub(super) fn pull<const MARGIN: bool>(
        &mut self,
        automaton: &Automaton,
        (codes, ask): (&[u32], &Ask),
        from: f64,
        path: &mut Vec<Edge>,
    ) -> (f64, f64) {
        let places = codes.len() + 1;
        if self.scores.len() < places || self.rows.len() < places || self.seconds.len() < places {
            self.scores.resize(places, S::LOWEST);
            self.seconds.resize(places, S::LOWEST);
            self.rows.resize(places, 0);
        }
        path.clear();
        let (scores, rows) = (&mut self.scores[..places], &mut self.rows[..places]);
        scores[0] = S::exactly(from);
        let mut state = automaton.begin();
        for (end, &code) in (1..).zip(codes) {
            if end % OFTEN == 0 && !ask.go_on() {
                return (0.0, 0.0);
            }
            state = automaton.step(state, code);
            let Best { score, second, row } =
                automaton.best::<S, MARGIN>(state, |length| scores[end - length]);
            (scores[end], rows[end]) = (score, row);
            if MARGIN {
                self.seconds[end] = second;
            }
        }
        let (mut end, mut least) = (codes.len(), S::HIGHEST);
        while end > 0 {
            let id = rows[end];
            if MARGIN {
                let better = scores[end] - self.seconds[end];
                least = if better <= least { better } else { least };
            }
            let start = end - automaton.rows[id as usize].length();
            let id = if id == automaton.unknown() { NONE } else { id };
            path.push(Edge { start: start as u32, end: end as u32, id });
            end = start;
        }
        path.reverse();
        (scores[codes.len()].into(), least.into())
    }

    /// The same by all tokens that begin at each place.
    pub(super) fn push<const MARGIN: bool>(
        &mut self,
        unigram: &Unigram,
        (codes, ask): (&[u32], &Ask),
        from: f64,
        path: &mut Vec<Edge>,
    ) -> (f64, f64) {
        let (trie, count) = (&unigram.trie, codes.len());
        self.clear(count + 1, MARGIN);
        self.scores[0] = S::exactly(from);
        for (start, &code) in codes.iter().enumerate() {
            if start.is_multiple_of(OFTEN) && !ask.go_on() {
                break;
            }
            let mut so_far = self.scores[start];
            if so_far > S::FARTHEST || S::ZERO - so_far > S::FARTHEST {
                self.count_anew(start, so_far, unigram.longest);
                so_far = S::ZERO;
            }
            let (cell, score, mut place) = trie.first(code);
            self.offer::<MARGIN>(start + 1, S::of(cell, score) + so_far, (start as u32, cell.id));
            for (end, &code) in (start + 2..).zip(&codes[start + 1..]) {
                let Some((cell, score, next)) = trie.next(place, code) else { break };
                place = next;
                self.offer::<MARGIN>(end, S::of(cell, score) + so_far, (start as u32, cell.id));
            }
        }
        let margin = self.walk_back(count, MARGIN, (path, ask));
        (self.scores[count].into(), margin.into())
    }

    /// Makes room for so many places, none reached.
    fn clear(&mut self, places: usize, margin: bool) {
        self.scores.clear();
        self.scores.resize(places, S::LOWEST);
        self.lasts.clear();
        self.lasts.resize(places, (0, NONE));
        if margin {
            self.seconds.clear();
            self.seconds.resize(places, S::LOWEST);
        }
    }

    /// Writes the best way to a place to `path`; by how much it is better than any other, if that is asked for.
    fn walk_back(&self, mut end: usize, margin: bool, (path, ask): (&mut Vec<Edge>, &Ask)) -> S {
        path.clear();
        let mut least = S::HIGHEST;
        while end > 0 {
            let (start, id) = self.lasts[end];
            if margin {
                let better = self.scores[end] - self.seconds[end];
                least = if better <= least { better } else { least };
            }
            path.push(Edge { start, end: end as u32, id });
            if path.len().is_multiple_of(OFTEN) && !ask.go_on() {
                break;
            }
            end = start as usize;
        }
        path.reverse();
        least
    }

    /// Counts from a place on: later places that have been reached already are as much nearer.
    #[cold]
    fn count_anew(&mut self, start: usize, so_far: S, longest: usize) {
        self.scores[start] = S::ZERO;
        for score in self.scores.iter_mut().skip(start + 1).take(longest) {
            *score = *score - so_far;
        }
    }

    /// Takes a way to a place, if it is better than those before. No branch: which is better is not to be foretold.
    #[inline]
    fn offer<const MARGIN: bool>(&mut self, place: usize, score: S, last: Last) {
        let best = self.scores[place];
        let is_better = score > best;
        if MARGIN {
            let (second, worse) = (self.seconds[place], if is_better { best } else { score });
            self.seconds[place] = if worse > second { worse } else { second };
        }
        self.scores[place] = if is_better { score } else { best };
        self.lasts[place] = if is_better { last } else { self.lasts[place] };
    }
}

impl Unigram {
    /// Whether no sum of so many characters is counted anew, `from` being the score before them.
    pub(super) fn is_near<S: Sum>(&self, from: f64, count: usize) -> bool {
        // One part in a hundred is more than sums are rounded by.
        from.abs() + (count + 1) as f64 * self.heaviest < 0.99 * S::FARTHEST.into()
    }
}
