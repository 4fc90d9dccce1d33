//! Characters that stand together in tokens, directly or by others between them: those of different groups never do.
//!
//! ```text
//! tokens of letters, of digits, of signs   ab bc | 12 | !! ?!   ->   {a b c} {1 2} {! ?}
//! ```
//!
//! So text may be cut between two groups, and whether it is takes no look at a pair. Within a group nothing is told: where many of
//! its pairs stand in no token, as of scripts that the vocabulary hardly knows, or of Chinese, pairs are asked for (`joins`).

#[cfg(simd_x86)]
use std::arch::x86_64::{__m512i, _mm512_and_si512, _mm512_i32gather_epi32, _mm512_set1_epi32};

use rustc_hash::FxHashMap;

use super::letters::Letters;
#[cfg(simd_x86)]
use crate::sixteen::Able;

/// Characters of up to three bytes have a group.
const TABLED: usize = 1 << 16;
/// Characters in no token with another: those that nothing stands for, those that go, and others.
pub(super) const UNKNOWN: u8 = 0;
pub(super) const GONE: u8 = 1;
pub(super) const ALONE: u8 = 2;
/// Those of which pairs are asked for.
pub(super) const PAIRS: u8 = 3;
const FIRST: u8 = 4;
/// A group without ASCII has so many pairs for each character, or they are asked for.
const DENSE: usize = 4;
/// Vectors read four bytes at the last character.
const BEHIND: usize = 3;

/// The group of each character.
pub(super) struct Groups {
    table: Box<[u8; TABLED + BEHIND]>,
    /// Whether the processor reads sixteen at once.
    #[cfg(simd_x86)]
    pub(super) able: Option<Able>,
}

/// One of them, by its first character.
#[derive(Clone, Copy, Default)]
struct Size {
    pairs: usize,
    chars: usize,
    has_ascii: bool,
}

impl Groups {
    /// Of the neighbours in tokens.
    pub(super) fn new(neighbours: &[(char, char)], letters: &Letters) -> Groups {
        let mut roots = Roots::default();
        neighbours.iter().for_each(|&(left, right)| roots.join(left, right));
        let mut sizes: FxHashMap<char, Size> = FxHashMap::default();
        for &(left, _) in neighbours {
            sizes.entry(roots.of(left)).or_default().pairs += 1;
        }
        let chars: Vec<char> = roots.0.keys().copied().collect();
        for &char in &chars {
            let size = sizes.entry(roots.of(char)).or_default();
            size.chars += 1;
            size.has_ascii |= char.is_ascii();
        }
        let mut dense: Vec<(char, usize)> = sizes
            .iter()
            .filter(|(_, size)| size.has_ascii || size.pairs >= DENSE * size.chars)
            .map(|(&root, size)| (root, size.pairs))
            .collect();
        dense.sort_unstable_by_key(|&(root, pairs)| (std::cmp::Reverse(pairs), root));
        let numbers: FxHashMap<char, u8> =
            dense.into_iter().map(|(root, _)| root).zip(FIRST..=u8::MAX).collect();
        Groups::of(letters, |char| numbers.get(&roots.of(char)).copied())
    }

    /// The same, with pairs to be asked for everywhere.
    pub(super) fn of_pairs(letters: &Letters) -> Groups {
        Groups::of(letters, |_| None)
    }

    fn of(letters: &Letters, mut number: impl FnMut(char) -> Option<u8>) -> Groups {
        let mut table = Box::new([UNKNOWN; TABLED + BEHIND]);
        for char in (0..TABLED as u32).filter_map(char::from_u32) {
            let letter = letters.get(char);
            table[char as usize] = match letter {
                _ if letter.has_neighbours() => number(letters.canonical(char)).unwrap_or(PAIRS),
                _ if letter.is_unknown() => UNKNOWN,
                _ if letter.is_nothing() => GONE,
                _ => ALONE,
            };
        }
        Groups {
            table,
            #[cfg(simd_x86)]
            able: Able::new(),
        }
    }

    /// That of a character by its number.
    #[inline(always)]
    pub(super) fn get(&self, char: u16) -> u8 {
        self.table[usize::from(char)]
    }

    /// Those of sixteen characters of the table.
    #[cfg(simd_x86)]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn of_sixteen(&self, chars: __m512i) -> __m512i {
        // SAFETY: the numbers are of the table, which has some bytes behind them.
        let found = unsafe { _mm512_i32gather_epi32::<1>(chars, self.table.as_ptr().cast()) };
        _mm512_and_si512(found, _mm512_set1_epi32(0xFF))
    }
}

/// For each character another one of its group, at last one that is itself.
#[derive(Default)]
struct Roots(FxHashMap<char, char>);

impl Roots {
    fn of(&mut self, mut char: char) -> char {
        loop {
            let parent = *self.0.entry(char).or_insert(char);
            if parent == char {
                return char;
            }
            let above = self.0[&parent];
            self.0.insert(char, above);
            char = above;
        }
    }

    fn join(&mut self, left: char, right: char) {
        let (left, right) = (self.of(left), self.of(right));
        self.0.insert(left.max(right), left.min(right));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        alphabet::{Alphabet, Spelling, Unit},
        drawn::{drawing, drawn},
    };

    /// Neighbours are of one group, and those without any are told apart.
    #[test]
    fn neighbours_are_of_one_group() {
        let all: Vec<char> = "abcdefgh.,!?0123жзийαβγδ漢字仮名😀".chars().collect();
        let symbols: Vec<String> = all.iter().filter(|&&char| char != 'h').map(char::to_string).collect();
        let spelling = Spelling { unknown: Some(99), ..Spelling::plain(Unit::Char) };
        let symbols = symbols.iter().zip(0..).map(|(char, id)| (char.as_bytes(), id));
        let alphabet = Alphabet::new(&spelling, symbols).unwrap();
        let (mut draw, mut several) = (drawing(3), 0);
        for round in 0..drawn(60, 600) {
            let known = || all.iter().copied().filter(|&char| char != 'h');
            let mut one = || known().nth(draw(known().count())).unwrap();
            let pairs: Vec<(char, char)> = (0..round % 30).map(|_| (one(), one())).collect();
            let mut letters = Letters::new(&alphabet, ' ', pairs.iter().copied(), true).unwrap();
            letters.drop_all(&[' ', '\u{3000}']);
            let groups = Groups::new(&pairs, &letters);
            let of = |char: char| groups.table[char as usize];
            for &(left, right) in pairs.iter().filter(|(left, right)| *left != '😀' && *right != '😀') {
                assert_eq!(of(left), of(right), "{pairs:?}");
                assert!(of(left) >= PAIRS);
            }
            let has_some = |char: char| pairs.iter().any(|&(left, right)| left == char || right == char);
            let without = known().filter(|&char| char != '😀' && !has_some(char));
            assert!(without.clone().all(|char| of(char) == ALONE));
            assert_eq!(
                ['h', 'ж', ' ', '\u{3000}', '\u{ffff}'].map(|char| of(char).min(ALONE)).map(u32::from),
                [UNKNOWN, ALONE, GONE, GONE, UNKNOWN].map(u32::from)
            );
            // No group is all of them, while there are few pairs.
            let mut numbers: Vec<u8> =
                known().filter(|&char| char != '😀').map(of).filter(|&of| of > PAIRS).collect();
            numbers.sort_unstable();
            numbers.dedup();
            several += usize::from(numbers.len() > 1);
        }
        assert!(several > drawn(20, 200), "{several}");
    }
}
