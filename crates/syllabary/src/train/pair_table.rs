//! Which number a pair has, for pairs that are numbered in order.
//!
//! Open addressing: a slot holds a number and half of the pair's hash, so that pairs are looked at only to make
//! sure; slots can be read ahead. Nothing is taken out: the caller knows which pairs live. Leaves out the pairs.

use super::window::hash;
use crate::{fetch::fetch, pages};

/// No pair has this number.
const EMPTY: u64 = u64::MAX;
const FEWEST_SLOTS: usize = 1 << 10;

/// Numbers, by the hashes of pairs.
#[derive(Debug)]
pub(super) struct PairTable {
    /// The upper half of a hash, then the number.
    slots: Vec<u64>,
    len: usize,
    shift: u32,
}

impl PairTable {
    /// An empty table with room for `count` pairs.
    pub fn with_capacity(count: usize) -> PairTable {
        let size = (count * 4 / 3 + 1).next_power_of_two().max(FEWEST_SLOTS);
        PairTable { slots: pages::vec(EMPTY, size), len: 0, shift: 64 - size.trailing_zeros() }
    }

    /// Enters a pair that is not there.
    pub fn insert(&mut self, pair: (u32, u32), number: u32) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.len += 1;
        self.put(hash(pair) >> 32 << 32 | u64::from(number));
    }

    fn put(&mut self, slot: u64) {
        let mut at = (slot >> self.shift) as usize;
        while self.slots[at] != EMPTY {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = slot;
    }

    #[cold]
    fn grow(&mut self) {
        let more = 2 * self.slots.len();
        self.shift -= 1;
        let old = std::mem::replace(&mut self.slots, pages::vec(EMPTY, more));
        old.into_iter().filter(|&slot| slot != EMPTY).for_each(|slot| self.put(slot));
    }

    /// The number of a pair; `is_it` says whether a number is that of this pair.
    #[inline]
    pub fn find(&self, pair: (u32, u32), is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let hash = hash(pair);
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return None;
            }
            if slot >> 32 == hash >> 32 && is_it(slot as u32) {
                return Some(slot as u32);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Asks for the first slot where a pair may be.
    #[inline]
    pub fn fetch(&self, pair: (u32, u32)) {
        fetch(&self.slots[(hash(pair) >> self.shift) as usize]);
    }

    /// The number in that slot, or one that no pair has.
    #[inline]
    pub fn first_guess(&self, pair: (u32, u32)) -> u32 {
        self.slots[(hash(pair) >> self.shift) as usize] as u32
    }
}

impl Default for PairTable {
    fn default() -> PairTable {
        PairTable::with_capacity(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_and_no_others() {
        for room in [0, 5_000] {
            let mut table = PairTable::with_capacity(room);
            let pairs: Vec<(u32, u32)> = (0..5_000u32).map(|n| (n % 71, n / 71)).collect();
            for (number, &pair) in (0..).zip(&pairs) {
                assert_eq!(table.find(pair, |number| pairs[number as usize] == pair), None);
                table.insert(pair, number);
            }
            for (number, &pair) in (0..).zip(&pairs) {
                assert_eq!(table.find(pair, |number| pairs[number as usize] == pair), Some(number));
            }
            assert_eq!(table.find((71, 3), |number| pairs[number as usize] == (71, 3)), None);
        }
    }
}
