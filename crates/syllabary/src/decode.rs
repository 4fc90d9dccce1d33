//! Decoding: ids -> bytes.
//!
//! The bytes need not be valid UTF-8: a token may end inside a character. What then happens is the caller's
//! policy, and stands outside the engine. `TextDecoder` makes text by the steps of another library (`step_decode`),
//! for which it spells the tokens as that library does.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::{
    Error,
    alphabet::{Spelling, Unit},
    matching::{Named, Stage},
    normalize::{Normalizer, byte_characters},
    step::Step,
    step_decode::{Class, StepDecoder},
    vocab::Vocab,
};

/// No token has this id.
const GAP: u32 = u32::MAX;

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
    arena: Vec<u8>,
    /// id -> (start, length).
    spans: Vec<(u32, u32)>,
    /// id -> whether the token ends a word, so that its last byte is a space.
    ends_word: Vec<bool>,
}

impl Decoder {
    /// Over the vocabulary and the special and added tokens, whose ids must be free or hold the same bytes.
    pub(crate) fn new(vocab: &Vocab, special: &[Named], spelling: &Spelling<'_>) -> Result<Decoder, Error> {
        let end_of_word = spelling.end_of_word;
        let byte_names: FxHashMap<u32, String> =
            spelling.byte_tokens.iter().map(|&(id, byte)| (id, byte_name(byte))).collect();
        let mut decoder = Decoder { arena: Vec::new(), spans: Vec::new(), ends_word: Vec::new() };
        let mark = end_of_word.unwrap_or_default().as_bytes();
        for (id, bytes) in vocab.iter() {
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
            let taken = decoder.spans.get(*id as usize).is_some_and(|span| span.1 != GAP);
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
        let slot = id as usize;
        if slot >= self.spans.len() {
            self.spans.resize(slot + 1, (0, GAP));
            self.ends_word.resize(slot + 1, false);
        }
        let start = self.arena.len();
        self.arena.extend_from_slice(bytes);
        let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(self.arena.len())) else {
            return Err(Error::TooLarge("the tokens of the vocabulary exceed 4 GiB".to_owned()));
        };
        self.spans[slot] = (start, end - start);
        self.ends_word[slot] = ends_word;
        Ok(())
    }

    /// One more than the largest id.
    pub fn id_bound(&self) -> usize {
        self.spans.len()
    }

    /// What `id` adds to decoded text.
    pub fn bytes(&self, id: u32) -> Option<&[u8]> {
        let &(start, length) = self.spans.get(id as usize)?;
        (length != GAP).then(|| &self.arena[start as usize..][..length as usize])
    }

    /// Appends the bytes of `ids`; the space after the last word is left out.
    pub fn decode(&self, ids: &[u32], out: &mut Vec<u8>) -> Result<(), Error> {
        for (index, &id) in ids.iter().enumerate() {
            let bytes = self.bytes(id).ok_or(Error::UnknownId { id: i64::from(id), index })?;
            out.extend_from_slice(bytes);
        }
        if ids.last().is_some_and(|&id| self.ends_word[id as usize]) {
            out.pop();
        }
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
            let class = match (token.matching.stage, called.get(&token.id)) {
                (Stage::Never, _) => Class::Control,
                (_, Some(called)) => called.class,
                _ => Class::Normal,
            };
            called.insert(token.id, Called { text, class });
        }
        Ok(TextDecoder {
            steps: StepDecoder::new(steps)?,
            printable: (spelling.unit == Unit::Byte).then(|| Box::new(byte_characters())),
            unknown: spelling.unknown,
            called,
        })
    }

    /// The text of `ids`.
    pub(crate) fn decode(&self, vocab: &Vocab, ids: &[u32]) -> Result<String, Error> {
        let mut tokens = Vec::with_capacity(ids.len());
        for (index, &id) in ids.iter().enumerate() {
            let (text, class) = match (self.called.get(&id), vocab.bytes(id)) {
                (Some(called), _) => (Cow::Borrowed(called.text.as_str()), called.class),
                (None, Some(bytes)) => (self.spelled(bytes), Class::Normal),
                (None, None) => return Err(Error::UnknownId { id: i64::from(id), index }),
            };
            tokens.push((text, if self.unknown == Some(id) { Class::Unknown } else { class }));
        }
        self.steps.decode_classed(tokens)
    }

    fn spelled<'t>(&self, bytes: &'t [u8]) -> Cow<'t, str> {
        match &self.printable {
            Some(characters) => bytes.iter().map(|&byte| characters[usize::from(byte)]).collect(),
            None => String::from_utf8_lossy(bytes),
        }
    }
}
