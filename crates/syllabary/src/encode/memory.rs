//! A bounded memory of short strings already encoded, one a thread.
//!
//! Adds: `Memory`, a table of slots with key and ids inside, two a cache line, so that a look-up touches one line
//! and knows no branch that text could make hard to foresee. A string lies in the line of its hash or, where
//! that is full, in the next of the same `WINDOW`; where all are full, a new string takes the place of an old one.
//! Leaves out strings of more than `SHORT` bytes (`cache`), and what the ids are.

use super::key::{Key, SHORT, fetch};

/// The most ids inside a slot; of more, the slot tells where they lie.
pub(crate) const FEW: usize = 4;
/// Lines where a string may lie.
const WINDOW: usize = 4;
const FIRST_LINES: usize = 1 << 8;
/// 8 MiB.
const MOST_LINES: usize = 1 << 17;
/// 2 MiB of ids that do not fit into their slots; beyond it everything is forgotten.
const MOST_FAR: usize = 1 << 19;
/// The count of a slot whose ids lie elsewhere.
const FAR: u64 = 15;

/// A string and its ids. The four bits above the length in the key are their count.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Slot {
    key: Key,
    ids: [u32; FEW],
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([Slot; 2]);

const EMPTY: Slot = Slot { key: Key::NONE, ids: [0; FEW] };

impl Slot {
    #[inline(always)]
    fn holds(&self, key: Key) -> bool {
        (self.key.low == key.low) & ((self.key.high ^ key.high) << 4 == 0)
    }

    fn is_empty(&self) -> bool {
        self.key.high == 0
    }

    /// How many ids there are, and they, if they are in the slot.
    #[inline(always)]
    pub(crate) fn few(&self) -> Option<(usize, &[u32; FEW])> {
        let count = self.key.high >> 60;
        (count != FAR).then_some((count as usize, &self.ids))
    }
}

/// The key of a string that is no whole piece: what stands in a piece between two places where no token can pass.
/// A whole piece of the same bytes may have other ids.
pub(crate) fn inner(key: Key) -> Key {
    let length = key.high >> 56;
    debug_assert!(length < SHORT as u64);
    Key { low: key.low, high: key.high & (u64::MAX >> 8) | length << 48 }
}

/// Strings and their ids.
#[derive(Debug)]
pub(crate) struct Memory {
    lines: Box<[Line]>,
    used: usize,
    far: Vec<u32>,
    /// Counts the strings that took the place of others.
    taken: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { lines: lines(FIRST_LINES), used: 0, far: Vec::new(), taken: 0 }
    }
}

fn lines(count: usize) -> Box<[Line]> {
    vec![Line([EMPTY; 2]); count].into()
}

/// The lines of a memory, for many look-ups.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'m>(&'m [Line]);

impl Lines<'_> {
    /// The ids of `key` and their number, if they are in the first place where one would look; nothing more.
    #[inline(always)]
    pub(crate) fn first(&self, key: Key, hash: u32) -> Option<(usize, &[u32; FEW])> {
        let line = &self.0[hash as usize & (self.0.len() - 1)].0;
        let slot = &line[usize::from(!line[0].holds(key))];
        let count = (slot.key.high >> 60) as usize;
        // An empty slot holds the key of no string; it has no ids.
        (slot.holds(key) && count.wrapping_sub(1) < FEW).then_some((count, &slot.ids))
    }
}

impl Memory {
    /// Its lines, for many look-ups.
    pub(crate) fn lines(&self) -> Lines<'_> {
        Lines(&self.lines)
    }

    /// Asks for the line of `hash` ahead of its use.
    #[inline(always)]
    pub(crate) fn fetch(&self, hash: u32) {
        fetch(&self.lines[hash as usize & (self.lines.len() - 1)]);
    }

    /// The slot of `key`, which has this hash.
    #[inline(always)]
    pub(crate) fn find(&self, key: Key, hash: u32) -> Option<&Slot> {
        let at = hash as usize & (self.lines.len() - 1);
        let line = &self.lines[at].0;
        let slot = &line[usize::from(!line[0].holds(key))];
        if slot.holds(key) { Some(slot) } else { self.find_after(key, at) }
    }

    /// The same beyond the first line: as long as there is no room, strings lie in the lines after it.
    fn find_after(&self, key: Key, at: usize) -> Option<&Slot> {
        for other in 0..WINDOW {
            let line = &self.lines[at ^ other].0;
            if let Some(slot) = line.iter().find(|slot| slot.holds(key)) {
                return Some(slot);
            }
            if line[1].is_empty() {
                return None;
            }
        }
        None
    }

    /// The ids of a slot that has many.
    pub(crate) fn many(&self, slot: &Slot) -> &[u32] {
        &self.far[slot.ids[0] as usize..][..slot.ids[1] as usize]
    }

    /// Remembers the ids of a string that is not there; there are 1 to `SHORT`.
    pub(crate) fn insert(&mut self, key: Key, hash: u32, ids: &[u32]) {
        if self.used > self.lines.len() / 2 + self.lines.len() / 4 && self.lines.len() < MOST_LINES {
            self.grow();
        }
        let (count, inside) = self.place_ids(ids);
        let slot = Slot { key: Key { low: key.low, high: key.high | count << 60 }, ids: inside };
        self.put(slot, hash);
    }

    /// The same, unless it is there.
    pub(crate) fn insert_new(&mut self, key: Key, hash: u32, ids: &[u32]) {
        if self.find(key, hash).is_none() {
            self.insert(key, hash, ids);
        }
    }

    fn place_ids(&mut self, ids: &[u32]) -> (u64, [u32; FEW]) {
        let mut inside = [0; FEW];
        if ids.len() <= FEW {
            inside[..ids.len()].copy_from_slice(ids);
            return (ids.len() as u64, inside);
        }
        if self.far.len() + ids.len() > MOST_FAR {
            self.far.clear();
            self.lines.fill(Line([EMPTY; 2]));
            self.used = 0;
        }
        inside[..2].copy_from_slice(&[self.far.len() as u32, ids.len() as u32]);
        self.far.extend_from_slice(ids);
        (FAR, inside)
    }

    fn put(&mut self, slot: Slot, hash: u32) {
        let mask = self.lines.len() - 1;
        let home = hash as usize & mask;
        for other in 0..WINDOW {
            if let Some(free) = self.lines[home ^ other].0.iter_mut().find(|slot| slot.is_empty()) {
                *free = slot;
                self.used += 1;
                return;
            }
        }
        self.taken += 1;
        let line = &mut self.lines[home ^ (self.taken / 2 % WINDOW)];
        line.0[self.taken & 1] = slot;
    }

    fn grow(&mut self) {
        let more = (4 * self.lines.len()).min(MOST_LINES);
        let old = std::mem::replace(&mut self.lines, lines(more));
        self.used = 0;
        for slot in old.iter().flat_map(|line| &line.0).filter(|slot| !slot.is_empty()) {
            let plain = Key { low: slot.key.low, high: slot.key.high << 4 >> 4 };
            self.put(*slot, plain.hash() as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> Key {
        Key::new(format!("k{number}").as_bytes()).unwrap()
    }

    fn ids_of(number: u64) -> Vec<u32> {
        (0..1 + number % 9).map(|at| (number * 10 + at) as u32).collect()
    }

    /// A memory may forget, but what it gives is right, and what went in last is there.
    #[test]
    fn it_forgets_and_never_errs() {
        let mut memory = Memory::default();
        for number in 0..600_000 {
            let (key, hash) = (key(number), key(number).hash() as u32);
            assert!(memory.find(key, hash).is_none());
            memory.insert(key, hash, &ids_of(number));
            for known in [number, number / 2] {
                let (key, hash) = (self::key(known), self::key(known).hash() as u32);
                let Some(slot) = memory.find(key, hash) else {
                    assert_ne!(known, number);
                    continue;
                };
                match slot.few() {
                    Some((count, ids)) => assert_eq!(ids[..count], ids_of(known)),
                    None => assert_eq!(memory.many(slot), ids_of(known)),
                }
            }
        }
        assert_eq!(memory.lines.len(), MOST_LINES);
        assert!(memory.far.len() <= MOST_FAR);
    }

    #[test]
    fn a_string_inside_a_piece_is_another() {
        let mut memory = Memory::default();
        let whole = Key::new(b"\xCE\xB1").unwrap();
        let inside = inner(whole);
        memory.insert(whole, whole.hash() as u32, &[1]);
        memory.insert(inside, inside.hash() as u32, &[2, 3]);
        assert_eq!(memory.find(whole, whole.hash() as u32).unwrap().few(), Some((1, &[1, 0, 0, 0])));
        assert_eq!(memory.find(inside, inside.hash() as u32).unwrap().few(), Some((2, &[2, 3, 0, 0])));
        let keys: Vec<Key> = [b"a".as_slice(), b"a\x01", b"\x01"].into_iter().filter_map(Key::new).collect();
        let all: Vec<Key> = keys.iter().copied().chain(keys.iter().map(|key| inner(*key))).collect();
        all.iter().enumerate().for_each(|(at, key)| assert!(!all[..at].contains(key)));
    }
}
