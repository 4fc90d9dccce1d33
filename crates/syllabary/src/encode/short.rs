//! Merging of up to 64 bytes without a heap or an allocation.
//!
//! What is left of the bytes are the set bits of one number; for each of them stands the rank of its merge with the
//! next, with its place in the lower bits, so that the least of them is the lowest rank, leftmost. Leaves out longer
//! strings (`merge`), and units other than bytes.

use crate::{
    alphabet::Unit,
    merge::{Merges, Rule},
    parts::Parts,
    vocab::Vocab,
};

/// The most bytes.
pub(crate) const MOST: usize = 64;
pub(super) const PLACE_BITS: u32 = 6;
/// No merge; no rank is so high.
pub(super) const NONE: u32 = u32::MAX;
const HIGHEST_RANK: u32 = (NONE >> PLACE_BITS) - 1;

/// What the first merges of any string need: the ids of bytes and the ranks of their pairs.
#[derive(Debug)]
pub(crate) struct BytePairs {
    ids: [u32; 256],
    /// `rank << PLACE_BITS` of the merge of two bytes, the first of them the higher part of the index.
    ranks: Box<[u32; 1 << 16]>,
    /// What each merge of a list makes.
    results: Vec<u32>,
}

impl BytePairs {
    /// `None` where not every byte is a symbol, or ranks are too high.
    pub(crate) fn new(parts: &Parts<'_>, vocab: &Vocab, merges: &Merges) -> Option<BytePairs> {
        let mut ids = [NONE; 256];
        for &(symbol, id) in &parts.alphabet {
            if let [byte] = symbol {
                ids[usize::from(*byte)] = id;
            }
        }
        let highest = parts.merges.as_ref().map_or(vocab.id_bound() as usize, Vec::len);
        if parts.spelling.unit != Unit::Byte || ids.contains(&NONE) || highest > HIGHEST_RANK as usize {
            return None;
        }
        let mut ranks = all_none();
        match merges.rule() {
            Rule::Listed(_) => fill_from_table(&mut *ranks, &ids, merges),
            Rule::Ranked(_) => {
                for (_, bytes) in vocab.iter() {
                    if let &[left, right] = bytes
                        && let Some(first) = vocab.id(bytes)
                    {
                        ranks[usize::from(left) << 8 | usize::from(right)] = first << PLACE_BITS;
                    }
                }
            }
        }
        let results = parts.merges.iter().flatten().map(|&(_, _, id)| id).collect();
        Some(BytePairs { ids, ranks, results })
    }

    /// The ids of bytes.
    pub(crate) fn ids(&self) -> &[u32; 256] {
        &self.ids
    }

    /// What each merge of a list makes, by its rank; nothing where there is no list.
    pub(super) fn results(&self) -> &[u32] {
        &self.results
    }

    /// `rank << PLACE_BITS` of the merge of each two bytes, or `NONE`.
    pub(super) fn ranks(&self) -> &[u32; 1 << 16] {
        &self.ranks
    }
}

/// On the heap from the beginning.
fn all_none() -> Box<[u32; 1 << 16]> {
    let ranks: Box<[u32]> = vec![NONE; 1 << 16].into();
    ranks.try_into().unwrap_or_else(|_| Box::new([NONE; 1 << 16]))
}

fn fill_from_table(ranks: &mut [u32], ids: &[u32; 256], merges: &Merges) {
    for (left, &first) in ids.iter().enumerate() {
        for (right, &second) in ids.iter().enumerate() {
            if let Some(merge) = merges.get(first, second) {
                ranks[left << 8 | right] = merge.rank << PLACE_BITS;
            }
        }
    }
}

/// Merges the bytes `text[start..end]`, at most `N` of them; gives the ids and how many they are.
pub(crate) fn merge<const N: usize>(
    bytes: &BytePairs,
    merges: &Merges,
    text: &[u8],
    span: (usize, usize),
) -> ([u32; N], usize) {
    merged(bytes, merges, text, span).rest()
}

/// The same of at least one byte; gives the ids, as many as bits of the other, which are set at the places of their first
/// bytes.
pub(super) fn merge_with_places<const N: usize>(
    bytes: &BytePairs,
    merges: &Merges,
    text: &[u8],
    span: (usize, usize),
) -> ([u32; N], u64) {
    let state = merged(bytes, merges, text, span);
    let places = state.live;
    (state.rest().0, places)
}

/// Of at least one byte and at most `MOST`: a bit for each token that it becomes, at the place of its first byte.
pub(super) fn places(bytes: &BytePairs, merges: &Merges, text: &[u8], span: (usize, usize)) -> u64 {
    const FEW: usize = 16;
    if span.1 - span.0 <= FEW {
        merged::<FEW>(bytes, merges, text, span).live
    } else {
        merged::<MOST>(bytes, merges, text, span).live
    }
}

#[inline(always)]
fn merged<const N: usize>(
    bytes: &BytePairs,
    merges: &Merges,
    text: &[u8],
    (start, end): (usize, usize),
) -> State<N> {
    let state = State::<N>::new(bytes, &text[start..end]);
    match merges.rule() {
        Rule::Listed(table) => state.run(
            |state, left, right| table.get(state.ids[left], state.ids[right]).map(|merge| merge.rank),
            |rank| bytes.results[rank as usize],
        ),
        Rule::Ranked(vocab) => state.run(
            |state, left, right| vocab.id_at(text, start + left, start + state.next(right)),
            |rank| rank,
        ),
    }
}

/// A string on its way.
struct State<const N: usize> {
    length: usize,
    /// A bit for each symbol that is left, at the place of its first byte.
    live: u64,
    ids: [u32; N],
    /// For each, the rank and place of its merge with the next.
    waiting: [u32; N],
}

impl<const N: usize> State<N> {
    #[inline]
    fn new(pairs: &BytePairs, bytes: &[u8]) -> State<N> {
        let live = u64::MAX >> (MOST - bytes.len());
        let mut state = State { length: bytes.len(), live, ids: [0; N], waiting: [NONE; N] };
        for (id, &byte) in state.ids.iter_mut().zip(bytes) {
            *id = pairs.ids[usize::from(byte)];
        }
        for (at, (waiting, pair)) in state.waiting.iter_mut().zip(bytes.windows(2)).enumerate() {
            let rank = pairs.ranks[usize::from(pair[0]) << 8 | usize::from(pair[1])];
            *waiting = rank | if rank == NONE { 0 } else { at as u32 };
        }
        state
    }

    /// The place of the symbol after the one at `at`, or the end.
    #[inline]
    fn next(&self, at: usize) -> usize {
        let after = self.live & (u64::MAX << at << 1);
        if after == 0 { self.length } else { after.trailing_zeros() as usize }
    }

    #[inline]
    fn run(
        mut self,
        find: impl Fn(&State<N>, usize, usize) -> Option<u32>,
        result: impl Fn(u32) -> u32,
    ) -> State<N> {
        loop {
            let (mut least, mut left) = (NONE, self.live);
            while left != 0 {
                least = least.min(self.waiting[left.trailing_zeros() as usize]);
                left &= left - 1;
            }
            if least == NONE {
                return self;
            }
            let at = (least & (MOST as u32 - 1)) as usize;
            self.ids[at] = result(least >> PLACE_BITS);
            self.join(at, &find);
        }
    }

    /// Takes the symbol after the one at `at` into it.
    #[inline]
    fn join(&mut self, at: usize, find: &impl Fn(&State<N>, usize, usize) -> Option<u32>) {
        let right = self.next(at);
        self.live &= !(1 << right);
        self.waiting[right] = NONE;
        let after = self.next(at);
        self.waiting[at] = if after < self.length { waiting(find(self, at, after), at) } else { NONE };
        let before = self.live & ((1 << at) - 1);
        if before != 0 {
            let left = (u64::BITS - 1 - before.leading_zeros()) as usize;
            self.waiting[left] = waiting(find(self, left, at), left);
        }
    }

    /// The ids that are left, in order.
    #[inline]
    fn rest(self) -> ([u32; N], usize) {
        let (mut out, mut count, mut live) = ([0; N], 0, self.live);
        while live != 0 {
            out[count] = self.ids[live.trailing_zeros() as usize];
            count += 1;
            live &= live - 1;
        }
        (out, count)
    }
}

#[inline]
fn waiting(rank: Option<u32>, at: usize) -> u32 {
    rank.map_or(NONE, |rank| rank << PLACE_BITS | at as u32)
}
