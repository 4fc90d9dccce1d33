//! How many cases the tests of this crate draw: a few every day, all of them for `make prove`.
//!
//! Leaves out: the drawing, which stands with each test.

/// `all` if `SYLLABARY_PROVE` is set, as `make prove` does, else `few`; also for how much must have been found.
pub(crate) fn drawn(few: usize, all: usize) -> usize {
    if std::env::var_os("SYLLABARY_PROVE").is_some_and(|value| !value.is_empty()) { all } else { few }
}
