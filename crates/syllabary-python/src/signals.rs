//! Ctrl-C while the engine is at work without Python.
//!
//! Leaves out training, whose progress asks by itself (`trainer`), and lists, which are made between two windows
//! (`windows`).

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use pyo3::prelude::*;
use syllabary::{Error, batch::GoOn};

/// Python is asked so often.
const PULSE: Duration = Duration::from_millis(100);

/// Runs a job on a batch without Python, but for signals: what a handler of one raises ends it. `failed`: the exception
/// for an error and the index of its text.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(GoOn<'_>) -> Result<T, (usize, Error)> + Send,
    failed: impl FnOnce(usize, Error) -> PyErr,
) -> PyResult<T> {
    let state = Mutex::new((Instant::now(), None));
    let go_on = || {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0.elapsed() < PULSE {
            return true;
        }
        state.0 = Instant::now();
        state.1 = Python::attach(|py| py.check_signals()).err();
        state.1.is_none()
    };
    let done = py.detach(|| job(&go_on));
    match state.into_inner().unwrap_or_else(PoisonError::into_inner).1 {
        Some(raised) => Err(raised),
        None => done.map_err(|(index, error)| failed(index, error)),
    }
}
