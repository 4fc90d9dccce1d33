//! Text that steps cut, remembered by what stands between places where they surely cut: what such a segment becomes, it
//! becomes wherever it stands.
//!
//! ```text
//! so be it, so be    ->  so| be| it|,| so| be    the last two are looked up; no step sees them
//! ```
//!
//! Places are told by the characters around them: two of ASCII, or any other before some of it. Leaves out why they are sure
//! (`pretokenize/apart`), spans, and tokenizers with a faster way.

use std::{
    ops::Range,
    sync::{
        OnceLock,
        atomic::{AtomicU16, Ordering},
    },
};

use super::{Job, OFTEN};
use crate::{
    Error,
    aligned::Aligned,
    offsets::{Place, Source},
    pretokenize::Pretokenizer,
    split::Split,
    tokenizer::{Tokenizer, Work},
};

/// Characters of ASCII.
const ASCII: usize = 128;
/// What is asked about behind characters beyond ASCII.
const BEHIND: [u8; 12] = *b" \n.,;:!?)\"'-";
/// Characters that are asked about together.
const PAGE: usize = 1 << 8;
const PAGES: usize = 0x11_0000 / PAGE;

/// A piece of so many bytes less than its segment is not all of it.
const MARKS: usize = 3;

/// Steps look at so many bytes without asking whether to go on.
const SMALL: usize = 1 << 8;

/// For each character a bit for each of `BEHIND`: whether steps cut between them; 0 before it is asked, `ASKED` then.
type Page = [AtomicU16; PAGE];
const ASKED: u16 = 1 << 15;

/// Where steps surely cut.
pub(crate) struct Segments {
    /// By a character a bit for the one behind it.
    rows: Box<[u128; ASCII]>,
    /// By a byte its kind: between characters of one kind is no cut, nor between bytes of characters beyond ASCII.
    kinds: Box<[u8; 256]>,
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
        let kinds = kinds(&rows);
        (rows[usize::from(b'a')] >> b' ' & 1 != 0).then_some(Segments { rows, kinds, pages })
    }

    /// Where the segment ends that begins at a byte of a text.
    #[inline]
    fn end(&self, (steps, split): (&Pretokenizer, &Split), text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let mut at = start;
        while at < bytes.len() {
            let kind = self.kinds[usize::from(bytes[at])];
            at += bytes[at..].iter().take_while(|&&byte| self.kinds[usize::from(byte)] == kind).count();
            let Some(&after) = bytes.get(at) else { break };
            let before = bytes[at - 1];
            let cuts = match self.rows.get(usize::from(before)) {
                Some(row) => after.is_ascii() && row >> after & 1 != 0,
                None => self.cuts_behind((steps, split), text, at),
            };
            // A space goes with what follows it.
            if cuts && (at > start + 1 || before != b' ') {
                return at;
            }
        }
        bytes.len()
    }

    /// Whether steps cut at a byte, behind a character beyond ASCII.
    fn cuts_behind(&self, (steps, split): (&Pretokenizer, &Split), text: &str, at: usize) -> bool {
        let Some(behind) = BEHIND.iter().position(|&byte| byte == text.as_bytes()[at]) else { return false };
        let Some(last) = text[..at].chars().next_back() else { return false };
        let page = self.pages[last as usize / PAGE]
            .get_or_init(|| Box::new(std::array::from_fn(|_| AtomicU16::new(0))));
        let known = &page[last as usize % PAGE];
        let mut bits = known.load(Ordering::Relaxed);
        if bits & ASKED == 0 {
            let bit = |&(_, after): &(usize, &u8)| steps.cuts(split, last, char::from(*after));
            bits = BEHIND.iter().enumerate().filter(bit).fold(ASKED, |bits, (at, _)| bits | 1 << at);
            known.store(bits, Ordering::Relaxed);
        }
        bits >> behind & 1 != 0
    }
}

/// Kinds of bytes: one for all of ASCII that are cut from others alike, and not from each other; one beyond it.
fn kinds(rows: &[u128; ASCII]) -> Box<[u8; 256]> {
    let column = |after: usize| rows.iter().map(move |row| row >> after & 1);
    let alike = |one: usize, other: usize| rows[one] == rows[other] && column(one).eq(column(other));
    let mut kinds = Box::new([u8::MAX; 256]);
    for at in 0..ASCII {
        let cuts_itself = rows[at] >> at & 1 != 0;
        let first = if cuts_itself { None } else { (0..at).find(|&other| alike(other, at)) };
        kinds[at] = first.map_or(at as u8, |first| kinds[first]);
    }
    kinds
}

impl<const SPANS: bool, F: FnMut(&[u32], &[Range<usize>], u32)> Job<'_, SPANS, F> {
    /// Encodes a stretch of normalized text without tokens: what steps make of it, segment by segment if that can be.
    pub(super) fn parts(&mut self, source: &Source<'_>) -> Result<(), Error> {
        let segments = if self.by_segments { Segments::of(self.tokenizer) } else { None };
        match (segments, source) {
            (Some(segments), _) => self.segments(source, segments),
            (None, Source::Text(text, base)) => self.part(text, Place::Text(*base)),
            (None, Source::Made(aligned)) => self.by_steps(aligned),
        }
    }

    fn segments(&mut self, source: &Source<'_>, segments: &Segments) -> Result<(), Error> {
        let (text, tokenizer) = (source.text(), self.tokenizer);
        // What begins so far before is the beginning of the text given, of which several characters may be made.
        let begin = match source {
            Source::Made(aligned) if tokenizer.pretokenizer.asks_where() => aligned.at_zero(),
            _ => 0,
        };
        let (mut at, mut count) = (0, 0_u32);
        while at < text.len() {
            let end = segments.end((&tokenizer.pretokenizer, &tokenizer.split), text, at);
            match self.work.segments.get(&text.as_bytes()[at..end]) {
                Some(ids) if at >= begin => (self.sink)(ids, &[], self.word),
                _ => {
                    let done = self.learn(&source.slice(at..end), at < begin);
                    done.or_else(|error| self.whole(source, error))?;
                }
            }
            at = end;
            count = count.wrapping_add(1);
            if count.is_multiple_of(OFTEN) {
                self.work.ask.check()?;
            }
        }
        Ok(())
    }

    /// The error of a segment, which knows of its own characters alone, as that of all the text, if that has not been made.
    fn whole(&mut self, source: &Source<'_>, error: Error) -> Result<(), Error> {
        match (source, &error) {
            (Source::Text(text, base), Error::UnknownSymbol { .. }) => self.part(text, Place::Text(*base)),
            _ => Ok(()),
        }
        .and(Err(error))
    }

    /// Encodes a segment and remembers it, unless it may be another where it stands.
    fn learn(&mut self, segment: &Source<'_>, differs: bool) -> Result<(), Error> {
        // Longer pieces are all of the segment, but for a mark of their beginning.
        self.learns = if differs { None } else { Some(segment.text().len().saturating_sub(MARKS)) };
        self.work.learned.clear();
        let done = match segment {
            Source::Text(text, base) => self.part(text, Place::Text(*base)),
            Source::Made(aligned) if differs || aligned.len() > SMALL => self.by_steps(aligned),
            Source::Made(aligned) => self.in_small(aligned.text()),
        };
        self.learns = None;
        let Work { segments, learned, .. } = &mut *self.work;
        if done.is_ok() && !differs {
            segments.insert(segment.text().as_bytes(), learned);
        }
        done
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
    fn by_steps(&mut self, aligned: &Aligned) -> Result<(), Error> {
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
