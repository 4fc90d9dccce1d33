//! `Learned`: the tokens that merges make, and the merges with the ids of a tokenizer.
//!
//! Computes what `spelled` of `reference/assemble.py` defines; the tokens become Python objects when they are
//! asked for. Leaves out special tokens, and learning (`trainer`).

use std::{sync::Arc, thread::Builder};

use numpy::PyReadonlyArray2;
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    pybacked::PyBackedBytes,
    types::{PyBytes, PyDict, PyInt, PyTuple},
};
use syllabary::{Error, vocab::Vocab};

use crate::{errors::to_python, ranks};

type Merge = (u32, u32, u32);

/// Tokens and merges, in ids.
#[pyclass(frozen, module = "syllabary._engine")]
pub struct Learned {
    vocab: Arc<Vocab>,
    merges: Vec<Merge>,
    tuple: Py<PyTuple>,
}

impl Learned {
    pub fn vocab(&self) -> &Arc<Vocab> {
        &self.vocab
    }

    /// The merges, if `merges` is what this has made of them.
    pub fn merges_of(&self, merges: &Bound<'_, PyAny>) -> Option<Vec<Merge>> {
        merges.is(&self.tuple).then(|| self.merges.clone())
    }
}

#[pymethods]
impl Learned {
    #[new]
    #[pyo3(signature = (symbols, pairs, first, threads=1))]
    fn new(
        py: Python<'_>,
        symbols: Vec<PyBackedBytes>,
        pairs: PyReadonlyArray2<'_, u32>,
        first: u32,
        threads: usize,
    ) -> PyResult<Learned> {
        let pairs = pairs.as_array();
        if pairs.ncols() != 2 {
            return Err(PyValueError::new_err("merges have two columns: left, right"));
        }
        let pairs: Vec<(u32, u32)> = pairs.rows().into_iter().map(|row| (row[0], row[1])).collect();
        let symbols: Vec<&[u8]> = symbols.iter().map(|symbol| &**symbol).collect();
        check(symbols.len(), &pairs, first).map_err(|error| to_python(py, error, None))?;
        let spelling = || spell(&symbols, &pairs, first);
        // While another thread spells, Python's objects are made here.
        let (spelled, made) = std::thread::scope(|scope| {
            let other = (threads > 1).then(|| Builder::new().spawn_scoped(scope, spelling).ok()).flatten();
            let made = merges(py, symbols.len(), &pairs, first);
            let spelled = match other {
                Some(other) => other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                None => py.detach(spelling),
            };
            (spelled, made)
        });
        let vocab = spelled.map_err(|error| to_python(py, error, None))?;
        let (merges, tuple) = made?;
        Ok(Learned { vocab: Arc::new(vocab), merges, tuple })
    }

    #[getter]
    fn merges(&self, py: Python<'_>) -> Py<PyTuple> {
        self.tuple.clone_ref(py)
    }

    fn __len__(&self) -> usize {
        self.vocab.len()
    }

    fn get<'py>(&self, py: Python<'py>, rank: u32) -> Option<Bound<'py, PyBytes>> {
        self.vocab.bytes(rank).map(|token| PyBytes::new(py, token))
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        ranks::dict(py, &self.vocab)
    }
}

/// Whether each merge is of tokens that are there, and all ids are in range.
fn check(symbols: usize, pairs: &[(u32, u32)], first: u32) -> Result<(), Error> {
    for (merge, &(left, right)) in pairs.iter().enumerate() {
        if left.max(right) as usize >= symbols + merge {
            return Err(Error::Training(format!("merge {merge} names a token that is not there yet")));
        }
    }
    let tokens = u32::try_from(symbols + pairs.len()).ok();
    if tokens.and_then(|tokens| first.checked_add(tokens)).is_none() {
        return Err(Error::TooLarge("over 2^32 tokens".to_owned()));
    }
    Ok(())
}

/// The merges, which are checked, in ids, and as a tuple of tuples.
fn merges(
    py: Python<'_>,
    symbols: usize,
    pairs: &[(u32, u32)],
    first: u32,
) -> PyResult<(Vec<Merge>, Py<PyTuple>)> {
    let ids: Vec<Bound<'_, PyInt>> =
        (first..).take(symbols + pairs.len()).map(|id| id.into_pyobject(py)).collect::<Result<_, _>>()?;
    let (mut merges, mut tuples) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
    for (result, &(left, right)) in (symbols..).zip(pairs) {
        let places = [left as usize, right as usize, result];
        merges.push((first + left, first + right, first + result as u32));
        tuples.push(PyTuple::new(py, places.map(|place| &ids[place]))?);
    }
    Ok((merges, PyTuple::new(py, tuples)?.unbind()))
}

/// The tokens of symbols and of merges in local ids, which are checked.
fn spell(symbols: &[&[u8]], pairs: &[(u32, u32)], first: u32) -> Result<Vocab, Error> {
    let mut bytes = symbols.concat();
    let mut spans = Vec::with_capacity(symbols.len() + pairs.len());
    let mut start = 0;
    for symbol in symbols {
        spans.push(start..start + symbol.len());
        start += symbol.len();
    }
    for &(left, right) in pairs {
        bytes.extend_from_within(spans[left as usize].clone());
        bytes.extend_from_within(spans[right as usize].clone());
        spans.push(start..bytes.len());
        start = bytes.len();
    }
    Vocab::new((first..).zip(spans).map(|(id, span)| (id, &bytes[span])))
}
