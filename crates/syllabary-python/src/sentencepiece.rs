//! `SentencePieceTrainer`: counts sentences as they come, then learns pieces.

use std::path::PathBuf;

use numpy::PyReadonlyArray1;
use pyo3::{prelude::*, types::PyBytes};
use syllabary::train::{
    sentencepiece::{self, Character, Learning, PieceRules},
    sentences::{Found, SentenceOptions, Sentences},
    unigram::sentences::prepare,
};

use crate::{
    convert,
    errors::to_python,
    keeper::{Keeper, Merges},
    pieces::{self, Placed},
    steps,
    trainer::{Pulse, feed, room, work},
    unigram,
};

/// Collects sentences and learns pieces. For one thread: `syllabary.train` owns it.
#[pyclass(module = "syllabary._engine")]
pub struct SentencePieceTrainer {
    sentences: Sentences,
    found: Found,
    rules: PieceRules,
    threads: usize,
    memory: Option<usize>,
}

/// Characters, each with its script and whether it is in no piece but its own.
type Letters = Vec<(char, u16, bool)>;

fn characters(letters: Letters) -> Vec<Character> {
    letters.into_iter().map(|(text, script, refused)| Character { text, script, refused }).collect()
}

#[pymethods]
impl SentencePieceTrainer {
    #[new]
    #[pyo3(signature = (step, options, symbols, words_apart, threads, ends, memory=None))]
    fn new(
        step: &Bound<'_, PyAny>,
        options: &Bound<'_, PyAny>,
        symbols: Vec<String>,
        words_apart: bool,
        threads: usize,
        ends: bool,
        memory: Option<(usize, PathBuf)>,
    ) -> PyResult<Self> {
        let flag = |name: &str| options.getattr(name)?.extract::<bool>();
        let rules = PieceRules {
            max_sentencepiece_length: options.getattr("max_sentencepiece_length")?.extract()?,
            split_by_whitespace: flag("split_by_whitespace")?,
            treat_whitespace_as_suffix: flag("treat_whitespace_as_suffix")?,
            allow_whitespace_only_pieces: flag("allow_whitespace_only_pieces")?,
        };
        let wanted = SentenceOptions {
            symbols,
            pretokenization_delimiter: options.getattr("pretokenization_delimiter")?.extract()?,
            max_sentence_length: options.getattr("max_sentence_length")?.extract()?,
            split_by_whitespace: rules.split_by_whitespace,
            treat_whitespace_as_suffix: rules.treat_whitespace_as_suffix,
            allow_whitespace_only_pieces: rules.allow_whitespace_only_pieces,
            words_apart,
            ends,
        };
        let step = steps::step(step)?;
        let (threads, limit, room) = room(threads, memory);
        let sentences = Sentences::new(&step, wanted, threads, room)
            .map_err(|error| to_python(options.py(), error, None))?;
        Ok(SentencePieceTrainer { sentences, found: Found::default(), rules, threads, memory: limit })
    }

    fn feed(&mut self, documents: &Bound<'_, PyAny>) -> PyResult<()> {
        feed(documents, |texts, go_on| self.sentences.feed(texts, go_on))
    }

    fn feed_part(&mut self, py: Python<'_>, part: &Bound<'_, PyAny>, last: bool) -> PyResult<()> {
        let text = convert::text(part)?;
        work(py, |go_on| self.sentences.feed_part(&text, last, go_on))
    }

    /// A sentence that was chosen already.
    fn add(&mut self, py: Python<'_>, sentence: &Bound<'_, PyAny>, count: u64) -> PyResult<()> {
        let text = convert::text(sentence)?;
        self.sentences.add(&text, count).map_err(|error| to_python(py, error, None))
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.sentences.bytes()
    }

    /// How many sentences counted, and the characters of their words with their counts.
    fn finish(&mut self, py: Python<'_>) -> PyResult<(u64, Vec<(char, u64)>)> {
        self.found = work(py, |go_on| self.sentences.finish(go_on))?;
        let mut characters = work(py, |go_on| self.found.words.characters(go_on))?;
        characters.extend(py.detach(|| self.found.last.characters()));
        Ok((self.found.sentences, characters))
    }

    /// The most frequent words over an alphabet with their counts, and how often any word occurs; uses up what was found.
    fn frequent_words(
        &mut self,
        py: Python<'_>,
        alphabet: Vec<char>,
        most: usize,
    ) -> PyResult<(Vec<(String, u64)>, u64)> {
        let (words, memory) = (std::mem::take(&mut self.found.words), self.memory);
        work(py, |go_on| words.frequent(&alphabet, most, memory, go_on))
    }

    /// `known`: pairs that were joined before, (n, 2), with their counts. `keep`: a function that is given new pairs
    /// and their counts, and how often, in seconds; the last ones at the end.
    #[pyo3(signature = (alphabet, room, callback, known=None, keep=None))]
    fn learn(
        &self,
        py: Python<'_>,
        alphabet: Letters,
        room: usize,
        callback: Option<Py<PyAny>>,
        known: Option<Merges<'_>>,
        keep: Option<(Py<PyAny>, f64)>,
    ) -> PyResult<(Vec<String>, Vec<u64>)> {
        let alphabet = characters(alphabet);
        let (mut pulse, mut keeper) = (Pulse::new(callback), Keeper::new(keep));
        let (memory, known) = (self.memory, keeper.begin(known)?);
        let learned = py.detach(|| {
            let progress = &mut |pairs: &[(u32, u32)], counts: &[u64]| {
                let done = (pairs.len(), counts.last().copied().unwrap_or(0));
                keeper.learned(pairs, counts, |&pair| pair) && pulse.beat(Some(done))
            };
            let learning = Learning { alphabet: &alphabet, room, threads: self.threads, memory, known };
            sentencepiece::learn(&self.found.words, self.rules, learning, progress)
        });
        let (learned, pairs) = keeper.result(learned, |error| pulse.exception(py, error))?;
        let (texts, counts): (Vec<String>, Vec<u64>) =
            learned.into_iter().map(|piece| (piece.text, piece.count)).unzip();
        keeper.end(&pairs, &counts[..pairs.len()], |&pair| pair)?;
        Ok((texts, counts))
    }

    /// Words that were counted before, as `counts_and_places` gives them.
    fn feed_counts(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyBytes>,
        ends: PyReadonlyArray1<'_, u64>,
        counts: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let sentences = &mut self.sentences;
        pieces::feed(py, data, (&ends, &counts), |piece, count| sentences.restore(piece, count))
    }

    /// All that is counted by now: words and sentences, where each ends, its count, and its place here.
    fn counts_and_places<'py>(&mut self, py: Python<'py>) -> PyResult<Placed<'py>> {
        let sentences = &mut self.sentences;
        pieces::placed(py, |go_on, take| {
            sentences.save(go_on, &mut |counted| take(counted.piece, counted.count, None))
        })
    }

    /// The number of distinct words that are counted by now.
    #[getter]
    fn distinct_pieces(&mut self, py: Python<'_>) -> PyResult<usize> {
        work(py, |go_on| self.sentences.distinct(go_on))
    }

    /// Bytes of the line under way, which are not counted yet.
    #[getter]
    fn pending(&self) -> usize {
        self.sentences.pending()
    }

    /// Pieces of a unigram model with their scores; the sentences are used up. `known`, `keep`: as `learn_unigram_of`.
    #[pyo3(signature = (alphabet, options, callback, known=None, keep=None))]
    fn learn_unigram(
        &mut self,
        py: Python<'_>,
        alphabet: Letters,
        options: &Bound<'_, PyAny>,
        callback: Option<Py<PyAny>>,
        known: Option<unigram::Known<'_>>,
        keep: Option<Py<PyAny>>,
    ) -> PyResult<Vec<(String, f64)>> {
        let alphabet = characters(alphabet);
        let wanted = unigram::options(options, self.threads, self.memory)?;
        let (found, size) = (std::mem::take(&mut self.found), unigram::size(options)?);
        let follower = unigram::Follower::new(callback, known, keep)?;
        let (rules, memory) = (self.rules, wanted.memory);
        unigram::learn(py, follower, &wanted, |go_on| prepare(found, &alphabet, rules, size, memory, go_on))
    }
}
