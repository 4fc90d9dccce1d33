//! Text that a character map leaves alone, or changes character by character.
//!
//! Most characters are calm: no rule is for one alone, and none has one behind its first; so a stretch of them stays as
//! it is, but for its last one, which may begin a rule with what comes next. Others begin one rule, which is for them
//! alone. Both are written without a search, a bit for each character says which it is; of plain ASCII 32 bytes at
//! once. Leaves out all other rules (`charsmap`) and characters of four bytes.

use rustc_hash::FxHashMap;

#[cfg(simd_x86)]
use super::calm_wide::Wide;

/// Characters below have a bit.
pub(super) const BITS: usize = 1 << 16;
/// Bytes of ASCII that are written together.
pub(super) const BLOCK: usize = 32;
/// No rule of a longer text is written here.
pub(super) const LONGEST: usize = BLOCK;
/// A space, put together.
const SPACE: u32 = 2 << 24 | b' ' as u32;
/// Room is made for so many bytes.
pub(super) const STEP: usize = 512;

/// What is known of single characters.
pub(super) struct Calm {
    bits: Box<[u64; BITS / 64]>,
    /// Whether all from space to `~` are calm.
    printable: bool,
    /// What characters become that begin one rule, which is for them alone: at most `LONGEST` bytes, and a space or none.
    singles: FxHashMap<usize, Box<str>>,
    /// Those of them of up to three bytes, in pages of 64 characters: `put_together`, or 0. The first page has none.
    pages: Box<[u16; BITS / 64]>,
    few: Vec<[u32; 64]>,
    /// Whether all from U+4000 to U+9FFF, most of Chinese, are calm.
    han: bool,
    /// Characters that stand behind the first of a rule.
    joins: Box<[u64; BITS / 64]>,
    /// The same, to be asked for 64 bytes at once.
    #[cfg(simd_x86)]
    wide: Option<Box<Wide>>,
}

/// How far a text is written, and whether behind a space that takes in those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) at: usize,
    pub(super) after_space: bool,
}

/// The character that these four bytes begin with, and its width; one of four bytes is another one.
#[inline]
pub(super) fn decode(bytes: u32) -> (usize, usize) {
    let byte = |at: u32| bytes >> (8 * at) & 0xFF;
    let (is_two, is_three) = (byte(0) >= 0xC0, byte(0) >= 0xE0);
    let two = (byte(0) & 0x1F) << 6 | byte(1) & 0x3F;
    let three = two << 6 | byte(2) & 0x3F;
    // No branches: which width comes next is not to be foretold.
    let code = if is_two { two } else { byte(0) };
    let code = if is_three { three } else { code };
    (usize::from(code as u16), 1 + usize::from(is_two) + usize::from(is_three))
}

/// As bits, which bytes are not from space to `~`, and which are spaces.
#[cfg(simd_x86)]
#[inline]
pub(super) fn classes(block: &[u8; BLOCK]) -> (u32, u32) {
    use std::arch::x86_64::*;
    let class = |half: usize| {
        // SAFETY: the block has 32 bytes, and SSE2 is part of x86-64.
        unsafe {
            let bytes = _mm_loadu_si128(block.as_ptr().add(16 * half).cast());
            // As signed numbers, those from 128 on are below all.
            let low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
            let strange = _mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F)));
            let spaces = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x20));
            (_mm_movemask_epi8(strange) as u32, _mm_movemask_epi8(spaces) as u32)
        }
    };
    let (low, high) = (class(0), class(1));
    (low.0 | high.0 << 16, low.1 | high.1 << 16)
}

#[cfg(not(simd_x86))]
#[inline]
pub(super) fn classes(block: &[u8; BLOCK]) -> (u32, u32) {
    by_bytes(block)
}

/// The same byte by byte.
#[cfg(any(test, not(simd_x86)))]
pub(super) fn by_bytes(block: &[u8; BLOCK]) -> (u32, u32) {
    block.iter().rev().fold((0, 0), |(strange, spaces), byte| {
        let is_strange = !(b' '..0x7F).contains(byte);
        (strange << 1 | u32::from(is_strange), spaces << 1 | u32::from(*byte == b' '))
    })
}

/// Up to three bytes and one more than their number, in the highest byte.
fn put_together(text: &[u8]) -> Option<u32> {
    let bytes = text.iter().rev().fold(0, |bytes, byte| bytes << 8 | u32::from(*byte));
    (text.len() < 4).then_some(bytes | (text.len() as u32 + 1) << 24)
}

/// What characters become, if that is put together, by their pages.
fn in_pages(singles: &FxHashMap<usize, Box<str>>) -> (Box<[u16; BITS / 64]>, Vec<[u32; 64]>) {
    let (mut pages, mut few) = (Box::new([0; BITS / 64]), vec![[0; 64]]);
    for (&code, made) in singles {
        if let (Some(made), Some(page)) = (put_together(made.as_bytes()), pages.get_mut(code / 64)) {
            if *page == 0 {
                *page = few.len() as u16;
                few.push([0; 64]);
            }
            few[usize::from(*page)][code % 64] = made;
        }
    }
    (pages, few)
}

/// The bytes, as bits, that are in no character from U+4000 to U+9FFF.
#[cfg(simd_x86)]
#[inline]
pub(super) fn not_han(block: &[u8; BLOCK]) -> u32 {
    use std::arch::x86_64::*;
    let half = |at: usize| {
        // SAFETY: the block has 32 bytes, and SSE2 is part of x86-64.
        unsafe {
            let bytes = _mm_loadu_si128(block.as_ptr().add(at).cast());
            // As signed numbers, bytes within a character are the lowest.
            let within = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0xC0u8 as i8));
            let from = _mm_cmpgt_epi8(bytes, _mm_set1_epi8(0xE3u8 as i8));
            let to = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0xEAu8 as i8));
            _mm_movemask_epi8(_mm_or_si128(within, _mm_and_si128(from, to))) as u32
        }
    };
    !(half(0) | half(16) << 16)
}

#[cfg(not(simd_x86))]
#[inline]
pub(super) fn not_han(block: &[u8; BLOCK]) -> u32 {
    not_han_by_bytes(block)
}

/// The same byte by byte.
#[cfg(any(test, not(simd_x86)))]
pub(super) fn not_han_by_bytes(block: &[u8; BLOCK]) -> u32 {
    block.iter().rev().fold(0, |bits, byte| bits << 1 | u32::from(!matches!(byte, 0x80..0xC0 | 0xE4..0xEA)))
}

impl Calm {
    /// Of the characters for which these are true, and single ones with what they become.
    pub(super) fn new(
        is_calm: impl Fn(usize) -> bool,
        joins: impl Fn(usize) -> bool,
        singles: FxHashMap<usize, Box<str>>,
    ) -> Calm {
        let bits = |is: &dyn Fn(usize) -> bool| {
            let mut bits = Box::new([0; BITS / 64]);
            (0..BITS).filter(|&code| is(code)).for_each(|code| bits[code / 64] |= 1 << (code % 64));
            bits
        };
        let (pages, few) = in_pages(&singles);
        let (bits, joins, printable) = (bits(&is_calm), bits(&joins), (0x20..0x7F).all(&is_calm));
        #[cfg(simd_x86)]
        let narrow = |code: usize| {
            let [byte, .., length] = few[usize::from(pages[code / 64])][code % 64].to_le_bytes();
            (length == 2 && joins[code / 64] >> (code % 64) & 1 == 0).then_some(byte)
        };
        Calm {
            #[cfg(simd_x86)]
            wide: Some(&bits).filter(|_| printable).and_then(|bits| Wide::new(bits, narrow)),
            bits,
            printable,
            han: (0x4000..0xA000).all(&is_calm),
            singles,
            pages,
            few,
            joins,
        }
    }

    /// Writes what becomes of `text` behind `out`, from what is reached on as far as can be told here; `None` if a rule
    /// made it longer than `limit`. `squeezes`: of several spaces one is written.
    pub(super) fn write(
        &self,
        text: &str,
        from: Reached,
        (squeezes, limit): (bool, usize),
        out: &mut String,
    ) -> Option<Reached> {
        let mut bytes = std::mem::take(out).into_bytes();
        let (reached, written, ruled) = self.put_here(text.as_bytes(), from, squeezes, &mut bytes);
        bytes.truncate(written);
        debug_assert!(std::str::from_utf8(&bytes).is_ok());
        // SAFETY: they are whole characters of a text and whole texts of rules, behind what was text.
        *out = unsafe { String::from_utf8_unchecked(bytes) };
        (ruled <= limit).then_some(reached)
    }

    /// Whether a character is calm.
    #[inline]
    pub(super) fn is_calm(&self, code: usize) -> bool {
        self.bits[code / 64] >> (code % 64) & 1 == 1
    }

    /// Whether it stands behind the first of a rule.
    #[inline]
    pub(super) fn joins(&self, code: usize) -> bool {
        self.joins[code / 64] >> (code % 64) & 1 == 1
    }

    /// `put`, as fast as the processor can.
    fn put_here(
        &self,
        text: &[u8],
        from: Reached,
        squeezes: bool,
        out: &mut Vec<u8>,
    ) -> (Reached, usize, usize) {
        #[cfg(simd_x86)]
        if let Some(wide) = &self.wide {
            return wide.put(self, text, from, squeezes, out);
        }
        self.put(text, from, squeezes, out)
    }

    /// The same: what is reached, and the length of `out`, which has more behind it, then and when a rule wrote last.
    pub(super) fn put(
        &self,
        text: &[u8],
        from: Reached,
        squeezes: bool,
        out: &mut Vec<u8>,
    ) -> (Reached, usize, usize) {
        let (Reached { mut at, after_space: mut after }, mut written, mut ruled) = (from, out.len(), 0);
        // As all was before the last character, which may begin a rule with the next.
        let mut before = (from, written);
        let told = |at: usize, after_space: bool| Reached { at, after_space };
        loop {
            if written + 2 * BLOCK > out.len() {
                out.resize(written + STEP, 0);
            }
            let Some(four) = text.get(at..).and_then(<[u8]>::first_chunk::<4>) else {
                let (reached, length) = if at < text.len() { before } else { (told(at, after), written) };
                return (reached, length, ruled);
            };
            if (u32::from_le_bytes(*four) & 0x8080_8080 == 0) & self.printable & squeezes
                && let Some(block) = text[at..].first_chunk::<BLOCK>()
            {
                let (strange, spaces) = classes(block);
                let plain = (strange | spaces & (spaces << 1 | u32::from(after))).trailing_zeros() as usize;
                if plain > 0 {
                    out[written..written + BLOCK].copy_from_slice(block);
                    (at, written) = (at + plain, written + plain);
                    let ahead = if plain > 1 { block[plain - 2] == b' ' } else { after };
                    before = (told(at - 1, ahead), written - 1);
                    after = block[plain - 1] == b' ';
                    continue;
                }
                let skipped = if after { spaces.trailing_ones() as usize } else { 0 };
                if skipped > 0 {
                    at += skipped;
                    before = (told(at - 1, true), written);
                    continue;
                }
            }
            if let Some((block, plain)) = self.han(text, at) {
                out[written..written + BLOCK].copy_from_slice(block);
                (at, written, after) = (at + plain, written + plain, false);
                before = (told(at - 3, false), written - 3);
                continue;
            }
            let (code, width) = decode(u32::from_le_bytes(*four));
            if self.is_calm(code) & (four[0] < 0xF0) {
                let is_space = four[0] == b' ';
                before = (told(at, after), written);
                out[written..written + 4].copy_from_slice(four);
                written += if is_space & after { 0 } else { width };
                (at, after) = (at + width, is_space & squeezes);
                continue;
            }
            if four[0] >= 0xF0 || self.joins(code) {
                return (before.0, before.1, ruled);
            }
            let Some(made) = self.single(code, (written, after), squeezes, out) else {
                return (told(at, after), written, ruled);
            };
            (written, after) = made;
            (at, ruled) = (at + width, written);
            before = (told(at, after), written);
        }
    }

    /// The block from byte `at` on, and how many bytes of it, more than one character, are calm Chinese.
    #[inline]
    fn han<'t>(&self, text: &'t [u8], at: usize) -> Option<(&'t [u8; BLOCK], usize)> {
        if !self.han || !matches!(text[at], 0xE4..0xEA) {
            return None;
        }
        let block = text[at..].first_chunk::<BLOCK>()?;
        // Whole characters of three bytes stand before one that is another.
        let plain = not_han(block).trailing_zeros() as usize / 3 * 3;
        (plain > 3).then_some((block, plain))
    }

    /// What becomes of a character, `put_together`; 0 if that is not known.
    #[inline]
    pub(super) fn few(&self, code: usize) -> u32 {
        self.few[usize::from(self.pages[code / 64])][code % 64]
    }

    /// Writes what becomes of a character that begins one rule, which is for it alone, behind so many bytes of `out`, and maybe
    /// behind a space that takes in those after it; the same then. `None`: it begins others.
    #[inline]
    pub(super) fn single(
        &self,
        code: usize,
        (written, after): (usize, bool),
        squeezes: bool,
        out: &mut [u8],
    ) -> Option<(usize, bool)> {
        let made = self.few(code);
        if made == 0 {
            // Longer than a space, and more than nothing.
            let made = self.singles.get(&code)?.as_bytes();
            out[written..written + made.len()].copy_from_slice(made);
            return Some((written + made.len(), false));
        }
        let is_space = made == SPACE;
        let length = if is_space & after { 0 } else { (made >> 24) as usize - 1 };
        out[written..written + 4].copy_from_slice(&made.to_le_bytes());
        Some((written + length, if length == 0 { after } else { squeezes & is_space }))
    }
}
