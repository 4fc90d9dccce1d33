//! What pieces that are not remembered fall into: ids that are known at once, and strings that are looked up together.
//!
//! ```text
//! piece -> cut where no token passes -> one character alone: its ids, by its code
//!                                    -> several: a string, looked up with those of the pieces around it
//! ```
//!
//! Most characters of most scripts stand in no token beside another one. Such a character has the same ids wherever it
//! stands. What lies between two places where no token passes, and is more than one character, goes through the memory
//! of short strings. No branch depends on which of the two it is. Leaves out what to do with a piece (`open`).

use std::ops::Range;

#[cfg(simd_x86)]
use super::inside_wide;
use super::{
    asked::{Asked, INNER, PIECE},
    characters::{Characters, passes},
    cuts::{Cuts, character_at},
    found::{Found, MANY},
    key::{LONGER, SHORT},
    memory::{FEW, Lines, Longers},
    output::{Output, hand_on},
};

/// Strings of a part of a chunk: so many that what is asked for them stays in the first cache.
const STRINGS: usize = MANY / 2;
/// Ids that fit before more room is made.
const ROOM: usize = 4096;
/// A thread keeps room for so many, whatever a long string took.
const KEPT: usize = 1 << 16;

/// So many ids are written at once.
#[cfg(simd_x86)]
const WRITTEN: usize = 16;

/// Fewer bytes are cut character by character.
#[cfg(simd_x86)]
const WIDE: usize = 24;

/// What neighbouring pieces add, or a part of a long one: all up to here belongs to it and to those before.
#[derive(Clone, Copy, Debug)]
struct Part {
    strings: usize,
    filled: usize,
    /// Whether its ids are to be remembered.
    is_new: bool,
}

/// Ids and strings of pieces, in order.
#[derive(Debug)]
pub(super) struct Inside {
    ids: Vec<u32>,
    filled: usize,
    starts: Box<[usize; STRINGS]>,
    ends: Box<[usize; STRINGS]>,
    /// Whether each is a whole piece (`PIECE`) or not (`INNER`).
    kinds: Box<[u64; STRINGS]>,
    /// How many known ids come before each string.
    before: Box<[usize; STRINGS]>,
    strings: usize,
    pub(super) characters: Characters,
    parts: Vec<Part>,
    pub(super) asked: Asked,
    pub(super) found: Found,
    #[cfg(simd_x86)]
    wide: Option<inside_wide::Able>,
}

/// Where cutting stopped: everything before `from` is cut, which is in the piece of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Done,
    /// There is no room.
    Full {
        piece: usize,
        from: usize,
    },
    /// From `from` to `to`, no place is cut: too long to be looked up. Whether that is the whole piece.
    Long {
        piece: usize,
        from: usize,
        to: usize,
        is_whole: bool,
    },
}

/// Where cutting is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// Where the piece begins, where what is not cut yet begins, and the next character.
    pub(super) begin: usize,
    pub(super) from: usize,
    pub(super) at: usize,
    /// The number of the piece.
    pub(super) piece: usize,
    /// How many ids there are.
    pub(super) filled: usize,
}

impl Inside {
    pub(super) fn new(cuts: &Cuts) -> Inside {
        Inside {
            ids: vec![0; ROOM],
            filled: 0,
            starts: Box::new([0; STRINGS]),
            ends: Box::new([0; STRINGS]),
            kinds: Box::new([0; STRINGS]),
            before: Box::new([0; STRINGS]),
            strings: 0,
            characters: Characters::new(cuts),
            parts: Vec::new(),
            asked: Asked::short(STRINGS),
            found: Found::short(STRINGS),
            #[cfg(simd_x86)]
            wide: inside_wide::Able::new(),
        }
    }

    /// The same, which cuts one character after the other.
    #[cfg(all(test, simd_x86))]
    pub(super) fn without_wide(&mut self) {
        self.wide = None;
    }

    pub(super) fn clear(&mut self) {
        (self.filled, self.strings) = (0, 0);
        self.parts.clear();
        self.ids.truncate(ROOM);
        self.ids.shrink_to(KEPT);
    }

    /// Whether what a piece of up to `LONGER` bytes may fall into would fit.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.strings + LONGER <= STRINGS && self.filled + FEW * (LONGER + 1) <= self.ids.len()
    }

    /// How many strings and ids there are.
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.strings, self.filled)
    }

    /// Forgets what came after a mark.
    pub(super) fn back_to(&mut self, (strings, filled): (usize, usize)) {
        (self.strings, self.filled) = (strings, filled);
    }

    /// Adds ids.
    #[inline]
    pub(super) fn many(&mut self, ids: &[u32]) {
        let filled = self.filled + ids.len();
        if filled + FEW > self.ids.len() {
            self.ids.resize(filled + FEW, 0);
        }
        self.ids[self.filled..filled].copy_from_slice(ids);
        self.filled = filled;
    }

    /// Ends a part.
    #[inline]
    pub(super) fn end(&mut self, is_new: bool) {
        self.parts.push(Part { strings: self.strings, filled: self.filled, is_new });
    }

    /// How many parts there are.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The strings and the known ids of a part, and whether they are to be remembered.
    #[inline(always)]
    pub(super) fn part(&self, at: usize) -> (Range<usize>, Range<usize>, bool) {
        let (strings, filled) = match at {
            0 => (0, 0),
            _ => (self.parts[at - 1].strings, self.parts[at - 1].filled),
        };
        let part = self.parts[at];
        (strings..part.strings, filled..part.filled, part.is_new)
    }

    /// Looks up the strings.
    pub(super) fn look(&mut self, memory: (Lines<'_>, &Longers), text: &[u8]) {
        let count = self.strings;
        self.asked.ask_short(
            memory.0,
            text,
            (&self.starts[..count], &self.ends[..count], &self.kinds[..count]),
        );
        self.found.clear();
        self.found.look::<true, true>(memory, &self.asked, count);
    }

    /// Where a string begins and ends, what it is, and how many known ids come before it.
    #[inline(always)]
    pub(super) fn string(&self, at: usize) -> ((usize, usize), u64, usize) {
        ((self.starts[at], self.ends[at]), self.kinds[at], self.before[at])
    }

    /// Known ids from one place to another.
    #[inline(always)]
    pub(super) fn hand_on(&self, from: usize, to: usize, out: &mut impl Output) {
        hand_on(&self.ids, (from, to), out);
    }

    /// Cuts neighbouring pieces of whole characters, as far as there is room; `from` is in the first of them, which
    /// begins at `begin`. Between `from` and the character at `at`, it is known, there is no cut.
    #[inline]
    pub(super) fn cut(
        &mut self,
        cuts: &Cuts,
        text: &[u8],
        (begin, from, at): (usize, usize, usize),
        ends: &[usize],
    ) -> Stop {
        let mut walk = Walk { begin, from, at, piece: 0, filled: self.filled };
        #[cfg(simd_x86)]
        if let Some(able) = self.wide.filter(|_| ends[ends.len() - 1] - at >= WIDE) {
            able.cut(self, cuts, text, &mut walk, ends);
        }
        let stop =
            if walk.piece == ends.len() { Stop::Done } else { self.cut_on(cuts, text, &mut walk, ends) };
        self.filled = walk.filled;
        stop
    }

    /// The same, one character after the other.
    #[inline]
    fn cut_on(&mut self, cuts: &Cuts, text: &[u8], walk: &mut Walk, ends: &[usize]) -> Stop {
        let Walk { mut begin, mut from, mut at, mut piece, mut filled } = *walk;
        let mut end = ends[piece];
        let (mut code, mut width) = character_at(text, at);
        let mut character = self.characters.get(code);
        let stop = loop {
            let next = at + width;
            let (after, after_width) = if next < text.len() { character_at(text, next) } else { (0, 1) };
            let following = self.characters.get(after);
            let is_last = next >= end;
            let is_cut = is_last | !passes(cuts, text, next, [(code, character), (after, following)]);
            let Some(room) = self.ids.get_mut(filled..).and_then(<[u32]>::first_chunk_mut) else {
                break Stop::Full { piece, from };
            };
            *room = character.ids();
            let count = character.count() & usize::from(from == at).wrapping_neg();
            if is_cut & (count == 0) {
                if next - from >= SHORT {
                    break Stop::Long { piece, from, to: next, is_whole: is_last & (from == begin) };
                }
                if self.strings >= STRINGS {
                    break Stop::Full { piece, from };
                }
                self.push((from, next), is_last & (from == begin), filled);
            }
            filled += count & usize::from(is_cut).wrapping_neg();
            from = if is_cut { next } else { from };
            begin = if is_last { next } else { begin };
            piece += usize::from(is_last);
            let Some(&another) = ends.get(piece) else { break Stop::Done };
            end = another;
            (at, code, width, character) = (next, after, after_width, following);
        };
        walk.filled = filled;
        stop
    }

    /// Whether there is room for what so many characters may add to `filled` ids.
    #[cfg(simd_x86)]
    #[inline(always)]
    pub(super) fn has_room_for(&self, characters: usize, filled: usize) -> bool {
        self.strings + characters <= STRINGS
            && filled + Characters::MOST * characters + WRITTEN <= self.ids.len()
    }

    /// Where ids are written.
    #[cfg(simd_x86)]
    #[inline(always)]
    pub(super) fn room(&mut self, at: usize) -> Option<&mut [u32; WRITTEN]> {
        self.ids.get_mut(at..)?.first_chunk_mut()
    }

    /// Notes a string.
    #[inline(always)]
    pub(super) fn push(&mut self, (start, end): (usize, usize), is_whole: bool, filled: usize) {
        let at = self.strings;
        (self.starts[at], self.ends[at], self.before[at]) = (start, end, filled);
        self.kinds[at] = if is_whole { PIECE } else { INNER };
        self.strings += 1;
    }
}
