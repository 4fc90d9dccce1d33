//! A batch as lists, window by window: the ids of a window are lists before the next is encoded, so no more than a
//! window's stand anywhere else, and Ctrl-C is heard between two.

use std::time::{Duration, Instant};

use pyo3::{
    prelude::*,
    types::{PyList, PyString},
};
use syllabary::{
    Error,
    asking::Ask,
    batch::{self, Ragged, Text as _},
    dropout::Dropout,
    pool::Seat,
    tokenizer::{SpecialPolicy, Tokenizer},
};

use crate::{
    errors::to_python_in_batch, lists::Integers, pages::Lists, signals::interruptible, strings::Text,
};

/// Bytes of text in the first window of a thread, and at most: as long as windows of several threads take less than `SOON`, they
/// grow. Those of one thread do not, so that their ids are still in near caches when they become lists.
const FIRST_BYTES: usize = 1 << 18;
const MOST_BYTES: usize = 1 << 22;
const SOON: Duration = Duration::from_millis(40);

/// The texts of a batch and how they are encoded.
pub struct Batch<'a> {
    pub tokenizer: &'a Tokenizer,
    pub texts: &'a [Text<'a>],
    pub policy: SpecialPolicy<'a>,
    pub dropout: Dropout,
    pub threads: usize,
}

impl Batch<'_> {
    /// A list of ids for each text; they are the texts of `members`.
    pub fn lists<'py>(
        &self,
        py: Python<'py>,
        members: &[Bound<'py, PyString>],
        integers: &Integers,
    ) -> PyResult<Bound<'py, PyList>> {
        let lists = PyList::empty(py);
        self.tokenizer.pool().with(|seat| self.fill(&lists, members, seat, integers))?;
        Ok(lists)
    }

    fn fill(
        &self,
        lists: &Bound<'_, PyList>,
        members: &[Bound<'_, PyString>],
        seat: &mut Seat,
        integers: &Integers,
    ) -> PyResult<()> {
        let py = lists.py();
        let (mut first, mut bytes) = (0, FIRST_BYTES);
        let (mut pages, mut left) = (Lists::default(), self.texts.iter().map(Text::size).sum::<usize>());
        let mut made = Ragged { ids: std::mem::take(&mut seat.ids), offsets: Vec::new() };
        while first < self.texts.len() {
            py.check_signals()?;
            let began = Instant::now();
            let (last, here) = self.window(first, bytes.saturating_mul(self.threads));
            let failed = |(index, error): (usize, Error)| {
                to_python_in_batch(error, first + index, &members[first + index])
            };
            let (texts, policy, dropout) = (&self.texts[first..last], self.policy, (self.dropout, first));
            left -= here;
            let mut append = |ids: &[u32], offsets: &[usize]| {
                let size = ids.len() * size_of::<usize>();
                pages.take(size, (size as f64 * left as f64 / here.max(1) as f64) as usize);
                integers.append(lists, ids, offsets)
            };
            if self.threads == 1 {
                made.ids.clear();
                made.offsets.clear();
                made.offsets.push(0);
                let alone = |ask: Ask| {
                    batch::encode_alone(self.tokenizer, (texts, policy), dropout, (seat, &ask), &mut made)
                };
                interruptible(py, alone, failed)?;
                append(&made.ids, &made.offsets)?;
            } else {
                let all =
                    |ask: Ask| batch::encode(self.tokenizer, texts, policy, dropout, (self.threads, &ask));
                let Ragged { ids, offsets } = interruptible(py, all, failed)?;
                append(&ids, &offsets)?;
            }
            if self.threads > 1 && began.elapsed() < SOON {
                bytes = (2 * bytes).min(MOST_BYTES);
            }
            first = last;
        }
        seat.ids = made.ids;
        Ok(())
    }

    /// Where the window that begins at text `first` ends: after the text with which it has that many bytes; and how many
    /// it has.
    fn window(&self, first: usize, bytes: usize) -> (usize, usize) {
        let mut size = 0;
        let texts = &self.texts[first..];
        let full = texts.iter().position(|text| {
            size += text.size();
            size >= bytes
        });
        (full.map_or(self.texts.len(), |at| first + at + 1), size)
    }
}
