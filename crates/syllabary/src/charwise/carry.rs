//! The score of the text so far, as far as what is remembered depends on it (`weigh`).
//!
//! Leaves out scores themselves (`models::unigram`).

use super::{alone::BETWEEN_LOOKS, weigh::Weigh};

/// Segments are remembered in texts of a score up to `far`, or only up to `near`, which with all that is written
/// between two looks at it are below 2 to these powers.
pub(super) struct Bounds {
    pub(super) near: f64,
    pub(super) near_power: i32,
    pub(super) far: f64,
    pub(super) far_power: i32,
}

/// For sums of 32 and of 64 bits.
pub(super) const SINGLE: Bounds = Bounds { near: 15_000.0, near_power: 14, far: 97_000.0, far_power: 17 };
pub(super) const DOUBLE: Bounds = Bounds { near: 15_000.0, near_power: 14, far: 60e9, far_power: 36 };

/// The score of the text so far, as it is rounded.
pub(crate) struct Carry<'a> {
    pub(super) weigh: &'a Weigh,
    pub(super) sum: f64,
    /// So many ids of the run are in it.
    pub(super) folded: usize,
    /// Unknown characters that are not, and have no id: behind how many ids of the run, and how many.
    pub(super) hidden: Vec<(usize, usize)>,
    /// How many these are together.
    pub(super) waiting: usize,
    pub(super) reach: Reach,
}

/// How large a score is: what is remembered for all texts, or for some, or nothing may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Near,
    Far,
    Beyond,
}

/// For which texts a segment is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Always,
    Near,
    Never,
}

impl Carry<'_> {
    /// Adds the ids of the run that are not in it, and unknown characters without an id.
    pub(super) fn fold(&mut self, run: &[u32]) {
        let unigram = &self.weigh.unigram;
        let weight = |id: &u32| self.weigh.weights[*id as usize];
        let add = |sum: f64, ids: &[u32]| match unigram.is_single() {
            true => f64::from(ids.iter().fold(sum as f32, |sum, id| sum + weight(id) as f32)),
            false => ids.iter().fold(sum, |sum, id| sum + weight(id)),
        };
        let (mut sum, mut from) = (self.sum, self.folded.min(run.len()));
        for &(at, count) in &self.hidden {
            sum = add(sum, &run[from..at]);
            sum = (0..count).fold(sum, |sum, _| unigram.round(sum + unigram.unknown_score()));
            from = at;
        }
        self.sum = add(sum, &run[from..]);
        self.folded = run.len();
        self.hidden.clear();
        self.waiting = 0;
    }

    /// The score.
    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// The run has been handed on.
    pub(super) fn restart(&mut self) {
        self.folded = 0;
    }

    /// Takes in unknown characters without an id, which stand behind so many ids of the run.
    pub(super) fn unknown(&mut self, at: usize, count: usize) {
        self.hidden.push((at, count));
        self.waiting += count;
    }

    /// Whether the score stays below this one, if so many ids more than are in it are added.
    #[inline]
    pub(super) fn is_within(&self, bound: f64, pending: usize) -> bool {
        self.sum.abs() + (pending + BETWEEN_LOOKS) as f64 * self.weigh.heaviest <= bound
    }

    /// Whether it leaves what it is known to reach, or may come back, when so many ids are written.
    #[inline]
    pub(super) fn leaves(&self, written: usize) -> bool {
        let pending = written - self.folded + self.waiting;
        match self.reach {
            Reach::Near => !self.is_within(self.weigh.bounds().near, pending),
            Reach::Far => !self.is_within(self.weigh.bounds().far, pending),
            Reach::Beyond => true,
        }
    }

    /// Whether nothing may be remembered.
    #[inline]
    pub(super) fn is_beyond(&self) -> bool {
        self.reach == Reach::Beyond
    }

    /// Whether it is a small one.
    pub(super) fn is_near(&self) -> bool {
        self.reach == Reach::Near
    }
}
