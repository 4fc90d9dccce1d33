//! The tree of texts by their characters' codes, node by node, level by level: what a trie is laid out from.
//!
//! Leaves out where nodes have their cells (`laying`).

use std::ops::Range;

use super::trie::NONE;

/// A text as the codes of its characters, which are above 0: the first ones in one number too, and its id.
struct Key {
    first: u64,
    codes: Range<usize>,
    id: u32,
}

/// The texts in the order of their codes.
struct Keys {
    codes: Vec<u32>,
    rows: Vec<Key>,
}

/// Bits of a code in the number of the first ones, and how many there are; a larger code is the last, and not told.
const BITS: usize = 16;
const FIRST: usize = u64::BITS as usize / BITS;
const MOST: u32 = (1 << BITS) - 1;

impl Keys {
    fn new(texts: &[(&str, u32)], code: impl Fn(char) -> u32) -> Keys {
        let (mut codes, mut rows) = (Vec::new(), Vec::with_capacity(texts.len()));
        for &(text, id) in texts {
            let start = codes.len();
            codes.extend(text.chars().map(&code));
            rows.push(Key { first: first(&codes[start..]), codes: start..codes.len(), id });
        }
        rows.sort_unstable_by(|one, other| {
            let rest = || codes[one.codes.clone()].cmp(&codes[other.codes.clone()]);
            one.first.cmp(&other.first).then_with(rest)
        });
        Keys { codes, rows }
    }

    /// The code of a text at a place.
    #[inline]
    fn code(&self, row: usize, at: usize) -> u32 {
        let key = &self.rows[row];
        let told = if at < FIRST { (key.first >> (BITS * (FIRST - 1 - at))) as u32 & MOST } else { MOST };
        if (1..MOST).contains(&told) { told } else { self.codes[key.codes.start + at] }
    }
}

/// The first codes as a number that goes by their order.
fn first(codes: &[u32]) -> u64 {
    let (mut first, mut is_last) = (0, false);
    for place in 0..FIRST {
        let code = codes.get(place).copied().filter(|_| !is_last).unwrap_or(0).min(MOST);
        is_last |= code == MOST;
        first = first << BITS | u64::from(code);
    }
    first
}

/// Nodes, those of fewer characters first, the children of each side by side by ascending code.
pub(super) struct Tree {
    /// The code that leads to each; 0 for the first, which is that of no character.
    pub(super) codes: Vec<u32>,
    /// The id of the text that ends there, or `NONE`.
    pub(super) ids: Vec<u32>,
    /// Where the children of each begin; one more than nodes.
    begins: Vec<u32>,
}

impl Tree {
    /// Of texts, none empty and none twice, with their ids.
    pub(super) fn new(texts: &[(&str, u32)], code: impl Fn(char) -> u32) -> Tree {
        let keys = Keys::new(texts, code);
        let mut tree = Tree { codes: vec![0], ids: vec![NONE], begins: Vec::new() };
        let whole = 0..keys.rows.len();
        let mut level = vec![whole];
        for depth in 0.. {
            let mut next: Vec<Range<usize>> = Vec::new();
            let first = tree.begins.len();
            for (node, mut range) in (first..).zip(level) {
                tree.begins.push(tree.codes.len() as u32);
                if keys.rows.get(range.start).is_some_and(|key| key.codes.len() == depth) {
                    tree.ids[node] = keys.rows[range.start].id;
                    range.start += 1;
                }
                let mut last = 0;
                for at in range {
                    let code = keys.code(at, depth);
                    if code != last {
                        tree.codes.push(code);
                        tree.ids.push(NONE);
                        next.push(at..at);
                        last = code;
                    }
                    if let Some(range) = next.last_mut() {
                        range.end = at + 1;
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        tree.begins.push(tree.codes.len() as u32);
        tree
    }

    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The children of a node.
    pub(super) fn children(&self, node: usize) -> Range<usize> {
        self.begins[node] as usize..self.begins[node + 1] as usize
    }

    /// The codes of the children of a node.
    pub(super) fn codes_of(&self, node: usize) -> &[u32] {
        &self.codes[self.children(node)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_beginnings_level_by_level() {
        let texts = [("ba", 7), ("a", 1), ("abc", 2), ("b", 5), ("ac", 3)];
        // Also where codes do not fit into the first number.
        for more in [0, MOST - 2, MOST] {
            let tree = Tree::new(&texts, |char| char as u32 - 'a' as u32 + 1 + more);
            let codes: Vec<u32> =
                [0, 1, 2, 2, 3, 1, 3].map(|code| if code == 0 { 0 } else { code + more }).into();
            assert_eq!(tree.codes, codes);
            assert_eq!(tree.ids, [NONE, 1, 5, NONE, 3, 7, 2]);
            let children: Vec<_> = (0..tree.len()).map(|node| tree.children(node)).collect();
            assert_eq!(children, [1..3, 3..5, 5..6, 6..7, 7..7, 7..7, 7..7]);
        }
        assert_eq!(Tree::new(&[], |_| 1).len(), 1);
    }
}
