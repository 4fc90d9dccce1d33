//! Encoding at full speed: the stages of `run` for tokenizers of bytes, on many pieces at a time.
//!
//! ```text
//! split: ends of pieces  ->  keys and hashes, lines asked for  ->  memory: ids   ->  output
//!                                                                  not there: token table, merging, into the memory
//!                                                                  the rest: cut where no token passes, then as above
//! ```
//!
//! Adds: `Fast`, which a tokenizer has if its symbols are bytes and nothing rewrites its text. Leaves out: dropout and
//! steps, which `run` does for every tokenizer, and the tokens cut out before (`plain`).

mod abreast;
mod asked;
mod characters;
mod chunk;
mod cuts;
#[cfg(simd_x86)]
mod eights;
mod found;
mod halves;
mod held;
mod inside;
#[cfg(simd_x86)]
mod inside_wide;
mod joined;
mod key;
#[cfg(simd_x86)]
mod lanes;
mod lasts;
mod late;
mod listed;
mod memory;
mod open;
mod output;
mod pieces;
mod several;
mod short;
mod spans;
mod spelled;
mod tokens;
#[cfg(simd_x86)]
mod wide;
mod windows;

pub(crate) use asked::UNSPACED;
pub(crate) use cuts::decode;
pub(crate) use joined::ALONE;
pub(crate) use key::{Key, LONGER, Longer, SHORT};
pub(crate) use lasts::Lasts;
pub(crate) use listed::{Listed, Strings, merge_all};
pub(crate) use memory::{FAR, FEW, LONG_FAR, Longers, Short};
pub(crate) use output::{Buffer, Count, Counts, Ids, Output, Texts};
pub(crate) use pieces::{Fast, FastWork, Pieces};
pub(crate) use several::{Gap, Several};
pub(crate) use spans::{Measures, Spans};
pub(crate) use tokens::ShortTokens;
