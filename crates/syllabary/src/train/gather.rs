//! Text on its way into a tally: gathered into stretches, which a crew counts while more text comes.
//!
//! Leaves out what cuts text into pieces (`Counts`), and where it may be cut.

use std::{mem, sync::Arc};

use super::{
    GoOn,
    crew::{Crew, Stretch},
    memory::Room,
    stored::Stored,
    tally::{Counted, Tally},
};
use crate::Error;

/// What counts the pieces of text.
pub(super) trait Counts: Send + Sync + 'static {
    /// Counts the pieces of a stretch; `room` is asked before the tally grows.
    fn count(
        &self,
        stretch: &Stretch,
        tally: &mut Tally,
        room: &Room,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), Error>;
}

/// Text that is not counted yet, and those who count it.
pub(super) struct Gather<C> {
    cutter: Arc<C>,
    room: Arc<Room>,
    /// So many threads count, beside the caller's; one: the caller counts.
    threads: usize,
    /// So many bytes are counted at a time.
    stretch: usize,
    crew: Option<Crew>,
    /// Text not handed over; its place says how many stretches there were before.
    batch: Stretch,
    tally: Tally,
}

impl<C: Counts> Gather<C> {
    pub fn new(cutter: C, threads: usize, stretch: usize, room: Room) -> Gather<C> {
        Gather {
            cutter: Arc::new(cutter),
            room: Arc::new(room),
            threads,
            stretch,
            crew: None,
            batch: Stretch::default(),
            tally: Tally::default(),
        }
    }

    pub fn cutter(&self) -> &Arc<C> {
        &self.cutter
    }

    /// Takes a text that can be counted alone.
    pub fn take(&mut self, text: &str, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        if !text.is_empty() {
            self.batch.push(text);
        }
        if self.batch.len() >= self.stretch { self.hand_over(go_on) } else { Ok(()) }
    }

    /// Counts on the calling thread; `f` is given the number of the stretch that this is.
    pub fn count(
        &mut self,
        f: impl FnOnce(&C, u64, &mut Tally, &Room) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.batch.is_empty() {
            self.hand_over(&mut || true)?;
        }
        let batch = self.next_batch();
        f(&self.cutter, batch.place, &mut self.tally, &self.room)
    }

    /// What was gathered; the next stretch begins.
    fn next_batch(&mut self) -> Stretch {
        let mut next = Stretch::default();
        next.place = self.batch.place + 1;
        mem::replace(&mut self.batch, next)
    }

    fn hand_over(&mut self, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let batch = self.next_batch();
        if self.threads > 1 && self.crew.is_none() {
            self.crew = Crew::start(self.cutter.clone(), self.threads, &self.room);
        }
        let Some(crew) = &mut self.crew else {
            let result = if go_on() { Ok(()) } else { Err(Error::Interrupted) };
            let result = result.and_then(|()| self.cutter.count(&batch, &mut self.tally, &self.room, go_on));
            let next = mem::replace(&mut self.batch, batch.emptied()).place;
            self.batch.place = next;
            return result;
        };
        let sent = crew.send(batch, go_on);
        if sent.is_ok() && !crew.failed() {
            return Ok(());
        }
        match self.crew.take() {
            Some(crew) => crew.finish(sent, go_on).map(drop),
            None => sent,
        }
    }

    /// Waits until all that was taken is counted; all tallies.
    fn counted(&mut self, go_on: &mut GoOn<'_>) -> Result<Vec<Tally>, Error> {
        let batch = self.next_batch();
        let mut tallies = match self.crew.take() {
            Some(mut crew) => {
                let sent = crew.send(batch, go_on);
                crew.finish(sent, go_on)?
            }
            None => {
                self.cutter.count(&batch, &mut self.tally, &self.room, go_on)?;
                Vec::new()
            }
        };
        tallies.push(mem::take(&mut self.tally));
        Ok(tallies)
    }

    /// Waits until all that was taken is counted; the number of distinct pieces.
    pub fn settle(&mut self, go_on: &mut GoOn<'_>) -> Result<usize, Error> {
        let tallies = self.counted(go_on)?;
        let (tally, distinct) = self.room.sum(tallies, go_on)?;
        self.tally = tally;
        Ok(distinct)
    }

    /// Waits until all that was taken is counted; not under a limit of memory. Calls `f` with every piece by its bytes.
    pub fn each_by_bytes(
        &mut self,
        go_on: &mut GoOn<'_>,
        f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.settle(go_on)?;
        self.tally.each_by_bytes(go_on, f)
    }

    /// Ends the text: all pieces, which are no longer here.
    pub fn finish(&mut self, go_on: &mut GoOn<'_>) -> Result<Stored, Error> {
        let tallies = self.counted(go_on)?;
        Stored::of(&self.room, tallies, go_on)
    }
}
