//! How CPython lays out lists and integers, where that is known: then they are read and written without a call an item.
//!
//! The stable interface of Python 3.10, which this binding is built for, has no word on it. So it is taken for known
//! only on CPython, in versions that were looked at, and after a trial; elsewhere Python's functions are called. Leaves
//! out what is made of it (`lists`, `decode`).

use pyo3::{
    ffi,
    prelude::*,
    sync::PyOnceLock,
    types::{PyInt, PyList},
};
use syllabary::{fetch::fetch_byte, pages::advise_places};

/// CPython's versions 3.x that were looked at.
const VERSIONS: std::ops::RangeInclusive<u8> = 10..=14;
/// From this one on an integer has a tag where it had its number of digits.
const TAGGED: u8 = 12;

/// So many items before its turn an item is asked for.
const AHEAD: usize = 40;
/// The same of the place in the list where it is.
const FAR_AHEAD: usize = 256;

type Object = *mut ffi::PyObject;

#[repr(C)]
struct List {
    references: isize,
    kind: Object,
    length: isize,
    places: *mut Object,
    allocated: isize,
}

#[repr(C)]
struct Integer {
    references: isize,
    kind: Object,
    tag: usize,
    digit: u32,
}

/// That lists are laid out as `List`, integers as `Integer`, with these tags.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    zero: usize,
    /// Positive, of one digit: below 2^30.
    one: usize,
}

impl Layout {
    /// That of the Python that runs, if it is known.
    pub fn known(py: Python<'_>) -> PyResult<Option<Layout>> {
        static KNOWN: PyOnceLock<Option<Layout>> = PyOnceLock::new();
        KNOWN.get_or_try_init(py, || find(py)).copied()
    }

    /// Fills the places of `list` with what `item` makes of each value.
    ///
    /// # Safety
    /// `list` is new, nobody else has seen it, and it has as many places as there are values, all empty. `item` gives
    /// references of its own to objects that are alive: the list takes them.
    pub unsafe fn write<T: Copy>(
        self,
        list: &Bound<'_, PyList>,
        values: &[T],
        mut item: impl FnMut(T) -> PyResult<Object>,
    ) -> PyResult<()> {
        let layout = list.as_ptr().cast::<List>();
        // SAFETY: lists are laid out like this; this one is alive, and only this thread, attached, reaches it.
        let (places, length) = unsafe { ((*layout).places, (*layout).length) };
        debug_assert_eq!(length as usize, values.len());
        advise_places(places, values.len());
        for (at, &value) in values.iter().enumerate() {
            let item = item(value)?;
            // SAFETY: there are more than `at` places; this one is null, so nothing is lost; the list owns the
            // reference from now on.
            unsafe { *places.add(at) = item };
        }
        Ok(())
    }

    /// Counts one more reference to an object.
    ///
    /// # Safety
    /// `object` is alive, and this thread attached.
    #[inline]
    pub unsafe fn count_up(self, object: Object) {
        // SAFETY: an object begins with its count, which code for Python 3.10's stable interface counts up like this,
        // of immortal ones too; attached, so nobody else counts.
        unsafe { (*object.cast::<List>()).references += 1 };
    }

    /// Asks for the memory of an item of a list before its turn.
    pub fn ask_for(self, list: &Bound<'_, PyList>, at: usize) {
        // SAFETY: lists are laid out like this; nothing here runs Python's code.
        ahead(unsafe { items(list) }, at);
    }

    /// Appends the integers of a list to `out`; `false` at the first that is no plain integer from 0 to 2^30 - 1.
    pub fn read(self, list: &Bound<'_, PyList>, out: &mut Vec<u32>) -> bool {
        let plain = list.py().get_type::<PyInt>();
        // SAFETY: a list is laid out like this; nothing below runs Python's code.
        let items = unsafe { items(list) };
        out.reserve(items.len());
        let mut count = 0;
        for place in &mut out.spare_capacity_mut()[..items.len()] {
            ahead(items, count + AHEAD);
            fetch_byte(items.as_ptr().wrapping_add(count + FAR_AHEAD).cast());
            // SAFETY: the list keeps the object alive.
            let Some(number) = (unsafe { self.number(items[count], plain.as_ptr().cast()) }) else { break };
            place.write(number);
            count += 1;
        }
        let length = out.len() + count;
        // SAFETY: `count` places behind the last one were written.
        unsafe { out.set_len(length) };
        count == items.len()
    }

    /// The value of a plain integer from 0 to 2^30 - 1.
    ///
    /// # Safety
    /// The object is alive, and `plain` is the class of integers.
    #[inline(always)]
    unsafe fn number(self, item: Object, plain: Object) -> Option<u32> {
        let item = item.cast::<Integer>();
        // SAFETY: it is alive; of every object the kind may be read.
        if !std::ptr::eq(unsafe { (*item).kind }, plain) {
            return None;
        }
        // SAFETY: it is exactly an integer, so it has a tag.
        match unsafe { (*item).tag } {
            // SAFETY: with this tag it has one digit.
            tag if tag == self.one => Some(unsafe { (*item).digit }),
            tag if tag == self.zero => Some(0),
            _ => None,
        }
    }
}

/// The items of a list.
///
/// # Safety
/// Lists are laid out as `List`, and nobody changes this one, as none of Python's code runs, as long as they are used.
unsafe fn items<'l>(list: &'l Bound<'_, PyList>) -> &'l [Object] {
    let layout = list.as_ptr().cast::<List>();
    // SAFETY: the caller says so; attached; the first `length` places hold objects, if there are any at all.
    unsafe {
        match (*layout).length {
            0 => &[],
            length => std::slice::from_raw_parts((*layout).places, length as usize),
        }
    }
}

/// Asks for the memory of an item that comes later: integers lie anywhere.
#[inline(always)]
fn ahead(items: &[Object], at: usize) {
    if let Some(item) = items.get(at) {
        fetch_byte(item.cast());
    }
}

/// That of CPython 3, if it was looked at.
pub fn version(py: Python<'_>) -> PyResult<Option<u8>> {
    let version = py.version_info();
    let name: String = py.import("sys")?.getattr("implementation")?.getattr("name")?.extract()?;
    let seen = name == "cpython" && version.major == 3 && VERSIONS.contains(&version.minor);
    Ok(seen.then_some(version.minor))
}

/// By name, version and size, then by a trial.
fn find(py: Python<'_>) -> PyResult<Option<Layout>> {
    let Some(minor) = version(py)? else { return Ok(None) };
    let digit: u32 = py.import("sys")?.getattr("int_info")?.getattr("bits_per_digit")?.extract()?;
    let size: usize = py.get_type::<PyList>().getattr("__basicsize__")?.extract()?;
    if digit != 30 || size != size_of::<List>() {
        return Ok(None);
    }
    let layout = if minor < TAGGED { Layout { zero: 0, one: 1 } } else { Layout { zero: 1, one: 8 } };
    Ok(holds(py, layout)?.then_some(layout))
}

fn holds(py: Python<'_>, layout: Layout) -> PyResult<bool> {
    let values = [0, 1, 256, 257, (1 << 30) - 1];
    let trial = PyList::new(py, values)?;
    // SAFETY: a list of this Python has as many bytes as `List`, so they may be read.
    let list = unsafe { &*trial.as_ptr().cast::<List>() };
    let places =
        (list.length, list.allocated >= list.length, list.references) == (values.len() as isize, true, 1);
    if !places || !std::ptr::eq(list.kind.cast(), trial.get_type_ptr()) {
        return Ok(false);
    }
    let mut read = Vec::new();
    let others = [PyList::new(py, [1_u64 << 30])?, PyList::new(py, [-1])?, PyList::new(py, [true])?];
    Ok(layout.read(&trial, &mut read)
        && read == values
        && !others.iter().any(|list| layout.read(list, &mut read)))
}
