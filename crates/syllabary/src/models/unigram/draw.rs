//! A way through the lattice drawn at random, each as probable as its score says (`reference/unigram_paths.py`).
//!
//! Leaves out the coins themselves (`dropout`).

use super::{Lattice, NONE, Unigram, lattice::Edge};
use crate::{dropout::Coins, models::Found};

/// An edge of the lattice: where it begins, its id, its weight, and the one before it that ends at the same place.
struct Incoming {
    start: u32,
    id: u32,
    weight: f64,
    before: u32,
}

/// The logarithm of a sum of two exponentials.
fn add(one: f64, other: f64) -> f64 {
    let (low, high) = if one < other { (one, other) } else { (other, one) };
    high + (low - high).exp().ln_1p()
}

impl Unigram {
    /// Hands the tokens of a way to `found` that is drawn with probability `exp(alpha * score)`, but for a constant.
    pub(crate) fn draw(&self, piece: &str, alpha: f64, coins: &mut Coins, found: &mut impl Found) {
        let mut lattice = Lattice::default();
        lattice.read(&self.trie, piece, |char| char);
        let length = lattice.codes.len();
        let mut edges: Vec<Incoming> = Vec::new();
        // Of each place: the latest edge that ends there, and the logarithm of the sum of all ways to it.
        let mut places: Vec<(u32, f64)> = vec![(NONE, 0.0); length + 1];
        for start in 0..length {
            let (so_far, mut is_single) = (places[start].1, false);
            let mut put = |characters: usize, id: u32, score: f64| {
                let weight = so_far + alpha * score;
                let (latest, total) = &mut places[start + characters];
                *total = if *latest == NONE { weight } else { add(*total, weight) };
                edges.push(Incoming { start: start as u32, id, weight, before: *latest });
                *latest = edges.len() as u32 - 1;
            };
            self.trie.prefixes(&lattice.codes[start..], |cell, characters| {
                is_single |= characters == 1;
                // As the search for the n best has it.
                let score = self.search_scores.get(&cell.id).copied();
                put(characters, cell.id, score.unwrap_or(self.scores[cell.id as usize]));
            });
            if !is_single {
                put(1, NONE, self.unknown_score);
            }
        }
        let mut end = length as u32;
        while end > 0 {
            let (mut at, total) = places[end as usize];
            let (drawn, mut sum) = (coins.number(), 0.0);
            loop {
                let edge = &edges[at as usize];
                sum += (edge.weight - total).exp();
                if drawn < sum || edge.before == NONE {
                    break;
                }
                at = edge.before;
            }
            let edge = &edges[at as usize];
            lattice.path.push(Edge { start: edge.start, end, id: edge.id });
            end = edge.start;
        }
        lattice.path.reverse();
        self.spell(piece, &lattice, found);
    }
}
