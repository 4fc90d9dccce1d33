//! `Learned`: the tokens that merges make, and the merges with the ids of a tokenizer.
//!
//! Computes what `spelled` of `reference/assemble.py` defines; the tokens become Python objects when they are
//! asked for. Leaves out special tokens, and learning (`trainer`).

use std::sync::Arc;

use numpy::PyReadonlyArray2;
use pyo3::{
    prelude::*,
    pybacked::PyBackedBytes,
    types::{PyBytes, PyDict, PyInt, PyTuple},
};
use syllabary::{Error, vocab::Vocab};

use crate::{convert, errors::to_python, ranks};

pub type Merge = (u32, u32, u32);

/// Tokens and merges, in ids.
#[pyclass(frozen, module = "syllabary._engine")]
pub struct Learned {
    vocab: Arc<Vocab>,
    merges: Vec<Merge>,
    tuple: Py<PyTuple>,
    /// The tokens that stand for a byte, which are not found by their bytes.
    byte_tokens: Vec<u32>,
}

impl Learned {
    /// From tokens and merges that fit together. tuple: the merges as Python has them.
    pub fn made(
        vocab: Arc<Vocab>,
        merges: Vec<Merge>,
        tuple: Py<PyTuple>,
        mut byte_tokens: Vec<u32>,
    ) -> Learned {
        byte_tokens.sort_unstable();
        Learned { vocab, merges, tuple, byte_tokens }
    }

    /// The tokens, where those of bytes are these.
    pub fn vocab_with(&self, byte_tokens: &[(u32, u8)]) -> Option<&Arc<Vocab>> {
        let mut asked: Vec<u32> = byte_tokens.iter().map(|&(id, _)| id).collect();
        asked.sort_unstable();
        (asked == self.byte_tokens).then_some(&self.vocab)
    }

    /// The merges, if `merges` is what this has made of them.
    pub fn merges_of(&self, merges: &Bound<'_, PyAny>) -> Option<Vec<Merge>> {
        merges.is(&self.tuple).then(|| self.merges.clone())
    }
}

#[pymethods]
impl Learned {
    #[new]
    fn new(
        py: Python<'_>,
        symbols: Vec<PyBackedBytes>,
        pairs: PyReadonlyArray2<'_, u32>,
        first: u32,
    ) -> PyResult<Learned> {
        let pairs = convert::pairs(&pairs)?;
        let symbols: Vec<&[u8]> = symbols.iter().map(|symbol| &**symbol).collect();
        let vocab =
            py.detach(|| spell(&symbols, &pairs, first)).map_err(|error| to_python(py, error, None))?;
        let ids: Vec<Bound<'_, PyInt>> =
            (first..).take(vocab.len()).map(|id| id.into_pyobject(py)).collect::<Result<_, _>>()?;
        let (mut merges, mut tuples) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
        for (result, &(left, right)) in (symbols.len()..).zip(&pairs) {
            // In range: they are spelled.
            let places = [left as usize, right as usize, result];
            merges.push((first + left, first + right, first + result as u32));
            tuples.push(PyTuple::new(py, places.map(|place| &ids[place]))?);
        }
        Ok(Learned::made(Arc::new(vocab), merges, PyTuple::new(py, tuples)?.unbind(), Vec::new()))
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

/// The tokens of symbols and of merges in local ids.
fn spell(symbols: &[&[u8]], pairs: &[(u32, u32)], first: u32) -> Result<Vocab, Error> {
    let mut bytes = symbols.concat();
    let mut spans = Vec::with_capacity(symbols.len() + pairs.len());
    let mut start = 0;
    for symbol in symbols {
        spans.push(start..start + symbol.len());
        start += symbol.len();
    }
    for &(left, right) in pairs {
        for half in [left, right] {
            let span = spans.get(half as usize).cloned().ok_or_else(|| {
                Error::Training(format!(
                    "merge {} names a token that is not there yet",
                    spans.len() - symbols.len()
                ))
            })?;
            bytes.extend_from_within(span);
        }
        spans.push(start..bytes.len());
        start = bytes.len();
    }
    if u32::try_from(spans.len()).ok().and_then(|tokens| first.checked_add(tokens)).is_none() {
        return Err(Error::TooLarge("over 2^32 tokens".to_owned()));
    }
    Vocab::new((first..).zip(spans).map(|(id, span)| (id, &bytes[span])))
}
