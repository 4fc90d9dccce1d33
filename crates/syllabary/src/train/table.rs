//! The table of pieces: each distinct piece once, with its count, in order of first appearance.

use hashbrown::HashTable;

use crate::{Error, vocab::hash_bytes};

/// Distinct pieces and their counts.
#[derive(Debug, Default)]
pub struct PieceTable {
    arena: Vec<u8>,
    /// Where each piece ends in the arena.
    ends: Vec<usize>,
    counts: Vec<u64>,
    slots: HashTable<u32>,
}

fn slice<'a>(arena: &'a [u8], ends: &[usize], index: u32) -> &'a [u8] {
    let index = index as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &arena[start..ends[index]]
}

impl PieceTable {
    /// Counts `piece` `count` times more; gives its index.
    pub fn add(&mut self, piece: &[u8], count: u64) -> Result<u32, Error> {
        let hash = hash_bytes(piece);
        let found = self.slots.find(hash, |&index| slice(&self.arena, &self.ends, index) == piece);
        if let Some(&index) = found {
            let total = &mut self.counts[index as usize];
            *total = total.saturating_add(count);
            return Ok(index);
        }
        let index = u32::try_from(self.ends.len())
            .map_err(|_| Error::TooLarge("over 2^32 distinct pieces".to_owned()))?;
        self.arena.extend_from_slice(piece);
        self.ends.push(self.arena.len());
        self.counts.push(count);
        let (arena, ends) = (&self.arena, &self.ends);
        self.slots.insert_unique(hash, index, |&other| hash_bytes(slice(arena, ends, other)));
        Ok(index)
    }

    /// Adds another table; its new pieces come after ours, in its order.
    pub fn merge(&mut self, other: &PieceTable) -> Result<(), Error> {
        other.iter().try_for_each(|(piece, count)| self.add(piece, count).map(drop))
    }

    /// Every piece with its count, in order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        (0..).zip(&self.counts).map(|(index, &count)| (slice(&self.arena, &self.ends, index), count))
    }

    /// The number of distinct pieces.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of all distinct pieces.
    pub(super) fn total_bytes(&self) -> usize {
        self.arena.len()
    }

    /// Whether no piece was counted.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_first_appearance_and_counts_past_32_bits() {
        let mut table = PieceTable::default();
        table.add(b"b", u64::from(u32::MAX)).unwrap();
        table.add(b"", 1).unwrap();
        let mut other = PieceTable::default();
        other.add(b"a", 2).unwrap();
        other.add(b"b", 5).unwrap();
        table.merge(&other).unwrap();
        let pieces: Vec<_> = table.iter().collect();
        assert_eq!(
            vec![(b"b".as_slice(), u64::from(u32::MAX) + 5), (b"".as_slice(), 1), (b"a".as_slice(), 2)],
            pieces
        );
    }
}
