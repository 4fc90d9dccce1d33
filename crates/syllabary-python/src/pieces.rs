//! Tables of pieces as Python hands them over and gets them: their UTF-8 back to back, where each ends, its count.

use std::cell::RefCell;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyBytes};
use syllabary::{
    Error,
    train::{Counted, GoOn, count::Counter},
};

use crate::{
    errors::to_python,
    trainer::{Pulse, work},
};

/// Numbers for Python.
pub type Array<'py> = Bound<'py, PyArray1<u64>>;
/// Texts back to back, where each ends, its count, its place in an order.
pub type Placed<'py> = (Bound<'py, PyBytes>, Array<'py>, Array<'py>, Array<'py>);
/// Takes a text, its count, and its place in an order; without one, texts come in it.
pub type Takes<'a> = dyn FnMut(&[u8], u64, Option<u64>) -> Result<(), Error> + 'a;

/// The pieces of a table, each with its count; `Error::Training` says what is wrong with it.
fn pieces<'a>(data: &'a [u8], ends: &[u64], counts: &[u64]) -> Result<Vec<(&'a [u8], u64)>, Error> {
    let broken = |what: String| Error::Training(format!("a table of pieces: {what}"));
    if ends.len() != counts.len() {
        return Err(broken(format!("{} pieces and {} counts", ends.len(), counts.len())));
    }
    let mut start = 0;
    let mut pieces = Vec::with_capacity(ends.len());
    for (row, (&end, &count)) in ends.iter().zip(counts).enumerate() {
        let end = usize::try_from(end).unwrap_or(usize::MAX);
        let piece = data
            .get(start..end)
            .ok_or_else(|| broken(format!("piece {row} ends at {end} of {}", data.len())))?;
        if std::str::from_utf8(piece).is_err() {
            return Err(broken(format!("piece {row} is not UTF-8")));
        }
        pieces.push((piece, count));
        start = end;
    }
    Ok(pieces)
}

/// Hands the pieces of a table to `add`, one by one.
pub fn feed(
    py: Python<'_>,
    data: &Bound<'_, PyBytes>,
    (ends, counts): (&PyReadonlyArray1<'_, u64>, &PyReadonlyArray1<'_, u64>),
    mut add: impl FnMut(&[u8], u64) -> Result<(), Error> + Send,
) -> PyResult<()> {
    let (data, ends, counts) = (data.as_bytes(), ends.as_slice()?, counts.as_slice()?);
    py.detach(|| pieces(data, ends, counts)?.into_iter().try_for_each(|(piece, count)| add(piece, count)))
        .map_err(|error| to_python(py, error, None))
}

/// A table for Python of what `each` hands on, which asks meanwhile whether to go on.
pub fn placed(
    py: Python<'_>,
    each: impl FnOnce(&mut GoOn<'_>, &mut Takes<'_>) -> Result<(), Error> + Send,
) -> PyResult<Placed<'_>> {
    let (mut data, mut ends, mut counts, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    work(py, |go_on| {
        each(go_on, &mut |text, count, place| {
            data.extend_from_slice(text);
            places.push(place.unwrap_or(ends.len() as u64));
            ends.push(data.len() as u64);
            counts.push(count);
            Ok(())
        })
    })?;
    let [ends, counts, places] = [ends, counts, places].map(|array| array.into_pyarray(py));
    Ok((PyBytes::new(py, &data), ends, counts, places))
}

/// A table on its way to Python, a batch at a time.
pub struct Batches {
    take: Py<PyAny>,
    /// Pieces, and bytes of them, at most; of a longer piece one.
    most: (usize, usize),
    data: Vec<u8>,
    ends: Vec<u64>,
    counts: Vec<u64>,
}

impl Batches {
    /// `take(data, ends, counts)` is given each.
    pub fn new(take: Py<PyAny>, most: (usize, usize)) -> Batches {
        Batches { take, most, data: Vec::new(), ends: Vec::new(), counts: Vec::new() }
    }

    pub fn put(&mut self, counted: Counted<'_>, pulse: &mut Pulse) -> Result<(), Error> {
        let full = self.ends.len() == self.most.0 || self.data.len() + counted.piece.len() > self.most.1;
        if full {
            self.hand_over(pulse)?;
        }
        self.data.extend_from_slice(counted.piece);
        self.ends.push(self.data.len() as u64);
        self.counts.push(counted.count);
        Ok(())
    }

    /// Hands over what there is; ends with `Error::Interrupted` where that raises something.
    pub fn hand_over(&mut self, pulse: &mut Pulse) -> Result<(), Error> {
        if self.ends.is_empty() {
            return Ok(());
        }
        let taken = Python::attach(|py| {
            let columns = [&mut self.ends, &mut self.counts].map(|all| std::mem::take(all).into_pyarray(py));
            let data = PyBytes::new(py, &self.data);
            self.data.clear();
            let [ends, counts] = columns;
            self.take.call1(py, (data, ends, counts)).map(drop)
        });
        taken.map_err(|error| pulse.ended(error))
    }
}

/// Hands over all that was counted, by bytes or the frequent pieces first.
pub fn hand(py: Python<'_>, counter: &mut Counter, mut batches: Batches, by_frequency: bool) -> PyResult<()> {
    let (handed, mut pulse) = py.detach(|| {
        let pulse = RefCell::new(Pulse::new(None));
        let go_on = &mut || pulse.borrow_mut().beat(None);
        let mut put = |counted: Counted<'_>| batches.put(counted, &mut pulse.borrow_mut());
        let each = counter.settle(go_on).and_then(|()| match by_frequency {
            true => counter.each_by_frequency(go_on, &mut put),
            false => counter.each_by_bytes(go_on, &mut put),
        });
        let handed = each.and_then(|()| batches.hand_over(&mut pulse.borrow_mut()));
        (handed, pulse.into_inner())
    });
    handed.map_err(|error| pulse.exception(py, error))
}

/// The counts of all pieces together.
pub fn total(py: Python<'_>, counter: &mut Counter) -> PyResult<u128> {
    let mut total = 0;
    work(py, |go_on| {
        counter.settle(go_on)?;
        counter.each(&mut |counted| {
            total += u128::from(counted.count);
            Ok(())
        })
    })?;
    Ok(total)
}
