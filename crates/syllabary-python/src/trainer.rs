//! `Trainer`: counts documents as they come, then learns merges.

use std::time::{Duration, Instant};

use numpy::{IntoPyArray, PyArray1, PyArray2, ndarray::Array2};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use syllabary::{
    Error,
    train::{self, TieBreak, TrainOptions, Trained, count::Counter},
};

use crate::{convert, errors::to_python};

/// Signals are looked at, and progress is told, this often.
const PULSE: Duration = Duration::from_millis(50);

/// Collects a corpus and trains on it. For one thread: `syllabary.train` owns it.
#[pyclass(module = "syllabary._engine")]
pub struct Trainer {
    counter: Counter,
    threads: usize,
}

/// The engine's options of a `TrainOptions`; the two sizes are limits without special tokens.
fn options(spec: &Bound<'_, PyAny>, max_tokens: usize, max_merges: usize) -> PyResult<TrainOptions> {
    let tie_break = match spec.getattr("tie_break")?.extract::<String>()?.as_str() {
        "smallest-ids" => TieBreak::SmallestIds,
        "first-seen" => TieBreak::FirstSeen,
        "largest-pair" => TieBreak::LargestPair,
        other => return Err(PyValueError::new_err(format!("no tie-break is called {other:?}"))),
    };
    Ok(TrainOptions {
        max_tokens,
        max_merges,
        min_frequency: spec.getattr("min_frequency")?.extract()?,
        max_token_length: spec.getattr("max_token_length")?.extract()?,
        tie_break,
        gpt2_byte_order: spec.getattr("byte_order")?.extract::<String>()? == "gpt2",
        seen_bytes_only: spec.getattr("alphabet")?.extract::<String>()? == "seen",
        end_of_word: spec.getattr("end_of_word")?.extract()?,
        fallback: spec.getattr("fallback")?.extract()?,
    })
}

/// Looks at signals and, while merging, tells `callback(merges done, count of the last pair)`; keeps what they raise.
pub struct Pulse {
    last: Instant,
    callback: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

impl Pulse {
    /// `callback` is told how far training is.
    pub fn new(callback: Option<Py<PyAny>>) -> Pulse {
        Pulse { last: Instant::now(), callback, raised: None }
    }

    /// Whether to go on; `done`: the merges done and the count of the last.
    pub fn beat(&mut self, done: Option<(usize, u64)>) -> bool {
        if self.raised.is_some() {
            return false;
        }
        if self.last.elapsed() < PULSE {
            return true;
        }
        self.last = Instant::now();
        let result = Python::attach(|py| {
            py.check_signals()?;
            if let (Some(callback), Some(done)) = (&self.callback, done) {
                callback.call1(py, done)?;
            }
            Ok(())
        });
        self.raised = result.err();
        self.raised.is_none()
    }

    /// The exception for `error`: what a signal or the callback raised, if that is what ended the work.
    pub fn exception(&mut self, py: Python<'_>, error: Error) -> PyErr {
        match (error, self.raised.take()) {
            (Error::Interrupted, Some(raised)) => raised,
            (error, _) => to_python(py, error, None),
        }
    }
}

type Learned<'py> = (Vec<Bound<'py, PyBytes>>, Bound<'py, PyArray2<u32>>, Bound<'py, PyArray1<u64>>);

#[pymethods]
impl Trainer {
    #[new]
    fn new(py: Python<'_>, options: &Bound<'_, PyAny>, threads: usize) -> PyResult<Self> {
        let unit = convert::unit(&options.getattr("unit")?.extract::<String>()?)?;
        let split = convert::split(&options.getattr("split")?)?;
        let cut: bool = options.getattr("cut_special")?.extract()?;
        let special: Vec<String> =
            if cut { options.getattr("special_tokens")?.extract()? } else { Vec::new() };
        let counter = Counter::new(unit, split, &special).map_err(|error| to_python(py, error, None))?;
        Ok(Trainer { counter, threads })
    }

    fn feed(&mut self, py: Python<'_>, documents: &Bound<'_, PyAny>) -> PyResult<()> {
        let texts = convert::texts(documents)?;
        let slices: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let (counter, threads, mut pulse) = (&mut self.counter, self.threads, Pulse::new(None));
        py.detach(|| counter.feed(&slices, threads, &mut || pulse.beat(None)))
            .map_err(|error| pulse.exception(py, error))
    }

    fn feed_part(&mut self, py: Python<'_>, part: &Bound<'_, PyAny>, last: bool) -> PyResult<()> {
        let text = convert::text(part)?;
        let slice: &str = &text;
        let (counter, threads, mut pulse) = (&mut self.counter, self.threads, Pulse::new(None));
        let fed = py.detach(|| {
            let go_on = &mut || pulse.beat(None);
            counter.feed_part(slice, threads, go_on)?;
            if last { counter.end_document(threads, go_on) } else { Ok(()) }
        });
        fed.map_err(|error| pulse.exception(py, error))
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.counter.bytes()
    }

    #[getter]
    fn distinct_pieces(&self) -> usize {
        self.counter.distinct_pieces()
    }

    fn train<'py>(
        &mut self,
        py: Python<'py>,
        spec: &Bound<'py, PyAny>,
        max_tokens: usize,
        max_merges: usize,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<Learned<'py>> {
        let options = options(spec, max_tokens, max_merges)?;
        let mut pulse = Pulse::new(callback);
        let (counter, threads) = (&mut self.counter, self.threads);
        let trained = py.detach(|| {
            counter.end_document(threads, &mut || pulse.beat(None))?;
            train::train(counter, &options, &mut |trained: &Trained| {
                let last = trained.counts.last().copied().unwrap_or(0);
                pulse.beat(Some((trained.merges.len(), last)))
            })
        });
        let trained = trained.map_err(|error| pulse.exception(py, error))?;
        let flat: Vec<u32> = trained.merges.iter().flat_map(|&(left, right)| [left, right]).collect();
        let merges = Array2::from_shape_vec((trained.merges.len(), 2), flat)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let alphabet = trained.alphabet.iter().map(|symbol| PyBytes::new(py, symbol)).collect();
        Ok((alphabet, merges.into_pyarray(py), trained.counts.into_pyarray(py)))
    }
}
