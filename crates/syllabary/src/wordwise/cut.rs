//! Where words begin and end, up to 64 bytes of ASCII or sixteen characters of any script at a time.
//!
//! ```text
//! 64 bytes  ->  of each what it is cut from at its left, and of each what is cut at its right: bits in common  =>  a cut
//! ```
//!
//! Leaves out what characters do (`classes`), characters not met yet and those of four bytes, which are read one by one (`walk`),
//! rows of characters that are tokens by themselves, as those of Chinese, which are written at once (`ahead`), and the same by
//! wide vectors (`cut_wide`).

#[cfg(simd_x86)]
use std::arch::x86_64::{
    _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
    _mm256_setzero_si256,
};

use super::classes::{ALONE, Classes, SPACE, TOKEN, go_on};
use crate::{
    encode::{Gap, Several},
    first::{ASCII, BLOCK, First, LANES, ascii_bytes},
};
#[cfg(simd_x86)]
use crate::{
    first::first_bits,
    narrow::{Narrow, look},
    sixteen::Able,
};

/// Fewer bytes of ASCII are read with what is around them.
pub(super) const RUN: u32 = 24;
/// So many of sixteen characters that are tokens are a row of them.
pub(super) const ROW: u32 = 8;
/// Classes below are all there are but for tokens, which are like `ALONE`.
pub(super) const CLASSES: usize = 8;

/// As bits, from which classes one is cut at its right, and which it has at its left.
pub(super) const BEHIND: [u8; CLASSES] = sides(true);
pub(super) const BEFORE: [u8; CLASSES] = sides(false);

/// Two classes are cut from each other if `BEHIND` of the first and `BEFORE` of the second have a bit in common: a bit for each class.
const fn sides(behind: bool) -> [u8; CLASSES] {
    let (mut sides, mut class) = ([0; CLASSES], 1);
    while class < CLASSES {
        let mut other = 1;
        while other < CLASSES {
            let is_cut =
                class >= SPACE as usize || other >= SPACE as usize || !go_on(class as u32, other as u32);
            if behind && is_cut || !behind && class == other {
                sides[class] |= 1 << other;
            }
            other += 1;
        }
        class += 1;
    }
    sides
}

/// The classes of ASCII, all known.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Sides {
    pub(super) behind: [u8; ASCII],
    pub(super) before: [u8; ASCII],
    #[cfg(simd_x86)]
    able: Option<Able>,
    #[cfg(simd_x86)]
    narrow: Option<Narrow>,
}

impl Sides {
    /// Of all characters of ASCII.
    pub(super) fn new(classes: impl Fn(u8) -> u32) -> Sides {
        let of = |sides: &[u8; CLASSES], byte| sides[classes(byte as u8).min(ALONE) as usize];
        Sides {
            behind: std::array::from_fn(|byte| of(&BEHIND, byte)),
            before: std::array::from_fn(|byte| of(&BEFORE, byte)),
            #[cfg(simd_x86)]
            able: Able::new(),
            #[cfg(simd_x86)]
            narrow: Narrow::new(),
        }
    }

    /// Takes the words from byte `at` on, where one or white space begins, to those that are looked up together, without the white
    /// space between them, as long as there is room and this is for them; where the last ends.
    pub(super) fn cut(&self, classes: &Classes, text: &[u8], at: usize, several: &mut Several) -> usize {
        several.begin_apart(at);
        let Some(classes) = classes.table() else { return at };
        let end = self.cut_on(classes, text, at, several);
        if end == text.len() && several.is_open() {
            several.put(end);
        }
        several.end()
    }

    /// The same; up to where it came.
    fn cut_on(&self, classes: &[u32; 1 << 16], text: &[u8], at: usize, several: &mut Several) -> usize {
        #[cfg(simd_x86)]
        if self.able.is_some() {
            // SAFETY: the processor has all features that the function has.
            return unsafe { self.cut_by_vectors(classes, text, at, several) };
        }
        self.cut_plain(classes, text, at, several)
    }

    /// The same, whatever the processor has.
    fn cut_plain(
        &self,
        classes: &[u32; 1 << 16],
        text: &[u8],
        mut at: usize,
        several: &mut Several,
    ) -> usize {
        let mut before = Before::NOTHING;
        while at < text.len() && several.has_room() {
            let block = &text[at..text.len().min(at + BLOCK)];
            let ascii = ascii_bytes(block);
            if ascii >= RUN as usize || at + ascii == text.len() {
                let (cuts, spaces) = self.ascii_cut(text, (at, at + ascii), before.side);
                let (starts, ends) = before.edges(cuts, (spaces, spaces), ascii as u32);
                several.cut_apart(starts, ends, at);
                at += ascii;
                before.side = self.behind[usize::from(text[at - 1])];
                continue;
            }
            let Some((starts, ends, length)) = cut_sixteen(classes, &text[at..], &mut before) else {
                break;
            };
            several.cut_apart(starts, ends, at);
            at += length;
        }
        at
    }

    /// Before which bytes from one to another, up to 64 of ASCII, a word may end, and which are white space, as bits; `last` is
    /// what the one before is cut from.
    #[inline]
    fn ascii_cut(&self, text: &[u8], (from, to): (usize, usize), last: u8) -> (u64, u64) {
        let first = u64::from(last & self.before[usize::from(text[from])] != 0);
        #[cfg(simd_x86)]
        if self.narrow.is_some()
            && let Some(block) = from.checked_sub(1).and_then(|before| text[before..].first_chunk())
        {
            // SAFETY: the processor has all features that the function has.
            let (cuts, spaces) = unsafe { self.ascii_narrow(block) };
            let known = first_bits(to - from);
            return (cuts & known & !1 | first, spaces & known);
        }
        let (mut cuts, mut spaces, mut side) = (first, 0, 0);
        for (place, &byte) in text[from..to].iter().enumerate() {
            let (before, behind) = (self.before[usize::from(byte)], self.behind[usize::from(byte)]);
            cuts |= u64::from(side & before != 0) << place;
            spaces |= u64::from(before == BEFORE[SPACE as usize]) << place;
            side = behind;
        }
        (cuts, spaces)
    }

    /// The same of 64 bytes behind another one, with AVX2.
    #[cfg(simd_x86)]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn ascii_narrow(&self, block: &[u8; BLOCK + 1]) -> (u64, u64) {
        let space = _mm256_set1_epi8(BEFORE[SPACE as usize] as i8);
        let (mut stay, mut spaces) = (0, 0);
        for at in [0, BLOCK / 2] {
            // SAFETY: there are 65 bytes.
            let (left, right) = unsafe {
                let here = block.as_ptr().add(at);
                (_mm256_loadu_si256(here.cast()), _mm256_loadu_si256(here.add(1).cast()))
            };
            let ([behind], [before]) = (look([&self.behind], left), look([&self.before], right));
            let none = _mm256_cmpeq_epi8(_mm256_and_si256(behind, before), _mm256_setzero_si256());
            stay |= u64::from(_mm256_movemask_epi8(none) as u32) << at;
            spaces |= u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(before, space)) as u32) << at;
        }
        (!stay, spaces)
    }
}

/// At which bytes words begin, and before which they end, as bits, of up to sixteen characters, and how many bytes those have;
/// `None` if they are not for this way.
#[inline]
fn cut_sixteen(classes: &[u32; 1 << 16], ahead: &[u8], last: &mut Before) -> Option<(u64, u64, usize)> {
    let mut first = First::of(ahead);
    let (mut starts, mut ends, mut tokens, mut length) = (0, 0, 0, 0);
    for _ in 0..LANES {
        let Some((place, char)) = first.next() else { break };
        let found = classes[usize::from(char)];
        if found == 0 {
            break;
        }
        tokens += u32::from(found >= TOKEN && usize::from(char) >= ASCII);
        let class = found.min(ALONE) as usize;
        let is_cut = last.side & BEFORE[class % CLASSES] != 0;
        let (start, end) = last.edge(is_cut, class == SPACE as usize);
        starts |= u64::from(start) << place;
        ends |= u64::from(end) << place;
        last.side = BEHIND[class % CLASSES];
        length = first.end();
    }
    (length > 0 && tokens < ROW).then_some((starts, ends, length))
}

/// What is known of the character before.
pub(super) struct Before {
    /// From what it is cut.
    pub(super) side: u8,
    gap: Gap,
    /// There is none.
    is_first: bool,
}

impl Before {
    pub(super) const NOTHING: Before = Before { side: 0, gap: Gap::NOTHING, is_first: true };

    /// Of so many places, by where text may be cut and where white space begins and ends: at which words begin, and before
    /// which they end.
    #[inline(always)]
    pub(super) fn edges(&mut self, cuts: u64, (spaces, space_ends): (u64, u64), count: u32) -> (u64, u64) {
        let cuts = cuts | u64::from(std::mem::take(&mut self.is_first));
        self.gap.edges(cuts, (spaces, space_ends), count)
    }

    /// The same of one place.
    #[inline(always)]
    fn edge(&mut self, is_cut: bool, is_space: bool) -> (bool, bool) {
        self.gap.edge(is_cut | std::mem::take(&mut self.is_first), is_space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        drawn::{drawing, drawn},
        wordwise::classes::{LETTER, NUMBER, SIGN, WORD},
    };

    const CHARS: [char; 24] = [
        'a', 'b', 'c', '.', ',', '!', '1', '2', ' ', '\n', '_', '\u{7f}', 'é', 'ж', 'ω', '²', '\u{a0}', '漢',
        '字', 'か', '。', '\u{3000}', '\u{ffff}', '😀',
    ];
    const OTHERS: [u32; 7] = [WORD, LETTER, SIGN, NUMBER, SPACE, ALONE, TOKEN + 7];

    /// The classes are drawn, and so is which characters are not met yet.
    #[test]
    fn words_end_where_classes_are_cut() {
        let mut draw = drawing(5);
        let mut all = 0;
        for round in 0..drawn(3_000, 60_000) {
            let among = [CHARS.len(), 22, 17][round % 3];
            let mut classes = Classes::default();
            let kinds = if round % 2 == 0 { OTHERS.len() } else { 5 };
            let of: Vec<u32> = CHARS.iter().map(|_| OTHERS[draw(kinds)]).collect();
            let unmet = if round % 5 == 0 { draw(CHARS.len()) } else { CHARS.len() };
            for (at, &char) in CHARS.iter().enumerate().filter(|&(at, _)| at != unmet || CHARS[at].is_ascii())
            {
                classes.put(char as u32, of[at]);
            }
            let class = |char: char| of[CHARS.iter().position(|&other| other == char).unwrap()];
            let wide =
                Sides::new(|byte| if CHARS.contains(&char::from(byte)) { class(byte.into()) } else { WORD });
            #[cfg(simd_x86)]
            let wide = match round % 4 {
                0 => Sides { able: None, ..wide },
                1 => Sides { able: None, narrow: None, ..wide },
                _ => wide,
            };
            let chars: Vec<usize> = (0..draw(400)).map(|_| draw(among) / (1 + draw(3))).collect();
            let text: String = chars.iter().map(|&at| CHARS[at]).collect();
            let start = text.char_indices().map(|(at, _)| at).nth(draw(9)).unwrap_or(0);
            let mut several = Several::default();
            let end = wide.cut(&classes, text.as_bytes(), start, &mut several);
            let (mut words, mut begin, mut before) = (Vec::new(), start, None);
            for (at, char) in text[start..].char_indices() {
                let class = class(char).min(ALONE);
                if let Some(before) = before
                    && BEHIND[before as usize] & BEFORE[class as usize] != 0
                {
                    words.push((begin, start + at, before));
                    begin = start + at;
                }
                before = Some(class);
            }
            words.extend(before.map(|before| (begin, text.len(), before)));
            words.retain(|&(.., class)| class != SPACE);
            let found: Vec<_> = (0..several.count()).map(|at| several.span(at)).collect();
            let words: Vec<_> = words.into_iter().map(|(begin, end, _)| (begin, end)).collect();
            assert_eq!(found, words[..found.len()], "{text:?} {of:?}");
            assert_eq!(end, found.last().map_or(start, |&(_, end)| end));
            all += usize::from(found.len() == words.len());
        }
        assert!(all > drawn(1_000, 20_000), "{all}");
    }

    #[test]
    fn sides_are_those_of_classes() {
        for (before, after) in (1..=TOKEN).flat_map(|before| (1..=TOKEN).map(move |after| (before, after))) {
            let stays =
                before < SPACE && after < SPACE && (before == after || before == WORD || after == WORD);
            assert_eq!(BEHIND[before as usize] & BEFORE[after as usize] == 0, stays);
        }
    }
}
