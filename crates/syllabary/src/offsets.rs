//! Spans of tokens: where a part of a text stands in it, and bytes as characters.
//!
//! Leaves out which token has which symbols (`run`).

use std::ops::Range;

use crate::{Error, aligned::Aligned};

/// Where a text that is cut stands in the text given.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// It is the text given from this byte on.
    Text(usize),
    /// It was made from it.
    Made(&'a Aligned),
}

impl Place<'_> {
    /// The bytes of the text given that these bytes stand for; an empty range is one at the end of the byte before.
    #[inline]
    pub(crate) fn original(&self, bytes: Range<usize>) -> Range<usize> {
        match self {
            Place::Text(base) => base + bytes.start..base + bytes.end,
            Place::Made(aligned) if bytes.is_empty() && bytes.start > 0 => {
                let end = aligned.original(bytes.start - 1..bytes.start).end;
                end..end
            }
            Place::Made(aligned) => aligned.original(bytes),
        }
    }

    /// Whether spans are those of the very bytes.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self, Place::Text(_))
    }

    /// An error of the split, which saw a part, as one of the text given.
    pub(crate) fn shift(&self, error: Error) -> Error {
        match error {
            Error::SplitFailed { offset, reason } => {
                let offset = match self {
                    Place::Text(base) => base + offset,
                    Place::Made(aligned) => aligned.original(offset.min(aligned.len())..aligned.len()).start,
                };
                Error::SplitFailed { offset, reason }
            }
            other => other,
        }
    }
}

/// A stretch of text, as given or as steps made it.
pub(crate) enum Source<'s> {
    Text(&'s str, usize),
    Made(Aligned),
}

impl Source<'_> {
    pub(crate) fn text(&self) -> &str {
        match self {
            Source::Text(text, _) => text,
            Source::Made(aligned) => aligned.text(),
        }
    }

    pub(crate) fn slice(&self, bytes: Range<usize>) -> Source<'_> {
        match self {
            Source::Text(text, base) => Source::Text(&text[bytes.clone()], base + bytes.start),
            Source::Made(aligned) => Source::Made(aligned.slice(bytes)),
        }
    }

    pub(crate) fn place(&self) -> Place<'_> {
        match self {
            Source::Text(_, base) => Place::Text(*base),
            Source::Made(aligned) => Place::Made(aligned),
        }
    }
}

/// Turns byte spans of `text` into character spans: from the character that holds the first byte to one
/// past the character that holds the last; an empty span becomes an empty one.
///
/// Fastest for spans that follow each other closely, as those of tokens do, or are equal, as those of the bytes that
/// an unknown text is spelled with.
pub fn to_characters(text: &str, spans: &mut [Range<usize>]) {
    let bytes = text.as_bytes();
    let is_start = |at: usize| bytes.get(at).is_none_or(|&byte| byte & 0xC0 != 0x80);
    let starts = |range: Range<usize>| range.filter(|&at| is_start(at)).count();
    // `index` is the number of characters that begin in `..at`.
    let (mut at, mut index) = (0, 0);
    let (mut before, mut made) = (0..0, 0..0);
    for span in spans {
        if *span == before {
            *span = made.clone();
            continue;
        }
        before = span.clone();
        if span.start >= at {
            index += starts(at..span.start);
        } else {
            index -= starts(span.start..at);
        }
        at = span.start;
        let first = if is_start(at) { index } else { index - 1 };
        let last = index + starts(span.clone());
        made = if span.start >= span.end { first..first } else { first..last };
        *span = made.clone();
    }
}
