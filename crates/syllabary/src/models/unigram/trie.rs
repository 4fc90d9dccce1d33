//! A trie of texts by their characters, as a double array: a step is one look at one cell.
//!
//! Characters have codes, the more texts have one the smaller; a character in no text has none. The cell of a node's
//! child by a code is at its base plus the code, and says whose child it is. Scores are beside them: that of a node
//! where no text ends is as low as can be, so that nobody need ask. The first step goes through a table of its own,
//! in which every character has a score: one that is no text has that of an unknown one.

use rustc_hash::FxHashMap;

use super::{laying::lay, tree::Tree};

/// No cell, no id.
pub(super) const NONE: u32 = u32::MAX;
/// A node without children.
const BARREN: u32 = u32::MAX - 1;
/// Characters below have their codes in a table.
const TABLE: usize = 0x1_0000;
/// A code that is none.
pub(crate) const LATER: u16 = u16::MAX;

/// A node: where its children are counted from, whose child it is, and the id and the score of the text that ends
/// here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) base: u32,
    pub(super) parent: u32,
    pub(super) id: u32,
    pub(super) score: f32,
}

const FREE: Cell = Cell { base: 0, parent: NONE, id: NONE, score: f32::NEG_INFINITY };

/// A node, and where its children are counted from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    node: u32,
    base: u32,
}

/// The texts.
#[derive(Debug)]
pub(crate) struct Trie {
    cells: Vec<Cell>,
    /// The scores in 64 bits, if they are asked for.
    doubles: Vec<f64>,
    /// Where the children of the first node are counted from.
    root: u32,
    /// By code the child of the first node, with its own number for its parent's; and their scores in 64 bits.
    firsts: Vec<Cell>,
    first_doubles: Vec<f64>,
    /// `LATER` where the code is among the others.
    table: Box<[u16; TABLE]>,
    others: FxHashMap<char, u32>,
}

impl Trie {
    /// Of texts, none empty and none twice, with their ids; of the scores of these, and that of an unknown character.
    pub(super) fn new(texts: &[(&str, u32)], scores: &[f64], unknown: f64) -> Trie {
        let (table, others) = codes(texts);
        let mut trie = Trie {
            cells: vec![FREE],
            doubles: Vec::new(),
            root: 0,
            firsts: Vec::new(),
            first_doubles: Vec::new(),
            table,
            others,
        };
        trie.cells = cells(&Tree::new(texts, |char| trie.code(char)));
        trie.root = trie.cells[0].base;
        trie.weigh(scores, unknown);
        trie
    }

    /// Puts scores beside the cells.
    fn weigh(&mut self, scores: &[f64], unknown: f64) {
        let score = |id: u32| scores.get(id as usize).copied().unwrap_or(f64::NEG_INFINITY);
        self.doubles = self.cells.iter().map(|cell| score(cell.id)).collect();
        let near = self.table.iter().copied().filter(|&code| code != LATER).map(u32::from);
        let last = near.chain(self.others.values().copied()).max().unwrap_or(0);
        for (cell, score) in self.cells.iter_mut().zip(&self.doubles) {
            cell.score = *score as f32;
        }
        for code in 0..=last {
            let at = self.root + code;
            let child = self.cells.get(at as usize).filter(|cell| cell.parent == 0 && code > 0);
            let mut first =
                child.map_or(Cell { parent: BARREN, ..FREE }, |cell| Cell { parent: at, ..*cell });
            let score = if first.id == NONE { unknown } else { self.doubles[at as usize] };
            first.score = score as f32;
            self.firsts.push(first);
            self.first_doubles.push(score);
        }
    }

    /// All cells, the first node's the first, with their scores in 64 bits; how many codes there are.
    pub(super) fn nodes(&self) -> (&[Cell], &[f64], usize) {
        (&self.cells, &self.doubles, self.firsts.len())
    }

    /// The score of an unknown character.
    pub(super) fn unknown(&self) -> f64 {
        self.first_doubles[0]
    }

    /// The code of a character; 0 if it is in no text.
    #[inline]
    pub(super) fn code(&self, char: char) -> u32 {
        self.code_of(u32::from(char))
    }

    /// The same of its number.
    #[inline]
    pub(super) fn code_of(&self, char: u32) -> u32 {
        match self.table.get(char as usize) {
            Some(&code) if code != LATER => code.into(),
            _ => char::from_u32(char).and_then(|char| self.others.get(&char)).copied().unwrap_or(0),
        }
    }

    /// The codes of the first characters, `LATER` for one that is to be asked for.
    #[cfg(simd_x86)]
    pub(super) fn table(&self) -> &[u16; TABLE] {
        &self.table
    }

    /// The first character of these, as a text of its own or as an unknown one: its id, its scores and where it is, for
    /// `next`.
    #[inline]
    pub(super) fn first(&self, code: u32) -> (&Cell, f64, Place) {
        let cell = &self.firsts[code as usize];
        (cell, self.first_doubles[code as usize], Place { node: cell.parent, base: cell.base })
    }

    /// A node, as a place.
    #[inline]
    pub(super) fn place(&self, node: u32) -> Place {
        Place { node, base: self.cells[node as usize].base }
    }

    /// The same of one more character.
    #[inline]
    pub(super) fn next(&self, place: Place, code: u32) -> Option<(&Cell, f64, Place)> {
        let at = place.base + code;
        let cell = self.cells.get(at as usize).filter(|cell| cell.parent == place.node)?;
        Some((cell, self.doubles[at as usize], Place { node: at, base: cell.base }))
    }

    /// Hands the last cell and the length, in characters, of every text that `codes` begin with to `found`, the
    /// shortest first.
    #[inline]
    pub(super) fn prefixes(&self, codes: &[u32], mut found: impl FnMut(&Cell, usize)) {
        let (mut node, mut base) = (0, self.root);
        for (length, &code) in codes.iter().enumerate() {
            if code == 0 {
                return;
            }
            let at = base + code;
            let Some(cell) = self.cells.get(at as usize).filter(|cell| cell.parent == node) else { return };
            if cell.id != NONE {
                found(cell, length + 1);
            }
            (node, base) = (at, cell.base);
        }
    }
}

/// The cells of the nodes of a tree.
fn cells(tree: &Tree) -> Vec<Cell> {
    let bases = lay(tree);
    let mut cells = vec![Cell { parent: 0, id: tree.ids[0], base: bases[0], ..FREE }];
    // The cell of each node.
    let mut places = vec![0; tree.len()];
    for node in 0..tree.len() {
        let Some(&last) = tree.codes_of(node).last() else { continue };
        let end = bases[node] as usize + last as usize + 1;
        if cells.len() < end {
            cells.resize(end, FREE);
        }
        for child in tree.children(node) {
            places[child] = bases[node] + tree.codes[child];
            let (base, id) = (bases[child], tree.ids[child]);
            cells[places[child] as usize] = Cell { base, parent: places[node], id, ..FREE };
        }
    }
    cells
}

/// The codes of characters, from 1 on.
fn codes(texts: &[(&str, u32)]) -> (Box<[u16; TABLE]>, FxHashMap<char, u32>) {
    let mut counts: FxHashMap<char, u32> = FxHashMap::default();
    texts.iter().flat_map(|(text, _)| text.chars()).for_each(|char| *counts.entry(char).or_default() += 1);
    let mut chars: Vec<(char, u32)> = counts.into_iter().collect();
    chars.sort_unstable_by_key(|&(char, count)| (std::cmp::Reverse(count), char));
    let (mut table, mut others) = (Box::new([0; TABLE]), FxHashMap::default());
    for ((char, _), code) in chars.into_iter().zip(1..) {
        match table.get_mut(char as usize) {
            Some(place) if code < u32::from(LATER) => *place = code as u16,
            place => {
                place.into_iter().for_each(|place| *place = LATER);
                others.insert(char, code);
            }
        }
    }
    (table, others)
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;

    #[test]
    fn finds_what_it_was_made_of() {
        let alphabet: Vec<char> = "abcdeéж漢字😀".chars().collect();
        let mut state = 7u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut texts: Vec<String> = Vec::new();
        for _ in 0..3000 {
            let length = 1 + draw(6);
            texts.push((0..length).map(|_| alphabet[draw(alphabet.len())]).collect());
        }
        texts.sort();
        texts.dedup();
        let rows: Vec<(&str, u32)> = texts.iter().zip(0..).map(|(text, id)| (text.as_str(), id)).collect();
        let trie = Trie::new(&rows, &[], 0.0);
        // No two nodes count their children from the same place, which the automaton goes by.
        let (cells, ..) = trie.nodes();
        let mut parents: Vec<u32> = cells.iter().map(|cell| cell.parent).filter(|&at| at != NONE).collect();
        parents.sort_unstable();
        parents.dedup();
        let bases: FxHashSet<u32> = parents.iter().map(|&at| cells[at as usize].base).collect();
        assert_eq!(bases.len(), parents.len());
        for _ in 0..3000 {
            let text: Vec<char> =
                (0..8).map(|_| if draw(30) == 0 { 'x' } else { alphabet[draw(10)] }).collect();
            let codes: Vec<u32> = text.iter().map(|&char| trie.code(char)).collect();
            let mut found = Vec::new();
            trie.prefixes(&codes, |cell, length| found.push((cell.id, length)));
            let expected: Vec<(u32, usize)> = (1..=text.len())
                .filter_map(|length| {
                    let prefix: String = text[..length].iter().collect();
                    texts.binary_search(&prefix).ok().map(|id| (id as u32, length))
                })
                .collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn of_no_texts() {
        let trie = Trie::new(&[], &[], 0.0);
        assert_eq!(trie.code('a'), 0);
        trie.prefixes(&[0], |_, _| unreachable!());
    }
}
