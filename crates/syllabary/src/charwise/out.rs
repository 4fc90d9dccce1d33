//! Ids on their way out, gathered in runs.
//!
//! Leaves out what becomes of them.

use super::{carry::Carry, memory::Memory};
use crate::{
    Error,
    alphabet::NONE,
    encode::{LONG_FAR, Longer},
};

/// Ids are handed on in runs of about so many.
pub(crate) const RUN: usize = 4096;
/// No more than these are written at once.
pub(crate) const ROOM: usize = LONG_FAR;

/// Ids on their way out; several unknown ones in a row are one, if that is wanted.
pub(crate) struct Out<'a, F> {
    pub(crate) run: &'a mut [u32],
    pub(crate) written: usize,
    /// What stands for an unknown character; if nothing does, it is an error.
    pub(crate) unknown: u32,
    /// There was one.
    pub(crate) lacks: bool,
    /// Unknown tokens are made one.
    pub(crate) fuses: bool,
    pub(crate) after_unknown: bool,
    /// The score so far, where ids depend on it.
    pub(crate) carry: Option<Carry<'a>>,
    /// Says whether to go on.
    pub(crate) sink: F,
    /// It has said no: what else is written is thrown away.
    pub(crate) stopped: bool,
}

impl<F: FnMut(&[u32]) -> bool> Out<'_, F> {
    #[inline]
    pub(crate) fn make_room(&mut self) {
        if self.written + ROOM > self.run.len() {
            self.flush();
        }
    }

    /// Makes room for so many ids; whether a run can hold them.
    #[inline]
    pub(crate) fn has_room(&mut self, count: usize) -> bool {
        if self.written + count > self.run.len() {
            self.flush();
        }
        count <= self.run.len()
    }

    /// Whether all went well, if what was done did.
    ///
    /// # Errors
    /// `Error::UnknownSymbol` without a place and a name: the general way finds them. `Error::Interrupted`.
    pub(crate) fn end(&self, done: Result<(), Error>) -> Result<(), Error> {
        match (self.lacks, self.stopped) {
            (true, _) => Err(Error::UnknownSymbol { symbols: Vec::new(), offset: 0 }),
            (_, true) => Err(Error::Interrupted),
            _ => done,
        }
    }

    /// Adds what is written to the score; the score.
    pub(super) fn settle(&mut self) -> f64 {
        let Some(carry) = &mut self.carry else { return 0.0 };
        carry.fold(&self.run[..self.written]);
        carry.sum()
    }

    /// Whether the score so far is a small one, or none.
    pub(super) fn is_near(&self) -> bool {
        self.carry.as_ref().is_none_or(Carry::is_near)
    }

    #[inline(never)]
    pub(crate) fn flush(&mut self) {
        self.settle();
        if let Some(carry) = &mut self.carry {
            carry.restart();
        }
        self.stopped = self.stopped || !(self.sink)(&self.run[..self.written]);
        self.written = 0;
    }

    /// Writes the first `count` of these, none unknown; there must be room.
    #[inline]
    pub(crate) fn few(&mut self, ids: &[u32; 4], count: usize) {
        self.run[self.written..self.written + 4].copy_from_slice(ids);
        self.written += count;
        self.after_unknown = false;
    }

    /// Writes those of a longer segment, if they are remembered; there must be room.
    #[inline]
    pub(crate) fn longer(&mut self, memory: &Memory, key: Longer) -> bool {
        let room = self.run.get_mut(self.written..).and_then(<[u32]>::first_chunk_mut);
        let Some(count) = room.and_then(|room| memory.longer(key, room)) else { return false };
        self.written += count;
        self.after_unknown = false;
        true
    }

    /// Writes so many unknown characters in a row.
    pub(crate) fn unknown(&mut self, count: usize) {
        if self.unknown == NONE {
            (self.lacks, self.stopped) = (true, true);
            return;
        }
        let ids = match self.fuses {
            true => count.min(usize::from(!self.after_unknown)),
            false => count,
        };
        let mut left = ids;
        while left > 0 {
            self.make_room();
            let some = left.min(self.run.len() - self.written);
            self.run[self.written..self.written + some].fill(self.unknown);
            (self.written, left) = (self.written + some, left - some);
        }
        self.after_unknown = true;
        // An id adds what one character does; the others have none.
        if let (1.., Some(carry)) = (count - ids, &mut self.carry) {
            carry.unknown(self.written, count - ids);
        }
    }

    /// Lets ids be written, up to so many, none unknown; whether there were some.
    #[inline]
    pub(crate) fn some<const MOST: usize>(
        &mut self,
        write: impl FnOnce(&mut [u32; MOST]) -> Option<usize>,
    ) -> bool {
        if !self.has_room(MOST) {
            return false;
        }
        let room = self.run.get_mut(self.written..).and_then(<[u32]>::first_chunk_mut);
        let Some(count) = room.and_then(write) else { return false };
        self.written += count;
        self.after_unknown = false;
        true
    }

    /// Writes the first `count` of these, none unknown.
    #[inline]
    pub(crate) fn first(&mut self, ids: &[u32], count: usize) {
        match ids.first_chunk() {
            _ if count == 0 => {}
            Some(few) if count <= few.len() => {
                self.make_room();
                self.few(few, count);
            }
            _ => self.many(&ids[..count]),
        }
    }

    /// Writes the ids of a segment, as many as they are, none unknown.
    pub(crate) fn many(&mut self, ids: &[u32]) {
        if self.written + ids.len() + ROOM > self.run.len() {
            self.flush();
        }
        match self.run.get_mut(self.written..self.written + ids.len()) {
            Some(place) => {
                place.copy_from_slice(ids);
                self.written += ids.len();
            }
            None => {
                // The run is empty.
                if let Some(carry) = &mut self.carry {
                    carry.fold(ids);
                    carry.restart();
                }
                (self.sink)(ids);
            }
        }
        self.after_unknown = false;
    }
}
