//! The tally of pieces: each distinct piece once, with how often it occurred and where it was first seen.
//!
//! Open addressing, 32 bytes a piece. A piece of up to 15 bytes lies in its slot; a longer one leaves there its
//! hash and its place in an arena. Tallies are added in any order; the sum is the same. Leaves out the order of
//! pieces by their bytes (`order`): a tally has none but that of `first`.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::{
    Error, pages,
    train::{GoOn, ask},
};

/// The bytes of a piece that fit into a slot.
const SHORT: usize = 15;
/// In the highest byte of a key: the piece is in the arena.
const LONG: u64 = 0xff << 56;
/// No piece has this half of a key.
const NOWHERE: u64 = u64::MAX;
/// The bytes of a length in the arena.
const PREFIX: usize = 4;
/// So many pieces are looked up together.
const TOGETHER: usize = 64;
const FEWEST_SLOTS: usize = 1 << 10;
/// So many neighbouring slots are added to another tally one after the other.
const BLOCK: usize = 1 << 6;
/// An empty slot. Not all zeros: pages of zeros would be mapped when first read and once more when written, which
/// other threads would have to be told.
const EMPTY: Slot = [0, 0, 0, u64::MAX];

/// The two halves of a piece's key, how often it occurred (0: the slot is empty), where it was first seen.
type Slot = [u64; 4];
const LOW: usize = 0;
const HIGH: usize = 1;
const COUNT: usize = 2;
const FIRST: usize = 3;

/// Distinct pieces and their counts.
#[derive(Debug)]
pub struct Tally {
    slots: Vec<Slot>,
    len: usize,
    /// The bytes of all pieces.
    bytes: usize,
    arena: Vec<u8>,
    /// Drawn for each process, so that no corpus can be made to collide.
    seeds: (u64, u64),
}

/// One piece of a tally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted<'a> {
    /// Its bytes.
    pub piece: &'a [u8],
    /// How often it occurred.
    pub count: u64,
    /// Where it was first seen: less is earlier.
    pub first: u64,
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The key of `text[start..end]`, at most `SHORT` bytes: its bytes and, in the highest, its length.
#[inline]
fn short_key(text: &[u8], start: usize, end: usize) -> (u64, u64) {
    let length = end - start;
    if let Some(Ok(bytes)) = text.get(start..start + 16).map(<[u8; 16]>::try_from) {
        let all = u128::from_le_bytes(bytes) & !(u128::MAX << (8 * length));
        return (all as u64, (all >> 64) as u64 | (length as u64) << 56);
    }
    let (low, high) = text[start..end].split_at(length.min(8));
    (word(low), word(high) | (length as u64) << 56)
}

impl Default for Tally {
    fn default() -> Self {
        Tally::with_seeds(Tally::seeds())
    }
}

impl Tally {
    /// Seeds for tallies that are to be added: with the same, that is faster.
    pub(super) fn seeds() -> (u64, u64) {
        let draw = || RandomState::new().build_hasher().finish();
        (draw(), draw())
    }

    pub(super) fn with_seeds(seeds: (u64, u64)) -> Tally {
        Tally { slots: Vec::new(), len: 0, bytes: 0, arena: Vec::new(), seeds }
    }

    /// The number of distinct pieces.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no piece was counted.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes of all distinct pieces.
    pub fn total_bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.slots.len() * size_of::<Slot>() + self.arena.capacity()
    }

    /// Whether so many pieces more could make it use more than `memory` bytes, while it grows.
    pub(super) fn exceeds(&self, more: usize, memory: usize) -> bool {
        let grows = (self.len + more) * 4 > self.slots.len() * 3;
        let slots = if grows { 3 * self.slots.len().max(more) } else { self.slots.len() };
        slots * size_of::<Slot>() + 2 * self.arena.capacity() > memory
    }

    /// Forgets everything and keeps the memory of its slots; that of the arena might exceed a limit for ever.
    pub(super) fn clear(&mut self) {
        self.slots.fill(EMPTY);
        self.arena = Vec::new();
        (self.len, self.bytes) = (0, 0);
    }

    fn hash(&self, (low, high): (u64, u64)) -> u64 {
        fold(low ^ self.seeds.0, high ^ self.seeds.1)
    }

    /// The key of a piece too long for a slot: its hash, and no place yet.
    fn long_key(&self, piece: &[u8]) -> (u64, u64) {
        let start = self.seeds.1 ^ piece.len() as u64;
        let hash = piece.chunks(16).fold(start, |hash, chunk| {
            let (low, high) = chunk.split_at(chunk.len().min(8));
            fold(word(low) ^ self.seeds.0 ^ hash.rotate_left(32), word(high) ^ hash)
        });
        (hash, LONG)
    }

    /// Counts `text[start..end]`, seen at `first`, `count` times more.
    #[inline]
    pub fn add(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        count: u64,
        first: u64,
    ) -> Result<(), Error> {
        self.room();
        if end - start <= SHORT {
            self.add_key(short_key(text, start, end), None, count, first)
        } else {
            self.add_key(self.long_key(&text[start..end]), Some(&text[start..end]), count, first)
        }
    }

    #[inline]
    fn add_key(&mut self, key: (u64, u64), long: Option<&[u8]>, count: u64, first: u64) -> Result<(), Error> {
        let at = self.find(key, long);
        let slot = &mut self.slots[at];
        if slot[COUNT] == 0 {
            return self.enter(at, key, long, count, first);
        }
        slot[COUNT] = slot[COUNT].saturating_add(count);
        slot[FIRST] = slot[FIRST].min(first);
        Ok(())
    }

    /// Counts `text[start..end]` once more for each of `spans`; `text` begins at `place`, and nothing before it
    /// comes later.
    pub fn add_all(&mut self, text: &[u8], spans: &[(usize, usize)], place: u64) -> Result<(), Error> {
        let mut looked_up = [(0, 0, 0); TOGETHER];
        for spans in spans.chunks(TOGETHER) {
            while (self.len + spans.len()) * 4 > self.slots.len() * 3 {
                self.grow();
            }
            let mask = self.slots.len() - 1;
            for (known, &(start, end)) in looked_up.iter_mut().zip(spans) {
                let short = end - start <= SHORT;
                let key = if short { short_key(text, start, end) } else { (0, NOWHERE) };
                *known = (key.0, key.1, self.hash(key) as usize & mask);
            }
            for (&(low, high, at), &(start, end)) in looked_up.iter().zip(spans) {
                let slot = &mut self.slots[at];
                if slot[LOW] == low && slot[HIGH] == high && slot[COUNT] > 0 {
                    slot[COUNT] = slot[COUNT].saturating_add(1);
                } else {
                    self.add(text, start, end, 1, place + start as u64)?;
                }
            }
        }
        Ok(())
    }

    /// The slot of a key, or the empty one where it belongs.
    #[inline]
    fn find(&self, key: (u64, u64), long: Option<&[u8]>) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.hash(key) as usize & mask;
        loop {
            let slot = &self.slots[at];
            let same = match long {
                None => slot[LOW] == key.0 && slot[HIGH] == key.1,
                Some(piece) => {
                    slot[LOW] == key.0 && slot[HIGH] & LONG == LONG && self.in_arena(slot[HIGH]) == piece
                }
            };
            if slot[COUNT] == 0 || same {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn in_arena(&self, high: u64) -> &[u8] {
        let start = (high & !LONG) as usize;
        let length = word(&self.arena[start..start + PREFIX]) as usize;
        &self.arena[start + PREFIX..start + PREFIX + length]
    }

    fn enter(
        &mut self,
        at: usize,
        key: (u64, u64),
        long: Option<&[u8]>,
        count: u64,
        first: u64,
    ) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        let mut high = key.1;
        if let Some(piece) = long {
            let length = u32::try_from(piece.len())
                .map_err(|_| Error::TooLarge("a piece of over 4 GB: give a split".to_owned()))?;
            high |= self.arena.len() as u64;
            self.arena.extend_from_slice(&length.to_le_bytes());
            self.arena.extend_from_slice(piece);
        }
        self.bytes += long.map_or((key.1 >> 56) as usize, <[u8]>::len);
        self.slots[at] = [key.0, high, count, first];
        self.len += 1;
        Ok(())
    }

    #[cold]
    fn grow(&mut self) {
        let more = (2 * self.slots.len()).max(FEWEST_SLOTS);
        let old = std::mem::replace(&mut self.slots, pages::vec(EMPTY, more));
        for slot in old.into_iter().filter(|slot| slot[COUNT] > 0) {
            let long = slot[HIGH] & LONG == LONG;
            let mut at = self.hash((slot[LOW], if long { LONG } else { slot[HIGH] })) as usize & (more - 1);
            while self.slots[at][COUNT] > 0 {
                at = (at + 1) & (more - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// Adds another tally; `go_on` is asked now and then.
    pub fn merge(&mut self, other: &Tally, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        // subtle: not from the first slot to the last. With equal seeds that is the order of their places here too:
        // what finds no room piles up before the next, which is quadratic.
        let blocks = other.slots.len() / BLOCK;
        let order = (0..blocks).map(|n| n.wrapping_mul((blocks / 8 * 5) | 1) & (blocks - 1));
        for (done, block) in order.map(|block| &other.slots[block * BLOCK..][..BLOCK]).enumerate() {
            ask(go_on, (done + 1) * BLOCK - 1)?;
            self.fetch(block);
            block.iter().filter(|slot| slot[COUNT] > 0).try_for_each(|slot| self.add_slot(other, slot))?;
        }
        Ok(())
    }

    /// Adds the piece in a slot of another tally.
    fn add_slot(&mut self, other: &Tally, slot: &Slot) -> Result<(), Error> {
        if slot[HIGH] & LONG != LONG {
            self.room_in_sum();
            return self.add_key((slot[LOW], slot[HIGH]), None, slot[COUNT], slot[FIRST]);
        }
        let piece = other.in_arena(slot[HIGH]);
        if self.seeds == other.seeds {
            self.room_in_sum();
            self.add_key((slot[LOW], LONG), Some(piece), slot[COUNT], slot[FIRST])
        } else {
            self.add(piece, 0, piece.len(), slot[COUNT], slot[FIRST])
        }
    }

    /// Reads the slots where the pieces of some slots belong, one of which does not wait for the other.
    fn fetch(&self, some: &[Slot]) {
        let mask = self.slots.len().wrapping_sub(1);
        let homes = some.iter().map(|slot| {
            let long = slot[HIGH] & LONG == LONG;
            self.hash((slot[LOW], if long { LONG } else { slot[HIGH] })) as usize & mask
        });
        let sum = homes.fold(0, |sum, home| sum ^ self.slots.get(home).map_or(0, |slot| slot[COUNT]));
        std::hint::black_box(sum);
    }

    /// The same where pieces come once each: slots may be fuller, for less memory.
    #[inline]
    fn room_in_sum(&mut self) {
        if (self.len + 1) * 8 > self.slots.len() * 7 {
            self.grow();
        }
    }

    /// Makes room for one piece more.
    #[inline]
    fn room(&mut self) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
    }

    /// Calls `f` with every piece, in no order.
    pub fn each(&self, f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let mut taken = self.slots.iter().filter(|slot| slot[COUNT] > 0);
        taken.try_for_each(|slot| self.show(slot, f))
    }

    /// Calls `f` with every piece, the frequent ones first.
    pub fn each_by_count(&self, f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>) -> Result<(), Error> {
        // Most pieces of a corpus occur once: they need no sorting.
        self.each_sorted(|slot| slot[COUNT] > 1, |slot| std::cmp::Reverse(slot[COUNT]), f)?;
        let mut once = self.slots.iter().filter(|slot| slot[COUNT] == 1);
        once.try_for_each(|slot| self.show(slot, f))
    }

    /// Calls `f` with every piece, in order of first appearance.
    pub fn each_by_first(&self, f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>) -> Result<(), Error> {
        self.each_sorted(|slot| slot[COUNT] > 0, |slot| slot[FIRST], f)
    }

    fn each_sorted<K: Ord>(
        &self,
        chosen: impl Fn(&Slot) -> bool,
        key: impl Fn(&Slot) -> K,
        f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let chosen = self.slots.iter().enumerate().filter(|(_, slot)| chosen(slot));
        let mut order: Vec<(K, usize)> = chosen.map(|(at, slot)| (key(slot), at)).collect();
        order.sort_unstable();
        order.chunks(TOGETHER).try_for_each(|some| {
            // One does not wait for the other.
            std::hint::black_box(some.iter().fold(0, |sum, &(_, at)| sum ^ self.slots[at][COUNT]));
            some.iter().try_for_each(|&(_, at)| self.show(&self.slots[at], f))
        })
    }

    fn show(&self, slot: &Slot, f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let mut buffer = [0; 16];
        let piece = self.bytes(slot, &mut buffer);
        f(Counted { piece, count: slot[COUNT], first: slot[FIRST] })
    }

    /// The bytes of a piece, in the arena or in `buffer`.
    fn bytes<'a>(&'a self, slot: &Slot, buffer: &'a mut [u8; 16]) -> &'a [u8] {
        if slot[HIGH] & LONG == LONG {
            return self.in_arena(slot[HIGH]);
        }
        buffer[..8].copy_from_slice(&slot[LOW].to_le_bytes());
        buffer[8..].copy_from_slice(&slot[HIGH].to_le_bytes());
        &buffer[..(slot[HIGH] >> 56) as usize]
    }
}

#[path = "tally_order.rs"]
mod order;

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;
