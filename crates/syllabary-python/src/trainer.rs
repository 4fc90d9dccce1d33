//! `Trainer` counts documents as they come; `Merging` then learns merges from them.

use std::{
    cell::RefCell,
    path::PathBuf,
    time::{Duration, Instant},
};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use syllabary::{
    Error,
    train::{
        self, GoOn, Room, Start, TieBreak, TrainOptions,
        count::{Counter, Watch},
    },
};

use crate::{
    convert,
    errors::to_python,
    pieces::{self, Array, Batches, Placed},
};

/// Signals are looked at, and progress is told, this often.
const PULSE: Duration = Duration::from_millis(50);

/// Collects a corpus. For one thread: `syllabary.train` owns it.
#[pyclass(module = "syllabary._engine")]
pub struct Trainer {
    counter: Option<Counter>,
    threads: usize,
    memory: Option<usize>,
}

/// Training under way. For one thread.
#[pyclass(module = "syllabary._engine")]
pub struct Merging {
    /// Always there, until it is dropped.
    merging: Option<train::Merging>,
    threads: usize,
}

impl Drop for Merging {
    /// A hundred thousand lists are freed while the tokenizer is made, if there is another thread for it.
    fn drop(&mut self) {
        if let (Some(merging), true) = (self.merging.take(), self.threads > 1) {
            // Where the system has no thread, it is freed here.
            drop(std::thread::Builder::new().spawn(move || drop(merging)));
        }
    }
}

/// The engine's options of a `TrainOptions`; the two sizes are limits without special tokens.
fn options(
    spec: &Bound<'_, PyAny>,
    max_tokens: usize,
    max_merges: usize,
    threads: usize,
    memory: Option<usize>,
) -> PyResult<TrainOptions> {
    let ties = [
        ("smallest-ids", TieBreak::SmallestIds),
        ("first-seen", TieBreak::FirstSeen),
        ("largest-pair", TieBreak::LargestPair),
    ];
    Ok(TrainOptions {
        max_tokens,
        max_merges,
        min_frequency: spec.getattr("min_frequency")?.extract()?,
        max_token_length: spec.getattr("max_token_length")?.extract()?,
        tie_break: convert::attribute(spec, "tie_break", &ties)?,
        gpt2_byte_order: spec.getattr("byte_order")?.extract::<String>()? == "gpt2",
        seen_bytes_only: spec.getattr("alphabet")?.extract::<String>()? == "seen",
        end_of_word: spec.getattr("end_of_word")?.extract()?,
        fallback: spec.getattr("fallback")?.extract()?,
        threads,
        memory,
    })
}

/// Looks at signals and, while merging, tells `callback(merges done, count of the last pair)`; keeps what they raise.
pub struct Pulse {
    last: Instant,
    callback: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

impl Pulse {
    /// `callback` is told how far training is.
    pub fn new(callback: Option<Py<PyAny>>) -> Pulse {
        Pulse { last: Instant::now(), callback, raised: None }
    }

    /// Whether to go on; `done`: the merges done and the count of the last.
    pub fn beat(&mut self, done: Option<(usize, u64)>) -> bool {
        if self.raised.is_some() {
            return false;
        }
        if self.last.elapsed() < PULSE {
            return true;
        }
        self.last = Instant::now();
        let result = Python::attach(|py| {
            py.check_signals()?;
            if let (Some(callback), Some(done)) = (&self.callback, done) {
                callback.call1(py, done)?;
            }
            Ok(())
        });
        self.raised = result.err();
        self.raised.is_none()
    }

    /// Keeps what ends the work; nothing more is to be found out.
    fn raise(&mut self, error: PyErr) -> (bool, bool) {
        self.raised.get_or_insert(error);
        (false, false)
    }

    /// Keeps what ends the work.
    pub fn ended(&mut self, error: PyErr) -> Error {
        self.raise(error);
        Error::Interrupted
    }

    /// The exception for `error`: what a signal or the callback raised, if that is what ended the work.
    pub fn exception(&mut self, py: Python<'_>, error: Error) -> PyErr {
        match (error, self.raised.take()) {
            (Error::Interrupted, Some(raised)) => raised,
            (error, _) => to_python(py, error, None),
        }
    }
}

/// Works without Python, but for signals: what a handler of one raises ends it.
pub fn work<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&mut GoOn<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let mut pulse = Pulse::new(None);
    py.detach(|| job(&mut || pulse.beat(None))).map_err(|error| pulse.exception(py, error))
}

/// The same with texts from an iterable of `str`.
pub fn feed(
    documents: &Bound<'_, PyAny>,
    take: impl FnOnce(&[&str], &mut GoOn<'_>) -> Result<(), Error> + Send,
) -> PyResult<()> {
    let texts = convert::texts(documents)?;
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    work(documents.py(), |go_on| take(&texts, go_on))
}

type Counts<'py> = (Bound<'py, PyBytes>, Array<'py>, Array<'py>);

impl Trainer {
    fn counter(&mut self) -> PyResult<&mut Counter> {
        self.counter.as_mut().ok_or_else(used_up)
    }

    /// What was counted, and the memory that there is; nothing is left here.
    pub fn take(&mut self) -> PyResult<(Counter, usize, Option<usize>)> {
        Ok((self.counter.take().ok_or_else(used_up)?, self.threads, self.memory))
    }
}

/// Threads that may count, the bytes that there are, and the room, under a limit of memory or without.
pub fn room(threads: usize, memory: Option<(usize, PathBuf)>) -> (usize, Option<usize>, Room) {
    let limit = memory.as_ref().map(|&(bytes, _)| bytes);
    // Each thread that counts needs some memory of its own.
    let threads = limit.map_or(threads, |bytes| threads.min((bytes >> 23).max(1)));
    let room = memory.map(|(bytes, folder)| Room::new(bytes, threads, folder)).unwrap_or_default();
    (threads, limit, room)
}

fn used_up() -> PyErr {
    PyValueError::new_err("what this trainer has counted is used up: make another one")
}

#[pymethods]
impl Trainer {
    #[new]
    #[pyo3(signature = (options, threads, memory=None))]
    fn new(
        py: Python<'_>,
        options: &Bound<'_, PyAny>,
        threads: usize,
        memory: Option<(usize, PathBuf)>,
    ) -> PyResult<Self> {
        let unit = convert::unit(options)?;
        let mut split = convert::split(&options.getattr("split")?)?;
        if options.getattr("lines")?.extract()? {
            split = split.by_lines();
        }
        let cut: bool = options.getattr("cut_special")?.extract()?;
        let special: Vec<String> =
            if cut { options.getattr("special_tokens")?.extract()? } else { Vec::new() };
        let (threads, limit, room) = room(threads, memory);
        let counter =
            Counter::new(unit, split, &special, threads, room).map_err(|error| to_python(py, error, None))?;
        Ok(Trainer { counter: Some(counter), threads, memory: limit })
    }

    fn feed(&mut self, documents: &Bound<'_, PyAny>) -> PyResult<()> {
        let counter = self.counter()?;
        feed(documents, |texts, go_on| counter.feed(texts, go_on))
    }

    fn feed_part(&mut self, py: Python<'_>, part: &Bound<'_, PyAny>, last: bool) -> PyResult<()> {
        let (text, counter) = (convert::text(part)?, self.counter()?);
        work(py, |go_on| {
            counter.feed_part(&text, go_on)?;
            if last { counter.end_document(go_on) } else { Ok(()) }
        })
    }

    #[pyo3(signature = (path, start, most, characters, see=None))]
    fn feed_file(
        &mut self,
        py: Python<'_>,
        path: PathBuf,
        start: u64,
        most: u64,
        characters: usize,
        see: Option<Py<PyAny>>,
    ) -> PyResult<u64> {
        let counter = self.counter()?;
        let (fed, mut pulse) = py.detach(|| {
            let pulse = RefCell::new(Pulse::new(None));
            let (open, see) = see.map_or(((false, false), None), |see| ((true, true), Some(see)));
            let see = &mut |text: &str| {
                let answer = Python::attach(|py| see.as_ref().map(|see| see.call1(py, (text,))?.extract(py)));
                let answer = answer.unwrap_or(Ok((false, false)));
                answer.unwrap_or_else(|error| pulse.borrow_mut().raise(error))
            };
            let go_on = &mut || pulse.borrow_mut().beat(None);
            let fed = counter.feed_file(&path, start, most, Watch { characters, open, see }, go_on);
            (fed, pulse.into_inner())
        });
        match (fed, pulse.raised.take()) {
            (Ok(done), None) => Ok(done),
            (_, Some(raised)) => Err(raised),
            (Err(error), None) => Err(to_python(py, error, None)),
        }
    }

    fn feed_counts(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyBytes>,
        ends: PyReadonlyArray1<'_, u64>,
        counts: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let counter = self.counter()?;
        pieces::feed(py, data, (&ends, &counts), |piece, count| counter.add(piece, count))
    }

    fn feed_ids(
        &mut self,
        py: Python<'_>,
        ids: PyReadonlyArray1<'_, u32>,
        ends: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let (ids, ends) = (ids.as_slice()?, ends.as_slice()?);
        let counter = self.counter()?;
        work(py, |go_on| {
            let mut start = 0;
            for &end in ends {
                let end = usize::try_from(end).unwrap_or(usize::MAX);
                let sequence = ids.get(start..end).ok_or_else(|| {
                    Error::Training(format!("a sequence of ids ends at {end} of {}", ids.len()))
                })?;
                counter.add_ids(sequence, go_on)?;
                start = end;
            }
            Ok(())
        })
    }

    /// Ends the text and waits until all of it is counted.
    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        let counter = self.counter()?;
        work(py, |go_on| counter.finish(go_on))
    }

    fn counts<'py>(&mut self, py: Python<'py>) -> PyResult<Counts<'py>> {
        let (data, ends, counts, _firsts) = self.counts_and_places(py)?;
        Ok((data, ends, counts))
    }

    /// The same, and where each piece was first seen: less is earlier.
    fn counts_and_places<'py>(&mut self, py: Python<'py>) -> PyResult<Placed<'py>> {
        let counter = self.counter()?;
        pieces::placed(py, |go_on, take| {
            counter.settle(go_on)?;
            counter
                .each_by_bytes(go_on, &mut |counted| take(counted.piece, counted.count, Some(counted.first)))
        })
    }

    /// All that was counted, in batches; once it was handed over by frequency, nothing else is asked of a trainer.
    fn hand_counts(
        &mut self,
        py: Python<'_>,
        take: Py<PyAny>,
        by_frequency: bool,
        most: (usize, usize),
    ) -> PyResult<()> {
        pieces::hand(py, self.counter()?, Batches::new(take, most), by_frequency)
    }

    /// How many pieces were counted in all.
    #[getter]
    fn total(&mut self, py: Python<'_>) -> PyResult<u128> {
        pieces::total(py, self.counter()?)
    }

    #[getter]
    fn pending(&mut self) -> PyResult<usize> {
        Ok(self.counter()?.pending())
    }

    #[getter]
    fn bytes(&mut self) -> PyResult<u64> {
        Ok(self.counter()?.bytes())
    }

    #[getter]
    fn distinct_pieces(&mut self, py: Python<'_>) -> PyResult<usize> {
        self.finish(py)?;
        Ok(self.counter()?.distinct_pieces())
    }

    #[pyo3(signature = (spec, max_tokens, max_merges, start=None))]
    fn merging(
        &mut self,
        py: Python<'_>,
        spec: &Bound<'_, PyAny>,
        max_tokens: usize,
        max_merges: usize,
        start: Option<(Vec<Vec<u8>>, PyReadonlyArray2<'_, u32>)>,
    ) -> PyResult<Merging> {
        let options = options(spec, max_tokens, max_merges, self.threads, self.memory)?;
        let start = start.map(begin).transpose()?;
        let counter = self.counter.take().ok_or_else(used_up)?;
        let merging = work(py, |go_on| train::Merging::new(counter, &options, start.as_ref(), go_on))?;
        Ok(Merging { merging: Some(merging), threads: self.threads })
    }
}

fn begin((tokens, merges): (Vec<Vec<u8>>, PyReadonlyArray2<'_, u32>)) -> PyResult<Start> {
    let merges = merges.as_array();
    if merges.ncols() != 3 {
        return Err(PyValueError::new_err("merges have three columns: left, right, result"));
    }
    Ok(Start { tokens, merges: merges.rows().into_iter().map(|row| (row[0], row[1], row[2])).collect() })
}

type Learned<'py> = (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray1<u64>>);

#[pymethods]
impl Merging {
    /// The tokens known before the first merge.
    #[getter]
    fn tokens<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.merging.iter().flat_map(train::Merging::known).map(|token| PyBytes::new(py, token)).collect()
    }

    #[getter]
    fn done(&self) -> bool {
        self.merging.as_ref().is_none_or(train::Merging::done)
    }

    #[pyo3(signature = (seconds, at_most=None))]
    fn step<'py>(&mut self, py: Python<'py>, seconds: f64, at_most: Option<usize>) -> PyResult<Learned<'py>> {
        let (mut pairs, mut counts) = (Vec::new(), Vec::new());
        let began = Instant::now();
        if let (Some(merging), true) = (&mut self.merging, at_most != Some(0)) {
            work(py, |go_on| {
                let more = &mut |learned: &train::Learned| {
                    pairs.extend([learned.pair.0, learned.pair.1]);
                    counts.push(learned.count);
                    at_most.is_none_or(|most| counts.len() < most) && began.elapsed().as_secs_f64() < seconds
                };
                merging.step(more, go_on)
            })?;
        }
        Ok((convert::rows(py, pairs, 2)?, counts.into_pyarray(py)))
    }
}
