//! Where text of any script may be cut, sixteen characters at a time, with AVX-512 VBMI.
//!
//! ```text
//! 64 bytes  ->  where characters begin  ->  their numbers  ->  which neighbours may stand together: a gather
//! ```
//!
//! Leaves out characters of four bytes and long rows of characters that stand with no other, which are read one by one, and
//! stretches of ASCII, for which there are faster ways (`cover`).

use std::arch::x86_64::{
    __m512i, _mm512_alignr_epi32, _mm512_and_si512, _mm512_cmpeq_epi32_mask, _mm512_i32gather_epi32,
    _mm512_mask_mov_epi32, _mm512_movepi8_mask, _mm512_set1_epi32, _mm512_sllv_epi32, _mm512_srli_epi32,
    _mm512_test_epi32_mask, _pdep_u64,
};

use super::{Charwise, letters::Letters, stretch_wide::may_join};
use crate::{
    encode::Several,
    sixteen::{Able, LANES, Sixteen, WINDOW, first_sixteen, load},
};

/// A row of so many strangers is left out.
const ROW: u16 = 0b1111;

/// The characters that are in no token with another one, as bits. Exists only where the processor has the instructions.
pub(super) struct Strangers {
    bits: Box<[u32; 0x1_0000 / 32]>,
}

/// Some characters: the bytes before which text may be cut, as bits, how many bytes they all have, how many they are, and which
/// are strangers.
struct Cut {
    bits: u64,
    length: usize,
    lanes: usize,
    alone: u16,
}

impl Strangers {
    /// Of all characters of the table.
    pub(super) fn new(letters: &Letters) -> Option<Strangers> {
        Able::new()?;
        let mut bits = Box::new([0; 0x1_0000 / 32]);
        for number in 0..0x1_0000 {
            let is_one = char::from_u32(number).is_none_or(|char| !letters.get(char).has_neighbours());
            bits[number as usize / 32] |= u32::from(is_one) << (number % 32);
        }
        Some(Strangers { bits })
    }
}

impl Charwise {
    /// Takes the segments from byte `at` on, where text may be cut, to those that are looked up together, as long as there
    /// is room and this is for them; where the last ends.
    pub(super) fn cut_wide(
        &self,
        strangers: &Strangers,
        text: &[u8],
        at: usize,
        several: &mut Several,
    ) -> usize {
        // SAFETY: `strangers` exist, so the processor has all features that the function has.
        unsafe { self.cut_here(strangers, text, at, several) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn cut_here(&self, strangers: &Strangers, text: &[u8], mut at: usize, several: &mut Several) -> usize {
        // The first has an edge before it.
        let (mut last, mut known, mut before) = (_mm512_set1_epi32(0), u64::MAX << 1, 0);
        while at < text.len() && several.has_room() {
            let ahead = &text[at..];
            let bytes = load(ahead);
            if ahead.len() >= WINDOW && _mm512_movepi8_mask(bytes) as u32 == 0 {
                break;
            }
            let cut;
            (cut, last) = self.sixteen_cut(strangers, (bytes, ahead.len()), (last, before));
            if cut.lanes == 0 || cut.alone & ROW == ROW {
                break;
            }
            several.cut(cut.bits & known, at);
            (known, before) = (u64::MAX, cut.alone >> (LANES - 1));
            at += cut.length;
            if cut.lanes < LANES {
                break;
            }
        }
        if at == text.len() {
            several.put(at);
        }
        several.end()
    }

    /// The first sixteen characters, or fewer, of so many bytes, and their numbers; `last` has the sixteen before, the last of which
    /// is a stranger if `before` is 1.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn sixteen_cut(
        &self,
        strangers: &Strangers,
        (bytes, length): (__m512i, usize),
        (last, before): (__m512i, u16),
    ) -> (Cut, __m512i) {
        let number = |number: u32| _mm512_set1_epi32(number as i32);
        let Sixteen { chars, lanes, valid, begins, length, .. } = first_sixteen(bytes, length);
        // SAFETY: the numbers are of the table.
        let found = unsafe {
            _mm512_i32gather_epi32::<4>(_mm512_srli_epi32::<5>(chars), strangers.bits.as_ptr().cast())
        };
        let wanted = _mm512_sllv_epi32(number(1), _mm512_and_si512(chars, number(31)));
        let alone = _mm512_test_epi32_mask(found, wanted) & valid;
        let is_space = _mm512_cmpeq_epi32_mask(chars, number(b' '.into()));
        let read = _mm512_mask_mov_epi32(chars, is_space, number(self.letters.canonical(' ').into()));
        let joined = may_join(&self.joins, _mm512_alignr_epi32::<15>(read, last), read);
        // Pairs share bits, but what is in no token with another stands with nothing.
        let cuts = (!joined | alone | alone << 1 | before) & valid;
        let cut = Cut { bits: _pdep_u64(cuts.into(), begins), length, lanes, alone };
        (cut, read)
    }
}
