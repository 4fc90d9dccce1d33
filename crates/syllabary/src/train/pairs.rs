//! The pairs that are watched: their counts and places, kept true while tokens merge.
//!
//! Pair counts are of overlapping windows: `aaa` holds (a, a) twice. A place is where the left token of a
//! pair begins. Lists of places are exact when a pair is born and go stale as neighbours merge; a place is
//! checked when it is used. Bound: a merge costs its places and two look-ups for each distinct neighbour, and
//! all merges together use up at most the symbols of the distinct pieces. Leaves out which pairs are watched
//! (`window`).

use std::cmp::Reverse;

use super::{
    GoOn, ask,
    neighbours::{NONE, Neighbour, Side},
    pair_table::PairTable,
    piece_rules::Shapes,
    place_list::PlaceList,
    sequences::{SEPARATOR, Sequences},
    window::{self, Search},
};
use crate::{Error, fetch::fetch};

/// A pair's place in `Pairs`, in order of birth.
pub(super) type PairIndex = u32;

/// A shorter list of places is not worth cleaning.
const CLEAN_FROM: usize = 64;
/// So many places are asked for ahead.
const TOGETHER: usize = 16;

#[derive(Debug)]
struct Pair {
    left: u32,
    right: u32,
    count: u64,
    /// Where it stood when it was born, ascending.
    places: PlaceList,
    /// The places before this one are known to be used up.
    head: u32,
}

/// What the vocabulary and the options allow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub min_frequency: u64,
    /// Longest token, in initial symbols.
    pub max_length: u32,
    /// So many places of pairs are watched at first, and twice as many when others have been born.
    pub places: usize,
    pub threads: usize,
    /// Memory is limited.
    pub tight: bool,
}

/// All pairs that may be the next to merge.
#[derive(Debug)]
pub(super) struct Pairs {
    sequences: Sequences,
    /// Token id -> the places it covers.
    spans: Vec<u32>,
    /// Token id -> its length in initial symbols.
    lengths: Vec<u32>,
    /// What else decides which pairs may merge.
    shapes: Option<Shapes>,
    pairs: Vec<Pair>,
    /// Of all pairs, also those that are no longer watched.
    index: PairTable,
    limits: Limits,
    /// Pairs below it are not watched.
    threshold: u64,
    /// Places in all lists.
    held: usize,
    /// Neighbours before and after the places of the current merge.
    before: Side,
    after: Side,
}

impl Pairs {
    /// Watches nothing yet: see `watch`. `lengths`: of the tokens that the sequences are made of.
    pub fn new(sequences: Sequences, lengths: Vec<u32>, limits: Limits) -> Pairs {
        let tokens = lengths.len();
        Pairs {
            sequences,
            spans: vec![1; tokens],
            lengths,
            shapes: None,
            pairs: Vec::new(),
            index: PairTable::default(),
            limits,
            threshold: u64::MAX,
            held: 0,
            before: Side::new(tokens),
            after: Side::new(tokens),
        }
    }

    /// The same where shapes decide too.
    pub fn shaped(sequences: Sequences, shapes: Shapes, limits: Limits) -> Pairs {
        let lengths = vec![1; shapes.len()];
        Pairs { shapes: Some(shapes), ..Pairs::new(sequences, lengths, limits) }
    }

    /// Counts all pairs anew and watches the frequent ones; `merges` may still come.
    pub fn watch(&mut self, merges: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        if self.threshold == self.limits.min_frequency {
            self.pairs.clear();
            return Ok(()); // All that may merge have been watched.
        }
        (self.pairs, self.index, self.held) = (Vec::new(), PairTable::default(), 0);
        if self.spans.iter().any(|&span| span > 1) {
            self.sequences.compact(&self.spans)?;
            self.spans.fill(1);
        }
        let Limits { min_frequency, places, threads, tight, .. } = self.limits;
        let threads = if tight { threads.min(2) } else { threads }; // see `COUNTING` in `learn`
        let (tokens, highest) = (self.lengths.len(), self.threshold.saturating_sub(1));
        let search = Search { min_frequency, highest, merges, places, threads, tight, tokens };
        let fits = |pair| fits(&self.lengths, self.limits.max_length, self.shapes.as_ref(), pair);
        let (threshold, watched) = window::choose(&self.sequences, &fits, search, go_on)?;
        self.threshold = threshold;
        self.pairs.reserve_exact(watched.len());
        self.index = PairTable::with_capacity(watched.len());
        for each in watched {
            self.held += each.places.len();
            self.insert(each.pair, each.count, each.places);
        }
        Ok(())
    }

    #[cfg(test)]
    pub fn keep_to(&mut self, places: usize) {
        self.limits.places = places;
    }

    fn insert(&mut self, (left, right): (u32, u32), count: u64, places: PlaceList) -> PairIndex {
        let index = self.len();
        self.index.insert((left, right), index);
        self.pairs.push(Pair { left, right, count, places, head: 0 });
        index
    }

    /// The number of pairs watched since the last `watch`.
    pub fn len(&self) -> PairIndex {
        self.pairs.len() as PairIndex
    }

    /// The ids of a pair.
    pub fn ids(&self, pair: PairIndex) -> (u32, u32) {
        let pair = &self.pairs[pair as usize];
        (pair.left, pair.right)
    }

    /// Its count, if it is still watched.
    pub fn count(&self, pair: PairIndex) -> Option<u64> {
        Some(self.pairs[pair as usize].count).filter(|&count| count >= self.threshold)
    }

    /// Asks for a pair, so that it is at hand.
    pub fn fetch_pair(&self, pair: PairIndex) {
        fetch(&self.pairs[pair as usize]);
    }

    /// The same of its list, which takes the pair.
    pub fn fetch_list(&self, pair: PairIndex) {
        self.pairs[pair as usize].places.as_slice().first().into_iter().for_each(fetch);
    }

    /// The same of its first places, which take the list.
    pub fn fetch_places(&self, pair: PairIndex) {
        let pair = &self.pairs[pair as usize];
        let span = self.spans[pair.left as usize] + self.spans[pair.right as usize];
        pair.places.as_slice().iter().take(TOGETHER).for_each(|&place| self.sequences.fetch(place, span));
    }

    /// Its first place in the sequences as they now are.
    pub fn first(&mut self, pair: PairIndex) -> Option<u32> {
        let (left, right) = self.ids(pair);
        let pair = pair as usize;
        while let Some(&place) = self.pairs[pair].places.as_slice().get(self.pairs[pair].head as usize) {
            if stands(&mut self.sequences, &self.spans, (left, right), place) {
                return Some(place);
            }
            self.pairs[pair].head += 1;
        }
        None
    }

    /// Replaces the pair everywhere by token `id`, the next one; gives the pairs that are born by it.
    pub fn merge(
        &mut self,
        pair: PairIndex,
        id: u32,
        go_on: &mut GoOn<'_>,
    ) -> Result<std::ops::Range<PairIndex>, Error> {
        let (left, right) = self.ids(pair);
        self.pairs[pair as usize].count = 0;
        let places = std::mem::take(&mut self.pairs[pair as usize].places);
        let places = places.as_slice();
        self.held -= places.len();
        let of = |lengths: &[u32]| lengths[left as usize] + lengths[right as usize];
        self.spans.push(of(&self.spans));
        self.lengths.push(of(&self.lengths));
        self.shapes.iter_mut().for_each(|shapes| shapes.join((left, right)));
        self.before.slots.push(0);
        self.after.slots.push(0);
        // The token before is the new one too: born in this very merge.
        let (mut twins, mut twin_places) = (Neighbour::new(id), PlaceList::default());
        let span = self.spans[id as usize];
        places.iter().take(TOGETHER).for_each(|&place| self.sequences.fetch(place, span));
        for (at, &place) in places.iter().enumerate() {
            ask(go_on, at)?;
            places.get(at + TOGETHER).into_iter().for_each(|&place| self.sequences.fetch(place, span));
            if stands(&mut self.sequences, &self.spans, (left, right), place) {
                self.merge_at(place, left, &mut twins, &mut twin_places);
            }
        }
        self.sequences.places.check()?;
        let first = self.len();
        self.look_ahead((left, right));
        let mut before = std::mem::take(&mut self.before);
        self.settle(&mut before, |neighbour| ((neighbour, left), (neighbour, id)));
        self.before = before;
        let mut after = std::mem::take(&mut self.after);
        self.settle(&mut after, |neighbour| ((right, neighbour), (id, neighbour)));
        self.after = after;
        if self.may_be_watched((id, id), twins.gained) {
            self.held += twin_places.len();
            self.insert((id, id), twins.gained, twin_places);
        }
        if self.held > 2 * self.limits.places {
            self.watch_fewer();
        }
        Ok(first..self.len())
    }

    /// Asks for the pairs that will lose places, so that they are at hand.
    fn look_ahead(&self, (left, right): (u32, u32)) {
        let before = self.before.neighbours.iter().map(|neighbour| (neighbour.id, left));
        let after = self.after.neighbours.iter().map(|neighbour| (right, neighbour.id));
        let old = before.chain(after);
        old.clone().for_each(|pair| self.index.fetch(pair));
        old.for_each(|pair| {
            self.pairs.get(self.index.first_guess(pair) as usize).into_iter().for_each(fetch);
        });
    }

    /// Replaces the pair at one place and notes its neighbours.
    #[inline(always)]
    fn merge_at(&mut self, place: u32, left: u32, twins: &mut Neighbour, twin_places: &mut PlaceList) {
        let (id, span) = (twins.id, self.spans[twins.id as usize]);
        let count = self.sequences.count_at(place);
        let places = &mut self.sequences.places;
        let (before, after) = (places.get(place as usize - 1), places.get((place + span) as usize));
        places.set(place as usize, id);
        places.set((place + span) as usize - 1, id);
        if before == id {
            // subtle: that token had (id, left) born with it a moment ago.
            self.after.take_back(left, count);
            twins.gained += count;
            twin_places.push(place - span);
        } else if before != SEPARATOR {
            self.before.add(before, count, place - self.spans[before as usize]);
        }
        if after != SEPARATOR {
            self.after.add(after, count, place);
        }
    }

    /// Lowers the old pairs of one side and watches those born, if they are frequent enough.
    fn settle(&mut self, side: &mut Side, pairs: impl Fn(u32) -> ((u32, u32), (u32, u32))) {
        for neighbour in &mut side.neighbours {
            let (old, born) = pairs(neighbour.id);
            self.lower(old, neighbour.lost);
            if self.may_be_watched(born, neighbour.gained) {
                self.held += neighbour.places;
                neighbour.pair =
                    self.insert(born, neighbour.gained, PlaceList::with_capacity(neighbour.places));
            }
        }
        for &(neighbour, place) in &side.births {
            let pair = side.neighbours[neighbour as usize].pair;
            if pair != NONE {
                self.pairs[pair as usize].places.push(place);
            }
        }
        side.clear();
    }

    /// Takes `count` from a pair that has lost places.
    fn lower(&mut self, pair: (u32, u32), count: u64) {
        let pairs = &self.pairs;
        let is_it = |at: PairIndex| (pairs[at as usize].left, pairs[at as usize].right) == pair;
        let Some(index) = self.index.find(pair, is_it) else { return };
        let known = &mut self.pairs[index as usize];
        if known.count < self.threshold {
            return; // No longer watched.
        }
        known.count = known.count.saturating_sub(count);
        if known.count < self.threshold {
            self.held -= known.places.len();
            known.places = PlaceList::default();
        } else if known.places.len() > CLEAN_FROM && known.places.len() as u64 / 2 > known.count {
            // Each place stands for one occurrence at least: half of them are stale.
            let (sequences, spans) = (&mut self.sequences, &self.spans);
            self.held -= known.places.len();
            known.places.retain(|place| stands(sequences, spans, pair, place));
            self.held += known.places.len();
            known.head = 0;
        }
    }

    /// Raises the threshold until the lists are short enough; the pairs below are found again in another window.
    fn watch_fewer(&mut self) {
        let alive = |pair: &&Pair| pair.count >= self.threshold;
        let mut all: Vec<_> =
            self.pairs.iter().filter(alive).map(|pair| (pair.count, pair.places.len())).collect();
        all.sort_unstable_by_key(|&(count, _)| Reverse(count));
        let mut held = 0;
        let over = all.iter().find(|&&(_, places)| {
            held += places;
            held > self.limits.places
        });
        let (Some(&(top, _)), Some(&(count, _))) = (all.first(), over) else { return };
        self.threshold = (count + 1).min(top);
        for pair in self.pairs.iter_mut().filter(|pair| pair.count > 0 && pair.count < self.threshold) {
            self.held -= pair.places.len();
            (pair.places, pair.count) = (PlaceList::default(), 0);
        }
    }

    /// A pair is watched if it may yet merge in this window: counts do not rise after birth.
    fn may_be_watched(&self, pair: (u32, u32), count: u64) -> bool {
        count >= self.threshold && fits(&self.lengths, self.limits.max_length, self.shapes.as_ref(), pair)
    }
}

/// Whether a pair still stands at a place where it was born.
///
/// The token that covers a place only ever grows: if `left` has become part of a larger token, that one has
/// overwritten the first or the last place of `left`.
#[inline(always)]
fn stands(sequences: &mut Sequences, spans: &[u32], (left, right): (u32, u32), place: u32) -> bool {
    let places = &mut sequences.places;
    let end = (place + spans[left as usize]) as usize;
    places.get(place as usize) == left && places.get(end - 1) == left && places.get(end) == right
}

#[inline]
fn fits(lengths: &[u32], most: u32, shapes: Option<&Shapes>, (left, right): (u32, u32)) -> bool {
    let length = || u64::from(lengths[left as usize]) + u64::from(lengths[right as usize]);
    (most == u32::MAX || length() <= u64::from(most)) && shapes.is_none_or(|shapes| shapes.fit((left, right)))
}
