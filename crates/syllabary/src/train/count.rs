//! Counting: documents, whole or in parts, become a tally of pieces (or sequences of them).
//!
//! A document is cut only where the split cuts anyway, so that the result is that of the whole document and
//! memory stays bounded. Leaves out documents in parts (`parts`), who counts and when (`gather`) and what a tally is
//! (`tally`).

mod parts;
mod runs;

use std::path::PathBuf;

use crate::{
    Error,
    alphabet::Unit,
    special::SpecialMatcher,
    split::{Split, floor},
    train::{
        GoOn,
        crew::Stretch,
        gather::{Counts, Gather},
        going, huggingface_counted,
        memory::Room,
        spill::Order,
        table::PieceTable,
        tally::{Counted, Tally},
    },
};

pub use parts::Watch;
pub(super) use runs::RUN_END;
use runs::Runs;

/// So many bytes are counted at a time.
const STRETCH_BYTES: usize = 1 << 18;

/// So many pieces are looked up together.
const SPANS: usize = 1 << 10;

/// Memory for sorting pieces that are on disk.
const SORT_BYTES: usize = 16 << 20;

/// What cuts text into pieces.
pub(super) struct Cutter {
    split: Split,
    special: Vec<String>,
    matcher: SpecialMatcher,
}

/// Collects the pieces of a corpus.
pub struct Counter {
    unit: Unit,
    gather: Gather<Cutter>,
    /// For words: the pieces in order of first appearance, and those of every run as indices into them.
    pub(super) words: PieceTable,
    pub(super) runs: Runs,
    /// The part of the current document that is not yet taken.
    tail: String,
    /// The length of the tail when it was last searched for a place to cut, and had none.
    searched: usize,
    bytes: u64,
}

impl Counter {
    /// `special` tokens are boundaries in the text and not counted. With more than one thread, so many count
    /// while the caller brings the text.
    pub fn new(
        unit: Unit,
        split: Split,
        special: &[String],
        threads: usize,
        room: Room,
    ) -> Result<Counter, Error> {
        let tokens: Vec<(String, u32)> = special.iter().cloned().zip(0..).collect();
        let cutter = Cutter { split, special: special.to_vec(), matcher: SpecialMatcher::new(&tokens)? };
        let threads = if unit == Unit::Word { 1 } else { threads };
        Ok(Counter {
            unit,
            gather: Gather::new(cutter, threads, STRETCH_BYTES, room),
            words: PieceTable::default(),
            runs: Runs::default(),
            tail: String::new(),
            searched: 0,
            bytes: 0,
        })
    }

    /// What one initial symbol stands for.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The number of distinct pieces; of all, after `finish`.
    pub fn distinct_pieces(&self) -> usize {
        if self.unit == Unit::Word { self.words.len() } else { self.gather.distinct() }
    }

    /// Bytes of text taken so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A file for the places of tokens, if what was counted is on disk.
    pub(super) fn places_file(&self) -> Option<PathBuf> {
        let room = self.gather.room();
        let spilled = self.runs.is_on_disk() || room.spilled().is_some();
        room.beside("places").filter(|_| spilled)
    }

    /// Symbols of all pieces in memory, and what is between them, at most.
    pub(super) fn symbols(&self) -> usize {
        let tally = self.gather.tally();
        1 + tally.total_bytes() + tally.len()
    }

    /// Calls `f` with every piece, after `finish`; there are none for words, which are sequences of pieces.
    pub fn each(&self, f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>) -> Result<(), Error> {
        match self.gather.room().spilled() {
            Some(spill) => spill.each(Order::Bytes, f),
            None => self.gather.tally().each(f),
        }
    }

    /// The same by their bytes.
    pub fn each_by_bytes(
        &self,
        go_on: &mut GoOn<'_>,
        f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.gather.room().spilled() {
            Some(spill) => spill.each(Order::Bytes, f),
            None => self.gather.tally().each_by_bytes(go_on, f),
        }
    }

    /// The same by where they were first seen.
    pub(super) fn each_by_first(
        &self,
        f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.gather.room().spilled() {
            Some(spill) => {
                spill.sort(Order::First, SORT_BYTES, &mut || true)?;
                spill.each(Order::First, f)
            }
            None => self.gather.tally().each_by_first(f),
        }
    }

    /// The same, the frequent ones first, equals by their bytes; afterwards the order by bytes is lost.
    pub fn each_by_frequency(
        &self,
        go_on: &mut GoOn<'_>,
        f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.gather.room().spilled() {
            Some(spill) => {
                let share = self.gather.room().bytes().unwrap_or(0) / 4;
                spill.sort(Order::Frequent, share.max(SORT_BYTES), go_on)?;
                spill.each(Order::Frequent, f)
            }
            None => self.gather.tally().each_by(|count| u64::MAX - count, go_on, f),
        }
    }

    /// The same, the frequent ones first; not from disk.
    pub(super) fn each_by_count(
        &self,
        f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.gather.tally().each_by_count(f)
    }

    /// Counts whole documents. `go_on` is asked now and then; its `false` is `Error::Interrupted`.
    pub fn feed(&mut self, documents: &[&str], go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.end_document(go_on)?;
        for document in documents {
            self.bytes += document.len() as u64;
            let mut rest = *document;
            while let Some(cut) = self.cut_of(rest) {
                self.take(&rest[..cut], go_on)?;
                rest = &rest[cut..];
            }
            self.take(rest, go_on)?;
        }
        Ok(())
    }

    /// Adds `count` of a piece counted elsewhere.
    pub fn add(&mut self, piece: &[u8], count: u64) -> Result<(), Error> {
        self.gather.count(|_, (place, _), tally, room| {
            room.make(tally, 1)?;
            tally.add(piece, 0, piece.len(), count, place)
        })
    }

    /// Bytes of the document under way that may belong to a piece which is not there yet.
    pub fn pending(&self) -> usize {
        self.tail.len()
    }

    /// Ends the text: after it, all that was fed is in the tally.
    pub fn finish(&mut self, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.end_document(go_on)?;
        self.settle(go_on)
    }

    /// Ends the text: all pieces, of which none is left here.
    ///
    /// # Errors
    /// As `finish`.
    pub fn into_counted(mut self, go_on: &mut GoOn<'_>) -> Result<huggingface_counted::Counted, Error> {
        self.end_document(go_on)?;
        self.gather.finish(go_on).map(huggingface_counted::Counted::Stored)
    }

    /// Waits until all that was fed is in the tally, but `pending` bytes.
    pub fn settle(&mut self, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.gather.settle(go_on)
    }

    /// Counts a text that ends where a document ends, or where it may be cut.
    fn take(&mut self, text: &str, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        if self.unit == Unit::Word { self.count_runs(text, go_on) } else { self.gather.take(text, go_on) }
    }
}

impl Counts for Cutter {
    /// Many at a time: while one is waited for, the next are looked up.
    fn count(
        &self,
        stretch: &Stretch,
        tally: &mut Tally,
        room: &Room,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        let whole = stretch.text().as_bytes();
        let (start, place) = (whole.as_ptr() as usize, stretch.place);
        let (mut spans, mut state) = (Vec::with_capacity(SPANS), Ok(()));
        let mut add = |spans: &[(usize, usize)]| {
            room.make(tally, spans.len())?;
            tally.add_all(whole, spans, place)
        };
        let mut note = |piece: &str| {
            let at = piece.as_ptr() as usize - start;
            spans.push((at, at + piece.len()));
            if spans.len() == SPANS && state.is_ok() {
                state = going(go_on).and_then(|()| add(&spans));
            }
            if spans.len() == SPANS {
                spans.clear();
            }
        };
        stretch
            .texts()
            .try_for_each(|text| self.each_run(text, &mut |run| self.split.pieces(run, &mut note)))?;
        state.and_then(|()| add(&spans))
    }
}

impl Cutter {
    /// Calls `f` with every stretch between special tokens.
    fn each_run<'t>(
        &self,
        text: &'t str,
        f: &mut impl FnMut(&'t str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut done = 0;
        for found in self.matcher.find(text) {
            f(&text[done..found.start])?;
            done = found.end;
        }
        f(&text[done..])
    }

    /// A place where `text` may be cut whatever follows it.
    fn safe_cut(&self, text: &str) -> Option<usize> {
        let reach = self.special.iter().map(String::len).max().unwrap_or(0);
        let mut end = floor(text, text.len().saturating_sub(reach));
        loop {
            let cut = self.split.last_safe_cut(&text[..end])?;
            if !self.crosses_special(text, cut, reach) {
                return Some(cut);
            }
            end = floor(text, cut.saturating_sub(1));
        }
    }

    /// Whether some special token stands across the place `cut`.
    fn crosses_special(&self, text: &str, cut: usize, reach: usize) -> bool {
        let window = &text.as_bytes()[cut.saturating_sub(reach)..(cut + reach).min(text.len())];
        let middle = cut.min(reach);
        self.special.iter().any(|token| {
            let starts = window.windows(token.len()).enumerate();
            starts
                .filter(|(_, bytes)| *bytes == token.as_bytes())
                .any(|(start, _)| start < middle && middle < start + token.len())
        })
    }
}
