//! The corpus as training sees it: every distinct piece spelled in tokens, in one flat array.
//!
//! ```text
//! pieces  low ×5, lower ×2      array  l o w | l o w e r |      | is SEPARATOR
//! ```
//!
//! A token that covers several places has its id at the first and the last of them; what stands between is
//! stale and never read. So there is no linked list, and a place p with token x goes on at p + span(x), and
//! back at p - 1. Leaves out which pairs are looked at (`window`, `pairs`).

use std::{cmp::Reverse, collections::BTreeMap, ops::Range, path::PathBuf};

use super::{GoOn, ask, places::Places, spelling::Speller};
use crate::{
    Error,
    train::count::{Counter, RUN_END},
    train::tally::Counted,
};

/// Between two pieces.
pub(super) const SEPARATOR: u32 = u32::MAX;

fn check_places(places: usize) -> Result<(), Error> {
    if places < SEPARATOR as usize {
        return Ok(());
    }
    Err(Error::TooLarge("the distinct pieces of the corpus exceed 2^32 symbols".to_owned()))
}

/// Distinct sequences of tokens and how often each occurs.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    /// Ids, every sequence followed by a `SEPARATOR`; the first place is one too.
    pub places: Places,
    /// Where the sequences that occur equally often begin, as long as they follow each other: a step.
    starts: Vec<u32>,
    /// How often those of each step occur.
    counts: Vec<u64>,
    /// The step that holds place `64 * k`.
    blocks: Vec<u32>,
}

impl Sequences {
    /// Spells every distinct piece (or, for words, every run); what was counted is freed.
    ///
    /// in_order: the sequences stand in the order of first appearance. memory: what the places may take; of
    /// pieces that are on disk, more are kept there.
    pub fn new(
        counter: Counter,
        speller: &mut Speller,
        in_order: bool,
        memory: Option<usize>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Sequences, Error> {
        let mut sequences = Sequences::default();
        if let Some(file) = counter.spilled_beside() {
            sequences.spell_spilled(&counter, speller, in_order, memory.map(|most| (most, file)), go_on)?;
            sequences.index_blocks();
            return Ok(sequences);
        }
        let mut places = Vec::with_capacity(counter.symbols());
        places.push(SEPARATOR);
        sequences.spell_runs(&counter, speller, &mut places)?;
        let mut pieces = 0;
        let mut spell = |counted: Counted<'_>| {
            pieces += 1;
            ask(go_on, pieces)?;
            let start = places.len();
            speller.spell(counted.piece, &mut places)?;
            sequences.close(&mut places, start, counted.count)
        };
        if in_order {
            counter.each_by_first(&mut spell)?;
        } else {
            counter.each_by_count(&mut spell)?;
        }
        drop(counter);
        places.shrink_to_fit();
        sequences.places = Places::Memory(places);
        sequences.index_blocks();
        Ok(sequences)
    }

    /// Of sequences that are spelled, in about `room` ids, each ended by a `SEPARATOR`; they come with their count.
    pub fn spelled(
        room: usize,
        words: impl Iterator<Item = (u64, impl Iterator<Item = u32>)>,
    ) -> Result<Sequences, Error> {
        let mut sequences = Sequences::default();
        let mut places = Vec::with_capacity(room + 1);
        places.push(SEPARATOR);
        for (count, ids) in words {
            let mut start = places.len();
            for id in ids {
                if id == SEPARATOR {
                    sequences.close(&mut places, start, count)?;
                    start = places.len();
                } else {
                    places.push(id);
                }
            }
        }
        sequences.places = Places::Memory(places);
        sequences.index_blocks();
        Ok(sequences)
    }

    /// The same for pieces on disk, which are spelled twice: first to see how much room each count needs.
    ///
    /// file: where the places are put if they take more than so many bytes.
    fn spell_spilled(
        &mut self,
        counter: &Counter,
        speller: &mut Speller,
        in_order: bool,
        file: Option<(usize, PathBuf)>,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        let (mut rooms, mut ids, mut pieces) = (BTreeMap::<Reverse<u64>, usize>::new(), Vec::new(), 0);
        let mut each = |in_order: bool, f: &mut dyn FnMut(u64, &[u32])| {
            let mut spell = |counted: Counted<'_>| {
                pieces += 1;
                ids.clear();
                speller.spell(counted.piece, &mut ids)?;
                if ids.len() > 1 {
                    f(counted.count, &ids);
                }
                ask(go_on, pieces)
            };
            if in_order { counter.each_by_first(&mut spell) } else { counter.each(&mut spell) }
        };
        each(false, &mut |count, ids| *rooms.entry(Reverse(count)).or_default() += ids.len() + 1)?;
        let total = 1 + rooms.values().sum::<usize>();
        check_places(total)?;
        let mut places = match file {
            Some((most, path)) if 4 * total > most => Places::on_disk(path, total, most / 2)?,
            _ => Places::Memory(vec![SEPARATOR; total]),
        };
        let mut next = 1;
        for (&Reverse(count), room) in &mut rooms {
            if !in_order {
                self.step(next, count);
            }
            next += std::mem::replace(room, next);
        }
        places.set(0, SEPARATOR);
        let mut at_end = 1;
        each(in_order, &mut |count, ids| {
            let by_count = rooms.get_mut(&Reverse(count)).filter(|_| !in_order);
            let at = by_count.unwrap_or(&mut at_end);
            if in_order {
                self.step(*at, count);
            }
            (*at..).zip(ids).for_each(|(at, &id)| places.set(at, id));
            places.set(*at + ids.len(), SEPARATOR);
            *at += ids.len() + 1;
        })?;
        places.check()?;
        self.places = places;
        Ok(())
    }

    fn spell_runs(
        &mut self,
        counter: &Counter,
        speller: &mut Speller,
        places: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let ids = speller.ids_of(counter.words.iter().map(|(piece, _)| piece))?;
        for run in counter.runs.split(|&piece| piece == RUN_END).filter(|run| !run.is_empty()) {
            let start = places.len();
            speller.join(run.iter().map(|&piece| ids[piece as usize]), places)?;
            self.close(places, start, 1)?;
        }
        Ok(())
    }

    /// Ends the sequence that began at `start`; one of a single token has no pair and is left out.
    fn close(&mut self, places: &mut Vec<u32>, start: usize, count: u64) -> Result<(), Error> {
        if places.len() < start + 2 {
            places.truncate(start);
            return Ok(());
        }
        places.push(SEPARATOR);
        check_places(places.len())?;
        self.step(start, count);
        Ok(())
    }

    fn step(&mut self, start: usize, count: u64) {
        if self.counts.last() != Some(&count) {
            self.starts.push(start as u32);
            self.counts.push(count);
        }
    }

    fn index_blocks(&mut self) {
        self.blocks.clear();
        let mut step = 0;
        for first in (0..self.places.len() as u32).step_by(64) {
            while self.starts.get(step as usize + 1).is_some_and(|&start| start <= first) {
                step += 1;
            }
            self.blocks.push(step);
        }
    }

    /// How often the sequence that holds `at` occurs.
    #[inline]
    pub fn count_at(&self, at: u32) -> u64 {
        let mut step = self.blocks[at as usize >> 6] as usize;
        while self.starts.get(step + 1).is_some_and(|&start| start <= at) {
            step += 1;
        }
        self.counts[step]
    }

    /// Moves the tokens together, each in one place, and leaves out sequences of one token.
    pub fn compact(&mut self, spans: &[u32]) -> Result<(), Error> {
        let mut old = std::mem::take(self);
        let (mut read, mut write) = (1, 1);
        for step in 0..old.starts.len() {
            let end = old.end_of(step);
            while read < end {
                let start = write;
                loop {
                    // subtle: places that the system has refused may hold anything; `check` comes after the step.
                    let id = if read < end { old.places.get(read) } else { SEPARATOR };
                    if id == SEPARATOR {
                        break;
                    }
                    old.places.set(write, id);
                    (read, write) = (read + spans[id as usize] as usize, write + 1);
                }
                read += 1;
                if write < start + 2 {
                    write = start;
                } else {
                    old.places.set(write, SEPARATOR);
                    write += 1;
                    self.step(start, old.counts[step]);
                }
            }
            old.places.check()?;
        }
        self.places = old.places;
        self.places.truncate(write);
        self.index_blocks();
        Ok(())
    }

    fn end_of(&self, step: usize) -> usize {
        self.starts.get(step + 1).map_or(self.places.len(), |&start| start as usize)
    }

    /// The places in so many parts of about equal size.
    pub fn parts(&self, parts: usize) -> Vec<Range<usize>> {
        let (first, places) = (1, self.places.len());
        let cut = |part: usize| first + (places - first) * part / parts;
        (0..parts).map(|part| cut(part)..cut(part + 1)).collect()
    }

    /// Calls `f` with every pair that begins in `range`, its count and its place; all tokens cover one place.
    #[inline]
    pub fn each_pair(
        &self,
        range: Range<usize>,
        f: &mut impl FnMut((u32, u32), u64, u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut step =
            self.starts.partition_point(|&start| (start as usize) <= range.start).saturating_sub(1);
        self.places.scan(range, &mut |first, places| {
            let (mut at, last) = (0, places.len() - 1);
            while at < last {
                let (end, count) = ((self.end_of(step) - first).min(last), self.counts[step]);
                for place in at..end {
                    let (left, right) = (places[place], places[place + 1]);
                    if left != SEPARATOR && right != SEPARATOR {
                        f((left, right), count, (first + place) as u32)?;
                    }
                }
                step += usize::from(first + end == self.end_of(step));
                at = end;
            }
            Ok(())
        })
    }
}
