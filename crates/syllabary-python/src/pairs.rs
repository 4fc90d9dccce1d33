//! Pairs of integers as rows of tuples, for `full.batch.offset_pairs`.
//!
//! Python's collector watches every new tuple, until it looks at it and sees that integers can close no circle. Hundreds
//! of thousands of them make it look often, and at all else that is young or old: so these are taken from its sight at
//! once, as it would do itself. Most of the time goes into new objects and their memory; every row counts from 0, so
//! equal integers, and equal pairs where they are found soon, are the same objects. Leaves out lists of ids (`lists`).

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{
    exceptions::PyValueError,
    ffi,
    prelude::*,
    types::{PyInt, PyList, PyTuple},
};

use crate::lists::Uncollected;

/// So many pairs are kept at most, and the integers below so many.
const PAIRS: usize = 1 << 15;
const INTEGERS: usize = 1 << 16;

/// Pairs between two looks for Ctrl-C.
const OFTEN: usize = 1 << 16;

/// The pairs of `flat`, shape (n, 2), as one list a row: those from one bound to before the next.
#[pyfunction]
pub fn pairs<'py>(
    py: Python<'py>,
    flat: PyReadonlyArray2<'_, i64>,
    bounds: PyReadonlyArray1<'_, i64>,
) -> PyResult<Bound<'py, PyList>> {
    let _uncollected = Uncollected::new(py);
    let (all, _) = flat.as_slice()?.as_chunks::<2>();
    let mut kept = Kept::new(py, all);
    let rows = PyList::empty(py);
    for bound in bounds.as_slice()?.windows(2) {
        let range = usize::try_from(bound[0]).ok().zip(usize::try_from(bound[1]).ok());
        let row = range
            .and_then(|(start, end)| all.get(start..end))
            .ok_or_else(|| PyValueError::new_err("the bounds of rows are no places of pairs"))?;
        let mut made = Vec::with_capacity(row.len());
        for block in row.chunks(OFTEN) {
            py.check_signals()?;
            for &pair in block {
                made.push(kept.pair(pair)?);
            }
        }
        rows.append(PyList::new(py, made)?)?;
    }
    Ok(rows)
}

/// Objects made for these rows already.
struct Kept<'py> {
    py: Python<'py>,
    integers: Vec<Option<Bound<'py, PyInt>>>,
    /// A pair at the place that it says, a power of two of them, or none.
    pairs: Vec<Option<([i64; 2], Bound<'py, PyTuple>)>>,
}

impl<'py> Kept<'py> {
    fn new(py: Python<'py>, all: &[[i64; 2]]) -> Kept<'py> {
        let most = all.iter().flatten().copied().max().and_then(|most| usize::try_from(most).ok());
        let integers = most.map_or(0, |most| most.saturating_add(1).min(INTEGERS));
        let pairs = all.len().next_power_of_two().min(PAIRS);
        Kept { py, integers: vec![None; integers], pairs: vec![None; pairs] }
    }

    /// The tuple of a pair.
    fn pair(&mut self, pair: [i64; 2]) -> PyResult<Bound<'py, PyTuple>> {
        let [start, end] = pair;
        // Tokens are short: those of most starts and lengths have places of their own.
        let at = start.wrapping_mul(7).wrapping_add(end) as usize & (self.pairs.len() - 1);
        if let Some((known, tuple)) = &self.pairs[at]
            && *known == pair
        {
            return Ok(tuple.clone());
        }
        let tuple = tuple(self.py, [self.integer(start)?, self.integer(end)?])?;
        self.pairs[at] = Some((pair, tuple.clone()));
        Ok(tuple)
    }

    fn integer(&mut self, value: i64) -> PyResult<Bound<'py, PyInt>> {
        let Some(kept) = usize::try_from(value).ok().and_then(|at| self.integers.get_mut(at)) else {
            return Ok(value.into_pyobject(self.py)?);
        };
        if let Some(integer) = kept {
            return Ok(integer.clone());
        }
        Ok(kept.insert(value.into_pyobject(self.py)?).clone())
    }
}

/// A pair that the collector does not watch.
fn tuple<'py>(py: Python<'py>, pair: [Bound<'py, PyInt>; 2]) -> PyResult<Bound<'py, PyTuple>> {
    let tuple = PyTuple::new(py, pair)?;
    // SAFETY: attached (`py`); a tuple of the collector's kind, alive, and complete: its members are integers, which
    // lead nowhere. What is not watched may be freed as ever.
    unsafe { ffi::PyObject_GC_UnTrack(tuple.as_ptr().cast()) };
    Ok(tuple)
}
