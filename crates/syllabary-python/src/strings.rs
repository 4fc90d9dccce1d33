//! Python's strings as text for the engine, read where they lie.
//!
//! Python keeps one, two or four bytes a character, and where UTF-8 is asked of it, that besides, as long as the string
//! lives. Where the layout of strings is known (as in `layout`: CPython, versions that were looked at, and a trial),
//! text beyond ASCII is made UTF-8 by the engine, in a buffer, when its turn comes. Elsewhere Python does it.

use std::ops::Range;

use pyo3::{ffi, prelude::*, sync::PyOnceLock, types::PyString};
use syllabary::{Error, batch, utf8};

use crate::layout::version;

/// From this one on a string has no second form, of `wchar_t`.
const WITHOUT_WCHAR: u8 = 12;

/// So many characters say how long a string will be as UTF-8.
const FIRST: usize = 32;

/// The beginning of every string.
#[repr(C)]
struct Head {
    references: isize,
    kind: *mut ffi::PyObject,
    length: isize,
    hash: isize,
    state: u32,
}

/// What Python has of a string; it keeps it as long as the string lives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Text<'a> {
    Utf8(&'a str),
    /// One byte a character, some of them beyond ASCII.
    One(&'a [u8]),
    Two(&'a [u16]),
    Four(&'a [u32]),
}

impl<'a> Text<'a> {
    /// The text, where it lies or written over what is in `buffer`.
    #[inline]
    fn write<'t>(self, buffer: &'t mut utf8::Buffer) -> Result<&'t str, Error>
    where
        'a: 't,
    {
        let written = match self {
            Text::Utf8(text) => return Ok(text),
            Text::One(characters) => utf8::write(characters, buffer),
            Text::Two(characters) => utf8::write(characters, buffer),
            Text::Four(characters) => utf8::write(characters, buffer),
        };
        written.map_err(|character| Error::Surrogate { character })
    }
}

impl batch::Text for Text<'_> {
    fn size(&self) -> usize {
        match self {
            Text::Utf8(text) => text.len(),
            Text::One(characters) => characters.len(),
            Text::Two(characters) => size_of_val(*characters),
            Text::Four(characters) => size_of_val(*characters),
        }
    }

    fn characters(&self) -> Option<usize> {
        match self {
            Text::Utf8(_) => None,
            Text::One(characters) => Some(characters.len()),
            Text::Two(characters) => Some(characters.len()),
            Text::Four(characters) => Some(characters.len()),
        }
    }

    fn read_some<'t>(&'t self, some: Range<usize>, buffer: &'t mut utf8::Buffer) -> Result<&'t str, Error> {
        match self {
            Text::Utf8(_) => self.read(buffer),
            Text::One(characters) => Text::One(&characters[some]).write(buffer),
            Text::Two(characters) => Text::Two(&characters[some]).write(buffer),
            Text::Four(characters) => Text::Four(&characters[some]).write(buffer),
        }
    }

    fn expected_bytes(&self) -> usize {
        match self {
            Text::Utf8(text) => text.len(),
            Text::One(characters) => expected_bytes(characters),
            Text::Two(characters) => expected_bytes(characters),
            Text::Four(characters) => expected_bytes(characters),
        }
    }

    #[inline]
    fn place(&self) -> *const u8 {
        match self {
            Text::Utf8(text) => text.as_ptr(),
            Text::One(characters) => characters.as_ptr(),
            Text::Two(characters) => characters.as_ptr().cast(),
            Text::Four(characters) => characters.as_ptr().cast(),
        }
    }

    #[inline]
    fn read<'t>(&'t self, buffer: &'t mut utf8::Buffer) -> Result<&'t str, Error> {
        self.write(buffer)
    }
}

/// About how many bytes characters are as UTF-8, by the first of them.
fn expected_bytes<T: Copy + Into<u32>>(characters: &[T]) -> usize {
    let first = &characters[..characters.len().min(FIRST)];
    let width = |&character: &T| char::from_u32(character.into()).map_or(3, char::len_utf8);
    (characters.len() * first.iter().map(width).sum::<usize>()).div_ceil(first.len().max(1))
}

/// How strings are laid out: where their characters are, in bytes from the beginning.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    ascii: usize,
    /// Of others; before it stand, at `ascii`, the length and the place of its UTF-8, if there is one.
    others: usize,
}

/// The text of a string.
#[inline]
pub fn text<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Text<'a>> {
    match Layout::known(string.py())?.filter(|_| string.is_exact_instance_of::<PyString>()) {
        // SAFETY: strings are laid out like this, and this one is none of a class of its own.
        Some(layout) => match unsafe { layout.read(string) } {
            Some(text) => Ok(text),
            None => string.to_str().map(Text::Utf8),
        },
        None => string.to_str().map(Text::Utf8),
    }
}

impl Layout {
    /// That of the Python that runs, if it is known.
    #[inline]
    pub fn known(py: Python<'_>) -> PyResult<Option<Layout>> {
        static KNOWN: PyOnceLock<Option<Layout>> = PyOnceLock::new();
        match KNOWN.get(py) {
            Some(known) => Ok(*known),
            None => KNOWN.get_or_try_init(py, || find(py)).copied(),
        }
    }

    /// Where the characters of a string are, in bytes from its beginning.
    pub fn characters(self, is_ascii: bool) -> usize {
        if is_ascii { self.ascii } else { self.others }
    }

    /// `None` if the characters do not lie behind the head.
    ///
    /// # Safety
    /// Strings of exactly Python's class, as this is, are laid out so.
    #[inline]
    unsafe fn read<'a>(self, string: &'a Bound<'_, PyString>) -> Option<Text<'a>> {
        let start = string.as_ptr().cast::<u8>();
        // SAFETY: every string begins with a head, which is aligned as objects are; attached, so nobody changes it.
        let head = unsafe { &*start.cast::<Head>() };
        let (kind, is_compact, is_ascii) =
            (head.state >> 2 & 7, head.state >> 5 & 1 == 1, head.state >> 6 & 1 == 1);
        let length = usize::try_from(head.length).ok().filter(|_| is_compact)?;
        if is_ascii {
            // SAFETY: so many ASCII characters follow, a byte each, for the life of the string, and never change.
            return Some(Text::Utf8(unsafe {
                std::str::from_utf8_unchecked(std::slice::from_raw_parts(start.add(self.ascii), length))
            }));
        }
        // SAFETY: of a string that is not ASCII these two places come next: the length and the place of its UTF-8.
        let (bytes, made) = unsafe {
            let place = start.add(self.ascii).cast::<usize>();
            (*place, *place.add(1) as *const u8)
        };
        if !made.is_null() {
            // SAFETY: what is there is UTF-8 of this length, kept as long as the string.
            return Some(Text::Utf8(unsafe {
                std::str::from_utf8_unchecked(std::slice::from_raw_parts(made, bytes))
            }));
        }
        // SAFETY: `length` characters of `kind` bytes follow, aligned, for the life of the string, and never change.
        unsafe {
            let characters = start.add(self.others);
            match kind {
                1 => Some(Text::One(std::slice::from_raw_parts(characters, length))),
                2 => Some(Text::Two(std::slice::from_raw_parts(characters.cast(), length))),
                4 => Some(Text::Four(std::slice::from_raw_parts(characters.cast(), length))),
                _ => None,
            }
        }
    }
}

/// By name, version and size, then by a trial.
fn find(py: Python<'_>) -> PyResult<Option<Layout>> {
    let Some(minor) = version(py)? else { return Ok(None) };
    let size: usize = py.get_type::<PyString>().getattr("__basicsize__")?.extract()?;
    let has_wchar = minor < WITHOUT_WCHAR;
    let ascii = size_of::<Head>() + if has_wchar { size_of::<usize>() } else { 0 };
    let others = ascii + if has_wchar { 3 } else { 2 } * size_of::<usize>();
    // `str` has, besides, a place for characters that lie elsewhere.
    if size != others + size_of::<usize>() {
        return Ok(None);
    }
    let layout = Layout { ascii, others };
    Ok(holds(py, layout).then_some(layout))
}

fn holds(py: Python<'_>, layout: Layout) -> bool {
    let trial = |text: &str, expected: &dyn Fn(Text<'_>) -> bool| {
        let string = PyString::new(py, text);
        // SAFETY: strings of this Python are as long as the layout says, with the places that are read below in them.
        unsafe { layout.read(&string) }.is_some_and(expected)
    };
    trial("plain", &|text| text == Text::Utf8("plain"))
        && trial("caf\u{E9}", &|text| text == Text::One(&[0x63, 0x61, 0x66, 0xE9]))
        && trial("\u{3B1}b\u{5B57}", &|text| text == Text::Two(&[0x3B1, 0x62, 0x5B57]))
        && trial("\u{1F600}\u{3B1}", &|text| text == Text::Four(&[0x1F600, 0x3B1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use batch::Text as _;

    #[test]
    fn strings_are_read_as_they_are() {
        Python::initialize();
        Python::attach(|py| {
            let layout = find(py).unwrap();
            assert!(layout.is_some(), "the tests run on a Python that is known");
            for sample in ["", "a", "abc", "é", "aé\u{FF}", "ἀρχή", "字a", "😀", "a😀é字"] {
                for text in [sample.to_owned(), sample.repeat(100)] {
                    let string = PyString::new(py, &text);
                    let mut buffer = utf8::Buffer::default();
                    for asked in [false, true] {
                        let read = super::text(&string).unwrap();
                        assert_eq!(read.read(&mut buffer), Ok(text.as_str()));
                        // After Python was asked for UTF-8, that is taken.
                        assert_eq!(matches!(read, Text::Utf8(_)), text.is_ascii() || asked);
                        assert_eq!(string.to_str().unwrap(), text);
                    }
                }
            }
        });
    }

    #[test]
    fn a_class_of_its_own_and_a_lone_surrogate() {
        Python::initialize();
        Python::attach(|py| {
            let made = py.eval(c"type('Own', (str,), {})('\u{3B1}')", None, None).unwrap();
            let own = made.cast::<PyString>().unwrap();
            assert_eq!(super::text(own).unwrap(), Text::Utf8("\u{3B1}"));
            let lone = py.eval(c"'\\u03b1\\ud800'", None, None).unwrap();
            let read = super::text(lone.cast().unwrap()).unwrap();
            assert_eq!(read.read(&mut utf8::Buffer::default()), Err(Error::Surrogate { character: 1 }));
        });
    }
}
