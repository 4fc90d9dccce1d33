//! Finding a text or a pattern in text, and replacing it.
//!
//! Adds: `Finder`, used by the steps `Replace` (normalizer and decoder) and `Split`, and the step `Replace`.
//! Leaves out: what patterns mean (`split`); those that could match the empty string are refused there.

use super::{limit, too_large};
use crate::{
    aligned::{Aligned, Rewriter},
    error::Error,
    split::{Split, Tables},
    step::Step,
};

/// What is looked for.
pub(crate) enum Finder {
    Char(char),
    Text(String),
    Pattern(Box<Split>),
}

impl Finder {
    /// The finder of the options `pattern` and `regex`.
    pub(crate) fn new(step: &Step) -> Result<Finder, Error> {
        let pattern = step.text("pattern")?;
        if step.flag("regex")? {
            return Finder::pattern(pattern, Tables::Onig);
        }
        let mut chars = pattern.chars();
        match (chars.next(), chars.next()) {
            (None, _) => Err(Error::Pattern {
                pattern: String::new(),
                reason: "it is found everywhere; let it have at least one character".to_owned(),
            }),
            (Some(c), None) => Ok(Finder::Char(c)),
            _ => Ok(Finder::Text(pattern.to_owned())),
        }
    }

    /// The finder of a pattern with the character classes of `tables`.
    pub(crate) fn pattern(pattern: &str, tables: Tables) -> Result<Finder, Error> {
        Ok(Finder::Pattern(Box::new(Split::new(Some(pattern), tables, false)?)))
    }

    /// Calls `each` with start and end of every match, in order.
    pub(crate) fn find(&self, text: &str, each: &mut impl FnMut(usize, usize)) -> Result<(), Error> {
        match self {
            Finder::Char(wanted) => {
                text.match_indices(*wanted).for_each(|(start, found)| each(start, start + found.len()));
                Ok(())
            }
            Finder::Text(wanted) => {
                text.match_indices(wanted.as_str())
                    .for_each(|(start, found)| each(start, start + found.len()));
                Ok(())
            }
            Finder::Pattern(split) => split.pieces(text, &mut |piece| {
                // Pieces are parts of the text.
                let start = piece.as_ptr() as usize - text.as_ptr() as usize;
                each(start, start + piece.len());
            }),
        }
    }

    /// `text` with `content` for every match; `None` if there is none.
    pub(crate) fn replace_in(&self, text: &str, content: &str) -> Result<Option<String>, Error> {
        let limit = limit(text.len());
        let mut out = String::new();
        let mut at = None;
        self.find(text, &mut |start, end| {
            if out.len() <= limit {
                out.push_str(&text[at.unwrap_or(0)..start]);
                out.push_str(content);
            }
            at = Some(end);
        })?;
        if out.len() > limit {
            return Err(too_large());
        }
        Ok(at.map(|at| {
            out.push_str(&text[at..]);
            out
        }))
    }
}

/// `part` with `content` for every match; `None` if there is none.
pub(super) fn apply(finder: &Finder, content: &str, part: &Aligned) -> Result<Option<Aligned>, Error> {
    let text = part.text();
    let limit = limit(text.len());
    let mut out: Option<Rewriter<'_>> = None;
    let mut too_long = false;
    finder.find(text, &mut |start, end| {
        let out = out.get_or_insert_with(|| Rewriter::new(part));
        too_long |= out.written() > limit;
        if !too_long && !out.is_stopped() {
            out.copy(start);
            out.skip(end - start);
            out.insert_text(content);
        }
    })?;
    if too_long {
        return Err(too_large());
    }
    Ok(out.map(|mut out| {
        out.copy(text.len());
        out.finish()
    }))
}
