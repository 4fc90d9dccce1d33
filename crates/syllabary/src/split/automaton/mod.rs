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
    /// By a byte, whether it is a character with which no match begins; no byte of a longer one is.
    idle: Box<[bool; 256]>,
    /// For each kind, whether every character of it is in some match.
    begins: Vec<bool>,
    /// For each two kinds, whether what is found on both sides of a place between them is found without the other;
    /// empty: nowhere.
    apart: Vec<bool>,
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
        made.idle = made.idle_bytes();
        made.begins = made.kinds_that_begin_matches();
        made.covers = !made.begins.contains(&false);
        made.ends = if made.covers { Ends::new(&made.states, made.kinds.len() + 1) } else { None };
        made.apart = made.places_apart().unwrap_or_default();
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
        Some(Automaton {
            kinds,
            states,
            looks,
            number,
            forgets,
            covers: false,
            idle: Box::new([false; 256]),
            begins: Vec::new(),
            apart: Vec::new(),
            ends: None,
        })
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
        let bytes = text.as_bytes();
        loop {
            at += bytes[at..].iter().take_while(|&&byte| self.idle[usize::from(byte)]).count();
            if at >= bytes.len() {
                return;
            }
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

    fn kind(&self, c: char) -> usize {
        self.kinds.at(c.encode_utf8(&mut [0; 4]).as_bytes(), 0).0.into()
    }

    /// Whether `fancy-regex` would find in a text, around a place between these characters, what it finds in the two halves.
    pub(super) fn is_apart(&self, before: char, after: char) -> bool {
        !self.apart.is_empty() && self.apart[self.kind(before) * self.kinds.len() + self.kind(after)]
    }

    /// The same, and a match begins or ends there.
    pub(super) fn can_cut(&self, before: char, after: char) -> bool {
        self.is_apart(before, after) && (self.begins[self.kind(before)] || self.begins[self.kind(after)])
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

    fn idle_bytes(&self) -> Box<[bool; 256]> {
        let mut idle = Box::new([false; 256]);
        for (byte, idle) in (0..128_u8).zip(idle.iter_mut()) {
            let kind = usize::from(self.kinds.at(&[byte], 0).0);
            *idle = self.states.starts.iter().all(|&start| self.states.table[start as usize + kind] == DEAD);
        }
        idle
    }

    /// For each kind, whether a search that has read a character of it always comes upon a match.
    fn kinds_that_begin_matches(&self) -> Vec<bool> {
        let (symbols, fails) = (self.kinds.len() + 1, self.states_that_may_fail());
        let begins = |kind: usize| {
            let mut begins = true;
            for &start in &self.states.starts {
                let entry = self.states.table[start as usize + kind];
                self.outcomes(entry, &mut |_, next| begins &= !fails[next as usize / symbols]);
            }
            begins
        };
        (0..self.kinds.len()).map(begins).collect()
    }

    /// For each state, whether a search in it may come to its end without a match: by a symbol before which there is
    /// none it dies or goes on to another such state.
    fn states_that_may_fail(&self) -> Vec<bool> {
        let (symbols, table) = (self.kinds.len() + 1, &self.states.table);
        let mut before = vec![Vec::new(); table.len() / symbols];
        for (at, &entry) in table.iter().enumerate() {
            let mut goes_on = |matched: bool, next: u32| {
                if !matched {
                    before[next as usize / symbols].push(at / symbols);
                }
            };
            self.outcomes(entry, &mut goes_on);
        }
        let mut fails = vec![false; before.len()];
        let mut waiting = vec![DEAD as usize];
        while let Some(state) = waiting.pop() {
            if !std::mem::replace(&mut fails[state], true) {
                waiting.append(&mut before[state]);
            }
        }
        fails
    }

    /// For each two kinds `x` and `y`, whether a text has apart what is found before and behind a place between them. So it
    /// is if no search that has read `x` goes on with `y`, and has matched before it just as before the end of the text:
    /// then no match crosses the place, none before saw further than `x`, and what follows does not look back. Where
    /// `x` or `y` is always in a match, one ends or begins there.
    fn places_apart(&self) -> Option<Vec<bool>> {
        let (kinds, table) = (self.kinds.len(), &self.states.table);
        if !self.begins.contains(&true) || !self.forgets || !self.states.questions.is_empty() {
            return None;
        }
        if table.len().saturating_mul(kinds) > MAX_CUT_WORK {
            return None;
        }
        let mut apart = vec![true; kinds * kinds];
        for row in (0..table.len()).step_by(kinds + 1).skip(1) {
            for before in 0..kinds {
                let next = (table[row + before] & !MATCH) as usize;
                if next == DEAD as usize {
                    continue;
                }
                let at_end = table[next + kinds] & MATCH;
                for after in 0..kinds {
                    apart[before * kinds + after] &= table[next + after] == at_end | DEAD;
                }
            }
        }
        apart.contains(&true).then_some(apart)
    }
}
