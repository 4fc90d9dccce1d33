//! Tables of a character map, made once: what single characters begin.
//!
//! Leaves out the map itself (`charsmap`).

use rustc_hash::FxHashMap;

use super::{
    calm::LONGEST,
    charsmap::{Charsmap, FOLLOWS, NO_RULE, OWN_RULE, TABLE, has_leaf, label, offset, value},
};

impl Charsmap {
    /// See `firsts`.
    pub(super) fn first_nodes(&self) -> Vec<u32> {
        let mut firsts = vec![NO_RULE; TABLE];
        let root = self.units.first().map_or(0, |root| offset(*root));
        self.characters(root, |code, next, is_rule| {
            if let Some(first) = firsts.get_mut(code) {
                *first = if is_rule { OWN_RULE } else { next as u32 };
            }
        });
        firsts
    }

    /// Marks the characters that stand behind the first of some rule.
    pub(super) fn mark_followers(&mut self) {
        let mut firsts = std::mem::take(&mut self.firsts);
        for at in 0..firsts.len() {
            let node = firsts[at] & !FOLLOWS;
            if node < OWN_RULE {
                self.characters(node as usize, |code, _, _| {
                    firsts.get_mut(code).into_iter().for_each(|first| *first |= FOLLOWS);
                });
            }
        }
        self.firsts = firsts;
    }

    /// Calls `each` with every character of up to three bytes that goes on from a node, where a search is behind it, and
    /// whether a rule ends there.
    fn characters(&self, from: usize, mut each: impl FnMut(usize, usize, bool)) {
        // The node, the bytes that are to come, the bits so far.
        let mut waiting: Vec<(usize, u32, u32)> = Vec::new();
        let step = |node: usize, byte: u32| {
            let at = node ^ byte as usize;
            self.units.get(at).filter(|unit| label(**unit) == byte).map(|unit| (at ^ offset(*unit), *unit))
        };
        for byte in (0..0x80).chain(0xC2..0xF0) {
            let Some((node, unit)) = step(from, byte) else { continue };
            match byte {
                0..0x80 => each(byte as usize, node, has_leaf(unit)),
                0xE0.. => waiting.push((node, 2, byte & 0x0F)),
                _ => waiting.push((node, 1, byte & 0x1F)),
            }
        }
        while let Some((node, left, bits)) = waiting.pop() {
            for byte in 0x80..0xC0 {
                let (Some((next, unit)), bits) = (step(node, byte), bits << 6 | byte & 0x3F) else {
                    continue;
                };
                if left > 1 {
                    waiting.push((next, left - 1, bits));
                } else {
                    each(bits as usize, next, has_leaf(unit));
                }
            }
        }
    }

    /// The bytes, as bits, that follow `byte` at the beginning of rules.
    pub(super) fn second_bytes(&self, byte: u8) -> [u64; 4] {
        let child = |from: usize, byte: u8| {
            let node = from ^ usize::from(byte);
            self.units
                .get(node)
                .filter(|unit| label(**unit) == u32::from(byte))
                .map(|unit| node ^ offset(*unit))
        };
        let mut bits = [0; 4];
        let Some(node) = self.units.first().and_then(|root| child(offset(*root), byte)) else { return bits };
        for next in (0..=255).filter(|next| child(node, *next).is_some()) {
            bits[usize::from(next >> 6)] |= 1 << (next & 63);
        }
        bits
    }

    /// What characters become that begin one rule, which is for them alone, as far as `Calm` takes it.
    pub(super) fn single_rules(&self) -> FxHashMap<usize, Box<str>> {
        let mut singles = FxHashMap::default();
        let root = self.units.first().map_or(0, |root| offset(*root));
        self.characters(root, |code, node, is_rule| {
            let goes_on =
                |byte: usize| self.units.get(node ^ byte).is_some_and(|unit| label(*unit) as usize == byte);
            if let Some(leaf) = self.units.get(node).filter(|_| is_rule && !(1..=255).any(goes_on)) {
                let text = self.text_at(value(*leaf));
                let is_simple = text.len() <= LONGEST && (text == " " || !text.contains(' '));
                singles.extend(is_simple.then(|| (code, Box::from(text))));
            }
        });
        singles
    }
}
