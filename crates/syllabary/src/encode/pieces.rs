//! The pieces of a text to ids, many at a time.

#[cfg(target_arch = "x86_64")]
use super::lanes;
use super::{
    asked::Asked,
    characters::Characters,
    cuts::{Cuts, decode},
    found::{Found, MANY},
    key::{Key, LONGER, Longer, SHORT},
    memory::{FEW, Longers, Short, inner},
    output::Output,
    short::{self, BytePairs},
};
use crate::{
    Error,
    cache::PieceCache,
    merge::{Merges, Rule, Scratch},
    parts::Parts,
    split::Split,
    vocab::Vocab,
};

/// What a tokenizer needs to encode at full speed, besides its vocabulary and merges.
#[derive(Debug)]
pub(crate) struct Fast {
    pub(super) bytes: BytePairs,
    pub(super) cuts: Cuts,
    pub(super) whole_pieces: bool,
    /// Whether many strings are merged at once.
    #[cfg(target_arch = "x86_64")]
    pub(super) lanes: Option<lanes::Able>,
}

/// The memory and buffers of one thread; only ever used with one tokenizer.
#[derive(Debug)]
pub(crate) struct FastWork {
    pub(super) short: Short,
    pub(super) longer: Longers,
    long: PieceCache,
    pub(super) characters: Characters,
    ends: Box<[usize]>,
    pub(super) asked: Asked,
    pub(super) found: Found,
    ids: Vec<u32>,
    pub(super) unknown: Vec<(Key, u32)>,
    scratch: Scratch,
}

impl FastWork {
    /// Of the first thread, which may remember more than others.
    pub(crate) fn new(is_first: bool) -> FastWork {
        let mut short = Short::default();
        if is_first {
            short.allow_more();
        }
        FastWork {
            short,
            longer: Longers::default(),
            long: PieceCache::default(),
            characters: Characters::default(),
            ends: vec![0; MANY].into(),
            asked: Asked::default(),
            found: Found::new(),
            ids: Vec::new(),
            unknown: Vec::new(),
            scratch: Scratch::default(),
        }
    }
}

impl Fast {
    /// `None` where the symbols of a piece are not its bytes.
    pub(crate) fn new(parts: &Parts<'_>, vocab: &Vocab, merges: &Merges) -> Option<Fast> {
        let spelling = &parts.spelling;
        let plain = spelling.end_of_word.is_none()
            && spelling.continuing_prefix.is_none()
            && spelling.byte_tokens.is_empty()
            && parts.scores.is_none();
        let bytes = if plain { BytePairs::new(parts, vocab, merges)? } else { return None };
        Some(Fast {
            bytes,
            cuts: Cuts::new(vocab),
            whole_pieces: parts.whole_pieces,
            #[cfg(target_arch = "x86_64")]
            lanes: lanes::Able::new().filter(|_| matches!(merges.rule(), Rule::Ranked(_))),
        })
    }
}

/// One text on its way.
pub(crate) struct Pieces<'a, O> {
    pub(crate) fast: &'a Fast,
    pub(crate) vocab: &'a Vocab,
    pub(crate) merges: &'a Merges,
    pub(crate) work: &'a mut FastWork,
    pub(crate) out: O,
}

impl<O: Output> Pieces<'_, O> {
    /// Encodes a text, cut by `split`.
    pub(crate) fn text(&mut self, split: &Split, text: &str) -> Result<(), Error> {
        let Some(mut walk) = split.walk(text) else { return self.by_matches(split, text) };
        let mut start = 0;
        loop {
            let mut ends = std::mem::take(&mut self.work.ends);
            let count = walk.fill(&mut ends);
            let done = self.chunk(text.as_bytes(), start, &ends[..count]);
            self.out.pieces(text.as_bytes(), start, &ends[..count]);
            start = ends[..count].last().copied().unwrap_or(start);
            self.work.ends = ends;
            done?;
            if count == 0 {
                return Ok(());
            }
        }
    }

    /// The same where pieces come one by one and may leave out text between them.
    fn by_matches(&mut self, split: &Split, text: &str) -> Result<(), Error> {
        let (mut ends, mut count, mut start, mut last) = ([0; MANY], 0, 0, 0);
        let mut done = Ok(());
        split.pieces(text, &mut |piece| {
            let at = piece.as_ptr() as usize - text.as_ptr() as usize;
            if count == MANY || at != last {
                if done.is_ok() {
                    done = self.chunk(text.as_bytes(), start, &ends[..count]);
                    self.out.pieces(text.as_bytes(), start, &ends[..count]);
                }
                (count, start) = (0, at);
            }
            last = at + piece.len();
            ends[count] = last;
            count += 1;
        })?;
        done?;
        self.chunk(text.as_bytes(), start, &ends[..count])?;
        self.out.pieces(text.as_bytes(), start, &ends[..count]);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn short(&mut self, text: &[u8], span: (usize, usize), key: Key, hash: u32) {
        let Some(slot) = self.work.short.find(key, hash) else { return self.unknown(text, span, key, hash) };
        match slot.few() {
            Some((count, ids)) => self.out.few(ids, count),
            None => self.out.many(self.work.short.many(slot)),
        }
    }

    /// A short string that is not remembered.
    #[cold]
    #[inline(never)]
    fn unknown(&mut self, text: &[u8], (start, end): (usize, usize), key: Key, hash: u32) {
        let is_piece = key.high >> 56 != 0;
        let whole =
            if self.fast.whole_pieces && is_piece { self.vocab.id_at(text, start, end) } else { None };
        let (ids, count) = match whole {
            Some(id) => {
                let mut ids = [0; 16];
                ids[0] = id;
                (ids, 1)
            }
            None if is_piece && !is_ascii(key) => {
                return self.unknown_characters(text, (start, end), key, hash);
            }
            None => short::merge::<16>(&self.fast.bytes, self.merges, text, (start, end)),
        };
        let ids = &ids[..count];
        self.out.many(ids);
        self.work.short.insert(key, hash, ids);
    }

    /// The same for a piece that is not all ASCII: character by character where no token passes.
    fn unknown_characters(&mut self, text: &[u8], (start, end): (usize, usize), key: Key, hash: u32) {
        let Pieces { fast, vocab, merges, .. } = *self;
        let mut ids = std::mem::take(&mut self.work.ids);
        ids.clear();
        let mut inside = Pieces { fast, vocab, merges, work: &mut *self.work, out: &mut ids };
        // Nothing so short is too long to be merged.
        let _ = inside.characters(text, start, end);
        self.out.many(&ids);
        self.work.short.insert(key, hash, &ids);
        self.work.ids = ids;
    }

    /// A string inside a piece, between places where no token passes.
    pub(super) fn inner(&mut self, text: &[u8], start: usize, end: usize) -> Result<(), Error> {
        if end - start >= SHORT {
            self.merge(text, start, end)?;
            self.out.many(&self.work.ids);
            return Ok(());
        }
        let key = inner(Key::at(text, start, end - start));
        self.short(text, (start, end), key, key.hash() as u32);
        Ok(())
    }

    /// A piece of more than `SHORT` and up to `LONGER` bytes.
    #[inline(always)]
    pub(super) fn longer(
        &mut self,
        text: &[u8],
        span: (usize, usize),
        key: Longer,
        hash: u32,
    ) -> Result<(), Error> {
        if self.begins_apart(text, span) {
            return self.characters(text, span.0, span.1);
        }
        let longer = &self.work.longer;
        let Some(slot) = longer.find(key, hash) else { return self.unknown_longer(text, span, key, hash) };
        match slot.few() {
            Some((count, ids)) => self.out.many(&ids[..count]),
            None => self.out.many(longer.many(slot)),
        }
        Ok(())
    }

    /// The same, not remembered.
    #[cold]
    #[inline(never)]
    fn unknown_longer(
        &mut self,
        text: &[u8],
        (start, end): (usize, usize),
        key: Longer,
        hash: u32,
    ) -> Result<(), Error> {
        let Pieces { fast, vocab, merges, .. } = *self;
        let mut ids = std::mem::take(&mut self.work.ids);
        ids.clear();
        let mut inside = Pieces { fast, vocab, merges, work: &mut *self.work, out: &mut ids };
        let done = inside.unknown_long(text, start, end);
        self.out.many(&ids);
        // What falls into characters is looked up by these as soon.
        if done.is_ok() && (text[start..end].is_ascii() || 3 * ids.len() <= end - start) {
            self.work.longer.insert(key, hash, &ids);
        }
        self.work.ids = ids;
        done
    }

    /// Whether no token passes between the first two characters of a piece; then it is no token.
    #[inline(always)]
    fn begins_apart(&self, text: &[u8], (start, end): (usize, usize)) -> bool {
        let (code, width) = decode(text, start);
        let place = start + width;
        if place >= end {
            return false;
        }
        let (after, _) = decode(text, place);
        (code | after) >= 0x80 && self.fast.cuts.safe_between(text, place, (code, after))
    }

    /// A piece of more bytes, or of a script without spaces.
    pub(super) fn long(&mut self, text: &[u8], start: usize, end: usize) -> Result<(), Error> {
        if self.begins_apart(text, (start, end)) {
            return self.characters(text, start, end);
        }
        let piece = &text[start..end];
        if let Some(ids) = self.work.long.get(piece) {
            self.out.many(ids);
            return Ok(());
        }
        self.unknown_long(text, start, end)
    }

    /// The same, not remembered.
    fn unknown_long(&mut self, text: &[u8], start: usize, end: usize) -> Result<(), Error> {
        let piece = &text[start..end];
        if self.fast.whole_pieces
            && let Some(id) = self.vocab.id(piece)
        {
            self.out.few(&[id; FEW], 1);
            return Ok(());
        }
        if !piece.is_ascii() {
            return self.characters(text, start, end);
        }
        let first = self.fast.cuts.next(text, start, end);
        if first == end {
            self.merge(text, start, end)?;
            self.out.many(&self.work.ids);
            if piece.len() > LONGER {
                self.work.long.insert(piece, &self.work.ids);
            }
            return Ok(());
        }
        let (mut from, mut to) = (start, first);
        while from < end {
            self.inner(text, from, to)?;
            from = to;
            to = self.fast.cuts.next(text, from, end);
        }
        Ok(())
    }

    /// Merges a string of any length into `work.ids`.
    fn merge(&mut self, text: &[u8], start: usize, end: usize) -> Result<(), Error> {
        let FastWork { ids, scratch, .. } = &mut *self.work;
        ids.clear();
        if end - start <= short::MOST {
            let (found, count) =
                short::merge::<{ short::MOST }>(&self.fast.bytes, self.merges, text, (start, end));
            ids.extend_from_slice(&found[..count]);
            return Ok(());
        }
        ids.extend(text[start..end].iter().map(|&byte| self.fast.bytes.ids()[usize::from(byte)]));
        self.merges.apply(ids, None, scratch)
    }
}

/// Whether a string has only bytes below 0x80.
fn is_ascii(key: Key) -> bool {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    (key.low | key.high & (u64::MAX >> 8)) & HIGH == 0
}
