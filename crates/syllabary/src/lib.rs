//! The engine of syllabary: byte-pair encoding without Python, files, network, printing or globals.
//!
//! The modules show the pipeline:
//!
//! ```text
//! text --special--> runs --split--> pieces --alphabet--> symbols --merge--> ids
//! ids --decode--> bytes
//! ```
//!
//! What each stage means is defined by the Python package `syllabary.reference`; the tests compare both.

pub mod alphabet;
pub mod batch;
pub mod cache;
pub mod decode;
pub mod error;
pub mod merge;
pub mod special;
pub mod split;
mod threads;
pub mod tokenizer;
pub mod train;
pub mod vocab;

pub use error::Error;
