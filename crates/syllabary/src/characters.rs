//! UTF-8 to text in units of one, two or four bytes a character, as Python keeps it.
//!
//! With AVX-512, windows of 64 bytes: masks say where characters begin and whether the bytes between them are as many as
//! there should be; then of sixteen bytes at once the character that would begin at each is computed, and those are kept
//! where one does. Elsewhere the standard library does it. Leaves out the way back (`utf8`).

use std::mem::MaybeUninit;

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
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has what the function asks for.
        return unsafe { vectors::starts(bytes) };
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
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has what the function asks for.
        return unsafe { vectors::write(bytes, out, is_last) };
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

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::{arch::x86_64::*, mem::MaybeUninit};

    use super::{REACH, Unit};

    /// Bytes of a window; behind them it reads some that belong to characters which begin in it.
    const WINDOW: usize = 64;
    /// Units that a window may write: of 48 bytes the characters, of the last 16 all lanes.
    const WRITTEN: usize = 64;
    /// Bytes whose characters are computed at once.
    const LANES: usize = 16;
    /// Where characters begin in 48 bytes if each has three.
    const THREES: u64 = 0x2492_4924_9249;
    const OF_THREES: usize = 3 * LANES;

    /// Where characters begin in a window, and how many bytes they are together.
    struct Found {
        starts: u64,
        read: usize,
    }

    #[target_feature(enable = "avx512bw,popcnt")]
    pub(super) fn starts(bytes: &[u8]) -> (usize, u8) {
        let (windows, rest) = bytes.as_chunks::<WINDOW>();
        let (mut count, mut largest) = (0, _mm512_setzero_si512());
        for window in windows {
            // SAFETY: it has 64 bytes.
            let some = unsafe { _mm512_loadu_si512(window.as_ptr().cast()) };
            // As numbers with a sign, 80 to BF are the least.
            let starts = _mm512_cmpge_epi8_mask(some, every(0xC0));
            count += starts.count_ones() as usize;
            largest = _mm512_max_epu8(largest, some);
        }
        let mut bytes = [0; WINDOW];
        // SAFETY: there is room for 64.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), largest) };
        let (more, last) = super::counted(rest);
        (count + more, bytes.into_iter().fold(last, u8::max))
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    pub(super) fn write<T: Unit>(
        bytes: &[u8],
        out: &mut [MaybeUninit<T>],
        is_last: bool,
    ) -> Option<(usize, usize)> {
        let (mut at, mut made) = (0, 0);
        while let Some(window) = bytes[at..].first_chunk() {
            let (read, written) = one(window, WINDOW, &mut out[made..])?;
            (at, made) = (at + read, made + written);
        }
        while is_last && at < bytes.len() {
            let mut window = [0; REACH];
            let rest = &bytes[at..];
            window[..rest.len()].copy_from_slice(rest);
            let (read, written) = one(&window, rest.len().min(WINDOW), &mut out[made..])?;
            if read == 0 {
                // A character without its end.
                return None;
            }
            (at, made) = (at + read, made + written);
        }
        Some((at, made))
    }

    /// Writes the characters that end in the first `size` bytes of a window; how many bytes and characters those are.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    fn one<T: Unit>(window: &[u8; REACH], size: usize, out: &mut [MaybeUninit<T>]) -> Option<(usize, usize)> {
        let mut found = look::<T>(window, size)?;
        if T::BYTES > 1 && found.starts & ((1 << OF_THREES) - 1) == THREES && found.read >= OF_THREES {
            // What comes after them is looked at again.
            if let Some(room) = out.first_chunk_mut() {
                threes(window, room);
                return Some((OF_THREES, LANES));
            }
            found = Found { starts: THREES, read: OF_THREES };
        }
        let count = found.starts.count_ones() as usize;
        if let Some(room) = out.first_chunk_mut() {
            put(window, &found, room);
        } else {
            let mut room = [MaybeUninit::uninit(); WRITTEN];
            put(window, &found, &mut room);
            out.get_mut(..count)?.copy_from_slice(&room[..count]);
        }
        Some((found.read, count))
    }

    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn every(byte: u8) -> __m512i {
        _mm512_set1_epi8(byte as i8)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    fn equal(bytes: __m512i, byte: u8) -> u64 {
        _mm512_cmpeq_epi8_mask(bytes, every(byte))
    }

    /// `None` where the bytes are no UTF-8, or of characters too wide for `T`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    fn look<T: Unit>(window: &[u8; REACH], size: usize) -> Option<Found> {
        // SAFETY: a window has more than 65 bytes.
        let (bytes, next) = unsafe {
            (_mm512_loadu_si512(window.as_ptr().cast()), _mm512_loadu_si512(window.as_ptr().add(1).cast()))
        };
        let given = u64::MAX >> (WINDOW - size);
        let beyond = _mm512_movepi8_mask(bytes);
        if beyond == 0 {
            return Some(Found { starts: given, read: size });
        }
        let first = _mm512_cmpge_epu8_mask(bytes, every(0xC0));
        let inside = beyond & !first;
        let three = _mm512_cmpge_epu8_mask(bytes, every(0xE0));
        let four = _mm512_cmpge_epu8_mask(bytes, every(0xF0));
        let cut = first & !(given >> 1) | three & !(given >> 2) | four & !(given >> 3);
        let read = _tzcnt_u64(cut & given).min(size as u64) as usize;
        let whole = if read == 0 { 0 } else { u64::MAX >> (WINDOW - read) };
        let mut wrong = (first << 1 | three << 2 | four << 3) ^ inside;
        wrong |= first & _mm512_cmplt_epu8_mask(bytes, every(0xC2));
        // What may follow E0, ED, F0 and F4: no longer form than needed, no surrogate, nothing beyond U+10FFFF.
        let [low, high] = [equal(bytes, 0xE0), equal(bytes, 0xED)];
        if low | high != 0 {
            wrong |= _mm512_mask_cmplt_epu8_mask(low, next, every(0xA0));
            wrong |= _mm512_mask_cmpge_epu8_mask(high, next, every(0xA0));
        }
        if four != 0 {
            let [low, high] = [equal(bytes, 0xF0), equal(bytes, 0xF4)];
            wrong |= _mm512_mask_cmplt_epu8_mask(low, next, every(0x90));
            wrong |= _mm512_mask_cmpge_epu8_mask(high, next, every(0x90));
            wrong |= _mm512_cmpge_epu8_mask(bytes, every(0xF5));
        }
        wrong |= match T::BYTES {
            1 => _mm512_cmpge_epu8_mask(bytes, every(0xC4)),
            2 => four,
            _ => 0,
        };
        // The character that is cut begins where no other goes on.
        let checked = u64::MAX >> (WINDOW - 1 - read.min(WINDOW - 1));
        (wrong & checked == 0).then_some(Found { starts: whole & !inside, read })
    }

    /// Writes the characters that begin at `found.starts`, and some units behind them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    fn put<T: Unit>(window: &[u8; REACH], found: &Found, out: &mut [MaybeUninit<T>; WRITTEN]) {
        if found.starts == u64::MAX {
            return widen(window, out);
        }
        let mut at = 0;
        for sixteen in 0..WINDOW / LANES {
            let starts = (found.starts >> (LANES * sixteen)) as u16;
            // SAFETY: this reads 32 bytes of the window's 80, from the 48th at most; before the last sixteen bytes are
            // at most 48 characters, and sixteen units are written behind them.
            unsafe {
                let codes = codes(window.as_ptr().add(LANES * sixteen));
                store::<T>(_mm512_maskz_compress_epi32(starts, codes), out.as_mut_ptr().add(at));
            }
            at += starts.count_ones() as usize;
        }
    }

    /// Writes sixteen characters of three bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    fn threes<T: Unit>(window: &[u8; REACH], out: &mut [MaybeUninit<T>; LANES]) {
        // Twelve bytes a lane, and of those four bytes for each character, the first highest.
        let twelves = _mm512_set_epi32(0, 11, 10, 9, 0, 8, 7, 6, 0, 5, 4, 3, 0, 2, 1, 0);
        let order =
            _mm512_broadcast_i32x4(_mm_set_epi8(-1, 9, 10, 11, -1, 6, 7, 8, -1, 3, 4, 5, -1, 0, 1, 2));
        // SAFETY: 64 of the 80 bytes are read; sixteen units are written.
        unsafe {
            let bytes = _mm512_loadu_si512(window.as_ptr().cast());
            let places = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(twelves, bytes), order);
            let bits = _mm512_and_si512(places, _mm512_set1_epi32(0x000F_3F3F));
            store::<T>(joined(bits), out.as_mut_ptr());
        }
    }

    /// Six bits of each of four bytes, the highest first, as one number.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    fn joined(bits: __m512i) -> __m512i {
        let twice = _mm512_maddubs_epi16(bits, _mm512_set1_epi16(0x4001));
        _mm512_madd_epi16(twice, _mm512_set1_epi32(0x1000_0001))
    }

    /// Writes 64 ASCII characters.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    fn widen<T: Unit>(window: &[u8; REACH], out: &mut [MaybeUninit<T>; WRITTEN]) {
        let (from, to) = (window.as_ptr(), out.as_mut_ptr());
        for at in (0..WINDOW).step_by(LANES) {
            // SAFETY: sixteen bytes are read and as many units written, of 64 each.
            unsafe {
                let bytes = _mm_loadu_si128(from.add(at).cast());
                match T::BYTES {
                    1 => _mm_storeu_si128(to.add(at).cast(), bytes),
                    2 => _mm256_storeu_si256(to.add(at).cast(), _mm256_cvtepu8_epi16(bytes)),
                    _ => _mm512_storeu_si512(to.add(at).cast(), _mm512_cvtepu8_epi32(bytes)),
                }
            }
        }
    }

    /// The character that begins at each of sixteen bytes, if one does.
    ///
    /// # Safety
    /// There are 32 bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    unsafe fn codes(from: *const u8) -> __m512i {
        // SAFETY: as said.
        let bytes = unsafe { _mm512_castsi256_si512(_mm256_loadu_si256(from.cast())) };
        // Four bytes for each place, that of the place highest.
        let fours = _mm512_set_epi32(3, 3, 4, 3, 2, 2, 3, 2, 1, 1, 2, 1, 0, 0, 1, 0);
        let order = _mm512_broadcast_i32x4(_mm_set_epi8(3, 4, 5, 6, 2, 3, 4, 5, 1, 2, 3, 4, 0, 1, 2, 3));
        let places = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(fours, bytes), order);
        // By the upper half of the first byte: what bits of it count, and how many places of six bits are too many.
        let (one, two, three, four) = (0x7F3F_3F3F, 0x1F3F_3F3F, 0x0F3F_3F3F, 0x073F_3F3F);
        let kept = _mm512_set_epi32(
            four, three, two, two, one, one, one, one, one, one, one, one, one, one, one, one,
        );
        let much = _mm512_set_epi32(0, 6, 12, 12, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18);
        let half = _mm512_srli_epi32::<28>(places);
        let bits = _mm512_and_si512(places, _mm512_permutexvar_epi32(half, kept));
        _mm512_srlv_epi32(joined(bits), _mm512_permutexvar_epi32(half, much))
    }

    /// Writes sixteen units.
    ///
    /// # Safety
    /// There is room.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    unsafe fn store<T: Unit>(codes: __m512i, to: *mut MaybeUninit<T>) {
        // SAFETY: as said; each arm writes sixteen of its size.
        unsafe {
            match T::BYTES {
                1 => _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(codes)),
                2 => _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(codes)),
                _ => _mm512_storeu_si512(to.cast(), codes),
            }
        }
    }
}

#[cfg(test)]
mod tests;
