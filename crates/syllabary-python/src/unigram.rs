//! `learn_unigram`: a unigram language model of counted words.

use numpy::PyReadonlyArray1;
use pyo3::{exceptions::PyValueError, prelude::*};
use syllabary::{
    Error,
    train::unigram::{
        self, Branching, SeedRules, Symbols, UnigramOptions, Words, sentences::Prepared, words::LAST,
    },
};

use crate::trainer::{Pulse, pieces};

/// The engine's options of a `UnigramSettings`.
pub fn options(settings: &Bound<'_, PyAny>, threads: usize) -> PyResult<UnigramOptions> {
    Ok(UnigramOptions {
        desired: settings.getattr("desired")?.extract()?,
        sub_iterations: settings.getattr("sub_iterations")?.extract()?,
        shrinking_factor: settings.getattr("shrinking_factor")?.extract()?,
        lanes: settings.getattr("lanes")?.extract()?,
        threads,
        single: settings.getattr("single")?.extract()?,
        settle: settings.getattr("settle")?.extract()?,
        unknown_first: settings.getattr("unknown_first")?.extract()?,
    })
}

/// How many seeds there are, at most.
pub fn size(settings: &Bound<'_, PyAny>) -> PyResult<usize> {
    settings.getattr("seed_size")?.extract()
}

/// Learns from what `prepare` makes.
pub fn learn(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    options: &UnigramOptions,
    prepare: impl FnOnce() -> Result<Prepared, Error> + Send,
) -> PyResult<Vec<(String, f64)>> {
    let mut pulse = Pulse::new(callback);
    let learned = py.detach(|| {
        let mut prepared = prepare()?;
        let watch = &mut |size| pulse.beat(Some((size, 0)));
        unigram::learn(&mut prepared.words, &prepared.rules, &prepared.outside, options, watch)
    });
    learned.map_err(|error| pulse.exception(py, error))
}

/// Pieces with their scores; word i is `data[ends[i - 1]:ends[i]]`, and occurs `counts[i]` times.
#[pyfunction]
#[pyo3(signature = (data, ends, counts, settings, threads, callback=None))]
pub fn learn_unigram(
    py: Python<'_>,
    data: &[u8],
    ends: PyReadonlyArray1<'_, u64>,
    counts: PyReadonlyArray1<'_, u64>,
    settings: &Bound<'_, PyAny>,
    threads: usize,
    callback: Option<Py<PyAny>>,
) -> PyResult<Vec<(String, f64)>> {
    let options = options(settings, threads)?;
    let branching = match settings.getattr("branching")?.extract::<String>()?.as_str() {
        "ends" => Branching::Ends,
        "texts" => Branching::Texts,
        other => return Err(PyValueError::new_err(format!("no branching is called {other:?}"))),
    };
    let rules = SeedRules {
        branching,
        size: size(settings)?,
        longest: settings.getattr("longest")?.extract()?,
        shapes: None,
        tail: Vec::new(),
    };
    let (ends, counts) = (ends.as_slice()?, counts.as_slice()?);
    learn(py, callback, &options, || {
        Ok(Prepared { words: words(data, ends, counts)?, rules, outside: Vec::new() })
    })
}

/// Words in symbols; `Error::Training` for a table that contradicts itself, or whose words are no text.
fn words(data: &[u8], ends: &[u64], counts: &[u64]) -> Result<Words, Error> {
    let table = pieces(data, ends, counts)?;
    let text = |bytes| {
        std::str::from_utf8(bytes).map_err(|_| Error::Training("a word of the table is not UTF-8".to_owned()))
    };
    let mut seen = vec![false; char::MAX as usize + 1];
    text(data)?.chars().for_each(|character| seen[character as usize] = true);
    let characters: Vec<char> = ('\0'..=char::MAX).filter(|character| seen[*character as usize]).collect();
    let symbols = Symbols::new(&characters, 0);
    let mut words = Words::new(characters);
    for (word, count) in table {
        words.push(text(word)?.chars().map(u32::from), count, LAST, &symbols)?;
    }
    Ok(words)
}
