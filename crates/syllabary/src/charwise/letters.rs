//! What each character is: its ids if nothing merges with it, and whether anything can.
//!
//! Leaves out which neighbours merge (`joins`, `pairs`).

use rustc_hash::FxHashMap;

use crate::{
    alphabet::{Alphabet, NONE},
    first::decode,
};

/// Characters below are in a table, the others in a map.
const TABLE: usize = 0x1_0000;

/// How many ids stand for it.
const COUNT: u32 = 7;
const IS_TOKEN: u32 = 1 << 3;
const IS_UNKNOWN: u32 = 1 << 4;
/// Some token has a character after this one, or before it.
const HAS_NEXT: u32 = 1 << 6;
const HAS_PREVIOUS: u32 = 1 << 5;

/// What a character is, in 16 bytes: the ids that stand for it if it has merged with none (of 4 bytes, all but the
/// last), and the flags above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(16))]
pub(super) struct Letter([u32; 4]);

const FLAGS: usize = 3;

impl Letter {
    #[inline]
    fn flags(self) -> u32 {
        self.0[FLAGS]
    }

    /// Whether some token has `self` and then a character, and some a character and then `next`.
    #[inline]
    pub(super) fn may_join(self, next: Letter) -> bool {
        self.flags() & next.flags() << 1 & HAS_NEXT != 0
    }

    /// Whether some token has a character before it.
    #[inline]
    pub(super) fn has_previous(self) -> bool {
        self.flags() & HAS_PREVIOUS != 0
    }

    /// Whether some token has a character beside it.
    #[inline]
    pub(super) fn has_neighbours(self) -> bool {
        self.flags() & (HAS_NEXT | HAS_PREVIOUS) != 0
    }

    /// Its id, if it is a token.
    #[inline]
    pub(super) fn id(self) -> u32 {
        self.0[0]
    }

    /// Whether nothing stands for it.
    #[inline]
    pub(super) fn is_unknown(self) -> bool {
        self.flags() & IS_UNKNOWN != 0
    }

    /// Whether it goes.
    #[inline]
    pub(super) fn is_nothing(self) -> bool {
        self.flags() & (COUNT | IS_UNKNOWN) == 0
    }

    /// Whether nothing stands for it, and it is in no token.
    #[inline]
    pub(super) fn is_foreign(self) -> bool {
        self.flags() & (IS_UNKNOWN | HAS_NEXT | HAS_PREVIOUS) == IS_UNKNOWN
    }

    /// The ids that stand for it, the first so many of these; not for a character of 4 bytes.
    #[inline]
    pub(super) fn ids(self) -> ([u32; 4], usize) {
        (self.0, (self.flags() & COUNT) as usize)
    }
}

/// All characters.
pub(super) struct Letters {
    table: Box<[Letter; TABLE]>,
    others: FxHashMap<char, Letter>,
    /// The ids of bytes, if fallback spells with them.
    bytes: Option<Box<[u32; 256]>>,
    /// A space is read as this one.
    space: char,
    /// The flags of a character that is in no token.
    flags: u32,
    /// As bits, which characters of the table are foreign: the table is too large for near caches.
    foreign: Box<[u64; TABLE / 64]>,
}

impl Letters {
    /// Of an alphabet, with `space` for a space, and the pairs of neighbours in tokens; `None` if some character
    /// has no id and may not lack one.
    pub(super) fn new(
        alphabet: &Alphabet,
        space: char,
        neighbours: impl Iterator<Item = (char, char)>,
        may_lack: bool,
    ) -> Option<Letters> {
        if !may_lack && !Letters::has_all_bytes(alphabet) {
            return None;
        }
        let mut letters = Letters {
            table: vec![Letter([0; 4]); TABLE].try_into().ok()?,
            others: FxHashMap::default(),
            bytes: alphabet.fallback.then(|| Box::new(alphabet.fallback_bytes)),
            space,
            flags: 0,
            foreign: Box::new([0; TABLE / 64]),
        };
        for code in 0..TABLE {
            letters.table[code] = letters.without_token(char::from_u32(code as u32).unwrap_or_default());
        }
        for (&char, &id) in &alphabet.chars[0] {
            letters.change(char, |letter| *letter = Letter([id, NONE, NONE, IS_TOKEN | 1]));
        }
        for (left, right) in neighbours {
            letters.change(left, |letter| letter.0[FLAGS] |= HAS_NEXT);
            letters.change(right, |letter| letter.0[FLAGS] |= HAS_PREVIOUS);
        }
        letters.table[usize::from(b' ')] = letters.get(space);
        letters.mark_foreign();
        Some(letters)
    }

    /// Whether fallback can spell every character.
    pub(super) fn has_all_bytes(alphabet: &Alphabet) -> bool {
        alphabet.fallback && alphabet.fallback_bytes.iter().all(|&id| id != NONE)
    }

    /// Characters are taken to stand together in some token, but for what stands before this one.
    pub(super) fn join_all_but(&mut self, mark: char) {
        self.flags = HAS_NEXT | HAS_PREVIOUS;
        let flags = self.flags;
        self.table.iter_mut().chain(self.others.values_mut()).for_each(|letter| letter.0[FLAGS] |= flags);
        self.change(mark, |letter| letter.0[FLAGS] &= !HAS_PREVIOUS);
        self.table[usize::from(b' ')] = self.get(mark);
        self.mark_foreign();
    }

    /// Takes these, which are in no token with another, to be nothing.
    pub(super) fn drop_all(&mut self, dropped: &[char]) {
        dropped.iter().for_each(|&char| self.change(char, |letter| *letter = Letter([NONE, NONE, NONE, 0])));
        self.mark_foreign();
    }

    fn mark_foreign(&mut self) {
        for (word, letters) in self.foreign.iter_mut().zip(self.table.as_chunks::<64>().0) {
            *word = letters.iter().rev().fold(0, |bits, letter| bits << 1 | u64::from(letter.is_foreign()));
        }
    }

    /// Whether nothing stands for the character of the table that has this number, and it is in no token.
    #[inline]
    pub(super) fn is_foreign(&self, number: u16) -> bool {
        self.foreign[usize::from(number / 64)] >> (number % 64) & 1 == 1
    }

    fn change(&mut self, char: char, change: impl Fn(&mut Letter)) {
        let mut letter = self.get(char);
        change(&mut letter);
        match self.table.get_mut(char as usize) {
            Some(place) => *place = letter,
            None => drop(self.others.insert(char, letter)),
        }
    }

    fn without_token(&self, char: char) -> Letter {
        let unknown = Letter([NONE, NONE, NONE, IS_UNKNOWN | self.flags]);
        let Some(bytes) = &self.bytes else { return unknown };
        let mut buffer = [0; 4];
        let width = char.encode_utf8(&mut buffer).len();
        let [a, b, c, d] = buffer.map(|byte| bytes[usize::from(byte)]);
        if [a, b, c, d][..width].contains(&NONE) {
            unknown
        } else {
            Letter([a, b, c, width as u32 | self.flags])
        }
    }

    /// Whether bytes spell characters that are no tokens.
    pub(super) fn spells(&self) -> bool {
        self.bytes.is_some()
    }

    /// What this character is.
    #[inline]
    pub(super) fn get(&self, char: char) -> Letter {
        match self.table.get(char as usize) {
            Some(&letter) => letter,
            None => self.others.get(&char).copied().unwrap_or_else(|| self.without_token(char)),
        }
    }

    /// The character that stands for this one in tokens.
    #[inline]
    pub(super) fn canonical(&self, char: char) -> char {
        if char == ' ' { self.space } else { char }
    }

    /// The ids of a character that is not unknown, the first so many of these.
    pub(super) fn ids(&self, char: char) -> ([u32; 4], usize) {
        let (mut ids, count) = self.get(char).ids();
        if let (4, Some(bytes)) = (count, &self.bytes) {
            let mut buffer = [0; 4];
            char.encode_utf8(&mut buffer);
            ids[3] = bytes[usize::from(buffer[3])];
        }
        (ids, count)
    }

    /// A character of up to three bytes, which these four begin with: what it is, and its width. Of a character of
    /// four bytes: some other one.
    #[inline]
    pub(super) fn decode(&self, bytes: u32) -> (Letter, usize) {
        let (number, width) = decode(bytes);
        (self.table[usize::from(number)], width)
    }
}
