//! `Tokenizer`: the engine's tokenizer for the facade in `python/syllabary/tokenizer.py`.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyUntypedArrayMethods, ndarray::Array2};
use pyo3::{
    prelude::*,
    pybacked::{PyBackedBytes, PyBackedStr},
    types::PyBytes,
};
use syllabary::{
    batch,
    tokenizer::{Parts, Tokenizer as Engine, Work},
};

use crate::{
    convert::{self, Policy},
    errors::{to_python, to_python_in_batch},
    files,
};

/// Text shorter than this is encoded without releasing the GIL: handing it over would cost more.
const DETACH_BYTES: usize = 4096;

type IdsAndOffsets<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);

/// An immutable tokenizer.
#[pyclass(frozen, module = "syllabary._engine")]
pub struct Tokenizer(Engine);

fn ragged(py: Python<'_>, ragged: batch::Ragged) -> IdsAndOffsets<'_> {
    let offsets: Vec<i64> = ragged.offsets.into_iter().map(|offset| offset as i64).collect();
    (ragged.ids.into_pyarray(py), offsets.into_pyarray(py))
}

impl Tokenizer {
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        text: &PyBackedStr,
        job: impl Fn(&Engine, &str) -> Result<R, syllabary::Error> + Send + Sync,
    ) -> PyResult<R> {
        let (engine, slice): (&Engine, &str) = (&self.0, text);
        let result =
            if slice.len() < DETACH_BYTES { job(engine, slice) } else { py.detach(|| job(engine, slice)) };
        result.map_err(|error| to_python(py, error, Some(slice)))
    }

    fn ids(&self, py: Python<'_>, text: &Bound<'_, PyAny>, policy: &Policy) -> PyResult<Vec<u32>> {
        let (text, policy) = (convert::text(text)?, policy.get());
        self.run(py, &text, |engine, text| {
            let mut ids = Vec::with_capacity(text.len() / 4 + 1);
            engine.encode(text, policy, &mut Work::default(), &mut ids)?;
            Ok(ids)
        })
    }

    fn batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        policy: &Policy,
        threads: usize,
    ) -> PyResult<batch::Ragged> {
        let (texts, policy) = (convert::texts(texts)?, policy.get());
        let slices: Vec<&str> = texts.iter().map(|text| &**text).collect();
        py.detach(|| batch::encode(&self.0, &slices, policy, threads))
            .map_err(|(index, error)| to_python_in_batch(py, error, index, slices[index]))
    }
}

#[pymethods]
impl Tokenizer {
    #[new]
    fn new(py: Python<'_>, spec: &Bound<'_, PyAny>) -> PyResult<Self> {
        let tokens: Vec<(u32, PyBackedBytes)> = convert::items(spec, "tokens")?;
        let alphabet: Vec<(PyBackedBytes, u32)> = convert::items(spec, "alphabet")?;
        let end_of_word: Option<String> = spec.getattr("end_of_word")?.extract()?;
        let parts = Parts {
            unit: convert::unit(&spec.getattr("unit")?.extract::<String>()?)?,
            split: convert::split(&spec.getattr("split")?)?,
            tokens: tokens.iter().map(|(id, bytes)| (*id, &**bytes)).collect(),
            alphabet: alphabet.iter().map(|(symbol, id)| (&**symbol, *id)).collect(),
            merges: spec.getattr("merges")?.extract()?,
            special: convert::items(spec, "special_tokens")?,
            added: convert::items(spec, "added_tokens")?,
            end_of_word: end_of_word.as_deref(),
            fallback: spec.getattr("fallback")?.extract()?,
            whole_pieces: spec.getattr("whole_pieces")?.extract()?,
        };
        py.detach(|| Engine::new(parts)).map(Tokenizer).map_err(|error| to_python(py, error, None))
    }

    fn encode(&self, py: Python<'_>, text: &Bound<'_, PyAny>, policy: Policy) -> PyResult<Vec<u32>> {
        self.ids(py, text, &policy)
    }

    fn encode_array<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'_, PyAny>,
        policy: Policy,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(self.ids(py, text, &policy)?.into_pyarray(py))
    }

    fn encode_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        policy: Policy,
        threads: usize,
    ) -> PyResult<Vec<Vec<u32>>> {
        let ragged = self.batch(py, texts, &policy, threads)?;
        Ok(ragged.offsets.windows(2).map(|span| ragged.ids[span[0]..span[1]].to_vec()).collect())
    }

    fn encode_batch_array<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'_, PyAny>,
        policy: Policy,
        threads: usize,
    ) -> PyResult<IdsAndOffsets<'py>> {
        Ok(ragged(py, self.batch(py, texts, &policy, threads)?))
    }

    fn encode_files<'py>(
        &self,
        py: Python<'py>,
        paths: Vec<PathBuf>,
        separator: Option<String>,
        policy: Policy,
        threads: usize,
    ) -> PyResult<IdsAndOffsets<'py>> {
        let all = files::encode(py, &self.0, &paths, separator.as_deref(), policy.get(), threads)?;
        Ok(ragged(py, all))
    }

    fn count(&self, py: Python<'_>, text: &Bound<'_, PyAny>, policy: Policy) -> PyResult<usize> {
        let (text, policy) = (convert::text(text)?, policy.get());
        self.run(py, &text, |engine, text| engine.count(text, policy, &mut Work::default()))
    }

    fn count_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'_, PyAny>,
        policy: Policy,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (texts, policy) = (convert::texts(texts)?, policy.get());
        let slices: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let counts = py
            .detach(|| batch::count(&self.0, &slices, policy, threads))
            .map_err(|(index, error)| to_python_in_batch(py, error, index, slices[index]))?;
        Ok(counts.into_iter().map(|count| count as i64).collect::<Vec<_>>().into_pyarray(py))
    }

    fn offsets<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'_, PyAny>,
        policy: Policy,
        characters: bool,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let (text, policy) = (convert::text(text)?, policy.get());
        let flat = self.run(py, &text, |engine, text| {
            let mut spans = engine.offsets(text, policy, &mut Work::default())?;
            if characters {
                syllabary::tokenizer::to_characters(text, &mut spans);
            }
            Ok(spans.into_iter().flat_map(|span| [span.start as i64, span.end as i64]).collect::<Vec<_>>())
        })?;
        let rows = flat.len() / 2;
        let array = Array2::from_shape_vec((rows, 2), flat)
            .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
        Ok(array.into_pyarray(py))
    }

    fn decode_bytes<'py>(&self, py: Python<'py>, ids: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = Vec::new();
        let decoded = match ids.extract::<PyReadonlyArray1<'_, u32>>() {
            Ok(array) if array.is_contiguous() => self.0.decoder().decode(array.as_slice()?, &mut out),
            _ => {
                let known = |id| self.0.decoder().bytes(id).is_some();
                self.0.decoder().decode(&convert::ids(ids, known)?, &mut out)
            }
        };
        decoded.map_err(|error| to_python(py, error, None))?;
        Ok(PyBytes::new(py, &out))
    }

    #[getter]
    fn split_kind(&self) -> &'static str {
        self.0.split().kind()
    }
}
