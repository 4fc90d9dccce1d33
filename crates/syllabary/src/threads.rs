//! Threads that live as long as one call.
//!
//! A thread that cannot be started is no error: its share of the work is done by those that are there.

use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts a thread, or gives `None` where the system has no more.
pub(crate) fn start<'scope, 'env, T: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    job: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, job).ok()
}

/// The result of a thread; its panic goes on here.
pub(crate) fn join<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
