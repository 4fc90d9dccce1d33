//! Merging where each merge is passed over with some probability (BPE-dropout).
//!
//! Candidates stand in order of rank and place. For each in turn a coin is drawn; one whose coin falls is passed
//! over, the first other is merged, and those passed over are candidates again. When every one is passed over,
//! the sequence is done. (Source: tokenizers, `models/bpe/word.rs`, which draws for stale candidates as well.)
//! Where merging is by score, what is passed over stays apart. (Source: sentencepiece, `bpe_model.cc`.)

use std::collections::BTreeSet;

use super::{
    Merges,
    heap::{OFTEN, Watch},
    links::Links,
};
use crate::{Error, asking::Ask, dropout::Coins};

/// No merge here.
const NONE: u32 = u32::MAX;
/// So many symbols are many.
const MANY: usize = 1 << 10;
/// After so many it is asked whether to go on.
const PART: usize = 1 << 20;

/// What becomes of a candidate whose coin falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PassedOver {
    /// It is a candidate again after the next merge: for words.
    Waits,
    /// These two never merge: for a whole text, in which something merges to the end.
    StaysApart,
}

/// Candidates in order of rank, which stand in order of place: counted, as sorting many cannot be interrupted.
fn by_rank(found: Vec<(u32, u32)>, ask: &Ask) -> Result<Vec<(u32, u32)>, Error> {
    let ranks = found.iter().map(|&(rank, _)| rank as usize + 1).max().unwrap_or_default();
    if ranks > MANY + found.len() {
        let mut sorted = found;
        sorted.sort_unstable();
        return Ok(sorted);
    }
    // Where the candidates of each rank begin; then, where the next of each comes.
    let mut places = vec![0; ranks + 1];
    found.iter().for_each(|&(rank, _)| places[rank as usize + 1] += 1);
    (1..places.len()).for_each(|rank| places[rank] += places[rank - 1]);
    let mut sorted = vec![(0, 0); found.len()];
    for part in found.chunks(PART) {
        ask.check()?;
        for &(rank, at) in part {
            sorted[places[rank as usize]] = (rank, at);
            places[rank as usize] += 1;
        }
    }
    Ok(sorted)
}

/// The linked list and the candidates, of which none is stale.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) ask: Ask,
    links: Links,
    /// `(rank, place of the left symbol)`.
    waiting: BTreeSet<(u32, u32)>,
    /// For each place, the rank of its candidate.
    rank_at: Vec<u32>,
}

/// Merges `ids`; `starts` gets the place of the first symbol of each that is left.
pub(super) fn apply(
    merges: &Merges,
    ids: &mut Vec<u32>,
    starts: Option<&mut Vec<u32>>,
    scratch: &mut Scratch,
    (coins, passed_over): (&mut Coins, PassedOver),
    watch: &mut impl Watch,
) -> Result<(), Error> {
    scratch.links.reset(ids.len())?;
    scratch.fill(merges, ids, watch)?;
    let mut taken = 0_u32;
    while let Some(at) = scratch.kept(coins, passed_over) {
        taken = taken.wrapping_add(1);
        if taken.is_multiple_of(OFTEN) {
            scratch.ask.check()?;
        }
        scratch.merge(merges, ids, at, watch);
    }
    scratch.links.compact(ids, starts);
    Ok(())
}

impl Scratch {
    fn fill(&mut self, merges: &Merges, ids: &[u32], watch: &mut impl Watch) -> Result<(), Error> {
        self.rank_at.clear();
        self.rank_at.resize(ids.len(), NONE);
        self.waiting.clear();
        let mut found = Vec::new();
        for (at, pair) in ids.windows(2).enumerate() {
            if at % PART == PART - 1 {
                self.ask.check()?;
            }
            if let Some(merge) = merges.get(pair[0], pair[1]) {
                watch.candidate(pair[0], pair[1], merge);
                self.rank_at[at] = merge.rank;
                found.push((merge.rank, at as u32));
            }
        }
        if ids.len() < MANY {
            self.waiting.extend(found);
        } else {
            // In order, and all at once: put in one by one, those of a long text took most of the time.
            self.waiting = by_rank(found, &self.ask)?.into_iter().collect();
        }
        Ok(())
    }

    /// Takes out the first candidate whose coin does not fall; where it is.
    fn kept(&mut self, coins: &mut Coins, passed_over: PassedOver) -> Option<u32> {
        if passed_over == PassedOver::Waits {
            let kept = *self.waiting.iter().find(|_| !coins.falls())?;
            self.waiting.remove(&kept);
            return Some(kept.1);
        }
        loop {
            let (_rank, at) = self.waiting.pop_first()?;
            self.rank_at[at as usize] = NONE;
            if !coins.falls() {
                return Some(at);
            }
        }
    }

    /// Merges the candidate at `at`, which is no longer waiting.
    fn merge(&mut self, merges: &Merges, ids: &mut [u32], at: u32, watch: &mut impl Watch) {
        let Some(right) = self.links.right_of(at) else { return };
        let Some(merge) = merges.get(ids[at as usize], ids[right as usize]) else { return };
        self.forget(right);
        ids[at as usize] = merge.id;
        let (before, after) = self.links.absorb(at, right);
        if let Some(before) = before {
            self.forget(before);
            self.consider(merges, ids, before, at, watch);
        }
        self.rank_at[at as usize] = NONE;
        if let Some(after) = after {
            self.consider(merges, ids, at, after, watch);
        }
    }

    /// The pair that begins at `at` is no more.
    fn forget(&mut self, at: u32) {
        let rank = std::mem::replace(&mut self.rank_at[at as usize], NONE);
        if rank != NONE {
            self.waiting.remove(&(rank, at));
        }
    }

    fn consider(&mut self, merges: &Merges, ids: &[u32], left: u32, right: u32, watch: &mut impl Watch) {
        let (a, b) = (ids[left as usize], ids[right as usize]);
        if let Some(merge) = merges.get(a, b) {
            watch.candidate(a, b, merge);
            self.rank_at[left as usize] = merge.rank;
            self.waiting.insert((merge.rank, left));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_is_sorting() {
        // Few ranks and many, of which the last have more ranks than there are candidates.
        for ranks in [1, 7, 5_000, u32::MAX] {
            let mut state = 1_u32;
            let mut found = Vec::new();
            for at in 0..3_000 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                found.push(((state >> 3) % ranks, at));
            }
            let mut sorted = found.clone();
            sorted.sort_unstable();
            assert_eq!(by_rank(found, &Ask::default()).unwrap(), sorted);
        }
        assert_eq!(by_rank(Vec::new(), &Ask::default()).unwrap(), Vec::new());
        assert!(by_rank(vec![(0, 0)], &Ask::new(|| false)).is_err());
    }
}
