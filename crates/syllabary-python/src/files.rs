//! Files -> ids: the text never becomes a Python object.

use std::path::{Path, PathBuf};

use pyo3::{exceptions::PyOSError, prelude::*};
use syllabary::{
    batch::{self, Ragged},
    dropout::Dropout,
    tokenizer::{SpecialPolicy, Tokenizer},
};

use crate::{
    errors::{at_place, exception, to_python},
    signals::interruptible,
};

/// Files are read together up to about this many bytes.
const READ_BYTES: u64 = 64 << 20;

/// Encodes every file, cut at `separator`, in windows of bounded size.
pub fn encode(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    paths: &[PathBuf],
    separator: Option<&str>,
    policy: SpecialPolicy<'_>,
    threads: usize,
) -> PyResult<Ragged> {
    let mut all = Ragged { ids: Vec::new(), offsets: vec![0] };
    let mut start = 0;
    while start < paths.len() {
        py.check_signals()?;
        let mut size = 0;
        let mut fits = |path: &PathBuf| {
            size += path.metadata().map_or(0, |meta| meta.len());
            size <= READ_BYTES
        };
        let count = paths[start..].iter().take_while(|path| fits(path)).count().max(1);
        let window = &paths[start..start + count];
        append(&mut all, encode_window(py, tokenizer, window, separator, policy, threads)?);
        start += count;
    }
    Ok(all)
}

fn append(all: &mut Ragged, more: Ragged) {
    let base = all.ids.len();
    all.offsets.extend(more.offsets[1..].iter().map(|offset| base + offset));
    all.ids.extend_from_slice(&more.ids);
}

fn encode_window(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    paths: &[PathBuf],
    separator: Option<&str>,
    policy: SpecialPolicy<'_>,
    threads: usize,
) -> PyResult<Ragged> {
    let contents: Vec<String> = paths.iter().map(|path| read(py, path)).collect::<PyResult<_>>()?;
    let mut documents = Vec::new();
    let mut files = Vec::new();
    for (file, content) in contents.iter().enumerate() {
        documents.extend(cut(content, separator));
        files.resize(documents.len(), file);
    }
    interruptible(
        py,
        |ask| batch::encode(tokenizer, &documents, policy, (Dropout::NONE, 0), (threads, &ask)),
        |(index, error)| {
            let raised = to_python(py, error, Some(documents[index]));
            let document = index - files.partition_point(|&file| file < files[index]);
            let place = format!("{}, document {document}", paths[files[index]].display());
            at_place(py, &raised, &place)
        },
    )
}

/// The documents of a file; what a last separator ends is no further, empty one.
fn cut<'t>(content: &'t str, separator: Option<&'t str>) -> Vec<&'t str> {
    match separator {
        None => vec![content],
        Some(separator) => {
            let mut documents: Vec<&str> = content.split(separator).collect();
            if documents.len() > 1 && documents.last() == Some(&"") {
                documents.pop();
            }
            documents
        }
    }
}

fn read(py: Python<'_>, path: &Path) -> PyResult<String> {
    let bytes = py.detach(|| std::fs::read(path)).map_err(|error| {
        // With errno and path, Python picks the right child of OSError.
        match error.raw_os_error() {
            Some(number) => {
                let reason = py
                    .import("os")
                    .and_then(|os| os.call_method1("strerror", (number,)))
                    .map_or_else(|_| error.to_string(), |text| text.to_string());
                PyOSError::new_err((number, reason, path.display().to_string()))
            }
            None => PyOSError::new_err(format!("{}: {error}", path.display())),
        }
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!(
            "{}: invalid UTF-8 at byte {at}; convert the file to UTF-8, or leave it out",
            path.display()
        );
        exception(py, "CorpusError", message)
    })
}
