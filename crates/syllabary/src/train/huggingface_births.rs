//! What one merge changes, neighbour by neighbour: so one look-up for each distinct neighbour, not for each place.
//!
//! Adds `Side`, the neighbours on one side of the places that are merged. Leaves out: pairs (`huggingface`).

const NONE: u32 = u32::MAX;

/// What a merge changed beside one neighbour.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change {
    /// The neighbour.
    pub other: u32,
    /// How often its pair with the old symbol went.
    pub went: i64,
    /// How often its pair with the new one came, where that counts.
    pub came: i64,
    /// The places of the new pair where it counts: start and length in the arena.
    pub counted: (usize, u32),
    /// And where it does not.
    pub silent: (usize, u32),
}

/// The neighbours on one side.
#[derive(Debug, Default)]
pub(super) struct Side {
    /// Of each id: its change, or `NONE`.
    slots: Vec<u32>,
    changes: Vec<Change>,
    /// The change, the place, and whether it counts.
    births: Vec<(u32, u32, bool)>,
}

impl Side {
    fn change(&mut self, other: u32) -> (u32, &mut Change) {
        let id = other as usize;
        if id >= self.slots.len() {
            self.slots.resize(id + 1, NONE);
        }
        if self.slots[id] == NONE {
            // There are no more changes than ids.
            self.slots[id] = self.changes.len() as u32;
            self.changes.push(Change { other, ..Change::default() });
        }
        (self.slots[id], &mut self.changes[self.slots[id] as usize])
    }

    /// A pair of the neighbour and the old symbol is no more.
    pub fn went(&mut self, other: u32, weight: i64) {
        self.change(other).1.went += weight;
    }

    /// A pair of the neighbour and the new symbol stands at `place`.
    pub fn came(&mut self, other: u32, place: u32, counted: bool, weight: i64) {
        let (slot, change) = self.change(other);
        let stretch = if counted { &mut change.counted } else { &mut change.silent };
        stretch.1 += 1;
        change.came += if counted { weight } else { 0 };
        self.births.push((slot, place, counted));
    }

    /// The changes since the last call; their places go into the arena, in the order in which they came.
    pub fn take(&mut self, arena: &mut Vec<u32>) -> Vec<Change> {
        let mut changes = std::mem::take(&mut self.changes);
        let mut start = arena.len();
        for change in &mut changes {
            self.slots[change.other as usize] = NONE;
            for stretch in [&mut change.counted, &mut change.silent] {
                start += stretch.1 as usize;
                *stretch = (start, stretch.1);
            }
        }
        arena.resize(start, 0);
        // From behind: each stretch begins at its end and grows to its start.
        for (slot, place, counted) in self.births.drain(..).rev() {
            let change = &mut changes[slot as usize];
            let stretch = if counted { &mut change.counted } else { &mut change.silent };
            stretch.0 -= 1;
            arena[stretch.0] = place;
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_kept_by_neighbour() {
        let (mut side, mut arena) = (Side::default(), vec![9]);
        side.came(7, 1, true, 10);
        side.came(3, 2, true, 10);
        side.came(7, 3, false, 10);
        side.went(3, 5);
        side.came(7, 4, true, 2);
        let changes = side.take(&mut arena);
        let found: Vec<_> = changes.iter().map(|c| (c.other, c.went, c.came, c.counted, c.silent)).collect();
        assert_eq!(found, [(7, 0, 12, (1, 2), (3, 1)), (3, 5, 10, (4, 1), (5, 0))]);
        assert_eq!(arena, [9, 1, 4, 3, 2]);
        assert!(side.take(&mut arena).is_empty());
    }
}
