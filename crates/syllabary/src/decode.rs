//! Decoding: ids -> bytes.
//!
//! The bytes need not be valid UTF-8: a token may end inside a character. What then happens is the caller's
//! policy, and stands outside the engine. `TextDecoder` makes text by the steps of another library (`step_decode`),
//! for which it spells the tokens as that library does.

use std::{
    borrow::Cow,
    sync::{OnceLock, atomic::AtomicUsize},
};

use rustc_hash::FxHashMap;

use crate::{
    Error,
    alphabet::{Spelling, Unit as Symbol},
    matching::{Named, Stage},
    normalize::{Normalizer, byte_characters},
    step::Step,
    step_decode::{Class, StepDecoder, Token},
    vocab::Vocab,
};

mod begun;
mod measures;
mod slots;
mod texts;

use self::{
    measures::{Measures, Sums},
    slots::Slots,
    texts::Texts,
};

pub use self::{
    begun::Begun,
    measures::{Size, Width},
};

/// The most bytes that are written before it is known how many there are.
const FIRST: usize = if cfg!(test) { 1 << 13 } else { 1 << 21 };

/// The bytes of a token with each end-of-word mark as a space.
fn spaced<'a>(bytes: &'a [u8], mark: &[u8]) -> Cow<'a, [u8]> {
    if mark.is_empty() || !bytes.windows(mark.len()).any(|window| window == mark) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(mark) {
            out.push(b' ');
            rest = after;
        } else {
            out.push(first);
            rest = after;
        }
    }
    Cow::Owned(out)
}

/// Every id's bytes as they stand in decoded text.
#[derive(Debug)]
pub struct Decoder {
    slots: Slots,
    /// Of the tokens, filled when long text is decoded.
    measures: OnceLock<Measures>,
    /// id -> whether the token ends a word, so that its last byte is a space; empty where none does.
    ends_word: Vec<bool>,
}

impl Decoder {
    /// Over the vocabulary and the special and added tokens, whose ids must be free or hold the same bytes.
    pub(crate) fn new(vocab: &Vocab, special: &[Named], spelling: &Spelling<'_>) -> Result<Decoder, Error> {
        let end_of_word = spelling.end_of_word;
        let byte_names: FxHashMap<u32, String> =
            spelling.byte_tokens.iter().map(|&(id, byte)| (id, byte_name(byte))).collect();
        let slots = Slots::for_many(vocab.id_bound() as usize);
        let mut decoder = Decoder { slots, measures: OnceLock::new(), ends_word: Vec::new() };
        let mark = end_of_word.unwrap_or_default().as_bytes();
        for (id, bytes) in vocab.iter() {
            if let Some(key) = vocab.key(id).filter(|_| mark.is_empty()) {
                decoder.slots.put_key(id as usize, key);
                continue;
            }
            let ends_word = !mark.is_empty() && bytes.ends_with(mark);
            decoder.put(id, &spaced(bytes, mark), ends_word)?;
        }
        for Named { text, id, .. } in special {
            let limit = 16 * (vocab.len() + special.len()) + 1_000_000;
            if *id as usize >= limit {
                return Err(Error::Vocabulary(format!(
                    "special token `{text}` has id {id}, too far above the number of tokens"
                )));
            }
            let taken = decoder.bytes(*id).is_some();
            let alike = vocab.bytes(*id) == Some(text.as_bytes()) || byte_names.get(id) == Some(text);
            if taken && !alike {
                return Err(Error::Vocabulary(format!(
                    "special token `{text}` has id {id}, which another token has"
                )));
            }
            decoder.put(*id, text.as_bytes(), false)?;
        }
        Ok(decoder)
    }

    fn put(&mut self, id: u32, bytes: &[u8], ends_word: bool) -> Result<(), Error> {
        let at = id as usize;
        self.slots.put(at, bytes)?;
        if ends_word || at < self.ends_word.len() {
            self.ends_word.resize(self.ends_word.len().max(at + 1), false);
            self.ends_word[at] = ends_word;
        }
        Ok(())
    }

    /// One more than the largest id.
    pub fn id_bound(&self) -> usize {
        self.slots.len()
    }

    /// What `id` adds to decoded text.
    pub fn bytes(&self, id: u32) -> Option<&[u8]> {
        self.slots.bytes(id)
    }

    /// Begins to decode: writes the first bytes over what is in `buffer`, which never has room for more than a share of
    /// long text; an id that no token has is an error.
    pub fn begin<'a>(&'a self, ids: &'a [u32], buffer: &'a mut Vec<u8>) -> Result<Begun<'a>, Error> {
        buffer.clear();
        buffer.reserve_exact((ids.len().saturating_mul(slots::WRITTEN) + slots::GROUP_ROOM).min(FIRST));
        let (taken, written) = self.slots.fill(ids, buffer.spare_capacity_mut());
        // SAFETY: so many bytes of the capacity were written.
        unsafe { buffer.set_len(written) };
        let mut rest = Sums::default();
        if taken < ids.len() {
            let measures = self.measures.get_or_init(|| Measures::new(&self.slots));
            measures.add(&ids[taken..], taken, &self.slots, &mut rest)?;
        }
        if ids.last().is_some_and(|&id| self.ends_word.get(id as usize) == Some(&true)) {
            // The space after the last word is left out.
            if taken == ids.len() {
                buffer.pop();
            }
            (rest.bytes, rest.starts) = (rest.bytes.saturating_sub(1), rest.starts.saturating_sub(1));
        }
        Ok(Begun { slots: &self.slots, first: buffer, ids: &ids[taken..], rest })
    }

    /// Bytes that have been decoded, as if by `begin`.
    pub fn decoded<'a>(&'a self, bytes: &'a [u8]) -> Begun<'a> {
        Begun { slots: &self.slots, first: bytes, ids: &[], rest: Sums::default() }
    }

    /// Appends the bytes of `ids`; the space after the last word is left out.
    pub fn decode(&self, ids: &[u32], out: &mut Vec<u8>) -> Result<(), Error> {
        let mut buffer = Vec::new();
        self.begin(ids, &mut buffer)?.append(out);
        Ok(())
    }
}

/// How other libraries spell a byte token.
fn byte_name(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// What a token is called where that is not its bytes.
#[derive(Debug)]
struct Called {
    text: String,
    class: Class,
}

/// Text of ids by steps.
pub struct TextDecoder {
    steps: StepDecoder,
    /// What bytes are spelled with, where tokens are bytes: GPT-2's characters.
    printable: Option<Box<[char; 256]>>,
    unknown: Option<u32>,
    /// Special, added and byte tokens.
    called: FxHashMap<u32, Called>,
    /// What each token adds to a text, filled when much has been decoded: so many ids.
    texts: OnceLock<Option<Texts>>,
    seen: AtomicUsize,
}

impl TextDecoder {
    pub(crate) fn new(
        steps: &[Step],
        spelling: &Spelling<'_>,
        named: &[Named],
        normalizer: &Normalizer,
    ) -> Result<TextDecoder, Error> {
        let mut called = FxHashMap::default();
        for &(id, byte) in spelling.byte_tokens {
            called.insert(id, Called { text: byte_name(byte), class: Class::Byte });
        }
        for token in named {
            // A token that is looked for in normalized text is spelled as it stands there.
            let text = match token.matching.stage {
                Stage::Normalized => token.normalized(normalizer)?,
                _ => token.text.clone(),
            };
            // An unused word is found nowhere either, and has its text.
            let class = match (token.matching.stage, called.get(&token.id)) {
                (Stage::Never, _) if token.special => Class::Control,
                (_, Some(called)) => called.class,
                _ => Class::Normal,
            };
            called.insert(token.id, Called { text, class });
        }
        Ok(TextDecoder {
            steps: StepDecoder::new(steps)?,
            printable: (spelling.unit == Symbol::Byte).then(|| Box::new(byte_characters())),
            unknown: spelling.unknown,
            called,
            texts: OnceLock::new(),
            seen: AtomicUsize::new(0),
        })
    }

    /// The text of `ids`.
    pub(crate) fn decode(&self, vocab: &Vocab, ids: &[u32]) -> Result<String, Error> {
        if let Some(texts) = self.texts(vocab, ids.len())
            && let Some(text) = self.by_texts(vocab, texts, ids)?
        {
            return Ok(text);
        }
        self.by_steps(vocab, ids)
    }

    fn by_steps(&self, vocab: &Vocab, ids: &[u32]) -> Result<String, Error> {
        self.steps.decode_classed(self.tokens(vocab, (ids, 0), Vec::with_capacity(ids.len()))?)
    }

    /// What the steps are given for ids, the first of them of this number, behind others.
    fn tokens<'t>(
        &'t self,
        vocab: &'t Vocab,
        (ids, first): (&[u32], usize),
        mut tokens: Vec<Token<'t>>,
    ) -> Result<Vec<Token<'t>>, Error> {
        for (index, &id) in (first..).zip(ids) {
            let token = self.token(vocab, id).ok_or(Error::UnknownId { id: i64::from(id), index })?;
            tokens.push(token);
        }
        Ok(tokens)
    }

    /// What they are given for an id.
    fn token<'t>(&'t self, vocab: &'t Vocab, id: u32) -> Option<Token<'t>> {
        let (text, class) = match (self.called.get(&id), vocab.bytes(id)) {
            (Some(called), _) => (Cow::Borrowed(called.text.as_str()), called.class),
            (None, Some(bytes)) => (self.spelled(bytes), Class::Normal),
            (None, None) => return None,
        };
        Some((text, if self.unknown == Some(id) { Class::Unknown } else { class }))
    }

    fn spelled<'t>(&self, bytes: &'t [u8]) -> Cow<'t, str> {
        match &self.printable {
            Some(characters) => bytes.iter().map(|&byte| characters[usize::from(byte)]).collect(),
            None => String::from_utf8_lossy(bytes),
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod texts_tests;
