//! `Ranks`: the tokens of a rank file, read by the engine.
//!
//! Adds the reading of files as they ought to be. What is wrong with another file, or strange about it,
//! `python/syllabary/formats/tiktoken.py` finds out line by line: it is the definition.

use std::sync::Arc;

use pyo3::{
    exceptions::PyKeyError,
    prelude::*,
    types::{PyBytes, PyDict},
};
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
        let all = PyDict::new(py);
        self.vocab.iter().try_for_each(|(rank, token)| all.set_item(rank, PyBytes::new(py, token)))?;
        Ok(all)
    }
}

/// The tokens of lines with ascending ranks; `None` if there is anything else to say of the file.
fn parse(data: &[u8]) -> Option<Vocab> {
    let mut bytes = Vec::with_capacity(data.len() / 2);
    let mut tokens: Vec<(u32, usize)> = Vec::with_capacity(data.len() / 12);
    let mut next = 0;
    for line in data.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let (encoded, digits) = line.split_at(line.iter().position(|&byte| byte == b' ')?);
        let start = bytes.len();
        decode(encoded, &mut bytes)?;
        let rank = number(&digits[1..]).filter(|&rank| rank >= next)?;
        if bytes.len() - start > MAX_TOKEN {
            return None;
        }
        tokens.push((u32::try_from(rank).ok()?, bytes.len()));
        next = rank + 1;
    }
    let mut start = 0;
    let spans = tokens.iter().map(|&(rank, end)| {
        let token = &bytes[start..end];
        start = end;
        (rank, token)
    });
    // Ranks that are too far apart are an error here.
    let vocab = Vocab::new(spans).ok()?;
    let distinct = vocab.iter().all(|(rank, token)| vocab.id(token) == Some(rank));
    let whole = (0..=u8::MAX).all(|byte| vocab.id(&[byte]).is_some());
    (distinct && whole).then_some(vocab)
}

/// Appends the bytes of canonical base64, at least one; `None` for what is none.
fn decode(encoded: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (groups, rest) = encoded.as_chunks::<4>();
    let (last, groups) = groups.split_last().filter(|_| rest.is_empty())?;
    for group in groups {
        let [a, b, c, d] = group.map(|digit| VALUES[usize::from(digit)]);
        if (a | b | c | d) == NONE {
            return None;
        }
        out.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
    }
    let padding = last.iter().rev().take_while(|&&digit| digit == b'=').count();
    let digits = last.map(|digit| if digit == b'=' { 0 } else { VALUES[usize::from(digit)] });
    let [a, b, c, d] = digits;
    if padding > 2 || digits.contains(&NONE) || last[..4 - padding].contains(&b'=') {
        return None;
    }
    let (three, length) = ([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d], 3 - padding);
    if three[length..].iter().any(|&byte| byte != 0) {
        return None;
    }
    out.extend_from_slice(&three[..length]);
    Some(())
}

/// A number of up to ten digits that may be an id.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 10 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0, |value, digit| 10 * value + u64::from(digit - b'0'));
    (value <= MAX_ID).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoded: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(encoded.as_bytes(), &mut out).map(|()| out)
    }

    #[test]
    fn canonical_base64_and_no_other() {
        for (encoded, token) in [("YQ==", "a"), ("YWI=", "ab"), ("YWJj", "abc"), ("YWJjZGU=", "abcde")] {
            assert_eq!(decoded(encoded).unwrap(), token.as_bytes());
        }
        assert_eq!(decoded("/+8A").unwrap(), [0xFF, 0xEF, 0]);
        for encoded in
            ["", "=", "====", "Y===", "YQ=", "YQ", "YQ=a", "Y=Q=", "YR==", "YWJ=", "YQ==YQ==", "Y Q=", "YW-_"]
        {
            assert_eq!(decoded(encoded), None, "{encoded}");
        }
    }

    #[test]
    fn numbers() {
        for (digits, value) in
            [("0", Some(0)), ("007", Some(7)), ("4294967294", Some(MAX_ID)), ("4294967295", None)]
        {
            assert_eq!(number(digits.as_bytes()), value);
        }
        assert!(
            ["", "-1", "+1", "1 ", "1\r", "00000000001"]
                .iter()
                .all(|digits| number(digits.as_bytes()).is_none())
        );
    }
}
