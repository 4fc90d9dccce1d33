//! UTF-8 to text in units of one, two or four bytes a character, as Python keeps it.
//!
//! With AVX-512 or AVX2, windows of 64 bytes: masks say where characters begin and whether the bytes between them are as
//! many as there should be; then of many bytes at once the character that would begin at each is computed, and those are
//! kept where one does. Elsewhere the standard library does it. Leaves out the way back (`utf8`).

#[cfg(simd_x86)]
mod avx2;
#[cfg(simd_x86)]
mod avx512;
#[cfg(simd_x86)]
mod windows;

use std::mem::MaybeUninit;

#[cfg(simd_x86)]
use self::{avx2::Avx2, avx512::Avx512};

/// More bytes than are ever left for the next call; a window reads so many.
pub const REACH: usize = 80;

/// What a character is written as.
pub trait Unit: Copy + TryFrom<u32> {
    /// How many bytes it is.
    const BYTES: usize;
}

impl Unit for u8 {
    const BYTES: usize = 1;
}

impl Unit for u16 {
    const BYTES: usize = 2;
}

impl Unit for u32 {
    const BYTES: usize = 4;
}

/// How many of the bytes begin characters, and the largest of them.
pub fn starts(bytes: &[u8]) -> (usize, u8) {
    #[cfg(simd_x86)]
    if let Some(lanes) = Avx512::new() {
        return lanes.starts(bytes);
    }
    counted(bytes)
}

/// The same, some at a time, so that they are counted in bytes.
fn counted(bytes: &[u8]) -> (usize, u8) {
    bytes.chunks(128).fold((0, 0), |(starts, largest), some| {
        let count: u8 = some.iter().map(|&byte| u8::from(byte & 0xC0 != 0x80)).sum();
        (starts + usize::from(count), some.iter().copied().fold(largest, u8::max))
    })
}

/// Writes the characters of `bytes` to the beginning of `out` and says how many bytes those were, and how many
/// characters: all if there are no more bytes to come (`is_last`), else all but fewer than `REACH` bytes. `None` if the
/// bytes are no UTF-8, if there is no room, or if a character is too wide.
pub fn write<T: Unit>(bytes: &[u8], out: &mut [MaybeUninit<T>], is_last: bool) -> Option<(usize, usize)> {
    #[cfg(simd_x86)]
    if let Some(lanes) = Avx512::new() {
        return lanes.write(bytes, out, is_last);
    }
    #[cfg(simd_x86)]
    if let Some(lanes) = Avx2::new() {
        return lanes.write(bytes, out, is_last);
    }
    one_by_one(bytes, out, is_last)
}

fn one_by_one<T: Unit>(bytes: &[u8], out: &mut [MaybeUninit<T>], is_last: bool) -> Option<(usize, usize)> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // It may go on in bytes to come.
        Err(error) if !is_last && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let mut made = 0;
    for character in text.chars() {
        out.get_mut(made)?.write(T::try_from(character.into()).ok()?);
        made += 1;
    }
    Some((text.len(), made))
}

#[cfg(test)]
mod tests;
