//! From documents to words as sentencepiece's trainer counts them: lines, normalized, symbols cut out.
//!
//! Adds `Sentences`, which takes documents in parts and keeps the distinct words with their counts, so memory is
//! theirs and that of one line. The order of words is that in which threads found them: what is learned does not
//! depend on it (`sentencepiece`). Where it does, sentences are taken one by one (`sentence_order`). The specification is `reference/train_sentencepiece_sentences.py`. Leaves out:
//! samples of sentences and the choice of the alphabet.

use std::sync::{Arc, atomic::Ordering};

use super::{
    GoOn,
    gather::Gather,
    going,
    memory::Room,
    parallel::in_parts,
    sentence_cutter::Cutter,
    sentence_store::{StoredWords, Words},
    sentence_words::SentenceWords,
    tally::Tally,
};
pub use super::{
    sentence_cutter::SentenceOptions,
    sentence_order::{After, Order},
};
use crate::{Error, step::Step};

/// Text that a thread takes at once, in bytes.
const STRETCH: usize = 1 << 18;
/// No thread is started to normalize fewer bytes.
const FEWEST_BYTES: usize = 1 << 16;

/// Distinct words of a corpus with their counts.
pub struct Sentences {
    pub(super) gather: Gather<Cutter>,
    threads: usize,
    /// Bytes of memory, if they are limited.
    limit: Option<usize>,
    /// A line that has begun; `None` once it is longer than lines may be.
    pending: Option<String>,
    /// Its bytes, kept or not.
    begun: usize,
    bytes: u64,
    /// Sentences one by one, if their order matters.
    pub(super) order: Option<Order>,
}

/// All words of a corpus.
#[derive(Default)]
pub struct Found {
    /// Words, but for those that end sentences if these are kept apart.
    pub words: Words,
    /// Words that end sentences, if they are kept apart.
    pub last: SentenceWords,
    /// The word that ends the sentence that comes last (`sentence_tail`), if they are.
    pub tail: String,
    /// Sentences in order, if it matters: then no words are kept apart.
    pub order: Option<Order>,
    /// How many sentences counted.
    pub sentences: u64,
}

impl Sentences {
    /// For text normalized by `step`, of the kind `SentencePiece`. room: words that exceed it go to files.
    ///
    /// # Errors
    /// `Error::Vocabulary` for damaged rules, `Error::Training` for symbols that cannot be searched for.
    pub fn new(
        step: &Step,
        options: SentenceOptions,
        threads: usize,
        room: Room,
    ) -> Result<Sentences, Error> {
        let limit = room.bytes();
        let cutter = Cutter::new(step, options)?;
        let order = cutter.ordered.then(Order::default);
        let gather = Gather::new(cutter, threads, STRETCH, room);
        let pending = Some(String::new());
        Ok(Sentences { gather, threads, limit, pending, begun: 0, bytes: 0, order })
    }

    /// Counts whole documents; their lines are the sentences.
    ///
    /// # Errors
    /// `Error::Interrupted`; `Error::TooLarge` beyond 2^32 distinct words.
    pub fn feed(&mut self, documents: &[&str], go_on: &mut GoOn<'_>) -> Result<(), Error> {
        for document in documents {
            self.bytes += document.len() as u64;
            self.lines(document, go_on)?;
        }
        Ok(())
    }

    /// Takes the next part of a document.
    ///
    /// # Errors
    /// As `feed`.
    pub fn feed_part(&mut self, part: &str, last: bool, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.bytes += part.len() as u64;
        let Some(end) = part.find('\n') else {
            self.hold(part);
            return if last { self.end_line(go_on) } else { Ok(()) };
        };
        self.hold(&part[..end]);
        self.end_line(go_on)?;
        let rest = &part[end + 1..];
        let kept = if last { rest.len() } else { rest.rfind('\n').map_or(0, |at| at + 1) };
        self.lines(&rest[..kept], go_on)?;
        self.hold(&rest[kept..]);
        Ok(())
    }

    /// Counts a sentence that was chosen already, `count` times.
    ///
    /// # Errors
    /// As `feed`.
    pub fn add(&mut self, sentence: &str, count: u64) -> Result<(), Error> {
        self.bytes += sentence.len() as u64;
        if let Some(order) = &mut self.order {
            let cutter = self.gather.cutter();
            cutter.sentences.fetch_add(1, Ordering::Relaxed);
            order.take(cutter, sentence, count, &mut String::new())?;
            return order.check(self.limit);
        }
        self.gather.count(|cutter, (_, stretch), tally, room| {
            cutter.sentences.fetch_add(1, Ordering::Relaxed);
            let mut last = String::new();
            cutter.enter_line(sentence, count, (&mut String::new(), &mut last), (tally, room))?;
            cutter.end_sentence(&mut last);
            cutter.tail.add(stretch, last);
            Ok(())
        })
    }

    /// Bytes of text taken so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the line under way, which are not counted yet.
    pub fn pending(&self) -> usize {
        self.begun
    }

    /// The number of distinct words that are counted by now.
    ///
    /// # Errors
    /// As `feed`.
    pub fn distinct(&mut self, go_on: &mut GoOn<'_>) -> Result<usize, Error> {
        self.gather.settle(go_on)?;
        Ok(self.order.as_ref().map_or(self.gather.distinct(), |order| order.words().count()))
    }

    /// All words. Nothing is left here.
    ///
    /// # Errors
    /// `Error::TooLarge` for a word of over 4 GB; `Error::Interrupted`.
    pub fn finish(&mut self, go_on: &mut GoOn<'_>) -> Result<Found, Error> {
        if let Some(mut order) = self.order.take() {
            order.finish();
            let mut words = SentenceWords::default();
            order.words().for_each(|(word, count)| words.add("", word, count));
            let sentences = self.gather.cutter().sentences.swap(0, Ordering::Relaxed);
            return Ok(Found {
                words: Words::Memory(words),
                order: Some(order),
                sentences,
                ..Found::default()
            });
        }
        let stored = self.gather.finish(go_on)?;
        let cutter = self.gather.cutter();
        let tail = cutter.tail.take();
        let (words, last) = if self.limit.is_some() {
            let cutter = Arc::clone(cutter);
            (Words::Stored(StoredWords { stored, cutter }), SentenceWords::default())
        } else {
            let [words, last] = spelled(stored.into_tally(), cutter, self.threads, go_on)?;
            (Words::Memory(words), last)
        };
        Ok(Found { words, last, tail, order: None, sentences: cutter.sentences.swap(0, Ordering::Relaxed) })
    }

    /// Keeps the beginning of a line, unless no line may be so long.
    fn hold(&mut self, text: &str) {
        self.begun += text.len();
        if let Some(pending) = &mut self.pending {
            pending.push_str(text);
            if pending.trim_end_matches('\r').len() > self.gather.cutter().options.max_sentence_length {
                self.pending = None;
            }
        }
    }

    fn end_line(&mut self, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.begun = 0;
        match self.pending.replace(String::new()) {
            Some(line) => self.take(&line, go_on),
            None => Ok(()),
        }
    }

    /// Takes text that is whole lines.
    fn lines(&mut self, text: &str, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let mut rest = text;
        while let Some(at) =
            rest.as_bytes().get(STRETCH..).and_then(|far| far.iter().position(|b| *b == b'\n'))
        {
            let (taken, left) = rest.split_at(STRETCH + at + 1);
            self.take(taken, go_on)?;
            rest = left;
        }
        self.take(rest, go_on)
    }

    /// Counts whole lines, or takes them one by one.
    fn take(&mut self, text: &str, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let Some(order) = &mut self.order else { return self.gather.take(text, go_on) };
        let (cutter, mut buffer) = (self.gather.cutter(), String::new());
        for (at, line) in text.split('\n').map(|line| line.trim_end_matches('\r')).enumerate() {
            super::ask(go_on, at)?;
            if cutter.counts(line) {
                cutter.sentences.fetch_add(1, Ordering::Relaxed);
                order.take(cutter, line, 1, &mut buffer)?;
            }
        }
        order.check(self.limit)?;
        going(go_on)
    }
}

/// The words of a tally, and those that end sentences if they are kept apart.
fn spelled(
    tally: Tally,
    cutter: &Cutter,
    threads: usize,
    go_on: &mut GoOn<'_>,
) -> Result<[SentenceWords; 2], Error> {
    let (mut found, mut ends, mut counts) = (Vec::with_capacity(tally.total_bytes()), vec![0], Vec::new());
    tally.each_by_count(&mut |counted| {
        found.extend_from_slice(counted.piece);
        ends.push(found.len());
        counts.push(counted.count);
        Ok(())
    })?;
    drop(tally);
    let parts = threads.min(found.len() / FEWEST_BYTES).max(1);
    let cut = |part: usize| ends.partition_point(|end| *end <= found.len() / parts * part).max(1) - 1;
    let parts =
        (0..parts).map(|part| cut(part)..if part + 1 == parts { counts.len() } else { cut(part + 1) });
    let marked = cutter.marked(&found);
    let words = in_parts(parts.collect(), go_on, &|part, go_on: &mut GoOn<'_>| {
        let mut line = String::new();
        let room = ends[part.end] - ends[part.start] + 2 * part.len();
        let mut words = [SentenceWords::with_capacity(room), SentenceWords::default()];
        for at in part {
            super::ask(go_on, at)?;
            // Words come from `&str`.
            let word = std::str::from_utf8(&found[ends[at]..ends[at + 1]]).unwrap_or_default();
            cutter.finish_word(word, marked, &mut line, &mut |before, word, end| {
                words[usize::from(end)].add(before, word, counts[at]);
                Ok(())
            })?;
        }
        Ok(words)
    })?;
    let mut words = words.into_iter();
    let [mut all, mut last] = words.next().unwrap_or_default();
    words.for_each(|[words, ends]| {
        all.append(&words);
        last.append(&ends);
    });
    Ok([all, last])
}

#[cfg(test)]
#[path = "sentences_tests.rs"]
mod tests;
