//! Keys and looks of four pieces at a time, with AVX2.
//!
//! ```text
//! four ends -> four times 16 bytes -> their first eight, their others -> what is beyond each piece cut off
//!           -> hashes -> places
//! ```
//!
//! What `asked` and `found` do for one piece is done for four with about a third of the instructions. Leaves out the
//! pieces at the very end of a text, and those that are not short: they go one by one.

mod look;

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8,
    _mm256_castsi128_si256, _mm256_castsi256_pd, _mm256_cmpgt_epi64, _mm256_inserti128_si256,
    _mm256_loadu_si256, _mm256_movemask_pd, _mm256_mul_epu32, _mm256_or_si256, _mm256_set1_epi64x,
    _mm256_slli_epi64, _mm256_sllv_epi64, _mm256_srli_epi64, _mm256_srlv_epi64, _mm256_storeu_si256,
    _mm256_sub_epi64, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use super::{
    asked::{APART, Asked, NONE, PIECE, UNSPACED},
    found::{BEYOND, Found, MANY},
    key::{HASH_DOWN, HASH_HIGH, HASH_LOW, HASH_TURN, LONGER, SHORT},
    memory::{FEW, LINE, Lines, Longers},
};
use crate::fetch::fetch_byte;

/// Pieces at a time.
const WIDE: usize = 4;
const _: () = assert!(MANY.is_multiple_of(64) && FEW == 4 && FEW * WIDE <= BEYOND);
const _: () = assert!(APART.low == NONE.low + 1 && APART.high == NONE.high);

/// Exists only where the processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Able(());

impl Able {
    #[inline]
    pub(super) fn new() -> Option<Able> {
        is_x86_feature_detected!("avx2").then_some(Able(()))
    }

    /// The same as `Asked::ask`; says how many pieces were done.
    #[inline]
    pub(super) fn ask<const ALL: bool>(
        self,
        asked: &mut Asked,
        (lines, longer): (Lines<'_>, &Longers),
        text: &[u8],
        (starts, ends): (&[usize], &[usize]),
    ) -> usize {
        // SAFETY: `self` exists, so the processor has the instructions.
        let (done, odd) = unsafe { ask::<false, ALL>(asked, lines, text, (starts, ends, &[])) };
        for (word, mut bits) in odd.into_iter().enumerate() {
            while bits != 0 {
                let at = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                asked.one::<ALL>((lines, longer), text, (starts[at], ends[at]), at);
            }
        }
        done
    }

    /// The same as `Asked::ask_short`; says how many strings were done.
    #[inline]
    pub(super) fn ask_short(
        self,
        asked: &mut Asked,
        lines: Lines<'_>,
        text: &[u8],
        strings: (&[usize], &[usize], &[u64]),
    ) -> usize {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { ask::<true, true>(asked, lines, text, strings).0 }
    }

    /// The same as `Found::look`; says how many pieces were done, and how many ids they have.
    #[inline]
    pub(super) fn look<const KEEP: bool, const ENDS: bool>(
        self,
        found: &mut Found,
        memory: (Lines<'_>, &Longers),
        asked: &Asked,
        count: usize,
    ) -> (usize, usize) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe {
            if found.others_are_many {
                look::one_after_the_other::<KEEP, ENDS>(found, memory, asked, count)
            } else {
                look::ahead::<KEEP, ENDS>(found, memory, asked, count)
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load<T>(from: &[T; WIDE]) -> __m256i {
    const { assert!(size_of::<[T; WIDE]>() == 32) };
    // SAFETY: there are 32 bytes.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store<T>(to: &mut [T; WIDE], value: __m256i) {
    const { assert!(size_of::<[T; WIDE]>() == 32) };
    // SAFETY: there is room for 32 bytes, and any bits are integers; `T` is `u64` or `usize` in this file.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), value) }
}

/// The sixteen bytes at each of two places.
///
/// # Safety
/// They are there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn pair(base: *const u8, first: usize, second: usize) -> __m256i {
    // SAFETY: the caller says so.
    let (first, second): (__m128i, __m128i) =
        unsafe { (_mm_loadu_si128(base.add(first).cast()), _mm_loadu_si128(base.add(second).cast())) };
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(first), second)
}

/// Makes keys; gives how many, and a bit for each of them that a longer one must replace. If `SHORT_ONLY`, there are
/// none longer than that, and they are of these kinds; or else all are pieces, and only where `ALL` are those of scripts
/// without spaces looked for.
#[target_feature(enable = "avx2")]
fn ask<const SHORT_ONLY: bool, const ALL: bool>(
    asked: &mut Asked,
    lines: Lines<'_>,
    text: &[u8],
    (starts, ends, kinds): (&[usize], &[usize], &[u64]),
) -> (usize, [u64; MANY / 64]) {
    let (mut done, mut longer) = (0, [0; MANY / 64]);
    let Some(limit) = text.len().checked_sub(16) else { return (done, longer) };
    let (lows, highs) = (asked.lows.as_chunks_mut::<WIDE>().0, asked.highs.as_chunks_mut::<WIDE>().0);
    let columns = lows.iter_mut().zip(highs).zip(asked.places.as_chunks_mut::<WIDE>().0);
    let places_mask = _mm256_set1_epi64x((lines.size() - LINE) as i64);
    let spans = starts.as_chunks::<WIDE>().0.iter().zip(ends.as_chunks::<WIDE>().0);
    for (group, ((starts, ends), ((lows, highs), places))) in spans.zip(columns).enumerate() {
        if starts[0] > limit || starts[1] > limit || starts[2] > limit || starts[3] > limit {
            break;
        }
        let lengths = _mm256_sub_epi64(load(ends), load(starts));
        // SAFETY: sixteen bytes after each of the four places are within the text.
        let (even, uneven) =
            unsafe { (pair(text.as_ptr(), starts[0], starts[2]), pair(text.as_ptr(), starts[1], starts[3])) };
        let kind = match kinds.as_chunks().0.get(group) {
            Some(kinds) if SHORT_ONLY => load(kinds),
            _ => _mm256_set1_epi64x(PIECE as i64),
        };
        let (mut low, mut high) = cut_off(even, uneven, lengths, kind);
        if !SHORT_ONLY {
            let is_longer = _mm256_cmpgt_epi64(lengths, _mm256_set1_epi64x(SHORT as i64));
            let first = _mm256_and_si256(low, _mm256_set1_epi64x(0xFF));
            let least = if ALL { i64::MAX } else { i64::from(UNSPACED) };
            let is_unspaced = _mm256_cmpgt_epi64(first, _mm256_set1_epi64x(least - 1));
            if bits(_mm256_or_si256(is_longer, is_unspaced)) != 0 {
                let is_long = _mm256_cmpgt_epi64(lengths, _mm256_set1_epi64x(LONGER as i64));
                let has_none = _mm256_or_si256(is_long, is_unspaced);
                let none = _mm256_sub_epi64(_mm256_set1_epi64x(NONE.low as i64), is_unspaced);
                low = _mm256_blendv_epi8(low, none, has_none);
                high = _mm256_andnot_si256(has_none, high);
                longer[done / 64] |= (bits(_mm256_andnot_si256(has_none, is_longer)) as u64) << (done % 64);
            }
        }
        let place = _mm256_and_si256(_mm256_slli_epi64::<6>(hashes(low, high)), places_mask);
        store(lows, low);
        store(highs, high);
        store(places, place);
        for &place in &*places {
            // SAFETY: the place is below the size of the lines.
            fetch_byte(unsafe { lines.base().add(place) });
        }
        done += WIDE;
    }
    (done, longer)
}

/// The keys of the first bytes of four times sixteen, as many as `lengths` say: the lower and the higher words. What
/// is made of other lengths than 1 to `SHORT`, or less than that if they are `INNER`, has no meaning.
#[inline]
#[target_feature(enable = "avx2")]
fn cut_off(even: __m256i, uneven: __m256i, lengths: __m256i, kinds: __m256i) -> (__m256i, __m256i) {
    let ones = _mm256_set1_epi64x(-1);
    let bits = _mm256_slli_epi64::<3>(lengths);
    // Shifting by 64 or more, or by less than nothing, leaves nothing.
    let beyond = _mm256_sllv_epi64(ones, bits);
    let within = _mm256_srlv_epi64(ones, _mm256_sub_epi64(_mm256_set1_epi64x(128), bits));
    let low = _mm256_andnot_si256(beyond, _mm256_unpacklo_epi64(even, uneven));
    let high = _mm256_and_si256(within, _mm256_unpackhi_epi64(even, uneven));
    (low, _mm256_or_si256(high, _mm256_sllv_epi64(lengths, kinds)))
}

/// `Key::hash` of four keys.
#[inline]
#[target_feature(enable = "avx2")]
fn hashes(low: __m256i, high: __m256i) -> __m256i {
    _mm256_srli_epi64::<HASH_DOWN>(mixed(low, high))
}

/// `Key::mixed` of four keys.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn mixed(low: __m256i, high: __m256i) -> __m256i {
    let turned =
        _mm256_or_si256(_mm256_srli_epi64::<HASH_TURN>(high), _mm256_slli_epi64::<{ 64 - HASH_TURN }>(high));
    let both = _mm256_xor_si256(low, turned);
    _mm256_xor_si256(
        _mm256_mul_epu32(both, _mm256_set1_epi64x(HASH_LOW as i64)),
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(both), _mm256_set1_epi64x(HASH_HIGH as i64)),
    )
}

/// The highest bit of each of four.
#[inline]
#[target_feature(enable = "avx2")]
fn bits(of: __m256i) -> i32 {
    _mm256_movemask_pd(_mm256_castsi256_pd(of))
}
