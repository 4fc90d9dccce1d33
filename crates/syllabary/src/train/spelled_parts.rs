//! Pieces spelled by several threads, where the order of sequences is no matter.
//!
//! Each thread has some of the slots of the tally, sorts what is in them by count and spells it. Leaves out pieces that
//! are on disk, that an earlier training had joined, or that are words in runs (`sequences`).

use std::ops::Range;

use super::{
    super::{GoOn, ask, count::Counter, parallel::in_parts, places::Places, spelling::Speller},
    SEPARATOR, Sequences, check_places,
};
use crate::{Error, pages};

/// The sequences of all pieces, which were in `parts` of the slots; what was counted is freed.
pub(super) fn spell(
    counter: Counter,
    speller: &Speller,
    parts: Vec<Range<usize>>,
    go_on: &mut GoOn<'_>,
) -> Result<Sequences, Error> {
    let spelled = in_parts(parts, go_on, &|slots: Range<usize>, go_on: &mut GoOn<'_>| {
        // The others are appended to the first.
        let first = slots.start == 0;
        let room = if first { counter.symbols() } else { counter.symbols_in(slots.clone()) };
        let (mut sequences, mut places) = (Sequences::default(), pages::with_capacity(room));
        places.extend(first.then_some(SEPARATOR));
        let mut pieces = 0;
        counter.each_by_count_in(slots, &mut |counted| {
            pieces += 1;
            ask(go_on, pieces)?;
            let start = places.len();
            speller.spell_plain(counted.piece, &mut places);
            sequences.close(&mut places, start, counted.count)
        })?;
        Ok((sequences, places))
    })?;
    drop(counter);
    joined(spelled)
}

/// Those of all threads, each with its places; the first have room for all.
fn joined(parts: Vec<(Sequences, Vec<u32>)>) -> Result<Sequences, Error> {
    let mut parts = parts.into_iter();
    let (mut sequences, mut places) = parts.next().unwrap_or_default();
    for (part, more) in parts {
        check_places(places.len() + more.len())?;
        let behind = places.len() as u32;
        sequences.starts.extend(part.starts.iter().map(|start| behind + start));
        sequences.counts.extend(part.counts);
        places.extend_from_slice(&more);
    }
    places.shrink_to_fit();
    sequences.places = Places::Memory(places);
    sequences.index_blocks();
    Ok(sequences)
}
