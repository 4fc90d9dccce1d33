//! `Split`: text -> pieces, for looking at and for tests.

use pyo3::prelude::*;
use syllabary::split as engine;

use crate::{convert, errors::to_python};

/// A compiled split.
#[pyclass(frozen, module = "syllabary._engine")]
pub struct Split(engine::Split);

#[pymethods]
impl Split {
    #[new]
    fn new(spec: &Bound<'_, PyAny>) -> PyResult<Self> {
        convert::split(spec).map(Split)
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn pieces(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let text = convert::text(text)?;
        let mut out = Vec::new();
        self.0
            .pieces(&text, &mut |piece| out.push(piece.to_owned()))
            .map_err(|error| to_python(py, error, Some(&text)))?;
        Ok(out)
    }

    #[pyo3(signature = (text, neighbours, inside=false))]
    fn leaves(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        neighbours: Vec<String>,
        inside: bool,
    ) -> PyResult<u8> {
        let text = convert::text(text)?;
        let neighbours: Vec<&str> = neighbours.iter().map(String::as_str).collect();
        let enough = if inside { engine::Left::Inside } else { engine::Left::Whole };
        let left = self.0.leaves(&text, &neighbours, enough);
        left.map(|left| left as u8).map_err(|error| to_python(py, error, None))
    }
}
