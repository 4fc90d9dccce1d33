//! All ways to cut one word into pieces, and what they are worth.
//!
//! Adds the sums over all ways (forward and backward), the best way (Viterbi) and the two best. Numbers are of 64
//! bits; with `SINGLE` every sum is rounded to 32, in the order in which sentencepiece adds, so that its numbers come
//! out. The specification is `reference/train_unigram_lattice.py`.

use super::{
    model::{Model, UNKNOWN},
    sums::{FAR, Sums},
};

/// Smaller probabilities are not exact any more.
const TINY: f64 = 1e-250;

/// A piece at a place of a word.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Where it begins.
    pub begin: u32,
    /// Where it ends.
    pub end: u32,
    /// Which piece it is, or `UNKNOWN`.
    pub piece: u32,
    /// Its logarithm of a probability, or the probability.
    pub score: f64,
}

/// The nodes of one word and memory to work in.
#[derive(Debug, Default)]
pub struct Lattice {
    nodes: Vec<Node>,
    /// The symbols of the word.
    places: usize,
    forward: Vec<f64>,
    backward: Vec<f64>,
    /// The last piece of the best way to each place, behind where it begins.
    last: Vec<(u32, u32)>,
}

/// A number as it is kept.
#[inline]
pub fn round<const SINGLE: bool>(number: f64) -> f64 {
    if SINGLE { f64::from(number as f32) } else { number }
}

/// The logarithm of a sum, of logarithms.
#[inline]
fn add<const SINGLE: bool>(sums: &Sums, a: f64, b: f64) -> f64 {
    if SINGLE {
        return sums.add(a, b);
    }
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high > low + FAR { high } else { high + ((low - high).exp() + 1.0).ln() }
}

impl Lattice {
    /// Takes the symbols from `start` on, so many: at each place the pieces that begin there, the longest first; where
    /// none is a single symbol, the unknown one last.
    pub fn set(&mut self, start: u32, length: u32, model: &Model) {
        self.nodes.clear();
        self.places = length as usize;
        let longest = &model.longest[start as usize..][..length as usize];
        for (begin, longest) in (0..).zip(longest) {
            let (mut piece, mut end) = (*longest, begin);
            while let Some(link) = model.links.get(piece as usize) {
                if begin + link.length <= length {
                    end = begin + link.length;
                    self.nodes.push(Node { begin, end, piece, score: model.scores[piece as usize] });
                }
                piece = link.parent;
            }
            if end != begin + 1 {
                self.nodes.push(Node { begin, end: begin + 1, piece: UNKNOWN, score: model.unknown });
            }
        }
    }

    /// Adds, for each piece, how often it is expected in `count` words that stand at `start`; unknown ones go to
    /// `unknown`. `weights`: the probabilities of the pieces of `model`, and of the unknown one.
    pub fn expect(
        &mut self,
        (start, length): (u32, u32),
        (count, expected): (f64, &mut [f64]),
        (model, weights, unknown): (&Model, (&[f64], f64), Option<usize>),
    ) {
        let total = self.forward(start, length, model, weights);
        if total < TINY {
            self.set(start, length, model);
            return self.expect_logs::<false>(count, expected, unknown);
        }
        let places = length as usize;
        self.backward.clear();
        self.backward.resize(places + 1, 0.0);
        self.backward[places] = 1.0;
        let each = count / total;
        for node in self.nodes.iter().rev() {
            let behind = self.backward[node.end as usize] * node.score;
            self.backward[node.begin as usize] += behind;
            let Some(piece) = place_of(node.piece, unknown) else { continue };
            expected[piece] += each * (self.forward[node.begin as usize] * behind);
        }
    }

    /// As `set`, with probabilities, and sums of all ways to each place; the sum of all.
    fn forward(&mut self, start: u32, length: u32, model: &Model, (weights, unknown): (&[f64], f64)) -> f64 {
        let places = length as usize;
        self.nodes.clear();
        self.forward.clear();
        self.forward.resize(places + 1, 0.0);
        self.forward[0] = 1.0;
        let longest = &model.longest[start as usize..][..places];
        for (begin, longest) in (0..).zip(longest) {
            let before = self.forward[begin as usize];
            let (mut piece, mut end) = (*longest, begin);
            while let Some(link) = model.links.get(piece as usize) {
                let weight = weights[piece as usize];
                end = begin + link.length;
                self.forward[end as usize] += before * weight;
                self.nodes.push(Node { begin, end, piece, score: weight });
                piece = link.parent;
            }
            if end != begin + 1 {
                self.forward[begin as usize + 1] += before * unknown;
                self.nodes.push(Node { begin, end: begin + 1, piece: UNKNOWN, score: unknown });
            }
        }
        self.forward[places]
    }

    /// With logarithms, in the order of the specification.
    pub fn expect_logs<const SINGLE: bool>(
        &mut self,
        count: f64,
        expected: &mut [f64],
        unknown: Option<usize>,
    ) {
        let (places, sums) = (self.places, Sums::get());
        self.forward.clear();
        self.forward.resize(places + 1, f64::NAN);
        self.backward.clear();
        self.backward.resize(places + 1, f64::NAN);
        (self.forward[0], self.backward[places]) = (0.0, 0.0);
        for node in &self.nodes {
            let sum = round::<SINGLE>(node.score + self.forward[node.begin as usize]);
            let place = &mut self.forward[node.end as usize];
            *place = if place.is_nan() { sum } else { add::<SINGLE>(sums, *place, sum) };
        }
        for nodes in self.nodes.chunk_by(|a, b| a.begin == b.begin).rev() {
            // The shortest first, but the unknown one last.
            let (known, unknown) = nodes.split_at(nodes.partition_point(|node| node.piece != UNKNOWN));
            let mut all = f64::NAN;
            for node in known.iter().rev().chain(unknown) {
                let sum = round::<SINGLE>(node.score + self.backward[node.end as usize]);
                all = if all.is_nan() { sum } else { add::<SINGLE>(sums, all, sum) };
            }
            self.backward[nodes[0].begin as usize] = all;
        }
        let total = self.forward[places];
        for node in &self.nodes {
            let Some(piece) = place_of(node.piece, unknown) else { continue };
            let before = round::<SINGLE>(self.forward[node.begin as usize] + node.score);
            let whole = round::<SINGLE>(before + self.backward[node.end as usize]);
            let share = round::<SINGLE>(whole - total);
            expected[piece] = if SINGLE {
                sums.add_exp(expected[piece], count, share)
            } else {
                expected[piece] + count * share.exp()
            };
        }
    }

    /// The pieces of the best way of the symbols from `start` on, so many; of equal ways those that begin first.
    pub fn best<const SINGLE: bool>(
        &mut self,
        start: u32,
        length: u32,
        model: &Model,
        mut each: impl FnMut(u32),
    ) {
        let places = length as usize;
        self.forward.clear();
        self.forward.resize(places + 1, f64::NEG_INFINITY);
        self.last.clear();
        self.last.resize(places + 1, (0, UNKNOWN));
        self.forward[0] = 0.0;
        let longest = &model.longest[start as usize..][..places];
        for (begin, longest) in (0..).zip(longest) {
            let before = self.forward[begin as usize];
            let mut take = |end: u32, piece: u32, score: f64| {
                let score = round::<SINGLE>(before + score);
                if score > self.forward[end as usize] {
                    self.forward[end as usize] = score;
                    self.last[end as usize] = (begin, piece);
                }
            };
            let (mut piece, mut end) = (*longest, begin);
            while let Some(link) = model.links.get(piece as usize) {
                end = begin + link.length;
                take(end, piece, model.scores[piece as usize]);
                piece = link.parent;
            }
            if end != begin + 1 {
                take(begin + 1, UNKNOWN, model.unknown);
            }
        }
        let mut place = length;
        while place > 0 {
            let (begin, piece) = self.last[place as usize];
            each(piece);
            place = begin;
        }
    }

    /// The best score to each place in `forward`.
    fn reach<const SINGLE: bool>(&mut self) {
        self.forward.clear();
        self.forward.resize(self.places + 1, f64::NEG_INFINITY);
        self.forward[0] = 0.0;
        for node in &self.nodes {
            let score = round::<SINGLE>(self.forward[node.begin as usize] + node.score);
            let place = &mut self.forward[node.end as usize];
            *place = place.max(score);
        }
    }
}

/// Where a piece is counted; unknown ones at `unknown`.
pub fn place_of(piece: u32, unknown: Option<usize>) -> Option<usize> {
    if piece == UNKNOWN { unknown } else { Some(piece as usize) }
}

/// A way from some node to the end of the word.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Its score with the best way to its beginning.
    whole: f64,
    /// Its score.
    own: f64,
    /// Its first node; `None` at the end, and at the beginning of the word.
    node: Option<u32>,
    /// Whether it reaches the beginning of the word.
    complete: bool,
    /// The rest of the way.
    next: u32,
}

/// Finds the two best ways of a word (A*), in sentencepiece's order among equals.
#[derive(Debug, Default)]
pub struct TwoBest {
    ways: Vec<Way>,
    queue: Vec<u32>,
}

impl TwoBest {
    /// The pieces of the best way and of the second best, if there is one.
    pub fn find<const SINGLE: bool>(&mut self, lattice: &mut Lattice) -> (Vec<u32>, Option<Vec<u32>>) {
        lattice.reach::<SINGLE>();
        let places = lattice.places;
        self.ways.clear();
        self.queue.clear();
        let whole = lattice.forward[places];
        self.push(Way { whole, own: 0.0, node: None, complete: false, next: u32::MAX });
        let mut found = Vec::new();
        while let Some(number) = self.pop() {
            let way = self.ways[number as usize];
            if way.complete {
                found.push(self.pieces(way.next, lattice));
                if found.len() == 2 {
                    break;
                }
                continue;
            }
            let place = way.node.map_or(places, |node| lattice.nodes[node as usize].begin as usize);
            if place == 0 {
                self.push(Way { whole: way.own, complete: true, next: number, ..way });
                continue;
            }
            for (at, node) in (0..).zip(&lattice.nodes).filter(|(_, node)| node.end as usize == place) {
                let best = round::<SINGLE>(lattice.forward[node.begin as usize] + node.score);
                let own = round::<SINGLE>(node.score + way.own);
                let whole = round::<SINGLE>(best + way.own);
                self.push(Way { whole, own, node: Some(at), complete: false, next: number });
            }
        }
        let second = if found.len() == 2 { found.pop() } else { None };
        (found.pop().unwrap_or_default(), second)
    }

    fn pieces(&self, mut way: u32, lattice: &Lattice) -> Vec<u32> {
        let mut found = Vec::new();
        while let Some(node) = self.ways[way as usize].node {
            found.push(lattice.nodes[node as usize].piece);
            way = self.ways[way as usize].next;
        }
        found
    }

    fn less(&self, a: u32, b: u32) -> bool {
        self.ways[a as usize].whole < self.ways[b as usize].whole
    }

    /// Into a binary heap, the best first; a new one comes before no equal one on its path.
    fn push(&mut self, way: Way) {
        self.ways.push(way);
        let number = self.ways.len() as u32 - 1;
        self.queue.push(number);
        self.rise(self.queue.len() - 1, number);
    }

    fn rise(&mut self, mut hole: usize, number: u32) {
        while hole > 0 {
            let parent = (hole - 1) / 2;
            if !self.less(self.queue[parent], number) {
                break;
            }
            self.queue[hole] = self.queue[parent];
            hole = parent;
        }
        self.queue[hole] = number;
    }

    /// The best; the hole goes down to a leaf, of equal children on the right, and the last entry rises from there.
    fn pop(&mut self) -> Option<u32> {
        let last = self.queue.pop()?;
        let size = self.queue.len();
        if size == 0 {
            return Some(last);
        }
        let top = self.queue[0];
        let mut hole = 0;
        while 2 * hole + 2 < size {
            let mut child = 2 * hole + 2;
            if self.less(self.queue[child], self.queue[child - 1]) {
                child -= 1;
            }
            self.queue[hole] = self.queue[child];
            hole = child;
        }
        if 2 * hole + 1 < size {
            self.queue[hole] = self.queue[2 * hole + 1];
            hole = 2 * hole + 1;
        }
        self.rise(hole, last);
        Some(top)
    }
}
