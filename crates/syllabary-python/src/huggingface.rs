//! `HuggingFaceTrainer`: counts words as they come, then learns names and merges.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyBytes};
use syllabary::train::{
    PieceTable,
    huggingface::BpeTrainerOptions,
    huggingface_counted::Counted,
    huggingface_learn::{Learning, first_names, learn},
    huggingface_words::Words,
};

use crate::{
    convert,
    errors::{exception, to_python},
    keeper::{Keeper, Merges},
    pieces::{self, Placed},
    steps,
    trainer::{Pulse, feed, room, work},
    unigram,
};

/// Collects words and learns merges. For one thread: `syllabary.train` owns it.
#[pyclass(module = "syllabary._engine")]
pub struct HuggingFaceTrainer {
    words: Words,
    table: Counted,
    threads: usize,
    memory: Option<usize>,
}

fn options(given: &Bound<'_, PyAny>, byte_level: bool) -> PyResult<BpeTrainerOptions> {
    let texts = |name: &str| given.getattr(name)?.extract::<Vec<String>>();
    let mark = |name: &str| given.getattr(name)?.extract::<Option<String>>();
    Ok(BpeTrainerOptions {
        vocab_size: given.getattr("vocab_size")?.extract()?,
        min_frequency: given.getattr("min_frequency")?.extract()?,
        special_tokens: texts("special_tokens")?,
        limit_alphabet: given.getattr("limit_alphabet")?.extract()?,
        initial_alphabet: texts("initial_alphabet")?.iter().filter_map(|text| text.chars().next()).collect(),
        continuing_subword_prefix: mark("continuing_subword_prefix")?.unwrap_or_default(),
        end_of_word_suffix: mark("end_of_word_suffix")?.unwrap_or_default(),
        max_token_length: given.getattr("max_token_length")?.extract()?,
        byte_level,
    })
}

type Learned<'py> = (Vec<String>, usize, Bound<'py, PyArray2<u32>>, Bound<'py, PyArray1<u64>>);

#[pymethods]
impl HuggingFaceTrainer {
    #[new]
    #[pyo3(signature = (normalizer, pretokenizer, split, lines, threads, memory=None))]
    fn new(
        normalizer: &Bound<'_, PyAny>,
        pretokenizer: &Bound<'_, PyAny>,
        split: &Bound<'_, PyAny>,
        lines: bool,
        threads: usize,
        memory: Option<(usize, PathBuf)>,
    ) -> PyResult<Self> {
        let (threads, limit, room) = room(threads, memory);
        let (before, steps) = (steps::steps(normalizer)?, steps::steps(pretokenizer)?);
        let words = Words::new(&before, &steps, convert::split(split)?, lines, room)
            .map_err(|error| to_python(split.py(), error, None))?;
        let table = Counted::Table(PieceTable::default());
        Ok(HuggingFaceTrainer { words, table, threads, memory: limit })
    }

    fn feed(&mut self, documents: &Bound<'_, PyAny>) -> PyResult<()> {
        feed(documents, |texts, go_on| self.words.feed(texts, self.threads, go_on))
    }

    fn feed_part(&mut self, py: Python<'_>, part: &Bound<'_, PyAny>, last: bool) -> PyResult<()> {
        let text = convert::text(part)?;
        work(py, |go_on| self.words.feed_part(&text, last, self.threads, go_on))
    }

    /// Words that were counted elsewhere, back to back in bytes or an array of them; word `i` ends at `ends[i]`.
    fn feed_counts(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        ends: PyReadonlyArray1<'_, u64>,
        counts: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let array: PyReadonlyArray1<'_, u8>;
        let data = if let Ok(bytes) = data.cast::<PyBytes>() {
            bytes.as_bytes()
        } else {
            array = data.extract()?;
            array.as_slice()?
        };
        let (ends, counts) = (ends.as_slice()?, counts.as_slice()?);
        let wrong = || exception(py, "TrainingError", "the table of counts is damaged".to_owned());
        if ends.len() != counts.len() {
            return Err(wrong());
        }
        let mut start = 0;
        for (&end, &count) in ends.iter().zip(counts) {
            let word = usize::try_from(end).ok().and_then(|end| data.get(start..end)).ok_or_else(wrong)?;
            self.words.add(word, count).map_err(|error| to_python(py, error, None))?;
            start += word.len();
        }
        Ok(())
    }

    /// The words counted so far back to back, where each ends, its count, and its place in an order.
    fn counts_and_places<'py>(&mut self, py: Python<'py>) -> PyResult<Placed<'py>> {
        let words = &mut self.words;
        pieces::placed(py, |_, take| {
            let table = words.settle()?;
            table.into_iter().flat_map(PieceTable::iter).try_for_each(|(word, count)| take(word, count, None))
        })
    }

    /// How many distinct words are counted so far, or one where some are and memory is limited.
    #[getter]
    fn distinct_pieces(&mut self, py: Python<'_>) -> PyResult<usize> {
        let limited = usize::from(self.words.bytes() > 0);
        let table = self.words.settle().map_err(|error| to_python(py, error, None))?;
        Ok(table.map_or(limited, PieceTable::len))
    }

    /// Bytes that are taken and not counted yet.
    #[getter]
    fn pending(&self) -> usize {
        self.words.pending()
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.words.bytes()
    }

    /// The number of distinct words; nothing can be fed after that.
    fn finish(&mut self, py: Python<'_>) -> PyResult<usize> {
        self.table = work(py, |go_on| self.words.finish(go_on))?;
        Ok(self.table.distinct())
    }

    /// The words that occur `least` times or more, the most frequent first and equal ones in order; at most `most`.
    fn most_frequent(&self, py: Python<'_>, least: u64, most: usize) -> PyResult<Vec<(String, u64)>> {
        work(py, |go_on| self.table.most_frequent(least, most, self.memory, go_on))
    }

    /// The names that there are before the first merge, by id.
    fn first_names(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyAny>,
        byte_level: bool,
    ) -> PyResult<Vec<String>> {
        let options = self::options(options, byte_level)?;
        work(py, |go_on| first_names(&self.table, &options, go_on))
    }

    /// The characters of all words with their counts, by code point.
    fn characters(&self, py: Python<'_>) -> PyResult<Vec<(char, u64)>> {
        let counts = py.detach(|| self.table.characters()).map_err(|error| to_python(py, error, None))?;
        Ok(counts.into_iter().collect())
    }

    /// The pieces of a unigram model of the words, which are used up, with their scores; the arguments are those of
    /// `learn_unigram_of`.
    #[pyo3(signature = (settings, callback=None, known=None, keep=None))]
    fn learn_unigram(
        &mut self,
        py: Python<'_>,
        settings: &Bound<'_, PyAny>,
        callback: Option<Py<PyAny>>,
        known: Option<unigram::Known<'_>>,
        keep: Option<Py<PyAny>>,
    ) -> PyResult<Vec<(String, f64)>> {
        let follower = unigram::Follower::new(callback, known, keep)?;
        let words = std::mem::replace(&mut self.table, Counted::Table(PieceTable::default()));
        unigram::learn_words(py, |_| Ok(words), settings, (self.threads, self.memory), follower)
    }

    /// Names by id, how many there were before merging, merges as `(left, right, result)`, and their counts.
    /// `likelihood`: pairs by what they gain (`train::wordpiece`), else by how often they occur. `known`, `keep`: as
    /// `SentencePieceTrainer::learn`.
    #[pyo3(signature = (options, byte_level, callback, likelihood=false, known=None, keep=None))]
    #[allow(clippy::too_many_arguments)]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        options: &Bound<'py, PyAny>,
        byte_level: bool,
        callback: Option<Py<PyAny>>,
        likelihood: bool,
        known: Option<Merges<'_>>,
        keep: Option<(Py<PyAny>, f64)>,
    ) -> PyResult<Learned<'py>> {
        let options = self::options(options, byte_level)?;
        let (mut pulse, mut keeper) = (Pulse::new(callback), Keeper::new(keep));
        let known = keeper.begin(known)?;
        let learning = Learning { threads: self.threads, memory: self.memory, likelihood, known };
        let pair = |&(left, right, _): &(u32, u32, u32)| (left, right);
        let trained = py.detach(|| {
            let progress = &mut |merges: &[(u32, u32, u32)], counts: &[u64]| {
                let done = (merges.len(), counts.last().copied().unwrap_or(0));
                keeper.learned(merges, counts, pair) && pulse.beat(Some(done))
            };
            learn(&self.table, &options, &learning, progress)
        });
        let trained = keeper.result(trained, |error| pulse.exception(py, error))?;
        keeper.end(&trained.merges, &trained.counts, pair)?;
        let flat = trained.merges.iter().flat_map(|&(left, right, id)| [left, right, id]).collect();
        let merges = convert::rows(py, flat, 3)?;
        Ok((trained.names, trained.first, merges, trained.counts.into_pyarray(py)))
    }
}
