//! Where the nodes of a tree have their cells in a double array, so that few cells are left free.
//!
//! ```text
//! the cell of a child  =  the base of its node  +  its code        no cell, and no base, is given twice
//! ```
//!
//! Nodes with many children choose first: what is left between their children's cells is enough for those with few, which
//! come in the order of a walk, so that those of one text lie near each other. A base is looked for among 64 at once: of the
//! cells that each child would have a word of bits says which are taken. Leaves out what is in the cells (`trie`).

use super::tree::Tree;

const WORD: usize = u64::BITS as usize;
/// So many words are looked through before the end of the array is taken.
const TRIES: usize = 1 << 10;
/// Nodes with more children choose before all others.
const WIDE: usize = 8;
/// Nodes with more children than this search from the same place on.
const CLASSES: usize = 64;
/// After so many words in vain, half of them are passed over the next time.
const PATIENCE: usize = 16;

/// Bits, as many as are asked for: those that were never set are not.
#[derive(Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn set(&mut self, at: usize) {
        if self.0.len() <= at / WORD {
            self.0.resize(at / WORD + 1, 0);
        }
        self.0[at / WORD] |= 1 << (at % WORD);
    }

    /// The word from a bit on.
    #[inline]
    fn from(&self, at: usize) -> u64 {
        let word = |at: usize| self.0.get(at).copied().unwrap_or(0);
        let (low, shift) = (word(at / WORD), at % WORD);
        if shift == 0 { low } else { low >> shift | word(at / WORD + 1) << (WORD - shift) }
    }

    /// One more than the last that was set, or a little more.
    fn end(&self) -> usize {
        WORD * self.0.len()
    }
}

/// For each node where its children are counted from; 0 for one without.
pub(super) fn lay(tree: &Tree) -> Vec<u32> {
    let width = |node: u32| tree.children(node as usize).len();
    let (mut order, mut open) = (Vec::new(), vec![0u32]);
    while let Some(node) = open.pop() {
        order.push(node);
        open.extend(tree.children(node as usize).map(|child| child as u32));
    }
    order.retain(|&node| width(node) > 0);
    order.sort_by_key(|&node| std::cmp::Reverse(if width(node) > WIDE { width(node) } else { 0 }));
    let mut laid = Laid::new();
    let mut bases = vec![0; tree.len()];
    for node in order {
        bases[node as usize] = laid.place(tree.codes_of(node as usize)) as u32;
    }
    bases
}

/// What is taken.
struct Laid {
    cells: Bits,
    bases: Bits,
    /// By the number of children: where the search begins, in words.
    starts: [usize; CLASSES],
}

impl Laid {
    fn new() -> Laid {
        let mut laid = Laid { cells: Bits::default(), bases: Bits::default(), starts: [0; CLASSES] };
        // That of the first node.
        laid.cells.set(0);
        laid
    }

    /// Takes cells for children of these codes, which ascend; what they are counted from.
    fn place(&mut self, codes: &[u32]) -> usize {
        let class = codes.len().min(CLASSES) - 1;
        let start = self.starts[class];
        let found = (start..start + TRIES).find_map(|word| {
            let free = self.free(word * WORD, codes);
            (free != 0).then(|| (word, word * WORD + free.trailing_zeros() as usize))
        });
        let tried = found.map_or(TRIES, |(word, _)| word - start);
        if tried >= PATIENCE {
            self.starts[class] += tried / 2;
        }
        let base = found.map_or_else(|| self.at_end(), |(_, base)| base);
        codes.iter().for_each(|&code| self.cells.set(base + code as usize));
        self.bases.set(base);
        base
    }

    /// Which of the 64 bases from one on are free, and the cells of children of these codes there.
    #[inline]
    fn free(&self, base: usize, codes: &[u32]) -> u64 {
        let mut free = !self.bases.from(base);
        for &code in codes {
            free &= !self.cells.from(base + code as usize);
            if free == 0 {
                break;
            }
        }
        free
    }

    /// A base behind all cells.
    fn at_end(&self) -> usize {
        self.cells.end().max(self.bases.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_taken_twice() {
        let mut state = 7u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let texts: Vec<String> = (0..20_000)
            .map(|_| {
                (0..1 + draw(4))
                    .map(|_| char::from_u32(0x4E00 + (draw(70) * draw(70)) as u32).unwrap())
                    .collect()
            })
            .collect();
        let mut rows: Vec<&str> = texts.iter().map(String::as_str).collect();
        rows.sort_unstable();
        rows.dedup();
        let rows: Vec<(&str, u32)> = rows.into_iter().zip(0..).collect();
        let tree = Tree::new(&rows, |char| char as u32 - 0x4E00 + 1);
        let bases = lay(&tree);
        let nodes = || (0..tree.len()).filter(|&node| !tree.children(node).is_empty());
        let mut cells: Vec<u32> = vec![0];
        nodes().for_each(|node| cells.extend(tree.codes_of(node).iter().map(|code| bases[node] + code)));
        let (count, most) = (cells.len(), cells.iter().max().copied().unwrap());
        cells.sort_unstable();
        cells.dedup();
        assert_eq!((cells.len(), count), (tree.len(), tree.len()));
        let mut taken: Vec<u32> = nodes().map(|node| bases[node]).collect();
        let count = taken.len();
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), count);
        // And little is left free.
        assert!(most < 2 * tree.len() as u32, "{most} of {}", tree.len());
    }
}
