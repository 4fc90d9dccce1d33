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
pub(super) const SINGLE: Bounds = Bounds { near: 31_000.0, near_power: 15, far: 97_000.0, far_power: 17 };
pub(super) const DOUBLE: Bounds = Bounds { near: 15_000.0, near_power: 14, far: 60e9, far_power: 36 };

/// A sum below `far` is rounded by no more than that.
const ROUNDED: f64 = 1.0 / 256.0;

/// The score of the text so far, as it is rounded.
pub(crate) struct Carry<'a> {
    pub(super) weigh: &'a Weigh,
    pub(super) sum: f64,
    /// So many ids of the run are in it.
    pub(super) folded: usize,
    /// Unknown characters that are not, and have no id.
    pub(super) hidden: Vec<Hidden>,
    /// How many these are together.
    pub(super) waiting: usize,
    /// So many ids of the run are in this sum of what is added, whatever its sign: the score is no larger.
    pub(super) bounded: usize,
    pub(super) bound: f64,
    pub(super) reach: Reach,
}

/// Characters behind so many ids of a run, some of which have no id: which have one, as bits; how many in all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hidden {
    at: usize,
    kept: u32,
    count: usize,
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
        for &Hidden { at, kept, count } in &self.hidden {
            sum = add(sum, &run[from..at]);
            from = at;
            let mut kept = kept;
            for _ in 0..count {
                let has_id = kept & 1 == 1;
                let weight = if has_id { weight(&run[from]) } else { unigram.unknown_score() };
                sum = unigram.round(sum + weight);
                (from, kept) = (from + usize::from(has_id), kept >> 1);
            }
        }
        self.sum = add(sum, &run[from..]);
        (self.folded, self.bounded) = (run.len(), run.len());
        self.bound = self.sum.abs();
        self.hidden.clear();
        self.waiting = 0;
    }

    /// Adds the ids of the run to the bound of the score, in any order.
    pub(super) fn widen(&mut self, run: &[u32]) {
        let weight = |id: &u32| self.weigh.weights[*id as usize].abs();
        let (fours, rest) = run[self.bounded.min(run.len())..].as_chunks::<4>();
        let mut sums = [0.0; 4];
        for four in fours {
            sums.iter_mut().zip(four).for_each(|(sum, id)| *sum += weight(id));
        }
        let count = run.len() - self.bounded.min(run.len());
        self.bound +=
            sums.iter().sum::<f64>() + rest.iter().map(weight).sum::<f64>() + count as f64 * ROUNDED;
        self.bounded = run.len();
    }

    /// The same with this score of all that is written.
    pub(super) fn at(self, sum: f64, written: usize) -> Self {
        Carry { sum, folded: written, bounded: written, bound: sum.abs(), ..self }
    }

    /// The score.
    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// The run has been handed on.
    pub(super) fn restart(&mut self) {
        (self.folded, self.bounded) = (0, 0);
    }

    /// Takes in unknown characters without an id, which stand behind so many ids of the run.
    pub(super) fn unknown(&mut self, at: usize, count: usize) {
        self.hidden.push(Hidden { at, kept: 0, count });
        self.waiting += count;
    }

    /// The same of characters of which these, as bits, have an id, and these have none.
    #[cfg(simd_x86)]
    pub(super) fn mixed(&mut self, at: usize, kept: u32, dropped: u32) {
        let count = 32 - (kept | dropped).leading_zeros() as usize;
        self.hidden.push(Hidden { at, kept, count });
        self.waiting += dropped.count_ones() as usize;
    }

    /// Whether the score stays below this one, if so many ids more than are in its bound are added.
    #[inline]
    pub(super) fn is_within(&self, bound: f64, pending: usize) -> bool {
        self.bound + (pending + BETWEEN_LOOKS) as f64 * (self.weigh.heaviest + ROUNDED) <= bound
    }

    /// Whether it leaves what it is known to reach, or may come back, when so many ids are written.
    #[inline]
    pub(super) fn leaves(&self, written: usize) -> bool {
        let pending = written - self.bounded + self.waiting;
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
