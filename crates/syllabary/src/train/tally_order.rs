//! The pieces of a tally by their bytes, or by a key of their counts and then by their bytes.
//!
//! ```text
//! sort 65,536 at a time, ask whether to go on, hand out the least of all firsts
//! ```
//!
//! No step takes long, however many pieces there are. Leaves out orders that no bytes are compared for (`tally`).

use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, binary_heap::PeekMut},
};

use super::{COUNT, Counted, Tally};
use crate::{
    Error,
    train::{GoOn, ask, going},
};

/// So many pieces are sorted at a time.
const TOGETHER: usize = if cfg!(test) { 1 << 4 } else { 1 << 16 };

/// The least piece of those sorted together that is not handed out, and the others.
struct Head<'a> {
    tally: &'a Tally,
    key: u64,
    at: usize,
    rest: std::slice::Iter<'a, usize>,
}

impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| self.tally.compare(self.at, other.at))
    }
}

impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head<'_> {}

impl Tally {
    /// Calls `f` with every piece, by its bytes.
    pub fn each_by_bytes(
        &self,
        go_on: &mut GoOn<'_>,
        f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.each_by(|_| 0, go_on, f)
    }

    /// Calls `f` with every piece, by a key of its count, and by its bytes where keys are equal.
    pub(in crate::train) fn each_by(
        &self,
        key: impl Fn(u64) -> u64,
        go_on: &mut GoOn<'_>,
        f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut order: Vec<usize> = (0..self.slots.len()).filter(|&at| self.slots[at][COUNT] > 0).collect();
        let key_at = |at: usize| key(self.slots[at][COUNT]);
        for some in order.chunks_mut(TOGETHER) {
            going(go_on)?;
            some.sort_unstable_by(|&a, &b| key_at(a).cmp(&key_at(b)).then_with(|| self.compare(a, b)));
        }
        let heads = order.chunks(TOGETHER).filter_map(|some| {
            let mut rest = some.iter();
            rest.next().map(|&at| Reverse(Head { tally: self, key: key_at(at), at, rest }))
        });
        let (mut heads, mut step) = (heads.collect::<BinaryHeap<_>>(), 0);
        while let Some(mut head) = heads.peek_mut() {
            step += 1;
            ask(go_on, step)?;
            self.show(&self.slots[head.0.at], f)?;
            match head.0.rest.next() {
                Some(&at) => (head.0.key, head.0.at) = (key_at(at), at),
                None => drop(PeekMut::pop(head)),
            }
        }
        Ok(())
    }

    /// The order of the bytes in two slots.
    fn compare(&self, a: usize, b: usize) -> Ordering {
        let mut buffers = ([0; 16], [0; 16]);
        self.bytes(&self.slots[a], &mut buffers.0).cmp(self.bytes(&self.slots[b], &mut buffers.1))
    }
}
