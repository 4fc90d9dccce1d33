//! Merging of a long string in windows: each by itself, and the next from where they fit together.
//!
//! ```text
//! tokens of a window             [a b c d e f]  the last may be others where more follows: [a b c d]
//! tokens of the next, from there         [e' f' g h …]
//! d and e' by themselves become d and e'  =>  a b c d e' f' g h … is right so far
//! ```
//!
//! Tokens are those of a whole string if each two neighbours, merged by themselves, become these two. For suppose that
//! a merge crossed an end of theirs, and take the first that does: up to it, what stands within the two tokens beside
//! that end has merged as it does when they are alone, as each step takes the lowest rank, leftmost, of all and so
//! of these; then it would be taken there too. Within a window neighbours are right for the same reason. Where windows
//! do not fit after some tries, as with tokens of many spaces, another way must be taken (`merge`).

use super::short::{self, BytePairs};
use crate::merge::Merges;

/// Bytes merged at a time: more cost more for each, fewer are merged again too often.
const WINDOW: usize = 32;
/// Tokens at the end of a window that are left to the next.
const AGAIN: usize = 2;
/// So many tokens are taken back where two windows do not fit, and for each byte so many are merged in all: it is
/// given up before it costs much.
const MOST_BACK: usize = 8;
const MOST_WORK: usize = 4;
/// Places are kept for so many tokens.
const KEPT: usize = 1 << 16;

/// The tokens of one string on their way.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// Where each token begins.
    starts: Vec<usize>,
}

impl Windows {
    /// Merges `text[start..end]`, which is not empty, into `ids`, which are; `None`, and they are of no use, where windows do
    /// not fit together.
    pub(super) fn merge(
        &mut self,
        (bytes, merges): (&BytePairs, &Merges),
        text: &[u8],
        (start, end): (usize, usize),
        ids: &mut Vec<u32>,
    ) -> Option<()> {
        self.starts.clear();
        self.starts.shrink_to(KEPT);
        let (mut at, mut left) = (start, MOST_WORK * (end - start));
        let (mut furthest, mut back) = (start, 0);
        loop {
            let to = end.min(at + WINDOW);
            left = left.checked_sub(to - at)?;
            let (window, live) = short::merge_to_places(bytes, merges, text, (at, to));
            if let Some(&last) = self.starts.last() {
                let second = live & (live - 1);
                let next = if second == 0 { to } else { at + second.trailing_zeros() as usize };
                if !are_apart((bytes, merges), text, [last, at, next]) {
                    back += 1;
                    if back > MOST_BACK {
                        return None;
                    }
                    ids.pop();
                    self.starts.pop();
                    at = last;
                    continue;
                }
            }
            let again = if to == end { 0 } else { AGAIN };
            let kept = (live.count_ones() as usize).saturating_sub(again);
            let (mut count, mut places) = (0, live);
            while count < kept {
                let place = places.trailing_zeros() as usize;
                places &= places - 1;
                ids.push(window[place]);
                self.starts.push(at + place);
                count += 1;
            }
            match (kept, places) {
                (0, _) => return None,
                (_, 0) => return Some(()),
                _ => at += places.trailing_zeros() as usize,
            }
            if at > furthest {
                (furthest, back) = (at, 0);
            }
        }
    }
}

/// Whether the bytes from the first place to the last, merged by themselves, are two tokens that meet at the second.
fn are_apart((bytes, merges): (&BytePairs, &Merges), text: &[u8], [start, middle, end]: [usize; 3]) -> bool {
    end - start <= short::MOST
        && short::merge_to_places(bytes, merges, text, (start, end)).1 == 1 | 1 << (middle - start)
}

#[cfg(test)]
#[path = "windows_tests.rs"]
mod tests;
