//! sentencepiece's own normalizer.
//!
//! Adds: rules of a character map, whitespace removed and shown as `▁`, tokens that are left alone. Leaves out: how
//! the map is stored (`charsmap`).
//!
//! Source of the rules: sentencepiece 0.2.3, `normalizer.cc`, `Normalize` and `NormalizePrefix`. Its alignment has
//! one place in the original for each byte, and a span ends where the next one begins; so has this.

use super::{Frozen, calm::Reached, charsmap::Charsmap, too_large};
use crate::{
    aligned::{Aligned, Span},
    asking::Ask,
    error::Error,
    step::Step,
};

const REPLACEMENT: &str = "\u{FFFD}";

/// The step, ready to run.
pub(crate) struct SentencePiece {
    map: Charsmap,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    treat_whitespace_as_suffix: bool,
    space: &'static str,
}

/// What was written, and for each byte where in the text read it comes from.
struct Output {
    text: String,
    places: Option<Vec<u32>>,
    /// Bytes written that come from before byte `zero` of the text read.
    at_zero: usize,
    zero: usize,
    ask: Ask,
    /// Turns of the loop that writes.
    turns: u32,
}

/// Turns between two questions whether to go on.
const OFTEN: u32 = 1 << 12;
/// Characters likewise, where each is little work.
const MANY: usize = 1 << 16;

impl Output {
    /// Whether to go on; asked once in a while.
    #[inline]
    fn asked(&mut self) -> Result<(), Error> {
        self.turns = self.turns.wrapping_add(1);
        if self.turns.is_multiple_of(OFTEN) { self.ask.check() } else { Ok(()) }
    }

    fn push(&mut self, text: &str, place: usize) {
        self.text.push_str(text);
        if let Some(places) = &mut self.places {
            // A tracked text is shorter than 4 GiB; see `apply`.
            places.resize(self.text.len(), place as u32);
        }
        if place < self.zero {
            self.at_zero = self.text.len();
        }
    }
}

impl SentencePiece {
    pub(crate) fn new(step: &Step) -> Result<SentencePiece, Error> {
        Ok(SentencePiece {
            map: Charsmap::new(step.bytes("precompiled_charsmap")?)?,
            add_dummy_prefix: step.flag("add_dummy_prefix")?,
            remove_extra_whitespaces: step.flag("remove_extra_whitespaces")?,
            treat_whitespace_as_suffix: step.flag("treat_whitespace_as_suffix")?,
            space: if step.flag("escape_whitespaces")? { "▁" } else { " " },
        })
    }

    /// Only the rules of this map, nothing about whitespace: sentencepiece's denormalizer.
    pub(crate) fn only_rules(charsmap: &[u8]) -> Result<SentencePiece, Error> {
        Ok(SentencePiece {
            map: Charsmap::new(charsmap)?,
            add_dummy_prefix: false,
            remove_extra_whitespaces: false,
            treat_whitespace_as_suffix: false,
            space: " ",
        })
    }

    pub(crate) fn apply(&self, part: &Aligned, frozen: Option<Frozen<'_>>) -> Result<Aligned, Error> {
        let text = part.text();
        if part.is_tracked() && u32::try_from(text.len()).is_err() {
            return Err(too_large());
        }
        let mut out = Output {
            text: String::with_capacity(text.len() + text.len() / 4 + 8),
            places: part.is_tracked().then(Vec::new),
            at_zero: 0,
            zero: part.at_zero(),
            ask: part.ask().clone(),
            turns: 0,
        };
        let end = self.run(text, frozen, self.space, &mut out)?;
        finish(part, out, end)
    }

    /// Writes what becomes of `text` behind what `out` holds, without alignment and without frozen tokens. `spaced`:
    /// with spaces where marks would be.
    pub(crate) fn write_plain(&self, text: &str, spaced: bool, out: &mut String) -> Result<(), Error> {
        let mut output = Output {
            text: std::mem::take(out),
            places: None,
            at_zero: 0,
            zero: 0,
            ask: Ask::default(),
            turns: 0,
        };
        let space = if spaced { " " } else { self.space };
        let result = self.run(text, None, space, &mut output);
        *out = output.text;
        result.map(drop)
    }

    /// Writes all of `text`; returns the place after the last byte written.
    fn run(
        &self,
        text: &str,
        frozen: Option<Frozen<'_>>,
        space: &str,
        out: &mut Output,
    ) -> Result<usize, Error> {
        let limit = super::limit(text.len());
        let mut at = if self.remove_extra_whitespaces { self.leading(text, frozen) } else { 0 };
        if at == text.len() {
            return Ok(at);
        }
        if self.add_dummy_prefix && !self.treat_whitespace_as_suffix {
            out.push(space, at);
        }
        let copies = frozen.is_none() && out.places.is_none() && at >= out.zero && space == " ";
        let mut after_space = self.remove_extra_whitespaces;
        while at < text.len() {
            out.asked()?;
            if copies && text.is_char_boundary(at) {
                let (from, squeezes) = (Reached { at, after_space }, self.remove_extra_whitespaces);
                let longest = |text: &[u8]| self.map.longest(text);
                let reached = self.map.calm.write(text, from, (squeezes, limit), &longest, &mut out.text);
                let reached = reached.ok_or_else(too_large)?;
                if reached.at > at {
                    Reached { at, after_space } = reached;
                    continue;
                }
            }
            if frozen.is_none() {
                let run = if text.is_char_boundary(at) { self.map.unchanged(text, at) } else { at };
                if run > at {
                    copy(&text[at..run], at, out);
                    after_space = false;
                    at = run;
                    continue;
                }
            }
            if self.is_bare_space(text.as_bytes(), at, frozen) {
                if !after_space {
                    out.push(space, at);
                }
                after_space = self.remove_extra_whitespaces;
                at += 1;
                continue;
            }
            let (mut rest, consumed) = self.prefix(text, at, frozen);
            if after_space {
                rest = rest.trim_start_matches(' ');
            }
            if !rest.is_empty() {
                self.write(rest, at, space, out);
                after_space = self.remove_extra_whitespaces && rest.ends_with(' ');
            }
            if out.text.len() > limit {
                return Err(too_large());
            }
            at += consumed;
        }
        if self.remove_extra_whitespaces {
            at = self.trim(out, at);
        }
        if self.add_dummy_prefix && self.treat_whitespace_as_suffix {
            out.push(space, at);
        }
        Ok(at)
    }

    /// Whether a space stands at `at` that is nothing more.
    fn is_bare_space(&self, bytes: &[u8], at: usize, frozen: Option<Frozen<'_>>) -> bool {
        bytes[at] == b' ' && frozen.is_none() && (self.map.is_empty() || !self.map.begins_rule(&bytes[at..]))
    }

    /// Where the text begins after leading whitespace.
    fn leading(&self, text: &str, frozen: Option<Frozen<'_>>) -> usize {
        let mut at = 0;
        while at < text.len() {
            let (prefix, consumed) = self.prefix(text, at, frozen);
            if prefix != " " {
                break;
            }
            at += consumed;
        }
        at
    }

    /// Whether `text`, without spaces, stays as it is but for a space before it.
    pub(crate) fn keeps(&self, text: &str) -> bool {
        self.map.unchanged(text, 0) == text.len()
    }

    /// What the beginning of `text[at..]` becomes, and how many bytes that is.
    fn prefix<'t>(&'t self, text: &'t str, at: usize, frozen: Option<Frozen<'_>>) -> (&'t str, usize) {
        let Some(rest) = text.get(at..) else {
            // Rules end with characters, so this cannot be.
            return (REPLACEMENT, 1);
        };
        if let Some(frozen) = frozen {
            let length = frozen(rest);
            if length > 0 && rest.is_char_boundary(length) {
                return (&rest[..length], length);
            }
        }
        match self.map.longest(rest.as_bytes()) {
            Some((length, rule)) => (rule, length),
            None => {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                (&rest[..length], length)
            }
        }
    }

    fn write(&self, text: &str, place: usize, space: &str, out: &mut Output) {
        if !text.as_bytes().contains(&b' ') {
            return out.push(text, place);
        }
        let mut words = text.split(' ');
        out.push(words.next().unwrap_or(""), place);
        for word in words {
            out.push(space, place);
            out.push(word, place);
        }
    }

    /// Takes trailing whitespace away; returns the place after the last byte left.
    fn trim(&self, out: &mut Output, end: usize) -> usize {
        // Spaces may stand where marks would.
        let is_space = |c: char| self.space.starts_with(c) || c == ' ';
        let kept = out.text.trim_end_matches(is_space).len();
        if kept == out.text.len() {
            return end;
        }
        out.text.truncate(kept);
        let before_zero = out.at_zero > kept;
        out.at_zero = out.at_zero.min(kept);
        let Some(places) = &mut out.places else {
            // Without spans it only matters whether the place is before `zero`.
            return if before_zero { 0 } else { end.max(out.zero) };
        };
        let place = places.get(kept).map_or(end, |place| *place as usize);
        places.truncate(kept);
        place
    }
}

/// Writes text that stays as it is, each character at its own place.
fn copy(text: &str, at: usize, out: &mut Output) {
    if out.places.is_none() && at >= out.zero {
        out.text.push_str(text);
        return;
    }
    let mut buffer = [0; 4];
    for (offset, c) in text.char_indices() {
        out.push(c.encode_utf8(&mut buffer), at + offset);
    }
}

/// The text written with the spans of the original: a character ends where the next begins.
fn finish(part: &Aligned, out: Output, end: usize) -> Result<Aligned, Error> {
    let mut spans = None;
    if let Some(places) = &out.places {
        let originals = part.spans().unwrap_or(&[]);
        let last = originals.last().map_or(0, |span| span.1);
        let original = |place: usize| originals.get(place).map_or(last, |span: &Span| span.0);
        let mut made = Vec::with_capacity(places.len());
        let mut chars = out.text.char_indices().peekable();
        while chars.peek().is_some() {
            out.ask.check()?;
            for _ in 0..MANY {
                let Some((at, c)) = chars.next() else { break };
                let next = chars.peek().map_or(end, |(next, _)| places[*next] as usize);
                made.resize(made.len() + c.len_utf8(), (original(places[at] as usize), original(next)));
            }
        }
        spans = Some(made);
    }
    Ok(Aligned::from_parts(out.text, spans, out.at_zero, out.ask))
}
