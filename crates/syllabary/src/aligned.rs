//! Text with its alignment to the text that it was made from.
//!
//! Adds: `Aligned`, a part of a normalized text, cheap to cut, and `Rewriter`, which makes a new one of it.
//! Leaves out: what is rewritten (`normalize`, `pretokenize`).
//!
//! The rules of alignment are those of `tokenizers` (`tokenizer/normalizer.rs`, `transform_range`): a character
//! that replaces another has its span, an inserted one has the span of the byte before it in the old text.
//!
//! Without tracking no spans are kept, only how many bytes at the beginning come from byte 0 of the original:
//! that decides what `Metaspace` with the scheme `first` does.

use std::{ops::Range, sync::Arc};

use crate::{asking::Ask, error::Error};

/// First and last-but-one byte of the original.
pub type Span = (u32, u32);

/// A normalized text, shared by the parts that it is cut into.
#[derive(Debug)]
struct Whole {
    text: String,
    /// For each byte of `text` its bytes of the original.
    spans: Option<Vec<Span>>,
    /// How many bytes of `text`, from its beginning, start at byte 0 of the original.
    at_zero: usize,
    /// Whether to go on with what is made of a long text.
    ask: Ask,
}

/// Characters between two questions whether to go on.
const OFTEN: usize = 1 << 16;

/// A text and, if it is tracked, for each of its bytes the bytes of the original that it stands for.
#[derive(Debug, Clone)]
pub struct Aligned {
    whole: Arc<Whole>,
    start: usize,
    end: usize,
}

impl Aligned {
    /// `text` as it is, which begins at byte `base` of the original.
    ///
    /// # Errors
    /// `Error::TooLarge` if it is tracked and ends beyond 4 GiB of the original.
    pub fn new(text: &str, base: usize, tracked: bool) -> Result<Aligned, Error> {
        Aligned::asking(text, base, tracked, Ask::default())
    }

    /// The same, which asks now and then whether to go on, as does all that is made of it.
    ///
    /// # Errors
    /// Also `Error::Interrupted`.
    pub(crate) fn asking(text: &str, base: usize, tracked: bool, ask: Ask) -> Result<Aligned, Error> {
        let spans = if tracked { Some(identity(text, base, &ask)?) } else { None };
        let at_zero = if base == 0 { text.chars().next().map_or(0, char::len_utf8) } else { 0 };
        Ok(Aligned::from_parts(text.to_owned(), spans, at_zero, ask))
    }

    /// A text with its spans, of which the first `at_zero` start at byte 0 of the original.
    pub(crate) fn from_parts(text: String, spans: Option<Vec<Span>>, at_zero: usize, ask: Ask) -> Aligned {
        let end = text.len();
        Aligned { whole: Arc::new(Whole { text, spans, at_zero, ask }), start: 0, end }
    }

    /// Whether to go on: what is made of a text after a `false` is unfinished.
    pub(crate) fn ask(&self) -> &Ask {
        &self.whole.ask
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.whole.text[self.start..self.end]
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Whether spans are kept.
    pub fn is_tracked(&self) -> bool {
        self.whole.spans.is_some()
    }

    /// The part at these bytes of the text; both ends must be ends of characters. Takes constant time.
    #[must_use]
    pub fn slice(&self, bytes: Range<usize>) -> Aligned {
        debug_assert!(self.text().is_char_boundary(bytes.start) && self.text().is_char_boundary(bytes.end));
        Aligned {
            whole: Arc::clone(&self.whole),
            start: self.start + bytes.start,
            end: self.start + bytes.end,
        }
    }

    /// The bytes of the original that these bytes of the text stand for: from where the first begins to where
    /// the last ends. Of no bytes: the empty range where they are. If it is not tracked, `0..0`.
    pub fn original(&self, bytes: Range<usize>) -> Range<usize> {
        let Some(spans) = self.spans() else { return 0..0 };
        let first = spans.get(bytes.start).or(spans.last());
        let last = if bytes.is_empty() { None } else { spans.get(bytes.end - 1) };
        match (first, last) {
            (Some(first), Some(last)) => first.0 as usize..last.1 as usize,
            (Some(first), None) => {
                let at = if bytes.start < spans.len() { first.0 } else { first.1 } as usize;
                at..at
            }
            _ => 0..0,
        }
    }

    /// The span of each byte.
    pub fn spans(&self) -> Option<&[Span]> {
        self.whole.spans.as_deref().map(|spans| &spans[self.start..self.end])
    }

    /// How many of its bytes, from its beginning, start at byte 0 of the original.
    pub fn at_zero(&self) -> usize {
        self.whole.at_zero.saturating_sub(self.start).min(self.len())
    }
}

/// Makes a text from others, with alignment: the parts are read from front to back, one after another.
///
/// `tokenizers` gives each new character a change: 0 replaces the next character, 1 is inserted, -N replaces the
/// next and drops N after it. Here: `replace`, `insert`, `skip`; `copy` keeps text as it is.
pub(crate) struct Rewriter<'a> {
    text: String,
    spans: Option<Vec<Span>>,
    at_zero: usize,
    /// Whether all that was written starts at byte 0 of the original.
    all_at_zero: bool,
    from: &'a str,
    from_spans: &'a [Span],
    from_zero: usize,
    /// The byte of `from` that is read next.
    offset: usize,
    ask: Ask,
    /// Bytes written when it is asked next.
    next: usize,
    stopped: bool,
}

impl<'a> Rewriter<'a> {
    /// Rewrites `part`.
    pub(crate) fn new(part: &'a Aligned) -> Rewriter<'a> {
        let size = part.len() + part.len() / 8;
        Rewriter {
            text: String::with_capacity(size),
            spans: part.is_tracked().then(|| Vec::with_capacity(size)),
            at_zero: 0,
            all_at_zero: true,
            from: part.text(),
            from_spans: part.spans().unwrap_or(&[]),
            from_zero: part.at_zero(),
            offset: 0,
            ask: part.ask().clone(),
            next: if part.ask().is_open() { OFTEN } else { usize::MAX },
            stopped: false,
        }
    }

    /// Whether work is to end, what was written being unfinished; to be asked often.
    #[inline]
    pub(crate) fn is_stopped(&mut self) -> bool {
        if self.text.len() >= self.next {
            self.next = self.text.len() + OFTEN;
            self.stopped |= !self.ask.go_on();
        }
        self.stopped
    }

    /// Reads on in `part`, which comes after the one before in the same original.
    pub(crate) fn next_part(&mut self, part: &'a Aligned) {
        self.from = part.text();
        self.from_spans = part.spans().unwrap_or(&[]);
        self.from_zero = part.at_zero();
        self.offset = 0;
    }

    /// The byte of the part that is read next.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> usize {
        self.text.len()
    }

    /// Notes that what is written now has the alignment of byte `at` of the part.
    fn begin(&mut self, at: usize) {
        if self.all_at_zero && at >= self.from_zero {
            self.all_at_zero = false;
            self.at_zero = self.text.len();
        }
    }

    /// Keeps the text up to byte `end` as it is.
    pub(crate) fn copy(&mut self, end: usize) {
        if end == self.offset {
            return;
        }
        self.text.push_str(&self.from[self.offset..end]);
        if self.all_at_zero && end > self.from_zero {
            self.all_at_zero = false;
            self.at_zero = self.text.len() - (end - self.offset.max(self.from_zero));
        }
        if let Some(spans) = &mut self.spans {
            spans.extend_from_slice(&self.from_spans[self.offset..end]);
        }
        self.offset = end;
    }

    /// Leaves the next `bytes` out.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.offset += bytes;
    }

    /// Leaves the next `count` characters out.
    pub(crate) fn skip_chars(&mut self, count: usize) {
        self.offset += self.from[self.offset..].chars().take(count).map(char::len_utf8).sum::<usize>();
    }

    /// Writes `c` for the next character.
    pub(crate) fn replace(&mut self, c: char) {
        let at = self.offset;
        self.offset += self.from[at..].chars().next().map_or(0, char::len_utf8);
        self.write(c, at);
    }

    /// Writes `c` for the next `bytes`, a character or several, with the alignment of the first.
    pub(crate) fn replace_bytes(&mut self, c: char, bytes: usize) {
        let at = self.offset;
        self.offset += bytes;
        self.write(c, at);
    }

    /// Writes `c` as an insertion.
    pub(crate) fn insert(&mut self, c: char) {
        self.write(c, self.offset.saturating_sub(1));
    }

    /// Writes `text` as an insertion.
    pub(crate) fn insert_text(&mut self, text: &str) {
        self.write_text(text, self.offset.saturating_sub(1));
    }

    /// Writes what an iterator of `unicode-normalization-alignments` gives.
    pub(crate) fn change(&mut self, c: char, change: isize) {
        if change > 0 {
            self.insert(c);
        } else {
            self.replace(c);
            if change < 0 {
                self.skip_chars(change.unsigned_abs());
            }
        }
    }

    /// Writes `c` with the alignment of byte `at` of the part.
    pub(crate) fn write(&mut self, c: char, at: usize) {
        self.begin(at);
        self.text.push(c);
        if let Some(spans) = &mut self.spans
            && let Some(span) = self.from_spans.get(at)
        {
            spans.resize(spans.len() + c.len_utf8(), *span);
        }
    }

    /// Writes `text` with the alignment of byte `at` of the part.
    pub(crate) fn write_text(&mut self, text: &str, at: usize) {
        if text.is_empty() {
            return;
        }
        self.begin(at);
        self.text.push_str(text);
        if let Some(spans) = &mut self.spans
            && let Some(span) = self.from_spans.get(at)
        {
            spans.resize(spans.len() + text.len(), *span);
        }
    }

    /// All that was written, as one text.
    pub(crate) fn finish(self) -> Aligned {
        let end = self.text.len();
        let at_zero = if self.all_at_zero { end } else { self.at_zero };
        debug_assert!(self.spans.as_ref().is_none_or(|spans| spans.len() == end));
        Aligned::from_parts(self.text, self.spans, at_zero, self.ask)
    }
}

/// The spans of a text that is its own original, from byte `base` on.
fn identity(text: &str, base: usize, ask: &Ask) -> Result<Vec<Span>, Error> {
    if base.checked_add(text.len()).and_then(|end| u32::try_from(end).ok()).is_none() {
        return Err(Error::TooLarge(format!(
            "the text ends at byte {}, and offsets end at 4 GiB; encode it in parts",
            base.saturating_add(text.len())
        )));
    }
    let mut spans = Vec::with_capacity(text.len());
    let mut at = base as u32;
    let mut chars = text.chars();
    while !chars.as_str().is_empty() {
        ask.check()?;
        for c in chars.by_ref().take(OFTEN) {
            let end = at + c.len_utf8() as u32;
            spans.resize(spans.len() + c.len_utf8(), (at, end));
            at = end;
        }
    }
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracked(text: &str, base: usize) -> Aligned {
        Aligned::new(text, base, true).unwrap()
    }

    #[test]
    fn a_part_knows_where_it_comes_from() {
        let text = tracked("aé b", 10);
        assert_eq!((text.len(), text.is_empty(), text.is_tracked()), (5, false, true));
        assert_eq!(text.original(0..5), 10..15);
        // A character has one span, whichever of its bytes is asked for.
        assert_eq!(text.original(2..3), 11..13);
        assert_eq!(text.original(3..3), 13..13);
        assert_eq!(text.original(5..5), 15..15);
        let part = text.slice(1..4);
        assert_eq!((part.text(), part.original(0..3)), ("é ", 11..14));
        assert_eq!(part.slice(3..3).original(0..0), 0..0);
        assert_eq!(Aligned::new("ab", 3, false).unwrap().original(0..2), 0..0);
    }

    #[test]
    fn rewriting_keeps_spans() {
        let text = tracked("abécd", 0);
        let mut out = Rewriter::new(&text);
        out.insert_text("<>");
        out.replace('X');
        out.skip(1);
        out.change('e', 0);
        out.insert('\u{301}');
        out.change('c', -1);
        let made = out.finish();
        assert_eq!(made.text(), "<>Xe\u{301}c");
        let spans: Vec<_> =
            made.text().char_indices().map(|(at, c)| made.original(at..at + c.len_utf8())).collect();
        assert_eq!(spans, [0..1, 0..1, 0..1, 2..4, 2..4, 4..5]);
        assert_eq!(made.at_zero(), 3);
    }

    #[test]
    fn the_first_byte_is_known_without_spans() {
        for (base, is_tracked) in [(0, false), (0, true), (4, false), (4, true)] {
            let text = Aligned::new("ab c", base, is_tracked).unwrap();
            let (first, second) = (text.slice(0..2), text.slice(3..4));
            let mut out = Rewriter::new(&first);
            out.copy(2);
            out.next_part(&second);
            out.insert_text("__");
            out.copy(1);
            let made = out.finish();
            assert_eq!(made.text(), "ab__c");
            assert_eq!(made.at_zero(), usize::from(base == 0));
            assert_eq!(made.slice(1..5).at_zero(), 0);
        }
    }

    #[test]
    fn offsets_end_at_4_gib() {
        assert!(matches!(Aligned::new("ab", u32::MAX as usize, true), Err(Error::TooLarge(_))));
        assert!(Aligned::new("ab", u32::MAX as usize, false).is_ok());
        assert!(Aligned::new("ab", u32::MAX as usize - 2, true).is_ok());
    }
}
