//! A tree as a program of small steps.
//!
//! Adds: `Program`, of which several may be made over one set of kinds: the pattern's own and one for each
//! look-ahead over more than one character. Leaves out: how it is run (`states`).

use regex_syntax::hir::ClassUnicode;

use super::{kinds::Kinds, tree::Node};

/// The most steps of a program, and the deepest nesting of look-ahead.
const MAX_STEPS: usize = 20_000;
const MAX_DEPTH: usize = 16;

/// A set of symbols: kinds of characters, and the edge of the text as the symbol after the last kind.
pub(super) type Symbols = [u64; 4];

pub(super) fn contains(symbols: &Symbols, symbol: usize) -> bool {
    symbols[symbol / 64] >> (symbol % 64) & 1 != 0
}

/// One step; it goes on with the next one unless it says otherwise.
#[derive(Debug)]
pub(super) enum Step {
    /// Takes one character of the set.
    Take(Symbols),
    /// Goes on only if the symbol ahead is in the set.
    Ahead(Symbols),
    /// Goes on only if the symbol behind is in the set.
    Behind(Symbols),
    /// Goes on only if the look-ahead of this number matches or, if `negated`, does not.
    Look {
        number: usize,
        negated: bool,
    },
    /// Tries the first place, then the second.
    Fork(usize, usize),
    Jump(usize),
    Match,
}

/// The steps of a tree.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// The trees of its look-aheads, by number.
    pub(super) looks: Vec<Node>,
}

/// Every set in `node`, without doubles.
pub(super) fn sets(node: &Node, found: &mut Vec<ClassUnicode>) {
    match node {
        Node::Empty => {}
        Node::One(set) | Node::Near { set, .. } => {
            if !found.contains(set) {
                found.push(set.clone());
            }
        }
        Node::Concat(nodes) | Node::Alt(nodes) => nodes.iter().for_each(|node| sets(node, found)),
        Node::Repeat { child: node, .. } | Node::Far { tree: node, .. } | Node::Sole(node) => {
            sets(node, found)
        }
    }
}

/// How deep look-ahead is nested in `node`, if not too deep.
pub(super) fn depth(node: &Node) -> Option<usize> {
    let deepest = |nodes: &[Node]| nodes.iter().try_fold(0, |most, node| Some(depth(node)?.max(most)));
    let depth = match node {
        Node::Empty | Node::One(_) | Node::Near { .. } => 0,
        Node::Concat(nodes) | Node::Alt(nodes) => deepest(nodes)?,
        Node::Repeat { child: node, .. } | Node::Sole(node) => depth(node)?,
        Node::Far { tree, .. } => 1 + depth(tree)?,
    };
    (depth <= MAX_DEPTH).then_some(depth)
}

/// Makes programs over `kinds`, which are those of `sets`.
pub(super) struct Compiler<'k> {
    pub(super) kinds: &'k Kinds,
    pub(super) sets: &'k [ClassUnicode],
}

impl Compiler<'_> {
    /// The program of `node`, if it is short enough.
    pub(super) fn compile(&self, node: &Node) -> Option<Program> {
        let mut program = Program::default();
        self.push(&mut program, node)?;
        program.steps.push(Step::Match);
        Some(program)
    }

    fn push(&self, program: &mut Program, node: &Node) -> Option<()> {
        if program.steps.len() > MAX_STEPS {
            return None;
        }
        match node {
            Node::Empty => {}
            Node::One(set) => program.steps.push(Step::Take(self.symbols(set, false)?)),
            Node::Near { behind: false, set, edge } => {
                program.steps.push(Step::Ahead(self.symbols(set, *edge)?));
            }
            Node::Near { behind: true, set, edge } => {
                program.steps.push(Step::Behind(self.symbols(set, *edge)?));
            }
            Node::Far { tree, negated } => {
                program.steps.push(Step::Look { number: program.looks.len(), negated: *negated });
                program.looks.push(tree.as_ref().clone());
            }
            Node::Sole(node) => self.push(program, node)?,
            Node::Concat(nodes) => nodes.iter().try_for_each(|node| self.push(program, node))?,
            Node::Alt(nodes) => self.alternatives(program, nodes)?,
            Node::Repeat { child, least, most, greedy } => {
                for _ in 0..*least {
                    self.push(program, child)?;
                }
                match most {
                    None => self.endless(program, child, *greedy)?,
                    Some(most) => self.optional(program, child, most.checked_sub(*least)?, *greedy)?,
                }
            }
        }
        Some(())
    }

    fn symbols(&self, set: &ClassUnicode, edge: bool) -> Option<Symbols> {
        let number = self.sets.iter().position(|other| other == set)?;
        let mut symbols = [0; 4];
        let mut add = |symbol: usize| symbols[symbol / 64] |= 1 << (symbol % 64);
        (0..self.kinds.len()).filter(|&kind| self.kinds.is_in(kind, number)).for_each(&mut add);
        if edge {
            add(self.kinds.len());
        }
        Some(symbols)
    }

    fn alternatives(&self, program: &mut Program, nodes: &[Node]) -> Option<()> {
        let mut jumps = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let fork = program.steps.len();
            let is_last = at + 1 == nodes.len();
            if !is_last {
                program.steps.push(Step::Fork(fork + 1, 0));
            }
            self.push(program, node)?;
            if !is_last {
                jumps.push(program.steps.len());
                program.steps.push(Step::Jump(0));
                program.steps[fork] = Step::Fork(fork + 1, program.steps.len());
            }
        }
        let end = program.steps.len();
        jumps.into_iter().for_each(|jump| program.steps[jump] = Step::Jump(end));
        Some(())
    }

    /// `node*`
    fn endless(&self, program: &mut Program, node: &Node, greedy: bool) -> Option<()> {
        let fork = program.steps.len();
        program.steps.push(Step::Jump(0));
        self.push(program, node)?;
        program.steps.push(Step::Jump(fork));
        program.steps[fork] = fork_to(fork + 1, program.steps.len(), greedy);
        Some(())
    }

    /// `node{0,times}`
    fn optional(&self, program: &mut Program, node: &Node, times: u32, greedy: bool) -> Option<()> {
        let mut forks = Vec::new();
        for _ in 0..times {
            forks.push(program.steps.len());
            program.steps.push(Step::Jump(0));
            self.push(program, node)?;
        }
        let end = program.steps.len();
        forks.into_iter().for_each(|fork| program.steps[fork] = fork_to(fork + 1, end, greedy));
        Some(())
    }
}

/// To `more` or to `end`, the former first if `greedy`.
fn fork_to(more: usize, end: usize, greedy: bool) -> Step {
    if greedy { Step::Fork(more, end) } else { Step::Fork(end, more) }
}
