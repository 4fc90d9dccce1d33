//! Which neighbouring characters stand together in some token.
//!
//! Where two neighbours stand together in no token that merging makes, no merge reaches over the place between
//! them: what it made would be a token that holds both, side by side. The order of merges on one side of such a
//! place does not depend on the other side, so text may be cut there without changing an id (`boundary` says the
//! same of one character). Pairs of ASCII have a table; the others are hashed into bits, and two pairs that share
//! a bit only cost a cut.

#[cfg(simd_x86)]
use super::cover::{Cover, Ends};
use super::letters::Letters;
use crate::first::ascii_bytes;

pub(super) use crate::first::BLOCK;
/// Blocks of text in which segments are looked for together.
pub(super) const BLOCKS: usize = 8;
/// At least so many bits for each pair.
const BITS_A_PAIR: usize = 128;
/// And no more than these in all.
const MOST_BITS: usize = 1 << 21;

/// The pairs.
pub(super) struct Joins {
    /// For each two ASCII characters, 1 if text may be cut between them.
    ascii: Box<[u8; 128 * 128]>,
    bits: Vec<u64>,
    shift: u32,
    /// The same of ASCII, nearly, where the processor reads 64 bytes at once.
    #[cfg(simd_x86)]
    cover: Option<Box<Cover>>,
}

/// Where text may be cut, as bits, block by block, up to a byte that it is known to: that is not ASCII, or
/// there are no more blocks. The place that it is known from on has no bit.
pub(super) struct Cuts {
    pub(super) bits: [u64; BLOCKS],
    pub(super) end: usize,
}

/// What a pair is multiplied by.
pub(super) const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
fn hash(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32 | u64::from(right)).wrapping_mul(SPREAD)
}

impl Joins {
    /// Of the neighbours in tokens; those of `space` are also those of a space.
    pub(super) fn new(neighbours: &[(char, char)], space: char) -> Joins {
        let size = (neighbours.len() * BITS_A_PAIR).next_power_of_two().clamp(64, MOST_BITS);
        let mut joins = Joins {
            ascii: Box::new([1; 128 * 128]),
            bits: vec![0; size / 64],
            shift: 64 - size.trailing_zeros(),
            #[cfg(simd_x86)]
            cover: None,
        };
        for &(left, right) in neighbours {
            let bit = hash(left.into(), right.into()) >> joins.shift;
            joins.bits[(bit / 64) as usize] |= 1 << (bit % 64);
            joins.put_ascii(left, right);
            let (left_space, right_space) = (left == space, right == space);
            if left_space {
                joins.put_ascii(' ', right);
            }
            if right_space {
                joins.put_ascii(left, ' ');
            }
            if left_space && right_space {
                joins.put_ascii(' ', ' ');
            }
        }
        joins
    }

    /// All neighbours stand together, but for what ends before a space.
    pub(super) fn all_but_spaces() -> Joins {
        let mut joins = Joins {
            ascii: Box::new([0; 128 * 128]),
            bits: vec![u64::MAX],
            shift: 58,
            #[cfg(simd_x86)]
            cover: None,
        };
        for left in 0..128 {
            joins.ascii[left << 7 | usize::from(b' ')] = 1;
        }
        joins
    }

    fn put_ascii(&mut self, left: char, right: char) {
        if let (Ok(left @ 0..128), Ok(right @ 0..128)) = (u8::try_from(left), u8::try_from(right)) {
            self.ascii[usize::from(left) << 7 | usize::from(right)] = 0;
        }
    }

    /// 1 if text may be cut between two ASCII characters.
    #[inline]
    fn cut_ascii(&self, left: u8, right: u8) -> u8 {
        self.ascii[usize::from(left & 127) << 7 | usize::from(right & 127)]
    }

    /// The same, to be asked of 64 places at once where the processor can: of the tokens, and how many are
    /// more frequent.
    #[cfg(simd_x86)]
    pub(super) fn covered<'t>(mut self, texts: impl Iterator<Item = (&'t str, u32)>, space: char) -> Joins {
        self.cover = Cover::new(&self.ascii, &Ends::new(texts, space));
        self
    }

    /// The same where no processor can.
    #[cfg(not(simd_x86))]
    pub(super) fn covered<'t>(self, _: impl Iterator<Item = (&'t str, u32)>, _: char) -> Joins {
        self
    }

    /// Where text may be cut, from a byte on, which begins a character, as far as it is ASCII; perhaps not at
    /// all such places.
    #[inline]
    pub(super) fn cuts_from(&self, text: &[u8], at: usize) -> Cuts {
        #[cfg(simd_x86)]
        if let Some(cover) = &self.cover {
            return cover.cuts(text, at);
        }
        self.all_cuts_from(text, at)
    }

    /// The same, pair by pair, at all of them.
    fn all_cuts_from(&self, text: &[u8], at: usize) -> Cuts {
        let mut cuts = Cuts { bits: [0; BLOCKS], end: at };
        for bits in &mut cuts.bits {
            let block = &text[cuts.end..text.len().min(cuts.end + BLOCK)];
            let ascii = ascii_bytes(block);
            for place in 1..ascii {
                *bits |= u64::from(self.cut_ascii(block[place - 1], block[place])) << place;
            }
            if cuts.end > at && ascii > 0 {
                *bits |= u64::from(self.cut_ascii(text[cuts.end - 1], block[0]));
            }
            cuts.end += ascii;
            if ascii < BLOCK {
                break;
            }
        }
        cuts
    }

    /// Whether two characters, of which these are the first bytes, are ASCII and text may be cut between them.
    #[inline]
    pub(super) fn cuts_ascii(&self, left: u8, right: u8) -> bool {
        left.is_ascii() && right.is_ascii() && self.cut_ascii(left, right) == 1
    }

    /// Whether two characters may; a space has been made what it stands for.
    #[inline]
    fn joins(&self, left: char, right: char) -> bool {
        self.may_join(left.into(), right.into())
    }

    /// The same of their numbers.
    #[inline]
    pub(super) fn may_join(&self, left: u32, right: u32) -> bool {
        let bit = hash(left, right) >> self.shift;
        self.bits[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    /// The bits, and how many places to the right the hash of a pair is shifted to be the number of one.
    #[cfg(simd_x86)]
    pub(super) fn bits(&self) -> (&[u64], u32) {
        (&self.bits, self.shift)
    }

    /// The end of the segment that begins at byte `at`: the first place after it where text may be cut.
    #[inline]
    pub(super) fn end(&self, letters: &Letters, text: &str, at: usize) -> usize {
        let bytes = text.as_bytes();
        let mut left = bytes[at];
        let mut next = at + 1;
        if left < 128 {
            while let Some(&right) = bytes.get(next) {
                if right >= 128 {
                    return self.end_after(letters, text, next - 1);
                }
                if self.cut_ascii(left, right) == 1 {
                    return next;
                }
                left = right;
                next += 1;
            }
            return bytes.len();
        }
        self.end_after(letters, text, at)
    }

    /// The same, for a segment that has no cut up to the character at `at`.
    fn end_after(&self, letters: &Letters, text: &str, at: usize) -> usize {
        let mut chars = text[at..].char_indices();
        let Some((_, first)) = chars.next() else { return text.len() };
        let mut left = letters.canonical(first);
        let mut left_letter = letters.get(first);
        for (offset, char) in chars {
            let letter = letters.get(char);
            let right = letters.canonical(char);
            if !(left_letter.may_join(letter) && self.joins(left, right)) {
                return at + offset;
            }
            (left, left_letter) = (right, letter);
        }
        text.len()
    }

    /// Whether the text may be cut between these two.
    pub(super) fn cuts(&self, letters: &Letters, left: char, right: char) -> bool {
        let may_join = letters.get(left).may_join(letters.get(right));
        !(may_join && self.joins(letters.canonical(left), letters.canonical(right)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::{Alphabet, Spelling, Unit};

    /// The places that are bits, and up to where they are known.
    fn places_of(cuts: &Cuts, at: usize) -> (Vec<usize>, usize) {
        let is_cut = |place: &usize| cuts.bits[place / BLOCK] >> (place % BLOCK) & 1 == 1;
        ((0..BLOCK * BLOCKS).filter(is_cut).map(|place| at + place).collect(), cuts.end)
    }

    /// Cuts are where no two neighbours are a pair; two that share a bit may join.
    #[test]
    fn blocks_and_segments_end_where_pairs_do() {
        let chars: Vec<String> = "ab,.▁éж漢😀".chars().map(String::from).collect();
        let symbols = chars.iter().zip(0..).map(|(char, id)| (char.as_bytes(), id));
        let spelling = Spelling { unknown: Some(99), ..Spelling::plain(Unit::Char) };
        let alphabet = Alphabet::new(&spelling, symbols).unwrap();
        let pairs = [('a', 'b'), ('▁', 'a'), ('▁', '▁'), (',', '▁'), ('b', 'é'), ('é', 'ж'), ('漢', '😀')];
        for space in [' ', '▁'] {
            let letters = Letters::new(&alphabet, space, pairs.iter().copied(), true).unwrap();
            let joins = Joins::new(&pairs, space);
            let marks = |char: char| if char == ' ' { space } else { char };
            let is_cut = |left: char, right: char| !pairs.contains(&(marks(left), marks(right)));
            let text = "ab a  ab,, ab, ▁ab▁▁ abéж bé漢😀a漢漢 é\u{7f}\0a".repeat(9);
            let places: Vec<(usize, char)> = text.char_indices().collect();
            let mut cuts: Vec<usize> =
                places.windows(2).filter(|pair| is_cut(pair[0].1, pair[1].1)).map(|pair| pair[1].0).collect();
            assert!(
                places
                    .windows(2)
                    .all(|pair| joins.cuts(&letters, pair[0].1, pair[1].1) == is_cut(pair[0].1, pair[1].1))
            );
            cuts.push(text.len());
            let mut at = 0;
            for &cut in &cuts {
                assert_eq!(joins.end(&letters, &text, at), cut, "{at}");
                at = cut;
            }
            let joins = joins.covered(["ab", "▁a"].into_iter().zip(0..), space);
            for (at, _) in places {
                let bytes = text.as_bytes();
                let ascii = bytes[at..].iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len() - at);
                let ends = |place: &usize| cuts.contains(place) && *place < at + ascii;
                let expected: Vec<usize> = (at + 1..at + BLOCK * BLOCKS).filter(ends).collect();
                let all = places_of(&joins.all_cuts_from(bytes, at), at);
                assert_eq!(all, (expected, at + ascii.min(BLOCK * BLOCKS)));
                let some = places_of(&joins.cuts_from(bytes, at), at);
                assert!(some.1 == all.1 && some.0.iter().all(|place| all.0.contains(place)));
            }
        }
    }
}
