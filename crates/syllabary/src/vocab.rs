//! The vocabulary: id -> bytes and bytes -> id, gaps in the ids allowed.
//!
//! Leaves out which tokens merge (`merge`) and which are special (`special`).

use std::{hash::Hasher, ops::Range};

use hashbrown::HashTable;
use rustc_hash::{FxHashSet, FxHasher};

use crate::{
    Error,
    encode::{Key, SHORT, ShortTokens},
    pages::Zeros,
};

/// Marks an id that no token has.
const GAP: u32 = u32::MAX;

/// Tokens by id and ids by token; immutable once built.
#[derive(Debug, Default)]
pub struct Vocab {
    arena: Vec<u8>,
    /// id -> (start in the arena, length); length `GAP` where the id is unused.
    spans: Vec<(u32, u32)>,
    short: ShortTokens,
    /// The tokens that are no keys.
    long: HashTable<u32>,
    count: usize,
    /// Tokens that are found by their bytes.
    indexed: usize,
    /// Bytes of the longest token.
    longest: usize,
}

/// The hash under which byte strings are stored in this crate's tables.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

impl Vocab {
    /// Builds from `(id, bytes)`; the same id twice, or ids too sparse to tabulate, are errors.
    ///
    /// The same bytes under two ids are legal: [`Vocab::id`] then gives the smaller one.
    pub fn new<'a>(tokens: impl IntoIterator<Item = (u32, &'a [u8])>) -> Result<Vocab, Error> {
        Vocab::with_hidden(tokens, &FxHashSet::default())
    }

    /// The same, but [`Vocab::id`] does not find the `hidden` ids.
    pub fn with_hidden<'a>(
        tokens: impl IntoIterator<Item = (u32, &'a [u8])>,
        hidden: &FxHashSet<u32>,
    ) -> Result<Vocab, Error> {
        let mut tokens: Vec<(u32, &[u8])> = tokens.into_iter().collect();
        if !tokens.is_sorted_by_key(|&(id, _)| id) {
            tokens.sort_unstable_by_key(|&(id, _)| id);
        }
        let mut vocab = Vocab {
            arena: Vec::with_capacity(tokens.iter().map(|(_, bytes)| bytes.len()).sum()),
            spans: Vec::with_capacity(tokens.len()),
            ..Vocab::default()
        };
        let limit = limit(tokens.len());
        for (id, bytes) in tokens {
            let start = vocab.arena.len();
            vocab.arena.extend_from_slice(bytes);
            vocab.insert(id, start..vocab.arena.len(), limit)?;
        }
        vocab.index(hidden);
        Ok(vocab)
    }

    /// The same of tokens that lie one after the other in `bytes`, by ascending id: of each the id, and where it ends.
    pub fn of_ranks(bytes: Vec<u8>, ends: &[(u32, usize)], hidden: &FxHashSet<u32>) -> Result<Vocab, Error> {
        let mut vocab = Vocab { arena: bytes, spans: Vec::with_capacity(ends.len()), ..Vocab::default() };
        let (mut start, limit) = (0, limit(ends.len()));
        for &(id, end) in ends {
            vocab.insert(id, start..end, limit)?;
            start = end;
        }
        vocab.index(hidden);
        Ok(vocab)
    }

    /// Adds the token of these bytes in the arena.
    fn insert(&mut self, id: u32, bytes: Range<usize>, limit: usize) -> Result<(), Error> {
        let slot = id as usize;
        if slot >= limit {
            return Err(Error::Vocabulary(format!(
                "id {id} is too far above the number of tokens (the limit here is {limit})"
            )));
        }
        if slot < self.spans.len() {
            return Err(Error::Vocabulary(format!("id {id} is given to two tokens")));
        }
        let (Ok(start), Ok(length)) = (u32::try_from(bytes.start), u32::try_from(bytes.len())) else {
            return Err(Error::TooLarge("the tokens of the vocabulary exceed 4 GiB".to_owned()));
        };
        self.spans.resize(slot, (0, GAP));
        self.spans.push((start, length));
        self.count += 1;
        self.longest = self.longest.max(bytes.len());
        Ok(())
    }

    /// Makes all but the `hidden` ids found by their bytes.
    fn index(&mut self, hidden: &FxHashSet<u32>) {
        let mut short = ShortTokens::for_many(self.count);
        // In the order of their lines, so that memory is filled from its beginning to its end, and then of ids: of equal
        // bytes the lower id is first.
        let mut ends = vec![0; ShortTokens::PARTS + 1];
        self.keys(hidden).for_each(|(_, key)| ends[short.part(key) + 1] += 1);
        (0..ShortTokens::PARTS).for_each(|part| ends[part + 1] += ends[part]);
        let mut sorted = Zeros::<(Key, u32)>::new(ends[ShortTokens::PARTS]);
        for (id, key) in self.keys(hidden) {
            let end = &mut ends[short.part(key)];
            sorted[*end] = (key, id);
            *end += 1;
        }
        self.indexed = sorted.iter().filter(|&&(key, id)| short.insert(key, id)).count();
        self.short = short;
        for id in (0..self.id_bound()).filter(|id| !hidden.contains(id)) {
            if self.spans[id as usize].1 != GAP && self.key(id).is_none() {
                self.index_long(id);
            }
        }
    }

    /// The tokens that are keys, by ascending id.
    fn keys<'a>(&'a self, hidden: &'a FxHashSet<u32>) -> impl Iterator<Item = (u32, Key)> + 'a {
        let found = (0..self.id_bound()).filter_map(|id| self.key(id).map(|key| (id, key)));
        found.filter(|(id, _)| !hidden.contains(id))
    }

    /// The key of a token that has one.
    pub(crate) fn key(&self, id: u32) -> Option<Key> {
        let &(start, length) = self.spans.get(id as usize)?;
        let length = length as usize;
        (1..=SHORT).contains(&length).then(|| Key::at(&self.arena, start as usize, length))
    }

    fn index_long(&mut self, id: u32) {
        let bytes = slice(&self.arena, &self.spans, id);
        let hash = hash_bytes(bytes);
        if self.find_long(bytes).is_none() {
            self.indexed += 1;
            let (arena, spans) = (&self.arena, &self.spans);
            self.long.insert_unique(hash, id, |&other| hash_bytes(slice(arena, spans, other)));
        }
    }

    fn find_long(&self, bytes: &[u8]) -> Option<u32> {
        let found = self.long.find(hash_bytes(bytes), |&id| slice(&self.arena, &self.spans, id) == bytes);
        found.copied()
    }

    /// The id of the token with exactly these bytes.
    #[inline]
    pub fn id(&self, bytes: &[u8]) -> Option<u32> {
        match Key::new(bytes) {
            Some(key) => self.short.get(key),
            None => self.find_long(bytes),
        }
    }

    /// The same of `text[start..end]`, which is not empty; faster where more text follows.
    #[inline]
    pub(crate) fn id_at(&self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        if end - start <= SHORT {
            return self.short.get(Key::at(text, start, end - start));
        }
        self.find_long(&text[start..end])
    }

    /// The tokens of at most `SHORT` bytes, by these.
    pub(crate) fn short(&self) -> &ShortTokens {
        &self.short
    }

    /// The id of the token with the bytes of `left` and then those of `right`, neither of them empty.
    pub(crate) fn joined(&self, left: u32, right: u32) -> Option<u32> {
        let (left, right) = (self.bytes(left)?, self.bytes(right)?);
        if left.is_empty() || right.is_empty() {
            return None;
        }
        if let (Some(left), Some(right)) = (Key::new(left), Key::new(right))
            && let Some(key) = left.join(right)
        {
            return self.short.get(key);
        }
        let length = left.len() + right.len();
        if length > self.longest {
            return None;
        }
        let mut few = [0; 128];
        let Some(joined) = few.get_mut(..length) else { return self.find_long(&[left, right].concat()) };
        joined[..left.len()].copy_from_slice(left);
        joined[left.len()..].copy_from_slice(right);
        self.find_long(joined)
    }

    /// The bytes of token `id`.
    pub fn bytes(&self, id: u32) -> Option<&[u8]> {
        let &(start, length) = self.spans.get(id as usize)?;
        (length != GAP).then(|| &self.arena[start as usize..][..length as usize])
    }

    /// All `(id, bytes)` by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (0..self.id_bound()).filter_map(|id| self.bytes(id).map(|bytes| (id, bytes)))
    }

    /// Bytes of the longest token.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// One more than the largest id.
    pub fn id_bound(&self) -> u32 {
        self.spans.len() as u32
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no two tokens have the same bytes, and none is hidden.
    pub fn is_distinct(&self) -> bool {
        self.indexed == self.count
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Ids must be below this, if there are so many tokens.
fn limit(count: usize) -> usize {
    16 * count + 1_000_000
}

fn slice<'a>(arena: &'a [u8], spans: &[(u32, u32)], id: u32) -> &'a [u8] {
    let (start, length) = spans[id as usize];
    &arena[start as usize..][..length as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_both_ways_over_gaps() {
        let vocab = Vocab::new([(5, b"b".as_slice()), (0, b"a"), (9, b"")]).unwrap();
        assert_eq!(vocab.id(b"b"), Some(5));
        assert_eq!(vocab.id(b""), Some(9));
        assert_eq!(vocab.id(b"c"), None);
        assert_eq!(vocab.bytes(5), Some(b"b".as_slice()));
        assert_eq!(vocab.bytes(4), None);
        assert_eq!(vocab.bytes(10), None);
        assert_eq!(vocab.len(), 3);
        assert_eq!(vocab.iter().map(|(id, _)| id).collect::<Vec<_>>(), [0, 5, 9]);
    }

    #[test]
    fn refuses_double_ids_and_wild_ids() {
        assert!(matches!(Vocab::new([(1, b"a".as_slice()), (1, b"b")]), Err(Error::Vocabulary(_))));
        assert!(matches!(Vocab::new([(u32::MAX - 1, b"a".as_slice())]), Err(Error::Vocabulary(_))));
    }

    #[test]
    fn equal_bytes_keep_the_smaller_id() {
        let vocab = Vocab::new([(7, b"x".as_slice()), (3, b"x")]).unwrap();
        assert_eq!(vocab.id(b"x"), Some(3));
        assert!(!vocab.is_distinct());
        let long = [b'x'; 40].as_slice();
        assert!(!Vocab::new([(7, long), (3, long)]).unwrap().is_distinct());
        assert!(Vocab::new([(7, b"x".as_slice()), (3, b"y"), (4, long)]).unwrap().is_distinct());
    }
}
