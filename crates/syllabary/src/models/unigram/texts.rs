//! The texts that tokens are found by, and their ids: one string for all of them, and a hash table.
//!
//! Leaves out how they are found in a piece (`trie`, `automaton`).

use hashbrown::HashTable;

use crate::vocab::hash_bytes;

/// A text: where it ends in the string, the one before it ending where it begins, and its id.
#[derive(Clone, Copy, Debug)]
struct Row {
    end: usize,
    id: u32,
}

/// Texts, none twice.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: String,
    rows: Vec<Row>,
    /// Places in `rows`.
    table: HashTable<u32>,
}

impl Texts {
    /// Room for so many.
    pub(super) fn for_many(count: usize) -> Texts {
        Texts { rows: Vec::with_capacity(count), table: HashTable::with_capacity(count), ..Texts::default() }
    }

    /// Adds a text; of one that is there the id is another then.
    pub(super) fn put(&mut self, text: &str, id: u32) {
        if let Some(at) = self.find(text) {
            self.rows[at].id = id;
            return;
        }
        let at = self.rows.len() as u32;
        self.all.push_str(text);
        self.rows.push(Row { end: self.all.len(), id });
        let (all, rows) = (&self.all, &self.rows);
        let hash = |&at: &u32| hash_bytes(text_of(all, rows, at as usize).as_bytes());
        self.table.insert_unique(hash(&at), at, hash);
    }

    /// The id of a text.
    pub(super) fn get(&self, text: &str) -> Option<u32> {
        self.find(text).map(|at| self.rows[at].id)
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.rows.iter().enumerate().map(|(at, row)| (text_of(&self.all, &self.rows, at), row.id))
    }

    fn find(&self, text: &str) -> Option<usize> {
        let is_it = |&at: &u32| text_of(&self.all, &self.rows, at as usize) == text;
        self.table.find(hash_bytes(text.as_bytes()), is_it).map(|&at| at as usize)
    }
}

fn text_of<'t>(all: &'t str, rows: &[Row], at: usize) -> &'t str {
    let start = at.checked_sub(1).map_or(0, |before| rows[before].end);
    &all[start..rows[at].end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_last_is_found() {
        let mut texts = Texts::for_many(1);
        for (text, id) in [("a", 3), ("字b", 1), ("a", 7), ("", 2), ("b", 4)] {
            texts.put(text, id);
        }
        assert_eq!(texts.iter().collect::<Vec<_>>(), [("a", 7), ("字b", 1), ("", 2), ("b", 4)]);
        assert_eq!(
            ["字b", "a", "", "字", "ab"].map(|text| texts.get(text)),
            [Some(1), Some(7), Some(2), None, None]
        );
    }
}
