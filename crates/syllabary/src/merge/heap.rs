//! Merging with a heap of candidates over a linked list: O(n log n) on one long sequence.
//!
//! A candidate is `(rank, position of its left symbol)`; the smallest is the lowest rank, leftmost. One
//! that no longer holds is recognized when it is taken: the pair now at its position has another rank.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::Merges;
use crate::Error;

/// End of the list, and a position whose symbol was absorbed by its left neighbour.
const NONE: u32 = u32::MAX;

/// The linked list and the heap.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    previous: Vec<u32>,
    next: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
}

pub(super) fn apply(merges: &Merges, ids: &mut Vec<u32>, scratch: &mut Scratch) -> Result<(), Error> {
    let length = u32::try_from(ids.len())
        .ok()
        .filter(|&length| length < NONE)
        .ok_or_else(|| Error::TooLarge("one piece has 2^32 symbols or more".to_owned()))?;
    scratch.reset(merges, ids, length);
    while let Some(Reverse((rank, at))) = scratch.heap.pop() {
        scratch.try_merge(merges, ids, rank, at);
    }
    scratch.compact(ids);
    Ok(())
}

impl Scratch {
    fn reset(&mut self, merges: &Merges, ids: &[u32], length: u32) {
        self.previous.clear();
        self.previous.extend((0..length).map(|at| at.wrapping_sub(1)));
        self.next.clear();
        self.next.extend((1..=length).map(|at| if at == length { NONE } else { at }));
        let mut candidates = std::mem::take(&mut self.heap).into_vec();
        candidates.clear();
        candidates.extend(
            ids.windows(2)
                .zip(0..)
                .filter_map(|(pair, at)| merges.get(pair[0], pair[1]).map(|merge| Reverse((merge.rank, at)))),
        );
        self.heap = BinaryHeap::from(candidates);
    }

    /// Merges at `at` if the pair there still has this rank.
    fn try_merge(&mut self, merges: &Merges, ids: &mut [u32], rank: u32, at: u32) {
        let right = self.next[at as usize];
        // An absorbed symbol has itself as its next.
        if right == NONE || right == at {
            return;
        }
        let Some(merge) = merges.get(ids[at as usize], ids[right as usize]) else { return };
        if merge.rank != rank {
            return;
        }
        ids[at as usize] = merge.id;
        let after = self.next[right as usize];
        self.next[right as usize] = right;
        self.next[at as usize] = after;
        if after != NONE {
            self.previous[after as usize] = at;
            self.push(merges, ids, at, after);
        }
        let before = self.previous[at as usize];
        if before != NONE {
            self.push(merges, ids, before, at);
        }
    }

    fn push(&mut self, merges: &Merges, ids: &[u32], left: u32, right: u32) {
        if let Some(merge) = merges.get(ids[left as usize], ids[right as usize]) {
            self.heap.push(Reverse((merge.rank, left)));
        }
    }

    /// Keeps the symbols that are still in the list.
    fn compact(&self, ids: &mut Vec<u32>) {
        let mut write = 0;
        let mut at = if ids.is_empty() { NONE } else { 0 };
        while at != NONE {
            ids[write] = ids[at as usize];
            write += 1;
            at = self.next[at as usize];
        }
        ids.truncate(write);
    }
}
