//! How much ids decode to: bytes, characters, and how wide the widest character is, without looking at the text.
//!
//! A character begins with the one byte of it that continues none, and this byte says how many bytes Python keeps a
//! character in. So all three are sums over tokens, even where characters are cut in two by them. Of bytes that are no
//! UTF-8 only their number is right.

use super::slots::Slots;
use crate::{Error, characters};

/// Bits of a measure: the length of the token, then how many bytes in it begin characters.
const BITS: u32 = 6;
const MOST: usize = (1 << BITS) - 1;
/// What bytes in it there are: C0 to C3, C4 to EF, F0 and up.
const LATIN: u16 = 1 << 12;
const WIDE: u16 = 1 << 13;
const WIDEST: u16 = 1 << 14;
/// The token must be looked at: it is longer than can be said here, or there is none.
const ASK: u16 = 1 << 15;
/// Ids at a time.
const GROUP: usize = 16;

/// How wide the widest character is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// Below U+0080.
    Ascii,
    /// Below U+0100.
    One,
    /// Below U+10000.
    Two,
    /// All.
    Four,
}

/// What ids decode to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// In bytes.
    pub bytes: usize,
    /// How many characters those are, if they are UTF-8.
    pub characters: usize,
    /// That of the widest of them, if they are UTF-8.
    pub width: Width,
}

/// Sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) bytes: usize,
    pub(super) starts: usize,
    kinds: u16,
}

impl Sums {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let (starts, largest) = characters::starts(bytes);
        self.bytes += bytes.len();
        self.starts += starts;
        self.kinds |= match largest {
            0..0xC0 => 0,
            0xC0..0xC4 => LATIN,
            0xC4..0xF0 => WIDE,
            0xF0.. => WIDEST,
        };
    }

    pub(super) fn size(self) -> Size {
        let width = match self.kinds {
            0 if self.bytes == self.starts => Width::Ascii,
            0 | LATIN => Width::One,
            kinds if kinds & WIDEST == 0 => Width::Two,
            _ => Width::Four,
        };
        Size { bytes: self.bytes, characters: self.starts, width }
    }
}

/// id -> what its token adds.
#[derive(Debug)]
pub(super) struct Measures {
    /// One more than there are ids: vectors read two at once.
    of: Vec<u16>,
}

impl Measures {
    pub(super) fn new(slots: &Slots) -> Measures {
        let measure = |id| {
            let mut sums = Sums::default();
            match slots.bytes(id) {
                Some(token) if token.len() <= MOST => {
                    sums.add(token);
                    sums.kinds | (sums.starts << BITS | sums.bytes) as u16
                }
                _ => ASK,
            }
        };
        Measures { of: (0..slots.len() as u32).map(measure).chain([ASK]).collect() }
    }

    /// Adds ids, the first of which is the `first`-th of all; one that no token has is an error.
    pub(super) fn add(&self, ids: &[u32], first: usize, slots: &Slots, sums: &mut Sums) -> Result<(), Error> {
        let (groups, rest) = ids.as_chunks::<GROUP>();
        let mut done = 0;
        while done < groups.len() {
            done += self.groups(&groups[done..], sums);
            if let Some(group) = groups.get(done) {
                look(group, first + done * GROUP, slots, sums)?;
                done += 1;
            }
        }
        look(rest, first + groups.len() * GROUP, slots, sums)
    }

    /// Adds groups up to the first with a token that must be looked at; gives their number.
    fn groups(&self, groups: &[[u32; GROUP]], sums: &mut Sums) -> usize {
        #[cfg(simd_x86)]
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has what the function asks for.
            return unsafe { vectors::add(&self.of, groups, sums) };
        }
        self.one_by_one(groups, sums)
    }

    fn one_by_one(&self, groups: &[[u32; GROUP]], sums: &mut Sums) -> usize {
        for (number, group) in groups.iter().enumerate() {
            let (mut all, mut kinds) = (0, 0);
            for &id in group {
                let measure = self.of.get(id as usize).copied().unwrap_or(ASK);
                // Bytes and starts of sixteen tokens are less than 2^10 each.
                all += u32::from(measure & MOST as u16) | u32::from(measure & 0xFC0) << 10;
                kinds |= measure;
            }
            if kinds & ASK != 0 {
                return number;
            }
            sums.bytes += (all & 0xFFFF) as usize;
            sums.starts += (all >> 16) as usize;
            sums.kinds |= kinds & (LATIN | WIDE | WIDEST);
        }
        groups.len()
    }
}

/// Adds some ids, whatever their tokens; the first of them is the `first`-th of all.
fn look(ids: &[u32], first: usize, slots: &Slots, sums: &mut Sums) -> Result<(), Error> {
    for (index, &id) in (first..).zip(ids) {
        sums.add(slots.bytes(id).ok_or(Error::UnknownId { id: i64::from(id), index })?);
    }
    Ok(())
}

/// Sixteen ids at a time, with AVX-512.
#[cfg(simd_x86)]
mod vectors {
    use std::arch::x86_64::*;

    use super::{super::slots::AHEAD, ASK, BITS, GROUP, LATIN, MOST, Sums, WIDE, WIDEST};
    use crate::fetch::fetch_byte;

    /// So many groups have sums of less than 2^31 in each of sixteen lanes.
    const MANY: usize = 1 << 24;

    #[target_feature(enable = "avx512f")]
    pub(super) fn add(of: &[u16], groups: &[[u32; GROUP]], sums: &mut Sums) -> usize {
        let mut done = 0;
        for part in groups.chunks(MANY) {
            let added = part_of(of, part, sums);
            done += added;
            if added < part.len() {
                break;
            }
        }
        done
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn all(number: usize) -> __m512i {
        _mm512_set1_epi32(number as i32)
    }

    #[target_feature(enable = "avx512f")]
    fn part_of(of: &[u16], groups: &[[u32; GROUP]], sums: &mut Sums) -> usize {
        let (mut bytes, mut starts, mut kinds) = (all(0), all(0), all(0));
        // The last place is of no id; places are numbers with a sign.
        let bound = all((of.len() - 1).min(i32::MAX as usize));
        let (ask, most) = (all(ASK.into()), all(MOST));
        let mut added = groups.len();
        for (number, group) in groups.iter().enumerate() {
            fetch_byte(group.as_ptr().wrapping_add(AHEAD).cast());
            // SAFETY: a group has sixteen ids of four bytes.
            let ids = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
            let known = _mm512_cmplt_epu32_mask(ids, bound);
            // SAFETY: only places before the last are read, of each it and the next one.
            let found = unsafe { _mm512_mask_i32gather_epi32::<2>(ask, known, ids, of.as_ptr().cast()) };
            if _mm512_test_epi32_mask(found, ask) != 0 {
                added = number;
                break;
            }
            bytes = _mm512_add_epi32(bytes, _mm512_and_si512(found, most));
            starts = _mm512_add_epi32(starts, _mm512_and_si512(_mm512_srli_epi32::<BITS>(found), most));
            kinds = _mm512_or_si512(kinds, found);
        }
        sums.bytes += total(bytes);
        sums.starts += total(starts);
        sums.kinds |= _mm512_reduce_or_epi32(kinds) as u16 & (LATIN | WIDE | WIDEST);
        added
    }

    /// The sum of the lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn total(lanes: __m512i) -> usize {
        let (low, high) = (_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes));
        _mm512_reduce_add_epi64(_mm512_add_epi64(_mm512_cvtepu32_epi64(low), _mm512_cvtepu32_epi64(high)))
            as usize
    }
}
