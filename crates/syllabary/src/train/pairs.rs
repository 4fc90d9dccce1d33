//! Neighbouring pairs: their counts and places, kept true while tokens merge.
//!
//! Pair counts are of overlapping windows: `aaa` holds (a, a) twice. A place is where the left token of a
//! pair begins. Lists of places are exact when a pair is born and go stale as neighbours merge; a place is
//! checked when it is used. Bound: a merge costs its places and four look-ups each, and all merges
//! together use up at most the symbols of the distinct pieces.

use rustc_hash::FxHashMap;

use super::{
    GoOn, TrainOptions, ask,
    sequences::{SEPARATOR, Sequences},
};
use crate::Error;

/// A pair's place in `Pairs`, in order of birth.
pub(super) type PairIndex = u32;

#[derive(Debug)]
struct Pair {
    left: u32,
    right: u32,
    count: u64,
    /// Where it stood when it was born, ascending.
    places: Vec<u32>,
    /// The places before this one are known to be used up.
    head: usize,
}

/// All pairs that may still merge.
#[derive(Debug)]
pub(super) struct Pairs {
    sequences: Sequences,
    /// Token id -> its length in symbols.
    lengths: Vec<u32>,
    pairs: Vec<Pair>,
    index: FxHashMap<(u32, u32), PairIndex>,
    min_frequency: u64,
    max_length: u32,
    /// Neighbours before and after the places of the current merge.
    before: Side,
    after: Side,
}

/// What a merge does to the pairs on one side of its places, by neighbouring token.
#[derive(Debug, Default)]
struct Side {
    /// Token id -> 1 + its entry, or 0.
    slots: Vec<u32>,
    neighbours: Vec<Neighbour>,
}

/// One neighbouring token: its pair with the old token loses places, its pair with the new one is born.
#[derive(Debug)]
struct Neighbour {
    id: u32,
    lost: u64,
    gained: u64,
    places: Vec<u32>,
}

impl Side {
    fn add(&mut self, id: u32, count: u64, place: u32) {
        let slot = &mut self.slots[id as usize];
        if *slot == 0 {
            self.neighbours.push(Neighbour { id, lost: 0, gained: 0, places: Vec::new() });
            *slot = self.neighbours.len() as u32;
        }
        let neighbour = &mut self.neighbours[*slot as usize - 1];
        neighbour.lost += count;
        neighbour.gained += count;
        neighbour.places.push(place);
    }

    /// Takes back a birth whose place the same merge used up; the stale place is found out when it is used.
    fn take_back(&mut self, id: u32, count: u64) {
        if let Some(at) = self.slots[id as usize].checked_sub(1) {
            self.neighbours[at as usize].gained -= count;
        }
    }

    fn drain(&mut self) -> Vec<Neighbour> {
        self.neighbours.iter().for_each(|neighbour| self.slots[neighbour.id as usize] = 0);
        std::mem::take(&mut self.neighbours)
    }
}

impl Pairs {
    /// Finds the pairs of the initial symbols.
    pub fn new(
        sequences: Sequences,
        symbols: usize,
        options: &TrainOptions,
        go_on: &mut GoOn<'_>,
    ) -> Result<Pairs, Error> {
        let mut pairs = Pairs {
            sequences,
            lengths: vec![1; symbols],
            pairs: Vec::new(),
            index: FxHashMap::default(),
            min_frequency: options.min_frequency.max(1),
            max_length: options.max_token_length.unwrap_or(u32::MAX),
            before: Side { slots: vec![0; symbols], neighbours: Vec::new() },
            after: Side { slots: vec![0; symbols], neighbours: Vec::new() },
        };
        let mut counts: FxHashMap<(u32, u32), u64> = FxHashMap::default();
        for at in 1..pairs.sequences.places.len() - 1 {
            ask(go_on, at)?;
            if let Some(pair) = pairs.symbols_at(at) {
                *counts.entry(pair).or_default() += pairs.sequences.count_at(at as u32);
            }
        }
        for at in 1..pairs.sequences.places.len() - 1 {
            ask(go_on, at)?;
            let Some(pair) = pairs.symbols_at(at) else { continue };
            if let Some(&count) = counts.get(&pair).filter(|&&count| count >= pairs.min_frequency) {
                pairs.add_initial(pair, count, at as u32);
            }
        }
        Ok(pairs)
    }

    fn symbols_at(&self, at: usize) -> Option<(u32, u32)> {
        let (left, right) = (self.sequences.places[at], self.sequences.places[at + 1]);
        (left != SEPARATOR && right != SEPARATOR && self.max_length >= 2).then_some((left, right))
    }

    fn add_initial(&mut self, (left, right): (u32, u32), count: u64, place: u32) {
        let next = self.pairs.len() as PairIndex;
        let index = *self.index.entry((left, right)).or_insert(next);
        if index == next {
            self.pairs.push(Pair { left, right, count, places: Vec::new(), head: 0 });
        }
        self.pairs[index as usize].places.push(place);
    }

    /// The number of pairs ever born.
    pub fn len(&self) -> PairIndex {
        self.pairs.len() as PairIndex
    }

    /// The ids of a pair.
    pub fn ids(&self, pair: PairIndex) -> (u32, u32) {
        let pair = &self.pairs[pair as usize];
        (pair.left, pair.right)
    }

    /// Its count, if it may still merge.
    pub fn count(&self, pair: PairIndex) -> Option<u64> {
        Some(self.pairs[pair as usize].count).filter(|&count| count >= self.min_frequency)
    }

    /// Its first place in the sequences as they now are.
    pub fn first(&mut self, pair: PairIndex) -> Option<u32> {
        let (left, right) = self.ids(pair);
        let pair = pair as usize;
        while let Some(&place) = self.pairs[pair].places.get(self.pairs[pair].head) {
            if self.stands(left, right, place) {
                return Some(place);
            }
            self.pairs[pair].head += 1;
        }
        None
    }

    /// Whether the pair still stands at a place where it was born.
    ///
    /// The token that covers a place only ever grows: if `left` has become part of a larger token, that
    /// one has overwritten the first or the last place of `left`.
    #[inline]
    fn stands(&self, left: u32, right: u32, place: u32) -> bool {
        let places = &self.sequences.places;
        let end = (place + self.lengths[left as usize]) as usize;
        places[place as usize] == left && places[end - 1] == left && places[end] == right
    }

    /// Replaces the pair everywhere by token `id`; gives the pairs that are born by it.
    pub fn merge(
        &mut self,
        pair: PairIndex,
        id: u32,
        go_on: &mut GoOn<'_>,
    ) -> Result<std::ops::Range<PairIndex>, Error> {
        let (left, right) = self.ids(pair);
        let places = std::mem::take(&mut self.pairs[pair as usize].places);
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        self.lengths.push(length);
        self.before.slots.push(0);
        self.after.slots.push(0);
        // The token before is the new one too: born in this very merge.
        let mut twins = Neighbour { id, lost: 0, gained: 0, places: Vec::new() };
        for (at, &place) in places.iter().enumerate() {
            ask(go_on, at)?;
            if self.stands(left, right, place) {
                self.merge_at(place, left, &mut twins);
            }
        }
        let first = self.len();
        for neighbour in self.before.drain() {
            self.lower((neighbour.id, left), neighbour.lost);
            self.bear((neighbour.id, id), neighbour);
        }
        for neighbour in self.after.drain() {
            self.lower((right, neighbour.id), neighbour.lost);
            self.bear((id, neighbour.id), neighbour);
        }
        self.bear((id, id), twins);
        self.index.remove(&(left, right));
        self.pairs[pair as usize].count = 0;
        Ok(first..self.len())
    }

    /// Replaces the pair at one place and notes its neighbours.
    fn merge_at(&mut self, place: u32, left: u32, twins: &mut Neighbour) {
        let (id, length) = (twins.id, self.lengths[twins.id as usize]);
        let count = self.sequences.count_at(place);
        let places = &mut self.sequences.places;
        let (before, after) = (places[place as usize - 1], places[(place + length) as usize]);
        places[place as usize] = id;
        places[(place + length) as usize - 1] = id;
        if before == id {
            // subtle: that token had (id, left) born with it a moment ago.
            self.after.take_back(left, count);
            twins.gained += count;
            twins.places.push(place - length);
        } else if before != SEPARATOR {
            self.before.add(before, count, place - self.lengths[before as usize]);
        }
        if after != SEPARATOR {
            self.after.add(after, count, place);
        }
    }

    /// Takes `count` from a pair that has lost a place.
    fn lower(&mut self, pair: (u32, u32), count: u64) {
        if let Some(&index) = self.index.get(&pair) {
            let total = &mut self.pairs[index as usize].count;
            *total = total.saturating_sub(count);
        }
    }

    /// Keeps a new pair if it may ever merge: counts do not rise after birth.
    fn bear(&mut self, (left, right): (u32, u32), born: Neighbour) {
        let length = |id: u32| u64::from(self.lengths[id as usize]);
        if born.gained >= self.min_frequency && length(left) + length(right) <= u64::from(self.max_length) {
            let Neighbour { gained: count, places, .. } = born;
            self.index.insert((left, right), self.len());
            self.pairs.push(Pair { left, right, count, places, head: 0 });
        }
    }
}
