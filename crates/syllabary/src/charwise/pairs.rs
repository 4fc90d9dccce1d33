//! Merging the symbols of a short segment: pairs in a flat table, candidates in an array.
//!
//! ```text
//! repeat: of all neighbouring pairs in the table, take the lowest rank, the leftmost of equals;
//!         replace the two by the result
//! ```
//!
//! Leaves out long segments (`merge`).

use crate::merge::Merge;

/// Segments of up to so many symbols are merged here.
pub(super) const MOST: usize = 48;

/// No pair has this key: neither part is an id or the symbol of a character.
const EMPTY: u64 = u64::MAX;
/// No candidate.
const NEVER: u64 = u64::MAX;
/// No symbol.
const END: u8 = u8::MAX;

#[derive(Clone, Copy)]
struct Slot {
    key: u64,
    rank: u32,
    id: u32,
}

/// The pairs that merge, by open addressing; at least half of the slots are empty.
pub(super) struct Pairs {
    slots: Vec<Slot>,
    shift: u32,
}

/// The symbols of a segment, a linked list in place.
pub(super) struct Scratch {
    ids: [u32; MOST],
    /// For each symbol, rank and place of its merge with the next.
    candidates: [u64; MOST],
    results: [u32; MOST],
    next: [u8; MOST],
    previous: [u8; MOST],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch {
            ids: [0; MOST],
            candidates: [NEVER; MOST],
            results: [0; MOST],
            next: [END; MOST],
            previous: [END; MOST],
        }
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl Pairs {
    pub(super) fn new(pairs: impl ExactSizeIterator<Item = ((u32, u32), Merge)>) -> Pairs {
        let size = (2 * pairs.len()).next_power_of_two().max(8);
        let empty = Slot { key: EMPTY, rank: 0, id: 0 };
        let mut table = Pairs { slots: vec![empty; size], shift: 64 - size.trailing_zeros() };
        for ((left, right), Merge { rank, id }) in pairs {
            let key = key(left, right);
            let at = table.place(key);
            table.slots[at] = Slot { key, rank, id };
        }
        table
    }

    /// The slot of this key, or the empty one where it would be.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        loop {
            let found = self.slots[at & mask].key;
            if found == key || found == EMPTY {
                return at & mask;
            }
            at += 1;
        }
    }

    /// The merge of two symbols as a candidate at `at`, and its result.
    #[inline]
    fn candidate(&self, left: u32, right: u32, at: usize) -> (u64, u32) {
        let slot = &self.slots[self.place(key(left, right))];
        if slot.key == EMPTY { (NEVER, 0) } else { (u64::from(slot.rank) << 8 | at as u64, slot.id) }
    }

    /// Merges `symbols`, of which there are at most `MOST`, in place.
    pub(super) fn merge(&self, symbols: &mut Vec<u32>, scratch: &mut Scratch) {
        let count = symbols.len();
        if !(2..=MOST).contains(&count) {
            return;
        }
        scratch.ids[..count].copy_from_slice(symbols);
        for at in 0..count {
            scratch.next[at] = if at + 1 == count { END } else { (at + 1) as u8 };
            scratch.previous[at] = if at == 0 { END } else { (at - 1) as u8 };
        }
        for at in 0..count - 1 {
            (scratch.candidates[at], scratch.results[at]) = self.candidate(symbols[at], symbols[at + 1], at);
        }
        scratch.candidates[count - 1] = NEVER;
        self.run(count, scratch);
        symbols.clear();
        let mut at = 0;
        while at != END {
            symbols.push(scratch.ids[usize::from(at)]);
            at = scratch.next[usize::from(at)];
        }
    }

    fn run(&self, count: usize, scratch: &mut Scratch) {
        loop {
            let best = scratch.candidates[..count].iter().fold(NEVER, |best, &candidate| best.min(candidate));
            if best == NEVER {
                return;
            }
            let at = (best & 0xFF) as usize;
            let right = usize::from(scratch.next[at]);
            let (before, after) = (scratch.previous[at], scratch.next[right]);
            let id = scratch.results[at];
            scratch.ids[at] = id;
            scratch.next[at] = after;
            scratch.candidates[right] = NEVER;
            scratch.candidates[at] = NEVER;
            if after != END {
                let after = usize::from(after);
                scratch.previous[after] = at as u8;
                (scratch.candidates[at], scratch.results[at]) = self.candidate(id, scratch.ids[after], at);
            }
            if before != END {
                let before = usize::from(before);
                (scratch.candidates[before], scratch.results[before]) =
                    self.candidate(scratch.ids[before], id, before);
            }
        }
    }
}
