//! `SentencePieceTrainer`: counts sentences as they come, then learns pieces.

use pyo3::prelude::*;
use syllabary::train::{
    sentencepiece::{self, Character, PieceRules},
    sentences::{Found, SentenceOptions, Sentences},
    unigram::sentences::prepare,
};

use crate::{convert, errors::to_python, steps, trainer::Pulse, unigram};

/// Collects sentences and learns pieces. For one thread: `syllabary.train` owns it.
#[pyclass(module = "syllabary._engine")]
pub struct SentencePieceTrainer {
    sentences: Sentences,
    found: Found,
    rules: PieceRules,
    threads: usize,
}

#[pymethods]
impl SentencePieceTrainer {
    #[new]
    fn new(
        step: &Bound<'_, PyAny>,
        options: &Bound<'_, PyAny>,
        symbols: Vec<String>,
        words_apart: bool,
        threads: usize,
        ends: bool,
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
        let sentences =
            Sentences::new(&step, wanted, threads).map_err(|error| to_python(options.py(), error, None))?;
        Ok(SentencePieceTrainer { sentences, found: Found::default(), rules, threads })
    }

    fn feed(&mut self, py: Python<'_>, documents: &Bound<'_, PyAny>) -> PyResult<()> {
        let texts = convert::texts(documents)?;
        let slices: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let (sentences, mut pulse) = (&mut self.sentences, Pulse::new(None));
        py.detach(|| sentences.feed(&slices, &mut || pulse.beat(None)))
            .map_err(|error| pulse.exception(py, error))
    }

    fn feed_part(&mut self, py: Python<'_>, part: &Bound<'_, PyAny>, last: bool) -> PyResult<()> {
        let text = convert::text(part)?;
        let slice: &str = &text;
        let (sentences, mut pulse) = (&mut self.sentences, Pulse::new(None));
        py.detach(|| sentences.feed_part(slice, last, &mut || pulse.beat(None)))
            .map_err(|error| pulse.exception(py, error))
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
        let (sentences, mut pulse) = (&mut self.sentences, Pulse::new(None));
        let found = py.detach(|| sentences.finish(&mut || pulse.beat(None)));
        self.found = found.map_err(|error| pulse.exception(py, error))?;
        let mut characters = py.detach(|| self.found.words.characters());
        characters.extend(py.detach(|| self.found.last.characters()));
        Ok((self.found.sentences, characters))
    }

    /// The most frequent words over an alphabet with their counts, and how often any word occurs.
    fn frequent_words(&self, py: Python<'_>, alphabet: Vec<char>, most: usize) -> (Vec<(String, u64)>, u64) {
        py.detach(|| self.found.words.frequent(&alphabet, most))
    }

    fn learn(
        &self,
        py: Python<'_>,
        alphabet: Vec<(char, u16, bool)>,
        room: usize,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<String>, Vec<u64>)> {
        let made = |(text, script, refused)| Character { text, script, refused };
        let alphabet: Vec<Character> = alphabet.into_iter().map(made).collect();
        let mut pulse = Pulse::new(callback);
        let learned = py.detach(|| {
            let progress = &mut |done, count| pulse.beat(Some((done, count)));
            sentencepiece::learn(&self.found.words, &alphabet, self.rules, room, self.threads, progress)
        });
        let learned = learned.map_err(|error| pulse.exception(py, error))?;
        Ok(learned.into_iter().map(|piece| (piece.text, piece.count)).unzip())
    }

    /// Pieces of a unigram model with their scores; the sentences are used up.
    fn learn_unigram(
        &mut self,
        py: Python<'_>,
        alphabet: Vec<(char, u16, bool)>,
        options: &Bound<'_, PyAny>,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<Vec<(String, f64)>> {
        let made = |(text, script, refused)| Character { text, script, refused };
        let alphabet: Vec<Character> = alphabet.into_iter().map(made).collect();
        let (wanted, size) = (unigram::options(options, self.threads)?, unigram::size(options)?);
        let found = std::mem::take(&mut self.found);
        unigram::learn(py, callback, &wanted, || prepare(found, &alphabet, self.rules, size))
    }
}
