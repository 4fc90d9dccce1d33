//! Special and added tokens that were found in text: handed on, or put among the symbols of a run.
//!
//! Leaves out how they are found (`matching`).

use std::ops::Range;

use super::Job;
use crate::{offsets::Place, scores::FIXED, special::SpecialMatch};

impl<const SPANS: bool, F: FnMut(&[u32], &[Range<usize>], u32)> Job<'_, SPANS, F> {
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
