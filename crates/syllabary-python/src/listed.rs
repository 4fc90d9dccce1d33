//! `Listed`: vocabulary and merges of a `tokenizer.json`, read by the engine; and those of our own format.
//!
//! Adds ids for names, and the bytes that names spell, of files as they ought to be. What is wrong with another file, or
//! strange about it, `python/syllabary/formats/hf_model.py`, `hf_vocab.py` and `syllabary_json.py` find out: they are the
//! definition. Leaves out: JSON (`json`, `json_own`), and everything else in the file.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use pyo3::{
    prelude::*,
    types::{PyDict, PyInt, PyList, PyString, PyTuple},
};
use syllabary::vocab::Vocab;

use crate::{
    json::{Document, Name},
    json_own::Own,
    learned::{Learned, Merge},
};

/// Id -> byte, as Python gives it.
type ByteTokens = std::collections::HashMap<u32, u8>;

type Scored<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, String);

/// No byte is spelled with the character.
const NONE: u16 = u16::MAX;

/// The byte that GPT-2's files spell with a character below U+0180: printable ones of Latin-1 stand for themselves, the
/// others for U+0100 and up, in their order.
const BYTES: [u16; 0x180] = {
    let mut bytes = [NONE; 0x180];
    let (mut byte, mut next) = (0, 0x100);
    while byte < 0x100 {
        if matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) {
            bytes[byte] = byte as u16;
        } else {
            bytes[next] = byte as u16;
            next += 1;
        }
        byte += 1;
    }
    bytes
};

/// A vocabulary, merges if there are any, and the file without them.
#[pyclass(frozen, module = "syllabary._engine")]
pub struct Listed {
    rest: String,
    vocab: Py<PyDict>,
    merges: Py<PyTuple>,
    ids: Vec<Merge>,
    /// The names, one behind the other, and of each its id and where it ends.
    names: String,
    ends: Vec<(u32, usize)>,
}

#[pymethods]
impl Listed {
    #[staticmethod]
    fn read(py: Python<'_>, data: &[u8]) -> PyResult<Option<Listed>> {
        let found = py.detach(|| {
            let document = Document::read(data, false)?;
            let merges = resolve(&document)?;
            Some((chained(&document.vocab), merges, document))
        });
        let Some(((names, ends), merges, document)) = found else { return Ok(None) };
        let (vocab, integers) = (PyDict::new(py), integers(py, &document.vocab)?);
        for ((name, _), id) in document.vocab.iter().zip(&integers) {
            vocab.set_item(PyString::new(py, name), id)?;
        }
        let tuples = merges
            .iter()
            .map(|places| PyTuple::new(py, places.map(|place| &integers[place as usize])))
            .collect::<PyResult<Vec<_>>>()?;
        let id = |place: u32| document.vocab[place as usize].1;
        Ok(Some(Listed {
            ids: merges.iter().map(|&[left, right, result]| (id(left), id(right), id(result))).collect(),
            vocab: vocab.unbind(),
            merges: PyTuple::new(py, tuples)?.unbind(),
            rest: document.rest,
            names,
            ends,
        }))
    }

    #[getter]
    fn rest(&self) -> &str {
        &self.rest
    }

    #[getter]
    fn vocab(&self, py: Python<'_>) -> Py<PyDict> {
        self.vocab.clone_ref(py)
    }

    #[getter]
    fn merges(&self, py: Python<'_>) -> Py<PyTuple> {
        self.merges.clone_ref(py)
    }

    /// Those of some ids that are in merges.
    fn merged(&self, ids: Vec<u32>) -> Vec<u32> {
        let asked: HashSet<u32> = ids.into_iter().collect();
        let mut found = HashSet::new();
        if !asked.is_empty() {
            let all = self.ids.iter().flat_map(|&(left, right, result)| [left, right, result]);
            found.extend(all.filter(|id| asked.contains(id)));
        }
        found.into_iter().collect()
    }

    /// The ids of names that spell no bytes.
    fn unspelled(&self) -> Vec<u32> {
        self.named().filter(|(_, name)| !is_spelled(name)).map(|(id, _)| id).collect()
    }

    /// The tokens but those of some ids, as merges make them; `None` if that cannot be said so simply.
    fn learned(
        &self,
        py: Python<'_>,
        without: Vec<u32>,
        spelled: bool,
        byte_tokens: ByteTokens,
    ) -> Option<Learned> {
        let left_out: HashSet<u32> = without.into_iter().collect();
        let apart = |id: &u32| left_out.contains(id) || byte_tokens.contains_key(id);
        let broken = |&(left, right, result): &Merge| [left, right, result].iter().any(apart);
        if !(left_out.is_empty() && byte_tokens.is_empty()) && self.ids.iter().any(broken) {
            return None;
        }
        let vocab = py.detach(|| self.kept(&left_out, spelled, &byte_tokens))?;
        let tuple = self.merges.clone_ref(py);
        Some(Learned::made(Arc::new(vocab), self.ids.clone(), tuple, byte_tokens.into_keys().collect()))
    }
}

/// Names and scores of a file that lists these, and the rest of it.
#[pyfunction]
pub fn read_scored<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Option<Scored<'py>>> {
    let Some(document) = py.detach(|| Document::read(data, true)) else { return Ok(None) };
    let names = PyList::new(py, document.scored.iter().map(|(name, _)| PyString::new(py, name)))?;
    Ok(Some((names, PyList::new(py, document.scored.iter().map(|&(_, score)| score))?, document.rest)))
}

/// Tokens and merges of our own format, whether it has merges, whether no two tokens are alike, and the rest of it.
#[pyfunction]
pub fn read_own(py: Python<'_>, data: &[u8]) -> PyResult<Option<(Learned, bool, bool, String)>> {
    let found = py.detach(|| {
        let Own { rest, bytes, ends, merges } = Own::read(data)?;
        let merges = merges?;
        if !ends.is_sorted_by(|before, after| before.0 < after.0) {
            return None;
        }
        // Ids that are too far apart are an error here.
        let vocab = Vocab::of_ranks(bytes, &ends, &Default::default()).ok()?;
        merges.iter().flatten().all(|&merge| joins(&vocab, merge)).then_some((vocab, merges, rest))
    });
    let Some((vocab, merges, rest)) = found else { return Ok(None) };
    let (has_merges, merges) = (merges.is_some(), merges.unwrap_or_default());
    let mut integers = vec![None; if has_merges { vocab.id_bound() as usize } else { 0 }];
    for (id, _) in vocab.iter().filter(|_| has_merges) {
        integers[id as usize] = Some(id.into_pyobject(py)?);
    }
    let row = |ids: &[u32; 3]| PyTuple::new(py, ids.map(|id| integers[id as usize].as_ref()));
    let tuple = PyTuple::new(py, merges.iter().map(row).collect::<PyResult<Vec<_>>>()?)?.unbind();
    let merges = merges.into_iter().map(|[left, right, result]| (left, right, result)).collect();
    let differ = vocab.is_distinct();
    Ok(Some((Learned::made(Arc::new(vocab), merges, tuple, Vec::new()), has_merges, differ, rest)))
}

/// Whether a merge makes what its two tokens are, none of which is empty.
fn joins(vocab: &Vocab, merge: [u32; 3]) -> bool {
    match merge.map(|id| vocab.bytes(id).unwrap_or_default()) {
        [b"", ..] | [_, b"", _] => false,
        [left, right, made] => made.strip_prefix(left) == Some(right),
    }
}

impl Listed {
    /// Ids and names.
    fn named(&self) -> impl Iterator<Item = (u32, &str)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        self.ends.iter().zip(starts).map(|(&(id, end), start)| (id, &self.names[start..end]))
    }

    fn kept(&self, left_out: &HashSet<u32>, spelled: bool, byte_tokens: &ByteTokens) -> Option<Vocab> {
        if !self.ends.is_sorted_by_key(|&(id, _)| id) {
            return None;
        }
        let (mut bytes, mut ends) =
            (Vec::with_capacity(self.names.len()), Vec::with_capacity(self.ends.len()));
        for (id, name) in self.named().filter(|(id, _)| !left_out.contains(id)) {
            match byte_tokens.get(&id) {
                Some(&byte) => bytes.push(byte),
                None if spelled && !is_spelled(name) => continue,
                None if spelled => bytes.extend(name.chars().filter_map(byte_of)),
                None => bytes.extend_from_slice(name.as_bytes()),
            }
            ends.push((id, bytes.len()));
        }
        let hidden = byte_tokens.keys().copied().collect();
        // Ids that are too far apart are an error here.
        Vocab::of_ranks(bytes, &ends, &hidden).ok()
    }
}

/// The merges by the places of their names: two halves and what they make. `None` if a name is none, is empty or given
/// twice, as ids and merges may not be.
fn resolve(document: &Document<'_>) -> Option<Vec<[u32; 3]>> {
    let vocab = &document.vocab;
    let mut places = HashMap::with_capacity(vocab.len());
    for (place, (name, _)) in vocab.iter().enumerate() {
        if name.is_empty() || places.insert(&**name, place as u32).is_some() {
            return None;
        }
    }
    let rows = document.merges.as_deref().unwrap_or_default();
    let mut merges = Vec::with_capacity(rows.len());
    let mut joined = String::new();
    for [left, right] in rows {
        joined.clear();
        joined.push_str(left);
        joined.push_str(right);
        // Mostly the next name.
        let next = merges.last().map_or(0, |&[.., last]: &[u32; 3]| last as usize + 1);
        let made = match vocab.get(next) {
            Some((name, _)) if *name == joined => next as u32,
            _ => *places.get(&*joined)?,
        };
        merges.push([*places.get(&**left)?, *places.get(&**right)?, made]);
    }
    (all_differ(vocab) && all_once(&merges)).then_some(merges)
}

/// Whether no two names have one id.
fn all_differ(vocab: &[(Name<'_>, u32)]) -> bool {
    if vocab.is_sorted_by(|before, after| before.1 < after.1) {
        return true;
    }
    let mut seen = HashSet::with_capacity(vocab.len());
    vocab.iter().all(|&(_, id)| seen.insert(id))
}

/// Whether no merge is given twice.
fn all_once(merges: &[[u32; 3]]) -> bool {
    // Of different results the pairs are different too.
    if merges.is_sorted_by(|before, after| before[2] < after[2]) {
        return true;
    }
    let mut seen = HashSet::with_capacity(merges.len());
    merges.iter().all(|&merge| seen.insert(merge))
}

/// The names, one behind the other, and of each its id and where it ends.
fn chained(vocab: &[(Name<'_>, u32)]) -> (String, Vec<(u32, usize)>) {
    let (mut names, mut ends) = (String::new(), Vec::with_capacity(vocab.len()));
    for (name, id) in vocab {
        names.push_str(name);
        ends.push((*id, names.len()));
    }
    (names, ends)
}

/// The byte that a character stands for.
fn byte_of(sign: char) -> Option<u8> {
    BYTES.get(sign as usize).and_then(|&byte| u8::try_from(byte).ok())
}

/// Whether a name spells bytes.
fn is_spelled(name: &str) -> bool {
    name.chars().all(|sign| byte_of(sign).is_some())
}

fn integers<'py>(py: Python<'py>, vocab: &[(Name<'_>, u32)]) -> PyResult<Vec<Bound<'py, PyInt>>> {
    Ok(vocab.iter().map(|(_, id)| id.into_pyobject(py)).collect::<Result<_, _>>()?)
}
