//! Where ASCII text may be cut, 64 places at once, with AVX-512 VBMI or AVX2 (`cover_narrow`).
//!
//! ```text
//! some characters x some others, between any two of which text may be cut: a rectangle of the table of pairs
//! 16 rectangles cover nearly all that text is cut at:  bits of the left one & bits of the right one != 0
//! ```
//!
//! A pair in no rectangle is not cut: its segment is longer, and as exact. Characters that are cut from all
//! others, as unknown ones are, have the first two. Then rectangles are taken one after the other, each that
//! which covers most of what is left, by a guess of how often tokens are (the first most, as in Zipf's law).
//! Leaves out other characters, and processors without the instructions (`Joins::cuts_of`).

use std::arch::x86_64::{
    __m512i, __mmask64, _mm512_loadu_si512, _mm512_maskz_loadu_epi8, _mm512_movepi8_mask,
    _mm512_permutex2var_epi8, _mm512_test_epi8_mask,
};

use super::joins::{BLOCK, BLOCKS, Cuts};
use crate::{first::ASCII, narrow::Narrow, split::has_vbmi};

/// Rectangles whose bits are in one byte.
const EIGHT: usize = 8;
const EIGHTS: usize = 2;

/// How often what begins or ends no token does.
const NEVER: f32 = 1e-9;

/// How often characters of ASCII are the first and the last of tokens, about.
pub(super) struct Ends {
    first: [f32; ASCII],
    last: [f32; ASCII],
}

impl Ends {
    /// Of texts, and how many are more frequent; of a mark that stands for a space, a space is.
    pub(super) fn new<'t>(texts: impl Iterator<Item = (&'t str, u32)>, space: char) -> Ends {
        let mut ends = Ends { first: [NEVER; ASCII], last: [NEVER; ASCII] };
        for (text, rank) in texts {
            let weight = 1.0 / (rank as f32 + 10.0);
            let place = |char: char| usize::try_from(u32::from(if char == space { ' ' } else { char }));
            let add = |row: &mut [f32; ASCII], char: Option<char>| {
                let place = char.and_then(|char| row.get_mut(place(char).ok()?));
                place.into_iter().for_each(|sum| *sum += weight);
            };
            add(&mut ends.first, text.chars().next());
            add(&mut ends.last, text.chars().next_back());
        }
        ends
    }
}

/// For each character, as bits: at the left and at the right of which rectangles it is. Exists only where the
/// processor has the instructions of one of both.
#[repr(C, align(64))]
pub(super) struct Cover {
    pub(super) lefts: [[u8; ASCII]; EIGHTS],
    pub(super) rights: [[u8; ASCII]; EIGHTS],
    is_wide: bool,
}

impl Cover {
    /// Of a table with a 1 for each two characters between which text may be cut.
    pub(super) fn new(ascii: &[u8; ASCII * ASCII], ends: &Ends) -> Option<Box<Cover>> {
        (has_vbmi() || Narrow::new().is_some()).then(|| Box::new(Cover::of(ascii, ends)))
    }

    fn of(ascii: &[u8; ASCII * ASCII], ends: &Ends) -> Cover {
        let mut cover =
            Cover { lefts: [[0; ASCII]; EIGHTS], rights: [[0; ASCII]; EIGHTS], is_wide: has_vbmi() };
        // For each right one the left ones, as bits.
        let columns: [u128; ASCII] = std::array::from_fn(|right| {
            (0..ASCII).fold(0, |bits, left| bits | u128::from(ascii[left << 7 | right]) << left)
        });
        let mut order: [usize; ASCII] = std::array::from_fn(|right| right);
        order.sort_by(|&one, &other| ends.first[other].total_cmp(&ends.first[one]));
        let mut left_over = columns;
        // Unknown characters are among those cut from all others, and must be: no segment may hold one.
        let alone = alone(&columns);
        let first = [(alone, u128::MAX), (u128::MAX, alone)];
        for number in 0..EIGHT * EIGHTS {
            let fixed = first.get(number).copied().filter(|_| alone != 0);
            let Some((lefts, rights)) = fixed.or_else(|| rectangle(&columns, &left_over, &order, ends))
            else {
                break;
            };
            let bit = 1 << (number % EIGHT);
            members(lefts).for_each(|left| cover.lefts[number / EIGHT][left] |= bit);
            for right in members(rights) {
                cover.rights[number / EIGHT][right] |= bit;
                left_over[right] &= !lefts;
            }
        }
        cover
    }

    /// Where text may be cut, from a byte on, which begins a character, as far as it is ASCII.
    #[inline]
    pub(super) fn cuts(&self, text: &[u8], at: usize) -> Cuts {
        // SAFETY: this exists, so the processor has all features of the one function or the other.
        unsafe { if self.is_wide { self.cuts_here(text, at) } else { self.cuts_narrow(text, at) } }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn cuts_here(&self, text: &[u8], at: usize) -> Cuts {
        let (lefts, rights) = (
            [table(&self.lefts[0]), table(&self.lefts[1])],
            [table(&self.rights[0]), table(&self.rights[1])],
        );
        let mut cuts = Cuts { bits: [0; BLOCKS], end: at };
        for bits in &mut cuts.bits {
            let ahead = text.len() - cuts.end;
            let there: __mmask64 = if ahead < BLOCK { (1 << ahead) - 1 } else { u64::MAX };
            let here = text[cuts.end..].as_ptr();
            let inside = if cuts.end == 0 { there & !1 } else { there };
            // SAFETY: what is not in the text is not read.
            let (left, right) = unsafe {
                (
                    _mm512_maskz_loadu_epi8(inside, here.wrapping_sub(1).cast()),
                    _mm512_maskz_loadu_epi8(there, here.cast()),
                )
            };
            let of = |[low, high]: [__m512i; 2], bytes: __m512i| _mm512_permutex2var_epi8(low, bytes, high);
            let may = _mm512_test_epi8_mask(of(lefts[0], left), of(rights[0], right))
                | _mm512_test_epi8_mask(of(lefts[1], left), of(rights[1], right));
            let ascii = (_mm512_movepi8_mask(right) | !there).trailing_zeros() as usize;
            let known = if ascii == BLOCK { u64::MAX } else { (1 << ascii) - 1 };
            *bits = may & known & if cuts.end == at { !1 } else { u64::MAX };
            cuts.end += ascii;
            if ascii < BLOCK {
                break;
            }
        }
        cuts
    }
}

/// A table of 128 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn table(bytes: &[u8; ASCII]) -> [__m512i; 2] {
    // SAFETY: there are twice 64 bytes.
    unsafe { [_mm512_loadu_si512(bytes.as_ptr().cast()), _mm512_loadu_si512(bytes[BLOCK..].as_ptr().cast())] }
}

/// The characters of a set of bits.
fn members(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(place)
    })
}

/// The characters that are cut from whatever stands before and after them.
fn alone(columns: &[u128; ASCII]) -> u128 {
    let after = columns.iter().fold(u128::MAX, |all, &lefts| all & lefts);
    let before = (0..ASCII).filter(|&right| columns[right] == u128::MAX);
    after & before.fold(0, |set, right| set | 1 << right)
}

/// The left and the right ones, as bits, of a rectangle of all that may be cut, which has much of what is
/// left over.
fn rectangle(
    columns: &[u128; ASCII],
    left_over: &[u128; ASCII],
    order: &[usize; ASCII],
    ends: &Ends,
) -> Option<(u128, u128)> {
    let weigh =
        |right: usize| ends.first[right] * members(left_over[right]).map(|left| ends.last[left]).sum::<f32>();
    let weights: [f32; ASCII] = std::array::from_fn(weigh);
    let seed = (0..ASCII).max_by(|&one, &other| weights[one].total_cmp(&weights[other]))?;
    // For each left one, how much of what is left over the right ones have beside it.
    let mut sums = [0.0; ASCII];
    members(left_over[seed]).for_each(|left| sums[left] = ends.first[seed]);
    let (mut lefts, mut best) = (columns[seed], weights[seed]);
    // The others are taken in at the end.
    for &right in order.iter().filter(|&&right| right != seed && ends.first[right] > NEVER) {
        let (fewer, more) = (lefts & columns[right], left_over[right]);
        let added = |left: usize| if more >> left & 1 == 1 { ends.first[right] } else { 0.0 };
        let sum = members(fewer).map(|left| ends.last[left] * (sums[left] + added(left))).sum::<f32>();
        if sum > best {
            (0..ASCII).for_each(|left| sums[left] += added(left));
            (lefts, best) = (fewer, sum);
        }
    }
    let rights = (0..ASCII).filter(|&right| columns[right] & lefts == lefts);
    (best > 0.0).then(|| (lefts, rights.fold(0, |set, right| set | 1 << right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters that stand beside none.
    const ALONE: [usize; 3] = [100, 113, 127];
    /// A letter that stands behind all others.
    const JOINED: usize = 97;

    /// A table in which letters stand together but for some, and nothing else does.
    fn drawn() -> Box<[u8; ASCII * ASCII]> {
        let mut ascii = Box::new([1; ASCII * ASCII]);
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        for (pair, may_cut) in ascii.iter_mut().enumerate() {
            let (left, right) = (pair >> 7, pair & 127);
            let drawn = crate::drawn::xorshift(&mut state);
            let are_letters =
                left >= 96 && right >= 96 && !ALONE.iter().any(|one| [left, right].contains(one));
            *may_cut = u8::from(!are_letters || drawn.is_multiple_of(5));
        }
        ascii
    }

    #[test]
    fn rectangles_hold_only_what_may_be_cut() {
        let ascii = drawn();
        let texts = ["a b", " the", "x", "é", "end."];
        let cover = Cover::of(&ascii, &Ends::new(texts.into_iter().zip(0..), '▁'));
        let has = |left: usize, right: usize| {
            (0..EIGHTS).any(|eight| cover.lefts[eight][left] & cover.rights[eight][right] != 0)
        };
        let pairs = || (0..ASCII).flat_map(|left| (0..ASCII).map(move |right| (left, right)));
        assert!(pairs().all(|(left, right)| !has(left, right) || ascii[left << 7 | right] == 1));
        assert!(ALONE.iter().all(|&one| (0..ASCII).all(|other| has(one, other) && has(other, one))));
        // All but those between letters are covered.
        assert!(
            pairs().all(|(left, right)| (left >= 96 && right >= 96) || right == JOINED || has(left, right))
        );
    }

    #[test]
    fn what_is_alone_is_cut_however_rare() {
        let ascii = drawn();
        let letters: String =
            (98..127_u8).filter(|&letter| !ALONE.contains(&letter.into())).map(char::from).collect();
        let texts = letters.split("").filter(|letter| !letter.is_empty());
        let cover = Cover::of(&ascii, &Ends::new(texts.zip(0..), ' '));
        let has = |left: usize, right: usize| {
            (0..EIGHTS).any(|eight| cover.lefts[eight][left] & cover.rights[eight][right] != 0)
        };
        assert!(ALONE.iter().all(|&one| (0..ASCII).all(|other| has(one, other) && has(other, one))));
        assert!(
            (96..ASCII)
                .any(|left| (96..ASCII).any(|right| ascii[left << 7 | right] == 1 && !has(left, right)))
        );
    }

    #[test]
    fn cuts_are_those_of_the_rectangles() {
        let ascii = drawn();
        let Some(cover) = Cover::new(&ascii, &Ends::new([("e", 0)].into_iter(), ' ')) else { return };
        let text = "It was the best of times, it wäs the (worst) \u{7f}\0 of 'times'; ".repeat(9);
        let bytes = &text.as_bytes()[..text.len() - 3];
        for (at, _) in text.char_indices().take_while(|(at, _)| *at < bytes.len()) {
            for bytes in [bytes, &bytes[..bytes.len().min(at + 70)], &bytes[..at + 1]] {
                let cuts = cover.cuts(bytes, at);
                if Narrow::new().is_some() {
                    // SAFETY: the processor has all features that the function has.
                    let narrow = unsafe { cover.cuts_narrow(bytes, at) };
                    assert_eq!((narrow.bits, narrow.end), (cuts.bits, cuts.end));
                }
                let ascii = bytes[at..].iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len() - at);
                assert_eq!(cuts.end, at + ascii.min(BLOCK * BLOCKS));
                for place in at..at + BLOCK * BLOCKS {
                    let is_cut = cuts.bits[(place - at) / BLOCK] >> ((place - at) % BLOCK) & 1 == 1;
                    let may = (at + 1..cuts.end).contains(&place) && {
                        let (left, right) = (usize::from(bytes[place - 1]), usize::from(bytes[place]));
                        (0..EIGHTS).any(|eight| cover.lefts[eight][left] & cover.rights[eight][right] != 0)
                    };
                    assert_eq!(is_cut, may);
                }
            }
        }
    }
}
