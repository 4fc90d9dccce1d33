//! Coins for BPE-dropout: which merges are passed over, the same for a seed on any machine; and for ways drawn at
//! random (`models/unigram`).
//!
//! Adds: the stream of coins of one text. Leaves out what a coin decides (`merge`).

/// Adds up to a new state for each coin (SplitMix64).
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// Sets the streams of neighbouring texts apart.
const TEXT_STEP: u64 = 0xD1B5_4A32_D192_ED03;

/// Which ways to cut a piece are taken, where tokens have scores (`Kind::Unigram`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Ways {
    /// The best.
    #[default]
    Best,
    /// One that is drawn, with scores weighed so.
    Drawn(f64),
    /// So many of the best, beside which no ids are made.
    Several(usize),
}

/// A probability and the seed of the whole call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dropout {
    /// Of passing over a merge: 0 never, 1 always.
    pub probability: f64,
    /// The same seed gives the same ids.
    pub seed: u64,
    /// Which ways are taken.
    pub ways: Ways,
}

impl Dropout {
    /// Every merge is done.
    pub const NONE: Dropout = Dropout { probability: 0.0, seed: 0, ways: Ways::Best };

    /// The coins of text number `index`.
    pub fn coins(self, index: usize) -> Coins {
        let start = (index as u64).wrapping_add(1).wrapping_mul(TEXT_STEP).wrapping_add(self.seed);
        Coins { state: mix(start), probability: self.probability, ways: self.ways }
    }
}

/// The coins of one text, in order.
#[derive(Clone, Debug)]
pub struct Coins {
    state: u64,
    probability: f64,
    ways: Ways,
}

impl Coins {
    /// Whether any merge may be passed over at all, or other ways than the best are taken.
    #[inline]
    pub fn any(&self) -> bool {
        self.probability > 0.0 || self.ways != Ways::Best
    }

    /// Which ways are taken.
    pub fn ways(&self) -> Ways {
        self.ways
    }

    /// Whether the next coin says to pass over.
    #[inline]
    pub fn falls(&mut self) -> bool {
        self.number() < self.probability
    }

    /// The next number in 0..1.
    #[inline]
    pub fn number(&mut self) -> f64 {
        self.state = self.state.wrapping_add(STEP);
        // The top 53 bits.
        (mix(self.state) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

fn mix(mut z: u64) -> u64 {
    z ^= z >> 30;
    z = z.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^= z >> 27;
    z = z.wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_follow_the_probability_and_the_seed() {
        let heads = |probability, seed, index| {
            let mut coins = Dropout { probability, seed, ways: Ways::Best }.coins(index);
            (0..10_000).filter(|_| coins.falls()).count()
        };
        assert_eq!(heads(0.0, 1, 0), 0);
        assert_eq!(heads(1.0, 1, 0), 10_000);
        assert!((2_800..3_200).contains(&heads(0.3, 1, 0)));
        assert_eq!(heads(0.3, 5, 7), heads(0.3, 5, 7));
        assert_ne!(heads(0.3, 5, 7), heads(0.3, 5, 8));
    }
}
