//! The pieces of a sentencepiece model, as its trainer writes them: `sentencepiece_model.proto`, field 1.
//!
//! Adds the reading of rows of them, each of up to 127 bytes: text, score, and the type if it is written. Leaves out any
//! other way to write one, which may be right too: `python/syllabary/formats/sentencepiece_proto.py` reads those.

use pyo3::{
    prelude::*,
    types::{PyBytes, PyList},
};

/// Tags of fields: number and wire type.
const PIECE: u8 = 0x0A;
const TEXT: u8 = 0x0A;
const SCORE: u8 = 0x15;
const TYPE: u8 = 0x18;

/// The types of pieces; that of one without is `NORMAL`.
const NORMAL: u8 = 1;
const LAST: u8 = 6;

/// One piece, and how many bytes it takes.
struct Piece<'d> {
    text: &'d str,
    score: f32,
    kind: u8,
    is_typed: bool,
    size: usize,
}

/// The piece with which the data begins, if it is written so; its score is finite.
fn piece(data: &[u8]) -> Option<Piece<'_>> {
    let &[PIECE, size @ 0..128, ref rest @ ..] = data else { return None };
    let &[TEXT, length @ 1..128, ref rest @ ..] = rest.get(..usize::from(size))? else { return None };
    let (text, rest) = rest.split_at_checked(usize::from(length))?;
    let (score, kind, is_typed) = match *rest {
        [SCORE, a, b, c, d] => ([a, b, c, d], NORMAL, false),
        [SCORE, a, b, c, d, TYPE, kind @ NORMAL..=LAST] => ([a, b, c, d], kind, true),
        _ => return None,
    };
    let score = f32::from_le_bytes(score);
    let size = 2 + usize::from(size);
    score.is_finite().then_some(Piece { text: std::str::from_utf8(text).ok()?, score, kind, is_typed, size })
}

type Rows<'py> =
    (usize, Vec<usize>, Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Up to `most` pieces from `at` on: where the first other thing begins; of each where it begins, its text, its score,
/// its type, and 1 if that is written.
#[pyfunction]
pub fn plain_pieces<'py>(py: Python<'py>, data: &[u8], mut at: usize, most: usize) -> PyResult<Rows<'py>> {
    let (mut starts, mut texts, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    let (mut kinds, mut typed) = (Vec::new(), Vec::new());
    while starts.len() < most
        && let Some(found) = data.get(at..).and_then(piece)
    {
        starts.push(at);
        texts.push(found.text);
        scores.push(f64::from(found.score));
        kinds.push(found.kind);
        typed.push(u8::from(found.is_typed));
        at += found.size;
    }
    let (texts, scores) = (PyList::new(py, texts)?, PyList::new(py, scores)?);
    Ok((at, starts, texts, scores, PyBytes::new(py, &kinds), PyBytes::new(py, &typed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[u8] = b"\x0a\x09\x0a\x02ab\x15\0\0\x80\xbf";
    const TYPED: &[u8] = b"\x0a\x0b\x0a\x02ab\x15\0\0\x80\xbf\x18\x06";

    #[test]
    fn as_the_trainer_writes_them() {
        for (data, kind, is_typed) in [(PLAIN, 1, false), (TYPED, 6, true)] {
            let more = [data, b"\x0a"].concat();
            for data in [data, &more] {
                let found = piece(data).unwrap();
                assert_eq!((found.text, found.score, found.kind), ("ab", -1.0, kind));
                assert_eq!((found.is_typed, found.size), (is_typed, usize::from(data[1]) + 2));
            }
            for end in 0..data.len() {
                assert!(piece(&data[..end]).is_none(), "{end}");
            }
        }
    }

    /// Every byte of one may be any other: what is still taken is what the other fields say.
    #[test]
    fn no_other_way() {
        for at in [0, 1, 2, 3, 6, 11] {
            for byte in (0..=u8::MAX).filter(|&byte| byte != TYPED[at]) {
                let mut data = [TYPED, &[0; 300]].concat();
                data[at] = byte;
                // Two bytes less are a piece without a type.
                let found = piece(&data).map(|found| (found.kind, found.is_typed));
                assert_eq!(found, ((at, byte) == (1, 9)).then_some((NORMAL, false)), "{at} {byte}");
            }
        }
        let with = |at: usize, bytes: &[u8]| {
            let mut data = TYPED.to_vec();
            data[at..at + bytes.len()].copy_from_slice(bytes);
            piece(&data).map(|found| found.kind)
        };
        assert_eq!([0, 1, 6, 7].map(|kind| with(12, &[kind])), [None, Some(1), Some(6), None]);
        assert_eq!(with(4, b"\xff"), None);
        assert_eq!(with(7, &f32::NAN.to_le_bytes()), None);
        assert_eq!(with(7, &f32::INFINITY.to_le_bytes()), None);
    }
}
