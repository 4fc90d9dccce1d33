//! Where a text is cut around matches, and what becomes of the matches.
//!
//! Adds: `Behavior` and `Folder`, which turns matches into parts, one at a time. Leaves out: finding matches.
//!
//! Source of the rules: `tokenizers` 0.23.3, `tokenizer/normalizer.rs`, `split`.

use crate::{error::Error, step::Step};

/// What becomes of a match. Of `the-final--countdown`, cut at `-`:
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behavior {
    /// `the final countdown`
    Removed,
    /// `the - final - - countdown`
    Isolated,
    /// `the- final- - countdown`
    MergedWithPrevious,
    /// `the -final - -countdown`
    MergedWithNext,
    /// `the - final -- countdown`
    Contiguous,
}

impl Behavior {
    /// The option `behavior`.
    pub(super) fn new(step: &Step) -> Result<Behavior, Error> {
        Ok(match step.text("behavior")? {
            "removed" => Behavior::Removed,
            "isolated" => Behavior::Isolated,
            "merged_with_previous" => Behavior::MergedWithPrevious,
            "merged_with_next" => Behavior::MergedWithNext,
            "contiguous" => Behavior::Contiguous,
            other => return Err(step.wrong(&format!("no behavior is called {other:?}"))),
        })
    }
}

/// Takes the matches of a text in order and calls `emit` with start and end of every part.
pub(super) struct Folder<F: FnMut(usize, usize)> {
    behavior: Behavior,
    /// What lies between matches counts as match, and matches do not.
    invert: bool,
    /// The end of the last match.
    at: usize,
    /// A part that the next match may still make longer.
    held: Option<(usize, usize)>,
    last_is_match: bool,
    emit: F,
}

impl<F: FnMut(usize, usize)> Folder<F> {
    pub(super) fn new(behavior: Behavior, invert: bool, emit: F) -> Folder<F> {
        Folder { behavior, invert, at: 0, held: None, last_is_match: false, emit }
    }

    /// A match.
    pub(super) fn found(&mut self, start: usize, end: usize) {
        if self.at < start {
            self.stretch(self.at, start, self.invert);
        }
        self.stretch(start, end, !self.invert);
        self.at = end;
    }

    /// The end of the text.
    pub(super) fn finish(mut self, length: usize) {
        if self.at < length {
            self.stretch(self.at, length, self.invert);
        }
        self.release();
    }

    fn release(&mut self) {
        if let Some((start, end)) = self.held.take() {
            (self.emit)(start, end);
        }
    }

    fn stretch(&mut self, start: usize, end: usize, is_match: bool) {
        let joins = match self.behavior {
            Behavior::Isolated => return (self.emit)(start, end),
            Behavior::Removed if is_match => return,
            Behavior::Removed => return (self.emit)(start, end),
            Behavior::Contiguous => is_match == self.last_is_match,
            Behavior::MergedWithPrevious => is_match && !self.last_is_match,
            Behavior::MergedWithNext => !is_match && self.last_is_match,
        };
        self.last_is_match = is_match;
        match &mut self.held {
            Some(held) if joins => held.1 = end,
            _ => {
                self.release();
                self.held = Some((start, end));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, behavior: Behavior, invert: bool) -> Vec<&str> {
        let mut out = Vec::new();
        let mut folder = Folder::new(behavior, invert, |start, end| out.push(&text[start..end]));
        text.match_indices('-').for_each(|(at, _)| folder.found(at, at + 1));
        folder.finish(text.len());
        out
    }

    #[test]
    fn behaviors() {
        let text = "the-final--countdown";
        let cases: [(Behavior, &[&str]); 5] = [
            (Behavior::Removed, &["the", "final", "countdown"]),
            (Behavior::Isolated, &["the", "-", "final", "-", "-", "countdown"]),
            (Behavior::MergedWithPrevious, &["the-", "final-", "-", "countdown"]),
            (Behavior::MergedWithNext, &["the", "-final", "-", "-countdown"]),
            (Behavior::Contiguous, &["the", "-", "final", "--", "countdown"]),
        ];
        for (behavior, expected) in cases {
            assert_eq!(parts(text, behavior, false), expected, "{behavior:?}");
        }
        assert_eq!(parts(text, Behavior::Removed, true), ["-", "-", "-"]);
        assert_eq!(parts("-a-", Behavior::MergedWithNext, false), ["-a", "-"]);
        assert_eq!(parts("", Behavior::Contiguous, false), [""; 0]);
    }
}
