//! The queue of pairs: highest count first, ties by rule.
//!
//! A lazy heap. Counts only fall after a pair is born (a merge of other pairs can only use its places up)
//! and its first place only moves right, so an entry is never below the truth; one that is above it when
//! taken is put back with its true key. It holds the pairs that are watched, and is filled anew with each window.

use std::{collections::BinaryHeap, sync::Arc};

use super::{
    pairs::{PairIndex, Pairs},
    ties::{Candidate, Tie},
};

pub(super) struct PairQueue<T: Tie> {
    heap: BinaryHeap<(u64, T::Key, PairIndex)>,
}

impl<T: Tie> Default for PairQueue<T> {
    fn default() -> Self {
        PairQueue { heap: BinaryHeap::new() }
    }
}

impl<T: Tie> PairQueue<T> {
    /// Adds pairs that are watched from now on.
    pub fn extend(&mut self, born: impl Iterator<Item = PairIndex>, pairs: &mut Pairs, tokens: &[Arc<[u8]>]) {
        self.heap.extend(born.filter_map(|pair| entry::<T>(pair, pairs, tokens)));
    }

    /// Takes the pair that merges next, and its count.
    pub fn pop(&mut self, pairs: &mut Pairs, tokens: &[Arc<[u8]>]) -> Option<(PairIndex, u64)> {
        loop {
            let (count, key, pair) = self.heap.pop()?;
            let now = if T::NEEDS_FIRST {
                entry::<T>(pair, pairs, tokens)
            } else {
                pairs.count(pair).map(|now| (now, key.clone(), pair))
            };
            let Some(now) = now else { continue };
            if now.0 == count && now.1 == key {
                return Some((pair, count));
            }
            self.heap.push(now);
        }
    }
}

/// The true key of a pair, or `None` if it may no longer merge.
fn entry<T: Tie>(
    pair: PairIndex,
    pairs: &mut Pairs,
    tokens: &[Arc<[u8]>],
) -> Option<(u64, T::Key, PairIndex)> {
    let count = pairs.count(pair)?;
    let first = if T::NEEDS_FIRST { pairs.first(pair)? } else { 0 };
    let key = T::key(&Candidate { pair: pairs.ids(pair), first, tokens });
    Some((count, key, pair))
}
