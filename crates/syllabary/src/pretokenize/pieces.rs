//! The pieces of a text that steps cut, and a split behind them.
//!
//! Leaves out text that a normalizer has still to make, and where pieces are in what was given (`run`).

use super::Pretokenizer;
use crate::{error::Error, split::Split};

impl Pretokenizer {
    /// Calls `each` with the pieces of the parts that `cut_text` gives.
    ///
    /// # Errors
    /// Those of `cut_text` and of the split.
    pub(crate) fn pieces(&self, split: &Split, text: &str, each: &mut dyn FnMut(&str)) -> Result<(), Error> {
        let mut inner = Ok(());
        let done = self.cut_text(text, &mut |part| {
            if inner.is_ok() {
                inner = split.pieces(part, &mut |piece| each(piece));
            }
        });
        done.and(inner)
    }
}
