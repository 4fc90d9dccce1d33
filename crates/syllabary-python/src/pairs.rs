//! Pairs of integers as rows of tuples, for `full_batch.offset_pairs`.
//!
//! Python's collector watches every new tuple, until it looks at it and sees that integers can close no circle. Hundreds
//! of thousands of them make it look often, and at all else that is young or old: 250,000 pairs took 160 ms with it and
//! 61 without. So these are taken from its sight at once, as it would do itself. Leaves out lists of ids (`lists`).

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{
    exceptions::PyValueError,
    ffi,
    prelude::*,
    types::{PyList, PyTuple},
};

use crate::lists::Uncollected;

/// The pairs of `flat`, shape (n, 2), as one list a row: those from one bound to before the next.
#[pyfunction]
pub fn pairs<'py>(
    py: Python<'py>,
    flat: PyReadonlyArray2<'_, i64>,
    bounds: PyReadonlyArray1<'_, i64>,
) -> PyResult<Bound<'py, PyList>> {
    let _uncollected = Uncollected::new(py);
    let (all, _) = flat.as_slice()?.as_chunks::<2>();
    let rows = PyList::empty(py);
    for bound in bounds.as_slice()?.windows(2) {
        let range = usize::try_from(bound[0]).ok().zip(usize::try_from(bound[1]).ok());
        let row = range
            .and_then(|(start, end)| all.get(start..end))
            .ok_or_else(|| PyValueError::new_err("the bounds of rows are no places of pairs"))?;
        let made = row.iter().map(|&pair| tuple(py, pair)).collect::<PyResult<Vec<_>>>()?;
        rows.append(PyList::new(py, made)?)?;
    }
    Ok(rows)
}

/// A pair that the collector does not watch.
fn tuple(py: Python<'_>, pair: [i64; 2]) -> PyResult<Bound<'_, PyTuple>> {
    let tuple = PyTuple::new(py, pair)?;
    // SAFETY: attached (`py`); a tuple of the collector's kind, alive, and complete: its members are integers, which
    // lead nowhere. What is not watched may be freed as ever.
    unsafe { ffi::PyObject_GC_UnTrack(tuple.as_ptr().cast()) };
    Ok(tuple)
}
