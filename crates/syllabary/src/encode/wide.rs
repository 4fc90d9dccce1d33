//! Keys and looks of four pieces at a time, with AVX2.
//!
//! ```text
//! four ends -> four times 16 bytes -> their first eight, their others -> what is beyond each piece cut off
//!           -> hashes -> places
//! four places -> the keys of both slots of each line -> equal? -> ids and counts
//! ```
//!
//! What `asked` and `found` do for one piece is done for four with about a third of the instructions. Leaves out the
//! pieces at the very end of a text, and those that are not short or not found: they go one by one.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi64, _mm256_and_si256,
    _mm256_andnot_si256, _mm256_blendv_epi8, _mm256_castsi128_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64,
    _mm256_cmpgt_epi64, _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_movemask_pd, _mm256_mul_epu32,
    _mm256_or_si256, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_slli_epi64, _mm256_sllv_epi64,
    _mm256_srli_epi64, _mm256_srlv_epi64, _mm256_storeu_si256, _mm256_sub_epi64, _mm256_unpackhi_epi64,
    _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use super::{
    asked::{APART, Asked, LONG, NONE, PIECE, UNSPACED},
    found::{BEYOND, Found, MANY},
    key::{HASH_DOWN, HASH_HIGH, HASH_LOW, HASH_TURN, LONGER, SHORT, fetch_byte},
    memory::{FEW, LINE, Lines, Longers, SLOT},
};

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
    pub(super) fn ask(
        self,
        asked: &mut Asked,
        (lines, longer): (Lines<'_>, &Longers),
        text: &[u8],
        (starts, ends): (&[usize], &[usize]),
    ) -> usize {
        // SAFETY: `self` exists, so the processor has the instructions.
        let (done, odd) = unsafe { ask::<false>(asked, lines, text, (starts, ends, &[])) };
        for (word, mut bits) in odd.into_iter().enumerate() {
            while bits != 0 {
                let at = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                asked.one((lines, longer), text, (starts[at], ends[at]), at);
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
        unsafe { ask::<true>(asked, lines, text, strings).0 }
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
        unsafe { look::<KEEP, ENDS>(found, memory, asked, count) }
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
/// none longer than that, and they are of these kinds; or else all are pieces.
#[target_feature(enable = "avx2")]
fn ask<const SHORT_ONLY: bool>(
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
            let is_unspaced = _mm256_cmpgt_epi64(first, _mm256_set1_epi64x(i64::from(UNSPACED) - 1));
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
    let turned =
        _mm256_or_si256(_mm256_srli_epi64::<HASH_TURN>(high), _mm256_slli_epi64::<{ 64 - HASH_TURN }>(high));
    let both = _mm256_xor_si256(low, turned);
    let product = _mm256_xor_si256(
        _mm256_mul_epu32(both, _mm256_set1_epi64x(HASH_LOW as i64)),
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(both), _mm256_set1_epi64x(HASH_HIGH as i64)),
    );
    _mm256_srli_epi64::<HASH_DOWN>(product)
}

/// The highest bit of each of four.
#[inline]
#[target_feature(enable = "avx2")]
fn bits(of: __m256i) -> i32 {
    _mm256_movemask_pd(_mm256_castsi256_pd(of))
}

/// Where the ids of four strings are, and how many.
struct Heads {
    /// Bytes of the memory where their slots begin.
    slots: [usize; WIDE],
    counts: [usize; WIDE],
    /// A bit for each that was found, and for each of them that has few ids.
    there: i32,
    good: i32,
}

/// All ones where the key of a slot, but for its count, is that of a string.
#[inline]
#[target_feature(enable = "avx2")]
fn equal(slots: (__m256i, __m256i), keys: (__m256i, __m256i)) -> __m256i {
    let high = _mm256_slli_epi64::<4>(_mm256_xor_si256(slots.1, keys.1));
    let differ = _mm256_or_si256(_mm256_xor_si256(slots.0, keys.0), high);
    _mm256_cmpeq_epi64(differ, _mm256_setzero_si256())
}

/// Looks at the lines of four strings.
///
/// # Safety
/// The places are below the size of the lines, and lines begin there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn heads(base: *const u8, places: &[usize; WIDE], keys: (__m256i, __m256i)) -> Heads {
    // SAFETY: lines begin at the places, and each has two slots.
    let [(first_low, first_high), (second_low, second_high)] = unsafe {
        let second = base.add(SLOT);
        let (even, uneven) = (pair(base, places[0], places[2]), pair(base, places[1], places[3]));
        let (other, another) = (pair(second, places[0], places[2]), pair(second, places[1], places[3]));
        [
            (_mm256_unpacklo_epi64(even, uneven), _mm256_unpackhi_epi64(even, uneven)),
            (_mm256_unpacklo_epi64(other, another), _mm256_unpackhi_epi64(other, another)),
        ]
    };
    let is_first = equal((first_low, first_high), keys);
    let is_second = equal((second_low, second_high), keys);
    let counts = _mm256_srli_epi64::<60>(_mm256_blendv_epi8(first_high, second_high, is_second));
    let is_few = _mm256_cmpgt_epi64(_mm256_set1_epi64x(FEW as i64 + 1), counts);
    let is_there = _mm256_or_si256(is_first, is_second);
    let (there, good) = (bits(is_there), bits(_mm256_and_si256(is_there, is_few)));
    let offset = _mm256_and_si256(is_second, _mm256_set1_epi64x(SLOT as i64));
    let mut heads = Heads { slots: [0; WIDE], counts: [0; WIDE], there, good };
    store(&mut heads.slots, _mm256_add_epi64(load(places), offset));
    store(&mut heads.counts, counts);
    heads
}

/// Looks for strings; gives for how many, and the number of their ids.
#[target_feature(enable = "avx2")]
fn look<const KEEP: bool, const ENDS: bool>(
    found: &mut Found,
    (lines, longer): (Lines<'_>, &Longers),
    asked: &Asked,
    count: usize,
) -> (usize, usize) {
    let (mut done, mut sum) = (0, 0);
    if asked.size != lines.size() {
        return (done, sum);
    }
    let keys = asked.lows[..count].as_chunks::<WIDE>().0.iter().zip(asked.highs.as_chunks::<WIDE>().0);
    for (group, ((lows, highs), places)) in keys.zip(asked.places.as_chunks::<WIDE>().0).enumerate() {
        // SAFETY: the places are of lines that were as many.
        let heads = unsafe { heads(lines.base(), places, (load(lows), load(highs))) };
        if heads.good != (1 << WIDE) - 1 {
            sum += one_by_one::<KEEP, ENDS>(found, (lines, longer), (asked, done), &heads);
        } else if KEEP {
            let room = found.ids.get_mut(found.filled..).and_then(<[u32]>::first_chunk_mut);
            let Some(room) = room else { break };
            // SAFETY: the slots are those that were looked at; each has at most `FEW` ids.
            let written = unsafe { write(room, lines.base(), &heads) };
            if ENDS && let Some(ends) = found.ends.as_chunks_mut::<WIDE>().0.get_mut(group) {
                let mut filled = found.filled;
                for (end, &count) in ends.iter_mut().zip(&heads.counts) {
                    filled += count;
                    *end = filled as u16;
                }
            }
            found.filled += written;
            sum += written;
        } else {
            sum += heads.counts.iter().sum::<usize>();
        }
        done += WIDE;
    }
    (done, sum)
}

/// The same for four strings of which not all are found with few ids; the first of them is at `done`.
#[inline]
#[target_feature(enable = "avx2")]
fn one_by_one<const KEEP: bool, const ENDS: bool>(
    found: &mut Found,
    (lines, longer): (Lines<'_>, &Longers),
    (asked, done): (&Asked, usize),
    heads: &Heads,
) -> usize {
    let mut sum = 0;
    for (lane, at) in (done..done + WIDE).enumerate() {
        let slot = heads.slots[lane];
        if (heads.there >> lane) & 1 == 0 {
            if asked.key(at) == LONG {
                sum += found.long::<KEEP, ENDS>(longer, asked, at);
            } else {
                found.miss::<ENDS>(at);
            }
            continue;
        }
        let is_few = (heads.good >> lane) & 1 != 0;
        // SAFETY: the slot is one that was looked at.
        let (start, many) = unsafe { elsewhere(lines.base(), slot) };
        let count = if is_few { heads.counts[lane] } else { many };
        sum += count;
        if KEEP && let Some(room) = found.ids.get_mut(found.filled..).and_then(<[u32]>::first_chunk_mut) {
            // Which of both it is nothing foretells, so the many are written in any case, and the first of them again.
            let far = lines.far(if is_few { 0 } else { start });
            *room = *far;
            // SAFETY: the slot is one that was looked at; its second half is as many ids as are read.
            let ids = unsafe { lines.base().add(slot + SLOT / 2).cast::<[u32; FEW]>() };
            let ids = if is_few { ids } else { far.as_ptr().cast() };
            if let Some(room) = room.first_chunk_mut() {
                // SAFETY: as above, or the first of the many.
                *room = unsafe { ids.read_unaligned() };
            }
            found.filled += count;
        }
        if ENDS && KEEP {
            found.ends[at] = found.filled as u16;
        }
    }
    sum
}

/// Where the ids of a slot lie that has many, and how many they are.
///
/// # Safety
/// The slot is in the memory.
#[inline(always)]
unsafe fn elsewhere(base: *const u8, slot: usize) -> (usize, usize) {
    // SAFETY: the second half of the slot is ids.
    let [start, count] = unsafe { base.add(slot + SLOT / 2).cast::<[u32; 2]>().read() };
    (start as usize, count as usize)
}

/// Writes the ids of four strings one after the other and says how many they are.
///
/// # Safety
/// The slots are in the memory; each has at most `FEW` ids.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn write(room: &mut [u32; BEYOND], base: *const u8, heads: &Heads) -> usize {
    let mut filled = 0;
    for (&slot, &count) in heads.slots.iter().zip(&heads.counts) {
        // SAFETY: the slot is in the memory; no more than `FEW` ids for each string were written before.
        unsafe { copy(&mut *room.as_mut_ptr().add(filled).cast(), base, slot) };
        filled += count;
    }
    filled
}

/// Writes the ids of a slot.
///
/// # Safety
/// The slot is in the memory.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn copy(room: &mut [u32; FEW], base: *const u8, slot: usize) {
    // SAFETY: the ids are the second half of the slot.
    unsafe {
        let ids = _mm_loadu_si128(base.add(slot + SLOT / 2).cast());
        _mm_storeu_si128(room.as_mut_ptr().cast(), ids);
    }
}
