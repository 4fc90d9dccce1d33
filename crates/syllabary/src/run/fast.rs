//! Ways through the stages that save work where they give the same: tokens and spans of characters, and pieces whose
//! tokens are remembered with their places.
//!
//! Leaves out the stages themselves (`run`).

use std::ops::Range;

use super::{Failed, Job};
use crate::{
    Error,
    charwise::{Charwise, Stretch},
    dropout::Ways,
    located::Spellings,
    models::Model,
    offsets::Place,
    taken::Taken,
    tokenizer::Work,
    wordwise::Wordwise,
};

/// Tokens of words, where they are in a stretch, and the numbers of their pieces in it.
#[derive(Debug, Default)]
pub(crate) struct Found {
    ids: Vec<u32>,
    spans: Vec<Range<usize>>,
    pieces: Vec<u32>,
    /// Pieces so far.
    count: u32,
}

impl Found {
    fn clear(&mut self) {
        self.ids.clear();
        self.spans.clear();
        self.pieces.clear();
        self.count = 0;
    }

    /// Adds a word that begins at a byte: of each token its id, where it begins and ends, and the number of its piece.
    fn add(&mut self, row: &[u32], start: usize) {
        let count = self.count;
        for &[id, from, to, piece] in row.as_chunks::<4>().0 {
            self.ids.push(id);
            self.spans.push(start + from as usize..start + to as usize);
            self.pieces.push(count + piece);
            self.count = count + piece + 1;
        }
    }
}

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
                return self.replayed(charwise, run, base).map(|()| true);
            }
        }
        match (&tokenizer.wordwise, &tokenizer.model) {
            (Some(wordwise), Some(model)) if !SPANS => {
                let Job { work, sink, .. } = self;
                let Work { wordwise: buffers, ask, .. } = &mut **work;
                let sink = |ids: &[u32]| {
                    sink(ids, &[], 0);
                    ask.go_on()
                };
                wordwise.encode(run, (tokenizer, model), buffers, sink).map(|()| true)
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
        charwise.encode(run, base == 0, &tokenizer.merges, buffers, |new| {
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

    /// Encodes a stretch of words with spans, each as it stands alone: its tokens are remembered with their places in
    /// it. `false`, and nothing is done, if a token stands for nothing in its word (it then has its place beside
    /// something in the text), or a word cannot be encoded.
    pub(super) fn by_words(
        &mut self,
        (wordwise, model): (&Wordwise, &Model),
        run: &str,
        base: usize,
    ) -> Result<bool, Error> {
        let mut words = std::mem::take(&mut self.work.words);
        let mut found = std::mem::take(&mut self.work.located);
        words.clear();
        found.clear();
        let cut = wordwise.words(run, (self.tokenizer, model), &mut self.work.wordwise, &mut words);
        let done = cut.and_then(|()| {
            for word in &words {
                if !self.word_located((wordwise, model), &run[word.clone()], word.start, &mut found)? {
                    return Ok(false);
                }
            }
            Ok(true)
        });
        if let Ok(true) = done {
            let first = self.word.wrapping_add(1);
            let mut at = 0;
            for piece in found.pieces.chunk_by(|one, other| one == other) {
                let tokens = at..at + piece.len();
                at = tokens.end;
                let spans = &mut found.spans[tokens.clone()];
                spans.iter_mut().for_each(|span| *span = base + span.start..base + span.end);
                (self.sink)(&found.ids[tokens], spans, first.wrapping_add(piece[0]));
            }
            self.word = self.word.wrapping_add(found.count);
        }
        (self.work.words, self.work.located) = (words, found);
        done.map_err(|error| Place::Text(base).shift(error))
    }

    /// Adds the tokens of a word that begins at a byte; whether each stands for something in it.
    fn word_located(
        &mut self,
        (wordwise, model): (&Wordwise, &Model),
        word: &str,
        start: usize,
        found: &mut Found,
    ) -> Result<bool, Error> {
        if let Some(row) = self.work.located_words.get(word.as_bytes()) {
            found.add(row, start);
            return Ok(true);
        }
        let (tokenizer, buffers) = (self.tokenizer, &mut self.work.wordwise);
        let row = match wordwise.located(word, (tokenizer, model), buffers)? {
            Some(row) => row,
            None => match self.row(word) {
                Ok(row) => row,
                // Which says where in all of the text.
                Err(_) => return Ok(false),
            },
        };
        if row.iter().any(|[_, start, end, _]| start == end) {
            return Ok(false);
        }
        let flat = row.as_flattened();
        self.work.located_words.insert(word.as_bytes(), flat);
        found.add(flat, start);
        Ok(true)
    }

    /// The tokens of a word by all stages: of each its id, where it begins and ends in the word, and the number of its
    /// piece.
    fn row(&mut self, word: &str) -> Result<Vec<[u32; 4]>, Error> {
        let mut row = Vec::new();
        let sink = |ids: &[u32], spans: &[Range<usize>], piece: u32| {
            row.extend(
                ids.iter().zip(spans).map(|(&id, span)| [id, span.start as u32, span.end as u32, piece]),
            );
        };
        let job = Job::<true, _>::new(self.tokenizer, (word, self.policy), self.coins, self.work, sink);
        let mut job = if self.trims { job } else { job.untrimmed() };
        job.general(0..word.len())?;
        Ok(row)
    }

    /// Puts the tokens that a model makes of a piece into the work buffers, a symbol each; or the ways to cut it,
    /// if several are asked for.
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
        let mut taken = Taken::<SPANS> { work: self.work, at, place, complete: true };
        model.tokens(piece, self.coins, &mut taken);
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
        let Work { ids, tokens, spanned, row, .. } = &mut *self.work;
        row.clear();
        row.extend_from_slice(ids);
        row.extend(tokens.spans.iter().flat_map(|span| [span.start as u32, span.end as u32]));
        spanned.insert(piece.as_bytes(), row);
        tokens.spans.iter_mut().for_each(|span| *span = original(span.start, span.end));
        (self.sink)(ids, &tokens.spans, self.word);
        Ok(())
    }
}
