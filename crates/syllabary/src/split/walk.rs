//! Piece ends in bulk, for the splits whose pieces cover every character.
//!
//! Adds: `Walk`, which writes as many ends at a time as its caller has room for, so that encoding can work on many
//! pieces at once. Leaves out: where a piece ends (the scanners).

use super::{Scanner, Split, automaton::Search, gpt2, gpt4, latin, llama3, o200k, pattern::Matcher};

/// A walk over the pieces of one text.
pub(crate) struct Walk<'a> {
    split: &'a Split,
    text: &'a str,
    at: usize,
    search: Search,
}

impl Split {
    /// A walk over the pieces of `text`; `None` where pieces need not cover every character.
    pub(crate) fn walk<'a>(&'a self, text: &'a str) -> Option<Walk<'a>> {
        let skips = match &self.scanner {
            Scanner::Whitespace | Scanner::WhitespaceSplit | Scanner::Superwords | Scanner::None => true,
            Scanner::Regex(Matcher::Automaton(automaton)) => !automaton.covers(),
            Scanner::Regex(Matcher::Fancy(_)) => true,
            _ => false,
        };
        (!skips && !self.lines).then(|| self.walk_of_line(text))
    }

    /// The same of one line, for a scanner of which it is known that its pieces cover every character.
    pub(super) fn walk_of_line<'a>(&'a self, text: &'a str) -> Walk<'a> {
        Walk { split: self, text, at: 0, search: Search::default() }
    }
}

impl Walk<'_> {
    /// Writes the ends of the next pieces, ascending positions in the text, and says how many; 0 at its end only.
    pub(crate) fn fill(&mut self, ends: &mut [usize]) -> usize {
        let (classes, text) = (&self.split.classes, self.text);
        match &self.split.scanner {
            Scanner::Regex(Matcher::Automaton(automaton)) => {
                let mut search = std::mem::take(&mut self.search);
                let written = self.fill_by(ends, |at| search.end(automaton, text, at).unwrap_or(text.len()));
                self.search = search;
                written
            }
            Scanner::Gpt2 => self.fill_by(ends, |at| gpt2::piece_end(classes, text, at)),
            Scanner::Gpt4 => self.fill_by(ends, |at| gpt4::piece_end(classes, text, at)),
            Scanner::O200k => self.fill_by(ends, |at| o200k::piece_end::<true>(classes, text, at)),
            Scanner::Nemotron => self.fill_by(ends, |at| o200k::piece_end::<false>(classes, text, at)),
            Scanner::Llama3(family) => self.fill_by(ends, |at| llama3::piece_end(*family, classes, text, at)),
            Scanner::Latin => self.fill_by(ends, |at| latin::piece_end(classes, text, at)),
            _ => 0,
        }
    }

    #[inline]
    fn fill_by(&mut self, ends: &mut [usize], mut end_of: impl FnMut(usize) -> usize) -> usize {
        let mut written = 0;
        for end in ends {
            if self.at >= self.text.len() {
                break;
            }
            self.at = end_of(self.at);
            *end = self.at;
            written += 1;
        }
        written
    }
}
