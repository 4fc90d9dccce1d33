//! Encoding a stretch of text: walking its characters and segments.
//!
//! Leaves out the tables (`letters`, `joins`, `pairs`) and special tokens.

use std::ops::Range;

#[cfg(simd_x86)]
use super::mixed::is_plain;
use super::{
    Charwise, How, MARK,
    alone::STRETCH,
    behind::Behind,
    carry::{Carry, Kept},
    out::{Out, ROOM, RUN},
    pairs,
    shape::Prefix,
    weigh::Weigh,
    work::Work,
};
use crate::encode::{Key, LONG_FAR, SHORT};
use crate::{Error, merge::Merges, normalize::Normalizer};

impl Charwise {
    /// Whether the normalizer has to run before.
    pub(crate) fn rewrites(&self) -> bool {
        self.shape.rewrites
    }

    /// Hands the ids of `text`, which has no special tokens, to `sink`, run by run, which says whether to go on. `first`: it begins all
    /// that is given. `merges` are those that the tables were made of.
    pub(crate) fn encode(
        &self,
        text: &str,
        first: bool,
        merges: &Merges,
        work: &mut Work,
        sink: impl FnMut(&[u32]) -> bool,
    ) -> Result<(), Error> {
        self.encode_behind(text, first, merges, work, sink, None)
    }

    /// The same of text that goes on behind other text; with the score of all in `behind` at the end.
    pub(super) fn encode_behind(
        &self,
        text: &str,
        first: bool,
        merges: &Merges,
        work: &mut Work,
        sink: impl FnMut(&[u32]) -> bool,
        behind: Option<&mut Behind>,
    ) -> Result<(), Error> {
        let mut run = std::mem::take(&mut work.run);
        run.resize(run.len().max(RUN.min(text.len() + 2 * ROOM)), 0);
        let mut out = Out {
            run: &mut run,
            written: 0,
            unknown: self.unknown,
            lacks: false,
            fuses: self.fuses,
            after_unknown: false,
            carry: self.carry(),
            sink,
            stopped: false,
        };
        if let Some(behind) = &behind {
            out.carry = out.carry.map(|carry| carry.at(behind.score, 0));
        }
        let at = match behind.as_ref().and_then(|behind| behind.at) {
            Some(at) => at,
            None => self.prefix(text, first, merges, work, &mut out)?,
        };
        let done = self.walk(text, at, merges, work, &mut out);
        if let Some(behind) = behind {
            behind.score = out.settle();
        }
        let done = out.end(done);
        out.carry = None;
        out.flush();
        work.run = run;
        done
    }

    /// The same for text that is to be normalized first.
    pub(crate) fn rewrite(
        &self,
        text: &str,
        normalizer: &Normalizer,
        merges: &Merges,
        work: &mut Work,
        sink: impl FnMut(&[u32]) -> bool,
    ) -> Result<(), Error> {
        let [mut made, mut spaced] = std::mem::take(&mut work.texts);
        let done = self.normalize(text, normalizer, &mut made, &mut spaced);
        let done = done.and_then(|()| self.encode(&made, false, merges, work, sink));
        work.texts = [made, spaced];
        done
    }

    /// Writes the mark before the text, with what it may merge with; how many bytes of the text that takes.
    fn prefix<F: FnMut(&[u32]) -> bool>(
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
            self.letter(MARK, self.letters.get(MARK), out);
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

    fn walk<F: FnMut(&[u32]) -> bool>(
        &self,
        text: &str,
        mut at: usize,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<(), Error> {
        let bytes = text.as_bytes();
        work.several.clear();
        while at < bytes.len() && !out.stopped {
            let end = self.gather(text, at, work);
            if end == at || !work.several.has_room() {
                self.several(text, merges, work, out)?;
            }
            if end > at {
                at = end;
                continue;
            }
            self.look(out);
            if self.whole_words
                && bytes[at] < 128
                && out.carry.as_ref().is_some_and(|carry| !carry.is_beyond())
            {
                let end = self.ahead(text, at, merges, work, out)?;
                if end > at {
                    at = end;
                    continue;
                }
            }
            #[cfg(simd_x86)]
            if let Some(singles) = &self.singles
                && !self.whole_words
                && !is_plain(&bytes[at..])
                && out.carry.as_ref().is_none_or(|carry| !carry.is_beyond())
            {
                let end = self.mixed(singles, (text, at), merges, work, out)?;
                if end > at {
                    at = end;
                    continue;
                }
            }
            if let (How::Weigh(weigh), Some(carry)) = (&self.how, &out.carry)
                && (carry.is_beyond() || bytes[at] >= 128)
                && let Some(end) = self.word(weigh, text, at, merges, work, out)?
            {
                at = end;
                continue;
            }
            let before = at;
            at = self.alone(text, at, out);
            if at - before >= STRETCH {
                continue;
            }
            let end = self.blocks(text, at, merges, work, out)?;
            if end > at {
                at = end;
                continue;
            }
            if at < bytes.len() {
                let end = self.joins.end(&self.letters, text, at);
                out.make_room();
                self.segment(text, at..end, merges, work, out)?;
                at = end;
            }
        }
        self.several(text, merges, work, out)
    }

    /// Writes the word that begins at byte `at`, or a longer stretch; its end. `None` where characters alone may stand.
    fn word<F: FnMut(&[u32]) -> bool>(
        &self,
        weigh: &Weigh,
        text: &str,
        at: usize,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<Option<usize>, Error> {
        out.make_room();
        let is_beyond = out.carry.as_ref().is_some_and(Carry::is_beyond);
        if !is_beyond && self.is_foreign(text, at) {
            return Ok(None);
        }
        match self.word_end(text, at).filter(|_| !is_beyond) {
            Some(end) => self.segment(text, at..end, merges, work, out).map(|()| Some(end)),
            None => Ok(Some(self.stretch(weigh, text, at, work, out))),
        }
    }

    /// Writes the ids of a segment; there must be room.
    #[inline]
    pub(super) fn segment<F: FnMut(&[u32]) -> bool>(
        &self,
        text: &str,
        range: Range<usize>,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<(), Error> {
        let mut short = None;
        if range.len() <= SHORT {
            let key = Key::at(text.as_bytes(), range.start, range.len());
            let hash = key.hash();
            if let Some((ids, count)) = work.memory.few(key, hash) {
                out.few(ids, count);
                return Ok(());
            }
            short = Some((key, hash));
        }
        self.other_segment(&text[range], short, merges, work, out)
    }

    /// The same for a segment that is long, has many ids or is not where one looks first; `short`: its key and hash, if it is short. There must
    /// be room.
    #[inline(never)]
    pub(super) fn other_segment<F: FnMut(&[u32]) -> bool>(
        &self,
        segment: &str,
        short: Option<(Key, u64)>,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<(), Error> {
        let (asked, mut room) = ((segment.as_bytes(), short), [0; LONG_FAR]);
        if let Some(ids) = work.memory.elsewhere(asked, out.is_near(), &mut room) {
            out.many(ids);
            return Ok(());
        }
        let mut chars = segment.chars();
        if let (Some(char), None) = (chars.next(), chars.next()) {
            let letter = self.letters.get(char);
            self.letter(char, letter, out);
            if letter.is_unknown() {
                if self.knows_unknown() {
                    work.memory.put(segment.as_bytes(), &[self.unknown], false);
                }
            } else if !letter.is_nothing() && (char.is_ascii() || self.knows_scripts) {
                let (ids, count) = self.letters.ids(char);
                work.memory.put(segment.as_bytes(), &ids[..count], false);
            }
            return Ok(());
        }
        if let How::Weigh(weigh) = &self.how
            && self.learn_brief(weigh, (segment, short), work, out)
        {
            return Ok(());
        }
        let kept = self.learn(segment, merges, work, out)?;
        let Work { memory, symbols, .. } = work;
        match (kept, short) {
            (Kept::Never, _) => {}
            (Kept::Always, Some((key, hash))) => memory.put_short(key, hash, symbols),
            _ => memory.put(segment.as_bytes(), symbols, kept == Kept::Near),
        }
        Ok(())
    }

    /// Writes the ids of a segment that is not remembered; whether it may be, if the symbols are its ids.
    fn learn<F: FnMut(&[u32]) -> bool>(
        &self,
        segment: &str,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<Kept, Error> {
        let pairs = match &self.how {
            How::Merge(pairs) => pairs,
            How::Weigh(weigh) => return Ok(self.learn_weighed(weigh, segment, work, out)),
        };
        let Work { symbols, scratch, .. } = work;
        symbols.clear();
        symbols.extend(segment.chars().map(|char| self.letters.get(char).id()));
        if symbols.len() <= pairs::MOST {
            pairs.merge(symbols, scratch);
        } else {
            work.merge(merges)?;
        }
        out.many(&work.symbols);
        Ok(Kept::Always)
    }
}
