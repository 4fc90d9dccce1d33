//! Text that goes on behind other text, by Unigram: with the score of all that stands before in every sum.
//!
//! Adds `Tokenizer::encode_behind`. Leaves out where text may be cut so (`reference/cuts.py`).

use std::ops::Range;

use super::Job;
use crate::{
    Error,
    dropout::Dropout,
    models::{Model, unigram::Unigram},
    offsets::Place,
    taken::Taken,
    tokenizer::{SpecialPolicy, Tokenizer, Work},
};

impl Tokenizer {
    /// Appends the ids of what stands behind `guard` in `text`, which begins with it and is cut there; `score` is that of
    /// the way through all that stands before. The score of all: that of the last stretch between special tokens.
    pub fn encode_behind(
        &self,
        (guard, text): (&str, &str),
        score: f64,
        policy: SpecialPolicy<'_>,
        work: &mut Work,
        out: &mut Vec<u32>,
    ) -> Result<f64, Error> {
        let whole = self.pretokenizer.is_empty()
            && self.split.kind() == "none"
            && self.stages.later(policy.finds_special()).is_empty();
        let Some(Model::Unigram(unigram)) = self.model.as_ref().filter(|_| whole && text.starts_with(guard))
        else {
            let reason = "text goes on behind other text by Unigram alone, where nothing cuts it in pieces";
            return Err(Error::Vocabulary(reason.to_owned()));
        };
        let mut coins = Dropout::NONE.coins(0);
        let (mut before, mut so_far) = (Some(guard), score);
        let job = Job::<false, _>::new(self, (text, policy), &mut coins, work, |ids, _, _| {
            out.extend_from_slice(ids)
        });
        let done = { job }.runs(&mut |job, range| {
            let (guard, score) = before.take().map_or(("", 0.0), |guard| (guard, so_far));
            if range.is_empty() {
                return Ok(());
            }
            so_far = job.behind(unigram, guard, score, range)?;
            Ok(())
        });
        match done {
            Ok(()) => Ok(so_far),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            // The place is known where all is encoded.
            Err(error) => self.each::<true>(text, policy, &mut coins, work, &mut |_, _| ()).and(Err(error)),
        }
    }
}

impl<F: FnMut(&[u32], &[Range<usize>], u32)> Job<'_, false, F> {
    /// Encodes a stretch without tokens of the first stage, but for what it begins with; the score of all of it.
    fn behind(
        &mut self,
        unigram: &Unigram,
        guard: &str,
        score: f64,
        range: Range<usize>,
    ) -> Result<f64, Error> {
        let (tokenizer, run) = (self.tokenizer, &self.text[range.clone()]);
        let changed = || Error::Vocabulary("text is cut where it becomes something else".to_owned());
        let charwise = tokenizer.charwise.as_ref().filter(|charwise| charwise.carries());
        if let Some(charwise) = charwise
            && !tokenizer.stages.has_frozen(self.policy.finds_special(), run)
        {
            let Job { work, sink, .. } = self;
            let Work { charwise: buffers, ask, .. } = &mut **work;
            let sink = |ids: &[u32]| {
                sink(ids, &[], 0);
                ask.go_on()
            };
            let tables = (&tokenizer.normalizer, &tokenizer.merges);
            let buffers = buffers.here().asking(ask, run);
            return charwise.behind((guard, run), score, tables, buffers, sink)?.ok_or_else(changed);
        }
        let lead = if guard.is_empty() { String::new() } else { self.made(guard, range.start)? };
        let made = self.made(run, range.start)?;
        let rest = made.strip_prefix(lead.as_str()).ok_or_else(changed)?;
        self.begin();
        let place = Place::Text(0);
        let mut taken = Taken::<false> { work: self.work, at: 0, place, complete: true, letters: None };
        let score = unigram.tokens_behind(rest, score, &mut taken);
        let complete = taken.complete;
        self.work.ask.check()?;
        if !complete {
            return Err(tokenizer.unknown(rest, place));
        }
        (self.sink)(&self.work.ids, &[], self.word);
        Ok(score)
    }

    /// What the normalizer makes of a stretch.
    fn made(&self, run: &str, base: usize) -> Result<String, Error> {
        if self.tokenizer.exact {
            Ok(run.to_owned())
        } else {
            Ok(self.normalized(run, base)?.text().to_owned())
        }
    }
}
