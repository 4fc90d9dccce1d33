//! The bytes way, from a text or the texts of a batch to the pieces that `encode` takes: cut at special tokens, long
//! stretches in blocks, short ones side by side.
//!
//! Leaves out dropout and the ways of other tokenizers (`tokenizer`), and threads (`batch`).

use std::ops::Range;

use crate::{
    Error,
    asking::{Ask, LONG},
    batch::{Ragged, Text},
    encode::{ALONE, Count, Counts, Fast, FastWork, Ids, Output, Pieces, Texts},
    fetch,
    matching::Finder,
    split::{Split, floor},
    tokenizer::{SpecialPolicy, Tokenizer, Work},
    utf8::Buffer,
};

/// Between so many bytes of a long text it is asked whether to go on.
const BLOCK: usize = if cfg!(test) { 1 << 6 } else { LONG };

/// In a text of less bytes that is alone, new pieces wait for no others.
const ENOUGH: usize = if cfg!(test) { 1 << 6 } else { 1 << 13 };

/// A larger buffer for normalized text is not kept.
const KEPT: usize = 1 << 20;

/// So many bytes are copied to write a space before them, where the text can be cut.
const PREFIXED: usize = if cfg!(test) { 1 << 6 } else { 1 << 14 };

/// Short texts so many before their turn are asked for.
const SHORT_AHEAD: usize = 16;

/// Once in so many parts of a text too.
const OFTEN: u32 = 1 << 12;

/// Hands on a token found in the text.
fn name<const JOINED: bool, O: Output>(
    pieces: &mut Pieces<'_, O>,
    id: u32,
    bytes: Range<usize>,
) -> Result<(), Error> {
    if JOINED {
        return pieces.mark(Some(id));
    }
    pieces.settle()?;
    pieces.out.named(id, bytes);
    Ok(())
}

impl Tokenizer {
    /// Appends the ids of the texts of a batch and where those of each end, if texts side by side can be encoded; whether
    /// it did. It does not where something is wrong with one of them.
    pub(crate) fn encode_texts<T: Text>(
        &self,
        texts: (&[T], SpecialPolicy<'_>),
        (work, read): (&mut Work, &mut Buffer),
        made: &mut Ragged,
    ) -> Result<bool, Error> {
        let before = (made.ids.len(), made.offsets.len());
        let mut buffer = work.buffer.take().unwrap_or_default();
        let mut out = Texts { ids: Ids::new(&mut made.ids, &mut buffer), ends: &mut made.offsets };
        let done = self.side_by_side(texts, work, read, &mut out);
        out.ids.finish();
        work.buffer = Some(buffer);
        if done != Ok(true) {
            made.ids.truncate(before.0);
            made.offsets.truncate(before.1);
        }
        done
    }

    /// The same with the number of ids up to the end of each text; what was in `ends` is overwritten.
    pub(crate) fn count_texts<T: Text>(
        &self,
        texts: (&[T], SpecialPolicy<'_>),
        (work, read): (&mut Work, &mut Buffer),
        ends: &mut Vec<usize>,
    ) -> Result<bool, Error> {
        ends.clear();
        self.side_by_side(texts, work, read, &mut Counts { count: Count::default(), ends })
    }

    /// The split of a stretch, or of its parts, if steps cut it before.
    fn all_cuts(&self) -> &Split {
        self.one_split.as_ref().unwrap_or(&self.split)
    }

    /// Whether no step cuts a stretch before `all_cuts` does.
    fn cuts_at_once(&self) -> bool {
        self.pretokenizer.is_empty() || self.one_split.is_some() || self.pretokenizer.prefixes_space()
    }

    fn side_by_side<T: Text>(
        &self,
        (texts, policy): (&[T], SpecialPolicy<'_>),
        work: &mut Work,
        read: &mut Buffer,
        out: &mut impl Output,
    ) -> Result<bool, Error> {
        let Some(fast) = self.fast.as_ref().filter(|_| texts.len() > 1 && self.all_cuts().walk("").is_some())
        else {
            return Ok(false);
        };
        let mut each = || {
            for (at, text) in texts.iter().enumerate() {
                match texts.get(at + 1) {
                    Some(next) if next.size() > ALONE => {
                        work.fast().0.ahead.begin(next.place(), next.size());
                    }
                    _ => texts.get(at + SHORT_AHEAD).into_iter().for_each(|later| {
                        fetch::all(later.place(), later.size().min(ALONE));
                    }),
                }
                if self.by_parts(text, policy).is_some() {
                    self.cut_parts::<true, T>((fast, policy), text, (work, read), &mut *out)?;
                } else {
                    self.cut::<true>(fast, (text.read(read)?, policy), work.fast(), &mut *out)?;
                }
                self.pieces(fast, work.fast(), &mut *out).mark(None)?;
            }
            let mut pieces = self.pieces(fast, work.fast(), &mut *out);
            pieces.chunk_joined()?;
            pieces.settle()
        };
        match each() {
            Ok(()) => Ok(true),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(_) => {
                work.fast().0.forget_held();
                Ok(false)
            }
        }
    }

    pub(crate) fn pieces<'a, O: Output>(
        &'a self,
        fast: &'a Fast,
        (work, ask): (&'a mut FastWork, &'a Ask),
        out: O,
    ) -> Pieces<'a, O> {
        let waits = O::LATER;
        Pieces { fast, vocab: &self.vocab, merges: &self.merges, work, out, ask, waits }
    }

    /// Cuts `text` at special tokens and hands the ids of each and of what is between them to `out`.
    pub(crate) fn plain(
        &self,
        fast: &Fast,
        text: (&str, SpecialPolicy<'_>),
        (work, ask): (&mut FastWork, &Ask),
        out: &mut impl Output,
    ) -> Result<(), Error> {
        if self.cuts_at_once() {
            self.cut::<false>(fast, text, (work, ask), out)?;
            return self.pieces(fast, (work, ask), out).settle();
        }
        // Its parts are short texts side by side.
        self.cut::<true>(fast, text, (work, ask), out)?;
        let mut pieces = self.pieces(fast, (work, ask), out);
        pieces.chunk_joined()?;
        pieces.settle()
    }

    /// Those of the text given, and of the text normalized.
    pub(crate) fn finders(&self, policy: SpecialPolicy<'_>) -> [&Finder; 2] {
        let with_special = policy.finds_special();
        [self.stages.first(with_special), self.stages.later(with_special)]
    }

    /// The same; what is `JOINED`, or new, may wait for what comes after it.
    pub(crate) fn cut<const JOINED: bool>(
        &self,
        fast: &Fast,
        (text, policy): (&str, SpecialPolicy<'_>),
        work: (&mut FastWork, &Ask),
        out: &mut impl Output,
    ) -> Result<(), Error> {
        let mut pieces = self.pieces(fast, work, out);
        pieces.waits &= JOINED || text.len() > ENOUGH;
        let [first, later] = self.finders(policy);
        let found = first.find(text);
        found.iter().try_for_each(|found| policy.check(first.token(found), found.start))?;
        let mut done = 0;
        for end in found.iter().map(Some).chain([None]) {
            let run = done..end.map_or(text.len(), |found| found.start);
            self.run::<JOINED, _>(&mut pieces, (&text[run.clone()], run.start), policy, later)?;
            if let Some(found) = end {
                name::<JOINED, _>(&mut pieces, found.id, found.start..found.end)?;
                done = found.end;
            }
        }
        Ok(())
    }

    /// Encodes what stands between tokens of the first stage, and begins at a byte; where it is normalized, places are none.
    fn run<const JOINED: bool, O: Output>(
        &self,
        pieces: &mut Pieces<'_, O>,
        (run, base): (&str, usize),
        policy: SpecialPolicy<'_>,
        later: &Finder,
    ) -> Result<(), Error> {
        let mut made = String::new();
        let mut run = run;
        if !self.exact && !O::PLACED && !run.is_empty() && !self.normalizer.keeps(run) {
            made = std::mem::take(&mut pieces.work.normalized);
            made.clear();
            self.normalizer.write_asking(run, base, pieces.ask, &mut made)?;
            run = &made;
        }
        let mut at = 0;
        for found in later.find(run) {
            policy.check(later.token(&found), base + found.start)?;
            self.parts::<JOINED, _>(pieces, &run[at..found.start])?;
            name::<JOINED, _>(pieces, found.id, base + found.start..base + found.end)?;
            at = found.end;
        }
        self.parts::<JOINED, _>(pieces, &run[at..])?;
        if (1..=KEPT).contains(&made.capacity()) {
            pieces.work.normalized = made;
        }
        Ok(())
    }

    /// Encodes a stretch without special tokens, part by part where steps cut it before the split does.
    fn parts<const JOINED: bool, O: Output>(
        &self,
        pieces: &mut Pieces<'_, O>,
        text: &str,
    ) -> Result<(), Error> {
        if self.pretokenizer.prefixes_space() && !text.is_empty() && !text.starts_with(' ') {
            return self.prefixed::<JOINED, _>(pieces, text);
        }
        if self.cuts_at_once() {
            return self.stretch::<JOINED, _>(pieces, text);
        }
        let (mut done, mut count) = (Ok(()), 0_u32);
        self.pretokenizer.cut_text(text, &mut |part| {
            count = count.wrapping_add(1);
            if done.is_ok() && count.is_multiple_of(OFTEN) {
                done = pieces.ask.check();
            }
            if done.is_ok() {
                done = self.stretch::<JOINED, _>(pieces, part);
            }
        })?;
        done
    }

    /// Encodes a stretch without special tokens, with a space before it; of a long one only its beginning is copied.
    fn prefixed<const JOINED: bool, O: Output>(
        &self,
        pieces: &mut Pieces<'_, O>,
        text: &str,
    ) -> Result<(), Error> {
        let begin = floor(text, PREFIXED);
        let cut = if begin < text.len() { self.all_cuts().last_safe_cut(&text[..begin]) } else { None };
        let (begin, rest) = text.split_at(cut.unwrap_or(text.len()));
        let mut made = std::mem::take(&mut pieces.work.prefixed);
        made.clear();
        made.push(' ');
        made.push_str(begin);
        self.stretch::<JOINED, _>(pieces, &made)?;
        if made.capacity() <= KEPT {
            pieces.work.prefixed = made;
        }
        if rest.is_empty() { Ok(()) } else { self.stretch::<JOINED, _>(pieces, rest) }
    }

    /// Encodes a stretch without special tokens; a short one of a batch waits for those after it.
    fn stretch<const JOINED: bool, O: Output>(
        &self,
        pieces: &mut Pieces<'_, O>,
        text: &str,
    ) -> Result<(), Error> {
        if JOINED && text.len() <= ALONE {
            return pieces.join(self.all_cuts(), text);
        }
        if JOINED {
            pieces.chunk_joined()?;
        }
        self.blocks(pieces, text)
    }

    /// Encodes a stretch without special tokens: a long one block by block, cut where its split cuts whatever follows.
    fn blocks<O: Output>(&self, pieces: &mut Pieces<'_, O>, text: &str) -> Result<(), Error> {
        let ask = pieces.ask;
        let (mut rest, mut seen) = (text, 0);
        while rest.len() > seen + BLOCK && ask.is_open() {
            let end = floor(rest, seen + BLOCK);
            match self.all_cuts().last_safe_cut(&rest[seen..end]) {
                Some(cut) => {
                    let block;
                    (block, rest) = rest.split_at(seen + cut);
                    pieces.text(self.all_cuts(), block)?;
                    seen = 0;
                }
                // Where there is no such place for long, it is looked for from the last character on.
                None => seen = floor(rest, end - 1),
            }
            ask.check()?;
        }
        pieces.text(self.all_cuts(), rest)
    }
}
