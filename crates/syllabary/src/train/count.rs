//! Counting: documents, whole or in parts, become a table of pieces (or sequences of them).
//!
//! A document that arrives in parts is cut only where the split cuts anyway, so that the result is that of
//! the whole document and memory stays bounded. Threads count stretches of text that follow each other;
//! their tables are added in that order, so the result does not depend on how many there are.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread::ScopedJoinHandle,
    time::Duration,
};

use crate::{
    Error,
    alphabet::Unit,
    special::SpecialMatcher,
    split::Split,
    threads,
    train::{GoOn, ask, table::PieceTable},
};

/// A document in parts is counted whenever this many bytes of it are at hand.
const PART_BYTES: usize = 4 << 20;
/// A thread gets no less than this.
const THREAD_BYTES: usize = 1 << 18;

/// Marks the end of a run in the sequences of pieces.
pub(super) const RUN_END: u32 = u32::MAX;

/// Collects the pieces of a corpus.
pub struct Counter {
    unit: Unit,
    split: Split,
    special: Vec<String>,
    matcher: SpecialMatcher,
    pub(super) table: PieceTable,
    /// For words: the pieces of every run as indices into the table, each run ended by `RUN_END`.
    pub(super) runs: Vec<u32>,
    /// The part of the current document that is not yet counted.
    tail: String,
    /// The length of the tail when it was last searched for a place to cut, and had none.
    searched: usize,
    bytes: u64,
}

impl Counter {
    /// `special` tokens are boundaries in the text and not counted.
    pub fn new(unit: Unit, split: Split, special: &[String]) -> Result<Counter, Error> {
        let tokens: Vec<(String, u32)> = special.iter().cloned().zip(0..).collect();
        Ok(Counter {
            unit,
            split,
            special: special.to_vec(),
            matcher: SpecialMatcher::new(&tokens)?,
            table: PieceTable::default(),
            runs: Vec::new(),
            tail: String::new(),
            searched: 0,
            bytes: 0,
        })
    }

    /// What one initial symbol stands for.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The number of distinct pieces counted so far.
    pub fn distinct_pieces(&self) -> usize {
        self.table.len()
    }

    /// Bytes of text taken so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts whole documents. `go_on` is asked now and then; its `false` is `Error::Interrupted`.
    pub fn feed(&mut self, documents: &[&str], threads: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.end_document(threads, go_on)?;
        self.bytes += documents.iter().map(|text| text.len() as u64).sum::<u64>();
        self.count(documents, threads, go_on)
    }

    /// Takes the next part of a long document.
    pub fn feed_part(&mut self, part: &str, threads: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.bytes += part.len() as u64;
        self.tail.push_str(part);
        // A text without a place to cut is searched again when it has doubled: linear in all.
        if self.tail.len() < PART_BYTES.max(2 * self.searched) || self.unit == Unit::Word {
            return Ok(());
        }
        let Some(cut) = self.safe_cut(&self.tail) else {
            self.searched = self.tail.len();
            return Ok(());
        };
        self.searched = 0;
        let rest = self.tail.split_off(cut);
        let ready = std::mem::replace(&mut self.tail, rest);
        self.count(&[&ready], threads, go_on)
    }

    /// Ends the document begun by `feed_part`.
    pub fn end_document(&mut self, threads: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.searched = 0;
        if self.tail.is_empty() {
            return Ok(());
        }
        let tail = std::mem::take(&mut self.tail);
        self.count(&[&tail], threads, go_on)
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

    fn count(&mut self, documents: &[&str], threads: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        if self.unit == Unit::Word {
            return documents.iter().try_for_each(|text| self.count_runs(text, go_on));
        }
        let mut table = std::mem::take(&mut self.table);
        let result = self.count_shares(&self.shares(documents, threads), &mut table, go_on);
        self.table = table;
        result
    }

    /// Counts the first share here and each other in a thread of its own; adds the tables in order.
    fn count_shares(
        &self,
        shares: &[Vec<&str>],
        table: &mut PieceTable,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error> {
        let [first, others @ ..] = shares else { return Ok(()) };
        let stop = AtomicBool::new(false);
        let count = |share: &[&str]| {
            let mut table = PieceTable::default();
            let go_on = &mut || !stop.load(Ordering::Relaxed);
            self.count_share(share, &mut table, go_on).map(|()| table)
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                others.iter().map(|share| (share, threads::start(scope, || count(share)))).collect();
            let mut ask = || {
                let going = go_on();
                stop.fetch_or(!going, Ordering::Relaxed);
                going
            };
            let mut result = self.count_share(first, table, &mut ask);
            for (share, thread) in threads {
                if result.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                let counted = match thread {
                    Some(thread) => wait(thread, &mut ask),
                    None => count(share),
                };
                result = result.and_then(|()| table.merge(&counted?));
            }
            result
        })
    }

    /// Cuts the documents into stretches of about equal size, in order, one a thread.
    fn shares<'t>(&self, documents: &[&'t str], threads: usize) -> Vec<Vec<&'t str>> {
        let total: usize = documents.iter().map(|text| text.len()).sum();
        let size = total.div_ceil(threads.max(1)).max(THREAD_BYTES);
        let mut shares = vec![Vec::new()];
        let mut room = size;
        for &document in documents {
            let mut text = document;
            while text.len() > room {
                let target = floor(text, (room + THREAD_BYTES).min(text.len()));
                let Some(cut) = self.safe_cut(&text[..target]) else { break };
                let (head, rest) = text.split_at(cut);
                shares.extend([Vec::new()]);
                let last = shares.len() - 2;
                shares[last].push(head);
                (text, room) = (rest, size);
            }
            if room == 0 {
                shares.push(Vec::new());
                room = size;
            }
            if let Some(share) = shares.last_mut() {
                share.push(text);
            }
            room = room.saturating_sub(text.len());
        }
        shares
    }

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

    fn count_share(&self, share: &[&str], table: &mut PieceTable, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let mut pieces = 0;
        share.iter().try_for_each(|text| {
            self.each_run(text, &mut |run| {
                let mut state = Ok(());
                self.split.pieces(run, &mut |piece| {
                    if state.is_ok() {
                        pieces += 1;
                        state = ask(go_on, pieces).and_then(|()| table.add(piece.as_bytes(), 1).map(drop));
                    }
                })?;
                state
            })
        })
    }

    fn count_runs(&mut self, text: &str, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let mut table = std::mem::take(&mut self.table);
        let mut runs = std::mem::take(&mut self.runs);
        let result = self.each_run(text, &mut |run| {
            let mut state = Ok(());
            self.split.pieces(run, &mut |piece| {
                if state.is_ok() {
                    state = ask(go_on, runs.len()).and_then(|()| {
                        runs.push(table.add(piece.as_bytes(), 1)?);
                        Ok(())
                    });
                }
            })?;
            if runs.last().is_some_and(|&last| last != RUN_END) {
                runs.push(RUN_END);
            }
            state
        });
        (self.table, self.runs) = (table, runs);
        result
    }
}

/// Waits for a thread, asking on the way.
fn wait<T>(thread: ScopedJoinHandle<'_, T>, go_on: &mut GoOn<'_>) -> T {
    while !thread.is_finished() {
        go_on();
        std::thread::sleep(Duration::from_micros(200));
    }
    threads::join(thread)
}

/// The largest character boundary of `text` at or below `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
