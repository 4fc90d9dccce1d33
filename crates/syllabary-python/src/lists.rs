//! Lists of ids, made of integers that are there already.
//!
//! Python makes a new integer for each number above 256; a text has the same ids again and again. So each id's
//! integer is made when a list first needs it, and kept as long as the tokenizer: then an id of a list costs one
//! reference. Ids that come often come early, so their integers lie together in memory.
//!
//! Where Python's lists are laid out as `layout` knows, their places are written directly: 3 ns an id, where two
//! calls of Python's functions take 5 to 7. Elsewhere those calls are made.

use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::{ffi, prelude::*, types::PyList};

use crate::layout::Layout;

/// Integers of higher ids are made anew each time: 16 MB are the most that is kept.
const MOST: usize = 1 << 19;
type Object = *mut ffi::PyObject;

/// The integers of ids; a null where none has been made yet.
pub struct Integers {
    made: Box<[AtomicPtr<ffi::PyObject>]>,
    layout: Option<Layout>,
}

impl Integers {
    /// For ids below `bound`.
    pub fn new(py: Python<'_>, bound: usize) -> PyResult<Integers> {
        let made = (0..bound.min(MOST)).map(|_| AtomicPtr::default()).collect();
        Ok(Integers { made, layout: Layout::known(py)? })
    }

    /// A list of the ids.
    pub fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        // A slice holds at most `isize::MAX` bytes, so its length is a `Py_ssize_t`.
        let length = ids.len() as ffi::Py_ssize_t;
        // SAFETY: `py` says that this thread is attached. PyList_New gives an own reference or a null, of which
        // `from_owned_ptr_or_err` makes the error that Python has set.
        let list =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length)) }?.cast_into::<PyList>()?;
        match self.layout {
            Some(layout) => self.write(layout, &list, ids)?,
            None => self.set(&list, ids)?,
        }
        Ok(list)
    }

    /// Fills a new list of as many places as there are ids.
    fn set(&self, list: &Bound<'_, PyList>, ids: &[u32]) -> PyResult<()> {
        for (at, &id) in (0..).zip(ids) {
            let integer = self.integer(list.py(), id)?;
            // SAFETY: attached; an exact list of `ids.len()` > `at` places, which nobody else has seen; the place is
            // empty; the call takes the reference that `integer` is.
            unsafe { ffi::PyList_SetItem(list.as_ptr(), at, integer) };
        }
        Ok(())
    }

    /// The same, where the layout is known.
    fn write(&self, layout: Layout, list: &Bound<'_, PyList>, ids: &[u32]) -> PyResult<()> {
        let integer = |id: u32| {
            let known =
                self.made.get(id as usize).map_or(std::ptr::null_mut(), |at| at.load(Ordering::Acquire));
            if known.is_null() {
                return self.integer(list.py(), id);
            }
            // SAFETY: attached; `self` keeps a reference to `known`.
            unsafe { layout.count_up(known) };
            Ok(known)
        };
        // SAFETY: `list` is new and has an empty place for each id; `integer` gives own references.
        unsafe { layout.write(list, ids, integer) }
    }

    /// Appends a list for each text of a batch: text `k` has `ids[offsets[k]..offsets[k + 1]]`.
    pub fn append(&self, lists: &Bound<'_, PyList>, ids: &[u32], offsets: &[usize]) -> PyResult<()> {
        let py = lists.py();
        let _uncollected = Uncollected::new(py);
        offsets.windows(2).try_for_each(|span| lists.append(self.list(py, &ids[span[0]..span[1]])?))
    }

    /// A new reference to the integer of `id`.
    fn integer(&self, py: Python<'_>, id: u32) -> PyResult<Object> {
        let Some(place) = self.made.get(id as usize) else { return new_integer(py, id) };
        let mut known = place.load(Ordering::Acquire);
        if known.is_null() {
            let new = new_integer(py, id)?;
            match place.compare_exchange(known, new, Ordering::AcqRel, Ordering::Acquire) {
                // One reference is the table's now, one the caller's.
                Ok(_) => known = new,
                // Another thread was first.
                Err(_) => return Ok(new),
            }
        }
        // SAFETY: attached (`py`); `known` is an integer of which `self` keeps a reference until it is dropped.
        unsafe { ffi::Py_INCREF(known) };
        Ok(known)
    }
}

impl Drop for Integers {
    fn drop(&mut self) {
        // At the very end of the process there is no Python to give anything back to.
        Python::try_attach(|py| {
            for place in &mut self.made {
                // SAFETY: attached (`py`); what is not null is a reference that the table owns (`integer`), given
                // back this once.
                drop(unsafe { Bound::from_owned_ptr_or_opt(py, *place.get_mut()) });
            }
        });
    }
}

fn new_integer(py: Python<'_>, id: u32) -> PyResult<Object> {
    Ok(id.into_pyobject(py)?.into_ptr())
}

/// Python's collector, switched off while lists are made: it would look at all of them every 700 lists.
pub struct Uncollected(bool);

impl Uncollected {
    /// Until it is dropped.
    pub fn new(_py: Python<'_>) -> Uncollected {
        // SAFETY: attached (`_py`).
        Uncollected(unsafe { ffi::PyGC_Disable() } == 1)
    }
}

impl Drop for Uncollected {
    fn drop(&mut self) {
        if self.0 {
            // SAFETY: attached: this is dropped in the scope of `new`'s `py`, which is not detached between.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(object: &Bound<'_, PyAny>) -> isize {
        // SAFETY: attached, and the object is alive.
        unsafe { ffi::Py_REFCNT(object.as_ptr()) }
    }

    #[test]
    fn both_ways_make_the_same_lists() {
        Python::initialize();
        Python::attach(|py| {
            let ids: Vec<u32> = (0..3000).chain([0, 256, 257, 99, 1 << 20, u32::MAX, 7]).collect();
            let known = Layout::known(py).unwrap();
            assert!(known.is_some(), "the tests run on a Python that is known");
            for layout in [None, known] {
                let integers = Integers { made: (0..2000).map(|_| AtomicPtr::default()).collect(), layout };
                for _again in 0..3 {
                    for part in [&ids[..], &ids[..1], &[]] {
                        let list = integers.list(py, part).unwrap();
                        assert_eq!(list.extract::<Vec<u32>>().unwrap(), part);
                        let mut read = Vec::new();
                        let small = part.iter().all(|&id| id < 1 << 30);
                        assert_eq!(known.unwrap().read(&list, &mut read), small);
                        assert!(!small || read == part);
                    }
                }
                let kept = integers.list(py, &[1999]).unwrap().get_item(0).unwrap();
                // The table's, the list's (which is gone) and this one.
                assert_eq!(references(&kept), 2);
                drop(integers);
                assert_eq!(references(&kept), 1);
            }
        });
    }
}
