//! How `Tokenizer` reads a text, or many, and encodes them without the GIL.
//!
//! Leaves out the methods that Python calls (`tokenizer`).

use numpy::{IntoPyArray, PyArray1};
use pyo3::{prelude::*, types::PyList};
use syllabary::{
    Error,
    asking::{Ask, LONG},
    batch::{self, Text as _},
    dropout::Dropout,
    fetch, pages,
    pool::Seat,
    tokenizer::{SpecialPolicy, Tokenizer as Engine},
    utf8::Buffer,
};

use crate::{
    convert::{self, Policy},
    errors::{on_string, to_python_in_batch},
    signals::interruptible,
    strings::Text,
    tokenizer::Tokenizer,
};

/// Text shorter than this is encoded without releasing the GIL: handing it over would cost more.
const DETACH_BYTES: usize = 4096;

impl Tokenizer {
    /// Runs `job` on a text with buffers that are kept, for long text without the GIL, and makes `result` of it.
    pub(crate) fn run<R: Send, V>(
        &self,
        text: &Bound<'_, PyAny>,
        job: impl FnOnce(&Engine, &str, &mut Seat) -> Result<R, Error> + Send,
        result: impl FnOnce(R, &mut Seat) -> PyResult<V>,
    ) -> PyResult<V> {
        let whole = |engine: &Engine, text: &Text<'_>, (seat, buffer): (&mut Seat, &mut Buffer)| {
            text.read(buffer).and_then(|text| job(engine, text, seat))
        };
        self.run_unread(text, whole, result)
    }

    /// The same where the job reads the text.
    fn run_unread<R: Send, V>(
        &self,
        text: &Bound<'_, PyAny>,
        job: impl FnOnce(&Engine, &Text<'_>, (&mut Seat, &mut Buffer)) -> Result<R, Error> + Send,
        result: impl FnOnce(R, &mut Seat) -> PyResult<V>,
    ) -> PyResult<V> {
        let (py, read, engine) = (text.py(), convert::reading(text)?, &self.engine);
        fetch::all(read.place(), read.size());
        engine.pool().with(|seat| {
            let mut buffer = std::mem::take(&mut seat.text);
            let run = |seat: &mut Seat| job(engine, &read, (seat, &mut buffer));
            let failed = |error| on_string(error, text);
            let done = match read.size() {
                ..DETACH_BYTES => run(seat).map_err(failed),
                DETACH_BYTES..LONG => py.detach(|| run(seat)).map_err(failed),
                _ => {
                    let asking = |ask| {
                        seat.work.ask = ask;
                        let done = run(seat);
                        seat.work.ask = Ask::default();
                        done
                    };
                    interruptible(py, asking, failed)
                }
            };
            seat.text = buffer;
            done.and_then(|made| result(made, seat))
        })
    }

    /// Encodes a text and makes `result` of its ids.
    fn ids<R>(
        &self,
        (text, policy, dropout): (&Bound<'_, PyAny>, SpecialPolicy<'_>, Dropout),
        result: impl FnOnce(&mut Vec<u32>) -> PyResult<R>,
    ) -> PyResult<R> {
        let encode = |engine: &Engine, text: &Text<'_>, (seat, buffer): (&mut Seat, &mut Buffer)| {
            pages::reserve(&mut seat.ids, text.expected_bytes() / 4 + 1);
            let (coins, work) = (dropout.coins(0), &mut seat.work);
            engine.encode_text((text, policy), coins, (work, buffer), &mut seat.ids)
        };
        self.run_unread(text, encode, |(), seat| result(&mut seat.ids))
    }

    /// The ids of a text as a list.
    pub fn list<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        policy: SpecialPolicy<'_>,
        dropout: Dropout,
    ) -> PyResult<Bound<'py, PyList>> {
        self.ids((text, policy, dropout), |ids| self.integers(text.py())?.list(text.py(), ids))
    }

    /// The same as an array.
    pub fn array<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        policy: SpecialPolicy<'_>,
        dropout: Dropout,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let py = text.py();
        self.ids((text, policy, dropout), |ids| {
            let short = ids.len() < DETACH_BYTES;
            Ok(if short { PyArray1::from_slice(py, ids) } else { std::mem::take(ids).into_pyarray(py) })
        })
    }

    /// How many they are.
    pub fn number(&self, text: &Bound<'_, PyAny>, policy: SpecialPolicy<'_>) -> PyResult<usize> {
        let job = |engine: &Engine, text: &Text<'_>, (seat, buffer): (&mut Seat, &mut Buffer)| {
            engine.count_text((text, policy), (&mut seat.work, buffer))
        };
        self.run_unread(text, job, |count, _| Ok(count))
    }

    pub(crate) fn batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        policy: &Policy,
        threads: usize,
        dropout: Dropout,
    ) -> PyResult<batch::Ragged> {
        let policy = policy.get();
        on_batch(py, texts, |texts, ask| {
            batch::encode(&self.engine, texts, policy, (dropout, 0), (threads, ask))
        })
    }
}

/// What a job makes of the texts of a batch, at work without Python; an error comes with the index of its text.
pub fn on_batch<T: Send>(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    job: impl FnOnce(&[Text<'_>], &Ask) -> Result<T, (usize, Error)> + Send,
) -> PyResult<T> {
    let members = convert::batch(texts)?;
    let read = convert::read(&members)?;
    let failed = |(index, error)| to_python_in_batch(error, index, &members[index]);
    interruptible(py, |ask| job(&read, &ask), failed)
}
