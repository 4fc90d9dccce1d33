//! The merge loop of Hugging Face's `BpeTrainer`: tokens are names, and a name has one id.
//!
//! The specification, with the rules and why they are so, is `reference/train_huggingface.py`. As there, the queue
//! holds entries (a pair, the count that was seen, the places that it came up at in one step); an entry merges its
//! pair wherever that stands in the words of its places; a count is never taken down by its own merge.
//! Leaves out: words and first names (`huggingface_words`, `huggingface_names`).
//!
//! Every visit of a place removes one symbol or finds it gone. A pair with several entries is looked for at the
//! places of all of them, which then keep one place for each word that is done.

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    GoOn, ask,
    huggingface_births::{Change, Side},
    huggingface_learn::{check_memory, check_places},
    huggingface_names::{EDGE, Each, GONE, Spelled, spell},
};
use crate::Error;

const NONE: u32 = u32::MAX;

/// The options of `BpeTrainer`, as in `reference/train_huggingface.py`.
#[derive(Clone, Debug, Default)]
pub struct BpeTrainerOptions {
    /// Names in all; learning ends there.
    pub vocab_size: usize,
    /// A pair seen less often never merges.
    pub min_frequency: u64,
    /// Names with the first ids.
    pub special_tokens: Vec<String>,
    /// How many characters are kept.
    pub limit_alphabet: Option<usize>,
    /// Characters that count as the most frequent.
    pub initial_alphabet: Vec<char>,
    /// Stands before every symbol of a word but the first.
    pub continuing_subword_prefix: String,
    /// Stands behind the last symbol of a word.
    pub end_of_word_suffix: String,
    /// Neighbours that come to be with this many characters or more are not counted.
    pub max_token_length: Option<u64>,
    /// The words are bytes; their symbols are GPT-2's characters for them.
    pub byte_level: bool,
}

/// What was learned.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Trained {
    /// By id.
    pub names: Vec<String>,
    /// How many names there were before the first merge.
    pub first: usize,
    /// Every merge noted: left, right, result.
    pub merges: Vec<(u32, u32, u32)>,
    /// The count of each.
    pub counts: Vec<u64>,
}

/// A pair; `entry` is the first of its entries that are left.
#[derive(Debug)]
pub(super) struct Pair {
    ids: (u32, u32),
    count: i64,
    entry: u32,
}

/// Places of a pair that came to be in one step: a stretch of the arena.
#[derive(Debug)]
pub(super) struct Entry {
    pair: u32,
    start: usize,
    length: u32,
}

/// Count, smaller pair, earlier turn; and the entry.
type Waiting = (u64, Reverse<(u32, u32)>, Reverse<u64>, u32);

#[derive(Debug, Default)]
pub(super) struct Merging {
    pub spelled: Spelled,
    limit: u64,
    pub pairs: Vec<Pair>,
    of: FxHashMap<(u32, u32), u32>,
    pub entries: Vec<Entry>,
    /// The entries that a pair has besides its first.
    more: FxHashMap<u32, Vec<u32>>,
    pub arena: Vec<u32>,
    queue: BinaryHeap<Waiting>,
    /// How many were put in the queue by now.
    turns: u64,
    /// Entries whose count is below `least`: they come up when the queue is empty.
    rare: Vec<(u64, u32)>,
    least: u64,
    before: Side,
    after: Side,
}

/// Is told the merges noted by now, and their counts; says whether to go on.
pub type Progress<'a> = dyn FnMut(&[(u32, u32, u32)], &[u64]) -> bool + 'a;

/// Learns from words with their counts. memory: bytes of it, at most.
///
/// # Errors
/// `Error::Training` where memory does not suffice. `Error::TooLarge` beyond 2^32 symbols, pairs or names, or 2^63 symbols counted; `Error::Interrupted`.
pub(super) fn learn(
    words: &Each<'_>,
    options: &BpeTrainerOptions,
    memory: Option<usize>,
    progress: &mut Progress<'_>,
) -> Result<Trained, Error> {
    let fits = |places| check_places(places, memory);
    let (spelled, mut made) = spell(words, options, fits, &mut || progress(&[], &[]))?;
    let mut state = Merging::new(spelled, options.max_token_length, &mut || progress(&[], &[]))?;
    while made.trained.names.len() < options.vocab_size {
        check_memory(&state, memory)?;
        if !progress(&made.trained.merges, &made.trained.counts) {
            return Err(Error::Interrupted);
        }
        let Some((entry, count)) = state.best() else { break };
        if count < options.min_frequency.max(1) {
            break;
        }
        let pair = state.pairs[state.entries[entry as usize].pair as usize].ids;
        let id = made.merge(pair, count, &options.continuing_subword_prefix)?;
        state.merge(entry, id, &mut || progress(&made.trained.merges, &made.trained.counts))?;
    }
    Ok(made.trained)
}

pub(super) fn index(number: usize) -> Result<u32, Error> {
    u32::try_from(number)
        .ok()
        .filter(|number| *number < GONE)
        .ok_or_else(|| Error::TooLarge("over 2^32 symbols in distinct words, pairs or names".to_owned()))
}

impl Merging {
    fn new(spelled: Spelled, limit: Option<u64>, go_on: &mut GoOn<'_>) -> Result<Merging, Error> {
        let mut state =
            Merging { spelled, limit: limit.unwrap_or(u64::MAX), least: u64::MAX, ..Merging::default() };
        let places = state.spelled.flat.len();
        let mut pair_at = vec![NONE; places];
        let mut lengths = Vec::new();
        for at in 1..places {
            ask(go_on, at)?;
            let (left, right) = (state.spelled.flat[at - 1], state.spelled.flat[at]);
            if left == EDGE || right == EDGE {
                continue;
            }
            let pair = state.pair(left, right)?;
            lengths.resize(state.pairs.len(), 0);
            lengths[pair as usize] += 1_usize;
            state.pairs[pair as usize].count += state.spelled.weight(index(at)?);
            pair_at[at - 1] = pair;
        }
        let mut start = 0;
        for (pair, length) in lengths.iter().enumerate() {
            state.entries.push(Entry { pair: index(pair)?, start, length: 0 });
            state.pairs[pair].entry = index(pair)?;
            start += length;
        }
        state.arena = vec![0; start];
        for (at, &pair) in pair_at.iter().enumerate() {
            if pair != NONE {
                let entry = &mut state.entries[pair as usize];
                state.arena[entry.start + entry.length as usize] = index(at)?;
                entry.length += 1;
            }
        }
        for entry in 0..state.entries.len() {
            state.wait(index(entry)?);
        }
        Ok(state)
    }

    /// The number of a pair, new or not.
    fn pair(&mut self, left: u32, right: u32) -> Result<u32, Error> {
        if let Some(&pair) = self.of.get(&(left, right)) {
            return Ok(pair);
        }
        let pair = index(self.pairs.len())?;
        self.pairs.push(Pair { ids: (left, right), count: 0, entry: NONE });
        self.of.insert((left, right), pair);
        Ok(pair)
    }

    /// The count of an entry's pair, without its sign, as it is compared.
    fn count(&self, entry: u32) -> u64 {
        self.pairs[self.entries[entry as usize].pair as usize].count.cast_unsigned()
    }

    /// Puts an entry in the queue, with the count as it is now.
    fn wait(&mut self, entry: u32) {
        let count = self.count(entry);
        if count < self.least {
            return self.rare.push((count, entry));
        }
        let waiting = self.waiting(count, entry);
        self.queue.push(waiting);
    }

    /// An entry as it waits, behind all equal ones.
    fn waiting(&mut self, count: u64, entry: u32) -> Waiting {
        let pair = self.entries[entry as usize].pair;
        self.turns += 1;
        (count, Reverse(self.pairs[pair as usize].ids), Reverse(self.turns), entry)
    }

    /// The next entry, taken from the queue, and its count; `None` if there is none.
    fn best(&mut self) -> Option<(u32, u64)> {
        loop {
            while self.queue.is_empty() {
                self.lower()?;
            }
            let (seen, _, _, entry) = self.queue.pop()?;
            let count = self.count(entry);
            if seen == count {
                return Some((entry, count));
            }
            self.wait(entry);
        }
    }

    /// Moves the most frequent of the rare entries into the queue, with the counts that were seen.
    fn lower(&mut self) -> Option<()> {
        let most = self.rare.iter().map(|(count, _)| *count).max()?;
        self.least = most / 2;
        let least = self.least;
        let (next, rare): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.rare).into_iter().partition(|(count, _)| *count >= least);
        self.rare = rare;
        self.queue = next.into_iter().map(|(count, entry)| self.waiting(count, entry)).collect();
        Some(())
    }

    /// Where the pair of an entry may stand in the entry's words, ascending; the entry is used up.
    fn candidates(&mut self, entry: u32) -> Vec<u32> {
        let Entry { pair, start, length } = self.entries[entry as usize];
        let mut found = self.arena[start..start + length as usize].to_vec();
        self.entries[entry as usize].length = 0;
        let Some(mut those) = self.more.remove(&pair) else {
            self.pairs[pair as usize].entry = NONE;
            return found;
        };
        those.push(self.pairs[pair as usize].entry);
        those.retain(|other| *other != entry);
        let word = |at: u32| self.spelled.words[at as usize];
        let done: FxHashSet<u32> = found.iter().map(|at| word(*at)).collect();
        for &other in &those {
            let Entry { start, length, .. } = self.entries[other as usize];
            let (mut kept, mut last) = (0, NONE);
            for from in start..start + length as usize {
                let at = self.arena[from];
                let inside = done.contains(&word(at));
                if inside {
                    found.push(at);
                }
                if !(inside && last == word(at)) {
                    self.arena[start + kept as usize] = at;
                    kept += 1;
                }
                last = if inside { word(at) } else { NONE };
            }
            self.entries[other as usize].length = kept;
        }
        self.pairs[pair as usize].entry = those.pop().unwrap_or(NONE);
        if !those.is_empty() {
            self.more.insert(pair, those);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Merges the pair of an entry into `id` wherever it stands in the entry's words.
    fn merge(&mut self, entry: u32, id: u32, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let merged = self.pairs[self.entries[entry as usize].pair as usize].ids;
        for (step, place) in self.candidates(entry).into_iter().enumerate() {
            ask(go_on, step)?;
            let Some(length) = self.spelled.join(place, merged, id) else { continue };
            let weight = self.spelled.weight(place);
            if let Some((there, other, other_length)) = self.spelled.neighbour_before(place) {
                self.before.went(other, weight);
                let counted = u64::from(other_length) + u64::from(length) < self.limit;
                // What was merged here just before is a pair of `id` and `id`: in one list, wherever it is seen.
                let side = if other == id { &mut self.after } else { &mut self.before };
                side.came(other, there, counted, weight);
            }
            if let Some((other, other_length)) = self.spelled.neighbour_after(place) {
                self.after.went(other, weight);
                let counted = u64::from(other_length) + u64::from(length) < self.limit;
                self.after.came(other, place, counted, weight);
            }
        }
        self.settle(merged, id)
    }

    /// Takes what went from the counts, adds what came, and lets the new entries wait.
    fn settle(&mut self, merged: (u32, u32), id: u32) -> Result<(), Error> {
        let mut waiting = Vec::new();
        for change in self.before.take(&mut self.arena) {
            let went = self.pair(change.other, merged.0)?;
            let came = self.pair(change.other, id)?;
            self.change(&change, went, came, &mut waiting)?;
        }
        for change in self.after.take(&mut self.arena) {
            let went = self.pair(merged.1, change.other)?;
            let came = self.pair(id, change.other)?;
            self.change(&change, went, came, &mut waiting)?;
        }
        for entry in waiting {
            if self.pairs[self.entries[entry as usize].pair as usize].count > 0 {
                self.wait(entry);
            }
        }
        Ok(())
    }

    /// The new counts of two pairs, and the new entries of the second; those that counted go to `waiting`.
    fn change(&mut self, change: &Change, went: u32, came: u32, waiting: &mut Vec<u32>) -> Result<(), Error> {
        self.pairs[went as usize].count -= change.went;
        self.pairs[came as usize].count += change.came;
        for ((start, length), counts) in [(change.counted, true), (change.silent, false)] {
            if length == 0 {
                continue;
            }
            let entry = index(self.entries.len())?;
            self.entries.push(Entry { pair: came, start, length });
            let first = &mut self.pairs[came as usize].entry;
            if *first == NONE {
                *first = entry;
            } else {
                self.more.entry(came).or_default().push(entry);
            }
            if counts {
                waiting.push(entry);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::huggingface_names::tests::of, *};

    #[test]
    fn a_name_is_used_again_and_a_count_falls_below_zero() {
        let mark = || "a".to_owned();
        let options = BpeTrainerOptions {
            vocab_size: 60,
            continuing_subword_prefix: mark(),
            end_of_word_suffix: mark(),
            max_token_length: Some(3),
            ..BpeTrainerOptions::default()
        };
        let trained = learn(&of(&[(b"aaaa", 1)]), &options, None, &mut |_, _| true).unwrap();
        assert_eq!(trained.names, ["a", "aa", "aaa", "aaaa"]);
        assert_eq!(trained.merges, [(0, 1, 1), (1, 2, 3), (1, 1, 2)]);
        assert_eq!(trained.counts, [1, 1, u64::MAX]);
    }

    #[test]
    fn runs_merge_from_the_left_and_counts_pass_32_bits() {
        let options = BpeTrainerOptions { vocab_size: 3, ..BpeTrainerOptions::default() };
        let words = [(b"aaaaa".as_slice(), u64::from(u32::MAX))];
        let trained = learn(&of(&words), &options, None, &mut |_, _| true).unwrap();
        assert_eq!(trained.names, ["a", "aa", "aaa"]);
        assert_eq!(trained.counts, [4 * u64::from(u32::MAX), u64::from(u32::MAX)]);
    }

    #[test]
    fn too_many_and_interrupted() {
        let options = BpeTrainerOptions { vocab_size: 9, ..BpeTrainerOptions::default() };
        let many = learn(&of(&[(b"ab", u64::MAX)]), &options, None, &mut |_, _| true);
        assert!(matches!(many, Err(Error::TooLarge(_))));
        let ended = learn(&of(&[(b"ab", 1)]), &options, None, &mut |_, _| false);
        assert_eq!(ended, Err(Error::Interrupted));
    }
}
