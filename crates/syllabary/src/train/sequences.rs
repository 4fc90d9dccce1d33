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
    fetch::fetch,
    pages,
    train::{
        count::{Counter, RUN_END},
        tally::Counted,
    },
};

/// Calls with every sequence and its count, twice in the same way; the flag: in the order of first appearance.
pub(super) type Spells<'a> = dyn FnMut(bool, &mut dyn FnMut(u64, &[u32])) -> Result<(), Error> + 'a;

/// Between two pieces.
pub(super) const SEPARATOR: u32 = u32::MAX;

fn check_places(places: usize) -> Result<(), Error> {
    if places < SEPARATOR as usize {
        return Ok(());
    }
    Err(Error::TooLarge("the distinct pieces of the corpus exceed 2^32 symbols".to_owned()))
}

/// A run of words that is joined as an earlier training had joined it is held in memory meanwhile.
fn check_run(words: usize, most: usize) -> Result<(), Error> {
    const WORD: usize = 48; // numbers, ids, and what joining keeps of each
    if words <= most / WORD {
        return Ok(());
    }
    Err(Error::Training(format!(
        "the memory limit is too small for this corpus: a run of over {words} words, which is joined as far as the \
         training had come that goes on; give a higher limit, or shorter documents"
    )))
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
        if let Some(file) = counter.places_file() {
            let file = (memory.unwrap_or(usize::MAX), file);
            if counter.runs.is_on_disk() {
                return Sequences::spell_runs_on_disk(&counter, speller, file, go_on);
            }
            return Sequences::spell_spilled(&counter, speller, in_order, file, go_on);
        }
        let mut sequences = Sequences::default();
        let mut places = pages::with_capacity(counter.symbols());
        places.push(SEPARATOR);
        sequences.spell_runs(&counter, speller, &mut places, go_on)?;
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
        let mut places = pages::with_capacity(room + 1);
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
    fn spell_spilled(
        counter: &Counter,
        speller: &mut Speller,
        in_order: bool,
        file: (usize, PathBuf),
        go_on: &mut GoOn<'_>,
    ) -> Result<Sequences, Error> {
        let (mut ids, mut pieces) = (Vec::new(), 0);
        Sequences::spelled_twice(Some(file), in_order, &mut |in_order, f| {
            let mut spell = |counted: Counted<'_>| {
                pieces += 1;
                ids.clear();
                speller.spell(counted.piece, &mut ids)?;
                f(counted.count, &ids);
                ask(go_on, pieces)
            };
            if in_order { counter.each_by_first(&mut spell) } else { counter.each(&mut spell) }
        })
    }

    /// Of sequences that `each` spells, once to see how much room each count needs, then to put them there.
    ///
    /// in_order: they stand in the order of the second time, for which `each` is asked to keep to it; else by count.
    /// file: where the places are put if they take more than so many bytes.
    pub fn spelled_twice(
        file: Option<(usize, PathBuf)>,
        in_order: bool,
        each: &mut Spells<'_>,
    ) -> Result<Sequences, Error> {
        let (mut sequences, mut rooms) = (Sequences::default(), BTreeMap::<Reverse<u64>, usize>::new());
        each(false, &mut |count, ids| {
            if ids.len() > 1 {
                *rooms.entry(Reverse(count)).or_default() += ids.len() + 1;
            }
        })?;
        let total = 1 + rooms.values().sum::<usize>();
        check_places(total)?;
        let mut places = match file {
            Some((most, path)) if 4 * total > most => Places::on_disk(path, total, most / 2)?,
            _ => Places::Memory(pages::vec(SEPARATOR, total)),
        };
        let mut next = 1;
        for (&Reverse(count), room) in &mut rooms {
            if !in_order {
                sequences.step(next, count);
            }
            next += std::mem::replace(room, next);
        }
        places.set(0, SEPARATOR);
        let mut at_end = 1;
        each(in_order, &mut |count, ids| {
            if ids.len() < 2 {
                return;
            }
            let by_count = rooms.get_mut(&Reverse(count)).filter(|_| !in_order);
            let at = by_count.unwrap_or(&mut at_end);
            if in_order {
                sequences.step(*at, count);
            }
            (*at..).zip(ids).for_each(|(at, &id)| places.set(at, id));
            places.set(*at + ids.len(), SEPARATOR);
            *at += ids.len() + 1;
        })?;
        places.check()?;
        sequences.places = places;
        sequences.index_blocks();
        Ok(sequences)
    }

    fn spell_runs(
        &mut self,
        counter: &Counter,
        speller: &mut Speller,
        places: &mut Vec<u32>,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        let ids = speller.ids_of(counter.words.iter().map(|(piece, _)| piece))?;
        let mut run = Vec::new();
        counter.runs.each(go_on, &mut |some| {
            for &piece in some {
                if piece != RUN_END {
                    run.push(ids[piece as usize]);
                    continue;
                }
                let start = places.len();
                speller.join(run.drain(..), places)?;
                self.close(places, start, 1)?;
            }
            Ok(())
        })
    }

    /// The same for runs on disk. Where they need not be joined first, none of them is held in memory.
    fn spell_runs_on_disk(
        counter: &Counter,
        speller: &mut Speller,
        (most, path): (usize, PathBuf),
        go_on: &mut GoOn<'_>,
    ) -> Result<Sequences, Error> {
        let ids = speller.ids_of(counter.words.iter().map(|(piece, _)| piece))?;
        let total = 1 + counter.runs.len();
        check_places(total)?;
        let mut places = Places::on_disk(path, total, most / 2)?;
        places.set(0, SEPARATOR);
        let (mut start, mut end, mut run, mut joined) = (1, 1, Vec::new(), Vec::new());
        counter.runs.each(go_on, &mut |some| {
            for &piece in some {
                if piece != RUN_END && speller.is_plain() {
                    places.set(end, ids[piece as usize]);
                    end += 1;
                } else if piece != RUN_END {
                    run.push(ids[piece as usize]);
                    check_run(run.len(), most)?;
                } else {
                    joined.clear();
                    speller.join(run.drain(..), &mut joined)?;
                    (end..).zip(&joined).for_each(|(at, &id)| places.set(at, id));
                    end += joined.len();
                    places.set(end, SEPARATOR);
                    end = if end < start + 2 { start } else { end + 1 };
                    start = end;
                }
            }
            places.check()
        })?;
        places.truncate(end);
        let mut sequences = Sequences { places, ..Sequences::default() };
        sequences.step(1, 1);
        sequences.index_blocks();
        Ok(sequences)
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

    /// Asks for a place, what comes `span` places later, and how often they count, so that they are at hand.
    #[inline]
    pub fn fetch(&self, at: u32, span: u32) {
        if let Places::Memory(places) = &self.places {
            places.get(at as usize).into_iter().for_each(fetch);
            places.get(at as usize + span as usize).into_iter().for_each(fetch);
            self.blocks.get(at as usize >> 6).into_iter().for_each(fetch);
        }
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
