//! `FullRows`: rows of full encodings, for `python/syllabary/tokenizer_full.py`.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::{exceptions::PyValueError, prelude::*, sync::PyOnceLock, types::PyList};
use syllabary::{
    batch,
    dropout::Dropout,
    full::{Field, Framing, Given, Item, Padding, Plan, Rows, Side, Strategy, Truncation},
    located::{Located, Want},
    tokenizer::Tokenizer,
};

use crate::{
    convert::{self, Policy},
    lists::{Integers, Uncollected},
    texts::on_batch,
};

/// `full.batch.Rows`, laid out once.
#[pyclass(module = "syllabary._engine")]
pub struct FullRows {
    located: Option<Located>,
    rows: Option<Rows>,
    /// Those of the tokenizer, made already.
    integers: Arc<PyOnceLock<Integers>>,
}

/// Items, labels and trims of a `full.plan.Plan`.
type PlanParts = (Vec<(i64, u32, u32)>, Vec<Vec<i64>>, Vec<(bool, Vec<bool>)>);

impl FullRows {
    /// Of the tokens of texts.
    pub fn new(located: Located, integers: &Arc<PyOnceLock<Integers>>) -> FullRows {
        FullRows { located: Some(located), rows: None, integers: Arc::clone(integers) }
    }

    /// The tokens of texts.
    pub fn locate(
        py: Python<'_>,
        tokenizer: &Tokenizer,
        (texts, policy): (&Bound<'_, PyAny>, &Policy),
        (want, dropout): (&str, Dropout),
        threads: usize,
    ) -> PyResult<Located> {
        let wants = [("ids", Want::Ids), ("byte", Want::Bytes), ("char", Want::Characters)];
        let want = convert::named("unit of spans", want, &wants)?;
        let policy = policy.get();
        on_batch(py, texts, |texts, ask| {
            batch::locate(tokenizer, texts, policy, (want, dropout), (threads, ask))
        })
    }

    fn rows(&self) -> PyResult<&Rows> {
        self.rows.as_ref().ok_or_else(|| PyValueError::new_err("the rows are not laid out"))
    }
}

fn field(name: &str) -> PyResult<Field> {
    const FIELDS: [(&str, Field); 7] = [
        ("ids", Field::Ids),
        ("type_ids", Field::TypeIds),
        ("attention_mask", Field::AttentionMask),
        ("special_tokens_mask", Field::SpecialTokensMask),
        ("word_ids", Field::WordIds),
        ("sequence_ids", Field::SequenceIds),
        ("items", Field::Items),
    ];
    convert::named("field", name, &FIELDS)
}

fn plan((items, labels, trims): PlanParts) -> Plan {
    let items = items.into_iter().map(|(id, type_id, over)| match u32::try_from(id) {
        Ok(id) => Item::Special { id, type_id },
        Err(_) => Item::Text { text: usize::from(id == -2), type_ids: [type_id, over] },
    });
    let firsts = |firsts: Vec<bool>| [0, 1].map(|text| firsts.get(text).copied().unwrap_or(false));
    let trims = trims.into_iter().map(|(added, first)| (added, firsts(first))).collect();
    Plan { items: items.collect(), labels, trims }
}

fn side(left: bool) -> Side {
    if left { Side::Left } else { Side::Right }
}

#[pymethods]
impl FullRows {
    /// `None`, or the numbers of tokens of a text and its pair that cannot be truncated so.
    #[expect(clippy::too_many_arguments, reason = "one for each thing that Python says")]
    fn lay_out(
        &mut self,
        py: Python<'_>,
        units: PyReadonlyArray2<'_, i64>,
        words: bool,
        plans: (Option<PlanParts>, Option<PlanParts>),
        truncation: Option<(usize, usize, usize, bool)>,
        padding: Option<(Option<usize>, usize, u32, u32, bool)>,
        overflow: bool,
    ) -> Option<[Option<usize>; 2]> {
        let units = units.as_array();
        let given = Given {
            units: units
                .rows()
                .into_iter()
                .map(|row| [0, 1].map(|text| usize::try_from(row[text]).ok()))
                .collect(),
            words,
        };
        let truncation = truncation.map(|(max_length, stride, strategy, left)| Truncation {
            max_length,
            stride,
            strategy: strategy.checked_sub(1).map_or(Strategy::LongestFirst, Strategy::Only),
            side: side(left),
        });
        let padding = padding.map(|(length, multiple, id, type_id, left)| Padding {
            length,
            multiple: multiple.max(1),
            id,
            type_id,
            side: side(left),
        });
        let plans = [plans.0.map(plan), plans.1.map(plan)];
        let framing = Framing { plans, truncation, padding, overflow };
        let located = self.located.take().unwrap_or_default();
        match py.detach(|| Rows::new(located, &given, framing)) {
            Ok(rows) => {
                self.rows = Some(rows);
                None
            }
            Err(lengths) => Some(lengths),
        }
    }

    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(self.rows()?.bounds().into_pyarray(py))
    }

    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(self.rows()?.samples().into_pyarray(py))
    }

    fn lengths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(self.rows()?.lengths().into_pyarray(py))
    }

    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        convert::rows(py, self.rows()?.counts(), 2)
    }

    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (field, rows) = (field(name)?, self.rows()?);
        Ok(py.detach(|| rows.field(field)).into_pyarray(py))
    }

    /// A field as lists, one a row.
    fn lists<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let (field, rows) = (field(name)?, self.rows()?);
        let (values, bounds) = py.detach(|| (rows.field(field), rows.bounds()));
        let _uncollected = Uncollected::new(py);
        let (lists, mut numbers) = (PyList::empty(py), Vec::new());
        for bound in bounds.windows(2) {
            let row = &values[bound[0] as usize..bound[1] as usize];
            numbers.clear();
            numbers.extend(row.iter().map_while(|&value| u32::try_from(value).ok()));
            match self.integers.get(py) {
                Some(integers) if numbers.len() == row.len() => lists.append(integers.list(py, &numbers)?)?,
                _ => lists.append(PyList::new(py, row)?)?,
            }
        }
        Ok(lists)
    }

    /// Where tokens stand in all rows that are spelled as what they were found as, and as what.
    fn unknown(&self) -> PyResult<Vec<(usize, &str)>> {
        Ok(self.rows()?.spelled())
    }

    /// ends: by id, how many characters of white space a token begins and ends with; `None`: spans stay as they are.
    #[pyo3(signature = (ends=None))]
    fn spans<'py>(
        &self,
        py: Python<'py>,
        ends: Option<PyReadonlyArray2<'_, u32>>,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let rows = self.rows()?;
        let table = ends.as_ref().map(|ends| ends.as_array());
        let flat = py.detach(|| match &table {
            Some(table) => {
                let ends = |id: u32| {
                    let at = |side: usize| table.get([id as usize, side]).copied().unwrap_or(0);
                    [at(0), at(1)]
                };
                rows.spans(Some(&ends))
            }
            None => rows.spans(None),
        });
        convert::rows(py, flat, 2)
    }
}
