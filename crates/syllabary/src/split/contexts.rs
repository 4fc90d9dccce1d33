//! What a split leaves of a text that stands between others.
//!
//! ```text
//! low, in "x low."    =>    a piece by itself, inside one, or cut
//! ```
//!
//! Adds `Split::leaves`. Leaves out which texts may stand around it: the caller knows them.

use crate::{Error, split::Split};

/// The most that a context does for a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// No piece holds all of it.
    Cut,
    /// Some piece holds all of it, and more.
    Inside,
    /// It is a piece by itself.
    Whole,
}

impl Split {
    /// The most that any two of `neighbours`, before and after, do for a text; looks no further than for `enough`.
    ///
    /// # Errors
    /// Those of [`Split::pieces`], for a text with what is around it.
    pub fn leaves(&self, text: &str, neighbours: &[&str], enough: Left) -> Result<Left, Error> {
        let (mut best, mut context) = (Left::Cut, String::new());
        for before in neighbours {
            for after in neighbours {
                context.clear();
                context.extend([before, text, after]);
                self.pieces(&context, &mut |piece| {
                    if piece == text {
                        best = Left::Whole;
                    } else if best == Left::Cut && piece.contains(text) {
                        best = Left::Inside;
                    }
                })?;
                if best >= enough {
                    return Ok(best);
                }
            }
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::{Tables, gpt2};

    #[test]
    fn the_most_that_a_context_does() {
        let split = Split::new(Some(gpt2::TIKTOKEN), Tables::Tiktoken, true).unwrap();
        let found = |text| split.leaves(text, &["", "x", " "], Left::Whole).unwrap();
        assert_eq!((Left::Whole, Left::Whole, Left::Cut), (found(" low"), found("low"), found("lo w")));
        assert_eq!(Ok(Left::Inside), split.leaves("low", &["x"], Left::Whole));
        assert_eq!(Ok(Left::Inside), split.leaves("low", &["x", ""], Left::Inside));
        assert_eq!(Ok(Left::Whole), split.leaves("low", &["x", ""], Left::Whole));
    }
}
