//! What two tokens become, in eight bytes a pair; for ranked vocabularies, where asking the vocabulary takes
//! longer.
//!
//! Most pairs asked about become nothing; a bit for each hash says so from a table that stays near.

/// Bits of an id; larger ones have no table.
const BITS: u32 = 21;
const MASK: u64 = (1 << BITS) - 1;
const EMPTY: u64 = u64::MAX;

/// Pairs and their results, by open addressing.
#[derive(Debug)]
pub(super) struct Joins {
    /// Left, right and result.
    slots: Box<[u64]>,
    shift: u32,
    /// A bit for the hash of every pair.
    seen: Box<[u64]>,
    seen_shift: u32,
}

fn hash(key: u64) -> u64 {
    let product = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product ^ product >> 32).wrapping_mul(0xD1B5_4A32_D192_ED03)
}

impl Joins {
    /// A table of `pairs`, of each left, right and result, none of them twice; `None` if ids are too large.
    pub(super) fn new(pairs: impl ExactSizeIterator<Item = (u32, u32, u32)>) -> Option<Joins> {
        let size = (pairs.len() * 3 / 2 + 2).next_power_of_two();
        let bits = (4 * size).max(64);
        let mut joins = Joins {
            slots: vec![EMPTY; size].into(),
            shift: u64::BITS - size.trailing_zeros(),
            seen: vec![0; bits / 64].into(),
            seen_shift: u64::BITS - bits.trailing_zeros(),
        };
        for (left, right, id) in pairs {
            if u64::from(left.max(right).max(id)) >= MASK {
                return None;
            }
            let key = u64::from(left) << BITS | u64::from(right);
            let bit = (hash(key) >> joins.seen_shift) as usize;
            joins.seen[bit / 64] |= 1 << (bit % 64);
            let at = joins.find(key, hash(key));
            joins.slots[at] = key << BITS | u64::from(id);
        }
        Some(joins)
    }

    /// The slot of a pair, or the empty one where it belongs.
    #[inline]
    fn find(&self, key: u64, hash: u64) -> usize {
        let mut at = (hash >> self.shift) as usize;
        while self.slots[at] >> BITS != key && self.slots[at] != EMPTY {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    /// What a pair becomes.
    #[inline]
    pub(super) fn get(&self, left: u32, right: u32) -> Option<u32> {
        let key = u64::from(left) << BITS | u64::from(right);
        let hash = hash(key);
        let bit = (hash >> self.seen_shift) as usize;
        if self.seen[bit / 64] >> (bit % 64) & 1 == 0 {
            return None;
        }
        let slot = self.slots[self.find(key, hash)];
        (slot != EMPTY).then_some((slot & MASK) as u32)
    }
}
