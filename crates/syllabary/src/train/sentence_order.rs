//! Sentences in the order in which they come, for a learner to whom it matters.
//!
//! Adds what follows each word, by its first character: the next word, the next sentence, or nothing. The places of
//! sentences that hold nothing are filled from the back, as sentencepiece fills them. Memory is that of the distinct
//! words, and 16 bytes a sentence. The specification is `reference/train_unigram_sentencepiece.py` (`in_places`,
//! `followed`). Leaves out what cuts sentences into words (`sentence_cutter`).

use rustc_hash::FxHashMap;

use super::{sentence_cutter::Cutter, table::PieceTable};
use crate::Error;

/// What follows a word; a character is the first of what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum After {
    /// A word of the same sentence.
    Word(char),
    /// The end of the sentence, and then another one.
    Sentence(char),
    /// The end of the sentence that comes last.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
struct Sentence {
    first: char,
    /// The number of its last word.
    last: u32,
    count: u64,
}

/// Sentences as they come, with their distinct words.
#[derive(Debug, Default)]
pub struct Order {
    table: PieceTable,
    /// Words that others follow in their sentence, and with which character these begin.
    inner: FxHashMap<(u32, char), u64>,
    sentences: Vec<Option<Sentence>>,
}

impl Order {
    /// Takes the next sentence, which counts `count` times; `buffer` is memory to work in.
    ///
    /// # Errors
    /// `Error::TooLarge` beyond 2^32 distinct words.
    pub(super) fn take(
        &mut self,
        cutter: &Cutter,
        sentence: &str,
        count: u64,
        buffer: &mut String,
    ) -> Result<(), Error> {
        let mut found: Option<Sentence> = None;
        cutter.words_of(sentence, buffer, &mut |word| {
            let Some(first) = word.chars().next() else { return Ok(()) };
            let number = self.table.add(word.as_bytes(), count)?;
            let Some(sentence) = &mut found else {
                found = Some(Sentence { first, last: number, count });
                return Ok(());
            };
            let total = self.inner.entry((sentence.last, first)).or_default();
            *total = total.saturating_add(count);
            sentence.last = number;
            Ok(())
        })?;
        self.sentences.push(found);
        Ok(())
    }

    /// Calls `f` with all that there is by now, each with its count: words by number, then what follows them, then
    /// sentences.
    pub(super) fn save(&self, f: &mut dyn FnMut(&str, u64) -> Result<(), Error>) -> Result<(), Error> {
        self.words().try_for_each(|(word, count)| f(&format!("w{word}"), count))?;
        let mut inner: Vec<_> = self.inner.iter().collect();
        inner.sort_unstable();
        for ((number, first), count) in inner {
            f(&format!("i{number} {}", u32::from(*first)), *count)?;
        }
        self.sentences.iter().try_for_each(|sentence| match sentence {
            Some(sentence) => f(&format!("s{} {}", sentence.last, u32::from(sentence.first)), sentence.count),
            None => f("s", 0),
        })
    }

    /// Adds what `save` has told, in its order; `None` for what it never tells.
    pub(super) fn restore(&mut self, text: &str, count: u64) -> Option<Result<(), Error>> {
        let mut characters = text.chars();
        let letter = characters.next()?;
        let rest = characters.as_str();
        if letter == 'w' {
            return Some(self.table.add(rest.as_bytes(), count).map(drop));
        }
        if (letter, rest) == ('s', "") {
            self.sentences.push(None);
            return Some(Ok(()));
        }
        let (number, first) = rest.split_once(' ')?;
        let number = number.parse().ok().filter(|number| (*number as usize) < self.table.len())?;
        let first = char::from_u32(first.parse().ok()?)?;
        match letter {
            'i' => drop(self.inner.insert((number, first), count)),
            's' => self.sentences.push(Some(Sentence { first, last: number, count })),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// `Error::Training` where what is held, and the words that are made of it, exceed the memory that there is.
    pub(super) fn check(&self, memory: Option<usize>) -> Result<(), Error> {
        let words = 10 * self.table.total_bytes() + 104 * self.table.len();
        let held = 80 * self.inner.len() + 64 * self.sentences.len();
        match memory {
            Some(memory) if words + held > memory => Err(Error::Training(format!(
                "the memory limit is too small for this corpus: {} sentences, whose order matters with these \
                 options, and {} distinct words need over {} MiB; give a higher limit, or leave \
                 treat_whitespace_as_suffix, add_dummy_prefix and split_by_whitespace as they are by default",
                self.sentences.len(),
                self.table.len(),
                memory >> 20,
            ))),
            _ => Ok(()),
        }
    }

    /// No more sentences come: the empty ones go.
    pub(super) fn finish(&mut self) {
        let mut at = 0;
        while let Some(sentence) = self.sentences.get(at) {
            if sentence.is_some() {
                at += 1;
            } else {
                self.sentences.swap_remove(at);
            }
        }
    }

    /// The distinct words by number, with their counts.
    pub(super) fn words(&self) -> impl Iterator<Item = (&str, u64)> {
        // Words come from `&str`.
        self.table.iter().map(|(word, count)| (std::str::from_utf8(word).unwrap_or_default(), count))
    }

    /// The numbers of words, what follows them, and how often; in no order.
    pub(super) fn followed(&self) -> Vec<(u32, After, u64)> {
        let mut last: FxHashMap<(u32, After), u64> = FxHashMap::default();
        let mut add = |word, after, count| {
            let total = last.entry((word, after)).or_default();
            *total = total.saturating_add(count);
        };
        let nexts = self.sentences.iter().skip(1).map(Option::as_ref).chain([None]);
        for (sentence, next) in self.sentences.iter().flatten().zip(nexts) {
            if sentence.count > 1 {
                add(sentence.last, After::Sentence(sentence.first), sentence.count - 1);
            }
            add(sentence.last, next.map_or(After::Nothing, |next| After::Sentence(next.first)), 1);
        }
        let inner = self.inner.iter().map(|((word, first), count)| (*word, After::Word(*first), *count));
        inner.chain(last.into_iter().map(|((word, after), count)| (word, after, count))).collect()
    }

    /// The last words of the sentences by number, each with how often its sentence counts.
    pub(super) fn last_words(&self) -> impl Iterator<Item = (u32, u64)> {
        self.sentences.iter().flatten().map(|sentence| (sentence.last, sentence.count))
    }
}
