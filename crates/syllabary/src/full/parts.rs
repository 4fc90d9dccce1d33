//! Texts cut into parts, so that rows are not too long.
//!
//! Leaves out: which error it is when that cannot be; the specification says so.

use std::ops::Range;

/// Right or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where text ends.
    Right,
    /// Where it begins.
    Left,
}

/// Which text of a pair is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The longer one, then both.
    LongestFirst,
    /// This one: 0 is the text, 1 its pair.
    Only(usize),
}

/// How texts are cut.
#[derive(Clone, Copy, Debug)]
pub struct Truncation {
    /// The most tokens of a row, special ones counted.
    pub max_length: usize,
    /// Tokens that a part shares with the one before it.
    pub stride: usize,
    /// Which text is cut.
    pub strategy: Strategy,
    /// Where tokens are cut off.
    pub side: Side,
}

/// The parts of a text and of its pair.
type Parts = [Vec<Range<usize>>; 2];

impl Truncation {
    /// The parts of a text and its pair beside which `added` tokens stand; their lengths, if that cannot be.
    pub(super) fn cut(
        &self,
        texts: &[Option<Range<usize>>; 2],
        added: usize,
    ) -> Result<Parts, [Option<usize>; 2]> {
        let lengths = [0, 1].map(|text| texts[text].as_ref().map(Range::len));
        let kept = self.kept(lengths, added).ok_or(lengths)?;
        let mut parts = Parts::default();
        for ((text, kept), parts) in texts.iter().zip(kept).zip(&mut parts) {
            if let Some(text) = text {
                *parts = self.parts(text.clone(), kept).ok_or(lengths)?;
            }
        }
        Ok(parts)
    }

    /// How many tokens of each may stay.
    fn kept(&self, lengths: [Option<usize>; 2], added: usize) -> Option<[usize; 2]> {
        let room = self.max_length.checked_sub(added)?;
        let [first, second] = lengths.map(Option::unwrap_or_default);
        let Some(over) = (first + second).checked_sub(room).filter(|&over| over > 0) else {
            return Some([first, second]);
        };
        if room == 0 {
            return Some([0, 0]);
        }
        match self.strategy {
            Strategy::Only(text) => {
                let mut kept = [first, second];
                lengths[text]?;
                kept[text] = kept[text].checked_sub(over).filter(|&left| left > 0)?;
                Some(kept)
            }
            Strategy::LongestFirst if lengths[1].is_none() => Some([room, 0]),
            Strategy::LongestFirst => {
                let mut short = first.min(second);
                let mut long = if short > room { short } else { short.max(room - short) };
                if short + long > room {
                    short = room / 2;
                    long = room - short;
                }
                Some(if first > second { [long, short] } else { [short, long] })
            }
        }
    }

    /// The parts of at most `kept` tokens of a text.
    fn parts(&self, text: Range<usize>, kept: usize) -> Option<Vec<Range<usize>>> {
        let length = text.len();
        if kept >= length {
            return Some(vec![text]);
        }
        if kept == 0 {
            return Some(vec![text.start..text.start, text]);
        }
        if self.stride >= kept {
            return None;
        }
        let step = kept - self.stride;
        let count = (length - self.stride).div_ceil(step);
        let part = |number: usize| match self.side {
            Side::Right => {
                let start = text.start + number * step;
                start..(start + kept).min(text.end)
            }
            Side::Left => {
                let end = text.end - number * step;
                end.saturating_sub(kept).max(text.start)..end
            }
        };
        Some((0..count).map(part).collect())
    }
}

/// Every choice of a part of each text, but the first of all, in the order of the specification (`encoding.joined`).
pub(super) fn choices(counts: &[usize]) -> Vec<Vec<usize>> {
    let mut over: Vec<Vec<usize>> = Vec::new();
    for (place, &count) in counts.iter().enumerate() {
        let with = |choice: &[usize], part: usize| [choice, &[part]].concat();
        let mut next: Vec<Vec<usize>> =
            over.iter().flat_map(|choice| (0..count).map(move |part| with(choice, part))).collect();
        next.extend((1..count).map(|part| with(&vec![0; place], part)));
        over = next;
    }
    over
}
