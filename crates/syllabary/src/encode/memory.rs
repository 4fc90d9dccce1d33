//! A bounded memory of strings already encoded, one a thread.
//!
//! Adds: `Memory`, a table of slots with key and ids inside, so that a look-up touches one cache line and knows no
//! branch that text could make hard to foresee: two strings of up to `SHORT` bytes a line, or one of up to `LONGER`. A string lies in
//! the line of its hash or, where that is full, in the next of the same `WINDOW`; where all are full, a new string
//! takes the place of an old one. Leaves out longer strings (`cache`), and what the ids are.

use super::key::{Key, Longer, SHORT, fetch};

/// The most ids inside a slot of a short string; of more, the slot tells where they lie.
pub(crate) const FEW: usize = 4;
/// Lines where a string may lie.
const WINDOW: usize = 4;
const FIRST_LINES: usize = 1 << 8;
/// Ids that do not fit into the slot of a short string are read so many at a time; no such string has more.
pub(crate) const FAR: usize = SHORT + 1;

/// Strings of up to `SHORT` bytes: 8 MiB, and 2 MiB of ids that do not fit into their slots.
pub(crate) type Short = Memory<Key, FEW, 2>;
/// Strings of up to `LONGER` bytes: 4 MiB, and 2 MiB.
pub(crate) type Longers = Memory<Longer, 8, 1>;

/// What a memory finds strings by. In a slot, the highest bits are the count of ids.
pub(crate) trait Name: Copy {
    /// No string has it.
    const NONE: Self;
    /// Where the count begins in the highest word, and the count of a slot whose ids lie elsewhere.
    const SHIFT: u32;
    const ELSEWHERE: u64 = u64::MAX >> Self::SHIFT;
    /// The most lines, and the most ids that do not fit into their slots; beyond it everything is forgotten.
    const LINES: usize;
    const MOST_FAR: usize;

    fn hash(self) -> u64;
    fn high(self) -> u64;
    /// The same with another highest word.
    fn with_high(self, high: u64) -> Self;
    /// Whether they are the same but for the highest word.
    fn is_like(self, other: Self) -> bool;
}

impl Name for Key {
    const NONE: Key = Key::NONE;
    const SHIFT: u32 = 60;
    const LINES: usize = 1 << 17;
    const MOST_FAR: usize = 1 << 19;

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
    const NONE: Longer = Longer::NONE;
    const SHIFT: u32 = 61;
    const LINES: usize = 1 << 16;
    const MOST_FAR: usize = 1 << 19;

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

/// A string and its ids.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Slot<K, const N: usize> {
    key: K,
    ids: [u32; N],
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line<K, const N: usize, const WAYS: usize>([Slot<K, N>; WAYS]);

const _: () = assert!(size_of::<Line<Key, FEW, 2>>() == 64 && size_of::<Line<Longer, 8, 1>>() == 64);

impl<K: Name, const N: usize> Slot<K, N> {
    const EMPTY: Self = Slot { key: K::NONE, ids: [0; N] };

    #[inline(always)]
    fn holds(&self, key: K) -> bool {
        self.key.is_like(key) & ((self.key.high() ^ key.high()) << (u64::BITS - K::SHIFT) == 0)
    }

    fn is_empty(&self) -> bool {
        self.key.high() == 0
    }

    /// How many ids there are, and they, if they are in the slot.
    #[inline(always)]
    pub(crate) fn few(&self) -> Option<(usize, &[u32; N])> {
        let count = self.key.high() >> K::SHIFT;
        (count != K::ELSEWHERE).then_some((count as usize, &self.ids))
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
pub(crate) struct Memory<K, const N: usize, const WAYS: usize> {
    lines: Box<[Line<K, N, WAYS>]>,
    used: usize,
    /// `FAR` more than are used.
    far: Vec<u32>,
    /// Counts the strings that took the place of others.
    taken: usize,
}

impl<K: Name, const N: usize, const WAYS: usize> Default for Memory<K, N, WAYS> {
    fn default() -> Self {
        Memory { lines: lines(FIRST_LINES), used: 0, far: vec![0; FAR], taken: 0 }
    }
}

fn lines<K: Name, const N: usize, const WAYS: usize>(count: usize) -> Box<[Line<K, N, WAYS>]> {
    vec![Line([Slot::EMPTY; WAYS]); count].into()
}

/// The lines of a memory, for many look-ups.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'m> {
    lines: &'m [Line<Key, FEW, 2>],
    far: &'m [u32],
    used: usize,
}

impl Lines<'_> {
    /// Whether strings with many ids are so many that it is better to be ready for them.
    pub(crate) fn has_many(&self) -> bool {
        self.far.len() > self.used
    }

    #[inline(always)]
    fn slot(&self, key: Key, hash: u32) -> &Slot<Key, FEW> {
        let line = &self.lines[hash as usize & (self.lines.len() - 1)].0;
        &line[usize::from(!line[0].holds(key))]
    }

    /// The ids of `key` and their number, if they are in the first place where one would look; nothing more.
    #[inline(always)]
    pub(crate) fn first(&self, key: Key, hash: u32) -> Option<(usize, &[u32; FEW])> {
        let slot = self.slot(key, hash);
        let count = (slot.key.high >> Key::SHIFT) as usize;
        // An empty slot holds the key of no string; it has no ids.
        (slot.holds(key) && count.wrapping_sub(1) < FEW).then_some((count, &slot.ids))
    }

    /// The same of strings with few ids or many, without a branch that tells them apart: their number, the first of them,
    /// and all if they are many.
    #[inline(always)]
    pub(crate) fn any(&self, key: Key, hash: u32) -> Option<(usize, &[u32; FEW], &[u32; FAR])> {
        let slot = self.slot(key, hash);
        let count = (slot.key.high >> Key::SHIFT) as usize;
        if !slot.holds(key) || count == 0 {
            return None;
        }
        let is_far = count > FEW;
        // Where there are few, others are read, from the beginning.
        let start = slot.ids[0] as usize & usize::from(is_far).wrapping_neg();
        let many: &[u32; FAR] = self.far.get(start..)?.first_chunk()?;
        let few = if is_far { many.first_chunk()? } else { &slot.ids };
        Some((if is_far { slot.ids[1] as usize } else { count }, few, many))
    }
}

impl Short {
    /// Its lines, for many look-ups.
    pub(crate) fn lines(&self) -> Lines<'_> {
        Lines { lines: &self.lines, far: &self.far, used: self.used }
    }
}

impl<K: Name, const N: usize, const WAYS: usize> Memory<K, N, WAYS> {
    /// Asks for the line of `hash` ahead of its use.
    #[inline(always)]
    pub(crate) fn fetch(&self, hash: u32) {
        fetch(&self.lines[hash as usize & (self.lines.len() - 1)]);
    }

    /// The slot of `key`, which has this hash.
    #[inline(always)]
    pub(crate) fn find(&self, key: K, hash: u32) -> Option<&Slot<K, N>> {
        let at = hash as usize & (self.lines.len() - 1);
        let line = &self.lines[at].0;
        let slot = &line[usize::from(WAYS > 1 && !line[0].holds(key))];
        if slot.holds(key) { Some(slot) } else { self.find_after(key, at) }
    }

    /// The same beyond the first line: as long as there is no room, strings lie in the lines after it.
    fn find_after(&self, key: K, at: usize) -> Option<&Slot<K, N>> {
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

    /// The ids of a slot that has many.
    pub(crate) fn many(&self, slot: &Slot<K, N>) -> &[u32] {
        &self.far[slot.ids[0] as usize..][..slot.ids[1] as usize]
    }

    /// Remembers the ids of a string that is not there; it has some, and no more than bytes.
    pub(crate) fn insert(&mut self, key: K, hash: u32, ids: &[u32]) {
        if self.used > self.lines.len() / 2 + self.lines.len() / 4 && self.lines.len() < K::LINES {
            self.grow();
        }
        let (count, inside) = self.place_ids(ids);
        self.put(Slot { key: key.with_high(key.high() | count << K::SHIFT), ids: inside }, hash);
    }

    /// The same, unless it is there.
    pub(crate) fn insert_new(&mut self, key: K, hash: u32, ids: &[u32]) {
        if self.find(key, hash).is_none() {
            self.insert(key, hash, ids);
        }
    }

    fn place_ids(&mut self, ids: &[u32]) -> (u64, [u32; N]) {
        let mut inside = [0; N];
        if ids.len() <= N && (ids.len() as u64) < K::ELSEWHERE {
            inside[..ids.len()].copy_from_slice(ids);
            return (ids.len() as u64, inside);
        }
        if self.far.len() + ids.len() > K::MOST_FAR {
            self.far.clear();
            self.far.resize(FAR, 0);
            self.lines.fill(Line([Slot::EMPTY; WAYS]));
            self.used = 0;
        }
        let start = self.far.len() - FAR;
        inside[..2].copy_from_slice(&[start as u32, ids.len() as u32]);
        self.far.resize(self.far.len() + ids.len(), 0);
        self.far[start..start + ids.len()].copy_from_slice(ids);
        (K::ELSEWHERE, inside)
    }

    fn put(&mut self, slot: Slot<K, N>, hash: u32) {
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
        let line = &mut self.lines[home ^ (self.taken / WAYS % WINDOW)];
        line.0[self.taken % WAYS] = slot;
    }

    fn grow(&mut self) {
        let more = (4 * self.lines.len()).min(K::LINES);
        let old = std::mem::replace(&mut self.lines, lines(more));
        self.used = 0;
        for slot in old.iter().flat_map(|line| &line.0).filter(|slot| !slot.is_empty()) {
            let count = u64::BITS - K::SHIFT;
            let plain = slot.key.with_high(slot.key.high() << count >> count);
            self.put(*slot, plain.hash() as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn longer(number: u64) -> Longer {
        let text = format!("a longer one {number:06}");
        Longer::at(text.as_bytes(), 0, text.len())
    }

    fn key(number: u64) -> Key {
        Key::new(format!("k{number}").as_bytes()).unwrap()
    }

    fn ids_of(number: u64) -> Vec<u32> {
        (0..1 + number % 9).map(|at| (number * 10 + at) as u32).collect()
    }

    /// A memory may forget, but what it gives is right, and what went in last is there.
    #[test]
    fn it_forgets_and_never_errs() {
        forgets::<Key, FEW, 2>(key);
        forgets::<Longer, 8, 1>(longer);
    }

    fn forgets<K: Name, const N: usize, const WAYS: usize>(name: impl Fn(u64) -> K) {
        let mut memory = Memory::<K, N, WAYS>::default();
        let named = |number| (name(number), name(number).hash() as u32);
        for number in 0..600_000 {
            let (key, hash) = named(number);
            assert!(memory.find(key, hash).is_none());
            memory.insert(key, hash, &ids_of(number));
            for known in [number, number / 2] {
                let (key, hash) = named(known);
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
        assert_eq!(memory.lines.len(), K::LINES);
        assert!(memory.far.len() <= K::MOST_FAR + FAR);
    }

    #[test]
    fn the_first_place_gives_the_same_ids() {
        let mut memory = Short::default();
        for number in 0..5000 {
            memory.insert(key(number), key(number).hash() as u32, &ids_of(number));
        }
        let mut found = 0;
        for number in 0..6000 {
            let (key, hash) = (key(number), key(number).hash() as u32);
            let lines = memory.lines();
            let Some((count, first, ids)) = lines.any(key, hash) else {
                assert_eq!(lines.first(key, hash), None);
                continue;
            };
            let few = lines.first(key, hash).map(|(count, ids)| &ids[..count]);
            assert_eq!(few, (count <= FEW).then(|| &first[..count]));
            let ids = if count <= FEW { &first[..] } else { &ids[..] };
            assert!(number < 5000);
            assert_eq!(ids[..count], ids_of(number));
            found += 1;
        }
        assert!(found > 4000, "{found}");
    }

    #[test]
    fn a_string_inside_a_piece_is_another() {
        let mut memory = Short::default();
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
