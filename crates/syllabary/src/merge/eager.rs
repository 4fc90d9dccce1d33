//! Merges that nothing comes before: done at once, from left to right, and the others afterwards.
//!
//! ```text
//! a b -> x, below all that take a from its left or b from its right, and all that x takes part in  =>  a b is x, whatever is around
//! ```
//!
//! Such a pair is merged before anything can touch `a` or `b`, and nothing that happens to `x` can come before what else happens
//! up to then: so it does not matter when it is done. Most merges of bytes to characters are such, where a vocabulary has
//! learned one script. Leaves out places (`scan`, `heap`), and ranks by which all else goes.

use super::PairTable;

/// Symbols have numbers below.
const BOUND: usize = 1 << 22;
/// Fewer symbols are not worth it.
const FEWEST: usize = 8;
/// After so many symbols the pairs are looked for, and after so many more it is known whether they are of use.
const TRIED: u32 = 1 << 14;
/// They are if one symbol in so many goes.
const WORTH: u32 = 4;

/// The pairs.
#[derive(Debug)]
pub(super) struct Eager(PairTable);

/// What they were good for, of one thread.
#[derive(Debug, Default)]
pub(super) struct Use {
    seen: u32,
    gone: u32,
}

impl Eager {
    /// Of all pairs that merge; `None` if there are none such, or symbols of too high a number.
    pub(super) fn new(all: &PairTable) -> Option<Eager> {
        let bound =
            all.iter().map(|((left, right), merge)| left.max(right).max(merge.id) as usize + 1).max()?;
        if bound > BOUND {
            return None;
        }
        // The lowest rank of what takes a symbol from its left, and from its right.
        let (mut by_left, mut by_right) = (vec![u32::MAX; bound], vec![u32::MAX; bound]);
        for ((left, right), merge) in all.iter() {
            by_left[right as usize] = merge.rank.min(by_left[right as usize]);
            by_right[left as usize] = merge.rank.min(by_right[left as usize]);
        }
        let others = |id: u32| by_left[id as usize].min(by_right[id as usize]);
        let is_first = |&((left, right), merge): &((u32, u32), super::Merge)| {
            let before = by_left[left as usize].min(by_right[right as usize]).min(others(merge.id));
            merge.rank < before
        };
        let pairs: Vec<_> = all.iter().filter(is_first).collect();
        (!pairs.is_empty()).then(|| Eager(PairTable::of(&pairs)))
    }

    /// Merges what can be merged at once.
    pub(super) fn apply(&self, ids: &mut Vec<u32>) {
        let mut kept = 0;
        for at in 0..ids.len() {
            let mut id = ids[at];
            while kept > 0
                && let Some(merge) = self.0.get(ids[kept - 1], id)
            {
                (id, kept) = (merge.id, kept - 1);
            }
            ids[kept] = id;
            kept += 1;
        }
        ids.truncate(kept);
    }
}

impl Use {
    /// Whether so many symbols are worth trying.
    #[inline]
    pub(super) fn is_worth(&mut self, symbols: usize) -> bool {
        if symbols < FEWEST || self.seen >= 2 * TRIED && self.gone < TRIED / WORTH {
            return false;
        }
        if self.seen < TRIED {
            self.seen += symbols as u32;
            return false;
        }
        true
    }

    /// Notes how many of so many symbols are gone.
    #[inline]
    pub(super) fn note(&mut self, symbols: usize, left: usize) {
        if self.seen < 2 * TRIED {
            self.seen += symbols as u32;
            self.gone += (symbols - left) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Merge, Merges, Rule, heap},
        *,
    };
    use crate::drawn::{drawing, drawn};

    fn by_heap(merges: &Merges, ids: &[u32]) -> Vec<u32> {
        let mut ids = ids.to_vec();
        heap::apply(merges, &mut ids, None, &mut heap::Scratch::default(), &mut ()).unwrap();
        ids
    }

    /// Ranks may be shared, and a merge may make any symbol, as hostile files have them.
    #[test]
    fn the_others_give_the_same_afterwards() {
        let (mut draw, mut gone) = (drawing(11), 0);
        for round in 0..drawn(20_000, 400_000) {
            let (symbols, count) = (2 + draw(7), draw(24));
            let pairs = (0..count).map(|new| {
                let bound = symbols + new;
                let id = if round % 3 == 0 { draw(bound) } else { bound };
                let rank = if round % 5 == 0 { draw(8) } else { new };
                let pair = (draw(bound) as u32, draw(bound) as u32);
                (pair, Merge { rank: rank as u32, id: id as u32 })
            });
            let merges = Merges::from_pairs(pairs.collect());
            let Rule::Listed(table) = &merges.rule else { panic!("no list") };
            let Some(eager) = Eager::new(table) else { continue };
            for _ in 0..4 {
                let ids: Vec<u32> = (0..draw(60)).map(|_| draw(symbols) as u32).collect();
                let mut some = ids.clone();
                eager.apply(&mut some);
                gone += ids.len() - some.len();
                assert_eq!(by_heap(&merges, &some), by_heap(&merges, &ids), "{:?} {ids:?}", merges.pairs());
            }
        }
        assert!(gone > drawn(20_000, 400_000), "{gone}");
    }

    #[test]
    fn bytes_of_characters_are_such_pairs() {
        // 0 1 -> 4, 4 2 -> 5, then characters: 5 5 -> 6; 3 takes part in a lower one.
        let merges = Merges::from_list(&[(3, 3, 7), (0, 1, 4), (4, 2, 5), (2, 3, 8), (5, 5, 6)]).unwrap();
        let Rule::Listed(table) = &merges.rule else { panic!("no list") };
        let eager = Eager::new(table).unwrap();
        let mut ids = vec![0, 1, 2, 3, 0, 1, 2, 3, 3, 0, 1];
        eager.apply(&mut ids);
        assert_eq!(ids, [5, 3, 5, 3, 3, 4]);
        assert_eq!(by_heap(&merges, &ids), [5, 3, 5, 7, 4]);
    }

    #[test]
    fn they_are_tried_where_they_are_of_use() {
        let mut used = Use::default();
        assert!((0..TRIED / 16).all(|_| !used.is_worth(16)));
        assert!(used.is_worth(16) && !used.is_worth(FEWEST - 1));
        for _ in 0..TRIED / 16 {
            used.note(16, 15);
        }
        assert!(!used.is_worth(16));
        let mut used = Use { seen: TRIED, gone: 0 };
        for _ in 0..TRIED {
            used.note(16, 8);
        }
        assert!(used.is_worth(16));
    }
}
