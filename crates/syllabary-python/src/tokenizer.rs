//! `Tokenizer`: the engine's tokenizer for the facade in `python/syllabary/tokenizer.py`.

use std::{path::PathBuf, sync::Arc};

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::{
    prelude::*,
    pybacked::PyBackedBytes,
    sync::PyOnceLock,
    types::{PyBytes, PyList, PyString},
};
use syllabary::{
    alphabet::Spelling,
    batch,
    nbest::Way,
    pool::Seat,
    tokenizer::{Parts, Tokenizer as Engine},
};

use crate::{
    convert::{self, Policy},
    decode,
    errors::to_python,
    files,
    full::FullRows,
    learned::Learned,
    lists::Integers,
    ranks::Ranks,
    steps,
    texts::on_batch,
    windows::Batch,
};

type IdsAndOffsets<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);

// Python aligns objects at 16 bytes, whatever is in them.
const _: () = assert!(align_of::<Engine>() <= 16 && align_of::<syllabary::split::Split>() <= 16);

/// An immutable tokenizer.
#[pyclass(frozen, module = "syllabary._engine")]
pub struct Tokenizer {
    pub(crate) engine: Engine,
    integers: Arc<PyOnceLock<Integers>>,
}

fn ragged(py: Python<'_>, ragged: batch::Ragged) -> IdsAndOffsets<'_> {
    let offsets: Vec<i64> = ragged.offsets.into_iter().map(|offset| offset as i64).collect();
    (ragged.ids.into_pyarray(py), offsets.into_pyarray(py))
}

impl Tokenizer {
    pub(crate) fn integers(&self, py: Python<'_>) -> PyResult<&Integers> {
        self.integers.get_or_try_init(py, || Integers::new(py, self.engine.decoder().id_bound()))
    }
}

#[pymethods]
impl Tokenizer {
    #[new]
    fn new(py: Python<'_>, spec: &Bound<'_, PyAny>) -> PyResult<Self> {
        let byte_tokens: Vec<(u32, u8)> = convert::items(spec, "byte_tokens")?;
        let (held, merges) = (spec.getattr("tokens")?.getattr("ranks").ok(), spec.getattr("merges")?);
        let ranks = held.as_ref().and_then(|held| held.cast::<Ranks>().ok()).map(|ranks| ranks.get().vocab());
        let ranks = ranks.filter(|_| byte_tokens.is_empty());
        let learned = held.as_ref().and_then(|held| held.cast::<Learned>().ok()).map(Bound::get);
        let vocab = ranks.or(learned.and_then(|learned| learned.vocab_with(&byte_tokens))).cloned();
        let tokens: Vec<(u32, PyBackedBytes)> =
            if vocab.is_some() { Vec::new() } else { convert::items(spec, "tokens")? };
        let alphabet: Vec<(PyBackedBytes, u32)> = convert::items(spec, "alphabet")?;
        let end_of_word: Option<String> = spec.getattr("end_of_word")?.extract()?;
        let continuing_prefix: Option<String> = spec.getattr("continuing_prefix")?.extract()?;
        let (scores, decoder) = (spec.getattr("scores")?, spec.getattr("decoder")?);
        let parts = Parts {
            split: convert::split(&spec.getattr("split")?)?,
            spelling: Spelling {
                unit: convert::unit(spec)?,
                end_of_word: end_of_word.as_deref(),
                mark_apart: spec.getattr("mark_apart")?.extract()?,
                continuing_prefix: continuing_prefix.as_deref(),
                fallback: spec.getattr("fallback")?.extract()?,
                byte_tokens: &byte_tokens,
                unknown: spec.getattr("unknown")?.extract()?,
                fuse_unknown: spec.getattr("fuse_unknown")?.extract()?,
                surface_offsets: spec.getattr("surface_offsets")?.extract()?,
            },
            tokens: tokens.iter().map(|(id, bytes)| (*id, &**bytes)).collect(),
            vocab,
            alphabet: alphabet.iter().map(|(symbol, id)| (&**symbol, *id)).collect(),
            merges: match learned.and_then(|learned| learned.merges_of(&merges)) {
                Some(learned) => Some(learned),
                None => merges.extract()?,
            },
            scores: if scores.is_none() { None } else { Some(convert::items(spec, "scores")?) },
            unused: spec.getattr("unused")?.try_iter()?.map(|id| id?.extract()).collect::<PyResult<_>>()?,
            special: convert::items(spec, "special_tokens")?,
            added: convert::items(spec, "added_tokens")?,
            matching: convert::matching(spec)?,
            whole_pieces: spec.getattr("whole_pieces")?.extract()?,
            normalizer: steps::steps(&spec.getattr("normalizer")?)?,
            pretokenizer: steps::steps(&spec.getattr("pretokenizer")?)?,
            decoder: if decoder.is_none() { None } else { Some(steps::steps(&decoder)?) },
            trim_offsets: spec.getattr("trim_offsets")?.extract()?,
            model: convert::model(spec)?,
            longest_piece: spec.getattr("longest_piece")?.extract()?,
            single_precision: spec.getattr("single_precision")?.extract()?,
        };
        py.detach(|| Engine::new(parts))
            .map_err(|error| to_python(py, error, None))
            .map(|engine| Tokenizer { engine, integers: Arc::new(PyOnceLock::new()) })
    }

    #[pyo3(signature = (text, policy=Policy::Raise, dropout=0.0, seed=0))]
    #[pyo3(text_signature = "($self, text, policy='raise', dropout=0.0, seed=0)")]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        policy: Policy,
        dropout: f64,
        seed: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        self.list(text, policy.get(), convert::dropout(dropout, seed)?)
    }

    #[pyo3(signature = (text, policy=Policy::Raise, dropout=0.0, seed=0))]
    #[pyo3(text_signature = "($self, text, policy='raise', dropout=0.0, seed=0)")]
    fn encode_array<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        policy: Policy,
        dropout: f64,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        self.array(text, policy.get(), convert::dropout(dropout, seed)?)
    }

    #[pyo3(signature = (texts, policy, threads, dropout=0.0, seed=0))]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        policy: Policy,
        threads: usize,
        dropout: f64,
        seed: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        let members = convert::batch(texts)?;
        let batch = Batch {
            tokenizer: &self.engine,
            texts: &convert::read(&members)?,
            policy: policy.get(),
            dropout: convert::dropout(dropout, seed)?,
            threads,
        };
        batch.lists(py, &members, self.integers(py)?)
    }

    #[pyo3(signature = (texts, policy, threads, dropout=0.0, seed=0))]
    fn encode_batch_array<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'_, PyAny>,
        policy: Policy,
        threads: usize,
        dropout: f64,
        seed: u64,
    ) -> PyResult<IdsAndOffsets<'py>> {
        Ok(ragged(py, self.batch(py, texts, &policy, threads, convert::dropout(dropout, seed)?)?))
    }

    #[pyo3(signature = (texts, policy, want, threads, dropout=0.0, seed=0))]
    #[expect(clippy::too_many_arguments, reason = "one for each thing that Python says")]
    fn full_rows(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        policy: Policy,
        want: &str,
        threads: usize,
        dropout: f64,
        seed: u64,
    ) -> PyResult<FullRows> {
        self.integers(py)?;
        let wanted = (want, convert::dropout(dropout, seed)?);
        let located = FullRows::locate(py, &self.engine, (texts, &policy), wanted, threads)?;
        Ok(FullRows::new(located, &self.integers))
    }

    fn encode_files<'py>(
        &self,
        py: Python<'py>,
        paths: Vec<PathBuf>,
        separator: Option<String>,
        policy: Policy,
        threads: usize,
    ) -> PyResult<IdsAndOffsets<'py>> {
        let all = files::encode(py, &self.engine, &paths, separator.as_deref(), policy.get(), threads)?;
        Ok(ragged(py, all))
    }

    fn encode_behind<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        guard: &str,
        score: f64,
        policy: Policy,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, f64)> {
        let job = |engine: &Engine, text: &str, seat: &mut Seat| {
            let Seat { work, ids, .. } = seat;
            engine.encode_behind((guard, text), score, policy.get(), work, ids)
        };
        self.run(text, job, |score, seat| Ok((std::mem::take(&mut seat.ids).into_pyarray(text.py()), score)))
    }

    fn encode_nbest(&self, text: &Bound<'_, PyAny>, policy: Policy, count: usize) -> PyResult<Vec<Way>> {
        let policy = policy.get();
        let job = |engine: &Engine, text: &str, seat: &mut Seat| {
            engine.encode_nbest(text, policy, count, &mut seat.work)
        };
        self.run(text, job, |ways, _| Ok(ways))
    }

    fn sample<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        policy: Policy,
        alpha: f64,
        seed: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        self.list(text, policy.get(), convert::drawing(alpha, seed)?)
    }

    fn sample_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'_, PyAny>,
        policy: Policy,
        threads: usize,
        alpha: f64,
        seed: u64,
    ) -> PyResult<IdsAndOffsets<'py>> {
        Ok(ragged(py, self.batch(py, texts, &policy, threads, convert::drawing(alpha, seed)?)?))
    }

    #[pyo3(signature = (text, policy=Policy::Raise))]
    #[pyo3(text_signature = "($self, text, policy='raise')")]
    fn count(&self, text: &Bound<'_, PyAny>, policy: Policy) -> PyResult<usize> {
        self.number(text, policy.get())
    }

    fn count_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'_, PyAny>,
        policy: Policy,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let policy = policy.get();
        let counts =
            on_batch(py, texts, |texts, ask| batch::count(&self.engine, texts, policy, (threads, ask)))?;
        Ok(counts.into_iter().map(|count| count as i64).collect::<Vec<_>>().into_pyarray(py))
    }

    fn offsets<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'_, PyAny>,
        policy: Policy,
        characters: bool,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let policy = policy.get();
        let spans = |engine: &Engine, text: &str, seat: &mut Seat| {
            let mut spans = engine.offsets(text, policy, &mut seat.work)?;
            if characters {
                syllabary::tokenizer::to_characters(text, &mut spans);
            }
            Ok(spans.into_iter().flat_map(|span| [span.start as i64, span.end as i64]).collect::<Vec<_>>())
        };
        convert::rows(py, self.run(text, spans, |flat, _| Ok(flat))?, 2)
    }

    fn decode_bytes<'py>(&self, py: Python<'py>, ids: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let decoder = self.engine.decoder();
        self.engine.pool().with(|seat| {
            let Seat { ids: buffer, bytes, .. } = seat;
            decode::with_ids(ids, decoder, buffer, |ids| match self.engine.decode_text(ids) {
                Some(Ok(text)) => Ok(PyBytes::new(py, text.as_bytes())),
                Some(Err(error)) => Err(to_python(py, error, None)),
                None => decode::bytes(py, (decoder, ids), bytes),
            })
        })
    }

    #[pyo3(signature = (ids, errors="replace"))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'_, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        let decoder = self.engine.decoder();
        self.engine.pool().with(|seat| {
            let Seat { ids: buffer, bytes, .. } = seat;
            decode::with_ids(ids, decoder, buffer, |ids| {
                match decode::text_by_steps(py, (&self.engine, ids))? {
                    Some(text) => Ok(text),
                    None => decode::text(py, (decoder, ids), errors, bytes),
                }
            })
        })
    }

    #[getter]
    fn split_kind(&self) -> &'static str {
        self.engine.split().kind()
    }
}
