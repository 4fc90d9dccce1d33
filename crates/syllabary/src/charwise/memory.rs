//! A bounded memory of segments already encoded, one a thread.
//!
//! Segments of up to 15 bytes and of up to 31 lie in memories like those of pieces of bytes (`encode::memory`), longer ones and
//! those of more ids than they take in a plain table (`cache`). Ids may be for some texts only (`weigh`): these lie apart.
//! Leaves out how segments are encoded.

use crate::{
    cache::PieceCache,
    encode::{FAR, FEW, Key, LONG_FAR, LONGER, Longer, Longers, SHORT, Several, Short},
};

/// Bytes of longer segments and their ids, and of those that are for some texts only, at most.
const MOST_LONG: usize = 4 << 20;
const MOST_SOME: usize = 1 << 20;

/// The shortest that is not short.
const AFTER_SHORT: usize = SHORT + 1;

/// Segments and their ids.
#[derive(Debug)]
pub(crate) struct Memory {
    short: Short,
    longer: Longers,
    long: PieceCache,
    /// Those whose ids are for some texts only, the short ones, if there are any, and others.
    some_short: Short,
    has_some: bool,
    some: PieceCache,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            short: Short::default(),
            longer: Longers::default(),
            long: PieceCache::of(MOST_LONG),
            some_short: Short::default(),
            has_some: false,
            some: PieceCache::of(MOST_SOME),
        }
    }
}

impl Memory {
    /// Says that much text is coming.
    pub(crate) fn expect_much(&mut self) {
        self.short.expect_much();
        self.longer.expect_much();
    }

    /// Looks for many segments; how many are not where one would look first.
    #[inline]
    pub(crate) fn look(&self, several: &mut Several, text: &[u8]) -> usize {
        several.look(text, &self.short, &self.longer)
    }

    /// The ids of a short segment, if it is where one would look first and has few: the first so many of these.
    #[inline]
    pub(crate) fn few(&self, key: Key, hash: u64) -> Option<(&[u32; FEW], usize)> {
        self.short.few(key, hash as u32)
    }

    /// Writes the ids of a segment of `AFTER_SHORT` to `LONGER` bytes to `room`, if they are remembered; how many they are.
    #[inline]
    pub(crate) fn longer(&self, key: Longer, room: &mut [u32; LONG_FAR]) -> Option<usize> {
        self.longer.read::<true>(key, room)
    }

    /// Asks for the line of a segment of up to `LONGER` bytes.
    #[inline]
    pub(crate) fn ask(&self, length: usize, hash: u64) {
        if length <= SHORT {
            self.short.fetch(hash as u32);
        } else {
            self.longer.fetch(hash as u32);
        }
    }

    /// The ids of a short segment that is not where one looks first, if it is remembered; it will be found sooner the next time.
    /// `all`: those that are for some texts too.
    #[inline]
    fn stray(&mut self, (key, hash): (Key, u64), all: bool) -> Option<&[u32]> {
        let ids = self.short.settled(key, hash as u32);
        if ids.is_none() && all && self.has_some { self.some_short.settled(key, hash as u32) } else { ids }
    }

    /// The ids of a segment that is not where one looks first, as above; of a short one, its key and hash are given.
    #[inline]
    pub(crate) fn elsewhere<'m>(
        &'m mut self,
        (segment, short): (&[u8], Option<(Key, u64)>),
        all: bool,
        room: &'m mut [u32; LONG_FAR],
    ) -> Option<&'m [u32]> {
        match short {
            Some(short) => self.stray(short, all),
            None => self.many(segment, all, room),
        }
    }

    /// The ids of any segment, if it is remembered; as above. Some are written to `room`.
    pub(crate) fn many<'m>(
        &'m mut self,
        segment: &[u8],
        all: bool,
        room: &'m mut [u32; LONG_FAR],
    ) -> Option<&'m [u32]> {
        if let Some(key) = Key::new(segment) {
            return self.stray((key, key.hash()), all);
        }
        if segment.len() <= LONGER {
            let key = Longer::at(segment, 0, segment.len());
            if let Some(slot) = self.longer.find(key, key.hash() as u32) {
                return Some(self.longer.ids(slot, room));
            }
        }
        let some = || if all { self.some.get(segment) } else { None };
        self.long.get(segment).or_else(some)
    }

    /// Remembers a segment, which is not yet, unless it is too long; `some`: for some texts only.
    pub(crate) fn put(&mut self, segment: &[u8], ids: &[u32], some: bool) {
        match segment.len() {
            0 => {}
            1..=SHORT if ids.len() <= FAR => {
                let key = Key::at(segment, 0, segment.len());
                self.has_some |= some;
                let table = if some { &mut self.some_short } else { &mut self.short };
                table.insert(key, key.hash() as u32, ids);
            }
            1..=SHORT => {}
            AFTER_SHORT..=LONGER if !some && ids.len() <= LONG_FAR => {
                let key = Longer::at(segment, 0, segment.len());
                self.longer.insert(key, key.hash() as u32, ids);
            }
            _ => {
                let table = if some { &mut self.some } else { &mut self.long };
                table.insert(segment, ids);
            }
        }
    }

    /// The same of a short one, of which it is known that it is not remembered.
    #[inline]
    pub(crate) fn put_short(&mut self, key: Key, hash: u64, ids: &[u32]) {
        if ids.len() <= FAR {
            self.short.insert(key, hash as u32, ids);
        }
    }

    /// The same; the first ids, with others behind, and all.
    #[inline]
    pub(super) fn put_new(&mut self, (key, hash): (Key, u64), (first, ids): (&[u32; FAR], &[u32])) {
        match first.first_chunk() {
            Some(&few) if ids.len() <= FEW => self.short.insert_few((key, hash as u32), few, ids.len()),
            _ => self.short.insert(key, hash as u32, ids),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest segment remembered.
    const LONG: usize = 64;

    /// The ids of the segment of a number: of every length, and more of them than a slot holds.
    fn made(number: u32) -> (Vec<u8>, Vec<u32>) {
        let length = 1 + number as usize * 7 % (LONG + 9);
        let text = number.to_le_bytes().iter().cycle().take(length).copied().collect();
        let most = if length <= SHORT { FAR } else { 41 };
        (text, (0..1 + number % most as u32).map(|id| id + number).collect())
    }

    fn recall(memory: &mut Memory, segment: &[u8], all: bool) -> Option<Vec<u32>> {
        if let Some(key) = Key::new(segment)
            && let Some((ids, count)) = memory.few(key, key.hash())
        {
            return Some(ids[..count].to_vec());
        }
        let mut room = [0; LONG_FAR];
        if (AFTER_SHORT..=LONGER).contains(&segment.len())
            && let Some(count) = memory.longer(Longer::at(segment, 0, segment.len()), &mut room)
        {
            return Some(room[..count].to_vec());
        }
        memory.many(segment, all, &mut room).map(<[u32]>::to_vec)
    }

    #[test]
    fn what_is_recalled_was_put() {
        let mut memory = Memory::default();
        assert_eq!(recall(&mut memory, b"ab", true), None);
        let mut kept = 0;
        for number in 0..400_000 {
            let (segment, ids) = made(number);
            // Short segments come again with the same bytes.
            let known = recall(&mut memory, &segment, true);
            if segment.len() < 4 {
                if known.is_none() {
                    memory.put(&segment, &[7], false);
                }
                continue;
            }
            assert_eq!(known, None);
            let some = number % 5 == 0;
            memory.put(&segment, &ids, some);
            let expected = (segment.len() <= LONG).then_some(ids);
            assert_eq!(recall(&mut memory, &segment, false), expected.clone().filter(|_| !some));
            assert_eq!(recall(&mut memory, &segment, true), expected);
            if let Some(before) = number.checked_sub(50) {
                let (segment, ids) = made(before);
                let found = recall(&mut memory, &segment, true);
                kept += usize::from(found.is_some());
                assert!(found.is_none_or(|found| found == ids || segment.len() < 4));
            }
        }
        assert!(kept > 300_000);
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
