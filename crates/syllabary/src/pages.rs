//! Large vectors on large pages, where the system has some to give.
//!
//! A table of megabytes that is looked into at random misses the processor's memory of pages at nearly every look;
//! and each small page of new memory costs about as much as encoding 500 bytes. Linux gives pages of 2 MiB to who asks
//! (`madvise`), as numpy does for its arrays. Tables of zeros have pages of their own, from the beginning of a large one
//! on (`Zeros`). Leaves out other systems, where vectors are as ever.

/// A vector is asked for from so many bytes on.
pub const LARGE: usize = 2 << 20;

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

/// Appends to a vector, which grows on large pages.
#[inline]
pub(crate) fn extend<T: Copy>(of: &mut Vec<T>, more: &[T]) {
    reserve(of, more.len());
    of.extend_from_slice(more);
}

/// Makes room for `more`, on large pages.
#[inline]
pub fn reserve<T>(of: &mut Vec<T>, more: usize) {
    if of.capacity() - of.len() < more {
        grow(of, more);
    }
}

#[cold]
#[inline(never)]
fn grow<T>(of: &mut Vec<T>, more: usize) {
    of.reserve(more);
    advise(of);
}

/// A table of zeros: from `LARGE` on it is new pages of its own, which are zeros already, and large ones as far as there
/// are such: they begin where large pages begin. Nobody has to write zeros then, and what is not written to takes no memory.
pub(crate) struct Zeros<T> {
    of: Of<T>,
}

enum Of<T> {
    Small(Box<[T]>),
    #[cfg(large_pages)]
    Mapped(mapped::Mapped<T>),
}

/// What zeros may be taken for.
///
/// # Safety
/// Bytes of zero are such a value, and it needs no `Drop`.
pub(crate) unsafe trait Zero: Copy {
    const ZERO: Self;
}

// SAFETY: a number is zero where its byte is.
unsafe impl Zero for u8 {
    const ZERO: u8 = 0;
}

// SAFETY: numbers are zero where their bytes are.
unsafe impl<const N: usize> Zero for [u32; N] {
    const ZERO: Self = [0; N];
}

impl<T: Zero> Zeros<T> {
    /// `count` of them.
    pub(crate) fn new(count: usize) -> Zeros<T> {
        Zeros::with_room(count, count)
    }

    /// The same, with addresses for `most`.
    fn with_room(count: usize, most: usize) -> Zeros<T> {
        #[cfg(large_pages)]
        if count.saturating_mul(size_of::<T>()) >= LARGE
            && let Some(mapped) = mapped::Mapped::new(count, most.max(count))
        {
            return Zeros { of: Of::Mapped(mapped) };
        }
        #[cfg(not(large_pages))]
        let _ = most;
        Zeros { of: Of::Small(filled(T::ZERO, count)) }
    }

    /// Goes on with zeros up to `count`, no less than there are: in place where it has pages of its own. It may
    /// grow up to `most`.
    pub(crate) fn grow(&mut self, count: usize, most: usize) {
        #[cfg(large_pages)]
        if let Of::Mapped(mapped) = &mut self.of
            && mapped.grow(count)
        {
            return;
        }
        let mut more = Zeros::with_room(count, most);
        more[..self.len()].copy_from_slice(self);
        *self = more;
    }
}

impl<T> std::ops::Deref for Zeros<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.of {
            Of::Small(table) => table,
            #[cfg(large_pages)]
            Of::Mapped(table) => table.all(),
        }
    }
}

impl<T> std::ops::DerefMut for Zeros<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.of {
            Of::Small(table) => table,
            #[cfg(large_pages)]
            Of::Mapped(table) => table.all_mut(),
        }
    }
}

impl<T> std::fmt::Debug for Zeros<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} places", self.len())
    }
}

#[cfg(large_pages)]
mod mapped {
    use std::{marker::PhantomData, ptr::NonNull, slice};

    use super::{LARGE, Zero};

    /// Pages of this table alone.
    pub(super) struct Mapped<T> {
        start: NonNull<T>,
        /// How many there are, and how many there are pages for.
        count: usize,
        most: usize,
        /// All that was asked of the system.
        area: (*mut libc::c_void, usize),
        owned: PhantomData<T>,
    }

    // SAFETY: it owns what it points to, as a box does.
    unsafe impl<T: Send> Send for Mapped<T> {}
    // SAFETY: as above.
    unsafe impl<T: Sync> Sync for Mapped<T> {}

    impl<T: Zero> Mapped<T> {
        /// `count` zeros, and addresses for `most`, no less; `None` where the system gives none.
        pub(super) fn new(count: usize, most: usize) -> Option<Mapped<T>> {
            const { assert!(align_of::<T>() <= LARGE && size_of::<T>() > 0) };
            let size = most.checked_mul(size_of::<T>())?.checked_next_multiple_of(LARGE)?;
            let asked = size.checked_add(LARGE)?;
            // SAFETY: new pages, of which nothing else knows.
            let area = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    asked,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if area == libc::MAP_FAILED {
                return None;
            }
            let start = area.wrapping_byte_add(area.align_offset(LARGE));
            // SAFETY: the pages are those just given; the advice changes nothing that they hold.
            unsafe { libc::madvise(start, size, libc::MADV_HUGEPAGE) };
            Some(Mapped {
                start: NonNull::new(start.cast())?,
                count,
                most,
                area: (area, asked),
                owned: PhantomData,
            })
        }

        /// Whether there are addresses for `count`; then there are as many.
        pub(super) fn grow(&mut self, count: usize) -> bool {
            let there = (self.count..=self.most).contains(&count);
            self.count = if there { count } else { self.count };
            there
        }
    }

    impl<T> Mapped<T> {
        #[inline(always)]
        pub(super) fn all(&self) -> &[T] {
            // SAFETY: `count`, no more than `most`, lie there, aligned, and `self` owns them; zeros are such
            // (`Zero`).
            unsafe { slice::from_raw_parts(self.start.as_ptr(), self.count) }
        }

        #[inline(always)]
        pub(super) fn all_mut(&mut self) -> &mut [T] {
            // SAFETY: as in `all`; `self` is borrowed by nobody else.
            unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
        }
    }

    impl<T> Drop for Mapped<T> {
        fn drop(&mut self) {
            let (area, size) = self.area;
            // SAFETY: the area was given by `mmap`, and nothing points to it any more.
            unsafe { libc::munmap(area, size) };
        }
    }
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
pub(crate) fn advise<T>(of: &mut Vec<T>) {
    advise_places(of.as_mut_ptr(), of.capacity());
}

/// The same for so many places of a new object.
///
/// Whole pages, the first and the last with what else lies in them: memory of which only a part is advised is two areas
/// to the system, which then cannot move it when the object grows (`mremap`), so that all of it is copied.
#[cfg(large_pages)]
pub fn advise_places<T>(start: *mut T, count: usize) {
    const PAGE: usize = 4096;
    let size = count.saturating_mul(size_of::<T>());
    if size < LARGE {
        return;
    }
    let before = start.addr() % PAGE;
    // SAFETY: the pages are those where the places lie; the advice changes nothing that they hold, nor whose they are.
    // That it is not taken is no error.
    unsafe {
        libc::madvise(
            start.wrapping_byte_sub(before).cast(),
            (before + size).next_multiple_of(PAGE),
            libc::MADV_HUGEPAGE,
        )
    };
}

/// Nothing, where the system has no such advice.
#[cfg(not(large_pages))]
pub fn advise_places<T>(_start: *mut T, _count: usize) {
    let _ = LARGE;
}

#[cfg(test)]
mod tests {
    use super::*;

    // SAFETY: a number is zero where its bytes are.
    unsafe impl Zero for u64 {
        const ZERO: u64 = 0;
    }

    #[test]
    fn advice_changes_nothing() {
        for (count, from) in [(LARGE, 0), (3 * LARGE, 0), (3 * LARGE, 1), (LARGE + 1, 4095), (0, 0), (9, 3)] {
            let mut places: Vec<u8> = (0..count + from).map(|at| (at % 251) as u8).collect();
            advise_places(places[from..].as_mut_ptr(), count);
            assert!(places.iter().enumerate().all(|(at, &place)| place == (at % 251) as u8));
        }
    }

    #[test]
    fn tables_are_of_zeros_and_hold_what_is_written() {
        for count in [0, 1, 1000, LARGE / 8 - 1, LARGE / 8, LARGE / 2 + 3] {
            let mut table = Zeros::<u64>::new(count);
            assert!(table.len() == count && table.iter().all(|&number| number == 0));
            table.iter_mut().zip(0..).for_each(|(place, number)| *place = number);
            assert!(table.iter().copied().eq(0..count as u64));
            if count >= LARGE / 8 && cfg!(large_pages) {
                assert_eq!(table.as_ptr().align_offset(LARGE), 0);
            }
            let other = Zeros::<u64>::new(count);
            assert!(other.iter().all(|&number| number == 0));
        }
    }

    #[test]
    fn tables_go_on_with_zeros() {
        let (many, most) = (LARGE / 8, LARGE / 2);
        let mut table = Zeros::<u64>::new(0);
        let mut starts = Vec::new();
        for count in [5, 9, many, many + 3, most, most, 2 * most] {
            let before = table.len();
            table.grow(count, most);
            assert!(table.len() == count && table[before..].iter().all(|&number| number == 0));
            assert!(table[..before].iter().copied().eq(0..before as u64));
            table.iter_mut().zip(0..).for_each(|(place, number)| *place = number);
            starts.push(table.as_ptr());
        }
        if cfg!(large_pages) {
            assert!(starts[2..6].iter().all(|&start| start == starts[2]), "in place");
        }
    }

    #[test]
    fn large_vectors_hold_what_small_ones_do() {
        for count in [0, 1, 1000, LARGE / 8, LARGE / 2 + 3] {
            let mut out = with_capacity(count);
            (0..count as u64).for_each(|number| out.push(number));
            assert!(out.iter().copied().eq(0..count as u64));
            extend(&mut out, &[7; 1000]);
            assert!(out.iter().copied().eq((0..count as u64).chain([7; 1000])));
            assert_eq!(*filled(7u8, count), *vec![7; count]);
        }
    }
}
