//! Where steps surely cut, told by two characters alone.
//!
//! ```text
//! Punctuation, GPT-2's pattern, Digits:  so|  be it     the second step cuts between `o` and a space, and the first one
//!                                                       makes nothing else of halves than of the whole
//! ```
//!
//! Adds: `Pretokenizer::cuts`. Leaves out what a split by a pattern says of it (`split`), and steps that look
//! further: those that join matches to their neighbours, count characters, or ask for scripts or the beginning of the text.

use super::{Behavior, Finder, Kind, Pretokenizer, What};
use crate::split::Split;

/// What a step makes of the two halves of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halves {
    /// What it makes of the whole, which it cuts there.
    Cut,
    /// The same, but that the whole may have one part where the halves have two.
    Apart,
    /// Perhaps something else.
    Together,
}

impl Halves {
    fn apart(is_apart: bool, is_cut: bool) -> Halves {
        match (is_apart, is_cut) {
            (false, _) => Halves::Together,
            (true, false) => Halves::Apart,
            (true, true) => Halves::Cut,
        }
    }
}

impl Pretokenizer {
    /// Whether the steps, and `last` behind them, cut every text between these characters so that its halves, each alone,
    /// have the parts of the whole. So it is where one cuts there and those before do not mind: what comes later
    /// has two parts before it.
    pub(crate) fn cuts(&self, last: &Split, before: char, after: char) -> bool {
        let (mut before, mut after) = (before, after);
        for step in &self.steps {
            match step.halves(before, after) {
                Halves::Cut => return true,
                Halves::Together => return false,
                Halves::Apart => {}
            }
            if let Kind::Bytes(table) = step {
                // The last byte of one stands beside the first of the other.
                let byte = |c: char, at: fn(&[u8]) -> Option<&u8>| {
                    at(c.encode_utf8(&mut [0; 4]).as_bytes()).map_or(c, |&byte| table[usize::from(byte)])
                };
                (before, after) = (byte(before, <[u8]>::last), byte(after, <[u8]>::first));
            }
        }
        last.can_cut(before, after)
    }
}

impl Kind {
    fn halves(&self, before: char, after: char) -> Halves {
        match self {
            Kind::Cut { what, behavior, .. } => what.halves(*behavior, before, after),
            Kind::Bytes(_) => Halves::Apart,
            // What begins with a space gets none.
            Kind::PrefixSpace => Halves::apart(after == ' ', false),
            Kind::Scripts(_) | Kind::Length(_) | Kind::Metaspace { .. } => Halves::Together,
        }
    }
}

impl What {
    fn halves(&self, behavior: Behavior, before: char, after: char) -> Halves {
        let (is_apart, is_edge) = match self {
            What::Finder(Finder::Pattern(split)) => {
                (split.is_apart(before, after), split.can_cut(before, after))
            }
            What::Finder(Finder::Text(text)) => {
                let mut pairs = text.chars().zip(text.chars().skip(1));
                (!pairs.any(|pair| pair == (before, after)), false)
            }
            What::Finder(Finder::Char(wanted)) | What::Char(wanted) => {
                (true, before == *wanted || after == *wanted)
            }
            What::Class(class) => (true, class.has(before) || class.has(after)),
        };
        match behavior {
            Behavior::Isolated | Behavior::Removed => Halves::apart(is_apart, is_edge),
            Behavior::Contiguous => Halves::apart(is_apart, self.is_change(before, after)),
            Behavior::MergedWithPrevious | Behavior::MergedWithNext => Halves::Together,
        }
    }

    /// Whether one of two neighbours surely is in a match and the other one is not.
    fn is_change(&self, before: char, after: char) -> bool {
        match self {
            What::Finder(Finder::Char(wanted)) | What::Char(wanted) => {
                (before == *wanted) != (after == *wanted)
            }
            What::Class(class) => class.has(before) != class.has(after),
            What::Finder(Finder::Pattern(_) | Finder::Text(_)) => false,
        }
    }
}
