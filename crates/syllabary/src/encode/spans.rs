//! Ids with where each is and the piece of each: where text is not rewritten, the tokens say where they are.
//!
//! Adds: `Measures`, what is known of each token, and the output that adds them up. Leaves out text that steps rewrite
//! (`run`).

use std::ops::Range;

use super::{memory::FEW, output::Output};
use crate::vocab::Vocab;

/// A token's bytes and the characters that begin in it, by its id: 8 bits and 7; above them whether it begins inside a
/// character. 0: too many for that, or no token.
#[derive(Debug)]
pub(crate) struct Measures(Box<[u16]>);

const INSIDE: u16 = 1 << 15;

impl Measures {
    /// Of all tokens.
    pub(crate) fn new(vocab: &Vocab) -> Measures {
        let packed = |bytes: &[u8]| {
            let inside = if bytes.first().is_some_and(|byte| !is_start(byte)) { INSIDE } else { 0 };
            match (u8::try_from(bytes.len()), bytes.iter().filter(|byte| is_start(byte)).count() as u16) {
                (Ok(length), starts @ 0..128) => inside | starts << 8 | u16::from(length),
                _ => 0,
            }
        };
        Measures((0..vocab.id_bound()).map(|id| vocab.bytes(id).map_or(0, packed)).collect())
    }
}

#[inline]
fn is_start(byte: &u8) -> bool {
    byte & 0xC0 != 0x80
}

/// How many characters begin in these bytes.
fn starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| is_start(byte)).count()
}

/// Appends to three vectors that are equally long whenever pieces are complete; spans are of characters, or of bytes.
pub(crate) struct Spans<'o, const CHARACTERS: bool> {
    ids: &'o mut Vec<u32>,
    spans: &'o mut Vec<[u32; 2]>,
    words: &'o mut Vec<u32>,
    measures: &'o Measures,
    vocab: &'o Vocab,
    text: &'o str,
    /// So many bytes of the text are done, in which so many characters begin.
    at: usize,
    characters: usize,
    /// The number of the next piece.
    word: u32,
}

impl<'o, const CHARACTERS: bool> Spans<'o, CHARACTERS> {
    /// For the tokens of a text.
    pub(crate) fn new(
        text: &'o str,
        (vocab, measures): (&'o Vocab, &'o Measures),
        (ids, spans, words): (&'o mut Vec<u32>, &'o mut Vec<[u32; 2]>, &'o mut Vec<u32>),
    ) -> Self {
        Spans { ids, spans, words, measures, vocab, text, at: 0, characters: 0, word: 0 }
    }

    /// Passes over the bytes before `at`.
    fn go_to(&mut self, at: usize) {
        if CHARACTERS && at > self.at {
            self.characters += starts(&self.text.as_bytes()[self.at..at]);
        }
        self.at = at;
    }
}

/// Bytes in the lower half, characters in the upper: both are added up at once.
fn both(bytes: usize, characters: usize) -> u64 {
    bytes as u64 | (characters as u64) << 32
}

/// What a token too long for `Measures` adds, and whether it begins inside a character.
#[cold]
fn long(vocab: &Vocab, id: u32) -> (u64, u64) {
    let bytes = vocab.bytes(id).unwrap_or_default();
    (both(bytes.len(), starts(bytes)), u64::from(bytes.first().is_some_and(|byte| !is_start(byte))))
}

impl<const CHARACTERS: bool> Output for Spans<'_, CHARACTERS> {
    const PLACED: bool = true;

    #[inline(always)]
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        let length = self.ids.len();
        self.ids.extend_from_slice(ids);
        self.ids.truncate(length + count);
    }

    #[inline]
    fn many(&mut self, ids: &[u32]) {
        self.ids.extend_from_slice(ids);
    }

    fn named(&mut self, id: u32, bytes: Range<usize>) {
        self.go_to(bytes.start);
        let first = if CHARACTERS { self.characters } else { bytes.start };
        self.go_to(bytes.end);
        let end = if CHARACTERS { self.characters } else { bytes.end };
        self.ids.push(id);
        self.spans.push([first as u32, end as u32]);
        self.words.push(self.word);
        self.word += 1;
    }

    fn pieces(&mut self, text: &[u8], start: usize, ends: &[usize]) {
        let base = text.as_ptr() as usize - self.text.as_ptr() as usize;
        self.go_to(base + start);
        let mut rest = ends.iter().map(|end| (base + end) as u32);
        let Some(mut end) = rest.next() else { return };
        let (done, mut word) = (self.spans.len(), self.word);
        self.spans.resize(self.ids.len(), [0; 2]);
        self.words.resize(self.ids.len(), 0);
        let mut at = both(self.at, self.characters);
        let places = self.spans[done..].iter_mut().zip(&mut self.words[done..]);
        for (&id, (span, of)) in self.ids[done..].iter().zip(places) {
            let measure = self.measures.0.get(id as usize).copied().unwrap_or(0);
            let (mut more, mut inside) = (
                both(usize::from(measure & 0xFF), usize::from(measure >> 8 & 0x7F)),
                u64::from(measure >> 15),
            );
            if measure == 0 {
                (more, inside) = long(self.vocab, id);
            }
            if at as u32 >= end {
                end = rest.next().unwrap_or(u32::MAX);
                word += 1;
            }
            let first = at;
            at += more;
            *span = if CHARACTERS {
                [((first >> 32) - inside) as u32, (at >> 32) as u32]
            } else {
                [first as u32, at as u32]
            };
            *of = word;
        }
        (self.at, self.characters) = (at as u32 as usize, (at >> 32) as usize);
        self.word = word + 1;
        debug_assert!(self.at == end as usize && rest.next().is_none());
    }
}
