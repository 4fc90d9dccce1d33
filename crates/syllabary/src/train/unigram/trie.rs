//! Pieces by their symbols: all that begin at one place of a word, the shortest first.
//!
//! The nodes of one depth stand in a row, those of one parent by their symbols, so that the children of a node are a
//! range. Leaves out scores.

/// No piece ends here.
const NONE: u32 = u32::MAX;
/// Up to so many children are looked through one by one.
const FEW: usize = 8;

/// Pieces as a tree.
#[derive(Debug)]
pub struct Trie {
    /// The symbol that leads to each node; the root is node 0.
    symbols: Vec<u32>,
    /// Where the children of each node begin; they end where those of the next begin.
    children: Vec<u32>,
    /// The piece that ends at each node.
    pieces: Vec<u32>,
    /// The child of the root, by symbol.
    roots: Vec<u32>,
}

/// The pieces by their symbols.
fn order(pieces: &[&[u32]]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..pieces.len() as u32).collect();
    order.sort_unstable_by_key(|id| pieces[*id as usize]);
    order
}

/// How many nodes the tree has: those of each piece that the one before it does not have.
fn nodes(pieces: &[&[u32]], order: &[u32]) -> usize {
    let mut before: &[u32] = &[];
    order.iter().fold(1, |nodes, id| {
        let piece = pieces[*id as usize];
        let shared = piece.iter().zip(before).take_while(|(one, other)| one == other).count();
        before = piece;
        nodes + piece.len() - shared
    })
}

impl Trie {
    /// Of pieces by id; `symbols`: how many there are.
    pub fn new(pieces: &[&[u32]], symbols: usize) -> Trie {
        let order = order(pieces);
        let nodes = nodes(pieces, &order);
        let room = || Vec::with_capacity(nodes + 1);
        let mut trie = Trie { symbols: room(), children: room(), pieces: room(), roots: vec![NONE; symbols] };
        trie.symbols.push(0);
        trie.pieces.push(NONE);
        // The pieces below each node of one depth, which share as many symbols.
        let mut level = vec![(0, order.len())];
        let mut depth = 0;
        while !level.is_empty() {
            let mut below = Vec::new();
            for (start, end) in level {
                trie.children.push(trie.symbols.len() as u32);
                let mut at = start;
                while at < end {
                    let piece = pieces[order[at] as usize];
                    let symbol = piece[depth];
                    let same = |id: &u32| pieces[*id as usize][depth] == symbol;
                    let next = at + order[at..end].partition_point(same);
                    let whole = piece.len() == depth + 1;
                    if depth == 0 {
                        trie.roots[symbol as usize] = trie.symbols.len() as u32;
                    }
                    trie.symbols.push(symbol);
                    trie.pieces.push(if whole { order[at] } else { NONE });
                    below.push((at + usize::from(whole), next));
                    at = next;
                }
            }
            level = below;
            depth += 1;
        }
        trie.children.push(trie.symbols.len() as u32);
        trie
    }

    /// The bytes of the tree of these pieces.
    pub fn memory(pieces: &[&[u32]]) -> usize {
        12 * nodes(pieces, &order(pieces))
    }

    /// Calls `each` with the length and the id of every piece that `text` begins with.
    #[inline]
    pub fn prefixes(&self, text: &[u32], mut each: impl FnMut(usize, u32)) {
        let Some(&root) = text.first().and_then(|symbol| self.roots.get(*symbol as usize)) else { return };
        if root == NONE {
            return;
        }
        let mut node = root as usize;
        let mut length = 1;
        loop {
            let piece = self.pieces[node];
            if piece != NONE {
                each(length, piece);
            }
            let Some(symbol) = text.get(length) else { return };
            let Some(child) = self.child(node, *symbol) else { return };
            node = child;
            length += 1;
        }
    }

    #[inline]
    fn child(&self, node: usize, symbol: u32) -> Option<usize> {
        let start = self.children[node] as usize;
        let symbols = &self.symbols[start..self.children[node + 1] as usize];
        let found = if symbols.len() <= FEW {
            symbols.iter().position(|other| *other == symbol)
        } else {
            symbols.binary_search(&symbol).ok()
        };
        found.map(|at| start + at)
    }
}
