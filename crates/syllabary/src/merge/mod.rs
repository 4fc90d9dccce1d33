//! Merging: the symbols of one piece become its tokens.
//!
//! ```text
//! repeat: of all neighbouring pairs in the table, take the lowest rank, the leftmost of equals;
//!         replace the two by the result
//! ```
//!
//! Two algorithms give that one result: a scan for short sequences and a heap for long ones.

mod heap;
mod scan;

use rustc_hash::FxHashMap;

use crate::{Error, vocab::Vocab};

/// Sequences up to this length are merged by scanning: the heap costs more than it saves.
const SCAN_LIMIT: usize = 48;

/// What a pair becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Its place in the order of merges.
    pub rank: u32,
    /// The id of the joined token.
    pub id: u32,
}

/// The pairs that merge.
#[derive(Debug, Default)]
pub struct Merges {
    table: FxHashMap<u64, Merge>,
}

/// Buffers that one thread reuses from piece to piece.
#[derive(Debug, Default)]
pub struct Scratch {
    scan: scan::Scratch,
    heap: heap::Scratch,
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl Merges {
    /// From `(left, right, result)` in rank order; a pair given twice keeps its last rank (as Hugging Face).
    pub fn from_list(merges: &[(u32, u32, u32)]) -> Result<Merges, Error> {
        let mut table = FxHashMap::with_capacity_and_hasher(merges.len(), Default::default());
        for (rank, &(left, right, id)) in merges.iter().enumerate() {
            let rank = u32::try_from(rank).map_err(|_| Error::TooLarge("over 2^32 merges".to_owned()))?;
            table.insert(key(left, right), Merge { rank, id });
        }
        Ok(Merges { table })
    }

    /// Rank order (tiktoken): any two tokens whose joined bytes are a token merge; its id is the rank.
    pub fn from_ranks(vocab: &Vocab) -> Merges {
        let longest = vocab.iter().map(|(_, bytes)| bytes.len()).max().unwrap_or(0);
        // A token cut in two is looked up only where both parts have the length of some token.
        let mut lengths = vec![false; longest + 1];
        vocab.iter().for_each(|(_, bytes)| lengths[bytes.len()] = true);
        let mut table = FxHashMap::default();
        for (id, bytes) in vocab.iter() {
            let cuts = (1..bytes.len()).filter(|&cut| lengths[cut] && lengths[bytes.len() - cut]);
            for (left, right) in cuts.map(|cut| bytes.split_at(cut)) {
                if let (Some(left), Some(right)) = (vocab.id(left), vocab.id(right)) {
                    table.insert(key(left, right), Merge { rank: id, id });
                }
            }
        }
        Merges { table }
    }

    /// What `left` followed by `right` becomes, if they merge.
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> Option<Merge> {
        self.table.get(&key(left, right)).copied()
    }

    /// Merges `ids` in place until no neighbouring pair is in the table.
    pub fn apply(&self, ids: &mut Vec<u32>, scratch: &mut Scratch) -> Result<(), Error> {
        if ids.len() <= SCAN_LIMIT {
            scan::apply(self, ids, &mut scratch.scan);
            return Ok(());
        }
        heap::apply(self, ids, &mut scratch.heap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn random(state: &mut u64, below: u64) -> u32 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state % below) as u32
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
            scan::apply(&merges, &mut by_scan, &mut scan::Scratch::default());
            assert_eq!(expected, by_scan, "scan: {list:?} on {ids:?}");
            let mut by_heap = ids.clone();
            heap::apply(&merges, &mut by_heap, &mut heap::Scratch::default()).unwrap();
            assert_eq!(expected, by_heap, "heap: {list:?} on {ids:?}");
        }
    }

    #[test]
    fn a_million_of_one_letter() {
        let list: Vec<_> = (0..20).map(|k| (k, k, k + 1)).collect();
        let merges = Merges::from_list(&list).unwrap();
        let mut ids = vec![0; 1_000_000];
        merges.apply(&mut ids, &mut Scratch::default()).unwrap();
        let length: u64 = ids.iter().map(|id| 1u64 << id).sum();
        assert_eq!(1_000_000, length);
        assert_eq!(19, ids[0]);
    }
}
