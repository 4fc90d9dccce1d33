//! The steps without alignment, for whoever wants the text alone: each writes what it makes anew, none notes places.
//!
//! Leaves out the steps that are rare in such tokenizers: these go with alignment (`Kind::apply`).

use std::sync::OnceLock;

use super::{Kind, Normalizer, limit, too_large};
use crate::{aligned::Aligned, asking::Ask, error::Error};

/// Longer texts go through BERT's steps with alignment, which ask meanwhile.
const LONG: usize = 1 << 20;

/// Characters of up to three bytes.
const NARROW: usize = 1 << 16;
/// In the table of lower case: several characters, or one of four bytes.
const OTHER: u16 = 0xFFFF;

impl Normalizer {
    /// Writes what all steps make of a text that begins at byte `base` of another behind `out`, without frozen tokens; asks
    /// now and then whether to go on.
    ///
    /// # Errors
    /// Those of `apply`.
    pub(crate) fn write_asking(
        &self,
        text: &str,
        base: usize,
        ask: &Ask,
        out: &mut String,
    ) -> Result<(), Error> {
        if let [Kind::Form(form)] = &self.steps[..] {
            return form.put(text, ask, out);
        }
        let (mut made, most): (Option<String>, _) = (None, limit(text.len()));
        for step in &self.steps {
            made = step.written(made.as_deref().unwrap_or(text), base, ask)?.or(made);
            ask.check()?;
            if made.as_ref().is_some_and(|made| made.len() > most) {
                return Err(too_large());
            }
        }
        out.push_str(made.as_deref().unwrap_or(text));
        Ok(())
    }
}

impl Kind {
    /// What the step makes of a text; `None` if it leaves it alone.
    fn written(&self, text: &str, base: usize, ask: &Ask) -> Result<Option<String>, Error> {
        let mut out = String::new();
        match self {
            Kind::Form(form) if form.is_sure(text) => return Ok(None),
            Kind::Form(form) => form.put(text, ask, &mut out)?,
            Kind::Lowercase => lowercase(text, &mut out),
            Kind::Bert(bert) if text.len() < LONG => bert.write(text, &mut out),
            Kind::Replace { finder, content } => return finder.replace_in(text, content),
            _ => {
                let part = Aligned::asking(text, base, false, ask.clone())?;
                return Ok(self.apply(&part, None)?.map(|made| made.text().to_owned()));
            }
        }
        Ok(Some(out))
    }
}

/// Writes every character in lower case.
pub(super) fn lowercase(text: &str, out: &mut String) {
    out.reserve(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let wide = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
        let (ascii, others) = rest.split_at(wide);
        let start = out.len();
        out.push_str(ascii);
        out[start..].make_ascii_lowercase();
        let end = others.bytes().position(|byte| byte.is_ascii()).unwrap_or(others.len());
        let (others, left) = others.split_at(end);
        others.chars().for_each(|c| push_lowercase(c, out));
        rest = left;
    }
}

/// Writes a character in lower case.
pub(super) fn push_lowercase(c: char, out: &mut String) {
    static TABLE: OnceLock<Box<[u16]>> = OnceLock::new();
    let lower = |c: u32| {
        let mut lower = char::from_u32(c)?.to_lowercase();
        let first = lower.next().filter(|_| lower.next().is_none())?;
        u16::try_from(u32::from(first)).ok()
    };
    let table = TABLE.get_or_init(|| (0..NARROW as u32).map(|c| lower(c).unwrap_or(OTHER)).collect());
    let found = table.get(c as usize).filter(|&&lower| lower != OTHER);
    match found.and_then(|&lower| char::from_u32(lower.into())) {
        Some(lower) => out.push(lower),
        None => out.extend(c.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        drawn::drawing,
        step::{Step, Value},
    };

    #[test]
    fn every_character_in_lower_case() {
        let all: String = ('\0'..=char::MAX).collect();
        let mut out = String::new();
        lowercase(&all, &mut out);
        assert!(out.chars().eq(all.chars().flat_map(char::to_lowercase)));
    }

    /// The same as with alignment: every step, and all one after the other.
    #[test]
    fn text_is_written_as_it_is_aligned() {
        let (on, off) = (Value::Bool(true), Value::Bool(false));
        let text = |text: &str| Value::Str(text.to_owned());
        let bert = |accents: &Value, lower: &Value| {
            let flags = [("clean_text", on.clone()), ("handle_chinese_chars", on.clone())];
            let more = [("strip_accents", accents.clone()), ("lowercase", lower.clone())];
            Step::of("Bert", &[flags, more].concat())
        };
        let spaces = [("pattern", text(r"\s+")), ("regex", on.clone()), ("content", text(" "))];
        let mut steps = vec![
            Step::of("NFC", &[]),
            Step::of("Replace", &spaces),
            Step::of("Lowercase", &[]),
            bert(&on, &on),
            bert(&off, &on),
            bert(&on, &off),
            bert(&off, &off),
            Step::of("StripAccents", &[]),
            Step::of("NFKD", &[]),
            Step::of("Nmt", &[]),
            Step::of("Strip", &[("strip_left", on.clone()), ("strip_right", on.clone())]),
            Step::of("Prepend", &[("prepend", text("▁"))]),
        ];
        let sets: Vec<Vec<Step>> = steps.iter().map(|step| vec![step.clone()]).collect();
        let mut draw = drawing(5);
        let chars: Vec<char> =
            "aÉé\u{301}\u{345}ΣςİıßǅΆᾳ字가각\u{11a8}ﬁＡ \t\n\u{a0}\u{200b}\0\u{fffd}\u{1d165}𐐀½…’"
                .chars()
                .collect();
        for steps in sets.into_iter().chain([std::mem::take(&mut steps)]) {
            let normalizer = Normalizer::new(&steps).unwrap();
            for _ in 0..400 {
                let text: String = (0..draw(90)).map(|_| chars[draw(chars.len())]).collect();
                let aligned = normalizer.apply(Aligned::new(&text, 0, false).unwrap(), None).unwrap();
                let mut out = "before".to_owned();
                normalizer.write_asking(&text, 0, &Ask::default(), &mut out).unwrap();
                assert_eq!(out, format!("before{}", aligned.text()), "{text:?} by {steps:?}");
            }
        }
    }
}
