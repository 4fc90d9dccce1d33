//! The law of `gpt2`, by masks.
//!
//! ```text
//! '(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s
//! ```
//!
//! Adds: where pieces begin among 64 bytes. A run of letters, numbers or signs begins one, or the blank before it;
//! so do the first and the last character of white space, the last one if a sign follows. An apostrophe begins a
//! piece where it is the first of its signs and no blank is before it; only there it may be a contraction, and its
//! end begins a piece.
//!
//! Where `DIGITS`, every number is a piece alone, and is to white space as if the text ended before it.
//!
//! Leaves out nothing: the masks always tell.

use super::super::classes::LETTER;
use super::super::gpt2::contraction_end;
use super::{Carry, Cut, Law, Masks, Place, after, contract, last_of_gap};

#[derive(Clone, Copy)]
pub(in super::super) struct Gpt2<const DIGITS: bool>;

impl<const DIGITS: bool> Law for Gpt2<DIGITS> {
    const CASES: bool = false;
    const LINES: bool = false;
    const SLASHES: bool = false;

    #[inline(always)]
    fn word(self) -> u8 {
        LETTER
    }

    #[inline(always)]
    fn starts(self, masks: &Masks, next: &Masks, carry: &mut Carry, place: Place<'_>) -> Option<u64> {
        let Masks { word, number, space, inner, .. } = *masks;
        let sign = !(word | number | space);
        let first_word = word & !after(word, &mut carry.word);
        let first_number = number & !after(number, &mut carry.number);
        let not_after_blank = !after(masks.blank, &mut carry.blank);
        let first_sign = sign & !after(sign, &mut carry.sign) & not_after_blank;
        let first_space = space & !after(space, &mut carry.space);
        let starts = if DIGITS {
            let ends = |masks: &Masks| Masks { space: masks.space | masks.number, ..*masks };
            let bodies = (first_word & not_after_blank) | (number & !inner) | first_sign;
            bodies | first_space | last_of_gap(space, &ends(masks), &ends(next))
        } else {
            let bodies = ((first_word | first_number) & not_after_blank) | first_sign;
            bodies | first_space | last_of_gap(space, masks, next)
        };
        let quotes = first_sign & masks.apostrophe;
        if quotes | carry.set | carry.clear == 0 {
            return Some(starts);
        }
        let bytes = place.text.as_bytes();
        Some(contract(starts, quotes, carry, place.base, |at| {
            contraction_end(bytes, at).map(|end| Cut { from: at + 1, end })
        }))
    }
}
