//! The queue of pairs: highest count first, ties by rule.
//!
//! Lazy. Counts only fall after a pair is born (a merge of other pairs can only use its places up) and its
//! first place only moves right, so what is noted is never below the truth; a pair whose count or key has
//! fallen by the time it is taken is put back. Nearly all counts are small: pairs wait in a list for each, and only
//! those of the count that is taken from are put in order, all at once: so it is known which come next, and what
//! their merges will need is asked for ahead. Holds the pairs that are watched, and is filled anew
//! with each window.

use std::{collections::BinaryHeap, sync::Arc};

use super::{
    pairs::{PairIndex, Pairs},
    ties::{Candidate, Tie},
};

/// Pairs of this count or a higher one wait in a heap.
const HIGH: usize = 1 << 12;
/// What a pair needs is asked for so many pairs before its turn, step by step.
const AHEAD: usize = 2;

pub(super) struct PairQueue<T: Tie> {
    high: BinaryHeap<(u64, T::Key, PairIndex)>,
    /// By count.
    low: Vec<Vec<PairIndex>>,
    /// Those of one low count that are taken now, the next at the end, and those that came to them since.
    now: Vec<(T::Key, PairIndex)>,
    late: BinaryHeap<(T::Key, PairIndex)>,
    count: usize,
}

impl<T: Tie> Default for PairQueue<T> {
    fn default() -> Self {
        let low = std::iter::repeat_with(Vec::new).take(HIGH).collect();
        PairQueue { high: BinaryHeap::new(), low, now: Vec::new(), late: BinaryHeap::new(), count: HIGH - 1 }
    }
}

impl<T: Tie> PairQueue<T> {
    /// Adds pairs that are watched from now on.
    pub fn extend(&mut self, born: impl Iterator<Item = PairIndex>, pairs: &mut Pairs, tokens: &[Arc<[u8]>]) {
        born.for_each(|pair| self.put(pair, pairs, tokens));
    }

    /// Takes the pair that merges next, and its count.
    pub fn pop(&mut self, pairs: &mut Pairs, tokens: &[Arc<[u8]>]) -> Option<(PairIndex, u64)> {
        while let Some((count, key, pair)) = self.high.pop() {
            if pairs.count(pair) == Some(count) && still::<T>(&key, pair, pairs, tokens) {
                return Some((pair, count));
            }
            self.put(pair, pairs, tokens);
        }
        loop {
            while let Some((key, pair)) = self.next(pairs) {
                let count = self.count as u64;
                if pairs.count(pair) == Some(count) && still::<T>(&key, pair, pairs, tokens) {
                    return Some((pair, count));
                }
                self.put(pair, pairs, tokens);
            }
            while self.low[self.count].is_empty() {
                self.count = self.count.checked_sub(1).filter(|&count| count > 0)?;
            }
            let waiting = std::mem::take(&mut self.low[self.count]);
            for (at, &pair) in waiting.iter().enumerate() {
                waiting.get(at + AHEAD).into_iter().for_each(|&pair| pairs.fetch_pair(pair));
                if pairs.count(pair) != Some(self.count as u64) {
                    self.put(pair, pairs, tokens);
                } else if let Some(key) = key_of::<T>(pair, pairs, tokens) {
                    self.now.push((key, pair));
                }
            }
            self.now.sort_unstable();
        }
    }

    /// Takes the first of those of this count; what the next ones need is asked for.
    fn next(&mut self, pairs: &Pairs) -> Option<(T::Key, PairIndex)> {
        if self.late.peek().is_some_and(|late| self.now.last().is_none_or(|next| late > next)) {
            return self.late.pop();
        }
        let ahead = |steps: usize| self.now.len().checked_sub(steps + 1).map(|at| self.now[at].1);
        ahead(3 * AHEAD).into_iter().for_each(|pair| pairs.fetch_pair(pair));
        ahead(2 * AHEAD).into_iter().for_each(|pair| pairs.fetch_list(pair));
        ahead(AHEAD).into_iter().for_each(|pair| pairs.fetch_places(pair));
        self.now.pop()
    }

    /// Puts a pair where it belongs, unless it may no longer merge.
    fn put(&mut self, pair: PairIndex, pairs: &mut Pairs, tokens: &[Arc<[u8]>]) {
        let Some(count) = pairs.count(pair) else { return };
        let low = usize::try_from(count).unwrap_or(HIGH);
        if low < HIGH && low > self.count {
            // A window may begin above the count that the one before ended with.
            let waiting = self.now.drain(..).chain(self.late.drain());
            self.low[self.count].extend(waiting.map(|(_, pair)| pair));
            self.count = low;
        }
        if low < self.count {
            self.low[low].push(pair);
        } else if let Some(key) = key_of::<T>(pair, pairs, tokens) {
            if low < HIGH {
                self.late.push((key, pair));
            } else {
                self.high.push((count, key, pair));
            }
        }
    }
}

/// The true key of a pair, or `None` if it stands nowhere.
fn key_of<T: Tie>(pair: PairIndex, pairs: &mut Pairs, tokens: &[Arc<[u8]>]) -> Option<T::Key> {
    let first = if T::NEEDS_FIRST { pairs.first(pair)? } else { 0 };
    Some(T::key(&Candidate { pair: pairs.ids(pair), first, tokens }))
}

/// Whether `key` is still the key of a pair that has places.
fn still<T: Tie>(key: &T::Key, pair: PairIndex, pairs: &mut Pairs, tokens: &[Arc<[u8]>]) -> bool {
    !T::NEEDS_FIRST || key_of::<T>(pair, pairs, tokens).as_ref() == Some(key)
}
