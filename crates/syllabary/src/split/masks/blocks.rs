//! Masks by vectors of bytes: what AVX2 and NEON have in common.
//!
//! Adds: `Vectors`, a block of 64 bytes in vectors of some size, and `masks`. Characters of two and three bytes go by
//! *pages*, the 64 characters that differ in the last byte alone: all of one page in the block at once, by a table in
//! registers. First bytes all of whose characters have one class, but for a page at most, need no page; pages of few
//! characters and characters of four bytes go one by one. Leaves out AVX-512, which takes four pages at once.

use super::super::classes::{Classes, LOWER, MARK, MIXED, NUMBER, SPACE, UPPER};
use super::{BLOCK, Law, Masks, WINDOW, class_at};

/// A page is worth a table where so many characters are left; fewer go one by one.
const MANY: u32 = 8;

/// Instructions on 64 bytes. A mask is bytes with all bits or none.
pub(super) trait Vectors: Copy {
    /// 64 bytes.
    type Bytes: Copy;

    fn load(self, bytes: &[u8; BLOCK]) -> Self::Bytes;

    /// The top bit of each byte.
    fn tops(self, bytes: Self::Bytes) -> u64;

    /// A mask of the bytes that are equal.
    fn equal(self, one: Self::Bytes, other: Self::Bytes) -> Self::Bytes;

    /// The bytes that are this one, as bits.
    #[inline(always)]
    fn equal_bits(self, bytes: Self::Bytes, byte: u8) -> u64 {
        self.tops(self.equal(bytes, self.splat(byte)))
    }

    fn and(self, one: Self::Bytes, other: Self::Bytes) -> Self::Bytes;

    fn or(self, one: Self::Bytes, other: Self::Bytes) -> Self::Bytes;

    /// The bits of `one` that `other` has not.
    fn without(self, one: Self::Bytes, other: Self::Bytes) -> Self::Bytes;

    /// The bytes of `then` where a mask is set, and of `or` elsewhere.
    fn select(self, mask: Self::Bytes, then: Self::Bytes, or: Self::Bytes) -> Self::Bytes;

    fn splat(self, byte: u8) -> Self::Bytes;

    /// A mask of the bytes that have any of these bits.
    fn any(self, bytes: Self::Bytes, bits: u8) -> Self::Bytes;

    /// The same as bits.
    #[inline(always)]
    fn any_bits(self, bytes: Self::Bytes, bits: u8) -> u64 {
        self.tops(self.any(bytes, bits))
    }

    /// A mask of the bytes after the first of a character.
    fn inner(self, bytes: Self::Bytes) -> Self::Bytes;

    /// To each byte the one before; `first` to the first.
    fn shifted(self, bytes: Self::Bytes, first: u8) -> Self::Bytes;

    /// What the six low bits of each byte number in a table.
    fn of_six(self, table: &[u8; BLOCK], bytes: Self::Bytes) -> Self::Bytes;

    /// The classes of ASCII that a law has; what others get has no meaning.
    fn ascii<L: Law>(self, classes: &Classes, bytes: Self::Bytes) -> Self::Bytes;

    fn stored(self, bytes: Self::Bytes) -> [u8; BLOCK];
}

/// As `Lanes::masks`; to be inlined where the instructions may be used.
#[inline(always)]
pub(super) fn masks<L: Law>(
    lanes: impl Vectors,
    law: L,
    classes: &Classes,
    window: &[u8; WINDOW],
    last: u8,
) -> Masks {
    let raw = lanes.load(from(window, 0));
    let mut kinds = lanes.ascii::<L>(classes, raw);
    let wide = lanes.tops(raw);
    let (mut inner, mut left) = (0, 0);
    if wide != 0 {
        let is_inner = lanes.inner(raw);
        inner = lanes.tops(is_inner);
        kinds = by_pages(lanes, classes, window, kinds, is_inner);
        // The second byte of a character takes the class of the first, then the third that of the second.
        for _ in 1..4 {
            kinds = lanes.select(is_inner, lanes.shifted(kinds, last), kinds);
        }
        if wide >> (BLOCK - 1) != 0 {
            left = lanes.stored(kinds)[BLOCK - 1];
        }
    }
    Masks {
        word: lanes.any_bits(kinds, law.word()),
        upper: if L::CASES { lanes.any_bits(kinds, UPPER) } else { 0 },
        lower: if L::CASES { lanes.any_bits(kinds, LOWER) } else { 0 },
        mark: if L::CASES { lanes.any_bits(kinds, MARK) } else { 0 },
        number: lanes.any_bits(kinds, NUMBER),
        space: lanes.any_bits(kinds, SPACE),
        blank: lanes.equal_bits(raw, b' '),
        line: if L::LINES { lanes.equal_bits(raw, b'\n') | lanes.equal_bits(raw, b'\r') } else { 0 },
        apostrophe: lanes.equal_bits(raw, b'\''),
        slash: if L::SLASHES { lanes.equal_bits(raw, b'/') } else { 0 },
        inner,
        last: left,
    }
}

/// The classes of the first bytes of characters, besides what `kinds` says of ASCII.
#[inline(always)]
fn by_pages<V: Vectors>(
    lanes: V,
    classes: &Classes,
    window: &[u8; WINDOW],
    kinds: V::Bytes,
    is_inner: V::Bytes,
) -> V::Bytes {
    let raw = lanes.load(from(window, 0));
    let (second, third) = (lanes.load(from(window, 1)), lanes.load(from(window, 2)));
    let is_first = lanes.without(lanes.any(raw, 0x80), is_inner);
    let whole = lanes.of_six(&classes.leads.0, raw);
    let but = lanes.equal(second, lanes.of_six(&classes.but.0, raw));
    let mut kinds = lanes.select(is_first, whole, kinds);
    let mut mixed = lanes.and(is_first, lanes.or(lanes.any(whole, MIXED), but));
    let mut places = lanes.tops(mixed);
    while places.count_ones() >= MANY {
        let place = places.trailing_zeros() as usize & (BLOCK - 1);
        let (first, after) = (window[place], window[place + 1]);
        let same = lanes.equal(raw, lanes.splat(first));
        let (same, class) = if first >= 0xF0 {
            break;
        } else if first >= 0xE0 {
            let page = usize::from(first & 0x0F) << 6 | usize::from(after & 0x3F);
            let same = lanes.and(same, lanes.equal(second, lanes.splat(after)));
            (same, lanes.of_six(page_of(classes, page), third))
        } else {
            (same, lanes.of_six(page_of(classes, usize::from(first & 0x1F)), second))
        };
        kinds = lanes.select(same, class, kinds);
        mixed = lanes.without(mixed, same);
        places = lanes.tops(mixed);
    }
    if places == 0 { kinds } else { one_by_one(lanes, classes, window, kinds, places) }
}

/// The same of those that are left.
#[inline(always)]
fn one_by_one<V: Vectors>(
    lanes: V,
    classes: &Classes,
    window: &[u8; WINDOW],
    kinds: V::Bytes,
    mut places: u64,
) -> V::Bytes {
    let mut bytes = lanes.stored(kinds);
    while places != 0 {
        let place = places.trailing_zeros() as usize & (BLOCK - 1);
        places &= places - 1;
        bytes[place] = class_at(classes, window, place);
    }
    lanes.load(&bytes)
}

/// The classes of 64 characters.
#[inline(always)]
fn page_of(classes: &Classes, page: usize) -> &[u8; BLOCK] {
    classes.short.0[page * BLOCK..].first_chunk().unwrap_or(&[0; BLOCK])
}

/// 64 bytes of a window, from one of its first on.
#[inline(always)]
fn from(window: &[u8; WINDOW], at: usize) -> &[u8; BLOCK] {
    window[at..].first_chunk().unwrap_or(&[0; BLOCK])
}
