//! UTF-8 to text by windows of 64 bytes, with vectors of any kind.
//!
//! Adds: what masks say of a window. Leaves out what makes the masks and the characters (`avx512`, `avx2`).

use std::mem::MaybeUninit;

use super::{REACH, Unit};

/// Bytes of a window; behind them it reads some that belong to characters which begin in it.
pub(super) const WINDOW: usize = 64;
/// Units that a window may write: of its first bytes the characters, of the last ones all that are computed at once.
pub(super) const WRITTEN: usize = 64;
/// Characters of three bytes that are written at once.
pub(super) const LANES: usize = 16;
/// Where characters begin in 48 bytes if each has three.
const THREES: u64 = 0x2492_4924_9249;
const OF_THREES: usize = 3 * LANES;

/// Vectors of some kind.
pub(super) trait Lanes: Copy {
    /// 64 bytes.
    type Bytes: Copy;

    fn load(self, from: &[u8; WINDOW]) -> Self::Bytes;

    /// A bit for each byte that is not less.
    fn at_least(self, bytes: Self::Bytes, byte: u8) -> u64;

    fn equal(self, bytes: Self::Bytes, byte: u8) -> u64;

    /// Writes the characters that begin at `starts`, and some units behind them.
    fn put<T: Unit>(self, window: &[u8; REACH], starts: u64, out: &mut [MaybeUninit<T>; WRITTEN]);

    /// Writes sixteen characters of three bytes.
    fn threes<T: Unit>(self, window: &[u8; REACH], out: &mut [MaybeUninit<T>; LANES]);

    /// Writes 64 ASCII characters.
    fn widen<T: Unit>(self, window: &[u8; REACH], out: &mut [MaybeUninit<T>; WRITTEN]);
}

/// Where characters begin in a window, and how many bytes they are together.
struct Found {
    starts: u64,
    read: usize,
}

/// As `characters::write`.
#[inline(always)]
pub(super) fn write<T: Unit>(
    lanes: impl Lanes,
    bytes: &[u8],
    out: &mut [MaybeUninit<T>],
    is_last: bool,
) -> Option<(usize, usize)> {
    let (mut at, mut made) = (0, 0);
    while let Some(window) = bytes[at..].first_chunk() {
        let (read, written) = one(lanes, window, WINDOW, &mut out[made..])?;
        (at, made) = (at + read, made + written);
    }
    while is_last && at < bytes.len() {
        let mut window = [0; REACH];
        let rest = &bytes[at..];
        window[..rest.len()].copy_from_slice(rest);
        let (read, written) = one(lanes, &window, rest.len().min(WINDOW), &mut out[made..])?;
        if read == 0 {
            // A character without its end.
            return None;
        }
        (at, made) = (at + read, made + written);
    }
    Some((at, made))
}

/// Writes the characters that end in the first `size` bytes of a window; how many bytes and characters those are.
#[inline(always)]
fn one<T: Unit>(
    lanes: impl Lanes,
    window: &[u8; REACH],
    size: usize,
    out: &mut [MaybeUninit<T>],
) -> Option<(usize, usize)> {
    let mut found = look::<T>(lanes, window, size)?;
    // The last of them may have four bytes.
    let ends_there = found.read == OF_THREES || found.starts >> OF_THREES & 1 == 1;
    if T::BYTES > 1 && found.starts & ((1 << OF_THREES) - 1) == THREES && ends_there {
        // What comes after them is looked at again.
        if let Some(room) = out.first_chunk_mut() {
            lanes.threes(window, room);
            return Some((OF_THREES, LANES));
        }
        found = Found { starts: THREES, read: OF_THREES };
    }
    let count = found.starts.count_ones() as usize;
    let put = |room: &mut [MaybeUninit<T>; WRITTEN]| match found.starts {
        u64::MAX => lanes.widen(window, room),
        starts => lanes.put(window, starts, room),
    };
    if let Some(room) = out.first_chunk_mut() {
        put(room);
    } else {
        let mut room = [MaybeUninit::uninit(); WRITTEN];
        put(&mut room);
        out.get_mut(..count)?.copy_from_slice(&room[..count]);
    }
    Some((found.read, count))
}

/// `None` where the bytes are no UTF-8, or of characters too wide for `T`.
#[inline(always)]
fn look<T: Unit>(lanes: impl Lanes, window: &[u8; REACH], size: usize) -> Option<Found> {
    let (bytes, next) = (lanes.load(window.first_chunk()?), lanes.load(window[1..].first_chunk()?));
    let given = u64::MAX >> (WINDOW - size);
    let beyond = lanes.at_least(bytes, 0x80);
    if beyond == 0 {
        return Some(Found { starts: given, read: size });
    }
    let first = lanes.at_least(bytes, 0xC0);
    let inside = beyond & !first;
    let three = lanes.at_least(bytes, 0xE0);
    let four = lanes.at_least(bytes, 0xF0);
    let cut = first & !(given >> 1) | three & !(given >> 2) | four & !(given >> 3);
    let read = (cut & given).trailing_zeros().min(size as u32) as usize;
    let whole = if read == 0 { 0 } else { u64::MAX >> (WINDOW - read) };
    let mut wrong = (first << 1 | three << 2 | four << 3) ^ inside;
    wrong |= first & !lanes.at_least(bytes, 0xC2);
    // What may follow E0, ED, F0 and F4: no longer form than needed, no surrogate, nothing beyond U+10FFFF.
    let [low, high] = [lanes.equal(bytes, 0xE0), lanes.equal(bytes, 0xED)];
    if low | high != 0 {
        let after = lanes.at_least(next, 0xA0);
        wrong |= low & !after | high & after;
    }
    if four != 0 {
        let [low, high] = [lanes.equal(bytes, 0xF0), lanes.equal(bytes, 0xF4)];
        let after = lanes.at_least(next, 0x90);
        wrong |= low & !after | high & after | lanes.at_least(bytes, 0xF5);
    }
    wrong |= match T::BYTES {
        1 => lanes.at_least(bytes, 0xC4),
        2 => four,
        _ => 0,
    };
    // The character that is cut begins where no other goes on.
    let checked = u64::MAX >> (WINDOW - 1 - read.min(WINDOW - 1));
    (wrong & checked == 0).then_some(Found { starts: whole & !inside, read })
}
