//! Words as sentencepiece's trainer counts them, spelled in characters, in one flat array.
//!
//! Leaves out where they come from (`sentences`), and which characters count (`sentencepiece`).

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::sequences::{SEPARATOR, Sequences};
use crate::Error;

/// Code points below it are looked up in arrays.
const DENSE: usize = 1 << 16;

/// Words with their counts; a word may be there more than once.
#[derive(Debug, Default)]
pub struct SentenceWords {
    /// Code points; every word is followed by a `SEPARATOR`.
    characters: Vec<u32>,
    /// Where the words that occur equally often begin, as long as they follow each other.
    starts: Vec<usize>,
    /// How often those occur.
    counts: Vec<u64>,
}

impl SentenceWords {
    /// Room for so many characters and ends of words.
    pub fn with_capacity(capacity: usize) -> SentenceWords {
        SentenceWords { characters: Vec::with_capacity(capacity), ..SentenceWords::default() }
    }

    /// Adds a word, after `before`.
    pub fn add(&mut self, before: &str, word: &str, count: u64) {
        self.step(count);
        self.characters.extend(before.chars().chain(word.chars()).map(u32::from));
        self.characters.push(SEPARATOR);
    }

    /// Adds the words of another.
    pub fn append(&mut self, other: &SentenceWords) {
        for (count, characters) in other.steps() {
            self.step(count);
            self.characters.extend_from_slice(characters);
        }
    }

    fn step(&mut self, count: u64) {
        if self.counts.last() != Some(&count) {
            self.starts.push(self.characters.len());
            self.counts.push(count);
        }
    }

    /// How often words occur, and those that occur so often, each with its `SEPARATOR`.
    pub(super) fn steps(&self) -> impl Iterator<Item = (u64, &[u32])> {
        let ends = self.starts.iter().skip(1).copied().chain([self.characters.len()]);
        self.counts
            .iter()
            .zip(self.starts.iter().zip(ends))
            .map(|(&count, (&start, end))| (count, &self.characters[start..end]))
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (String, u64)> {
        let text = |word: &[u32]| word.iter().filter_map(|character| char::from_u32(*character)).collect();
        self.steps().flat_map(move |(count, characters)| {
            characters
                .split_inclusive(|character| *character == SEPARATOR)
                .map(move |word| (text(word), count))
        })
    }

    /// How often each character occurs, as often as the words do; in no order.
    #[must_use]
    pub fn characters(&self) -> Vec<(char, u64)> {
        let mut found = Characters::default();
        for (count, characters) in self.steps() {
            characters.iter().filter(|character| **character != SEPARATOR).for_each(|c| found.add(*c, count));
        }
        found.counts()
    }

    /// The words over an alphabet with their counts, at most `most`, the most frequent first, of equals the smaller;
    /// and how often any word occurs.
    #[must_use]
    pub fn frequent(&self, alphabet: &[char], most: usize) -> (Vec<(String, u64)>, u64) {
        let known: FxHashSet<u32> = alphabet.iter().map(|character| u32::from(*character)).collect();
        let (mut found, mut total) = (FxHashMap::<&[u32], u64>::default(), 0_u64);
        for (count, characters) in self.steps() {
            let words = characters.split(|character| *character == SEPARATOR);
            for word in words.filter(|word| !word.is_empty()) {
                total = total.saturating_add(count);
                if word.iter().all(|character| known.contains(character)) {
                    let times = found.entry(word).or_default();
                    *times = times.saturating_add(count);
                }
            }
        }
        let mut found: Vec<(&[u32], u64)> = found.into_iter().collect();
        found.sort_unstable_by_key(|(word, count)| (Reverse(*count), *word));
        found.truncate(most);
        let text = |word: &[u32]| word.iter().filter_map(|character| char::from_u32(*character)).collect();
        (found.into_iter().map(|(word, count)| (text(word), count)).collect(), total)
    }

    /// The words in the ids of characters, each with its count; characters without an id are edges of words.
    pub(super) fn spelled<'a>(
        &'a self,
        ids: &'a Ids,
    ) -> impl Iterator<Item = (u64, impl Iterator<Item = u32>)> {
        self.steps().map(|(count, characters)| (count, characters.iter().map(|character| ids.of(*character))))
    }

    /// The same as sequences to merge in.
    ///
    /// # Errors
    /// `Error::TooLarge` beyond 2^32 characters, or where they occur 2^63 times or more.
    pub(super) fn sequences(&self, ids: &Ids) -> Result<Sequences, Error> {
        let weight = |(count, characters): (u64, &[u32])| u128::from(count) * characters.len() as u128;
        if self.steps().map(weight).sum::<u128>() >= 1 << 63 {
            return Err(SentenceWords::too_many());
        }
        Sequences::spelled(self.characters.len(), self.spelled(ids))
    }

    pub(super) fn too_many() -> Error {
        Error::TooLarge("the characters of the corpus occur 2^63 times or more".to_owned())
    }
}

/// How often each code point occurs.
pub(super) struct Characters {
    low: Vec<u64>,
    others: FxHashMap<u32, u64>,
}

impl Default for Characters {
    fn default() -> Self {
        Characters { low: vec![0; DENSE], others: FxHashMap::default() }
    }
}

impl Characters {
    #[inline]
    pub fn add(&mut self, character: u32, count: u64) {
        let total = match self.low.get_mut(character as usize) {
            Some(total) => total,
            None => self.others.entry(character).or_default(),
        };
        *total = total.saturating_add(count);
    }

    /// In no order.
    pub fn counts(self) -> Vec<(char, u64)> {
        let found = (0..).zip(self.low).filter(|(_, count)| *count > 0).chain(self.others);
        found.filter_map(|(character, count)| Some((char::from_u32(character)?, count))).collect()
    }
}

/// The ids of characters.
#[derive(Debug)]
pub(super) struct Ids {
    low: Vec<u32>,
    others: FxHashMap<u32, u32>,
    len: u32,
}

impl Ids {
    /// From 0 up.
    pub fn new(characters: impl Iterator<Item = char>) -> Ids {
        let mut ids = Ids { low: vec![SEPARATOR; DENSE], others: FxHashMap::default(), len: 0 };
        for (id, character) in (0..).zip(characters) {
            ids.len = id + 1;
            match ids.low.get_mut(character as usize) {
                Some(place) => *place = id,
                None => drop(ids.others.insert(character.into(), id)),
            }
        }
        ids
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The id of a code point, or `SEPARATOR`.
    #[inline]
    pub fn of(&self, character: u32) -> u32 {
        let low = self.low.get(character as usize);
        *low.or_else(|| self.others.get(&character)).unwrap_or(&SEPARATOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_words_are_over_the_alphabet_and_all_are_counted() {
        let mut words = SentenceWords::default();
        for (word, count) in [("b", 2), ("ax", 9), ("a", 2), ("b", 1), ("ab", 2)] {
            words.add("", word, count);
        }
        let found = |most| words.frequent(&['a', 'b'], most);
        let expected = [("b", 3), ("a", 2), ("ab", 2)].map(|(word, count)| (word.to_owned(), count));
        assert_eq!(found(9), (expected.to_vec(), 16));
        assert_eq!(found(2), (expected[..2].to_vec(), 16));
    }
}
