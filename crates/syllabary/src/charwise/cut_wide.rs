//! Where text of any script may be cut, sixteen characters at a time, with AVX-512 VBMI.
//!
//! ```text
//! 64 bytes  ->  where characters begin  ->  their numbers  ->  their groups: a gather; cut where they differ
//! where groups do not tell                                 ->  which neighbours may stand together: another one
//! ```
//!
//! Leaves out characters of four bytes and long rows of characters that stand with no other, which are read one by one, and
//! stretches of ASCII, for which there are faster ways (`cover`).

use std::arch::x86_64::{
    __m512i, _mm512_alignr_epi32, _mm512_and_si512, _mm512_cmpeq_epi32_mask, _mm512_cmpge_epu32_mask,
    _mm512_cmple_epu32_mask, _mm512_cmpneq_epi32_mask, _mm512_mask_mov_epi32, _mm512_movepi8_mask,
    _mm512_or_si512, _mm512_set1_epi32, _mm512_slli_epi32, _mm512_srli_epi32, _pdep_u64,
};

use super::{
    Charwise,
    cut::{ROW, UNSPACED},
    groups::{ALONE, GONE, Groups, PAIRS, UNKNOWN},
    stretch_wide::may_join,
};
use crate::{
    encode::{Gap, Several},
    sixteen::{Able, LANES, Sixteen, WINDOW, first_sixteen, load},
};

/// Some characters: before which of them text may be cut, which are strangers, in no token with another one, and which of these go;
/// how many they are, the bytes that begin characters, and how many bytes they have.
struct Cut {
    cuts: u16,
    alone: u16,
    gone: u16,
    lanes: usize,
    begins: u64,
    length: usize,
}

impl Charwise {
    /// `cut_by_groups` by vectors.
    pub(super) fn cut_wide(
        &self,
        (groups, _): (&Groups, Able),
        text: &[u8],
        at: usize,
        several: &mut Several,
    ) -> usize {
        // SAFETY: there is an `Able`, so the processor has all features that the function has.
        unsafe { self.cut_here(groups, text, at, several) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn cut_here(&self, groups: &Groups, text: &[u8], mut at: usize, several: &mut Several) -> usize {
        if self.dropped.is_some() {
            several.open();
        }
        let mut gap = Gap::NOTHING;
        // The first has an edge before it.
        let (mut last, mut known, mut before) = (_mm512_set1_epi32(0), u64::MAX << 1, 0);
        while at < text.len() && several.has_room() {
            let ahead = &text[at..];
            let bytes = load(ahead);
            if ahead.len() >= WINDOW && _mm512_movepi8_mask(bytes) as u32 == 0 {
                break;
            }
            let cut;
            (cut, last) = self.sixteen_cut(groups, (bytes, ahead.len()), (last, before));
            if cut.lanes == 0 || cut.alone.trailing_ones() as usize >= ROW {
                break;
            }
            let (cuts, gone) = (u64::from(cut.cuts), u64::from(cut.gone));
            if self.dropped.is_some() {
                let (starts, ends) = gap.edges(cuts | !known, (gone, gone), cut.lanes as u32);
                let places = |of: u64| _pdep_u64(of, cut.begins);
                several.cut_apart(places(starts), places(ends), at);
            } else {
                several.cut(_pdep_u64(cuts & known, cut.begins), at);
            }
            (known, before) = (u64::MAX, cut.alone >> (LANES - 1));
            at += cut.length;
            if cut.lanes < LANES {
                break;
            }
        }
        if self.dropped.is_some() {
            return several.rest(text.len(), at);
        }
        if at == text.len() {
            several.put(at);
        }
        several.end()
    }

    /// The first sixteen characters, or fewer, of so many bytes, and their numbers with their groups; `last` has the sixteen before, the last of which
    /// is a stranger if `before` is 1.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn sixteen_cut(
        &self,
        groups: &Groups,
        (bytes, length): (__m512i, usize),
        (last, before): (__m512i, u16),
    ) -> (Cut, __m512i) {
        let number = |number: u32| _mm512_set1_epi32(number as i32);
        let Sixteen { chars, lanes, valid, begins, length, .. } = first_sixteen(bytes, length);
        let groups = groups.of_sixteen(chars);
        let alone = _mm512_cmple_epu32_mask(groups, number(ALONE.into())) & valid;
        let is_space = _mm512_cmpeq_epi32_mask(chars, number(b' '.into()));
        let read = _mm512_mask_mov_epi32(chars, is_space, number(self.letters.canonical(' ').into()));
        let read = _mm512_or_si512(read, _mm512_slli_epi32::<24>(groups));
        let lefts = _mm512_alignr_epi32::<15>(read, last);
        let pairs = _mm512_cmpeq_epi32_mask(groups, number(PAIRS.into()))
            | _mm512_cmpge_epu32_mask(chars, number(UNSPACED));
        let differ = if pairs & valid == 0 {
            _mm512_cmpneq_epi32_mask(_mm512_srli_epi32::<24>(lefts), groups)
        } else {
            let char = |read| _mm512_and_si512(read, number(0xFFFF));
            !may_join(&self.joins, char(lefts), char(read))
        };
        // Pairs share bits, but what is in no token with another stands with nothing.
        let cuts = (differ | alone | alone << 1 | before) & valid;
        let gone = _mm512_cmpeq_epi32_mask(groups, number(GONE.into())) & valid;
        (Cut { cuts, alone, gone, lanes, begins, length }, read)
    }
}

/// `Groups::unknown` by vectors.
pub(super) fn unknown_wide((groups, _): (&Groups, Able), text: &[u8], at: usize) -> (usize, usize) {
    // SAFETY: there is an `Able`, so the processor has all features that the function has.
    unsafe { unknown_here(groups, text, at) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn unknown_here(groups: &Groups, text: &[u8], mut at: usize) -> (usize, usize) {
    let mut count = 0;
    loop {
        let ahead = &text[at..];
        let Sixteen { chars, valid, begins, .. } = first_sixteen(load(ahead), ahead.len());
        let groups = groups.of_sixteen(chars);
        let is = |group: u8| _mm512_cmpeq_epi32_mask(groups, _mm512_set1_epi32(group.into())) & valid;
        let (unknown, gone) = (is(UNKNOWN), is(GONE));
        let row = (unknown | gone).trailing_ones();
        let end = _pdep_u64(1 << row, begins).trailing_zeros() as usize;
        count += (u32::from(unknown) & ((1 << row) - 1)).count_ones() as usize;
        at += end.min(ahead.len());
        if row < LANES as u32 {
            return (count, at);
        }
    }
}
