//! All texts that end at a place, by one step a character: an automaton over the trie (Aho and Corasick's).
//!
//! ```text
//! a state is the longest text, or beginning of one, that ends where one is
//! the longest text that ends there; the longest one that ends that, and so on, down to one character
//! ```
//!
//! What a state leads to is its child in the trie by the next character, or else what the state of its end without the first
//! character leads to. Texts are rows by id, and ids mostly go by scores, so that rows often needed lie together. Where the
//! last character is no text, an unknown one takes its place. Leaves out which of the texts are taken (`lattice`).

use std::hint::select_unpredictable;

use super::{
    NONE,
    lattice::Sum,
    trie::{Cell, Trie},
};

/// Texts have fewer characters, as a length is a byte; ids are smaller, as one has the bytes above.
const LENGTHS: u32 = 1 << 8;

/// Codes and nodes are less.
const CODES: usize = (1 << 16) - 1;
const NODES: usize = 1 << 24;

/// A state, which is a node of the trie, in 64 bits: by which code it is its parent's child, where its children are counted
/// from, and where those of the state that one goes on from where it has no child. As no two nodes with children count from the
/// same place, the code says whose child it is.
#[derive(Clone, Copy, Debug)]
struct Node(u64);

impl Node {
    /// The child of none.
    fn new(base: u32) -> Node {
        Node(u64::from(base) << 16 | CODES as u64)
    }

    #[inline]
    fn is_by(self, code: u32) -> bool {
        self.code() == code
    }

    #[inline]
    fn code(self) -> u32 {
        u32::from(self.0 as u16)
    }

    #[inline]
    fn base(self) -> u32 {
        (self.0 >> 16) as u32 & (NODES as u32 - 1)
    }

    #[inline]
    fn other_base(self) -> u32 {
        (self.0 >> 40) as u32
    }

    fn set_code(&mut self, code: u32) {
        self.0 = self.0 >> 16 << 16 | u64::from(code as u16);
    }

    fn set_other(&mut self, other: Node) {
        self.0 = self.0 << 24 >> 24 | u64::from(other.base()) << 40;
    }
}

/// Where one is.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    at: u32,
    node: Node,
}

/// A text: its score, how many characters it has, and the row of the longest other text that ends where it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) score: f32,
    what: u32,
}

impl Row {
    fn new(score: f64, length: u32, shorter: u32) -> Row {
        Row { score: score as f32, what: shorter * LENGTHS + length }
    }

    #[inline]
    pub(super) fn length(self) -> usize {
        (self.what % LENGTHS) as usize
    }

    /// Of one character: a row of one character that is never taken, so that nobody need ask.
    #[inline]
    pub(super) fn shorter(self) -> u32 {
        self.what / LENGTHS
    }
}

/// In the row of the longest text that ends at a place: more than three do.
const MORE: u32 = 1 << 31;

/// The best way to a place, and the row of its last text; the score of the second best.
pub(super) struct Best<S> {
    pub(super) score: S,
    pub(super) second: S,
    pub(super) row: u32,
}

impl<S: Sum> Best<S> {
    /// Looks at a text more, and the score with it. No branch: which is better is not to be foretold.
    #[inline(always)]
    fn take<const MARGIN: bool>(&mut self, row: u32, score: S) {
        let is_better = score > self.score;
        if MARGIN {
            let worse = if is_better { self.score } else { score };
            self.second = if worse > self.second { worse } else { self.second };
        }
        self.score = if is_better { score } else { self.score };
        self.row = if is_better { row } else { self.row };
    }
}

/// The states, and the rows.
#[derive(Debug)]
pub(super) struct Automaton {
    nodes: Vec<Node>,
    /// By node the state to go on from where it has no child, and the row of the longest text that ends there,
    /// or `MORE`.
    others: Vec<u32>,
    longest: Vec<u32>,
    /// By id; behind them that of an unknown character, and one that is never taken.
    pub(super) rows: Vec<Row>,
    /// The scores of the rows in 64 bits, if they are asked for.
    pub(super) doubles: Vec<f64>,
}

impl Automaton {
    /// Of a trie with the ids of its texts below `bound`; `None` if its texts are too long or too many. `single`: scores are
    /// of 32 bits.
    pub(super) fn new(trie: &Trie, bound: usize, single: bool) -> Option<Automaton> {
        let (cells, scores, codes) = trie.nodes();
        let unknown = u32::try_from(bound).ok().filter(|&bound| bound < u32::MAX / LENGTHS - 1)?;
        let none = unknown + 1;
        let bases = cells.iter().map(|cell| cell.base as usize).max().unwrap_or(0);
        // Every step from every state stays inside. Behind these no node is a child.
        let barren = cells.len().max(bases + codes);
        if codes >= CODES || barren + codes >= NODES {
            return None;
        }
        let mut made = Automaton {
            nodes: vec![Node::new(barren as u32); barren + codes],
            others: vec![0; barren + codes],
            longest: vec![unknown; barren + codes],
            rows: vec![Row::new(trie.unknown(), 1, none); bound + 1],
            doubles: if single { Vec::new() } else { vec![trie.unknown(); bound + 1] },
        };
        made.rows.push(Row::new(f64::NEG_INFINITY, 1, none));
        made.doubles.extend((!single).then_some(f64::NEG_INFINITY));
        let children = Children::new(trie);
        made.lay(cells, &children);
        let mut level = vec![0];
        for depth in 1.. {
            level = level.iter().flat_map(|&at| children.of(at)).copied().collect();
            if level.is_empty() || depth >= LENGTHS {
                break;
            }
            for &at in &level {
                made.link(at, cells[at as usize], scores[at as usize], (depth, none));
            }
        }
        made.mark_more();
        level.is_empty().then_some(made)
    }

    /// Gives the nodes their places, and all the first state to go on from.
    fn lay(&mut self, cells: &[Cell], children: &Children) {
        for (at, cell) in (0..).zip(cells) {
            if !children.of(at).is_empty() {
                self.nodes[at as usize] = Node::new(cell.base);
            }
        }
        for (at, cell) in (0..).zip(cells) {
            for &child in children.of(at) {
                self.nodes[child as usize].set_code(child - cell.base);
            }
        }
        let first = self.nodes[0];
        self.nodes.iter_mut().for_each(|node| node.set_other(first));
    }

    /// Fills in a node of so many characters, those of fewer being there: its cell, its score.
    fn link(&mut self, at: u32, cell: Cell, score: f64, (depth, none): (u32, u32)) {
        let at = at as usize;
        if cell.parent != 0 {
            let before = self.state(self.others[cell.parent as usize]);
            let other = self.step(before, self.nodes[at].code());
            self.others[at] = other.at;
            self.nodes[at].set_other(other.node);
        }
        // That of the first state is the unknown character's.
        let shorter = self.longest[self.others[at] as usize];
        self.longest[at] = if cell.id == NONE { shorter } else { cell.id };
        if let Some(row) = self.rows.get_mut(cell.id as usize) {
            *row = Row::new(score, depth, if depth == 1 { none } else { shorter });
        }
        if let Some(double) = self.doubles.get_mut(cell.id as usize) {
            *double = score;
        }
    }

    /// Notes where more than three texts end.
    fn mark_more(&mut self) {
        for longest in &mut self.longest {
            let row = |row: u32| self.rows[row as usize];
            let third = row(row(row(*longest).shorter()).shorter());
            *longest |= if third.length() == 1 { 0 } else { MORE };
        }
    }

    #[inline]
    fn state(&self, at: u32) -> State {
        State { at, node: self.nodes[at as usize] }
    }

    /// The row of an unknown character, which is no id.
    #[inline]
    pub(super) fn unknown(&self) -> u32 {
        self.rows.len() as u32 - 2
    }

    /// Before all characters.
    #[inline]
    pub(super) fn begin(&self) -> State {
        self.state(0)
    }

    /// The best way to a place, `before` being the scores so many characters before it. The longest text comes
    /// first, and stays if another is as good. Three are taken at a time, if need be with one that is none: how
    /// many there are nothing foretells.
    #[inline(always)]
    pub(super) fn best<S: Sum, const MARGIN: bool>(
        &self,
        state: State,
        before: impl Fn(usize) -> S,
    ) -> Best<S> {
        let longest = self.longest[state.at as usize];
        let id = longest & !MORE;
        let mut best = Best { score: S::LOWEST, second: S::LOWEST, row: id };
        let mut third = self.three::<S, MARGIN>(&mut best, id, &before);
        if longest >= MORE {
            while third.length() != 1 {
                third = self.three::<S, MARGIN>(&mut best, third.shorter(), &before);
            }
        }
        best
    }

    /// Looks at a text that ends there and the two behind it; the last of them.
    #[inline(always)]
    fn three<S: Sum, const MARGIN: bool>(
        &self,
        best: &mut Best<S>,
        id: u32,
        before: &impl Fn(usize) -> S,
    ) -> Row {
        let mut take = |id: u32| {
            let row = self.rows[id as usize];
            best.take::<MARGIN>(id, S::at(self, id) + before(row.length()));
            row
        };
        let one = take(id);
        let other = take(one.shorter());
        take(other.shorter())
    }

    /// Behind one more character: the child of the state, or of the one to go on from; both are looked at, as nothing foretells
    /// which it will be.
    #[inline]
    pub(super) fn step(&self, State { at, node }: State, code: u32) -> State {
        let (child, other) = (node.base() + code, node.other_base() + code);
        let (one, two) = (self.nodes[child as usize], self.nodes[other as usize]);
        if !(one.is_by(code) | two.is_by(code)) {
            return self.step_far(at, code);
        }
        let is_child = one.is_by(code);
        State {
            at: select_unpredictable(is_child, child, other),
            node: Node(select_unpredictable(is_child, one.0, two.0)),
        }
    }

    /// The same from the states beyond these two.
    #[inline(never)]
    fn step_far(&self, at: u32, code: u32) -> State {
        let mut at = self.others[at as usize];
        while at != 0 {
            at = self.others[at as usize];
            let next = self.nodes[at as usize].base() + code;
            if self.nodes[next as usize].is_by(code) {
                return self.state(next);
            }
        }
        self.begin()
    }
}

/// The children of the nodes of a trie.
struct Children {
    all: Vec<u32>,
    /// For each node where its own begin.
    begins: Vec<u32>,
}

impl Children {
    fn new(trie: &Trie) -> Children {
        let (cells, ..) = trie.nodes();
        let mut begins = vec![0; cells.len() + 2];
        let nodes = || (0..).zip(cells).skip(1).filter(|(_, cell)| cell.parent != NONE);
        for (_, cell) in nodes() {
            begins[cell.parent as usize + 2] += 1;
        }
        for at in 1..begins.len() {
            begins[at] += begins[at - 1];
        }
        let mut all = vec![0; begins.last().map_or(0, |&end| end as usize)];
        for (at, cell) in nodes() {
            let place = &mut begins[cell.parent as usize + 1];
            all[*place as usize] = at;
            *place += 1;
        }
        Children { all, begins }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.all[self.begins[node as usize] as usize..self.begins[node as usize + 1] as usize]
    }
}
