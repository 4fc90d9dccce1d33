//! The ids of short tokens by their bytes: one cache line a look-up.
//!
//! Adds: `ShortTokens`, filled once. Leaves out tokens of more than `SHORT` bytes (`vocab`).

use super::key::Key;

/// Tokens of a cache line.
const WAYS: usize = 3;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line {
    keys: [Key; WAYS],
    ids: [u32; WAYS],
    used: u32,
}

const EMPTY: Line = Line { keys: [Key::NONE; WAYS], ids: [0; WAYS], used: 0 };

/// Keys and ids by open addressing; a line that is full goes on in the next.
#[derive(Debug)]
pub(crate) struct ShortTokens {
    lines: Box<[Line]>,
    /// A bit for the hash of each: most strings that are no token are known by a table that stays in the cache.
    some: Box<[u64]>,
}

impl Default for ShortTokens {
    fn default() -> Self {
        ShortTokens::for_many(0)
    }
}

impl ShortTokens {
    /// Room for `count` tokens.
    pub(crate) fn for_many(count: usize) -> ShortTokens {
        // Half full at the most.
        let lines = (2 * count / WAYS + 1).next_power_of_two();
        let some = vec![0; (4 * count / 64 + 1).next_power_of_two()];
        ShortTokens { lines: vec![EMPTY; lines].into(), some: some.into() }
    }

    /// The word and bit of a hash, of its higher half, since lines go by the lower.
    #[inline]
    fn bit(&self, hash: u64) -> (usize, u64) {
        ((hash >> 38) as usize & (self.some.len() - 1), 1 << (hash >> 32 & 63))
    }

    /// The id of `key`.
    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<u32> {
        let hash = key.hash();
        let (word, bit) = self.bit(hash);
        if self.some[word] & bit == 0 {
            return None;
        }
        let mut at = hash as usize & (self.lines.len() - 1);
        loop {
            let line = &self.lines[at];
            for way in 0..WAYS {
                if line.keys[way] == key {
                    return Some(line.ids[way]);
                }
            }
            if line.used < WAYS as u32 {
                return None;
            }
            at = (at + 1) & (self.lines.len() - 1);
        }
    }

    /// Adds a token unless its bytes are there; no more than there is room for.
    pub(crate) fn insert(&mut self, key: Key, id: u32) {
        let hash = key.hash();
        let (word, bit) = self.bit(hash);
        self.some[word] |= bit;
        let mask = self.lines.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let line = &mut self.lines[at];
            if line.keys.contains(&key) {
                return;
            }
            let used = line.used as usize;
            if used < WAYS {
                (line.keys[used], line.ids[used]) = (key, id);
                line.used += 1;
                return;
            }
            at = (at + 1) & mask;
        }
    }
}
