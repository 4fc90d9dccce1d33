//! Buffers that one thread reuses from text to text.
//!
//! Leaves out what is written to them (`encode`, `ahead`, `mixed`).

#[cfg(simd_x86)]
use super::mixed::Few;
use super::{
    ahead::{AHEAD, Word},
    learn::New,
    memory::Memory,
    pairs,
};
use crate::{
    Error,
    asking::{Ask, LONG},
    encode::Several,
    merge::{self, Merges},
    models::unigram::Lattice,
};

/// Buffers that one thread reuses from text to text.
#[derive(Debug)]
pub(crate) struct Work {
    /// Segments that are looked for together.
    pub(super) several: Several,
    /// So many of the last of them are characters that are in no token with another one.
    pub(super) strangers: usize,
    /// Words that are looked for together.
    pub(super) ahead: [Word; AHEAD],
    pub(super) memory: Memory,
    pub(super) lattice: Lattice,
    #[cfg(simd_x86)]
    pub(super) mixed: Few,
    pub(super) symbols: Vec<u32>,
    /// Segments that are merged together.
    pub(super) new: New,
    pub(super) run: Vec<u32>,
    pub(super) first: String,
    /// Normalized text, and the same with spaces.
    pub(super) texts: [String; 2],
    pub(super) scratch: pairs::Scratch,
    pub(super) long: merge::Scratch,
    /// Asked while one long segment is merged.
    ask: Ask,
}

impl Work {
    /// For a text, of which long segments may ask whether to go on.
    pub(crate) fn asking(&mut self, ask: &Ask, text: &str) -> &mut Work {
        self.ask = if text.len() < LONG { Ask::default() } else { ask.clone() };
        self
    }

    /// Says that much text is coming.
    pub(crate) fn expect_much(&mut self) {
        self.memory.expect_much();
    }

    /// Merges the symbols of a long segment.
    pub(super) fn merge(&mut self, merges: &Merges) -> Result<(), Error> {
        let Work { symbols, long, ask, .. } = self;
        long.asking(ask, symbols.len(), |scratch| merges.apply(symbols, None, scratch))
    }
}

impl Default for Work {
    fn default() -> Work {
        Work {
            several: Several::default(),
            strangers: 0,
            ahead: [Default::default(); AHEAD],
            memory: Memory::default(),
            lattice: Lattice::default(),
            #[cfg(simd_x86)]
            mixed: Few::default(),
            symbols: Vec::new(),
            new: New::default(),
            run: Vec::new(),
            first: String::new(),
            texts: Default::default(),
            scratch: pairs::Scratch::default(),
            long: merge::Scratch::default(),
            ask: Ask::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawing;

    #[test]
    fn it_is_asked_while_one_long_segment_is_merged() {
        // Each pair of eight symbols, in an order in which most have another one before them.
        let list: Vec<_> = (0..64).map(|rank| (rank * 13 % 64 / 8, rank * 13 % 8, 8 + rank)).collect();
        let mut draw = drawing(7);
        // Few enough for the heap, which is asked on the way; more go from left to right.
        let symbols: Vec<u32> = (0..1 << 16).map(|_| draw(8) as u32).collect();
        for (answer, done) in [(true, Ok(())), (false, Err(Error::Interrupted))] {
            let merges = Merges::from_list(&list).unwrap();
            let mut work = Work { symbols: symbols.clone(), ..Work::default() };
            let ask = Ask::new(move || answer);
            assert_eq!(work.asking(&ask, &"x".repeat(LONG)).merge(&merges), done);
            work.symbols.clone_from(&symbols);
            assert_eq!(work.asking(&ask, "few").merge(&merges), Ok(()));
        }
    }
}
