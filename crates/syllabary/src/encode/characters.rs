//! What is known of each character: its ids where it stands alone, and beside what others tokens may have it.
//!
//! Characters of four bytes share an entry, which has no ids. Leaves out where text is cut (`inside`).

use super::{
    cuts::{CHARACTERS, Cuts, LAST},
    memory::FEW,
};

/// Bits of an id in a `Character`, plus 1; higher ids do not fit.
const BITS: u32 = 19;
/// Ids in a `Character`.
const MOST: usize = 3;

/// A character: its ids alone, each plus 1, from the lowest bits on, their number, whether it stands before and after others in
/// tokens, and whether it may before or after one of which part is. If the number is 0, they are not
/// known: not yet, or never, as too many or too high.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Character(u64);

impl Character {
    /// Its ids, and what has no meaning behind them.
    #[inline(always)]
    pub(super) fn ids(self) -> [u32; FEW] {
        const MASK: u64 = (1 << BITS) - 1;
        let first = self.0 & MASK | (self.0 & MASK << BITS) << (32 - BITS);
        [first as u32, (first >> 32) as u32, (self.0 >> (2 * BITS) & MASK) as u32, 0]
            .map(|id| id.wrapping_sub(1))
    }

    /// How many ids it has; none where they are not known.
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        (self.0 >> Characters::COUNT & 3) as usize
    }

    #[inline(always)]
    fn is_before_others(self) -> bool {
        self.0 >> Characters::BEFORE & 1 != 0
    }

    #[inline(always)]
    fn is_after_others(self) -> bool {
        self.0 >> Characters::AFTER & 1 != 0
    }

    #[inline(always)]
    fn is_before_part(self) -> bool {
        self.0 >> Characters::BEFORE_PART & 1 != 0
    }

    #[inline(always)]
    fn is_after_part(self) -> bool {
        self.0 >> Characters::AFTER_PART & 1 != 0
    }
}

/// What is known of each character of up to three bytes.
#[derive(Debug)]
pub(super) struct Characters(Box<[u64; CHARACTERS]>);

impl Characters {
    /// The lowest bit of the number of ids, that of what stands before others, that of what stands after, and the same of
    /// parts of others, in an entry.
    pub(super) const COUNT: u32 = 3 * BITS;
    pub(super) const BEFORE: u32 = Characters::COUNT + 2;
    pub(super) const AFTER: u32 = Characters::COUNT + 3;
    pub(super) const BEFORE_PART: u32 = Characters::COUNT + 4;
    pub(super) const AFTER_PART: u32 = Characters::COUNT + 5;
    /// Bits of an id.
    #[cfg(simd_x86)]
    pub(super) const BITS: u32 = BITS;
    /// The most ids.
    #[cfg(simd_x86)]
    pub(super) const MOST: usize = MOST;

    /// The entry of a code of at most sixteen bits.
    #[cfg(simd_x86)]
    #[inline(always)]
    pub(super) fn entry(&self, code: u32) -> u64 {
        self.0[code as usize & LAST]
    }

    pub(super) fn new(cuts: &Cuts) -> Characters {
        // Zeros that nobody writes are not even memory.
        let zeros = || vec![0; CHARACTERS].into_boxed_slice().try_into();
        let mut all: Box<[u64; CHARACTERS]> = zeros().unwrap_or_else(|_| Box::new([0; CHARACTERS]));
        const FLAGS: [u32; 4] =
            [Characters::BEFORE, Characters::AFTER, Characters::BEFORE_PART, Characters::AFTER_PART];
        for (some, number) in all.as_chunks_mut::<64>().0.iter_mut().zip(0..) {
            let sides = cuts.sides(number);
            if sides != [0; 4] {
                for (place, at) in some.iter_mut().zip(0..) {
                    *place =
                        sides.iter().zip(FLAGS).fold(0, |all, (side, flag)| all | (side >> at & 1) << flag);
                }
            }
        }
        Characters(all)
    }

    #[inline(always)]
    pub(super) fn get(&self, code: usize) -> Character {
        Character(self.0[code.min(LAST)])
    }

    /// Notes the ids that a character merges into, if they are the same wherever it stands alone: inside pieces and as a
    /// whole one, which may be a token at once.
    pub(super) fn insert(&mut self, code: usize, ids: &[u32], whole: Option<u32>) {
        let is_same = whole.is_none_or(|id| *ids == [id]);
        if is_same && code < LAST && ids.len() <= MOST && ids.iter().all(|&id| id < (1 << BITS) - 1) {
            let known = ids.iter().rev().fold(0, |known, &id| known << BITS | u64::from(id + 1));
            self.0[code] |= known | (ids.len() as u64) << Characters::COUNT;
        }
    }
}

/// Whether some token may reach over a place between two characters.
#[inline(always)]
pub(super) fn passes(cuts: &Cuts, text: &[u8], at: usize, characters: [(usize, Character); 2]) -> bool {
    stand_together(cuts, characters) || stand_in_part(cuts, text, at, characters)
}

/// Whether some token may have part of one of these characters, which meet at a place, and of the other one.
#[inline(always)]
pub(super) fn stand_in_part(
    cuts: &Cuts,
    text: &[u8],
    at: usize,
    [(_, character), (_, following)]: [(usize, Character); 2],
) -> bool {
    character.is_before_part() | following.is_after_part() && at < text.len() && cuts.reach(text, at)
}

/// Whether some token may have both characters whole, side by side.
#[inline(always)]
fn stand_together(cuts: &Cuts, [(code, character), (after, following)]: [(usize, Character); 2]) -> bool {
    character.is_before_others() & following.is_after_others() && cuts.has_pair(code, after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::{all_bytes, parts_of};

    #[test]
    fn ids_that_fit_come_back_and_others_stay_unknown() {
        const HIGHEST: u32 = (1 << BITS) - 2;
        let (vocab, _) = parts_of(&[all_bytes(), vec!["字学".into(), b"\xAD\x97\xE6".to_vec()]].concat());
        let cuts = Cuts::new(&vocab);
        let mut characters = Characters::new(&cuts);
        for (letter, ids, whole, fits) in [
            ('字', &[HIGHEST; 3][..], None, true),
            ('学', &[0, HIGHEST, 0], None, true),
            ('日', &[0], Some(0), true),
            ('是', &[HIGHEST + 1], None, false),
            ('一', &[0, 0, HIGHEST + 1], None, false),
            ('二', &[1; 4], None, false),
            ('三', &[1], Some(2), false),
            ('\u{FFFF}', &[1], None, false),
            ('😀', &[1], None, false),
        ] {
            let code = letter as usize;
            let before = characters.get(code).0;
            characters.insert(code, ids, whole);
            let known = characters.get(code);
            assert_eq!(known.count(), if fits { ids.len() } else { 0 }, "{letter}");
            if fits {
                assert_eq!(known.ids()[..ids.len()], *ids, "{letter}");
                assert_eq!(known.0 >> Characters::BEFORE, before >> Characters::BEFORE);
            } else {
                assert_eq!(known.0, before, "{letter}");
            }
        }
        let sides = |letter: char| {
            let known = characters.get(letter as usize);
            [known.is_before_others(), known.is_after_others(), known.is_before_part(), known.is_after_part()]
        };
        assert_eq!(sides('字'), [true, false, true, false]);
        assert_eq!(sides('学'), [false, true, false, false]);
        assert!(sides('😀')[2]);
    }
}
