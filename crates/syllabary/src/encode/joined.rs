//! Texts of a batch side by side, so that chunks are as full as those of one long text.
//!
//! ```text
//! bytes   The cat|.|Ein Hund|.|…        |.|: one byte that no UTF-8 has, a piece of its own, where a mark stands
//! marks           end       end         the end of a text, or the id of a token found in it
//! ```
//!
//! A mark is never found in the memory, so the look notes how many ids come before it, and it is handed on in its turn.
//! Adds: `Joined`, what waits for its chunk. Leaves out which texts are joined (`plain`), and the chunk (`chunk`).

use super::{
    asked::Asked,
    found::MANY,
    output::Output,
    pieces::{FastWork, Pieces},
};
use crate::{Error, split::Split};

/// Stands where a mark is.
const MARK: u8 = 0xFF;
/// Stretches of more bytes fill chunks alone.
pub(crate) const ALONE: usize = 1 << 11;
/// A chunk begins anew at the end of a text where it is so full, ...
const FULL: usize = MANY - MANY / 4;
/// ... or has so many bytes.
const WIDE: usize = 1 << 15;

/// Pieces of texts that wait for their chunk.
#[derive(Debug, Default)]
pub(super) struct Joined {
    bytes: Vec<u8>,
    /// How many pieces, marks among them; their edges are those of the work.
    count: usize,
    /// The piece of each mark.
    marks: Vec<u16>,
    /// Of each mark that is not handed on, those held before among them, the id if it is a token; how many are done.
    ids: Vec<Option<u32>>,
    done: usize,
}

impl Joined {
    /// Tells the marks of a chunk from its pieces.
    #[inline]
    pub(super) fn mark(&self, asked: &mut Asked) {
        self.marks.iter().for_each(|&at| asked.mark(usize::from(at)));
    }

    /// Notes a mark that is to be handed on behind the others.
    pub(super) fn wait(&mut self, id: Option<u32>) {
        self.ids.push(id);
    }

    /// All marks are handed on.
    pub(super) fn forget_marks(&mut self) {
        self.ids.clear();
        self.done = 0;
    }

    /// Hands on the next mark.
    #[inline]
    pub(super) fn hand_on(&mut self, out: &mut impl Output) {
        let id = self.ids.get(self.done).copied().flatten();
        self.done += 1;
        hand_on(id, out);
    }
}

/// Hands on what stands at a mark.
#[inline(always)]
fn hand_on(id: Option<u32>, out: &mut impl Output) {
    match id {
        Some(id) => out.many(&[id]),
        None => out.ended(),
    }
}

impl<O: Output> Pieces<'_, O> {
    /// Adds a stretch of a text, of at most `ALONE` bytes; its split must have a walk.
    pub(crate) fn join(&mut self, split: &Split, stretch: &str) -> Result<(), Error> {
        let Some(mut walk) = split.walk(stretch) else { return self.text(split, stretch) };
        let base = self.work.begin_joined();
        self.work.joined.bytes.extend_from_slice(stretch.as_bytes());
        loop {
            let FastWork { joined, edges, .. } = &mut *self.work;
            let room = &mut edges[joined.count + 1..];
            let found = walk.fill(room);
            room[..found].iter_mut().for_each(|end| *end += base);
            joined.count += found;
            if found == 0 {
                return Ok(());
            }
            if joined.count == MANY {
                self.chunk_joined()?;
            }
        }
    }

    /// Ends a text, or adds a token found in it.
    pub(crate) fn mark(&mut self, id: Option<u32>) -> Result<(), Error> {
        let FastWork { joined, edges, .. } = &mut *self.work;
        if joined.count == 0 {
            if !self.hold_mark(id)? {
                hand_on(id, &mut self.out);
            }
            return Ok(());
        }
        joined.bytes.push(MARK);
        joined.marks.push(joined.count as u16);
        joined.ids.push(id);
        joined.count += 1;
        edges[joined.count] = joined.bytes.len();
        if joined.count >= FULL || joined.bytes.len() >= WIDE { self.chunk_joined() } else { Ok(()) }
    }

    /// Encodes what waits for its chunk.
    pub(crate) fn chunk_joined(&mut self) -> Result<(), Error> {
        let count = std::mem::take(&mut self.work.joined.count);
        let (bytes, edges) =
            (std::mem::take(&mut self.work.joined.bytes), std::mem::take(&mut self.work.edges));
        let done = self.chunk(&bytes, &edges[..=count]);
        self.work.joined.marks.clear();
        if self.work.held.is_empty() {
            self.work.joined.forget_marks();
        }
        (self.work.joined.bytes, self.work.edges) = (bytes, edges);
        self.work.edges[0] = self.work.edges[count];
        done
    }
}

impl FastWork {
    /// Where the bytes of the next text or mark are to go: from the first place on, if nothing waits.
    fn begin_joined(&mut self) -> usize {
        if self.joined.count == 0 {
            self.joined.bytes.clear();
            self.edges[0] = 0;
        }
        self.joined.bytes.len()
    }

    /// No text waits for its chunk any more, nor any mark.
    pub(super) fn forget_joined(&mut self) {
        self.joined.count = 0;
        self.joined.marks.clear();
        self.joined.forget_marks();
    }
}
