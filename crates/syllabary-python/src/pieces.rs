//! Tables of pieces as Python hands them over and gets them: their UTF-8 back to back, where each ends, its count.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyBytes};
use syllabary::Error;

use crate::{errors::to_python, trainer::Pulse};

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

/// A table for Python of what `each` hands on, which may look at signals meanwhile.
pub fn placed(
    py: Python<'_>,
    each: impl FnOnce(&mut Pulse, &mut Takes<'_>) -> Result<(), Error> + Send,
) -> PyResult<Placed<'_>> {
    let (mut data, mut ends, mut counts, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut pulse = Pulse::new(None);
    py.detach(|| {
        each(&mut pulse, &mut |text, count, place| {
            data.extend_from_slice(text);
            places.push(place.unwrap_or(ends.len() as u64));
            ends.push(data.len() as u64);
            counts.push(count);
            Ok(())
        })
    })
    .map_err(|error| pulse.exception(py, error))?;
    let [ends, counts, places] = [ends, counts, places].map(|array| array.into_pyarray(py));
    Ok((PyBytes::new(py, &data), ends, counts, places))
}
