//! New pieces that wait until there are many: the more are merged together, the fuller are the lanes.
//!
//! ```text
//! ids      those of all pieces that were found, chunk after chunk
//! held     the others: how many ids come before each, its key, and a copy of its bytes, as its text may be gone
//! marks    ends of texts and tokens found in them wait among the others
//! ```
//!
//! Of a document of 3 kB a dozen words are new, which is less than there are lanes, and the longest has them all wait. So
//! new words of some documents are learned together, and then all is handed on. Adds: `Held`. Leaves out what is done with
//! a new piece (`chunk`).

use super::{
    asked::{Asked, LONG, MARK, PIECE},
    chunk::{New, learn},
    found::{Found, MANY, Missed},
    output::Output,
    pieces::{FastWork, Pieces},
};
use crate::Error;

/// So many new pieces wait for no others, and less are not waited with.
const ENOUGH: usize = 64;
const FEWEST: usize = 3;
/// Nor do any behind so many ids, which are to stay in the cache.
const IDS: usize = 1 << 13;
/// A chunk of more bytes waits for nothing.
const WIDE: usize = 1 << 15;
/// The most pieces and marks that wait.
const ROOM: usize = 2 * MANY;
/// What the chunks before the last may leave in `Found`.
pub(super) const BEFORE: (usize, usize) = (IDS, ROOM);

/// The pieces that wait, in order, and the marks between them.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: Vec<u8>,
    /// Where the first begins, and where each ends.
    edges: Vec<usize>,
    asked: Asked,
    /// How many are no marks.
    pieces: usize,
    /// Whether some of those learned last were new.
    were_new: bool,
}

impl Held {
    pub(super) fn new() -> Held {
        Held { edges: vec![0], asked: Asked::new(ROOM), ..Held::default() }
    }

    /// How many wait, marks among them.
    #[inline(always)]
    fn count(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Whether a chunk of so many pieces and bytes may come behind what waits.
    #[inline]
    fn has_room_for(&self, pieces: usize, bytes: usize) -> bool {
        self.count() + pieces <= ROOM && bytes <= WIDE
    }

    /// Whether what was not found of a chunk of so many bytes is to wait: not where the last ones were known. Pieces of more
    /// than `SHORT` bytes count if they are `spelled`.
    #[inline]
    pub(super) fn is_worth(&self, (asked, found): (&Asked, &Found), bytes: usize, spells: bool) -> bool {
        let is_learned = |missed: &&Missed| match asked.key(usize::from(missed.at)) {
            LONG => spells,
            key => key.high != 0,
        };
        let count = || found.missed().iter().filter(is_learned).count();
        self.were_new && bytes <= WIDE && (FEWEST..ENOUGH).contains(&count())
    }

    #[inline]
    fn is_full(&self, found: &Found) -> bool {
        self.pieces >= ENOUGH || found.filled() > IDS || self.count() > ROOM - MANY
    }

    /// Takes what was not found of a chunk, from one on.
    fn add(&mut self, chunk: &New<'_>, found: &mut Found, from: usize) {
        for missed in &found.missed()[from..] {
            let at = usize::from(missed.at);
            self.asked.take(self.edges.len() - 1, (chunk.asked, at));
            let (key, end) = (chunk.asked.key(at), self.bytes.len());
            self.pieces += usize::from(key != MARK);
            match (key.high >> PIECE) as usize {
                0 if key == MARK => {}
                0 => self.bytes.extend_from_slice(&chunk.text[chunk.starts[at]..chunk.ends[at]]),
                length => {
                    self.bytes.extend_from_slice(&key.sixteen());
                    self.bytes.truncate(end + length);
                }
            }
            self.edges.push(self.bytes.len());
        }
        found.number(from);
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.edges.truncate(1);
        self.pieces = 0;
    }
}

impl<O: Output> Pieces<'_, O> {
    /// Makes sure that a chunk of so many pieces and bytes may come behind what waits.
    #[inline]
    pub(super) fn make_room(&mut self, pieces: usize, bytes: usize) -> Result<(), Error> {
        if self.work.held.is_empty() || self.work.held.has_room_for(pieces, bytes) {
            return Ok(());
        }
        self.settle()
    }

    /// Lets the pieces of a chunk wait that were not found, from one on, and does not if they are enough.
    pub(super) fn hold(&mut self, chunk: &New<'_>, from: usize) -> Result<(), Error> {
        let FastWork { held, found, .. } = &mut *self.work;
        held.add(chunk, found, from);
        if held.is_full(found) { self.settle() } else { Ok(()) }
    }

    /// Lets the end of a text, or a token found in it, come behind the pieces that wait; whether there are any.
    pub(super) fn hold_mark(&mut self, id: Option<u32>) -> Result<bool, Error> {
        let FastWork { held, found, joined, .. } = &mut *self.work;
        if held.is_empty() {
            return Ok(false);
        }
        let place = held.count();
        found.miss::<false>(place);
        held.asked.mark(place);
        held.edges.push(held.bytes.len());
        joined.wait(id);
        if held.is_full(found) {
            self.settle()?;
        }
        Ok(true)
    }

    /// Hands on what was found and what waits, whose pieces are learned before.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        if self.work.held.is_empty() {
            return Ok(());
        }
        let mut held = std::mem::take(&mut self.work.held);
        let (starts, ends) = (&held.edges[..held.count()], &held.edges[1..]);
        let done = self.resolve(&New { text: &held.bytes, starts, ends, asked: &held.asked });
        held.clear();
        held.were_new = self.work.held.were_new;
        self.work.held = held;
        self.work.joined.forget_marks();
        done
    }

    /// Hands on what was found and, between it, what was not, which is learned before.
    pub(super) fn resolve(&mut self, new: &New<'_>) -> Result<(), Error> {
        let mut found = std::mem::take(&mut self.work.found);
        let known = (self.fast, self.vocab, self.merges);
        let mut inside = self.work.take_inside(self.fast);
        let count = learn(known, &mut *self.work, (new.asked, &found));
        let FastWork { spelled, short, longer, .. } = &mut *self.work;
        let count = count + spelled.learn(known, (short, longer), &mut inside.characters, (new, &found));
        self.work.held.were_new = count >= FEWEST;
        let done = self.others(new, &found, &mut inside);
        found.clear();
        (self.work.found, self.work.inside) = (found, Some(inside));
        done
    }
}

impl FastWork {
    /// Nothing waits any more.
    pub(crate) fn forget_held(&mut self) {
        self.held.clear();
        self.found.clear();
        self.forget_joined();
    }
}
