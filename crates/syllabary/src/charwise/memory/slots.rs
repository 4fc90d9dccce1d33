//! Slots of the memory: a segment of three lengths, and its ids; one that is all zero holds nothing.
//!
//! Leaves out tables of them (`memory`).

use crate::{
    encode::{Key, Longer},
    pages::Zero,
};

/// Ids in a slot, and in one of a longer segment.
pub(super) const INLINE: usize = 4;
pub(in crate::charwise) const MORE: usize = 7;

/// Where the number of ids begins in a short segment's key.
pub(super) const COUNT: u32 = 60;
/// In the length of a long segment: its ids are for some texts only.
pub(super) const SOME_LONG: u8 = 1 << 7;

/// A short segment: its key, with the number of its ids, or `APART`, in the bits above the length; and its ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct Short {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) ids: [u32; INLINE],
}

// SAFETY: numbers are zero where their bytes are.
unsafe impl Zero for Short {
    const ZERO: Short = Short { low: 0, high: 0, ids: [0; INLINE] };
}

impl Short {
    #[inline]
    pub(super) fn is(&self, key: Key) -> bool {
        self.low == key.low && (self.high ^ key.high) << (64 - COUNT) == 0
    }

    pub(super) fn key(&self) -> Key {
        Key { low: self.low, high: self.high << (64 - COUNT) >> (64 - COUNT) }
    }
}

/// A segment of `LONGER` to `MIDDLE` bytes: its key, its ids and how many they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Middle {
    pub(super) key: Longer,
    pub(super) ids: [u32; MORE],
    pub(super) count: u32,
}

// SAFETY: as above; `NONE` is all zero.
unsafe impl Zero for Middle {
    const ZERO: Middle = Middle { key: Longer::NONE, ids: [0; MORE], count: 0 };
}

/// A long segment: a part of its hash, where its bytes and ids are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Long {
    pub(super) hash: u32,
    pub(super) bytes: u32,
    pub(super) ids: u32,
    pub(super) length: u8,
    pub(super) count: u8,
}

// SAFETY: as above.
unsafe impl Zero for Long {
    const ZERO: Long = Long { hash: 0, bytes: 0, ids: 0, length: 0, count: 0 };
}

impl Long {
    pub(super) fn length(&self) -> usize {
        usize::from(self.length & !SOME_LONG)
    }
}
