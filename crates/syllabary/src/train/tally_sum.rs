//! Sums of tallies.
//!
//! Tallies are added in any order; the sum is the same. Leaves out who adds them, and what goes to disk (`memory`).

use super::{COUNT, FIRST, HIGH, LONG, LOW, Slot, Tally};
use crate::Error;

/// So many neighbouring slots are added to another tally one after the other.
const BLOCK: usize = 1 << 6;

impl Tally {
    /// Adds another tally.
    pub fn merge(&mut self, other: &Tally) -> Result<(), Error> {
        for block in other.blocks() {
            self.fetch(block);
            block.iter().filter(|slot| slot[COUNT] > 0).try_for_each(|slot| self.add_slot(other, slot))?;
        }
        Ok(())
    }

    /// Adds the piece in a slot of another tally.
    fn add_slot(&mut self, other: &Tally, slot: &Slot) -> Result<(), Error> {
        if slot[HIGH] & LONG != LONG {
            self.room_in_sum();
            return self.add_key((slot[LOW], slot[HIGH]), None, slot[COUNT], slot[FIRST]);
        }
        let piece = other.in_arena(slot[HIGH]);
        if self.seeds == other.seeds {
            self.room_in_sum();
            self.add_key((slot[LOW], LONG), Some(piece), slot[COUNT], slot[FIRST])
        } else {
            self.add(piece, 0, piece.len(), slot[COUNT], slot[FIRST])
        }
    }

    /// Reads the slots where the pieces of some slots belong, one of which does not wait for the other.
    fn fetch(&self, some: &[Slot]) {
        let mask = self.slots.len().wrapping_sub(1);
        let homes = some.iter().map(|slot| self.home(slot, mask));
        let sum = homes.fold(0, |sum, home| sum ^ self.slots.get(home).map_or(0, |slot| slot[COUNT]));
        std::hint::black_box(sum);
    }

    /// The same where pieces come once each: slots may be fuller, for less memory.
    #[inline]
    fn room_in_sum(&mut self) {
        if (self.len + 1) * 8 > self.slots.len() * 7 {
            self.grow();
        }
    }

    /// Its slots, some at a time.
    fn blocks(&self) -> impl Iterator<Item = &[Slot]> {
        // subtle: not from the first slot to the last. With equal seeds that is the order of their places here too:
        // what finds no room piles up before the next, which is quadratic.
        let blocks = self.slots.len() / BLOCK;
        let order = (0..blocks).map(move |n| n.wrapping_mul((blocks / 8 * 5) | 1) & (blocks - 1));
        order.map(|block| &self.slots[block * BLOCK..][..BLOCK])
    }

    /// The slot where the piece of one belongs.
    fn home(&self, slot: &Slot, mask: usize) -> usize {
        let long = slot[HIGH] & LONG == LONG;
        self.hash((slot[LOW], if long { LONG } else { slot[HIGH] })) as usize & mask
    }
}
