//! The symbols of a sequence that are left, as a linked list over their first places.
//!
//! Leaves out which symbols merge.

use crate::Error;

/// End of the list.
const NONE: u32 = u32::MAX;

/// For each place, the places before and after it that are left.
#[derive(Debug, Default)]
pub(super) struct Links {
    previous: Vec<u32>,
    /// An absorbed symbol has itself as its next.
    next: Vec<u32>,
}

fn place(at: u32) -> Option<u32> {
    (at != NONE).then_some(at)
}

impl Links {
    /// All of `length` symbols in a row.
    pub(super) fn reset(&mut self, length: usize) -> Result<(), Error> {
        let length = u32::try_from(length)
            .ok()
            .filter(|&length| length < NONE)
            .ok_or_else(|| Error::TooLarge("one piece has 2^32 symbols or more".to_owned()))?;
        self.previous.clear();
        self.previous.extend((0..length).map(|at| at.wrapping_sub(1)));
        self.next.clear();
        self.next.extend((1..=length).map(|at| if at == length { NONE } else { at }));
        Ok(())
    }

    /// The symbol after the one at `at`; `None` if that was absorbed or is the last.
    #[inline]
    pub(super) fn right_of(&self, at: u32) -> Option<u32> {
        place(self.next[at as usize]).filter(|&right| right != at)
    }

    /// Takes `right`, which follows `at`, out of the list; gives the neighbours of what `at` now is.
    #[inline]
    pub(super) fn absorb(&mut self, at: u32, right: u32) -> (Option<u32>, Option<u32>) {
        let after = self.next[right as usize];
        self.next[right as usize] = right;
        self.next[at as usize] = after;
        if after != NONE {
            self.previous[after as usize] = at;
        }
        (place(self.previous[at as usize]), place(after))
    }

    /// Keeps the symbols that are still in the list, and notes their places.
    pub(super) fn compact(&self, ids: &mut Vec<u32>, mut starts: Option<&mut Vec<u32>>) {
        let mut write = 0;
        let mut at = if ids.is_empty() { NONE } else { 0 };
        while at != NONE {
            ids[write] = ids[at as usize];
            write += 1;
            if let Some(starts) = &mut starts {
                starts.push(at);
            }
            at = self.next[at as usize];
        }
        ids.truncate(write);
    }
}
