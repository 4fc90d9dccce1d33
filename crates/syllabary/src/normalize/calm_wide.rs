//! The same as `calm`, 64 bytes at a time, with AVX-512 VBMI.
//!
//! ```text
//! a byte that begins a character: is that calm?  ASCII by comparing, two bytes by a table of 2,048 bits that lies in registers,
//! three bytes by whether all 64 that begin with the same two are, or none; only of the others the bit is looked up
//! ```
//!
//! What is left are the few characters that change, and spaces that go, as bits of one number. Leaves out what is written then
//! (`calm_walk`).

use std::arch::x86_64::{
    __m512i, __mmask64, _mm512_and_si512, _mm512_cmpeq_epi8_mask, _mm512_cmpge_epu8_mask,
    _mm512_cmplt_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_mask_permutexvar_epi8,
    _mm512_maskz_permutexvar_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_test_epi8_mask,
};

use super::{
    calm::{BITS, Calm, Longest, Reached, decode, four_at},
    calm_joins::Joins,
    calm_narrow::{Narrow, load, load_all},
    calm_walk::{BLOCK, Block, Walk},
};
use crate::split::has_vbmi;

/// First bytes of characters of which often some of 64 are calm, and others are not.
const FINE: [u8; 3] = [0xE1, 0xE2, 0xE3];

/// Which characters are calm, by their second byte: a bit for each of eight first bytes. Exists only where the processor has the
/// instructions.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Wide {
    /// Of two bytes, from C0, C8, D0 and D8 on.
    two: [[u8; BLOCK]; 4],
    /// Of three bytes, from E0 and E8 on: whether all are; whether some are.
    three: [[u8; BLOCK]; 2],
    some: [[u8; BLOCK]; 2],
    /// Of three bytes, from E1, E2 and E3 on, by the eight of which the third byte is: a bit for each.
    third: [[[u8; BLOCK]; 8]; FINE.len()],
    /// The bit of a first byte, or of a third.
    bit: [u8; BLOCK],
    /// Of which some stand behind the first of a rule: of two bytes, as `two`, and of three, as `some`.
    joins: [[u8; BLOCK]; 6],
    /// Characters that become one byte.
    narrow: Narrow,
}

impl Wide {
    /// Of a bit for each character of up to three bytes, those behind others, and what it becomes if that is one byte.
    pub(super) fn new(
        bits: &[u64; BITS / 64],
        joins: &Joins,
        made: impl Fn(usize) -> Option<u8>,
    ) -> Option<Box<Wide>> {
        let mut wide = Wide {
            two: [[0; BLOCK]; 4],
            three: [[0; BLOCK]; 2],
            some: [[0; BLOCK]; 2],
            third: [[[0; BLOCK]; 8]; FINE.len()],
            bit: [0; BLOCK],
            joins: [[0; BLOCK]; 6],
            narrow: Narrow::new(made),
        };
        let joined = |first: usize, second: usize, row: usize| {
            let code = first << 6 | second;
            let codes = if row < 4 { code..code + 1 } else { code << 6..(code + 1) << 6 };
            u8::from(codes.into_iter().any(|code| joins.has(code))) << (first % 8)
        };
        for second in 0..BLOCK {
            wide.bit[second] = 1 << (second % 8);
            for row in 0..6 {
                let firsts = 8 * (row % 4)..8 * (row % 4) + 8;
                wide.joins[row][second] = firsts.map(|first| joined(first, second, row)).sum();
            }
            for (first, page) in bits[..32].iter().enumerate() {
                let is_calm = page >> second & 1 == 1;
                wide.two[first / 8][second] |= u8::from(is_calm) << (first % 8);
            }
            for first in 0..16 {
                let page = bits[first << 6 | second];
                wide.three[first / 8][second] |= u8::from(page == u64::MAX) << (first % 8);
                wide.some[first / 8][second] |= u8::from(page != 0) << (first % 8);
            }
            for (rows, first) in wide.third.iter_mut().zip(FINE) {
                let page = bits[usize::from(first & 0x0F) << 6 | second];
                rows.iter_mut().zip(page.to_le_bytes()).for_each(|(row, eight)| row[second] = eight);
            }
        }
        has_vbmi().then(|| Box::new(wide))
    }

    /// As `Calm::put`.
    pub(super) fn put(
        &self,
        calm: &Calm,
        text: (&[u8], Longest<'_>),
        from: Reached,
        squeezes: bool,
        out: &mut Vec<u8>,
    ) -> (Reached, usize, usize) {
        // SAFETY: this exists, so the processor has all features that the function has.
        unsafe { self.walk(calm, text, from, squeezes, out) }
    }

    /// As `Calm::kept`.
    pub(super) fn kept(&self, calm: &Calm, text: &[u8]) -> usize {
        // SAFETY: this exists, so the processor has all features that the function has.
        unsafe { self.calm_bytes(calm, text) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn calm_bytes(&self, calm: &Calm, text: &[u8]) -> usize {
        let mut at = 0;
        while at < text.len() {
            let block = self.look(calm, &text[at..]);
            if block.strange != 0 {
                let strange = block.settled(|place| calm.stays(text, at + place, 0));
                if strange != 0 {
                    return at + strange.trailing_zeros() as usize;
                }
            }
            let Block { begins, .. } = block;
            // The last may go on behind the block.
            let last = BLOCK - 1 - begins.leading_zeros() as usize;
            at = if text.len() - at > BLOCK { at + last } else { text.len() };
        }
        at
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn walk(
        &self,
        calm: &Calm,
        (text, longest): (&[u8], Longest<'_>),
        from: Reached,
        squeezes: bool,
        out: &mut Vec<u8>,
    ) -> (Reached, usize, usize) {
        let Reached { at, after_space: after } = from;
        let mut walk = Walk { at, after, written: out.len(), ruled: 0, from: (from, out.len()) };
        let mut block = Block::default();
        while walk.at < text.len() {
            if block.length < BLOCK / 2 {
                block = self.look(calm, &text[walk.at..]);
                block.settle(|place| calm.stays(text, walk.at + place, at));
            }
            let before = walk.at;
            if let Some(state) = walk.block((calm, &self.narrow), text, block, squeezes, out) {
                let Some(searched) = calm.search((text, longest), state, (squeezes, &mut walk.ruled), out)
                else {
                    return (state.0, state.1, walk.ruled);
                };
                walk.go_on(searched);
            }
            block.skip(walk.at - before);
        }
        (Reached { at: walk.at, after_space: walk.after }, walk.written, walk.ruled)
    }

    /// What the characters are that text begins with.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn look(&self, calm: &Calm, text: &[u8]) -> Block {
        let (first, second) = (load(text), load(text.get(1..).unwrap_or_default()));
        let set = |byte: u8| _mm512_set1_epi8(byte as i8);
        let begins = !_mm512_cmplt_epi8_mask(first, set(0xC0));
        let wide = _mm512_cmpge_epu8_mask(first, set(0xC0));
        let plain = _mm512_cmpge_epu8_mask(first, set(0x20)) & _mm512_cmplt_epu8_mask(first, set(0x7F));
        let spaces = _mm512_cmpeq_epi8_mask(first, set(b' '));
        let mut strange = begins & !plain;
        // Those that become a byte are not calm.
        let (controls, _) = self.narrow.controls(first, strange);
        let mut unsure = strange & !wide & !controls;
        if wide != 0 {
            let eight = _mm512_and_si512(first, set(0xF8));
            let of = |byte: u8| _mm512_cmpeq_epi8_mask(eight, set(byte));
            let table = |row: &[u8; BLOCK]| load_all(row);
            let found = _mm512_maskz_permutexvar_epi8(of(0xC0), second, table(&self.two[0]));
            let found = _mm512_mask_permutexvar_epi8(found, of(0xC8), second, table(&self.two[1]));
            let found = _mm512_mask_permutexvar_epi8(found, of(0xD0), second, table(&self.two[2]));
            let found = _mm512_mask_permutexvar_epi8(found, of(0xD8), second, table(&self.two[3]));
            let found = _mm512_mask_permutexvar_epi8(found, of(0xE0), second, table(&self.three[0]));
            let found = _mm512_mask_permutexvar_epi8(found, of(0xE8), second, table(&self.three[1]));
            let some = _mm512_maskz_permutexvar_epi8(of(0xE0), second, table(&self.some[0]));
            let some = _mm512_mask_permutexvar_epi8(some, of(0xE8), second, table(&self.some[1]));
            let bit = _mm512_permutexvar_epi8(first, table(&self.bit));
            strange &= !_mm512_test_epi8_mask(found, bit);
            unsure |= strange & _mm512_test_epi8_mask(some, bit);
        }
        if unsure != 0 {
            let third = load(text.get(2..).unwrap_or_default());
            for (rows, byte) in self.third.iter().zip(FINE) {
                let lanes = unsure & _mm512_cmpeq_epi8_mask(first, set(byte));
                if lanes != 0 {
                    strange &= !(lanes & self.are_calm(rows, second, third));
                    unsure &= !lanes;
                }
            }
        }
        while unsure != 0 {
            let place = unsure.trailing_zeros() as usize;
            let (code, _) = decode(u32::from_le_bytes(four_at(text, place)));
            strange ^= u64::from(calm.is_calm(code)) << place;
            unsure &= unsure - 1;
        }
        let joins = if strange & wide == 0 { 0 } else { strange & wide & self.may_join(first, second) };
        Block { length: BLOCK, begins, strange, joins, spaces }
    }

    /// Which characters of more bytes than one may stand behind the first of a rule.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn may_join(&self, first: __m512i, second: __m512i) -> __mmask64 {
        let eight = _mm512_and_si512(first, _mm512_set1_epi8(0xF8_u8 as i8));
        let mut found = _mm512_set1_epi8(0);
        for (row, byte) in self.joins.iter().zip((0xC0_u8..).step_by(8)) {
            let here = _mm512_cmpeq_epi8_mask(eight, _mm512_set1_epi8(byte as i8));
            found = _mm512_mask_permutexvar_epi8(found, here, second, load_all(row));
        }
        _mm512_test_epi8_mask(found, _mm512_permutexvar_epi8(first, load_all(&self.bit)))
    }

    /// Which characters of three bytes are calm, by the rows of their first.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn are_calm(&self, rows: &[[u8; BLOCK]; 8], second: __m512i, third: __m512i) -> __mmask64 {
        let eight = _mm512_and_si512(third, _mm512_set1_epi8(0x38));
        let mut found = _mm512_set1_epi8(0);
        for (row, number) in rows.iter().zip(0..) {
            let here = _mm512_cmpeq_epi8_mask(eight, _mm512_set1_epi8(number << 3));
            found = _mm512_mask_permutexvar_epi8(found, here, second, load_all(row));
        }
        _mm512_test_epi8_mask(found, _mm512_permutexvar_epi8(third, load_all(&self.bit)))
    }
}
