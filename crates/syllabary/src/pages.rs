//! Large tables in huge pages, where the system gives them when asked: fewer faults and fewer misses of the TLB.
//!
//! Adds: `Table`, a boxed slice that asks, and `ask`, for memory that others own. Leaves out everything that depends
//! on whether the system heard.

use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    mem::MaybeUninit,
    ops::{Deref, DerefMut},
    ptr::NonNull,
};

/// The size of a huge page on most systems.
const HUGE: usize = 1 << 21;

/// Asks for huge pages under `memory`, where it has not been touched yet.
pub(crate) fn ask<T>(memory: &mut [MaybeUninit<T>]) {
    let bytes = size_of_val(memory);
    if bytes < HUGE {
        return;
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let start = memory.as_mut_ptr() as usize;
        let first = start.next_multiple_of(HUGE);
        let length = (start + bytes).saturating_sub(first) / HUGE * HUGE;
        if length > 0 {
            // SAFETY: the range lies inside `memory`, which is ours alone, and this advice changes no content. That it
            // may fail is nothing to us.
            unsafe { libc::madvise(first as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
        }
    }
}

/// A slice of fixed length; large ones begin at the beginning of a huge page.
pub(crate) struct Table<T> {
    start: NonNull<T>,
    length: usize,
}

// SAFETY: it owns its elements as a box does.
unsafe impl<T: Send> Send for Table<T> {}
// SAFETY: as above; a shared table gives out shared references only.
unsafe impl<T: Sync> Sync for Table<T> {}

impl<T> Table<T> {
    fn layout(length: usize) -> Layout {
        let align = if length * size_of::<T>() < HUGE { align_of::<T>() } else { HUGE };
        // Tables are made for a number of tokens, all of which are in memory: their size is no overflow.
        let layout = Layout::array::<T>(length).and_then(|layout| layout.align_to(align));
        layout.unwrap_or_else(|_| Layout::new::<T>())
    }
}

impl<T: Copy> Table<T> {
    /// `length` times `value`; at least one.
    pub(crate) fn filled(value: T, length: usize) -> Table<T> {
        let length = length.max(1);
        let layout = Table::<T>::layout(length);
        assert!(
            size_of::<T>() > 0 && layout.size() >= length * size_of::<T>(),
            "a table of this size cannot be"
        );
        // SAFETY: the size of the layout is not 0.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }.cast::<T>()) else {
            handle_alloc_error(layout)
        };
        // SAFETY: the memory is allocated for `length` elements and aligned for them; nobody else knows it.
        let memory =
            unsafe { std::slice::from_raw_parts_mut(start.as_ptr().cast::<MaybeUninit<T>>(), length) };
        ask(memory);
        memory.fill(MaybeUninit::new(value));
        Table { start, length }
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `filled` has made `length` elements there, and they live as long as the table.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T> DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and the table is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // SAFETY: allocated by `filled` with this layout; the elements are `Copy` and need no drop.
        unsafe { dealloc(self.start.as_ptr().cast(), Table::<T>::layout(self.length)) };
    }
}

impl<T> std::fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table of {}", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_small_and_large() {
        for length in [0, 1, 3, 1 << 10, (1 << 19) + 5] {
            let mut table = Table::filled(7u64, length);
            assert_eq!(table.len(), length.max(1));
            assert!(table.iter().all(|&value| value == 7));
            let last = table.len() - 1;
            table[last] = 8;
            assert_eq!(table[last], 8);
            assert_eq!(table.as_ptr() as usize % if length > 1 << 18 { HUGE } else { 8 }, 0);
        }
        let mut vector: Vec<u32> = Vec::with_capacity(1 << 21);
        ask(vector.spare_capacity_mut());
        vector.resize(1 << 21, 3);
        assert!(vector.iter().all(|&value| value == 3));
    }
}
