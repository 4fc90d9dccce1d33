//! The word that ends the sentence that comes last.
//!
//! sentencepiece fills the places of sentences that hold nothing with others from the back: with `n` sentences that hold
//! something, the last one is the first of these from the n-th of all on. So with every one that holds something an
//! earlier one can be forgotten, and what is kept are the last words of as many sentences as hold nothing.
//!
//! Adds: `Tail`, which takes the last words of stretches as threads find them. Leaves out what the words are (`sentence_cutter`).

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Ends the last word of a sentence, which has none; a sentence that holds nothing has this alone.
pub(super) const END: char = '\n';
/// Sentences that are forgotten stay in memory while they are fewer bytes.
const FORGOTTEN: usize = 1 << 16;

/// Last words so far.
#[derive(Default)]
pub(super) struct Tail(Mutex<Words>);

#[derive(Default)]
struct Words {
    /// The stretch that goes on from here, and those behind it.
    next: u64,
    early: BTreeMap<u64, String>,
    /// Sentences that hold something, and the number of the first one that is kept.
    held: u64,
    first: u64,
    /// From byte `start` on, the words of all sentences from the first on.
    words: String,
    start: usize,
}

impl Tail {
    fn words(&self) -> MutexGuard<'_, Words> {
        // What has panicked has changed nothing half.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the last words of all sentences of a stretch, which has this number.
    pub fn add(&self, stretch: u64, lasts: String) {
        let mut words = self.words();
        words.early.insert(stretch, lasts);
        loop {
            let next = words.next;
            let Some(lasts) = words.early.remove(&next) else { break };
            words.next += 1;
            words.held += lasts.split_terminator(END).filter(|word| !word.is_empty()).count() as u64;
            words.words.push_str(&lasts);
            words.forget();
        }
    }

    /// All that matters, where no stretch is missing: the words that are kept, and how many sentences held something.
    pub fn save(&self) -> (String, u64) {
        let words = self.words();
        (words.words[words.start..].to_owned(), words.held)
    }

    /// Goes on from there; `sentences`: so many there were.
    pub fn restore(&self, kept: &str, held: u64, sentences: u64) {
        let mut words = self.words();
        let count = kept.matches(END).count() as u64;
        (words.held, words.first) = (held, sentences.saturating_sub(count));
        (words.words, words.start) = (kept.to_owned(), 0);
    }

    /// The word, or an empty one. Nothing is left here.
    pub fn take(&self) -> String {
        let words = std::mem::take(&mut *self.words());
        words.words[words.start..].split(END).find(|word| !word.is_empty()).unwrap_or_default().to_owned()
    }
}

impl Words {
    /// Forgets the sentences before the n-th.
    fn forget(&mut self) {
        while self.first + 1 < self.held
            && let Some(end) = self.words[self.start..].find(END)
        {
            self.start += end + 1;
            self.first += 1;
        }
        if self.start > FORGOTTEN && 2 * self.start > self.words.len() {
            self.words.drain(..self.start);
            self.start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_that_of_a_list_of_all() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = |below| u64::from(crate::drawn::random(&mut state, below));
        for round in 0..300 {
            let blank = 1 + random(9);
            let sentences: Vec<String> = (0..random(200 + 40 * round))
                .map(|at| if random(10) < blank { String::new() } else { format!("w{at}") })
                .collect();
            let tail = Tail::default();
            let mut stretches: Vec<String> = sentences
                .chunks(1 + random(30) as usize)
                .map(|chunk| chunk.iter().map(|word| format!("{word}{END}")).collect())
                .collect();
            stretches.push(String::new());
            // In any order, none far from its place; and saved in between.
            for four in (0..stretches.len()).collect::<Vec<_>>().chunks(4) {
                four.iter().rev().for_each(|&at| tail.add(at as u64, stretches[at].clone()));
                let (kept, held) = tail.save();
                let done: usize =
                    stretches[..=*four.last().unwrap()].iter().map(|s| s.matches(END).count()).sum();
                assert!(kept.matches(END).count() as u64 <= done as u64 - held + 1);
                let next = std::mem::replace(&mut tail.words().next, 0);
                *tail.words() = Words { next, ..Words::default() };
                tail.restore(&kept, held, done as u64);
            }
            let held = sentences.iter().filter(|word| !word.is_empty()).count();
            let last = sentences.iter().skip(held.max(1) - 1).find(|word| !word.is_empty());
            assert_eq!(tail.take(), last.cloned().unwrap_or_default());
        }
    }
}
