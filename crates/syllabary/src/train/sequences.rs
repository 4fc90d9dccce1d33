//! The corpus as training sees it: every distinct piece spelled in initial symbols, in one flat array.
//!
//! ```text
//! pieces  low ×5, lower ×2      array  l o w | l o w e r |      | is SEPARATOR
//! ```
//!
//! A token that covers several symbols has its id at the first and the last of its places; what stands
//! between is stale and never read. So there is no linked list, and a place p with token x goes on at
//! p + length(x), and back at p - 1.

use std::sync::Arc;

use crate::{
    Error,
    alphabet::{Alphabet, Spelling, Unit},
    train::{
        GoOn, TrainOptions, ask,
        count::{Counter, RUN_END},
        symbols::text,
    },
};

/// Between two pieces.
pub(super) const SEPARATOR: u32 = u32::MAX;

/// Distinct sequences of symbols and how often each occurs.
#[derive(Debug)]
pub(super) struct Sequences {
    /// Ids, every sequence followed by a `SEPARATOR`; the first place is one too.
    pub places: Vec<u32>,
    /// Where each sequence begins.
    starts: Vec<u32>,
    counts: Vec<u64>,
    /// The sequence that holds place `64 * k`.
    blocks: Vec<u32>,
}

impl Sequences {
    /// Spells every distinct piece (or, for words, every run) in the ids of `alphabet`.
    pub fn new(
        counter: &Counter,
        alphabet: &[Arc<[u8]>],
        options: &TrainOptions,
        go_on: &mut GoOn<'_>,
    ) -> Result<Sequences, Error> {
        let symbols = (0..).zip(alphabet).map(|(id, symbol)| (&**symbol, id));
        let spelling = Alphabet::new(
            &Spelling {
                end_of_word: options.end_of_word.as_deref(),
                fallback: options.fallback,
                ..Spelling::plain(counter.unit())
            },
            symbols,
        )?;
        let mut sequences =
            Sequences { places: vec![SEPARATOR], starts: vec![], counts: vec![], blocks: vec![] };
        sequences.places.reserve(counter.table.total_bytes() + counter.table.len());
        if counter.unit() == Unit::Word {
            sequences.spell_runs(counter, &spelling)?;
        } else {
            for (index, (piece, count)) in counter.table.iter().enumerate() {
                ask(go_on, index)?;
                sequences.open()?;
                spelling.spell(text(piece), &mut |id, _| sequences.places.push(id), &mut |_| ());
                sequences.close(count);
            }
        }
        sequences.index_blocks()?;
        Ok(sequences)
    }

    fn spell_runs(&mut self, counter: &Counter, spelling: &Alphabet) -> Result<(), Error> {
        // With fallback a piece is still one symbol: every piece seen is in the alphabet.
        let mut ids = Vec::with_capacity(counter.table.len());
        for (piece, _) in counter.table.iter() {
            spelling.spell(text(piece), &mut |id, _| ids.push(id), &mut |_| ());
        }
        for run in counter.runs.split(|&piece| piece == RUN_END).filter(|run| !run.is_empty()) {
            self.open()?;
            self.places.extend(run.iter().map(|&piece| ids[piece as usize]));
            self.close(1);
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), Error> {
        self.starts.push(place(self.places.len())?);
        Ok(())
    }

    fn close(&mut self, count: u64) {
        self.places.push(SEPARATOR);
        self.counts.push(count);
    }

    fn index_blocks(&mut self) -> Result<(), Error> {
        place(self.places.len())?;
        let mut sequence = 0;
        for first in (0..self.places.len() as u32).step_by(64) {
            while self.starts.get(sequence as usize + 1).is_some_and(|&start| start <= first) {
                sequence += 1;
            }
            self.blocks.push(sequence);
        }
        Ok(())
    }

    /// How often the sequence that holds `at` occurs.
    #[inline]
    pub fn count_at(&self, at: u32) -> u64 {
        let mut sequence = self.blocks[at as usize >> 6] as usize;
        while self.starts.get(sequence + 1).is_some_and(|&start| start <= at) {
            sequence += 1;
        }
        self.counts[sequence]
    }

    /// Whether there is nothing to train on.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }
}

fn place(at: usize) -> Result<u32, Error> {
    u32::try_from(at)
        .ok()
        .filter(|&at| at < SEPARATOR)
        .ok_or_else(|| Error::TooLarge("the distinct pieces of the corpus exceed 2^32 symbols".to_owned()))
}
