//! What a look at many short strings in the memory gives.
//!
//! Adds: `Found`, the ids of those that are there, one after the other, and which are not: so that looking needs no
//! branch on whether a string is known. Leaves out the same with wide instructions (`wide`), and what is done about
//! the others (`chunk`).

#[cfg(simd_x86)]
use super::wide;
use super::{
    asked::{Asked, LONG},
    memory::{FAR, LONG_FAR, Lines, Longers},
    output::{Output, hand_on},
};

/// Strings looked at together: the more, the fuller are the lanes in which those that are new are merged.
pub(crate) const MANY: usize = 1024;
/// Ids that may be written beyond those that count.
pub(super) const BEYOND: usize = 4 * FAR;

/// A string that was not found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missed {
    /// Which it is.
    pub(super) at: u16,
    /// How many ids of others come before it.
    pub(super) filled: u32,
}

/// The ids of the strings found, and the others.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(super) ids: Box<[u32]>,
    pub(super) filled: usize,
    /// How many ids there are up to the end of each string's.
    pub(super) ends: Box<[u16]>,
    pub(super) missed: Box<[Missed]>,
    pub(super) misses: usize,
    /// Whether most fours of the last look had one that was not found, or not with few ids.
    #[cfg(simd_x86)]
    pub(super) others_are_many: bool,
}

const _: () = assert!(MANY * LONG_FAR < u16::MAX as usize && LONG_FAR <= BEYOND);

impl Found {
    /// Room for one look at `MANY` strings, after others that had up to so many ids and misses.
    pub(super) fn new((ids, misses): (usize, usize)) -> Found {
        Found::with_room(ids + MANY * LONG_FAR, misses + MANY, MANY)
    }

    /// Room for one look at so many strings of at most `SHORT` bytes.
    pub(super) fn short(strings: usize) -> Found {
        Found::with_room(strings * FAR, strings, strings)
    }

    fn with_room(ids: usize, misses: usize, strings: usize) -> Found {
        Found {
            ids: vec![0; ids + BEYOND].into(),
            filled: 0,
            ends: vec![0; strings].into(),
            missed: vec![Missed::default(); misses].into(),
            misses: 0,
            #[cfg(simd_x86)]
            others_are_many: false,
        }
    }

    /// How many ids there are.
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// The strings that were not found, in order.
    pub(super) fn missed(&self) -> &[Missed] {
        &self.missed[..self.misses]
    }

    /// Forgets what was found and what was not.
    pub(super) fn clear(&mut self) {
        (self.filled, self.misses) = (0, 0);
    }

    /// Gives those not found, from one on, other numbers: one after the other.
    pub(super) fn number(&mut self, from: usize) {
        for (at, missed) in self.missed[..self.misses].iter_mut().enumerate().skip(from) {
            missed.at = at as u16;
        }
    }

    /// Looks for the first `count` strings of `asked` and keeps their ids, or their number only, which is given; if `ENDS`,
    /// also where the ids of each end. What was found before is kept, and comes first.
    #[inline]
    pub(super) fn look<const KEEP: bool, const ENDS: bool>(
        &mut self,
        memory: (Lines<'_>, &Longers),
        asked: &Asked,
        count: usize,
    ) -> usize {
        #[cfg(simd_x86)]
        let (done, mut sum) =
            wide::Able::new().map_or((0, 0), |able| able.look::<KEEP, ENDS>(self, memory, asked, count));
        #[cfg(not(simd_x86))]
        let (done, mut sum) = (0, 0);
        for at in done..count {
            sum += self.one::<KEEP, ENDS>(memory, asked, at);
        }
        sum
    }

    /// The same for one of them.
    #[inline]
    pub(super) fn one<const KEEP: bool, const ENDS: bool>(
        &mut self,
        (lines, longer): (Lines<'_>, &Longers),
        asked: &Asked,
        at: usize,
    ) -> usize {
        let (key, place) = (asked.key(at), asked.places[at]);
        if key == LONG {
            return self.long::<KEEP, ENDS>(longer, asked, at);
        }
        let count = if KEEP {
            let (count, few, many) = lines.any(key, place);
            if let Some(room) = self.ids.get_mut(self.filled..).and_then(<[u32]>::first_chunk_mut) {
                *room = *many;
                if let Some(room) = room.first_chunk_mut() {
                    *room = *few;
                }
            }
            self.filled += count;
            if ENDS {
                self.ends[at] = self.filled as u16;
            }
            count
        } else {
            lines.count(key, place)
        };
        if count == 0 {
            lines.fetch_after(place);
            self.miss::<ENDS>(at);
        }
        count
    }

    /// The same for one of more than `SHORT` bytes.
    #[inline]
    pub(super) fn long<const KEEP: bool, const ENDS: bool>(
        &mut self,
        longer: &Longers,
        asked: &Asked,
        at: usize,
    ) -> usize {
        let room = if KEEP { self.ids.get_mut(self.filled..) } else { None };
        let count = match room.and_then(<[u32]>::first_chunk_mut) {
            Some(room) => longer.read::<true>(asked.long(at), room),
            None => longer.read::<false>(asked.long(at), &mut [0; LONG_FAR]),
        };
        let Some(count) = count else {
            longer.fetch_after(asked.long(at));
            self.miss::<ENDS>(at);
            return 0;
        };
        if KEEP {
            self.filled += count;
        }
        if ENDS {
            self.ends[at] = self.filled as u16;
        }
        count
    }

    /// Notes a string that is not there.
    #[inline(always)]
    pub(super) fn miss<const ENDS: bool>(&mut self, at: usize) {
        self.missed[self.misses] = Missed { at: at as u16, filled: self.filled as u32 };
        self.misses += 1;
        if ENDS {
            self.ends[at] = self.filled as u16;
        }
    }

    /// Where the ids of a string begin and end; of one that was not found, they are at the same place.
    #[inline(always)]
    pub(super) fn span(&self, at: usize) -> (usize, usize) {
        (if at == 0 { 0 } else { usize::from(self.ends[at - 1]) }, usize::from(self.ends[at]))
    }

    /// Ids from one place to another.
    #[inline(always)]
    pub(super) fn hand_on(&self, from: usize, to: usize, out: &mut impl Output) {
        hand_on(&self.ids, (from, to), out);
    }
}

#[cfg(test)]
#[path = "found_tests.rs"]
mod tests;
