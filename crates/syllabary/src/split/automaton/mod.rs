//! Patterns as automata over the kinds of characters that they tell apart: one look-up a character.
//!
//! ```text
//! pattern --fancy-regex's parser--> its tree --tree--> a tree without possessive and atomic parts
//!   --kinds, program, states--> a table: (state, kind of the character ahead) -> (a match ends here?, next state)
//! ```
//!
//! Adds: `Automaton`, the leftmost matches of a pattern, each the first choice as a backtracking matcher
//! tries them, in linear time and without giving up; whether every character is in some match; where a text
//! can be cut. Immutable, shared by all threads. Leaves out what `tree` leaves out, and patterns whose table
//! would be large: those stay with `fancy-regex`.

mod ends;
mod kinds;
mod program;
mod search;
mod states;
#[cfg(test)]
mod tests;
mod tree;

use std::sync::Arc;

use fancy_regex::Expr;
use rustc_hash::FxHashSet;

use ends::Ends;
use kinds::Kinds;
use program::Compiler;
pub(super) use search::Search;
use states::{ASK, DEAD, MATCH, States};
use tree::Node;

/// Beyond so many steps no safe cuts are looked for.
const MAX_CUT_WORK: usize = 20_000_000;

/// A pattern, or a look-ahead in it.
#[derive(Debug)]
pub(super) struct Automaton {
    kinds: Arc<Kinds>,
    states: States,
    looks: Vec<Automaton>,
    /// One for each automaton of a pattern.
    number: u32,
    forgets: bool,
    /// Every character of every text is in some match.
    covers: bool,
    /// For each two kinds, whether a text can be cut between them; empty: nowhere.
    cuts: Vec<bool>,
    /// Where every character is in some match.
    ends: Option<Ends>,
}

impl Automaton {
    /// The automaton of a pattern, if there is one and no match can be empty.
    pub(super) fn new(pattern: &Expr) -> Option<Automaton> {
        let tree = tree::of_pattern(pattern)?;
        program::depth(&tree)?;
        let mut sets = Vec::new();
        program::sets(&tree, &mut sets);
        let kinds = Arc::new(Kinds::new(&sets)?);
        let compiler = Compiler { kinds: &kinds, sets: &sets };
        let mut made = Automaton::of_tree(&tree, &compiler, &kinds, &mut 0)?;
        made.covers = made.every_character_begins_a_match();
        made.ends = if made.covers { Ends::new(&made.states, made.kinds.len() + 1) } else { None };
        made.cuts = made.safe_cuts().unwrap_or_default();
        Some(made)
    }

    fn of_tree(
        tree: &Node,
        compiler: &Compiler<'_>,
        kinds: &Arc<Kinds>,
        made: &mut u32,
    ) -> Option<Automaton> {
        let number = *made;
        *made += 1;
        let program = compiler.compile(tree)?;
        let states = States::new(&program, kinds)?;
        let looks = program.looks.iter().map(|tree| Automaton::of_tree(tree, compiler, kinds, made));
        let looks = looks.collect::<Option<_>>()?;
        let forgets = states.forgets();
        let kinds = kinds.clone();
        Some(Automaton { kinds, states, looks, number, forgets, covers: false, cuts: Vec::new(), ends: None })
    }

    /// The state at `at`.
    #[inline]
    fn start(&self, text: &str, at: usize) -> u32 {
        if self.forgets {
            return self.states.starts[0];
        }
        let behind = self.kinds.before(text, at).map_or(self.kinds.len(), usize::from);
        self.states.starts[behind]
    }

    /// Calls `each` with every match, start and end, in order.
    pub(super) fn matches(&self, text: &str, each: &mut impl FnMut(usize, usize)) {
        let mut search = Search::default();
        let mut at = 0;
        while at < text.len() {
            match search.end(self, text, at) {
                Some(end) => {
                    each(at, end);
                    at = end;
                }
                None => at += self.kinds.at(text.as_bytes(), at).1,
            }
        }
    }

    /// Whether every character of every text is in some match.
    pub(super) fn covers(&self) -> bool {
        self.covers
    }

    /// Whether `fancy-regex` would split the text around a place between these characters as the two halves.
    pub(super) fn can_cut(&self, before: char, after: char) -> bool {
        let kind = |c: char| usize::from(self.kinds.at(c.encode_utf8(&mut [0; 4]).as_bytes(), 0).0);
        !self.cuts.is_empty() && self.cuts[kind(before) * self.kinds.len() + kind(after)]
    }

    /// What an entry may be once its look-aheads are answered, to `each`.
    fn outcomes(&self, entry: u32, each: &mut impl FnMut(bool, u32)) {
        if entry & ASK == 0 {
            return each(entry & MATCH != 0, entry & !MATCH);
        }
        let question = self.states.questions[(entry & !ASK) as usize];
        self.outcomes(question.yes, each);
        self.outcomes(question.no, each);
    }

    /// Whether a search that has read one character always comes upon a match: each state that it may be in
    /// before has for every symbol a match or, unless that is the edge, a next state that is so too.
    fn every_character_begins_a_match(&self) -> bool {
        let symbols = self.kinds.len() + 1;
        let mut covers = true;
        let mut waiting = Vec::new();
        for &start in &self.states.starts {
            for kind in 0..self.kinds.len() {
                self.outcomes(self.states.table[start as usize + kind], &mut |_, next| waiting.push(next));
            }
        }
        let mut seen = FxHashSet::default();
        while let Some(row) = waiting.pop() {
            covers &= row != DEAD;
            if seen.insert(row) {
                for &entry in &self.states.table[row as usize..row as usize + symbols] {
                    self.outcomes(entry, &mut |matched, next| waiting.extend((!matched).then_some(next)));
                }
            }
        }
        covers
    }

    /// For each two kinds `x` and `y`, whether a text can be cut between them. So it is if no search that has
    /// read `x` goes on with `y`, and has matched before it just as before the end of the text: then some
    /// piece ends there, every piece is in a match, none before saw further than `x`, and what follows does
    /// not look back.
    fn safe_cuts(&self) -> Option<Vec<bool>> {
        let (kinds, table) = (self.kinds.len(), &self.states.table);
        if !self.covers || !self.forgets || !self.states.questions.is_empty() {
            return None;
        }
        if table.len().saturating_mul(kinds) > MAX_CUT_WORK {
            return None;
        }
        let mut cuts = vec![true; kinds * kinds];
        for row in (0..table.len()).step_by(kinds + 1).skip(1) {
            for before in 0..kinds {
                let next = (table[row + before] & !MATCH) as usize;
                if next == DEAD as usize {
                    continue;
                }
                let at_end = table[next + kinds] & MATCH;
                for after in 0..kinds {
                    cuts[before * kinds + after] &= table[next + after] == at_end | DEAD;
                }
            }
        }
        cuts.contains(&true).then_some(cuts)
    }
}
