//! The kinds of characters that a pattern tells apart.
//!
//! Adds: `Kinds`, the number of each character's kind, in a two-stage table that is read without decoding the
//! character. Leaves out: what a pattern makes of them.

use regex_syntax::hir::ClassUnicode;
use rustc_hash::FxHashMap;

use super::super::classes::blocks;

/// Code points of a block: those that differ in the last byte of UTF-8 alone.
const BLOCK: usize = 64;
const CODE_POINTS: usize = 0x11_0000;
/// The most kinds, so that they and the edge of the text are numbers of a byte.
const MAX_KINDS: usize = 250;

/// The kind of every character.
#[derive(Debug)]
pub(super) struct Kinds {
    ascii: [u8; 128],
    /// Block number of each `BLOCK` code points.
    blocks: Vec<u16>,
    /// The distinct blocks, one after another.
    kinds: Vec<u8>,
    /// For each kind, whether it is in each set.
    members: Vec<Vec<bool>>,
}

impl Kinds {
    /// Two characters are of one kind if they are in the same of `sets`; `None` if there are too many kinds.
    pub(super) fn new(sets: &[ClassUnicode]) -> Option<Kinds> {
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for (number, set) in sets.iter().enumerate() {
            for range in set.iter() {
                edges.push((range.start() as usize, number));
                edges.push((range.end() as usize + 1, number));
            }
        }
        edges.sort_unstable();
        let mut flat = vec![0u8; CODE_POINTS];
        let mut numbers: FxHashMap<Vec<bool>, u8> = FxHashMap::default();
        let mut members = Vec::new();
        let (mut inside, mut at, mut edge) = (vec![false; sets.len()], 0, 0);
        while at < CODE_POINTS {
            while edge < edges.len() && edges[edge].0 == at {
                inside[edges[edge].1] ^= true;
                edge += 1;
            }
            let end = edges.get(edge).map_or(CODE_POINTS, |next| next.0.min(CODE_POINTS));
            let kind = match numbers.get(&inside) {
                Some(&kind) => kind,
                None if members.len() == MAX_KINDS => return None,
                None => {
                    let kind = members.len() as u8;
                    members.push(inside.clone());
                    numbers.insert(inside.clone(), kind);
                    kind
                }
            };
            flat[at..end].fill(kind);
            at = end;
        }
        Some(Kinds::fold(&flat, members))
    }

    fn fold(flat: &[u8], members: Vec<Vec<bool>>) -> Kinds {
        let (blocks, kinds) = blocks(flat, BLOCK);
        let mut ascii = [0; 128];
        ascii.copy_from_slice(&flat[..128]);
        Kinds { ascii, blocks, kinds, members }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether characters of `kind` are in the set of this number.
    pub(super) fn is_in(&self, kind: usize, set: usize) -> bool {
        self.members[kind][set]
    }

    /// The kind of the character at byte `at`, which is before the end, and its length in bytes.
    #[inline(always)]
    pub(super) fn at(&self, text: &[u8], at: usize) -> (u8, usize) {
        let byte = text[at];
        if byte < 128 { (self.ascii[usize::from(byte)], 1) } else { self.wide(&text[at..]) }
    }

    /// The same for a character of more than one byte, at the beginning of `text`, which is UTF-8.
    #[inline(always)]
    fn wide(&self, text: &[u8]) -> (u8, usize) {
        let low = |at: usize| usize::from(text[at] & 0x3F);
        let first = usize::from(text[0]);
        let (block, width) = match first {
            0..0xE0 => (first & 0x1F, 2),
            0xE0..0xF0 => ((first & 0x0F) << 6 | low(1), 3),
            _ => ((first & 0x07) << 12 | low(1) << 6 | low(2), 4),
        };
        let start = usize::from(self.blocks[block]) * BLOCK;
        (self.kinds[start + low(width - 1)], width)
    }

    /// The kind of the character before byte `at`, if there is one.
    pub(super) fn before(&self, text: &str, at: usize) -> Option<u8> {
        let last = text[..at].chars().next_back()?;
        Some(self.at(text.as_bytes(), at - last.len_utf8()).0)
    }
}
