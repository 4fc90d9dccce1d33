//! Where a piece can be cut because no token reaches over the place.
//!
//! ```text
//! no token has the two bytes side by side            =>  no merge ever joins what stands on both sides
//! no token has the two characters, whole, side by side, and none has part of one beside the other  =>  the same
//! ```
//!
//! A merge makes a token, and a token that reaches over the place has its bytes there. So both sides are merged as
//! if each stood alone. Scripts without spaces are cut into short strings in this way, which repeat. Leaves out
//! merges whose result is no token of the vocabulary: there are none.

#[cfg(simd_x86)]
use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_mask_i32gather_epi32, _mm512_mullo_epi32, _mm512_or_si512,
    _mm512_set1_epi32, _mm512_setzero_si512, _mm512_slli_epi32, _mm512_sllv_epi32, _mm512_srli_epi32,
    _mm512_test_epi32_mask, _mm512_xor_si512,
};

use super::halves::{Halves, characters_of, halves_at};
use crate::vocab::Vocab;

/// The table of pairs has so many bits, as a power of two: 64 KiB, and a twentieth of it is set by `o200k_base`.
const PAIR_BITS: u32 = 19;
/// How two characters are hashed.
const PAIR_BEFORE: u32 = 0x9E37_79B1;
const PAIR_AFTER: u32 = 0x85EB_CA77;
const PAIR_BOTH: u32 = 0xC2B2_AE3D;

/// Codes of so many characters are their bytes.
const ASCII: usize = 0x80;

/// Fewer equal characters are looked at one by one.
const LONG_RUN: usize = 64;

/// What stands side by side in tokens; of some pairs that do not it says that they do.
#[derive(Debug)]
pub(crate) struct Cuts {
    /// A bit for two bytes, the first the higher part of the index, one of which is a part of a character whose rest
    /// is not in the token.
    partial: Box<[u64; PARTIAL]>,
    /// What else of these characters is in the token.
    halves: Halves,
    /// A bit for each character below `CHARACTERS` that may stand, whole or not, before another one of which part is in a
    /// token with it, or after; of each two such, one has it.
    beside: [Box<[u64; PARTIAL]>; 2],
    /// A bit for the hash of two whole characters.
    characters: Box<[u64; PAIRS]>,
    /// A bit for each character below `CHARACTERS` that stands, whole, before or after another one.
    sides: [Box<[u64; PARTIAL]>; 2],
}

const PARTIAL: usize = CHARACTERS / 64;
const PAIRS: usize = 1 << (PAIR_BITS - 6);

/// Characters of up to three bytes have tables; the last, which is none, stands for all others too.
pub(crate) const CHARACTERS: usize = 1 << 16;
pub(super) const LAST: usize = CHARACTERS - 1;

pub(super) fn has(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 != 0
}

pub(super) fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

pub(super) fn is_inside(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The bytes of the character that ends before `at`, as a number; `None` if it begins before `text`.
#[inline]
fn character_before(text: &[u8], at: usize) -> Option<u32> {
    let mut out = 0;
    for (width, &byte) in text[..at].iter().rev().take(4).enumerate() {
        out |= u32::from(byte) << (8 * width);
        if !is_inside(byte) {
            return (width + 1 == width_of(byte)).then_some(out);
        }
    }
    None
}

/// The bytes of the character that begins at `at`, as a number; `None` if it ends after `text`.
#[inline]
fn character_after(text: &[u8], at: usize) -> Option<u32> {
    let bytes = text.get(at..at + width_of(text[at]))?;
    Some(bytes.iter().fold(0, |out, &byte| out << 8 | u32::from(byte)))
}

/// The code of the character of these bytes.
fn code_of(bytes: u32) -> usize {
    let [first, second, third, last] = bytes.to_be_bytes().map(|byte| usize::from(byte & 0x3F));
    match bytes {
        0..0x80 => bytes as usize,
        0x80..0x1_0000 => (third & 0x1F) << 6 | last,
        0x1_0000..0x100_0000 => (second & 0x0F) << 12 | third << 6 | last,
        _ => (first & 0x07) << 18 | second << 12 | third << 6 | last,
    }
}

/// The code and the width of the character at `at`, which is whole.
#[inline(always)]
pub(crate) fn decode(text: &[u8], at: usize) -> (usize, usize) {
    let Some(&bytes) = text[at..].first_chunk::<4>() else { return decode_slowly(text, at) };
    let word = u32::from_be_bytes(bytes) as usize;
    match bytes[0] {
        0..0x80 => (word >> 24, 1),
        0x80..0xE0 => (word >> 18 & 0x7C0 | word >> 16 & 0x3F, 2),
        0xE0..0xF0 => (word >> 12 & 0xF000 | word >> 10 & 0xFC0 | word >> 8 & 0x3F, 3),
        _ => (word >> 6 & 0x1C_0000 | word >> 4 & 0x3_F000 | word >> 2 & 0xFC0 | word & 0x3F, 4),
    }
}

/// By the upper half of a first byte: the bits of the code, how far they are to be moved down, and the width.
const FORMS: [(u32, u8, u8); 16] = {
    let mut forms = [(0x7F, 18, 1); 16];
    forms[0xC] = (0x7FF, 12, 2);
    forms[0xD] = (0x7FF, 12, 2);
    forms[0xE] = (0xFFFF, 6, 3);
    forms[0xF] = (0x1F_FFFF, 0, 4);
    forms
};

/// The same as `decode`, without a branch on the width: for text where widths change often.
#[inline(always)]
pub(super) fn character_at(text: &[u8], at: usize) -> (usize, usize) {
    let Some(&bytes) = text[at..].first_chunk::<4>() else { return decode_slowly(text, at) };
    let [first, second, third, last] = bytes.map(u32::from);
    let bits = (first & 0x7F) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | last & 0x3F;
    let (mask, shift, width) = FORMS[usize::from(bytes[0] >> 4)];
    ((bits >> shift & mask) as usize, usize::from(width))
}

/// The same where less than four bytes follow.
fn decode_slowly(text: &[u8], at: usize) -> (usize, usize) {
    let inside = |place: usize| usize::from(text.get(place).copied().unwrap_or(0) & 0x3F);
    let first = usize::from(text[at]);
    match first {
        0..0x80 => (first, 1),
        0x80..0xE0 => ((first & 0x1F) << 6 | inside(at + 1), 2),
        0xE0..0xF0 => ((first & 0x0F) << 12 | inside(at + 1) << 6 | inside(at + 2), 3),
        _ => {
            let high = (first & 0x07) << 18 | inside(at + 1) << 12;
            (high | inside(at + 2) << 6 | inside(at + 3), 4)
        }
    }
}

/// The width of the character that begins with `byte`.
pub(super) fn width_of(byte: u8) -> usize {
    match byte {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

/// The bit of two characters.
#[inline(always)]
fn place(before: usize, after: usize) -> usize {
    let mixed = (before as u32).wrapping_mul(PAIR_BEFORE) ^ (after as u32).wrapping_mul(PAIR_AFTER);
    (mixed.wrapping_mul(PAIR_BOTH) >> (u32::BITS - PAIR_BITS)) as usize
}

/// Which of the bits at sixteen places are set, of those that are `wanted`.
///
/// # Safety
/// The places of these are within the bits.
#[cfg(simd_x86)]
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn have(wanted: u16, bits: *const i32, at: __m512i) -> u16 {
    // SAFETY: the caller says so. Of 64 bits the lower 32 stand first, as on all processors of this kind.
    let words = unsafe {
        _mm512_mask_i32gather_epi32::<4>(_mm512_setzero_si512(), wanted, _mm512_srli_epi32::<5>(at), bits)
    };
    let bit = _mm512_and_si512(at, _mm512_set1_epi32(31));
    _mm512_test_epi32_mask(words, _mm512_sllv_epi32(_mm512_set1_epi32(1), bit))
}

impl Cuts {
    pub(crate) fn new(vocab: &Vocab) -> Cuts {
        let bits = || Box::new([0; PARTIAL]);
        let mut cuts = Cuts {
            partial: bits(),
            halves: Halves::default(),
            beside: [bits(), bits()],
            characters: Box::new([0; PAIRS]),
            sides: [bits(), bits()],
        };
        // Most neighbours are ASCII, and the same again and again: noted first, each added once.
        let mut ascii = vec![false; ASCII * ASCII];
        vocab.iter().for_each(|(_, token)| cuts.add(token, &mut ascii));
        for at in (0..ascii.len()).filter(|&at| ascii[at]) {
            cuts.add_pair([at / ASCII, at % ASCII]);
        }
        cuts.halves.close();
        cuts
    }

    fn add(&mut self, token: &[u8], ascii: &mut [bool]) {
        for (at, pair) in (1..).zip(token.windows(2)) {
            let [before, after] = [usize::from(pair[0]), usize::from(pair[1])];
            if before | after < ASCII {
                ascii[before * ASCII + after] = true;
                continue;
            }
            if is_inside(pair[1]) {
                continue;
            }
            match (character_before(token, at), character_after(token, at)) {
                (Some(before), Some(after)) => self.add_pair([code_of(before), code_of(after)]),
                _ => {
                    set(&mut *self.partial, usize::from(token[at - 1]) << 8 | usize::from(token[at]));
                    let (before, after) = halves_at(token, at);
                    if !self.halves.add(before, after) {
                        continue;
                    }
                    let (is_before, codes) = characters_of(before, after);
                    let beside = &mut *self.beside[usize::from(!is_before)];
                    codes.for_each(|code| set(beside, code));
                    set(beside, LAST);
                }
            }
        }
    }

    /// Adds two characters that stand side by side.
    fn add_pair(&mut self, codes: [usize; 2]) {
        set(&mut *self.characters, place(codes[0], codes[1]));
        for (side, code) in self.sides.iter_mut().zip(codes) {
            set(&mut **side, code.min(LAST));
        }
    }

    /// Which of 64 characters stand before others in tokens, which after, and which may stand before or after one of which
    /// part is in a token with it; the first of them has 64 times this number.
    pub(super) fn sides(&self, number: usize) -> [u64; 4] {
        let [before, after] = &self.sides;
        let [before_part, after_part] = &self.beside;
        [before, after, before_part, after_part].map(|side| side[number])
    }

    /// Whether no token reaches over the place between the characters of these codes.
    #[cfg(test)]
    fn passes_none(&self, text: &[u8], at: usize, (before, after): (usize, usize)) -> bool {
        let may_reach = has(&*self.beside[0], before.min(LAST)) | has(&*self.beside[1], after.min(LAST));
        !(self.has_pair(before, after) || may_reach && self.reach(text, at))
    }

    /// Whether, in some token, these two bytes stand side by side and one is of a character that is not whole.
    #[inline(always)]
    pub(super) fn has_part(&self, before: u8, after: u8) -> bool {
        has(&*self.partial, usize::from(before) << 8 | usize::from(after))
    }

    /// Whether some token may have part of one of the characters beside this place, and of the other one.
    #[inline]
    pub(super) fn reach(&self, text: &[u8], at: usize) -> bool {
        self.has_part(text[at - 1], text[at]) && self.halves_reach(text, at)
    }

    /// The same of one that `has_part`.
    #[inline]
    pub(super) fn halves_reach(&self, text: &[u8], at: usize) -> bool {
        self.halves.reach(text, at)
    }

    /// `has_part` of those of sixteen places that are `wanted`.
    #[cfg(simd_x86)]
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn have_part(&self, wanted: u16, before: __m512i, after: __m512i) -> u16 {
        let at = _mm512_or_si512(_mm512_slli_epi32::<8>(before), after);
        // SAFETY: bytes are below 256, and there are 65,536 bits.
        unsafe { have(wanted, self.partial.as_ptr().cast(), at) }
    }

    /// `has_pair` of those of sixteen that are `wanted`.
    #[cfg(simd_x86)]
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn have_pair(&self, wanted: u16, before: __m512i, after: __m512i) -> u16 {
        let times = |of, by: u32| _mm512_mullo_epi32(of, _mm512_set1_epi32(by as i32));
        let mixed = times(_mm512_xor_si512(times(before, PAIR_BEFORE), times(after, PAIR_AFTER)), PAIR_BOTH);
        // SAFETY: `PAIR_BITS` are left of the number.
        unsafe {
            have(
                wanted,
                self.characters.as_ptr().cast(),
                _mm512_srli_epi32::<{ u32::BITS - PAIR_BITS }>(mixed),
            )
        }
    }

    /// The last place of a run of one character of ASCII that begins at `from` and has no cut; `from`, unless it is long.
    pub(super) fn within_run(&self, text: &[u8], from: usize) -> usize {
        let Some(&[same, .., last]) = text[from..].first_chunk::<LONG_RUN>() else { return from };
        let code = usize::from(same);
        let is_cut = !same.is_ascii() || !self.has_part(same, same) && !self.has_pair(code, code);
        let run = if is_cut || same != last { 0 } else { run_of(same, &text[from..]) };
        if run < LONG_RUN { from } else { from + run - 1 }
    }

    /// Whether, in some token, these two characters may stand side by side.
    #[inline(always)]
    pub(super) fn has_pair(&self, before: usize, after: usize) -> bool {
        has(&*self.characters, place(before, after))
    }
}

/// How many bytes at the beginning are this one.
pub(super) fn run_of(byte: u8, text: &[u8]) -> usize {
    let same = [byte; 32];
    let whole = same.len() * text.as_chunks().0.iter().take_while(|&bytes| *bytes == same).count();
    whole + text[whole..].iter().take_while(|&&other| other == byte).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: whether some token reaches over `at`.
    fn reached(tokens: &[Vec<u8>], text: &[u8], at: usize) -> bool {
        tokens.iter().any(|token| {
            (1..token.len())
                .any(|inside| at >= inside && text.get(at - inside..at - inside + token.len()) == Some(token))
        })
    }

    #[test]
    fn no_token_reaches_over_a_cut() {
        let letters = ["\0", "\u{5B40}", "é", "À", "字", "学", "a", "😀"];
        let mut state = 7u64;
        let mut draw = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % most
        };
        let (mut cut, mut kept) = (0, 0);
        for _ in 0..4000 {
            let some = 2 + draw(letters.len() - 1);
            let mut string = |most: usize| -> Vec<u8> {
                (0..1 + draw(most)).flat_map(|_| letters[draw(some)].bytes()).collect()
            };
            let whole: Vec<Vec<u8>> = (0..6).map(|_| string(3)).collect();
            let text = string(8);
            // Also tokens that begin or end inside a character, or are no text.
            let part = |token: &Vec<u8>| {
                let rest = &token[draw(3).min(token.len() - 1)..];
                let mut part = rest[..rest.len() - draw(3).min(rest.len() - 1)].to_vec();
                for _ in 0..draw(3).min(part.len() - 1) {
                    part.remove(draw(part.len()));
                }
                part
            };
            let tokens: Vec<Vec<u8>> = whole.iter().map(part).collect();
            let vocab = Vocab::new(tokens.iter().zip(0..).map(|(token, id)| (id, token.as_slice()))).unwrap();
            let cuts = Cuts::new(&vocab);
            for at in (1..text.len()).filter(|&at| !is_inside(text[at])) {
                let (after, _) = decode(&text, at);
                let start = (0..at).rfind(|&start| !is_inside(text[start])).unwrap();
                let (before, width) = decode(&text, start);
                assert_eq!(start + width, at);
                assert_eq!(code_of(character_before(&text, at).unwrap()), before);
                let safe = cuts.passes_none(&text, at, (before, after));
                assert!(!safe || !reached(&tokens, &text, at), "{tokens:?} {text:?} {at}");
                if safe { cut += 1 } else { kept += 1 }
            }
        }
        assert!(cut > 1000 && kept > 300, "{cut} {kept}");
    }

    /// `00 80 00` is in no text, but its last two bytes are.
    #[test]
    fn a_token_that_is_no_text_hides_no_other() {
        let tokens: [&[u8]; 2] = [b"\0\x80\0", b"\x80\0"];
        for ids in [[0, 1], [1, 0]] {
            let vocab = Vocab::new(ids.into_iter().zip(tokens)).unwrap();
            let text = "\u{5B40}\0".as_bytes();
            assert!(reached(&[tokens[1].to_vec()], text, 3));
            assert!(!Cuts::new(&vocab).passes_none(text, 3, (0x5B40, 0)));
        }
    }

    #[test]
    fn runs_end_where_they_end() {
        let vocab = Vocab::new([(0, "aa".as_bytes()), (1, "b".as_bytes())]).unwrap();
        let cuts = Cuts::new(&vocab);
        for length in [1, 63, 64, 65, 95, 96, 97, 1000] {
            let text = [&b"b".repeat(3)[..], &b"a".repeat(length), b"bb"].concat();
            let at = cuts.within_run(&text, 3);
            assert_eq!(at, if length < LONG_RUN { 3 } else { 3 + length - 1 });
            // Every place between two of these is cut.
            assert_eq!(cuts.within_run(&b"b".repeat(length), 0), 0);
        }
        assert_eq!(cuts.within_run(&"é".repeat(100).into_bytes(), 0), 0);
    }
}
