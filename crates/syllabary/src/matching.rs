//! How special and added tokens are found: before or after normalizing, alone or with the whitespace around.
//!
//! Adds: `Stages`, the matchers of every stage, with and without special tokens. Leaves out: which tokens a
//! caller allows (`tokenizer`). A token that is to be read as text is in no matcher at all, or it would shadow
//! others. (Source of the rules: tokenizers, `added_vocabulary.rs`, `find_matches`.)

use aho_corasick::{AhoCorasick, Anchored, Input, StartKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Error,
    aligned::Aligned,
    normalize::Normalizer,
    special::{SpecialMatch, SpecialMatcher, automaton_of},
    split::{Split, Tables},
};

/// When a token is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Before normalizing.
    #[default]
    Text,
    /// After it, and normalized itself.
    Normalized,
    /// After it, spelled as it is; the normalizer leaves it alone.
    Frozen,
    /// Not at all.
    Never,
}

/// How a token is found; the fields are those of `syllabary.spec.Matching`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// When.
    pub stage: Stage,
    /// Not where a word character touches it.
    pub single_word: bool,
    /// Takes the whitespace before it along.
    pub lstrip: bool,
    /// Takes the whitespace after it along.
    pub rstrip: bool,
}

/// A special or added token.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub text: String,
    pub id: u32,
    pub special: bool,
    pub matching: Matching,
}

/// The special and added tokens, each with how it is found.
pub(crate) fn named(
    special: &[(String, u32)],
    added: &[(String, u32)],
    matching: &[(String, Matching)],
) -> Result<Vec<Named>, Error> {
    let rules: FxHashMap<&str, Matching> =
        matching.iter().map(|(text, rule)| (text.as_str(), *rule)).collect();
    let special = special.iter().map(|token| (token, true));
    let all: Vec<Named> = special
        .chain(added.iter().map(|token| (token, false)))
        .map(|((text, id), special)| {
            let matching = rules.get(text.as_str()).copied().unwrap_or_default();
            Named { text: text.clone(), id: *id, special, matching }
        })
        .collect();
    if let Some(empty) = all.iter().find(|token| token.text.is_empty()) {
        return Err(Error::Vocabulary(format!("the special token with id {} is empty", empty.id)));
    }
    let texts: FxHashSet<&str> = all.iter().map(|token| token.text.as_str()).collect();
    match rules.keys().find(|text| !texts.contains(*text)) {
        Some(text) => {
            Err(Error::Vocabulary(format!("matching: {text:?} is neither a special nor an added token")))
        }
        None => Ok(all),
    }
}

/// Finds some tokens in a text.
pub(crate) struct Finder {
    matcher: SpecialMatcher,
    tokens: Vec<Named>,
    /// Whether no token looks at what is around it.
    plain: bool,
    /// The bytes with which tokens begin, a bit each, and how long the longest is.
    begins: [u64; 4],
    longest: usize,
    /// For its word characters; only where some token asks.
    words: Option<Split>,
}

impl Finder {
    /// Of tokens and the text that is looked for in place of each.
    fn new(tokens: &[(String, &Named)]) -> Result<Finder, Error> {
        let patterns: Vec<(String, u32)> =
            tokens.iter().map(|(pattern, named)| (pattern.clone(), named.id)).collect();
        let tokens: Vec<Named> = tokens.iter().map(|&(_, named)| named.clone()).collect();
        let strips = |named: &Named| named.matching.lstrip || named.matching.rstrip;
        let alone = tokens.iter().any(|named| named.matching.single_word);
        let mut begins = [0; 4];
        for (pattern, _) in &patterns {
            let first = pattern.as_bytes().first().copied().unwrap_or_default();
            begins[usize::from(first / 64)] |= 1 << (first % 64);
        }
        let longest = patterns.iter().map(|(pattern, _)| pattern.len()).max().unwrap_or_default();
        Ok(Finder {
            matcher: SpecialMatcher::new(&patterns)?,
            plain: !alone && !tokens.iter().any(strips),
            begins,
            longest,
            tokens,
            words: if alone { Some(Split::new(None, Tables::Tiktoken, true)?) } else { None },
        })
    }

    /// Whether there is nothing to find.
    pub(crate) fn is_empty(&self) -> bool {
        self.matcher.is_empty()
    }

    /// Whether no token looks at what is around it.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether a token may begin before a byte of `text` and end behind it: by what tokens begin with, so more often than one
    /// does. None does that takes something along (`is_plain`).
    pub(crate) fn may_reach_over(&self, text: &str, at: usize) -> bool {
        let before = &text.as_bytes()[(at + 1).saturating_sub(self.longest.max(1))..at];
        before.iter().any(|&byte| self.begins[usize::from(byte / 64)] >> (byte % 64) & 1 == 1)
    }

    /// The token of a match.
    pub(crate) fn token(&self, found: &SpecialMatch) -> &Named {
        &self.tokens[found.index]
    }

    /// The tokens in `text`, in order, none overlapping another.
    pub(crate) fn find(&self, text: &str) -> Vec<SpecialMatch> {
        if self.plain {
            return self.matcher.find(text).collect();
        }
        let mut out: Vec<SpecialMatch> = Vec::new();
        let (mut done, mut at) = (0, 0);
        while let Some(mut found) = self.matcher.find_from(text, at) {
            let matching = self.tokens[found.index].matching;
            at = found.end;
            if matching.single_word && self.touches_word(text, &found) {
                continue;
            }
            if matching.lstrip {
                found.start = done + text[done..found.start].trim_end().len();
            }
            if matching.rstrip {
                found.end = text.len() - text[found.end..].trim_start().len();
            }
            // What a token took along is no longer there to be found.
            (done, at) = (found.end, found.end);
            out.push(found);
        }
        out
    }

    fn touches_word(&self, text: &str, found: &SpecialMatch) -> bool {
        let Some(words) = &self.words else { return false };
        let is_word = |char: Option<char>| char.is_some_and(|char| words.is_word(char));
        is_word(text[..found.start].chars().next_back()) || is_word(text[found.end..].chars().next())
    }
}

/// The matchers of every stage; of each pair, the second leaves special tokens out.
pub(crate) struct Stages {
    first: [Finder; 2],
    later: [Finder; 2],
    /// Frozen tokens at the start of a text.
    frozen: [Option<AhoCorasick>; 2],
}

impl Stages {
    /// `weighs`: the frozen tokens are the model's to find.
    pub(crate) fn new(tokens: &[Named], normalizer: &Normalizer, weighs: bool) -> Result<Stages, Error> {
        let first = tokens
            .iter()
            .filter(|named| named.matching.stage == Stage::Text)
            .map(|named| (named.text.clone(), named))
            .collect();
        let mut later = later(tokens, normalizer)?;
        let frozen = [frozen(&later, true)?, frozen(&later, false)?];
        later.retain(|(_, named)| !weighs || named.matching.stage != Stage::Frozen);
        Ok(Stages { frozen, first: pair(first)?, later: pair(later)? })
    }

    /// What is looked for in the text given.
    pub(crate) fn first(&self, with_special: bool) -> &Finder {
        &self.first[usize::from(!with_special)]
    }

    /// What is looked for in normalized text.
    pub(crate) fn later(&self, with_special: bool) -> &Finder {
        &self.later[usize::from(!with_special)]
    }

    /// Whether a frozen token stands anywhere in `text`.
    pub(crate) fn has_frozen(&self, with_special: bool, text: &str) -> bool {
        self.frozen[usize::from(!with_special)].as_ref().is_some_and(|automaton| automaton.is_match(text))
    }

    /// The length of the frozen token that `text` starts with, or 0; `None` where there are no such tokens.
    pub(crate) fn frozen(&self, with_special: bool) -> Option<impl Fn(&str) -> usize> {
        let automaton = self.frozen[usize::from(!with_special)].as_ref()?;
        Some(move |text: &str| {
            let found = automaton.find(Input::new(text).anchored(Anchored::Yes));
            found.map_or(0, |found| found.end())
        })
    }
}

/// All of these tokens, and those that are not special.
fn pair(all: Vec<(String, &Named)>) -> Result<[Finder; 2], Error> {
    let with_special = Finder::new(&all)?;
    let others: Vec<_> = all.into_iter().filter(|(_, named)| !named.special).collect();
    Ok([with_special, Finder::new(&others)?])
}

/// The tokens that are looked for in normalized text, and how they are spelled there. Of two that become the same
/// the lower id is found; one that nothing is left of is never found.
fn later<'n>(tokens: &'n [Named], normalizer: &Normalizer) -> Result<Vec<(String, &'n Named)>, Error> {
    let mut sorted: Vec<&Named> = tokens.iter().collect();
    sorted.sort_by_key(|named| named.id);
    let mut seen = FxHashSet::default();
    let mut out = Vec::new();
    for named in sorted {
        let pattern = match named.matching.stage {
            Stage::Normalized => named.normalized(normalizer)?,
            Stage::Frozen => named.text.clone(),
            Stage::Text | Stage::Never => continue,
        };
        if !pattern.is_empty() && seen.insert(pattern.clone()) {
            out.push((pattern, named));
        }
    }
    Ok(out)
}

impl Named {
    /// Its text, normalized.
    pub(crate) fn normalized(&self, normalizer: &Normalizer) -> Result<String, Error> {
        Ok(normalizer.apply(Aligned::new(&self.text, 0, false)?, None)?.text().to_owned())
    }
}

/// Finds the frozen tokens at the start of a text; `None` if there are none.
fn frozen(later: &[(String, &Named)], with_special: bool) -> Result<Option<AhoCorasick>, Error> {
    let texts: Vec<&str> = later
        .iter()
        .filter(|(_, named)| named.matching.stage == Stage::Frozen && (with_special || !named.special))
        .map(|(text, _)| text.as_str())
        .collect();
    if texts.is_empty() {
        return Ok(None);
    }
    automaton_of(texts.iter().map(|text| text.len()).sum())
        .start_kind(StartKind::Both)
        .build(texts)
        .map(Some)
        .map_err(|error| Error::TooLarge(format!("too many or too long added tokens: {error}")))
}
