//! Merging with a heap of candidates over a linked list: O(n log n) on one long sequence.
//!
//! A candidate is `(rank, position of its left symbol)`; the smallest is the lowest rank, leftmost. One
//! that no longer holds is recognized when it is taken: the pair now at its position has another rank.

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::FxHashMap;

use super::{Merge, Merges, links::Links};
use crate::{Error, asking::Ask};

/// Once in so many candidates it is asked whether to go on.
pub(super) const OFTEN: u32 = 1 << 14;

/// The linked list and the heap.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) ask: Ask,
    links: Links,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
}

/// Sees every candidate when it is found, in order.
pub(super) trait Watch {
    /// `left` and `right` stand side by side and would become `merge`.
    fn candidate(&mut self, left: u32, right: u32, merge: Merge);
}

impl Watch for () {
    #[inline]
    fn candidate(&mut self, _left: u32, _right: u32, _merge: Merge) {}
}

/// For each result, the two symbols that it was last found to be made of.
pub type Origins = FxHashMap<u32, (u32, u32)>;

impl Watch for Origins {
    fn candidate(&mut self, left: u32, right: u32, merge: Merge) {
        self.insert(merge.id, (left, right));
    }
}

/// Merges `ids`; `starts` gets the place of the first symbol of each that is left.
pub(super) fn apply(
    merges: &Merges,
    ids: &mut Vec<u32>,
    starts: Option<&mut Vec<u32>>,
    scratch: &mut Scratch,
    watch: &mut impl Watch,
) -> Result<(), Error> {
    scratch.links.reset(ids.len())?;
    scratch.fill(merges, ids, watch);
    let mut taken = 0_u32;
    while let Some(Reverse((rank, at))) = scratch.heap.pop() {
        taken = taken.wrapping_add(1);
        if taken.is_multiple_of(OFTEN) {
            scratch.ask.check()?;
        }
        scratch.try_merge(merges, ids, rank, at, watch);
    }
    scratch.links.compact(ids, starts);
    Ok(())
}

impl Scratch {
    fn fill(&mut self, merges: &Merges, ids: &[u32], watch: &mut impl Watch) {
        let mut candidates = std::mem::take(&mut self.heap).into_vec();
        candidates.clear();
        candidates.extend(ids.windows(2).zip(0..).filter_map(|(pair, at)| {
            let merge = merges.get(pair[0], pair[1])?;
            watch.candidate(pair[0], pair[1], merge);
            Some(Reverse((merge.rank, at)))
        }));
        self.heap = BinaryHeap::from(candidates);
    }

    /// Merges at `at` if the pair there still has this rank.
    fn try_merge(&mut self, merges: &Merges, ids: &mut [u32], rank: u32, at: u32, watch: &mut impl Watch) {
        let Some(right) = self.links.right_of(at) else { return };
        let Some(merge) = merges.get(ids[at as usize], ids[right as usize]) else { return };
        if merge.rank != rank {
            return;
        }
        ids[at as usize] = merge.id;
        let (before, after) = self.links.absorb(at, right);
        if let Some(before) = before {
            self.push(merges, ids, before, at, watch);
        }
        if let Some(after) = after {
            self.push(merges, ids, at, after, watch);
        }
    }

    fn push(&mut self, merges: &Merges, ids: &[u32], left: u32, right: u32, watch: &mut impl Watch) {
        let (a, b) = (ids[left as usize], ids[right as usize]);
        if let Some(merge) = merges.get(a, b) {
            watch.candidate(a, b, merge);
            self.heap.push(Reverse((merge.rank, left)));
        }
    }
}
