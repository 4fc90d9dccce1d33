//! Where the ids go: into a vector, or into their number.

use std::ops::Range;

use super::{
    key::Key,
    memory::{FEW, Lines},
};

/// Takes ids in the order of the text.
pub(crate) trait Output {
    /// The first `count` of `ids`.
    fn few(&mut self, ids: &[u32; FEW], count: usize);
    /// All of them.
    fn many(&mut self, ids: &[u32]);
    /// A token found in the text, which takes these bytes of it.
    fn named(&mut self, id: u32, _bytes: Range<usize>) {
        self.many(&[id]);
    }
    /// All ids of these neighbouring pieces of `text`, the first of which begins at `start`, have been handed on.
    fn pieces(&mut self, _text: &[u8], _start: usize, _ends: &[usize]) {}
    /// Takes the ids of strings as long as they are found at once, and says how many were.
    fn found(&mut self, lines: Lines<'_>, keys: &[Key], hashes: &[u32]) -> usize;
}

const BUFFERED: usize = 4096;

/// Collects ids in front of a vector, which then grows rarely.
#[derive(Debug)]
pub(crate) struct Buffer([u32; BUFFERED]);

impl Default for Buffer {
    fn default() -> Self {
        Buffer([0; BUFFERED])
    }
}

/// Appends to a vector; `finish` must be called at the end.
pub(crate) struct Ids<'o> {
    out: &'o mut Vec<u32>,
    buffer: &'o mut Buffer,
    filled: usize,
}

impl<'o> Ids<'o> {
    pub(crate) fn new(out: &'o mut Vec<u32>, buffer: &'o mut Buffer) -> Self {
        Ids { out, buffer, filled: 0 }
    }

    /// Appends what is still in the buffer.
    pub(crate) fn finish(&mut self) {
        self.out.extend_from_slice(&self.buffer.0[..self.filled]);
        self.filled = 0;
    }
}

impl<O: Output> Output for &mut O {
    #[inline(always)]
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        O::few(self, ids, count);
    }

    #[inline(always)]
    fn many(&mut self, ids: &[u32]) {
        O::many(self, ids);
    }

    #[inline(always)]
    fn found(&mut self, lines: Lines<'_>, keys: &[Key], hashes: &[u32]) -> usize {
        O::found(self, lines, keys, hashes)
    }

    #[inline(always)]
    fn named(&mut self, id: u32, bytes: Range<usize>) {
        O::named(self, id, bytes);
    }

    #[inline(always)]
    fn pieces(&mut self, text: &[u8], start: usize, ends: &[usize]) {
        O::pieces(self, text, start, ends);
    }
}

impl Output for Ids<'_> {
    #[inline(always)]
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        if self.filled > BUFFERED - FEW {
            self.finish();
        }
        if let Some(place) = self.buffer.0[self.filled..].first_chunk_mut::<FEW>() {
            *place = *ids;
        }
        self.filled += count;
    }

    #[inline]
    fn many(&mut self, ids: &[u32]) {
        if self.filled + ids.len() > BUFFERED {
            self.finish();
        }
        match self.buffer.0.get_mut(self.filled..self.filled + ids.len()) {
            Some(place) => {
                place.copy_from_slice(ids);
                self.filled += ids.len();
            }
            None => self.out.extend_from_slice(ids),
        }
    }

    #[inline]
    fn found(&mut self, lines: Lines<'_>, keys: &[Key], hashes: &[u32]) -> usize {
        if BUFFERED - self.filled < FEW * keys.len() {
            self.finish();
        }
        let (done, filled) = fill(&mut self.buffer.0, self.filled, lines, (keys, hashes));
        self.filled = filled;
        done
    }
}

/// Writes the ids of strings after the first `filled` of `out`, as long as they are found at once and there is room;
/// gives how many were, and how much is filled then.
#[inline(always)]
pub(super) fn fill(
    out: &mut [u32],
    mut filled: usize,
    lines: Lines<'_>,
    (keys, hashes): (&[Key], &[u32]),
) -> (usize, usize) {
    let mut done = 0;
    if lines.has_many() {
        for (&key, &hash) in keys.iter().zip(hashes) {
            let Some((count, few, many)) = lines.any(key, hash) else { break };
            let Some(place) = out.get_mut(filled..).and_then(<[u32]>::first_chunk_mut) else { break };
            *place = *many;
            if let Some(place) = place.first_chunk_mut() {
                *place = *few;
            }
            filled += count;
            done += 1;
        }
        return (done, filled);
    }
    for (&key, &hash) in keys.iter().zip(hashes) {
        let Some((count, ids)) = lines.first(key, hash) else { break };
        let Some(place) = out.get_mut(filled..).and_then(<[u32]>::first_chunk_mut) else { break };
        *place = *ids;
        filled += count;
        done += 1;
    }
    (done, filled)
}

impl Output for Vec<u32> {
    fn few(&mut self, ids: &[u32; FEW], count: usize) {
        self.extend_from_slice(&ids[..count]);
    }

    fn many(&mut self, ids: &[u32]) {
        self.extend_from_slice(ids);
    }

    fn found(&mut self, lines: Lines<'_>, keys: &[Key], hashes: &[u32]) -> usize {
        let found = keys.iter().zip(hashes).map_while(|(&key, &hash)| lines.first(key, hash));
        found.inspect(|&(count, ids)| self.few(ids, count)).count()
    }
}

/// Counts.
#[derive(Debug, Default)]
pub(crate) struct Count(pub(crate) usize);

impl Output for Count {
    #[inline(always)]
    fn few(&mut self, _ids: &[u32; FEW], count: usize) {
        self.0 += count;
    }

    #[inline]
    fn many(&mut self, ids: &[u32]) {
        self.0 += ids.len();
    }

    #[inline]
    fn found(&mut self, lines: Lines<'_>, keys: &[Key], hashes: &[u32]) -> usize {
        let (mut sum, mut done) = (0, 0);
        for (&key, &hash) in keys.iter().zip(hashes) {
            let Some((count, ..)) = lines.any(key, hash) else { break };
            sum += count;
            done += 1;
        }
        self.0 += sum;
        done
    }
}
