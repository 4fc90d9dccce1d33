//! A bounded memory of pieces already encoded, one a thread.
//!
//! Text repeats its words; a word seen before costs one look-up. When full it forgets everything: it is kept
//! from call to call, and the words that a text repeats most come again early.

use hashbrown::HashTable;

use crate::vocab::hash_bytes;

/// Longest piece remembered, in bytes.
const PIECE_LIMIT: usize = 64;
/// Bytes of pieces and ids remembered, in all, unless another limit is given.
const ARENA_LIMIT: usize = 8 << 20;

#[derive(Debug, Clone, Copy)]
struct Entry {
    piece: u32,
    ids: u32,
    piece_len: u8,
    ids_len: u8,
}

/// Pieces and their ids.
#[derive(Debug)]
pub struct PieceCache {
    limit: usize,
    entries: HashTable<Entry>,
    pieces: Vec<u8>,
    ids: Vec<u32>,
}

impl Default for PieceCache {
    fn default() -> Self {
        PieceCache::of(ARENA_LIMIT)
    }
}

impl PieceCache {
    /// Of at most so many bytes of pieces and ids.
    pub(crate) fn of(limit: usize) -> PieceCache {
        PieceCache { limit, entries: HashTable::new(), pieces: Vec::new(), ids: Vec::new() }
    }

    /// The ids of `piece`, if remembered.
    #[inline]
    pub fn get(&self, piece: &[u8]) -> Option<&[u32]> {
        if piece.len() > PIECE_LIMIT {
            return None;
        }
        let entry = self.entries.find(hash_bytes(piece), |entry| piece_of(&self.pieces, entry) == piece)?;
        Some(&self.ids[entry.ids as usize..][..usize::from(entry.ids_len)])
    }

    /// Remembers the ids of a piece that is not yet known, if it is not too long.
    pub fn insert(&mut self, piece: &[u8], ids: &[u32]) {
        if piece.len() > PIECE_LIMIT {
            return;
        }
        if self.pieces.len() + 4 * self.ids.len() > self.limit {
            self.entries.clear();
            self.pieces.clear();
            self.ids.clear();
        }
        let (Ok(piece_len), Ok(ids_len)) = (u8::try_from(piece.len()), u8::try_from(ids.len())) else {
            return;
        };
        // The arena limit keeps both positions far below 2^32.
        let entry = Entry { piece: self.pieces.len() as u32, ids: self.ids.len() as u32, piece_len, ids_len };
        self.pieces.extend_from_slice(piece);
        self.ids.extend_from_slice(ids);
        let pieces = &self.pieces;
        self.entries.insert_unique(hash_bytes(piece), entry, |other| hash_bytes(piece_of(pieces, other)));
    }
}

fn piece_of<'a>(pieces: &'a [u8], entry: &Entry) -> &'a [u8] {
    &pieces[entry.piece as usize..][..usize::from(entry.piece_len)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_forgets_when_full_and_goes_on() {
        let mut cache = PieceCache::default();
        let ids: Vec<u32> = (0..60).collect();
        let most = ARENA_LIMIT / 150;
        for number in 0..most {
            let piece = format!("a piece of some length {number}");
            cache.insert(piece.as_bytes(), &ids);
            assert_eq!(cache.get(piece.as_bytes()), Some(ids.as_slice()));
            assert!(cache.pieces.len() + 4 * cache.ids.len() <= ARENA_LIMIT + 512);
        }
        assert!(cache.entries.len() < most);
        assert_eq!(cache.get(b"a piece of some length 0"), None);
    }
}
