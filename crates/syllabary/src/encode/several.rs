//! Neighbouring strings that `charwise` looks up together.
//!
//! ```text
//! bits of places to cut  ->  edges  ->  keys and places, lines asked for  ->  ids of those that are there, and which are not
//! ```
//!
//! Leaves out the memory, and what is done with those that are not there.

use std::ops::Range;

use super::{
    asked::Asked,
    found::{Found, MANY},
    key::{Key, SHORT},
    memory::{Longers, Short},
};
#[cfg(simd_x86)]
use crate::sixteen::Able;
use crate::split::places_of;

/// Bits of places at a time.
const BLOCK: usize = 64;

/// Strings side by side, and what a look for them gives.
#[derive(Debug)]
pub(crate) struct Several {
    /// Where the first begins, and where each ends.
    edges: Box<[usize]>,
    /// Where each begins, if some were left out.
    starts: Box<[usize]>,
    count: usize,
    /// How many begin.
    started: usize,
    /// Some were left out.
    apart: bool,
    asked: Asked,
    found: Found,
    bits: Bits,
}

/// How the places of bits are found.
#[derive(Clone, Copy, Debug)]
struct Bits {
    #[cfg(simd_x86)]
    able: Option<Able>,
}

impl Bits {
    fn new() -> Bits {
        Bits {
            #[cfg(simd_x86)]
            able: Able::new(),
        }
    }

    #[inline(always)]
    fn places_of(self, bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
        #[cfg(simd_x86)]
        if let Some(able) = self.able {
            return able.places_of(bits, base, out);
        }
        places_of(bits, base, out)
    }
}

/// What stands before the next place of a text of which some is left out.
#[derive(Debug)]
pub(crate) struct Gap {
    is_out: bool,
}

impl Gap {
    /// Nothing stands there.
    pub(crate) const NOTHING: Gap = Gap { is_out: true };

    /// Of so many places, by where text may be cut and where what is left out begins and ends: at which strings begin, and before
    /// which they end.
    #[inline(always)]
    pub(crate) fn edges(&mut self, cuts: u64, (out, out_ends): (u64, u64), count: u32) -> (u64, u64) {
        let behind = out_ends << 1 | u64::from(self.is_out);
        self.is_out = out_ends >> (count - 1) & 1 == 1;
        (cuts & !out, cuts & !behind)
    }

    /// The same of one place.
    #[inline(always)]
    pub(crate) fn edge(&mut self, is_cut: bool, is_out: bool) -> (bool, bool) {
        let was_out = std::mem::replace(&mut self.is_out, is_out);
        (is_cut & !is_out, is_cut & !was_out)
    }
}

impl Default for Several {
    fn default() -> Several {
        let edges: Box<[usize]> = vec![0; MANY + 1 + BLOCK].into();
        let (asked, found) = (Asked::new(MANY), Found::new((0, 0)));
        Several {
            starts: edges.clone(),
            edges,
            count: 0,
            started: 0,
            apart: false,
            asked,
            found,
            bits: Bits::new(),
        }
    }
}

impl Several {
    /// Fewer are looked for one by one.
    const WORTH: usize = 8;

    /// Begins anew, with a string at this byte.
    pub(crate) fn begin(&mut self, at: usize) {
        (self.edges[0], self.count, self.apart) = (at, 0, false);
    }

    /// The same of strings that do not follow one another.
    pub(crate) fn begin_apart(&mut self, at: usize) {
        self.begin(at);
        (self.apart, self.started) = (true, 0);
    }

    /// Begins strings at some of the 64 bytes from `base` on and ends strings at others.
    #[inline(always)]
    pub(crate) fn cut_apart(&mut self, starts: u64, ends: u64, base: usize) {
        let room = self.starts.get_mut(self.started..).and_then(<[usize]>::first_chunk_mut);
        self.started += room.map_or(0, |room| self.bits.places_of(starts, base, room));
        self.cut(ends, base);
    }

    /// Whether the last of those that do not follow one another has no end.
    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        self.started > self.count
    }

    /// More strings that do not follow one another may come, none of which has begun.
    #[inline(always)]
    pub(crate) fn open(&mut self) {
        self.started = self.count;
    }

    /// Ends the last at the end of the text, if all of it is cut; where the first begins that has no end.
    #[inline(always)]
    pub(crate) fn rest(&mut self, length: usize, cut_to: usize) -> usize {
        if self.is_open() && cut_to == length {
            self.put(length);
        }
        if self.is_open() { self.starts[self.count] } else { cut_to }
    }

    /// Adds a string, which may not follow the last one if none have to.
    #[inline(always)]
    pub(crate) fn add(&mut self, start: usize, end: usize) {
        self.starts[self.count] = start;
        self.put(end);
    }

    /// There are none any more.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Ends strings at some of the 64 bytes from `base` on.
    #[inline(always)]
    pub(crate) fn cut(&mut self, bits: u64, base: usize) {
        let room = self.edges.get_mut(self.count + 1..).and_then(<[usize]>::first_chunk_mut);
        self.count += room.map_or(0, |room| self.bits.places_of(bits, base, room));
    }

    /// Ends a string.
    #[inline(always)]
    pub(crate) fn put(&mut self, end: usize) {
        self.count += 1;
        self.edges[self.count] = end;
    }

    /// Whether there is room for half as many as there can be.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.count < MANY / 2
    }

    /// Whether there are enough to look for them together.
    #[inline(always)]
    pub(crate) fn are_many(&self) -> bool {
        self.count >= Several::WORTH
    }

    /// How many there are.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Where one begins and ends.
    #[inline(always)]
    pub(crate) fn span(&self, at: usize) -> (usize, usize) {
        (if self.apart { self.starts[at] } else { self.edges[at] }, self.edges[at + 1])
    }

    /// Where the last ends.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.edges[self.count]
    }

    /// Looks for all of them; how many are not there.
    #[inline]
    pub(crate) fn look(&mut self, text: &[u8], short: &Short, longer: &Longers) -> usize {
        let memory = (short.lines(), longer);
        let starts = if self.apart { &self.starts } else { &self.edges };
        self.asked.ask::<true>(memory, text, (&starts[..self.count], &self.edges[1..=self.count]));
        self.found.clear();
        self.found.look::<true, false>(memory, &self.asked, self.count);
        self.found.missed().len()
    }

    /// Where one that is not there begins and ends, its key and hash if it is short, and how many ids stand before it.
    #[inline(always)]
    pub(crate) fn missed(&self, number: usize) -> (Range<usize>, Option<(Key, u64)>, usize) {
        let missed = self.found.missed()[number];
        let (start, end) = self.span(missed.at.into());
        let key = self.asked.key(missed.at.into());
        (start..end, (end - start <= SHORT).then(|| (key, key.hash())), missed.filled as usize)
    }

    /// How many ids there are.
    #[inline(always)]
    pub(crate) fn filled(&self) -> usize {
        self.found.filled()
    }

    /// Ids from a place on, and some that have no meaning behind them.
    #[inline(always)]
    pub(crate) fn ids(&self, from: usize) -> &[u32] {
        &self.found.ids[from..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::key::{LONGER, Longer};

    /// Words of 1 to 40 letters, every second of which is remembered with as many ids as letters.
    #[test]
    fn what_is_there_is_found_and_the_rest_is_named() {
        let words: Vec<String> = (0..200).map(|at| format!("{at:0width$}", width = 1 + at % 40)).collect();
        let ids_of =
            |at: usize| (0..words[at].len() as u32).map(|id| 100 * at as u32 + id).collect::<Vec<_>>();
        let (mut short, mut longer) = (Short::default(), Longers::default());
        let is_known = |at: usize| at.is_multiple_of(2) && words[at].len() <= LONGER;
        for at in (0..words.len()).filter(|&at| is_known(at)) {
            let text = words[at].as_bytes();
            match Key::new(text) {
                Some(key) => short.insert_new(key, key.hash() as u32, &ids_of(at)),
                None => {
                    let key = Longer::at(text, 0, text.len());
                    longer.insert_new(key, key.hash() as u32, &ids_of(at));
                }
            }
        }
        let text = format!("..{}", words.concat());
        let mut several = Several::default();
        several.begin(2);
        let mut end = 2;
        for (at, word) in words.iter().enumerate() {
            end += word.len();
            if at % 3 == 0 { several.cut(1, end) } else { several.put(end) }
        }
        assert_eq!((several.count(), several.has_room()), (words.len(), true));
        let missed = several.look(text.as_bytes(), &short, &longer);
        let (mut number, mut filled) = (0, 0);
        for (at, word) in words.iter().enumerate() {
            let (start, end) = several.span(at);
            assert_eq!(&text[start..end], word);
            let key = Key::new(word.as_bytes()).map(|key| (key, key.hash()));
            if key.is_some_and(|(key, hash)| short.find(key, hash as u32).is_some()) || is_known(at) {
                assert_eq!(several.ids(filled)[..word.len()], ids_of(at));
                filled += word.len();
            } else {
                assert_eq!(several.missed(number), (start..end, key, filled));
                number += 1;
            }
        }
        assert_eq!((number, filled), (missed, several.filled()));
        several.clear();
        assert_eq!(several.count(), 0);
    }
}
