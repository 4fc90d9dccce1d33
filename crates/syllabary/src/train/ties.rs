//! Ties: which of the pairs with the highest count merges first. Each rule is one type.
//!
//! The largest key wins. A key may only fall while its pair lives (see `PairQueue`).

use std::{cmp::Reverse, fmt::Debug, sync::Arc};

/// What a rule may look at.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    /// Ids of the pair.
    pub pair: (u32, u32),
    /// Where its first occurrence stands, pieces in order of first appearance.
    pub first: u32,
    /// The bytes of every token so far.
    pub tokens: &'a [Arc<[u8]>],
}

/// A tie-break rule.
pub(super) trait Tie {
    /// What is compared; the largest wins.
    type Key: Ord + Clone + Debug;
    /// Whether the rule looks at `Candidate::first`.
    const NEEDS_FIRST: bool = false;
    fn key(candidate: &Candidate<'_>) -> Self::Key;
}

/// Smallest left id, then smallest right id: Hugging Face's trainer, rustbpe.
#[derive(Debug)]
pub(super) struct SmallestIds;

impl Tie for SmallestIds {
    type Key = Reverse<(u32, u32)>;
    fn key(candidate: &Candidate<'_>) -> Self::Key {
        Reverse(candidate.pair)
    }
}

/// The pair that occurs first in the sequences as they now are: minbpe, the Hugging Face course.
#[derive(Debug)]
pub(super) struct FirstSeen;

impl Tie for FirstSeen {
    const NEEDS_FIRST: bool = true;
    type Key = Reverse<u32>;
    fn key(candidate: &Candidate<'_>) -> Self::Key {
        Reverse(candidate.first)
    }
}

/// The largest left token, then the largest right token, by bytes: subword-nmt, CS336.
#[derive(Debug)]
pub(super) struct LargestPair;

impl Tie for LargestPair {
    type Key = (Arc<[u8]>, Arc<[u8]>, Reverse<(u32, u32)>);
    fn key(candidate: &Candidate<'_>) -> Self::Key {
        let (left, right) = candidate.pair;
        let bytes = |id: u32| Arc::clone(&candidate.tokens[id as usize]);
        // Ids decide only between tokens of equal bytes, which word-level vocabularies can have.
        (bytes(left), bytes(right), Reverse(candidate.pair))
    }
}
