//! What can go wrong in the engine: one enum, each kind with the place it happened.
//!
//! Adds: `Error` with a sentence for each kind. Leaves out: Python exceptions (the binding maps kinds to them).

use std::{fmt, io, path::Path};

/// Why the engine could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A split pattern that cannot be used.
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it, naming the construct.
        reason: String,
    },
    /// A split pattern that compiled but gave up on a text.
    SplitFailed {
        /// Byte in the text given where the search that failed had started.
        offset: usize,
        /// What the matcher reported.
        reason: String,
    },
    /// Symbols that have no id in this vocabulary.
    UnknownSymbol {
        /// The first few of them as an error shows them, in order of appearance.
        symbols: Vec<String>,
        /// Byte in the text given where the first one begins.
        offset: usize,
    },
    /// An id that no token has.
    UnknownId {
        /// The id.
        id: i64,
        /// Its place in the sequence given.
        index: usize,
    },
    /// A special token in text where none is allowed.
    SpecialFound {
        /// Its text.
        token: String,
        /// Byte in the text given where it begins.
        offset: usize,
    },
    /// A text with a lone surrogate, which is no Unicode text.
    Surrogate {
        /// The character of the text that is one.
        character: usize,
    },
    /// Tokens, merges or special tokens that contradict each other.
    Vocabulary(String),
    /// Options or a corpus that training cannot work with.
    Training(String),
    /// A size beyond what ids or offsets can hold.
    TooLarge(String),
    /// A file that could not be written or read.
    File {
        /// Which one.
        path: String,
        /// The system's number of the error.
        code: Option<i32>,
        /// What the system says.
        reason: String,
    },
    /// The caller asked to stop.
    Interrupted,
}

impl Error {
    /// What the system said of a file.
    pub(crate) fn of_file(path: &Path, error: &io::Error) -> Error {
        Error::File {
            path: path.display().to_string(),
            code: error.raw_os_error(),
            reason: error.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Pattern { pattern, reason } => write!(f, "split pattern {pattern:?}: {reason}"),
            Error::SplitFailed { offset, reason } => {
                write!(f, "the split pattern gave up at byte {offset} of the text: {reason}")
            }
            Error::UnknownSymbol { symbols, offset } => {
                write!(
                    f,
                    "not in the alphabet: {}; the first is at byte {offset} of the text",
                    symbols.join(", ")
                )
            }
            Error::UnknownId { id, index } => write!(f, "no token has id {id} (at index {index})"),
            Error::SpecialFound { token, offset } => {
                write!(f, "special token {token:?} at byte {offset} of the text")
            }
            Error::Surrogate { character } => {
                write!(f, "a lone surrogate at character {character} of the text")
            }
            Error::Vocabulary(reason) | Error::Training(reason) | Error::TooLarge(reason) => {
                f.write_str(reason)
            }
            Error::File { path, reason, .. } => write!(f, "{path}: {reason}"),
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}
