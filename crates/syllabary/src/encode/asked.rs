//! What many neighbouring pieces are looked up by.
//!
//! Adds: `Asked`, their keys and where in the memory each would be, made for all of them before the first is looked
//! for, so that the memory's lines are on their way. Leaves out the same with wide instructions (`wide`) and the
//! look itself (`found`).

#[cfg(target_arch = "x86_64")]
use super::wide;
use super::{
    found::MANY,
    key::{Key, LONGER, Longer, SHORT},
    memory::{Lines, Longers},
};

/// From this first byte on, characters are of scripts without spaces (U+3000 and above) or rare: their pieces seldom
/// come again, and are encoded character by character.
pub(super) const UNSPACED: u8 = 0xE3;
/// In place of the key of a piece that has a longer one or none; no slot holds them, not even an empty one.
const LONG: Key = Key { low: 1, high: 0 };
pub(super) const NONE: Key = Key { low: 2, high: 0 };

/// How a piece is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Short(Key),
    Long(Longer),
    None,
}

/// The keys of pieces, in columns, and where they are looked for.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(super) lows: Box<[u64; MANY]>,
    pub(super) highs: Box<[u64; MANY]>,
    /// The byte of the memory where the line of each begins: all are below `size`.
    pub(super) places: Box<[usize; MANY]>,
    pub(super) size: usize,
    longs: Box<[Longer; MANY]>,
}

impl Default for Asked {
    fn default() -> Self {
        Asked {
            lows: Box::new([0; MANY]),
            highs: Box::new([0; MANY]),
            places: Box::new([0; MANY]),
            size: 0,
            longs: Box::new([Longer::NONE; MANY]),
        }
    }
}

impl Asked {
    /// The key of a piece; if it is not short, one that no string has.
    #[inline(always)]
    pub(super) fn key(&self, at: usize) -> Key {
        Key { low: self.lows[at], high: self.highs[at] }
    }

    pub(super) fn name(&self, at: usize) -> Name {
        match self.key(at) {
            LONG => Name::Long(self.longs[at]),
            NONE => Name::None,
            key => Name::Short(key),
        }
    }

    /// Makes the keys of neighbouring pieces of `text`, the first of which begins at `start`, and asks for where they
    /// may be remembered.
    pub(super) fn ask(
        &mut self,
        (lines, longer): (Lines<'_>, &Longers),
        text: &[u8],
        start: usize,
        ends: &[usize],
    ) {
        self.size = lines.size();
        #[cfg(target_arch = "x86_64")]
        let done = wide::Able::new().map_or(0, |able| able.ask(self, (lines, longer), text, start, ends));
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        for at in done..ends.len() {
            self.one((lines, longer), text, start, ends, at);
        }
    }

    /// The same for one of them.
    #[inline]
    pub(super) fn one(
        &mut self,
        (lines, longer): (Lines<'_>, &Longers),
        text: &[u8],
        start: usize,
        ends: &[usize],
        at: usize,
    ) {
        let (start, end) = (if at == 0 { start } else { ends[at - 1] }, ends[at]);
        let mut key = NONE;
        if text[start] < UNSPACED && end - start <= SHORT {
            key = Key::at(text, start, end - start);
        } else if text[start] < UNSPACED && end - start <= LONGER {
            let long = Longer::at(text, start, end - start);
            longer.fetch(long.hash() as u32);
            self.longs[at] = long;
            key = LONG;
        }
        let place = lines.place(key.hash());
        lines.fetch(place);
        (self.lows[at], self.highs[at], self.places[at]) = (key.low, key.high, place);
    }
}
