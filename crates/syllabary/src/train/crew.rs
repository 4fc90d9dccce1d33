//! The threads that count, each with a tally of its own; added when the text has ended.
//!
//! Every piece is noted with its place in the corpus, so it is no matter who counts what and when. Leaves out
//! where the text is cut (`count`), and who hands stretches of it over (`gather`).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{Builder, JoinHandle},
    time::Duration,
};

use super::{GoOn, gather::Counts, going, memory::Room, tally::Tally};
use crate::Error;

/// Documents, or parts of them that can be counted alone, one after the other.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    text: String,
    ends: Vec<usize>,
    /// Where it begins in the corpus.
    pub place: u64,
    /// How many came before.
    pub number: u64,
}

impl Stretch {
    /// One text that can be counted alone.
    pub fn of(text: String) -> Stretch {
        Stretch { ends: vec![text.len()], text, ..Stretch::default() }
    }

    /// Its memory, without text.
    pub fn into_empty(mut self) -> String {
        self.text.clear();
        self.text
    }

    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// All of them as one.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Each of them.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.text[std::mem::replace(&mut start, end)..end])
    }

    /// The same memory, for other text.
    pub fn emptied(mut self) -> Stretch {
        self.text.clear();
        self.ends.clear();
        self
    }
}

/// Threads at work.
pub(super) struct Crew {
    queue: SyncSender<Stretch>,
    inlet: Arc<Mutex<Receiver<Stretch>>>,
    /// Stretches that were counted: their memory is used again.
    counted: Arc<Mutex<Vec<Stretch>>>,
    workers: Vec<JoinHandle<Result<Tally, Error>>>,
    /// So many workers at most.
    threads: usize,
    sent: usize,
    /// Set when a worker has failed, or is to stop.
    stop: Arc<AtomicBool>,
    cutter: Arc<dyn Counts>,
    room: Arc<Room>,
    seeds: (u64, u64),
}

impl Crew {
    /// One thread, to which others come as there is work; `None` if there can be none.
    pub fn start(cutter: Arc<dyn Counts>, threads: usize, room: &Arc<Room>) -> Option<Crew> {
        let (queue, inlet) = sync_channel(threads);
        let mut crew = Crew {
            queue,
            inlet: Arc::new(Mutex::new(inlet)),
            counted: Arc::default(),
            workers: Vec::new(),
            threads,
            sent: 0,
            stop: Arc::new(AtomicBool::new(false)),
            cutter,
            room: Arc::clone(room),
            seeds: Tally::seeds(),
        };
        crew.hire();
        (!crew.workers.is_empty()).then_some(crew)
    }

    /// One thread more, if there may be one and the system has one.
    fn hire(&mut self) {
        if self.workers.len() >= self.threads {
            return;
        }
        let (cutter, inlet) = (Arc::clone(&self.cutter), Arc::clone(&self.inlet));
        let (stop, room) = (Arc::clone(&self.stop), Arc::clone(&self.room));
        let (tally, counted) = (Tally::with_seeds(self.seeds), Arc::clone(&self.counted));
        match Builder::new().spawn(move || work(&*cutter, (&inlet, &counted), &stop, &room, tally)) {
            Ok(worker) => self.workers.push(worker),
            Err(_) => self.threads = self.workers.len(),
        }
    }

    /// Whether some worker has failed; `finish` says how.
    pub fn failed(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// An empty stretch.
    pub fn spare(&self) -> Stretch {
        let counted = self.counted.lock().ok().and_then(|mut counted| counted.pop());
        counted.map(Stretch::emptied).unwrap_or_default()
    }

    /// Hands a stretch to the next free worker; waits where all are busy.
    pub fn send(&mut self, stretch: Stretch, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let mut waiting = stretch;
        self.sent += 1;
        if self.sent > self.workers.len() {
            self.hire();
        }
        loop {
            match self.queue.try_send(waiting) {
                Err(TrySendError::Full(stretch)) => waiting = stretch,
                // All workers are gone: `finish` says why.
                Ok(()) | Err(TrySendError::Disconnected(_)) => return Ok(()),
            }
            // Nor is any left to take it where one failed, as on a full disk, and stopped the others.
            if self.failed() || self.workers.iter().all(JoinHandle::is_finished) {
                return Ok(());
            }
            pause(go_on)?;
        }
    }

    /// Waits for the workers; gives what they counted. If `sent` is an error, stops them.
    pub fn finish(self, sent: Result<(), Error>, go_on: &mut GoOn<'_>) -> Result<Vec<Tally>, Error> {
        self.stop.fetch_or(sent.is_err(), Ordering::Relaxed);
        drop((self.queue, self.inlet));
        let mut result = sent;
        let mut tallies = Vec::new();
        for worker in self.workers {
            while result.is_ok() && !worker.is_finished() {
                result = pause(go_on);
                self.stop.fetch_or(result.is_err(), Ordering::Relaxed);
            }
            let counted = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match counted {
                Ok(counted) => tallies.push(counted),
                // One that failed has stopped the others, which were only interrupted.
                Err(error) if result.is_ok() || error != Error::Interrupted => result = Err(error),
                Err(_) => {}
            }
        }
        result.map(|()| tallies)
    }
}

fn pause(go_on: &mut GoOn<'_>) -> Result<(), Error> {
    std::thread::sleep(Duration::from_micros(200));
    going(go_on)
}

/// Counts what comes until nothing comes any more.
fn work(
    cutter: &dyn Counts,
    (inlet, counted): (&Mutex<Receiver<Stretch>>, &Mutex<Vec<Stretch>>),
    stop: &AtomicBool,
    room: &Room,
    mut tally: Tally,
) -> Result<Tally, Error> {
    let going = &mut || !stop.load(Ordering::Relaxed);
    loop {
        // A poisoned lock is that of a worker that panicked, which `finish` tells.
        let next = match inlet.lock() {
            Ok(inlet) => inlet.recv(),
            Err(_) => return Err(Error::Interrupted),
        };
        let Ok(stretch) = next else { return Ok(tally) };
        if let Err(error) = cutter.count(&stretch, &mut tally, room, going) {
            stop.store(true, Ordering::Relaxed);
            return Err(error);
        }
        if let Ok(mut counted) = counted.lock() {
            counted.push(stretch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fails;

    impl Counts for Fails {
        fn count(
            &self,
            stretch: &Stretch,
            _tally: &mut Tally,
            _room: &Room,
            _go_on: &mut GoOn<'_>,
        ) -> Result<(), Error> {
            if stretch.number == 1 { Err(Error::TooLarge("full".to_owned())) } else { Ok(()) }
        }
    }

    #[test]
    fn nothing_waits_for_workers_that_failed() {
        for threads in 1..4 {
            let mut crew = Crew::start(Arc::new(Fails), threads, &Arc::default()).unwrap();
            let mut asked = 0;
            // Whoever waits asks whether to go on; so often nobody has to.
            let go_on: &mut GoOn<'_> = &mut || {
                asked += 1;
                asked < 50_000
            };
            let stretch = |number| Stretch { number, ..Stretch::of("a".to_owned()) };
            let sent = (0..100).try_for_each(|number| crew.send(stretch(number), go_on));
            assert_eq!(sent, Ok(()));
            assert_eq!(crew.finish(sent, go_on).err(), Some(Error::TooLarge("full".to_owned())));
        }
    }
}
