//! What the memory finds strings by, keys of two lengths, and what it has room for beside each.
//!
//! Leaves out how keys are made (`key`).

use std::fmt::Debug;

use super::{FAR, FEW, LONG_FAR, packed};
use crate::{
    encode::key::{Key, Longer},
    pages::Zero,
};

/// What a memory finds strings by; zero is that of no string. In a slot, the highest bits are the count of ids.
pub(crate) trait Name: Zero {
    /// Where the count begins in the highest word, and the count of a slot whose ids lie elsewhere.
    const SHIFT: u32;
    const ELSEWHERE: u64;
    /// A bit above the count: set in a slot if a string at home there lies in another line. Nothing where none tells.
    const STRAY: u64;
    /// The most lines, unless more are allowed, and the most ids that do not fit into their slots; beyond it everything
    /// is forgotten.
    const LINES: usize;
    const MOST_FAR: usize;
    /// By so many times the lines grow where much text is coming: short strings, which every text has, to all at once.
    const LEAP: usize;
    /// Ids that do not fit are read so many at a time.
    const FAR: usize;
    /// Ids in a slot, or where they lie and how many they are: its first two numbers.
    type Ids: Zero + Debug + AsRef<[u32]> + AsMut<[u32]>;

    /// Ids in a slot and what its key counts, if there is room for them.
    fn inside(ids: &[u32]) -> Option<(u64, Self::Ids)>;
    fn hash(self) -> u64;
    fn high(self) -> u64;
    /// The same with another highest word.
    fn with_high(self, high: u64) -> Self;
    /// Whether they are the same but for the highest word.
    fn is_like(self, other: Self) -> bool;
}

impl Name for Key {
    const SHIFT: u32 = 60;
    const ELSEWHERE: u64 = 15;
    const STRAY: u64 = 0;
    const LINES: usize = 1 << 17;
    const MOST_FAR: usize = 1 << 19;
    const LEAP: usize = 1 << 7;
    const FAR: usize = FAR;
    type Ids = [u32; FEW];

    fn inside(ids: &[u32]) -> Option<(u64, [u32; FEW])> {
        let mut inside = [0; FEW];
        inside.get_mut(..ids.len())?.copy_from_slice(ids);
        Some((ids.len() as u64, inside))
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        Key::hash(self)
    }

    #[inline(always)]
    fn high(self) -> u64 {
        self.high
    }

    #[inline(always)]
    fn with_high(self, high: u64) -> Key {
        Key { high, ..self }
    }

    #[inline(always)]
    fn is_like(self, other: Key) -> bool {
        self.low == other.low
    }
}

impl Name for Longer {
    const SHIFT: u32 = 61;
    const ELSEWHERE: u64 = 2;
    const STRAY: u64 = 1 << 63;
    const LINES: usize = 1 << 17;
    const MOST_FAR: usize = 1 << 19;
    const LEAP: usize = 1 << 4;
    const FAR: usize = LONG_FAR;
    type Ids = [u32; 8];

    fn inside(ids: &[u32]) -> Option<(u64, [u32; 8])> {
        packed::pack(ids).map(|words| (1, words))
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        Longer::hash(self)
    }

    #[inline(always)]
    fn high(self) -> u64 {
        self.0[3]
    }

    #[inline(always)]
    fn with_high(self, high: u64) -> Longer {
        let [first, second, third, _] = self.0;
        Longer([first, second, third, high])
    }

    #[inline(always)]
    fn is_like(self, other: Longer) -> bool {
        let ([a, b, c, _], [d, e, f, _]) = (self.0, other.0);
        (a ^ d) | (b ^ e) | (c ^ f) == 0
    }
}
