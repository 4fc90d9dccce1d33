//! Text on its way into a tally: gathered into stretches, which a crew counts while more text comes.
//!
//! Leaves out what cuts text into pieces (`Counts`), and where it may be cut.

use std::{mem, sync::Arc};

use super::{
    GoOn,
    crew::{Crew, Stretch},
    going,
    memory::Room,
    stored::Stored,
    tally::Tally,
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
    /// Text not handed over.
    batch: Stretch,
    /// Where the next stretch begins, and how many there were before.
    next: (u64, u64),
    tally: Tally,
    distinct: usize,
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
            next: (0, 0),
            tally: Tally::default(),
            distinct: 0,
        }
    }

    pub fn cutter(&self) -> &Arc<C> {
        &self.cutter
    }

    pub fn room(&self) -> &Room {
        &self.room
    }

    /// What was counted when it was last waited for, unless that is on disk.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How many distinct pieces it had.
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// Takes a text that can be counted alone.
    pub fn take(&mut self, text: &str, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        if !text.is_empty() {
            self.batch.push(text);
        }
        if self.batch.len() >= self.stretch { self.hand_over(go_on) } else { Ok(()) }
    }

    /// The same, for one of the size of a stretch that is no longer needed.
    pub fn take_whole(&mut self, text: String, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        if !self.batch.is_empty() {
            return self.take(&text, go_on);
        }
        self.batch = Stretch::of(text);
        self.hand_over(go_on)
    }

    /// Memory for text.
    pub fn spare(&mut self) -> String {
        let spare =
            if self.batch.is_empty() { mem::take(&mut self.batch).into_empty() } else { String::new() };
        if spare.capacity() > 0 {
            spare
        } else {
            self.crew.as_ref().map_or(spare, |crew| crew.spare().into_empty())
        }
    }

    /// Counts on the calling thread; `f` is given the place and the number of the stretch that this is.
    pub fn count(
        &mut self,
        f: impl FnOnce(&C, (u64, u64), &mut Tally, &Room) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.batch.is_empty() {
            self.hand_over(&mut || true)?;
        }
        let here = self.stretch_of(0);
        f(&self.cutter, here, &mut self.tally, &self.room)
    }

    /// The place and the number of the next stretch, which has so many bytes; one without text takes a place, too.
    fn stretch_of(&mut self, bytes: usize) -> (u64, u64) {
        let (place, number) = self.next;
        mem::replace(&mut self.next, (place + bytes.max(1) as u64, number + 1))
    }

    /// What was gathered.
    fn batch(&mut self) -> Stretch {
        let mut batch = mem::take(&mut self.batch);
        (batch.place, batch.number) = self.stretch_of(batch.len());
        batch
    }

    fn hand_over(&mut self, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let batch = self.batch();
        if self.threads > 1 && self.crew.is_none() {
            self.crew = Crew::start(self.cutter.clone(), self.threads, &self.room);
        }
        let Some(crew) = &mut self.crew else {
            let result =
                going(go_on).and_then(|()| self.cutter.count(&batch, &mut self.tally, &self.room, go_on));
            self.batch = batch.emptied();
            return result;
        };
        self.batch = crew.spare();
        let sent = crew.send(batch, go_on);
        if sent.is_ok() && !crew.failed() {
            return Ok(());
        }
        match self.crew.take() {
            Some(crew) => crew.finish(sent, go_on).map(drop),
            None => sent,
        }
    }

    /// Waits until all that was taken is counted.
    pub fn settle(&mut self, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        if self.crew.is_none() && self.batch.is_empty() && self.tally.is_empty() && self.distinct > 0 {
            return Ok(()); // All of it is on disk, in one run.
        }
        let batch = self.batch();
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
        (self.tally, self.distinct) = self.room.sum(tallies, go_on)?;
        Ok(())
    }

    /// Ends the text: all pieces, which are no longer here.
    pub fn finish(&mut self, go_on: &mut GoOn<'_>) -> Result<Stored, Error> {
        self.settle(go_on)?;
        Ok(Stored::new(&self.room, (mem::take(&mut self.tally), mem::take(&mut self.distinct))))
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Mutex};

    use super::*;

    /// Notes where the text of stretches lies.
    #[derive(Default)]
    struct Seen(Mutex<BTreeSet<usize>>);

    impl Counts for Seen {
        fn count(
            &self,
            stretch: &Stretch,
            _tally: &mut Tally,
            _room: &Room,
            _go_on: &mut GoOn<'_>,
        ) -> Result<(), Error> {
            if !stretch.is_empty() {
                self.0.lock().unwrap().insert(stretch.text().as_ptr() as usize);
            }
            Ok(())
        }
    }

    #[test]
    fn memory_of_counted_text_is_used_again() {
        let text = "a".repeat(1 << 10);
        for threads in 1..4 {
            let mut gather = Gather::new(Seen::default(), threads, text.len(), Room::default());
            (0..1000).for_each(|_| gather.take(&text, &mut || true).unwrap());
            gather.settle(&mut || true).unwrap();
            let places = gather.cutter().0.lock().unwrap().len();
            // As many as are counted, wait for that, or are gathered.
            assert!((1..=2 * threads + 2).contains(&places), "{threads}: {places}");
        }
    }
}
