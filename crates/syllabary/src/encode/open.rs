//! Pieces that the first look did not find: remembered elsewhere, tokens as a whole, merged, or cut.
//!
//! Leaves out how pieces are cut (`inside`), and the order in which all comes out (`chunk`).

use super::{
    asked::{Name, PIECE, key_of},
    cuts::{decode, run_of},
    inside::{Inside, Stop},
    key::{Key, LONG_INNER, LONGER, Longer, SHORT},
    memory::LONG_FAR,
    output::Output,
    pieces::{FastWork, Pieces},
    short,
};
use crate::{Error, merge::MAX_RUNS};

impl<O: Output> Pieces<'_, O> {
    /// Adds a piece to `inside`; gives where to go on, if there was no room for all of it.
    #[inline]
    pub(super) fn open(
        &mut self,
        inside: &mut Inside,
        text: &[u8],
        span: (usize, usize),
        name: Name,
    ) -> Result<Option<usize>, Error> {
        match name {
            Name::Short(key) => {
                let short = &self.work.short;
                let Some(slot) = short.find(key, key.hash() as u32) else {
                    self.unknown(inside, text, span, key);
                    return Ok(None);
                };
                inside.many(short.ids(slot));
                inside.end(false);
            }
            Name::Long(key) => {
                let longer = &self.work.longer;
                let Some(slot) = longer.find(key, key.hash() as u32) else {
                    return self.cut(inside, text, span, true);
                };
                inside.many(longer.ids(slot, &mut [0; LONG_FAR]));
                inside.end(false);
            }
            Name::Apart => return self.cut(inside, text, span, false),
            Name::Mark => inside.end(false),
            Name::None => {
                let Some(ids) = self.work.long.get(&text[span.0..span.1]) else {
                    return self.cut(inside, text, span, false);
                };
                inside.many(ids);
                inside.end(false);
            }
        }
        Ok(None)
    }

    /// A short piece that is not remembered.
    #[cold]
    #[inline(never)]
    fn unknown(&mut self, inside: &mut Inside, text: &[u8], span: (usize, usize), key: Key) {
        let mark = inside.mark();
        let (ids, count) = if let Some(known) = self.learn_plain(text, span, key) {
            known
        } else if inside.cut(&self.fast.cuts, text, (span.0, span.0, span.0), &[span.1]) == Stop::Done {
            return inside.end(true);
        } else {
            inside.back_to(mark);
            self.learn_merged(text, span, key)
        };
        inside.many(&ids[..count]);
        inside.end(false);
    }

    /// The ids of a short piece that is not remembered, and is from now on, if it is a token as a whole or ASCII; or else
    /// it is to be cut.
    #[inline]
    pub(super) fn learn_plain(
        &mut self,
        text: &[u8],
        span: (usize, usize),
        key: Key,
    ) -> Option<([u32; 16], usize)> {
        if self.fast.whole_pieces
            && let Some(id) = self.vocab.short().get(key)
        {
            self.work.short.insert(key, key.hash() as u32, &[id]);
            let mut ids = [0; 16];
            ids[0] = id;
            return Some((ids, 1));
        }
        key.is_ascii().then(|| self.learn_merged(text, span, key))
    }

    /// The ids that it is merged into, remembered from now on.
    fn learn_merged(&mut self, text: &[u8], span: (usize, usize), key: Key) -> ([u32; 16], usize) {
        let (ids, count) = short::merge::<16>(&self.fast.bytes, self.merges, text, span);
        self.work.short.insert(key, key.hash() as u32, &ids[..count]);
        (ids, count)
    }

    /// Cuts a piece.
    fn cut(
        &mut self,
        inside: &mut Inside,
        text: &[u8],
        (start, end): (usize, usize),
        is_new: bool,
    ) -> Result<Option<usize>, Error> {
        let done = self.cut_all(inside, text, (start, start), &[end])?;
        inside.end(is_new && done.is_none());
        Ok(done.map(|(_, from)| from))
    }

    /// Cuts neighbouring pieces, of which the first begins at `begin` and is done up to `from`; gives the piece and place
    /// where to go on, if there was no room for all.
    pub(super) fn cut_all(
        &mut self,
        inside: &mut Inside,
        text: &[u8],
        (mut begin, mut from): (usize, usize),
        ends: &[usize],
    ) -> Result<Option<(usize, usize)>, Error> {
        let mut done = 0;
        while done < ends.len() {
            let at = self.fast.cuts.within_run(&text[..ends[done]], from);
            match inside.cut(&self.fast.cuts, text, (begin, from, at), &ends[done..]) {
                Stop::Done => return Ok(None),
                Stop::Full { piece, from } => return Ok(Some((done + piece, from))),
                Stop::Long { piece, from: start, to, is_whole } => {
                    self.long(inside, text, (start, to), is_whole)?;
                    begin = if piece > 0 { ends[done + piece - 1] } else { begin };
                    done += piece;
                    from = to;
                    if from == ends[done] {
                        begin = from;
                        done += 1;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Adds a string that is too long to be looked up; it may be a whole piece.
    #[cold]
    #[inline(never)]
    fn long(
        &mut self,
        inside: &mut Inside,
        text: &[u8],
        (start, end): (usize, usize),
        is_whole: bool,
    ) -> Result<(), Error> {
        if is_whole
            && self.fast.whole_pieces
            && let Some(id) = self.vocab.id_at(text, start, end)
        {
            inside.many(&[id]);
            return Ok(());
        }
        let key =
            (SHORT..=LONG_INNER).contains(&(end - start)).then(|| Longer::inner(text, start, end - start));
        if let Some(key) = key
            && let mut room = [0; LONG_FAR]
            && let Some(count) = self.work.longer.read::<true>(key, &mut room)
        {
            inside.many(&room[..count]);
            return Ok(());
        }
        self.merge(text, start, end)?;
        let ids = &self.work.ids;
        inside.many(ids);
        match key {
            Some(key) if ids.len() <= LONG_FAR => self.work.longer.insert(key, key.hash() as u32, ids),
            None if is_whole && end - start > LONGER && text[start..end].is_ascii() => {
                self.work.long.insert(&text[start..end], ids);
            }
            _ => {}
        }
        Ok(())
    }

    /// Hands on a string inside pieces that was not found.
    #[cold]
    #[inline(never)]
    pub(super) fn string(&mut self, inside: &mut Inside, text: &[u8], at: usize) {
        let ((start, end), kind, _) = inside.string(at);
        let short = &mut self.work.short;
        let key = key_of(text, (start, end), kind);
        let (code, width) = decode(text, start);
        let is_character = width == end - start;
        if !is_character && let Some(slot) = short.find(key, key.hash() as u32) {
            return self.out.many(short.ids(slot));
        }
        let (mut ids, mut count) = short::merge::<16>(&self.fast.bytes, self.merges, text, (start, end));
        let whole = if self.fast.whole_pieces { self.vocab.id_at(text, start, end) } else { None };
        if is_character {
            inside.characters.insert(code, &ids[..count], whole);
        }
        if kind == PIECE
            && let Some(id) = whole
        {
            (ids[0], count) = (id, 1);
        }
        short.insert_new(key, key.hash() as u32, &ids[..count]);
        self.out.many(&ids[..count]);
    }

    /// Merges a string of any length into `work.ids`.
    fn merge(&mut self, text: &[u8], start: usize, end: usize) -> Result<(), Error> {
        let (ask, FastWork { ids, windows, scratch, .. }) = (self.ask, &mut *self.work);
        ids.clear();
        if end - start <= short::MOST {
            let (found, count) =
                short::merge::<{ short::MOST }>(&self.fast.bytes, self.merges, text, (start, end));
            ids.extend_from_slice(&found[..count]);
            return Ok(());
        }
        let few = runs(&text[start..end]);
        let by_runs = few.and_then(|few| {
            let few = few.map(|(byte, count)| (self.fast.bytes.ids()[usize::from(byte)], count));
            self.merges.apply_to_runs(&few, ids)
        });
        let known = (self.fast, self.vocab, self.merges);
        if by_runs.is_some() || few.is_none() && windows.merge(known, text, (start, end), (ids, ask))? {
            return Ok(());
        }
        ids.clear();
        ids.extend(text[start..end].iter().map(|&byte| self.fast.bytes.ids()[usize::from(byte)]));
        scratch.asking(ask, ids.len(), |scratch| self.merges.apply(ids, None, scratch))
    }
}

/// A string as runs of the same byte, with their lengths, some of which are 0; `None` if it is not a few.
fn runs(string: &[u8]) -> Option<[(u8, usize); MAX_RUNS]> {
    let (mut out, mut rest) = ([(0, 0); MAX_RUNS], string);
    for run in &mut out {
        let Some(&byte) = rest.first() else { break };
        let count = run_of(byte, rest);
        *run = (byte, count);
        rest = &rest[count..];
    }
    rest.is_empty().then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_what_they_were() {
        for lengths in [&[1][..], &[100], &[64, 1, 31, 33, 1000], &[2; MAX_RUNS], &[2; MAX_RUNS + 1]] {
            let string: Vec<u8> = (0u8..).zip(lengths).flat_map(|(n, &length)| vec![n; length]).collect();
            let found = runs(&string);
            assert_eq!(found.is_some(), lengths.len() <= MAX_RUNS);
            let back = found.map(|runs| runs.iter().flat_map(|&(byte, count)| vec![byte; count]).collect());
            assert_eq!(back.unwrap_or(string.clone()), string);
        }
    }
}
