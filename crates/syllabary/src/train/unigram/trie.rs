//! Pieces by their symbols: the longest that begins at one place of a text.
//!
//! The nodes of one depth stand in a row, those of one parent by their symbols, so that the children of a node are a
//! range. Leaves out scores, and shorter pieces, which are beginnings of the longest (`model`).

use super::{
    model::{Piece, UNKNOWN},
    words::Words,
};

/// Up to so many children are looked through one by one.
const FEW: usize = 8;

/// Pieces as a tree.
#[derive(Debug)]
pub struct Trie {
    /// The symbol that leads to each node; the root is node 0.
    symbols: Vec<u32>,
    /// Where the children of each node begin, which end where those of the next begin; the longest piece that ends at
    /// the node or above it.
    nodes: Vec<(u32, u32)>,
    /// The child of the root, by symbol.
    roots: Vec<u32>,
}

/// The numbers of pieces, by their symbols.
pub struct Order(Vec<u32>);

impl Order {
    /// Compares as many symbols as a word of 64 bits holds, then the others.
    pub fn of(pieces: &[Piece], words: &Words) -> Order {
        let bits = usize::BITS - words.characters.len().leading_zeros();
        let first = |piece: &Piece| {
            let symbols = piece.symbols(&words.text).iter().map(|symbol| u64::from(*symbol) + 1);
            let held = (64 / bits.max(1)) as usize;
            symbols.chain(std::iter::repeat(0)).take(held).fold(0, |all, symbol| (all << bits) | symbol)
        };
        let mut order: Vec<(u64, u32)> = pieces.iter().map(first).zip(0..).collect();
        order.sort_unstable_by(|a, b| {
            let symbols = |id: u32| pieces[id as usize].symbols(&words.text);
            a.0.cmp(&b.0).then_with(|| symbols(a.1).cmp(symbols(b.1)))
        });
        Order(order.into_iter().map(|(_, id)| id).collect())
    }

    /// How many nodes the tree has: those of each piece that the one before it does not have.
    fn nodes(&self, pieces: &[Piece], words: &Words) -> usize {
        let mut before: &[u32] = &[];
        self.0.iter().fold(1, |nodes, id| {
            let piece = pieces[*id as usize].symbols(&words.text);
            let shared = piece.iter().zip(before).take_while(|(one, other)| one == other).count();
            before = piece;
            nodes + piece.len() - shared
        })
    }
}

/// The pieces below a node: a range of their order, and the piece at the node or above.
type Below = (u32, u32, u32);

impl Trie {
    /// Of pieces in their order. `links` is told of each piece the longest other one that it begins with.
    pub fn new(pieces: &[Piece], words: &Words, order: &Order, mut links: impl FnMut(u32, u32)) -> Trie {
        let nodes = order.nodes(pieces, words);
        let order = &order.0;
        let mut trie = Trie {
            symbols: Vec::with_capacity(nodes + 1),
            nodes: Vec::with_capacity(nodes + 1),
            roots: vec![UNKNOWN; words.characters.len()],
        };
        trie.symbols.push(0);
        let mut level: Vec<Below> = vec![(0, order.len() as u32, UNKNOWN)];
        let mut depth = 0;
        while !level.is_empty() {
            let symbol_of = |id: u32| words.text[pieces[id as usize].start as usize + depth];
            let mut below = Vec::new();
            for (start, end, above) in level {
                trie.nodes.push((trie.symbols.len() as u32, above));
                let mut at = start;
                while at < end {
                    let first = order[at as usize];
                    let symbol = symbol_of(first);
                    let rest = &order[at as usize..end as usize];
                    let next = at + rest.partition_point(|id| symbol_of(*id) == symbol) as u32;
                    let whole = pieces[first as usize].length as usize == depth + 1;
                    if depth == 0 {
                        trie.roots[symbol as usize] = trie.symbols.len() as u32;
                    }
                    trie.symbols.push(symbol);
                    if whole {
                        links(first, above);
                    }
                    below.push((at + u32::from(whole), next, if whole { first } else { above }));
                    at = next;
                }
            }
            level = below;
            depth += 1;
        }
        trie.nodes.push((trie.symbols.len() as u32, UNKNOWN));
        trie
    }

    /// The bytes of the tree of these pieces, and of making it.
    pub fn memory(pieces: &[Piece], words: &Words) -> usize {
        16 * Order::of(pieces, words).nodes(pieces, words)
    }

    /// The longest piece that `text` begins with, or `UNKNOWN`.
    #[inline]
    pub fn longest(&self, text: &[u32]) -> u32 {
        let root = text.first().and_then(|symbol| self.roots.get(*symbol as usize)).copied();
        let Some(mut node) = root.filter(|root| *root != UNKNOWN) else { return UNKNOWN };
        for symbol in &text[1..] {
            let Some(child) = self.child(node, *symbol) else { break };
            node = child;
        }
        self.nodes[node as usize].1
    }

    #[inline]
    fn child(&self, node: u32, symbol: u32) -> Option<u32> {
        let start = self.nodes[node as usize].0;
        let symbols = &self.symbols[start as usize..self.nodes[node as usize + 1].0 as usize];
        let found = if symbols.len() <= FEW {
            symbols.iter().position(|other| *other == symbol)
        } else {
            symbols.binary_search(&symbol).ok()
        };
        found.map(|at| start + at as u32)
    }
}
