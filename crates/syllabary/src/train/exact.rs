//! The window of an array of moderate size: all its pairs are counted exactly, each place looked at once.
//!
//! The first pass counts, each thread in its part, and notes at each place which pair begins there; the
//! second, when it is known which pairs to watch, collects their places. Leaves out larger arrays, whose pairs would
//! take too much memory (`window`).

use std::{ops::Range, slice::IterMut};

use super::{
    GoOn, ask,
    parallel::in_parts,
    place_list::PlaceList,
    sequences::Sequences,
    window::{Found, Search, Watched, divided, hash, taken, threshold},
};
use crate::{Error, pages};

/// Up to so many places.
pub(super) const MOST_PLACES: usize = 1 << 22;
/// A thread for so many places.
const PLACES: usize = if cfg!(test) { 1 << 10 } else { 1 << 15 };
/// The threshold is no lower than the highest count divided by this.
const REACH: u64 = 1 << 12;
const NONE: u32 = u32::MAX;
const FEWEST_SLOTS: usize = 1 << 12;

/// Pairs, by number.
struct Table {
    /// The number of a pair, or `NONE`.
    slots: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    found: Vec<Found>,
}

impl Table {
    fn new() -> Table {
        Table { slots: vec![NONE; FEWEST_SLOTS], pairs: Vec::new(), found: Vec::new() }
    }

    #[inline]
    fn number(&mut self, pair: (u32, u32)) -> u32 {
        let mut at = self.home(pair);
        loop {
            match self.slots[at] {
                NONE => return self.enter(at, pair),
                number if self.pairs[number as usize] == pair => return number,
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    #[inline]
    fn home(&self, pair: (u32, u32)) -> usize {
        (hash(pair) >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    fn enter(&mut self, at: usize, pair: (u32, u32)) -> u32 {
        let number = self.pairs.len() as u32;
        self.slots[at] = number;
        self.pairs.push(pair);
        self.found.push(Found::default());
        if 2 * self.pairs.len() > self.slots.len() {
            self.slots = pages::vec(NONE, 2 * self.slots.len());
            for (number, &pair) in (0..).zip(&self.pairs) {
                let mut at = self.home(pair);
                while self.slots[at] != NONE {
                    at = (at + 1) & (self.slots.len() - 1);
                }
                self.slots[at] = number;
            }
        }
        number
    }

    /// Adds the pairs of another part.
    fn add(&mut self, part: &mut Part) {
        let pairs = part.table.pairs.iter().zip(&part.table.found);
        part.in_sum = pairs
            .map(|(&pair, found)| {
                let number = self.number(pair);
                self.found[number as usize].add(found.count, found.places);
                number
            })
            .collect();
    }
}

/// The pairs of a part of the places.
struct Part {
    table: Table,
    /// At how many places of this part each pair of it stands; `table` may come to hold those of all parts.
    places: Vec<u32>,
    /// At each place the number of the pair that begins there.
    pair_at: Vec<u32>,
    /// The numbers of its pairs in the first part's table, in which all are added up; of the first: none.
    in_sum: Vec<u32>,
}

/// Pairs to watch and the count from which all are among them.
pub(super) fn choose(
    sequences: &Sequences,
    may_merge: &(impl Fn((u32, u32)) -> bool + Sync),
    search: Search,
    go_on: &mut GoOn<'_>,
) -> Result<(u64, Vec<Watched>), Error> {
    let ranges = sequences.parts(search.threads.min(sequences.places.len() / PLACES).max(1));
    let mut parts = in_parts(ranges.clone(), go_on, &|range, go_on: &mut GoOn<'_>| {
        count(sequences, may_merge, range, go_on)
    })?;
    let Some((first, others)) = parts.split_first_mut() else {
        return Ok((search.min_frequency, Vec::new()));
    };
    others.iter_mut().for_each(|part| first.table.add(part));
    let sum = &parts[0].table;
    let top = sum.found.iter().map(|found| found.count).max().unwrap_or(0);
    let low = search.min_frequency.max(top / REACH);
    let threshold = threshold(sum.found.iter().copied(), low, search);
    let mut watched = Vec::new();
    let pairs = sum.pairs.iter().zip(&sum.found);
    let order: Vec<u32> = pairs
        .map(|(&pair, found)| {
            if found.count < threshold {
                return NONE;
            }
            watched.push(Watched { pair, count: found.count, places: PlaceList::zeros(found.places) });
            watched.len() as u32 - 1
        })
        .collect();
    let here: Vec<_> = parts.iter().map(|part| part.places_of(&order, watched.len())).collect();
    let lists = divided(&mut watched, parts.len(), |part, at| here[part][at] as usize);
    in_parts((0..ranges.len()).collect(), go_on, &|part: usize, go_on: &mut GoOn<'_>| {
        collect(&parts[part], ranges[part].start, &order, &mut taken(&lists[part]), go_on)
    })?;
    drop(lists);
    Ok((threshold, watched))
}

fn count(
    sequences: &Sequences,
    may_merge: &impl Fn((u32, u32)) -> bool,
    range: Range<usize>,
    go_on: &mut GoOn<'_>,
) -> Result<Part, Error> {
    let (mut table, mut pair_at, start) = (Table::new(), pages::vec(NONE, range.len()), range.start);
    sequences.each_pair(range, &mut |pair, count, place| {
        if may_merge(pair) {
            let number = table.number(pair);
            table.found[number as usize].add(count, 1);
            pair_at[place as usize - start] = number;
        }
        ask(go_on, place as usize)
    })?;
    let places = table.found.iter().map(|found| found.places as u32).collect();
    Ok(Part { table, places, pair_at, in_sum: Vec::new() })
}

impl Part {
    /// Calls `f` with each pair of this part and its place among those to watch; `order`: of all pairs, or `NONE`.
    fn each_in(&self, order: &[u32], mut f: impl FnMut(usize, u32)) {
        let all = 0..self.places.len();
        match self.in_sum.is_empty() {
            true => all.for_each(|number| f(number, order[number])),
            false => all.for_each(|number| f(number, order[self.in_sum[number] as usize])),
        }
    }

    /// At how many places here each of the pairs to watch stands.
    fn places_of(&self, order: &[u32], watched: usize) -> Vec<u32> {
        let mut here = vec![0; watched];
        self.each_in(order, |number, at| {
            if let Some(here) = here.get_mut(at as usize) {
                *here = self.places[number];
            }
        });
        here
    }
}

/// Puts the places of the pairs to watch in one part, which begins at `start`, where they belong.
fn collect(
    part: &Part,
    start: usize,
    order: &[u32],
    lists: &mut [IterMut<'_, u32>],
    go_on: &mut GoOn<'_>,
) -> Result<(), Error> {
    let mut own = vec![NONE; part.places.len()];
    part.each_in(order, |number, at| own[number] = at);
    for (place, &number) in part.pair_at.iter().enumerate() {
        if let Some(&at) = own.get(number as usize)
            && let Some(list) = lists.get_mut(at as usize)
            && let Some(slot) = list.next()
        {
            *slot = (start + place) as u32;
        }
        ask(go_on, place)?;
    }
    Ok(())
}
