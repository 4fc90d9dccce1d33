//! Cutting pieces of scripts without spaces, fifteen characters at a time, with AVX-512 VBMI.
//!
//! ```text
//! where characters begin  ->  their codes  ->  what is known of each, and what may stand side by side  ->  cuts: one bit each
//! ids of those alone between two cuts: written one after the other; what else ends at a cut: noted, as `Inside::cut` does
//! ```
//!
//! Adds: `cut`, as far as it gets; what it leaves is for `Inside::cut`: the last characters of a text, those of four bytes,
//! strings that are too long, and where room ends.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_alignr_epi32, _mm512_and_si512, _mm512_castsi512_si128,
    _mm512_cmpge_epu32_mask, _mm512_cmpneq_epi8_mask, _mm512_cvtepu8_epi32, _mm512_loadu_si512,
    _mm512_mask_mov_epi32, _mm512_maskz_compress_epi8, _mm512_maskz_compress_epi32, _mm512_or_si512,
    _mm512_permutex2var_epi64, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_setr_epi64, _mm512_setzero_si512, _mm512_slli_epi32, _mm512_slli_epi64,
    _mm512_srli_epi64, _mm512_storeu_si512, _mm512_sub_epi8, _mm512_sub_epi32, _mm512_test_epi32_mask,
    _mm512_test_epi64_mask, _pdep_u64, _pext_u64,
};

use super::{
    characters::Characters,
    cuts::Cuts,
    inside::{Inside, Walk},
    key::SHORT,
};
use crate::split::{PLACES, has_vbmi};

/// Bytes looked at together.
const WINDOW: usize = 64;
/// Characters, the last of which is only what follows.
const LANES: usize = 16;
const MOST: usize = LANES - 1;
/// For fewer characters it is not begun.
const WORTH: usize = 5;

/// Exists only where the processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Able(());

impl Able {
    pub(super) fn new() -> Option<Able> {
        has_vbmi().then_some(Able(()))
    }

    /// Cuts as many characters as it can; `walk` is where the others are.
    #[inline]
    pub(super) fn cut(self, inside: &mut Inside, cuts: &Cuts, text: &[u8], walk: &mut Walk, ends: &[usize]) {
        // SAFETY: `self` exists, so the processor has all features that the function has.
        unsafe { cut(inside, cuts, text, walk, ends) }
    }
}

/// What is known of the characters of a window, a bit each.
struct Look {
    /// Where each begins in the window.
    places: [u8; WINDOW],
    /// The ids of each, plus 1, and zeros up to four: of four characters in each.
    ids: [__m512i; LANES / 4],
    /// How many can be cut.
    most: usize,
    /// Those at the end of a piece, those after which a cut is, and those whose ids are known.
    last: u32,
    cut: u32,
    known: u32,
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn cut(inside: &mut Inside, cuts: &Cuts, text: &[u8], walk: &mut Walk, ends: &[usize]) {
    let mut found =
        Look { places: [0; WINDOW], ids: [_mm512_setzero_si512(); 4], most: 0, last: 0, cut: 0, known: 0 };
    while let Some(window) = text.get(walk.at..).and_then(<[u8]>::first_chunk::<WINDOW>)
        && inside.has_room_for(MOST, walk.filled)
    {
        look(&mut found, &inside.characters, cuts, (text, window), walk.at, &ends[walk.piece..]);
        if found.most < WORTH || !commit(inside, &found, walk) || walk.piece == ends.len() {
            return;
        }
    }
}

/// Which of the bytes of a window begin characters.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn starts_of(bytes: __m512i) -> u64 {
    let kind = _mm512_and_si512(bytes, _mm512_set1_epi8(0xC0_u8 as i8));
    _mm512_cmpneq_epi8_mask(kind, _mm512_set1_epi8(0x80_u8 as i8))
}

/// Where in the window pieces end, a bit for the byte after each.
#[inline]
fn ends_in(at: usize, ends: &[usize]) -> u64 {
    let inside = ends.iter().map(|end| end - at).take_while(|&after| after < WINDOW);
    inside.fold(0, |bits, after| bits | 1 << after)
}

/// What there is to know of the characters of a window that begins at `at`, the first of pieces that end at `ends`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn look(
    found: &mut Look,
    characters: &Characters,
    cuts: &Cuts,
    (text, window): (&[u8], &[u8; WINDOW]),
    at: usize,
    ends: &[usize],
) {
    // SAFETY: there are 64 bytes.
    let bytes = unsafe { _mm512_loadu_si512(window.as_ptr().cast()) };
    // Of those that begin in the last two bytes, not all is here.
    let starts = starts_of(bytes) & (u64::MAX >> 2);
    let is_end = ends_in(at, ends);
    let last = (_pext_u64(is_end, starts) >> 1) as u32;
    let within = if ends[ends.len() - 1] - at < WINDOW { (1 << is_end.ilog2()) - 1 } else { u64::MAX };
    let count = (starts & within).count_ones().min(starts.count_ones().saturating_sub(1));
    let most = MOST.min(count as usize);

    let places = _mm512_maskz_compress_epi8(starts, numbers());
    let byte = |after: i8| {
        let at = _mm512_add_epi8(places, _mm512_set1_epi8(after));
        _mm512_cvtepu8_epi32(_mm512_castsi512_si128(_mm512_permutexvar_epi8(at, bytes)))
    };
    let (first, second, third) = (byte(0), byte(1), byte(2));
    let codes = codes_of(first, second, third);
    let is_wide = u32::from(_mm512_cmpge_epu32_mask(first, _mm512_set1_epi32(0xF0)));
    let most = match is_wide.trailing_zeros() as usize {
        wide if wide > most => most,
        wide if wide > 0 && last >> (wide - 1) & 1 != 0 => wide,
        wide => wide.saturating_sub(1),
    };

    (found.most, found.last) = (most, last & ((1 << most) - 1));
    // SAFETY: there are 64 bytes.
    unsafe { _mm512_storeu_si512(found.places.as_mut_ptr().cast(), places) };
    let [before, after, before_part, after_part] = known(characters, codes, found);
    let following = |of| _mm512_alignr_epi32::<1>(of, of);
    let mut has_part = u32::from(before_part | after_part >> 1) & ((1 << most) - 1);
    if has_part != 0 {
        let ending = _mm512_permutexvar_epi8(_mm512_sub_epi8(places, _mm512_set1_epi8(1)), bytes);
        let ending = following(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(ending)));
        has_part = u32::from(cuts.have_part(has_part as u16, ending, following(first)));
        let mut rest = has_part;
        while rest != 0 {
            let character = rest.trailing_zeros();
            rest &= rest - 1;
            let place = at + usize::from(found.places[character as usize + 1]);
            has_part ^= u32::from(!cuts.halves_reach(text, place)) << character;
        }
    }
    let wanted = before & after >> 1;
    let has_pair = if wanted == 0 { 0 } else { cuts.have_pair(wanted, codes, following(codes)) };
    found.cut = (found.last | !(has_part | u32::from(has_pair))) & ((1 << most) - 1);
}

/// 0 to 63.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn numbers() -> __m512i {
    // SAFETY: there are 64 bytes.
    unsafe { _mm512_loadu_si512(PLACES.as_ptr().cast()) }
}

/// The codes of characters of up to three bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn codes_of(first: __m512i, second: __m512i, third: __m512i) -> __m512i {
    let low = |of, mask| _mm512_and_si512(of, _mm512_set1_epi32(mask));
    let two = _mm512_or_si512(_mm512_slli_epi32::<6>(low(first, 0x1F)), low(second, 0x3F));
    let three = _mm512_or_si512(
        _mm512_or_si512(_mm512_slli_epi32::<12>(low(first, 0x0F)), _mm512_slli_epi32::<6>(low(second, 0x3F))),
        low(third, 0x3F),
    );
    let codes = _mm512_mask_mov_epi32(first, _mm512_cmpge_epu32_mask(first, _mm512_set1_epi32(0xC0)), two);
    _mm512_mask_mov_epi32(codes, _mm512_cmpge_epu32_mask(first, _mm512_set1_epi32(0xE0)), three)
}

/// Looks up characters; gives those that stand before others in tokens, and after, and the same of parts of others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn known(characters: &Characters, codes: __m512i, found: &mut Look) -> [u16; 4] {
    let mut sides = [0; 4];
    found.known = 0;
    let mut each = [0_u32; LANES];
    // SAFETY: there is room for sixteen codes.
    unsafe { _mm512_storeu_si512(each.as_mut_ptr().cast(), codes) };
    for half in 0..2 {
        let entry = |lane: usize| characters.entry(each[8 * half + lane]) as i64;
        // One by one: to gather them takes longer.
        let [a, b, c, d, e, f, g, h] = std::array::from_fn(entry);
        let entries = _mm512_setr_epi64(a, b, c, d, e, f, g, h);
        let bits =
            |at| u16::from(_mm512_test_epi64_mask(entries, _mm512_set1_epi64(1_i64 << at))) << (8 * half);
        sides[0] |= bits(Characters::BEFORE);
        sides[1] |= bits(Characters::AFTER);
        sides[2] |= bits(Characters::BEFORE_PART);
        sides[3] |= bits(Characters::AFTER_PART);
        let count =
            _mm512_and_si512(_mm512_srli_epi64::<{ Characters::COUNT }>(entries), _mm512_set1_epi64(3));
        found.known |= u32::from(_mm512_test_epi64_mask(count, count)) << (8 * half);
        const MASK: i64 = (1 << Characters::BITS) - 1;
        let id = _mm512_set1_epi64(MASK);
        let first = _mm512_or_si512(
            _mm512_and_si512(entries, id),
            _mm512_slli_epi64::<{ 32 - Characters::BITS }>(_mm512_and_si512(
                entries,
                _mm512_set1_epi64(MASK << Characters::BITS),
            )),
        );
        let second = _mm512_and_si512(_mm512_srli_epi64::<{ 2 * Characters::BITS }>(entries), id);
        let low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        found.ids[2 * half] = _mm512_permutex2var_epi64(first, low, second);
        found.ids[2 * half + 1] = _mm512_permutex2var_epi64(first, high, second);
    }
    sides
}

/// Writes the ids of some characters one after the other; gives four bits for each character, as many of them set as it has.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn write(inside: &mut Inside, found: &Look, some: u32, mut at: usize) -> u64 {
    let places = _pdep_u64(some.into(), 0x1111_1111_1111_1111) * 0xF;
    let mut written = 0;
    for (quarter, &ids) in found.ids.iter().enumerate() {
        let mask = (places >> (16 * quarter)) as u16 & _mm512_test_epi32_mask(ids, ids);
        let ids = _mm512_maskz_compress_epi32(mask, _mm512_sub_epi32(ids, _mm512_set1_epi32(1)));
        if let Some(room) = inside.room(at) {
            // SAFETY: there is room for sixteen ids, and any bits are integers.
            unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), ids) };
        }
        at += mask.count_ones() as usize;
        written |= u64::from(mask) << (16 * quarter);
    }
    written
}

/// Adds the ids and strings of a window, up to a string that is too long; whether there was none.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn commit(inside: &mut Inside, found: &Look, walk: &mut Walk) -> bool {
    let place = |character: usize| walk.at + usize::from(found.places[character]);
    let alone = found.cut & (found.cut << 1 | u32::from(walk.from == walk.at));
    let ids = alone & found.known;
    let written = write(inside, found, ids, walk.filled);
    let filled =
        |character: usize| walk.filled + (written & ((1 << (4 * character)) - 1)).count_ones() as usize;
    let (mut strings, mut most, mut cut) = (found.cut & !ids, found.most, found.cut);
    while strings != 0 {
        let character = strings.trailing_zeros() as usize;
        strings &= strings - 1;
        let before = found.cut & ((1 << character) - 1);
        let (from, begins) = match before {
            0 => (walk.from, walk.from == walk.begin),
            _ => {
                let cut = before.ilog2() as usize;
                (place(cut + 1), found.last >> cut & 1 != 0)
            }
        };
        let next = place(character + 1);
        if next - from >= SHORT {
            (most, cut) = if before == 0 { return false } else { (before.ilog2() as usize + 1, before) };
            break;
        }
        inside.push((from, next), found.last >> character & 1 != 0 && begins, filled(character));
    }
    let last = found.last & cut;
    if cut != 0 {
        walk.from = place(cut.ilog2() as usize + 1);
    }
    if last != 0 {
        walk.begin = place(last.ilog2() as usize + 1);
    }
    walk.piece += last.count_ones() as usize;
    walk.filled = filled(most);
    walk.at = place(most);
    most == found.most
}

#[cfg(test)]
#[path = "inside_wide_tests.rs"]
mod tests;
