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

/// Tokens of at most so many bytes stand in slots.
const SHORT: usize = 15;
/// Instead of a length: the token is longer than a slot, or there is none.
const LONG: u8 = 254;
const GAP: u8 = 255;

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

/// The bytes of a token, padded, so that all can be copied without asking how many they are.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Of a longer token where it is: start and end in `Decoder::long`.
    bytes: [u8; SHORT],
    length: u8,
}

impl Slot {
    const NONE: Slot = Slot { bytes: [0; SHORT], length: GAP };

    fn of(token: &[u8], long: &mut Vec<u8>) -> Result<Slot, Error> {
        let mut slot = Slot { bytes: [0; SHORT], length: token.len() as u8 };
        if token.len() <= SHORT {
            slot.bytes[..token.len()].copy_from_slice(token);
            return Ok(slot);
        }
        let start = long.len();
        long.extend_from_slice(token);
        let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(long.len())) else {
            return Err(Error::TooLarge("the tokens of the vocabulary exceed 4 GiB".to_owned()));
        };
        slot.bytes[..4].copy_from_slice(&start.to_le_bytes());
        slot.bytes[4..8].copy_from_slice(&end.to_le_bytes());
        slot.length = LONG;
        Ok(slot)
    }

    fn token<'t>(&'t self, long: &'t [u8]) -> &'t [u8] {
        if usize::from(self.length) <= SHORT {
            return &self.bytes[..usize::from(self.length)];
        }
        let [a, b, c, d, e, f, g, h, ..] = self.bytes;
        &long[u32::from_le_bytes([a, b, c, d]) as usize..u32::from_le_bytes([e, f, g, h]) as usize]
    }
}

/// Every id's bytes as they stand in decoded text.
#[derive(Debug)]
pub struct Decoder {
    slots: Vec<Slot>,
    /// id -> the length of its token, apart from the slots: summing reads nothing else.
    lengths: Vec<u8>,
    /// The longer tokens, one after the other.
    long: Vec<u8>,
    /// id -> whether the token ends a word, so that its last byte is a space; empty where none does.
    ends_word: Vec<bool>,
}

impl Decoder {
    /// Over the vocabulary and the special and added tokens, whose ids must be free or hold the same bytes.
    pub(crate) fn new(vocab: &Vocab, special: &[Named], spelling: &Spelling<'_>) -> Result<Decoder, Error> {
        let end_of_word = spelling.end_of_word;
        let byte_names: FxHashMap<u32, String> =
            spelling.byte_tokens.iter().map(|&(id, byte)| (id, byte_name(byte))).collect();
        let mut decoder =
            Decoder { slots: Vec::new(), lengths: Vec::new(), long: Vec::new(), ends_word: Vec::new() };
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
        if at >= self.slots.len() {
            self.slots.resize(at + 1, Slot::NONE);
            self.lengths.resize(at + 1, GAP);
        }
        self.slots[at] = Slot::of(bytes, &mut self.long)?;
        self.lengths[at] = bytes.len().min(usize::from(LONG)) as u8;
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
        let slot = self.slots.get(id as usize)?;
        (slot.length != GAP).then(|| slot.token(&self.long))
    }

    /// How many bytes `ids` decode to; an id that no token has is an error.
    pub fn size(&self, ids: &[u32]) -> Result<usize, Error> {
        let mut size = 0;
        for (index, &id) in ids.iter().enumerate() {
            let length = self.lengths.get(id as usize).copied().unwrap_or(GAP);
            size += match length {
                LONG | GAP => self.bytes(id).ok_or(Error::UnknownId { id: i64::from(id), index })?.len(),
                length => usize::from(length),
            };
        }
        Ok(size - usize::from(self.drops_space(ids, size)))
    }

    /// Whether the space after the last word is left out.
    fn drops_space(&self, ids: &[u32], size: usize) -> bool {
        size > 0 && ids.last().is_some_and(|&id| self.ends_word.get(id as usize) == Some(&true))
    }

    /// Writes the bytes of `ids` and says how many; at most what there is room for. `size` says how many they are.
    pub fn write(&self, ids: &[u32], out: &mut [u8]) -> usize {
        let mut at = 0;
        for &id in ids {
            let Some(slot) = self.slots.get(id as usize) else { return at };
            match out[at..].first_chunk_mut::<SHORT>() {
                Some(room) if usize::from(slot.length) <= SHORT => {
                    *room = slot.bytes;
                    at += usize::from(slot.length);
                }
                _ => {
                    let token = self.bytes(id).unwrap_or_default();
                    let length = token.len().min(out.len() - at);
                    out[at..at + length].copy_from_slice(&token[..length]);
                    at += length;
                }
            }
        }
        at
    }

    /// Appends the bytes of `ids`; the space after the last word is left out.
    pub fn decode(&self, ids: &[u32], out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        out.resize(start + self.size(ids)?, 0);
        self.write(ids, &mut out[start..]);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens of every length around those that a slot and a length of one byte hold.
    fn decoder() -> (Decoder, Vec<Vec<u8>>) {
        let lengths = [0, 1, 2, 7, 14, 15, 16, 17, 31, 253, 254, 255, 256, 70_000];
        let tokens: Vec<Vec<u8>> =
            lengths.iter().map(|&length| vec![b'a' + (length % 26) as u8; length]).collect();
        // Gaps below, between and above.
        let vocab =
            Vocab::new(tokens.iter().enumerate().map(|(at, token)| (3 * at as u32 + 1, &token[..]))).unwrap();
        let spelling = Spelling::plain(Unit::Byte);
        (Decoder::new(&vocab, &[], &spelling).unwrap(), tokens)
    }

    #[test]
    fn tokens_of_every_length_in_every_order() {
        let (decoder, tokens) = decoder();
        let mut state = 7_u32;
        for round in 0..300 {
            let places: Vec<usize> = (0..round % 40)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 16) as usize % (tokens.len() - usize::from(round % 7 != 0))
                })
                .collect();
            let ids: Vec<u32> = places.iter().map(|&at| 3 * at as u32 + 1).collect();
            let wanted: Vec<u8> = places.iter().flat_map(|&at| tokens[at].clone()).collect();
            assert_eq!(decoder.size(&ids), Ok(wanted.len()));
            let mut out = b"before".to_vec();
            decoder.decode(&ids, &mut out).unwrap();
            assert_eq!(out, [b"before", &wanted[..]].concat());
            // Too little room: as much as there is, and nothing beyond.
            for room in [0, 1, wanted.len() / 2, wanted.len().saturating_sub(1), wanted.len() + 20] {
                let mut out = vec![0; room];
                let filled = decoder.write(&ids, &mut out);
                assert_eq!(filled, room.min(wanted.len()));
                assert_eq!(out[..filled], wanted[..filled]);
            }
        }
    }

    #[test]
    fn ids_without_a_token() {
        let (decoder, tokens) = decoder();
        assert_eq!(decoder.bytes(0), None);
        assert_eq!(decoder.bytes(1), Some(&b""[..]));
        for id in [0, 2, decoder.id_bound() as u32, u32::MAX] {
            assert_eq!(decoder.size(&[1, 4, id]), Err(Error::UnknownId { id: i64::from(id), index: 2 }));
            assert_eq!(decoder.write(&[4, id], &mut [0; 40]), tokens[1].len());
        }
    }
}
