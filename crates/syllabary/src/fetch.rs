//! Asking for memory ahead of its use.
//!
//! Adds: one instruction of each processor that has one. Leaves out: any effect that a program can see.

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
