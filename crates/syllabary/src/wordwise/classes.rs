//! What a character does between two words.
//!
//! ```text
//! the pieces of `a` c `a`     a a          c is a space
//!                             a … a        c stands alone, whatever is around it
//!                             else         c is a part of words
//! ```
//!
//! That it cuts these two letters is enough where no step looks past a cut nor at what is beside a character (`mod` says
//! where), and what cuts begins with a character that no mark is moved over. Leaves out the steps (`normalize`,
//! `pretokenize`).

use rustc_hash::FxHashMap;

/// A part of words.
pub(super) const WORD: u32 = 1;
/// Between words, and no piece.
pub(super) const SPACE: u32 = 2;
/// Always apart from what is around it.
pub(super) const ALONE: u32 = 3;
/// Alone, and a single token, which stands for it: its id, and so much more.
pub(super) const TOKEN: u32 = 4;

/// Characters of up to three bytes; they have a table.
const TABLED: usize = 1 << 16;
/// Of others so many are remembered.
const MOST_OTHERS: usize = 1 << 12;

/// The classes known so far; 0 is none.
#[derive(Debug, Default)]
pub(super) struct Classes {
    table: Vec<u32>,
    others: FxHashMap<u32, u32>,
}

impl Classes {
    /// The class of an ASCII character, 0 if it is not known.
    #[inline(always)]
    pub(super) fn ascii(&self, byte: u8) -> u32 {
        self.table.get(usize::from(byte)).copied().unwrap_or(0)
    }

    /// The class of a character by its code, 0 if it is not known.
    #[inline(always)]
    pub(super) fn get(&self, code: u32) -> u32 {
        match self.table.get(code as usize) {
            Some(&class) => class,
            None => self.others.get(&code).copied().unwrap_or(0),
        }
    }

    /// Remembers a class.
    #[cold]
    pub(super) fn put(&mut self, code: u32, class: u32) {
        if self.table.is_empty() {
            self.table = vec![0; TABLED];
        }
        if let Some(place) = self.table.get_mut(code as usize) {
            *place = class;
            return;
        }
        if self.others.len() >= MOST_OTHERS {
            self.others.clear();
        }
        self.others.insert(code, class);
    }
}

/// The class of a character by the pieces of it between two `a`; `isolates`: some stand alone; `drops`: it may be a space.
pub(super) fn of_pieces(pieces: &[String], isolates: bool, drops: bool) -> u32 {
    match pieces {
        [first, last] if drops && first == "a" && last == "a" => SPACE,
        [first, _, .., last] if isolates && first == "a" && last == "a" => ALONE,
        _ => WORD,
    }
}
