//! Masks by NEON.
//!
//! Adds: four vectors of 16 bytes a block; the classes of ASCII from a table in registers. Characters of two and three
//! bytes go by *pages*, the 64 characters that differ in the last byte alone, as such a table: all of one page in the
//! block at once. First bytes all of whose characters have one class, but for a page at most, need no page. Leaves
//! out: characters of four bytes, which go one by one.

use std::arch::aarch64::{
    uint8x16_t, uint8x16x4_t, vaddq_u8, vandq_u8, vbicq_u8, vbslq_u8, vceqq_u8, vcgeq_u8, vcltq_s8,
    vdupq_n_s8, vdupq_n_u8, vextq_u8, vgetq_lane_u8, vgetq_lane_u64, vld1q_u8, vld1q_u8_x4, vorrq_u8,
    vpaddq_u8, vqtbl4q_u8, vqtbx4q_u8, vreinterpretq_s8_u8, vreinterpretq_u64_u8, vsubq_u8, vtstq_u8,
};

use super::super::classes::{Classes, LOWER, MARK, MIXED, NUMBER, SPACE, UPPER};
use super::{BLOCK, Lanes, Law, Masks, WINDOW, class_at, places_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Neon;

impl Lanes for Neon {
    #[inline(always)]
    fn masks(self, law: impl Law, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks {
        // SAFETY: this is compiled only where every processor has NEON.
        unsafe { masks(law, classes, window, last) }
    }

    #[inline(always)]
    fn flatten(self, bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
        places_of(bits, base, out)
    }
}

/// The bytes of a block.
type Four = [uint8x16_t; 4];

/// 0 to 63.
const PLACES: [u8; BLOCK] = {
    let mut places = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        places[at] = at as u8;
        at += 1;
    }
    places
};

/// The bit of each byte of eight, twice.
const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

#[inline]
#[target_feature(enable = "neon")]
fn masks(law: impl Law, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks {
    let raw = load_from(window, 0);
    let mut kinds = ascii(classes, raw);
    let wide = bits(raw);
    let (mut inner, mut left) = (0, 0);
    if wide != 0 {
        let is_inner = raw.map(|part| vcltq_s8(vreinterpretq_s8_u8(part), vdupq_n_s8(-64)));
        inner = bits(is_inner);
        kinds = spread(by_pages(classes, window, kinds), is_inner, last);
        if wide >> (BLOCK - 1) != 0 {
            left = vgetq_lane_u8::<15>(kinds[3]);
        }
    }
    let any = |class: u8| bits(kinds.map(|part| vtstq_u8(part, vdupq_n_u8(class))));
    let equal = |byte: u8| bits(equal(raw, byte));
    Masks {
        word: any(law.word()),
        upper: any(UPPER),
        lower: any(LOWER),
        mark: any(MARK),
        number: any(NUMBER),
        space: any(SPACE),
        blank: equal(b' '),
        line: equal(b'\n') | equal(b'\r'),
        apostrophe: equal(b'\''),
        slash: equal(b'/'),
        inner,
        last: left,
    }
}

/// 64 bytes of a table or window from `at` on.
#[inline]
#[target_feature(enable = "neon")]
fn load_from<const LENGTH: usize>(bytes: &[u8; LENGTH], at: usize) -> Four {
    let table = table(bytes, at);
    [table.0, table.1, table.2, table.3]
}

/// The same, to be looked up in.
#[inline]
#[target_feature(enable = "neon")]
fn table<const LENGTH: usize>(bytes: &[u8; LENGTH], at: usize) -> uint8x16x4_t {
    let from: &[u8; BLOCK] = bytes.get(at..).and_then(|rest| rest.first_chunk()).unwrap_or(&[0; BLOCK]);
    // SAFETY: four vectors are as long as a block; this load needs no alignment.
    unsafe { vld1q_u8_x4(from.as_ptr()) }
}

/// The bits of the bytes that are all ones; of other bytes, their top bits.
#[inline]
#[target_feature(enable = "neon")]
fn bits(of: Four) -> u64 {
    // SAFETY: a vector is as long as these; this load needs no alignment.
    let weights = unsafe { vld1q_u8(WEIGHTS.as_ptr()) };
    let minus = |part| vcltq_s8(vreinterpretq_s8_u8(part), vdupq_n_s8(0));
    let [first, second, third, fourth] = of.map(|part| vandq_u8(minus(part), weights));
    let halves = vpaddq_u8(vpaddq_u8(first, second), vpaddq_u8(third, fourth));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)))
}

#[inline]
#[target_feature(enable = "neon")]
fn equal(raw: Four, byte: u8) -> Four {
    raw.map(|part| vceqq_u8(part, vdupq_n_u8(byte)))
}

/// All ones where there is a bit of `mask`, `then`; elsewhere `or`.
#[inline]
#[target_feature(enable = "neon")]
fn select(mask: Four, then: Four, or: Four) -> Four {
    std::array::from_fn(|part| vbslq_u8(mask[part], then[part], or[part]))
}

/// The classes of ASCII; 0 for other bytes.
#[inline]
#[target_feature(enable = "neon")]
fn ascii(classes: &Classes, raw: Four) -> Four {
    let (low, high) = (table(&classes.ascii.0, 0), table(&classes.ascii.0, BLOCK));
    // What is past the table is 0, or stays what it was.
    raw.map(|part| vqtbx4q_u8(vqtbl4q_u8(low, part), high, vsubq_u8(part, vdupq_n_u8(BLOCK as u8))))
}

/// The classes of the first bytes of characters, besides what `kinds` says of ASCII.
#[inline(never)]
#[target_feature(enable = "neon")]
fn by_pages(classes: &Classes, window: &[u8; WINDOW], kinds: Four) -> Four {
    let (raw, second, third) = (load_from(window, 0), load_from(window, 1), load_from(window, 2));
    let of_six = |table: uint8x16x4_t, index: Four| {
        index.map(|part| vqtbl4q_u8(table, vandq_u8(part, vdupq_n_u8(0x3F))))
    };
    let is_lead = raw.map(|part| vcgeq_u8(part, vdupq_n_u8(0xC0)));
    let (whole, but) = (of_six(table(&classes.leads.0, 0), raw), of_six(table(&classes.but.0, 0), raw));
    let mut kinds = select(is_lead, whole, kinds);
    let mut mixed: Four = std::array::from_fn(|part| {
        let is_mixed = vtstq_u8(whole[part], vdupq_n_u8(MIXED));
        vandq_u8(is_lead[part], vorrq_u8(is_mixed, vceqq_u8(second[part], but[part])))
    });
    loop {
        let places = bits(mixed);
        if places == 0 {
            return kinds;
        }
        let place = places.trailing_zeros() as usize & (BLOCK - 1);
        let (first, after) = (window[place], window[place + 1]);
        let (same, class) = if first >= 0xF0 {
            let class = vdupq_n_u8(class_at(classes, window, place));
            (equal(load_from(&PLACES, 0), place as u8), [class; 4])
        } else if first >= 0xE0 {
            let page = usize::from(first & 0x0F) << 6 | usize::from(after & 0x3F);
            let (one, other) = (equal(raw, first), equal(second, after));
            let same = std::array::from_fn(|part| vandq_u8(one[part], other[part]));
            (same, of_six(table(&classes.short.0, page * BLOCK), third))
        } else {
            let page = usize::from(first & 0x1F);
            (equal(raw, first), of_six(table(&classes.short.0, page * BLOCK), second))
        };
        kinds = select(same, class, kinds);
        mixed = std::array::from_fn(|part| vbicq_u8(mixed[part], same[part]));
    }
}

/// The class of each first byte to the other bytes of its character, and `last` to those of the character before.
#[inline]
#[target_feature(enable = "neon")]
fn spread(kinds: Four, is_inner: Four, last: u8) -> Four {
    let later = |of: Four| -> Four {
        let none = vdupq_n_u8(0);
        std::array::from_fn(|part| vextq_u8::<15>(if part == 0 { none } else { of[part - 1] }, of[part]))
    };
    let both =
        |one: Four, other: Four| -> Four { std::array::from_fn(|part| vandq_u8(one[part], other[part])) };
    let two = both(is_inner, later(is_inner));
    let three = both(two, later(two));
    let places = load_from(&PLACES, 0);
    let kinds = uint8x16x4_t(kinds[0], kinds[1], kinds[2], kinds[3]);
    // All ones are less by one; a place before the block is past the table, so what is there stays.
    std::array::from_fn(|part| {
        let place = vaddq_u8(vaddq_u8(places[part], is_inner[part]), vaddq_u8(two[part], three[part]));
        vqtbx4q_u8(vdupq_n_u8(last), kinds, place)
    })
}
