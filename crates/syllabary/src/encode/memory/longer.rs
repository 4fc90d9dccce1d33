//! What is asked of the memory of longer strings.
//!
//! Leaves out what it has in common with that of short ones (`memory`), and how ids are packed (`packed`).

use super::{LONG_FAR, Longers, Slot, WINDOW, packed};
use crate::{encode::key::Longer, fetch::fetch};

impl Longers {
    /// The number of ids of `key`, if it is there; if `WRITE`, they are the first of `room`, which is written to in any
    /// case.
    #[inline(always)]
    pub(crate) fn read<const WRITE: bool>(&self, key: Longer, room: &mut [u32; LONG_FAR]) -> Option<usize> {
        let slot = self.find(key, key.hash() as u32)?;
        if !slot.is_elsewhere() {
            if WRITE {
                packed::unpack(&slot.ids, room);
            }
            return Some(packed::count(&slot.ids));
        }
        let (start, count) = slot.place();
        let many = self.far.get(start..).and_then(<[u32]>::first_chunk)?;
        if WRITE {
            *room = *many;
        }
        Some(count)
    }

    /// Asks for the lines where `key` may be put, unless its own is empty.
    #[inline(always)]
    pub(in crate::encode) fn fetch_after(&self, key: Longer) {
        let home = key.hash() as usize & (self.lines.len() - 1);
        if !self.lines[home].0[0].is_empty() {
            (1..WINDOW).for_each(|other| fetch(&self.lines[home ^ other]));
        }
    }

    /// The ids of a slot, written to `room` if they are packed.
    pub(crate) fn ids<'s>(&'s self, slot: &Slot<Longer>, room: &'s mut [u32; LONG_FAR]) -> &'s [u32] {
        if slot.is_elsewhere() {
            return self.many(slot);
        }
        packed::unpack(&slot.ids, room);
        &room[..packed::count(&slot.ids)]
    }
}
