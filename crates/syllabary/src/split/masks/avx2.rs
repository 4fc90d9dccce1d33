//! Masks by AVX2: two vectors of 32 bytes a block.
//!
//! Adds: `Vectors` for them; classes of ASCII by comparing. Leaves out: what is made of them (`blocks`).

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_alignr_epi8, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8,
    _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_storeu_si256, _mm256_sub_epi8, _mm256_xor_si256,
};

use super::super::classes::{Classes, NUMBER, SPACE};
use super::super::walk::Walk;
use super::blocks::{self, Vectors};
use super::{BLOCK, Lanes, Law, Masks, WINDOW, places_of};

/// Exists only where the processor has AVX2 and the bit instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Avx2(());

impl Avx2 {
    pub(in super::super) fn new() -> Option<Avx2> {
        let there = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        there.then_some(Avx2(()))
    }

    pub(in super::super) fn enter(self, walk: &mut Walk<'_>, law: impl Law, ends: &mut [usize]) -> usize {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn enter(lanes: Avx2, walk: &mut Walk<'_>, law: impl Law, ends: &mut [usize]) -> usize {
            walk.run(lanes, law, ends)
        }
        // SAFETY: `self` exists, so the processor has these instructions.
        unsafe { enter(self, walk, law, ends) }
    }
}

impl Lanes for Avx2 {
    #[inline(always)]
    fn masks<L: Law>(self, law: L, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks {
        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn masks(lanes: Avx2, law: impl Law, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks {
            blocks::masks(lanes, law, classes, window, last)
        }
        // SAFETY: `self` exists, so the processor has these instructions.
        unsafe { masks(self, law, classes, window, last) }
    }

    #[inline(always)]
    fn flatten(self, bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
        places_of(bits, base, out)
    }
}

type Pair = [__m256i; 2];

/// What each half gives. No closures: those are compiled without the instructions, and what they call with them is then
/// not put in.
macro_rules! halves {
    (|$half:ident| $of:expr) => {
        // SAFETY: this stands where there is an `Avx2`, so the processor has the instructions.
        unsafe {
            [
                {
                    let $half = 0;
                    $of
                },
                {
                    let $half = 1;
                    $of
                },
            ]
        }
    };
}

impl Avx2 {
    /// A mask of the bytes that have none of these bits.
    #[inline(always)]
    fn none(self, bytes: Pair, bits: u8) -> Pair {
        let bits = self.splat(bits);
        halves!(|half| _mm256_cmpeq_epi8(_mm256_and_si256(bytes[half], bits[half]), _mm256_setzero_si256()))
    }
}

impl Vectors for Avx2 {
    type Bytes = Pair;

    #[inline(always)]
    fn load(self, bytes: &[u8; BLOCK]) -> Pair {
        let (halves, _) = bytes.as_chunks::<32>();
        // Each half is read whole; these loads need no alignment.
        halves!(|half| _mm256_loadu_si256(halves[half].as_ptr().cast()))
    }

    #[inline(always)]
    fn tops(self, bytes: Pair) -> u64 {
        let [low, high] = halves!(|half| _mm256_movemask_epi8(bytes[half]));
        u64::from(low as u32) | (u64::from(high as u32) << 32)
    }

    #[inline(always)]
    fn equal(self, one: Pair, other: Pair) -> Pair {
        halves!(|half| _mm256_cmpeq_epi8(one[half], other[half]))
    }

    #[inline(always)]
    fn and(self, one: Pair, other: Pair) -> Pair {
        halves!(|half| _mm256_and_si256(one[half], other[half]))
    }

    #[inline(always)]
    fn or(self, one: Pair, other: Pair) -> Pair {
        halves!(|half| _mm256_or_si256(one[half], other[half]))
    }

    #[inline(always)]
    fn without(self, one: Pair, other: Pair) -> Pair {
        halves!(|half| _mm256_andnot_si256(other[half], one[half]))
    }

    #[inline(always)]
    fn select(self, mask: Pair, then: Pair, or: Pair) -> Pair {
        halves!(|half| _mm256_blendv_epi8(or[half], then[half], mask[half]))
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> Pair {
        halves!(|_half| _mm256_set1_epi8(byte as i8))
    }

    #[inline(always)]
    fn any(self, bytes: Pair, bits: u8) -> Pair {
        let none = self.none(bytes, bits);
        halves!(|half| _mm256_xor_si256(none[half], _mm256_set1_epi8(-1)))
    }

    #[inline(always)]
    fn any_bits(self, bytes: Pair, bits: u8) -> u64 {
        !self.tops(self.none(bytes, bits))
    }

    #[inline(always)]
    fn inner(self, bytes: Pair) -> Pair {
        halves!(|half| _mm256_cmpgt_epi8(_mm256_set1_epi8(-64), bytes[half]))
    }

    #[inline(always)]
    fn shifted(self, bytes: Pair, first: u8) -> Pair {
        let before = [self.splat(first)[0], bytes[0]];
        halves!(|half| shifted(before[half], bytes[half]))
    }

    #[inline(always)]
    fn of_six(self, table: &[u8; BLOCK], bytes: Pair) -> Pair {
        halves!(|half| of_six(table, bytes[half]))
    }

    #[inline(always)]
    fn ascii<L: Law>(self, _classes: &Classes, bytes: Pair) -> Pair {
        halves!(|half| ascii::<L>(bytes[half]))
    }

    #[inline(always)]
    fn stored(self, bytes: Pair) -> [u8; BLOCK] {
        let mut stored = [0; BLOCK];
        let (to, _) = stored.as_chunks_mut::<32>();
        // Each half is written whole; these stores need no alignment.
        halves!(|half| _mm256_storeu_si256(to[half].as_mut_ptr().cast(), bytes[half]));
        stored
    }
}

/// To each byte the one before it; to the first the last one of `before`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn shifted(before: __m256i, bytes: __m256i) -> __m256i {
    // The sixteen bytes before each sixteen.
    let lanes = _mm256_permute2x128_si256::<0x21>(before, bytes);
    _mm256_alignr_epi8::<15>(bytes, lanes)
}

/// What the six low bits of each byte number in a table: four rows of sixteen; bits 4 and 5 say which.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn of_six(table: &[u8; BLOCK], bytes: __m256i) -> __m256i {
    let place = _mm256_and_si256(bytes, _mm256_set1_epi8(0x3F));
    let (odd, upper) = (_mm256_slli_epi16::<3>(place), _mm256_slli_epi16::<2>(place));
    let [zero, one, two, three] = [0, 16, 32, 48].map(|at| {
        // SAFETY: sixteen bytes of the table are read; this load needs no alignment.
        let row = unsafe { _mm_loadu_si128(table.as_ptr().add(at).cast()) };
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(row), place)
    });
    let (low, high) = (_mm256_blendv_epi8(zero, one, odd), _mm256_blendv_epi8(two, three, odd));
    _mm256_blendv_epi8(low, high, upper)
}

/// The classes of ASCII; 0 for other bytes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn ascii<L: Law>(raw: __m256i) -> __m256i {
    let between = |first: u8, last: u8, class: u8| {
        let over = _mm256_sub_epi8(raw, _mm256_set1_epi8(first as i8));
        let within = _mm256_min_epu8(over, _mm256_set1_epi8((last - first) as i8));
        _mm256_and_si256(_mm256_cmpeq_epi8(over, within), _mm256_set1_epi8(class as i8))
    };
    let letters = _mm256_or_si256(between(b'A', b'Z', L::CAPITALS), between(b'a', b'z', L::SMALL));
    let spaces = _mm256_or_si256(between(b'\t', b'\r', SPACE), between(b' ', b' ', SPACE));
    let kinds = _mm256_or_si256(_mm256_or_si256(letters, spaces), between(b'0', b'9', NUMBER));
    if L::CONTROLS == 0 {
        return kinds;
    }
    let low = _mm256_or_si256(between(0, 0x08, L::CONTROLS), between(0x0E, 0x1F, L::CONTROLS));
    _mm256_or_si256(kinds, _mm256_or_si256(low, between(0x7F, 0x7F, L::CONTROLS)))
}
