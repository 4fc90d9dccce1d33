//! Looks of four strings at a time, with AVX2.
//!
//! ```text
//! four places -> the keys of both slots of each line -> equal? -> ids and counts
//! ```
//!
//! Adds: two ways of going through a chunk, one for text whose strings are mostly known and have few ids. Leaves out the
//! keys.

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi64, _mm256_and_si256, _mm256_blendv_epi8,
    _mm256_cmpeq_epi64, _mm256_cmpgt_epi64, _mm256_or_si256, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_slli_epi64, _mm256_srli_epi64, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use super::{
    super::{
        asked::{APART, Asked, LONG},
        found::{BEYOND, Found, Missed},
        memory::{FAR, FEW, Lines, Longers, SLOT},
    },
    WIDE, bits, load, pair, store,
};

/// So many times four are looked at before the ids of the first are copied.
const AHEAD: usize = 16;

/// Where the ids of four strings are, and how many.
#[derive(Clone, Copy)]
struct Heads {
    /// Bytes of the memory where their slots begin.
    slots: [usize; WIDE],
    counts: [usize; WIDE],
    /// A bit for each that was found, and for each of them that has few ids.
    there: i32,
    good: i32,
}

impl Heads {
    const NONE: Heads = Heads { slots: [0; WIDE], counts: [0; WIDE], there: 0, good: 0 };
}

/// A bit for each of four.
const ALL: i32 = (1 << WIDE) - 1;

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
pub(super) fn one_after_the_other<const KEEP: bool, const ENDS: bool>(
    found: &mut Found,
    (lines, longer): (Lines<'_>, &Longers),
    asked: &Asked,
    count: usize,
) -> (usize, usize) {
    let (mut done, mut sum, mut others) = (0, 0, 0);
    if asked.size != lines.size() {
        return (done, sum);
    }
    let keys = asked.lows[..count].as_chunks::<WIDE>().0.iter().zip(asked.highs.as_chunks::<WIDE>().0);
    for ((lows, highs), places) in keys.zip(asked.places.as_chunks::<WIDE>().0) {
        // SAFETY: the places are of lines that were as many.
        let heads = unsafe { heads(lines.base(), places, (load(lows), load(highs))) };
        if heads.good != ALL {
            others += 1;
            sum += short_ones::<KEEP, ENDS, true>(found, lines, (asked, done), &heads)
                .unwrap_or_else(|| one_by_one::<KEEP, ENDS>(found, (lines, longer), (asked, done), &heads));
        } else {
            sum += four::<KEEP, ENDS>(found, lines, done, &heads);
        }
        done += WIDE;
    }
    found.others_are_many = 2 * WIDE * others > done;
    (done, sum)
}

/// The same, many ahead: copying never waits for a line then, nor a look for how many ids came before. Where most fours
/// are taken one by one, that is slower.
#[target_feature(enable = "avx2")]
pub(super) fn ahead<const KEEP: bool, const ENDS: bool>(
    found: &mut Found,
    memory: (Lines<'_>, &Longers),
    asked: &Asked,
    count: usize,
) -> (usize, usize) {
    let (mut done, mut sum, mut others) = (0, 0, 0);
    if asked.size != memory.0.size() {
        return (done, sum);
    }
    let keys = asked.lows[..count].as_chunks::<WIDE>().0.iter().zip(asked.highs.as_chunks::<WIDE>().0);
    let mut groups = keys.zip(asked.places.as_chunks::<WIDE>().0);
    let mut ahead = [Heads::NONE; AHEAD];
    loop {
        let mut many = 0;
        for (place, ((lows, highs), places)) in ahead.iter_mut().zip(&mut groups) {
            // SAFETY: the places are of lines that were as many.
            *place = unsafe { heads(memory.0.base(), places, (load(lows), load(highs))) };
            many += 1;
        }
        for heads in &ahead[..many] {
            if heads.good == ALL {
                sum += four::<KEEP, ENDS>(found, memory.0, done, heads);
            } else {
                others += 1;
                sum += apart::<KEEP, ENDS>(found, memory, (asked, done), heads);
            }
            done += WIDE;
        }
        if many < AHEAD {
            found.others_are_many = 2 * WIDE * others > done;
            return (done, sum);
        }
    }
}

/// Keeps the ids of four strings that do not all have few, out of the way of the others; the first of them is at `done`.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn apart<const KEEP: bool, const ENDS: bool>(
    found: &mut Found,
    (lines, longer): (Lines<'_>, &Longers),
    (asked, done): (&Asked, usize),
    heads: &Heads,
) -> usize {
    let short = if heads.there == heads.good {
        short_ones::<KEEP, ENDS, false>(found, lines, (asked, done), heads)
    } else {
        short_ones::<KEEP, ENDS, true>(found, lines, (asked, done), heads)
    };
    short.unwrap_or_else(|| one_by_one::<KEEP, ENDS>(found, (lines, longer), (asked, done), heads))
}

/// Keeps the ids of four strings that all have few; the first of them is at `done`.
#[inline]
#[target_feature(enable = "avx2")]
fn four<const KEEP: bool, const ENDS: bool>(
    found: &mut Found,
    lines: Lines<'_>,
    done: usize,
    heads: &Heads,
) -> usize {
    if !KEEP {
        return heads.counts.iter().sum();
    }
    let Some(room) = found.ids.get_mut(found.filled..).and_then(<[u32]>::first_chunk_mut) else { return 0 };
    // SAFETY: the slots are those that were looked at; each has at most `FEW` ids.
    let written = unsafe { write(room, lines.base(), heads) };
    if ENDS && let Some(ends) = found.ends.get_mut(done..).and_then(<[u16]>::first_chunk_mut::<WIDE>) {
        let mut filled = found.filled;
        for (end, &count) in ends.iter_mut().zip(&heads.counts) {
            filled += count;
            *end = filled as u16;
        }
    }
    found.filled += written;
    written
}

/// The same for four strings that are short, some of which may be new or, if `MANY`, have many ids: no branch depends on
/// which. `None` if they are not all short, or not only their ids are asked for, and nothing is done.
#[inline(always)]
fn short_ones<const KEEP: bool, const ENDS: bool, const MANY: bool>(
    found: &mut Found,
    lines: Lines<'_>,
    (asked, done): (&Asked, usize),
    heads: &Heads,
) -> Option<usize> {
    if !KEEP || ENDS || asked.highs.get(done..)?.first_chunk::<WIDE>()?.contains(&0) {
        return None;
    }
    let Found { ids, filled, missed, misses, .. } = found;
    let room: &mut [u32; BEYOND] = ids.get_mut(*filled..)?.first_chunk_mut()?;
    let noted: &mut [Missed; WIDE] = missed.get_mut(*misses..)?.first_chunk_mut()?;
    let (mut sum, mut new) = (0, 0);
    for lane in 0..WIDE {
        let is_in = |lanes: i32| lanes >> lane & 1 != 0;
        let slot = heads.slots[lane];
        noted[new % WIDE] = Missed { at: (done + lane) as u16, filled: (*filled + sum) as u32 };
        new += usize::from(!is_in(heads.there));
        let is_far = MANY & is_in(heads.there & !heads.good);
        // SAFETY: the slot is one that was looked at.
        let (start, many) = unsafe { elsewhere(lines.base(), slot) };
        let far = lines.far(if is_far { start } else { 0 });
        // SAFETY: those before have written at most `FAR` each, and there is room for as many of four.
        let room: &mut [u32; FAR] = unsafe { &mut *room.as_mut_ptr().add(sum).cast() };
        if MANY {
            // In any case, and the first of them again.
            *room = *far;
        }
        // SAFETY: the slot is one that was looked at; its second half is as many ids as are read.
        let few = unsafe { lines.base().add(slot + SLOT / 2).cast::<[u32; FEW]>() };
        let few = if is_far { far.as_ptr().cast() } else { few };
        if let Some(room) = room.first_chunk_mut() {
            // SAFETY: as above, or the first of the many.
            *room = unsafe { few.read_unaligned() };
        }
        let count = if is_far { many } else { heads.counts[lane] };
        sum += if is_in(heads.there) { count } else { 0 };
    }
    *filled += sum;
    *misses += new;
    let mut new = !heads.there & ALL;
    while new != 0 {
        lines.fetch_after(asked.places[done + new.trailing_zeros() as usize]);
        new &= new - 1;
    }
    Some(sum)
}

/// The same for any four strings.
#[inline(always)]
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
                if asked.key(at) != APART {
                    lines.fetch_after(asked.places[at]);
                }
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
