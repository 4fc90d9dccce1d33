//! All ways to cut one word into pieces, and what they are worth.
//!
//! Adds the sums over all ways (forward and backward), the best way (Viterbi) and the two best. Numbers are of 64
//! bits; with `SINGLE` every sum is rounded to 32, in the order in which sentencepiece adds, so that its numbers come
//! out. The specification is `reference/train_unigram_lattice.py`.

use super::{
    model::{Model, UNKNOWN},
    trie::Trie,
};

/// Where sums of logarithms differ by more, the smaller one is nothing.
const FAR: f64 = 50.0;
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
    /// Its logarithm of a probability.
    pub score: f64,
}

/// The nodes of one word and memory to work in.
#[derive(Debug, Default)]
pub struct Lattice {
    nodes: Vec<Node>,
    /// Where the nodes of each place begin.
    firsts: Vec<u32>,
    forward: Vec<f64>,
    backward: Vec<f64>,
    weights: Vec<f64>,
    /// The last node of the best way to each place.
    last: Vec<u32>,
    /// The best way, as numbers of nodes.
    pub best: Vec<u32>,
}

/// A number as it is kept.
#[inline]
pub fn round<const SINGLE: bool>(number: f64) -> f64 {
    if SINGLE { f64::from(number as f32) } else { number }
}

/// The logarithm of a sum, of logarithms.
#[inline]
fn add<const SINGLE: bool>(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high > round::<SINGLE>(low + FAR) {
        return high;
    }
    round::<SINGLE>(high + (round::<SINGLE>(low - high).exp() + 1.0).ln())
}

impl Lattice {
    /// Takes a word: at each place the pieces that begin there, the shortest first; where none is a single
    /// symbol, the unknown one last.
    pub fn set(&mut self, word: &[u32], model: &Model, trie: &Trie) {
        self.clear();
        for begin in 0..word.len() {
            self.next_place();
            let mut single = false;
            let begin_at = begin as u32;
            trie.prefixes(&word[begin..], |length, piece| {
                single |= length == 1;
                let score = model.scores[piece as usize];
                self.nodes.push(Node { begin: begin_at, end: begin_at + length as u32, piece, score });
            });
            if !single {
                let score = model.unknown;
                self.nodes.push(Node { begin: begin_at, end: begin_at + 1, piece: UNKNOWN, score });
            }
        }
        self.next_place();
    }

    /// No word.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.firsts.clear();
    }

    /// The nodes that follow begin at the next place; asked for once more behind the last.
    #[inline]
    pub fn next_place(&mut self) {
        self.firsts.push(self.nodes.len() as u32);
    }

    /// Adds a node.
    #[inline]
    pub fn push(&mut self, node: Node) {
        self.nodes.push(node);
    }

    /// The nodes, by the places where they begin.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node by its number.
    pub fn node(&self, number: u32) -> Node {
        self.nodes[number as usize]
    }

    /// The number of places.
    fn places(&self) -> usize {
        self.firsts.len() - 1
    }

    /// Adds, for each piece, how often it is expected in `count` words like this; unknown ones go to `unknown`.
    pub fn expect<const SINGLE: bool>(&mut self, count: f64, expected: &mut [f64], unknown: Option<usize>) {
        if SINGLE || !self.expect_plain(count, expected, unknown) {
            self.expect_logs::<SINGLE>(count, expected, unknown);
        }
    }

    /// With logarithms, in the order of the specification.
    pub fn expect_logs<const SINGLE: bool>(
        &mut self,
        count: f64,
        expected: &mut [f64],
        unknown: Option<usize>,
    ) {
        let places = self.places();
        self.forward.clear();
        self.forward.resize(places + 1, f64::NAN);
        self.backward.clear();
        self.backward.resize(places + 1, f64::NAN);
        (self.forward[0], self.backward[places]) = (0.0, 0.0);
        for node in &self.nodes {
            let sum = round::<SINGLE>(node.score + self.forward[node.begin as usize]);
            let place = &mut self.forward[node.end as usize];
            *place = if place.is_nan() { sum } else { add::<SINGLE>(*place, sum) };
        }
        for place in (0..places).rev() {
            let nodes = &self.nodes[self.firsts[place] as usize..self.firsts[place + 1] as usize];
            let mut all = f64::NAN;
            for node in nodes {
                let sum = round::<SINGLE>(node.score + self.backward[node.end as usize]);
                all = if all.is_nan() { sum } else { add::<SINGLE>(all, sum) };
            }
            self.backward[place] = all;
        }
        let total = self.forward[places];
        for node in &self.nodes {
            let Some(piece) = place_of(node.piece, unknown) else { continue };
            let before = round::<SINGLE>(self.forward[node.begin as usize] + node.score);
            let whole = round::<SINGLE>(before + self.backward[node.end as usize]);
            let share = round::<SINGLE>(whole - total).exp();
            expected[piece] = round::<SINGLE>(expected[piece] + count * share);
        }
    }

    /// With probabilities; `false`, and nothing is added, where they are too small for that.
    fn expect_plain(&mut self, count: f64, expected: &mut [f64], unknown: Option<usize>) -> bool {
        let places = self.places();
        self.forward.clear();
        self.forward.resize(places + 1, 0.0);
        self.backward.clear();
        self.backward.resize(places + 1, 0.0);
        (self.forward[0], self.backward[places]) = (1.0, 1.0);
        self.weights.clear();
        self.weights.extend(self.nodes.iter().map(|node| node.score.exp()));
        for (node, weight) in self.nodes.iter().zip(&self.weights) {
            self.forward[node.end as usize] += self.forward[node.begin as usize] * weight;
        }
        let total = self.forward[places];
        if total < TINY {
            return false;
        }
        for (node, weight) in self.nodes.iter().zip(&self.weights).rev() {
            self.backward[node.begin as usize] += self.backward[node.end as usize] * weight;
        }
        let each = count / total;
        for (node, weight) in self.nodes.iter().zip(&self.weights) {
            let Some(piece) = place_of(node.piece, unknown) else { continue };
            expected[piece] +=
                each * (self.forward[node.begin as usize] * weight * self.backward[node.end as usize]);
        }
        true
    }

    /// The best way, in `best`; its score.
    pub fn viterbi<const SINGLE: bool>(&mut self) -> f64 {
        let places = self.places();
        self.reach::<SINGLE>();
        self.best.clear();
        let mut place = places;
        while place > 0 {
            let number = self.last[place];
            self.best.push(number);
            place = self.nodes[number as usize].begin as usize;
        }
        self.best.reverse();
        self.forward[places]
    }

    /// The best score to each place in `forward`; of equals the piece that begins first.
    fn reach<const SINGLE: bool>(&mut self) {
        let places = self.places();
        self.forward.clear();
        self.forward.resize(places + 1, f64::NAN);
        self.last.clear();
        self.last.resize(places + 1, 0);
        self.forward[0] = 0.0;
        for (number, node) in (0..).zip(&self.nodes) {
            let score = round::<SINGLE>(self.forward[node.begin as usize] + node.score);
            let place = &mut self.forward[node.end as usize];
            if place.is_nan() || score > *place {
                *place = score;
                self.last[node.end as usize] = number;
            }
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
        let places = lattice.places();
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
