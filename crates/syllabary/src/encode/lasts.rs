//! Which strings of a row are new: most that come twice are told by some bits of a hash and the last string that had them.
//!
//! Leaves out the row, and the few that come twice all the same, which cost time only.

const COUNT: usize = 512;

/// By some bits of a hash the last place of a row, counted from 1.
pub(crate) struct Lasts([u16; COUNT]);

impl Lasts {
    pub(crate) fn new() -> Lasts {
        Lasts([0; COUNT])
    }

    /// The last place whose hash has the same bits, if there is one.
    #[inline(always)]
    pub(crate) fn get(&self, hash: u32) -> Option<usize> {
        usize::from(self.0[hash as usize % COUNT]).checked_sub(1)
    }

    /// Notes that this hash came last at a place, one of less than 2^16.
    #[inline(always)]
    pub(crate) fn set(&mut self, hash: u32, place: usize) {
        self.0[hash as usize % COUNT] = place as u16 + 1;
    }
}
