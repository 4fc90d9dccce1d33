//! Text that a character map leaves alone, or changes character by character.
//!
//! Most characters are calm: no rule is for one alone, and none has one behind its first; so a stretch of them stays as
//! it is, but for its last one, which may begin a rule with what comes next. Others begin one rule, which is for them
//! alone. Both are written without a search, a bit for each character says which it is; of plain ASCII 32 bytes at
//! once; and so are characters behind others with which they begin no rule (`calm_joins`). Where neither is sure, the
//! longest rule is searched (`charsmap`). Leaves out rules that make long texts, or spaces and more.

use rustc_hash::FxHashMap;

#[cfg(simd_x86)]
use super::calm_wide::Wide;
use super::{
    calm_blocks::{BLOCK, classes, not_han},
    calm_joins::{Joins, Pairs},
    calm_marks::Marks,
};

/// Characters below have a bit.
pub(super) const BITS: usize = 1 << 16;
/// No rule of a longer text is written here.
const LONGEST: usize = BLOCK;
/// A space, put together.
const SPACE: u32 = 2 << 24 | b' ' as u32;
/// The same of what becomes of a character that begins other rules too.
const OPEN: u32 = 1 << 31;
/// Room is made for so many bytes.
pub(super) const STEP: usize = 512;

/// What a rule makes of a character, and whether others begin with it.
pub(super) struct Single {
    pub(super) text: Box<str>,
    pub(super) is_open: bool,
}

/// What is known of single characters.
pub(super) struct Calm {
    bits: Box<[u64; BITS / 64]>,
    /// Whether all from space to `~` are calm.
    printable: bool,
    /// What characters become that have a rule for them alone: at most `LONGEST` bytes, and a space or none.
    singles: FxHashMap<usize, Single>,
    /// Those of them of up to three bytes, in pages of 64 characters: `put_together`, or 0. The first page has none.
    pages: Box<[u16; BITS / 64]>,
    few: Vec<[u32; 64]>,
    /// Whether all from U+4000 to U+9FFF, most of Chinese, are calm.
    han: bool,
    /// Characters that stand behind the first of a rule.
    joins: Joins,
    /// Those of them that a normalization form may leave where they are, if that is what all this is of.
    marks: Option<Marks>,
    /// The same, to be asked for 64 bytes at once.
    #[cfg(simd_x86)]
    wide: Option<Box<Wide>>,
}

/// The rule for the longest beginning of a text: its length and what it becomes.
pub(super) type Longest<'m> = &'m dyn Fn(&[u8]) -> Option<(usize, &'m str)>;

/// How far a text is written, and whether behind a space that takes in those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) at: usize,
    pub(super) after_space: bool,
}

/// The four bytes of a text from one on; behind it are zeros.
#[inline]
pub(super) fn four_at(text: &[u8], at: usize) -> [u8; 4] {
    let (mut four, rest) = ([0; 4], text.get(at..).unwrap_or_default());
    let there = rest.len().min(4);
    four[..there].copy_from_slice(&rest[..there]);
    four
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

/// Whether what a rule makes is written here: it is short, and has no space but as a whole.
pub(super) fn is_simple(made: &str) -> bool {
    made.len() <= LONGEST && (made.len() == 1 || !made.as_bytes().contains(&b' '))
}

/// Up to three bytes and one more than their number, in the highest byte, with `OPEN` where others begin so.
fn put_together(single: &Single) -> Option<u32> {
    let text = single.text.as_bytes();
    let bytes = text.iter().rev().fold(0, |bytes, byte| bytes << 8 | u32::from(*byte));
    let open = if single.is_open { OPEN } else { 0 };
    (text.len() < 4).then_some(open | bytes | (text.len() as u32 + 1) << 24)
}

/// What characters become, if that is put together, by their pages.
fn in_pages(singles: &FxHashMap<usize, Single>) -> (Box<[u16; BITS / 64]>, Vec<[u32; 64]>) {
    let (mut pages, mut few) = (Box::new([0; BITS / 64]), vec![[0; 64]]);
    for (&code, single) in singles {
        if let (Some(made), Some(page)) = (put_together(single), pages.get_mut(code / 64)) {
            if *page == 0 {
                *page = few.len() as u16;
                few.push([0; 64]);
            }
            few[usize::from(*page)][code % 64] = made;
        }
    }
    (pages, few)
}

impl Calm {
    /// Of whether there is a rule for a character alone, what those become, and the pairs of characters with which rules begin.
    pub(super) fn new(
        is_rule: impl Fn(usize) -> bool,
        singles: FxHashMap<usize, Single>,
        pairs: Pairs,
    ) -> Calm {
        let joins = Joins::new(pairs, &is_rule);
        let mut bits = Box::new([0; BITS / 64]);
        let is_calm = |code: &usize| !is_rule(*code) && !joins.has(*code);
        (0..BITS).filter(is_calm).for_each(|code| bits[code / 64] |= 1 << (code % 64));
        let (pages, few) = in_pages(&singles);
        let printable = (0x20..0x7F).all(|code| is_calm(&code));
        #[cfg(simd_x86)]
        let narrow = |code: usize| {
            let [byte, .., length] = few[usize::from(pages[code / 64])][code % 64].to_le_bytes();
            (length == 2 && !joins.has(code)).then_some(byte)
        };
        Calm {
            #[cfg(simd_x86)]
            wide: Some(&bits).filter(|_| printable).and_then(|bits| Wide::new(bits, &joins, narrow)),
            printable,
            han: (0x4000..0xA000).all(|code| is_calm(&code)),
            bits,
            singles,
            pages,
            few,
            joins,
            marks: None,
        }
    }

    /// With what is known of marks.
    pub(super) fn with_marks(self, marks: Marks) -> Calm {
        Calm { marks: Some(marks), ..self }
    }

    /// Writes what becomes of `text` behind `out`, from what is reached on as far as can be told here; `None` if a rule
    /// made it longer than `limit`. `squeezes`: of several spaces one is written.
    pub(super) fn write(
        &self,
        text: &str,
        from: Reached,
        (squeezes, limit): (bool, usize),
        longest: Longest<'_>,
        out: &mut String,
    ) -> Option<Reached> {
        let mut bytes = std::mem::take(out).into_bytes();
        let (reached, written, ruled) = self.put_here((text.as_bytes(), longest), from, squeezes, &mut bytes);
        bytes.truncate(written);
        debug_assert!(std::str::from_utf8(&bytes).is_ok());
        // SAFETY: they are whole characters of a text and whole texts of rules, behind what was text.
        *out = unsafe { String::from_utf8_unchecked(bytes) };
        (ruled <= limit).then_some(reached)
    }

    /// How many bytes of a text from one on are calm characters, or stay as they are, up to the first that does not.
    pub(super) fn kept(&self, text: &[u8]) -> usize {
        #[cfg(simd_x86)]
        if let Some(wide) = &self.wide {
            return wide.kept(self, text);
        }
        let mut at = 0;
        while at < text.len() {
            let four = four_at(text, at);
            let (code, width) = decode(u32::from_le_bytes(four));
            let stays = || self.joins(code) && self.stays(text, at, 0);
            if four[0] >= 0xF0 || !(self.is_calm(code) || stays()) {
                break;
            }
            at += width;
        }
        at
    }

    /// Whether a character is calm.
    #[inline]
    pub(super) fn is_calm(&self, code: usize) -> bool {
        self.bits[code / 64] >> (code % 64) & 1 == 1
    }

    /// Whether it stands behind the first of a rule.
    #[inline]
    pub(super) fn joins(&self, code: usize) -> bool {
        self.joins.has(code)
    }

    /// Whether such a one, at byte `at`, stays as it is, if all is told up to there from byte `start` on.
    #[inline]
    pub(super) fn stays(&self, text: &[u8], at: usize, start: usize) -> bool {
        match &self.marks {
            Some(marks) => marks.stay(text, at, start, |code| self.is_calm(code)),
            None => self.joins.stays(text, at, start, |code| !self.is_calm(code) && !self.joins(code)),
        }
    }

    /// `put`, as fast as the processor can.
    fn put_here(
        &self,
        text: (&[u8], Longest<'_>),
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
        (text, longest): (&[u8], Longest<'_>),
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
                let state = if at < text.len() { before } else { (told(at, after), written) };
                let searched = self.search((text, longest), state, (squeezes, &mut ruled), out);
                let Some(searched) = searched else { return (state.0, state.1, ruled) };
                (Reached { at, after_space: after }, written) = searched;
                before = searched;
                continue;
            };
            if squeezes && let Some((block, plain, skipped)) = self.ascii(text, at, after) {
                if plain > 0 {
                    out[written..written + BLOCK].copy_from_slice(block);
                    (at, written) = (at + plain, written + plain);
                    let ahead = if plain > 1 { block[plain - 2] == b' ' } else { after };
                    before = (told(at - 1, ahead), written - 1);
                    after = block[plain - 1] == b' ';
                    continue;
                }
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
            let is_calm = self.is_calm(code) || self.joins(code) && self.stays(text, at, from.at);
            if is_calm & (four[0] < 0xF0) {
                let is_space = four[0] == b' ';
                before = (told(at, after), written);
                out[written..written + 4].copy_from_slice(four);
                written += if is_space & after { 0 } else { width };
                (at, after) = (at + width, is_space & squeezes);
                continue;
            }
            let joined = four[0] >= 0xF0 || self.joins(code);
            let state = if joined { before } else { (told(at, after), written) };
            let here = (code, text, at + width);
            let made = if joined { None } else { self.single(here, (written, after), squeezes, out) };
            if let Some(made) = made {
                (written, after) = made;
                (at, ruled) = (at + width, written);
            } else {
                let searched = self.search((text, longest), state, (squeezes, &mut ruled), out);
                let Some(searched) = searched else { return (state.0, state.1, ruled) };
                (Reached { at, after_space: after }, written) = searched;
            }
            before = (told(at, after), written);
        }
    }

    /// Writes what the longest rule makes of the beginning of a text from what is reached on, or its first character if there
    /// is none; what is reached, and the length of `out`, then. `None` where that is left to others.
    pub(super) fn search(
        &self,
        (text, longest): (&[u8], Longest<'_>),
        (reached, written): (Reached, usize),
        (squeezes, ruled): (bool, &mut usize),
        out: &mut Vec<u8>,
    ) -> Option<(Reached, usize)> {
        let rest = &text[reached.at..];
        let rule = longest(rest);
        let (width, made) = match rule {
            Some((width, made)) => is_simple(made).then_some((width, made.as_bytes()))?,
            None => {
                let inside = rest.get(1..)?.iter().take_while(|&byte| byte & 0xC0 == 0x80).count();
                (1 + inside, &rest[..1 + inside])
            }
        };
        let is_space = made == b" ";
        let made = if is_space & reached.after_space { &[] } else { made };
        if written + 2 * BLOCK > out.len() {
            out.resize(written + STEP, 0);
        }
        out[written..written + made.len()].copy_from_slice(made);
        let written = written + made.len();
        *ruled = if rule.is_some() { written } else { *ruled };
        let after_space = if made.is_empty() { reached.after_space } else { squeezes & is_space };
        Some((Reached { at: reached.at + width, after_space }, written))
    }

    /// The block from byte `at` on, how many bytes of it are plain ASCII without a space behind another, and how many are
    /// spaces that go, if it begins with four of ASCII.
    #[inline]
    fn ascii<'t>(&self, text: &'t [u8], at: usize, after: bool) -> Option<(&'t [u8; BLOCK], usize, usize)> {
        let block = text[at..].first_chunk::<BLOCK>()?;
        if !self.printable || !block[..4].is_ascii() {
            return None;
        }
        let (strange, spaces) = classes(block);
        let plain = (strange | spaces & (spaces << 1 | u32::from(after))).trailing_zeros() as usize;
        Some((block, plain, if after { spaces.trailing_ones() as usize } else { 0 }))
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

    /// What becomes of a character in which a rule for it alone applies, `put_together`; 0 if that is not known. `after`: the byte
    /// behind it, as it may begin other rules with what is there.
    #[inline]
    pub(super) fn few(&self, code: usize, text: &[u8], after: usize) -> u32 {
        let made = self.few[usize::from(self.pages[code / 64])][code % 64];
        if made & OPEN == 0 || self.ends(text, after) { made & !OPEN } else { 0 }
    }

    /// Whether at this byte is a character that stands behind none with which a rule begins.
    fn ends(&self, text: &[u8], at: usize) -> bool {
        let four = text.get(at..).and_then(<[u8]>::first_chunk);
        four.is_some_and(|four| four[0] < 0xF0 && !self.joins(decode(u32::from_le_bytes(*four)).0))
    }

    /// Writes what becomes of a character that has a rule for it alone, behind so many bytes of `out`, and maybe
    /// behind a space that takes in those after it; the same then. `None`: others may apply.
    #[inline]
    pub(super) fn single(
        &self,
        (code, text, end): (usize, &[u8], usize),
        (written, after): (usize, bool),
        squeezes: bool,
        out: &mut [u8],
    ) -> Option<(usize, bool)> {
        let made = self.few(code, text, end);
        if made == 0 {
            // Longer than a space, and more than nothing.
            let made = self.singles.get(&code).filter(|single| !single.is_open || self.ends(text, end))?;
            let made = made.text.as_bytes();
            out[written..written + made.len()].copy_from_slice(made);
            return Some((written + made.len(), false));
        }
        let is_space = made == SPACE;
        let length = if is_space & after { 0 } else { (made >> 24) as usize - 1 };
        out[written..written + 4].copy_from_slice(&made.to_le_bytes());
        Some((written + length, if length == 0 { after } else { squeezes & is_space }))
    }
}
