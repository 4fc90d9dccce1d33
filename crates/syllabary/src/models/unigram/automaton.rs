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

use super::{NONE, trie::Trie};

/// Texts have fewer characters, as a length is a byte; ids are smaller, as one has the bytes above.
const LENGTHS: u32 = 1 << 8;

/// A state, which is a node of the trie: where its children are counted from, whose child it is, the state to go on from
/// where it has no child (0: the first), and the row of the longest text that ends there.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Node {
    base: u32,
    parent: u32,
    other: u32,
    row: u32,
}

/// Where one is.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    at: u32,
    node: Node,
}

impl State {
    /// The row of the longest text that ends here.
    #[inline]
    pub(super) fn row(self) -> u32 {
        self.node.row
    }
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

/// The states, and the rows.
#[derive(Debug)]
pub(super) struct Automaton {
    nodes: Vec<Node>,
    /// By code the state behind one character.
    firsts: Vec<u32>,
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
        let mut made = Automaton {
            // Every step from every state stays inside.
            nodes: vec![
                Node { base: 0, parent: NONE, other: 0, row: unknown };
                cells.len().max(bases + codes)
            ],
            firsts: vec![0; codes],
            rows: vec![Row::new(trie.unknown(), 1, none); bound + 1],
            doubles: if single { Vec::new() } else { vec![trie.unknown(); bound + 1] },
        };
        made.rows.push(Row::new(f64::NEG_INFINITY, 1, none));
        made.doubles.extend((!single).then_some(f64::NEG_INFINITY));
        for (node, cell) in made.nodes.iter_mut().zip(cells) {
            (node.base, node.parent) = (cell.base, cell.parent);
        }
        made.nodes[0].parent = NONE;
        for (code, first) in made.firsts.iter_mut().enumerate().skip(1) {
            let at = cells.first()?.base as usize + code;
            *first = if cells.get(at).is_some_and(|cell| cell.parent == 0) { at as u32 } else { 0 };
        }
        let children = Children::new(trie);
        let mut level = vec![0];
        for depth in 1.. {
            level = level.iter().flat_map(|&at| children.of(at)).copied().collect();
            if level.is_empty() || depth >= LENGTHS {
                break;
            }
            for &at in &level {
                let cell = cells[at as usize];
                if cell.parent != 0 {
                    let before = made.state(made.nodes[cell.parent as usize].other);
                    made.nodes[at as usize].other =
                        made.step(before, at - cells[cell.parent as usize].base).at;
                }
                // That of the first state is the unknown character's.
                let shorter = made.nodes[made.nodes[at as usize].other as usize].row;
                made.nodes[at as usize].row = if cell.id == NONE { shorter } else { cell.id };
                if let Some(row) = made.rows.get_mut(cell.id as usize) {
                    *row = Row::new(scores[at as usize], depth, if depth == 1 { none } else { shorter });
                }
                if let Some(double) = made.doubles.get_mut(cell.id as usize) {
                    *double = scores[at as usize];
                }
            }
        }
        level.is_empty().then_some(made)
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

    /// Behind one more character.
    #[inline]
    pub(super) fn step(&self, mut state: State, code: u32) -> State {
        loop {
            let next = self.state(state.node.base + code);
            if next.node.parent == state.at {
                return next;
            }
            if state.node.other == 0 {
                return self.state(self.firsts[code as usize]);
            }
            state = self.state(state.node.other);
        }
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
