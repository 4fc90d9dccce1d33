//! Memory and buffers for encoding, kept from call to call: a short text costs no allocation but its result, and
//! what one text taught serves the next.
//!
//! Leaves out what is in them (`tokenizer::Work`).

use std::sync::{
    Mutex, TryLockError,
    atomic::{AtomicBool, Ordering},
};

use crate::{tokenizer::Work, utf8};

/// As many buffers wait, at most: each is one thread's.
const MOST_IDLE: usize = 16;
/// A buffer of ids that grew beyond this is not kept.
const MOST_IDS: usize = 1 << 18;
/// The same of bytes.
const MOST_BYTES: usize = 1 << 21;

/// What one thread needs.
#[derive(Debug, Default)]
pub struct Seat {
    /// For the stages.
    pub work: Work,
    /// Ids before they are handed on.
    pub ids: Vec<u32>,
    /// Where texts end among them.
    pub ends: Vec<usize>,
    /// Bytes before they are text.
    pub bytes: Vec<u8>,
    /// Text as UTF-8.
    pub text: utf8::Buffer,
}

/// Seats that nobody uses now.
#[derive(Debug, Default)]
pub struct Pool {
    #[allow(clippy::vec_box, reason = "a seat is thousands of bytes, and taken for every text")]
    idle: Mutex<Vec<Box<Seat>>>,
    /// Whether there is a first seat.
    has_first: AtomicBool,
}

impl Pool {
    /// Runs `job` with a seat, which comes back if all went well: after an error or a panic nobody knows what is
    /// left in it.
    pub fn with<R, E>(&self, job: impl FnOnce(&mut Seat) -> Result<R, E>) -> Result<R, E> {
        let mut seat = self.idle(Vec::pop).flatten().unwrap_or_else(|| self.new_seat());
        let done = job(&mut seat).inspect_err(|_| {
            self.has_first.fetch_and(!seat.work.is_first, Ordering::Relaxed);
        })?;
        seat.ids.clear();
        seat.ends.clear();
        if seat.ids.capacity() > MOST_IDS || seat.ends.capacity() > MOST_IDS {
            (seat.ids, seat.ends) = Default::default();
        }
        if seat.bytes.capacity() > MOST_BYTES {
            seat.bytes = Vec::new();
        }
        seat.text.give_back();
        self.idle(|idle| {
            if idle.len() < MOST_IDLE {
                idle.push(seat);
            }
        });
        Ok(done)
    }

    fn new_seat(&self) -> Box<Seat> {
        let mut seat = Box::<Seat>::default();
        seat.work.is_first = !self.has_first.swap(true, Ordering::Relaxed);
        seat
    }

    /// Never waits: a process that is a fork may have the lock of a thread that it does not have.
    fn idle<R>(&self, change: impl FnOnce(&mut Vec<Box<Seat>>) -> R) -> Option<R> {
        match self.idle.try_lock() {
            Ok(mut idle) => Some(change(&mut idle)),
            Err(TryLockError::Poisoned(poisoned)) => Some(change(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(pool: &Pool) -> usize {
        pool.idle(|idle| idle.len()).unwrap()
    }

    #[test]
    fn a_seat_comes_back_empty_and_only_after_success() {
        let pool = Pool::default();
        let first = pool.with(|seat| {
            seat.ids.push(7);
            Ok::<_, ()>(seat.ids.as_ptr())
        });
        assert_eq!(waiting(&pool), 1);
        let again = pool.with(|seat| {
            assert!(seat.ids.is_empty());
            Ok::<_, ()>(seat.ids.as_ptr())
        });
        assert_eq!(again, first);
        let first = |pool: &Pool| pool.with(|seat| Ok::<_, ()>(seat.work.is_first)).unwrap();
        assert!(first(&pool));
        assert_eq!(pool.with(|_| pool.with(|other| Ok::<_, ()>(other.work.is_first))), Ok(false));
        pool.idle(Vec::clear);
        assert!(!first(&pool));
        pool.has_first.store(false, Ordering::Relaxed);
        pool.idle(Vec::clear);
        assert_eq!(pool.with(|_| Err::<(), _>(3)), Err(3));
        assert_eq!(waiting(&pool), 0);
        assert!(first(&pool));
    }

    #[test]
    fn a_panic_loses_one_seat() {
        let pool = Pool::default();
        let both = || pool.with(|_| pool.with(|_| Ok::<_, ()>(())));
        both().unwrap();
        assert_eq!(waiting(&pool), 2);
        let job = || pool.with(|_| -> Result<(), ()> { panic!("on purpose") });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).is_err());
        assert_eq!(waiting(&pool), 1);
        both().unwrap();
        assert_eq!(waiting(&pool), 2);
    }

    #[test]
    fn it_is_bounded_and_never_waits() {
        fn nested(pool: &Pool, depth: usize) -> Result<(), ()> {
            pool.with(|seat| {
                seat.ids.reserve(MOST_IDS + 1);
                if depth == 0 { Ok(()) } else { nested(pool, depth - 1) }
            })
        }
        let pool = Pool::default();
        nested(&pool, 3 * MOST_IDLE).unwrap();
        assert_eq!(waiting(&pool), MOST_IDLE);
        assert!(pool.idle(|idle| idle.iter().all(|seat| seat.ids.capacity() <= MOST_IDS)).unwrap());
        let held = pool.idle.lock().unwrap();
        assert_eq!(pool.with(|_| Ok::<_, ()>(5)), Ok(5));
        drop(held);
    }
}
