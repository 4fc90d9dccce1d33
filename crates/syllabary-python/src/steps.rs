//! Steps of normalizing, cutting and decoding: from `syllabary.spec.Step`, and each stage alone, for tests.

use std::{borrow::Cow, ops::Range};

use pyo3::{
    prelude::*,
    pybacked::PyBackedStr,
    types::{PyBool, PyBytes, PyFloat, PyInt, PyString},
};
use syllabary::{
    Error,
    aligned::Aligned,
    normalize, pretokenize,
    step::{Step, Value},
    step_decode::{self, Class},
};

use crate::{
    convert,
    errors::{exception, to_python},
};

/// The steps of an iterable of `Step`.
pub fn steps(value: &Bound<'_, PyAny>) -> PyResult<Vec<Step>> {
    value.try_iter()?.map(|item| step(&item?)).collect()
}

pub fn step(value: &Bound<'_, PyAny>) -> PyResult<Step> {
    let kind: String = value.getattr("kind")?.extract()?;
    let options = value
        .getattr("options")?
        .call_method0("items")?
        .try_iter()?
        .map(|item| {
            let (name, value) = item?.extract::<(String, Bound<'_, PyAny>)>()?;
            Ok((name.clone(), option(&value, &kind, &name)?))
        })
        .collect::<PyResult<_>>()?;
    Ok(Step { kind, options })
}

fn option(value: &Bound<'_, PyAny>, kind: &str, name: &str) -> PyResult<Value> {
    let wrong = || {
        let message = format!("step {kind}: the option {name} is {value}, which no option can be");
        exception(value.py(), "VocabularyError", message)
    };
    Ok(if value.is_none() {
        Value::Null
    } else if value.is_instance_of::<PyBool>() {
        Value::Bool(value.extract()?)
    } else if value.is_instance_of::<PyInt>() {
        Value::Int(value.extract().map_err(|_| wrong())?)
    } else if value.is_instance_of::<PyFloat>() {
        Value::Float(value.extract()?)
    } else if value.is_instance_of::<PyString>() {
        Value::Str(convert::text(value)?.to_string())
    } else if let Ok(bytes) = value.cast::<PyBytes>() {
        Value::Bytes(bytes.as_bytes().to_vec())
    } else {
        Value::Strs(value.extract().map_err(|_| wrong())?)
    })
}

/// Byte ranges of a text as character ranges.
struct Characters(Vec<usize>);

impl Characters {
    fn new(text: &str) -> Characters {
        let mut numbers = Vec::with_capacity(text.len() + 1);
        for (number, c) in text.chars().enumerate() {
            numbers.resize(numbers.len() + c.len_utf8(), number);
        }
        numbers.push(text.chars().count());
        Characters(numbers)
    }

    fn of(&self, bytes: &Range<usize>) -> (usize, usize) {
        let number = |at: usize| self.0.get(at).copied().unwrap_or_default();
        (number(bytes.start), number(bytes.end))
    }
}

/// A normalizer alone.
#[pyclass(frozen, module = "syllabary._engine")]
pub struct Normalizer(normalize::Normalizer);

#[pymethods]
impl Normalizer {
    #[new]
    fn new(steps: &Bound<'_, PyAny>) -> PyResult<Self> {
        let made = normalize::Normalizer::new(&self::steps(steps)?);
        made.map(Normalizer).map_err(|error| to_python(steps.py(), error, None))
    }

    #[pyo3(signature = (text, frozen = None))]
    fn normalize(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        frozen: Option<Vec<PyBackedStr>>,
    ) -> PyResult<(String, Vec<(usize, usize)>)> {
        let text = convert::text(text)?;
        let frozen = frozen.unwrap_or_default();
        let longest = |rest: &str| {
            frozen
                .iter()
                .filter(|token| rest.starts_with(token.as_ref() as &str))
                .map(|t| t.len())
                .max()
                .unwrap_or(0)
        };
        let frozen: Option<normalize::Frozen<'_>> = if frozen.is_empty() { None } else { Some(&longest) };
        let run = |tracked| Aligned::new(&text, 0, tracked).and_then(|aligned| self.0.apply(aligned, frozen));
        let both = run(true).and_then(|tracked| run(false).map(|plain| (tracked, plain)));
        let (tracked, plain) = both.map_err(|error| to_python(py, error, Some(&text)))?;
        same(py, std::slice::from_ref(&tracked), &[plain])?;
        let characters = Characters::new(&text);
        let spans = tracked
            .text()
            .char_indices()
            .map(|(at, c)| characters.of(&tracked.original(at..at + c.len_utf8())))
            .collect();
        Ok((tracked.text().to_owned(), spans))
    }

    /// Without alignment.
    fn plain(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<String> {
        let text = convert::text(text)?;
        let made =
            py.detach(|| Aligned::new(&text, 0, false).and_then(|aligned| self.0.apply(aligned, None)));
        Ok(made.map_err(|error| to_python(py, error, Some(&text)))?.text().to_owned())
    }
}

/// Refuses to go on if the texts differ with and without alignment.
fn same(py: Python<'_>, tracked: &[Aligned], plain: &[Aligned]) -> PyResult<()> {
    let texts = |parts: &[Aligned]| parts.iter().map(|part| part.text().to_owned()).collect::<Vec<_>>();
    if texts(tracked) == texts(plain) {
        return Ok(());
    }
    Err(exception(py, "SyllabaryError", "texts differ with and without alignment".to_owned()))
}

/// A pretokenizer alone.
#[pyclass(frozen, module = "syllabary._engine")]
pub struct Pretokenizer(pretokenize::Pretokenizer);

#[pymethods]
impl Pretokenizer {
    #[new]
    fn new(steps: &Bound<'_, PyAny>) -> PyResult<Self> {
        let made = pretokenize::Pretokenizer::new(&self::steps(steps)?);
        made.map(Pretokenizer).map_err(|error| to_python(steps.py(), error, None))
    }

    #[pyo3(signature = (text, before = None))]
    fn cut(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        before: Option<&Normalizer>,
    ) -> PyResult<Vec<(String, (usize, usize))>> {
        let text = convert::text(text)?;
        let run = |tracked| -> Result<Vec<Aligned>, Error> {
            let mut whole = Aligned::new(&text, 0, tracked)?;
            if let Some(before) = before {
                whole = before.0.apply(whole, None)?;
            }
            self.0.apply(vec![whole])
        };
        let both = run(true).and_then(|tracked| run(false).map(|plain| (tracked, plain)));
        let (tracked, plain) = both.map_err(|error| to_python(py, error, Some(&text)))?;
        same(py, &tracked, &plain)?;
        let characters = Characters::new(&text);
        let place = |part: &Aligned| characters.of(&part.original(0..part.len()));
        Ok(tracked.iter().map(|part| (part.text().to_owned(), place(part))).collect())
    }

    /// How many parts, without alignment and without holding them.
    fn count(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<usize> {
        let text = convert::text(text)?;
        let mut count = 0;
        let mut each = |_| {
            count += 1;
            Ok(())
        };
        let run = |each: &mut (dyn FnMut(Aligned) -> Result<(), Error> + Send)| {
            self.0.for_each(vec![Aligned::new(&text, 0, false)?], each)
        };
        py.detach(|| run(&mut each)).map_err(|error| to_python(py, error, Some(&text)))?;
        Ok(count)
    }
}

/// A decoder alone.
#[pyclass(frozen, module = "syllabary._engine")]
pub struct StepDecoder(step_decode::StepDecoder);

#[pymethods]
impl StepDecoder {
    #[new]
    fn new(steps: &Bound<'_, PyAny>) -> PyResult<Self> {
        let made = step_decode::StepDecoder::new(&self::steps(steps)?);
        made.map(StepDecoder).map_err(|error| to_python(steps.py(), error, None))
    }

    #[pyo3(signature = (tokens, classes = None))]
    fn decode(
        &self,
        py: Python<'_>,
        tokens: Vec<PyBackedStr>,
        classes: Option<Vec<PyBackedStr>>,
    ) -> PyResult<String> {
        let texts = tokens.iter().map(|token| Cow::Borrowed(token.as_ref() as &str));
        let made = match classes {
            None => self.0.decode(texts.collect()),
            Some(names) => {
                let classes: Vec<Class> = names.iter().map(|name| class(name)).collect::<PyResult<_>>()?;
                self.0.decode_classed(texts.zip(classes).collect())
            }
        };
        made.map_err(|error| to_python(py, error, None))
    }
}

fn class(name: &str) -> PyResult<Class> {
    let plain = [("normal", Class::Normal), ("byte", Class::Byte)];
    let others = [("control", Class::Control), ("unknown", Class::Unknown)];
    convert::named("token class", name, &[plain, others].concat())
}
