//! The n best ways through the lattice of a piece (`reference/unigram_paths.py`, which has the rules): a search from
//! its end to its beginning (A*), in which what is left to do is known exactly, as Viterbi's scores.
//!
//! The agenda is bounded, as sentencepiece's is. Steps that no open hypothesis needs any more are given up each time
//! that they have doubled. Leaves out how the ways of several pieces are put together (`nbest` of the crate).

use std::{cmp::Ordering, collections::BinaryHeap, ops::Range};

use super::{
    NONE, Unigram,
    lattice::{Edge, Lattice, Sum},
};
use crate::models::Found;

/// Hypotheses open at a time.
const MOST: usize = 10_000;
/// Of these so many are kept when there are more.
const FEWEST: usize = 512;
/// Steps are not looked through before there are so many.
const STEPS: usize = 1 << 16;
/// No step.
const END: usize = usize::MAX;

/// Ways to cut a piece, the best first: where the ids of each end, and its score.
#[derive(Debug, Default)]
pub(crate) struct Several {
    ids: Vec<u32>,
    ends: Vec<usize>,
    pub(crate) scores: Vec<f64>,
    /// Some text has no id, in one of them.
    pub(crate) lacks: bool,
}

impl Several {
    /// The ids of a way.
    pub(crate) fn ids(&self, way: usize) -> &[u32] {
        let start = if way == 0 { 0 } else { self.ends[way - 1] };
        &self.ids[start..self.ends[way]]
    }
}

impl Found for Several {
    fn token(&mut self, id: u32, _bytes: Range<usize>) {
        self.ids.push(id);
    }

    fn before(&mut self, id: u32, _bytes: Range<usize>) {
        self.ids.push(id);
    }

    fn missing(&mut self, _bytes: Range<usize>) {
        self.lacks = true;
    }
}

/// The edges of a lattice by the place where they end, with their scores.
struct Edges<S> {
    rows: Vec<(Edge, S)>,
    /// Those that end at a place begin here.
    firsts: Vec<usize>,
}

impl<S: Sum> Edges<S> {
    fn new(unigram: &Unigram, codes: &[u32]) -> Edges<S> {
        let unknown = S::exactly(unigram.unknown_score);
        let mut found: Vec<(Edge, S)> = Vec::new();
        for start in 0..codes.len() {
            let mut is_single = false;
            let edge =
                |characters: usize, id| Edge { start: start as u32, end: (start + characters) as u32, id };
            unigram.trie.prefixes(&codes[start..], |cell, characters| {
                is_single |= characters == 1;
                let score = unigram.search_scores.get(&cell.id);
                let score =
                    score.map_or_else(|| S::of(cell, unigram.score(cell.id)), |&score| S::exactly(score));
                found.push((edge(characters, cell.id), score));
            });
            if !is_single {
                found.push((edge(1, NONE), unknown));
            }
        }
        found.sort_by_key(|(edge, _)| edge.end);
        let firsts =
            (0..=codes.len() as u32 + 1).map(|end| found.partition_point(|(edge, _)| edge.end < end));
        Edges { firsts: firsts.collect(), rows: found }
    }

    fn ending(&self, place: usize) -> &[(Edge, S)] {
        &self.rows[self.firsts[place]..self.firsts[place + 1]]
    }

    /// The score of the best way to each place.
    fn best(&self) -> Vec<S> {
        let mut best = vec![S::ZERO; self.firsts.len() - 1];
        for place in 1..best.len() {
            let ways = self.ending(place).iter().map(|&(edge, score)| best[edge.start as usize] + score);
            best[place] = ways.fold(S::LOWEST, |one, other| if other > one { other } else { one });
        }
        best
    }
}

/// A way from a place to the end, and what the best way from the beginning over it scores.
#[derive(Clone, Copy, Debug)]
struct Open<S> {
    estimate: S,
    /// Of equal ones the first comes first.
    number: u64,
    place: usize,
    so_far: S,
    /// Its first edge, among the steps.
    step: usize,
}

impl<S: Sum> Ord for Open<S> {
    fn cmp(&self, other: &Open<S>) -> Ordering {
        let estimates = self.estimate.partial_cmp(&other.estimate).unwrap_or(Ordering::Equal);
        estimates.then(other.number.cmp(&self.number))
    }
}

impl<S: Sum> PartialOrd for Open<S> {
    fn partial_cmp(&self, other: &Open<S>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Sum> PartialEq for Open<S> {
    fn eq(&self, other: &Open<S>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<S: Sum> Eq for Open<S> {}

/// The hypotheses, and the edges that they are made of: each with the next one on the way to the end.
struct Agenda<S> {
    open: BinaryHeap<Open<S>>,
    steps: Vec<(Edge, usize)>,
    /// Steps that no hypothesis needs are given up when there are more.
    enough: usize,
}

impl<S: Sum> Agenda<S> {
    /// The edges of a way, from left to right.
    fn path(&self, mut step: usize, path: &mut Vec<Edge>) {
        path.clear();
        while step != END {
            let (edge, next) = self.steps[step];
            path.push(edge);
            step = next;
        }
    }

    /// Keeps so many of the best hypotheses, if there are too many.
    fn shrink(&mut self, most: usize) {
        if self.open.len() >= MOST {
            let sorted = std::mem::take(&mut self.open).into_sorted_vec();
            self.open = sorted.into_iter().rev().take(most).collect();
        }
        if self.steps.len() > self.enough {
            self.give_up();
            self.enough = STEPS.max(2 * self.steps.len());
        }
    }

    /// Gives up the steps that no hypothesis needs. A step stands behind the one that it leads to.
    fn give_up(&mut self) {
        let mut open = std::mem::take(&mut self.open).into_vec();
        let mut moved = vec![END; self.steps.len()];
        for hypothesis in &open {
            let mut step = hypothesis.step;
            while step != END && moved[step] == END {
                moved[step] = 0;
                step = self.steps[step].1;
            }
        }
        let mut kept = 0;
        for at in 0..moved.len() {
            if moved[at] != END {
                let (edge, next) = self.steps[at];
                self.steps[kept] = (edge, if next == END { END } else { moved[next] });
                moved[at] = kept;
                kept += 1;
            }
        }
        self.steps.truncate(kept);
        open.iter_mut().filter(|one| one.step != END).for_each(|one| one.step = moved[one.step]);
        self.open = open.into();
    }
}

impl Unigram {
    /// The `count` best ways to cut a piece; fewer, if there are fewer.
    pub(crate) fn nbest(&self, piece: &str, count: usize) -> Several {
        let mut lattice = Lattice::default();
        lattice.read(&self.trie, piece, |char| char);
        match self.single {
            true => self.search::<f32>(piece, &mut lattice, count),
            false => self.search::<f64>(piece, &mut lattice, count),
        }
    }

    fn search<S: Sum>(&self, piece: &str, lattice: &mut Lattice, count: usize) -> Several {
        let edges = Edges::<S>::new(self, &lattice.codes);
        let best = edges.best();
        let end = lattice.len();
        let first = Open { estimate: best[end], number: 0, place: end, so_far: S::ZERO, step: END };
        let mut agenda = Agenda { open: [first].into(), steps: Vec::new(), enough: STEPS };
        let mut found = Several::default();
        let mut number = 0;
        while found.scores.len() < count
            && let Some(way) = agenda.open.pop()
        {
            if way.place == 0 {
                agenda.path(way.step, &mut lattice.path);
                self.spell(piece, lattice, &mut found);
                found.ends.push(found.ids.len());
                found.scores.push(way.estimate.into());
                continue;
            }
            for &(edge, score) in edges.ending(way.place) {
                number += 1;
                let place = edge.start as usize;
                let so_far = score + way.so_far;
                let estimate = if place == 0 { so_far } else { (best[place] + score) + way.so_far };
                agenda.open.push(Open { estimate, number, place, so_far, step: agenda.steps.len() });
                agenda.steps.push((edge, way.step));
            }
            agenda.shrink(FEWEST.min(count.saturating_mul(10)));
        }
        found
    }
}
