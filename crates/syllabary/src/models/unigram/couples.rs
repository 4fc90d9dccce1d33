//! Beginnings of texts, of two characters, by the codes of these: a hash table of slots of 16 bytes.
//!
//! Where scripts have no spaces, most of what tokens are found in are two or three characters between two places that no
//! token reaches over: one look at one line, asked for ahead, says what a trie has to be gone through for. Adds how few
//! characters between such places are cut. Leaves out how more are (`lattice`).

use super::{
    NONE, Unigram,
    trie::{Cell, Trie},
};
use crate::fetch::fetch;

/// Codes are smaller.
const CODES: u32 = 1 << 16;
/// So many characters are cut here.
pub(crate) const FEW: usize = 8;

/// A beginning: both codes, its id and its score if it is a text, and its node in the trie if some text goes on.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Slot {
    key: u32,
    id: u32,
    score: f32,
    node: u32,
}

const EMPTY: Slot = Slot { key: 0, id: NONE, score: f32::NEG_INFINITY, node: NONE };

/// The beginnings; at least half of the slots are empty, and their number is a power of two.
#[derive(Debug)]
pub(super) struct Couples {
    slots: Vec<Slot>,
}

#[inline]
fn key(left: u32, right: u32) -> u32 {
    left * CODES + right
}

impl Couples {
    /// Of the texts of a trie; `None` if they have too many characters.
    pub(super) fn new(trie: &Trie) -> Option<Couples> {
        let (cells, _, codes) = trie.nodes();
        if codes > CODES as usize {
            return None;
        }
        let base = |node: u32| cells[node as usize].base;
        let mut goes_on = vec![false; cells.len()];
        cells.iter().filter(|cell| cell.parent != NONE).for_each(|cell| goes_on[cell.parent as usize] = true);
        let texts: Vec<Slot> = (0..)
            .zip(cells)
            .skip(1)
            .filter(|(_, cell)| cell.parent != NONE && cell.parent != 0)
            .filter(|(_, cell)| cells[cell.parent as usize].parent == 0)
            .map(|(at, &Cell { parent, id, score, .. }): (u32, &Cell)| Slot {
                key: key(parent - base(0), at - base(parent)),
                id,
                score,
                node: if goes_on[at as usize] { at } else { NONE },
            })
            .collect();
        let mut couples = Couples { slots: vec![EMPTY; (2 * texts.len() + 1).next_power_of_two()] };
        for text in texts {
            let mut at = couples.at(text.key);
            while couples.slots[at].key != 0 {
                at = (at + 1) & (couples.slots.len() - 1);
            }
            couples.slots[at] = text;
        }
        Some(couples)
    }

    /// Where the search for one begins.
    #[inline]
    fn at(&self, key: u32) -> usize {
        (u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (self.slots.len() - 1)
    }

    /// Two characters, if some text begins with them. Codes of characters in texts are above 0, so no key of two is.
    #[inline]
    fn get(&self, left: u32, right: u32) -> Option<Slot> {
        let key = key(left, right);
        let mut at = self.at(key);
        loop {
            let slot = self.slots[at];
            if slot.key == key || slot.key == 0 {
                return (slot.key != 0).then_some(slot);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }
}

/// What becomes of unknown characters: the id of each, or, if they fuse, of several in a row; whether one stands before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alone {
    pub(crate) unknown: Option<u32>,
    pub(crate) fuses: bool,
    pub(crate) after_unknown: bool,
}

/// What the fast way asks of text without spaces.
impl Unigram {
    /// The number of a character in tokens, 0 if it is in none.
    #[inline]
    pub(crate) fn code(&self, char: u32) -> u32 {
        self.trie.code_of(char)
    }

    /// The numbers of the first characters, `LATER` for one that is to be asked for.
    #[cfg(simd_x86)]
    pub(crate) fn codes(&self) -> &[u16; 0x1_0000] {
        self.trie.table()
    }

    /// Asks for what is needed of two characters, given by their codes.
    #[inline]
    pub(crate) fn ask(&self, left: u32, right: u32) {
        if let Some(couples) = &self.couples {
            fetch(&couples.slots[couples.at(key(left, right))]);
        }
    }

    /// The score below which that of a text is not counted anew within so many characters.
    pub(crate) fn near(&self, count: usize) -> f64 {
        match (&self.couples, self.single) {
            (None, _) => 0.0,
            (_, true) => 99_000.0 - (count + 2) as f64 * self.heaviest,
            (_, false) => f64::INFINITY,
        }
    }

    /// The id of a character alone, `NONE` if it is unknown; the score with it, `from` being that of what stands before.
    #[inline]
    fn alone(&self, code: u32, from: f64) -> (u32, f64) {
        let (cell, score, _) = self.trie.first(code);
        (cell.id, self.plus(from, cell.score, score))
    }

    /// Writes the ids of characters, given by their codes, that are parts of their own, up to one that is unknown and has no
    /// id (`Alone`): how many characters and ids these are, and the score with them.
    #[inline]
    pub(crate) fn cut_alone(
        &self,
        codes: &[u32],
        from: f64,
        alone: &mut Alone,
        ids: &mut [u32],
    ) -> (usize, usize, f64) {
        let (mut count, mut written, mut single, mut double) = (0, 0, from as f32, from);
        for &code in codes {
            let (cell, score, _) = self.trie.first(code);
            let is_unknown = self.is_unknown(cell.id);
            if is_unknown && alone.unknown.is_none() {
                break;
            }
            ids[written] = if is_unknown { alone.unknown.unwrap_or(NONE) } else { cell.id };
            written += usize::from(!(is_unknown & alone.after_unknown & alone.fuses));
            alone.after_unknown = is_unknown;
            count += 1;
            if self.single {
                single += cell.score;
            } else {
                double += score;
            }
        }
        (count, written, if self.single { f64::from(single) } else { double })
    }

    /// The same of two characters that are a part: their ids and how many these are; `None` if one is unknown.
    #[inline]
    pub(crate) fn cut_two(&self, [left, right]: [u32; 2], from: f64) -> Option<([u32; 2], usize, f64)> {
        let couples = self.couples.as_ref()?;
        let (first, apart) = self.alone(left, from);
        let (second, apart) = self.alone(right, apart);
        if let Some(slot) = couples.get(left, right).filter(|slot| slot.id != NONE) {
            let double = if self.single { 0.0 } else { self.score(slot.id) };
            let together = self.plus(from, slot.score, double);
            // Of equals the longer one, which begins before.
            if apart <= together {
                return (!self.is_unknown(slot.id)).then_some(([slot.id; 2], 1, together));
            }
        }
        let is_known = !self.is_unknown(first) && !self.is_unknown(second);
        is_known.then_some(([first, second], 2, apart))
    }

    /// Cuts up to `FEW` characters, given by their codes: the ids of the best way, from the last to the first; the score
    /// with it. `None` if one of them is unknown.
    pub(crate) fn cut_few<'i>(
        &self,
        codes: &[u32],
        from: f64,
        ids: &'i mut [u32; FEW],
    ) -> Option<(&'i [u32], f64)> {
        let couples = self.couples.as_ref()?;
        let mut ways = [(f64::NEG_INFINITY, 0, NONE); FEW + 1];
        ways[0].0 = from;
        for (start, &code) in codes.iter().enumerate() {
            let so_far = ways[start].0;
            // Of equals the first, which began before.
            let mut offer = |end: usize, id: u32, score: f64| {
                if score > ways[end].0 {
                    ways[end] = (score, start, id);
                }
            };
            let (id, score) = self.alone(code, so_far);
            offer(start + 1, id, score);
            let Some(slot) = codes.get(start + 1).and_then(|&next| couples.get(code, next)) else { continue };
            let double = |id: u32| self.scores.get(id as usize).copied().unwrap_or(f64::NEG_INFINITY);
            offer(start + 2, slot.id, self.plus(so_far, slot.score, double(slot.id)));
            if slot.node != NONE {
                let mut place = self.trie.place(slot.node);
                for end in start + 3..=codes.len() {
                    let Some((cell, score, next)) = self.trie.next(place, codes[end - 1]) else { break };
                    offer(end, cell.id, self.plus(so_far, cell.score, score));
                    place = next;
                }
            }
        }
        let (mut at, mut count) = (codes.len(), 0);
        while at > 0 {
            let (_, start, id) = ways[at];
            if self.is_unknown(id) {
                return None;
            }
            ids[count] = id;
            (at, count) = (start, count + 1);
        }
        Some((&ids[..count], ways[codes.len()].0))
    }

    /// Adds a score, given in 32 and in 64 bits, to a sum. A sum of two numbers of 32 bits is the same if it is rounded to 64
    /// bits before.
    #[inline]
    fn plus(&self, sum: f64, single: f32, double: f64) -> f64 {
        if self.single { f64::from((sum + f64::from(single)) as f32) } else { sum + double }
    }
}
