//! A program as a table of states: what to do for each symbol ahead.
//!
//! Adds: `States`, made in full beforehand and so shared by all threads. A state is the list of places of the
//! program that are alive, the preferred one first, and what was behind as far as the program asks for it. A
//! step of the table sees the symbol ahead, follows from every place all that takes nothing (look-around over one
//! character is decided then), up to the first place that has matched, for those after it are not preferred; then
//! it takes the symbol. Look-ahead over more is asked while running. Leaves out: running (`search`).

use rustc_hash::FxHashMap;

use super::{
    kinds::Kinds,
    program::{Program, Step, Symbols, contains},
};

/// Set in an entry: a match ends here, before the symbol ahead.
pub(super) const MATCH: u32 = 1 << 31;
/// Set in an entry: the rest is the number of a question.
pub(super) const ASK: u32 = 1 << 30;
/// The state from which nothing can match any more.
pub(super) const DEAD: u32 = 0;

/// Beyond these no table is made: entries (4 bytes each), places in the lists of all states, questions, places
/// followed.
const MAX_ENTRIES: usize = 1 << 20;
const MAX_PLACES: usize = 1 << 20;
const MAX_QUESTIONS: usize = 1 << 16;
const MAX_WORK: usize = 20_000_000;

/// A look-ahead that decides between two entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub(super) look: usize,
    pub(super) yes: u32,
    pub(super) no: u32,
}

/// The states of a program; a state is the place of its row in the table.
#[derive(Debug)]
pub(super) struct States {
    /// For each state and symbol: the next state, or a question.
    pub(super) table: Vec<u32>,
    pub(super) questions: Vec<Question>,
    /// The first state, by what is behind: each kind, and the edge.
    pub(super) starts: Vec<u32>,
}

/// What was behind, as the set of the program's `Behind` steps that hold, and the places alive.
type State = (Vec<bool>, Vec<u32>);

struct Maker<'p> {
    program: &'p Program,
    /// Entries of a row: the kinds and the edge.
    symbols: usize,
    behind: Vec<Symbols>,
    numbers: FxHashMap<State, u32>,
    waiting: Vec<(State, u32)>,
    states: States,
    /// When each place was last followed.
    seen: Vec<u32>,
    round: u32,
    work: usize,
    /// Places in all lists.
    listed: usize,
}

impl States {
    /// The table of `program`, if it is small enough.
    pub(super) fn new(program: &Program, kinds: &Kinds) -> Option<States> {
        let symbols = kinds.len() + 1;
        let mut behind: Vec<Symbols> = Vec::new();
        for step in &program.steps {
            if let Step::Behind(set) = step
                && !behind.contains(set)
            {
                behind.push(*set);
            }
        }
        let mut maker = Maker {
            program,
            symbols,
            behind,
            numbers: FxHashMap::default(),
            waiting: Vec::new(),
            // The row of the dead state.
            states: States { table: vec![DEAD; symbols], questions: Vec::new(), starts: Vec::new() },
            seen: vec![0; program.steps.len()],
            round: 0,
            work: 0,
            listed: 0,
        };
        for symbol in 0..symbols {
            let start = maker.state(symbol, vec![0])?;
            maker.states.starts.push(start);
        }
        while let Some((state, row)) = maker.waiting.pop() {
            for symbol in 0..symbols {
                maker.states.table[row as usize + symbol] = maker.entry(&state, symbol, &mut Vec::new())?;
            }
        }
        Some(maker.states)
    }

    /// Whether nothing of it depends on what is behind.
    pub(super) fn forgets(&self) -> bool {
        self.starts.iter().all(|&start| start == self.starts[0])
    }
}

impl Maker<'_> {
    /// The state with `places` alive after the symbol `behind`.
    fn state(&mut self, behind: usize, places: Vec<u32>) -> Option<u32> {
        if places.is_empty() {
            return Some(DEAD);
        }
        let state: State = (self.behind.iter().map(|set| contains(set, behind)).collect(), places);
        if let Some(&row) = self.numbers.get(&state) {
            return Some(row);
        }
        let row = self.states.table.len();
        self.listed += state.1.len();
        if row + self.symbols > MAX_ENTRIES || self.listed > MAX_PLACES {
            return None;
        }
        self.states.table.resize(row + self.symbols, DEAD);
        self.numbers.insert(state.clone(), row as u32);
        self.waiting.push((state, row as u32));
        Some(row as u32)
    }

    /// The entry for `symbol` ahead, where the look-aheads in `known` are answered.
    fn entry(&mut self, state: &State, symbol: usize, known: &mut Vec<(usize, bool)>) -> Option<u32> {
        match self.follow(state, symbol, known)? {
            Ok((matched, places)) => {
                let next = if symbol + 1 == self.symbols { DEAD } else { self.state(symbol, places)? };
                Some(next | if matched { MATCH } else { 0 })
            }
            Err(look) => {
                let mut answered = |answer| {
                    known.push((look, answer));
                    let entry = self.entry(state, symbol, known);
                    known.pop();
                    entry
                };
                let (no, yes) = (answered(false)?, answered(true)?);
                let number = self.states.questions.len();
                self.states.questions.push(Question { look, yes, no });
                (number < MAX_QUESTIONS).then_some(ASK | number as u32)
            }
        }
    }

    /// Whether a match ends before `symbol`, and the places alive after it; or the look-ahead to be asked first.
    /// `None`: too much work.
    #[allow(clippy::type_complexity)]
    fn follow(
        &mut self,
        (behind, places): &State,
        symbol: usize,
        known: &[(usize, bool)],
    ) -> Option<Result<(bool, Vec<u32>), usize>> {
        self.round += 1;
        let mut alive = Vec::new();
        let mut stack: Vec<u32> = places.iter().rev().copied().collect();
        while let Some(place) = stack.pop() {
            let at = place as usize;
            if std::mem::replace(&mut self.seen[at], self.round) == self.round {
                continue;
            }
            self.work += 1;
            if self.work > MAX_WORK {
                return None;
            }
            match &self.program.steps[at] {
                Step::Take(set) if contains(set, symbol) => alive.push(place + 1),
                Step::Ahead(set) if contains(set, symbol) => stack.push(place + 1),
                Step::Behind(set) => {
                    let number = self.behind.iter().position(|other| other == set)?;
                    stack.extend(behind[number].then_some(place + 1));
                }
                Step::Take(_) | Step::Ahead(_) => {}
                Step::Look { number, negated } => match known.iter().find(|(look, _)| look == number) {
                    None => return Some(Err(*number)),
                    Some((_, answer)) => stack.extend((answer != negated).then_some(place + 1)),
                },
                Step::Fork(first, second) => stack.extend([*second as u32, *first as u32]),
                Step::Jump(to) => stack.push(*to as u32),
                Step::Match => return Some(Ok((true, alive))),
            }
        }
        Some(Ok((false, alive)))
    }
}
