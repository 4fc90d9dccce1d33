//! Text in units of one, two or four bytes a character, as Python keeps it, to UTF-8.
//!
//! 64 characters of ASCII at once, which is most of a text in Latin script that has a curly quote somewhere. Others sixteen
//! at a time: what each is in UTF-8 and how long that is are found without a branch, so that compilers make vectors of it;
//! then four bytes are written of each, where the one before it ends. Leaves out UTF-16, where two units may be one
//! character: a unit between U+D800 and U+DFFF is no text.

use crate::{
    fetch::fetch_byte,
    pages::{LARGE, Zeros},
};

#[cfg(simd_x86)]
mod avx512;
#[cfg(simd_x86)]
mod packed;

/// Characters that are looked at for ASCII together.
const BLOCK: usize = 64;
/// Bytes so many before their turn are asked for: not every processor does that by itself, and none beyond a page.
const AHEAD: usize = 1 << 10;
/// Others are written so many at a time.
const MANY: usize = 16;
/// The most bytes of so many.
const ROOM: usize = 4 * MANY;

/// A character of at most so many bits.
pub trait Character: Copy + Default + Into<u32> {
    /// How many bytes it is.
    const BYTES: usize;
    /// The most bytes of one in UTF-8.
    const WIDEST: usize;
}

impl Character for u8 {
    const BYTES: usize = 1;
    const WIDEST: usize = 2;
}

impl Character for u16 {
    const BYTES: usize = 2;
    const WIDEST: usize = 3;
}

impl Character for u32 {
    const BYTES: usize = 4;
    const WIDEST: usize = 4;
}

/// Writes the characters over what is in `buffer` and gives them as text; an error is the place of the first that is
/// none: a surrogate, or beyond U+10FFFF.
pub fn write<'b, T: Character>(characters: &[T], buffer: &'b mut Buffer) -> Result<&'b str, usize> {
    let room = buffer.room(T::WIDEST * characters.len() + ROOM);
    let filled = fill(characters, room)?;
    // SAFETY: every byte before `filled` was written, as UTF-8 of characters that are checked.
    Ok(unsafe { std::str::from_utf8_unchecked(&room[..filled]) })
}

/// Where text is written. That of long text takes only the memory that is written to.
#[derive(Debug, Default)]
pub struct Buffer {
    short: Vec<u8>,
    long: Option<Zeros<u8>>,
}

impl Buffer {
    /// So many bytes, with whatever is in them.
    fn room(&mut self, most: usize) -> &mut [u8] {
        if most < LARGE {
            if self.short.len() < most {
                self.short.clear();
                self.short.resize(most, 0);
            }
            return &mut self.short;
        }
        if self.long.as_ref().is_none_or(|long| long.len() < most) {
            self.long = None;
        }
        self.long.get_or_insert_with(|| Zeros::new(most.checked_next_power_of_two().unwrap_or(most)))
    }

    /// Keeps no more than short text needs.
    pub(crate) fn give_back(&mut self) {
        self.long = None;
    }
}

#[cfg(simd_x86)]
fn fill<T: Character>(characters: &[T], out: &mut [u8]) -> Result<usize, usize> {
    avx512::fill(characters, out)
        .or_else(|| packed::fill(characters, out))
        .unwrap_or_else(|| by_blocks(characters, out))
}

#[cfg(not(simd_x86))]
fn fill<T: Character>(characters: &[T], out: &mut [u8]) -> Result<usize, usize> {
    by_blocks(characters, out)
}

fn by_blocks<T: Character>(characters: &[T], out: &mut [u8]) -> Result<usize, usize> {
    let ascii = |block: &[T; BLOCK], out: &mut [u8; BLOCK]| {
        let any = block.iter().fold(0, |any, &character| any | character.into());
        if any < 0x80 {
            *out = block.map(|character| character.into() as u8);
        }
        any < 0x80
    };
    block_by_block(characters, out, ascii, |block, out| put_block(&block.map(Into::into), out))
}

/// Puts 64 characters after 64. `ascii` writes those that are all ASCII, and says whether they are; `put` writes sixteen to the
/// beginning of what it is given, where there is `ROOM`, and gives the number of bytes, or nothing if one is no character.
#[inline(always)]
fn block_by_block<T: Character>(
    characters: &[T],
    out: &mut [u8],
    ascii: impl Fn(&[T; BLOCK], &mut [u8; BLOCK]) -> bool,
    put: impl Fn(&[T; MANY], &mut [u8]) -> Option<usize>,
) -> Result<usize, usize> {
    let mut filled = 0;
    for (number, block) in characters.chunks(BLOCK).enumerate() {
        for line in 0..T::BYTES {
            fetch_byte(block.as_ptr().wrapping_byte_add(AHEAD + line * BLOCK).cast());
        }
        if let (Some(block), Some(out)) = (block.first_chunk(), out[filled..].first_chunk_mut())
            && ascii(block, out)
        {
            filled += BLOCK;
            continue;
        }
        let (parts, rest) = block.as_chunks();
        let wrong = || BLOCK * number + first_wrong(block);
        for part in parts {
            filled += put(part, &mut out[filled..]).ok_or_else(wrong)?;
        }
        if !rest.is_empty() {
            let mut last = [T::default(); MANY];
            last[..rest.len()].copy_from_slice(rest);
            // Beyond the last character are zeros, a byte each.
            filled += put(&last, &mut out[filled..]).ok_or_else(wrong)? - (MANY - rest.len());
        }
    }
    Ok(filled)
}

/// As `put` of `block_by_block`.
fn put_block(codes: &[u32; MANY], out: &mut [u8]) -> Option<usize> {
    let out = out.first_chunk_mut::<ROOM>()?;
    let any = codes.iter().fold(0, |any, &code| any | code);
    if any < 0x80 {
        *out.first_chunk_mut()? = codes.map(|code| code as u8);
        return Some(MANY);
    }
    if any >= 0xD800 && codes.iter().copied().any(is_wrong) {
        return None;
    }
    Some(put(codes, out))
}

fn is_wrong(code: u32) -> bool {
    // A surrogate comes out as 0 to 0x7FF.
    (code.wrapping_sub(0xD800) < 0x800) | (code > 0x10_FFFF)
}

#[cold]
fn first_wrong<T: Character>(block: &[T]) -> usize {
    block.iter().position(|&character| is_wrong(character.into())).unwrap_or(0)
}

/// Four bytes of each, where the one before it ends; gives the number of bytes.
fn put(codes: &[u32; MANY], out: &mut [u8; ROOM]) -> usize {
    // All of one kind first, so that vectors do it.
    let (bytes, widths) = (codes.map(spelled), codes.map(width));
    let mut at = 0;
    for (bytes, width) in bytes.into_iter().zip(widths) {
        // Before the last character are no more than `ROOM` - 4 bytes.
        if let Some(place) = out[at.min(ROOM - 4)..].first_chunk_mut() {
            *place = bytes.to_le_bytes();
        }
        at += width as usize;
    }
    at
}

#[inline(always)]
fn width(code: u32) -> u32 {
    1 + u32::from(code >= 0x80) + u32::from(code >= 0x800) + u32::from(code >= 0x1_0000)
}

/// The bytes of a character, the first of them lowest.
#[inline(always)]
fn spelled(code: u32) -> u32 {
    let inside = |shift: u32| 0x80 | (code >> shift & 0x3F);
    let two = 0xC0 | code >> 6 | inside(0) << 8;
    let three = 0xE0 | code >> 12 | inside(6) << 8 | inside(0) << 16;
    let four = 0xF0 | code >> 18 | inside(12) << 8 | inside(6) << 16 | inside(0) << 24;
    let short = if code < 0x80 { code } else { two };
    let long = if code < 0x1_0000 { three } else { four };
    if code < 0x800 { short } else { long }
}

#[cfg(test)]
mod tests;
