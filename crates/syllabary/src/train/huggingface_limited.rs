//! Hugging Face's trainer under a limit of memory.
//!
//! As long as no name comes a second time it learns what the loop of all trainers learns (`learn`), which needs to know
//! neither all pairs nor all words at once. Where one does, their own loop (`huggingface`) is run, if what it keeps fits
//! into the memory given. Leaves out counting (`huggingface_words`).

use std::sync::Arc;

use super::{
    GoOn, ask,
    huggingface::{self, BpeTrainerOptions, Merging, Trained},
    huggingface_names::{Each, First},
    learn::{learn as next, places_in, watched_places},
    pairs::{Limits, Pairs},
    queue::PairQueue,
    sequences::Sequences,
    stored::Stored,
    ties::SmallestIds,
};
use crate::Error;

/// What a pair takes in their loop, besides its places: itself, its look-up, an entry, its turn in the queue.
const PAIR: usize = 24 + 24 + 24 + 40;

/// Learns from words as `huggingface::learn`, in so many bytes of memory.
///
/// # Errors
/// As there.
pub fn learn(
    words: &Stored,
    options: &BpeTrainerOptions,
    (threads, memory): (usize, usize),
    progress: &mut dyn FnMut(usize, u64) -> bool,
) -> Result<Trained, Error> {
    if let Some(trained) = without_repeats(words, options, (threads, memory), progress)? {
        return Ok(trained);
    }
    let symbols = words.total_bytes().filter(|bytes| 32 * bytes <= memory);
    let Some(room) = symbols else { return Err(too_small("all pairs of all words", memory)) };
    let (mut texts, mut ends) = (Vec::with_capacity(room), Vec::with_capacity(words.len()));
    words.each(&mut |counted| {
        texts.extend_from_slice(counted.piece);
        ends.push((texts.len(), counted.count));
        Ok(())
    })?;
    let mut start = 0;
    let slices = ends.iter().map(|&(end, count)| (&texts[std::mem::replace(&mut start, end)..end], count));
    huggingface::learn(&slices.collect::<Vec<_>>(), options, Some(memory), progress)
}

/// The same as long as no name comes a second time; `None` where one does.
fn without_repeats(
    words: &Stored,
    options: &BpeTrainerOptions,
    (threads, memory): (usize, usize),
    progress: &mut dyn FnMut(usize, u64) -> bool,
) -> Result<Option<Trained>, Error> {
    let each: &Each<'_> = &|f| words.each(&mut |counted| f(counted.piece, counted.count));
    let first = First::of(each, options, &mut || progress(0, 0))?;
    let sequences = spelled(words, each, &first, memory, &mut || progress(0, 0))?;
    let most = options.max_token_length.map_or(u32::MAX, |most| {
        // Theirs is exclusive, and two symbols pass any.
        u32::try_from(most.saturating_sub(1)).unwrap_or(u32::MAX).max(2)
    });
    let limits = Limits {
        min_frequency: options.min_frequency.max(1),
        max_length: most,
        places: watched_places(&sequences.places, Some(memory))?,
        threads,
        tight: true,
    };
    let First { mut names, mut ids, .. } = first;
    let mut pairs = Pairs::new(sequences, vec![1; names.len()], limits);
    let mut queue = PairQueue::<SmallestIds>::default();
    let mut tokens: Vec<Arc<[u8]>> = vec![Arc::default(); names.len()]; // ties are by ids alone
    let mut trained = Trained { first: names.len(), ..Trained::default() };
    while names.len() < options.vocab_size {
        let last = (trained.merges.len(), trained.counts.last().copied().unwrap_or(0));
        let left = options.vocab_size - names.len();
        let go_on = &mut || progress(last.0, last.1);
        let Some(learned) = next(&mut queue, &mut pairs, &mut tokens, left, go_on)? else { break };
        let (left, right) = learned.pair;
        let rest = names[right as usize].as_str();
        let rest = rest.strip_prefix(options.continuing_subword_prefix.as_str()).unwrap_or(rest);
        let name = [names[left as usize].as_str(), rest].concat();
        let id = names.len() as u32; // as many as tokens
        if ids.insert(name.clone(), id).is_some() {
            return Ok(None);
        }
        names.push(name);
        trained.merges.push((left, right, id));
        trained.counts.push(learned.count);
    }
    trained.names = names;
    Ok(Some(trained))
}

fn spelled(
    words: &Stored,
    each: &Each<'_>,
    first: &First<'_>,
    memory: usize,
    go_on: &mut GoOn<'_>,
) -> Result<Sequences, Error> {
    let (mut ids, mut step) = (Vec::new(), 0);
    let file = words.beside("places").map(|path| (places_in(memory), path));
    Sequences::spelled_twice(file, false, &mut |_, f| {
        each(&mut |word, count| {
            step += 1;
            ids.clear();
            first.spell(word, &mut ids);
            f(count, &ids);
            ask(go_on, step)
        })
    })
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
