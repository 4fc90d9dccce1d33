//! Ctrl-C while the engine is at work without Python.
//!
//! Leaves out training, whose progress asks by itself (`trainer`), and lists, which are made between two windows
//! (`windows`).

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

use pyo3::prelude::*;
use syllabary::asking::Ask;

/// Python is asked so often.
const PULSE: Duration = Duration::from_millis(100);

/// Runs a job without Python, but for signals: what a handler of one raises ends it. `failed`: the exception for an error.
pub fn interruptible<T: Send, E: Send>(
    py: Python<'_>,
    job: impl FnOnce(Ask) -> Result<T, E> + Send,
    failed: impl FnOnce(E) -> PyErr,
) -> PyResult<T> {
    let signals = Arc::new(Signals::default());
    let asked = Arc::clone(&signals);
    let done = py.detach(|| job(Ask::new(move || asked.go_on())));
    match signals.raised() {
        Some(raised) => Err(raised),
        None => done.map_err(failed),
    }
}

/// Python hears of signals in its main thread alone, so only the thread that called asks it; others are told.
struct Signals {
    caller: ThreadId,
    stopped: AtomicBool,
    /// When Python was last asked, and what its handlers have raised.
    state: Mutex<(Instant, Option<PyErr>)>,
}

impl Default for Signals {
    fn default() -> Self {
        Signals {
            caller: thread::current().id(),
            stopped: AtomicBool::new(false),
            state: Mutex::new((Instant::now(), None)),
        }
    }
}

impl Signals {
    fn go_on(&self) -> bool {
        if !self.stopped.load(Ordering::Relaxed) && thread::current().id() == self.caller {
            self.ask();
        }
        !self.stopped.load(Ordering::Relaxed)
    }

    fn ask(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0.elapsed() >= PULSE {
            state.1 = Python::attach(|py| py.check_signals()).err();
            state.0 = Instant::now();
            self.stopped.store(state.1.is_some(), Ordering::Relaxed);
        }
    }

    fn raised(&self) -> Option<PyErr> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1.take()
    }
}
