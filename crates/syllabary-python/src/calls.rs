//! `Calls`: the methods of `syllabary.Tokenizer` that are called once for each text.
//!
//! A step of Python between caller and engine takes 0.1 us, a fifth of what a prompt of 36 bytes takes. So these are
//! methods of a class that `Tokenizer` is a child of, and what they are given but rarely (a set of special tokens,
//! dropout) they hand on to its methods `_encode`, `_encode_array` and `_count`. Leaves out all other methods.

use numpy::PyArray1;
use pyo3::{
    PyTypeCheck,
    exceptions::PyTypeError,
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyList, PyString, PyTuple},
};
use syllabary::{dropout::Dropout, tokenizer::SpecialPolicy};

use crate::tokenizer::Tokenizer;

/// What is said of special tokens; by default `"raise"`.
pub struct Special<'py> {
    given: Option<Bound<'py, PyAny>>,
    /// What a usual word says, or else Python has to look at it.
    usual: Option<SpecialPolicy<'static>>,
}

const RAISE: Special<'static> = Special { given: None, usual: Some(SpecialPolicy::Raise) };

impl<'py> FromPyObject<'_, 'py> for Special<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = value.py();
        let usual = if value.is(intern!(py, "raise")) {
            Some(SpecialPolicy::Raise)
        } else if value.is(intern!(py, "allow")) {
            Some(SpecialPolicy::Allow)
        } else if value.is(intern!(py, "text")) {
            Some(SpecialPolicy::Text)
        } else {
            None
        };
        Ok(Special { given: Some(value.to_owned()), usual })
    }
}

impl<'py> Special<'py> {
    fn object(self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.given.unwrap_or_else(|| intern!(py, "raise").clone().into_any())
    }
}

/// What a class of Python is a child of. Errors about arguments name that class: `Tokenizer.encode()`.
#[pyclass(frozen, subclass, name = "Tokenizer", module = "syllabary")]
pub struct Calls {
    /// Where calls go that say nothing rare; without it, all go to the child's methods.
    engine: PyOnceLock<Py<Tokenizer>>,
}

/// What a call may be given besides: dropout and seed.
type Drawn<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

/// A method of the engine.
type Usual<'py, R> =
    fn(&Tokenizer, &Bound<'py, PyAny>, SpecialPolicy<'_>, Dropout) -> PyResult<Bound<'py, R>>;

impl Calls {
    /// The engine and the policy of a call that says nothing rare of special tokens.
    fn usual<'s>(
        &'s self,
        py: Python<'_>,
        special: &Special<'_>,
    ) -> Option<(&'s Tokenizer, SpecialPolicy<'static>)> {
        special.usual.and_then(|policy| Some((self.engine.get(py)?.get(), policy)))
    }

    /// The ids of a text as `usual` makes them; of a rare call, by the child's method `rare`.
    fn ids<'py, R: PyTypeCheck>(
        slf: &Bound<'py, Self>,
        (text, special, drawn): (&Bound<'py, PyAny>, Special<'py>, Drawn<'py>),
        usual: Usual<'py, R>,
        rare: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, R>> {
        if let (None, None) = drawn
            && let Some((engine, policy)) = slf.get().usual(slf.py(), &special)
        {
            return usual(engine, text, policy, Dropout::NONE);
        }
        let given = (text, special.object(slf.py()), drawn.0, drawn.1);
        Ok(slf.call_method1(rare, given)?.cast_into()?)
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
    ///
    /// special: what a special token in the text means: "raise" (`SpecialTokenError`), "allow" (its id),
    /// "text" (ordinary text), or a set of names to allow. dropout: the probability of passing over a merge.
    /// seed: the same one gives the same ids. Raises `TextError` (a lone surrogate), `UnknownSymbolError`.
    #[pyo3(signature = (text, special=RAISE, dropout=None, seed=None))]
    #[pyo3(text_signature = "($self, text, special='raise', dropout=None, seed=None)")]
    fn encode<'py>(
        slf: &Bound<'py, Self>,
        text: &Bound<'py, PyAny>,
        special: Special<'py>,
        dropout: Option<Bound<'py, PyAny>>,
        seed: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let rare = intern!(slf.py(), "_encode");
        Calls::ids(slf, (text, special, (dropout, seed)), Tokenizer::list, rare)
    }

    /// The ids of `text`, shape (n,), uint32. Arguments and errors are those of `encode`.
    #[pyo3(signature = (text, special=RAISE, dropout=None, seed=None))]
    #[pyo3(text_signature = "($self, text, special='raise', dropout=None, seed=None)")]
    fn encode_array<'py>(
        slf: &Bound<'py, Self>,
        text: &Bound<'py, PyAny>,
        special: Special<'py>,
        dropout: Option<Bound<'py, PyAny>>,
        seed: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let rare = intern!(slf.py(), "_encode_array");
        Calls::ids(slf, (text, special, (dropout, seed)), Tokenizer::array, rare)
    }

    /// The number of ids of `text`, without making them a list. Errors are those of `encode`.
    #[pyo3(signature = (text, special=RAISE))]
    #[pyo3(text_signature = "($self, text, special='raise')")]
    fn count<'py>(
        slf: &Bound<'py, Self>,
        text: &Bound<'py, PyAny>,
        special: Special<'py>,
    ) -> PyResult<usize> {
        let py = slf.py();
        if let Some((engine, policy)) = slf.get().usual(py, &special) {
            return engine.number(text, policy);
        }
        slf.call_method1(intern!(py, "_count"), (text, special.object(py)))?.extract()
    }
}
