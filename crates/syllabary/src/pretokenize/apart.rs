//! Where steps surely cut, told by two characters alone.
//!
//! ```text
//! Punctuation, GPT-2's pattern, Digits:  so|  be it     the second step cuts between `o` and a space, and the first one
//!                                                       makes nothing else of halves than of the whole
//! ```
//!
//! Adds: `Pretokenizer::cuts`. Leaves out what a split by a pattern says of it (`split`), and steps that look
//! further: those that join matches of patterns to their neighbours, count characters, or ask for scripts.

use super::{Behavior, Finder, Kind, Prepend, Pretokenizer, What};
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
            (before, after) = step.written(before, after);
        }
        last.can_cut(before, after)
    }

    /// Whether what begins as the text given does is not what it is elsewhere.
    pub(crate) fn asks_where(&self) -> bool {
        let asks = |step: &Kind| matches!(step, Kind::Metaspace { prepend: Prepend::First, .. });
        self.steps.iter().any(asks)
    }
}

impl Kind {
    fn halves(&self, before: char, after: char) -> Halves {
        match self {
            Kind::Cut {
                what,
                behavior: behavior @ (Behavior::MergedWithNext | Behavior::MergedWithPrevious),
                invert,
            } => what.merged(*behavior == Behavior::MergedWithNext, *invert, (before, after)),
            Kind::Cut { what, behavior, .. } => what.halves(*behavior, before, after),
            Kind::Bytes(_) => Halves::Apart,
            // What begins with a space, or a mark, gets none.
            Kind::PrefixSpace => Halves::apart(after == ' ', false),
            Kind::Metaspace { replacement, prepend } => {
                Halves::apart(*prepend == Prepend::Never || [' ', *replacement].contains(&after), false)
            }
            Kind::Scripts(_) | Kind::Length(_) => Halves::Together,
        }
    }

    /// What stands beside each other where these did: of two characters that are rewritten the last and the first one.
    fn written(&self, before: char, after: char) -> (char, char) {
        match self {
            Kind::Bytes(table) => {
                let byte = |c: char, at: fn(&[u8]) -> Option<&u8>| {
                    at(c.encode_utf8(&mut [0; 4]).as_bytes()).map_or(c, |&byte| table[usize::from(byte)])
                };
                (byte(before, <[u8]>::last), byte(after, <[u8]>::first))
            }
            Kind::Metaspace { replacement, .. } => {
                let mark = |c| if c == ' ' { *replacement } else { c };
                (mark(before), mark(after))
            }
            _ => (before, after),
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
            _ => (true, self.is_match(before) == Some(true) || self.is_match(after) == Some(true)),
        };
        match behavior {
            Behavior::Isolated | Behavior::Removed => Halves::apart(is_apart, is_edge),
            Behavior::Contiguous => Halves::apart(is_apart, self.is_change(before, after)),
            Behavior::MergedWithPrevious | Behavior::MergedWithNext => Halves::Together,
        }
    }

    /// The same of matches that are joined to what follows them (`next`), and so always begin a part, or to what is before
    /// them, and so always end one.
    fn merged(&self, next: bool, invert: bool, (before, after): (char, char)) -> Halves {
        let edge = if next { self.is_match(after) } else { self.is_match(before) };
        edge.filter(|_| !invert).map_or(Halves::Together, |is_edge| Halves::apart(true, is_edge))
    }

    /// Whether a character is a match, if matches are characters.
    fn is_match(&self, c: char) -> Option<bool> {
        match self {
            What::Finder(Finder::Char(wanted)) => Some(c == *wanted),
            What::Class(class) => Some(class.has(c)),
            What::Finder(Finder::Pattern(_) | Finder::Text(_)) => None,
        }
    }

    /// Whether one of two neighbours surely is a match and the other one is none.
    fn is_change(&self, before: char, after: char) -> bool {
        self.is_match(before) != self.is_match(after)
    }
}
