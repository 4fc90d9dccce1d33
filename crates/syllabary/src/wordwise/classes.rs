//! What a character does in a text, and which two are cut from each other.
//!
//! ```text
//! the pieces of `a` c `a`     a a          c is a space
//!                             a c a        c is cut from letters
//! those of `!` c `!`          ! c !        c is cut from signs
//! those of c c between `a`    a c c a      c stands alone, whatever is around it
//! ```
//!
//! What is cut from both but not from itself is as a number is to some steps. Two characters are cut from each other if
//! it is known of both what they are, and they are not the same. So it is where steps only look at which kind a
//! character is of (`mod` says which steps), and what becomes of it begins with no mark. Of others it is only known
//! whether they are spaces. Leaves out the steps (`normalize`, `pretokenize`).

use rustc_hash::FxHashMap;

/// A part of words, from which nothing is cut.
pub(super) const WORD: u32 = 1;
/// The same, but cut from signs and numbers.
pub(super) const LETTER: u32 = 2;
pub(super) const SIGN: u32 = 3;
pub(super) const NUMBER: u32 = 4;
/// Between words, and no piece.
pub(super) const SPACE: u32 = 5;
/// Always apart from what is around it.
pub(super) const ALONE: u32 = 6;
/// Alone, and a single token, which stands for it: its id, and so much more.
pub(super) const TOKEN: u32 = 7;

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

    /// Those of characters of up to three bytes, once one is known.
    pub(super) fn table(&self) -> Option<&[u32; TABLED]> {
        self.table.as_slice().try_into().ok()
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

/// How a character is cut from the same letter before and behind it, and what becomes of it if that is its own.
#[derive(Debug)]
pub(super) enum Between {
    /// It goes.
    Nothing,
    /// It is a piece.
    Apart(String),
    /// It is one piece with them.
    Joined(String),
    Other,
}

/// Whether a word goes on from a character of one class to the next: a bit for each two of them.
#[inline(always)]
pub(super) const fn go_on(before: u32, class: u32) -> bool {
    const ALIKE: u32 = {
        let (mut bits, mut at) = (0, 0);
        while at < 16 {
            let (before, class) = (WORD + at / 4, WORD + at % 4);
            bits |= ((before == WORD || class == WORD || before == class) as u32) << at;
            at += 1;
        }
        bits
    };
    let class = class.wrapping_sub(WORD);
    class <= NUMBER - WORD && ALIKE >> (4 * (before - WORD) + class) & 1 == 1
}
