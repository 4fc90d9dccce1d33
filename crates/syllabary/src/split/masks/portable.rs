//! Masks without vector instructions: a table for the classes, eight bytes to a word for the masks.
//!
//! Adds: the way that runs everywhere. Leaves out nothing.

use super::super::classes::{Classes, LOWER, MARK, MIXED, NUMBER, SPACE, UPPER};
use super::{BLOCK, Lanes, Law, Masks, WINDOW, class_at, places_of};

#[derive(Clone, Copy)]
pub(in super::super) struct Portable;

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x80 * ONES;

impl Lanes for Portable {
    #[inline(always)]
    fn masks<L: Law>(self, law: L, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks {
        let raw = words(window);
        let mut kinds = [0; BLOCK];
        for (kind, &byte) in kinds.iter_mut().zip(window) {
            *kind = classes.ascii.0[usize::from(byte & 127)];
        }
        let mut kinds = words(&kinds);
        let wide = gather(&raw, |eight| eight);
        let (mut inner, mut left) = (0, 0);
        if wide != 0 {
            inner = wide & !gather(&raw, |eight| eight << 1);
            let bits = words(&not_ascii(classes, window, wide, inner, last));
            left = if wide >> (BLOCK - 1) == 0 { 0 } else { bits[7].to_le_bytes()[7] };
            for ((kind, bits), raw) in kinds.iter_mut().zip(bits).zip(raw) {
                let here = ((raw & TOPS) >> 7) * 255;
                *kind = (*kind & !here) | (bits & here);
            }
        }
        let of = |class: u8| gather(&kinds, |eight| not_zero(eight & (u64::from(class) * ONES)));
        let equal = |byte: u8| !gather(&raw, |eight| not_zero(eight ^ (u64::from(byte) * ONES)));
        Masks {
            word: of(law.word()),
            upper: if L::CASES { of(UPPER) } else { 0 },
            lower: if L::CASES { of(LOWER) } else { 0 },
            mark: if L::CASES { of(MARK) } else { 0 },
            number: of(NUMBER),
            space: of(SPACE),
            blank: equal(b' '),
            line: if L::LINES { equal(b'\n') | equal(b'\r') } else { 0 },
            apostrophe: equal(b'\''),
            slash: if L::SLASHES { equal(b'/') } else { 0 },
            inner,
            last: left,
        }
    }

    #[inline(always)]
    fn flatten(self, bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
        places_of(bits, base, out)
    }
}

/// The class of every character that is not ASCII at all its bytes, that of the block before at the bytes of its last
/// character; other bytes have no meaning.
#[inline]
fn not_ascii(classes: &Classes, window: &[u8; WINDOW], wide: u64, inner: u64, last: u8) -> [u8; WINDOW] {
    let mut bits = [last; WINDOW];
    let mut leads = wide & !inner;
    while leads != 0 {
        let at = leads.trailing_zeros() as usize & (BLOCK - 1);
        leads &= leads - 1;
        let lead = usize::from(window[at] & 0x3F);
        let whole = classes.leads.0[lead];
        let differs = whole & MIXED != 0 || window[at + 1] == classes.but.0[lead];
        // Also over what comes after the character: it is ASCII or written later.
        bits[at..at + 4].fill(if differs { class_at(classes, window, at) } else { whole });
    }
    bits
}

/// The eight words of a block.
#[inline(always)]
fn words(bytes: &[u8]) -> [u64; 8] {
    let mut words = [0; 8];
    for (word, eight) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut copy = [0; 8];
        copy.copy_from_slice(eight);
        *word = u64::from_le_bytes(copy);
    }
    words
}

/// The top bit of each byte of each word, after `f`.
#[inline(always)]
fn gather(words: &[u64; 8], f: impl Fn(u64) -> u64) -> u64 {
    let mut mask = 0;
    for (at, &eight) in words.iter().enumerate() {
        let tops = (f(eight) & TOPS) >> 7;
        mask |= (tops.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
    }
    mask
}

/// The top bit of each byte that is not 0.
#[inline(always)]
fn not_zero(eight: u64) -> u64 {
    ((eight & !TOPS) + !TOPS) | eight
}
