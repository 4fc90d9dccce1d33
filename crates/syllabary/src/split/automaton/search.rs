//! Running an automaton over a text, in time that grows with the text's length.
//!
//! Adds: `Search`, which finds where a match from one place ends. Each character is one look-up; look-ahead
//! over more than one character is run where it is asked for. A search reads on until nothing can match, and
//! its match may have ended long before; so as not to read the same text for every piece, a long search
//! notes, about every `STRIDE` bytes, that from this state and place no match was found (a look-ahead:
//! whether one was), and a later one that comes by in the same state stops there. What follows depends on the
//! state and the text ahead alone, so that is exact; and as a stretch is read at most once for each state,
//! time is linear. (Reps, "Maximal-munch" tokenization in linear time, 1998.) Leaves out what becomes of a
//! match.

use rustc_hash::FxHashMap;

use super::{
    Automaton,
    states::{ASK, DEAD, MATCH},
};

/// Searches that read less than this beyond their last match note nothing.
const LONG: usize = 256;
const STRIDE: usize = 16;
/// After a note was of use, so many searches look for one from their first character.
const EAGER: u32 = 64;
/// So many matches are found one by one where many at once came to nothing.
const SINGLE: u32 = 16;
/// Notes held at most (8 MiB); beyond that they are forgotten.
const MAX_NOTES: usize = 1 << 18;
/// No match.
const NONE: usize = usize::MAX;

/// The number of an automaton, a state and a place.
type Key = (u32, u32, usize);

/// The notes of one text.
#[derive(Debug, Default)]
pub(in super::super) struct Search {
    notes: FxHashMap<Key, bool>,
    /// Searches that shall look for notes at once.
    eager: u32,
    /// Matches to be found one by one, as many at once came to nothing.
    single: u32,
}

impl Search {
    /// Where the preferred match from `at` ends, if there is one.
    #[inline]
    pub(in super::super) fn end(&mut self, automaton: &Automaton, text: &str, at: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let mut row = automaton.start(text, at);
        let (mut place, mut last) = (at, NONE);
        let limit = if self.eager == 0 { bytes.len().min(at + LONG) } else { at };
        while place < limit {
            let (kind, width) = automaton.kinds.at(bytes, place);
            let mut entry = automaton.states.table[row as usize + usize::from(kind)];
            if entry & ASK != 0 {
                entry = self.answer(automaton, text, place, entry);
            }
            last = if entry & MATCH != 0 { place } else { last };
            row = entry & !MATCH;
            if row == DEAD {
                return (last != NONE).then_some(last);
            }
            place += width;
        }
        let last = self.go_on(automaton, text, (place, row), last, false);
        (last != NONE).then_some(last)
    }

    /// Writes where the matches end that follow each other from `at` on, and says how many; every character is in one.
    pub(in super::super) fn fill(
        &mut self,
        automaton: &Automaton,
        text: &str,
        mut at: usize,
        ends: &mut [usize],
    ) -> usize {
        let mut count = 0;
        while count < ends.len() && at < text.len() {
            if self.eager == 0
                && self.single == 0
                && let Some(many) = &automaton.ends
            {
                let found = many.fill(&automaton.kinds, text.as_bytes(), at, &mut ends[count..]);
                count += found;
                (at, self.single) = if found == 0 { (at, SINGLE) } else { (ends[count - 1], 0) };
            }
            if count < ends.len() && at < text.len() {
                at = self.end(automaton, text, at).unwrap_or(text.len());
                ends[count] = at;
                count += 1;
                self.single = self.single.saturating_sub(1);
            }
        }
        count
    }

    /// Whether `automaton` matches at `at`, be it the empty text.
    fn matches(&mut self, automaton: &Automaton, text: &str, at: usize) -> bool {
        self.go_on(automaton, text, (at, automaton.start(text, at)), NONE, true) != NONE
    }

    /// Where the last match ends that is found from a place and a state, else `last`; with notes. `any`:
    /// where some match ends.
    #[inline(never)]
    fn go_on(
        &mut self,
        automaton: &Automaton,
        text: &str,
        (begin, mut row): (usize, u32),
        mut last: usize,
        any: bool,
    ) -> usize {
        let bytes = text.as_bytes();
        let mut way: Vec<Key> = Vec::new();
        let (mut place, mut block, mut since) = (begin, usize::MAX, begin);
        let long = if self.eager == 0 { LONG } else { 0 };
        self.eager = self.eager.saturating_sub(1);
        while row != DEAD {
            if place - since >= long && place / STRIDE != block {
                block = place / STRIDE;
                let key = (automaton.number, row, place);
                if let Some(&found) = self.notes.get(&key) {
                    self.eager = EAGER;
                    last = if found { place } else { last };
                    break;
                }
                way.push(key);
            }
            let (kind, width) = if place < bytes.len() {
                automaton.kinds.at(bytes, place)
            } else {
                (automaton.kinds.len() as u8, 0)
            };
            let mut entry = automaton.states.table[row as usize + usize::from(kind)];
            if entry & ASK != 0 {
                entry = self.answer(automaton, text, place, entry);
            }
            if entry & MATCH != 0 {
                (last, since) = (place, place);
                if any {
                    break;
                }
                way.clear();
            }
            row = entry & !MATCH;
            place += width;
        }
        self.note(way, any && last != NONE);
        last
    }

    fn note(&mut self, way: Vec<Key>, found: bool) {
        if self.notes.len() + way.len() > MAX_NOTES {
            self.notes.clear();
        }
        self.notes.extend(way.into_iter().take(MAX_NOTES).map(|key| (key, found)));
    }

    /// The entry that a question at `at` leads to.
    #[inline(never)]
    fn answer(&mut self, automaton: &Automaton, text: &str, at: usize, mut entry: u32) -> u32 {
        while entry & ASK != 0 {
            let question = automaton.states.questions[(entry & !ASK) as usize];
            let yes = self.matches(&automaton.looks[question.look], text, at);
            entry = if yes { question.yes } else { question.no };
        }
        entry
    }
}
