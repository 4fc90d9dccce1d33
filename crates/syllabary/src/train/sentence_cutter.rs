//! What turns sentences into words, on each thread: normalized, symbols cut out, cut before spaces.
//!
//! Words that can be normalized alone are counted as they stand, and normalized once, when the text has ended.
//! Leaves out how text comes (`sentences`), and the tally.

use std::sync::atomic::{AtomicU64, Ordering};

use aho_corasick::{AhoCorasick, MatchKind};

use super::{
    GoOn,
    crew::Stretch,
    gather::Counts,
    going,
    memory::Room,
    sentence_tail::{self, Tail},
    tally::Tally,
};
use crate::{Error, normalize::SentencePiece, step::Step};

const SPACE: char = '▁';
const BOUNDARY: char = '\u{1F}';
const UNKNOWN_CHARACTER: char = '\u{2585}';
/// In the tally, before words; what has none has to be normalized yet. In no line.
pub const READY: char = '\n';
/// Behind it, before words that end sentences, if they are kept apart. In no word that is normalized.
pub const END: char = ' ';
/// So many words are looked up together.
const SPANS: usize = 1 << 10;

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
    /// Whether words that end sentences are kept apart.
    pub ends: bool,
}

/// What turns a sentence into words; shared by threads.
pub(super) struct Cutter {
    pub step: SentencePiece,
    symbols: Option<AhoCorasick>,
    pub options: SentenceOptions,
    /// Whether the words of a line without `▁` are those of its words alone.
    apart: bool,
    /// Whether the order of sentences matters: ends are kept apart, and not all sentences begin with a space, or
    /// they are not cut into words.
    pub ordered: bool,
    /// So many sentences count.
    pub sentences: AtomicU64,
    /// The words that end them, if these are kept apart.
    pub tail: Tail,
}

impl Counts for Cutter {
    fn count(
        &self,
        stretch: &Stretch,
        tally: &mut Tally,
        room: &Room,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        let whole = stretch.text();
        // As texts: a search for a character looks for its last byte, which is in most Greek letters' too.
        let marked = whole.contains("▁") || whole.contains("\u{2585}");
        let (mut spans, mut buffer, mut sentences) = (Vec::with_capacity(SPANS), String::new(), 0);
        let mut lasts = String::new();
        for line in stretch.texts().flat_map(|text| text.split('\n')) {
            let line = line.trim_end_matches('\r');
            if !self.fits(line) || marked && line.contains(UNKNOWN_CHARACTER) {
                continue;
            }
            sentences += 1;
            if !self.apart || marked && line.contains(SPACE) {
                self.enter_line(line, 1, (&mut buffer, &mut lasts), (tally, room))?;
                self.end_sentence(&mut lasts);
                continue;
            }
            let first = spans.len();
            cut(line.as_bytes(), line.as_ptr() as usize - whole.as_ptr() as usize, &mut spans);
            // The last word that is not normalized away ends the sentence.
            let mut ended = !self.options.ends;
            while !ended
                && spans.len() > first
                && let Some((start, end)) = spans.pop()
            {
                let word = &whole[start..end];
                ended = self.enter_line(word, 1, (&mut buffer, &mut lasts), (tally, room))?;
            }
            self.end_sentence(&mut lasts);
            if spans.len() >= SPANS {
                room.make(tally, spans.len())?;
                tally.add_all(whole.as_bytes(), &spans, 0)?;
                spans.clear();
                going(go_on)?;
            }
        }
        self.sentences.fetch_add(sentences, Ordering::Relaxed);
        self.tail.add(stretch.number, lasts);
        room.make(tally, spans.len())?;
        tally.add_all(whole.as_bytes(), &spans, 0)
    }
}

/// Notes where the words of a line stand, which begins at `place`. Eight bytes at a time: words are short.
pub(super) fn cut(line: &[u8], place: usize, spans: &mut Vec<(usize, usize)>) {
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

/// Counts a word that is normalized; `end`: it ends a sentence.
fn enter(word: &str, count: u64, end: bool, (tally, room): (&mut Tally, &Room)) -> Result<(), Error> {
    let mut ready = String::with_capacity(word.len() + 2);
    ready.push(READY);
    if end {
        ready.push(END);
    }
    ready.push_str(word);
    room.make(tally, 1)?;
    tally.add(ready.as_bytes(), 0, ready.len(), count, 0)
}

impl Cutter {
    /// `Error::Vocabulary` for damaged rules, `Error::Training` for symbols that cannot be searched for.
    pub fn new(step: &Step, options: SentenceOptions) -> Result<Cutter, Error> {
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
        let spaced = step.flag("add_dummy_prefix")? && !options.treat_whitespace_as_suffix;
        let ordered = options.ends && !(spaced && options.split_by_whitespace);
        let (sentences, tail) = (AtomicU64::new(0), Tail::default());
        Ok(Cutter { step: SentencePiece::new(step)?, symbols, options, apart, ordered, sentences, tail })
    }

    /// Whether a line is not empty and not too long.
    fn fits(&self, line: &str) -> bool {
        !line.is_empty() && line.len() <= self.options.max_sentence_length
    }

    /// Whether a line is a sentence that counts.
    pub fn counts(&self, line: &str) -> bool {
        self.fits(line) && !line.contains(UNKNOWN_CHARACTER)
    }

    /// Ends a sentence behind its last word.
    pub fn end_sentence(&self, lasts: &mut String) {
        lasts.extend(self.options.ends.then_some(sentence_tail::END));
    }

    /// Counts the words of a sentence; whether it has any. Its last word goes behind `lasts`, if ends are kept apart.
    pub fn enter_line(
        &self,
        line: &str,
        count: u64,
        (buffer, lasts): (&mut String, &mut String),
        (tally, room): (&mut Tally, &Room),
    ) -> Result<bool, Error> {
        let ends = self.options.ends;
        let mut before = String::new();
        let mut any = false;
        self.words_of(line, buffer, &mut |word| {
            if word.is_empty() {
                return Ok(());
            }
            if any {
                enter(&before, count, false, (tally, room))?;
            }
            any = true;
            word.clone_into(&mut before);
            Ok(())
        })?;
        if any {
            enter(&before, count, ends, (tally, room))?;
            lasts.push_str(if ends { &before } else { "" });
        }
        Ok(any)
    }

    /// Whether symbols or delimiters may be in these bytes.
    pub fn marked(&self, bytes: &[u8]) -> bool {
        let delimiter = self.options.pretokenization_delimiter.as_str();
        self.symbols.as_ref().is_some_and(|symbols| symbols.is_match(bytes))
            || !delimiter.is_empty() && String::from_utf8_lossy(bytes).contains(delimiter)
    }

    /// Calls `each` with the words of a sentence; `buffer` is memory to work in.
    pub fn words_of(
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
