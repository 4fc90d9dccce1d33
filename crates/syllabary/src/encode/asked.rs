//! What many neighbouring pieces are looked up by.
//!
//! Adds: `Asked`, their keys and where in the memory each would be, made for all of them before the first is looked
//! for, so that the memory's lines are on their way. Leaves out the same with wide instructions (`wide`) and the
//! look itself (`found`).

#[cfg(simd_x86)]
use super::wide;
use super::{
    found::Missed,
    key::{Key, LONGER, Longer, SHORT, inner},
    memory::{Lines, Longers},
};

/// From this first byte on, characters are of scripts without spaces (U+3000 and above) or rare: their pieces seldom
/// come again, and are encoded character by character.
pub(crate) const UNSPACED: u8 = 0xE3;
/// In place of the key of a piece that has a longer one, none, or is of a script without spaces; no slot holds them,
/// not even an empty one.
pub(super) const LONG: Key = Key { low: 1, high: 0 };
pub(super) const NONE: Key = Key { low: 2, high: 0 };
pub(super) const APART: Key = Key { low: 3, high: 0 };
/// Of what is no piece.
pub(super) const MARK: Key = Key { low: 4, high: 0 };
/// How far the length of a string is moved up in its key: that of a whole piece, and of a string inside one.
pub(super) const PIECE: u64 = 56;
pub(super) const INNER: u64 = 48;

/// How a piece is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Short(Key),
    Long(Longer),
    /// Not remembered: of a script without spaces.
    Apart,
    None,
    /// No piece: the end of a text or a token found in it.
    Mark,
}

impl Name {
    /// Of the piece `text[start..end]`; `ALL`: of any script.
    #[inline(always)]
    pub(super) fn of<const ALL: bool>(text: &[u8], (start, end): (usize, usize)) -> Name {
        match end - start {
            _ if !ALL && text[start] >= UNSPACED => Name::Apart,
            length @ ..=SHORT => Name::Short(Key::at(text, start, length)),
            length @ ..=LONGER => Name::Long(Longer::at(text, start, length)),
            _ => Name::None,
        }
    }
}

/// The key of a string of up to `SHORT` bytes that is a whole `PIECE`, or of less if it is `INNER`.
#[inline(always)]
pub(super) fn key_of(text: &[u8], (start, end): (usize, usize), kind: u64) -> Key {
    let key = Key::at(text, start, end - start);
    if kind == PIECE { key } else { inner(key) }
}

/// The keys of pieces, in columns, and where they are looked for; by default of none.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(super) lows: Box<[u64]>,
    pub(super) highs: Box<[u64]>,
    /// The byte of the memory where the line of each begins: all are below `size`.
    pub(super) places: Box<[usize]>,
    pub(super) size: usize,
    longs: Box<[Longer]>,
}

impl Asked {
    /// Room for so many.
    pub(super) fn new(most: usize) -> Asked {
        Asked { longs: vec![Longer::NONE; most].into(), ..Asked::short(most) }
    }

    /// The same where all are short.
    pub(super) fn short(most: usize) -> Asked {
        Asked {
            lows: vec![0; most].into(),
            highs: vec![0; most].into(),
            places: vec![0; most].into(),
            size: 0,
            longs: Box::default(),
        }
    }

    /// The key of a piece of another, and the longer one; not where it is looked for.
    #[inline]
    pub(super) fn take(&mut self, at: usize, (other, there): (&Asked, usize)) {
        let key = other.key(there);
        (self.lows[at], self.highs[at]) = (key.low, key.high);
        if key == LONG {
            self.longs[at] = other.longs[there];
        }
    }

    /// The key of a piece; if it is not short, one that no string has.
    #[inline(always)]
    pub(super) fn key(&self, at: usize) -> Key {
        Key { low: self.lows[at], high: self.highs[at] }
    }

    /// The longer key of a piece that has one.
    #[inline(always)]
    pub(super) fn long(&self, at: usize) -> Longer {
        self.longs[at]
    }

    pub(super) fn name(&self, at: usize) -> Name {
        match self.key(at) {
            LONG => Name::Long(self.longs[at]),
            APART => Name::Apart,
            NONE => Name::None,
            MARK => Name::Mark,
            key => Name::Short(key),
        }
    }

    /// Says that there is no piece.
    pub(super) fn mark(&mut self, at: usize) {
        (self.lows[at], self.highs[at]) = (MARK.low, MARK.high);
    }

    /// How many of these, from the first on, are neighbours of a script without spaces.
    pub(super) fn run(&self, missed: &[Missed]) -> usize {
        let (first, filled) = (usize::from(missed[0].at), missed[0].filled);
        let is_next = |&(count, piece): &(usize, &Missed)| {
            let is_beside = usize::from(piece.at) == first + count && piece.filled == filled;
            is_beside && self.key(first + count) == APART
        };
        missed.iter().enumerate().take_while(is_next).count()
    }

    /// Makes the keys of the pieces `text[starts[0]..ends[0]]` and so on, ascending, and asks for where they may be
    /// remembered; `ALL`: those of scripts without spaces too.
    pub(super) fn ask<const ALL: bool>(
        &mut self,
        (lines, longer): (Lines<'_>, &Longers),
        text: &[u8],
        (starts, ends): (&[usize], &[usize]),
    ) {
        self.size = lines.size();
        #[cfg(simd_x86)]
        let done =
            wide::Able::new().map_or(0, |able| able.ask::<ALL>(self, (lines, longer), text, (starts, ends)));
        #[cfg(not(simd_x86))]
        let done = 0;
        for (at, (&start, &end)) in starts.iter().zip(ends).enumerate().skip(done) {
            self.one::<ALL>((lines, longer), text, (start, end), at);
        }
    }

    /// The same for strings of at most `SHORT` bytes that are `PIECE` or `INNER`.
    pub(super) fn ask_short(
        &mut self,
        lines: Lines<'_>,
        text: &[u8],
        (starts, ends, kinds): (&[usize], &[usize], &[u64]),
    ) {
        self.size = lines.size();
        #[cfg(simd_x86)]
        let done =
            wide::Able::new().map_or(0, |able| able.ask_short(self, lines, text, (starts, ends, kinds)));
        #[cfg(not(simd_x86))]
        let done = 0;
        for (at, ((&start, &end), &kind)) in starts.iter().zip(ends).zip(kinds).enumerate().skip(done) {
            self.set(lines, at, key_of(text, (start, end), kind));
        }
    }

    /// The same as `ask` for one of them.
    #[inline]
    pub(super) fn one<const ALL: bool>(
        &mut self,
        (lines, longer): (Lines<'_>, &Longers),
        text: &[u8],
        span: (usize, usize),
        at: usize,
    ) {
        let key = match Name::of::<ALL>(text, span) {
            Name::Short(key) => key,
            Name::Long(long) => {
                longer.fetch(long.hash() as u32);
                self.longs[at] = long;
                LONG
            }
            Name::Apart => APART,
            Name::Mark => MARK,
            Name::None => NONE,
        };
        self.set(lines, at, key);
    }

    #[inline(always)]
    fn set(&mut self, lines: Lines<'_>, at: usize, key: Key) {
        let place = lines.place(key.hash());
        lines.fetch(place);
        (self.lows[at], self.highs[at], self.places[at]) = (key.low, key.high, place);
    }
}
