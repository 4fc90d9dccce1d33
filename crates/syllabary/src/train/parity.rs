//! Parity-aware training: one list of merges for several languages, none of which is left behind.
//!
//! ```text
//! repeat: take the language that is served worst; merge its most frequent pair, in all languages
//! ```
//!
//! Which language is served worst, and what a window forbids, is defined by `reference/train_parity.py`. Each
//! language has pairs of its own (`all_pairs`) and a heap of them; counts only fall after a pair is born, so an
//! entry that is out of date is too high, and is put back when it is taken.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    sync::Arc,
};

use super::{
    GoOn, TieBreak,
    all_pairs::{AllPairs, Pair},
};
use crate::{
    Error,
    alphabet::{Alphabet, Spelling, Unit},
};

/// What is asked for besides the corpora.
#[derive(Clone, Debug)]
pub struct ParityOptions {
    /// A pair that its language has less often never merges.
    pub min_frequency: u64,
    /// Longest token, in initial symbols.
    pub max_token_length: Option<u32>,
    /// Which of equals merges.
    pub tie_break: TieBreak,
    /// So many merges at first are chosen by the counts of all languages together.
    pub global_merges: usize,
    /// The window's size and the share of it, times the languages, that one may have.
    pub window: Option<(usize, f64)>,
}

/// Pieces of text, back to back, where each ends and how often it occurs.
#[derive(Clone, Copy, Debug)]
pub struct Pieces<'a> {
    /// UTF-8.
    pub data: &'a [u8],
    /// Ascending.
    pub ends: &'a [u64],
    /// As many.
    pub counts: &'a [u64],
}

/// One merge: the language that it was chosen for (`None`: all together), the pair and its count there.
pub type Step = (Option<u32>, (u32, u32), u64);

/// Which of equals comes first; the largest wins.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Ids(Reverse<Pair>),
    Bytes(Arc<[u8]>, Arc<[u8]>, Reverse<Pair>),
}

type Heap = BinaryHeap<(u64, Rank, Pair)>;

#[derive(Debug)]
struct Language {
    corpus: AllPairs,
    /// The text by which it is judged, if that is another.
    dev: Option<AllPairs>,
    /// Tokens before any merge, and how many times better than others it should be.
    initial: u64,
    ratio: f64,
    heap: Heap,
    exhausted: bool,
}

/// Training under way.
#[derive(Debug)]
pub struct Parity {
    options: ParityOptions,
    spelling: Alphabet,
    tokens: Vec<Arc<[u8]>>,
    lengths: Vec<u32>,
    languages: Vec<Language>,
    /// Pairs by their counts in all languages; empty once they are not asked for any more.
    all: Heap,
    /// The languages of the last merges, and how often each is among them.
    chosen: VecDeque<usize>,
    times: Vec<usize>,
    done: usize,
}

impl Parity {
    /// `alphabet`: the initial symbols by id, which must spell all text that is added.
    pub fn new(
        alphabet: Vec<Vec<u8>>,
        unit: Unit,
        end_of_word: Option<&str>,
        fallback: bool,
        options: ParityOptions,
    ) -> Result<Parity, Error> {
        let plain = Spelling { end_of_word, fallback, ..Spelling::plain(unit) };
        let spelling = Alphabet::new(&plain, (0..).zip(&alphabet).map(|(id, symbol)| (&**symbol, id)))?;
        Ok(Parity {
            options,
            spelling,
            lengths: vec![1; alphabet.len()],
            tokens: alphabet.into_iter().map(Arc::from).collect(),
            languages: Vec::new(),
            all: Heap::new(),
            chosen: VecDeque::new(),
            times: Vec::new(),
            done: 0,
        })
    }

    /// Adds a language; `dev` is the text by which it is judged: its tokens are counted as they are. Without one
    /// the judge is `corpus`: its tokens per symbol, times `ratio`.
    pub fn add(
        &mut self,
        corpus: Pieces<'_>,
        dev: Option<Pieces<'_>>,
        ratio: f64,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        let corpus = self.spell(corpus, go_on)?;
        let dev = dev.map(|pieces| self.spell(pieces, go_on)).transpose()?;
        let wanted = corpus.iter().filter(|&(_, count)| count >= self.options.min_frequency);
        let heap = wanted.map(|(pair, count)| self.entry(pair, count)).collect::<Vec<_>>().into();
        let initial = corpus.tokens();
        self.times.push(0);
        self.languages.push(Language { corpus, dev, initial, ratio, heap, exhausted: false });
        Ok(())
    }

    fn spell(&self, pieces: Pieces<'_>, go_on: &mut GoOn<'_>) -> Result<AllPairs, Error> {
        let broken = || Error::Training("the table of pieces contradicts itself".to_owned());
        let mut corpus = AllPairs::new(self.options.max_token_length.unwrap_or(u32::MAX));
        let mut start = 0;
        if pieces.ends.len() != pieces.counts.len() {
            return Err(broken());
        }
        for (&end, &count) in pieces.ends.iter().zip(pieces.counts) {
            let end = usize::try_from(end).map_err(|_| broken())?;
            let piece = pieces.data.get(start..end).and_then(|piece| std::str::from_utf8(piece).ok());
            let piece = piece.ok_or_else(broken)?;
            let mut known = true;
            corpus.push(count, |places| {
                self.spelling.spell(piece, &mut |id, _| places.push(id), &mut |_| known = false);
            })?;
            if !known {
                return Err(broken());
            }
            start = end;
        }
        corpus.finish(go_on)?;
        Ok(corpus)
    }

    /// The next merge, done in all languages; `None` if no language has a pair that is frequent enough.
    pub fn step(&mut self, go_on: &mut GoOn<'_>) -> Result<Option<Step>, Error> {
        let found = if self.done < self.options.global_merges { self.best_of_all() } else { self.best() };
        let Some((language, pair, count)) = found else { return Ok(None) };
        let id = u32::try_from(self.tokens.len())
            .ok()
            .filter(|&id| id < u32::MAX)
            .ok_or_else(|| Error::TooLarge("over 2^32 tokens".to_owned()))?;
        self.tokens.push([&*self.tokens[pair.0 as usize], &*self.tokens[pair.1 as usize]].concat().into());
        self.lengths.push(self.lengths[pair.0 as usize].saturating_add(self.lengths[pair.1 as usize]));
        let mut all_born = Vec::new();
        for at in 0..self.languages.len() {
            let mut born = Vec::new();
            let language = &mut self.languages[at];
            language.corpus.merge(pair, id, &self.lengths, &mut born, go_on)?;
            if let Some(dev) = &mut language.dev {
                dev.merge(pair, id, &self.lengths, &mut Vec::new(), go_on)?;
            }
            for &pair in &born {
                let count = self.languages[at].corpus.count(pair);
                if count >= self.options.min_frequency {
                    let entry = self.entry(pair, count);
                    self.languages[at].heap.push(entry);
                }
            }
            all_born.append(&mut born);
        }
        self.done += 1;
        if self.done < self.options.global_merges {
            all_born.sort_unstable();
            all_born.dedup();
            let entries: Vec<_> = all_born.iter().map(|&pair| self.entry(pair, self.total(pair))).collect();
            self.all.extend(entries);
        }
        Ok(Some((language, pair, count)))
    }

    fn entry(&self, pair: Pair, count: u64) -> (u64, Rank, Pair) {
        let bytes = |id: u32| Arc::clone(&self.tokens[id as usize]);
        let rank = match self.options.tie_break {
            TieBreak::LargestPair => Rank::Bytes(bytes(pair.0), bytes(pair.1), Reverse(pair)),
            _ => Rank::Ids(Reverse(pair)),
        };
        (count, rank, pair)
    }

    /// How often a pair occurs in all languages.
    fn total(&self, pair: Pair) -> u64 {
        self.languages.iter().fold(0, |sum: u64, language| sum.saturating_add(language.corpus.count(pair)))
    }

    fn best_of_all(&mut self) -> Option<Step> {
        if self.done == 0 {
            let mut pairs: Vec<Pair> = self
                .languages
                .iter()
                .flat_map(|language| language.corpus.iter().map(|(pair, _)| pair))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            self.all =
                pairs.iter().map(|&pair| self.entry(pair, self.total(pair))).collect::<Vec<_>>().into();
        }
        let mut heap = std::mem::take(&mut self.all);
        let found = pop(&mut heap, self.options.min_frequency, |pair| self.total(pair));
        self.all = heap;
        found.map(|(pair, count)| (None, pair, count))
    }

    /// The best pair of the language that is served worst; one that has none left is passed over from then on.
    fn best(&mut self) -> Option<Step> {
        self.all = Heap::new();
        while let Some(at) = self.worst() {
            if let Some((size, _)) = self.options.window {
                self.chosen.push_back(at);
                self.times[at] += 1;
                if self.chosen.len() > size
                    && let Some(first) = self.chosen.pop_front()
                {
                    self.times[first] -= 1;
                }
            }
            let Language { heap, corpus, .. } = &mut self.languages[at];
            if let Some((pair, count)) = pop(heap, self.options.min_frequency, |pair| corpus.count(pair)) {
                return Some((Some(at as u32), pair, count));
            }
            self.languages[at].exhausted = true;
        }
        None
    }

    /// The language with the highest cost, the first of equals, among those that have pairs left and, if there
    /// is a window, are not in it too often; if all are, among those that have pairs left.
    fn worst(&self) -> Option<usize> {
        let live: Vec<usize> =
            (0..self.languages.len()).filter(|&at| !self.languages[at].exhausted).collect();
        let allowed: Vec<usize> = live.iter().copied().filter(|&at| self.allowed(at)).collect();
        let among = if allowed.is_empty() { &live } else { &allowed };
        let mut worst: Option<(usize, f64)> = None;
        for &at in among {
            let cost = self.languages[at].cost();
            if worst.is_none_or(|(_, highest)| cost > highest) {
                worst = Some((at, cost));
            }
        }
        worst.map(|(at, _)| at)
    }

    fn allowed(&self, at: usize) -> bool {
        let Some((size, alpha)) = self.options.window else { return true };
        self.times[at] as f64 / size as f64 <= alpha / self.languages.len() as f64
    }

    /// Tokens of every language now: of its corpus, and of the text by which it is judged.
    pub fn tokens(&self) -> Vec<(u64, u64)> {
        let judged = |language: &Language| language.dev.as_ref().unwrap_or(&language.corpus).tokens();
        self.languages.iter().map(|language| (language.corpus.tokens(), judged(language))).collect()
    }
}

impl Language {
    /// How badly it is served: the tokens of its dev text, or minus its compression over its ratio.
    fn cost(&self) -> f64 {
        match &self.dev {
            Some(dev) => dev.tokens() as f64,
            None => -((self.initial as f64 / self.corpus.tokens() as f64) / self.ratio),
        }
    }
}

/// Takes the highest entry that is true.
fn pop(heap: &mut Heap, min_frequency: u64, count: impl Fn(Pair) -> u64) -> Option<(Pair, u64)> {
    while let Some((claimed, rank, pair)) = heap.pop() {
        let now = count(pair);
        if now == claimed && now >= min_frequency {
            return Some((pair, now));
        }
        if now >= min_frequency {
            heap.push((now, rank, pair));
        }
    }
    None
}
