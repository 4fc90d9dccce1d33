//! Windows of a long string that are merged before it is known whether they will be of use, many side by side.
//!
//! ```text
//! abcdefghijklmno            every STRIDE bytes one of SHORT bytes, so that neighbours overlap: where both have the
//!         ijklmnopqrstuvw    same token, the tokens of one go on in those of the other
//! ```
//!
//! Leaves out how they are merged (`abreast`).

use super::{Known, WINDOW, Window, are_apart};
use crate::encode::{
    abreast::merge_all,
    key::{Key, SHORT},
};

/// Bytes from the beginning of a window to that of the next.
const STRIDE: usize = 9;
/// Windows merged at a time.
const MANY: usize = 64;
/// Shorter strings are not worth it.
const FEWEST: usize = 128;
/// It is given up where so many more have not fitted than have.
const MOST_MISSED: usize = 16;
/// Places tried where two windows have no token in common.
const MOST_TRIED: u32 = 3;

/// The tokens of a window.
#[derive(Clone, Copy, Debug, Default)]
struct Narrow {
    /// As in `Window`.
    bounds: u32,
    ids: [u32; SHORT],
}

/// The windows of one string.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    start: usize,
    end: usize,
    /// Some of them, and the number of the first.
    windows: Vec<Narrow>,
    first: usize,
    /// Those before this one are of no use any more.
    next: usize,
    /// How many more have fitted than have not, and so many.
    luck: usize,
}

impl Ahead {
    /// Of the string from `start` to `end`.
    pub(super) fn begin(&mut self, start: usize, end: usize) {
        let luck = if end - start < FEWEST { 0 } else { MOST_MISSED };
        self.windows.clear();
        (self.start, self.end, self.first, self.next, self.luck) = (start, end, 0, 0, luck);
    }

    /// A window that goes on where `window` ends, and the end of a token behind `at`, that both have: the token of
    /// `window` that ends at `at` may be another than the one that was taken.
    pub(super) fn fits(
        &mut self,
        known: Known<'_>,
        text: &[u8],
        window: &Window,
        at: usize,
    ) -> Option<(Window, usize)> {
        let lowest = self.next.max((window.start - self.start) / STRIDE + 1);
        let highest = (window.end - 1 - self.start) / STRIDE;
        if self.luck == 0 || lowest > highest {
            return None;
        }
        self.merge(known, text, lowest, highest);
        for number in (lowest..=highest).rev() {
            let next = self.window(number);
            let to = common(window, &next, at).or_else(|| joint(known, text, (window, &next), at));
            if let Some(to) = to {
                self.next = number + 1;
                self.luck += 1;
                return Some((next, to));
            }
        }
        self.luck -= 1;
        None
    }

    /// At least so many of them have fitted.
    #[cfg(test)]
    pub(super) fn fitted(&self) -> usize {
        self.luck.saturating_sub(MOST_MISSED)
    }

    /// One of those that are merged.
    fn window(&self, number: usize) -> Window {
        let (Narrow { bounds, ids: few }, start) =
            (self.windows[number - self.first], self.start + number * STRIDE);
        let mut ids = [0; WINDOW];
        ids[..SHORT].copy_from_slice(&few);
        Window { start, end: self.end.min(start + SHORT), bounds: u64::from(bounds), ids }
    }

    /// Sees to it that the windows of these numbers are merged.
    fn merge(&mut self, known: Known<'_>, text: &[u8], lowest: usize, highest: usize) {
        if self.first <= lowest && highest < self.first + self.windows.len() {
            return;
        }
        let count = (self.end - self.start).div_ceil(STRIDE).min(lowest + MANY) - lowest;
        self.first = lowest;
        self.windows.clear();
        self.windows.resize(count, Narrow::default());
        let (start, end, windows) = (self.start, self.end, &mut self.windows);
        let keys = (0..count).map(|number| {
            let at = start + (lowest + number) * STRIDE;
            Key::at(text, at, SHORT.min(end - at))
        });
        merge_all(known, keys, &mut |number, ids, live| {
            let at = start + (lowest + number) * STRIDE;
            let window = &mut windows[number];
            window.bounds = live | 1 << SHORT.min(end - at);
            window.ids[..ids.len()].copy_from_slice(ids);
        });
    }
}

/// Where tokens end in both windows, and where in one of them, from the beginning of `next` on.
fn bounds(window: &Window, next: &Window) -> (u64, u64) {
    let within = (2 << (window.end.min(next.end) - next.start)) - 1;
    let mine = window.bounds >> (next.start - window.start);
    (mine & next.bounds & within, (mine | next.bounds) & within)
}

/// A place behind `at` where tokens of both windows end, and that of the one before it and that of the other
/// after it are themselves if they are merged alone.
fn joint(known: Known<'_>, text: &[u8], (window, next): (&Window, &Window), at: usize) -> Option<usize> {
    let mut ends = bounds(window, next).0;
    for _ in 0..MOST_TRIED.min(ends.count_ones()) {
        let end = ends.trailing_zeros();
        ends &= ends - 1;
        let place = next.start + end as usize;
        let before = window.bounds & ((1 << (place - window.start)) - 1);
        let after = next.bounds & (u64::MAX << end << 1);
        if place <= at || before == 0 || after == 0 {
            continue;
        }
        let (first, last) = (before.ilog2() as usize, after.trailing_zeros() as usize);
        if are_apart(known, text, [window.start + first, place, next.start + last]) {
            return Some(place);
        }
    }
    None
}

/// The end of a token that both windows have, behind `at`.
fn common(window: &Window, next: &Window, at: usize) -> Option<usize> {
    let (both, any) = bounds(window, next);
    let mut begins = both;
    while begins != 0 {
        let begin = begins.trailing_zeros();
        begins &= begins - 1;
        let ends = any & (u64::MAX << begin << 1);
        let end = next.start + ends.trailing_zeros() as usize;
        if ends & ends.wrapping_neg() & both != 0 && end > at {
            return Some(end);
        }
    }
    None
}
