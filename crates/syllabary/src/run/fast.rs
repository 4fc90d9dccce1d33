//! Ways through the stages that save work where they give the same: tokens and spans of characters, and pieces whose
//! tokens are remembered with their places.
//!
//! Leaves out the stages themselves (`run`), and words with spans (`words`).

use std::ops::Range;

use super::{Failed, Job};
use crate::{
    Error,
    alphabet::Unit,
    charwise::{Charwise, Stretch},
    dropout::Ways,
    located::Spellings,
    models::Model,
    offsets::Place,
    taken::Taken,
    tokenizer::Work,
};

/// It is asked whether to go on behind longer pieces, and within.
const LONG: usize = 1 << 16;

impl<'a, const SPANS: bool, F: FnMut(&[u32], &[Range<usize>], u32)> Job<'a, SPANS, F> {
    /// The same, which notes what stands for the unknown token.
    pub(crate) fn spelling(mut self, spelled: Option<Spellings<'a>>) -> Self {
        self.spelled = spelled;
        self
    }

    /// Encodes a stretch of text without tokens of the first stage by one of these ways, if one gives the same as the
    /// general one; whether it did.
    pub(super) fn fast(&mut self, run: &str, base: usize) -> Result<bool, Error> {
        let tokenizer = self.tokenizer;
        if self.coins.any() || !tokenizer.stages.later(self.policy.finds_special()).is_empty() {
            return Ok(false);
        }
        let keeps_space = !(self.trims && tokenizer.trim.is_some());
        if let Some(charwise) = &tokenizer.charwise {
            if !SPANS && !tokenizer.stages.has_frozen(self.policy.finds_special(), run) {
                return self.characters(charwise, run, base).map(|()| true);
            }
            let merges = tokenizer.scores.is_none() && tokenizer.model.is_none();
            if merges && charwise.replays() && keeps_space {
                return match self.replayed(charwise, run, base) {
                    // The general way says what and where.
                    Err(Error::UnknownSymbol { .. }) => Ok(false),
                    done => done.map(|()| true),
                };
            }
        }
        match (&tokenizer.wordwise, &tokenizer.model) {
            (Some(wordwise), _) if !SPANS => {
                let Job { work, sink, .. } = self;
                let Work { wordwise: buffers, ask, .. } = &mut **work;
                let sink = |ids: &[u32]| {
                    sink(ids, &[], 0);
                    ask.go_on()
                };
                wordwise.encode(run, (tokenizer, ask), buffers.here(), sink).map(|()| true)
            }
            (Some(wordwise), Some(model)) if keeps_space => self.by_words((wordwise, model), run, base),
            _ => Ok(false),
        }
    }

    /// Encodes a stretch of characters.
    pub(super) fn characters(&mut self, charwise: &Charwise, run: &str, base: usize) -> Result<(), Error> {
        let Job { tokenizer, work, sink, .. } = self;
        let Work { charwise: buffers, ask, .. } = &mut **work;
        let sink = |ids: &[u32]| {
            sink(ids, &[], 0);
            ask.go_on()
        };
        let buffers = buffers.here().asking(ask, run);
        if !charwise.rewrites() {
            return charwise.encode(run, base == 0, &tokenizer.merges, buffers, sink);
        }
        let done = charwise.rewrite(run, &tokenizer.normalizer, &tokenizer.merges, buffers, sink);
        done.map_err(|error| Place::Text(base).shift(error))
    }

    /// The same with spans, which the ids say.
    pub(super) fn replayed(&mut self, charwise: &Charwise, run: &str, base: usize) -> Result<(), Error> {
        let Job { tokenizer, work, sink, .. } = self;
        let Work { ids, tokens, charwise: buffers, ask, .. } = &mut **work;
        ids.clear();
        charwise.encode(run, base == 0, &tokenizer.merges, buffers.here().asking(ask, run), |new| {
            ids.extend_from_slice(new);
            ask.go_on()
        })?;
        let stretch = Stretch { text: run, base, widths: tokenizer.widths(), exact: tokenizer.exact };
        let (spans, mut word, mut done) = (&mut tokens.spans, self.word, 0);
        spans.clear();
        charwise.spans(&stretch, ids, |span, begins| {
            if begins {
                sink(&ids[done..done + spans.len()], spans, word);
                word = word.wrapping_add(1);
                done += spans.len();
                spans.clear();
            }
            spans.push(span);
        });
        sink(&ids[done..], spans, word);
        self.word = word;
        Ok(())
    }

    /// A piece that is a token at once; its symbols are those of its unit.
    pub(super) fn put_whole(&mut self, id: u32, piece: &str, at: usize, place: Place<'_>) {
        self.begin();
        self.work.ids.push(id);
        if SPANS {
            self.work.starts.push(0);
            let bytes = self.tokenizer.unit == Unit::Byte;
            let starts = (0..piece.len()).filter(|&start| bytes || piece.is_char_boundary(start));
            self.work.symbols.extend(starts.map(|start| {
                let width = if bytes { 1 } else { piece[start..].chars().next().map_or(1, char::len_utf8) };
                place.original(at + start..at + start + width)
            }));
        }
    }

    /// Puts the tokens that a model makes of a piece into the work buffers, a symbol each, or where white space is
    /// taken off them a symbol for each character; or the ways to cut it, if several are asked for.
    pub(super) fn modelled(
        &mut self,
        model: &Model,
        piece: &str,
        at: usize,
        place: Place<'_>,
    ) -> Result<(), Failed> {
        if let (Ways::Several(count), Model::Unigram(model)) = (self.coins.ways(), model) {
            let several = model.nbest(piece, count);
            let complete = !several.lacks;
            self.work.several.push(several);
            return if complete { Ok(()) } else { Err(Failed::Unknown) };
        }
        let letters = (self.trims && self.tokenizer.trim.is_some()).then_some(piece);
        let mut taken = Taken::<SPANS> { work: self.work, at, place, complete: true, letters };
        model.tokens(piece, self.coins, &mut taken);
        if piece.len() > LONG {
            taken.work.ask.check()?;
        }
        if taken.complete { Ok(()) } else { Err(Failed::Unknown) }
    }

    /// Hands on the tokens of all pieces of a part, of which several unknown ones in a row are one.
    pub(super) fn gathered(&mut self, unknown: u32, place: Place<'_>) -> Result<(), Failed> {
        let Work { ids, starts, .. } = &mut *self.work;
        let mut kept = 0;
        for at in 0..ids.len() {
            if kept > 0 && ids[at] == unknown && ids[kept - 1] == unknown {
                continue;
            }
            ids[kept] = ids[at];
            if SPANS {
                starts[kept] = starts[at];
            }
            kept += 1;
        }
        ids.truncate(kept);
        starts.truncate(kept);
        self.settle(place)?;
        (self.sink)(&self.work.ids, &self.work.tokens.spans, self.word);
        if self.learns.is_some() {
            let Work { ids, learned, .. } = &mut *self.work;
            learned.extend_from_slice(ids);
        }
        Ok(())
    }

    /// Encodes a piece, or has it remembered: its tokens, and where each begins and ends in it.
    pub(super) fn relocated(&mut self, piece: &str, at: usize, place: Place<'_>) -> Result<(), Failed> {
        let original = |start: usize, end: usize| place.original(at + start..at + end);
        if let Some(found) = self.work.spanned.get(piece.as_bytes()) {
            let (ids, places) = found.split_at(found.len() / 3);
            let spans = &mut self.work.tokens.spans;
            spans.clear();
            spans.extend(
                places.as_chunks::<2>().0.iter().map(|&[start, end]| original(start as usize, end as usize)),
            );
            self.spelled.iter_mut().for_each(|spelled| spelled.tokens(piece, ids, places.as_chunks().0));
            (self.sink)(ids, spans, self.word);
            return Ok(());
        }
        self.make(piece, 0, Place::Text(0))?;
        self.settle(Place::Text(0))?;
        let is_long = piece.len() > LONG;
        if is_long {
            self.work.ask.check()?;
        }
        if let Some(spelled) = &mut self.spelled {
            let Work { ids, tokens, .. } = &*self.work;
            let places = tokens.spans.iter().map(|span| [span.start as u32, span.end as u32]);
            spelled.tokens(piece, ids, &places.collect::<Vec<_>>());
        }
        if self.work.tokens.spans.iter().any(Range::is_empty) {
            // What stands for nothing in the piece has its place beside something in the text.
            self.make(piece, at, place)?;
            return self.hand_on(piece, place);
        }
        let Work { ids, tokens, spanned, row, ask, .. } = &mut *self.work;
        if !is_long {
            row.clear();
            row.extend_from_slice(ids);
            row.extend(tokens.spans.iter().flat_map(|span| [span.start as u32, span.end as u32]));
            spanned.insert(piece.as_bytes(), row);
        }
        for block in tokens.spans.chunks_mut(LONG) {
            ask.check()?;
            block.iter_mut().for_each(|span| *span = original(span.start, span.end));
        }
        (self.sink)(ids, &tokens.spans, self.word);
        Ok(())
    }
}
