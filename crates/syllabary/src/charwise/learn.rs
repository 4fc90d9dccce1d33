//! New segments of those that were looked up together, merged side by side.
//!
//! Leaves out segments of one symbol or of many, and the order in which all comes out (`gather`, `wordwise`).

use super::{Charwise, How, memory::Memory, work::Work};
use crate::encode::{Key, LONG_FAR, Lasts, Listed, Several, Strings, merge_all};

/// Fewer are merged one by one.
const FEWEST: usize = 3;

/// Where a segment is in the text, its key and hash, if it is short, and which of those known by now it is.
type Segment = ((usize, usize), Option<(Key, u64)>, usize);

/// New segments: their symbols, and what they are.
#[derive(Debug, Default)]
pub(crate) struct New {
    strings: Strings,
    segments: Vec<Segment>,
    symbols: Vec<u32>,
    known: Known,
}

/// Those of the segments that were missed whose ids are known by now.
#[derive(Debug, Default)]
struct Known {
    ids: Vec<u32>,
    /// Where the ids of each begin and end; they have none as long as they are not merged.
    spans: Vec<(usize, usize)>,
    /// Of each that was missed, which of these it is, counted from 1.
    which: Vec<usize>,
}

impl Known {
    fn clear(&mut self) {
        self.ids.clear();
        self.spans.clear();
        self.which.clear();
    }

    /// Sets the ids of one.
    #[inline]
    fn set(&mut self, which: usize, ids: &[u32]) {
        let start = self.ids.len();
        self.ids.extend_from_slice(ids);
        self.spans[which] = (start, self.ids.len());
    }
}

impl Charwise {
    /// Remembers what those of `missed` become that are not remembered elsewhere.
    pub(super) fn learn_many(&self, text: &str, missed: usize, work: &mut Work) {
        if let How::Merge(pairs) = &self.how {
            let Work { several, memory, new, .. } = work;
            let spell = |segment: &str, symbols: &mut Vec<u32>| {
                symbols.extend(segment.chars().map(|char| self.letters.get(char).id()));
                true
            };
            new.learn((text, several, missed), memory, pairs.listed(), spell);
        }
    }
}

impl New {
    /// The ids of a segment that was missed, if they are known by now, with others behind them; how many they are.
    #[inline]
    pub(crate) fn ids(&self, number: usize) -> Option<(&[u32], usize)> {
        let which = self.known.which.get(number)?.checked_sub(1)?;
        let (start, end) = self.known.spans[which];
        (start < end).then(|| (&self.known.ids[start..], end - start))
    }

    /// Remembers what those of `missed` become that are not remembered elsewhere; `spell` adds the symbols of one, and says whether
    /// they are all.
    pub(crate) fn learn(
        &mut self,
        (text, several, missed): (&str, &Several, usize),
        memory: &mut Memory,
        list: Listed<'_>,
        mut spell: impl FnMut(&str, &mut Vec<u32>) -> bool,
    ) {
        let New { strings, segments, symbols, known } = self;
        known.clear();
        if missed < FEWEST {
            return;
        }
        strings.clear();
        segments.clear();
        let mut lasts = Lasts::new();
        for number in 0..missed {
            let (range, short, _) = several.missed(number);
            let segment = &text[range.clone()];
            let which = known.spans.len();
            if let Some(ids) = memory.elsewhere((segment.as_bytes(), short), false, &mut [0; LONG_FAR]) {
                known.spans.push((0, 0));
                known.set(which, ids);
                known.which.push(which + 1);
                continue;
            }
            let mixed =
                || segment.bytes().fold(0, |mix: u32, byte| mix.wrapping_mul(31).wrapping_add(byte.into()));
            let hash = short.map_or_else(mixed, |(_, hash)| hash as u32);
            if let Some(last) = lasts.get(hash)
                && let ((from, to), _, which) = segments[last]
                && text[from..to] == *segment
            {
                known.which.push(which + 1);
                continue;
            }
            symbols.clear();
            if !spell(segment, symbols) || !(2..=Strings::MOST).contains(&symbols.len()) {
                known.which.push(0);
                continue;
            }
            strings.push(symbols);
            lasts.set(hash, segments.len());
            segments.push(((range.start, range.end), short, which));
            known.spans.push((0, 0));
            known.which.push(which + 1);
        }
        if segments.len() < FEWEST {
            return;
        }
        merge_all(strings, list, &mut |number, ids| {
            let ((from, to), short, which) = segments[number];
            let segment = &text.as_bytes()[from..to];
            known.set(which, ids);
            match short {
                Some((key, hash)) => memory.put_short(key, hash, ids),
                None => memory.put(segment, ids, false),
            }
        });
    }
}
