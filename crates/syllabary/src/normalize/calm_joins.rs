//! Characters that stand behind the first of some rule, as most combining marks do: whether one changes depends on what is
//! before it.
//!
//! `o` and a macron below begin no rule of sentencepiece's maps, as there is no such letter in Unicode; `b` and the same
//! do. Text of many languages is full of the first kind. Leaves out rules that do apply (`charsmap`).

use rustc_hash::FxHashSet;

use super::calm::{BITS, decode};

/// Two characters with which some rule begins.
pub(super) type Pairs = FxHashSet<[u16; 2]>;

/// What is known of them.
#[derive(Default)]
pub(super) struct Joins {
    /// Which they are; those of them that begin no rule for them alone.
    bits: Vec<u64>,
    quiet: Vec<u64>,
    pairs: Pairs,
}

fn has(bits: &[u64], code: usize) -> bool {
    bits.get(code / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
}

impl Joins {
    /// Of pairs of characters with which rules begin, and whether there is a rule for a character alone.
    pub(super) fn new(pairs: Pairs, is_rule: impl Fn(usize) -> bool) -> Joins {
        if pairs.is_empty() {
            return Joins::default();
        }
        let (mut bits, mut quiet) = (vec![0; BITS / 64], vec![0; BITS / 64]);
        for &[_, code] in &pairs {
            let (word, bit) = (usize::from(code) / 64, 1 << (code % 64));
            bits[word] |= bit;
            quiet[word] |= if is_rule(code.into()) { 0 } else { bit };
        }
        Joins { bits, quiet, pairs }
    }

    /// Whether a character is one.
    #[inline]
    pub(super) fn has(&self, code: usize) -> bool {
        has(&self.bits, code)
    }

    /// Whether the one at byte `at` stays as it is, if all is told up to there from byte `start` on; `is_alone` says of a character
    /// whether a rule is for it alone, so that it begins no other.
    #[inline]
    pub(super) fn stays(
        &self,
        text: &[u8],
        at: usize,
        start: usize,
        is_alone: impl Fn(usize) -> bool,
    ) -> bool {
        let Some(code) = code_at(text, at).filter(|&code| has(&self.quiet, code)) else { return false };
        let before = text[start..at].iter().rposition(|byte| byte & 0xC0 != 0x80);
        let Some(before) = before else { return at == start };
        code_at(text, start + before)
            .is_some_and(|first| is_alone(first) || !self.pairs.contains(&[first as u16, code as u16]))
    }
}

/// The character at a byte, unless it has four bytes or fewer than four are left.
#[inline]
fn code_at(text: &[u8], at: usize) -> Option<usize> {
    let four = text.get(at..)?.first_chunk().filter(|four| four[0] < 0xF0)?;
    Some(decode(u32::from_le_bytes(*four)).0)
}
