//! `Ranks`: the tokens of a rank file, read by the engine.
//!
//! Adds the reading of files as they ought to be. What is wrong with another file, or strange about it,
//! `python/syllabary/formats/tiktoken.py` finds out line by line: it is the definition.

use std::sync::Arc;

use pyo3::{
    exceptions::PyKeyError,
    prelude::*,
    pybacked::PyBackedBytes,
    types::{PyBytes, PyDict},
};
use sha2::{Digest, Sha256};
use syllabary::vocab::Vocab;

/// The most that a token may have, and an id: those of the formats.
const MAX_TOKEN: usize = 1 << 16;
const MAX_ID: u64 = (1 << 32) - 2;

/// No digit of base64.
const NONE: u8 = 0xFF;

/// The values of base64's digits.
const VALUES: [u8; 256] = {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < digits.len() {
        values[digits[value] as usize] = value as u8;
        value += 1;
    }
    values
};

/// Tokens by rank, no two alike, all single bytes among them.
#[pyclass(frozen, module = "syllabary._engine")]
pub struct Ranks {
    vocab: Arc<Vocab>,
}

impl Ranks {
    pub fn vocab(&self) -> &Arc<Vocab> {
        &self.vocab
    }
}

#[pymethods]
impl Ranks {
    #[staticmethod]
    fn read(py: Python<'_>, data: &[u8]) -> Option<Ranks> {
        py.detach(|| parse(data)).map(|vocab| Ranks { vocab: Arc::new(vocab) })
    }

    fn __len__(&self) -> usize {
        self.vocab.len()
    }

    fn get<'py>(&self, py: Python<'py>, rank: u32) -> Option<Bound<'py, PyBytes>> {
        self.vocab.bytes(rank).map(|token| PyBytes::new(py, token))
    }

    fn rank(&self, token: &[u8]) -> PyResult<u32> {
        self.vocab.id(token).ok_or_else(|| PyKeyError::new_err(token.to_vec()))
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.vocab)
    }
}

/// All tokens by ascending id.
pub fn dict<'py>(py: Python<'py>, vocab: &Vocab) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    vocab.iter().try_for_each(|(rank, token)| all.set_item(rank, PyBytes::new(py, token)))?;
    Ok(all)
}

/// The tokens of lines with ascending ranks; `None` if there is anything else to say of the file.
fn parse(data: &[u8]) -> Option<Vocab> {
    let mut bytes = Vec::with_capacity(data.len() / 2);
    let mut tokens: Vec<(u32, usize)> = Vec::with_capacity(data.len() / 12);
    let mut next = 0;
    let mut rest = data;
    while !rest.is_empty() {
        if let [b'\n', more @ ..] = rest {
            rest = more;
            continue;
        }
        let start = bytes.len();
        rest = decode(rest, &mut bytes)?;
        let (rank, more) = number(rest.strip_prefix(b" ")?)?;
        rest = if more.is_empty() { more } else { more.strip_prefix(b"\n")? };
        if rank < next || bytes.len() - start > MAX_TOKEN {
            return None;
        }
        tokens.push((u32::try_from(rank).ok()?, bytes.len()));
        next = rank + 1;
    }
    // Ranks that are too far apart are an error here.
    let vocab = Vocab::of_ranks(bytes, &tokens, &Default::default()).ok()?;
    let whole = (0..=u8::MAX).all(|byte| vocab.id(&[byte]).is_some());
    (vocab.is_distinct() && whole).then_some(vocab)
}

/// Appends the bytes of canonical base64, at least one, and gives what follows; `None` for what is none.
fn decode<'d>(mut data: &'d [u8], out: &mut Vec<u8>) -> Option<&'d [u8]> {
    let start = out.len();
    while let Some((group, rest)) = data.split_first_chunk::<4>() {
        let [a, b, c, d] = group.map(|digit| VALUES[usize::from(digit)]);
        if (a | b | c | d) != NONE {
            out.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
            data = rest;
            continue;
        }
        return match group {
            [.., b'=', b'='] if (a | b) != NONE && b & 15 == 0 => {
                out.push(a << 2 | b >> 4);
                Some(rest)
            }
            [.., b'='] if (a | b | c) != NONE && c & 3 == 0 => {
                out.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2]);
                Some(rest)
            }
            // The next token begins elsewhere, or these are no digits: what follows will tell.
            _ => (out.len() > start).then_some(data),
        };
    }
    (out.len() > start).then_some(data)
}

/// A number of up to ten digits that may be an id, and what follows.
fn number(data: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    let mut length = 0;
    while let Some(digit) = data.get(length).filter(|digit| digit.is_ascii_digit()) {
        value = 10 * value + u64::from(digit - b'0');
        length += 1;
        if length > 10 {
            return None;
        }
    }
    (length > 0 && value <= MAX_ID).then_some((value, &data[length..]))
}

/// SHA-256 in hexadecimal, by which a published file is known; here, as Python's `hashlib` takes longer to be
/// imported than a vocabulary to be read.
#[pyfunction]
pub fn sha256(py: Python<'_>, data: &[u8]) -> String {
    py.detach(|| Sha256::digest(data)).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The merges that do what rank order does: by their places among the tokens, two parts and what they make.
#[pyfunction]
pub fn recover_merges(py: Python<'_>, tokens: Vec<PyBackedBytes>) -> Vec<(u32, u32, u32)> {
    let tokens: Vec<&[u8]> = tokens.iter().map(|token| &**token).collect();
    py.detach(|| syllabary::merge::recover(&tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoded: &str) -> Option<(Vec<u8>, &str)> {
        let mut out = Vec::new();
        let rest = decode(encoded.as_bytes(), &mut out)?;
        Some((out, std::str::from_utf8(rest).unwrap()))
    }

    #[test]
    fn canonical_base64_and_no_other() {
        for (encoded, token) in [("YQ==", "a"), ("YWI=", "ab"), ("YWJj", "abc"), ("YWJjZGU=", "abcde")] {
            for rest in ["", " ", " 1", " 12\n", "\n"] {
                assert_eq!(decoded(&format!("{encoded}{rest}")), Some((token.into(), rest)));
            }
        }
        assert_eq!(decoded("/+8A").unwrap().0, [0xFF, 0xEF, 0]);
        for encoded in
            ["", "=", "====", "Y===", "YQ=", "YQ", "YQ=a", "Y=Q=", "YR==", "YWJ=", "Y Q=", "YW-_", " 1"]
        {
            assert_eq!(decoded(encoded), None, "{encoded}");
        }
        // What is left over is no space.
        for (encoded, rest) in [("YWJjYQ", "YQ"), ("YWJjYR==", "YR=="), ("YWJj=", "="), ("YQ==YQ==", "YQ==")]
        {
            assert_eq!(decoded(encoded).unwrap().1, rest);
        }
    }

    #[test]
    fn numbers() {
        for (digits, value) in [("0", 0), ("007", 7), ("0000000009", 9), ("4294967294", MAX_ID)] {
            assert_eq!(number(digits.as_bytes()), Some((value, &b""[..])));
            assert_eq!(number(format!("{digits}\n1").as_bytes()), Some((value, &b"\n1"[..])));
        }
        for digits in ["", "-1", "+1", " 1", "4294967295", "00000000001", "99999999999999999999999"] {
            assert_eq!(number(digits.as_bytes()), None);
        }
    }
}
