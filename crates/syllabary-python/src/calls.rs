//! `Calls`: the methods of `syllabary.Tokenizer` that are called once for each text.
//!
//! A step of Python between caller and engine takes 0.1 us, a fifth of what a prompt of 36 bytes takes. So these are
//! methods of a class that `Tokenizer` is a child of, and what they are given but rarely (a set of special tokens,
//! dropout) they hand on to its methods `_encode`, `_encode_array` and `_count`. Leaves out all other methods.

use numpy::PyArray1;
use pyo3::{
    exceptions::PyTypeError,
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyList, PyTuple},
};
use syllabary::{dropout::Dropout, tokenizer::SpecialPolicy};

use crate::tokenizer::Tokenizer;

/// What is said of special tokens: one of the usual words, or what Python has to look at.
pub enum Special<'py> {
    Usual(SpecialPolicy<'static>),
    Other(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Special<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = value.py();
        Ok(if value.is(intern!(py, "raise")) {
            Special::Usual(SpecialPolicy::Raise)
        } else if value.is(intern!(py, "allow")) {
            Special::Usual(SpecialPolicy::Allow)
        } else if value.is(intern!(py, "text")) {
            Special::Usual(SpecialPolicy::Text)
        } else {
            Special::Other(value.to_owned())
        })
    }
}

impl<'py> Special<'py> {
    fn object(self, py: Python<'py>) -> Bound<'py, PyAny> {
        match self {
            Special::Usual(SpecialPolicy::Allow) => intern!(py, "allow").clone().into_any(),
            Special::Usual(SpecialPolicy::Text) => intern!(py, "text").clone().into_any(),
            Special::Usual(_) => intern!(py, "raise").clone().into_any(),
            Special::Other(object) => object,
        }
    }
}

const USUAL: Special<'static> = Special::Usual(SpecialPolicy::Raise);

/// What a class of Python is a child of.
#[pyclass(frozen, subclass, module = "syllabary._engine")]
pub struct Calls {
    /// Where calls go that say nothing rare; without it, all go to the child's methods.
    engine: PyOnceLock<Py<Tokenizer>>,
}

/// What a call may be given besides: dropout and seed.
type Drawn<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

impl Calls {
    /// The engine and the policy of a call that says nothing rare.
    fn usual<'s>(
        &'s self,
        py: Python<'_>,
        special: &Special<'_>,
        drawn: &Drawn<'_>,
    ) -> Option<(&'s Tokenizer, SpecialPolicy<'static>)> {
        match (special, drawn) {
            (Special::Usual(policy), (None, None)) => Some((self.engine.get(py)?.get(), *policy)),
            _ => None,
        }
    }
}

#[pymethods]
impl Calls {
    #[new]
    #[pyo3(signature = (*_args, **_named))]
    fn new(_args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Calls {
        Calls { engine: PyOnceLock::new() }
    }

    fn _call(&self, py: Python<'_>, engine: Py<Tokenizer>) -> PyResult<()> {
        let again = |_| PyTypeError::new_err("this tokenizer is made already, and immutable: make another");
        self.engine.set(py, engine).map_err(again)
    }

    /// The ids of `text`. No BOS, no template: nothing is added.
    #[pyo3(signature = (text, special=USUAL, dropout=None, seed=None))]
    #[pyo3(text_signature = "($self, text, special='raise', dropout=None, seed=None)")]
    fn encode<'py>(
        slf: &Bound<'py, Self>,
        text: &Bound<'py, PyAny>,
        special: Special<'py>,
        dropout: Option<Bound<'py, PyAny>>,
        seed: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, drawn) = (slf.py(), (dropout, seed));
        if let Some((engine, policy)) = slf.get().usual(py, &special, &drawn) {
            return engine.list(text, policy, Dropout::NONE);
        }
        let rare = (text, special.object(py), drawn.0, drawn.1);
        Ok(slf.call_method1(intern!(py, "_encode"), rare)?.cast_into()?)
    }

    /// The ids of `text`, shape (n,), uint32.
    #[pyo3(signature = (text, special=USUAL, dropout=None, seed=None))]
    #[pyo3(text_signature = "($self, text, special='raise', dropout=None, seed=None)")]
    fn encode_array<'py>(
        slf: &Bound<'py, Self>,
        text: &Bound<'py, PyAny>,
        special: Special<'py>,
        dropout: Option<Bound<'py, PyAny>>,
        seed: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let (py, drawn) = (slf.py(), (dropout, seed));
        if let Some((engine, policy)) = slf.get().usual(py, &special, &drawn) {
            return engine.array(text, policy, Dropout::NONE);
        }
        let rare = (text, special.object(py), drawn.0, drawn.1);
        Ok(slf.call_method1(intern!(py, "_encode_array"), rare)?.cast_into()?)
    }

    /// The number of ids of `text`, without making them a list.
    #[pyo3(signature = (text, special=USUAL))]
    #[pyo3(text_signature = "($self, text, special='raise')")]
    fn count<'py>(
        slf: &Bound<'py, Self>,
        text: &Bound<'py, PyAny>,
        special: Special<'py>,
    ) -> PyResult<usize> {
        let py = slf.py();
        if let Some((engine, policy)) = slf.get().usual(py, &special, &(None, None)) {
            return engine.number(text, policy);
        }
        slf.call_method1(intern!(py, "_count"), (text, special.object(py)))?.extract()
    }
}
