//! A bounded memory of strings already encoded, one a thread.
//!
//! Adds: `Memory`, a table of slots with key and ids inside, so that a look-up touches one cache line and knows no
//! branch that text could make hard to foresee: two strings of up to `SHORT` bytes a line, or one of up to `LONGER`. A string lies in
//! the line of its hash or, where that is full, in the next of the same `WINDOW`; where all are full, a new string
//! takes the place of an old one. Leaves out longer strings (`cache`), and what the ids are.

mod lines;
mod longer;
mod name;
mod packed;

use super::key::{Key, LONGER, Longer, SHORT};
use crate::{
    fetch::fetch,
    pages::{self, Zero, Zeros},
};
pub(crate) use lines::Lines;
use name::Name;

/// The most ids inside a slot of a short string; of more, the slot tells where they lie.
pub(crate) const FEW: usize = 4;
/// Lines where a string may lie.
const WINDOW: usize = 4;
const FIRST_LINES: usize = 1 << 8;
const _: () = assert!(FIRST_LINES.is_multiple_of(WINDOW));
/// From so many lines on, it grows by more at once where much text is coming.
const LEAP: usize = 1 << 10;
/// What it costs to encode a string that was pushed out, in looks that went astray.
const PUSHED: usize = 32;
/// Ids that do not fit into the slot of a short string are read so many at a time; no such string has more.
pub(crate) const FAR: usize = SHORT + 1;
/// The same of a longer one.
pub(crate) const LONG_FAR: usize = LONGER + 1;

/// So many of these ids are many.
const MANY_FAR: usize = 1 << 16;

/// Strings of up to `SHORT` bytes: 8 MiB, and 2 MiB of ids that do not fit into their slots.
pub(crate) type Short = Memory<Key, 2>;
/// Strings of up to `LONGER` bytes: 8 MiB, and 2 MiB; ids in slots are packed.
pub(crate) type Longers = Memory<Longer, 1>;

/// A string and its ids.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Slot<K: Name> {
    key: K,
    ids: K::Ids,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line<K: Name, const WAYS: usize>([Slot<K>; WAYS]);

// SAFETY: numbers are zero where their bytes are, and so are keys (`Zero`).
unsafe impl<K: Name, const WAYS: usize> Zero for Line<K, WAYS> {
    const ZERO: Self = Line([Slot::EMPTY; WAYS]);
}

/// Bytes of a line and of a slot of short strings.
pub(super) const LINE: usize = 64;
pub(super) const SLOT: usize = 32;
const _: () = assert!(size_of::<Line<Key, 2>>() == LINE && size_of::<Line<Longer, 1>>() == LINE);
const _: () = assert!(size_of::<Slot<Key>>() == SLOT && std::mem::offset_of!(Slot<Key>, ids) == SLOT / 2);

impl<K: Name> Slot<K> {
    const EMPTY: Self = Slot { key: K::ZERO, ids: K::Ids::ZERO };

    #[inline(always)]
    fn holds(&self, key: K) -> bool {
        self.key.is_like(key) & ((self.key.high() ^ key.high()) << (u64::BITS - K::SHIFT) == 0)
    }

    fn is_empty(&self) -> bool {
        self.key.high() == 0
    }

    /// The key without the count.
    fn plain_key(&self) -> K {
        let count = u64::BITS - K::SHIFT;
        self.key.with_high(self.key.high() << count >> count)
    }

    #[inline(always)]
    fn is_elsewhere(&self) -> bool {
        (self.key.high() & !K::STRAY) >> K::SHIFT == K::ELSEWHERE
    }

    /// Where ids that lie elsewhere begin, and how many they are.
    #[inline(always)]
    fn place(&self) -> (usize, usize) {
        let ids = self.ids.as_ref();
        (ids[0] as usize, ids[1] as usize)
    }
}

impl Slot<Key> {
    /// How many ids there are, and they, if they are in the slot.
    #[inline(always)]
    pub(crate) fn few(&self) -> Option<(usize, &[u32; FEW])> {
        (!self.is_elsewhere()).then_some(((self.key.high() >> Key::SHIFT) as usize, &self.ids))
    }
}

/// Strings and their ids.
#[derive(Debug)]
pub(crate) struct Memory<K: Name, const WAYS: usize> {
    lines: Zeros<Line<K, WAYS>>,
    used: usize,
    /// `K::FAR` more than are used.
    far: Vec<u32>,
    /// Counts the strings that took the place of others.
    taken: usize,
    /// Counts the strings found beyond their first line since it grew, and those pushed out as so many each.
    strayed: usize,
    /// The most lines that it may have.
    most: usize,
    /// Whether much text is coming, or came.
    leaps: bool,
}

impl<K: Name, const WAYS: usize> Default for Memory<K, WAYS> {
    fn default() -> Self {
        Memory {
            lines: Zeros::new(FIRST_LINES),
            used: 0,
            far: vec![0; K::FAR],
            taken: 0,
            strayed: 0,
            most: K::LINES,
            leaps: false,
        }
    }
}

impl Short {
    /// Its lines, for many look-ups.
    pub(crate) fn lines(&self) -> Lines<'_> {
        Lines { lines: &self.lines, far: &self.far }
    }

    /// The ids of a string, if it is where one would look first and has few: the first so many of these.
    #[inline]
    pub(crate) fn few(&self, key: Key, hash: u32) -> Option<(&[u32; FEW], usize)> {
        let line = &self.lines[hash as usize & (self.lines.len() - 1)].0;
        let slot = &line[usize::from(!line[0].holds(key))];
        let count = (slot.key.high >> Key::SHIFT) as usize;
        (slot.holds(key) & (count <= FEW)).then_some((&slot.ids, count))
    }

    /// The ids of a string, wherever it is; it settles.
    pub(crate) fn settled(&mut self, key: Key, hash: u32) -> Option<&[u32]> {
        let (line, way) = self.seat(key, hash)?;
        Some(self.ids(&self.lines[line].0[way]))
    }

    /// Remembers the first `count` of these ids of a string that is not there.
    #[inline]
    pub(crate) fn insert_few(&mut self, (key, hash): (Key, u32), ids: [u32; FEW], count: usize) {
        self.make_lines();
        self.put(Slot { key: key.with_high(key.high() | (count as u64) << Key::SHIFT), ids }, hash);
    }

    /// The ids of a slot.
    #[inline]
    pub(crate) fn ids<'s>(&'s self, slot: &'s Slot<Key>) -> &'s [u32] {
        match slot.few() {
            Some((count, ids)) => &ids[..count],
            None => self.many(slot),
        }
    }
}

impl<K: Name, const WAYS: usize> Memory<K, WAYS> {
    /// Lets it grow to twice its size, its slots once `is_too_small`.
    pub(crate) fn allow_more(&mut self) {
        self.most = 2 * K::LINES;
    }

    /// Says that much text is coming: all pages are worth it then, and growing in steps is not.
    pub(crate) fn expect_much(&mut self) {
        self.leaps = true;
    }

    #[cfg(test)]
    pub(super) fn leaps(&self) -> bool {
        self.leaps
    }

    /// Asks for the line of `hash` ahead of its use.
    #[inline(always)]
    pub(crate) fn fetch(&self, hash: u32) {
        fetch(&self.lines[hash as usize & (self.lines.len() - 1)]);
    }

    /// The slot of `key`, which has this hash.
    #[inline(always)]
    pub(crate) fn find(&self, key: K, hash: u32) -> Option<&Slot<K>> {
        let at = hash as usize & (self.lines.len() - 1);
        let line = &self.lines[at].0;
        let slot = &line[usize::from(WAYS > 1 && !line[0].holds(key))];
        if slot.holds(key) {
            return Some(slot);
        }
        if K::STRAY != 0 && slot.key.high() & K::STRAY == 0 { None } else { self.find_after(key, at) }
    }

    /// The same beyond the first line: as long as there is no room, strings lie in the lines after it.
    fn find_after(&self, key: K, at: usize) -> Option<&Slot<K>> {
        for other in 0..WINDOW {
            let line = &self.lines[at ^ other].0;
            if let Some(slot) = line.iter().find(|slot| slot.holds(key)) {
                return Some(slot);
            }
            if line[WAYS - 1].is_empty() {
                return None;
            }
        }
        None
    }

    /// Whether `key`, which has this hash, is there. If it lies beyond its first line, it changes places with a string
    /// that is at home there: what comes often is soon where one looks first.
    pub(crate) fn settle(&mut self, key: K, hash: u32) -> bool {
        self.seat(key, hash).is_some()
    }

    /// The same; the line and the place in it where it is then.
    fn seat(&mut self, key: K, hash: u32) -> Option<(usize, usize)> {
        const { assert!(K::STRAY == 0, "what is noted of strays stays with the line") };
        if self.is_too_small() {
            self.grow();
        }
        let mask = self.lines.len() - 1;
        let home = hash as usize & mask;
        for other in 0..WINDOW {
            let line = self.lines[home ^ other].0;
            if let Some(way) = line.iter().position(|slot| slot.holds(key)) {
                let is_at_home = |slot: &Slot<K>| slot.plain_key().hash() as usize & mask == home;
                self.strayed += usize::from(other > 0);
                if other > 0
                    && let Some(seat) = self.lines[home].0.iter().rposition(is_at_home)
                {
                    self.lines[home ^ other].0[way] = self.lines[home].0[seat];
                    self.lines[home].0[seat] = line[way];
                    return Some((home, seat));
                }
                return Some((home ^ other, way));
            }
            if line[WAYS - 1].is_empty() {
                return None;
            }
        }
        None
    }

    /// The ids of a slot that has many.
    pub(crate) fn many(&self, slot: &Slot<K>) -> &[u32] {
        let (start, count) = slot.place();
        &self.far[start..][..count]
    }

    /// Remembers the ids of a string that is not there; it has some, and no more than bytes.
    pub(crate) fn insert(&mut self, key: K, hash: u32, ids: &[u32]) {
        self.make_lines();
        let (count, inside) = self.place_ids(ids);
        self.put(Slot { key: key.with_high(key.high() | count << K::SHIFT), ids: inside }, hash);
    }

    /// Grows, if there is little room.
    fn make_lines(&mut self) {
        let is_full = self.used > self.lines.len() / 2 + self.lines.len() / 4;
        if is_full && self.lines.len() < K::LINES || self.is_too_small() {
            self.grow();
        }
    }

    /// The same, unless it is there.
    pub(crate) fn insert_new(&mut self, key: K, hash: u32, ids: &[u32]) {
        if self.find(key, hash).is_none() {
            self.insert(key, hash, ids);
        }
    }

    fn place_ids(&mut self, ids: &[u32]) -> (u64, K::Ids) {
        if let Some(inside) = K::inside(ids) {
            return inside;
        }
        if self.far.len() + ids.len() > K::MOST_FAR * (self.most / K::LINES) {
            self.far.clear();
            self.far.resize(K::FAR, 0);
            self.lines.fill(Line::ZERO);
            self.used = 0;
        }
        let start = self.far.len() - K::FAR;
        self.make_room(ids.len());
        self.far.resize(self.far.len() + ids.len(), 0);
        self.far[start..start + ids.len()].copy_from_slice(ids);
        let mut place = K::Ids::ZERO;
        place.as_mut()[..2].copy_from_slice(&[start as u32, ids.len() as u32]);
        (K::ELSEWHERE, place)
    }

    /// Room for more ids that lie elsewhere: once there are many, for all that there may be, which costs nothing until it
    /// is written to, and then little, as large pages.
    fn make_room(&mut self, more: usize) {
        let wanted = self.far.len() + more;
        let most = wanted.max(K::FAR + K::MOST_FAR * (self.most / K::LINES));
        if wanted > self.far.capacity() && wanted > MANY_FAR {
            self.far.reserve_exact(most - self.far.len());
            pages::advise(&mut self.far);
        }
    }

    fn put(&mut self, slot: Slot<K>, hash: u32) {
        let mask = self.lines.len() - 1;
        let home = hash as usize & mask;
        for other in 0..WINDOW {
            if let Some(free) = self.lines[home ^ other].0.iter_mut().find(|slot| slot.is_empty()) {
                *free = slot;
                self.used += 1;
                return self.note_stray(home, other);
            }
        }
        self.taken += 1;
        self.strayed += PUSHED;
        let other = self.taken / WAYS % WINDOW;
        let place = &mut self.lines[home ^ other].0[self.taken % WAYS];
        let key = slot.key.with_high(slot.key.high() | place.key.high() & K::STRAY);
        *place = Slot { key, ..slot };
        self.note_stray(home, other);
    }

    /// Notes in the line of a string that it lies so many lines away.
    fn note_stray(&mut self, home: usize, other: usize) {
        if other > 0 && K::STRAY != 0 {
            let first = &mut self.lines[home].0[0];
            first.key = first.key.with_high(first.key.high() | K::STRAY);
        }
    }

    /// Whether having too few lines has cost about as much as more of them will.
    fn is_too_small(&self) -> bool {
        self.strayed > K::LINES && self.lines.len() < self.most
    }

    fn grow(&mut self) {
        let before = self.lines.len();
        let times = if self.leaps && before >= LEAP { K::LEAP } else { 4 };
        let more = if before < K::LINES { (times * before).min(K::LINES) } else { self.most };
        self.lines.grow(more, 2 * K::LINES);
        (self.strayed, self.used) = (0, 0);
        // A string of a window goes to the same window or to one of the new part, so each is emptied once.
        for first in (0..before).step_by(WINDOW) {
            let Some(window) = self.lines[first..].first_chunk_mut::<WINDOW>() else { break };
            let old = std::mem::replace(window, [Line::ZERO; WINDOW]);
            for slot in old.iter().flat_map(|line| &line.0).filter(|slot| !slot.is_empty()) {
                let key = slot.key.with_high(slot.key.high() & !K::STRAY);
                self.put(Slot { key, ..*slot }, slot.plain_key().hash() as u32);
            }
        }
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
