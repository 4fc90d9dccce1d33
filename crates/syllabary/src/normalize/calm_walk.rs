//! Writing blocks of which `calm_wide` has told what their characters are.
//!
//! Between the few characters that change, and spaces that go, text is copied. Leaves out what those become (`Calm::single`).

use std::arch::x86_64::{
    __m512i, _mm512_cmpeq_epi8_mask, _mm512_mask_mov_epi8, _mm512_maskz_compress_epi8, _mm512_set1_epi8,
    _mm512_storeu_si512,
};

use super::{
    calm::{Calm, Reached, STEP, decode},
    calm_narrow::{Changed, Narrow, load},
};

/// Bytes that are looked at together.
pub(super) const BLOCK: usize = 64;
/// No character is longer.
pub(super) const WIDEST: usize = 4;

/// A block of so many bytes: where characters begin, which of them are not calm, of these those that may be behind others, and
/// spaces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    pub(super) length: usize,
    pub(super) begins: u64,
    pub(super) strange: u64,
    pub(super) joins: u64,
    pub(super) spaces: u64,
}

impl Block {
    /// Makes those calm of which it is said that they stay as they are.
    #[inline(always)]
    pub(super) fn settle(&mut self, stays: impl Fn(usize) -> bool) {
        let strange = self.settled(stays);
        (self.strange, self.joins) = (strange, self.joins & strange);
    }

    /// Which are not calm but for those.
    #[inline(always)]
    pub(super) fn settled(&self, stays: impl Fn(usize) -> bool) -> u64 {
        let (mut strange, mut rest) = (self.strange, self.joins);
        while rest != 0 {
            let place = rest.trailing_zeros();
            rest &= rest - 1;
            strange ^= u64::from(stays(place as usize)) << place;
        }
        strange
    }

    /// Takes so many bytes from the beginning.
    #[inline(always)]
    pub(super) fn skip(&mut self, bytes: usize) {
        let behind = |bits: u64| bits.checked_shr(bytes as u32).unwrap_or(0);
        *self = Block {
            length: self.length.saturating_sub(bytes),
            begins: behind(self.begins),
            strange: behind(self.strange),
            joins: behind(self.joins),
            spaces: behind(self.spaces),
        };
    }
}

/// Where one is: in the text and in what is written, when a rule wrote last, and where one was before what was copied last.
pub(super) struct Walk {
    pub(super) at: usize,
    pub(super) after: bool,
    pub(super) written: usize,
    pub(super) ruled: usize,
    pub(super) from: (Reached, usize),
}

impl Walk {
    /// Writes a block; if all has to end in it, what is reached, and the length of what is written then.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn block(
        &mut self,
        (calm, narrow): (&Calm, &Narrow),
        text: &[u8],
        block: Block,
        squeezes: bool,
        out: &mut Vec<u8>,
    ) -> Option<(Reached, usize)> {
        let Block { length, begins, strange, joins, spaces } = block;
        let bytes = &text[self.at..];
        // What begins behind it may end in the next block.
        let whole = length + 1 - WIDEST;
        let stop = (whole + (begins >> whole).trailing_zeros() as usize).min(length).min(bytes.len());
        let events = strange | if squeezes { spaces & spaces << 1 } else { 0 };
        if events != 0 && joins == 0 && self.patch((calm, narrow), bytes, (block, stop), squeezes, out) {
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
            let [text @ .., length] = calm.few(code, bytes, place + width).to_le_bytes();
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
        match calm.single((code, text, at + width), (self.written, self.after), squeezes, out) {
            None => Err((Reached { at, after_space: self.after }, self.written)),
            Some(made) => {
                (self.written, self.after) = made;
                self.ruled = self.written;
                Ok(width)
            }
        }
    }

    /// Goes on where others have written.
    pub(super) fn go_on(&mut self, from: (Reached, usize)) {
        (Reached { at: self.at, after_space: self.after }, self.written) = from;
        self.from = from;
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
