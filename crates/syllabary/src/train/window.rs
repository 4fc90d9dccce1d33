//! The window: which pairs are watched, so that neither time nor memory goes to pairs too rare to merge.
//!
//! Counts only fall after a pair is born. So, as long as some pair occurs at least `threshold` times, one that
//! does not need not be known: it cannot be the next. When no watched pair is left, the tokens are moved
//! together and counted anew with a lower threshold. To count so many pairs in little memory, each adds its
//! count to one of some buckets first: a bucket below the threshold holds no pair that reaches it.

use std::{
    cmp::Reverse,
    ops::Range,
    slice::IterMut,
    sync::{Mutex, MutexGuard},
};

use rustc_hash::FxHashMap;

use super::{
    GoOn, ask, exact, parallel::in_parts, place_list::PlaceList, places::Places, sequences::Sequences,
};
use crate::{Error, pages};

/// The threshold of a window is no lower than its highest count divided by this.
const REACH: u64 = 32;
/// Powers of two: where few pairs are rare enough to be mistaken, and where many are.
const FEWER_BUCKETS: u32 = 18;
const MORE_BUCKETS: u32 = 22;
const TIGHT_BUCKETS: u32 = 20;
/// From this threshold on few buckets do.
const HIGH: u64 = 1 << 10;
/// The pairs of so many buckets are counted exactly, or of eight for each merge to come.
const CANDIDATES: usize = 1 << 16;
/// Pairs are watched for so many times the merges to come: some fall below the threshold.
const MARGIN: usize = 2;
/// No thread is started for fewer places than a quarter of it.
const FEWEST_PLACES: usize = 1 << 16;
/// Pairs of so few tokens are counted in a grid.
const GRID_TOKENS: usize = 512;

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    /// A pair seen less often never merges.
    pub min_frequency: u64,
    /// No pair is more frequent.
    pub highest: u64,
    /// Merges still to come, at most.
    pub merges: usize,
    /// So many places of pairs may be kept.
    pub places: usize,
    pub threads: usize,
    /// Memory is limited.
    pub tight: bool,
    /// Ids are below it.
    pub tokens: usize,
}

/// A pair to watch.
#[derive(Debug)]
pub(super) struct Watched {
    pub pair: (u32, u32),
    pub count: u64,
    /// Where its left token begins, ascending.
    pub places: PlaceList,
}

/// How often a pair stands, and at how many places.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub count: u64,
    pub places: usize,
}

impl Found {
    #[inline]
    pub fn add(&mut self, count: u64, places: usize) {
        self.count = self.count.saturating_add(count);
        self.places += places;
    }
}

type Counts = FxHashMap<(u32, u32), Found>;

/// The pairs of a part of the places.
struct Share {
    range: Range<usize>,
    found: Counts,
}

/// Pairs in all parts together, and in each.
struct Shared {
    sum: Counts,
    shares: Vec<Share>,
}

impl Shared {
    fn new(parts: Vec<Range<usize>>, found: Vec<Counts>) -> Shared {
        let shares: Vec<Share> =
            parts.into_iter().zip(found).map(|(range, found)| Share { range, found }).collect();
        let mut all = shares.iter();
        let mut sum = all.next().map(|share| share.found.clone()).unwrap_or_default();
        for (&pair, more) in all.flat_map(|share| &share.found) {
            sum.entry(pair).or_default().add(more.count, more.places);
        }
        Shared { sum, shares }
    }

    /// Keeps the pairs for which `f` holds.
    fn retain(&mut self, f: impl Fn((u32, u32), &Found) -> bool) {
        self.sum.retain(|&pair, found| f(pair, found));
        for share in &mut self.shares {
            share.found.retain(|pair, _| self.sum.contains_key(pair));
            share.found.shrink_to_fit();
        }
    }
}

#[inline]
pub(super) fn hash((left, right): (u32, u32)) -> u64 {
    (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The counts of many pairs in few buckets.
struct Sketch {
    /// `u32::MAX` less the count: memory of zeros would be slower to touch first (see `tally`).
    buckets: Vec<u32>,
    shift: u32,
}

impl Sketch {
    fn new(power: u32) -> Sketch {
        Sketch { buckets: pages::vec(u32::MAX, 1 << power), shift: 64 - power }
    }

    #[inline]
    fn add(&mut self, pair: (u32, u32), count: u64) {
        let bucket = &mut self.buckets[(hash(pair) >> self.shift) as usize];
        *bucket = bucket.saturating_sub(count.min(u64::from(u32::MAX)) as u32);
    }

    fn merge(&mut self, other: &Sketch) {
        let both = self.buckets.iter_mut().zip(&other.buckets);
        both.for_each(|(bucket, &more)| *bucket = bucket.saturating_sub(!more));
    }

    /// An upper bound of the counts in each bucket; the highest stands for itself and all above.
    fn counts(&self) -> impl Iterator<Item = u64> {
        self.buckets.iter().map(|&bucket| u64::from(!bucket))
    }

    /// The pairs that may occur `low` times.
    fn reaching(&self, low: u64) -> Filter {
        let mut filter = Filter::new(64 - self.shift);
        let low = low.min(u64::from(u32::MAX));
        (0..).zip(self.counts()).filter(|&(_, count)| count >= low).for_each(|(at, _)| filter.set(at));
        filter
    }
}

/// A set of pairs, by their hashes: it may hold more than were put in.
struct Filter {
    bits: Vec<u64>,
    shift: u32,
}

impl Filter {
    fn new(power: u32) -> Filter {
        Filter { bits: vec![0; 1 << (power - 6)], shift: 64 - power }
    }

    fn set(&mut self, at: u64) {
        self.bits[(at >> 6) as usize] |= 1 << (at & 63);
    }

    #[inline]
    fn holds(&self, pair: (u32, u32)) -> bool {
        let at = hash(pair) >> self.shift;
        self.bits[(at >> 6) as usize] >> (at & 63) & 1 == 1
    }
}

/// Pairs to watch and the count from which all are among them; none if there is none left to merge.
pub(super) fn choose(
    sequences: &Sequences,
    may_merge: &(impl Fn((u32, u32)) -> bool + Sync),
    search: Search,
    go_on: &mut GoOn<'_>,
) -> Result<(u64, Vec<Watched>), Error> {
    let small = matches!(&sequences.places, Places::Memory(places) if places.len() <= exact::MOST_PLACES);
    if small && !search.tight {
        return exact::choose(sequences, may_merge, search, go_on);
    }
    let (low, mut found) = if search.tokens <= GRID_TOKENS {
        let mut found = grid(sequences, search, go_on)?;
        found.retain(|pair, _| may_merge(pair));
        (search.min_frequency.max(highest(&found.sum) / REACH), found)
    } else {
        frequent(sequences, may_merge, search, go_on)?
    };
    let threshold = threshold(found.sum.values().copied(), low, search);
    found.retain(|_, found| found.count >= threshold);
    Ok((threshold, places(sequences, found, go_on)?))
}

/// A part of the places for each thread; what the threads set up, so many cells each, stays in proportion to them.
fn parts(sequences: &Sequences, threads: usize, cells: usize) -> Vec<Range<usize>> {
    // Without tokens there are none.
    sequences.parts(threads.min(4 * sequences.places.len() / cells.max(1)).max(1))
}

fn highest(found: &Counts) -> u64 {
    found.values().map(|found| found.count).max().unwrap_or(0)
}

/// All pairs, where there are few tokens.
fn grid(sequences: &Sequences, search: Search, go_on: &mut GoOn<'_>) -> Result<Shared, Error> {
    let tokens = search.tokens;
    let parts = parts(sequences, search.threads, tokens * tokens);
    let found = in_parts(parts.clone(), go_on, &|part, go_on: &mut GoOn<'_>| {
        let mut grid = vec![Found::default(); tokens * tokens];
        sequences.each_pair(part, &mut |(left, right), count, place| {
            grid[left as usize * tokens + right as usize].add(count, 1);
            ask(go_on, place as usize)
        })?;
        let pair = |at: usize| ((at / tokens) as u32, (at % tokens) as u32);
        let found = grid.into_iter().enumerate().filter(|(_, found)| found.places > 0);
        Ok(found.map(|(at, found)| (pair(at), found)).collect())
    })?;
    Ok(Shared::new(parts, found))
}

/// A count, and the pairs that reach it: those that may merge soon.
fn frequent(
    sequences: &Sequences,
    may_merge: &(impl Fn((u32, u32)) -> bool + Sync),
    search: Search,
    go_on: &mut GoOn<'_>,
) -> Result<(u64, Shared), Error> {
    let sketch = sketch(sequences, may_merge, search, go_on)?;
    let top = sketch.counts().max().unwrap_or(0);
    let most = if search.tight { CANDIDATES } else { CANDIDATES.max(search.merges.saturating_mul(8)) };
    let mut low = (top / REACH).max(search.min_frequency);
    while low < search.highest && sketch.counts().filter(|&count| count >= low).count() > most {
        low *= 2;
    }
    loop {
        let mut found = count(sequences, may_merge, &sketch.reaching(low), search.threads, go_on)?;
        found.retain(|_, found| found.count >= low);
        if !found.sum.is_empty() || low == search.min_frequency {
            return Ok((low, found));
        }
        low = (low / REACH).max(search.min_frequency);
    }
}

fn sketch(
    sequences: &Sequences,
    may_merge: &(impl Fn((u32, u32)) -> bool + Sync),
    search: Search,
    go_on: &mut GoOn<'_>,
) -> Result<Sketch, Error> {
    let power = if search.highest / REACH >= HIGH { FEWER_BUCKETS } else { MORE_BUCKETS };
    let power = if search.tight { power.min(TIGHT_BUCKETS) } else { power };
    let power = power.min(sequences.places.len().next_power_of_two().trailing_zeros()).max(6);
    let parts = parts(sequences, search.threads, 1 << power);
    let sketches = in_parts(parts, go_on, &|part: Range<usize>, go_on: &mut GoOn<'_>| {
        let mut sketch = Sketch::new(power);
        sequences.each_pair(part, &mut |pair, count, place| {
            if may_merge(pair) {
                sketch.add(pair, count);
            }
            ask(go_on, place as usize)
        })?;
        Ok(sketch)
    })?;
    let mut sketches = sketches.into_iter();
    let mut sum = sketches.next().unwrap_or_else(|| Sketch::new(power));
    sketches.for_each(|other| sum.merge(&other));
    Ok(sum)
}

/// The exact counts of the pairs in `filter`.
fn count(
    sequences: &Sequences,
    may_merge: &(impl Fn((u32, u32)) -> bool + Sync),
    filter: &Filter,
    threads: usize,
    go_on: &mut GoOn<'_>,
) -> Result<Shared, Error> {
    let parts = parts(sequences, threads, FEWEST_PLACES);
    let found = in_parts(parts.clone(), go_on, &|part: Range<usize>, go_on: &mut GoOn<'_>| {
        let mut found = Counts::default();
        sequences.each_pair(part, &mut |pair, count, place| {
            if filter.holds(pair) && may_merge(pair) {
                found.entry(pair).or_default().add(count, 1);
            }
            ask(go_on, place as usize)
        })?;
        Ok(found)
    })?;
    Ok(Shared::new(parts, found))
}

/// The lowest count whose pairs, and all above, are no more than may merge and fit into the places.
pub(super) fn threshold(found: impl Iterator<Item = Found>, low: u64, search: Search) -> u64 {
    let mut all: Vec<Found> = found.filter(|found| found.count >= low).collect();
    all.sort_unstable_by_key(|found| Reverse(found.count));
    let Some(top) = all.first().map(|found| found.count) else { return low };
    let mut places = 0usize;
    let fitting = all.iter().take_while(|found| {
        places = places.saturating_add(found.places);
        places <= search.places
    });
    let fitting = fitting.count();
    // Pairs that are equally frequent are watched together, and the most frequent whatever they take.
    let by_places = all.get(fitting).map_or(low, |found| (found.count + 1).min(top));
    let enough = search.merges.saturating_mul(MARGIN);
    let by_merges = all.get(enough).map_or(low, |found| found.count);
    by_places.max(by_merges)
}

/// Room in lists for the places of one part.
type Slots<'a> = Vec<IterMut<'a, u32>>;

/// The lists of pairs, of zeros, divided among parts; `here`: how many places of a part, by its number, a pair has.
pub(super) fn divided(
    watched: &mut [Watched],
    parts: usize,
    here: impl Fn(usize, usize) -> usize,
) -> Vec<Mutex<Slots<'_>>> {
    let mut lists: Vec<_> = (0..parts).map(|_| Vec::with_capacity(watched.len())).collect();
    for (at, each) in watched.iter_mut().enumerate() {
        let mut rest = each.places.as_mut_slice();
        for (part, lists) in lists.iter_mut().enumerate() {
            let (own, others) = rest.split_at_mut(here(part, at).min(rest.len()));
            lists.push(own.iter_mut());
            rest = others;
        }
    }
    lists.into_iter().map(Mutex::new).collect()
}

/// What one thread alone takes, so that it never waits.
pub(super) fn taken<'a, 'b>(lists: &'a Mutex<Slots<'b>>) -> MutexGuard<'a, Slots<'b>> {
    lists.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Every place of the pairs found, each thread those of its part.
fn places(sequences: &Sequences, found: Shared, go_on: &mut GoOn<'_>) -> Result<Vec<Watched>, Error> {
    let Shared { sum, shares } = found;
    let mut filter = Filter::new(20);
    sum.keys().for_each(|&pair| filter.set(hash(pair) >> filter.shift));
    let watched = sum.into_iter().map(|(pair, found)| Watched {
        pair,
        count: found.count,
        places: PlaceList::zeros(found.places),
    });
    let mut watched: Vec<Watched> = watched.collect();
    let index: FxHashMap<_, _> = watched.iter().enumerate().map(|(at, each)| (each.pair, at)).collect();
    let pairs: Vec<_> = watched.iter().map(|each| each.pair).collect();
    let here = |share: usize, at: usize| shares[share].found.get(&pairs[at]).map_or(0, |found| found.places);
    let lists = divided(&mut watched, shares.len(), here);
    in_parts((0..shares.len()).collect(), go_on, &|share: usize, go_on: &mut GoOn<'_>| {
        let mut lists = taken(&lists[share]);
        sequences.each_pair(shares[share].range.clone(), &mut |pair, _, place| {
            if filter.holds(pair)
                && let Some(&at) = index.get(&pair)
                && let Some(slot) = lists[at].next()
            {
                *slot = place;
            }
            ask(go_on, place as usize)
        })
    })?;
    drop(lists);
    Ok(watched)
}
