//! Large vectors on large pages, where the system has some to give.
//!
//! A table of megabytes that is looked into at random misses the processor's memory of pages at nearly every look;
//! and each small page of new memory costs about as much as encoding 500 bytes. Linux gives pages of 2 MiB to who asks
//! (`madvise`), as numpy does for its arrays. Leaves out other systems, where vectors are as ever.

/// A vector is asked for from so many bytes on.
const LARGE: usize = 2 << 20;

/// An empty vector with room for `count`.
pub(crate) fn with_capacity<T>(count: usize) -> Vec<T> {
    let mut out = Vec::with_capacity(count);
    advise(&mut out);
    out
}

/// `count` times `item`.
pub(crate) fn filled<T: Clone>(item: T, count: usize) -> Box<[T]> {
    vec(item, count).into()
}

/// The same as a vector.
pub(crate) fn vec<T: Clone>(item: T, count: usize) -> Vec<T> {
    let mut out = with_capacity(count);
    out.resize(count, item);
    out
}

/// Gives back to the system what was freed and the allocator still holds, where it can be told to (glibc).
pub(crate) fn give_back() {
    // SAFETY: it asks for nothing but to be called.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Asks for large pages for all that a vector has room for.
///
/// Whole pages, the first and the last with what else lies in them: memory of which only a part is advised is two areas
/// to the system, which then cannot move it when the vector grows (`mremap`), so that all of it is copied.
#[cfg(target_os = "linux")]
pub(crate) fn advise<T>(of: &mut Vec<T>) {
    const PAGE: usize = 4096;
    let size = of.capacity() * size_of::<T>();
    if size < LARGE {
        return;
    }
    let start = of.as_mut_ptr().cast::<libc::c_void>();
    let before = start.addr() % PAGE;
    // SAFETY: the pages are those where the vector's memory lies; the advice changes nothing that they hold, nor
    // whose they are. That it is not taken is no error.
    unsafe {
        libc::madvise(
            start.wrapping_byte_sub(before),
            (before + size).next_multiple_of(PAGE),
            libc::MADV_HUGEPAGE,
        )
    };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn advise<T>(_of: &mut Vec<T>) {
    let _ = LARGE;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_vectors_hold_what_small_ones_do() {
        for count in [0, 1, 1000, LARGE / 8, LARGE / 2 + 3] {
            let mut out = with_capacity(count);
            (0..count as u64).for_each(|number| out.push(number));
            assert!(out.iter().copied().eq(0..count as u64));
            assert_eq!(*filled(7u8, count), *vec![7; count]);
        }
    }
}
