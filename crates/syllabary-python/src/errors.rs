//! Engine errors -> the exceptions of `syllabary.errors`, byte offsets -> character positions.

use pyo3::{
    exceptions::{PyKeyboardInterrupt, PyOSError},
    prelude::*,
    types::PyString,
};
use syllabary::Error;

/// The exception `syllabary.errors.<name>(message)`.
pub fn exception(py: Python<'_>, name: &str, message: String) -> PyErr {
    let made = py
        .import("syllabary.errors")
        .and_then(|module| module.getattr(name))
        .and_then(|class| class.call1((message,)));
    match made {
        Ok(instance) => PyErr::from_value(instance),
        Err(error) => error,
    }
}

/// Characters of `text` before byte `offset`.
fn characters(text: Option<&str>, offset: usize) -> String {
    match text.and_then(|text| text.get(..offset)) {
        Some(before) => format!("character {}", before.chars().count()),
        None => format!("byte {offset}"),
    }
}

/// What is said of a lone surrogate at a character.
pub fn surrogate(position: &str) -> String {
    format!(
        "the text has a lone surrogate at character {position}, which is no Unicode text; decode it properly, or \
         replace it: text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
    )
}

/// The exception for `error`, which happened on `text`.
pub fn to_python(py: Python<'_>, error: Error, text: Option<&str>) -> PyErr {
    let (name, message) = match error {
        Error::Pattern { .. } => ("PatternError", error.to_string()),
        Error::SplitFailed { offset, reason } => (
            "PatternError",
            format!(
                "the split pattern gave up at {} of the text: {reason}; a pattern without nested repetition, \
                 or shorter texts, will work",
                characters(text, offset)
            ),
        ),
        Error::UnknownSymbol { symbols, offset } => (
            "UnknownSymbolError",
            format!(
                "not in the alphabet: {}; the first is at {} of the text. Train on text that has them, with all \
                 bytes, or with fallback=True",
                symbols.join(", "),
                characters(text, offset)
            ),
        ),
        Error::UnknownId { id, index } => {
            ("UnknownTokenError", format!("id {id} at index {index} is no token of this vocabulary"))
        }
        Error::SpecialFound { token, offset } => (
            "SpecialTokenError",
            format!(
                "the text holds the special token '{token}' at {}. To make it its id: special=\"allow\", or \
                 special={{'{token}'}} for this one. To read it as ordinary text: special=\"text\"",
                characters(text, offset)
            ),
        ),
        Error::Surrogate { character } => ("TextError", surrogate(&character.to_string())),
        Error::Vocabulary(reason) => ("VocabularyError", reason),
        Error::Training(reason) => ("TrainingError", reason),
        Error::TooLarge(reason) => ("TextError", reason),
        Error::File { path, code, reason } => return PyOSError::new_err((code, reason, path)),
        Error::Interrupted => return PyKeyboardInterrupt::new_err("interrupted"),
    };
    exception(py, name, message)
}

/// The exception for `error` on text number `index` of a batch.
pub fn to_python_in_batch(error: Error, index: usize, text: &Bound<'_, PyString>) -> PyErr {
    at_place(text.py(), &on_string(error, text), &format!("text {index} of the batch"))
}

/// The exception for `error`, which happened on this text.
pub fn on_string(error: Error, text: &Bound<'_, PyAny>) -> PyErr {
    let slice = text.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
    to_python(text.py(), error, slice)
}

/// The same exception, whose message begins with the place where it happened.
pub fn at_place(py: Python<'_>, raised: &PyErr, place: &str) -> PyErr {
    let message = format!("{place}: {}", raised.value(py));
    match raised.get_type(py).call1((message,)) {
        Ok(instance) => PyErr::from_value(instance),
        Err(error) => error,
    }
}
