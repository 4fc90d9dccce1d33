//! What `Sentences` has counted, as a list of texts with numbers, from which another goes on.
//!
//! Words come as they are counted. What is no word has two line ends in front, and so has a word that begins with
//! these; then a letter says what it is. Leaves out the file (Python's side has it).

use std::sync::atomic::Ordering;

use super::{GoOn, sentences::Sentences, tally::Counted};
use crate::Error;

/// In front of what is no word.
const MARK: &str = "\n\n";
const WORD: char = 'w';
const SENTENCES: char = 'n';
const TAIL: char = 't';
const ORDER: char = 'o';

impl Sentences {
    /// Calls `f` with all that is counted by now, as `restore` takes it; not under a limit of memory.
    ///
    /// # Errors
    /// As `feed`.
    pub fn save(
        &mut self,
        go_on: &mut GoOn<'_>,
        f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut marked = |letter: char, text: &str, count: u64| {
            let text = format!("{MARK}{letter}{text}");
            f(Counted { piece: text.as_bytes(), count, first: 0 })
        };
        self.gather.settle(go_on)?;
        let cutter = self.gather.cutter();
        marked(SENTENCES, "", cutter.sentences.load(Ordering::Relaxed))?;
        let (kept, held) = cutter.tail.save();
        marked(TAIL, &kept, held)?;
        if let Some(order) = &self.order {
            order.save(&mut |text, count| marked(ORDER, text, count))?;
        }
        self.gather.tally().each_by_bytes(go_on, &mut |counted| {
            let Some(rest) = counted.piece.strip_prefix(MARK.as_bytes()) else { return f(counted) };
            let text = [MARK.as_bytes(), WORD.to_string().as_bytes(), MARK.as_bytes(), rest].concat();
            f(Counted { piece: &text, ..counted })
        })
    }

    /// Adds what another has counted, in the order of `save`.
    ///
    /// # Errors
    /// `Error::TooLarge`; `Error::Training` for what is none of it.
    pub fn restore(&mut self, piece: &[u8], count: u64) -> Result<(), Error> {
        let broken = || Error::Training("a text of a checkpoint is none that was counted".to_owned());
        let text = std::str::from_utf8(piece).map_err(|_| broken())?;
        let Some(rest) = text.strip_prefix(MARK) else { return self.restore_word(text, count) };
        let mut characters = rest.chars();
        let letter = characters.next();
        let rest = characters.as_str();
        if letter == Some(WORD) {
            return self.restore_word(rest, count);
        }
        let cutter = self.gather.cutter();
        match (letter, &mut self.order) {
            (Some(SENTENCES), _) => drop(cutter.sentences.fetch_add(count, Ordering::Relaxed)),
            (Some(TAIL), _) => cutter.tail.restore(rest, count, cutter.sentences.load(Ordering::Relaxed)),
            (Some(ORDER), Some(order)) => order.restore(rest, count).ok_or_else(broken)??,
            _ => return Err(broken()),
        }
        Ok(())
    }

    fn restore_word(&mut self, word: &str, count: u64) -> Result<(), Error> {
        self.gather.count(|cutter, (_, stretch), tally, room| {
            cutter.tail.add(stretch, String::new());
            room.make(tally, 1)?;
            tally.add(word.as_bytes(), 0, word.len(), count, 0)
        })
    }
}
