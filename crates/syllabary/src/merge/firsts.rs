//! What the symbols that strings begin with become, two by two: a square instead of a hash.
//!
//! ```text
//! t h e  ->  codes 4 9 1  ->  what stands at (4, 9) and at (9, 1)
//! ```
//!
//! About half of the pairs that are asked for, and most of those that merge, are of symbols with which a string begins, and which no
//! merge makes: there are few, as letters are few. Leaves out all other pairs (`pairs`).

use super::{Merge, pairs::NO_MERGE};

/// So many symbols have a code, at most; 0 is that of the others.
const MOST: usize = 255;

/// The symbols of most use, and what two of them become.
#[derive(Debug)]
pub(crate) struct Firsts {
    codes: Box<[u8]>,
    /// By both codes: 0, or one more than the rank, and below it the id.
    square: Box<[u64]>,
    /// How many bits a code has.
    bits: u32,
}

impl Firsts {
    /// Of these pairs, in any order: the symbols that none makes, those of the lowest ranks first.
    pub(crate) fn new(pairs: &[((u32, u32), Merge)]) -> Firsts {
        let bound = pairs.iter().map(|&((left, right), merge)| left.max(right).max(merge.id) as usize + 1);
        let bound = bound.max().unwrap_or(0);
        let mut lowest = vec![u32::MAX; bound];
        for &((left, right), merge) in pairs {
            for symbol in [left, right] {
                let lowest = &mut lowest[symbol as usize];
                *lowest = merge.rank.min(*lowest);
            }
        }
        pairs.iter().for_each(|(_, merge)| lowest[merge.id as usize] = u32::MAX);
        let mut symbols: Vec<(u32, u32)> =
            lowest.into_iter().zip(0..).filter(|&(rank, _)| rank != u32::MAX).collect();
        symbols.sort_unstable();
        symbols.truncate(MOST);
        let bits = (symbols.len() as u32 + 1).next_power_of_two().trailing_zeros();
        let mut codes = vec![0; bound];
        for (code, (_, symbol)) in (1..=u8::MAX).zip(symbols) {
            codes[symbol as usize] = code;
        }
        let mut firsts = Firsts { codes: codes.into(), square: vec![0; 1 << (2 * bits)].into(), bits };
        for &((left, right), merge) in pairs {
            if let (Some(left), Some(right)) = (firsts.code(left), firsts.code(right)) {
                let place = firsts.place(left, right);
                firsts.square[place] = u64::from(merge.rank + 1) << u32::BITS | u64::from(merge.id);
            }
        }
        firsts
    }

    /// The code of a symbol that has one.
    #[inline(always)]
    pub(crate) fn code(&self, symbol: u32) -> Option<usize> {
        self.codes.get(symbol as usize).map(|&code| usize::from(code)).filter(|&code| code != 0)
    }

    #[inline(always)]
    fn place(&self, left: usize, right: usize) -> usize {
        left << self.bits | right
    }

    /// What two symbols with these codes become; the highest rank, which no merge has, if they do not merge.
    #[inline(always)]
    pub(crate) fn get(&self, left: usize, right: usize) -> Merge {
        match self.square.get(self.place(left, right)) {
            Some(&found) => Merge { rank: ((found >> u32::BITS) as u32).wrapping_sub(1), id: found as u32 },
            None => NO_MERGE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbols 0 to `letters` are made by no pair.
    #[test]
    fn pairs_of_letters_are_there_and_no_others() {
        for letters in [0, 1, 3, 100, 400_u32] {
            let all = (0..letters).flat_map(|left| (0..letters).map(move |right| (left, right)));
            let mut pairs: Vec<((u32, u32), Merge)> = (0..)
                .zip(all.filter(|(left, right)| (left * 7 + right * 3) % 5 < 2))
                .map(|(rank, pair)| (pair, Merge { rank, id: letters + rank }))
                .collect();
            pairs.extend((0..letters).map(|at| ((at, letters), Merge { rank: 1_000_000, id: letters + 1 })));
            pairs.reverse();
            let firsts = Firsts::new(&pairs);
            let coded: Vec<u32> = (0..letters + 9).filter(|&symbol| firsts.code(symbol).is_some()).collect();
            assert!(coded.iter().all(|&symbol| symbol < letters), "{letters}");
            assert_eq!(coded.len(), MOST.min(letters as usize));
            for (&left, &right) in coded.iter().flat_map(|left| coded.iter().map(move |right| (left, right)))
            {
                let expected = pairs.iter().find(|(pair, _)| *pair == (left, right));
                let codes = (firsts.code(left).unwrap(), firsts.code(right).unwrap());
                assert_eq!(firsts.get(codes.0, codes.1).rank, expected.map_or(u32::MAX, |pair| pair.1.rank));
                assert!(expected.is_none_or(|pair| firsts.get(codes.0, codes.1) == pair.1));
            }
        }
    }
}
