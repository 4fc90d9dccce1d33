//! Hugging Face's trainers over counted words, from the beginning or from merges that an earlier training has learned.
//!
//! As long as no name comes a second time, the plain loop (`learn`) learns what theirs does, and needs to know neither all
//! pairs nor all words at once; and words that are spelled with the merges so far are all that it goes on from. Where a
//! name comes again, what is next depends on older states of the queue: there their own loop (`huggingface`) is run from
//! the first merge, if what it keeps fits into memory. By likelihood (`wordpiece`) the words decide alone, and known
//! merges are made again without looking for the best. Leaves out counting (`huggingface_words`).

use std::sync::Arc;

use super::{
    GoOn, ask,
    huggingface::{self, BpeTrainerOptions, Merging, Progress, Trained},
    huggingface_counted::Counted,
    huggingface_names::{Each, First, Made},
    learn::{learn as next, places_in, watched_places},
    pairs::{Limits, Pairs},
    queue::PairQueue,
    sequences::Sequences,
    ties::SmallestIds,
    wordpiece,
};
use crate::{
    Error,
    merge::{Merges, Scratch},
};

/// What a pair takes in their loop, besides its places: itself, its look-up, an entry, its turn in the queue.
const PAIR: usize = 24 + 24 + 24 + 54;
/// What a place takes while their loop begins.
const PLACE: usize = 24;

/// Pairs that were merged, and their counts.
pub type Known = (Vec<(u32, u32)>, Vec<u64>);

/// What learning needs besides words and the trainer's options.
#[derive(Debug, Default)]
pub struct Learning {
    /// Threads that count pairs.
    pub threads: usize,
    /// Bytes of memory, at most.
    pub memory: Option<usize>,
    /// Pairs merge by what they gain, else by how often they occur.
    pub likelihood: bool,
    /// What an earlier training has learned.
    pub known: Known,
}

/// Learns; `progress` is told the merges that are noted by now, and their counts.
///
/// # Errors
/// `Error::Training` where memory does not suffice, or known merges are not of these words. `Error::TooLarge` beyond 2^32
/// symbols, pairs or names, or 2^63 symbols counted; `Error::Interrupted`; what the system refuses.
pub fn learn(
    words: &Counted,
    options: &BpeTrainerOptions,
    learning: &Learning,
    progress: &mut Progress<'_>,
) -> Result<Trained, Error> {
    let each: &Each<'_> = &|f| words.each(&mut |word, count| f(word, count));
    let left = learning.memory.map(|memory| memory.saturating_sub(words.memory()));
    if learning.likelihood {
        return wordpiece::learn(each, options, left, &learning.known, progress);
    }
    if let Some(trained) = without_repeats(words, each, options, learning, progress)? {
        return Ok(trained);
    }
    let (mut compared, mut same) = (false, true);
    let mut progress = |merges: &[(u32, u32, u32)], counts: &[u64]| {
        if !compared && merges.len() >= learning.known.0.len() {
            (compared, same) = (true, begins_with(merges, counts, &learning.known));
        }
        same && progress(merges, counts)
    };
    let trained = huggingface::learn(each, options, left, &mut progress);
    if !same {
        return Err(of_others());
    }
    let trained = trained?;
    let known = begins_with(&trained.merges, &trained.counts, &learning.known);
    if known { Ok(trained) } else { Err(of_others()) }
}

/// The names that there are before the first merge, by id.
///
/// # Errors
/// As `learn`.
pub fn first_names(
    words: &Counted,
    options: &BpeTrainerOptions,
    go_on: &mut GoOn<'_>,
) -> Result<Vec<String>, Error> {
    Ok(First::of(&|f| words.each(&mut |word, count| f(word, count)), options, go_on)?.made.trained.names)
}

fn begins_with(merges: &[(u32, u32, u32)], counts: &[u64], known: &Known) -> bool {
    let pairs = merges.iter().map(|&(left, right, _)| (left, right));
    merges.len() >= known.0.len()
        && pairs.zip(&known.0).all(|(pair, then)| pair == *then)
        && counts.iter().zip(&known.1).all(|(count, then)| count == then)
}

/// The error for merges that were learned of other words.
pub(super) fn of_others() -> Error {
    Error::Training("the merges of a checkpoint were not learned of these words".to_owned())
}

/// Names and merges that are known, and what spells words with them.
struct Begun {
    made: Made,
    /// Of each name, in first symbols.
    lengths: Vec<u32>,
}

impl Begun {
    /// With the merges of an earlier training; `None` where one makes a name that was there.
    fn new(
        first: &mut First<'_>,
        options: &BpeTrainerOptions,
        known: &Known,
    ) -> Result<Option<Begun>, Error> {
        let made = std::mem::take(&mut first.made);
        let mut begun = Begun { lengths: vec![1; made.trained.first], made };
        for (&pair, &count) in known.0.iter().zip(&known.1) {
            if pair.0.max(pair.1) as usize >= begun.lengths.len() {
                return Err(of_others());
            }
            if !begun.merged(pair, count, &options.continuing_subword_prefix)? {
                return Ok(None);
            }
            let length = |id: u32| begun.lengths[id as usize];
            begun.lengths.push(length(pair.0).saturating_add(length(pair.1)));
        }
        Ok(Some(begun))
    }

    /// Notes a merge; whether its name is new.
    fn merged(&mut self, pair: (u32, u32), count: u64, prefix: &str) -> Result<bool, Error> {
        let before = self.made.trained.names.len();
        Ok(self.made.merge(pair, count, prefix)? as usize == before)
    }
}

/// What is learned as long as no name comes a second time; `None` where one does.
fn without_repeats(
    words: &Counted,
    each: &Each<'_>,
    options: &BpeTrainerOptions,
    learning: &Learning,
    progress: &mut Progress<'_>,
) -> Result<Option<Trained>, Error> {
    let mut first = First::of(each, options, &mut || progress(&[], &[]))?;
    let Some(mut begun) = Begun::new(&mut first, options, &learning.known)? else { return Ok(None) };
    let sequences = {
        let Trained { merges, counts, .. } = &begun.made.trained;
        let file = learning.memory.zip(words.beside("places"));
        spelled(each, &first, merges, file.map(|(memory, path)| (places_in(memory), path)), &mut || {
            progress(merges, counts)
        })?
    };
    drop(first);
    let most = options.max_token_length.map_or(u32::MAX, |most| {
        // Theirs is exclusive, and two symbols pass any.
        u32::try_from(most.saturating_sub(1)).unwrap_or(u32::MAX).max(2)
    });
    let limits = Limits {
        min_frequency: options.min_frequency.max(1),
        max_length: most,
        places: watched_places(&sequences.places, learning.memory)?,
        threads: learning.threads,
        tight: learning.memory.is_some(),
    };
    let mut pairs = Pairs::new(sequences, std::mem::take(&mut begun.lengths), limits);
    let mut queue = PairQueue::<SmallestIds>::default();
    let mut tokens: Vec<Arc<[u8]>> = vec![Arc::default(); begun.made.trained.names.len()]; // ties are by ids alone
    while let Some(left @ 1..) = options.vocab_size.checked_sub(begun.made.trained.names.len()) {
        let go_on = &mut || progress(&begun.made.trained.merges, &begun.made.trained.counts);
        let Some(learned) = next(&mut queue, &mut pairs, &mut tokens, left, go_on)? else { break };
        if !begun.merged(learned.pair, learned.count, &options.continuing_subword_prefix)? {
            return Ok(None);
        }
    }
    Ok(Some(begun.made.trained))
}

/// All words in tokens, with these merges. file: where they are put if they take more than so many bytes.
fn spelled(
    each: &Each<'_>,
    first: &First<'_>,
    merges: &[(u32, u32, u32)],
    file: Option<(usize, std::path::PathBuf)>,
    go_on: &mut GoOn<'_>,
) -> Result<Sequences, Error> {
    let (mut ids, mut step, mut scratch) = (Vec::new(), 0, Scratch::default());
    let merges = if merges.is_empty() { None } else { Some(Merges::from_list(merges)?) };
    Sequences::spelled_twice(file, false, &mut |_, f| {
        each(&mut |word, count| {
            step += 1;
            ids.clear();
            first.spell(word, &mut ids);
            if let Some(merges) = &merges {
                merges.apply(&mut ids, None, &mut scratch)?;
            }
            f(count, &ids);
            ask(go_on, step)
        })
    })
}

/// `Error::Training` where so many places take more than the memory given when their loop begins.
pub(super) fn check_places(places: usize, memory: Option<usize>) -> Result<(), Error> {
    match memory {
        Some(memory) if places.saturating_mul(PLACE) > memory => {
            Err(too_small("all pairs of all words", memory))
        }
        _ => Ok(()),
    }
}

/// `Error::Training` where what their loop keeps takes more than the memory given.
pub(super) fn check_memory(state: &Merging, memory: Option<usize>) -> Result<(), Error> {
    let Some(memory) = memory else { return Ok(()) };
    let pairs = PAIR * state.pairs.capacity().max(state.entries.capacity());
    // While the largest grows it is there twice.
    let needed = state.spelled.memory() + 8 * state.arena.capacity() + 2 * pairs;
    if needed <= memory { Ok(()) } else { Err(too_small("all pairs", memory)) }
}

fn too_small(what: &str, memory: usize) -> Error {
    Error::Training(format!(
        "the memory limit is too small for this corpus: two pairs make one text, as they may in Hugging Face's trainer, \
         which then has to hold {what}, and {} MiB are left; give a higher limit, or none",
        memory >> 20,
    ))
}
