//! Merging of integers: codes of any kind instead of text.
//!
//! Adds `IdMerges`: symbols, which are any 32-bit integers, become ids, ids merge, and ids become symbols again.
//! Symbol k has id k, merge k makes the id that follows those of the symbols and of the merges before it. The
//! law is `reference/ids.py`. Leaves out: pieces, for a sequence is one, and text.

use rustc_hash::FxHashMap;

use crate::{
    Error,
    merge::{Merges, Scratch},
};

/// Symbols below this are looked up in an array.
const DENSE: u32 = 1 << 20;

/// Sequences longer than this are merged rank by rank.
const LONG: usize = 1 << 16;

/// Symbols, their ids, and which ids merge.
#[derive(Debug)]
pub struct IdMerges {
    symbols: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    /// Id -> how many symbols it stands for.
    lengths: Vec<u32>,
    /// Symbol -> 1 + id, or 0.
    dense: Vec<u32>,
    sparse: FxHashMap<u32, u32>,
    merges: Merges,
}

impl IdMerges {
    /// From symbols in the order of their ids and pairs in rank order.
    ///
    /// # Errors
    /// `Error::Vocabulary` for a symbol that stands twice, a pair of ids that are not there yet or that stood
    /// before, and a token of 2^32 symbols or more.
    pub fn new(symbols: Vec<u32>, pairs: Vec<(u32, u32)>) -> Result<IdMerges, Error> {
        let broken = |reason: String| Err(Error::Vocabulary(reason));
        if symbols.len() + pairs.len() >= u32::MAX as usize {
            return Err(Error::TooLarge("over 2^32 tokens".to_owned()));
        }
        let mut lengths = vec![1u32; symbols.len()];
        let mut triples = Vec::with_capacity(pairs.len());
        let mut before = rustc_hash::FxHashSet::default();
        for (rank, &(left, right)) in pairs.iter().enumerate() {
            let length = |id: u32| lengths.get(id as usize).copied();
            let (Some(first), Some(second)) = (length(left), length(right)) else {
                return broken(format!("merge {rank} takes ids {left} and {right}: one is not there yet"));
            };
            if !before.insert((left, right)) {
                return broken(format!("merge {rank} takes ids {left} and {right}, as an earlier one does"));
            }
            let Some(length) = first.checked_add(second) else {
                return broken(format!("merge {rank} makes a token of 2^32 symbols or more"));
            };
            triples.push((left, right, lengths.len() as u32));
            lengths.push(length);
        }
        let (dense, sparse) = look_up(&symbols)?;
        Ok(IdMerges { symbols, pairs, lengths, dense, sparse, merges: Merges::from_list(&triples)? })
    }

    /// How many symbols each id stands for.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// The ids of a sequence.
    ///
    /// # Errors
    /// `Error::UnknownId` for what is no symbol.
    pub fn encode(&self, sequence: &[u32], scratch: &mut Scratch) -> Result<Vec<u32>, Error> {
        let mut ids = Vec::with_capacity(sequence.len());
        for (index, &symbol) in sequence.iter().enumerate() {
            let id = match symbol < DENSE {
                true => self.dense.get(symbol as usize).and_then(|id| id.checked_sub(1)),
                false => self.sparse.get(&symbol).copied(),
            };
            ids.push(id.ok_or(Error::UnknownId { id: i64::from(symbol), index })?);
        }
        if ids.len() > LONG {
            return self.rank_by_rank(ids);
        }
        self.merges.apply(&mut ids, None, scratch)?;
        Ok(ids)
    }

    /// The same for long sequences: the places of each pair wait for its rank, and need no heap.
    ///
    /// A pair that comes to be holds the new token, so that its rank is higher. A token has its id at the first and
    /// the last of its places, and a place of a pair that has gone is found out as in training.
    fn rank_by_rank(&self, mut places: Vec<u32>) -> Result<Vec<u32>, Error> {
        let end = u32::try_from(places.len())
            .map_err(|_| Error::TooLarge("one sequence has 2^32 integers or more".to_owned()))?;
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); self.pairs.len()];
        for at in 1..end {
            if let Some(merge) = self.merges.get(places[at as usize - 1], places[at as usize]) {
                waiting[merge.rank as usize].push(at - 1);
            }
        }
        for rank in 0..self.pairs.len() {
            let (left, right) = self.pairs[rank];
            let mut found = std::mem::take(&mut waiting[rank]);
            if left == right {
                found.sort_unstable(); // in a row the leftmost pair merges first
            }
            let id = (self.symbols.len() + rank) as u32;
            let (middle, length) = (self.lengths[left as usize], self.lengths[id as usize]);
            for at in found {
                let (from, inner) = (at as usize, (at + middle) as usize);
                if places[from] != left || places[inner - 1] != left || places[inner] != right {
                    continue;
                }
                let after = at + length;
                places[from] = id;
                places[after as usize - 1] = id;
                if at > 0 {
                    let before = places[from - 1];
                    if let Some(merge) = self.merges.get(before, id) {
                        waiting[merge.rank as usize].push(at - self.lengths[before as usize]);
                    }
                }
                if after < end
                    && let Some(merge) = self.merges.get(id, places[after as usize])
                {
                    waiting[merge.rank as usize].push(at);
                }
            }
        }
        let (mut read, mut write) = (0, 0);
        while read < places.len() {
            places[write] = places[read];
            read += self.lengths[places[read] as usize] as usize;
            write += 1;
        }
        places.truncate(write);
        Ok(places)
    }

    /// The symbols of ids.
    ///
    /// # Errors
    /// `Error::UnknownId` for what is no id, `Error::TooLarge` for 2^32 symbols or more.
    pub fn decode(&self, ids: &[u32]) -> Result<Vec<u32>, Error> {
        let mut length = 0u64;
        for (index, &id) in ids.iter().enumerate() {
            let one = self.lengths.get(id as usize);
            length += u64::from(*one.ok_or(Error::UnknownId { id: i64::from(id), index })?);
        }
        let room = u32::try_from(length).map_err(|_| {
            Error::TooLarge(format!("the ids stand for {length} symbols: decode fewer at a time"))
        })?;
        let mut out = Vec::with_capacity(room as usize);
        let mut left = Vec::new();
        for &id in ids {
            left.push(id);
            while let Some(id) = left.pop() {
                match self.symbols.get(id as usize) {
                    Some(&symbol) => out.push(symbol),
                    None => {
                        let (first, second) = self.pairs[id as usize - self.symbols.len()];
                        left.extend([second, first]);
                    }
                }
            }
        }
        Ok(out)
    }
}

/// The ids of small symbols, plus one, by symbol, and those of the others.
fn look_up(symbols: &[u32]) -> Result<(Vec<u32>, FxHashMap<u32, u32>), Error> {
    let reach = symbols.iter().filter(|&&symbol| symbol < DENSE).max().map_or(0, |&most| most as usize + 1);
    let (mut dense, mut sparse) = (vec![0; reach], FxHashMap::default());
    for (id, &symbol) in (0..).zip(symbols) {
        let before = match symbol < DENSE {
            true => std::mem::replace(&mut dense[symbol as usize], id + 1),
            false => sparse.insert(symbol, id).map_or(0, |before| before + 1),
        };
        if before != 0 {
            let reason = format!("symbol {symbol} stands twice, as ids {} and {id}", before - 1);
            return Err(Error::Vocabulary(reason));
        }
    }
    Ok((dense, sparse))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_small_and_large_merge() {
        let merges = IdMerges::new(vec![7, 3_000_000_000, 9], vec![(0, 1), (3, 2)]).unwrap();
        let scratch = &mut Scratch::default();
        let sequence = [7, 3_000_000_000, 9, 7, 9];
        assert_eq!(merges.encode(&sequence, scratch).unwrap(), [4, 0, 2]);
        assert_eq!(merges.decode(&[4, 0, 2]).unwrap(), sequence);
        assert_eq!(merges.encode(&[], scratch).unwrap(), [0; 0]);
        assert_eq!(merges.encode(&[9, 8], scratch).unwrap_err(), Error::UnknownId { id: 8, index: 1 });
        assert_eq!(merges.decode(&[5]).unwrap_err(), Error::UnknownId { id: 5, index: 0 });
    }

    #[test]
    fn long_sequences_merge_as_short_ones_do() {
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        let mut random = |below| crate::drawn::random(&mut state, below);
        for _ in 0..2000 {
            let symbols = 1 + random(4);
            let mut pairs: Vec<(u32, u32)> = Vec::new();
            for known in u64::from(symbols)..u64::from(symbols) + 20 {
                let pair = (random(known), random(known));
                if pairs.contains(&pair) {
                    break;
                }
                pairs.push(pair);
            }
            let merges = IdMerges::new((0..symbols).collect(), pairs).unwrap();
            let sequence: Vec<u32> = (0..random(80)).map(|_| random(u64::from(symbols))).collect();
            let short = merges.encode(&sequence, &mut Scratch::default()).unwrap();
            assert_eq!(
                short,
                merges.rank_by_rank(sequence.clone()).unwrap(),
                "{:?} {sequence:?}",
                merges.pairs
            );
            assert_eq!(sequence, merges.decode(&short).unwrap());
        }
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(IdMerges::new(vec![4, 4], vec![]).is_err());
        assert!(IdMerges::new(vec![4], vec![(0, 1)]).is_err());
        assert!(IdMerges::new(vec![4], vec![(0, 0), (0, 0)]).is_err());
        let doubling = |count: u32| (0..count).map(|id| (id, id)).collect();
        assert!(IdMerges::new(vec![4], doubling(32)).is_err());
        assert!(IdMerges::new(vec![4], doubling(31)).unwrap().decode(&[31, 31]).is_err());
    }
}
