//! Ids with the bytes and the piece of each: where text is not rewritten, the bytes of tokens say where they are.
//!
//! Leaves out characters (`located`).

use std::ops::Range;

use super::{memory::FEW, output::Output};

/// Appends to three vectors that are equally long whenever pieces are complete.
pub(crate) struct Spans<'o> {
    pub(crate) ids: &'o mut Vec<u32>,
    pub(crate) spans: &'o mut Vec<[u32; 2]>,
    pub(crate) words: &'o mut Vec<u32>,
    /// id -> bytes.
    pub(crate) widths: &'o [u32],
    /// Where the text given lies in memory.
    pub(crate) origin: usize,
    /// The number of the next piece.
    pub(crate) word: u32,
}

impl Output for Spans<'_> {
    #[inline(always)]
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        self.ids.extend_from_slice(&ids[..count]);
    }

    #[inline]
    fn many(&mut self, ids: &[u32]) {
        self.ids.extend_from_slice(ids);
    }

    fn named(&mut self, id: u32, bytes: Range<usize>) {
        self.ids.push(id);
        self.spans.push([bytes.start as u32, bytes.end as u32]);
        self.words.push(self.word);
        self.word += 1;
    }

    fn pieces(&mut self, text: &[u8], start: usize, ends: &[usize]) {
        let base = text.as_ptr() as usize - self.origin;
        let (mut at, mut rest) = ((base + start) as u32, ends.iter());
        let Some(mut end) = rest.next().map(|end| (base + end) as u32) else { return };
        let done = self.spans.len();
        self.spans.extend(self.ids[done..].iter().map(|&id| {
            let start = at;
            at += self.widths.get(id as usize).copied().unwrap_or(0);
            [start, at]
        }));
        let mut word = self.word;
        self.words.extend(self.spans[done..].iter().map(|&[start, _]| {
            if start >= end {
                end = rest.next().map_or(u32::MAX, |&end| (base + end) as u32);
                word += 1;
            }
            word
        }));
        self.word = word + 1;
        debug_assert!(at == end && rest.next().is_none());
    }
}
