//! Tokens moved together by several threads: each those of a part, which is then moved to the one before.
//!
//! Leaves out places on disk (`Sequences::compact`).

use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

use super::{
    super::{GoOn, ask, parallel::in_parts, places::Places},
    SEPARATOR, Sequences,
};
use crate::Error;

/// A thread for so many places.
const PLACES: usize = if cfg!(test) { 1 << 8 } else { 1 << 16 };

/// Some sequences.
struct Part<'a> {
    places: &'a mut [u32],
    /// Where they begin.
    start: usize,
    /// What of them has been moved together: so many places, and the steps as `Sequences` has them, from 0.
    len: usize,
    starts: Vec<u32>,
    counts: Vec<u64>,
}

/// Where the steps of all sequences begin, and their counts, before they are moved.
type Steps<'a> = (&'a [u32], &'a [u64]);

impl Part<'_> {
    /// Moves tokens together.
    fn compact(
        &mut self,
        spans: &[u32],
        (starts, counts): Steps<'_>,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        let places = &mut *self.places;
        let first = starts.partition_point(|&start| start as usize <= self.start).saturating_sub(1);
        let mut read = 0;
        for (at, &count) in counts.iter().enumerate().skip(first) {
            let next = starts.get(at + 1).map_or(usize::MAX, |&next| next as usize - self.start);
            let end = next.min(places.len());
            while read < end {
                let start = self.len;
                while let Some(&id) = places.get(read).filter(|&&id| id != SEPARATOR) {
                    places[self.len] = id;
                    (read, self.len) = (read + spans[id as usize] as usize, self.len + 1);
                }
                read += 1;
                ask(go_on, read)?;
                if self.len < start + 2 {
                    self.len = start;
                    continue;
                }
                places[self.len] = SEPARATOR;
                self.len += 1;
                if self.counts.last() != Some(&count) {
                    self.starts.push(start as u32);
                    self.counts.push(count);
                }
            }
            if read >= places.len() {
                break;
            }
        }
        Ok(())
    }
}

/// `Sequences::compact` by so many threads at most; `false` if it is left to one.
pub(super) fn compact(
    sequences: &mut Sequences,
    spans: &[u32],
    threads: usize,
    go_on: &mut GoOn<'_>,
) -> Result<bool, Error> {
    let parts = threads.min(sequences.places.len() / PLACES);
    let (Places::Memory(places), true) = (&mut sequences.places, parts > 1) else { return Ok(false) };
    let steps = (std::mem::take(&mut sequences.starts), std::mem::take(&mut sequences.counts));
    let of_parts = divided(places, parts);
    let numbered = (0..of_parts.len()).map(|part| part..part + 1).collect();
    in_parts(numbered, go_on, &|number: Range<usize>, go_on: &mut GoOn<'_>| {
        let mut part = of_parts[number.start].lock().unwrap_or_else(PoisonError::into_inner);
        part.compact(spans, (&steps.0, &steps.1), go_on)
    })?;
    drop(steps);
    let parts = of_parts.into_iter().map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
    let moved: Vec<_> = parts.map(|part| (part.start, part.len, part.starts, part.counts)).collect();
    let mut write = 1;
    for (start, len, starts, counts) in moved {
        places.copy_within(start..start + len, write);
        for (at, count) in starts.into_iter().zip(counts) {
            // A step may go on where another part begins.
            if sequences.counts.last() != Some(&count) {
                sequences.starts.push(write as u32 + at);
                sequences.counts.push(count);
            }
        }
        write += len;
    }
    sequences.places.truncate(write);
    sequences.index_blocks();
    Ok(true)
}

/// The places in so many parts, each of whole sequences.
fn divided(places: &mut [u32], parts: usize) -> Vec<Mutex<Part<'_>>> {
    let (total, mut start) = (places.len(), 1);
    let mut rest = &mut places[1..];
    let mut divided = Vec::with_capacity(parts);
    for part in 1..=parts {
        // What stands inside of tokens is stale, but never a `SEPARATOR`.
        let about = (total * part / parts).saturating_sub(start).min(rest.len());
        let end =
            rest[about..].iter().position(|&id| id == SEPARATOR).map_or(rest.len(), |at| about + at + 1);
        let (own, others) = std::mem::take(&mut rest).split_at_mut(end);
        rest = others;
        let (starts, counts) = (Vec::new(), Vec::new());
        divided.push(Mutex::new(Part { places: own, start, len: 0, starts, counts }));
        start += end;
    }
    divided
}
