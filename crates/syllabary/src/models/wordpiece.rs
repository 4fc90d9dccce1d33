//! The longest token first, from the left (`reference/wordpiece.py`).
//!
//! ```text
//! playing -> play ##ing
//! ```
//!
//! The tokens stand in two tables, those that begin a piece and those that go on, these without their prefix: so no
//! text is put together to be looked up; and only as long a token is looked up as there are with the same first bytes
//! (`lengths`), or what is said of two characters (`pairs`), where these have three bytes, as in Chinese. Leaves out the
//! memory of pieces (`run`, `wordwise`).

use std::{hint::select_unpredictable, sync::OnceLock};

use super::{
    Found,
    lengths::{Lengths, MOST},
    pairs::{self, END, Pairs, WIDE, is_wide},
};
use crate::{Error, parts::Parts, vocab::Vocab};

/// A piece of at most so many bytes is put where so many zeros are behind it: then what keys are made of is read at once.
const WORD: usize = 64;
const BEHIND: usize = 16;
/// Fewer letters of three bytes than these are looked at together.
pub(crate) const LETTERS: usize = 16;
/// Tokens of a piece that need no vector.
const FEW: usize = 8;

/// The tables of one tokenizer.
#[derive(Debug)]
pub(crate) struct WordPiece {
    /// Tokens that begin a piece.
    first: Table,
    /// Tokens that go on, without the prefix.
    next: Table,
    unknown: Option<u32>,
    /// A piece of more characters is unknown.
    longest: usize,
}

/// Tokens by their bytes.
#[derive(Debug)]
struct Table {
    /// They are numbered.
    tokens: Vocab,
    /// The ids of the numbers, if they are others.
    ids: Option<Vec<u32>>,
    lengths: Lengths,
    /// Made for the first character of three bytes.
    pairs: OnceLock<Option<Pairs>>,
}

impl WordPiece {
    /// Of tokens with the same text, the lowest id counts.
    pub(crate) fn new(parts: &Parts<'_>, vocab: &Vocab) -> Result<WordPiece, Error> {
        let prefix = parts.spelling.continuing_prefix.unwrap_or_default().as_bytes();
        let going_on = vocab.iter().filter_map(|(id, bytes)| Some((id, bytes.strip_prefix(prefix)?)));
        let (next_ids, rests): (Vec<u32>, Vec<&[u8]>) = going_on.unzip();
        Ok(WordPiece {
            first: Table::new(Vocab::new(vocab.iter())?, None),
            next: Table::new(Vocab::new((0..).zip(rests))?, Some(next_ids)),
            unknown: parts.spelling.unknown,
            longest: parts.longest_piece.unwrap_or(usize::MAX),
        })
    }

    /// The tokens of the piece.
    pub(crate) fn tokens(&self, piece: &str, found: &mut impl Found) {
        let mut room = [0; WORD + BEHIND];
        let piece = match room.get_mut(..piece.len()).filter(|_| piece.len() <= WORD) {
            Some(bytes) => {
                bytes.copy_from_slice(piece.as_bytes());
                Piece { bytes: &room, length: piece.len() }
            }
            None => Piece { bytes: piece.as_bytes(), length: piece.len() },
        };
        let mut tokens = Tokens::default();
        if self.each(piece, |id, end| tokens.push(id, end)) {
            let mut start = 0;
            for (id, end) in tokens.all() {
                found.token(id, start..end);
                start = end;
            }
            return;
        }
        match self.unknown {
            Some(id) => found.token(id, 0..piece.length),
            None => found.missing(0..piece.length),
        }
    }

    /// Writes the ids of a piece, if all of it are letters of three bytes that are among these, a bit for each, and fewer
    /// than `LETTERS`; how many they are. `None` if it is not so, or if it is unknown and there is no token for that.
    #[inline]
    pub(crate) fn write(
        &self,
        piece: &[u8],
        among: &[u64; END / 64],
        room: &mut [u32; LETTERS],
    ) -> Option<usize> {
        let (letters, rest) = piece.as_chunks::<WIDE>();
        let is_among = |letter: &[u8; WIDE], code: usize| {
            is_wide(letter) & (among[code % END / 64] >> (code % 64) & 1 == 1)
        };
        if !rest.is_empty() || letters.len() > self.longest || !(1..LETTERS).contains(&letters.len()) {
            return None;
        }
        if let [letter] = letters {
            let code = pairs::code(letter);
            if !is_among(letter, code) {
                return None;
            }
            room[0] = self.first.pairs()?.alone(code).or(self.unknown)?;
            return Some(1);
        }
        let (mut codes, mut are_letters) = ([0; LETTERS], true);
        for (code, letter) in codes.iter_mut().zip(letters) {
            *code = pairs::code(letter) as u32;
            are_letters &= is_among(letter, *code as usize);
        }
        if !are_letters {
            return None;
        }
        let mut written = Written { room, count: 0, end: 0, is_known: true };
        written.put(self.first.pairs()?, (letters, 0), &codes);
        let pairs = self.next.pairs()?;
        // All are looked at, whatever the one before was: so no look waits for another.
        for at in 1..letters.len() {
            written.put(pairs, (letters, at), &codes);
        }
        // No branch: which words have no tokens is not to be foretold.
        let Written { room, count, is_known, .. } = written;
        let unknown = match self.unknown {
            None if !is_known => return None,
            unknown => unknown.unwrap_or(0),
        };
        room[0] = select_unpredictable(is_known, room[0], unknown);
        Some(select_unpredictable(is_known, count, 1))
    }

    /// Hands over each token and where it ends, from the first on; whether it is so to the end, else what was handed over
    /// is worth nothing.
    #[inline(always)]
    fn each(&self, piece: Piece<'_>, mut token: impl FnMut(u32, usize)) -> bool {
        // A character has a byte or more: only a piece of many bytes is counted.
        if piece.length > self.longest && piece.is_longer(self.longest) {
            return false;
        }
        let (mut table, mut at) = (&self.first, 0);
        loop {
            let Some((id, end)) = table.longest_token(piece, at) else { return false };
            token(id, end);
            if end >= piece.length {
                return true;
            }
            (table, at) = (&self.next, end);
        }
    }

    /// Asks for what is needed first of a piece that begins with these bytes.
    #[inline]
    pub(crate) fn ask(&self, text: &[u8], start: usize) {
        self.first.lengths.ask(text, start);
    }
}

/// Tokens of a piece of letters of three bytes.
struct Written<'r> {
    room: &'r mut [u32; LETTERS],
    count: usize,
    /// Letters that they have.
    end: usize,
    is_known: bool,
}

impl Written<'_> {
    /// Goes on to the letter at `at`, of which and of those around it these are the codes.
    #[inline(always)]
    fn put(&mut self, pairs: &Pairs, (letters, at): (&[[u8; WIDE]], usize), codes: &[u32; LETTERS]) {
        let is_here = at == self.end;
        let (of_both, mut said) = pairs.said(codes[at % LETTERS], codes[(at + 1) % LETTERS]);
        let mut has = 1 + usize::from(of_both);
        if is_here && Pairs::goes_on(said) {
            (said, has) = pairs.longest(&letters[at..], said);
        }
        self.is_known &= !is_here | (said != 0);
        self.room[self.count % LETTERS] = said.wrapping_sub(1);
        self.count += usize::from(is_here);
        self.end = select_unpredictable(is_here, at + has, self.end);
    }
}

/// A piece of so many of these bytes; there may be more behind it, of a short one there are zeros.
#[derive(Clone, Copy)]
struct Piece<'a> {
    bytes: &'a [u8],
    length: usize,
}

impl Piece<'_> {
    /// Whether it has more characters than this.
    #[cold]
    fn is_longer(self, count: usize) -> bool {
        self.bytes[..self.length].iter().filter(|&&byte| byte & 0xC0 != 0x80).count() > count
    }

    /// Whether a character ends before byte `at`.
    #[inline]
    fn is_boundary(self, at: usize) -> bool {
        self.bytes.get(at).is_none_or(|&byte| byte & 0xC0 != 0x80)
    }
}

/// Tokens of a piece and where they end; few are put nowhere else.
#[derive(Default)]
struct Tokens {
    few: [(u32, usize); FEW],
    count: usize,
    more: Vec<(u32, usize)>,
}

impl Tokens {
    #[inline]
    fn push(&mut self, id: u32, end: usize) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = (id, end),
            None => self.more.push((id, end)),
        }
        self.count += 1;
    }

    fn all(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        self.few[..self.count.min(FEW)].iter().chain(&self.more).copied()
    }
}

impl Table {
    fn new(tokens: Vocab, ids: Option<Vec<u32>>) -> Table {
        let lengths = Lengths::of(tokens.iter().map(|(_, bytes)| bytes), tokens.len());
        Table { tokens, ids, lengths, pairs: OnceLock::new() }
    }

    /// The id of a number.
    #[inline]
    fn id(&self, number: u32) -> u32 {
        self.ids.as_ref().map_or(number, |ids| ids[number as usize])
    }

    /// The tokens of characters of three bytes, made by now.
    #[inline(always)]
    fn pairs(&self) -> Option<&Pairs> {
        self.pairs.get_or_init(|| self.make()).as_ref()
    }

    #[cold]
    fn make(&self) -> Option<Pairs> {
        Pairs::of(self.tokens.iter().map(|(number, token)| (self.id(number), token)))
    }

    /// The longest token that the piece goes on with, and where it ends.
    #[inline]
    fn longest_token(&self, piece: Piece<'_>, start: usize) -> Option<(u32, usize)> {
        let (mut lengths, are_longer) = self.lengths.at(piece.bytes, (start, piece.length));
        if are_longer && let Some(token) = self.longer_token(piece, start) {
            return Some(token);
        }
        while let Some(length) = lengths.checked_ilog2() {
            if let Some(token) = self.token(piece, start, start + length as usize) {
                return Some(token);
            }
            lengths ^= 1 << length;
        }
        None
    }

    /// The same of those whose lengths are not told.
    #[cold]
    fn longer_token(&self, piece: Piece<'_>, start: usize) -> Option<(u32, usize)> {
        let longest = piece.length.min(start.saturating_add(self.tokens.longest()));
        (start + MOST..=longest).rev().find_map(|end| self.token(piece, start, end))
    }

    /// The token that these bytes are, and where it ends.
    #[inline(always)]
    fn token(&self, piece: Piece<'_>, start: usize, end: usize) -> Option<(u32, usize)> {
        if !piece.is_boundary(end) {
            return None;
        }
        let number = self.tokens.id_at(piece.bytes, start, end)?;
        Some((self.id(number), end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        alphabet::Unit,
        drawn::{drawing, drawn},
        models::Kind,
        split::{Split, Tables},
    };

    const CHARS: [&str; 9] = ["漢", "字", "典", "語", "學", "。", "a", "é", "😀"];
    const LETTERS_OF_THREE: usize = 5;

    /// The tokens of a piece.
    #[derive(Default)]
    struct Ids(Vec<u32>, bool);

    impl Found for Ids {
        fn token(&mut self, id: u32, _bytes: std::ops::Range<usize>) {
            self.0.push(id);
        }

        fn before(&mut self, id: u32, _bytes: std::ops::Range<usize>) {
            self.0.push(id);
        }

        fn missing(&mut self, _bytes: std::ops::Range<usize>) {
            self.1 = true;
        }
    }

    /// Pieces are written as they are found, or not at all if they are not of few such letters.
    #[test]
    fn letters_of_three_bytes_have_the_same_tokens() {
        let mut draw = drawing(3);
        let mut among = [0; END / 64];
        for code in CHARS[..LETTERS_OF_THREE].iter().flat_map(|char| char.chars()).map(|char| char as usize) {
            among[code / 64] |= 1 << (code % 64);
        }
        let (mut written, mut unknown) = (0, 0);
        for round in 0..drawn(200, 4_000) {
            let mut word = |count: usize, most: usize| -> String {
                (0..1 + draw(most)).map(|_| CHARS[draw(count)]).collect()
            };
            let mut tokens: Vec<String> = (0..5 + round % 60)
                .flat_map(|_| [word(CHARS.len(), 3), ["##", &word(LETTERS_OF_THREE, 4)].concat()])
                .collect();
            tokens.extend(
                CHARS[..round % 6].iter().flat_map(|char| [(*char).to_owned(), ["##", char].concat()]),
            );
            tokens.sort();
            tokens.dedup();
            let vocab = Vocab::new((0..).zip(tokens.iter().map(String::as_bytes))).unwrap();
            let mut parts = Parts::plain(Unit::Char, Split::new(None, Tables::Tiktoken, true).unwrap());
            parts.model = Kind::WordPiece;
            parts.spelling.continuing_prefix = Some("##");
            parts.spelling.unknown = (round % 2 == 0).then_some(1_000);
            parts.longest_piece = (round % 3 == 0).then_some(7);
            let model = WordPiece::new(&parts, &vocab).unwrap();
            for _ in 0..50 {
                let piece = word(if round % 5 == 0 { CHARS.len() } else { LETTERS_OF_THREE }, 18);
                let (mut ids, mut room) = (Ids::default(), [0; LETTERS]);
                model.tokens(&piece, &mut ids);
                let count = model.write(piece.as_bytes(), &among, &mut room);
                let letters = piece.chars().count();
                let is_for = piece.chars().all(|char| CHARS[..LETTERS_OF_THREE].concat().contains(char))
                    && letters < LETTERS
                    && parts.longest_piece.is_none_or(|most| letters <= most);
                assert_eq!(count.is_some(), is_for && !ids.1, "{piece:?} {tokens:?}");
                if let Some(count) = count {
                    assert_eq!(room[..count], ids.0, "{piece:?} {tokens:?}");
                    written += 1;
                    unknown += usize::from(ids.0 == [1_000]);
                }
            }
        }
        assert!(written > drawn(2_000, 40_000) && unknown > drawn(500, 10_000), "{written} {unknown}");
    }
}
