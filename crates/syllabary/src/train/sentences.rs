//! From documents to words as sentencepiece's trainer counts them: lines, normalized, symbols cut out.
//!
//! Adds `Sentences`, which takes documents in parts and keeps the distinct words with their counts, so memory is
//! theirs and that of one line. The order of words is that in which threads found them: what is learned does not
//! depend on it (`sentencepiece`). The specification is `reference/train_sentencepiece_sentences.py`. Leaves out:
//! samples of sentences and the choice of the alphabet.

use std::sync::atomic::{AtomicU64, Ordering};

use aho_corasick::{AhoCorasick, MatchKind};

use super::{
    GoOn,
    crew::Stretch,
    gather::{Counts, Gather},
    memory::Room,
    parallel::in_parts,
    sentence_words::SentenceWords,
    tally::Tally,
};
use crate::{Error, normalize::SentencePiece, step::Step};

const SPACE: char = '▁';
const BOUNDARY: char = '\u{1F}';
const UNKNOWN_CHARACTER: char = '\u{2585}';
/// In the tally, before words; what has none has to be normalized yet. In no line.
const READY: char = '\n';
/// Text that a thread takes at once, in bytes.
const STRETCH: usize = 1 << 18;
/// So many words are looked up together.
const SPANS: usize = 1 << 10;
/// No thread is started to normalize fewer bytes.
const FEWEST_BYTES: usize = 1 << 16;

/// How sentences become words; the options have sentencepiece's names.
#[derive(Clone, Debug)]
pub struct SentenceOptions {
    /// Texts that become boundaries, the longest of those that begin at one place.
    pub symbols: Vec<String>,
    /// Becomes a boundary too, unless it is empty.
    pub pretokenization_delimiter: String,
    /// In bytes; longer lines are passed over.
    pub max_sentence_length: usize,
    /// Whether sentences are cut into words.
    pub split_by_whitespace: bool,
    /// Whether spaces end words.
    pub treat_whitespace_as_suffix: bool,
    /// Whether spaces in a row stay together.
    pub allow_whitespace_only_pieces: bool,
    /// Whether what stands between spaces can be normalized alone: no rule reaches over one or makes a `▁`.
    pub words_apart: bool,
}

/// What turns a sentence into words; shared by threads.
struct Cutter {
    step: SentencePiece,
    symbols: Option<AhoCorasick>,
    options: SentenceOptions,
    /// Whether the words of a line without `▁` are those of its words alone.
    apart: bool,
    /// So many sentences count.
    sentences: AtomicU64,
}

/// Distinct words of a corpus with their counts.
pub struct Sentences {
    gather: Gather<Cutter>,
    threads: usize,
    /// A line that has begun; `None` once it is longer than lines may be.
    pending: Option<String>,
    bytes: u64,
}

impl Sentences {
    /// For text normalized by `step`, of the kind `SentencePiece`.
    ///
    /// # Errors
    /// `Error::Vocabulary` for damaged rules, `Error::Training` for symbols that cannot be searched for.
    pub fn new(step: &Step, options: SentenceOptions, threads: usize) -> Result<Sentences, Error> {
        let symbols = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&options.symbols)
            .map_err(|error| Error::Training(error.to_string()))?;
        let symbols = (!options.symbols.is_empty()).then_some(symbols);
        let own = |text: &String| text.contains([' ', SPACE]);
        let apart = options.words_apart
            && options.split_by_whitespace
            && !options.treat_whitespace_as_suffix
            && step.flag("add_dummy_prefix")?
            && step.flag("remove_extra_whitespaces")?
            && !options.symbols.iter().any(own)
            && !own(&options.pretokenization_delimiter);
        let sentences = AtomicU64::new(0);
        let cutter = Cutter { step: SentencePiece::new(step)?, symbols, options, apart, sentences };
        let gather = Gather::new(cutter, threads, STRETCH);
        Ok(Sentences { gather, threads, pending: Some(String::new()), bytes: 0 })
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
        self.gather.count(|cutter, tally| {
            cutter.sentences.fetch_add(1, Ordering::Relaxed);
            let mut line = String::new();
            cutter.words_of(sentence, &mut line, &mut |word| enter(word, count, tally))
        })
    }

    /// Bytes of text taken so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All words, and how many sentences counted. Nothing is left here.
    ///
    /// # Errors
    /// `Error::TooLarge` for a word of over 4 GB; `Error::Interrupted`.
    pub fn finish(&mut self, go_on: &mut GoOn<'_>) -> Result<(SentenceWords, u64), Error> {
        let tally = self.gather.finish(go_on)?;
        let (mut found, mut ends, mut counts) =
            (Vec::with_capacity(tally.total_bytes()), vec![0], Vec::new());
        tally.each_by_count(&mut |counted| {
            found.extend_from_slice(counted.piece);
            ends.push(found.len());
            counts.push(counted.count);
            Ok(())
        })?;
        drop(tally);
        let parts = self.threads.min(found.len() / FEWEST_BYTES).max(1);
        let cut = |part: usize| ends.partition_point(|end| *end <= found.len() / parts * part).max(1) - 1;
        let parts =
            (0..parts).map(|part| cut(part)..if part + 1 == parts { counts.len() } else { cut(part + 1) });
        let cutter = self.gather.cutter();
        let marked = cutter.marked(&found);
        let words = in_parts(parts.collect(), go_on, &|part, go_on: &mut GoOn<'_>| {
            let mut line = String::new();
            let mut words = SentenceWords::with_capacity(ends[part.end] - ends[part.start] + 2 * part.len());
            for at in part {
                super::ask(go_on, at)?;
                // Words come from `&str`.
                let word = std::str::from_utf8(&found[ends[at]..ends[at + 1]]).unwrap_or_default();
                match word.strip_prefix(READY) {
                    Some(word) => words.add("", word, counts[at]),
                    None if !marked && cutter.step.keeps(word) => words.add("▁", word, counts[at]),
                    None => cutter.words_of(word, &mut line, &mut |word| {
                        words.add("", word, counts[at]);
                        Ok(())
                    })?,
                }
            }
            Ok(words)
        })?;
        let mut words = words.into_iter();
        let mut all = words.next().unwrap_or_default();
        words.for_each(|words| all.append(&words));
        Ok((all, cutter.sentences.swap(0, Ordering::Relaxed)))
    }

    /// Keeps the beginning of a line, unless no line may be so long.
    fn hold(&mut self, text: &str) {
        if let Some(pending) = &mut self.pending {
            pending.push_str(text);
            if pending.trim_end_matches('\r').len() > self.gather.cutter().options.max_sentence_length {
                self.pending = None;
            }
        }
    }

    fn end_line(&mut self, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        match self.pending.replace(String::new()) {
            Some(line) => self.gather.take(&line, go_on),
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
            self.gather.take(taken, go_on)?;
            rest = left;
        }
        self.gather.take(rest, go_on)
    }
}

impl Counts for Cutter {
    fn count(
        &self,
        stretch: &Stretch,
        tally: &mut Tally,
        _: &Room,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        let whole = stretch.text();
        // As texts: a search for a character looks for its last byte, which is in most Greek letters' too.
        let marked = whole.contains("▁") || whole.contains("\u{2585}");
        let (mut spans, mut buffer, mut sentences) = (Vec::with_capacity(SPANS), String::new(), 0);
        for line in stretch.texts().flat_map(|text| text.split('\n')) {
            let line = line.trim_end_matches('\r');
            let fits = !line.is_empty() && line.len() <= self.options.max_sentence_length;
            if !fits || marked && line.contains(UNKNOWN_CHARACTER) {
                continue;
            }
            sentences += 1;
            if !self.apart || marked && line.contains(SPACE) {
                self.words_of(line, &mut buffer, &mut |word| enter(word, 1, tally))?;
                continue;
            }
            cut(line.as_bytes(), line.as_ptr() as usize - whole.as_ptr() as usize, &mut spans);
            if spans.len() >= SPANS {
                tally.add_all(whole.as_bytes(), &spans, 0)?;
                spans.clear();
                if !go_on() {
                    return Err(Error::Interrupted);
                }
            }
        }
        self.sentences.fetch_add(sentences, Ordering::Relaxed);
        tally.add_all(whole.as_bytes(), &spans, 0)
    }
}

/// Notes where the words of a line stand, which begins at `place`. Eight bytes at a time: words are short.
fn cut(line: &[u8], place: usize, spans: &mut Vec<(usize, usize)>) {
    const LOW: u64 = u64::from_le_bytes([0x7F; 8]);
    const SPACES: u64 = u64::from_le_bytes([b' '; 8]);
    let (chunks, rest) = line.as_chunks::<8>();
    let mut start = 0;
    let mut end_at = |at: usize| {
        if at > start {
            spans.push((place + start, place + at));
        }
        start = at + 1;
    };
    for (chunk, bytes) in chunks.iter().enumerate() {
        // Zero where there is a space; then the highest bit of each byte that is zero.
        let others = u64::from_le_bytes(*bytes) ^ SPACES;
        let mut found = !(((others & LOW) + LOW) | others | LOW);
        while found != 0 {
            end_at(8 * chunk + (found.trailing_zeros() / 8) as usize);
            found &= found - 1;
        }
    }
    let done = line.len() - rest.len();
    (0..).zip(rest).filter(|(_, byte)| **byte == b' ').for_each(|(at, _)| end_at(done + at));
    end_at(line.len());
}

/// Counts a word that is normalized.
fn enter(word: &str, count: u64, tally: &mut Tally) -> Result<(), Error> {
    let mut ready = String::with_capacity(word.len() + 1);
    ready.push(READY);
    ready.push_str(word);
    tally.add(ready.as_bytes(), 0, ready.len(), count, 0)
}

impl Cutter {
    /// Whether symbols or delimiters may be in these bytes.
    fn marked(&self, bytes: &[u8]) -> bool {
        let delimiter = self.options.pretokenization_delimiter.as_str();
        self.symbols.as_ref().is_some_and(|symbols| symbols.is_match(bytes))
            || !delimiter.is_empty() && String::from_utf8_lossy(bytes).contains(delimiter)
    }

    /// Calls `each` with the words of a sentence; `buffer` is memory to work in.
    fn words_of(
        &self,
        sentence: &str,
        buffer: &mut String,
        each: &mut dyn FnMut(&str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut text = std::mem::take(buffer);
        text.clear();
        self.step.write_plain(sentence, false, &mut text)?;
        if let Some(symbols) = &self.symbols
            && symbols.is_match(&text)
        {
            let mut cut = String::with_capacity(text.len());
            symbols.replace_all_with(&text, &mut cut, |_, _, out| {
                out.push(BOUNDARY);
                true
            });
            text = cut;
        }
        let delimiter = self.options.pretokenization_delimiter.as_str();
        if !delimiter.is_empty() && text.contains(delimiter) {
            text = text.replace(delimiter, "\u{1F}");
        }
        if self.options.split_by_whitespace {
            self.words(&text, each)?;
        } else {
            each(&text)?;
        }
        *buffer = text;
        Ok(())
    }

    /// Cuts a sentence before each space, or behind it.
    fn words(&self, text: &str, each: &mut dyn FnMut(&str) -> Result<(), Error>) -> Result<(), Error> {
        let (suffix, together) =
            (self.options.treat_whitespace_as_suffix, self.options.allow_whitespace_only_pieces);
        let mut start = 0;
        for (at, space) in text.match_indices(SPACE) {
            let behind = at + space.len();
            let goes_on =
                if suffix { text[behind..].starts_with(SPACE) } else { text[..at].ends_with(SPACE) };
            let cut = if suffix { behind } else { at };
            if (together && goes_on) || cut == start {
                continue;
            }
            each(&text[start..cut])?;
            start = cut;
        }
        if start < text.len() { each(&text[start..]) } else { Ok(()) }
    }
}

#[cfg(test)]
#[path = "sentences_tests.rs"]
mod tests;
