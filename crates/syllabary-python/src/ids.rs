//! `IdMerges`: sequences of integers to ids and back.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use syllabary::{Error, ids, merge::Scratch};

use crate::{
    convert,
    errors::{exception, to_python},
};

/// Immutable; `syllabary.IdTokenizer` owns one.
#[pyclass(module = "syllabary._engine", frozen)]
pub struct IdMerges(ids::IdMerges);

#[pymethods]
impl IdMerges {
    #[new]
    fn new(
        py: Python<'_>,
        symbols: PyReadonlyArray1<'_, u32>,
        pairs: PyReadonlyArray2<'_, u32>,
    ) -> PyResult<Self> {
        let made = ids::IdMerges::new(symbols.as_slice()?.to_vec(), convert::pairs(&pairs)?);
        made.map(IdMerges).map_err(|error| to_python(py, error, None))
    }

    #[getter]
    fn lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.0.lengths().to_vec().into_pyarray(py)
    }

    fn encode<'py>(
        &self,
        py: Python<'py>,
        sequence: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let sequence = sequence.as_slice()?;
        match py.detach(|| self.0.encode(sequence, &mut Scratch::default())) {
            Ok(ids) => Ok(ids.into_pyarray(py)),
            Err(Error::UnknownId { id, index }) => {
                let message = format!("integer {id} at index {index} is no symbol of this vocabulary");
                Err(exception(py, "UnknownSymbolError", message))
            }
            Err(error) => Err(to_python(py, error, None)),
        }
    }

    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let ids = ids.as_slice()?;
        let symbols = py.detach(|| self.0.decode(ids)).map_err(|error| to_python(py, error, None))?;
        Ok(symbols.into_pyarray(py))
    }
}
