//! A bounded memory of segments already encoded, one a thread.
//!
//! A segment of up to 15 bytes and up to 4 ids is one slot of 32 bytes, one of up to 31 bytes and up to 7 ids one of 64;
//! what is longer stands in an arena. A segment is looked for in a few slots side by side; when the table cannot
//! grow any more a new segment takes the place of another, and when an arena is full all is forgotten. Ids may be for
//! some texts only (`weigh`). Leaves out how segments are encoded.

mod slots;

use crate::{
    encode::{Key, LONGER as MIDDLE, Longer, SHORT},
    fetch::fetch,
    pages::{Zero, Zeros},
};
pub(super) use slots::MORE;
use slots::{COUNT, INLINE, Long, Middle, SOME_LONG, Short};

/// The shortest segment that is not.
const LONGER: usize = SHORT + 1;
/// The longest segment remembered.
const LONG: usize = 80;
/// Lines at first and at most, of either table.
const FIRST: usize = 1 << 6;
/// From so many lines on a table grows to the most, on large pages: of small ones the processor waits for
/// where they are.
const SMALL: usize = 1 << 12;
const MOST_SHORT: usize = 1 << 16;
const MOST_MIDDLE: usize = 1 << 15;
const MOST_LONG: usize = 1 << 14;
/// Bytes of long segments, and ids beyond those in slots, at most.
const MOST_BYTES: usize = 2 << 20;
const MOST_IDS: usize = 1 << 19;
/// The number of ids that do not fit, and that of those that are for some texts only, of which this is taken.
const APART: u64 = 6;
const SOME: u64 = 8;

#[inline]
fn words(bytes: &[u8]) -> (u64, u64) {
    let (mut low, mut high) = ([0; 8], [0; 8]);
    low.copy_from_slice(&bytes[..8]);
    high.copy_from_slice(&bytes[8..16]);
    (u64::from_le_bytes(low), u64::from_le_bytes(high))
}

/// Slots side by side, one of which a segment is in.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line<T, const WAYS: usize>([T; WAYS]);

// SAFETY: as of its slots.
unsafe impl<T: Zero, const WAYS: usize> Zero for Line<T, WAYS> {
    const ZERO: Self = Line([T::ZERO; WAYS]);
}

/// A hash table of lines; the number of lines is a power of two, or 0.
#[derive(Debug)]
struct Table<T, const WAYS: usize> {
    lines: Zeros<Line<T, WAYS>>,
    used: usize,
}

impl<T: Zero, const WAYS: usize> Default for Table<T, WAYS> {
    fn default() -> Self {
        Table { lines: Zeros::new(0), used: 0 }
    }
}

impl<T: Zero, const WAYS: usize> Table<T, WAYS> {
    #[inline]
    fn line(&self, hash: u64) -> Option<&[T; WAYS]> {
        let at = hash as usize & self.lines.len().wrapping_sub(1);
        self.lines.get(at).map(|line| &line.0)
    }

    /// Puts a slot into its line, in an empty place or that of another. `hash` is that of a slot, which an empty
    /// one does not have. The table grows up to `most` lines.
    fn put(&mut self, slot: T, most: usize, hash: impl Fn(&T) -> Option<u64>) {
        if 2 * self.used >= WAYS * self.lines.len() && self.lines.len() < most {
            let next = if self.lines.len() < SMALL { 4 * self.lines.len() } else { most };
            let size = next.clamp(FIRST, most);
            let old = std::mem::replace(&mut self.lines, Zeros::new(size));
            self.used = 0;
            old.iter().flat_map(|line| &line.0).for_each(|slot| self.place(*slot, &hash));
        }
        self.place(slot, &hash);
    }

    fn place(&mut self, slot: T, hash: &impl Fn(&T) -> Option<u64>) {
        let Some(hashed) = hash(&slot) else { return };
        let at = hashed as usize & self.lines.len().wrapping_sub(1);
        let Some(Line(line)) = self.lines.get_mut(at) else { return };
        let free = line.iter().position(|slot| hash(slot).is_none());
        self.used += usize::from(free.is_some());
        line[free.unwrap_or((hashed >> 32) as usize % WAYS)] = slot;
    }

    fn clear(&mut self) {
        self.lines.fill(Line::ZERO);
        self.used = 0;
    }
}

/// The short segments, where nothing is learned in between.
#[derive(Clone, Copy)]
pub(super) struct Shorts<'m>(&'m [Line<Short, 2>]);

impl<'m> Shorts<'m> {
    #[inline(always)]
    fn line(self, hash: u64) -> Option<&'m [Short; 2]> {
        self.0.get(hash as usize & self.0.len().wrapping_sub(1)).map(|line| &line.0)
    }

    /// Asks for the line of a segment.
    #[inline(always)]
    pub(super) fn ask(self, hash: u64) {
        self.line(hash).into_iter().for_each(fetch);
    }

    /// As `Memory::few`.
    #[inline(always)]
    pub(super) fn few(self, key: Key, hash: u64) -> Option<(&'m [u32; INLINE], usize)> {
        let line = self.line(hash)?;
        let slot = &line[usize::from(!line[0].is(key))];
        let count = (slot.high >> COUNT) as usize;
        (slot.is(key) & (count <= INLINE)).then_some((&slot.ids, count))
    }
}

/// Segments and their ids.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    short: Table<Short, 2>,
    middle: Table<Middle, 2>,
    long: Table<Long, 4>,
    bytes: Vec<u8>,
    ids: Vec<u32>,
}

impl Memory {
    pub(super) fn shorts(&self) -> Shorts<'_> {
        Shorts(&self.short.lines)
    }

    /// The ids of a short segment, if it is remembered and has few: the first so many of these.
    #[inline]
    pub(crate) fn few(&self, key: Key, hash: u64) -> Option<(&[u32; INLINE], usize)> {
        let slot = self.short(key, hash)?;
        let count = (slot.high >> COUNT) as usize;
        (count <= INLINE).then_some((&slot.ids, count))
    }

    /// The ids of a segment of `LONGER` to `MIDDLE` bytes, if it is remembered and has not many more.
    #[inline]
    pub(crate) fn some(&self, key: &Longer, hash: u64) -> Option<(&[u32; MORE], usize)> {
        let line = self.middle.line(hash)?;
        let slot = &line[usize::from(line[0].key != *key)];
        (slot.key == *key).then_some((&slot.ids, slot.count as usize))
    }

    /// Whether a short segment is not remembered.
    #[inline]
    pub(crate) fn is_new(&self, key: Key, hash: u64) -> bool {
        self.short.line(hash).is_none_or(|[one, other]| !(one.is(key) | other.is(key)))
    }

    /// Asks for the line of a segment of up to `MIDDLE` bytes.
    #[inline]
    pub(crate) fn ask(&self, length: usize, hash: u64) {
        if length <= SHORT {
            self.short.line(hash).into_iter().for_each(fetch);
        } else {
            self.middle.line(hash).into_iter().flatten().for_each(fetch);
        }
    }

    /// The ids of any segment, if it is remembered and short ones with few are not asked for; `all`: those that are for
    /// some texts too.
    pub(crate) fn many(&self, segment: &[u8], all: bool) -> Option<&[u32]> {
        if let LONGER..=MIDDLE = segment.len() {
            let key = Longer::at(segment, 0, segment.len());
            if let Some((ids, count)) = self.some(&key, key.hash()) {
                return ids.get(..count);
            }
        }
        if segment.len() > SHORT {
            return self.long(segment, all);
        }
        let key = Key::at(segment, 0, segment.len());
        let slot = self.short(key, key.hash())?;
        let count = slot.high >> COUNT;
        if count >= SOME && !all {
            return None;
        }
        match count & (SOME - 1) {
            APART => Some(&self.ids[slot.ids[0] as usize..][..slot.ids[1] as usize]),
            count => slot.ids.get(..count as usize),
        }
    }

    /// The ids of any segment, if it is remembered.
    #[inline]
    pub(crate) fn any(&self, segment: &[u8]) -> Option<&[u32]> {
        if let Some(key) = Key::new(segment)
            && let Some((ids, count)) = self.few(key, key.hash())
        {
            return ids.get(..count);
        }
        self.many(segment, true)
    }

    #[inline]
    fn short(&self, key: Key, hash: u64) -> Option<&Short> {
        let line = self.short.line(hash)?;
        let slot = &line[usize::from(!line[0].is(key))];
        slot.is(key).then_some(slot)
    }

    /// Remembers a segment, which is not yet, unless it is too long; `some`: for some texts only.
    pub(crate) fn put(&mut self, segment: &[u8], ids: &[u32], some: bool) {
        match segment.len() {
            1..=SHORT => self.put_short(Key::at(segment, 0, segment.len()), ids, some),
            LONGER..=MIDDLE if ids.len() <= MORE && !some => self.put_middle(segment, ids),
            LONGER..=LONG => self.put_long(segment, ids, some),
            _ => {}
        }
    }

    /// The same of a short one, whose key and hash these are; the first ids, with others behind, and all.
    #[inline]
    pub(super) fn put_new(
        &mut self,
        (key, hash): (Key, u64),
        (first, ids): (&[u32; 16], &[u32]),
        some: bool,
    ) {
        if ids.len() > INLINE || self.short.used >= self.short.lines.len() {
            return self.put_short(key, ids, some);
        }
        let mut slot = Short { low: key.low, high: key.high, ids: [0; INLINE] };
        slot.ids.copy_from_slice(&first[..INLINE]);
        slot.high |= (ids.len() as u64 + if some { SOME } else { 0 }) << COUNT;
        self.short.place(slot, &|slot: &Short| (slot.high != 0).then_some(hash));
    }

    fn put_short(&mut self, key: Key, ids: &[u32], some: bool) {
        let mut slot = Short { low: key.low, high: key.high, ids: [0; INLINE] };
        let count = if let Some(inline) = slot.ids.get_mut(..ids.len()) {
            inline.copy_from_slice(ids);
            ids.len() as u64
        } else {
            slot.ids[..2].copy_from_slice(&[self.keep_ids(ids), ids.len() as u32]);
            APART
        };
        slot.high |= (count + if some { SOME } else { 0 }) << COUNT;
        self.short.put(slot, MOST_SHORT, |slot| (slot.high != 0).then(|| slot.key().hash()));
    }

    fn put_middle(&mut self, segment: &[u8], ids: &[u32]) {
        let mut slot = Middle { key: Longer::at(segment, 0, segment.len()), ..Middle::ZERO };
        slot.ids[..ids.len()].copy_from_slice(ids);
        slot.count = ids.len() as u32;
        let hash = |slot: &Middle| (slot.key != Longer::NONE).then(|| slot.key.hash());
        self.middle.put(slot, MOST_MIDDLE, hash);
    }

    fn long(&self, segment: &[u8], all: bool) -> Option<&[u32]> {
        if segment.len() > LONG {
            return None;
        }
        let hash = hash_long(segment);
        let found = self.long.line(hash)?.iter().find(|slot| {
            slot.hash == (hash >> 32) as u32
                && slot.length() == segment.len()
                && &self.bytes[slot.bytes as usize..][..segment.len()] == segment
        })?;
        if found.length & SOME_LONG != 0 && !all {
            return None;
        }
        Some(&self.ids[found.ids as usize..][..usize::from(found.count)])
    }

    fn put_long(&mut self, segment: &[u8], ids: &[u32], some: bool) {
        let (Ok(length), Ok(count)) = (u8::try_from(segment.len()), u8::try_from(ids.len())) else { return };
        if self.bytes.len() + segment.len() > MOST_BYTES {
            self.forget();
        }
        let ids = self.keep_ids(ids);
        let hash = (hash_long(segment) >> 32) as u32;
        let length = length | if some { SOME_LONG } else { 0 };
        let slot = Long { hash, bytes: self.bytes.len() as u32, ids, length, count };
        self.bytes.extend_from_slice(segment);
        let bytes = &self.bytes;
        self.long.put(slot, MOST_LONG, |slot| {
            let segment = &bytes[slot.bytes as usize..][..slot.length()];
            (slot.length != 0).then(|| hash_long(segment))
        });
    }

    /// Puts ids in the arena; where they are.
    fn keep_ids(&mut self, ids: &[u32]) -> u32 {
        if self.ids.len() + ids.len() > MOST_IDS {
            self.forget();
        }
        let at = self.ids.len() as u32;
        self.ids.extend_from_slice(ids);
        at
    }

    fn forget(&mut self) {
        self.short.clear();
        self.middle.clear();
        self.long.clear();
        self.bytes.clear();
        self.ids.clear();
    }
}

fn hash_long(segment: &[u8]) -> u64 {
    let mut hash = segment.len() as u64;
    let mut rest = segment;
    while let Some((bytes, after)) = rest.split_first_chunk::<16>() {
        let (low, high) = words(bytes);
        hash = mix(low ^ hash, high);
        rest = after;
    }
    let mut padded = [0; 16];
    padded[..rest.len()].copy_from_slice(rest);
    let (low, high) = words(&padded);
    mix(low ^ hash, high)
}

#[inline]
fn mix(low: u64, high: u64) -> u64 {
    let product = u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ids of the segment of a number: of every length, and more of them than a slot holds.
    fn made(number: u32) -> (Vec<u8>, Vec<u32>) {
        let length = 1 + number as usize * 7 % (LONG + 9);
        let text = number.to_le_bytes().iter().cycle().take(length).copied().collect();
        (text, (0..1 + number % 9).map(|id| id + number).collect())
    }

    fn recall(memory: &Memory, segment: &[u8], all: bool) -> Option<Vec<u32>> {
        if segment.len() <= SHORT {
            let key = Key::at(segment, 0, segment.len());
            if let Some((ids, count)) = memory.few(key, key.hash()) {
                return Some(ids[..count].to_vec());
            }
        }
        memory.many(segment, all).map(<[u32]>::to_vec)
    }

    #[test]
    fn what_is_recalled_was_put() {
        let mut memory = Memory::default();
        assert_eq!(recall(&memory, b"ab", true), None);
        let (mut kept, mut bytes, mut fewer) = (0, 0, false);
        for number in 0..400_000 {
            let (segment, ids) = made(number);
            // Short segments come again with the same bytes.
            let known = recall(&memory, &segment, true);
            if segment.len() < 4 {
                memory.put(&segment, &[7], false);
                continue;
            }
            assert_eq!(known, None);
            let some = number % 5 == 0;
            memory.put(&segment, &ids, some);
            let expected = (segment.len() <= LONG).then_some(ids);
            assert_eq!(recall(&memory, &segment, false), expected.clone().filter(|_| !some));
            assert_eq!(recall(&memory, &segment, true), expected);
            if let Some(before) = number.checked_sub(50) {
                let (segment, ids) = made(before);
                let found = recall(&memory, &segment, true);
                kept += usize::from(found.is_some());
                assert!(found.is_none_or(|found| found == ids || segment.len() < 4));
            }
            fewer |= memory.bytes.len() < bytes;
            bytes = memory.bytes.len();
        }
        assert!(kept > 300_000 && fewer);
        assert!(memory.short.lines.len() <= MOST_SHORT && memory.long.lines.len() <= MOST_LONG);
        assert!(memory.bytes.len() <= MOST_BYTES && memory.ids.len() <= MOST_IDS);
    }

    #[test]
    fn keys_tell_lengths_apart() {
        let text = [0; 40];
        let keys: Vec<Key> = (1..=SHORT).map(|length| Key::at(&text, 0, length)).collect();
        assert!((1..SHORT).all(|at| !keys[..at].contains(&keys[at])));
        // At the end of the text and before it.
        assert_eq!(Key::at(b"xyab", 2, 2), Key::at(b"ab0123456789012345", 0, 2));
    }
}
