//! The bytes of every token, each at a place of sixteen bytes, so that one is copied without asking how long it is.
//!
//! A token is written with what stands behind it in its slot, and the next one over that. Leaves out how much ids decode
//! to (`measures`).

use std::mem::MaybeUninit;

use crate::{Error, encode::Key, fetch::fetch_byte, pages, places};

/// Tokens of at most so many bytes stand in slots.
const SHORT: usize = 15;
/// As many bytes are written for such a token, whatever its length.
pub(super) const WRITTEN: usize = SHORT + 1;
/// Ids that are written without looking for room at each.
const GROUP: usize = 16;
/// Ids so many before their turn are asked for.
pub(super) const AHEAD: usize = 32 * GROUP;
/// Instead of a length: the token is longer than a slot, or there is none. A group without such is shorter.
const NOT_SHORT: u8 = u8::MAX;
/// What is written of a group, if all its tokens had that length.
pub(super) const GROUP_ROOM: usize = (GROUP - 1) * NOT_SHORT as usize + WRITTEN;
/// Instead of where a longer token ends: there is none.
const GAP: u32 = 0;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Slot {
    /// Of a longer token where it is: start and end in `Slots::long`.
    bytes: [u8; SHORT],
    length: u8,
}

const NONE: Slot = Slot { bytes: [0; SHORT], length: NOT_SHORT };

/// id -> bytes.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    /// The longer tokens, one after the other.
    long: Vec<u8>,
}

impl Slots {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Room for ids below `bound`.
    pub(super) fn for_many(bound: usize) -> Slots {
        Slots { slots: pages::with_capacity(bound), long: Vec::new() }
    }

    /// A token of any length.
    pub(super) fn put(&mut self, at: usize, token: &[u8]) -> Result<(), Error> {
        let mut slot = Slot { bytes: [0; SHORT], length: NOT_SHORT };
        if token.len() <= SHORT {
            slot.bytes[..token.len()].copy_from_slice(token);
            slot.length = token.len() as u8;
        } else {
            let start = self.long.len();
            self.long.extend_from_slice(token);
            let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(self.long.len())) else {
                return Err(Error::TooLarge("the tokens of the vocabulary exceed 4 GiB".to_owned()));
            };
            slot.bytes[..4].copy_from_slice(&start.to_le_bytes());
            slot.bytes[4..8].copy_from_slice(&end.to_le_bytes());
        }
        self.set(at, slot);
        Ok(())
    }

    /// The token of a key.
    pub(super) fn put_key(&mut self, at: usize, key: Key) {
        let [bytes @ .., length] = key.sixteen();
        self.set(at, Slot { bytes, length });
    }

    fn set(&mut self, at: usize, slot: Slot) {
        if at >= self.slots.len() {
            self.slots.resize(at, NONE);
            self.slots.push(slot);
        } else {
            self.slots[at] = slot;
        }
    }

    pub(super) fn bytes(&self, id: u32) -> Option<&[u8]> {
        let slot = self.slots.get(id as usize)?;
        if let Some(bytes) = slot.bytes.get(..usize::from(slot.length)) {
            return Some(bytes);
        }
        let [a, b, c, d, e, f, g, h, ..] = slot.bytes;
        let (start, end) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        (end != GAP).then(|| &self.long[start as usize..end as usize])
    }

    /// Writes the bytes of `ids`, at most what there is room for, and says how many; ends where an id has no token.
    pub(super) fn write(&self, ids: &[u32], out: &mut [MaybeUninit<u8>]) -> usize {
        let (taken, written) = self.fill(ids, out);
        let token = ids.get(taken).and_then(|&id| self.bytes(id)).unwrap_or_default();
        let rest = &mut out[written..];
        let last = token.len().min(rest.len());
        places::put(&mut rest[..last], token);
        written + last
    }

    /// Writes the bytes of the first of `ids`, as many as have a token and room for it; gives how many ids and how many
    /// bytes.
    pub(super) fn fill(&self, ids: &[u32], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
        let (groups, rest) = ids.as_chunks();
        let (mut taken, mut at) = (0, 0);
        while taken < groups.len() {
            let (some, written) = self.groups(&groups[taken..], &mut out[at..]);
            (taken, at) = (taken + some, at + written);
            let Some(group) = groups.get(taken) else { break };
            let (some, written) = self.one_by_one(group, &mut out[at..]);
            at += written;
            if some < GROUP {
                return (GROUP * taken + some, at);
            }
            taken += 1;
        }
        let (some, written) = self.one_by_one(rest, &mut out[at..]);
        (GROUP * taken + some, at + written)
    }

    fn groups(&self, groups: &[[u32; GROUP]], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
        #[cfg(simd_x86)]
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has what the function asks for.
            return unsafe { vectors::groups(&self.slots, groups, out) };
        }
        let mut at = 0;
        for (taken, group) in groups.iter().enumerate() {
            fetch_byte(group.as_ptr().wrapping_add(AHEAD).cast());
            let room = out[at..].first_chunk_mut();
            let Some(written) = room.and_then(|room| self.group(group, room)) else { return (taken, at) };
            at += written;
        }
        (groups.len(), at)
    }

    /// Writes the bytes of a group, and some behind them; `None` if one of its tokens has no slot.
    #[inline(always)]
    fn group(&self, ids: &[u32; GROUP], out: &mut [MaybeUninit<u8>; GROUP_ROOM]) -> Option<usize> {
        let start = out.as_mut_ptr().cast::<u8>();
        let mut at = 0;
        for &id in ids {
            let slot = self.slots.get(id as usize)?;
            // SAFETY: a slot has `WRITTEN` bytes, all of them set; before this token stand at most `GROUP - 1`, none longer
            // than `NOT_SHORT`, so that there is room in `out`, which is no part of a slot.
            unsafe {
                std::ptr::copy_nonoverlapping(std::ptr::from_ref(slot).cast(), start.add(at), WRITTEN);
            }
            at += usize::from(slot.length);
        }
        (at < usize::from(NOT_SHORT)).then_some(at)
    }

    /// The same as `fill`, for tokens of any length and at the end of the room.
    fn one_by_one(&self, ids: &[u32], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
        let mut at = 0;
        for (taken, &id) in ids.iter().enumerate() {
            match (self.slots.get(id as usize), out[at..].first_chunk_mut::<SHORT>()) {
                (Some(slot), Some(room)) if slot.length < NOT_SHORT => {
                    places::put(room, &slot.bytes);
                    at += usize::from(slot.length);
                }
                _ => {
                    let Some(token) = self.bytes(id) else { return (taken, at) };
                    let Some(room) = out[at..].get_mut(..token.len()) else { return (taken, at) };
                    places::put(room, token);
                    at += token.len();
                }
            }
        }
        (ids.len(), at)
    }
}

/// Looking whether ids have slots for sixteen at once, with AVX-512.
#[cfg(simd_x86)]
mod vectors {
    use std::{arch::x86_64::*, mem::MaybeUninit};

    use super::{AHEAD, GROUP, GROUP_ROOM, NOT_SHORT, Slot, WRITTEN};
    use crate::fetch::fetch_byte;

    #[target_feature(enable = "avx512f")]
    pub(super) fn groups(
        slots: &[Slot],
        groups: &[[u32; GROUP]],
        out: &mut [MaybeUninit<u8>],
    ) -> (usize, usize) {
        // Places are numbers of 32 bits here.
        let bound = _mm512_set1_epi32(slots.len().min(u32::MAX as usize / size_of::<Slot>()) as i32);
        let (start, last) = (out.as_mut_ptr().cast::<u8>(), out.len().checked_sub(GROUP_ROOM));
        let mut at = 0;
        for (taken, group) in groups.iter().enumerate() {
            if last.is_none_or(|last| at > last) {
                return (taken, at);
            }
            fetch_byte(group.as_ptr().wrapping_add(AHEAD).cast());
            // SAFETY: a group has sixteen ids of four bytes.
            let ids = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
            if _mm512_cmplt_epu32_mask(ids, bound) != u16::MAX {
                return (taken, at);
            }
            let mut places = [0_u32; GROUP];
            // SAFETY: there is room for as many. Nobody else can change these.
            unsafe { _mm512_storeu_si512(places.as_mut_ptr().cast(), _mm512_slli_epi32::<4>(ids)) };
            let mut end = at;
            for &place in std::hint::black_box(&places) {
                // SAFETY: the place, in bytes, is that of a slot, which has `WRITTEN` bytes, all of them set; from `at` on
                // there is room for a group.
                unsafe {
                    let slot = slots.as_ptr().byte_add(place as usize);
                    std::ptr::copy_nonoverlapping(slot.cast::<u8>(), start.add(end), WRITTEN);
                    end += usize::from((*slot).length);
                }
            }
            if end - at >= usize::from(NOT_SHORT) {
                return (taken, at);
            }
            at = end;
        }
        (groups.len(), at)
    }
}
