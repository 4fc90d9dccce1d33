//! Merging of a long string in windows: each by itself, and the next from where they fit together.
//!
//! ```text
//! tokens of a window             [a b c d e f]
//! tokens of another, beyond it         [x d e' g h …]   d is in both: a b c, d e' g h … is right so far
//! where there is no such token   [a b c d] e' f'        d and e' by themselves become d and e': right too, be e' of a
//!                                                       window beyond or of one that begins there
//! ```
//!
//! Tokens are those of a whole string if each two neighbours, merged by themselves, become these two. For suppose that
//! a merge crossed an end of theirs, and take the first that does: up to it, what stands within the two tokens beside
//! that end has merged as it does when they are alone, as each step takes the lowest rank, leftmost, of all and so
//! of these; then it would be taken there too. Within a window neighbours are right for the same reason. Where windows
//! do not fit after some tries, as with tokens of many spaces, another way must be taken (`merge`).
//!
//! Windows that others may fit into are merged ahead, many at a time (`ahead`).

mod ahead;

use super::{pieces::Fast, short};
use crate::{Error, asking::Ask, merge::Merges, vocab::Vocab};
use ahead::Ahead;

/// What merges.
type Known<'a> = (&'a Fast, &'a Vocab, &'a Merges);

/// Bytes merged at a time: more cost more for each, fewer are merged again too often.
const WINDOW: usize = 32;
/// Tokens at the end of a window that are left to the next.
const AGAIN: usize = 2;
/// So many tokens are taken back where two windows do not fit, and for each byte so many are merged in all: it is
/// given up before it costs much.
const MOST_BACK: usize = 8;
const MOST_WORK: usize = 4;
/// It is asked whether to go on behind so many bytes.
const OFTEN: usize = if cfg!(test) { 1 << 6 } else { 1 << 16 };
/// Where the last tokens begin is kept, of no more than so many.
const KEPT: usize = if cfg!(test) { 1 << 5 } else { 1 << 10 };

/// The tokens of one string on their way.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// Where each of the last tokens begins.
    starts: Vec<usize>,
    ahead: Ahead,
}

/// Some bytes of the string, merged by themselves.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: usize,
    end: usize,
    /// A bit for each byte where a token begins, and one for the end.
    bounds: u64,
    /// The tokens, one after the other.
    ids: [u32; WINDOW],
}

impl Window {
    /// Merges the bytes of `span`, at most `WINDOW`.
    fn of(known: Known<'_>, text: &[u8], (start, end): (usize, usize)) -> Window {
        let (fast, _, merges) = known;
        let (ids, live) = short::merge_with_places(&fast.bytes, merges, text, (start, end));
        Window { start, end, bounds: live | 1 << (end - start), ids }
    }

    /// Its ends of tokens behind `at`, which is one of them or where it begins.
    fn after(&self, at: usize) -> u64 {
        self.bounds & (u64::MAX << (at - self.start) << 1)
    }

    /// The end of its last token but `AGAIN`, if that is behind `at`; or else `at`.
    fn kept(&self, at: usize) -> usize {
        let mut ends = self.after(at);
        for _ in 0..AGAIN.min(ends.count_ones() as usize) {
            ends ^= 1 << ends.ilog2();
        }
        ends.checked_ilog2().map_or(at, |last| self.start + last as usize)
    }
}

impl Windows {
    /// Merges `text[start..end]`, which is not empty, into `ids`, which are; `false`, and they are of no use, where windows do
    /// not fit together. `ask` is asked now and then.
    pub(super) fn merge(
        &mut self,
        known: Known<'_>,
        text: &[u8],
        (start, end): (usize, usize),
        (ids, ask): (&mut Vec<u32>, &Ask),
    ) -> Result<bool, Error> {
        self.starts.clear();
        self.ahead.begin(start, end);
        let mut left = MOST_WORK * (end - start);
        // All tokens before `at` are in `ids`; one of the window's ends there, or it begins there.
        let (mut at, mut furthest, mut back, mut asked) = (start, start, 0, start);
        let mut window = Window::of(known, text, (start, end.min(start + WINDOW)));
        loop {
            if at > asked + OFTEN {
                ask.check()?;
                asked = at;
            }
            if let Some((next, to)) = self.ahead.fits(known, text, &window, at) {
                self.take(&window, (at, to), ids);
                (window, at) = (next, to);
                continue;
            }
            if window.end == end {
                self.take(&window, (at, end), ids);
                return Ok(true);
            }
            let to = window.kept(at);
            if to == window.start {
                return Ok(false);
            }
            self.take(&window, (at, to), ids);
            at = to;
            if at > furthest {
                (furthest, back) = (at, 0);
            }
            loop {
                let to = end.min(at + WINDOW);
                let Some(less) = left.checked_sub(to - at) else { return Ok(false) };
                left = less;
                window = Window::of(known, text, (at, to));
                let first = at + window.after(at).trailing_zeros() as usize;
                let Some(&last) = self.starts.last() else {
                    if at == start {
                        break;
                    }
                    return Ok(false);
                };
                if are_apart(known, text, [last, at, first]) {
                    break;
                }
                back += 1;
                if back > MOST_BACK {
                    return Ok(false);
                }
                ids.pop();
                self.starts.pop();
                at = last;
            }
        }
    }

    /// Takes the tokens of a window from one of its places to another.
    fn take(&mut self, window: &Window, (from, to): (usize, usize), ids: &mut Vec<u32>) {
        if self.starts.len() > KEPT {
            self.starts.drain(..KEPT / 2);
        }
        let below = |place: usize| (1_u64 << (place - window.start)) - 1;
        let count = |bits: u64| bits.count_ones() as usize;
        let mut begins = window.bounds & below(to) & !below(from);
        let first = count(window.bounds & below(from));
        ids.extend_from_slice(&window.ids[first..first + count(begins)]);
        while begins != 0 {
            self.starts.push(window.start + begins.trailing_zeros() as usize);
            begins &= begins - 1;
        }
    }
}

/// Whether the bytes from the first place to the last, merged by themselves, are two tokens that meet at the second.
fn are_apart((fast, _, merges): Known<'_>, text: &[u8], [start, middle, end]: [usize; 3]) -> bool {
    if end - start > short::MOST {
        return false;
    }
    short::places(&fast.bytes, merges, text, (start, end)) == 1 | 1 << (middle - start)
}

#[cfg(test)]
#[path = "windows_tests.rs"]
mod tests;
