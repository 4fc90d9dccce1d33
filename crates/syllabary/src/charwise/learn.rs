//! New segments of those that were looked up together, merged side by side.
//!
//! Leaves out segments of one symbol or of many, and the order in which all comes out (`gather`, `wordwise`).

use super::{Charwise, How, memory::Memory, work::Work};
use crate::encode::{Key, LONG_FAR, Lasts, Listed, Several, Strings, merge_all};

/// Fewer are merged one by one.
const FEWEST: usize = 3;

/// Where a segment is in the text, and its key and hash, if it is short.
type Segment = ((usize, usize), Option<(Key, u64)>);

/// New segments: their symbols, and what they are.
#[derive(Debug, Default)]
pub(crate) struct New {
    strings: Strings,
    segments: Vec<Segment>,
    symbols: Vec<u32>,
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
    /// Remembers what those of `missed` become that are not remembered elsewhere; `spell` adds the symbols of one, and says whether
    /// they are all.
    pub(crate) fn learn(
        &mut self,
        (text, several, missed): (&str, &Several, usize),
        memory: &mut Memory,
        list: Listed<'_>,
        mut spell: impl FnMut(&str, &mut Vec<u32>) -> bool,
    ) {
        if missed < FEWEST {
            return;
        }
        let New { strings, segments, symbols } = self;
        strings.clear();
        segments.clear();
        let mut lasts = Lasts::new();
        for (range, short, _) in (0..missed).map(|number| several.missed(number)) {
            let segment = &text[range.clone()];
            if memory.elsewhere((segment.as_bytes(), short), false, &mut [0; LONG_FAR]).is_some() {
                continue;
            }
            let mixed =
                || segment.bytes().fold(0, |mix: u32, byte| mix.wrapping_mul(31).wrapping_add(byte.into()));
            let hash = short.map_or_else(mixed, |(_, hash)| hash as u32);
            let is_same = |last: usize| {
                let (from, to) = segments[last].0;
                text[from..to] == *segment
            };
            if lasts.get(hash).is_some_and(is_same) {
                continue;
            }
            symbols.clear();
            if spell(segment, symbols) && (2..=Strings::MOST).contains(&symbols.len()) {
                strings.push(symbols);
                lasts.set(hash, segments.len());
                segments.push(((range.start, range.end), short));
            }
        }
        if segments.len() < FEWEST {
            return;
        }
        merge_all(strings, list, &mut |number, ids| {
            let ((from, to), short) = segments[number];
            let segment = &text.as_bytes()[from..to];
            if memory.elsewhere((segment, short), false, &mut [0; LONG_FAR]).is_some() {
                return;
            }
            match short {
                Some((key, hash)) => memory.put_short(key, hash, ids),
                None => memory.put(segment, ids, false),
            }
        });
    }
}
