//! Piece ends in bulk, for the splits whose pieces cover every character.
//!
//! Adds: `Walk`, which writes as many ends at a time as its caller has room for, so that encoding can work on many
//! pieces at once: block by block of 64 bytes by the masks of `masks`, or piece by piece by a scanner where the
//! masks do not tell. Leaves out: where a piece ends (the laws).

use crate::fetch::fetch_byte;

use super::classes::{Classes, LETTER};
#[cfg(simd_neon)]
use super::masks::neon::Neon;
use super::masks::{
    BLOCK, Carry, Lanes, Law, Masks, Place, WINDOW, deepseek::DeepSeek, gpt2::Gpt2, kimi::Kimi,
    portable::Portable, words::Words,
};
#[cfg(simd_x86)]
use super::masks::{avx2::Avx2, avx512::Avx512};
use super::{
    Scanner, Split, automaton::Search, deepseek, gpt2, gpt4, kimi, latin, llama3, o200k, pattern::Matcher,
};

/// Text so many bytes before its turn is asked for.
const AHEAD: usize = 1 << 12;

/// A walk over the pieces of one text.
pub(crate) struct Walk<'a> {
    split: &'a Split,
    text: &'a str,
    /// Where the next piece begins.
    at: usize,
    state: State,
    /// The tables of an automaton.
    search: Search,
}

/// Where the blocks of a walk are.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Ends found and not yet written, as places after `base`.
    found: u64,
    /// The block done last.
    base: usize,
    /// How many are read since the masks began, at some beginning of a piece; 3 is any more.
    blocks: u32,
    /// The masks of the block read last, which is the one after `base`.
    next: Masks,
    carry: Carry,
}

/// The instructions to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    /// Those that are always there.
    Portable,
    #[cfg(simd_x86)]
    Avx2(Avx2),
    #[cfg(simd_x86)]
    Avx512(Avx512),
    #[cfg(simd_neon)]
    Neon(Neon),
}

impl Tier {
    /// Those that this processor has, the best first.
    pub(super) fn all() -> Vec<Tier> {
        let mut tiers = vec![Tier::Portable];
        #[cfg(simd_neon)]
        tiers.push(Tier::Neon(Neon));
        #[cfg(simd_x86)]
        {
            tiers.extend(Avx2::new().map(Tier::Avx2));
            tiers.extend(Avx512::new().map(Tier::Avx512));
        }
        tiers.reverse();
        tiers
    }

    pub(super) fn best() -> Tier {
        Tier::all()[0]
    }
}

impl Split {
    /// A walk over the pieces of `text`; `None` where pieces need not cover every character.
    pub(crate) fn walk<'a>(&'a self, text: &'a str) -> Option<Walk<'a>> {
        let skips = match &self.scanner {
            Scanner::Whitespace | Scanner::WhitespaceSplit | Scanner::Superwords | Scanner::None => true,
            Scanner::Regex(matcher) => !matcher.covers(),
            _ => false,
        };
        (!skips && !self.lines).then(|| self.walk_of_line(text))
    }

    /// The same of one line, for a scanner of which it is known that its pieces cover every character.
    pub(super) fn walk_of_line<'a>(&'a self, text: &'a str) -> Walk<'a> {
        Walk { split: self, text, at: 0, state: State::default(), search: Search::default() }
    }
}

impl Walk<'_> {
    /// Writes the ends of the next pieces, ascending positions in the text, and says how many; 0 at its end only.
    pub(crate) fn fill(&mut self, ends: &mut [usize]) -> usize {
        const GPT4: Words<false> =
            Words { word: LETTER, by_three: true, contractions: true, whole_end: true };
        const O200K: Words<true> = Words::O200K;
        if self.at >= self.text.len() {
            return 0;
        }
        match &self.split.scanner {
            Scanner::Gpt2 => self.fill_by(Gpt2::<false>, ends),
            Scanner::Gpt2Digits => self.fill_by(Gpt2::<true>, ends),
            Scanner::Gpt4 => self.fill_by(GPT4, ends),
            Scanner::O200k => self.fill_by(O200K, ends),
            Scanner::Nemotron => self.fill_by(Words { by_three: false, contractions: false, ..O200K }, ends),
            Scanner::Llama3(family) => self.fill_by(family.masks(), ends),
            Scanner::Kimi => self.fill_by(Kimi, ends),
            Scanner::DeepSeek => self.fill_by(DeepSeek, ends),
            Scanner::Regex(Matcher::Automaton(automaton)) => {
                let written = self.search.fill(automaton, self.text, self.at, ends);
                self.at = written.checked_sub(1).map_or(self.at, |last| ends[last]);
                written
            }
            _ => self.fill_piece_by_piece(ends, self.text.len()),
        }
    }

    /// By the masks of a law and the instructions of the split.
    #[inline(always)]
    fn fill_by(&mut self, law: impl Law, ends: &mut [usize]) -> usize {
        if is_short(self.text) {
            return self.fill_piece_by_piece(ends, self.text.len());
        }
        match self.split.tier {
            Tier::Portable => self.run(Portable, law, ends),
            #[cfg(simd_x86)]
            Tier::Avx2(lanes) => lanes.enter(self, law, ends),
            #[cfg(simd_x86)]
            Tier::Avx512(lanes) => lanes.enter(self, law, ends),
            #[cfg(simd_neon)]
            Tier::Neon(lanes) => self.run(lanes, law, ends),
        }
    }

    /// The loop over blocks. Its state is in variables, not in `self`, to be kept in registers.
    #[inline(always)]
    pub(super) fn run(&mut self, lanes: impl Lanes, law: impl Law, ends: &mut [usize]) -> usize {
        let (text, classes) = (self.text, &self.split.classes);
        let State { mut found, mut base, mut blocks, mut next, mut carry } = self.state;
        let (mut written, mut padded) = (0, [b' '; WINDOW]);
        loop {
            if found != 0 {
                let room = &mut ends[written..];
                if let Some(room) = room.first_chunk_mut() {
                    written += lanes.flatten(found, base, room);
                    self.at = base + (BLOCK - 1) - found.leading_zeros() as usize;
                    found = 0;
                } else {
                    written += flatten_in(room, &mut found, base);
                    self.at = ends[written - 1];
                }
            }
            if self.at >= text.len() {
                return written;
            }
            if written == ends.len() {
                self.state = State { found, base, blocks, next, carry };
                return written;
            }
            if blocks == 0 {
                (base, carry) = (self.at.wrapping_sub(BLOCK), Carry::default());
            } else {
                base = base.wrapping_add(BLOCK);
            }
            let masks = next;
            let after = base.wrapping_add(BLOCK);
            next = if after < text.len() {
                fetch_byte(text.as_ptr().wrapping_add(after + AHEAD));
                let last = if blocks == 0 { 0 } else { masks.last };
                lanes.masks(law, classes, window(text, after, &mut padded), last)
            } else {
                Masks { space: u64::MAX, blank: u64::MAX, ..Masks::default() }
            };
            blocks = (blocks + 1).min(3);
            if blocks == 1 {
                continue;
            }
            match law.starts(&masks, &next, &mut carry, Place { classes, text, base }) {
                Some(starts) => found = starts & !u64::from(blocks == 2),
                None => {
                    blocks = 0;
                    written += self.fill_piece_by_piece(&mut ends[written..], base + BLOCK);
                }
            }
            if masks.blank & next.blank == u64::MAX && found == 0 && blocks != 0 {
                base = base.wrapping_add(BLOCK * blank_blocks(text.as_bytes(), after.wrapping_add(BLOCK)));
            }
            // The end of the text; the rest of the block is nothing.
            if let (Some(end @ ..BLOCK), 1..) = (text.len().checked_sub(base), blocks) {
                found = (found & ((1 << end) - 1)) | (1 << end);
            }
        }
    }

    /// By the scanner, until an end is at or after `upto`.
    fn fill_piece_by_piece(&mut self, ends: &mut [usize], upto: usize) -> usize {
        let (split, text) = (self.split, self.text);
        self.fill_with(ends, upto, |at| piece_end(&split.scanner, &split.classes, text, at))
    }

    /// The same by any function from where a piece begins to where it ends.
    #[inline]
    fn fill_with(
        &mut self,
        ends: &mut [usize],
        upto: usize,
        mut end_of: impl FnMut(usize) -> usize,
    ) -> usize {
        let mut written = 0;
        for end in ends {
            if self.at >= upto.min(self.text.len()) {
                break;
            }
            self.at = end_of(self.at);
            *end = self.at;
            written += 1;
        }
        written
    }
}

/// The end of the piece that begins at `at`, which is before the end of `text`.
pub(super) fn piece_end(scanner: &Scanner, classes: &Classes, text: &str, at: usize) -> usize {
    match scanner {
        Scanner::Gpt2 => gpt2::piece_end::<false>(classes, text, at),
        Scanner::Gpt2Digits => gpt2::piece_end::<true>(classes, text, at),
        Scanner::Gpt4 => gpt4::piece_end(classes, text, at),
        Scanner::O200k => o200k::piece_end::<true>(classes, text, at),
        Scanner::Nemotron => o200k::piece_end::<false>(classes, text, at),
        Scanner::Llama3(family) => llama3::piece_end(*family, classes, text, at),
        Scanner::Kimi => kimi::piece_end(classes, text, at),
        Scanner::DeepSeek => deepseek::piece_end(classes, text, at),
        Scanner::Latin => latin::piece_end(classes, text, at),
        _ => text.len(),
    }
}

/// Whether the scanner is done with a text before masks would be made.
#[cfg(not(test))]
fn is_short(text: &str) -> bool {
    text.len() < 16
}

/// The tests make masks of every text.
#[cfg(test)]
fn is_short(_: &str) -> bool {
    false
}

/// How many blocks from `at` on are nothing but U+0020. Behind one such block and before another none begins a piece in
/// any law, and it leaves to the next what was left to it.
#[cold]
fn blank_blocks(text: &[u8], at: usize) -> usize {
    let is_blank = |block: &&[u8]| block.iter().fold(true, |all, &byte| all & (byte == b' '));
    text.get(at..).unwrap_or_default().chunks_exact(BLOCK).take_while(is_blank).count()
}

/// Writes as many of the ends `found` as there is room for.
#[cold]
fn flatten_in(room: &mut [usize], found: &mut u64, base: usize) -> usize {
    let count = room.len().min(found.count_ones() as usize);
    for end in &mut room[..count] {
        *end = base + found.trailing_zeros() as usize;
        *found &= *found - 1;
    }
    count
}

/// The bytes of `text` from `at` on, and spaces after its end: no law tells a text that spaces follow from one that
/// ends, but for the end itself.
#[inline(always)]
fn window<'a>(text: &'a str, at: usize, padded: &'a mut [u8; WINDOW]) -> &'a [u8; WINDOW] {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    if let Some(window) = rest.first_chunk() {
        return window;
    }
    *padded = [b' '; WINDOW];
    padded[..rest.len()].copy_from_slice(rest);
    padded
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
