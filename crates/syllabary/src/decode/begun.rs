//! Ids of which the first bytes have been written already, and then all of them: as bytes, or as characters of a width that
//! is known.
//!
//! Most texts fit into a buffer that is kept from call to call. They are decoded into it, and copied once it is known what
//! they take: faster than asking every id for its size first, which is done of what does not fit.

use std::mem::MaybeUninit;

use super::{
    measures::{Size, Sums},
    slots::{Slots, WRITTEN},
};
use crate::{
    characters::{self, REACH, Unit},
    places,
};

/// Ids at a time, whose tokens all have room if they are short.
const IDS: usize = 1024;
/// Besides, there is room for what is left of those before.
const ROOM: usize = REACH + WRITTEN * IDS;

/// What `Decoder::begin` gives.
#[derive(Clone, Copy)]
pub struct Begun<'a> {
    pub(super) slots: &'a Slots,
    /// The first bytes.
    pub(super) first: &'a [u8],
    /// The ids of the others.
    pub(super) ids: &'a [u32],
    /// What those decode to.
    pub(super) rest: Sums,
}

impl<'a> Begun<'a> {
    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.first.len() + self.rest.bytes
    }

    /// All of them, if they have been written.
    pub fn whole(&self) -> Option<&'a [u8]> {
        if self.ids.is_empty() { Some(self.first) } else { None }
    }

    /// What they are as text.
    pub fn size(&self) -> Size {
        let mut sums = self.rest;
        sums.add(self.first);
        sums.size()
    }

    /// Writes all of them, at most what there is room for, and says how many.
    pub fn write(&self, out: &mut [MaybeUninit<u8>]) -> usize {
        let first = self.first.len().min(out.len());
        places::put(&mut out[..first], self.first);
        first + self.slots.write(self.ids, &mut out[first..])
    }

    /// The same, if they are ASCII.
    pub fn write_ascii(&self, out: &mut [MaybeUninit<u8>]) -> bool {
        let written = self.write(out);
        // SAFETY: so many were written.
        let written = unsafe { places::written(&out[..written]) };
        written.len() == out.len() && written.is_ascii()
    }

    /// Appends all.
    pub fn append(&self, out: &mut Vec<u8>) {
        let (start, size) = (out.len(), self.bytes());
        out.reserve(size);
        let written = self.write(&mut out.spare_capacity_mut()[..size]);
        // SAFETY: so many bytes behind the last one were written, within the capacity.
        unsafe { out.set_len(start + written) };
    }

    /// Writes their text, a unit for each character, and says whether that was all: they are UTF-8, and the characters as
    /// many as there is room for, all narrow enough.
    pub fn write_text<T: Unit>(&self, out: &mut [MaybeUninit<T>]) -> bool {
        let mut ids = self.ids;
        let Some((read, mut at)) = characters::write(self.first, out, ids.is_empty()) else { return false };
        let mut buffer = [MaybeUninit::uninit(); ROOM];
        let mut held = keep(&self.first[read..], &mut buffer);
        while let Some(&id) = ids.first() {
            let (some, written) = self.slots.fill(&ids[..ids.len().min(IDS)], &mut buffer[held..]);
            // SAFETY: the first `held` bytes were put there before, those behind them have been written just now.
            let bytes = unsafe { places::written(&buffer[..held + written]) };
            let long = if some == 0 { self.slots.bytes(id) } else { None };
            let all = long.map(|token| [bytes, token].concat());
            let bytes = all.as_deref().unwrap_or(bytes);
            ids = &ids[some.max(1)..];
            let Some((read, made)) = characters::write(bytes, &mut out[at..], ids.is_empty()) else {
                return false;
            };
            let mut left = [0; REACH];
            let left = &mut left[..bytes.len() - read];
            left.copy_from_slice(&bytes[read..]);
            held = keep(left, &mut buffer);
            at += made;
        }
        at == out.len()
    }
}

/// Puts bytes at the beginning of a buffer and says how many.
fn keep(bytes: &[u8], buffer: &mut [MaybeUninit<u8>; ROOM]) -> usize {
    places::put(buffer, bytes);
    bytes.len()
}
