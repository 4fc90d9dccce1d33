//! The law of `deepseek-v3`, by masks.
//!
//! Adds: where pieces begin among 64 bytes; `split::deepseek` has the law and what its classes mean.
//!
//! - Numbers, characters of `J` that are words, those that are signs: each run begins a piece, numbers as every third.
//! - Line ends right after signs are taken by the signs. Signs begin a piece, or the blank before them does.
//! - A word begins a piece, unless white space but a line end, or an other, is before it and does so.
//! - A sign of ASCII with no sign and no blank before it, and a letter of ASCII behind it, takes all letters of ASCII
//!   behind it; what is left of the word begins a piece.
//! - A run of others begins a piece; so does its last one before a word.
//! - White space begins a piece; so does what follows its last line end, and its last character, if a word, a sign or
//!   an other follows.
//!
//! Leaves out: the others of `J`; the masks do not tell.

use super::super::deepseek::WORD;
use super::words::{after_last_line, by_threes, taken};
use super::{Carry, Law, Masks, Place, after, before, last_of_gap};

#[derive(Clone, Copy)]
pub(in super::super) struct DeepSeek;

impl Law for DeepSeek {
    #[cfg(simd_x86)]
    const CAPITALS: u8 = WORD;
    #[cfg(simd_x86)]
    const SMALL: u8 = WORD;
    #[cfg(simd_x86)]
    const CONTROLS: u8 = super::super::deepseek::OTHER;

    #[inline(always)]
    fn word(self) -> u8 {
        WORD
    }

    #[inline(always)]
    fn starts(self, masks: &Masks, next: &Masks, carry: &mut Carry, place: Place<'_>) -> Option<u64> {
        // What these masks are here.
        let Masks { word, upper: apart, lower: apart_sign, mark: other, number, inner, .. } = *masks;
        if apart & other != 0 {
            return None;
        }
        let sign = !(word | apart | apart_sign | other | number | masks.space);
        let after_sign = after(sign, &mut carry.sign);
        let taken = taken(masks.line, 0, after_sign, carry);
        let (space, line) = (masks.space & !taken, masks.line & !taken);
        let first_sign = sign & !after_sign & !after(masks.blank, &mut carry.blank);
        let gap = masks.space & !masks.line;
        let before_word = after(gap | other, &mut carry.gap);
        let after_word = after(word, &mut carry.word);
        let (starts, after_quote) = quoted(first_sign, masks, next, carry);
        let mut starts = starts
            | first_sign
            | (word & !(after_word | before_word | after_quote))
            | (space & !after(space, &mut carry.space))
            | last_of_gap(gap, &like_end(masks), &like_end(next));
        let after_line = gap & after(line, &mut carry.line);
        if after_line != 0 {
            starts |= after_last_line(false, after_line, gap, (masks, next), place);
        }
        if number | u64::from(carry.numbers) != 0 {
            starts |= by_threes(number, inner, carry);
        }
        starts |= apart & !after(apart, &mut carry.apart);
        starts |= apart_sign & !after(apart_sign, &mut carry.apart_sign);
        if other | carry.other != 0 {
            starts |= others(other, masks, next, carry);
        }
        Some(starts)
    }
}

/// The starts behind signs of ASCII that take letters of ASCII, and the places right behind these signs.
#[inline(always)]
fn quoted(first_sign: u64, masks: &Masks, next: &Masks, carry: &mut Carry) -> (u64, u64) {
    let is_ascii = !(masks.inner | before(masks.inner, next.inner, 1));
    let letter = masks.word & is_ascii;
    // The next block begins with one if its first byte is a word's and no character begins before it and goes on.
    let next_letter = next.word & !next.inner & !(next.inner >> 1);
    let quote = first_sign & is_ascii & before(letter, next_letter, 1);
    let after_quote = after(quote, &mut carry.quote);
    let (sum, over) = letter.overflowing_add(after_quote);
    let (sum, again) = sum.overflowing_add(carry.tail);
    carry.tail = u64::from(over | again);
    (sum & !letter & masks.word, after_quote)
}

/// As white space sees them: what is like the end of the text goes on with it.
#[inline(always)]
fn like_end(masks: &Masks) -> Masks {
    Masks { space: masks.space | masks.number | masks.upper | masks.lower, ..*masks }
}

/// The starts among others.
#[inline(always)]
fn others(other: u64, masks: &Masks, next: &Masks, carry: &mut Carry) -> u64 {
    let begins = other & !masks.inner;
    let (mut last, mut more) = (before(masks.word, next.word, 1), u64::MAX);
    for width in 2..=4 {
        more &= before(masks.inner, next.inner, width - 1);
        last |= more & before(masks.word, next.word, width);
    }
    (other & !after(other, &mut carry.other)) | (begins & last)
}
