//! Rows of tokens as models eat them: texts and pairs truncated, with special tokens around them, padded.
//!
//! ```text
//! texts --locate--> tokens --cut (parts)--> parts --plan--> rows --fields--> arrays
//! ```
//!
//! Adds: `Rows`. The law: each field is that of `syllabary.reference.full`. Leaves out: ids (`located`), and what a
//! post-processor means: it comes as a `Plan`, which the specification has worked out.

mod fields;
mod parts;

use std::ops::Range;

use crate::located::Located;
pub use fields::Field;
pub use parts::{Side, Strategy, Truncation};

/// What stands in a row.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// A special token.
    Special {
        /// Its id.
        id: u32,
        /// Its type id.
        type_id: u32,
    },
    /// The text (0) or its pair (1).
    Text {
        /// Which.
        text: usize,
        /// The type id of its tokens in its first part, and in the others.
        type_ids: [u32; 2],
    },
}

/// What rows of one text, or of a pair, are made of.
#[derive(Debug)]
pub struct Plan {
    /// In the order of the row.
    pub items: Vec<Item>,
    /// For each set of texts in a part that is not the first (bit k: the k-th text of the items), the sequence id of
    /// each item, and last that of padding.
    pub labels: Vec<Vec<i64>>,
    /// Of each time that white space is taken off spans: whether a space was added in front, and of which texts the
    /// first token is the first of the row.
    pub trims: Vec<(bool, [bool; 2])>,
}

impl Plan {
    /// The texts in the order of the row.
    fn texts(&self) -> impl Iterator<Item = usize> {
        self.items
            .iter()
            .filter_map(|item| if let Item::Text { text, .. } = item { Some(*text) } else { None })
    }

    fn added(&self) -> usize {
        self.items.len() - self.texts().count()
    }
}

/// How rows are filled up.
#[derive(Clone, Copy, Debug)]
pub struct Padding {
    /// Their length; `None`: that of the longest first part.
    pub length: Option<usize>,
    /// It is rounded up to a multiple of this, 1 or more.
    pub multiple: usize,
    /// What is put there.
    pub id: u32,
    /// Its type id.
    pub type_id: u32,
    /// Where.
    pub side: Side,
}

/// What is done with all texts.
#[derive(Debug)]
pub struct Framing {
    /// For a text alone, and for a pair; `None` if there are none.
    pub plans: [Option<Plan>; 2],
    /// How texts are cut.
    pub truncation: Option<Truncation>,
    /// How rows are filled up.
    pub padding: Option<Padding>,
    /// Parts that are cut off are rows too.
    pub overflow: bool,
}

/// Texts as they are given: each is so many units (words, or one), and its pair, or none.
#[derive(Debug)]
pub struct Given {
    /// Units of each text, and of its pair.
    pub units: Vec<[Option<usize>; 2]>,
    /// The number of the unit is the word of its tokens.
    pub words: bool,
}

/// A row: its text, and the texts in it whose part is not the first, as bits.
#[derive(Clone, Copy, Debug)]
struct Row {
    sample: usize,
    over: usize,
    /// Where its parts begin in `Rows::parts`.
    first: usize,
    /// Its tokens, without padding.
    length: usize,
}

/// Rows that are laid out.
#[derive(Debug)]
pub struct Rows {
    located: Located,
    framing: Framing,
    pairs: Vec<bool>,
    rows: Vec<Row>,
    /// The tokens of each text of each row, in the order of the items.
    parts: Vec<Range<usize>>,
    /// How many parts each text and each pair has.
    counts: Vec<[usize; 2]>,
    /// The length that shorter rows are filled up to.
    padded: usize,
}

impl Rows {
    /// Lays out the rows of texts; if one cannot be truncated as asked, the numbers of tokens of it and its pair.
    pub fn new(located: Located, given: &Given, framing: Framing) -> Result<Rows, [Option<usize>; 2]> {
        let mut rows = Rows {
            located,
            framing,
            pairs: given.units.iter().map(|units| units[1].is_some()).collect(),
            rows: Vec::with_capacity(given.units.len()),
            parts: Vec::with_capacity(given.units.len()),
            counts: Vec::with_capacity(given.units.len()),
            padded: 0,
        };
        let (mut unit, mut start) = (0, 0);
        for (sample, units) in given.units.iter().enumerate() {
            let texts = units.map(|count| {
                let first = unit;
                unit += count?;
                let end = if unit > 0 { rows.located.ends[unit - 1] } else { 0 };
                if given.words {
                    rows.number(first..unit);
                }
                let text = start..end;
                start = end;
                Some(text)
            });
            rows.add(sample, texts)?;
        }
        if let Some(padding) = &rows.framing.padding {
            let firsts = rows.rows.iter().filter(|row| row.over == 0);
            let longest = firsts.map(|row| row.length).max().unwrap_or(0);
            rows.padded = padding.length.unwrap_or(longest).next_multiple_of(padding.multiple);
        }
        Ok(rows)
    }

    /// The number of the unit as the word of each token.
    fn number(&mut self, units: Range<usize>) {
        if self.located.words.is_empty() {
            return;
        }
        for (word, unit) in units.enumerate() {
            let start = if unit > 0 { self.located.ends[unit - 1] } else { 0 };
            self.located.words[start..self.located.ends[unit]].fill(word as u32);
        }
    }

    /// Adds the rows of a text and its pair.
    fn add(&mut self, sample: usize, texts: [Option<Range<usize>>; 2]) -> Result<(), [Option<usize>; 2]> {
        let Rows { framing, rows, parts, counts, .. } = self;
        let Some(plan) = &framing.plans[usize::from(texts[1].is_some())] else { return Ok(()) };
        let cut = match &framing.truncation {
            Some(truncation) => truncation.cut(&texts, plan.added())?,
            None => texts.map(|text| text.into_iter().collect()),
        };
        counts.push([cut[0].len(), cut[1].len()]);
        let mut put = |choice: &[usize]| {
            let first = parts.len();
            let (mut over, mut length) = (0, plan.added());
            for ((place, text), &part) in plan.texts().enumerate().zip(choice) {
                over |= usize::from(part > 0) << place;
                length += cut[text][part].len();
                parts.push(cut[text][part].clone());
            }
            rows.push(Row { sample, over, first, length });
        };
        let counts: Vec<usize> = plan.texts().map(|text| cut[text].len()).collect();
        put(&vec![0; counts.len()]);
        if framing.overflow && counts.iter().any(|&count| count > 1) {
            parts::choices(&counts).iter().for_each(|choice| put(choice));
        }
        Ok(())
    }

    /// Where each row begins, and the end.
    pub fn bounds(&self) -> Vec<i64> {
        let widths = self.rows.iter().map(|row| row.length.max(self.padded) as i64);
        let mut end = 0;
        let ends = widths.map(|width| {
            end += width;
            end
        });
        [0].into_iter().chain(ends).collect()
    }

    /// The text that each row is of.
    pub fn samples(&self) -> Vec<i64> {
        self.rows.iter().map(|row| row.sample as i64).collect()
    }

    /// The tokens of each row, padding left out.
    pub fn lengths(&self) -> Vec<i64> {
        self.rows.iter().map(|row| row.length as i64).collect()
    }

    /// How many parts each text and each pair has, one after the other.
    pub fn counts(&self) -> Vec<i64> {
        self.counts.iter().flatten().map(|&count| count as i64).collect()
    }
}
