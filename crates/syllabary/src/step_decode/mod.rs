//! Making text of the spellings of tokens.
//!
//! Adds: `StepDecoder`, which runs the steps of a `TokenizerSpec.decoder`. Leaves out: ids (`vocab`) and decoding
//! without steps (`decode`).
//!
//! Source of the rules: `tokenizers` 0.23.3, `decoders/`: each step makes a list of texts of a list of texts, and
//! the last list is joined.

mod sentencepiece;

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::{
    error::Error,
    normalize::{Finder, byte_characters},
    step::Step,
};

/// What a token is to a decoder of sentencepiece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A piece of text.
    Normal,
    /// A byte, spelled `<0xXX>`.
    Byte,
    /// A control symbol: it has no text.
    Control,
    /// The unknown token: its text is the option `unknown_surface`.
    Unknown,
}

/// A token on its way to text.
pub(crate) type Token<'t> = (Cow<'t, str>, Class);

/// The steps, ready to run; immutable, to be shared by reference.
pub struct StepDecoder {
    steps: Vec<Kind>,
}

enum Kind {
    Bpe { suffix: String },
    ByteLevel(FxHashMap<char, u8>),
    WordPiece { prefix: String, cleanup: bool },
    Metaspace { replacement: char, keep_first: bool },
    Ctc { pad: String, delimiter: String, cleanup: bool },
    Replace { finder: Finder, content: String },
    Fuse,
    Strip { content: char, start: usize, stop: usize },
    ByteFallback,
    Join(String),
    SentencePiece(Box<sentencepiece::Decoder>),
}

impl StepDecoder {
    /// The decoder of these steps.
    ///
    /// # Errors
    /// `Error::Vocabulary` for an unknown kind, a wrong option or a damaged character map, `Error::Pattern` for a
    /// pattern that cannot be used.
    pub fn new(steps: &[Step]) -> Result<StepDecoder, Error> {
        Ok(StepDecoder { steps: steps.iter().map(kind_of).collect::<Result<_, _>>()? })
    }

    /// Whether what a token adds to a text that is not empty is the same whatever stands around, but for bytes in a row, and
    /// what is before it stays as it is.
    pub(crate) fn looks_at_one_token(&self) -> bool {
        if let [Kind::SentencePiece(decoder)] = &self.steps[..] {
            return decoder.looks_at_one_token();
        }
        let mut is_one = false;
        self.steps.iter().all(|step| match step {
            Kind::Fuse => {
                is_one = true;
                true
            }
            Kind::Strip { stop, .. } => !is_one || *stop == 0,
            Kind::WordPiece { .. } | Kind::Metaspace { .. } | Kind::Replace { .. } | Kind::ByteFallback => {
                !is_one
            }
            _ => false,
        })
    }

    /// The byte that a token is to these steps, if they look at one token, and it is not the first.
    pub(crate) fn byte(&self, (text, class): &Token<'_>) -> Option<u8> {
        if let [Kind::SentencePiece(_)] = &self.steps[..] {
            return byte_of(text).filter(|_| *class == Class::Byte);
        }
        let mut tokens = vec![(Cow::Borrowed(""), Class::Normal), (Cow::Borrowed(&**text), *class)];
        for step in &self.steps {
            match (step, &tokens[..]) {
                (Kind::ByteFallback, [_, (text, _)]) => return byte_of(text),
                (Kind::ByteFallback | Kind::Fuse, _) => break,
                _ => tokens = step.apply(tokens).unwrap_or_default(),
            }
        }
        None
    }

    /// Writes what bytes between other tokens add to a text, characters alone; whether it did: nothing else is done to them.
    pub(crate) fn write_bytes(&self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        if let [Kind::SentencePiece(_)] = &self.steps[..] {
            sentencepiece::write_bytes(bytes, &mut |text| out.extend_from_slice(text.as_bytes()));
            return true;
        }
        let mut rest = self.steps.iter().skip_while(|step| !matches!(step, Kind::ByteFallback)).skip(1);
        if !matches!(rest.next(), Some(Kind::Fuse)) {
            return false;
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => out.extend_from_slice(bytes),
            Err(_) => bytes.iter().for_each(|_| out.extend_from_slice("\u{FFFD}".as_bytes())),
        }
        true
    }

    /// The text of tokens with these spellings. For a step `SentencePiece`, a token that is spelled `<0x0A>` is
    /// a byte and any other is normal.
    ///
    /// # Errors
    /// `Error::SplitFailed` where a pattern gives up, `Error::Vocabulary` where the text grows more than 64-fold.
    pub fn decode(&self, tokens: Vec<Cow<'_, str>>) -> Result<String, Error> {
        let classed = tokens.into_iter().map(|token| {
            let class = class_of(&token);
            (token, class)
        });
        self.decode_classed(classed.collect())
    }

    /// As `decode`, each token with its class, which only a step `SentencePiece` that comes first looks at.
    ///
    /// # Errors
    /// As `decode`.
    pub fn decode_classed(&self, mut tokens: Vec<(Cow<'_, str>, Class)>) -> Result<String, Error> {
        let size = |tokens: &[Token<'_>]| tokens.iter().map(|(token, _)| token.len() + 1).sum();
        let limit = crate::normalize::limit(size(&tokens));
        for (at, step) in self.steps.iter().enumerate() {
            if at > 0 && matches!(step, Kind::SentencePiece(_)) {
                tokens.iter_mut().for_each(|(token, class)| *class = class_of(token));
            }
            tokens = step.apply(tokens)?;
            if size(&tokens) > limit {
                return Err(crate::normalize::too_large());
            }
        }
        Ok(joined(&tokens))
    }
}

fn kind_of(step: &Step) -> Result<Kind, Error> {
    let text = |name: &str| step.text(name).map(str::to_owned);
    Ok(match step.kind.as_str() {
        "BPEDecoder" => Kind::Bpe { suffix: text("suffix")? },
        "ByteLevel" => {
            Kind::ByteLevel((0..=255u8).map(|byte| (byte_characters()[usize::from(byte)], byte)).collect())
        }
        "WordPiece" => Kind::WordPiece { prefix: text("prefix")?, cleanup: step.flag("cleanup")? },
        "Metaspace" => {
            step.flag("split")?;
            Kind::Metaspace {
                replacement: step.character("replacement")?,
                keep_first: match step.text("prepend_scheme")? {
                    "always" | "first" => false,
                    "never" => true,
                    other => return Err(step.wrong(&format!("no prepend_scheme is called {other:?}"))),
                },
            }
        }
        "CTC" => Kind::Ctc {
            pad: text("pad_token")?,
            delimiter: text("word_delimiter_token")?,
            cleanup: step.flag("cleanup")?,
        },
        "Replace" => Kind::Replace { finder: Finder::new(step)?, content: text("content")? },
        "Fuse" => Kind::Fuse,
        "Strip" => Kind::Strip {
            content: step.character("content")?,
            start: step.size("start")?,
            stop: step.size("stop")?,
        },
        "ByteFallback" => Kind::ByteFallback,
        "Join" => Kind::Join(text("separator")?),
        "SentencePiece" => Kind::SentencePiece(Box::new(sentencepiece::Decoder::new(step)?)),
        _ => return Err(step.unknown_kind("decoder")),
    })
}

impl Kind {
    fn apply<'t>(&self, tokens: Vec<Token<'t>>) -> Result<Vec<Token<'t>>, Error> {
        let last = tokens.len().saturating_sub(1);
        Ok(match self {
            Kind::Bpe { suffix } => {
                each(tokens, |at, token| replaced(token, suffix, if at == last { "" } else { " " }))
            }
            Kind::ByteLevel(table) => one(from_bytes(table, &tokens)),
            Kind::WordPiece { prefix, cleanup } => each(tokens, |at, token| {
                let text = match token.strip_prefix(prefix) {
                    _ if at == 0 => None,
                    Some(rest) => Some(rest.to_owned()),
                    None => Some(format!(" {token}")),
                };
                if *cleanup { clean(text.as_deref().unwrap_or(token)).or(text) } else { text }
            }),
            Kind::Metaspace { replacement, keep_first } => each(tokens, |at, token| {
                let space = if at == 0 && !keep_first { "" } else { " " };
                if token.contains(*replacement) { Some(token.replace(*replacement, space)) } else { None }
            }),
            Kind::Ctc { pad, delimiter, cleanup } => {
                let mut tokens = tokens;
                tokens.dedup_by(|token, before| token.0 == before.0);
                let mut tokens = each(tokens, |_, token| {
                    let text = token.replace(pad, "");
                    Some(if *cleanup { clean(&text).unwrap_or(text).replace(delimiter, " ") } else { text })
                });
                tokens.retain(|(token, _)| !token.is_empty());
                tokens
            }
            Kind::Replace { finder, content } => tokens
                .into_iter()
                .map(|(token, class)| {
                    let new = finder.replace_in(&token, content)?;
                    Ok((new.map_or(token, Cow::Owned), class))
                })
                .collect::<Result<_, Error>>()?,
            Kind::Fuse => one(joined(&tokens)),
            Kind::Strip { content, start, stop } => each(tokens, |_, token| {
                let text = strip(token, *content, *start, *stop);
                if text.len() < token.len() { Some(text.to_owned()) } else { None }
            }),
            Kind::ByteFallback => join_bytes(tokens),
            Kind::Join(separator) => {
                let texts: Vec<&str> = tokens.iter().map(|(token, _)| token.as_ref()).collect();
                one(texts.join(separator))
            }
            Kind::SentencePiece(decoder) => one(decoder.decode(&tokens)?),
        })
    }
}

fn one<'t>(text: String) -> Vec<Token<'t>> {
    vec![(Cow::Owned(text), Class::Normal)]
}

fn joined(tokens: &[Token<'_>]) -> String {
    let mut out = String::with_capacity(tokens.iter().map(|(token, _)| token.len()).sum());
    tokens.iter().for_each(|(token, _)| out.push_str(token));
    out
}

/// The tokens with what `f` makes of each, given its number; `None` leaves it as it is.
fn each<'t>(tokens: Vec<Token<'t>>, f: impl Fn(usize, &str) -> Option<String>) -> Vec<Token<'t>> {
    tokens
        .into_iter()
        .enumerate()
        .map(|(at, (token, class))| (f(at, &token).map_or(token, Cow::Owned), class))
        .collect()
}

/// The text that the printable characters of GPT-2 stand for; a token with any other character is itself.
fn from_bytes(table: &FxHashMap<char, u8>, tokens: &[Token<'_>]) -> String {
    let mut bytes = Vec::new();
    for (token, _) in tokens {
        let start = bytes.len();
        if !token.chars().all(|c| table.get(&c).inspect(|byte| bytes.push(**byte)).is_some()) {
            bytes.truncate(start);
            bytes.extend_from_slice(token.as_bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `text` with `new` for every `old`; `None` if there is none.
fn replaced(text: &str, old: &str, new: &str) -> Option<String> {
    if text.contains(old) { Some(text.replace(old, new)) } else { None }
}

/// English that was cut into words, put together again; `None` if there is nothing to do.
fn clean(text: &str) -> Option<String> {
    const RULES: [(&str, &str); 11] = [
        (" .", "."),
        (" ?", "?"),
        (" !", "!"),
        (" ,", ","),
        (" ' ", "'"),
        (" n't", "n't"),
        (" 'm", "'m"),
        (" do not", " don't"),
        (" 's", "'s"),
        (" 've", "'ve"),
        (" 're", "'re"),
    ];
    let begins_rule = |pair: &[u8]| pair[0] == b' ' && b".?!,'nd".contains(&pair[1]);
    if !text.as_bytes().windows(2).any(begins_rule) {
        return None;
    }
    RULES.iter().fold(None, |done: Option<String>, (old, new)| {
        replaced(done.as_deref().unwrap_or(text), old, new).or(done)
    })
}

/// `token` without up to `start` times `content` at its beginning and up to `stop` times at its end.
fn strip(token: &str, content: char, start: usize, stop: usize) -> &str {
    let mut text = token;
    for _ in 0..start {
        let Some(rest) = text.strip_prefix(content) else { break };
        text = rest;
    }
    for _ in 0..stop {
        let Some(rest) = text.strip_suffix(content) else { break };
        text = rest;
    }
    text
}

/// The byte that a token spelled `<0xXX>` stands for.
pub(crate) fn byte_of(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// What a token is that nothing but its spelling tells about.
fn class_of(token: &str) -> Class {
    let lower = token.bytes().skip(3).any(|byte| byte.is_ascii_lowercase() || byte == b'+');
    if byte_of(token).is_some() && !lower { Class::Byte } else { Class::Normal }
}

/// Tokens of bytes in a row as the text that they spell, or U+FFFD for each if they spell none.
fn join_bytes(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut bytes = Vec::new();
    let flush = |bytes: &mut Vec<u8>, out: &mut Vec<Token<'_>>| {
        match std::str::from_utf8(bytes) {
            Ok("") => {}
            Ok(text) => out.push((Cow::Owned(text.to_owned()), Class::Normal)),
            // One a byte, each a text for the steps after this.
            Err(_) => out.extend(bytes.iter().map(|_| (Cow::Borrowed("\u{FFFD}"), Class::Normal))),
        }
        bytes.clear();
    };
    for token in tokens {
        match byte_of(&token.0) {
            Some(byte) => bytes.push(byte),
            None => {
                flush(&mut bytes, &mut out);
                out.push(token);
            }
        }
    }
    flush(&mut bytes, &mut out);
    out
}
