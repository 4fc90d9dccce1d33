//! What each character is: its symbol, its ids if nothing merges with it, and whether anything can.
//!
//! Leaves out which neighbours merge (`joins`, `pairs`).

use rustc_hash::FxHashMap;

use crate::alphabet::{Alphabet, NONE, VIRTUAL};

/// The highest id that a `Letter` can hold, and one more.
pub(super) const ID_BOUND: u32 = 1 << 28;

/// Characters below are in a table, the others in a map.
const TABLE: u32 = 0x1_0000;

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
    /// Whether nothing merges with it, whatever stands around.
    #[inline]
    pub(super) fn is_alone(self) -> bool {
        self.0 & (HAS_NEXT | HAS_PREVIOUS) == 0
    }

    /// Whether some token has `self` and then a character, and some a character and then `next`.
    #[inline]
    pub(super) fn may_join(self, next: Letter) -> bool {
        self.0 & HAS_NEXT != 0 && next.0 & HAS_PREVIOUS != 0
    }

    #[inline]
    pub(super) fn stand(self) -> Stand {
        match self.0 & KIND {
            TOKEN => Stand::Token(self.0 & (ID_BOUND - 1)),
            BYTES => Stand::Bytes,
            _ => Stand::Unknown,
        }
    }

    /// The symbol that merges; `char` is the character.
    #[inline]
    pub(super) fn symbol(self, char: char) -> u32 {
        match self.stand() {
            Stand::Token(id) => id,
            _ => VIRTUAL | u32::from(char),
        }
    }
}

/// All characters.
pub(super) struct Letters {
    table: Vec<Letter>,
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
            table: Vec::new(),
            others: FxHashMap::default(),
            alphabet_bytes: Box::new(alphabet.fallback_bytes),
            has_fallback: alphabet.fallback,
            space,
        };
        letters.table = (0..TABLE).map(|code| letters.without_token(char::from_u32(code))).collect();
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

    /// The ids of the bytes of a character.
    #[inline]
    pub(super) fn byte_ids(&self, char: char) -> ([u32; 4], usize) {
        let mut buffer = [0; 4];
        let width = self.canonical(char).encode_utf8(&mut buffer).len();
        (buffer.map(|byte| self.alphabet_bytes[usize::from(byte)]), width)
    }
}
