//! From documents to words as Hugging Face's trainers count them: normalized, cut by steps, then by a split.
//!
//! Adds `Words`, which takes documents whole or in parts and keeps the distinct words with their counts. What comes
//! from a file is fed there line by line, each with its end: `lines` does the same. The order of words is that in
//! which threads found them: what is learned does not depend on it (`huggingface`).

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use super::{
    GoOn, huggingface_counted::Counted, memory::Room, stored::Stored, table::PieceTable, tally::Tally,
};
use crate::{
    Error, aligned::Aligned, normalize::Normalizer, pretokenize::Pretokenizer, split::Split, step::Step,
    threads,
};

/// Text that a thread takes at once, in bytes.
const STRETCH: usize = 1 << 18;
/// While a text is counted it is asked whether to go on once in so many words.
const OFTEN: usize = 1 << 14;
/// A document in parts is counted whenever this many bytes of it are at hand.
const PART: usize = 4 << 20;

/// What makes words of a document; shared by threads.
struct Cutter {
    normalizer: Normalizer,
    pretokenizer: Pretokenizer,
    split: Split,
    lines: bool,
}

/// What one thread has counted.
enum Found {
    Table(PieceTable),
    /// Under a limit of memory.
    Tally(Tally),
}

impl Found {
    fn add(&mut self, word: &[u8], count: u64, room: &Room) -> Result<(), Error> {
        match self {
            Found::Table(table) => table.add(word, count).map(drop),
            Found::Tally(tally) => {
                room.make(tally, 1)?;
                tally.add(word, 0, word.len(), count, 0)
            }
        }
    }
}

/// Distinct words of a corpus with their counts.
pub struct Words {
    cutter: Cutter,
    found: Vec<Mutex<Found>>,
    room: Arc<Room>,
    /// What of a document has come and is not counted.
    pending: String,
    /// Its length when it was last searched for a place to cut, and had none.
    searched: usize,
    bytes: u64,
}

impl Words {
    /// For text that these steps normalize and cut; `lines`: each line, with its end, is a document.
    ///
    /// # Errors
    /// `Error::Vocabulary`, `Error::Pattern` for steps that cannot be run.
    pub fn new(
        normalizer: &[Step],
        pretokenizer: &[Step],
        split: Split,
        lines: bool,
        room: Room,
    ) -> Result<Words, Error> {
        let (normalizer, pretokenizer) = (Normalizer::new(normalizer)?, Pretokenizer::new(pretokenizer)?);
        let cutter = Cutter { normalizer, pretokenizer, split, lines };
        let (found, room, pending) = (Vec::new(), Arc::new(room), String::new());
        let mut words = Words { cutter, found, room, pending, searched: 0, bytes: 0 };
        words.have(1);
        Ok(words)
    }

    /// Something to count in for so many threads.
    fn have(&mut self, threads: usize) {
        let limited = self.room.bytes().is_some();
        let seeds = Tally::seeds();
        while self.found.len() < threads {
            let tally = || Found::Tally(Tally::with_seeds(seeds));
            self.found.push(Mutex::new(if limited { tally() } else { Found::Table(PieceTable::default()) }));
        }
    }

    /// Counts whole documents.
    ///
    /// # Errors
    /// `Error::Interrupted`; `Error::TooLarge`; `Error::SplitFailed` where a pattern gives up.
    pub fn feed(&mut self, documents: &[&str], threads: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.bytes += documents.iter().map(|text| text.len() as u64).sum::<u64>();
        self.count(documents, threads, go_on)
    }

    /// Takes the next part of a document.
    ///
    /// # Errors
    /// As `feed`.
    pub fn feed_part(
        &mut self,
        part: &str,
        last: bool,
        threads: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        self.bytes += part.len() as u64;
        self.pending.push_str(part);
        let mut ready = self.pending.len();
        if !last {
            // A text without a place to cut is searched again when it has doubled: linear in all.
            if ready < PART.max(2 * self.searched) {
                return Ok(());
            }
            let Some(cut) = self.cutter.last_cut(&self.pending) else {
                self.searched = ready;
                return Ok(());
            };
            ready = cut;
        }
        self.searched = 0;
        let rest = self.pending.split_off(ready);
        let text = std::mem::replace(&mut self.pending, rest);
        self.count(&[&text], threads, go_on)
    }

    /// Adds a word that was counted elsewhere.
    ///
    /// # Errors
    /// `Error::TooLarge`.
    pub fn add(&mut self, word: &[u8], count: u64) -> Result<(), Error> {
        match self.found.first_mut() {
            Some(found) => {
                found.get_mut().unwrap_or_else(PoisonError::into_inner).add(word, count, &self.room)
            }
            None => Ok(()),
        }
    }

    /// Bytes of text taken so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that are taken and not counted yet.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The words counted so far, in one table; none under a limit of memory.
    ///
    /// # Errors
    /// `Error::TooLarge` beyond 2^32 distinct words.
    pub fn settle(&mut self) -> Result<Option<&PieceTable>, Error> {
        if self.room.bytes().is_some() {
            return Ok(None);
        }
        let others = self.found.split_off(self.found.len().min(1));
        let first =
            self.found.first_mut().map(|first| first.get_mut().unwrap_or_else(PoisonError::into_inner));
        let Some(Found::Table(all)) = first else { return Ok(None) };
        for other in others {
            if let Found::Table(table) = other.into_inner().unwrap_or_else(PoisonError::into_inner) {
                all.merge(&table)?;
            }
        }
        Ok(Some(all))
    }

    /// All words. Nothing is left here.
    ///
    /// # Errors
    /// `Error::TooLarge` beyond 2^32 distinct words; `Error::Interrupted`; what the system refuses.
    pub fn finish(&mut self, go_on: &mut GoOn<'_>) -> Result<Counted, Error> {
        let (mut all, mut tallies) = (PieceTable::default(), Vec::new());
        for found in self.found.drain(..) {
            match found.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Found::Table(table) if all.is_empty() => all = table,
                Found::Table(table) => all.merge(&table)?,
                Found::Tally(tally) => tallies.push(tally),
            }
        }
        self.have(1);
        if self.room.bytes().is_none() {
            return Ok(Counted::Table(all));
        }
        Stored::of(&self.room, tallies, go_on).map(Counted::Stored)
    }

    /// Counts texts that may end where they do; the calling thread takes part and asks `go_on`.
    fn count(&mut self, texts: &[&str], threads: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let stretches = self.cutter.stretches(texts);
        let wanted = threads.clamp(1, stretches.len().max(1));
        self.have(wanted);
        let (cutter, room) = (&self.cutter, &*self.room);
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let take = |table: &Mutex<Found>, go_on: &mut GoOn<'_>| -> Result<(), Error> {
            let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(stretch) = stretches.get(next.fetch_add(1, Ordering::Relaxed)) {
                if stop.load(Ordering::Relaxed) || !go_on() {
                    stop.store(true, Ordering::Relaxed);
                    return Err(Error::Interrupted);
                }
                let mut words = 0;
                let add = &mut |word: &[u8]| {
                    words += 1;
                    if words % OFTEN == 0 && (stop.load(Ordering::Relaxed) || !go_on()) {
                        stop.store(true, Ordering::Relaxed);
                        return Err(Error::Interrupted);
                    }
                    table.add(word, 1, room)
                };
                stretch.iter().try_for_each(|text| cutter.text(text, add))?;
            }
            Ok(())
        };
        let Some((own, others)) = self.found[..wanted].split_first() else { return Ok(()) };
        std::thread::scope(|scope| {
            let take = &take;
            let job = |table| threads::start(scope, move || take(table, &mut || true));
            let handles: Vec<_> = others.iter().filter_map(job).collect();
            let mut result = take(own, go_on);
            for handle in handles {
                result = result.and(threads::join(handle));
            }
            result
        })
    }
}

impl Cutter {
    /// Whether the split alone makes words of text.
    fn plain(&self) -> bool {
        self.normalizer.is_identity() && self.pretokenizer.is_empty()
    }

    /// The last place where a text may be cut, whatever follows.
    fn last_cut(&self, text: &str) -> Option<usize> {
        if self.lines {
            return text.rfind('\n').map(|at| at + 1);
        }
        if self.plain() { self.split.last_safe_cut(text) } else { None }
    }

    /// The texts in groups of about `STRETCH` bytes, cut where they may be.
    fn stretches<'t>(&self, texts: &[&'t str]) -> Vec<Vec<&'t str>> {
        let (mut groups, mut group, mut size) = (Vec::new(), Vec::new(), 0);
        for text in texts {
            let mut rest = *text;
            while !rest.is_empty() {
                let far = (STRETCH..rest.len()).find(|&at| rest.is_char_boundary(at));
                let cut = far.and_then(|at| self.last_cut(&rest[..at]));
                let (taken, left) = rest.split_at(cut.unwrap_or(rest.len()));
                group.push(taken);
                size += taken.len();
                rest = left;
                if size >= STRETCH / 2 {
                    groups.push(std::mem::take(&mut group));
                    size = 0;
                }
            }
        }
        groups.push(group);
        groups
    }

    /// Counts the words of a text.
    fn text(&self, text: &str, add: &mut impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        if self.lines {
            text.split_inclusive('\n').try_for_each(|line| self.document(line, add))
        } else {
            self.document(text, add)
        }
    }

    fn document(&self, text: &str, add: &mut impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        if self.plain() {
            return self.words(text, add);
        }
        let text = self.normalizer.apply(Aligned::new(text, 0, false)?, None)?;
        self.pretokenizer.for_each(vec![text], &mut |part| self.words(part.text(), add))
    }

    fn words(&self, text: &str, add: &mut impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let mut state = Ok(());
        self.split.pieces(text, &mut |piece| {
            if state.is_ok() {
                state = add(piece.as_bytes());
            }
        })?;
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Tables;

    fn counted(text: &str, lines: bool, threads: usize) -> Vec<(String, u64)> {
        let split = Split::new(Some(r"\s+|\S+"), Tables::Tiktoken, true).unwrap();
        let mut words = Words::new(&[], &[], split, lines, Room::default()).unwrap();
        for part in text.split_inclusive('b') {
            words.feed_part(part, false, threads, &mut || true).unwrap();
        }
        words.feed_part("", true, threads, &mut || true).unwrap();
        let table = words.finish(&mut || true).unwrap();
        let mut found = table.most_frequent(0, usize::MAX, None, &mut || true).unwrap();
        found.sort();
        found
    }

    #[test]
    fn lines_keep_their_ends_and_end_words() {
        let expected = [("\n", 2), ("ab", 2)].map(|(word, count)| (word.to_owned(), count));
        assert_eq!(counted("ab\n\nab", true, 2), expected);
        let expected = [("\n\n", 1), ("ab", 2)].map(|(word, count)| (word.to_owned(), count));
        assert_eq!(counted("ab\n\nab", false, 1), expected);
    }
}
