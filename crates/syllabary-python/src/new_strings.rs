//! Python strings that the engine writes, a character a unit, where Python keeps them.
//!
//! The stable interface has no call for a string without characters yet; CPython has one, which is asked for by its name,
//! and taken where the layout of strings is known (`strings`) and after a trial. Elsewhere there is none, and Python makes
//! its strings of UTF-8. Leaves out what is written (`decode`).

use std::{mem::MaybeUninit, slice};

use pyo3::{ffi, prelude::*, sync::PyOnceLock, types::PyString};
use syllabary::{
    decode::{Size, Width},
    pages::advise_places,
};

use crate::strings::Layout;

/// `PyUnicode_New`: the number of characters, and the largest that may be among them.
type New = unsafe extern "C" fn(ffi::Py_ssize_t, u32) -> *mut ffi::PyObject;

/// The places of a new string.
pub enum Room<'a> {
    Ascii(&'a mut [MaybeUninit<u8>]),
    One(&'a mut [MaybeUninit<u8>]),
    Two(&'a mut [MaybeUninit<u16>]),
    Four(&'a mut [MaybeUninit<u32>]),
}

/// How strings are made.
#[derive(Clone, Copy)]
pub struct Maker {
    new: New,
    layout: Layout,
}

impl Maker {
    /// For the Python that runs, if it is known.
    pub fn known(py: Python<'_>) -> PyResult<Option<Maker>> {
        static KNOWN: PyOnceLock<Option<Maker>> = PyOnceLock::new();
        KNOWN.get_or_try_init(py, || find(py)).copied()
    }

    /// A string of this size, of which `fill` writes every place; `None` if it says that it did not.
    pub fn string<'py>(
        self,
        py: Python<'py>,
        size: &Size,
        fill: impl FnOnce(Room<'_>) -> bool,
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        let count = size.characters;
        let (largest, bytes) = match size.width {
            Width::Ascii => (0x7F, 1),
            Width::One => (0xFF, 1),
            Width::Two => (0xFFFF, 2),
            Width::Four => (0x10_FFFF, 4),
        };
        if count < 2 {
            // Python has strings of one character and of none already.
            return Ok(None);
        }
        // SAFETY: attached (`py`); this is CPython's function, which takes every number and gives an own reference to a
        // new string, or a null with an error set.
        let string =
            unsafe { Bound::from_owned_ptr_or_err(py, (self.new)(count as ffi::Py_ssize_t, largest))? };
        let start = string.as_ptr().cast::<u8>();
        // SAFETY: strings are laid out so; this one has `count` places of the size that its largest character asks for,
        // aligned for it, and nobody else has seen it yet.
        let room = unsafe {
            let places = start.add(self.layout.characters(size.width == Width::Ascii));
            advise_places(places, count * bytes);
            match size.width {
                Width::Ascii => Room::Ascii(slice::from_raw_parts_mut(places.cast(), count)),
                Width::One => Room::One(slice::from_raw_parts_mut(places.cast(), count)),
                Width::Two => Room::Two(slice::from_raw_parts_mut(places.cast(), count)),
                Width::Four => Room::Four(slice::from_raw_parts_mut(places.cast(), count)),
            }
        };
        if fill(room) { Ok(Some(string.cast_into()?)) } else { Ok(None) }
    }
}

#[cfg(unix)]
fn find(py: Python<'_>) -> PyResult<Option<Maker>> {
    let Some(layout) = Layout::known(py)? else { return Ok(None) };
    // SAFETY: the name ends with a null.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"PyUnicode_New".as_ptr()) };
    if found.is_null() {
        return Ok(None);
    }
    // SAFETY: what CPython calls so is such a function, in all versions that have a known layout.
    let new = unsafe { std::mem::transmute::<*mut libc::c_void, New>(found) };
    let maker = Maker { new, layout };
    Ok(holds(py, maker)?.then_some(maker))
}

#[cfg(not(unix))]
fn find(_py: Python<'_>) -> PyResult<Option<Maker>> {
    Ok(None)
}

/// Strings of each width are what Python makes of their text.
fn holds(py: Python<'_>, maker: Maker) -> PyResult<bool> {
    for (text, width) in [
        ("plain", Width::Ascii),
        ("caf\u{E9}", Width::One),
        ("\u{3B1}b\u{5B57}", Width::Two),
        ("\u{1F600}\u{3B1}", Width::Four),
    ] {
        let size = Size { bytes: text.len(), characters: text.chars().count(), width };
        let Some(made) = maker.string(py, &size, |room| write(text, room))? else { return Ok(false) };
        if !made.as_any().eq(PyString::new(py, text))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn write(text: &str, room: Room<'_>) -> bool {
    fn each<T>(text: &str, room: &mut [MaybeUninit<T>], unit: impl Fn(char) -> T) -> bool {
        room.iter_mut().zip(text.chars()).for_each(|(place, character)| {
            place.write(unit(character));
        });
        true
    }
    match room {
        Room::Ascii(room) | Room::One(room) => each(text, room, |character| character as u8),
        Room::Two(room) => each(text, room, |character| character as u16),
        Room::Four(room) => each(text, room, u32::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_as_python_makes_them() {
        Python::initialize();
        Python::attach(|py| {
            let maker = find(py).unwrap().expect("the tests run on a Python that is known");
            for (sample, width) in [
                ("ab", Width::Ascii),
                ("\u{80}\u{FF}", Width::One),
                ("a\u{100}\u{FFFF}", Width::Two),
                ("a\u{E9}\u{3B1}\u{10FFFF}", Width::Four),
            ] {
                for text in [sample.to_owned(), sample.repeat(1000)] {
                    let size = Size { bytes: text.len(), characters: text.chars().count(), width };
                    let made = maker.string(py, &size, |room| write(&text, room)).unwrap().unwrap();
                    let expected = PyString::new(py, &text);
                    assert_eq!(made.to_str().unwrap(), text);
                    assert!(made.as_any().eq(&expected).unwrap());
                    assert_eq!(made.hash().unwrap(), expected.hash().unwrap());
                    assert_eq!(made.len().unwrap(), size.characters);
                    assert!(maker.string(py, &size, |_| false).unwrap().is_none());
                }
            }
            let size = Size { bytes: 1, characters: 1, width: Width::Ascii };
            assert!(maker.string(py, &size, |_| true).unwrap().is_none());
        });
    }
}
