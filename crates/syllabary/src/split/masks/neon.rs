//! Masks by NEON: four vectors of 16 bytes a block.
//!
//! Adds: `Vectors` for them; classes by tables in registers. Leaves out: what is made of them (`blocks`).

use std::arch::aarch64::{
    uint8x16_t, uint8x16x4_t, vandq_u8, vbicq_u8, vbslq_u8, vceqq_u8, vcltq_s8, vdupq_n_s8, vdupq_n_u8,
    vextq_u8, vgetq_lane_u64, vld1q_u8, vld1q_u8_x4, vorrq_u8, vpaddq_u8, vqtbl4q_u8, vqtbx4q_u8,
    vreinterpretq_s8_u8, vreinterpretq_u64_u8, vst1q_u8, vsubq_u8, vtstq_u8,
};

use super::super::classes::Classes;
use super::blocks::{self, Vectors};
use super::{BLOCK, Lanes, Law, Masks, WINDOW, places_of};

/// Is compiled only where every processor has NEON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Neon;

impl Lanes for Neon {
    #[inline(always)]
    fn masks<L: Law>(self, law: L, classes: &Classes, window: &[u8; WINDOW], last: u8) -> Masks {
        blocks::masks(self, law, classes, window, last)
    }

    #[inline(always)]
    fn flatten(self, bits: u64, base: usize, out: &mut [usize; BLOCK]) -> usize {
        places_of(bits, base, out)
    }
}

type Four = [uint8x16_t; 4];

/// The bit of each byte of eight, twice.
const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// A block to look up in.
#[inline(always)]
fn table(bytes: &[u8; BLOCK]) -> uint8x16x4_t {
    // SAFETY: four vectors are as long as a block; this load needs no alignment.
    unsafe { vld1q_u8_x4(bytes.as_ptr()) }
}

/// What each quarter of one or more blocks gives.
macro_rules! quarters {
    (|$part:ident| $of:expr) => {
        // SAFETY: every processor has the instructions.
        unsafe { [0, 1, 2, 3].map(|$part: usize| $of) }
    };
}

impl Vectors for Neon {
    type Bytes = Four;

    #[inline(always)]
    fn load(self, bytes: &[u8; BLOCK]) -> Four {
        let table = table(bytes);
        [table.0, table.1, table.2, table.3]
    }

    #[inline(always)]
    fn tops(self, bytes: Four) -> u64 {
        // SAFETY: a vector is as long as these; this load needs no alignment.
        let weights = unsafe { vld1q_u8(WEIGHTS.as_ptr()) };
        let bits = quarters!(|part| {
            vandq_u8(vcltq_s8(vreinterpretq_s8_u8(bytes[part]), vdupq_n_s8(0)), weights)
        });
        // SAFETY: as for `quarters`.
        unsafe {
            let halves = vpaddq_u8(vpaddq_u8(bits[0], bits[1]), vpaddq_u8(bits[2], bits[3]));
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)))
        }
    }

    #[inline(always)]
    fn equal(self, one: Four, other: Four) -> Four {
        quarters!(|part| vceqq_u8(one[part], other[part]))
    }

    #[inline(always)]
    fn and(self, one: Four, other: Four) -> Four {
        quarters!(|part| vandq_u8(one[part], other[part]))
    }

    #[inline(always)]
    fn or(self, one: Four, other: Four) -> Four {
        quarters!(|part| vorrq_u8(one[part], other[part]))
    }

    #[inline(always)]
    fn without(self, one: Four, other: Four) -> Four {
        quarters!(|part| vbicq_u8(one[part], other[part]))
    }

    #[inline(always)]
    fn select(self, mask: Four, then: Four, or: Four) -> Four {
        quarters!(|part| vbslq_u8(mask[part], then[part], or[part]))
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> Four {
        quarters!(|_part| vdupq_n_u8(byte))
    }

    #[inline(always)]
    fn any(self, bytes: Four, bits: u8) -> Four {
        quarters!(|part| vtstq_u8(bytes[part], vdupq_n_u8(bits)))
    }

    #[inline(always)]
    fn inner(self, bytes: Four) -> Four {
        quarters!(|part| vcltq_s8(vreinterpretq_s8_u8(bytes[part]), vdupq_n_s8(-64)))
    }

    #[inline(always)]
    fn shifted(self, bytes: Four, first: u8) -> Four {
        quarters!(|part| {
            let before = if part == 0 { vdupq_n_u8(first) } else { bytes[part - 1] };
            vextq_u8::<15>(before, bytes[part])
        })
    }

    #[inline(always)]
    fn of_six(self, rows: &[u8; BLOCK], bytes: Four) -> Four {
        let table = table(rows);
        quarters!(|part| vqtbl4q_u8(table, vandq_u8(bytes[part], vdupq_n_u8(0x3F))))
    }

    #[inline(always)]
    fn ascii<L: Law>(self, classes: &Classes, bytes: Four) -> Four {
        let [low, high] = classes.ascii.0.as_chunks::<BLOCK>().0 else { return bytes };
        let (low, high) = (table(low), table(high));
        // What is past a table is 0, or stays what it was.
        quarters!(|part| {
            let above = vsubq_u8(bytes[part], vdupq_n_u8(BLOCK as u8));
            vqtbx4q_u8(vqtbl4q_u8(low, bytes[part]), high, above)
        })
    }

    #[inline(always)]
    fn stored(self, bytes: Four) -> [u8; BLOCK] {
        let mut stored = [0; BLOCK];
        for (to, part) in stored.as_chunks_mut::<16>().0.iter_mut().zip(bytes) {
            // SAFETY: a vector is as long as these; this store needs no alignment.
            unsafe { vst1q_u8(to.as_mut_ptr(), part) };
        }
        stored
    }
}
