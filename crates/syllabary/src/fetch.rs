//! Asking for memory ahead of its use.
//!
//! Adds: one instruction of each processor that has one; texts before their turn. Leaves out: any effect that a program can see.

/// Asks for the cache line of `place`.
#[inline(always)]
pub fn fetch<T>(place: &T) {
    fetch_byte(std::ptr::from_ref(place).cast());
}

/// The same of any byte, which need not be there.
#[inline(always)]
pub fn fetch_byte(place: *const u8) {
    #[cfg(simd_x86)]
    // SAFETY: every x86-64 has the instruction, and it reads nothing that a program can see, wherever `place` is.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(simd_neon)]
    // SAFETY: as above, on every AArch64.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(simd_x86, simd_neon)))]
    let _ = place;
}

/// The bytes of a line.
const LINE: usize = 64;
/// No more is asked for ahead of a text: it is to be in the cache still when its turn comes.
const MOST: usize = 1 << 13;

/// Asks for what begins at a place, no more than `MOST` bytes.
#[inline]
pub fn all(place: *const u8, size: usize) {
    (0..size.min(MOST)).step_by(LINE).for_each(|at| fetch_byte(place.wrapping_add(at)));
}

/// Text that is asked for before its turn, part by part while something else is done.
///
/// A processor asks by itself for what follows, but not beyond a page, nor for another text; and where more is asked for
/// at once than it can keep in mind, it waits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead {
    /// The address of what is to be asked for next, how many lines that is, and how many at a time.
    at: usize,
    lines: usize,
    part: usize,
}

impl Ahead {
    const PARTS: usize = 4;

    /// So many bytes are the next, or the first of them.
    #[inline]
    pub(crate) fn begin(&mut self, place: *const u8, size: usize) {
        let lines = size.min(MOST).div_ceil(LINE);
        *self = Ahead { at: place.addr(), lines, part: lines.div_ceil(Ahead::PARTS) };
        self.some();
    }

    /// Asks for the next part.
    #[inline(always)]
    pub(crate) fn some(&mut self) {
        let now = self.part.min(self.lines);
        (0..now).for_each(|line| fetch_byte(std::ptr::without_provenance(self.at + LINE * line)));
        self.at += LINE * now;
        self.lines -= now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_asked_for_once() {
        let text = [0; 3 * MOST];
        for size in [0, 1, 64, 65, 3000, MOST, 2 * MOST] {
            let mut ahead = Ahead::default();
            ahead.begin(text.as_ptr(), size);
            let mut calls = 1;
            while ahead.lines > 0 {
                ahead.some();
                calls += 1;
            }
            assert!(calls <= Ahead::PARTS);
            assert_eq!(ahead.at - text.as_ptr().addr(), size.min(MOST).next_multiple_of(LINE));
        }
    }
}
