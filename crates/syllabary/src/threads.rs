//! Threads that live as long as one call.
//!
//! A thread that cannot be started is no error: its share of the work is done by those that are there. Nor is one
//! started where the process has no room left for what it would hold: with the stacks of many threads in it, a
//! process whose memory is limited would find none for the work itself.

use std::{
    alloc::{Layout, alloc, dealloc},
    thread::{Builder, Scope, ScopedJoinHandle},
};

/// Bytes that a thread may come to hold: its stack, its memory of words, the allocator's own share for it.
///
/// More than 32 MiB, so that the room goes back to the system at once (glibc keeps smaller ones from then on).
const ROOM: Layout = match Layout::from_size_align(128 << 20, 64) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

/// Whether there is room for one more thread: asked for and given back, not touched.
fn room() -> bool {
    // SAFETY: the layout's size is not 0.
    // (Not seen by the compiler, which takes away what is given back at once.)
    let room = std::hint::black_box(unsafe { alloc(ROOM) });
    if !room.is_null() {
        // SAFETY: allocated above with the same layout, and not used since.
        unsafe { dealloc(room, ROOM) };
    }
    !room.is_null()
}

/// Starts a thread, or gives `None` where the system has no more or no room for one.
pub(crate) fn start<'scope, 'env, T: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    job: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    room().then(|| Builder::new().spawn_scoped(scope, job).ok())?
}

/// The result of a thread; its panic goes on here.
pub(crate) fn join<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
