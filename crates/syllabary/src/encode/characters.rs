//! Pieces of text beyond ASCII, character by character.
//!
//! Most characters of most scripts stand in no token beside another one. Such a character has the same ids wherever it
//! stands; they are looked up by its code. What lies between two places where no token passes, and is more than one
//! character, goes through the memory of short strings.

use super::{
    cuts::{CHARACTERS, decode},
    memory::FEW,
    output::Output,
    pieces::Pieces,
    short,
};
use crate::Error;

/// For each character of up to three bytes, its ids alone and, in the last place, their number; 0: not known yet.
#[derive(Debug, Default)]
pub(super) struct Characters(Vec<[u32; FEW]>);

impl<O: Output> Pieces<'_, O> {
    /// Encodes `text[start..end]`, whole characters, between places where no token passes.
    pub(super) fn characters(&mut self, text: &[u8], start: usize, end: usize) -> Result<(), Error> {
        let (mut from, mut at) = (start, start);
        let (mut code, mut width) = decode(text, start);
        loop {
            let next = at + width;
            let (after, after_width) = if next < end { decode(text, next) } else { (0, 0) };
            if next >= end || self.passes_none(text, next, (code, after)) {
                if from == at && code < CHARACTERS {
                    self.character(text, code, (at, next));
                } else {
                    self.inner(text, from, next.min(end))?;
                }
                from = next;
            }
            if next >= end {
                return Ok(());
            }
            (at, code, width) = (next, after, after_width);
        }
    }

    /// Whether no token passes the place `at` between two characters.
    #[inline(always)]
    fn passes_none(&self, text: &[u8], at: usize, codes: (usize, usize)) -> bool {
        if codes.0 | codes.1 < 0x80 {
            self.fast.cuts.safe(text, at)
        } else {
            self.fast.cuts.safe_between(text, at, codes)
        }
    }

    /// One character, alone.
    #[inline(always)]
    fn character(&mut self, text: &[u8], code: usize, span: (usize, usize)) {
        if let Some(ids) = self.work.characters.0.get(code)
            && ids[FEW - 1] != 0
        {
            return self.out.few(ids, ids[FEW - 1] as usize);
        }
        self.new_character(text, code, span);
    }

    #[cold]
    #[inline(never)]
    fn new_character(&mut self, text: &[u8], code: usize, span: (usize, usize)) {
        let (ids, count) = short::merge::<16>(&self.fast.bytes, self.merges, text, span);
        let known = &mut self.work.characters.0;
        if known.is_empty() {
            *known = vec![[0; FEW]; CHARACTERS];
        }
        known[code] = [ids[0], ids[1], ids[2], count as u32];
        self.out.many(&ids[..count]);
    }
}
