//! Where ASCII text may be cut, 64 places at once, with AVX2.
//!
//! Leaves out the rectangles (`cover`).

use std::arch::x86_64::{
    _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_setzero_si256,
};

use super::{
    cover::Cover,
    joins::{BLOCK, BLOCKS, Cuts},
};
use crate::{first::first_bits, narrow::look};

/// Bytes at a time.
const HALF: usize = BLOCK / 2;

impl Cover {
    /// Where text may be cut, from a byte on, which begins a character, as far as it is ASCII.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn cuts_narrow(&self, text: &[u8], at: usize) -> Cuts {
        let mut cuts = Cuts { bits: [0; BLOCKS], end: at };
        for bits in &mut cuts.bits {
            let ahead = text[cuts.end..].len().min(BLOCK);
            // The byte before, and those of the block.
            let mut copy = [0; BLOCK + 1];
            let block = match cuts.end.checked_sub(1).and_then(|before| text[before..].first_chunk()) {
                Some(block) => block,
                None => {
                    copy[0] = cuts.end.checked_sub(1).map_or(0, |before| text[before]);
                    copy[1..=ahead].copy_from_slice(&text[cuts.end..][..ahead]);
                    &copy
                }
            };
            let (may, others) = self.block(block);
            let ascii = (others.trailing_zeros() as usize).min(ahead);
            *bits = may & first_bits(ascii) & if cuts.end == at { !1 } else { u64::MAX };
            cuts.end += ascii;
            if ascii < BLOCK {
                break;
            }
        }
        cuts
    }

    /// Before which bytes of a block, which stands behind another byte, text may be cut, and which are not ASCII.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn block(&self, block: &[u8; BLOCK + 1]) -> (u64, u64) {
        let (mut may, mut others) = (0, 0);
        for at in [0, HALF] {
            // SAFETY: there are 65 bytes.
            let (left, right) = unsafe {
                let here = block.as_ptr().add(at);
                (_mm256_loadu_si256(here.cast()), _mm256_loadu_si256(here.add(1).cast()))
            };
            let lefts = look([&self.lefts[0], &self.lefts[1]], left);
            let rights = look([&self.rights[0], &self.rights[1]], right);
            let both =
                _mm256_or_si256(_mm256_and_si256(lefts[0], rights[0]), _mm256_and_si256(lefts[1], rights[1]));
            let none = _mm256_cmpeq_epi8(both, _mm256_setzero_si256());
            may |= u64::from(!_mm256_movemask_epi8(none) as u32) << at;
            others |= u64::from(_mm256_movemask_epi8(right) as u32) << at;
        }
        (may, others)
    }
}
