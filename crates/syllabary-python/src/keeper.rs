//! Merges on their way into a checkpoint while the engine learns, and those of an earlier training out of one.
//!
//! Leaves out trainers that learn in slices of time (`trainer::Merging`), and the rounds of unigram models (`unigram`).

use std::time::Instant;

use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{exceptions::PyValueError, prelude::*};
use syllabary::{Error, train::huggingface_learn::Known};

use crate::convert;

/// Pairs that were merged, (n, 2), and their counts.
pub type Merges<'py> = (PyReadonlyArray2<'py, u32>, PyReadonlyArray1<'py, u64>);

/// Hands on what was learned, some at a time; keeps what that raises.
pub struct Keeper {
    keep: Option<Py<PyAny>>,
    /// This often.
    seconds: f64,
    kept: usize,
    last: Instant,
    raised: Option<PyErr>,
}

impl Keeper {
    /// `keep`: a function, and how often it is called, in seconds.
    pub fn new(keep: Option<(Py<PyAny>, f64)>) -> Keeper {
        let (keep, seconds) = keep.unzip();
        Keeper { keep, seconds: seconds.unwrap_or(0.0), kept: 0, last: Instant::now(), raised: None }
    }

    /// What an earlier training has learned, which needs not be handed on again.
    pub fn begin(&mut self, known: Option<Merges<'_>>) -> PyResult<Known> {
        let Some((pairs, counts)) = known else { return Ok(Default::default()) };
        let (pairs, counts) = (convert::pairs(&pairs)?, counts.as_slice()?.to_vec());
        if pairs.len() != counts.len() {
            return Err(PyValueError::new_err("merges have a count each"));
        }
        self.kept = counts.len();
        Ok((pairs, counts))
    }

    /// Whether to go on; `merges`: all by now, of each of which `pair` gives the pair.
    pub fn learned<M>(&mut self, merges: &[M], counts: &[u64], pair: impl Fn(&M) -> (u32, u32)) -> bool {
        let Some(keep) = &self.keep else { return true };
        if self.raised.is_some() {
            return false;
        }
        if merges.len() <= self.kept || self.last.elapsed().as_secs_f64() < self.seconds {
            return true;
        }
        let flat = merges[self.kept..].iter().map(pair).flat_map(|(left, right)| [left, right]).collect();
        let new = counts[self.kept..].to_vec();
        self.raised =
            Python::attach(|py| keep.call1(py, (convert::rows(py, flat, 2)?, new.into_pyarray(py)))).err();
        (self.kept, self.last) = (merges.len(), Instant::now());
        self.raised.is_none()
    }

    /// What learning gives, or what handing on has raised, or what `exception` makes of an error.
    pub fn result<T>(
        &mut self,
        learned: Result<T, Error>,
        exception: impl FnOnce(Error) -> PyErr,
    ) -> PyResult<T> {
        self.raised.take().map_or_else(|| learned.map_err(exception), Err)
    }

    /// Hands on what is left when all is learned.
    pub fn end<M>(&mut self, merges: &[M], counts: &[u64], pair: impl Fn(&M) -> (u32, u32)) -> PyResult<()> {
        self.seconds = 0.0;
        self.learned(merges, counts, pair);
        self.raised.take().map_or(Ok(()), Err)
    }
}
