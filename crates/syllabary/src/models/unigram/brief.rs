//! The best way through a few characters, in arrays of one size: nothing grows, and no bound is asked for.
//!
//! ```text
//! codes  ->  the best way to each place, as in `lattice`  ->  its ids, from the last one back
//! ```
//!
//! Leaves out longer pieces, sums of 64 bits, and pieces in which something is unknown (`lattice`).

use super::{Unigram, automaton::Best};

/// Characters are fewer.
pub(crate) const BRIEF: usize = 32;
/// So many ids may be copied at once, whether they are all of the way or not.
pub(crate) const COPIED: usize = 16;

/// A few characters, and the best way through them.
#[derive(Debug)]
pub(crate) struct Brief {
    /// The codes of characters, and how many they are.
    pub(crate) codes: [u16; BRIEF],
    pub(crate) count: usize,
    scores: [f32; BRIEF],
    seconds: [f32; BRIEF],
    rows: [u32; BRIEF],
    /// The ids of the way end before place `BRIEF`.
    ids: [u32; BRIEF + COPIED],
    from: usize,
}

impl Default for Brief {
    fn default() -> Brief {
        Brief {
            codes: [0; BRIEF],
            count: 0,
            scores: [0.0; BRIEF],
            seconds: [0.0; BRIEF],
            rows: [0; BRIEF],
            ids: [0; BRIEF + COPIED],
            from: BRIEF,
        }
    }
}

impl Brief {
    /// How many ids the way has.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        BRIEF - self.from
    }

    /// All of them.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids[self.from..BRIEF]
    }

    /// The first ones, with others behind them if they are fewer.
    #[inline]
    pub(crate) fn copied(&self) -> &[u32; COPIED] {
        self.ids[self.from % BRIEF..].first_chunk().unwrap_or(&[0; COPIED])
    }
}

impl Unigram {
    /// Finds the best way through a few characters before which nothing stands: its score, and by how much it is
    /// better than any other, but for rounding. `None` if that is not for this, or something is unknown.
    pub(crate) fn solve_brief(&self, brief: &mut Brief) -> Option<(f32, f32)> {
        let automaton = self.automaton.as_ref().filter(|_| self.single && self.is_near::<f32>(0.0, BRIEF))?;
        let Brief { codes, scores, seconds, rows, ids, .. } = brief;
        scores[0] = 0.0;
        let mut state = automaton.begin();
        let count = brief.count % BRIEF;
        for end in 1..=count {
            state = automaton.step(state, codes[(end - 1) % BRIEF].into());
            let Best { score, second, row } =
                automaton.best::<f32, true>(state, |length| scores[(end - length) % BRIEF]);
            (scores[end % BRIEF], seconds[end % BRIEF], rows[end % BRIEF]) = (score, second, row);
        }
        let (mut end, mut from, mut least, mut unknown) = (count, BRIEF, f32::INFINITY, false);
        while end > 0 {
            let (place, row) = (end % BRIEF, rows[end % BRIEF]);
            let better = scores[place] - seconds[place];
            least = if better <= least { better } else { least };
            from -= 1;
            ids[from % BRIEF] = row;
            unknown |= row == automaton.unknown();
            end -= automaton.rows[row as usize].length();
        }
        brief.from = from;
        (!unknown).then_some((scores[count], least))
    }
}
