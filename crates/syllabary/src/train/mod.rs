//! Training: which pairs merge, learned from a corpus.
//!
//! ```text
//! repeat: of all neighbouring pairs take the one with the highest count, ties by rule;
//!         mint a token for it; replace it everywhere, from the left
//! ```
//!
//! The corpus is counted once (`count`); a merge touches only the places where its pair stands (`pairs`).
//! Leaves out which ids alphabet and special tokens get in the finished tokenizer: here the alphabet has
//! ids from 0 up and the merges follow.

pub mod count;
mod pairs;
mod piece_rules;
mod queue;
pub mod sentencepiece;
pub mod sentences;
mod sequences;
mod symbols;
mod table;
mod ties;

use std::sync::Arc;

use crate::Error;
use count::Counter;
use pairs::Pairs;
use queue::PairQueue;
use sequences::Sequences;
use ties::{FirstSeen, LargestPair, SmallestIds, Tie};

pub use table::PieceTable;

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
}

/// What was learned; ids count the alphabet first, then the merges.
#[derive(Debug, Default)]
pub struct Trained {
    /// The bytes of every initial symbol.
    pub alphabet: Vec<Vec<u8>>,
    /// The pairs in rank order.
    pub merges: Vec<(u32, u32)>,
    /// How often each pair occurred when it merged.
    pub counts: Vec<u64>,
}

/// Asked now and then during long work; the answer `false` ends it with `Error::Interrupted`.
pub type GoOn<'a> = dyn FnMut() -> bool + 'a;

/// Asks at every 65,536th step.
fn ask(go_on: &mut GoOn<'_>, step: usize) -> Result<(), Error> {
    const STRIDE: usize = 1 << 16;
    if step % STRIDE == STRIDE - 1 && !go_on() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Where training stands, for progress bars; the answer `false` ends it with `Error::Interrupted`.
pub type Progress<'a> = dyn FnMut(&Trained) -> bool + 'a;

/// Learns merges from what `counter` has counted.
pub fn train(
    counter: &Counter,
    options: &TrainOptions,
    progress: &mut Progress<'_>,
) -> Result<Trained, Error> {
    match options.tie_break {
        TieBreak::SmallestIds => run::<SmallestIds>(counter, options, progress),
        TieBreak::FirstSeen => run::<FirstSeen>(counter, options, progress),
        TieBreak::LargestPair => run::<LargestPair>(counter, options, progress),
    }
}

fn run<T: Tie>(
    counter: &Counter,
    options: &TrainOptions,
    progress: &mut Progress<'_>,
) -> Result<Trained, Error> {
    let mut tokens: Vec<Arc<[u8]>> = symbols::alphabet(counter, options)?;
    let mut trained = Trained { alphabet: tokens.iter().map(|t| t.to_vec()).collect(), ..Trained::default() };
    let sequences = Sequences::new(counter, &tokens, options, &mut || progress(&trained))?;
    if sequences.is_empty() {
        return Err(Error::Training("the corpus is empty: no piece of text was found in it".to_owned()));
    }
    if tokens.len() > options.max_tokens {
        // The caller says which numbers; the alphabet is what it needs to know.
        return Ok(trained);
    }
    let target = options.max_merges.min(options.max_tokens - tokens.len());
    let mut pairs = Pairs::new(sequences, tokens.len(), options, &mut || progress(&trained))?;
    let mut queue = PairQueue::<T>::new(&mut pairs, &tokens);
    while trained.merges.len() < target {
        if !progress(&trained) {
            return Err(Error::Interrupted);
        }
        let Some((pair, count)) = queue.pop(&mut pairs, &tokens) else { break };
        let (left, right) = pairs.ids(pair);
        let id = u32::try_from(tokens.len()).map_err(|_| Error::TooLarge("over 2^32 tokens".to_owned()))?;
        tokens.push([&*tokens[left as usize], &*tokens[right as usize]].concat().into());
        trained.merges.push((left, right));
        trained.counts.push(count);
        let born = pairs.merge(pair, id, &mut || progress(&trained))?;
        queue.extend(born, &mut pairs, &tokens);
    }
    Ok(trained)
}
