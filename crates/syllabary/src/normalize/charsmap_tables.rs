//! Tables of a character map, made once: what single characters begin.
//!
//! Leaves out the map itself (`charsmap`).

use rustc_hash::FxHashMap;

use super::{
    calm::{Single, is_simple},
    calm_joins::Pairs,
    charsmap::{Charsmap, FOLLOWS, NO_RULE, OPEN_RULE, OWN_RULE, TABLE, has_leaf, label, offset, value},
};

impl Charsmap {
    /// See `firsts`.
    pub(super) fn first_nodes(&self) -> Vec<u32> {
        let mut firsts = vec![NO_RULE; TABLE];
        self.characters(self.root(), |code, next, is_rule| {
            if let Some(first) = firsts.get_mut(code) {
                *first = match is_rule {
                    true if self.goes_on(next) => OPEN_RULE,
                    true => OWN_RULE,
                    false => next as u32,
                };
            }
        });
        firsts
    }

    /// Marks the characters that stand behind the first of some rule; gives each with that one.
    pub(super) fn mark_followers(&mut self) -> Pairs {
        let mut firsts = std::mem::take(&mut self.firsts);
        let mut pairs = Pairs::default();
        self.characters(self.root(), |first, node, _| {
            if firsts.get(first).is_some_and(|first| first & !FOLLOWS != OWN_RULE) {
                self.characters(node, |second, _, _| {
                    firsts.get_mut(second).into_iter().for_each(|second| *second |= FOLLOWS);
                    pairs.insert([first as u16, second as u16]);
                });
            }
        });
        self.firsts = firsts;
        pairs
    }

    /// The node where every search begins.
    fn root(&self) -> usize {
        self.units.first().map_or(0, |root| offset(*root))
    }

    /// Whether rules go on from a node.
    fn goes_on(&self, node: usize) -> bool {
        let is_child =
            |byte: usize| self.units.get(node ^ byte).is_some_and(|unit| label(*unit) as usize == byte);
        (1..=255).any(is_child)
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
        let Some(node) = child(self.root(), byte) else { return bits };
        for next in (0..=255).filter(|next| child(node, *next).is_some()) {
            bits[usize::from(next >> 6)] |= 1 << (next & 63);
        }
        bits
    }

    /// What characters become that have a rule for them alone, as far as `Calm` takes it.
    pub(super) fn single_rules(&self) -> FxHashMap<usize, Single> {
        let mut singles = FxHashMap::default();
        self.characters(self.root(), |code, node, is_rule| {
            if let Some(leaf) = self.units.get(node).filter(|_| is_rule) {
                let text = self.text_at(value(*leaf));
                let is_open = self.firsts.get(code).is_none_or(|first| first & !FOLLOWS == OPEN_RULE);
                singles.extend(is_simple(text).then(|| (code, Single { text: text.into(), is_open })));
            }
        });
        singles
    }
}
