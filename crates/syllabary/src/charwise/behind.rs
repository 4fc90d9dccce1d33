//! Text that goes on behind other text, where the score of all that stands before is in every sum (`weigh`).
//!
//! Leaves out where text may be cut so that it can go on there (`reference/cuts.py`), and walking it (`encode`).

use super::{Charwise, work::Work};
use crate::{Error, merge::Merges, normalize::Normalizer};

/// Where a text begins that goes on behind other text, and what stands before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind {
    /// The byte from which on ids are made; `None`: from the first on, with what is written before a text.
    pub(super) at: Option<usize>,
    /// The score of what stands before it; after encoding, that of all.
    pub(super) score: f64,
}

impl Charwise {
    /// Whether scores are added from one segment to the next.
    pub(crate) fn carries(&self) -> bool {
        self.carry().is_some()
    }

    /// The ids of what stands behind `guard` in `text`, which begins with it; `score` is that of all before. The score
    /// of all; `None` if the guard becomes something else with what follows.
    pub(crate) fn behind(
        &self,
        (guard, text): (&str, &str),
        score: f64,
        (normalizer, merges): (&Normalizer, &Merges),
        work: &mut Work,
        sink: impl FnMut(&[u32]) -> bool,
    ) -> Result<Option<f64>, Error> {
        let mut behind = Behind { at: (!guard.is_empty()).then_some(guard.len()), score };
        if !self.shape.rewrites {
            self.encode_behind(text, true, merges, work, sink, Some(&mut behind))?;
            return Ok(Some(behind.score));
        }
        let mut texts = std::mem::take(&mut work.texts);
        let done = self.made_behind((guard, text), normalizer, &mut texts).and_then(|at| {
            let Some(at) = at else { return Ok(None) };
            behind.at = behind.at.map(|_| at);
            self.encode_behind(&texts[0], false, merges, work, sink, Some(&mut behind))?;
            Ok(Some(behind.score))
        });
        work.texts = texts;
        done
    }

    /// Writes what becomes of text to the first of `texts`; how much of that is what becomes of the guard.
    fn made_behind(
        &self,
        (guard, text): (&str, &str),
        normalizer: &Normalizer,
        [made, spaced]: &mut [String; 2],
    ) -> Result<Option<usize>, Error> {
        let lead = match guard {
            "" => String::new(),
            _ => {
                self.normalize(guard, normalizer, made, spaced)?;
                made.clone()
            }
        };
        self.normalize(text, normalizer, made, spaced)?;
        Ok(made.starts_with(&lead).then_some(lead.len()))
    }
}
