//! Merging: the symbols of one piece become its tokens.
//!
//! ```text
//! repeat: of all neighbouring pairs in the table, take the lowest rank, the leftmost of equals;
//!         replace the two by the result
//! ```
//!
//! Four algorithms give that one result, some merges being done before (`eager`): a scan for short sequences, whole runs at a time, a heap for long
//! sequences and, once there were many of those, tokens from left to right. A fifth passes merges over at random.
//! Leaves out where the ranks come from, if that is neither a list nor the ids (`scores`).

mod coins;
mod eager;
mod firsts;
mod forward;
mod heap;
mod links;
mod pairs;
mod recover;
mod runs;
pub(crate) mod scan;

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

pub use coins::PassedOver;
pub(crate) use firsts::Firsts;
pub use heap::Origins;
pub(crate) use pairs::{PairTable, Wanted};
pub use recover::recover;
pub(crate) use runs::MAX_RUNS;

use crate::{Error, asking::Ask, dropout::Coins, vocab::Vocab};

/// After so many symbols by the heap for each token, and so many in all, the tables of `forward` are made: by then both
/// have cost about the same, some tenths of a second.
const HEAP_SHARE: usize = 12;
const HEAP_LIMIT: usize = 1 << 18;

/// What a pair becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Its place in the order of merges.
    pub rank: u32,
    /// The id of the joined token.
    pub id: u32,
}

/// The pairs that merge.
#[derive(Debug)]
pub struct Merges {
    rule: Rule,
    /// Sequences of up to so many symbols are merged by scanning: the heap costs more than it saves.
    most_scanned: usize,
    /// Symbols merged by the heap so far.
    by_heap: AtomicUsize,
    /// Made when it is of use; `None` where it cannot be.
    forward: OnceLock<Option<Box<forward::Forward>>>,
    eager: OnceLock<Option<eager::Eager>>,
}

#[derive(Debug)]
pub(crate) enum Rule {
    /// Those of a table.
    Listed(PairTable),
    /// Any two whose joined bytes are a token; its id is the rank.
    Ranked(Arc<Vocab>),
}

/// Buffers that one thread reuses from piece to piece.
#[derive(Debug, Default)]
pub struct Scratch {
    scan: scan::Scratch,
    heap: heap::Scratch,
    forward: forward::Scratch,
    coins: coins::Scratch,
    eager: eager::Use,
}

impl Scratch {
    /// What `run` does, which may ask whether to go on, if there are many symbols.
    #[inline(always)]
    pub(crate) fn asking<R>(&mut self, ask: &Ask, symbols: usize, run: impl FnOnce(&mut Scratch) -> R) -> R {
        if symbols < LONG {
            return run(self);
        }
        (self.heap.ask, self.coins.ask) = (ask.clone(), ask.clone());
        let done = run(self);
        (self.heap.ask, self.coins.ask) = Default::default();
        done
    }
}

/// So many symbols are long to merge.
const LONG: usize = 1 << 16;

impl Merges {
    fn by(rule: Rule) -> Merges {
        let fits = match &rule {
            Rule::Listed(table) => table.iter().all(|(_, merge)| merge.rank < scan::RANK_BOUND),
            Rule::Ranked(vocab) => vocab.id_bound() <= scan::RANK_BOUND,
        };
        Merges {
            rule,
            most_scanned: if fits { scan::MOST } else { 1 },
            by_heap: AtomicUsize::new(0),
            forward: OnceLock::new(),
            eager: OnceLock::new(),
        }
    }

    /// From `(left, right, result)` in rank order; a pair given twice keeps its last rank (as Hugging Face).
    pub fn from_list(merges: &[(u32, u32, u32)]) -> Result<Merges, Error> {
        let mut table = PairTable::for_many(merges.len());
        for (rank, &(left, right, id)) in merges.iter().enumerate() {
            let rank = u32::try_from(rank).map_err(|_| Error::TooLarge("over 2^32 merges".to_owned()))?;
            table.insert((left, right), Merge { rank, id });
        }
        Ok(Merges::by(Rule::Listed(table)))
    }

    /// Rank order (tiktoken): any two tokens whose joined bytes are a token merge; its id is the rank.
    pub fn from_ranks(vocab: Arc<Vocab>) -> Merges {
        Merges::by(Rule::Ranked(vocab))
    }

    /// What `left` followed by `right` becomes, if they merge.
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> Option<Merge> {
        match &self.rule {
            Rule::Listed(table) => table.get(left, right),
            Rule::Ranked(vocab) => vocab.joined(left, right).map(|id| Merge { rank: id, id }),
        }
    }

    /// How it is told.
    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }

    /// The pairs that merge, where they are a list.
    pub(crate) fn list(&self) -> Option<&PairTable> {
        match &self.rule {
            Rule::Listed(table) => Some(table),
            Rule::Ranked(_) => None,
        }
    }

    /// The same, if scanning can use them.
    pub(crate) fn listed(&self) -> Option<&PairTable> {
        self.list().filter(|_| self.most_scanned > 1)
    }

    /// All pairs and what they become, in no order.
    pub(crate) fn pairs(&self) -> Vec<((u32, u32), Merge)> {
        match &self.rule {
            Rule::Listed(table) => table.iter().collect(),
            Rule::Ranked(_) => Vec::new(),
        }
    }

    /// The pairs of a table made elsewhere.
    pub(crate) fn from_pairs(pairs: Vec<((u32, u32), Merge)>) -> Merges {
        Merges::by(Rule::Listed(PairTable::of(&pairs)))
    }

    /// Merges `ids` in place until no neighbouring pair is in the table; `starts`, which is empty, gets the place
    /// of the first symbol of each id that is left.
    #[inline]
    pub fn apply(
        &self,
        ids: &mut Vec<u32>,
        starts: Option<&mut Vec<u32>>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        if starts.is_none() && scratch.eager.is_worth(ids.len()) {
            self.hurry(ids, &mut scratch.eager);
        }
        if ids.len() <= self.most_scanned {
            scan::apply(|left, right| self.get(left, right), ids, starts, &mut scratch.scan, 1);
            return Ok(());
        }
        self.apply_to_many(ids, starts, scratch)
    }

    /// Merges what nothing comes before.
    fn hurry(&self, ids: &mut Vec<u32>, used: &mut eager::Use) {
        let eager = self.eager.get_or_init(|| eager::Eager::new(self.list()?));
        let before = ids.len();
        eager.iter().for_each(|eager| eager.apply(ids));
        used.note(before, ids.len());
    }

    /// Merges up to `MAX_RUNS` runs of symbols, each with its length, into `ids`, if that can be done run by run.
    pub(crate) fn apply_to_runs(&self, runs: &[(u32, usize)], ids: &mut Vec<u32>) -> Option<()> {
        runs::apply_to_runs(self, runs, ids)
    }

    fn heap_limit(&self) -> usize {
        match &self.rule {
            Rule::Ranked(vocab) => HEAP_LIMIT.max(HEAP_SHARE * vocab.len()),
            Rule::Listed(_) => HEAP_LIMIT,
        }
    }

    fn apply_to_many(
        &self,
        ids: &mut Vec<u32>,
        mut starts: Option<&mut Vec<u32>>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        // Above 2^32 symbols the heap says what is wrong.
        let fits = u32::try_from(ids.len()).is_ok();
        if fits && runs::apply(self, ids, starts.as_deref_mut()).is_some() {
            return Ok(());
        }
        if fits
            && (self.by_heap.load(Relaxed) >= self.heap_limit()
                || self.by_heap.fetch_add(ids.len(), Relaxed) + ids.len() >= self.heap_limit())
            && let Some(forward) = self.forward.get_or_init(|| forward::Forward::new(self).map(Box::new))
            && forward.apply(self, ids, starts.as_deref_mut(), &mut scratch.forward).is_some()
        {
            return Ok(());
        }
        heap::apply(self, ids, starts, &mut scratch.heap, &mut ())
    }

    /// As `apply`, merges passed over as `coins` fall.
    pub fn apply_with_coins(
        &self,
        ids: &mut Vec<u32>,
        starts: Option<&mut Vec<u32>>,
        scratch: &mut Scratch,
        coins: (&mut Coins, PassedOver),
    ) -> Result<(), Error> {
        coins::apply(self, ids, starts, &mut scratch.coins, coins, &mut ())
    }

    /// As both, and notes in `origins` what each result was last found to be made of.
    pub fn apply_noting(
        &self,
        ids: &mut Vec<u32>,
        starts: Option<&mut Vec<u32>>,
        scratch: &mut Scratch,
        coins: (&mut Coins, PassedOver),
        origins: &mut Origins,
    ) -> Result<(), Error> {
        if coins.0.any() {
            return coins::apply(self, ids, starts, &mut scratch.coins, coins, origins);
        }
        heap::apply(self, ids, starts, &mut scratch.heap, origins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        drawn::random,
        dropout::{Dropout, Ways},
    };

    /// The definition of dropout, word for word.
    fn naive_with_coins(merges: &Merges, ids: &mut Vec<u32>, coins: &mut Coins, passed_over: PassedOver) {
        let mut apart = vec![false; ids.len()]; // from the token after it, for ever
        loop {
            let mut found: Vec<_> = (0..ids.len().saturating_sub(1))
                .filter(|&at| !apart[at])
                .filter_map(|at| merges.get(ids[at], ids[at + 1]).map(|merge| (merge.rank, at, merge.id)))
                .collect();
            found.sort_unstable();
            let kept = found.iter().find(|(_, at, _)| {
                let falls = coins.falls();
                apart[*at] = falls && passed_over == PassedOver::StaysApart;
                !falls
            });
            let Some(&(_, at, id)) = kept else { return };
            ids[at] = id;
            ids.remove(at + 1);
            apart.remove(at);
            // Its pairs are others now.
            apart[at] = false;
            apart[at.saturating_sub(1)] = false;
        }
    }

    #[test]
    fn coins_equal_the_definition() {
        let mut state = 0x1234_5678_9ABC_DEF1;
        for round in 0..2000 {
            let shared = round % 2 == 0;
            let pairs = (0..25).map(|rank| {
                let pair = (random(&mut state, 6), random(&mut state, 6));
                // Results grow, as those of a vocabulary do; ranks may be shared, as those of scores are.
                (pair, Merge { rank: if shared { rank % 4 } else { rank }, id: pair.0.max(pair.1) + 1 })
            });
            let merges = Merges::from_pairs(pairs.collect());
            let ids: Vec<u32> = (0..random(&mut state, 60)).map(|_| random(&mut state, 3)).collect();
            let coins = Dropout {
                probability: f64::from(random(&mut state, 10)) / 9.0,
                seed: round,
                ways: Ways::Best,
            }
            .coins(3);
            for passed_over in [PassedOver::Waits, PassedOver::StaysApart] {
                let (mut expected, mut by_set) = (ids.clone(), ids.clone());
                naive_with_coins(&merges, &mut expected, &mut coins.clone(), passed_over);
                let told = (&mut coins.clone(), passed_over);
                merges.apply_with_coins(&mut by_set, None, &mut Scratch::default(), told).unwrap();
                assert_eq!(expected, by_set, "{passed_over:?}");
            }
        }
    }

    /// The definition, word for word; quadratic.
    fn naive(merges: &Merges, ids: &mut Vec<u32>) {
        loop {
            let best = (0..ids.len().saturating_sub(1))
                .filter_map(|at| merges.get(ids[at], ids[at + 1]).map(|merge| (merge.rank, at, merge.id)))
                .min();
            let Some((_, at, id)) = best else { return };
            ids[at] = id;
            ids.remove(at + 1);
        }
    }

    #[test]
    fn scan_and_heap_equal_the_definition() {
        let mut state = 0x9E37_79B9_7F4A_7C15;
        for round in 0..3000 {
            // Ranks and results are arbitrary, as hostile files have them: a merge may produce any id.
            let symbols = 2 + u64::from(random(&mut state, 6));
            let list: Vec<(u32, u32, u32)> = (0..random(&mut state, 20))
                .map(|new| {
                    let bound = symbols + u64::from(new);
                    let result = if round % 3 == 0 { random(&mut state, bound) } else { bound as u32 };
                    (random(&mut state, bound), random(&mut state, bound), result)
                })
                .collect();
            let merges = Merges::from_list(&list).unwrap();
            let ids: Vec<u32> = (0..random(&mut state, 90)).map(|_| random(&mut state, symbols)).collect();
            let mut expected = ids.clone();
            naive(&merges, &mut expected);
            let mut by_scan = ids.clone();
            let (mut starts, scratch) = (Vec::new(), &mut scan::Scratch::default());
            let is_scanned = ids.len() <= scan::MOST;
            if is_scanned {
                scan::apply(|a, b| merges.get(a, b), &mut by_scan, Some(&mut starts), scratch, 1);
                assert_eq!(expected, by_scan, "scan: {list:?} on {ids:?}");
            }
            let mut by_heap = ids.clone();
            let mut heap_starts = Vec::new();
            let scratch = &mut Scratch::default();
            heap::apply(&merges, &mut by_heap, Some(&mut heap_starts), &mut scratch.heap, &mut ()).unwrap();
            assert_eq!(expected, by_heap, "heap: {list:?} on {ids:?}");
            assert!(!is_scanned || starts == heap_starts);
            let mut by_coins = ids.clone();
            let mut coins = Dropout { probability: 0.0, seed: round, ways: Ways::Best }.coins(0);
            let told = (&mut coins, PassedOver::Waits);
            merges.apply_with_coins(&mut by_coins, None, scratch, told).unwrap();
            assert_eq!(expected, by_coins, "coins that never fall: {list:?} on {ids:?}");
        }
    }

    #[test]
    fn a_million_of_one_letter() {
        let list: Vec<_> = (0..20).map(|k| (k, k, k + 1)).collect();
        let merges = Merges::from_list(&list).unwrap();
        let mut ids = vec![0; 1_000_000];
        merges.apply(&mut ids, None, &mut Scratch::default()).unwrap();
        let length: u64 = ids.iter().map(|id| 1u64 << id).sum();
        assert_eq!(1_000_000, length);
        assert_eq!(19, ids[0]);
    }
}
