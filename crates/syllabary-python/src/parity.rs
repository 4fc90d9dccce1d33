//! `ParityTrainer`: counted pieces of several languages, then merges for all of them.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use syllabary::train::{
    TieBreak,
    parity::{Parity, ParityOptions, Pieces},
};

use crate::{
    convert,
    errors::to_python,
    trainer::{Pulse, work},
};

/// Learns merges from counted pieces. For one thread: `syllabary.train` owns it.
#[pyclass(module = "syllabary._engine")]
pub struct ParityTrainer(Parity);

/// Pieces back to back, where each ends, how often it occurs.
type Table<'py> = (PyReadonlyArray1<'py, u8>, PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u64>);
type Learned<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<u32>>, Bound<'py, PyArray1<u64>>);

fn pieces<'a>(table: &'a Table<'_>) -> PyResult<Pieces<'a>> {
    Ok(Pieces { data: table.0.as_slice()?, ends: table.1.as_slice()?, counts: table.2.as_slice()? })
}

#[pymethods]
impl ParityTrainer {
    #[new]
    #[pyo3(signature = (spec, alphabet, global_merges, window, alpha))]
    fn new(
        spec: &Bound<'_, PyAny>,
        alphabet: Vec<Vec<u8>>,
        global_merges: usize,
        window: Option<usize>,
        alpha: f64,
    ) -> PyResult<Self> {
        let largest = spec.getattr("tie_break")?.extract::<String>()? == "largest-pair";
        let options = ParityOptions {
            min_frequency: spec.getattr("min_frequency")?.extract()?,
            max_token_length: spec.getattr("max_token_length")?.extract()?,
            tie_break: if largest { TieBreak::LargestPair } else { TieBreak::SmallestIds },
            global_merges,
            window: window.map(|size| (size, alpha)),
        };
        let unit = convert::unit(spec)?;
        let end_of_word: Option<String> = spec.getattr("end_of_word")?.extract()?;
        let fallback: bool = spec.getattr("fallback")?.extract()?;
        Parity::new(alphabet, unit, end_of_word.as_deref(), fallback, options)
            .map(ParityTrainer)
            .map_err(|error| to_python(spec.py(), error, None))
    }

    #[pyo3(signature = (corpus, dev, ratio))]
    fn add(&mut self, py: Python<'_>, corpus: Table<'_>, dev: Option<Table<'_>>, ratio: f64) -> PyResult<()> {
        let (corpus, dev) = (pieces(&corpus)?, dev.as_ref().map(pieces).transpose()?);
        work(py, |go_on| self.0.add(corpus, dev, ratio, go_on))
    }

    #[pyo3(signature = (max_merges, callback))]
    fn learn<'py>(
        &mut self,
        py: Python<'py>,
        max_merges: usize,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<Learned<'py>> {
        let (parity, mut pulse) = (&mut self.0, Pulse::new(callback));
        let (mut languages, mut flat, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let learned = py.detach(|| {
            while counts.len() < max_merges {
                let now = Some((counts.len(), counts.last().copied().unwrap_or(0)));
                let Some((language, pair, count)) = parity.step(&mut || pulse.beat(now))? else { break };
                languages.push(language.map_or(-1, i64::from));
                flat.extend([pair.0, pair.1]);
                counts.push(count);
                if !pulse.beat(Some((counts.len(), count))) {
                    return Err(syllabary::Error::Interrupted);
                }
            }
            Ok(())
        });
        learned.map_err(|error| pulse.exception(py, error))?;
        Ok((languages.into_pyarray(py), convert::rows(py, flat, 2)?, counts.into_pyarray(py)))
    }

    /// Of each language, the tokens of its corpus and of the text by which it is judged.
    #[getter]
    fn tokens(&self) -> Vec<(u64, u64)> {
        self.0.tokens()
    }
}
