//! Text of any script but pure ASCII, sixteen characters at a time, with AVX-512 VBMI.
//!
//! ```text
//! 64 bytes  ->  where characters begin  ->  their numbers  ->  which neighbours may stand together, and the id of each alone
//! a character between two places to cut: its id;  what else stands between two: a segment
//! ```
//!
//! The ids of characters alone are written as a vector, runs of unknown ones as one if they fuse; the lines of segments are asked
//! for some windows ahead. Leaves out characters of four bytes, and segments of more characters than a window has (`encode`).

use std::arch::x86_64::{
    __m128i, __m512i, __mmask16, _mm_bsrli_si128, _mm512_add_epi64, _mm512_alignr_epi32, _mm512_and_si512,
    _mm512_cmpeq_epi32_mask, _mm512_cvtepu8_epi64, _mm512_i32gather_epi32, _mm512_loadu_si512,
    _mm512_mask_mov_epi32, _mm512_maskz_compress_epi32, _mm512_movepi8_mask, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_storeu_si512,
};

use super::{Charwise, alone::BETWEEN_LOOKS, letters::Letters, out::Out, stretch_wide::may_join, work::Work};
use crate::{
    Error,
    encode::{Key, SHORT},
    merge::Merges,
    sixteen::{Able, LANES, Sixteen, WINDOW, first_sixteen, load},
};

/// Where so many bytes are ASCII, there are faster ways.
const ASCII: usize = 32;

/// Whether text begins with them.
#[inline]
pub(super) fn is_plain(text: &[u8]) -> bool {
    let ascii = text.first_chunk::<ASCII>();
    ascii.is_some_and(|ascii| ascii.iter().fold(0, |all, byte| all | byte) < 128)
}

/// Characters that are looked at together.
const MOST: usize = 64;

/// In the table of ids: in no token; what is to be asked for.
const UNKNOWN: u16 = u16::MAX;
const OTHER: u16 = u16::MAX - 1;

// As a character has four ids at most.
const _: () = assert!(4 * MOST <= BETWEEN_LOOKS);

/// The ids of the first characters, alone. Exists only where the processor has the instructions.
pub(super) struct Singles {
    ids: Box<[u16; 0x1_0000]>,
}

/// Some characters from a place on.
#[derive(Debug)]
pub(super) struct Few {
    ids: [u32; MOST + LANES],
    /// Where each begins, and the one after the last.
    starts: [usize; MOST + LANES],
    /// How many they are, as they are all between two places to cut.
    count: usize,
    /// As bits: before which text may be cut; which are unknown; which are to be asked for.
    cuts: u64,
    unknown: u64,
    other: u64,
    segments: [Segment; MOST],
}

/// A segment: from which to before which character, its key and hash.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    from: usize,
    to: usize,
    key: Key,
    hash: u64,
}

impl Default for Few {
    fn default() -> Few {
        Few {
            ids: [0; MOST + LANES],
            starts: [0; MOST + LANES],
            count: 0,
            cuts: 0,
            unknown: 0,
            other: 0,
            segments: [Segment::default(); MOST],
        }
    }
}

impl Singles {
    /// Of all characters, as they are alone.
    pub(super) fn new(letters: &Letters) -> Option<Singles> {
        Able::new()?;
        let id = |number: u32| {
            let letter = char::from_u32(number).map(|char| letters.get(char))?;
            if letter.is_foreign() {
                return Some(UNKNOWN);
            }
            let (ids, count) = letter.ids();
            u16::try_from(ids[0]).ok().filter(|&id| count == 1 && id < OTHER && !letter.is_unknown())
        };
        let mut ids = Box::new([OTHER; 0x1_0000]);
        ids.iter_mut().zip(0..).for_each(|(place, number)| *place = id(number).unwrap_or(OTHER));
        Some(Singles { ids })
    }
}

impl Charwise {
    /// Writes what stands from byte `at` on, where text may be cut, up to some other such place; that place. It is `at` where
    /// this is not for what stands there.
    pub(super) fn mixed<F: FnMut(&[u32]) -> bool>(
        &self,
        singles: &Singles,
        (text, at): (&str, usize),
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<usize, Error> {
        // SAFETY: `singles` exist, so the processor has all features that the function has.
        unsafe { self.mixed_here(singles, (text, at), merges, work, out) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn mixed_here<F: FnMut(&[u32]) -> bool>(
        &self,
        singles: &Singles,
        (text, at): (&str, usize),
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<usize, Error> {
        self.read_some(singles, text.as_bytes(), at, &mut work.mixed);
        if work.mixed.count == 0 {
            return Ok(at);
        }
        let segments = ask_segments(text.as_bytes(), work);
        let (count, end) = (work.mixed.count, work.mixed.starts[work.mixed.count]);
        let mut lane = 0;
        for number in 0..segments {
            let Segment { from, to, key, hash } = work.mixed.segments[number];
            write_alone(&work.mixed, lane, from, out);
            lane = to;
            let (start, end) = (work.mixed.starts[from], work.mixed.starts[to]);
            out.make_room();
            let is_short = end - start <= SHORT;
            match work.memory.few(key, hash).filter(|_| is_short) {
                Some((ids, count)) => out.few(ids, count),
                None => {
                    let short = is_short.then_some((key, hash));
                    self.other_segment(&text[start..end], short, merges, work, out)?;
                }
            }
        }
        write_alone(&work.mixed, lane, count, out);
        Ok(end)
    }

    /// Reads characters from a byte on, up to the last place to cut that is known.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn read_some(&self, singles: &Singles, text: &[u8], at: usize, some: &mut Few) {
        (some.cuts, some.unknown, some.other, some.count) = (1, 0, 0, 0);
        let (mut count, mut end, mut last) = (0, at, _mm512_set1_epi32(0));
        while count <= MOST - LANES && end < text.len() {
            let ahead = &text[end..];
            let bytes = load(ahead);
            if ahead.len() >= WINDOW && _mm512_movepi8_mask(bytes) << (WINDOW - ASCII) == 0 {
                break;
            }
            let (lanes, length);
            (lanes, length, last) = self.sixteen(singles, (bytes, ahead.len()), (last, count, end), some);
            (count, end) = (count + lanes, end + length);
            if lanes < LANES {
                break;
            }
        }
        some.cuts |= 1 | some.unknown << 1;
        some.starts[count] = end;
        if end == text.len() {
            some.count = count;
            return;
        }
        // The cut before what is not read is not known.
        let known = some.cuts & !(u64::MAX << 1 << count.saturating_sub(1).min(MOST - 1));
        some.count = if count == 0 { 0 } else { MOST - 1 - known.leading_zeros() as usize };
    }

    /// Reads up to sixteen characters of so many bytes, the others being read: how many, of how many bytes, and their numbers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn sixteen(
        &self,
        singles: &Singles,
        (bytes, length): (__m512i, usize),
        (last, count, base): (__m512i, usize, usize),
        some: &mut Few,
    ) -> (usize, usize, __m512i) {
        let number = |number: u32| _mm512_set1_epi32(number as i32);
        let low = |of, mask| _mm512_and_si512(of, number(mask));
        let Sixteen { places, chars, lanes, valid, length, .. } = first_sixteen(bytes, length);
        // SAFETY: the table has a number of 16 bits for each but the last, behind which another one is.
        let found = unsafe { _mm512_i32gather_epi32::<2>(chars, singles.ids.as_ptr().cast()) };
        let is_space = _mm512_cmpeq_epi32_mask(chars, number(b' '.into()));
        let read = _mm512_mask_mov_epi32(chars, is_space, number(self.letters.canonical(' ').into()));
        let joined = may_join(&self.joins, _mm512_alignr_epi32::<15>(read, last), read);
        let ids = low(found, 0xFFFF);
        let unknown = _mm512_cmpeq_epi32_mask(ids, number(UNKNOWN.into())) & valid;
        let other = _mm512_cmpeq_epi32_mask(ids, number(OTHER.into())) & valid;
        let ids = _mm512_mask_mov_epi32(ids, unknown, number(self.unknown));
        let eight =
            |places: __m128i| _mm512_add_epi64(_mm512_cvtepu8_epi64(places), _mm512_set1_epi64(base as i64));
        // SAFETY: there is room for sixteen of each.
        unsafe {
            _mm512_storeu_si512(some.ids[count..count + LANES].as_mut_ptr().cast(), ids);
            let starts = some.starts[count..count + LANES].as_mut_ptr();
            _mm512_storeu_si512(starts.cast(), eight(places));
            _mm512_storeu_si512(starts.add(8).cast(), eight(_mm_bsrli_si128::<8>(places)));
        }
        let bits = |mask: u16| u64::from(mask) << count;
        // Pairs share bits, but what is in no token stands with nothing.
        some.cuts |= bits((!joined | unknown | unknown << 1) & valid);
        some.unknown |= bits(unknown);
        some.other |= bits(other);
        (lanes, length, read)
    }
}

/// Notes the segments of what is read, and asks for their lines; how many they are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn ask_segments(text: &[u8], work: &mut Work) -> usize {
    let Work { mixed, memory, .. } = work;
    // What begins but does not end at a character, and characters alone that are to be asked for.
    let all = u64::MAX >> (MOST - mixed.count);
    let ends = mixed.cuts >> 1 | 1 << (mixed.count - 1);
    let mut begins = mixed.cuts & (!ends | mixed.other) & all;
    let mut segments = 0;
    while begins != 0 {
        let from = begins.trailing_zeros() as usize;
        begins &= begins - 1;
        let rest = mixed.cuts & all & !1 << from;
        let to = (rest.trailing_zeros() as usize).min(mixed.count);
        let (start, end) = (mixed.starts[from], mixed.starts[to]);
        let key = Key::at(text, start, SHORT.min(end - start));
        let hash = key.hash();
        memory.ask(SHORT, hash);
        mixed.segments[segments] = Segment { from, to, key, hash };
        segments += 1;
    }
    segments
}

/// Writes characters from one to before another, which are all alone.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn write_alone<F: FnMut(&[u32]) -> bool>(some: &Few, mut from: usize, to: usize, out: &mut Out<'_, F>) {
    while from < to {
        let count = (to - from).min(LANES);
        let range = (1u32 << count) - 1;
        let unknown = (some.unknown >> from) as u32 & range;
        let before = unknown << 1 | u32::from(out.after_unknown);
        let dropped = if out.fuses { unknown & before } else { 0 };
        let kept = range & !dropped;
        if !out.has_room(LANES) {
            return;
        }
        // SAFETY: there are sixteen ids, and there is room for as many.
        unsafe {
            let ids = _mm512_loadu_si512(some.ids[from..from + LANES].as_ptr().cast());
            let room = out.run[out.written..out.written + LANES].as_mut_ptr();
            _mm512_storeu_si512(room.cast(), _mm512_maskz_compress_epi32(kept as __mmask16, ids));
        }
        if dropped != 0
            && let Some(carry) = &mut out.carry
        {
            carry.mixed(out.written, kept, dropped);
        }
        out.written += kept.count_ones() as usize;
        out.after_unknown = unknown >> (count - 1) & 1 == 1;
        from += count;
    }
}
