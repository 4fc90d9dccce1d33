//! The engine of syllabary: byte-pair encoding without Python, network, printing or globals; of files it knows
//! text to count and temporary ones.
//!
//! The modules show the pipeline:
//!
//! ```text
//! text --special--> runs --split--> pieces --alphabet--> symbols --merge--> ids
//! ids --decode--> bytes
//! ```
//!
//! What each stage means is defined by the Python package `syllabary.reference`; the tests compare both.

pub mod aligned;
pub mod alphabet;
pub mod asking;
pub mod batch;
mod boundary;
pub mod cache;
pub mod characters;
mod charwise;
pub mod decode;
#[cfg(test)]
mod drawn;
pub mod dropout;
mod encode;
pub mod error;
mod expect;
pub mod fetch;
mod first;
pub mod full;
pub mod ids;
mod in_parts;
mod later;
pub mod located;
pub mod matching;
pub mod merge;
pub mod models;
mod narrow;
pub mod nbest;
pub mod normalize;
mod offsets;
pub mod pages;
mod parts;
mod places;
mod plain;
pub mod pool;
pub mod pretokenize;
mod run;
mod scores;
#[cfg(simd_x86)]
mod sixteen;
pub mod special;
mod spell;
pub mod split;
pub mod step;
pub mod step_decode;
mod taken;
mod threads;
pub mod tokenizer;
pub mod train;
mod trim;
mod unknown;
pub mod utf8;
pub mod vocab;
mod wordwise;

pub use error::Error;
