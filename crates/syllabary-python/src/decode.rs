//! Ids -> bytes and text: what ids may come as, and how their bytes become Python's without a further copy.
//!
//! Leaves out what the steps of another library's decoder do (`syllabary::decode::TextDecoder`).

use std::{ffi::CString, slice};

use numpy::{Element, PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError, PyValueError},
    ffi,
    prelude::*,
    types::{PyByteArray, PyBytes, PyList, PyString},
};
use syllabary::{
    decode::{Begun, Decoder},
    pages::advise_places,
    tokenizer::Tokenizer,
};

use crate::{
    convert::{self, type_name},
    errors::to_python,
    layout::Layout,
    new_strings::{Maker, Room},
};

/// So many ids are decoded without the GIL: for fewer, handing it over would cost more.
const DETACH_IDS: usize = 1 << 14;

/// Calls `job` with the ids of a sequence or an array; `buffer` takes those that do not lie there as numbers of 32
/// bits already. The first that `decoder` has no token for may end the reading.
pub fn with_ids<R>(
    values: &Bound<'_, PyAny>,
    decoder: &Decoder,
    buffer: &mut Vec<u32>,
    job: impl FnOnce(&[u32]) -> PyResult<R>,
) -> PyResult<R> {
    buffer.clear();
    if let Ok(array) = values.cast::<PyUntypedArray>() {
        if let Some(ids) = contiguous::<u32>(values) {
            return job(ids.readonly().as_slice()?);
        }
        read_array(array, buffer)?;
    } else if !read_list(values, buffer)? {
        if values.is_instance_of::<PyString>()
            || values.is_instance_of::<PyBytes>()
            || values.is_instance_of::<PyByteArray>()
            || !values.hasattr(pyo3::intern!(values.py(), "__iter__"))?
        {
            let kind = type_name(values);
            return Err(PyTypeError::new_err(format!("ids must be an iterable of integers, not {kind}")));
        }
        convert::ids(values, buffer, |id| decoder.bytes(id).is_some())?;
    }
    job(buffer)
}

/// The array, if it is one of `T` whose elements lie together.
fn contiguous<'a, 'py, T: Element>(values: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyArray1<T>>> {
    values.cast::<PyArray1<T>>().ok().filter(|array| array.is_contiguous() && array.is_aligned())
}

/// Reads an array of integers of any kind.
fn read_array(array: &Bound<'_, PyUntypedArray>, buffer: &mut Vec<u32>) -> PyResult<()> {
    let kind = array.dtype().kind();
    if array.ndim() != 1 || (!b"iu".contains(&kind) && array.len() > 0) {
        let (dtype, shape) = (array.dtype(), array.getattr("shape")?);
        let message = format!("ids are an array of {dtype} with shape {shape}: give integers, shape (n,)");
        return Err(PyTypeError::new_err(message));
    }
    // Of another width, byte order or stride: numpy makes one that is not.
    let wide = |name: &str| array.call_method1("astype", (name,));
    match kind {
        b'i' => match contiguous::<i64>(array) {
            Some(ids) => narrow(ids, buffer),
            None => narrow::<i64>(wide("int64")?.cast()?, buffer),
        },
        b'u' => narrow::<u64>(wide("uint64")?.cast()?, buffer),
        _ => Ok(()),
    }
}

fn narrow<T: Element + Copy + std::fmt::Display + TryInto<u32>>(
    array: &Bound<'_, PyArray1<T>>,
    buffer: &mut Vec<u32>,
) -> PyResult<()> {
    let array = array.readonly();
    let wide = array.as_slice()?;
    buffer.extend(wide.iter().map_while(|&id| id.try_into().ok()));
    match wide.get(buffer.len()) {
        None => Ok(()),
        Some(wild) => Err(convert::unknown(array.py(), wild, buffer.len())),
    }
}

/// Reads a list of plain integers; any other member, or one that is no id, and it gives up.
fn read_list(values: &Bound<'_, PyAny>, buffer: &mut Vec<u32>) -> PyResult<bool> {
    let (Ok(list), Some(layout)) = (values.cast_exact::<PyList>(), Layout::known(values.py())?) else {
        return Ok(false);
    };
    let all = layout.read(list, buffer);
    if !all {
        buffer.clear();
    }
    Ok(all)
}

/// The bytes of ids, by way of `buffer`.
pub fn bytes<'py>(
    py: Python<'py>,
    (decoder, ids): (&Decoder, &[u32]),
    buffer: &mut Vec<u8>,
) -> PyResult<Bound<'py, PyBytes>> {
    let begun = begin(py, (decoder, ids), buffer)?;
    let size = begun.bytes();
    // SAFETY: attached (`py`); without bytes to copy the call gives an own reference to an object with places for `size`
    // bytes, or a null with an error set.
    let made = unsafe {
        let made = ffi::PyBytes_FromStringAndSize(std::ptr::null(), size as ffi::Py_ssize_t);
        Bound::from_owned_ptr_or_err(py, made)?.cast_into::<PyBytes>()?
    };
    // SAFETY: `made` is such an object, and nobody else has seen it yet.
    let out = unsafe { slice::from_raw_parts_mut(ffi::PyBytes_AsString(made.as_ptr()).cast(), size) };
    advise_places(out.as_mut_ptr(), size);
    all(without_gil(py, ids, || begun.write(out)) == size).map(|()| made)
}

/// The text of ids, by way of `buffer`; `errors` as Python's `bytes.decode` has them.
pub fn text<'py>(
    py: Python<'py>,
    (decoder, ids): (&Decoder, &[u32]),
    errors: &str,
    buffer: &mut Vec<u8>,
) -> PyResult<Bound<'py, PyString>> {
    string(py, begin(py, (decoder, ids), buffer)?, ids, errors)
}

/// The text of ids by steps.
pub fn text_by_steps<'py>(
    py: Python<'py>,
    (engine, ids): (&Tokenizer, &[u32]),
) -> PyResult<Option<Bound<'py, PyString>>> {
    let made = without_gil(py, ids, || engine.decode_text(ids)).transpose();
    let made = made.map_err(|error| to_python(py, error, None))?;
    made.map(|text| string(py, engine.decoder().decoded(text.as_bytes()), ids, "strict")).transpose()
}

fn string<'py>(
    py: Python<'py>,
    begun: Begun<'_>,
    ids: &[u32],
    errors: &str,
) -> PyResult<Bound<'py, PyString>> {
    if let Some(maker) = Maker::known(py)? {
        let size = without_gil(py, ids, || begun.size());
        let filled = |room: Room<'_>| without_gil(py, ids, || write(&begun, room));
        if let Some(text) = maker.string(py, &size, filled)? {
            return Ok(text);
        }
    }
    match begun.whole() {
        Some(bytes) => decoded(py, bytes, errors),
        None => {
            let mut bytes = Vec::new();
            without_gil(py, ids, || begun.append(&mut bytes));
            all(bytes.len() == begun.bytes())?;
            decoded(py, &bytes, errors)
        }
    }
}

/// Text as Python decodes it.
fn decoded<'py>(py: Python<'py>, bytes: &[u8], errors: &str) -> PyResult<Bound<'py, PyString>> {
    let errors = CString::new(errors).map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: attached (`py`); a slice has at most `isize::MAX` bytes; `errors` ends with a null; the call gives an own
    // reference or a null, of which `from_owned_ptr_or_err` makes Python's error.
    let text = unsafe {
        let (start, length) = (bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t);
        Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_DecodeUTF8(start, length, errors.as_ptr()))?
    };
    Ok(text.cast_into::<PyString>()?)
}

/// Writes the places of a new string, and says whether the bytes are such text.
fn write(begun: &Begun<'_>, room: Room<'_>) -> bool {
    match room {
        Room::Ascii(room) => begun.write_ascii(room),
        Room::One(room) => begun.write_text(room),
        Room::Two(room) => begun.write_text(room),
        Room::Four(room) => begun.write_text(room),
    }
}

/// Does `job`, without the GIL if there are many ids.
fn without_gil<R: Send>(py: Python<'_>, ids: &[u32], job: impl FnOnce() -> R + Send) -> R {
    if ids.len() < DETACH_IDS { job() } else { py.detach(job) }
}

fn begin<'a>(
    py: Python<'_>,
    (decoder, ids): (&'a Decoder, &'a [u32]),
    buffer: &'a mut Vec<u8>,
) -> PyResult<Begun<'a>> {
    without_gil(py, ids, || decoder.begin(ids, buffer)).map_err(|error| to_python(py, error, None))
}

/// An error, if not all was written that was measured.
fn all(done: bool) -> PyResult<()> {
    if done {
        return Ok(());
    }
    Err(PyRuntimeError::new_err("the array of ids was changed by another thread while it was decoded"))
}
