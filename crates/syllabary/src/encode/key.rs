//! Short byte strings as numbers: what the tables of encoding compare and hash.
//!
//! Leaves out strings of more than `LONGER` bytes, which are compared as bytes.

use crate::pages::Zero;

/// The most bytes that a key holds, and a longer one.
pub(crate) const SHORT: usize = 15;
pub(crate) const LONGER: usize = 31;
/// The most bytes of a longer key of a string inside a piece.
pub(super) const LONG_INNER: usize = 29;

/// The highest bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// How keys are hashed.
pub(super) const HASH_TURN: i32 = 13;
pub(super) const HASH_LOW: u64 = 0x9E37_79B1;
pub(super) const HASH_HIGH: u64 = 0x85EB_CA77;
pub(super) const HASH_DOWN: i32 = 27;

/// The bytes of a string of 1 to `SHORT` bytes, little end first; the last byte is its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct Key {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

/// Keeps the first bytes of sixteen.
const MASKS: [u128; 16] = masks();

const fn masks() -> [u128; 16] {
    let mut out = [0; 16];
    let mut length = 1;
    while length < 16 {
        out[length] = u128::MAX >> (128 - 8 * length);
        length += 1;
    }
    out
}

// SAFETY: numbers are zero where their bytes are.
unsafe impl Zero for Key {
    const ZERO: Key = Key::NONE;
}

// SAFETY: as above.
unsafe impl Zero for Longer {
    const ZERO: Longer = Longer::NONE;
}

// SAFETY: as above.
unsafe impl Zero for (Key, u32) {
    const ZERO: (Key, u32) = (Key::NONE, 0);
}

impl Key {
    /// No string has it.
    pub(crate) const NONE: Key = Key { low: 0, high: 0 };

    /// The key of `text[start..start + length]`; `length` is 1 to `SHORT`, and the bytes are there.
    #[inline(always)]
    pub(crate) fn at(text: &[u8], start: usize, length: usize) -> Key {
        Key::of(sixteen(text, start), length)
    }

    /// The key of the first `length` of sixteen bytes.
    #[inline(always)]
    pub(crate) fn of(bytes: u128, length: usize) -> Key {
        let bytes = bytes & MASKS[length & 15];
        Key { low: bytes as u64, high: (bytes >> 64) as u64 | (length as u64) << 56 }
    }

    /// Whether it has only bytes below 0x80; not of the key of a string inside a piece.
    pub(super) fn is_ascii(self) -> bool {
        (self.low | self.high & (u64::MAX >> 8)) & HIGH == 0
    }

    /// Whether at least half of its bytes are below 0x80.
    pub(super) fn is_mostly_ascii(self) -> bool {
        let length = (plain(self).high >> 56) as u32;
        2 * ((self.low & HIGH).count_ones() + (self.high & HIGH).count_ones()) <= length
    }

    /// The key of all of `bytes`, if they are 1 to `SHORT`.
    pub(crate) fn new(bytes: &[u8]) -> Option<Key> {
        (1..=SHORT).contains(&bytes.len()).then(|| Key::at(bytes, 0, bytes.len()))
    }

    /// The bytes, zeros behind them, and their number.
    pub(crate) fn sixteen(self) -> [u8; 16] {
        (u128::from(self.low) | u128::from(self.high) << 64).to_le_bytes()
    }

    /// The bytes, as a number, and how many they are.
    #[inline]
    pub(super) fn parts(self) -> (u128, usize) {
        let bytes = u128::from(self.low) | u128::from(self.high & (u64::MAX >> 8)) << 64;
        (bytes, (self.high >> 56) as usize)
    }

    /// The key of this string and `right` after it, if it is short enough.
    #[inline]
    pub(crate) fn join(self, right: Key) -> Option<Key> {
        let ((bytes, length), (after, more)) = (self.parts(), right.parts());
        (length + more <= SHORT).then(|| Key::of(bytes | after << (8 * length), length + more))
    }

    /// Both halves, turned against each other, times two numbers: vectors can do it too. Good in its middle bits.
    #[inline(always)]
    pub(super) fn mixed(self) -> u64 {
        let both = self.low ^ self.high.rotate_right(HASH_TURN as u32);
        ((both & 0xFFFF_FFFF) * HASH_LOW) ^ ((both >> 32) * HASH_HIGH)
    }

    /// A hash of all its bits, good in its lowest 32.
    #[inline(always)]
    pub(crate) fn hash(self) -> u64 {
        self.mixed() >> HASH_DOWN
    }
}

/// The key of a string that is no whole piece: what stands in a piece between two places where no token can pass.
/// A whole piece of the same bytes may have other ids.
pub(super) fn inner(key: Key) -> Key {
    let length = key.high >> 56;
    debug_assert!(length < SHORT as u64);
    Key { low: key.low, high: key.high & (u64::MAX >> 8) | length << 48 }
}

/// The key of the bytes of a string alone, be it a whole piece or inside one.
pub(super) fn plain(key: Key) -> Key {
    if key.high >> 56 != 0 {
        return key;
    }
    Key { low: key.low, high: key.high & (u64::MAX >> 16) | key.high >> 48 << 56 }
}

/// The bytes of a string of more than `SHORT` and up to `LONGER` bytes, little end first; the last byte is its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub(crate) struct Longer(pub(crate) [u64; 4]);

impl Longer {
    /// No string has it.
    pub(crate) const NONE: Longer = Longer([0; 4]);

    /// The key of `text[start..start + length]`, whose bytes are there.
    #[inline(always)]
    pub(crate) fn at(text: &[u8], start: usize, length: usize) -> Longer {
        let (low, high) = (sixteen(text, start), sixteen(text, start + 16));
        let high = high & MASKS[(length - 16) & 15] | (length as u128) << 120;
        Longer([low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64])
    }

    /// The key of a string of `SHORT` to `LONG_INNER` bytes that is no whole piece, as `inner`: with a length that no piece has.
    pub(super) fn inner(text: &[u8], start: usize, length: usize) -> Longer {
        let code = ((length - SHORT + 1) as u64) << 56;
        if length == SHORT {
            let Key { low, high } = Key::at(text, start, length);
            return Longer([low, high & (u64::MAX >> 8), 0, code]);
        }
        let [first, second, third, last] = Longer::at(text, start, length).0;
        Longer([first, second, third, last & (u64::MAX >> 8) | code])
    }

    /// Whether it has only bytes below 0x80.
    pub(super) fn is_ascii(self) -> bool {
        let [first, second, third, last] = self.0;
        (first | second | third | last & (u64::MAX >> 8)) & HIGH == 0
    }

    /// A hash of all its bits, good in its lowest 32.
    #[inline(always)]
    pub(crate) fn hash(self) -> u64 {
        let [a, b, c, d] = self.0;
        let [first, second] = [(a, b), (c ^ 0x2545_F491_4F6C_DD1D, d)].map(|(low, high)| {
            let product = u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
            product as u64 ^ (product >> 64) as u64
        });
        first ^ second.rotate_left(29)
    }
}

/// The sixteen bytes of `text` from `start` on, with zeros after its end.
#[inline(always)]
fn sixteen(text: &[u8], start: usize) -> u128 {
    match text[start..].first_chunk::<16>() {
        Some(chunk) => u128::from_le_bytes(*chunk),
        None => at_the_end(text, start),
    }
}

/// The same where there are less.
fn at_the_end(text: &[u8], start: usize) -> u128 {
    let Some(last) = text.last_chunk::<16>() else {
        let mut out = [0; 16];
        out[..text.len() - start].copy_from_slice(&text[start..]);
        return u128::from_le_bytes(out);
    };
    let over = start + 16 - text.len();
    u128::from_le_bytes(*last).checked_shr(8 * over as u32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_bytes_and_length() {
        let text = b"ab\0cdefghijklmnopqrst";
        for length in 1..=SHORT {
            for start in 0..=text.len() - length {
                let bytes = &text[start..start + length];
                let key = Key::at(text, start, length);
                assert_eq!(Key::new(bytes), Some(key));
                for cut in 1..length {
                    let (left, right) = bytes.split_at(cut);
                    assert_eq!(Key::new(left).unwrap().join(Key::new(right).unwrap()), Some(key));
                }
            }
        }
        assert_ne!(Key::new(b"a"), Key::new(b"a\0"));
        assert_eq!(Key::new(b""), None);
        assert_eq!(Key::new(&text[..16]), None);
        assert_eq!(Key::at(text, 0, 8).join(Key::at(text, 8, 8)), None);
    }

    #[test]
    fn a_longer_key_is_its_bytes_and_length() {
        let text: Vec<u8> = (1..=70).collect();
        let mut seen = Vec::new();
        for length in SHORT + 1..=LONGER {
            for start in 0..=text.len() - length {
                let key = Longer::at(&text, start, length);
                let mut bytes = [0; 32];
                bytes[..length].copy_from_slice(&text[start..start + length]);
                bytes[31] = length as u8;
                let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
                assert!(key.0.into_iter().eq(words));
                seen.push(key.hash() as u32);
            }
        }
        // The memory takes the three highest bits for itself.
        const _: () = assert!(LONG_INNER - SHORT + 1 < SHORT + 1 && LONGER < 1 << 5);
        for length in SHORT..=LONG_INNER {
            let (key, plain) = (Longer::inner(&text, 3, length), Longer::at(&text, 3, length.max(SHORT + 1)));
            assert!(key != plain && !(SHORT + 1..=LONGER).any(|other| key == Longer::at(&text, 3, other)));
            assert_eq!(key.0[..2] == plain.0[..2], length > SHORT);
            seen.push(key.hash() as u32);
        }
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }
}
