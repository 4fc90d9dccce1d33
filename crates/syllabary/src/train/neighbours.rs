//! What one merge does to the pairs beside its places: each distinct neighbour once.
//!
//! Leaves out the pairs themselves (`pairs`).

use super::pairs::PairIndex;

/// No pair.
pub(super) const NONE: PairIndex = u32::MAX;

/// What a merge does to the pairs on one side of its places.
#[derive(Debug, Default)]
pub(super) struct Side {
    /// Token id -> 1 + its neighbour, or 0.
    pub slots: Vec<u32>,
    pub neighbours: Vec<Neighbour>,
    /// The neighbour and the place of each pair that is born, ascending.
    pub births: Vec<(u32, u32)>,
}

/// One neighbouring token: its pair with the old token loses places, its pair with the new one is born.
#[derive(Debug)]
pub(super) struct Neighbour {
    pub id: u32,
    pub lost: u64,
    pub gained: u64,
    pub places: usize,
    /// The pair born, if it is watched.
    pub pair: PairIndex,
}

impl Neighbour {
    pub fn new(id: u32) -> Neighbour {
        Neighbour { id, lost: 0, gained: 0, places: 0, pair: NONE }
    }
}

impl Side {
    pub fn new(tokens: usize) -> Side {
        Side { slots: vec![0; tokens], ..Side::default() }
    }

    #[inline(always)]
    pub fn add(&mut self, id: u32, count: u64, place: u32) {
        let slot = &mut self.slots[id as usize];
        if *slot == 0 {
            self.neighbours.push(Neighbour::new(id));
            *slot = self.neighbours.len() as u32;
        }
        let at = *slot - 1;
        let neighbour = &mut self.neighbours[at as usize];
        neighbour.lost += count;
        neighbour.gained += count;
        neighbour.places += 1;
        self.births.push((at, place));
    }

    /// Takes back a birth whose place the same merge used up; the stale place is found out when it is used.
    pub fn take_back(&mut self, id: u32, count: u64) {
        if let Some(at) = self.slots[id as usize].checked_sub(1) {
            self.neighbours[at as usize].gained -= count;
        }
    }

    pub fn clear(&mut self) {
        self.neighbours.iter().for_each(|neighbour| self.slots[neighbour.id as usize] = 0);
        self.neighbours.clear();
        self.births.clear();
    }
}
