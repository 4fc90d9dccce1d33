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

use std::ops::Range;

use unicode_normalization_alignments::char::canonical_combining_class;

use crate::{aligned::Aligned, encode::decode};

/// Characters below have a place in the table.
const TABLED: usize = 1 << 16;
/// A letter becomes less bytes than these; the last of them says how many, and one more.
const ROOM: usize = 16;
/// No longer word is written here.
const LONGEST: usize = 128;

/// Known letters, and one word of them.
#[derive(Debug, Default)]
pub(super) struct Letters {
    table: Vec<[u8; ROOM]>,
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
    }

    /// What becomes of a word; `None` if it is long, or not all of letters.
    pub(super) fn write(&mut self, word: &str) -> Option<&str> {
        let length = self.each(word, |_, _, _| true)?;
        std::str::from_utf8(&self.written[..length]).ok()
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
        std::str::from_utf8(&self.written[..length?]).ok()
    }

    /// The bytes of the word that these bytes of what `write_placed` wrote, at least one, come from.
    pub(super) fn original(&self, bytes: Range<usize>) -> [u32; 2] {
        [u32::from(self.places[bytes.start][0]), u32::from(self.places[bytes.end - 1][1])]
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
