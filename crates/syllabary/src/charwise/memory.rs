//! A bounded memory of segments already encoded, one a thread.
//!
//! A segment of up to 15 bytes and up to 4 ids is one slot of 32 bytes; what is longer stands in an arena. A
//! segment is looked for in a few slots side by side; when the table cannot grow any more a new segment takes the
//! place of another, and when an arena is full all is forgotten. Leaves out how segments are encoded.

/// The longest segment in a slot, in bytes.
pub(super) const SHORT: usize = 15;
/// The longest segment remembered.
pub(super) const LONG: usize = 80;
/// A segment is in one of so many slots.
const WINDOW: usize = 4;
/// Slots at first and at most, of either table.
const FIRST: usize = 1 << 8;
const MOST_SHORT: usize = 1 << 17;
const MOST_LONG: usize = 1 << 15;
/// Bytes of long segments, and ids beyond those in slots, at most.
const MOST_BYTES: usize = 2 << 20;
const MOST_IDS: usize = 1 << 19;
/// Ids in a slot.
const INLINE: usize = 4;

/// A short segment as two words: its bytes, its length in the lower half of the last byte. In a slot the upper half
/// is the number of its ids, or `APART`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    low: u64,
    high: u64,
}

const COUNT: u32 = 60;
const APART: u64 = 15;

impl Key {
    /// The key of `text[at..at + length]`, of 1 to `SHORT` bytes.
    #[inline]
    pub(super) fn new(text: &[u8], at: usize, length: usize) -> Key {
        let (low, high) = match text.get(at..at + 16) {
            Some(bytes) => words(bytes),
            None => {
                let mut padded = [0; 16];
                padded[..length].copy_from_slice(&text[at..at + length]);
                words(&padded)
            }
        };
        let bits = 8 * length as u32;
        let (low_mask, high_mask) =
            if bits < 64 { ((1 << bits) - 1, 0) } else { (u64::MAX, (1u64 << (bits - 64)) - 1) };
        Key { low: low & low_mask, high: high & high_mask | (length as u64) << 56 }
    }

    #[inline]
    fn hash(self) -> u64 {
        let product =
            u128::from(self.low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(self.high ^ 0xD1B5_4A32_D192_ED03);
        product as u64 ^ (product >> 64) as u64
    }
}

#[inline]
fn words(bytes: &[u8]) -> (u64, u64) {
    let (mut low, mut high) = ([0; 8], [0; 8]);
    low.copy_from_slice(&bytes[..8]);
    high.copy_from_slice(&bytes[8..16]);
    (u64::from_le_bytes(low), u64::from_le_bytes(high))
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Short {
    low: u64,
    high: u64,
    ids: [u32; INLINE],
}

impl Short {
    #[inline]
    fn is(&self, key: Key) -> bool {
        self.low == key.low && (self.high ^ key.high) << (64 - COUNT) == 0
    }

    fn key(&self) -> Key {
        Key { low: self.low, high: self.high << (64 - COUNT) >> (64 - COUNT) }
    }
}

/// A long segment: a part of its hash, where its bytes and ids are.
#[derive(Clone, Copy, Debug, Default)]
struct Long {
    hash: u32,
    bytes: u32,
    ids: u32,
    length: u8,
    count: u8,
}

/// What is remembered of a segment.
pub(super) enum Found<'a> {
    /// The first so many.
    Few(&'a [u32; INLINE], usize),
    Many(&'a [u32]),
}

/// Segments and their ids.
#[derive(Debug, Default)]
pub(super) struct Memory {
    short: Vec<Short>,
    short_used: usize,
    long: Vec<Long>,
    long_used: usize,
    bytes: Vec<u8>,
    ids: Vec<u32>,
}

impl Memory {
    /// The ids of a short segment, if remembered.
    #[inline]
    pub(super) fn short(&self, key: Key) -> Option<Found<'_>> {
        let slot = window(&self.short, key.hash())?.iter().find(|slot| slot.is(key))?;
        let count = slot.high >> COUNT;
        if count != APART {
            return Some(Found::Few(&slot.ids, count as usize));
        }
        Some(Found::Many(&self.ids[slot.ids[0] as usize..][..slot.ids[1] as usize]))
    }

    /// Remembers a short segment, which is not yet.
    pub(super) fn put_short(&mut self, key: Key, ids: &[u32]) {
        let mut slot = Short { low: key.low, high: key.high, ids: [0; INLINE] };
        let count = if let Some(inline) = slot.ids.get_mut(..ids.len()) {
            inline.copy_from_slice(ids);
            ids.len() as u64
        } else {
            slot.ids[..2].copy_from_slice(&[self.keep_ids(ids), ids.len() as u32]);
            APART
        };
        slot.high |= count << COUNT;
        if 2 * self.short_used >= self.short.len() && self.short.len() < MOST_SHORT {
            self.grow_short();
        }
        self.short_used += usize::from(place(&mut self.short, key.hash(), slot, |slot| slot.high == 0));
    }

    fn grow_short(&mut self) {
        let size = (4 * self.short.len()).clamp(FIRST, MOST_SHORT);
        let old = std::mem::replace(&mut self.short, vec![Short::default(); size]);
        self.short_used = 0;
        for slot in old.into_iter().filter(|slot| slot.high != 0) {
            let hash = slot.key().hash();
            self.short_used += usize::from(place(&mut self.short, hash, slot, |slot| slot.high == 0));
        }
    }

    /// The ids of a segment of up to `LONG` bytes, if remembered.
    #[inline]
    pub(super) fn long(&self, segment: &[u8]) -> Option<&[u32]> {
        let hash = hash_long(segment);
        let found = window(&self.long, hash)?.iter().find(|slot| {
            slot.hash == hash as u32
                && usize::from(slot.length) == segment.len()
                && &self.bytes[slot.bytes as usize..][..segment.len()] == segment
        })?;
        Some(&self.ids[found.ids as usize..][..usize::from(found.count)])
    }

    /// Remembers a segment of up to `LONG` bytes, which is not yet.
    pub(super) fn put_long(&mut self, segment: &[u8], ids: &[u32]) {
        let (Ok(length), Ok(count)) = (u8::try_from(segment.len()), u8::try_from(ids.len())) else { return };
        if self.bytes.len() + segment.len() > MOST_BYTES {
            self.forget();
        }
        let hash = hash_long(segment);
        let ids = self.keep_ids(ids);
        let slot = Long { hash: hash as u32, bytes: self.bytes.len() as u32, ids, length, count };
        self.bytes.extend_from_slice(segment);
        if 2 * self.long_used >= self.long.len() && self.long.len() < MOST_LONG {
            self.grow_long();
        }
        self.long_used += usize::from(place(&mut self.long, hash, slot, |slot| slot.length == 0));
    }

    fn grow_long(&mut self) {
        let size = (4 * self.long.len()).clamp(FIRST, MOST_LONG);
        let old = std::mem::replace(&mut self.long, vec![Long::default(); size]);
        self.long_used = 0;
        for slot in old.into_iter().filter(|slot| slot.length != 0) {
            let hash = hash_long(&self.bytes[slot.bytes as usize..][..usize::from(slot.length)]);
            self.long_used += usize::from(place(&mut self.long, hash, slot, |slot| slot.length == 0));
        }
    }

    /// Puts ids in the arena; where they are.
    fn keep_ids(&mut self, ids: &[u32]) -> u32 {
        if self.ids.len() + ids.len() > MOST_IDS {
            self.forget();
        }
        let at = self.ids.len() as u32;
        self.ids.extend_from_slice(ids);
        at
    }

    fn forget(&mut self) {
        self.short.fill(Short::default());
        self.long.fill(Long::default());
        self.bytes.clear();
        self.ids.clear();
        (self.short_used, self.long_used) = (0, 0);
    }
}

/// The slots of a hash; the size of a table is a power of two, or it has none.
#[inline]
fn window<T>(slots: &[T], hash: u64) -> Option<&[T]> {
    let at = hash as usize & slots.len().wrapping_sub(1) & !(WINDOW - 1);
    slots.get(at..at + WINDOW)
}

/// Puts `slot` into its window, in an empty place or that of another; whether it was empty.
fn place<T>(slots: &mut [T], hash: u64, slot: T, is_empty: impl Fn(&T) -> bool) -> bool {
    let at = hash as usize & slots.len().wrapping_sub(1) & !(WINDOW - 1);
    let Some(window) = slots.get_mut(at..at + WINDOW) else { return false };
    let free = window.iter().position(is_empty);
    window[free.unwrap_or((hash >> 32) as usize % WINDOW)] = slot;
    free.is_some()
}

fn hash_long(segment: &[u8]) -> u64 {
    let mut hash = segment.len() as u64;
    let mut rest = segment;
    while let Some((bytes, after)) = rest.split_first_chunk::<16>() {
        let (low, high) = words(bytes);
        hash = mix(low ^ hash, high);
        rest = after;
    }
    let mut padded = [0; 16];
    padded[..rest.len()].copy_from_slice(rest);
    let (low, high) = words(&padded);
    mix(low ^ hash, high)
}

#[inline]
fn mix(low: u64, high: u64) -> u64 {
    let product = u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
    product as u64 ^ (product >> 64) as u64
}
