//! Cutting text into pieces before any merge.
//!
//! Adds: `Split`, which runs a known pattern by a scanner written by hand and any other by an automaton or, where
//! that cannot be made, by `fancy-regex`. Each scanner's file opens with the pattern it must equal; the tests hold
//! it to that pattern. Leaves out: special tokens (`special`), which are cut out before, and what becomes of a
//! piece (`merge`).
//!
//! A new scanner is one file and one line in `scanner_of`.

mod automaton;
mod behind;
mod classes;
mod contexts;
mod cut;
mod deepseek;
mod gpt2;
mod gpt4;
mod kimi;
mod latin;
mod llama3;
mod masks;
mod o200k;
mod pattern;
mod superwords;
mod walk;
mod words;

pub use classes::Tables;
pub(crate) use classes::ranges;
use classes::{Classes, WORD};
pub use contexts::Left;
pub(crate) use cut::floor;
#[cfg(simd_x86)]
pub(crate) use masks::avx512::{PLACES, flatten, has_vbmi};
pub(crate) use masks::places_of;
use walk::Tier;
pub(crate) use walk::Walk;

use crate::error::Error;

/// Piece ends asked for at a time.
const ENDS: usize = 256;

/// A split, ready to run; immutable, to be shared by reference.
pub struct Split {
    scanner: Scanner,
    pattern: Option<Box<str>>,
    /// Boxed: its tables begin at cache lines, which not everyone who holds a split would see to.
    classes: Box<Classes>,
    keep_unmatched: bool,
    lines: bool,
    tier: Tier,
}

/// What runs a pattern.
#[derive(Debug, Clone)]
enum Scanner {
    Gpt2,
    Gpt2Digits,
    Gpt4,
    O200k,
    Nemotron,
    Llama3(llama3::Family),
    Kimi,
    DeepSeek,
    Whitespace,
    WhitespaceSplit,
    Latin,
    Superwords,
    None,
    Regex(pattern::Matcher),
}

/// The scanner whose law is exactly `pattern`, if there is one.
fn scanner_of(pattern: &str) -> Option<Scanner> {
    match pattern {
        gpt2::TIKTOKEN | gpt2::ORIGINAL | gpt2::BRACKETED => Some(Scanner::Gpt2),
        gpt2::DIGITS => Some(Scanner::Gpt2Digits),
        gpt4::PATTERN => Some(Scanner::Gpt4),
        o200k::PATTERN => Some(Scanner::O200k),
        o200k::NEMOTRON => Some(Scanner::Nemotron),
        kimi::PATTERN => Some(Scanner::Kimi),
        deepseek::PATTERN => Some(Scanner::DeepSeek),
        words::WHITESPACE => Some(Scanner::Whitespace),
        words::WHITESPACE_SPLIT => Some(Scanner::WhitespaceSplit),
        latin::PATTERN => Some(Scanner::Latin),
        superwords::PATTERN => Some(Scanner::Superwords),
        _ => llama3::family(pattern).map(Scanner::Llama3),
    }
}

impl Split {
    /// The split whose pieces are the leftmost matches of `pattern`, with the character classes of `tables`;
    /// `None`: no split, the text is one piece. Text that no match covers is a piece of its own, or dropped if
    /// not `keep_unmatched`.
    ///
    /// # Errors
    /// `Error::Pattern` for one that does not compile or could match the empty string.
    pub fn new(pattern: Option<&str>, tables: Tables, keep_unmatched: bool) -> Result<Split, Error> {
        let scanner = match pattern {
            None => Scanner::None,
            Some(pattern) => match scanner_of(pattern) {
                Some(scanner) => scanner,
                None => Scanner::Regex(pattern::compile(pattern, tables)?),
            },
        };
        let classes = match scanner {
            Scanner::Kimi => kimi::classes(tables)?,
            Scanner::DeepSeek => deepseek::classes(tables)?,
            _ => Classes::new(tables)?,
        };
        Ok(Split {
            scanner,
            pattern: pattern.map(Box::from),
            classes: classes.into(),
            keep_unmatched,
            lines: false,
            tier: Tier::best(),
        })
    }

    /// The same split of each line, with its end, alone: no piece crosses a line feed.
    #[must_use]
    pub fn by_lines(mut self) -> Split {
        self.lines = true;
        self
    }

    /// Whether `char` is `\w` in its tables.
    pub(crate) fn is_word(&self, char: char) -> bool {
        self.classes.of(char) & WORD != 0
    }

    /// Whether text that no match covers is a piece of its own.
    pub(crate) fn keeps_unmatched(&self) -> bool {
        self.keep_unmatched
    }

    /// Which scanner runs it: a named one, `"none"`, or `"regex"` for any other pattern.
    pub fn kind(&self) -> &'static str {
        match self.scanner {
            Scanner::Gpt2 => "gpt2",
            Scanner::Gpt2Digits => "gpt2-digits",
            Scanner::Gpt4 => "gpt4",
            Scanner::O200k => "o200k",
            Scanner::Nemotron => "nemotron",
            Scanner::Llama3(family) => family.name,
            Scanner::Kimi => "kimi",
            Scanner::DeepSeek => "deepseek-v3",
            Scanner::Whitespace => "whitespace",
            Scanner::WhitespaceSplit => "whitespace-split",
            Scanner::Latin => "latin",
            Scanner::Superwords => "superwords",
            Scanner::None => "none",
            Scanner::Regex(_) => "regex",
        }
    }

    /// Calls `f` with every piece of `text`, in order; no piece is empty.
    ///
    /// # Errors
    /// `Error::SplitFailed` where a pattern of kind `"regex"` gives up on the text; the pieces before that place
    /// have then been seen by `f`.
    pub fn pieces<'t>(&self, text: &'t str, f: &mut impl FnMut(&'t str)) -> Result<(), Error> {
        if self.lines {
            return text.split_inclusive('\n').try_for_each(|line| self.pieces_of_line(line, f));
        }
        self.pieces_of_line(text, f)
    }

    fn pieces_of_line<'t>(&self, text: &'t str, f: &mut impl FnMut(&'t str)) -> Result<(), Error> {
        let classes = &self.classes;
        match &self.scanner {
            Scanner::Whitespace => self.search(text, f, |at| words::next_word_or_signs(classes, text, at)),
            Scanner::WhitespaceSplit => self.search(text, f, |at| words::next_non_space(classes, text, at)),
            Scanner::Superwords => self.search(text, f, |at| superwords::next(classes, text, at)),
            Scanner::None if text.is_empty() => {}
            Scanner::None => f(text),
            Scanner::Regex(matcher) if !matcher.covers() => return self.run_regex(matcher, text, f),
            _ => cover(self.walk_of_line(text), text, f),
        }
        Ok(())
    }

    /// The last byte position `p`, `0 < p < text.len()`, at which the text can be cut and its halves split apart:
    /// `pieces(text) == pieces(&text[..p]) ++ pieces(&text[p..])`, and so for any text before and after. `None`
    /// if no such place is known.
    pub fn last_safe_cut(&self, text: &str) -> Option<usize> {
        if self.lines
            && let Some(at) = text.strip_suffix('\n').unwrap_or(text).rfind('\n')
        {
            return Some(at + 1);
        }
        // All but patterns ask for two classes.
        let by_classes =
            |text| cut::last(text, Some(&self.classes.ascii.0), |before, after| self.can_cut(before, after));
        match self.scanner {
            Scanner::None | Scanner::Regex(pattern::Matcher::Fancy(_)) => None,
            Scanner::Regex(_) => cut::last(text, None, |before, after| self.can_cut(before, after)),
            // These cut beside white space alone.
            Scanner::Gpt2
            | Scanner::Gpt2Digits
            | Scanner::Gpt4
            | Scanner::O200k
            | Scanner::Nemotron
            | Scanner::Llama3(_)
            | Scanner::WhitespaceSplit => by_classes(cut::to_white_space(text)),
            _ => by_classes(text),
        }
    }

    /// Whether a text can be cut so between these characters, a piece ending there, whatever is around them.
    pub(crate) fn can_cut(&self, before: char, after: char) -> bool {
        let classes = &self.classes;
        match &self.scanner {
            Scanner::Gpt2 | Scanner::Gpt2Digits => cut::gpt2(classes, before, after),
            Scanner::Gpt4 | Scanner::O200k | Scanner::Nemotron | Scanner::Llama3(_) => {
                cut::gpt4(classes, before, after)
            }
            Scanner::Kimi => cut::kimi(classes, before, after),
            Scanner::DeepSeek => cut::deepseek(classes, before, after),
            Scanner::Whitespace => cut::words(classes, before, after),
            Scanner::WhitespaceSplit => cut::spaces(classes, before, after),
            Scanner::Latin => cut::latin(classes, before, after),
            Scanner::Superwords => cut::superwords(classes, before, after),
            Scanner::Regex(pattern::Matcher::Automaton(automaton)) => automaton.can_cut(before, after),
            Scanner::None | Scanner::Regex(pattern::Matcher::Fancy(_)) => false,
        }
    }

    /// Whether no match crosses a place between these characters, and its halves have the matches of the whole, whatever
    /// is around them.
    pub(crate) fn is_apart(&self, before: char, after: char) -> bool {
        match &self.scanner {
            Scanner::Regex(pattern::Matcher::Automaton(automaton)) => automaton.is_apart(before, after),
            _ => self.can_cut(before, after),
        }
    }

    /// Pieces from a scanner that finds matches and skips what is between.
    fn search<'t>(
        &self,
        text: &'t str,
        f: &mut impl FnMut(&'t str),
        next: impl Fn(usize) -> Option<(usize, usize)>,
    ) {
        let mut at = 0;
        while let Some((start, end)) = next(at) {
            self.unmatched(&text[at..start], f);
            f(&text[start..end]);
            at = end;
        }
        self.unmatched(&text[at..], f);
    }

    fn run_regex<'t>(
        &self,
        matcher: &pattern::Matcher,
        text: &'t str,
        f: &mut impl FnMut(&'t str),
    ) -> Result<(), Error> {
        let mut at = 0;
        pattern::matches(matcher, text, &mut |start, end| {
            self.unmatched(&text[at..start], f);
            f(&text[start..end]);
            at = end;
        })?;
        self.unmatched(&text[at..], f);
        Ok(())
    }

    fn unmatched<'t>(&self, gap: &'t str, f: &mut impl FnMut(&'t str)) {
        if self.keep_unmatched && !gap.is_empty() {
            f(gap);
        }
    }
}

/// Pieces from a scanner that covers every character.
fn cover<'t>(mut walk: Walk<'_>, text: &'t str, f: &mut impl FnMut(&'t str)) {
    let (mut ends, mut at) = ([0; ENDS], 0);
    loop {
        let found = walk.fill(&mut ends);
        if found == 0 {
            return;
        }
        for &end in &ends[..found] {
            f(&text[at..end]);
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn split(pattern: &str) -> Split {
        Split::new(Some(pattern), Tables::Tiktoken, true).unwrap()
    }

    pub(super) fn pieces<'t>(split: &Split, text: &'t str) -> Vec<&'t str> {
        let mut out = Vec::new();
        split.pieces(text, &mut |piece| out.push(piece)).unwrap();
        out
    }

    #[test]
    fn no_split_is_one_piece() {
        let none = Split::new(None, Tables::Tiktoken, true).unwrap();
        assert_eq!(pieces(&none, "a b"), ["a b"]);
        assert_eq!(pieces(&none, ""), [""; 0]);
        assert_eq!(none.last_safe_cut("a b\nc"), None);
        assert_eq!(pieces(&split(gpt2::TIKTOKEN), ""), [""; 0]);
    }

    #[test]
    fn a_split_is_shared_between_threads() {
        let split = &split(o200k::PATTERN);
        let text = &"Some WORDS, 12345 of them. ".repeat(100);
        let expected = pieces(split, text);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| pieces(split, text))).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), expected);
            }
        });
    }
}
