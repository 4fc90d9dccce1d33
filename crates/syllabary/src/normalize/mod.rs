//! Rewriting text before it is cut.
//!
//! Adds: `Normalizer`, which runs the steps of a `TokenizerSpec.normalizer`. Leaves out: tokens that are found in
//! the text before or after (`special`).

mod calm;
mod calm_blocks;
mod calm_joins;
mod calm_marks;
#[cfg(simd_x86)]
mod calm_narrow;
#[cfg(test)]
mod calm_tests;
#[cfg(simd_x86)]
mod calm_walk;
#[cfg(simd_x86)]
mod calm_wide;
mod characters;
mod charsmap;
mod charsmap_check;
mod charsmap_tables;
mod form_text;
pub(crate) mod forms;
mod plain_text;
mod precompiled;
mod replace;
mod sentencepiece;

use crate::{aligned::Aligned, asking::Ask, error::Error, step::Step};
use characters::Bert;
use charsmap::Charsmap;
use forms::Form;

pub(crate) use characters::{byte_characters, is_common_letter, write_bytes};
pub(crate) use replace::Finder;
pub(crate) use sentencepiece::SentencePiece;

/// The length in bytes of a token at the start of the text that the normalizer leaves alone, or 0. Only the step
/// `SentencePiece` asks for it.
pub type Frozen<'f> = &'f dyn Fn(&str) -> usize;

/// The steps, ready to run; immutable, to be shared by reference.
pub struct Normalizer {
    steps: Vec<Kind>,
}

enum Kind {
    Bert(Bert),
    Strip { left: bool, right: bool },
    StripAccents,
    Form(Form),
    Lowercase,
    Nmt,
    Precompiled(Box<Charsmap>),
    Replace { finder: Finder, content: String },
    Prepend(String),
    ByteLevel(Box<[char; 256]>),
    SentencePiece(Box<SentencePiece>),
}

/// How long a step may make a text of `length` bytes; no rule of Unicode comes near it.
pub(crate) fn limit(length: usize) -> usize {
    length.saturating_mul(64).saturating_add(4 << 20)
}

/// The error for a text beyond `limit`.
pub(crate) fn too_large() -> Error {
    Error::Vocabulary(
        "the steps make the text more than 64 times as long; leave out what replaces or prepends so much"
            .to_owned(),
    )
}

impl Normalizer {
    /// The normalizer of these steps.
    ///
    /// # Errors
    /// `Error::Vocabulary` for an unknown kind, a wrong option or a damaged character map, `Error::Pattern` for a
    /// pattern that cannot be used.
    pub fn new(steps: &[Step]) -> Result<Normalizer, Error> {
        Ok(Normalizer { steps: steps.iter().map(kind_of).collect::<Result<_, _>>()? })
    }

    /// Whether it changes no text.
    pub fn is_identity(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether it surely leaves this text as it is.
    pub(crate) fn keeps(&self, text: &str) -> bool {
        self.steps.iter().all(|step| matches!(step, Kind::Form(form) if form.is_sure(text)))
    }

    /// Whether some step leaves frozen tokens alone.
    pub(crate) fn freezes(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Kind::SentencePiece(_)))
    }

    /// The text as all steps, in order, leave it.
    ///
    /// # Errors
    /// `Error::SplitFailed` where a pattern gives up, with the place in the text that its step was given;
    /// `Error::Vocabulary` where the text grows more than 64-fold, `Error::TooLarge` for one beyond 4 GiB.
    pub fn apply(&self, mut text: Aligned, frozen: Option<Frozen<'_>>) -> Result<Aligned, Error> {
        let limit = limit(text.len());
        for step in &self.steps {
            if let Some(new) = step.apply(&text, frozen)? {
                text = new;
            }
            text.ask().check()?;
            if text.len() > limit {
                return Err(too_large());
            }
        }
        Ok(text)
    }
}

impl Normalizer {
    /// Writes what all steps make of `text` behind `out`, without alignment and without frozen tokens.
    ///
    /// # Errors
    /// Those of `apply`.
    pub(crate) fn write(&self, text: &str, out: &mut String) -> Result<(), Error> {
        if let [Kind::SentencePiece(step)] = &self.steps[..] {
            return step.write_plain(text, false, out);
        }
        if let [Kind::Bert(bert)] = &self.steps[..] {
            bert.write(text, out);
            return Ok(());
        }
        self.write_asking(text, 0, &Ask::default(), out)
    }

    /// Whether `write_spaced` leaves spaces where marks would be.
    pub(crate) fn spaces(&self) -> bool {
        matches!(&self.steps[..], [Kind::SentencePiece(_)])
    }

    /// The same as `write`; but sentencepiece's step leaves spaces where it would write marks, if that is asked for.
    pub(crate) fn write_spaced(&self, text: &str, spaced: bool, out: &mut String) -> Result<(), Error> {
        match &self.steps[..] {
            [Kind::SentencePiece(step)] => step.write_plain(text, spaced, out),
            _ => self.write(text, out),
        }
    }
}

fn kind_of(step: &Step) -> Result<Kind, Error> {
    Ok(match step.kind.as_str() {
        "Bert" => Kind::Bert(Bert::new(step)?),
        "Strip" => Kind::Strip { left: step.flag("strip_left")?, right: step.flag("strip_right")? },
        "StripAccents" => Kind::StripAccents,
        "NFC" => Kind::Form(Form::Nfc),
        "NFD" => Kind::Form(Form::Nfd),
        "NFKC" => Kind::Form(Form::Nfkc),
        "NFKD" => Kind::Form(Form::Nfkd),
        "Lowercase" => Kind::Lowercase,
        "Nmt" => Kind::Nmt,
        "Precompiled" => {
            let blob = step.bytes("precompiled_charsmap")?;
            if blob.is_empty() {
                return Err(step.wrong("the character map is empty; leave the step out"));
            }
            Kind::Precompiled(Box::new(Charsmap::new(blob)?))
        }
        "Replace" => Kind::Replace { finder: Finder::new(step)?, content: step.text("content")?.to_owned() },
        "Prepend" => Kind::Prepend(step.text("prepend")?.to_owned()),
        "ByteLevel" => Kind::ByteLevel(Box::new(byte_characters())),
        "SentencePiece" => Kind::SentencePiece(Box::new(SentencePiece::new(step)?)),
        _ => return Err(step.unknown_kind("normalizer")),
    })
}

impl Kind {
    /// The text as this step leaves it; `None` if it leaves it alone.
    fn apply(&self, part: &Aligned, frozen: Option<Frozen<'_>>) -> Result<Option<Aligned>, Error> {
        Ok(match self {
            Kind::Bert(bert) => bert.apply(part),
            Kind::Strip { left, right } => characters::strip(part, *left, *right),
            Kind::StripAccents => characters::strip_accents(part),
            Kind::Form(form) => forms::apply(*form, part),
            Kind::Lowercase => characters::lowercase(part),
            Kind::Nmt => characters::nmt(part),
            Kind::Precompiled(map) => precompiled::apply(map, part)?,
            Kind::Replace { finder, content } => replace::apply(finder, content, part)?,
            Kind::Prepend(prefix) => characters::prepend(part, prefix),
            Kind::ByteLevel(table) => characters::byte_level(part, table),
            Kind::SentencePiece(step) => Some(step.apply(part, frozen)?),
        })
    }
}
