//! Special and added tokens in text: a text is cut at them, and they are handed on, or put among the symbols of a run.
//!
//! Leaves out how they are found (`matching`).

use std::ops::Range;

use super::Job;
use crate::{Error, offsets::Place, scores::FIXED, special::SpecialMatch};

impl<const SPANS: bool, F: FnMut(&[u32], &[Range<usize>], u32)> Job<'_, SPANS, F> {
    /// Hands on the tokens of the first stage, and the stretches between them to `run`.
    pub(super) fn runs(
        &mut self,
        run: &mut impl FnMut(&mut Self, Range<usize>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let finder = self.tokenizer.stages.first(self.policy.finds_special());
        let found = finder.find(self.text);
        found.iter().try_for_each(|found| self.policy.check(finder.token(found), found.start))?;
        let text = self.text;
        let mut done = 0;
        for found in found {
            run(self, done..found.start)?;
            self.word = self.word.wrapping_add(1);
            self.named(&text[found.start..found.end], &found, Place::Text(0));
            done = found.end;
        }
        run(self, done..text.len())
    }

    /// Hands on a token that was found as `taken`.
    pub(super) fn named(&mut self, taken: &str, found: &SpecialMatch, place: Place<'_>) {
        let mut span = place.original(found.start..found.end);
        if let Some(trim) = self.tokenizer.trim.as_ref().filter(|_| SPANS && self.trims) {
            let symbols = taken.char_indices().map(|(at, char)| {
                let start = found.start + at;
                place.original(start..start + char.len_utf8())
            });
            span = trim.named(taken, self.text, &symbols.collect::<Vec<_>>());
        }
        self.spelled.iter_mut().for_each(|spelled| spelled.token(found.id, taken));
        (self.sink)(&[found.id], &[span], self.word);
    }

    /// Puts a token among the symbols of a run.
    pub(super) fn fix(&mut self, found: &SpecialMatch, place: Place<'_>) {
        self.work.ids.push(FIXED);
        self.work.fixed.push(found.id);
        if SPANS {
            self.work.symbols.push(place.original(found.start..found.end));
        }
    }
}
