//! The loop of training, some merges at a time.
//!
//! Leaves out counting (`count`) and what a merge does (`pairs`).

use std::sync::Arc;

use super::{
    GoOn, TieBreak, TrainOptions,
    count::Counter,
    going,
    pairs::{Limits, Pairs},
    places::Places,
    queue::PairQueue,
    sequences::Sequences,
    spelling::{Speller, Start},
    symbols,
    ties::{FirstSeen, LargestPair, SmallestIds, Tie},
};
use crate::Error;

/// A merge that was learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Learned {
    /// Local ids: the tokens known before come first, then the merges.
    pub pair: (u32, u32),
    /// How often it occurred when it merged.
    pub count: u64,
}

/// Training under way.
pub struct Merging {
    tokens: Vec<Arc<[u8]>>,
    known: usize,
    left: usize,
    done: bool,
    pairs: Pairs,
    queue: Queue,
}

enum Queue {
    SmallestIds(PairQueue<SmallestIds>),
    FirstSeen(PairQueue<FirstSeen>),
    LargestPair(PairQueue<LargestPair>),
}

impl Merging {
    /// Takes what `counter` has counted; its memory is freed.
    pub fn new(
        mut counter: Counter,
        options: &TrainOptions,
        start: Option<&Start>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Merging, Error> {
        counter.finish(go_on)?;
        if counter.distinct_pieces() == 0 {
            return Err(Error::Training("the corpus is empty: no piece of text was found in it".to_owned()));
        }
        let memory = options.memory.map(|memory| counter.left_by_words(memory));
        let (tokens, symbols) = tokens(&counter, options, start)?;
        let lengths = lengths(&tokens, &symbols, start);
        let merges = start.map_or(&[][..], |start| &start.merges);
        let mut speller = Speller::new(counter.unit(), &symbols, merges, options)?;
        let in_order = options.tie_break == TieBreak::FirstSeen;
        // An alphabet that is too large: the caller says which numbers.
        let room = options.max_tokens.saturating_sub(tokens.len());
        let sequences = if room == 0 {
            Sequences::default()
        } else {
            Sequences::new(counter, &mut speller, in_order, memory.map(places_in), go_on)?
        };
        let limits = Limits {
            min_frequency: options.min_frequency.max(1),
            max_length: options.max_token_length.unwrap_or(u32::MAX),
            places: watched_places(&sequences.places, memory)?,
            threads: options.threads,
            tight: options.memory.is_some(),
        };
        let queue = match options.tie_break {
            TieBreak::SmallestIds => Queue::SmallestIds(PairQueue::default()),
            TieBreak::FirstSeen => Queue::FirstSeen(PairQueue::default()),
            TieBreak::LargestPair => Queue::LargestPair(PairQueue::default()),
        };
        Ok(Merging {
            known: tokens.len(),
            left: options.max_merges.min(room),
            done: room == 0 || options.max_merges == 0,
            pairs: Pairs::new(sequences, lengths, limits),
            tokens,
            queue,
        })
    }

    /// The tokens known before the first merge, by local id.
    pub fn known(&self) -> &[Arc<[u8]>] {
        &self.tokens[..self.known]
    }

    /// Whether no further merge will come.
    pub fn done(&self) -> bool {
        self.done
    }

    /// Learns merges while `more` says so; it is asked after each.
    pub fn step(
        &mut self,
        more: &mut dyn FnMut(&Learned) -> bool,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        while !self.done {
            let learned = match &mut self.queue {
                Queue::SmallestIds(queue) => {
                    learn(queue, &mut self.pairs, &mut self.tokens, self.left, go_on)
                }
                Queue::FirstSeen(queue) => learn(queue, &mut self.pairs, &mut self.tokens, self.left, go_on),
                Queue::LargestPair(queue) => {
                    learn(queue, &mut self.pairs, &mut self.tokens, self.left, go_on)
                }
            }?;
            let Some(learned) = learned else {
                self.done = true;
                break;
            };
            self.left -= 1;
            self.done = self.left == 0;
            if !more(&learned) {
                break;
            }
        }
        Ok(())
    }
}

/// However small the corpus, so many places of pairs may be watched.
const FEWEST_PLACES: usize = 1 << 20;
/// Bytes that counting pairs takes, whatever the corpus.
const COUNTING: usize = 16 << 20;

/// Of so much memory, what the places of tokens may take.
pub(super) fn places_in(memory: usize) -> usize {
    memory.saturating_sub(COUNTING) / 4 * 3
}

/// So many places of pairs may be watched; they grow to twice as many.
pub(super) fn watched_places(places: &Places, memory: Option<usize>) -> Result<usize, Error> {
    let wanted = (places.len() / 2).max(FEWEST_PLACES);
    let Some(memory) = memory else { return Ok(wanted) };
    // Besides places and their blocks, lists of one place in 256: with fewer, windows would be too many.
    let lists = 8 * (places.len() / 256).min(FEWEST_PLACES);
    let needed = COUNTING + places.memory() + places.len() / 16 + lists;
    let left = memory.checked_sub(needed).ok_or_else(|| {
        Error::Training(format!(
            "the memory limit is too small for this corpus: its distinct pieces have {} symbols, for which {} MiB \
             are needed where {} MiB are left; give a higher limit, or a split that makes shorter pieces",
            places.len(),
            needed.div_ceil(1 << 20),
            memory >> 20,
        ))
    })?;
    Ok(wanted.min(left / 8))
}

/// The next merge, or `None` if no pair is left.
pub(super) fn learn<T: Tie>(
    queue: &mut PairQueue<T>,
    pairs: &mut Pairs,
    tokens: &mut Vec<Arc<[u8]>>,
    left: usize,
    go_on: &mut GoOn<'_>,
) -> Result<Option<Learned>, Error> {
    going(go_on)?;
    let mut next = queue.pop(pairs, tokens);
    if next.is_none() {
        pairs.watch(left, go_on)?;
        queue.extend(0..pairs.len(), pairs, tokens);
        next = queue.pop(pairs, tokens);
    }
    let Some((index, count)) = next else { return Ok(None) };
    let pair = pairs.ids(index);
    let id = u32::try_from(tokens.len()).map_err(|_| Error::TooLarge("over 2^32 tokens".to_owned()))?;
    tokens.push([&*tokens[pair.0 as usize], &*tokens[pair.1 as usize]].concat().into());
    let born = pairs.merge(index, id, go_on)?;
    queue.extend(born, pairs, tokens);
    Ok(Some(Learned { pair, count }))
}

type Tokens = Vec<Arc<[u8]>>;
type Symbols = Vec<(u32, Arc<[u8]>)>;

/// All tokens known at first, and those of them that are initial symbols.
fn tokens(
    counter: &Counter,
    options: &TrainOptions,
    start: Option<&Start>,
) -> Result<(Tokens, Symbols), Error> {
    let Some(start) = start else {
        let tokens = symbols::alphabet(counter, options)?;
        return Ok((tokens.clone(), (0..).zip(tokens).collect()));
    };
    let mut tokens: Tokens = start.tokens.iter().map(|token| Arc::from(&**token)).collect();
    let initial = start.symbols()?;
    let mut known: Symbols = initial.into_iter().map(|(id, token)| (id, Arc::from(token))).collect();
    let occurring = TrainOptions { seen_bytes_only: true, ..options.clone() };
    let seen = if options.fallback { Vec::new() } else { symbols::alphabet(counter, &occurring)? };
    let there: rustc_hash::FxHashSet<Arc<[u8]>> = known.iter().map(|(_, token)| Arc::clone(token)).collect();
    for symbol in seen.into_iter().filter(|symbol| !there.contains(symbol)) {
        known.push((tokens.len() as u32, Arc::clone(&symbol)));
        tokens.push(symbol);
    }
    Ok((tokens, known))
}

/// The length of each token in initial symbols.
fn lengths(tokens: &[Arc<[u8]>], symbols: &Symbols, start: Option<&Start>) -> Vec<u32> {
    let mut lengths = vec![0u32; tokens.len()];
    symbols.iter().for_each(|&(id, _)| lengths[id as usize] = 1);
    for &(left, right, result) in start.map_or(&[][..], |start| &start.merges) {
        lengths[result as usize] = lengths[left as usize].saturating_add(lengths[right as usize]);
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        alphabet::Unit,
        split::{Split, Tables},
        train::Room,
    };

    fn merging(tie_break: TieBreak, threads: usize, memory: Option<usize>) -> Merging {
        let words = (0..3_000u32).map(|n| format!("{:b}{}", n * n % 613, "ab".repeat(n as usize % 7)));
        let text = words.collect::<Vec<_>>().join(" ");
        let split = Split::new(Some(r"\w+|\W+"), Tables::Tiktoken, true).unwrap();
        let mut counter = Counter::new(Unit::Byte, split, &[], 1, Room::default()).unwrap();
        counter.feed(&[&text], &mut || true).unwrap();
        let options = TrainOptions {
            max_tokens: usize::MAX,
            max_merges: usize::MAX,
            min_frequency: 1,
            max_token_length: None,
            tie_break,
            gpt2_byte_order: false,
            seen_bytes_only: false,
            end_of_word: None,
            fallback: false,
            threads,
            memory,
        };
        Merging::new(counter, &options, None, &mut || true).unwrap()
    }

    fn learned(mut merging: Merging, places: Option<usize>) -> Vec<Learned> {
        let mut all = Vec::new();
        let one_more = &mut |learned: &Learned| {
            all.push(*learned);
            false
        };
        while !merging.done() {
            merging.step(one_more, &mut || true).unwrap();
            places.into_iter().for_each(|places| merging.pairs.keep_to(places));
        }
        all
    }

    #[test]
    fn exact_counts_and_buckets_and_any_number_of_threads_learn_the_same() {
        for tie_break in [TieBreak::SmallestIds, TieBreak::FirstSeen, TieBreak::LargestPair] {
            let plain = learned(merging(tie_break, 1, None), None);
            for threads in [2, 7] {
                assert_eq!(
                    plain,
                    learned(merging(tie_break, threads, None), None),
                    "{tie_break:?}, {threads}"
                );
            }
            // With a limit of memory pairs are counted in buckets.
            for threads in [1, 2] {
                let tight = merging(tie_break, threads, Some(1 << 30));
                assert_eq!(plain, learned(tight, None), "{tie_break:?}, {threads}, buckets");
            }
        }
    }

    #[test]
    fn pairs_that_are_given_up_are_found_again() {
        for tie_break in [TieBreak::SmallestIds, TieBreak::FirstSeen, TieBreak::LargestPair] {
            let plain = learned(merging(tie_break, 1, None), None);
            assert!(plain.len() > 500, "{}", plain.len());
            for places in [1, 100, 2_000] {
                let again = learned(merging(tie_break, 1, None), Some(places));
                assert_eq!(plain, again, "{tie_break:?}, {places}");
            }
        }
    }
}
