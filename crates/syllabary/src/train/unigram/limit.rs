//! What learning takes of a limit of memory, found out before it is taken.
//!
//! Leaves out what is counted, which goes to files (`memory`).

use crate::Error;

/// Bytes that are left, if they are limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit(pub Option<usize>);

impl Limit {
    /// Less so many bytes, which `what` takes.
    ///
    /// # Errors
    /// `Error::Training` where there are fewer.
    pub fn less(self, what: &str, bytes: usize) -> Result<Limit, Error> {
        let Some(left) = self.0 else { return Ok(self) };
        left.checked_sub(bytes).map(|left| Limit(Some(left))).ok_or_else(|| {
            Error::Training(format!(
                "the memory limit is too small for this corpus: {what} need {} MiB where {} MiB are left; give a \
                 higher limit, fewer threads, or a smaller number of seeds where there is an option for it",
                bytes.div_ceil(1 << 20),
                left >> 20,
            ))
        })
    }
}
