//! Large pages for many objects of Python that are made next: the lists of a batch, and what a file becomes.
//!
//! ```text
//! a megabyte on pages of 4 kB     256 faults of the processor, a microsecond and more each
//! on pages of 2 MB                half a fault, 0.05 ms
//! ```
//!
//! Where Linux has them for who asks (`madvise`), as is done for each long list, string and bytes when it is made, and
//! by the engine for its own (`pages` of the crate `syllabary`). Python takes the places of lists from the C library
//! (`malloc`). So what many lists will need is asked for in one piece, the system is told of it, and it is freed again:
//! from there the library takes next. glibc maps a large piece apart when it is first asked for one, and no more once
//! that was freed (mallopt(3), "dynamic mmap threshold"), which is why it is asked for twice. Other libraries are let
//! alone. Leaves out what lies there.

use pyo3::pyfunction;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use syllabary::pages::{LARGE, advise_places};

/// It is worth it for lists of so many bytes together, and no more are seen to at a time.
const FEWEST: usize = 1 << 20;
const MOST: usize = 1 << 23;
const MOST_READ: usize = 1 << 24;

/// Memory for lists that was seen to.
#[derive(Debug, Default)]
pub struct Lists {
    /// Bytes of it that are not used yet, as far as is known.
    left: usize,
}

impl Lists {
    /// Sees to memory for lists of `now` bytes, and of about `later` that come after them.
    pub fn take(&mut self, now: usize, later: usize) {
        if now > self.left {
            let wanted = now.saturating_add(later).min(MOST);
            if wanted >= FEWEST {
                ready(wanted);
                self.left = wanted;
            }
        }
        self.left = self.left.saturating_sub(now);
    }
}

/// Sees to memory for so many bytes of any objects, if they are many, up to `MOST_READ`.
#[pyfunction]
pub fn make_ready(size: usize) {
    if size >= FEWEST {
        ready(size.min(MOST_READ));
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn ready(bytes: usize) {
    // A large page more, as the last one is large only if all of it is advised.
    let bytes = bytes + LARGE;
    // SAFETY: each piece is freed once, and nothing is read of it or written to it.
    unsafe {
        libc::free(std::hint::black_box(libc::malloc(bytes)));
        let piece = std::hint::black_box(libc::malloc(bytes));
        if !piece.is_null() {
            advise_places(piece.cast::<u8>(), bytes);
        }
        libc::free(piece);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn ready(_bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_seen_to_as_often_as_it_is_used_up() {
        let mut lists = Lists::default();
        lists.take(FEWEST / 2, 0);
        assert_eq!(lists.left, 0, "too little to see to");
        lists.take(FEWEST / 2, FEWEST);
        assert_eq!(lists.left, FEWEST);
        lists.take(FEWEST, 8 * MOST);
        assert_eq!(lists.left, 0, "there was just enough");
        lists.take(1, usize::MAX);
        assert_eq!(lists.left, MOST - 1);
        lists.take(2 * MOST, 0);
        assert_eq!(lists.left, 0);
    }
}
