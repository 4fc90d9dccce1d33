//! What becomes of a letter of a word, whatever stands around it.
//!
//! ```text
//! a É a  ->  aea        É is a letter: e
//! a - a  ->  a - a      no letter: it cuts
//! ```
//!
//! A word of letters is normalized by writing one after the other what each becomes, and it is one piece. What that
//! is, is found by trying it, with the steps themselves. Leaves out characters of four bytes and long words, which the
//! steps do, and for which tokenizers all this is true (`mod`).

use std::ops::{Range, RangeInclusive};

use unicode_normalization_alignments::char::canonical_combining_class;

use crate::{aligned::Aligned, encode::decode};

/// Characters below have a place in the table.
const TABLED: usize = 1 << 16;
/// A letter becomes less bytes than these; the last of them says how many, and one more.
const ROOM: usize = 16;
/// Characters of three bytes of scripts that are written without spaces, and so have few words that come again.
const UNSPACED: [RangeInclusive<u32>; 2] = [0x2E80..=0x9FFF, 0xF900..=0xFAFF];
const BITS: usize = u64::BITS as usize;
/// No longer word is written here.
const LONGEST: usize = 128;

/// Some characters, a bit for each, if there are any.
type Characters = Option<Box<[u64; TABLED / BITS]>>;

/// Known letters, and one word of them.
#[derive(Debug, Default)]
pub(super) struct Letters {
    table: Vec<[u8; ROOM]>,
    /// Those that become nothing else, of scripts without spaces.
    unspaced: Characters,
    /// Characters of three bytes that are a piece and become nothing else where they are a word.
    alone: Characters,
    written: Vec<u8>,
    /// For each byte written, where the character that it comes from begins and ends in the word.
    places: Vec<[u8; 2]>,
}

impl Letters {
    /// Remembers a letter.
    pub(super) fn put(&mut self, code: u32, becomes: &str) {
        if self.table.is_empty() {
            self.table = vec![[0; ROOM]; TABLED];
        }
        let Some(place) = self.table.get_mut(code as usize) else { return };
        let Some(bytes) = place[..ROOM - 1].get_mut(..becomes.len()) else { return };
        bytes.copy_from_slice(becomes.as_bytes());
        place[ROOM - 1] = 1 + becomes.len() as u8;
        if becomes.len() == 3 && becomes.chars().map(u32::from).eq([code]) {
            self.put_alone(code);
            if UNSPACED.iter().any(|range| range.contains(&code)) {
                put(&mut self.unspaced, code);
            }
        }
    }

    /// Remembers a character of three bytes that is a piece and becomes nothing else where it is a word.
    pub(super) fn put_alone(&mut self, code: u32) {
        put(&mut self.alone, code);
    }

    /// Those.
    #[inline(always)]
    pub(super) fn alone(&self) -> Option<&[u64; TABLED / BITS]> {
        self.alone.as_deref()
    }

    /// The letters of scripts without spaces that become nothing else, a bit for each, if there are any.
    #[inline(always)]
    pub(super) fn unspaced(&self) -> Option<&[u64; TABLED / BITS]> {
        self.unspaced.as_deref()
    }

    /// Whether this is one of them.
    #[inline]
    pub(super) fn is_unspaced(&self, code: usize) -> bool {
        let bits = self.unspaced().and_then(|letters| letters.get(code / BITS));
        bits.is_some_and(|bits| bits >> (code % BITS) & 1 == 1)
    }

    /// What becomes of a word; `None` if it is long, or not all of letters.
    pub(super) fn write(&mut self, word: &str) -> Option<&str> {
        let length = self.each(word, |_, _, _| true)?;
        Some(self.text(length))
    }

    /// The same; also `None` if a letter becomes nothing. `original` then says where bytes of it come from.
    pub(super) fn write_placed(&mut self, word: &str) -> Option<&str> {
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        let length = self.each(word, |start, end, count| {
            places.resize(places.len() + count, [start as u8, end as u8]);
            count > 0
        });
        self.places = places;
        length.map(|length| self.text(length))
    }

    /// The bytes of the word that these bytes of what `write_placed` wrote, at least one, come from.
    pub(super) fn original(&self, bytes: Range<usize>) -> [u32; 2] {
        [u32::from(self.places[bytes.start][0]), u32::from(self.places[bytes.end - 1][1])]
    }

    /// The first bytes that `each` has written.
    #[inline]
    fn text(&self, length: usize) -> &str {
        // SAFETY: they are what letters become (`put`), each a text, one after the other.
        unsafe { std::str::from_utf8_unchecked(&self.written[..length]) }
    }

    /// Writes a word, and says of each letter where it begins and ends, and how many bytes it becomes, until one is
    /// refused; the bytes in all.
    #[inline]
    fn each(&mut self, word: &str, mut letter: impl FnMut(usize, usize, usize) -> bool) -> Option<usize> {
        let bytes = word.as_bytes();
        if bytes.len() > LONGEST {
            return None;
        }
        self.written.resize(LONGEST * ROOM, 0);
        let (mut at, mut length) = (0, 0);
        while at < bytes.len() {
            let (code, width) = decode(bytes, at);
            let becomes = self.table.get(code)?;
            let count = usize::from(becomes[ROOM - 1].checked_sub(1)?);
            if !letter(at, at + width, count) {
                return None;
            }
            self.written.get_mut(length..length + ROOM)?.copy_from_slice(becomes);
            length += count;
            at += width;
        }
        Some(length)
    }
}

/// Adds a character, which has three bytes.
fn put(some: &mut Characters, code: u32) {
    some.get_or_insert_with(|| Box::new([0; TABLED / BITS]))[code as usize / BITS] |=
        1 << (code as usize % BITS);
}

/// What a character of so many bytes becomes, by what the steps make of it between two `a`, if that comes from this
/// character alone and is not nothing.
pub(super) fn of_normalized(made: &Aligned, width: usize) -> Option<&str> {
    let becomes = made.text().strip_prefix('a')?.strip_suffix('a')?;
    let spans = made.spans()?.get(1..=becomes.len())?;
    let own = spans.iter().all(|&span| span == (1, 1 + width as u32));
    (own && !becomes.is_empty()).then_some(becomes)
}

/// Whether nothing of it moves past what comes before or after it, as a mark does.
pub(super) fn stays(becomes: &str) -> bool {
    becomes.chars().all(|c| canonical_combining_class(c) == 0)
}
