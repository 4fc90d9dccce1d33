//! The words that sentencepiece's trainer learns from, in memory or as they were counted, perhaps on disk.
//!
//! Under a limit of memory no word is held: each time that they are gone through, they are normalized anew. Leaves
//! out counting (`sentences`), and what is learned (`sentencepiece`).

use std::{path::PathBuf, sync::Arc};

use rustc_hash::FxHashSet;

use super::{
    GoOn, ask,
    frequent::Best,
    memory::Room,
    sentence_cutter::{Cutter, END, READY},
    sentence_words::{Characters, Ids, SentenceWords},
    sequences::{SEPARATOR, Sequences},
    stored::Stored,
    tally::Tally,
};
use crate::{
    Error,
    merge::{Merges, Scratch},
};

/// Takes a word in ids, and its count.
type Takes<'a> = dyn FnMut(u64, &mut Vec<u32>) -> Result<(), Error> + 'a;

/// Sees a word in two parts, its count, and whether it ends a sentence, if such words are kept apart.
pub(super) type Sees<'a> = dyn FnMut((&str, &str), u64, bool) -> Result<(), Error> + 'a;

/// Distinct words with their counts; a word may be there more than once.
pub enum Words {
    /// Spelled.
    Memory(SentenceWords),
    /// As they were counted.
    Stored(StoredWords),
}

/// Words as they were counted, and what normalizes them.
pub struct StoredWords {
    pub(super) stored: Stored,
    pub(super) cutter: Arc<Cutter>,
}

impl Default for Words {
    fn default() -> Self {
        Words::Memory(SentenceWords::default())
    }
}

impl StoredWords {
    /// Calls `f` with every word, normalized, and its count.
    pub(super) fn each(&self, go_on: &mut GoOn<'_>, f: &mut Sees<'_>) -> Result<(), Error> {
        let (mut line, mut step) = (String::new(), 0);
        self.stored.each(&mut |counted| {
            step += 1;
            ask(go_on, step)?;
            // Words come from `&str`.
            let word = std::str::from_utf8(counted.piece).unwrap_or_default();
            let marked = self.cutter.marked(counted.piece);
            self.cutter.finish_word(word, marked, &mut line, &mut |before, word, end| {
                f((before, word), counted.count, end)
            })
        })
    }

    /// The bytes of memory that they take as they were counted.
    pub(super) fn memory(&self) -> usize {
        self.stored.memory()
    }

    /// As `SentenceWords::frequent`: equal words are added up once more, those that exceed memory in files.
    fn frequent(
        &self,
        alphabet: &[char],
        most: usize,
        memory: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<(Vec<(String, u64)>, u64), Error> {
        let known: FxHashSet<char> = alphabet.iter().copied().collect();
        let room = match self.stored.beside("words") {
            Some(folder) => {
                std::fs::create_dir_all(&folder).map_err(|error| Error::of_file(&folder, &error))?;
                Arc::new(Room::new(memory / 2, 1, folder))
            }
            None => Arc::default(),
        };
        let (mut tally, mut text, mut total) = (Tally::default(), String::new(), 0_u64);
        self.each(go_on, &mut |(before, word), count, _| {
            text.clear();
            text.extend([before, word]);
            if text.is_empty() {
                return Ok(());
            }
            total = total.saturating_add(count);
            if !text.chars().all(|character| known.contains(&character)) {
                return Ok(());
            }
            room.make(&mut tally, 1)?;
            tally.add(text.as_bytes(), 0, text.len(), count, 0)
        })?;
        let words = Stored::of(&room, vec![tally], go_on)?;
        let mut best = Best::new(most, memory / 2);
        words.each(&mut |counted| best.take(counted))?;
        Ok((best.sorted(), total))
    }
}

impl Words {
    /// The words over an alphabet with their counts, at most `most`, the most frequent first, of equals the smaller;
    /// and how often any word occurs. memory: bytes that there are for them.
    ///
    /// # Errors
    /// As `characters`; `Error::Training` where so many words do not fit.
    pub fn frequent(
        &self,
        alphabet: &[char],
        most: usize,
        memory: Option<usize>,
        go_on: &mut GoOn<'_>,
    ) -> Result<(Vec<(String, u64)>, u64), Error> {
        match self {
            Words::Memory(words) => Ok(words.frequent(alphabet, most)),
            Words::Stored(words) => words.frequent(alphabet, most, memory.unwrap_or(usize::MAX), go_on),
        }
    }

    /// How often each character occurs, as often as the words do; in no order.
    ///
    /// # Errors
    /// `Error::Interrupted`; what the system refuses.
    pub fn characters(&self, go_on: &mut GoOn<'_>) -> Result<Vec<(char, u64)>, Error> {
        match self {
            Words::Memory(words) => Ok(words.characters()),
            Words::Stored(words) => {
                let mut found = Characters::default();
                words.each(go_on, &mut |(before, word), count, _| {
                    let all = before.chars().chain(word.chars());
                    all.for_each(|character| found.add(character.into(), count));
                    Ok(())
                })?;
                Ok(found.counts())
            }
        }
    }

    /// Calls `f` with the words in the ids of characters, each with its count and without its edges; characters
    /// without an id are edges of words.
    pub(super) fn each_spelled(
        &self,
        ids: &Ids,
        go_on: &mut GoOn<'_>,
        f: &mut Takes<'_>,
    ) -> Result<(), Error> {
        let mut word = Vec::new();
        let mut take = |count: u64, id: u32| {
            if id != SEPARATOR {
                word.push(id);
                return Ok(());
            }
            let taken = if word.is_empty() { Ok(()) } else { f(count, &mut word) };
            word.clear();
            taken
        };
        match self {
            Words::Memory(words) => {
                let mut step = 0;
                for (count, symbols) in words.spelled(ids) {
                    for id in symbols {
                        step += 1;
                        ask(go_on, step)?;
                        take(count, id)?;
                    }
                }
                Ok(())
            }
            Words::Stored(words) => words.each(go_on, &mut |(before, word), count, _| {
                let mut all = before.chars().chain(word.chars());
                all.try_for_each(|character| take(count, ids.of(character.into())))?;
                take(count, SEPARATOR)
            }),
        }
    }

    /// The words as sequences to merge in, joined as far as `merges` say, whose ids follow those of characters.
    /// memory: what the places may take; more are put in a file.
    ///
    /// # Errors
    /// `Error::TooLarge` beyond 2^32 characters, or where they occur 2^63 times or more; `Error::Interrupted`.
    pub(super) fn sequences(
        &self,
        ids: &Ids,
        merges: &[(u32, u32)],
        memory: Option<usize>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Sequences, Error> {
        if let (Words::Memory(words), true) = (self, merges.is_empty()) {
            return words.sequences(ids);
        }
        let results = merges.iter().zip(ids.len()..).map(|(&(left, right), id)| (left, right, id));
        let joins = Merges::from_list(&results.collect::<Vec<_>>())?;
        let (mut scratch, mut weight) = (Scratch::default(), 0_u128);
        Sequences::spelled_twice(self.file(memory), false, &mut |_, f| {
            weight = 0;
            self.each_spelled(ids, go_on, &mut |count, word| {
                weight += u128::from(count) * (word.len() + 1) as u128;
                if !merges.is_empty() {
                    joins.apply(word, None, &mut scratch)?;
                }
                f(count, word);
                if weight < 1 << 63 { Ok(()) } else { Err(SentenceWords::too_many()) }
            })
        })
    }

    /// Where the places go that are too many.
    fn file(&self, memory: Option<usize>) -> Option<(usize, PathBuf)> {
        match self {
            Words::Stored(words) => memory.zip(words.stored.beside("places")),
            Words::Memory(_) => None,
        }
    }
}

impl Cutter {
    /// Calls `f` with the words that a piece of the tally is, in two parts each, and whether they end sentences.
    /// marked: whether there may be symbols in it.
    pub(super) fn finish_word(
        &self,
        word: &str,
        marked: bool,
        line: &mut String,
        f: &mut dyn FnMut(&str, &str, bool) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match word.strip_prefix(READY) {
            Some(word) => match word.strip_prefix(END) {
                Some(word) => f("", word, true),
                None => f("", word, false),
            },
            None if !marked && self.step.keeps(word) => f("▁", word, false),
            None => self.words_of(word, line, &mut |word| f("", word, false)),
        }
    }
}
