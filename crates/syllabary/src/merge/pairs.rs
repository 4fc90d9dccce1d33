//! The table of pairs that merge: open addressing, four slots a cache line.

use super::Merge;
use crate::fetch::fetch;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Slot {
    left: u32,
    right: u32,
    merge: Merge,
}

/// No merge has this rank: there are fewer than 2^32.
const NONE: u32 = u32::MAX;
const EMPTY: Slot = Slot { left: NONE, right: NONE, merge: Merge { rank: NONE, id: NONE } };

/// Pairs and what they become.
#[derive(Debug)]
pub(crate) struct PairTable {
    slots: Box<[Slot]>,
}

impl PairTable {
    /// Room for `count` pairs.
    pub(crate) fn for_many(count: usize) -> PairTable {
        PairTable { slots: vec![EMPTY; (2 * count + 1).next_power_of_two()].into() }
    }

    /// Where a pair is looked for first.
    #[inline]
    fn home(&self, left: u32, right: u32) -> usize {
        let key = u64::from(left) << 32 | u64::from(right);
        let product = u128::from(key ^ 0x9E37_79B9_7F4A_7C15) * 0xD1B5_4A32_D192_ED03_u128;
        (product as u64 ^ (product >> 64) as u64) as usize & (self.slots.len() - 1)
    }

    /// Asks for the slot of a pair ahead of its use.
    #[inline]
    pub(crate) fn fetch(&self, left: u32, right: u32) {
        fetch(&self.slots[self.home(left, right)]);
    }

    /// The slot of a pair: where it is, or the empty one where it belongs.
    #[inline]
    fn place(&self, left: u32, right: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.home(left, right);
        loop {
            let slot = &self.slots[at];
            if (slot.left == left && slot.right == right) || slot.merge.rank == NONE {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// What a pair becomes.
    #[inline]
    pub(crate) fn get(&self, left: u32, right: u32) -> Option<Merge> {
        let merge = self.slots[self.place(left, right)].merge;
        (merge.rank != NONE).then_some(merge)
    }

    /// Adds a pair, or gives one that is there another meaning; no more than there is room for.
    pub(crate) fn insert(&mut self, (left, right): (u32, u32), merge: Merge) {
        let at = self.place(left, right);
        self.slots[at] = Slot { left, right, merge };
    }

    /// All pairs, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ((u32, u32), Merge)> {
        let used = self.slots.iter().filter(|slot| slot.merge.rank != NONE);
        used.map(|slot| ((slot.left, slot.right), slot.merge))
    }
}
