//! Decoding: ids -> bytes.
//!
//! The bytes need not be valid UTF-8: a token may end inside a character. What then happens is the caller's
//! policy, and stands outside the engine.

use std::borrow::Cow;

use crate::{Error, vocab::Vocab};

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
    pub fn new(
        vocab: &Vocab,
        special: &[(String, u32)],
        end_of_word: Option<&str>,
    ) -> Result<Decoder, Error> {
        let mut decoder = Decoder { arena: Vec::new(), spans: Vec::new(), ends_word: Vec::new() };
        let mark = end_of_word.unwrap_or_default().as_bytes();
        for (id, bytes) in vocab.iter() {
            let ends_word = !mark.is_empty() && bytes.ends_with(mark);
            decoder.put(id, &spaced(bytes, mark), ends_word)?;
        }
        for (text, id) in special {
            let limit = 16 * (vocab.len() + special.len()) + 1_000_000;
            if *id as usize >= limit {
                return Err(Error::Vocabulary(format!(
                    "special token `{text}` has id {id}, too far above the number of tokens"
                )));
            }
            let taken = decoder.spans.get(*id as usize).is_some_and(|span| span.1 != GAP);
            if taken && decoder.bytes(*id) != Some(text.as_bytes()) {
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
