//! sentencepiece's own decoder.
//!
//! Adds: `▁` as spaces, one of them taken away at the beginning, bytes joined, control symbols left out. Leaves out:
//! which class a token has (the caller says).
//!
//! Source of the rules: sentencepiece 0.2.3, `sentencepiece_processor.cc`, `DecodeOptimized`.

use std::borrow::Cow;

use super::Class;
use crate::{aligned::Aligned, error::Error, normalize::SentencePiece, step::Step};

const SPACE: &str = "▁";

/// The step, ready to run.
pub(super) struct Decoder {
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    unknown_surface: String,
    denormalizer: Option<SentencePiece>,
}

impl Decoder {
    pub(super) fn new(step: &Step) -> Result<Decoder, Error> {
        // Decoding does not look at it, but all options must be there.
        step.flag("treat_whitespace_as_suffix")?;
        let charsmap = step.bytes("denormalizer_charsmap")?;
        Ok(Decoder {
            add_dummy_prefix: step.flag("add_dummy_prefix")?,
            remove_extra_whitespaces: step.flag("remove_extra_whitespaces")?,
            unknown_surface: step.text("unknown_surface")?.to_owned(),
            denormalizer: if charsmap.is_empty() { None } else { Some(SentencePiece::only_rules(charsmap)?) },
        })
    }

    /// Whether it is so (`StepDecoder::looks_at_one_token`).
    pub(super) fn looks_at_one_token(&self) -> bool {
        self.denormalizer.is_none()
    }

    pub(super) fn decode(&self, tokens: &[(Cow<'_, str>, Class)]) -> Result<String, Error> {
        let mut out = String::new();
        let mut bytes = Vec::new();
        let mut at_start = true;
        for (token, class) in tokens {
            if let (Class::Byte, Some(byte)) = (class, super::byte_of(token)) {
                bytes.push(byte);
                continue;
            }
            write_bytes(&bytes, &mut |text| out.push_str(text));
            bytes.clear();
            at_start &= out.is_empty();
            if *class == Class::Control {
                continue;
            }
            let mut text = token.as_ref();
            let strips = self.add_dummy_prefix || self.remove_extra_whitespaces;
            let mut stripped = false;
            if at_start
                && strips
                && let Some(rest) = text.strip_prefix(SPACE)
            {
                text = rest;
                stripped = !self.remove_extra_whitespaces;
            }
            match class {
                Class::Unknown => out.push_str(&self.unknown_surface),
                _ => write_spaces(&mut out, text),
            }
            at_start &= !stripped && out.is_empty();
        }
        write_bytes(&bytes, &mut |text| out.push_str(text));
        match &self.denormalizer {
            Some(rules) => Ok(rules.apply(&Aligned::new(&out, 0, false)?, None)?.text().to_owned()),
            None => Ok(out),
        }
    }
}

fn write_spaces(out: &mut String, text: &str) {
    let mut words = text.split(SPACE);
    out.push_str(words.next().unwrap_or(""));
    for word in words {
        out.push(' ');
        out.push_str(word);
    }
}

/// Calls `each` with the bytes as text, each that is part of no character as U+FFFD.
pub(super) fn write_bytes(bytes: &[u8], each: &mut impl FnMut(&str)) {
    for chunk in bytes.utf8_chunks() {
        each(chunk.valid());
        chunk.invalid().iter().for_each(|_| each("\u{FFFD}"));
    }
}
