//! The stages of encoding one text: cut at tokens, normalize, cut, spell, merge.
//!
//! Leaves out how tokens are found (`matching`), why a piece cannot be encoded (`unknown`) and what becomes of the
//! ids (`tokenizer`).

mod behind;
mod fast;
mod named;
mod segments;
mod words;

pub(crate) use segments::Segments;
pub(crate) use words::Words;

use std::ops::Range;

use crate::{
    Error,
    aligned::Aligned,
    boundary,
    dropout::Coins,
    located::Spellings,
    merge::PassedOver,
    models::Model,
    offsets::{Place, Source},
    scores::{FIXED, Merged, WALL},
    taken::Spelled,
    tokenizer::{SpecialPolicy, Tokenizer, Work},
};

/// Once in so many pieces it is asked whether to go on.
const OFTEN: u32 = 1 << 12;
/// Tokens likewise, where each is little work.
const MANY: usize = 1 << 16;

/// Why a piece cannot be encoded.
enum Failed {
    /// It has symbols without an id; `unknown` finds out which.
    Unknown,
    /// Anything else.
    Other(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Other(error)
    }
}

/// One text on its way through the stages; ids, spans and the number of their piece are handed to `sink`.
pub(crate) struct Job<'a, const SPANS: bool, F> {
    tokenizer: &'a Tokenizer,
    text: &'a str,
    policy: SpecialPolicy<'a>,
    coins: &'a mut Coins,
    work: &'a mut Work,
    sink: F,
    /// Merging by scores of a whole run at once.
    weaves: bool,
    joins: bool,
    /// Pieces of a part become tokens together, as several unknown ones are this one.
    fused: Option<u32>,
    remembers: bool,
    /// What stands between places where steps surely cut is remembered: tokens of one part alone become one.
    by_segments: bool,
    /// What is handed on belongs to a segment that shall be remembered; pieces of so many bytes are not, by themselves.
    learns: Option<usize>,
    /// Pieces are remembered with where their tokens are in them.
    relocates: bool,
    boundary: Option<char>,
    /// Spans leave out what the tokenizer says.
    trims: bool,
    /// The number of the piece at work; where pieces are taken together, of all of them.
    word: u32,
    spelled: Option<Spellings<'a>>,
}

impl<'a, const SPANS: bool, F: FnMut(&[u32], &[Range<usize>], u32)> Job<'a, SPANS, F> {
    pub(crate) fn new(
        tokenizer: &'a Tokenizer,
        (text, policy): (&'a str, SpecialPolicy<'a>),
        coins: &'a mut Coins,
        work: &'a mut Work,
        sink: F,
    ) -> Self {
        let drops = coins.any();
        let weaves = tokenizer.scores.is_some() && (tokenizer.joins || drops);
        let joins = tokenizer.joins || weaves;
        let fused = tokenizer.model.as_ref().and_then(Model::fused);
        let alone = !joins && fused.is_none();
        Job {
            tokenizer,
            text,
            policy,
            coins,
            work,
            sink,
            weaves,
            joins,
            fused,
            remembers: !SPANS && alone && !drops,
            by_segments: !SPANS && !joins && !drops && (fused.is_none() || tokenizer.split.kind() == "none"),
            learns: None,
            boundary: tokenizer.boundary.filter(|_| !joins && !drops),
            relocates: SPANS && alone && !drops && tokenizer.scores.is_none() && tokenizer.trim.is_none(),
            trims: true,
            word: u32::MAX,
            spelled: None,
        }
    }

    /// The same, whose spans keep their white space.
    pub(crate) fn untrimmed(mut self) -> Self {
        let alone = !self.joins && self.fused.is_none();
        self.relocates = SPANS && alone && !self.coins.any() && self.tokenizer.scores.is_none();
        self.trims = false;
        self
    }

    /// Encodes the whole text.
    pub(crate) fn all(mut self) -> Result<(), Error> {
        self.runs(&mut Self::run)
    }

    /// Encodes a stretch of text without tokens of the first stage.
    fn run(&mut self, range: Range<usize>) -> Result<(), Error> {
        let run = &self.text[range.clone()];
        if run.is_empty() {
            return Ok(());
        }
        if self.fast(run, range.start)? {
            return Ok(());
        }
        self.general(range)
    }

    /// The same, stage after stage.
    fn general(&mut self, range: Range<usize>) -> Result<(), Error> {
        let (tokenizer, text) = (self.tokenizer, self.text);
        let run = &text[range.clone()];
        let finder = tokenizer.stages.later(self.policy.finds_special());
        self.begin();
        self.word = self.word.wrapping_add(u32::from(tokenizer.scores.is_some()));
        if tokenizer.exact && finder.is_empty() {
            self.parts(&Source::Text(run, range.start))?;
            return self.finish(Place::Text(range.start));
        }
        let source =
            if tokenizer.exact { Source::Text(run, range.start) } else { self.normalized(run, range.start)? };
        self.work.ask.check()?;
        let mut done = 0;
        for found in finder.find(source.text()) {
            let place = source.place();
            let token = found.start..found.end;
            self.policy.check(finder.token(&found), place.original(token.clone()).start)?;
            self.stretch(&source.slice(done..found.start))?;
            if self.weaves {
                self.fix(&found, place);
            } else {
                self.next_word();
                self.named(&source.text()[token], &found, place);
            }
            done = found.end;
        }
        self.stretch(&source.slice(done..source.text().len()))?;
        if self.weaves { self.finish(source.place()) } else { Ok(()) }
    }

    fn normalized(&self, run: &str, base: usize) -> Result<Source<'static>, Error> {
        let tokenizer = self.tokenizer;
        if !SPANS && !tokenizer.pretokenizer.asks_where() && !tokenizer.normalizer.freezes() {
            let (mut made, ask) = (String::new(), &self.work.ask);
            tokenizer.normalizer.write_asking(run, base, ask, &mut made)?;
            return Ok(Source::Made(Aligned::from_parts(made, None, 0, ask.clone())));
        }
        let given = Aligned::asking(run, base, SPANS, self.work.ask.clone())?;
        let made = match tokenizer.stages.frozen(self.policy.finds_special()) {
            Some(frozen) => tokenizer.normalizer.apply(given, Some(&frozen)),
            None => tokenizer.normalizer.apply(given, None),
        };
        made.map(Source::Made).map_err(|error| Place::Text(base).shift(error))
    }

    /// Encodes a stretch of normalized text without tokens.
    fn stretch(&mut self, source: &Source<'_>) -> Result<(), Error> {
        if source.text().is_empty() {
            return Ok(());
        }
        self.parts(source)?;
        if self.weaves { Ok(()) } else { self.finish(source.place()) }
    }

    /// Encodes what the pretokenizer leaves as one part.
    fn part(&mut self, part: &str, place: Place<'_>) -> Result<(), Error> {
        let (mut state, mut count) = (Ok(()), 0_u32);
        let tokenizer = self.tokenizer;
        if self.fused.is_some() {
            self.begin();
            self.next_word();
        }
        let walked = tokenizer.split.pieces(part, &mut |piece| {
            let at = piece.as_ptr() as usize - part.as_ptr() as usize;
            count = count.wrapping_add(1);
            if count.is_multiple_of(OFTEN) && state.is_ok() {
                state = self.work.ask.check().map_err(Failed::Other);
            }
            if SPANS && !self.joins && self.fused.is_none() {
                self.next_word();
            }
            match self.boundary {
                _ if state.is_err() => {}
                None => state = self.piece(piece, at, place),
                Some(boundary) => boundary::cut(piece, boundary, &mut |piece, inside| {
                    if state.is_ok() {
                        state = self.piece(piece, at + inside, place);
                    }
                }),
            }
        });
        walked.map_err(|error| place.shift(error))?;
        if let (Ok(()), Some(unknown)) = (&state, self.fused) {
            state = self.gathered(unknown, place);
        }
        state.map_err(|failed| self.error(failed, part, place))
    }

    /// Encodes one piece, which begins at byte `at` of the part.
    #[inline]
    fn piece(&mut self, piece: &str, at: usize, place: Place<'_>) -> Result<(), Failed> {
        if self.remembers
            && self.learns.is_none_or(|most| piece.len() < most)
            && let Some(ids) = self.work.cache.get(piece.as_bytes())
        {
            if self.learns.is_some() {
                self.work.learned.extend_from_slice(ids);
            }
            (self.sink)(ids, &[], self.word);
            return Ok(());
        }
        if self.joins {
            if self.weaves && self.work.ids.last().is_some_and(|&id| id != WALL && id != FIXED) {
                self.work.ids.push(WALL);
                self.work.symbols.extend(SPANS.then_some(0..0));
            }
            return self.spell(piece, at, place);
        }
        if self.relocates {
            return self.relocated(piece, at, place);
        }
        if let (Some(_), Some(model)) = (self.fused, &self.tokenizer.model) {
            return self.modelled(model, piece, at, place);
        }
        self.make(piece, at, place)?;
        self.hand_on(piece, place)
    }

    /// Puts the tokens of a piece into the work buffers.
    #[inline]
    fn make(&mut self, piece: &str, at: usize, place: Place<'_>) -> Result<(), Failed> {
        self.begin();
        if let Some(model) = &self.tokenizer.model {
            return self.modelled(model, piece, at, place);
        }
        let whole = if self.tokenizer.whole_pieces { self.tokenizer.whole_piece(piece) } else { None };
        match whole {
            Some(id) if !self.coins.any() => self.put_whole(id, piece, at, place),
            None => {
                self.spell(piece, at, place)?;
                self.merge()?;
            }
            Some(id) => match self.spell(piece, at, place) {
                Ok(()) => self.merge()?,
                Err(_) => self.put_whole(id, piece, at, place),
            },
        }
        Ok(())
    }

    /// Makes tokens of a piece that is merged, hands them to the sink and remembers them.
    #[inline]
    fn hand_on(&mut self, piece: &str, place: Place<'_>) -> Result<(), Failed> {
        let settled = self.settle(place)?;
        let ids = if settled { &self.work.ids } else { &self.work.tokens.ids };
        (self.sink)(ids, &self.work.tokens.spans, self.word);
        if self.remembers && self.learns.is_none_or(|most| piece.len() < most) {
            self.work.cache.insert(piece.as_bytes(), ids);
        }
        if self.learns.is_some() {
            self.work.learned.extend_from_slice(ids);
        }
        Ok(())
    }

    /// Where pieces are merged by score, all of a run have one number.
    fn next_word(&mut self) {
        self.word = self.word.wrapping_add(u32::from(self.tokenizer.scores.is_none()));
    }

    fn begin(&mut self) {
        self.work.ids.clear();
        self.work.starts.clear();
        self.work.symbols.clear();
        self.work.fixed.clear();
    }

    /// Appends the initial symbols of a piece to the work buffers.
    #[inline]
    fn spell(&mut self, piece: &str, at: usize, place: Place<'_>) -> Result<(), Failed> {
        let mut spelled = Spelled::<SPANS> { work: self.work, at, place, complete: true, stopped: false };
        self.tokenizer.alphabet.spell_to(piece, &mut spelled);
        if spelled.stopped {
            return Err(Failed::Other(Error::Interrupted));
        }
        if spelled.complete { Ok(()) } else { Err(Failed::Unknown) }
    }

    /// Merges the symbols in the work buffers.
    #[inline]
    fn merge(&mut self) -> Result<(), Error> {
        let Work { ids, starts, scratch, origins, ask, .. } = &mut *self.work;
        let starts = if SPANS { Some(starts) } else { None };
        let (merges, notes) = (&self.tokenizer.merges, self.tokenizer.notes);
        let scored = self.tokenizer.scores.is_some();
        let coins = (&mut *self.coins, if scored { PassedOver::StaysApart } else { PassedOver::Waits });
        scratch.asking(ask, ids.len(), |scratch| {
            if notes {
                origins.clear();
                merges.apply_noting(ids, starts, scratch, coins, origins)
            } else if coins.0.any() {
                merges.apply_with_coins(ids, starts, scratch, coins)
            } else {
                merges.apply(ids, starts, scratch)
            }
        })
    }

    /// Makes tokens of what is left after merging; the ids are then those of `work.ids` if it says so, else of
    /// `work.tokens`.
    #[inline]
    fn settle(&mut self, place: Place<'_>) -> Result<bool, Error> {
        let (tokenizer, text) = (self.tokenizer, self.text);
        let Work { ids, starts, symbols, fixed, tokens, origins, ask, .. } = &mut *self.work;
        let merged = Merged { ids, starts, symbols, fixed, exact: place.is_exact() };
        if let Some(scores) = &tokenizer.scores
            && !scores.settled(merged.ids)
        {
            let tables = (&tokenizer.alphabet, &*tokenizer.vocab);
            scores.resolve::<SPANS>(tables, (origins, ask), merged, tokens)?;
            return Ok(false);
        }
        if SPANS {
            let trim = tokenizer.trim.as_ref().filter(|_| self.trims);
            tokens.spans.clear();
            tokens.spans.reserve(merged.ids.len());
            for (block, ids) in merged.ids.chunks(MANY).enumerate() {
                ask.check()?;
                tokens.spans.extend(ids.iter().zip(block * MANY..).map(|(&id, at)| {
                    let symbols = merged.symbols_of(at);
                    match trim {
                        Some(trim) => trim.token(&tokenizer.vocab, id, text, &merged.symbols[symbols]),
                        None => merged.span(symbols),
                    }
                }));
            }
        }
        Ok(true)
    }

    /// Ends a run: where its pieces are taken together, they become tokens now.
    fn finish(&mut self, place: Place<'_>) -> Result<(), Error> {
        if !self.joins || self.work.ids.is_empty() {
            return Ok(());
        }
        self.merge()?;
        let settled = self.settle(place)?;
        self.next_word();
        let ids = if settled { &self.work.ids } else { &self.work.tokens.ids };
        (self.sink)(ids, &self.work.tokens.spans, self.word);
        self.begin();
        Ok(())
    }

    fn error(&self, failed: Failed, part: &str, place: Place<'_>) -> Error {
        match failed {
            Failed::Unknown => self.tokenizer.unknown(part, place),
            Failed::Other(error) => error,
        }
    }
}
