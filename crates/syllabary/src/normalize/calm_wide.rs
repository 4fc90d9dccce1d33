//! The same as `calm`, 64 bytes at a time, with AVX-512 VBMI.
//!
//! ```text
//! a byte that begins a character: is that calm?  ASCII by comparing, two bytes by a table of 2,048 bits that lies in registers,
//! three bytes by whether all 64 that begin with the same two are, or none; only of the others the bit is looked up
//! ```
//!
//! What is left are the few characters that change, and spaces that go, as bits of one number; between them text is copied. Leaves
//! out what those become (`Calm::single`).

use std::arch::x86_64::{
    __m512i, __mmask64, _mm512_and_si512, _mm512_cmpeq_epi8_mask, _mm512_cmpge_epu8_mask,
    _mm512_cmplt_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_mask_mov_epi8, _mm512_mask_permutexvar_epi8,
    _mm512_maskz_compress_epi8, _mm512_maskz_permutexvar_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_storeu_si512, _mm512_test_epi8_mask,
};

use super::{
    calm::{BITS, Calm, Reached, STEP, decode},
    calm_narrow::{Changed, Narrow, load, load_all},
};
use crate::split::has_vbmi;

/// Bytes that are looked at together.
const BLOCK: usize = 64;
/// No character is longer.
const WIDEST: usize = 4;

/// First bytes of characters of which often some of 64 are calm, and others are not.
const FINE: [u8; 3] = [0xE1, 0xE2, 0xE3];

/// Which characters are calm, by their second byte: a bit for each of eight first bytes. Exists only where the processor has the
/// instructions.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Wide {
    /// Of two bytes, from C0, C8, D0 and D8 on.
    two: [[u8; BLOCK]; 4],
    /// Of three bytes, from E0 and E8 on: whether all are; whether some are.
    three: [[u8; BLOCK]; 2],
    some: [[u8; BLOCK]; 2],
    /// Of three bytes, from E1, E2 and E3 on, by the eight of which the third byte is: a bit for each.
    third: [[[u8; BLOCK]; 8]; FINE.len()],
    /// The bit of a first byte, or of a third.
    bit: [u8; BLOCK],
    /// Characters that become one byte.
    narrow: Narrow,
}

/// A block: where characters begin, which of them are not calm, and spaces.
#[derive(Clone, Copy, Debug)]
struct Block {
    begins: u64,
    strange: u64,
    spaces: u64,
}

/// Where one is: in the text and in what is written, when a rule wrote last, and where one was before what was copied last.
struct Walk {
    at: usize,
    after: bool,
    written: usize,
    ruled: usize,
    from: (Reached, usize),
}

impl Wide {
    /// Of a bit for each character of up to three bytes, and what it becomes if that is one byte.
    pub(super) fn new(bits: &[u64; BITS / 64], made: impl Fn(usize) -> Option<u8>) -> Option<Box<Wide>> {
        let mut wide = Wide {
            two: [[0; BLOCK]; 4],
            three: [[0; BLOCK]; 2],
            some: [[0; BLOCK]; 2],
            third: [[[0; BLOCK]; 8]; FINE.len()],
            bit: [0; BLOCK],
            narrow: Narrow::new(made),
        };
        for second in 0..BLOCK {
            wide.bit[second] = 1 << (second % 8);
            for (first, page) in bits[..32].iter().enumerate() {
                let is_calm = page >> second & 1 == 1;
                wide.two[first / 8][second] |= u8::from(is_calm) << (first % 8);
            }
            for first in 0..16 {
                let page = bits[first << 6 | second];
                wide.three[first / 8][second] |= u8::from(page == u64::MAX) << (first % 8);
                wide.some[first / 8][second] |= u8::from(page != 0) << (first % 8);
            }
            for (rows, first) in wide.third.iter_mut().zip(FINE) {
                let page = bits[usize::from(first & 0x0F) << 6 | second];
                rows.iter_mut().zip(page.to_le_bytes()).for_each(|(row, eight)| row[second] = eight);
            }
        }
        has_vbmi().then(|| Box::new(wide))
    }

    /// As `Calm::put`.
    pub(super) fn put(
        &self,
        calm: &Calm,
        text: &[u8],
        from: Reached,
        squeezes: bool,
        out: &mut Vec<u8>,
    ) -> (Reached, usize, usize) {
        // SAFETY: this exists, so the processor has all features that the function has.
        unsafe { self.walk(calm, text, from, squeezes, out) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn walk(
        &self,
        calm: &Calm,
        text: &[u8],
        from: Reached,
        squeezes: bool,
        out: &mut Vec<u8>,
    ) -> (Reached, usize, usize) {
        let Reached { at, after_space: after } = from;
        let mut walk = Walk { at, after, written: out.len(), ruled: 0, from: (from, out.len()) };
        while walk.at < text.len() {
            let block = self.look(calm, &text[walk.at..]);
            if let Some((reached, written)) = walk.block((calm, &self.narrow), text, block, squeezes, out) {
                return (reached, written, walk.ruled);
            }
        }
        (Reached { at: walk.at, after_space: walk.after }, walk.written, walk.ruled)
    }

    /// What the characters are that text begins with.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn look(&self, calm: &Calm, text: &[u8]) -> Block {
        let (first, second) = (load(text), load(text.get(1..).unwrap_or_default()));
        let set = |byte: u8| _mm512_set1_epi8(byte as i8);
        let begins = !_mm512_cmplt_epi8_mask(first, set(0xC0));
        let wide = _mm512_cmpge_epu8_mask(first, set(0xC0));
        let plain = _mm512_cmpge_epu8_mask(first, set(0x20)) & _mm512_cmplt_epu8_mask(first, set(0x7F));
        let spaces = _mm512_cmpeq_epi8_mask(first, set(b' '));
        let mut strange = begins & !plain;
        // Those that become a byte are not calm.
        let (controls, _) = self.narrow.controls(first, strange);
        let mut unsure = strange & !wide & !controls;
        if wide != 0 {
            let eight = _mm512_and_si512(first, set(0xF8));
            let of = |byte: u8| _mm512_cmpeq_epi8_mask(eight, set(byte));
            let table = |row: &[u8; BLOCK]| load_all(row);
            let found = _mm512_maskz_permutexvar_epi8(of(0xC0), second, table(&self.two[0]));
            let found = _mm512_mask_permutexvar_epi8(found, of(0xC8), second, table(&self.two[1]));
            let found = _mm512_mask_permutexvar_epi8(found, of(0xD0), second, table(&self.two[2]));
            let found = _mm512_mask_permutexvar_epi8(found, of(0xD8), second, table(&self.two[3]));
            let found = _mm512_mask_permutexvar_epi8(found, of(0xE0), second, table(&self.three[0]));
            let found = _mm512_mask_permutexvar_epi8(found, of(0xE8), second, table(&self.three[1]));
            let some = _mm512_maskz_permutexvar_epi8(of(0xE0), second, table(&self.some[0]));
            let some = _mm512_mask_permutexvar_epi8(some, of(0xE8), second, table(&self.some[1]));
            let bit = _mm512_permutexvar_epi8(first, table(&self.bit));
            strange &= !_mm512_test_epi8_mask(found, bit);
            unsure |= strange & _mm512_test_epi8_mask(some, bit);
        }
        if unsure != 0 {
            let third = load(text.get(2..).unwrap_or_default());
            for (rows, byte) in self.third.iter().zip(FINE) {
                let lanes = unsure & _mm512_cmpeq_epi8_mask(first, set(byte));
                if lanes != 0 {
                    strange &= !(lanes & self.are_calm(rows, second, third));
                    unsure &= !lanes;
                }
            }
        }
        while unsure != 0 {
            let place = unsure.trailing_zeros() as usize;
            if let Some(four) = text.get(place..).and_then(<[u8]>::first_chunk::<WIDEST>) {
                let (code, _) = decode(u32::from_le_bytes(*four));
                strange ^= u64::from(calm.is_calm(code)) << place;
            }
            unsure &= unsure - 1;
        }
        Block { begins, strange, spaces }
    }

    /// Which characters of three bytes are calm, by the rows of their first.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn are_calm(&self, rows: &[[u8; BLOCK]; 8], second: __m512i, third: __m512i) -> __mmask64 {
        let eight = _mm512_and_si512(third, _mm512_set1_epi8(0x38));
        let mut found = _mm512_set1_epi8(0);
        for (row, number) in rows.iter().zip(0..) {
            let here = _mm512_cmpeq_epi8_mask(eight, _mm512_set1_epi8(number << 3));
            found = _mm512_mask_permutexvar_epi8(found, here, second, load_all(row));
        }
        _mm512_test_epi8_mask(found, _mm512_permutexvar_epi8(third, load_all(&self.bit)))
    }
}

impl Walk {
    /// Writes a block; if all has to end in it, what is reached, and the length of what is written then.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn block(
        &mut self,
        (calm, narrow): (&Calm, &Narrow),
        text: &[u8],
        block: Block,
        squeezes: bool,
        out: &mut Vec<u8>,
    ) -> Option<(Reached, usize)> {
        let Block { begins, strange, spaces } = block;
        let bytes = &text[self.at..];
        // What begins behind it may end in the next block.
        let whole = BLOCK + 1 - WIDEST;
        let stop = (whole + (begins >> whole).trailing_zeros() as usize).min(BLOCK).min(bytes.len());
        let events = strange | if squeezes { spaces & spaces << 1 } else { 0 };
        if events != 0 && self.patch((calm, narrow), bytes, (block, stop), squeezes, out) {
            self.at += stop;
            return None;
        }
        let mut place = 0;
        while place < stop {
            if self.written + 2 * BLOCK > out.len() {
                out.resize(self.written + STEP, 0);
            }
            // A space may go because of what a rule wrote.
            let left = events >> place | u64::from(self.after) & spaces >> place;
            let end = (place + left.trailing_zeros() as usize).min(stop);
            if end > place {
                self.copy(bytes, (place, end), spaces, squeezes, out);
            }
            if end == stop {
                place = stop;
                break;
            }
            if spaces >> end & 1 == 1 {
                // All of a run of them go.
                place = (end + (spaces >> end).trailing_ones() as usize).min(stop);
                (self.after, self.from) =
                    (true, (Reached { at: self.at + place, after_space: true }, self.written));
                continue;
            }
            match self.change(calm, text, self.at + end, squeezes, out) {
                Ok(width) => place = end + width,
                Err(reached) => return Some(reached),
            }
            self.from = (Reached { at: self.at + place, after_space: self.after }, self.written);
        }
        self.at += place;
        None
    }

    /// Writes a block, if no character of it becomes longer, and none is not to be told here: then all at once.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn patch(
        &mut self,
        (calm, narrow): (&Calm, &Narrow),
        bytes: &[u8],
        (block, stop): (Block, usize),
        squeezes: bool,
        out: &mut Vec<u8>,
    ) -> bool {
        let below = |place: usize| if place < BLOCK { (1u64 << place) - 1 } else { u64::MAX };
        let strange = block.strange & below(stop);
        // The last characters of a text are not told here.
        let sure = strange & below((bytes.len() + 1).saturating_sub(WIDEST));
        let behind = |count: usize| load(bytes.get(count..).unwrap_or_default());
        let Changed { bytes: mut made, controls, forms } = narrow.change(load(bytes), behind, sure);
        let mut kept = below(stop) & !(forms << 1 | forms << 2);
        let mut changed = BLOCK - (controls | forms << 2).leading_zeros() as usize;
        let mut rest = strange & !(controls | forms);
        while rest != 0 {
            let place = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let Some(&four) = bytes[place..].first_chunk::<WIDEST>() else { return false };
            let (code, width) = decode(u32::from_le_bytes(four));
            let [text @ .., length] = calm.few(code).to_le_bytes();
            let length = usize::from(length);
            // One more than it has bytes, or none.
            if four[0] >= 0xF0 || calm.joins(code) || length == 0 || length > width + 1 {
                return false;
            }
            made = _mm512_mask_mov_epi8(made, 1 << place, _mm512_set1_epi8(text[0] as i8));
            if length > 2 {
                made = _mm512_mask_mov_epi8(made, 1 << (place + 1), _mm512_set1_epi8(text[1] as i8));
            }
            if length > 3 {
                made = _mm512_mask_mov_epi8(made, 1 << (place + 2), _mm512_set1_epi8(text[2] as i8));
            }
            kept &= !(below(place + width) & !below(place + length - 1));
            changed = changed.max(place + width);
        }
        if self.written + 2 * BLOCK > out.len() {
            out.resize(self.written + STEP, 0);
        }
        self.put(made, (kept, changed), (block, stop), squeezes, out);
        true
    }

    /// Writes what is kept of bytes, but for spaces behind others, and notes what is reached; rules made those up to `changed`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn put(
        &mut self,
        made: __m512i,
        (kept, changed): (u64, usize),
        (block, stop): (Block, usize),
        squeezes: bool,
        out: &mut [u8],
    ) {
        let below = |place: usize| if place < BLOCK { (1u64 << place) - 1 } else { u64::MAX };
        let (made, count) = (_mm512_maskz_compress_epi8(kept, made), kept.count_ones() as usize);
        let spaces = _mm512_cmpeq_epi8_mask(made, _mm512_set1_epi8(b' ' as i8)) & below(count);
        let gone = if squeezes { spaces & (spaces << 1 | u64::from(self.after)) } else { 0 };
        let made = _mm512_maskz_compress_epi8(!gone, made);
        let room = &mut out[self.written..self.written + BLOCK];
        // SAFETY: there is room for 64 bytes.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), made) };
        if changed > 0 {
            let ruled = (kept & below(changed)).count_ones();
            self.ruled = self.written + (ruled - (gone & below(ruled as usize)).count_ones()) as usize;
        }
        let written = count - gone.count_ones() as usize;
        let last = BLOCK - 1 - (block.begins & below(stop)).leading_zeros() as usize;
        let width = stop - last;
        let ends_in_space = count > 0 && spaces >> (count - 1) & 1 == 1;
        let is_gone = count > 0 && gone >> (count - 1) & 1 == 1;
        let before = self.after;
        self.after = if count > 0 { squeezes & ends_in_space } else { before };
        self.from = if block.strange >> last & 1 == 1 || is_gone {
            (Reached { at: self.at + stop, after_space: self.after }, self.written + written)
        } else {
            let after_space =
                if count > width { squeezes & (spaces >> (count - width - 1) & 1 == 1) } else { before };
            (Reached { at: self.at + last, after_space }, self.written + written - width)
        };
        self.written += written;
    }

    /// Writes what becomes of the character at a place, which is not calm; its width, or, if that cannot be told here, what is
    /// reached.
    #[inline]
    fn change(
        &mut self,
        calm: &Calm,
        text: &[u8],
        at: usize,
        squeezes: bool,
        out: &mut [u8],
    ) -> Result<usize, (Reached, usize)> {
        let four = text[at..].first_chunk::<WIDEST>().filter(|four| four[0] < 0xF0);
        let known = four.map(|four| decode(u32::from_le_bytes(*four))).filter(|&(code, _)| !calm.joins(code));
        let Some((code, width)) = known else { return Err(self.before(text, at, squeezes)) };
        match calm.single(code, (self.written, self.after), squeezes, out) {
            None => Err((Reached { at, after_space: self.after }, self.written)),
            Some(made) => {
                (self.written, self.after) = made;
                self.ruled = self.written;
                Ok(width)
            }
        }
    }

    /// Writes what stands from one place of a block to another, and is calm.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn copy(
        &mut self,
        bytes: &[u8],
        (place, end): (usize, usize),
        spaces: u64,
        squeezes: bool,
        out: &mut [u8],
    ) {
        let copied = load(&bytes[place..]);
        let room = &mut out[self.written..self.written + BLOCK];
        // SAFETY: there is room for 64 bytes.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), copied) };
        self.from = (Reached { at: self.at + place, after_space: self.after }, self.written);
        self.written += end - place;
        self.after = squeezes & (spaces >> (end - 1) & 1 == 1);
    }

    /// As all was before the last character before a place, as far as that was copied.
    #[cold]
    fn before(&self, text: &[u8], at: usize, squeezes: bool) -> (Reached, usize) {
        let (from, written) = self.from;
        let copied = &text[from.at..at];
        let Some(last) = copied.iter().rposition(|byte| byte & 0xC0 != 0x80).filter(|&last| last > 0) else {
            return self.from;
        };
        let after_space = squeezes && copied[last - 1] == b' ';
        (Reached { at: from.at + last, after_space }, written + last)
    }
}
