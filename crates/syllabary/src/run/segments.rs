//! Text that steps cut, remembered by what stands between places where they surely cut: what such a segment becomes, it
//! becomes wherever it stands.
//!
//! ```text
//! so be it, so be    ->  so| be| it|,| so| be    the last two are looked up; no step sees them
//! ```
//!
//! Places are told by the characters around them: two of ASCII, or any other before a space. Leaves out why they are sure
//! (`pretokenize/apart`), spans, and tokenizers with a faster way.

use std::{ops::Range, sync::OnceLock};

use super::{Job, OFTEN};
use crate::{
    Error,
    aligned::Aligned,
    offsets::Place,
    pretokenize::Pretokenizer,
    split::Split,
    tokenizer::{Tokenizer, Work},
};

/// Characters of ASCII.
const ASCII: usize = 128;
/// Characters that are asked about together.
const PAGE: usize = 1 << 12;
const PAGES: usize = 0x11_0000 / PAGE;

/// Steps look at so many bytes without asking whether to go on.
const SMALL: usize = 1 << 8;

/// Pages of bits for characters beyond ASCII: whether steps cut between it and a space.
type Page = [u64; PAGE / 64];

/// Where steps surely cut.
pub(crate) struct Segments {
    /// By a character a bit for the one behind it.
    rows: Box<[u128; ASCII]>,
    pages: Box<[OnceLock<Box<Page>>]>,
}

impl Segments {
    /// Those of a tokenizer; `None` if its steps are not known to cut before spaces.
    pub(super) fn of(tokenizer: &Tokenizer) -> Option<&Segments> {
        let steps = (&tokenizer.pretokenizer, &tokenizer.split);
        tokenizer.segments.get_or_init(|| Segments::new(steps)).as_ref()
    }

    fn new((steps, split): (&Pretokenizer, &Split)) -> Option<Segments> {
        let mut rows = Box::new([0; ASCII]);
        for (row, before) in rows.iter_mut().zip('\0'..) {
            *row = ('\0'..='\x7F')
                .filter(|&after| steps.cuts(split, before, after))
                .map(|c| 1 << c as u32)
                .sum();
        }
        let pages = (0..PAGES).map(|_| OnceLock::new()).collect();
        (rows[usize::from(b'a')] >> b' ' & 1 != 0).then_some(Segments { rows, pages })
    }

    /// Where the segment ends that begins at a byte of a text.
    #[inline]
    fn end(&self, (steps, split): (&Pretokenizer, &Split), text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let mut at = start;
        while let [before, after, ..] = bytes[at..] {
            at += 1;
            let cuts = match self.rows.get(usize::from(before)) {
                Some(row) => after.is_ascii() && row >> after & 1 != 0,
                None => after == b' ' && self.is_before_space((steps, split), text, at),
            };
            if cuts {
                return at;
            }
        }
        bytes.len()
    }

    /// Whether steps cut between a space and the character beyond ASCII before it, which ends at byte `end`.
    fn is_before_space(&self, (steps, split): (&Pretokenizer, &Split), text: &str, end: usize) -> bool {
        let Some(last) = text[..end].chars().next_back() else { return false };
        let page = self.pages[last as usize / PAGE].get_or_init(|| {
            let first = last as usize / PAGE * PAGE;
            let cuts = |at: usize| {
                let before = u32::try_from(first + at).ok().and_then(char::from_u32);
                before.is_some_and(|before| steps.cuts(split, before, ' '))
            };
            let mut page = Box::new([0; PAGE / 64]);
            (0..PAGE).filter(|&at| cuts(at)).for_each(|at| page[at / 64] |= 1 << (at % 64));
            page
        });
        page[last as usize % PAGE / 64] >> (last as usize % 64) & 1 != 0
    }
}

impl<const SPANS: bool, F: FnMut(&[u32], &[Range<usize>], u32)> Job<'_, SPANS, F> {
    /// Encodes a stretch of normalized text segment by segment.
    pub(super) fn by_segments(&mut self, aligned: &Aligned, segments: &Segments) -> Result<(), Error> {
        let (text, tokenizer) = (aligned.text(), self.tokenizer);
        let (mut at, mut count) = (0, 0_u32);
        while at < text.len() {
            let end = segments.end((&tokenizer.pretokenizer, &tokenizer.split), text, at);
            match self.work.segments.get(&text.as_bytes()[at..end]) {
                Some(ids) => (self.sink)(ids, &[], self.word),
                None => self.learn(&aligned.slice(at..end))?,
            }
            at = end;
            count = count.wrapping_add(1);
            if count.is_multiple_of(OFTEN) {
                self.work.ask.check()?;
            }
        }
        Ok(())
    }

    /// Encodes a segment, and remembers it.
    fn learn(&mut self, segment: &Aligned) -> Result<(), Error> {
        self.learns = true;
        self.work.learned.clear();
        let is_small = segment.len() <= SMALL && self.tokenizer.pretokenizer.cuts_text();
        let done = if is_small { self.in_small(segment.text()) } else { self.by_steps(segment) };
        self.learns = false;
        done?;
        let Work { segments, learned, .. } = &mut *self.work;
        segments.insert(segment.text().as_bytes(), learned);
        Ok(())
    }

    /// Encodes a few characters of normalized text as the steps cut them; where is told by others if something is wrong.
    fn in_small(&mut self, segment: &str) -> Result<(), Error> {
        let mut done = Ok(());
        self.tokenizer.pretokenizer.cut_text(segment, &mut |part| {
            if done.is_ok() {
                done = self.part(part, Place::Text(0));
            }
        })?;
        done
    }

    /// Encodes a stretch of normalized text as the steps cut it.
    pub(super) fn by_steps(&mut self, aligned: &Aligned) -> Result<(), Error> {
        let pretokenizer = &self.tokenizer.pretokenizer;
        let mut count = 0_u32;
        pretokenizer.for_each(vec![aligned.clone()], &mut |part| {
            count = count.wrapping_add(1);
            if count.is_multiple_of(OFTEN) {
                self.work.ask.check()?;
            }
            self.part(part.text(), Place::Made(&part))
        })
    }
}
