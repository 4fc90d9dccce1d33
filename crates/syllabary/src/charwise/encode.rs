//! Encoding a stretch of text: walking its characters and segments.
//!
//! Leaves out the tables (`letters`, `joins`, `pairs`) and special tokens.

use super::{
    Charwise, MARK,
    letters::Stand,
    memory::{Found, Key, LONG, Memory, SHORT},
    pairs,
    shape::Prefix,
};
use crate::{
    Error,
    alphabet::{VIRTUAL, virtual_char},
    merge::{self, Merges},
};

/// Ids are handed on in runs of about so many.
const RUN: usize = 4096;
/// No more than these are written at once.
const ROOM: usize = 8;

/// Buffers that one thread reuses from text to text.
#[derive(Debug, Default)]
pub(crate) struct Work {
    memory: Memory,
    symbols: Vec<u32>,
    ids: Vec<u32>,
    run: Vec<u32>,
    first: String,
    scratch: pairs::Scratch,
    long: merge::Scratch,
}

/// Ids on their way out; several unknown ones in a row are one, if that is wanted.
struct Out<'a, F> {
    run: &'a mut [u32],
    written: usize,
    unknown: u32,
    /// Unknown tokens are made one.
    fuses: bool,
    after_unknown: bool,
    sink: F,
}

impl<F: FnMut(&[u32])> Out<'_, F> {
    #[inline]
    fn make_room(&mut self) {
        if self.written + ROOM > self.run.len() {
            self.flush();
        }
    }

    #[inline(never)]
    fn flush(&mut self) {
        (self.sink)(&self.run[..self.written]);
        self.written = 0;
    }

    /// Writes the first `count` of these; there must be room.
    #[inline]
    fn few(&mut self, ids: &[u32; 4], count: usize) {
        if self.fuses {
            return self.many(&ids[..count]);
        }
        self.run[self.written..self.written + 4].copy_from_slice(ids);
        self.written += count;
    }

    #[inline]
    fn one(&mut self, id: u32) {
        self.run[self.written] = id;
        self.written += 1;
        self.after_unknown = false;
    }

    fn unknown(&mut self) {
        if self.fuses && self.after_unknown {
            return;
        }
        self.one(self.unknown);
        self.after_unknown = true;
    }

    /// Writes the ids of a segment, as many as they are.
    fn many(&mut self, mut ids: &[u32]) {
        if self.fuses && self.after_unknown && ids.first() == Some(&self.unknown) {
            ids = &ids[1..];
        }
        let Some(&last) = ids.last() else { return };
        if self.written + ids.len() + ROOM > self.run.len() {
            self.flush();
        }
        match self.run.get_mut(self.written..self.written + ids.len()) {
            Some(place) => {
                place.copy_from_slice(ids);
                self.written += ids.len();
            }
            None => (self.sink)(ids),
        }
        self.after_unknown = last == self.unknown;
    }
}

impl Charwise {
    /// Whether the normalizer has to run before.
    pub(crate) fn rewrites(&self) -> bool {
        self.shape.rewrites
    }

    /// Hands the ids of `text`, which has no special tokens, to `sink`, run by run. `first`: it begins all that is
    /// given. `merges` are those that the tables were made of.
    pub(crate) fn encode(
        &self,
        text: &str,
        first: bool,
        merges: &Merges,
        work: &mut Work,
        sink: impl FnMut(&[u32]),
    ) -> Result<(), Error> {
        let mut run = std::mem::take(&mut work.run);
        run.resize(RUN.min(text.len() + 2 * ROOM), 0);
        let mut out = Out {
            run: &mut run,
            written: 0,
            unknown: self.unknown,
            fuses: self.fuses,
            after_unknown: false,
            sink,
        };
        let at = self.prefix(text, first, merges, work, &mut out)?;
        let done = self.walk(text, at, merges, work, &mut out);
        out.flush();
        work.run = run;
        done
    }

    /// Writes the mark before the text, with what it may merge with; how many bytes of the text that takes.
    fn prefix<F: FnMut(&[u32])>(
        &self,
        text: &str,
        first: bool,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<usize, Error> {
        let wanted = match self.shape.prefix {
            Prefix::Never => false,
            Prefix::Always => true,
            Prefix::First => first,
        };
        let Some(next) = text.chars().next().filter(|_| wanted) else { return Ok(0) };
        if self.shape.unless_marked && [' ', MARK].contains(&next) {
            return Ok(0);
        }
        if self.joins.cuts(&self.letters, MARK, next) {
            self.letter(MARK, out);
            return Ok(0);
        }
        let end = self.joins.end(&self.letters, text, 0);
        let mut segment = std::mem::take(&mut work.first);
        segment.clear();
        segment.push(MARK);
        segment.push_str(&text[..end]);
        let done = self.segment(&segment, 0..segment.len(), merges, work, out);
        work.first = segment;
        done.map(|()| end)
    }

    fn walk<F: FnMut(&[u32])>(
        &self,
        text: &str,
        mut at: usize,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<(), Error> {
        let bytes = text.as_bytes();
        while let Some(&byte) = bytes.get(at) {
            out.make_room();
            if byte >= 128 {
                let Some(char) = text[at..].chars().next() else { break };
                let letter = self.letters.get(char);
                if letter.is_alone() {
                    self.letter(char, out);
                    at += char.len_utf8();
                    continue;
                }
            }
            let end = self.joins.end(&self.letters, text, at);
            self.segment(text, at..end, merges, work, out)?;
            at = end;
        }
        Ok(())
    }

    /// Writes what stands for a character alone; there must be room.
    #[inline]
    fn letter<F: FnMut(&[u32])>(&self, char: char, out: &mut Out<'_, F>) {
        match self.letters.get(char).stand() {
            Stand::Token(id) => out.one(id),
            Stand::Bytes => {
                let (ids, count) = self.letters.byte_ids(char);
                out.few(&ids, count);
            }
            Stand::Unknown => out.unknown(),
        }
    }

    /// Writes the ids of a segment.
    #[inline]
    fn segment<F: FnMut(&[u32])>(
        &self,
        text: &str,
        range: std::ops::Range<usize>,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<(), Error> {
        let length = range.len();
        if length <= 4
            && let Some(char) = text[range.clone()].chars().next().filter(|char| char.len_utf8() == length)
        {
            self.letter(char, out);
            return Ok(());
        }
        if length <= SHORT {
            let key = Key::new(text.as_bytes(), range.start, length);
            match work.memory.short(key) {
                Some(Found::Few(ids, count)) => out.few(ids, count),
                Some(Found::Many(ids)) => out.many(ids),
                None => {
                    self.merge(&text[range], merges, work)?;
                    work.memory.put_short(key, &work.ids);
                    out.many(&work.ids);
                }
            }
            return Ok(());
        }
        let segment = &text[range];
        if length <= LONG
            && let Some(ids) = work.memory.long(segment.as_bytes())
        {
            out.many(ids);
            return Ok(());
        }
        self.merge(segment, merges, work)?;
        if length <= LONG {
            work.memory.put_long(segment.as_bytes(), &work.ids);
        }
        out.many(&work.ids);
        Ok(())
    }

    /// Makes the ids of a segment, in `work.ids`.
    #[inline(never)]
    fn merge(&self, segment: &str, merges: &Merges, work: &mut Work) -> Result<(), Error> {
        let Work { symbols, ids, scratch, long, .. } = work;
        symbols.clear();
        symbols.extend(segment.chars().map(|char| {
            let char = self.letters.canonical(char);
            self.letters.get(char).symbol(char)
        }));
        if symbols.len() <= pairs::MOST {
            self.pairs.merge(symbols, scratch);
        } else {
            merges.apply(symbols, None, long)?;
        }
        ids.clear();
        let mut after_unknown = false;
        for &symbol in symbols.iter() {
            let char = if symbol < VIRTUAL { None } else { virtual_char(symbol) };
            let Some(char) = char else {
                ids.push(symbol);
                after_unknown = false;
                continue;
            };
            if self.letters.get(char).stand() == Stand::Bytes {
                let (bytes, count) = self.letters.byte_ids(char);
                ids.extend_from_slice(&bytes[..count]);
                after_unknown = false;
            } else if !(after_unknown && self.fuses) {
                ids.push(self.unknown);
                after_unknown = true;
            }
        }
        Ok(())
    }
}
