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

/// The pair of fewer characters, then of the smaller text: sentencepiece. No two pairs have one text.
#[derive(Debug)]
pub(super) struct ShortestText;

impl Tie for ShortestText {
    type Key = Reverse<(usize, Arc<[u8]>)>;
    fn key(candidate: &Candidate<'_>) -> Self::Key {
        let (left, right) = candidate.pair;
        let text = [&*candidate.tokens[left as usize], &*candidate.tokens[right as usize]].concat();
        // Every byte but the first of a character begins with the bits 10.
        Reverse((text.iter().filter(|byte| **byte & 0xC0 != 0x80).count(), text.into()))
    }
}
