//! `learn_unigram`: a unigram language model of counted words.

use numpy::PyReadonlyArray1;
use pyo3::{exceptions::PyValueError, prelude::*};
use syllabary::{
    Error,
    train::unigram::{
        self, Branching, SeedRules, UnigramOptions, Unknown,
        sentences::{Prepared, of_texts},
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
        unknown: match settings.getattr("unknown")?.extract::<String>()?.as_str() {
            "none" => Unknown::Nothing,
            "first" => Unknown::First,
            "own" => Unknown::Own,
            other => {
                return Err(PyValueError::new_err(format!("unknown is {other:?}, not none, first, own")));
            }
        },
        all_grow: settings.getattr("all_grow")?.extract()?,
        logarithms: settings.getattr("logarithms")?.extract()?,
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
    let (ends, counts) = (ends.as_slice()?, counts.as_slice()?);
    learn_words(py, || pieces(data, ends, counts), settings, threads, callback)
}

/// The same of any words.
pub fn learn_words<'w>(
    py: Python<'_>,
    words: impl FnOnce() -> Result<Vec<(&'w [u8], u64)>, Error> + Send,
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
    };
    let most: Option<usize> = settings.getattr("most_characters")?.extract()?;
    let outside: char = settings.getattr("outside")?.extract()?;
    learn(py, callback, &options, || {
        let table = words()?;
        let texts = table.iter().map(|(word, count)| match std::str::from_utf8(word) {
            Ok(word) => Ok((word, *count)),
            Err(_) => Err(Error::Training("a word of the table is not UTF-8".to_owned())),
        });
        of_texts(&texts.collect::<Result<Vec<_>, _>>()?, rules, most, outside)
    })
}
