//! From documents to words as sentencepiece's trainer counts them: lines, normalized, symbols cut out.
//!
//! Adds `Sentences`, which takes documents in parts and keeps the distinct words with their counts, so memory is
//! theirs and that of one line. The order of words is that in which threads found them: what is learned does not
//! depend on it (`sentencepiece`). The specification is `reference/train_sentencepiece_sentences.py`. Leaves out:
//! samples of sentences and the choice of the alphabet.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use aho_corasick::{AhoCorasick, MatchKind};

use super::{GoOn, table::PieceTable};
use crate::{Error, normalize::SentencePiece, step::Step, threads};

const SPACE: char = '▁';
const BOUNDARY: char = '\u{1F}';
const UNKNOWN_CHARACTER: char = '\u{2585}';
/// Text that a thread takes at once, in bytes.
const STRETCH: usize = 1 << 18;

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
}

/// What one thread has found.
#[derive(Default)]
struct Found {
    words: PieceTable,
    /// What stands between spaces of lines, before it is normalized.
    raw: PieceTable,
    sentences: u64,
    line: String,
}

/// Distinct words of a corpus with their counts.
pub struct Sentences {
    cutter: Cutter,
    found: Vec<Mutex<Found>>,
    /// A line that has begun; `None` once it is longer than lines may be.
    pending: Option<String>,
    bytes: u64,
}

impl Sentences {
    /// For text normalized by `step`, of the kind `SentencePiece`.
    ///
    /// # Errors
    /// `Error::Vocabulary` for damaged rules, `Error::Training` for symbols that cannot be searched for.
    pub fn new(step: &Step, options: SentenceOptions) -> Result<Sentences, Error> {
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
        let cutter = Cutter { step: SentencePiece::new(step)?, symbols, options, apart };
        Ok(Sentences { cutter, found: vec![Mutex::default()], pending: Some(String::new()), bytes: 0 })
    }

    /// Counts whole documents; their lines are the sentences.
    ///
    /// # Errors
    /// `Error::Interrupted`; `Error::TooLarge` beyond 2^32 distinct words.
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
        let Some(end) = part.find('\n') else {
            self.hold(part);
            return if last { self.end_line(threads, go_on) } else { Ok(()) };
        };
        self.hold(&part[..end]);
        self.end_line(threads, go_on)?;
        let rest = &part[end + 1..];
        let kept = if last { rest.len() } else { rest.rfind('\n').map_or(0, |at| at + 1) };
        self.count(&[&rest[..kept]], threads, go_on)?;
        self.hold(&rest[kept..]);
        Ok(())
    }

    /// Counts a sentence that was chosen already, `count` times.
    ///
    /// # Errors
    /// As `feed`.
    pub fn add(&mut self, sentence: &str, count: u64) -> Result<(), Error> {
        self.bytes += sentence.len() as u64;
        match self.found.first_mut() {
            Some(found) => {
                self.cutter.add(sentence, count, found.get_mut().unwrap_or_else(PoisonError::into_inner))
            }
            None => Ok(()),
        }
    }

    /// Bytes of text taken so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All words, and how many sentences counted. Nothing is left here.
    ///
    /// # Errors
    /// `Error::TooLarge` beyond 2^32 distinct words.
    pub fn finish(&mut self) -> Result<(PieceTable, u64), Error> {
        let (mut all, mut sentences) = (Found::default(), 0_u64);
        for found in &mut self.found {
            let found = std::mem::take(found.get_mut().unwrap_or_else(PoisonError::into_inner));
            sentences = sentences.saturating_add(found.sentences);
            all.words.merge(&found.words)?;
            if all.raw.is_empty() {
                all.raw = found.raw;
            } else {
                all.raw.merge(&found.raw)?;
            }
        }
        for (word, count) in std::mem::take(&mut all.raw).iter() {
            self.cutter.write(&String::from_utf8_lossy(word), count, &mut all)?;
        }
        Ok((all.words, sentences))
    }

    /// Keeps the beginning of a line, unless no line may be so long.
    fn hold(&mut self, text: &str) {
        if let Some(pending) = &mut self.pending {
            pending.push_str(text);
            if pending.trim_end_matches('\r').len() > self.cutter.options.max_sentence_length {
                self.pending = None;
            }
        }
    }

    fn end_line(&mut self, threads: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        match self.pending.replace(String::new()) {
            Some(line) if !line.is_empty() => self.count(&[&line], threads, go_on),
            _ => Ok(()),
        }
    }

    /// Counts texts that are whole lines; the calling thread takes part and asks `go_on`.
    fn count(&mut self, texts: &[&str], threads: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let stretches = stretches(texts);
        let wanted = threads.clamp(1, stretches.len().max(1));
        while self.found.len() < wanted {
            self.found.push(Mutex::default());
        }
        let (cutter, next, stop) = (&self.cutter, AtomicUsize::new(0), AtomicBool::new(false));
        let take = |found: &Mutex<Found>, go_on: &mut GoOn<'_>| -> Result<(), Error> {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(stretch) = stretches.get(next.fetch_add(1, Ordering::Relaxed)) {
                if stop.load(Ordering::Relaxed) || !go_on() {
                    stop.store(true, Ordering::Relaxed);
                    return Err(Error::Interrupted);
                }
                for text in stretch {
                    text.split('\n').try_for_each(|line| cutter.line(line, &mut found))?;
                }
            }
            Ok(())
        };
        let Some((own, others)) = self.found[..wanted].split_first() else { return Ok(()) };
        std::thread::scope(|scope| {
            let take = &take;
            let job = |found| threads::start(scope, move || take(found, &mut || true));
            let handles: Vec<_> = others.iter().filter_map(job).collect();
            let mut result = take(own, go_on);
            for handle in handles {
                result = result.and(threads::join(handle));
            }
            result
        })
    }
}

/// The texts cut at line ends into groups of about `STRETCH` bytes.
fn stretches<'t>(texts: &[&'t str]) -> Vec<Vec<&'t str>> {
    let (mut groups, mut group, mut size) = (Vec::new(), Vec::new(), 0);
    for text in texts {
        let mut rest = *text;
        while !rest.is_empty() {
            let line_end = |from: &[u8]| from.iter().position(|byte| *byte == b'\n');
            let far = rest.as_bytes().get(STRETCH..).and_then(line_end);
            let (taken, left) = rest.split_at(far.map_or(rest.len(), |at| STRETCH + at + 1));
            group.push(taken);
            size += taken.len();
            rest = left;
            if size >= STRETCH {
                groups.push(std::mem::take(&mut group));
                size = 0;
            }
        }
    }
    if !group.is_empty() {
        groups.push(group);
    }
    groups
}

impl Cutter {
    /// A line of a document, without its end.
    fn line(&self, line: &str, found: &mut Found) -> Result<(), Error> {
        let line = line.trim_end_matches('\r');
        let length = line.len();
        if length == 0 || length > self.options.max_sentence_length || line.contains(UNKNOWN_CHARACTER) {
            return Ok(());
        }
        if !self.apart || line.contains(SPACE) {
            return self.add(line, 1, found);
        }
        found.sentences = found.sentences.saturating_add(1);
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        words.try_for_each(|word| found.raw.add(word.as_bytes(), 1).map(drop))
    }

    fn add(&self, sentence: &str, count: u64, found: &mut Found) -> Result<(), Error> {
        found.sentences = found.sentences.saturating_add(1);
        self.write(sentence, count, found)
    }

    /// Counts the words of a sentence.
    fn write(&self, sentence: &str, count: u64, found: &mut Found) -> Result<(), Error> {
        let mut text = std::mem::take(&mut found.line);
        text.clear();
        self.step.write_plain(sentence, &mut text)?;
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
        let words = &mut found.words;
        if self.options.split_by_whitespace {
            self.words(&text, &mut |word| words.add(word.as_bytes(), count).map(drop))?;
        } else {
            words.add(text.as_bytes(), count)?;
        }
        found.line = text;
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
mod tests {
    use super::*;
    use crate::step::Value;

    fn sentences(change: impl Fn(&mut SentenceOptions)) -> Sentences {
        let mut options = SentenceOptions {
            symbols: vec!["<s>".to_owned()],
            pretokenization_delimiter: String::new(),
            max_sentence_length: 12,
            split_by_whitespace: true,
            treat_whitespace_as_suffix: false,
            allow_whitespace_only_pieces: false,
            words_apart: true,
        };
        change(&mut options);
        let flag = |name: &str, on| (name.to_owned(), Value::Bool(on));
        let step = Step {
            kind: "SentencePiece".to_owned(),
            options: [
                ("precompiled_charsmap".to_owned(), Value::Bytes(Vec::new())),
                flag("add_dummy_prefix", true),
                flag(
                    "remove_extra_whitespaces",
                    !options.allow_whitespace_only_pieces && !options.treat_whitespace_as_suffix,
                ),
                flag("treat_whitespace_as_suffix", options.treat_whitespace_as_suffix),
                flag("escape_whitespaces", true),
            ]
            .into(),
        };
        Sentences::new(&step, options).unwrap()
    }

    fn words(mut sentences: Sentences) -> Vec<(String, u64)> {
        let (table, _) = sentences.finish().unwrap();
        let mut found: Vec<_> =
            table.iter().map(|(word, count)| (String::from_utf8_lossy(word).into_owned(), count)).collect();
        found.sort();
        found
    }

    fn pair(text: &str, count: u64) -> (String, u64) {
        (text.to_owned(), count)
    }

    #[test]
    fn words_begin_with_spaces_or_end_with_them() {
        let mut plain = sentences(|_| ());
        plain.feed(&["a b\na<s>c"], 1, &mut || true).unwrap();
        assert_eq!(words(plain), [pair("▁a", 1), pair("▁a\u{1F}c", 1), pair("▁b", 1)]);
        let mut suffix = sentences(|options| options.treat_whitespace_as_suffix = true);
        suffix.feed(&["a  b"], 1, &mut || true).unwrap();
        assert_eq!(words(suffix), [pair("a▁", 1), pair("b▁", 1), pair("▁", 1)]);
        let mut together = sentences(|options| options.allow_whitespace_only_pieces = true);
        together.feed(&["a  b"], 1, &mut || true).unwrap();
        assert_eq!(words(together), [pair("▁a", 1), pair("▁▁b", 1)]);
    }

    #[test]
    fn parts_are_those_of_the_whole() {
        let text = "ab cd\r\n\nlonger than twelve\nx\u{2585}\nef\n gh";
        let mut whole = sentences(|_| ());
        whole.feed(&[text], 2, &mut || true).unwrap();
        let expected = words(whole);
        assert_eq!(expected.len(), 4);
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let mut parts = sentences(|_| ());
            parts.feed_part(&text[..at], false, 2, &mut || true).unwrap();
            parts.feed_part(&text[at..], true, 2, &mut || true).unwrap();
            assert_eq!(words(parts), expected, "{at}");
        }
    }

    #[test]
    fn threads_change_nothing_and_it_can_be_stopped() {
        let text = "one two\n".repeat(200_000);
        let mut many = sentences(|_| ());
        many.feed(&[&text], 7, &mut || true).unwrap();
        assert_eq!(words(many), [pair("▁one", 200_000), pair("▁two", 200_000)]);
        let ended = sentences(|_| ()).feed(&[&text], 2, &mut || false);
        assert_eq!(ended, Err(Error::Interrupted));
    }
}
