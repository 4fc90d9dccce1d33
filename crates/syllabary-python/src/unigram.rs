//! `learn_unigram_of`: a unigram language model of counted words.

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyBytes};
use syllabary::{
    Error,
    train::{
        GoOn,
        huggingface_counted::Counted,
        unigram::{
            self, Branching, Limit, Rounds, Scored, SeedRules, UnigramOptions, Unknown,
            sentences::{Prepared, of_words},
        },
    },
};

use crate::{
    convert::attribute,
    trainer::{Pulse, Trainer},
};

/// The engine's options of a `UnigramSettings`.
pub fn options(
    settings: &Bound<'_, PyAny>,
    threads: usize,
    memory: Option<usize>,
) -> PyResult<UnigramOptions> {
    let unknowns = [("none", Unknown::Nothing), ("first", Unknown::First), ("own", Unknown::Own)];
    Ok(UnigramOptions {
        desired: settings.getattr("desired")?.extract()?,
        sub_iterations: settings.getattr("sub_iterations")?.extract()?,
        shrinking_factor: settings.getattr("shrinking_factor")?.extract()?,
        lanes: settings.getattr("lanes")?.extract()?,
        threads,
        single: settings.getattr("single")?.extract()?,
        settle: settings.getattr("settle")?.extract()?,
        unknown: attribute(settings, "unknown", &unknowns)?,
        all_grow: settings.getattr("all_grow")?.extract()?,
        logarithms: settings.getattr("logarithms")?.extract()?,
        last_iterations: settings.getattr("last_iterations")?.extract()?,
        last_size: settings.getattr("last_size")?.extract()?,
        memory: Limit(memory),
    })
}

/// How many seeds there are, at most.
pub fn size(settings: &Bound<'_, PyAny>) -> PyResult<usize> {
    settings.getattr("seed_size")?.extract()
}

/// The pieces of a round: their UTF-8 back to back, where each ends, their scores.
pub type Known<'py> = (Bound<'py, PyBytes>, PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, f64>);

/// Where learning begins, and who is told of it.
pub struct Follower {
    pulse: Pulse,
    known: Option<Scored>,
    keep: Option<Py<PyAny>>,
}

impl Follower {
    /// `callback` is told how far it is; `keep` is given the pieces of each round, as `known` has them.
    pub fn new(
        callback: Option<Py<PyAny>>,
        known: Option<Known<'_>>,
        keep: Option<Py<PyAny>>,
    ) -> PyResult<Follower> {
        let known = known.map(|(text, ends, scores)| {
            // What is no UTF-8 is no piece, which learning says.
            let text = String::from_utf8_lossy(text.as_bytes()).into_owned();
            Ok::<_, PyErr>(Scored {
                text,
                ends: ends.as_slice()?.to_vec(),
                scores: scores.as_slice()?.to_vec(),
            })
        });
        Ok(Follower { pulse: Pulse::new(callback), known: known.transpose()?, keep })
    }
}

/// Learns from what `prepare` makes.
pub fn learn(
    py: Python<'_>,
    follower: Follower,
    options: &UnigramOptions,
    prepare: impl FnOnce(&mut GoOn<'_>) -> Result<Prepared, Error> + Send,
) -> PyResult<Vec<(String, f64)>> {
    let Follower { mut pulse, known, keep } = follower;
    let mut raised = None;
    let learned = py.detach(|| {
        let mut prepared = prepare(&mut || pulse.beat(None))?;
        let mut kept = |pieces: Scored| {
            raised = keep.as_ref().and_then(|keep| Python::attach(|py| hand_over(py, keep, pieces)).err());
            raised.is_none()
        };
        let rounds = Rounds {
            known,
            keep: keep.is_some().then_some(&mut kept),
            watch: &mut |size| pulse.beat(Some((size, 0))),
        };
        unigram::learn(&mut prepared.words, &prepared.rules, &prepared.outside, options, rounds)
    });
    if let Some(raised) = raised {
        return Err(raised);
    }
    learned.map_err(|error| pulse.exception(py, error))
}

fn hand_over(py: Python<'_>, keep: &Py<PyAny>, pieces: Scored) -> PyResult<()> {
    let text = PyBytes::new(py, pieces.text.as_bytes());
    keep.call1(py, (text, pieces.ends.into_pyarray(py), pieces.scores.into_pyarray(py))).map(drop)
}

/// Pieces with their scores, of counted words.
pub fn learn_words(
    py: Python<'_>,
    words: impl FnOnce(&mut GoOn<'_>) -> Result<Counted, Error> + Send,
    settings: &Bound<'_, PyAny>,
    (threads, memory): (usize, Option<usize>),
    follower: Follower,
) -> PyResult<Vec<(String, f64)>> {
    let options = options(settings, threads, memory)?;
    let (rules, most, outside) = rules(settings)?;
    let memory = options.memory;
    learn(py, follower, &options, |go_on| of_words(words(go_on)?, rules, (most, outside), memory, go_on))
}

/// The same of what a trainer has counted, which is used up; `known`: pieces to begin with, `keep`: a function that is
/// given those of each round.
#[pyfunction]
#[pyo3(signature = (trainer, settings, callback=None, known=None, keep=None))]
pub fn learn_unigram_of(
    py: Python<'_>,
    mut trainer: PyRefMut<'_, Trainer>,
    settings: &Bound<'_, PyAny>,
    callback: Option<Py<PyAny>>,
    known: Option<Known<'_>>,
    keep: Option<Py<PyAny>>,
) -> PyResult<Vec<(String, f64)>> {
    let (counter, threads, memory) = trainer.take()?;
    let follower = Follower::new(callback, known, keep)?;
    learn_words(py, |go_on| counter.into_counted(go_on), settings, (threads, memory), follower)
}

/// How seeds are chosen, how many characters there are at most, and what stands for the others.
fn rules(settings: &Bound<'_, PyAny>) -> PyResult<(SeedRules, Option<usize>, char)> {
    let rules = SeedRules {
        branching: attribute(
            settings,
            "branching",
            &[("ends", Branching::Ends), ("texts", Branching::Texts)],
        )?,
        size: size(settings)?,
        longest: settings.getattr("longest")?.extract()?,
        shapes: None,
    };
    Ok((rules, settings.getattr("most_characters")?.extract()?, settings.getattr("outside")?.extract()?))
}
