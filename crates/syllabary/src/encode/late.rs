//! Characters that may be merged with others before others of their kind are whole: those come too late to begin with.
//!
//! ```text
//! 9 ω + a -> ωa     12 CF + 89 -> ω      `ω` is late: in `ωωa`, `ωa` comes before the first ω, though its rank is higher
//! ```
//!
//! A trainer lists what makes a symbol before what the symbol makes, so that none is late. Adds: `Late`. Leaves out
//! characters of four bytes, which are few: all are late.

use std::collections::HashMap;

use super::cuts::{LAST, decode, has, is_inside, set};
use crate::vocab::Vocab;

/// Ranks of characters that were not asked for yet.
const UNKNOWN: u32 = u32::MAX;

/// A bit for each character below `LAST` that is late.
#[derive(Debug)]
pub(super) struct Late(Box<[u64; (LAST + 1) / 64]>);

impl Late {
    /// Of merges `(left, right, result)` in rank order.
    pub(super) fn new(merges: &[(u32, u32, u32)], vocab: &Vocab) -> Late {
        let results = || (1..).zip(merges).filter_map(|(rank, &(_, _, id))| Some((rank, vocab.bytes(id)?)));
        // The last merge that makes each string inside a character, from 1 on.
        let within: HashMap<&[u8], u32> =
            results().filter(|(_, made)| is_within(made)).map(|(rank, made)| (made, rank)).collect();
        let mut late = Late(Box::new([0; (LAST + 1) / 64]));
        let mut known = vec![UNKNOWN; LAST + 1];
        for (rank, made) in results().filter(|(_, made)| !made.is_ascii() && !is_within(made)) {
            for (at, width) in characters(made).filter(|&(_, width)| width > 1) {
                let code = decode(made, at).0;
                let Some(last) = known.get_mut(code) else { continue };
                if *last == UNKNOWN {
                    *last = last_within(&made[at..at + width], &within);
                }
                if *last > rank {
                    set(&mut *late.0, code);
                }
            }
        }
        late
    }

    #[inline(always)]
    pub(super) fn has(&self, code: usize) -> bool {
        code >= LAST || has(&*self.0, code)
    }
}

/// Whether no character but one has bytes in it.
fn is_within(bytes: &[u8]) -> bool {
    bytes.iter().skip(1).all(|&byte| is_inside(byte)) && bytes.first().is_some_and(|&byte| byte >= 0x80)
}

/// Where whole characters begin, and their widths.
fn characters(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    bytes
        .utf8_chunks()
        .scan(0, |at, chunk| {
            let valid = (*at, chunk.valid());
            *at += chunk.valid().len() + chunk.invalid().len();
            Some(valid)
        })
        .flat_map(|(start, valid)| {
            valid.char_indices().map(move |(at, letter)| (start + at, letter.len_utf8()))
        })
}

/// The last rank of what makes a string inside this character, which is 0 where nothing does.
fn last_within(character: &[u8], within: &HashMap<&[u8], u32>) -> u32 {
    let count = character.len();
    let parts = (0..count - 1).flat_map(|start| (start + 2..=count).map(move |end| &character[start..end]));
    parts.filter_map(|part| within.get(part)).copied().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::{all_bytes, parts_of};

    #[test]
    fn what_comes_after_those_that_have_it_is_late() {
        let text = ["ω", "ωa", "字a", "字", "\u{1f78}", "😀a", "é"].map(|token| token.as_bytes().to_vec());
        let tokens: Vec<Vec<u8>> = all_bytes().into_iter().chain(text).chain([vec![0xE1, 0xBD]]).collect();
        let id = |bytes: &[u8]| tokens.iter().position(|token| token == bytes).unwrap() as u32;
        let merge = |left: &[u8], right: &[u8]| (id(left), id(right), id(&[left, right].concat()));
        let (vocab, _) = parts_of(&tokens);
        let late = Late::new(
            &[
                merge(b"\xCF", b"\x89"),
                merge("ω".as_bytes(), b"a"),
                (id("字".as_bytes()), id(b"a"), id("字a".as_bytes())),
                (0, 0, id("字".as_bytes())),
                merge(b"\xE1", b"\xBD"),
                merge(b"\xE1\xBD", b"\xB8"),
                merge(b"\xC3", b"\xA9"),
            ],
            &vocab,
        );
        let found: Vec<bool> = "ω字ὸ😀éa".chars().map(|letter| late.has(letter as usize)).collect();
        assert_eq!(found, [false, true, false, true, false, false]);
    }
}
