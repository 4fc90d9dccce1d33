//! The merge loop of WordPiece by likelihood: the pair that gains most when its symbols were independent.
//!
//! ```text
//! score(a, b) = count(ab) / (count(a) * count(b))        the highest first, then the most frequent, then smallest ids
//! ```
//!
//! The specification is `reference/train_wordpiece.py`. A merge changes the counts of its two symbols, and so the
//! scores of all their pairs: these go into the queue anew, and an entry that no longer tells its pair's counts is
//! passed over. Leaves out: words and first names (`huggingface_words`, `huggingface_names`), and which pairs' places are
//! known under a limit of memory (`places`).

mod places;

use std::{cmp::Ordering, collections::BinaryHeap};

use rustc_hash::FxHashMap;

use super::{
    GoOn, ask,
    huggingface::{BpeTrainerOptions, Progress, Trained, index},
    huggingface_learn::Known,
    huggingface_names::{EDGE, Each, Spelled, spell},
};
use crate::Error;

/// What a place takes in the words, and a pair besides its places: itself, its look-up, the lists of its symbols.
const PLACE: usize = 16;
const PAIR: usize = 2 * (56 + 24 + 16);
/// What a noted place takes, in a list that may have room for twice as many.
const NOTED: usize = 8;
/// What an entry of the queue takes.
const WAITING: usize = size_of::<Waiting>();
/// Entries of the queue that may be out of date.
const SPARE: usize = 1 << 20;

/// A pair as it was when it was put into the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    count: u64,
    /// The counts of both symbols, multiplied.
    apart: u128,
    ids: (u32, u32),
    pair: u32,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        let scores = times(self.count, other.apart).cmp(&times(other.count, self.apart));
        scores.then(self.count.cmp(&other.count)).then(other.ids.cmp(&self.ids))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A product of 192 bits, the higher part first.
fn times(left: u64, right: u128) -> (u128, u64) {
    let low = u128::from(left) * u128::from(right as u64);
    let high = u128::from(left) * (right >> 64) + (low >> 64);
    (high, low as u64)
}

/// A pair with its places, some of which may be gone.
#[derive(Debug)]
struct Pair {
    ids: (u32, u32),
    count: u64,
    /// At so many places it stands.
    stands: u32,
    places: Vec<u32>,
    /// Whether these are all of them.
    placed: bool,
    /// Whether the lists of its symbols have it.
    listed: bool,
}

#[derive(Debug)]
struct Merging {
    spelled: Spelled,
    /// Of each symbol.
    counts: Vec<u64>,
    /// Of each symbol, the pairs that it is in.
    with: Vec<Vec<u32>>,
    pairs: Vec<Pair>,
    of: FxHashMap<(u32, u32), u32>,
    queue: BinaryHeap<Waiting>,
    least: u64,
    /// So many entries of the queue may be out of date, besides some for each pair.
    spare: usize,
    /// Places in the lists of pairs.
    placed: usize,
    /// So many are looked for together; with twice as many all are forgotten. None: nothing is noted yet.
    room: usize,
    /// The bytes of memory for all, if they are limited.
    most: Option<usize>,
}

/// Learns from words with their counts, on from known merges. memory: bytes of it, at most.
///
/// # Errors
/// `Error::Training` where memory does not suffice, or known merges are not of these words. `Error::TooLarge` beyond 2^32
/// symbols, pairs or names, or 2^63 symbols counted; `Error::Interrupted`.
pub(super) fn learn(
    words: &Each<'_>,
    options: &BpeTrainerOptions,
    memory: Option<usize>,
    known: &Known,
    progress: &mut Progress<'_>,
) -> Result<Trained, Error> {
    let fits = |places: usize| check(places.saturating_mul(PLACE), memory);
    let (spelled, mut made) = spell(words, options, fits, &mut || progress(&[], &[]))?;
    let least = (made.trained.first, options.min_frequency);
    let mut state = Merging::new(spelled, least, memory, &mut || progress(&[], &[]))?;
    let (prefix, mut done) = (options.continuing_subword_prefix.as_str(), 0);
    if known.0.is_empty() {
        state.fill();
    }
    while done < known.0.len() || made.trained.names.len() < options.vocab_size {
        state.check()?;
        let go_on = &mut || progress(&made.trained.merges, &made.trained.counts);
        let best = match known.0.get(done..).filter(|left| !left.is_empty()) {
            Some(left) => Some(state.known(left, known.1[done], go_on)?),
            None => state.best(go_on)?,
        };
        let Some(best) = best else { break };
        let id = made.merge(best.ids, best.count, prefix)?;
        if !progress(&made.trained.merges, &made.trained.counts) {
            return Err(Error::Interrupted);
        }
        done += 1;
        state.merge(best, id, done > known.0.len())?;
        if done == known.0.len() {
            state.fill();
        }
    }
    Ok(made.trained)
}

/// `Error::Training` where so many bytes are more than the memory given.
fn check(needed: usize, memory: Option<usize>) -> Result<(), Error> {
    let Some(memory) = memory.filter(|memory| needed > *memory) else { return Ok(()) };
    Err(Error::Training(format!(
        "the memory limit is too small for this corpus: WordPiece by likelihood holds all pairs of its distinct words, \
         which need {} MiB or more where {} MiB are left; give a higher limit, or train as Hugging Face does",
        needed.div_ceil(1 << 20),
        memory >> 20,
    )))
}

impl Merging {
    fn new(
        spelled: Spelled,
        (symbols, least): (usize, u64),
        memory: Option<usize>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Merging, Error> {
        let mut state = Merging {
            spelled,
            counts: vec![0; symbols],
            with: vec![Vec::new(); symbols],
            pairs: Vec::new(),
            of: FxHashMap::default(),
            queue: BinaryHeap::new(),
            least: least.max(1),
            spare: memory.map_or(SPARE, |memory| (memory / (16 * WAITING)).min(SPARE)),
            placed: 0,
            room: if memory.is_some() { 0 } else { usize::MAX / 2 },
            most: memory,
        };
        for at in 1..state.spelled.flat.len() {
            ask(go_on, at)?;
            let (left, right) = (state.spelled.flat[at - 1], state.spelled.flat[at]);
            if right == EDGE {
                continue;
            }
            let place = index(at)?;
            let weight = state.weight(place);
            state.counts[right as usize] += weight;
            if left != EDGE {
                state.came((left, right), place - 1, weight)?;
            }
        }
        state.room = state.room.max(1);
        Ok(state)
    }

    /// The bytes of memory that all takes; what grows by doubling is there twice meanwhile.
    fn memory(&self) -> usize {
        self.spelled.memory()
            + NOTED * self.placed
            + PAIR * self.pairs.capacity()
            + WAITING * self.queue.capacity() * 3 / 2
    }

    fn weight(&self, place: u32) -> u64 {
        self.spelled.weight(place).cast_unsigned()
    }

    /// A pair stands at a place.
    fn came(&mut self, ids: (u32, u32), place: u32, weight: u64) -> Result<(), Error> {
        let pair = match self.of.get(&ids) {
            Some(&pair) => pair,
            None => {
                let pair = index(self.pairs.len())?;
                let placed = self.room > 0; // what is new is often next
                self.pairs.push(Pair { ids, count: 0, stands: 0, places: Vec::new(), placed, listed: false });
                self.of.insert(ids, pair);
                pair
            }
        };
        let known = &mut self.pairs[pair as usize];
        known.count += weight;
        known.stands += 1;
        if known.placed {
            known.places.push(place);
            self.placed += 1;
        }
        if !std::mem::replace(&mut known.listed, true) {
            self.with[ids.0 as usize].push(pair);
            if ids.0 != ids.1 {
                self.with[ids.1 as usize].push(pair);
            }
        }
        Ok(())
    }

    /// A pair that stood somewhere is gone.
    fn went(&mut self, ids: (u32, u32), weight: u64) {
        if let Some(&pair) = self.of.get(&ids) {
            let known = &mut self.pairs[pair as usize];
            known.count -= weight;
            known.stands -= 1;
        }
    }

    /// A pair as it is now.
    fn waiting(&self, pair: u32) -> Waiting {
        let Pair { ids, count, .. } = self.pairs[pair as usize];
        let apart = u128::from(self.counts[ids.0 as usize]) * u128::from(self.counts[ids.1 as usize]);
        Waiting { count, apart, ids, pair }
    }

    /// Puts all pairs that may merge into an empty queue.
    fn fill(&mut self) {
        let pairs = (0..self.pairs.len() as u32).map(|pair| self.waiting(pair)); // no more than 2^32
        self.queue = pairs.filter(|waiting| waiting.count >= self.least).collect();
    }

    /// The pair that waits first; `None` if there is none. It no longer waits.
    fn first(&mut self) -> Option<Waiting> {
        loop {
            let best = self.queue.pop()?;
            if best == self.waiting(best.pair) {
                return Some(best);
            }
        }
    }

    /// Merges a pair into `id` wherever it stands. queued: what has other scores waits anew.
    fn merge(&mut self, best: Waiting, id: u32, queued: bool) -> Result<(), Error> {
        if id as usize == self.counts.len() {
            self.counts.push(0);
            self.with.push(Vec::new());
        }
        let merged = best.ids;
        let mut places = std::mem::take(&mut self.pairs[best.pair as usize].places);
        self.placed -= places.len();
        places.sort_unstable();
        for place in places {
            if self.spelled.join(place, merged, id).is_none() {
                continue;
            }
            let weight = self.weight(place);
            self.went(merged, weight);
            self.counts[merged.0 as usize] -= weight;
            self.counts[merged.1 as usize] -= weight;
            self.counts[id as usize] += weight;
            if let Some((there, other, _)) = self.spelled.neighbour_before(place) {
                self.went((other, merged.0), weight);
                self.came((other, id), there, weight)?;
            }
            if let Some((other, _)) = self.spelled.neighbour_after(place) {
                self.went((merged.1, other), weight);
                self.came((id, other), place, weight)?;
            }
        }
        let mut changed = vec![merged.0, merged.1, id];
        changed.sort_unstable();
        changed.dedup();
        for symbol in changed {
            self.again(symbol, queued);
        }
        if self.queue.len() > 4 * self.pairs.len() + self.spare {
            self.fill();
        }
        Ok(())
    }

    /// Lets the pairs of a symbol wait with their new scores. Those that are nowhere leave its list: when they come
    /// again, both lists have them anew.
    fn again(&mut self, symbol: u32, queued: bool) {
        let mut with = std::mem::take(&mut self.with[symbol as usize]);
        let mut kept = 0;
        for at in 0..with.len() {
            let pair = with[at];
            let known = &mut self.pairs[pair as usize];
            if known.count == 0 {
                known.listed = false;
                self.placed -= known.places.len();
                known.places = Vec::new();
                known.placed = true;
                continue;
            }
            let waits = queued && known.count >= self.least;
            with[kept] = pair;
            kept += 1;
            if waits {
                let waiting = self.waiting(pair);
                self.queue.push(waiting);
            }
        }
        with.truncate(kept);
        self.with[symbol as usize] = with;
    }
}

#[cfg(test)]
#[path = "wordpiece_tests.rs"]
mod tests;
