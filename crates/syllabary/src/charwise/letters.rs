//! What each character is: its symbol, its ids if nothing merges with it, and whether anything can.
//!
//! Leaves out which neighbours merge (`joins`, `pairs`).

use rustc_hash::FxHashMap;

use crate::alphabet::{Alphabet, NONE};

/// The highest id that a `Letter` can hold, and one more.
pub(super) const ID_BOUND: u32 = 1 << 28;

/// Characters below are in a table, the others in a map.
const TABLE: usize = 0x1_0000;

const KIND: u32 = 3 << 30;
const TOKEN: u32 = 0;
const BYTES: u32 = 1 << 30;
const UNKNOWN: u32 = 2 << 30;
/// Some token has a character after this one, or before it.
const HAS_NEXT: u32 = 1 << 29;
const HAS_PREVIOUS: u32 = 1 << 28;

/// What a character is, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letter(u32);

/// What stands for a character that has merged with none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// This token.
    Token(u32),
    /// The tokens of its bytes.
    Bytes,
    /// The unknown token.
    Unknown,
}

impl Letter {
    /// Whether some token has `self` and then a character, and some a character and then `next`.
    #[inline]
    pub(super) fn may_join(self, next: Letter) -> bool {
        self.0 & HAS_NEXT != 0 && next.0 & HAS_PREVIOUS != 0
    }

    #[inline]
    pub(super) fn stand(self) -> Stand {
        match self.0 & KIND {
            TOKEN => Stand::Token(self.id()),
            BYTES => Stand::Bytes,
            _ => Stand::Unknown,
        }
    }

    /// Its id, if it is a token.
    #[inline]
    pub(super) fn id(self) -> u32 {
        self.0 & (ID_BOUND - 1)
    }

    /// Whether nothing stands for it.
    #[inline]
    pub(super) fn is_unknown(self) -> bool {
        self.0 & UNKNOWN != 0
    }
}

/// All characters.
pub(super) struct Letters {
    table: Box<[Letter; TABLE]>,
    others: FxHashMap<char, Letter>,
    /// Characters beyond the table that are no token and in none: by the bytes that fallback has.
    alphabet_bytes: Box<[u32; 256]>,
    has_fallback: bool,
    /// A space is read as this one.
    space: char,
}

impl Letters {
    /// Of an alphabet, with `space` for a space, and the pairs of neighbours in tokens; `None` if some character
    /// would be an error.
    pub(super) fn new(
        alphabet: &Alphabet,
        space: char,
        neighbours: impl Iterator<Item = (char, char)>,
        has_unknown: bool,
    ) -> Option<Letters> {
        if !has_unknown && !Letters::has_all_bytes(alphabet) {
            return None;
        }
        let mut letters = Letters {
            table: vec![Letter(0); TABLE].try_into().ok()?,
            others: FxHashMap::default(),
            alphabet_bytes: Box::new(alphabet.fallback_bytes),
            has_fallback: alphabet.fallback,
            space,
        };
        for code in 0..TABLE {
            letters.table[code] = letters.without_token(char::from_u32(code as u32));
        }
        for (&char, &id) in &alphabet.chars[0] {
            if id >= ID_BOUND {
                return None;
            }
            letters.change(char, |_| id | TOKEN);
        }
        for (left, right) in neighbours {
            letters.change(left, |letter| letter | HAS_NEXT);
            letters.change(right, |letter| letter | HAS_PREVIOUS);
        }
        letters.table[usize::from(b' ')] = letters.get(space);
        Some(letters)
    }

    /// Whether fallback can spell every character.
    pub(super) fn has_all_bytes(alphabet: &Alphabet) -> bool {
        alphabet.fallback && alphabet.fallback_bytes.iter().all(|&id| id != NONE)
    }

    fn change(&mut self, char: char, change: impl Fn(u32) -> u32) {
        let new = Letter(change(self.get(char).0));
        match self.table.get_mut(char as usize) {
            Some(letter) => *letter = new,
            None => drop(self.others.insert(char, new)),
        }
    }

    fn without_token(&self, char: Option<char>) -> Letter {
        let mut buffer = [0; 4];
        let bytes = char.map_or(&[][..], |char| char.encode_utf8(&mut buffer).as_bytes());
        let spelled =
            self.has_fallback && bytes.iter().all(|&byte| self.alphabet_bytes[usize::from(byte)] != NONE);
        Letter(if spelled { BYTES } else { UNKNOWN })
    }

    /// What this character is.
    #[inline]
    pub(super) fn get(&self, char: char) -> Letter {
        match self.table.get(char as usize) {
            Some(&letter) => letter,
            None => self.others.get(&char).copied().unwrap_or_else(|| self.without_token(Some(char))),
        }
    }

    /// The character that stands for this one in tokens.
    #[inline]
    pub(super) fn canonical(&self, char: char) -> char {
        if char == ' ' { self.space } else { char }
    }

    /// A character of up to three bytes, which these four begin with: what it is, and its width.
    #[inline]
    pub(super) fn decode(&self, bytes: u32) -> (Letter, usize) {
        let byte = |at: u32| bytes >> (8 * at) & 0xFF;
        let two = (byte(0) & 0x1F) << 6 | byte(1) & 0x3F;
        let three = (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | byte(2) & 0x3F;
        let code = match byte(0) {
            0..0x80 => byte(0),
            0x80..0xE0 => two,
            _ => three,
        };
        let width = 1 + usize::from(byte(0) >= 0xC0) + usize::from(byte(0) >= 0xE0);
        (self.table[usize::from(code as u16)], width)
    }

    /// The ids of a character that is a token or spelled with bytes, which these four begin with, and their number;
    /// `width` is its width.
    #[inline]
    pub(super) fn ids(&self, letter: Letter, bytes: u32, width: usize) -> ([u32; 4], usize) {
        let spelled = bytes.to_le_bytes().map(|byte| self.alphabet_bytes[usize::from(byte)]);
        let is_token = letter.0 & BYTES == 0;
        let first = if is_token { letter.id() } else { spelled[0] };
        ([first, spelled[1], spelled[2], spelled[3]], if is_token { 1 } else { width })
    }

    /// The ids of the bytes of a character.
    #[inline]
    pub(super) fn byte_ids(&self, char: char) -> ([u32; 4], usize) {
        let mut buffer = [0; 4];
        let width = self.canonical(char).encode_utf8(&mut buffer).len();
        (buffer.map(|byte| self.alphabet_bytes[usize::from(byte)]), width)
    }
}
