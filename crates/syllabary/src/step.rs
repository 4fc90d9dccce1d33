//! A step of normalizing, cutting or decoding as plain data, and reading its options.
//!
//! Adds: `Step` and `Value`, the engine's form of `syllabary.spec.Step`, and one reader for each type of option.
//! Leaves out: what a step does (`normalize`, `pretokenize`, `step_decode`).

use std::collections::BTreeMap;

use crate::error::Error;

/// The value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Python's `None`.
    Null,
    /// A flag.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list of texts.
    Strs(Vec<String>),
}

impl Value {
    fn name(&self) -> &'static str {
        match self {
            Value::Null => "None",
            Value::Bool(_) => "a bool",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Str(_) => "a text",
            Value::Bytes(_) => "bytes",
            Value::Strs(_) => "a list of texts",
        }
    }
}

/// One step: what it is called and its options, none left to a default.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// As Hugging Face's `tokenizer.json` calls it, or `"SentencePiece"` or `"Join"`.
    pub kind: String,
    /// Its options by name.
    pub options: BTreeMap<String, Value>,
}

#[cfg(test)]
impl Step {
    /// One with these options.
    pub(crate) fn of(kind: &str, options: &[(&str, Value)]) -> Step {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Step { kind: kind.to_owned(), options }
    }
}

impl Step {
    /// An error about this step.
    pub fn wrong(&self, reason: &str) -> Error {
        Error::Vocabulary(format!("step {}: {reason}", self.kind))
    }

    /// The error for a kind that no step of this stage has.
    pub fn unknown_kind(&self, stage: &str) -> Error {
        Error::Vocabulary(format!("no {stage} step is called {:?}", self.kind))
    }

    fn option(&self, name: &str) -> Result<&Value, Error> {
        self.options.get(name).ok_or_else(|| self.wrong(&format!("the option {name} is missing")))
    }

    fn wrong_type(&self, name: &str, expected: &str, value: &Value) -> Error {
        self.wrong(&format!("the option {name} must be {expected}, not {}", value.name()))
    }

    /// A flag.
    pub fn flag(&self, name: &str) -> Result<bool, Error> {
        match self.option(name)? {
            Value::Bool(flag) => Ok(*flag),
            other => Err(self.wrong_type(name, "a bool", other)),
        }
    }

    /// A flag or nothing.
    pub fn optional_flag(&self, name: &str) -> Result<Option<bool>, Error> {
        match self.option(name)? {
            Value::Null => Ok(None),
            _ => self.flag(name).map(Some),
        }
    }

    /// A text.
    pub fn text(&self, name: &str) -> Result<&str, Error> {
        match self.option(name)? {
            Value::Str(text) => Ok(text),
            other => Err(self.wrong_type(name, "a text", other)),
        }
    }

    /// A text of one character.
    pub fn character(&self, name: &str) -> Result<char, Error> {
        let text = self.text(name)?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(c),
            _ => Err(self.wrong(&format!("the option {name} must be one character, not {text:?}"))),
        }
    }

    /// A whole number that is not negative.
    pub fn size(&self, name: &str) -> Result<usize, Error> {
        match self.option(name)? {
            Value::Int(number) => usize::try_from(*number)
                .map_err(|_| self.wrong(&format!("the option {name} must not be negative, and {number} is"))),
            other => Err(self.wrong_type(name, "an integer", other)),
        }
    }

    /// Bytes.
    pub fn bytes(&self, name: &str) -> Result<&[u8], Error> {
        match self.option(name)? {
            Value::Bytes(bytes) => Ok(bytes),
            other => Err(self.wrong_type(name, "bytes", other)),
        }
    }
}
