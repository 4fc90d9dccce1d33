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
use crate::{encode::Several, merge, models::unigram::Lattice};

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
        }
    }
}
