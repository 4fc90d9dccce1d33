//! Python values in: text, ids, options.

use pyo3::{
    exceptions::{PyTypeError, PyUnicodeEncodeError, PyValueError},
    prelude::*,
    pybacked::PyBackedStr,
    types::{PyBool, PyString},
};
use syllabary::{
    Error,
    alphabet::Unit,
    split::{Split, Tables},
    tokenizer::SpecialPolicy,
};

use crate::errors::{exception, to_python};

/// Text from a `str`; a lone surrogate is a `TextError` with its position.
pub fn text(value: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    let string = value
        .cast::<PyString>()
        .map_err(|_| PyTypeError::new_err(format!("text must be a str, not {}", type_name(value))))?;
    PyBackedStr::try_from(string.clone()).map_err(|error| surrogate_error(value.py(), error))
}

/// Texts from an iterable of `str`; errors name the place in it.
pub fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<PyBackedStr>> {
    if value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("texts must be an iterable of str, not one str: pass [text]"));
    }
    value.try_iter()?.map(|item| text(&item?)).collect()
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string())
}

fn surrogate_error(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return error;
    }
    let position = error.value(py).getattr("start").map_or_else(|_| "?".to_owned(), |at| at.to_string());
    exception(
        py,
        "TextError",
        format!(
            "the text has a lone surrogate at character {position}, which is no Unicode text; decode it \
             properly, or replace it: text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
        ),
    )
}

/// Ids from a sequence of integers.
pub fn ids(values: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let py = values.py();
    let mut out = Vec::with_capacity(values.len().unwrap_or(0));
    for (index, value) in values.try_iter()?.enumerate() {
        let value = value?;
        match value.extract::<u32>() {
            Ok(id) if !value.is_instance_of::<PyBool>() => out.push(id),
            Ok(_) => {
                return Err(PyTypeError::new_err(format!("ids must be integers; index {index} is a bool")));
            }
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                let kind = type_name(&value);
                return Err(PyTypeError::new_err(format!("ids must be integers; index {index} is a {kind}")));
            }
            Err(_) => {
                let message = format!("id {value} at index {index} is no token of this vocabulary");
                return Err(exception(py, "UnknownTokenError", message));
            }
        }
    }
    Ok(out)
}

/// How special tokens are treated: `"raise"`, `"allow"`, `"text"` or the ids allowed.
#[derive(FromPyObject)]
pub enum Policy {
    /// A name.
    Name(String),
    /// The ids allowed; others raise.
    Only(Vec<u32>),
}

impl Policy {
    /// The engine's form of it.
    pub fn get(&self) -> PyResult<SpecialPolicy<'_>> {
        match self {
            Policy::Only(ids) => Ok(SpecialPolicy::Only(ids)),
            Policy::Name(name) => match name.as_str() {
                "raise" => Ok(SpecialPolicy::Raise),
                "allow" => Ok(SpecialPolicy::Allow),
                "text" => Ok(SpecialPolicy::Text),
                other => Err(PyValueError::new_err(format!("no special policy is called {other:?}"))),
            },
        }
    }
}

/// The unit of that name.
pub fn unit(name: &str) -> PyResult<Unit> {
    match name {
        "byte" => Ok(Unit::Byte),
        "char" => Ok(Unit::Char),
        "word" => Ok(Unit::Word),
        other => Err(PyValueError::new_err(format!("no unit is called {other:?}"))),
    }
}

/// The split of a `SplitSpec`.
pub fn split(spec: &Bound<'_, PyAny>) -> PyResult<Split> {
    let pattern: Option<String> = spec.getattr("pattern")?.extract()?;
    let tables = match spec.getattr("tables")?.extract::<String>()?.as_str() {
        "tiktoken" => Tables::Tiktoken,
        "onig" => Tables::Onig,
        other => return Err(PyValueError::new_err(format!("no Unicode tables are called {other:?}"))),
    };
    Split::new(pattern.as_deref(), tables, spec.getattr("keep_unmatched")?.extract()?)
        .map_err(|error: Error| to_python(spec.py(), error, None))
}

/// The pairs of the mapping `spec.<name>`; a value of the wrong type or an id that is none is an error.
pub fn items<K, V>(spec: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<(K, V)>>
where
    (K, V): for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    let py = spec.py();
    spec.getattr(name)?
        .call_method0("items")?
        .try_iter()?
        .map(|item| {
            let item = item?;
            item.extract::<(K, V)>().map_err(|error| {
                let message = format!("{name}: {item} is no pair of a token and its id ({error})");
                exception(py, "VocabularyError", message)
            })
        })
        .collect()
}
