//! A unigram language model: seeds from the corpus, their probabilities by EM, the least useful ones dropped.
//!
//! ```text
//! repeat: twice: how often is each piece expected (E), what is it worth then (M)
//!         drop the pieces without which the corpus is hardly less likely
//! at last, if asked for: drop to the size that is wanted, and EM of what is left
//! ```
//!
//! Work is shared out in lanes whose sums are added in order, so the numbers are the same on any number of threads.
//! The specification is `reference/train_unigram.py`. Leaves out: the finished vocabulary, which the caller makes
//! (required characters, its size), and where words come from.

mod lattice;
mod limit;
mod model;
mod prune;
mod rounds;
mod seed;
pub mod sentences;
mod sums;
mod trie;
pub mod words;

use std::cmp::Reverse;

use lattice::{Lattice, round};
use model::{Model, Piece, digamma};

pub use limit::Limit;
pub use rounds::{Rounds, Scored};
pub use seed::{Branching, SeedRules};
use words::Word;
pub use words::Words;

use super::{GoOn, going, parallel::in_parts};
use crate::Error;

/// A piece that is expected less often is dropped.
const RARE: f64 = 0.5;
/// So many words are taken between two questions whether to go on.
const STRIDE: usize = 1 << 8;
/// How a model is learned.
#[derive(Clone, Debug)]
pub struct UnigramOptions {
    /// Learning ends where there are so many pieces, or fewer.
    pub desired: usize,
    /// EM steps between two rounds of dropping.
    pub sub_iterations: usize,
    /// The part of the pieces that a round keeps.
    pub shrinking_factor: f64,
    /// Word n is added up in lane n modulo this.
    pub lanes: usize,
    /// Threads.
    pub threads: usize,
    /// Numbers have 32 bits and sums have sentencepiece's order.
    pub single: bool,
    /// Whether EM has the last word; else a round of dropping has it, which drops at least what is not used.
    pub settle: bool,
    /// For what unknown characters count.
    pub unknown: Unknown,
    /// Pruning as Hugging Face does it (`prune`).
    pub all_grow: bool,
    /// Whether sums are of logarithms in any case, as the specification has them: to its last bit.
    pub logarithms: bool,
    /// EM steps at the end, by which no piece is dropped, and before which pruning leaves `last_size`; else none.
    pub last_iterations: usize,
    /// See there.
    pub last_size: usize,
    /// Bytes of memory for all of it, words included.
    pub memory: Limit,
}

/// For which piece unknown characters count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// For none.
    Nothing,
    /// For the first (sentencepiece).
    First,
    /// For one of their own behind the others, which is one of them when they are counted (Hugging Face).
    Own,
}

impl UnigramOptions {
    /// How many pieces there are.
    fn size_of(&self, model: &Model) -> usize {
        model.pieces.len() + usize::from(self.unknown == Unknown::Own)
    }

    /// The place where unknown characters are counted, in sums that have one place more than there are pieces.
    fn unknown_of(&self, model: &Model) -> Option<usize> {
        match self.unknown {
            Unknown::Nothing => None,
            Unknown::First => Some(0),
            Unknown::Own => Some(model.pieces.len()),
        }
    }
}

/// Told now and then: the pieces that are there, and those that are wanted. `false` ends learning.
pub type Watch<'a> = dyn FnMut(usize) -> bool + 'a;

/// Learns pieces with their scores, in the order in which they were left.
///
/// `words` are sorted here. `outside`: symbols that are no piece of their own.
///
/// # Errors
/// `Error::Interrupted`; `Error::Training` where no piece is left.
pub fn learn(
    words: &mut Words,
    rules: &SeedRules,
    outside: &[u32],
    options: &UnigramOptions,
    rounds: Rounds<'_, '_>,
) -> Result<Vec<(String, f64)>, Error> {
    if options.single {
        run::<true>(words, rules, outside, options, rounds)
    } else {
        run::<false>(words, rules, outside, options, rounds)
    }
}

fn run<const SINGLE: bool>(
    words: &mut Words,
    rules: &SeedRules,
    outside: &[u32],
    options: &UnigramOptions,
    mut rounds: Rounds<'_, '_>,
) -> Result<Vec<(String, f64)>, Error> {
    let left = options.memory.less("its distinct words", words.memory())?;
    words.sort();
    crate::pages::give_back();
    let mut model = match rounds.known.take() {
        Some(known) => rounds::model_of::<SINGLE>(&known, words)?,
        None => initial::<SINGLE>(words, rules, outside, (options, left), &mut || (rounds.watch)(0))?,
    };
    words.order();
    if left.0.is_some() {
        left.less("its pieces", model.memory(words, options.threads))?;
    }
    crate::pages::give_back();
    model.find(words, options.threads, &mut || (rounds.watch)(0))?;
    crate::pages::give_back();
    loop {
        rounds.kept(&model, words)?;
        let watch = &mut rounds.watch;
        let before = model.pieces.len();
        for _ in 0..options.sub_iterations {
            let size = model.pieces.len();
            let expected = expect::<SINGLE>(words, &model, options, &mut || watch(size))?;
            model = maximize::<SINGLE>(model, &expected)?;
        }
        if options.settle && options.size_of(&model) <= options.desired {
            break;
        }
        let size = model.pieces.len();
        model = prune::prune::<SINGLE>(words, model, options, &mut || watch(size))?;
        if !options.settle && options.size_of(&model) <= options.desired {
            break;
        }
        if model.pieces.len() == before {
            return Err(Error::Training(format!(
                "{before} pieces are left, {} are wanted, and a round of pruning drops none: ask for more tokens, \
                 or for a smaller shrinking_factor",
                options.desired
            )));
        }
    }
    if options.last_iterations > 0 {
        let size = model.pieces.len();
        model = last::<SINGLE>(words, model, options, &mut || (rounds.watch)(size))?;
    }
    let spelled = model.pieces.iter().map(|piece| words.spell(piece.symbols(&words.text)));
    Ok(spelled.zip(model.scores.iter().copied()).collect())
}

/// The characters, the most frequent first, then the seeds.
fn initial<const SINGLE: bool>(
    words: &Words,
    rules: &SeedRules,
    outside: &[u32],
    (options, left): (&UnigramOptions, Limit),
    go_on: &mut GoOn<'_>,
) -> Result<Model, Error> {
    let mut counts = vec![(0_u64, 0_u32); words.characters.len()];
    for word in &words.words {
        for (at, symbol) in (word.start..).zip(words.symbols(word)) {
            let (count, place) = &mut counts[*symbol as usize];
            *count = count.saturating_add(word.count);
            *place = at;
        }
    }
    let mut characters: Vec<(u64, u32)> = (0..)
        .zip(&counts)
        .filter(|(symbol, (count, _))| *count > 0 && !outside.contains(symbol))
        .map(|(_, found)| *found)
        .collect();
    let mut rules = rules.clone();
    if rules.branching == Branching::Texts {
        characters.reverse();
        rules.size = rules.size.saturating_sub(characters.len()).max(1);
    }
    characters.sort_by_key(|(count, _)| Reverse(*count));
    let seeds = seed::seeds(words, &rules, options.threads, left, go_on)?;
    let mut pieces: Vec<Piece> =
        characters.iter().map(|(_, start)| Piece { start: *start, length: 1 }).collect();
    let mut weights: Vec<f64> = characters.iter().map(|(count, _)| *count as f64).collect();
    for seed in &seeds {
        pieces.push(seed.piece());
        weights.push(seed.score as f64);
    }
    drop(seeds);
    if pieces.is_empty() {
        return Err(Error::Training("no character is left to learn from".to_owned()));
    }
    weights.iter_mut().for_each(|weight| *weight = round::<SINGLE>(*weight));
    let total = weights.iter().sum::<f64>().ln();
    let scores = weights.iter().map(|weight| round::<SINGLE>(weight.ln() - total)).collect();
    Ok(Model::new::<SINGLE>(pieces, scores))
}

/// Prunes to the size that is wanted at last, and finds out what these pieces are worth.
fn last<const SINGLE: bool>(
    words: &Words,
    mut model: Model,
    options: &UnigramOptions,
    go_on: &mut GoOn<'_>,
) -> Result<Model, Error> {
    if options.size_of(&model) > options.last_size {
        let to = UnigramOptions { desired: options.last_size, shrinking_factor: 0.0, ..options.clone() };
        model = prune::prune::<SINGLE>(words, model, &to, go_on)?;
    }
    for _ in 0..options.last_iterations {
        let expected = expect::<SINGLE>(words, &model, options, go_on)?;
        model = settle::<SINGLE>(model, &expected);
    }
    Ok(model)
}

/// How often each piece is expected, and behind them the unknown one.
fn expect<const SINGLE: bool>(
    words: &Words,
    model: &Model,
    options: &UnigramOptions,
    go_on: &mut GoOn<'_>,
) -> Result<Vec<f64>, Error> {
    let unknown = options.unknown_of(model);
    if SINGLE || options.logarithms {
        return in_lanes::<SINGLE>(words, model, options, go_on, &|lattice, word, count, sums| {
            lattice.set(word.start, word.length, model);
            lattice.expect_logs::<SINGLE>(count, sums, unknown);
        });
    }
    let weights: Vec<f64> = model.scores.iter().map(|score| score.exp()).collect();
    let of = (model, (weights.as_slice(), model.unknown.exp()), unknown);
    in_lanes::<SINGLE>(words, model, options, go_on, &|lattice, word, count, sums| {
        lattice.expect((word.start, word.length), (count, sums), of);
    })
}

/// Sums of something over all words, by piece, and one more: `job` adds that of one word, with its count.
/// Words are cut into pieces with these `values`.
fn in_lanes<const SINGLE: bool>(
    words: &Words,
    model: &Model,
    options: &UnigramOptions,
    go_on: &mut GoOn<'_>,
    job: &(impl Fn(&mut Lattice, &Word, f64, &mut [f64]) + Sync),
) -> Result<Vec<f64>, Error> {
    let lane = |number: usize, go_on: &mut GoOn<'_>| {
        let mut sums = vec![0.0; model.pieces.len() + 1];
        let mut lattice = Lattice::default();
        for (at, word) in words.words.iter().skip(number).step_by(options.lanes).enumerate() {
            if at % STRIDE == STRIDE - 1 {
                going(go_on)?;
            }
            job(&mut lattice, word, round::<SINGLE>(word.count as f64), &mut sums);
        }
        Ok(sums)
    };
    let numbers: Vec<usize> = (0..options.lanes).collect();
    let mut sums: Vec<f64> = Vec::new();
    for round_of in numbers.chunks(options.threads.max(1)) {
        for lane in in_parts(round_of.to_vec(), go_on, &lane)? {
            if sums.is_empty() {
                sums = lane;
            } else {
                sums.iter_mut().zip(&lane).for_each(|(sum, more)| *sum = round::<SINGLE>(*sum + more));
            }
        }
    }
    Ok(sums)
}

/// What the pieces are worth if they occur as often as expected; rare ones are dropped.
///
/// With the digamma function in place of the logarithm (variational Bayes), which makes small ones smaller.
fn maximize<const SINGLE: bool>(model: Model, expected: &[f64]) -> Result<Model, Error> {
    let kept: Vec<usize> = (0..model.pieces.len()).filter(|id| expected[*id] >= RARE).collect();
    if kept.is_empty() {
        return Err(Error::Training("the text is too small: no piece is expected in it".to_owned()));
    }
    let sum = kept.iter().fold(0.0, |sum, id| round::<SINGLE>(sum + expected[*id]));
    let total = round::<SINGLE>(digamma(sum));
    let scores = kept.iter().map(|id| round::<SINGLE>(digamma(expected[*id]) - total)).collect();
    Ok(model.of::<SINGLE>(&kept, scores))
}

/// What the pieces are worth if they occur as often as expected, or half a time: none is dropped.
fn settle<const SINGLE: bool>(model: Model, expected: &[f64]) -> Model {
    let times: Vec<f64> = expected[..model.pieces.len()].iter().map(|times| times.max(RARE)).collect();
    let sum = times.iter().fold(0.0, |sum, times| round::<SINGLE>(sum + times));
    let total = round::<SINGLE>(sum.ln());
    let scores = times.iter().map(|times| round::<SINGLE>(times.ln() - total)).collect();
    model.with::<SINGLE>(scores)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
