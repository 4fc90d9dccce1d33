//! The bytes of ASCII that no token stands for and that go, as white space by some steps: 64 at a time, as bits.
//!
//! ```text
//! so be it   cuts  ..##.##.        begins  #..#..#.
//!            gone  ..#..#..        ends    ..#..#..
//! ```
//!
//! Leaves out other characters that go (`cut_wide`, or else segments of no id), and which characters they are (`kinds`).

#[cfg(simd_x86)]
use std::arch::x86_64::{
    __m512i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_srli_epi16, _mm512_loadu_si512, _mm512_movepi8_mask, _mm512_permutex2var_epi8,
};

use super::joins::{BLOCK, Cuts};
use crate::{
    encode::{Gap, Several},
    first::ASCII,
};
#[cfg(simd_x86)]
use crate::{
    narrow::Narrow,
    sixteen::{Able, load},
};

/// Which go.
#[repr(C, align(64))]
pub(super) struct Dropped {
    /// All bits of one that goes.
    is: [u8; ASCII],
    /// A bit for the upper half of each that goes, by its lower half.
    #[cfg(simd_x86)]
    halves: [u8; 16],
    #[cfg(simd_x86)]
    able: Option<Able>,
    #[cfg(simd_x86)]
    narrow: Option<Narrow>,
}

impl Dropped {
    /// Those of ASCII among these; `None` if there are none.
    pub(super) fn new(chars: &[char]) -> Option<Box<Dropped>> {
        let mut is = [0; ASCII];
        chars.iter().filter(|char| char.is_ascii()).for_each(|&char| is[char as usize] = u8::MAX);
        is.contains(&u8::MAX).then(|| {
            Box::new(Dropped {
                is,
                #[cfg(simd_x86)]
                halves: std::array::from_fn(|low| {
                    (0..8).fold(0, |bits, high| bits | (is[high << 4 | low] & 1) << high)
                }),
                #[cfg(simd_x86)]
                able: Able::new(),
                #[cfg(simd_x86)]
                narrow: Narrow::new(),
            })
        })
    }

    /// Takes the segments from a byte on, to where cuts are known, to those that are looked up together, without what goes; where
    /// the first that is not whole begins.
    #[inline]
    pub(super) fn cut(&self, text: &[u8], start: usize, cuts: &Cuts, several: &mut Several) -> usize {
        several.open();
        let (mut gap, mut first) = (Gap::NOTHING, 1);
        for (&bits, base) in cuts.bits.iter().zip((start..cuts.end).step_by(BLOCK)) {
            let length = BLOCK.min(cuts.end - base);
            let out = self.bits(&text[base..], length);
            let (starts, ends) = gap.edges(bits | first, (out, out), length as u32);
            several.cut_apart(starts, ends, base);
            first = 0;
        }
        several.rest(text.len(), cuts.end)
    }

    /// Which of the first bytes, up to so many, go; what is said of those behind them has no meaning.
    #[inline]
    fn bits(&self, text: &[u8], count: usize) -> u64 {
        #[cfg(simd_x86)]
        if self.able.is_some() {
            // SAFETY: the processor has all features that the functions have.
            return unsafe { self.wide_bits(load(text)) };
        }
        #[cfg(simd_x86)]
        if let (Some(block), true) = (text.first_chunk(), self.narrow.is_some()) {
            // SAFETY: the processor has all features that the function has.
            return unsafe { self.narrow_bits(block) };
        }
        self.plain_bits(&text[..count])
    }

    /// The same, whatever the processor has.
    #[inline]
    fn plain_bits(&self, text: &[u8]) -> u64 {
        let bit = |&byte: &u8| u64::from(self.is.get(usize::from(byte)).is_some_and(|&is| is != 0));
        text.iter().take(BLOCK).rev().fold(0, |bits, byte| bits << 1 | bit(byte))
    }

    /// Which of 64 bytes go, with AVX2.
    #[cfg(simd_x86)]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn narrow_bits(&self, block: &[u8; BLOCK]) -> u64 {
        // Bytes that are not ASCII have none.
        const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];
        // SAFETY: there are twice sixteen bytes.
        let (halves, bits) =
            unsafe { (_mm_loadu_si128(self.halves.as_ptr().cast()), _mm_loadu_si128(BITS.as_ptr().cast())) };
        let (halves, bits) = (_mm256_broadcastsi128_si256(halves), _mm256_broadcastsi128_si256(bits));
        let half = _mm256_set1_epi8(0x0F);
        let mut stay = 0;
        for (part, at) in block.as_chunks::<32>().0.iter().zip((0..).step_by(32)) {
            // SAFETY: there are 32 bytes.
            let bytes = unsafe { _mm256_loadu_si256(part.as_ptr().cast()) };
            let low = _mm256_shuffle_epi8(halves, _mm256_and_si256(bytes, half));
            let high = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half));
            let none = _mm256_cmpeq_epi8(_mm256_and_si256(low, high), _mm256_setzero_si256());
            stay |= u64::from(_mm256_movemask_epi8(none) as u32) << at;
        }
        !stay
    }

    /// Which of 64 bytes go.
    #[cfg(simd_x86)]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn wide_bits(&self, bytes: __m512i) -> u64 {
        let (low, high) = (self.is[..BLOCK].as_ptr(), self.is[BLOCK..].as_ptr());
        // SAFETY: there are twice 64 bytes.
        let [low, high] = unsafe { [_mm512_loadu_si512(low.cast()), _mm512_loadu_si512(high.cast())] };
        _mm512_movepi8_mask(_mm512_permutex2var_epi8(low, bytes, high)) & !_mm512_movepi8_mask(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        charwise::joins::Joins,
        drawn::{drawing, drawn},
    };

    /// Words between spaces and other signs that stand alone, and where the last begins.
    #[test]
    fn what_goes_is_in_no_segment() {
        let pairs: Vec<(char, char)> =
            "abc".chars().flat_map(|left| "abc".chars().map(move |right| (left, right))).collect();
        let joins = Joins::new(&pairs, ' ');
        let dropped = Dropped::new(&[' ', '\n', '\u{3000}']).unwrap();
        assert!(Dropped::new(&['\u{3000}']).is_none());
        let (mut draw, mut whole) = (drawing(2), 0);
        for round in 0..drawn(2_000, 40_000) {
            let among = &b"  \nabcabcabc.,"[..[14, 12, 4][round % 3]];
            let mut text: String = (0..draw(700)).map(|_| char::from(among[draw(among.len())])).collect();
            text.push_str(["", "é", " é b"][draw(3)]);
            let start = draw(text.bytes().take_while(u8::is_ascii).count() + 1);
            let mut several = Several::default();
            several.begin_apart(start);
            let cuts = joins.cuts_from(text.as_bytes(), start);
            let end = dropped.cut(text.as_bytes(), start, &cuts, &mut several);
            let (mut expected, mut begin) = (Vec::new(), start);
            let bytes = text.as_bytes();
            for at in start..cuts.end {
                let is_letter = |at: usize| bytes[at].is_ascii_lowercase();
                if at + 1 < cuts.end && is_letter(at) && is_letter(at + 1) {
                    continue;
                }
                let is_whole = at + 1 < cuts.end || cuts.end == bytes.len() || b" \n".contains(&bytes[at]);
                if is_whole && !b" \n".contains(&bytes[begin]) {
                    expected.push((begin, at + 1));
                }
                begin = if is_whole { at + 1 } else { begin };
            }
            let found: Vec<_> = (0..several.count()).map(|at| several.span(at)).collect();
            assert_eq!((found, end), (expected, begin), "{text:?} {start}");
            whole += usize::from(end == bytes.len());
        }
        assert!(whole > drawn(400, 8_000), "{whole}");
    }

    #[test]
    fn bits_are_those_of_bytes() {
        let dropped = Dropped::new(&['\t', ' ', '\u{7f}']).unwrap();
        let text: Vec<u8> = (0..=255).chain(0..40).collect();
        for start in 0..text.len() {
            let ahead = &text[start..];
            let expected = ahead.iter().take(BLOCK).zip(0..).filter(|(byte, _)| b"\t \x7f".contains(byte));
            let expected = expected.fold(0, |bits, (_, at)| bits | 1 << at);
            let count = ahead.len().min(BLOCK);
            #[cfg(simd_x86)]
            if let (Some(block), true) = (ahead.first_chunk(), dropped.narrow.is_some()) {
                // SAFETY: the processor has all features that the function has.
                assert_eq!(unsafe { dropped.narrow_bits(block) }, expected);
            }
            assert_eq!((dropped.bits(ahead, count), dropped.plain_bits(ahead)), (expected, expected));
        }
    }
}
