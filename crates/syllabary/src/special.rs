//! Special tokens in text: where they are, leftmost first and the longest of those that start together.
//!
//! Adds: `SpecialMatcher`, which finds the tokens it was made of. Leaves out: the policy. A special token
//! that is to be read as text must not be in the matcher at all, or it would shadow shorter and overlapping
//! ones that are allowed; so the tokenizer makes one matcher for each set of allowed tokens. Making one is
//! cheap: time and memory grow with the total length of the tokens (1,000 tokens: about a millisecond).

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, Input, Match, MatchKind};
use rustc_hash::FxHashSet;

use crate::error::Error;

/// One special token found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpecialMatch {
    /// First byte of it in the text.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// The token's id.
    pub id: u32,
    /// Its place in the list that the matcher was made of.
    pub index: usize,
}

/// Finds a fixed set of special tokens in any text. Immutable; share it by reference.
#[derive(Debug, Clone)]
pub struct SpecialMatcher {
    /// `None` where there is no token: then nothing is ever found.
    automaton: Option<AhoCorasick>,
    ids: Vec<u32>,
}

impl SpecialMatcher {
    /// A matcher of `tokens` (text and id); an empty text, or one given twice, is an error.
    pub fn new(tokens: &[(String, u32)]) -> Result<SpecialMatcher, Error> {
        let mut seen = FxHashSet::default();
        for (text, id) in tokens {
            if text.is_empty() {
                return Err(Error::Vocabulary(format!("the special token with id {id} is empty")));
            }
            if !seen.insert(text.as_str()) {
                return Err(Error::Vocabulary(format!("special token {text:?} is given twice")));
            }
        }
        let automaton = if tokens.is_empty() { None } else { Some(build(tokens)?) };
        Ok(SpecialMatcher { automaton, ids: tokens.iter().map(|(_, id)| *id).collect() })
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The first special token in `text` that begins at byte `at` or after.
    pub fn find_from(&self, text: &str, at: usize) -> Option<SpecialMatch> {
        self.automaton.as_ref()?.find(Input::new(text).range(at..)).map(|found| self.of(&found))
    }

    /// The special tokens in `text`, in order, none overlapping another.
    pub fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = SpecialMatch> + 't {
        self.automaton
            .iter()
            .flat_map(move |automaton| automaton.find_iter(text))
            .map(|found| self.of(&found))
    }

    fn of(&self, found: &Match) -> SpecialMatch {
        let index = found.pattern().as_usize();
        SpecialMatch { start: found.start(), end: found.end(), id: self.ids[index], index }
    }
}

/// So many bytes of tokens make an automaton whose table has a row for each, as fast as there is.
const SMALL: usize = 1 << 12;

/// The builder of an automaton that finds texts of so many bytes together, the longest of those that begin first. Of
/// large ones the table would take time in the square of their length, as of `xxxx`.
pub(crate) fn automaton_of(bytes: usize) -> AhoCorasickBuilder {
    let mut builder = AhoCorasickBuilder::new();
    let kind = if bytes <= SMALL { None } else { Some(AhoCorasickKind::ContiguousNFA) };
    builder.match_kind(MatchKind::LeftmostLongest).kind(kind);
    builder
}

fn build(tokens: &[(String, u32)]) -> Result<AhoCorasick, Error> {
    automaton_of(tokens.iter().map(|(text, _)| text.len()).sum())
        .build(tokens.iter().map(|(text, _)| text))
        .map_err(|error| Error::TooLarge(format!("too many or too long special tokens: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(tokens: &[&str]) -> SpecialMatcher {
        let tokens: Vec<_> = tokens.iter().zip(10..).map(|(token, id)| ((*token).to_owned(), id)).collect();
        SpecialMatcher::new(&tokens).unwrap()
    }

    fn matches(matcher: &SpecialMatcher, text: &str) -> Vec<(usize, usize, u32)> {
        matcher.find(text).map(|m| (m.start, m.end, m.id)).collect()
    }

    fn found(tokens: &[&str], text: &str) -> Vec<(usize, usize, u32)> {
        matches(&matcher(tokens), text)
    }

    /// The definition, by trying every token at every byte.
    fn naive(tokens: &[&str], text: &str) -> Vec<(usize, usize, u32)> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let here = tokens
                .iter()
                .zip(10..)
                .filter(|(token, _)| text.as_bytes()[at..].starts_with(token.as_bytes()));
            match here.max_by_key(|(token, _)| token.len()) {
                Some((token, id)) => {
                    out.push((at, at + token.len(), id));
                    at += token.len();
                }
                None => at += 1,
            }
        }
        out
    }

    #[test]
    fn long_tokens_are_found_too() {
        let (long, longer) = ("x".repeat(SMALL), "x".repeat(200_000));
        for text in [longer.clone(), format!("xy{longer}xxy<e>{long}")] {
            let tokens = [longer.as_str(), "<e>", &long];
            let mut expected = Vec::new();
            let mut rest = 0;
            while let Some((at, token)) = (rest..text.len()).find_map(|at| {
                tokens.iter().position(|token| text[at..].starts_with(token)).map(|token| (at, token))
            }) {
                rest = at + tokens[token].len();
                expected.push((at, rest, 10 + token as u32));
            }
            assert_eq!(found(&tokens, &text), expected);
        }
    }

    #[test]
    fn the_longest_of_those_that_start_first() {
        assert_eq!(found(&["<a>", "<a><b>"], "x<a><b><a>"), [(1, 7, 11), (7, 10, 10)]);
        assert_eq!(found(&["bc", "ab"], "abc"), [(0, 2, 11)]);
        assert_eq!(found(&["ü"], "aüü"), [(1, 3, 10), (3, 5, 10)]);
    }

    #[test]
    fn nothing_to_find_and_nothing_found() {
        assert!(SpecialMatcher::new(&[]).unwrap().is_empty());
        assert_eq!(found(&[], "abc"), []);
        assert_eq!(found(&["<a>"], "<b>"), []);
        assert_eq!(found(&["<a>"], ""), []);
    }

    #[test]
    fn empty_and_repeated_tokens_are_errors() {
        let empty = SpecialMatcher::new(&[("a".into(), 1), (String::new(), 7)]).unwrap_err();
        assert_eq!(empty, Error::Vocabulary("the special token with id 7 is empty".into()));
        let twice = SpecialMatcher::new(&[("a".into(), 1), ("a".into(), 2)]).unwrap_err();
        assert_eq!(twice, Error::Vocabulary("special token \"a\" is given twice".into()));
    }

    #[test]
    fn equals_the_definition_on_every_short_text() {
        let tokens = ["a", "ab", "abab", "ba", "bcb", "ü"];
        let letters = ["a", "b", "c", "ü"];
        let matcher = matcher(&tokens);
        let mut texts = vec![String::new()];
        for _ in 0..7 {
            texts = texts.iter().flat_map(|t| letters.map(|l| format!("{t}{l}"))).collect();
            for text in &texts {
                assert_eq!(matches(&matcher, text), naive(&tokens, text), "{text:?}");
            }
        }
    }
}
