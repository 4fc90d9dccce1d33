//! The fields of rows, each as one array.

use std::ops::Range;

use super::{Item, Padding, Plan, Row, Rows, Side};
use crate::pages;

/// A field of all tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Their ids.
    Ids,
    /// Which part of a pair, as the plan says.
    TypeIds,
    /// 0 for padding.
    AttentionMask,
    /// 1 for what is no text.
    SpecialTokensMask,
    /// The piece or word; -1 for none.
    WordIds,
    /// The text; -1 for none.
    SequenceIds,
    /// The item of the plan: -1 for the text, -2 for its pair, -3 for padding.
    Items,
}

impl Field {
    /// What padding has here, whose sequence id is `label`.
    fn of(self, padding: &Padding, label: i64) -> i64 {
        match self {
            Field::Ids => i64::from(padding.id),
            Field::TypeIds => i64::from(padding.type_id),
            Field::AttentionMask => 0,
            Field::SpecialTokensMask => 1,
            Field::WordIds => -1,
            Field::SequenceIds => label,
            Field::Items => -3,
        }
    }
}

impl Rows {
    /// A field of all rows, one after the other.
    pub fn field(&self, field: Field) -> Vec<i64> {
        let mut out = pages::with_capacity(self.rows.iter().map(|row| row.length.max(self.padded)).sum());
        for row in &self.rows {
            let Some(plan) = self.plan(row) else { continue };
            let labels = &plan.labels[row.over];
            let fill = |padding: &Padding| field.of(padding, labels[plan.items.len()]);
            self.padding(row, Side::Left, &mut out, fill);
            let mut part = row.first;
            for (number, item) in plan.items.iter().enumerate() {
                match *item {
                    Item::Special { id, type_id } => out.push(match field {
                        Field::Ids => i64::from(id),
                        Field::TypeIds => i64::from(type_id),
                        Field::AttentionMask | Field::SpecialTokensMask => 1,
                        Field::WordIds => -1,
                        Field::SequenceIds => labels[number],
                        Field::Items => number as i64,
                    }),
                    Item::Text { text, type_ids } => {
                        let tokens = self.parts[part].clone();
                        let over = row.over >> (part - row.first) & 1;
                        part += 1;
                        let value = match field {
                            Field::Ids => {
                                out.extend(self.located.ids[tokens].iter().map(|&id| i64::from(id)));
                                continue;
                            }
                            Field::WordIds => {
                                out.extend(self.located.words[tokens].iter().map(|&word| i64::from(word)));
                                continue;
                            }
                            Field::TypeIds => i64::from(type_ids[over]),
                            Field::AttentionMask => 1,
                            Field::SpecialTokensMask => 0,
                            Field::SequenceIds => labels[number],
                            Field::Items => -1 - text as i64,
                        };
                        out.resize(out.len() + tokens.len(), value);
                    }
                }
            }
            self.padding(row, Side::Right, &mut out, fill);
        }
        out
    }

    /// The spans of all rows, start and end in turn; those of special tokens and padding are 0. `ends`: how many
    /// characters of white space a token begins and ends with, by its id, which are taken off as the plan says;
    /// `None`: they stay.
    pub fn spans(&self, ends: Option<&dyn Fn(u32) -> [u32; 2]>) -> Vec<i64> {
        let mut out =
            pages::with_capacity(2 * self.rows.iter().map(|row| row.length.max(self.padded)).sum::<usize>());
        for row in &self.rows {
            let Some(plan) = self.plan(row) else { continue };
            let fill = |_: &Padding| 0;
            self.padding(row, Side::Left, &mut out, fill);
            self.padding(row, Side::Left, &mut out, fill);
            let mut part = row.first;
            for item in &plan.items {
                match *item {
                    Item::Special { .. } => out.extend([0, 0]),
                    Item::Text { text, .. } => {
                        let tokens = self.parts[part].clone();
                        part += 1;
                        match ends.filter(|_| !plan.trims.is_empty()) {
                            Some(ends) => self.trimmed((tokens, text), plan, ends, &mut out),
                            None => out.extend(
                                self.located.spans[tokens].as_flattened().iter().map(|&at| i64::from(at)),
                            ),
                        }
                    }
                }
            }
            self.padding(row, Side::Right, &mut out, fill);
            self.padding(row, Side::Right, &mut out, fill);
        }
        out
    }

    /// Where tokens stand among those of all rows that are spelled as what they were found as, and as what.
    pub fn spelled(&self) -> Vec<(usize, &str)> {
        let found = &self.located.found;
        let (mut out, mut at) = (Vec::new(), 0);
        if found.is_empty() {
            return out;
        }
        for row in &self.rows {
            let Some(plan) = self.plan(row) else { continue };
            let filled = |side| {
                let padding = self.framing.padding.as_ref().filter(|padding| padding.side == side);
                padding.map_or(0, |_| self.padded.saturating_sub(row.length))
            };
            at += filled(Side::Left);
            let mut part = row.first;
            for item in &plan.items {
                let Item::Text { .. } = item else {
                    at += 1;
                    continue;
                };
                let tokens = self.parts[part].clone();
                part += 1;
                let first = found.partition_point(|&(place, _)| place < tokens.start);
                let here = found[first..].iter().take_while(|&&(place, _)| place < tokens.end);
                out.extend(here.map(|(place, text)| (at + place - tokens.start, &**text)));
                at += tokens.len();
            }
            at += filled(Side::Right);
        }
        out
    }

    /// The spans of a part without white space. Source: tokenizers, `pre_tokenizers/byte_level.rs`,
    /// `process_offsets`.
    fn trimmed(
        &self,
        (tokens, text): (Range<usize>, usize),
        plan: &Plan,
        ends: &dyn Fn(u32) -> [u32; 2],
        out: &mut Vec<i64>,
    ) {
        let located = &self.located;
        for (index, token) in tokens.enumerate() {
            let ([mut start, mut end], [before, after]) = (located.spans[token], ends(located.ids[token]));
            for &(added, firsts) in &plan.trims {
                let is_first = (index == 0 && firsts[text]) || start == 0;
                let before = if before == 1 && added && is_first { 0 } else { before };
                start = (start + before).min(end);
                if end >= after {
                    end = (end - after).max(start);
                }
            }
            out.extend([i64::from(start), i64::from(end)]);
        }
    }

    fn plan(&self, row: &Row) -> Option<&Plan> {
        self.framing.plans[usize::from(self.pairs[row.sample])].as_ref()
    }

    /// Fills up a row if padding is on this side of it.
    fn padding(&self, row: &Row, side: Side, out: &mut Vec<i64>, fill: impl Fn(&Padding) -> i64) {
        if let Some(padding) = self.framing.padding.as_ref().filter(|padding| padding.side == side) {
            out.resize(out.len() + self.padded.saturating_sub(row.length), fill(padding));
        }
    }
}
