//! What many looks at short strings need of the memory.
//!
//! Leaves out putting strings in (`memory`), and longer ones (`longer`).

use super::{FAR, FEW, LINE, Line, Name, Slot, WINDOW};
use crate::{encode::key::Key, fetch::fetch};

/// The lines of a memory, for many look-ups.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'m> {
    pub(super) lines: &'m [Line<Key, 2>],
    pub(super) far: &'m [u32],
}

impl<'m> Lines<'m> {
    /// How many bytes they take: a power of two.
    #[inline(always)]
    pub(in crate::encode) fn size(&self) -> usize {
        LINE * self.lines.len()
    }

    /// The byte where the line of a hash begins.
    #[inline(always)]
    pub(in crate::encode) fn place(&self, hash: u64) -> usize {
        LINE.wrapping_mul(hash as usize) & (self.size() - LINE)
    }

    /// Where the first begins. In a slot, the ids are in the second half, and the key is in the first.
    #[cfg(simd_x86)]
    #[inline(always)]
    pub(in crate::encode) fn base(&self) -> *const u8 {
        self.lines.as_ptr().cast()
    }

    /// Asks for the line at a place ahead of its use.
    #[inline(always)]
    pub(in crate::encode) fn fetch(&self, place: usize) {
        fetch(&self.lines[place / LINE]);
    }

    /// Asks for the other lines where a string may lie that is not in the one at this place, unless that has room.
    #[inline(always)]
    pub(in crate::encode) fn fetch_after(&self, place: usize) {
        let home = place / LINE;
        if !self.lines[home].0[1].is_empty() {
            (1..WINDOW).for_each(|other| fetch(&self.lines[home ^ other]));
        }
    }

    /// Ids that lie outside the slots, from a place on.
    #[inline(always)]
    pub(in crate::encode) fn far(&self, start: usize) -> &[u32; FAR] {
        const NOTHING: &[u32; FAR] = &[0; FAR];
        self.far.get(start..).and_then(<[u32]>::first_chunk).unwrap_or(NOTHING)
    }

    #[inline(always)]
    fn slot(&self, key: Key, place: usize) -> &Slot<Key> {
        let line = &self.lines[place / LINE].0;
        &line[usize::from(!line[0].holds(key))]
    }

    /// The number of ids of `key`, the first of them, and all if they are many, if it is in the line where one would look
    /// first, which begins at this place; or else 0 and any.
    #[inline(always)]
    pub(in crate::encode) fn any(&self, key: Key, place: usize) -> (usize, &[u32; FEW], &[u32; FAR]) {
        let slot = self.slot(key, place);
        let count = (slot.key.high >> Key::SHIFT) as usize;
        let is_far = slot.holds(key) & (count > FEW);
        // Where there are few, others are read, from the beginning.
        let start = slot.ids[0] as usize & usize::from(is_far).wrapping_neg();
        let many = self.far(start);
        let few = if is_far { many.first_chunk().unwrap_or(&slot.ids) } else { &slot.ids };
        let count = if is_far { slot.ids[1] as usize } else { count };
        (count & usize::from(slot.holds(key)).wrapping_neg(), few, many)
    }

    /// The number alone.
    #[inline(always)]
    pub(in crate::encode) fn count(&self, key: Key, place: usize) -> usize {
        let slot = self.slot(key, place);
        let count = (slot.key.high >> Key::SHIFT) as usize;
        let count = if count > FEW { slot.ids[1] as usize } else { count };
        count & usize::from(slot.holds(key)).wrapping_neg()
    }
}
