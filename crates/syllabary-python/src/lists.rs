//! Lists of ids, made of integers that are there already.
//!
//! Python makes a new integer for each number above 256; a text has the same ids again and again. So each id's
//! integer is made when a list first needs it, and kept as long as the tokenizer: then an id of a list costs one
//! reference. Ids that come often come early, so their integers lie together in memory.
//!
//! Where Python is known to lay out lists as `List` says, their places are written directly: 3 ns an id, where two
//! calls of Python's functions take 5 to 7. Elsewhere those calls are made.

use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::{ffi, prelude::*, types::PyList};

/// Integers of higher ids are made anew each time: 16 MB are the most that is kept.
const MOST: usize = 1 << 19;
/// CPython's versions 3.x whose lists and reference counts were looked at.
const KNOWN: std::ops::RangeInclusive<u8> = 10..=14;

type Object = *mut ffi::PyObject;

/// A list, as CPython lays it out.
#[repr(C)]
struct List {
    references: isize,
    kind: Object,
    length: isize,
    places: *mut Object,
    allocated: isize,
}

/// The integers of ids; a null where none has been made yet.
pub struct Integers {
    made: Box<[AtomicPtr<ffi::PyObject>]>,
    direct: bool,
}

impl Integers {
    /// For ids below `bound`.
    pub fn new(py: Python<'_>, bound: usize) -> PyResult<Integers> {
        let made = (0..bound.min(MOST)).map(|_| AtomicPtr::default()).collect();
        Ok(Integers { made, direct: is_known(py)? })
    }

    /// A list of the ids.
    pub fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        // A slice holds at most `isize::MAX` bytes, so its length is a `Py_ssize_t`.
        let length = ids.len() as ffi::Py_ssize_t;
        // SAFETY: `py` says that this thread is attached. PyList_New gives an own reference or a null, of which
        // `from_owned_ptr_or_err` makes the error that Python has set.
        let list =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length)) }?.cast_into::<PyList>()?;
        if self.direct {
            self.write(&list, ids)?;
        } else {
            self.set(&list, ids)?;
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
    fn write(&self, list: &Bound<'_, PyList>, ids: &[u32]) -> PyResult<()> {
        let layout = list.as_ptr().cast::<List>();
        // SAFETY: `direct`: a list is laid out like this; it is alive, and only this thread, attached, reaches it.
        let (places, length) = unsafe { ((*layout).places, (*layout).length) };
        debug_assert!(self.direct && length as usize == ids.len());
        for (at, &id) in ids.iter().enumerate() {
            let known =
                self.made.get(id as usize).map_or(std::ptr::null_mut(), |at| at.load(Ordering::Acquire));
            let integer = if known.is_null() {
                self.integer(list.py(), id)?
            } else {
                // SAFETY: `direct`: an object begins with its count, which code for Python 3.10's stable interface
                // counts up like this (of immortal ones too); attached, so nobody else counts; `known` is alive.
                unsafe { (*known.cast::<List>()).references += 1 };
                known
            };
            // SAFETY: the list has `ids.len()` > `at` places; this one is null, so nothing is lost; the list owns
            // the reference from now on.
            unsafe { *places.add(at) = integer };
        }
        Ok(())
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

/// Whether this Python's lists and objects are laid out as `List` says: by name, version and size, then by a trial.
fn is_known(py: Python<'_>) -> PyResult<bool> {
    let version = py.version_info();
    let name: String = py.import("sys")?.getattr("implementation")?.getattr("name")?.extract()?;
    let size: usize = py.get_type::<PyList>().getattr("__basicsize__")?.extract()?;
    if name != "cpython" || version.major != 3 || !KNOWN.contains(&version.minor) || size != size_of::<List>()
    {
        return Ok(false);
    }
    let trial = PyList::new(py, [1 << 20, 1 << 21])?;
    let items = [trial.get_item(0)?, trial.get_item(1)?];
    // SAFETY: a list of this Python has as many bytes as `List`, so they may be read.
    let layout = unsafe { &*trial.as_ptr().cast::<List>() };
    let list = layout.references == 1 && layout.length == 2 && layout.allocated >= 2;
    let kind = std::ptr::eq(layout.kind.cast(), trial.get_type_ptr());
    // SAFETY: this far, all but `places` is as a known version has it, so that is the array of its two items.
    Ok(list && kind && (0..2).all(|at| unsafe { *layout.places.add(at) } == items[at].as_ptr()))
}

/// Python's collector, switched off while lists are made: it would look at all of them every 700 lists.
struct Uncollected(bool);

impl Uncollected {
    fn new(_py: Python<'_>) -> Uncollected {
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
