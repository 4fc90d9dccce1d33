//! Classes of 64 bytes at a time, as masks of one bit a byte.
//!
//! Adds: `Masks`, and `Lanes`, which makes them by the widest instructions there are: `avx512`, `avx2`, `neon`,
//! `portable` (all others; written without any such instruction). Leaves out: what a law makes of the masks (`gpt2`, `words`,
//! `kimi`, `deepseek`)
//! and the blocks of a text (`walk`).
//!
//! A character of several bytes has the bits of its class at each of them, so that the byte before a character
//! tells the class of the character before.

#[cfg(simd_x86)]
pub(super) mod avx2;
#[cfg(simd_x86)]
pub(super) mod avx512;
#[cfg(any(simd_x86, simd_neon))]
mod blocks;
pub(super) mod deepseek;
pub(super) mod gpt2;
pub(super) mod kimi;
#[cfg(simd_neon)]
pub(super) mod neon;
pub(super) mod portable;
pub(super) mod words;

use super::classes::{Classes, SHORT};

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;
/// Bytes that must be there to class a block: its last character may end three bytes after it.
pub(super) const WINDOW: usize = BLOCK + 4;

/// The classes of a block of 64 bytes; bit `i` is that of byte `i`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// What the law counts to words.
    pub(super) word: u64,
    /// `\p{Lu}` and `\p{Lt}`.
    pub(super) upper: u64,
    /// `\p{Ll}`.
    pub(super) lower: u64,
    pub(super) mark: u64,
    pub(super) number: u64,
    pub(super) space: u64,
    /// U+0020.
    pub(super) blank: u64,
    /// `[\r\n]`.
    pub(super) line: u64,
    pub(super) apostrophe: u64,
    pub(super) slash: u64,
    /// The bytes of a character after its first.
    pub(super) inner: u64,
    /// The class of the last character, if it is not ASCII.
    pub(super) last: u8,
}

/// A way to make masks.
pub(super) trait Lanes: Copy {
    /// The masks of the first `BLOCK` bytes of `window`, which are those of a valid text; `last` is the class of the last character of the block before.
    fn masks<L: Law>(self, law: L, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks;

    /// Writes `base` plus the place of each bit, ascending, and says how many; what it leaves after them is of no
    /// meaning.
    fn flatten(self, bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize;
}

/// A law: where pieces begin.
pub(super) trait Law: Copy {
    /// The class of the capitals of ASCII,
    #[cfg(simd_x86)]
    const CAPITALS: u8 = super::classes::UPPER;
    /// of its small letters,
    #[cfg(simd_x86)]
    const SMALL: u8 = super::classes::LOWER;
    /// and of its controls but white space.
    #[cfg(simd_x86)]
    const CONTROLS: u8 = 0;
    /// Whether it asks for `upper`, `lower` and `mark`,
    const CASES: bool = true;
    /// for `line`,
    const LINES: bool = true;
    /// and for `slash`; those are 0 which it does not ask for.
    const SLASHES: bool = true;

    /// The classes of words.
    fn word(self) -> u8;

    /// The bytes of a block at which a piece begins, or `None` if the masks do not tell; `next` are the masks of
    /// the block after it, `carry` what is known of the blocks before, since some beginning of a piece.
    fn starts(self, masks: &Masks, next: &Masks, carry: &mut Carry, place: Place<'_>) -> Option<u64>;
}

/// Where a block is.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) classes: &'a Classes,
    pub(super) text: &'a str,
    /// Where the block begins in `text`; its end may be after that of the text, and what is there is spaces.
    pub(super) base: usize,
}

/// What a block leaves to the next one: the last bit of masks, where nothing else is said.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Carry {
    word: u64,
    lower: u64,
    number: u64,
    space: u64,
    blank: u64,
    gap: u64,
    line: u64,
    sign: u64,
    free_sign: u64,
    sign_start: u64,
    taken: u64,
    both: u64,
    tail: u64,
    tail_end: u64,
    apart: u64,
    apart_sign: u64,
    other: u64,
    quote: u64,
    /// The characters since the last cut of a run of numbers that goes on; 0 if none does.
    numbers: u32,
    /// Starts to set and to leave out in the next block.
    set: u64,
    clear: u64,
    /// Where the last contraction ended.
    contracted: usize,
}

/// Each byte has the bit of the byte before; `carry` is that of the byte before the block, then of its last one.
#[inline(always)]
fn after(mask: u64, carry: &mut u64) -> u64 {
    let moved = (mask << 1) | *carry;
    *carry = mask >> 63;
    moved
}

/// Each byte has the bit of the byte `count` after it.
#[inline(always)]
fn before(mask: u64, next: u64, count: u32) -> u64 {
    (mask >> count) | (next << (64 - count))
}

/// The starts of the characters of `gap` whose next character is no white space.
#[inline(always)]
fn last_of_gap(gap: u64, masks: &Masks, next: &Masks) -> u64 {
    let begins = gap & !masks.inner;
    let mut last = begins & before(!masks.space, !next.space, 1);
    if (masks.space & masks.inner) | (next.space & next.inner & 3) != 0 {
        let two = before(!masks.space, !next.space, 2) & before(masks.inner, next.inner, 1);
        let three = before(!masks.space, !next.space, 3) & before(masks.inner, next.inner, 2);
        last |= begins & before(masks.inner, next.inner, 1) & (two | three);
    }
    last
}

/// Cuts at the contractions at `quotes`: none within, one at the end. `end_of(at)` is the end of the contraction
/// that begins at byte `at` of the text, if there is one; it has at most four bytes.
#[inline(always)]
fn contract(
    starts: u64,
    mut quotes: u64,
    carry: &mut Carry,
    base: usize,
    mut end_of: impl FnMut(usize) -> Option<Cut>,
) -> u64 {
    let (mut set, mut clear) = (u128::from(carry.set), u128::from(carry.clear));
    while quotes != 0 {
        let bit = quotes.trailing_zeros();
        quotes &= quotes - 1;
        if let Some(cut) = end_of(base + bit as usize) {
            set |= 1 << (cut.end - base);
            clear |= ((1 << (cut.end - cut.from)) - 1) << (cut.from - base);
        }
    }
    (carry.set, carry.clear) = ((set >> 64) as u64, (clear >> 64) as u64);
    (starts & !(clear as u64)) | set as u64
}

/// A contraction: no piece begins at `from..end`, one does at `end`.
struct Cut {
    from: usize,
    end: usize,
}

/// `Lanes::flatten` without vectors.
#[inline(always)]
pub(crate) fn places_of(mut bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
    let count = bits.count_ones() as usize;
    // Eight at a time, without asking whether there are so many: the places are 64, so they have room.
    for eight in out.chunks_exact_mut(8) {
        for place in eight {
            *place = base + bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
        }
        if bits == 0 {
            break;
        }
    }
    count
}

/// The class of the character of two bytes and more that begins at byte `at` of the block.
#[inline(always)]
fn class_at(classes: &Classes, window: &[u8; WINDOW], at: usize) -> u8 {
    let at = at & (BLOCK - 1);
    let [lead, second, third, fourth] = [0, 1, 2, 3].map(|more| u32::from(window[at + more]));
    if lead >= 0xF0 {
        let code = ((lead & 0x07) << 18) | ((second & 0x3F) << 12) | ((third & 0x3F) << 6) | (fourth & 0x3F);
        return char::from_u32(code).map_or(0, |c| classes.of(c));
    }
    let two = ((lead & 0x1F) << 6) | (second & 0x3F);
    let three = ((lead & 0x0F) << 12) | ((second & 0x3F) << 6) | (third & 0x3F);
    // All ones if the character has three bytes: scripts mix both too freely for a branch.
    let long = ((lead >> 5) & 1).wrapping_neg();
    classes.short.0[(two ^ ((two ^ three) & long)) as usize & (SHORT - 1)]
}
