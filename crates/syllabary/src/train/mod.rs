//! Training: which pairs merge, learned from a corpus.
//!
//! ```text
//! repeat: of all neighbouring pairs take the one with the highest count, ties by rule;
//!         mint a token for it; replace it everywhere, from the left
//! ```
//!
//! The corpus is counted once (`count`); a merge touches only the places where its pair stands (`pairs`), and
//! pairs too rare to be next are not looked at (`window`). Leaves out which ids alphabet and special tokens get in the
//! finished tokenizer: here the alphabet has ids from 0 up and the merges follow.

mod all_pairs;
pub mod count;
mod crew;
mod exact;
mod frequent;
mod gather;
pub mod huggingface;
mod huggingface_births;
pub mod huggingface_counted;
pub mod huggingface_learn;
mod huggingface_names;
pub mod huggingface_words;
mod learn;
mod memory;
mod neighbours;
mod pair_table;
mod pairs;
mod parallel;
pub mod parity;
mod piece_rules;
mod place_list;
mod places;
mod queue;
mod sentence_cutter;
mod sentence_order;
mod sentence_saved;
mod sentence_store;
mod sentence_tail;
mod sentence_words;
pub mod sentencepiece;
pub mod sentences;
mod sequences;
mod spelling;
mod spill;
mod stored;
mod symbols;
mod table;
mod tally;
mod ties;
pub mod unigram;
mod unused;
mod window;
pub mod wordpiece;

use crate::Error;

pub use learn::{Learned, Merging};
pub use memory::Room;
pub use spelling::Start;
pub use table::PieceTable;
pub use tally::Counted;

/// Which of the pairs with the highest count merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// The smallest left id, then the smallest right id.
    SmallestIds,
    /// The one that occurs first in the sequences as they now are.
    FirstSeen,
    /// The largest left token, then the largest right token, by bytes.
    LargestPair,
}

/// What training needs to know besides the counted corpus; see `syllabary.spec.TrainOptions`.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// Alphabet and merges together, at most.
    pub max_tokens: usize,
    /// Merges, at most.
    pub max_merges: usize,
    /// A pair seen less often never merges.
    pub min_frequency: u64,
    /// Longest token, in initial symbols.
    pub max_token_length: Option<u32>,
    /// Which of equals merges.
    pub tie_break: TieBreak,
    /// Ids of the bytes by GPT-2's characters, else by value.
    pub gpt2_byte_order: bool,
    /// Only the bytes that occur, else all 256.
    pub seen_bytes_only: bool,
    /// Mark of the end of a piece.
    pub end_of_word: Option<String>,
    /// Symbols outside the alphabet are spelled with smaller ones.
    pub fallback: bool,
    /// Threads that count pairs.
    pub threads: usize,
    /// Bytes of memory for the sequences and their pairs.
    pub memory: Option<usize>,
}

/// Asked now and then during long work; the answer `false` ends it with `Error::Interrupted`.
pub type GoOn<'a> = dyn FnMut() -> bool + 'a;

/// Asks.
fn going(go_on: &mut GoOn<'_>) -> Result<(), Error> {
    if go_on() { Ok(()) } else { Err(Error::Interrupted) }
}

/// Asks at every 65,536th step.
fn ask(go_on: &mut GoOn<'_>, step: usize) -> Result<(), Error> {
    const STRIDE: usize = 1 << 16;
    if step % STRIDE == STRIDE - 1 { going(go_on) } else { Ok(()) }
}
