//! Python values in: text, ids, options; and arrays of rows out.

use std::ops::Deref;

use numpy::{Element, IntoPyArray, PyArray2, PyReadonlyArray2, ndarray::Array2};
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyUnicodeEncodeError, PyValueError},
    prelude::*,
    pybacked::PyBackedStr,
    types::{PyBool, PyList, PyString},
};
use syllabary::{
    Error,
    alphabet::Unit,
    dropout::{Dropout, Ways},
    fetch::fetch_byte,
    matching::{Matching, Stage},
    models::Kind,
    split::{Split, Tables},
    tokenizer::SpecialPolicy,
};

use crate::{
    errors::{exception, surrogate, to_python},
    layout::Layout,
    strings::{self, Text},
};

/// Members of a batch so many before their turn are asked for.
const AHEAD: usize = 16;

/// Text from a `str`; a lone surrogate is a `TextError` with its position.
pub fn text(value: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    let string = string(value)?;
    PyBackedStr::try_from(string.clone()).map_err(|error| surrogate_error(value.py(), error))
}

#[inline]
fn string<'a, 'py>(value: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyString>> {
    value
        .cast::<PyString>()
        .map_err(|_| PyTypeError::new_err(format!("text must be a str, not {}", type_name(value))))
}

/// Texts from an iterable of `str`.
pub fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<PyBackedStr>> {
    if value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("texts must be an iterable of str, not one str: pass [text]"));
    }
    value.try_iter()?.map(|item| text(&item?)).collect()
}

/// The members of a batch.
pub struct Members<'py>(Vec<Bound<'py, PyString>>);

impl<'py> Deref for Members<'py> {
    type Target = [Bound<'py, PyString>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for Members<'_> {
    fn drop(&mut self) {
        let mut members = std::mem::take(&mut self.0).into_iter();
        while let Some(member) = members.next() {
            ask_for(members.as_slice().get(AHEAD));
            drop(member);
        }
    }
}

/// Asks for the memory of a member before its turn: strings lie anywhere.
fn ask_for(member: Option<&Bound<'_, PyString>>) {
    if let Some(member) = member {
        fetch_byte(member.as_ptr().cast());
    }
}

/// The members of a batch of texts; one that is no `str` is a `TypeError` with its place.
pub fn batch<'py>(value: &Bound<'py, PyAny>) -> PyResult<Members<'py>> {
    let mut members = Vec::with_capacity(value.len().unwrap_or(0).min(1 << 20));
    let listed = value.cast_exact::<PyList>().ok().zip(Layout::known(value.py())?);
    for (index, item) in value.try_iter()?.enumerate() {
        if let Some((list, layout)) = listed {
            layout.ask_for(list, index + AHEAD);
        }
        members.push(item?.cast_into::<PyString>().map_err(|error| {
            let kind = type_name(&error.into_inner());
            PyTypeError::new_err(format!("texts[{index}] is {kind}: give str"))
        })?);
    }
    Ok(Members(members))
}

/// The texts of the members; a lone surrogate is found when they are read.
pub fn read<'a>(members: &'a [Bound<'_, PyString>]) -> PyResult<Vec<Text<'a>>> {
    let text = |(at, member)| {
        ask_for(members.get(at + AHEAD));
        strings::text(member)
    };
    members.iter().enumerate().map(text).collect()
}

/// The same, of one.
#[inline]
pub fn reading<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Text<'a>> {
    strings::text(string(value)?)
}

pub fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string())
}

fn surrogate_error(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return error;
    }
    let position = error.value(py).getattr("start").map_or_else(|_| "?".to_owned(), |at| at.to_string());
    exception(py, "TextError", surrogate(&position))
}

/// Appends ids from an iterable of integers; the first that is not `known` ends it with an error.
pub fn ids(values: &Bound<'_, PyAny>, out: &mut Vec<u32>, known: impl Fn(u32) -> bool) -> PyResult<()> {
    for (index, value) in values.try_iter()?.enumerate() {
        let value = value?;
        match value.extract::<u32>() {
            Ok(id) if known(id) && !value.is_instance_of::<PyBool>() => out.push(id),
            extracted => return Err(id_error(&value, index, extracted.err())),
        }
    }
    Ok(())
}

fn id_error(value: &Bound<'_, PyAny>, index: usize, error: Option<PyErr>) -> PyErr {
    let py = value.py();
    // An integer that does not fit overflows; whatever else goes wrong, the value is no integer.
    let wrong_type = error.is_some_and(|error| !error.is_instance_of::<PyOverflowError>(py));
    if wrong_type || value.is_instance_of::<PyBool>() {
        let kind = type_name(value);
        return PyTypeError::new_err(format!("ids must be integers; index {index} is a {kind}"));
    }
    unknown(py, value, index)
}

/// The error for a number that is no id.
pub fn unknown(py: Python<'_>, id: impl std::fmt::Display, index: usize) -> PyErr {
    exception(py, "UnknownTokenError", format!("id {id} at index {index} is no token of this vocabulary"))
}

/// How special tokens are treated: `"raise"`, `"allow"`, `"text"` or the ids allowed.
pub enum Policy {
    /// An error for each.
    Raise,
    /// Its id for each.
    Allow,
    /// Ordinary text.
    Text,
    /// The ids allowed; others raise.
    Only(Vec<u32>),
}

impl<'py> FromPyObject<'_, 'py> for Policy {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Ok(name) = value.cast::<PyString>() else { return value.extract().map(Policy::Only) };
        match &*name.to_cow()? {
            "raise" => Ok(Policy::Raise),
            "allow" => Ok(Policy::Allow),
            "text" => Ok(Policy::Text),
            other => Err(PyValueError::new_err(format!("no special policy is called {other:?}"))),
        }
    }
}

impl Policy {
    /// The engine's form of it.
    pub fn get(&self) -> SpecialPolicy<'_> {
        match self {
            Policy::Raise => SpecialPolicy::Raise,
            Policy::Allow => SpecialPolicy::Allow,
            Policy::Text => SpecialPolicy::Text,
            Policy::Only(ids) => SpecialPolicy::Only(ids),
        }
    }
}

/// The probability and the seed of a call.
pub fn dropout(probability: f64, seed: u64) -> PyResult<Dropout> {
    if (0.0..=1.0).contains(&probability) {
        return Ok(Dropout { probability, seed, ..Dropout::NONE });
    }
    Err(PyValueError::new_err(format!("dropout={probability} is no probability: give a number from 0 to 1")))
}

/// The weight of scores and the seed of a call that draws.
pub fn drawing(alpha: f64, seed: u64) -> PyResult<Dropout> {
    if alpha.is_finite() && alpha >= 0.0 {
        return Ok(Dropout { ways: Ways::Drawn(alpha), seed, ..Dropout::NONE });
    }
    Err(PyValueError::new_err(format!("alpha={alpha} is no weight: give a finite number, 0 or more")))
}

/// What of `all` has that name; `what`: what they are.
pub fn named<T: Copy>(what: &str, name: &str, all: &[(&str, T)]) -> PyResult<T> {
    let found = all.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
    found.ok_or_else(|| PyValueError::new_err(format!("no {what} is called {name:?}")))
}

/// The same of an attribute, which is a name.
pub fn attribute<T: Copy>(object: &Bound<'_, PyAny>, name: &str, all: &[(&str, T)]) -> PyResult<T> {
    named(name, &object.getattr(name)?.extract::<PyBackedStr>()?, all)
}

/// The unit of a `TokenizerSpec` or a `TrainOptions`.
pub fn unit(spec: &Bound<'_, PyAny>) -> PyResult<Unit> {
    attribute(spec, "unit", &[("byte", Unit::Byte), ("char", Unit::Char), ("word", Unit::Word)])
}

/// The model of a `TokenizerSpec`.
pub fn model(spec: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let bpe = [("bpe", Kind::Bpe), ("wordpiece", Kind::WordPiece)];
    let others = [("unigram", Kind::Unigram), ("wordlevel", Kind::WordLevel)];
    attribute(spec, "model", &[bpe, others].concat())
}

/// The split of a `SplitSpec`.
pub fn split(spec: &Bound<'_, PyAny>) -> PyResult<Split> {
    let pattern: Option<String> = spec.getattr("pattern")?.extract()?;
    let tables = attribute(spec, "tables", &[("tiktoken", Tables::Tiktoken), ("onig", Tables::Onig)])?;
    Split::new(pattern.as_deref(), tables, spec.getattr("keep_unmatched")?.extract()?)
        .map_err(|error: Error| to_python(spec.py(), error, None))
}

/// The pairs of the mapping `spec.<name>`; a value of the wrong type or an id that is none is an error.
pub fn items<'py, K, V>(spec: &Bound<'py, PyAny>, name: &str) -> PyResult<Vec<(K, V)>>
where
    (K, V): for<'a> FromPyObject<'a, 'py, Error = PyErr>,
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

/// Pairs of numbers, from an array of shape (n, 2).
pub fn pairs(array: &PyReadonlyArray2<'_, u32>) -> PyResult<Vec<(u32, u32)>> {
    let array = array.as_array();
    if array.ncols() != 2 {
        return Err(PyValueError::new_err("merges have two columns: left, right"));
    }
    Ok(array.rows().into_iter().map(|row| (row[0], row[1])).collect())
}

/// Rows of so many numbers, which lie back to back.
pub fn rows<T: Element>(py: Python<'_>, flat: Vec<T>, columns: usize) -> PyResult<Bound<'_, PyArray2<T>>> {
    let array = Array2::from_shape_vec((flat.len() / columns, columns), flat);
    Ok(array.map_err(|error| PyValueError::new_err(error.to_string()))?.into_pyarray(py))
}

/// How each token of `spec.matching` is found.
pub fn matching(spec: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Matching)>> {
    let stages = [("text", Stage::Text), ("normalized", Stage::Normalized)];
    let stages = [stages, [("frozen", Stage::Frozen), ("never", Stage::Never)]].concat();
    let all: Vec<(String, Bound<'_, PyAny>)> = items(spec, "matching")?;
    all.into_iter()
        .map(|(token, rule)| {
            let stage = attribute(&rule, "stage", &stages).map_err(|error| {
                let message = format!("matching: {token:?}: {}", error.value(spec.py()));
                exception(spec.py(), "VocabularyError", message)
            })?;
            let flag = |name: &str| rule.getattr(name)?.extract::<bool>();
            let (single_word, lstrip, rstrip) = (flag("single_word")?, flag("lstrip")?, flag("rstrip")?);
            Ok((token, Matching { stage, single_word, lstrip, rstrip }))
        })
        .collect()
}
