//! Up to fourteen ids in the 32 bytes that a slot of a longer string has for them.
//!
//! ```text
//! 16 bytes:  seven ids of 18 bits, two bits of how many there are
//! 16 bytes:  seven more,           two bits, the higher ones
//! ```
//!
//! Most words of Greek that are longer than `SHORT` have 9 to 14 ids: so they need no second line elsewhere. Leaves out
//! ids of more than 18 bits.

use super::LONG_FAR;

/// Bits of an id.
const BITS: u32 = 18;
const HALF: usize = 7;
/// The most ids.
pub(super) const MOST: usize = 2 * HALF;
/// Bits of a half that are ids.
const USED: u32 = HALF as u32 * BITS;
/// The byte from which four have an id, and the bits of them that are of those before it.
const PLACES: [(usize, u32); HALF] = [(0, 0), (2, 2), (4, 4), (6, 6), (9, 0), (11, 2), (12, 12)];
const _: () = assert!(USED + 2 == u128::BITS && MOST <= LONG_FAR && MOST < 16);

/// One to `MOST` ids and how many they are; `None` if they do not fit.
pub(super) fn pack(ids: &[u32]) -> Option<[u32; 8]> {
    if ids.len() > MOST || ids.iter().any(|id| id >> BITS != 0) {
        return None;
    }
    let mut words = [0; 8];
    for (half, into) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let part = ids.iter().skip(half * HALF).take(HALF).rev();
        let packed = part.fold(0, |packed, &id| packed << BITS | u128::from(id));
        let packed = packed | (ids.len() as u128 >> (2 * half) & 3) << USED;
        for (at, word) in into.iter_mut().enumerate() {
            *word = (packed >> (32 * at)) as u32;
        }
    }
    Some(words)
}

/// How many there are.
#[inline(always)]
pub(super) fn count(words: &[u32; 8]) -> usize {
    (words[3] >> 30 | words[7] >> 30 << 2) as usize
}

/// Writes `MOST` ids, of which the first are those that there are.
#[inline(always)]
pub(super) fn unpack(words: &[u32; 8], room: &mut [u32; LONG_FAR]) {
    let (halves, rooms) = (words.as_chunks::<4>().0, room.as_chunks_mut::<HALF>().0);
    for (half, room) in halves.iter().zip(rooms) {
        let half: [u32; 4] = half.map(u32::to_le);
        let bytes: [u8; 16] = half.map(u32::to_ne_bytes).as_flattened().try_into().unwrap_or_default();
        for (id, (byte, shift)) in room.iter_mut().zip(PLACES) {
            let four = [bytes[byte], bytes[byte + 1], bytes[byte + 2], bytes[byte + 3]];
            *id = u32::from_le_bytes(four) >> shift & ((1 << BITS) - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back() {
        const MASK: u32 = (1 << BITS) - 1;
        for count in 1..=MOST {
            for (factor, turn) in [(0, 0), (0, MASK), (77_777, 0), (12_345, 99)] {
                let ids: Vec<u32> = (1..=count as u32).map(|at| ((at * factor) ^ turn) & MASK).collect();
                let words = pack(&ids).unwrap();
                let mut room = [u32::MAX; LONG_FAR];
                unpack(&words, &mut room);
                assert_eq!(super::count(&words), count);
                assert_eq!(room[..count], ids);
                assert_eq!(room[MOST..], [u32::MAX; LONG_FAR - MOST]);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_not_packed() {
        assert_eq!(pack(&[0; MOST + 1]), None);
        assert_eq!(pack(&[1, 1 << BITS]), None);
        assert!(pack(&[(1 << BITS) - 1; MOST]).is_some());
    }
}
