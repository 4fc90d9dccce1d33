//! Where the ids go: into a vector, or into their number.

use std::ops::Range;

use super::{
    asked::Asked,
    found::Found,
    memory::{FEW, Lines, Longers},
};
use crate::pages;

/// So many ids are copied at once.
pub(super) const SOME: usize = 16;

/// Hands on the ids from one place to another.
#[inline(always)]
pub(super) fn hand_on(ids: &[u32], (from, to): (usize, usize), out: &mut impl Output) {
    match ids[from..].first_chunk() {
        Some(some) if to - from <= SOME => out.some(some, to - from),
        _ => out.many(&ids[from..to]),
    }
}

/// Takes ids in the order of the text.
pub(crate) trait Output {
    /// Whether ids may come later than the pieces that they are of are told.
    const LATER: bool = false;
    /// Whether it is told where pieces are; then no step changes the text.
    const PLACED: bool = false;
    /// The first `count` of `ids`.
    fn few(&mut self, ids: &[u32; FEW], count: usize);
    /// The same of more.
    #[inline(always)]
    fn some(&mut self, ids: &[u32; SOME], count: usize) {
        self.many(&ids[..count]);
    }
    /// All of them.
    fn many(&mut self, ids: &[u32]);
    /// A token found in the text, which takes these bytes of it.
    fn named(&mut self, id: u32, _bytes: Range<usize>) {
        self.many(&[id]);
    }
    /// The text ends.
    fn ended(&mut self) {}
    /// All ids of these neighbouring pieces of `text`, the first of which begins at `start`, have been handed on.
    fn pieces(&mut self, _text: &[u8], _start: usize, _ends: &[usize]) {}
    /// Looks for the first `count` strings of `asked`; the ids of those found are in `found` then, to be taken with what comes between them.
    #[inline(always)]
    fn look(&mut self, found: &mut Found, memory: (Lines<'_>, &Longers), asked: &Asked, count: usize) {
        found.look::<true, false>(memory, asked, count);
    }
}

const BUFFERED: usize = 4096;

/// Collects ids in front of a vector, which then grows rarely.
#[derive(Debug)]
pub(crate) struct Buffer([u32; BUFFERED]);

impl Default for Buffer {
    fn default() -> Self {
        Buffer([0; BUFFERED])
    }
}

/// Appends to a vector; `finish` must be called at the end.
pub(crate) struct Ids<'o> {
    out: &'o mut Vec<u32>,
    buffer: &'o mut Buffer,
    filled: usize,
}

impl<'o> Ids<'o> {
    pub(crate) fn new(out: &'o mut Vec<u32>, buffer: &'o mut Buffer) -> Self {
        Ids { out, buffer, filled: 0 }
    }

    /// Appends what is still in the buffer.
    pub(crate) fn finish(&mut self) {
        pages::extend(self.out, &self.buffer.0[..self.filled]);
        self.filled = 0;
    }
}

/// Appends to a vector, and notes where each text ends; `finish` must be called at the end.
pub(crate) struct Texts<'o> {
    pub(crate) ids: Ids<'o>,
    pub(crate) ends: &'o mut Vec<usize>,
}

impl Output for Texts<'_> {
    const LATER: bool = true;

    #[inline(always)]
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        self.ids.few(ids, count);
    }

    #[inline(always)]
    fn some(&mut self, ids: &[u32; SOME], count: usize) {
        self.ids.some(ids, count);
    }

    #[inline(always)]
    fn many(&mut self, ids: &[u32]) {
        self.ids.many(ids);
    }

    #[inline]
    fn ended(&mut self) {
        self.ends.push(self.ids.out.len() + self.ids.filled);
    }
}

impl<O: Output> Output for &mut O {
    const LATER: bool = O::LATER;
    const PLACED: bool = O::PLACED;

    #[inline(always)]
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        O::few(self, ids, count);
    }

    #[inline(always)]
    fn some(&mut self, ids: &[u32; SOME], count: usize) {
        O::some(self, ids, count);
    }

    #[inline(always)]
    fn many(&mut self, ids: &[u32]) {
        O::many(self, ids);
    }

    #[inline(always)]
    fn look(&mut self, found: &mut Found, memory: (Lines<'_>, &Longers), asked: &Asked, count: usize) {
        O::look(self, found, memory, asked, count);
    }

    #[inline(always)]
    fn named(&mut self, id: u32, bytes: Range<usize>) {
        O::named(self, id, bytes);
    }

    #[inline(always)]
    fn ended(&mut self) {
        O::ended(self);
    }

    #[inline(always)]
    fn pieces(&mut self, text: &[u8], start: usize, ends: &[usize]) {
        O::pieces(self, text, start, ends);
    }
}

impl Ids<'_> {
    /// Writes all of `ids` at once, of which `count` stay.
    #[inline(always)]
    fn copy<const N: usize>(&mut self, ids: &[u32; N], count: usize) {
        if self.filled > BUFFERED - N {
            self.finish();
        }
        if let Some(place) = self.buffer.0[self.filled..].first_chunk_mut::<N>() {
            *place = *ids;
        }
        self.filled += count;
    }
}

impl Output for Ids<'_> {
    const LATER: bool = true;

    #[inline(always)]
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        self.copy(ids, count);
    }

    #[inline(always)]
    fn some(&mut self, ids: &[u32; SOME], count: usize) {
        self.copy(ids, count);
    }

    #[inline]
    fn many(&mut self, ids: &[u32]) {
        if self.filled + ids.len() > BUFFERED {
            self.finish();
        }
        match self.buffer.0.get_mut(self.filled..self.filled + ids.len()) {
            Some(place) => {
                place.copy_from_slice(ids);
                self.filled += ids.len();
            }
            None => pages::extend(self.out, ids),
        }
    }
}

impl Output for Vec<u32> {
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        self.extend_from_slice(&ids[..count]);
    }

    fn many(&mut self, ids: &[u32]) {
        self.extend_from_slice(ids);
    }
}

/// Counts.
#[derive(Debug, Default)]
pub(crate) struct Count(pub(crate) usize);

impl Output for Count {
    const LATER: bool = true;

    #[inline(always)]
    fn few(&mut self, _ids: &[u32; FEW], count: usize) {
        self.0 += count;
    }

    #[inline(always)]
    fn some(&mut self, _ids: &[u32; SOME], count: usize) {
        self.0 += count;
    }

    #[inline]
    fn many(&mut self, ids: &[u32]) {
        self.0 += ids.len();
    }

    /// Takes the number of ids found at once.
    #[inline]
    fn look(&mut self, found: &mut Found, memory: (Lines<'_>, &Longers), asked: &Asked, count: usize) {
        self.0 += found.look::<false, false>(memory, asked, count);
    }
}

/// Counts, and notes the count where each text ends.
pub(crate) struct Counts<'o> {
    pub(crate) count: Count,
    pub(crate) ends: &'o mut Vec<usize>,
}

impl Output for Counts<'_> {
    const LATER: bool = true;

    #[inline(always)]
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        self.count.few(ids, count);
    }

    #[inline(always)]
    fn some(&mut self, ids: &[u32; SOME], count: usize) {
        self.count.some(ids, count);
    }

    #[inline]
    fn many(&mut self, ids: &[u32]) {
        self.count.many(ids);
    }

    #[inline]
    fn ended(&mut self) {
        self.ends.push(self.count.0);
    }
}
