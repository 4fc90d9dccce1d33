//! The laws of `gpt4`, `llama3` and its family, `o200k` and `nemotron`, by masks.
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
//! |\s++$|\s*[\r\n]|\s+(?!\S)|\s
//! ```
//!
//! is that of `gpt4`; `llama3`, `o200k` say how the others differ. Adds: where pieces begin among 64 bytes.
//!
//! - Line ends right after signs (with `o200k`, from the first of them on, `/` too) are taken by the signs; in all
//!   that follows they are neither signs nor white space.
//! - Signs begin a piece, or the blank before them does. A sign which does so is a *sign start*.
//! - A word begins a piece, unless the character before it does as its prefix: white space but a line end, or a
//!   sign start. (So words never begin a piece after a blank, as signs do not.)
//! - Numbers begin a piece, as every third or every single number after that.
//! - White space begins a piece; so does what follows its last line end, and its last character, if a sign follows.
//! - An apostrophe is a contraction only as a sign start; in `o200k` only after a word, of which it is the end.
//!
//! In `o200k` letters without case and marks are *both* capitals and small letters. A capital after a small letter
//! begins a piece; after both-kinds it does if a small letter is before them in the piece, or if the capitals are
//! the end of the word.
//!
//! Leaves out: a mark after a sign, and both-kinds after a contraction, in `o200k`; the masks do not tell.

use super::super::classes::{HAN, LETTER, MARK, SPACE, UNCASED, UPPER};
use super::super::gpt4::{contraction_end, is_line_end};
use super::{BLOCK, Carry, Cut, Law, Masks, Place, after, contract, last_of_gap};

/// What the laws differ in. `CASED`: words by their case, as `o200k`.
#[derive(Clone, Copy)]
pub(in super::super) struct Words<const CASED: bool> {
    /// The classes of words; `CASED` has letters and marks.
    pub(in super::super) word: u8,
    /// Whether numbers go by three, else one by one.
    pub(in super::super) by_three: bool,
    pub(in super::super) contractions: bool,
    /// Whether white space at the end of the text is one piece, whatever line ends it has.
    pub(in super::super) whole_end: bool,
}

impl Words<true> {
    pub(in super::super) const O200K: Words<true> =
        Words { word: LETTER | MARK, by_three: true, contractions: true, whole_end: false };
}

impl<const CASED: bool> Law for Words<CASED> {
    const CASES: bool = CASED;
    const SLASHES: bool = CASED;

    #[inline(always)]
    fn word(self) -> u8 {
        if CASED { LETTER | MARK } else { self.word }
    }

    #[inline(always)]
    fn starts(self, masks: &Masks, next: &Masks, carry: &mut Carry, place: Place<'_>) -> Option<u64> {
        self.starts_beside(0, masks, next, carry, place)
    }
}

impl<const CASED: bool> Words<CASED> {
    /// `Law::starts`, where the characters of `apart`, which no class has, are no signs.
    #[inline(always)]
    pub(super) fn starts_beside(
        self,
        apart: u64,
        masks: &Masks,
        next: &Masks,
        carry: &mut Carry,
        place: Place<'_>,
    ) -> Option<u64> {
        let Masks { word, number, inner, .. } = *masks;
        let sign = !(word | number | masks.space | apart);
        let after_sign = after(sign, &mut carry.sign);
        if CASED && masks.mark & after_sign != 0 {
            return None;
        }
        let taken = taken(masks.line, if CASED { masks.slash } else { 0 }, after_sign, carry);
        let (sign, space, line) = (sign & !taken, masks.space & !taken, masks.line & !taken);
        let after_sign = if CASED { after(sign, &mut carry.free_sign) } else { after_sign };
        let sign_start = sign & !after_sign & !after(masks.blank, &mut carry.blank);
        let gap = masks.space & !masks.line;
        let after_gap = after(gap, &mut carry.gap);
        let after_start = after_sign_start(sign_start, sign & inner, carry);
        let after_word = after(word, &mut carry.word);
        let mut starts = sign_start
            | (word & !(after_word | after_gap | after_start))
            | (space & !after(space, &mut carry.space))
            | last_of_gap(gap, masks, next);
        let after_line = gap & after(line, &mut carry.line);
        if after_line != 0 {
            starts |= after_last_line(self.whole_end, after_line, gap, (masks, next), place);
        }
        if number | u64::from(carry.numbers) != 0 {
            starts |= if self.by_three { by_threes(number, inner, carry) } else { number & !inner };
        }
        if CASED {
            starts |= capitals(masks, next, carry, place);
        }
        let quotes = masks.apostrophe & if CASED { after_word } else { sign_start };
        if !self.contractions || quotes | carry.set | carry.clear == 0 {
            return Some(starts);
        }
        self.contract(starts, quotes, carry, place)
    }

    #[inline(always)]
    fn contract(self, starts: u64, quotes: u64, carry: &mut Carry, place: Place<'_>) -> Option<u64> {
        let bytes = place.text.as_bytes();
        let (mut last, mut told) = (carry.contracted, true);
        let starts = contract(starts, quotes, carry, place.base, |at| {
            let end = contraction_end(bytes, at)?;
            if !CASED {
                return Some(Cut { from: at + 1, end });
            }
            if at == last {
                return None;
            }
            last = end;
            told &= place.classes.at(place.text, end).0 & (UNCASED | MARK) == 0;
            Some(Cut { from: at, end })
        });
        carry.contracted = last;
        told.then_some(starts)
    }
}

/// Of `after_line`, the gaps right after a line end, those which no other line end follows; `whole_end` as in `Words`.
#[inline(always)]
pub(super) fn after_last_line(
    whole_end: bool,
    mut after_line: u64,
    gap: u64,
    (masks, next): (&Masks, &Masks),
    place: Place<'_>,
) -> u64 {
    let (ends, over) = gap.overflowing_add(after_line);
    let mut wrong = ends & !gap & masks.line;
    while wrong != 0 {
        let upto = after_line & (wrong ^ (wrong - 1));
        after_line &= !(1 << (63 - upto.leading_zeros()));
        wrong &= wrong - 1;
    }
    if over && !is_last_line(whole_end, next, place) {
        after_line &= !(1 << (63 - after_line.leading_zeros()));
    }
    after_line
}

/// Whether no line end follows the white space that goes on into the next block.
#[inline(always)]
fn is_last_line(whole_end: bool, next: &Masks, place: Place<'_>) -> bool {
    let more = (next.space & !next.line).trailing_ones();
    if more < 64 {
        return (next.line >> more) & 1 == 0;
    }
    is_last_line_after(whole_end, place)
}

/// The same where the next block is white space without a line end.
#[cold]
fn is_last_line_after(whole_end: bool, place: Place<'_>) -> bool {
    let mut at = character_from(place, 2 * BLOCK);
    loop {
        let (bits, width) = place.classes.at(place.text, at);
        if width == 0 {
            return !whole_end;
        }
        if bits & SPACE == 0 {
            return true;
        }
        if is_line_end(place.text.as_bytes()[at]) {
            return false;
        }
        at += width;
    }
}

/// Numbers begin a piece, as every third of them after that.
#[inline(always)]
pub(super) fn by_threes(number: u64, inner: u64, carry: &mut Carry) -> u64 {
    let begins = number & !inner;
    let after_number = after(number, &mut carry.number);
    let starts = if number == begins {
        let starts = by_three(number, after_number, carry.numbers);
        carry.numbers = starts.leading_zeros() + 1;
        starts
    } else {
        let (starts, open) = count_three(begins, after_number, carry.numbers);
        carry.numbers = open;
        starts
    };
    if number >> 63 == 0 {
        carry.numbers = 0;
    }
    starts
}

/// The line ends, and with them the slashes, that signs take.
#[inline(always)]
pub(super) fn taken(line: u64, slash: u64, after_sign: u64, carry: &mut Carry) -> u64 {
    let (ends, first) = (line | slash, line & after_sign);
    let (sum, over) = ends.overflowing_add(first);
    let (sum, again) = sum.overflowing_add(carry.taken);
    carry.taken = u64::from(over | again);
    // `first` again: the slash before it may itself be taken, and then the sum is wrong there.
    (ends & !sum) | first
}

/// The bytes after a sign start.
#[inline(always)]
fn after_sign_start(sign_start: u64, inner: u64, carry: &mut Carry) -> u64 {
    let mut all = sign_start;
    if inner != 0 {
        for _ in 0..3 {
            all |= ((all << 1) | carry.sign_start) & inner;
        }
    }
    after(all, &mut carry.sign_start)
}

/// Every third of the runs of ASCII digits; `open` is what `Carry::numbers` says of the first.
#[inline(always)]
fn by_three(number: u64, after_number: u64, open: u32) -> u64 {
    let mut cuts = number & !after_number;
    if open != 0 {
        let upto = (16 >> open) - 1;
        cuts |= if number & upto == upto { 8 >> open } else { 0 };
    }
    let inside = number & (number << 1) & (number << 2);
    let mut all = cuts;
    loop {
        cuts = (cuts << 3) & inside;
        if cuts == 0 {
            return all;
        }
        all |= cuts;
    }
}

/// The same for numbers of any length in bytes, one by one; with the characters since the last cut.
#[cold]
fn count_three(mut begins: u64, after_number: u64, mut open: u32) -> (u64, u32) {
    let mut starts = 0;
    while begins != 0 {
        let bit = begins & begins.wrapping_neg();
        begins ^= bit;
        open = if after_number & bit == 0 || open == 3 { 1 } else { open + 1 };
        if open == 1 {
            starts |= bit;
        }
    }
    (starts, open)
}

/// The capitals that begin a piece within a word.
#[inline(always)]
fn capitals(masks: &Masks, next: &Masks, carry: &mut Carry, place: Place<'_>) -> u64 {
    let Masks { upper, lower, .. } = *masks;
    let both = masks.word & !(upper | lower);
    let after_lower = after(lower, &mut carry.lower);
    let (sum, over) = both.overflowing_add(both & after_lower);
    let (sum, again) = sum.overflowing_add(carry.tail);
    carry.tail = u64::from(over | again);
    let tail = both & !sum;
    let after_both = after(both, &mut carry.both);
    let mut starts = upper & (after_lower | after(tail, &mut carry.tail_end));
    let mut capitals = upper & after_both & !starts;
    while capitals != 0 {
        let bit = capitals & capitals.wrapping_neg();
        capitals ^= bit;
        if ends_word(bit, upper, lower | both, next, place) {
            starts |= bit;
        }
    }
    starts
}

/// Whether neither small letters nor both-kinds follow the capitals at `bit`.
#[inline(always)]
fn ends_word(bit: u64, upper: u64, more: u64, next: &Masks, place: Place<'_>) -> bool {
    let (end, over) = upper.overflowing_add(bit);
    if !over {
        // Only the run of `bit` carries, so the lowest bit that is new is its end.
        let end = end & !upper;
        return more & end == 0;
    }
    let run = next.upper.trailing_ones();
    if run < 64 {
        return ((next.word & !next.upper) >> run) & 1 == 0;
    }
    // Han characters of `kimi` are no letters of a word.
    let is_upper = |bits: u8| bits & HAN == UPPER;
    let at = place.classes.run_of(place.text, character_from(place, 2 * BLOCK), is_upper);
    let (bits, _) = place.classes.at(place.text, at);
    bits & (LETTER | MARK) == 0 || bits & HAN == HAN
}

/// The first place, from byte `at` of the block on, at which a character begins or the text ends.
fn character_from(place: Place<'_>, at: usize) -> usize {
    let first = (place.base + at).min(place.text.len());
    (first..).find(|&at| place.text.is_char_boundary(at)).unwrap_or(first)
}
