//! A table in which each key has a place of its own: a look is one comparison.
//!
//! Keys that share a seed are put where it sends them, the larger groups first, and seeds are tried until none is sent
//! where another is (Belazzougui, Botelho and Dietzfelbinger, "Hash, displace, and compress", 2009). Leaves out what the
//! keys are.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

/// About so many keys share a seed.
const SHARING: usize = 4;
/// More never do, but by intent.
const MOST: usize = 100;
/// So many are tried.
const SEEDS: u32 = 1 << 16;

/// Numbers by keys that are not 0.
#[derive(Debug)]
pub(super) struct Apart {
    /// A key, and lower its number. A power of two of them, a tenth or more empty.
    slots: Box<[u64]>,
    /// A power of two of them.
    seeds: Box<[u32]>,
}

impl Apart {
    /// `None` if no seeds are found.
    pub(super) fn of(numbers: &FxHashMap<u32, u32>) -> Option<Apart> {
        let seeds = numbers.len().div_ceil(SHARING).next_power_of_two();
        let slots = vec![0; (numbers.len() + numbers.len() / 9 + 1).next_power_of_two()].into();
        let mut made = Apart { slots, seeds: vec![0; seeds].into() };
        let mut groups: Vec<Vec<u32>> = vec![Vec::new(); seeds];
        numbers.keys().for_each(|&key| groups[made.group(mixed(key))].push(key));
        if groups.iter().any(|group| group.len() > MOST) {
            return None;
        }
        let mut order: Vec<usize> = (0..seeds).collect();
        order.sort_by_key(|&group| (Reverse(groups[group].len()), group));
        let mut places = Vec::new();
        for group in order {
            let keys = &groups[group];
            made.seeds[group] = (0..SEEDS).map(|seed| seed.wrapping_mul(0x85EB_CA6B)).find(|&seed| {
                places.clear();
                places.extend(keys.iter().map(|&key| made.place(mixed(key), seed)));
                places.sort_unstable();
                places.iter().all(|&place| made.slots[place] == 0)
                    && places.windows(2).all(|two| two[0] != two[1])
            })?;
            for &key in keys {
                let place = made.place(mixed(key), made.seeds[group]);
                made.slots[place] = u64::from(key) << 32 | u64::from(numbers[&key]);
            }
        }
        Some(made)
    }

    /// The number of a key.
    #[inline]
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        let slot = self.slot(key);
        ((slot >> 32) as u32 == key).then_some(slot as u32)
    }

    /// The key that is where this one would be, and its number.
    #[inline(always)]
    pub(super) fn slot(&self, key: u32) -> u64 {
        let mixed = mixed(key);
        self.slots[self.place(mixed, self.seeds[self.group(mixed)])]
    }

    #[inline(always)]
    fn group(&self, mixed: u64) -> usize {
        (mixed >> 32) as usize & (self.seeds.len() - 1)
    }

    #[inline(always)]
    fn place(&self, mixed: u64, seed: u32) -> usize {
        let sent = u64::from((mixed >> 16) as u32 ^ seed).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (sent >> 40) as usize & (self.slots.len() - 1)
    }
}

#[inline(always)]
fn mixed(key: u32) -> u64 {
    u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::{drawing, drawn};

    #[test]
    fn every_key_has_its_number_and_others_have_none() {
        let mut draw = drawing(7);
        for round in 0..drawn(60, 600) {
            let count = [0, 1, 2, 5, 100, 3_000, 20_000][round % 7];
            // Near one another, as characters are, or anywhere.
            let spread = if round % 2 == 0 { 40 * (count + 1) } else { u32::MAX as usize };
            let numbers: FxHashMap<u32, u32> =
                (0..count).map(|number| (1 + draw(spread) as u32, number as u32)).collect();
            let apart = Apart::of(&numbers).unwrap();
            assert!(apart.slots.len() <= 3 * numbers.len() + 2);
            assert!(numbers.iter().all(|(&key, &number)| apart.get(key) == Some(number)));
            for _ in 0..1_000 {
                let key = 1 + draw(spread) as u32;
                assert_eq!(apart.get(key), numbers.get(&key).copied());
            }
        }
    }
}
