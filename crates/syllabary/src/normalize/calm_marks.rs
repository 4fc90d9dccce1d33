//! Combining marks that a normalization form leaves where they are.
//!
//! ```text
//! a m .. m b    a and b are kept by the form, and of marks stands no higher class before a lower one, neither here nor
//!               behind what a falls into  =>  the order stays;  a and m compose nothing  =>  all stays
//! ```
//!
//! For a falls into its parts and is composed of them again before the first mark is looked at, so that a mark meets a or
//! is blocked; b is kept whatever is before it. Text of Yoruba, Hindi, Hebrew and many others is full of such marks.
//! Adds: `Marks`. Leaves out marks that are more than one character when they fall apart, and more than a few in a row.

use unicode_normalization_alignments::char::{canonical_combining_class, compose};

use super::{
    calm::{BITS, decode, four_at},
    forms::Form,
};

/// The most marks in a row.
const MOST: usize = 4;

/// What is known of characters in a form.
#[derive(Debug)]
pub(super) struct Marks {
    /// The combining class of a mark that may stay; of a character that is kept, the class of the last one that it falls
    /// into. 0 for all others.
    classes: Box<[u8; BITS]>,
    composes: bool,
}

/// The last character of what one becomes in a form.
fn last_part(form: Form, c: char) -> Option<char> {
    let mut parts = String::new();
    form.write(c.encode_utf8(&mut [0; 4]), &mut parts);
    parts.chars().next_back()
}

impl Marks {
    pub(super) fn new(form: Form) -> Marks {
        let (apart, mut classes) = (form.apart(), Box::new([0; BITS]));
        // Ideographs and syllables have no class; most do not fall apart, or into what has none.
        let is_plain =
            |c: char| matches!(c, '\0'..'\u{C0}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{F8FF}');
        for c in (0..BITS as u32).filter_map(char::from_u32).filter(|&c| !is_plain(c)) {
            classes[c as usize] = match (form.keeps(c), apart.has(c)) {
                (true, false) => last_part(apart, c).map_or(0, canonical_combining_class),
                (false, true) => canonical_combining_class(c),
                _ => 0,
            };
        }
        Marks { classes, composes: form != apart }
    }

    /// Whether the mark at byte `at` stays as it is, if text is cut at byte `start`, and `is_calm` says which characters are kept.
    pub(super) fn stay(&self, text: &[u8], at: usize, start: usize, is_calm: impl Fn(usize) -> bool) -> bool {
        let mut first = at;
        let before = loop {
            let back = text[start..first].iter().rposition(|byte| byte & 0xC0 != 0x80);
            let Some(place) = back.map(|back| start + back).filter(|place| at - place <= 3 * MOST) else {
                return false;
            };
            match code_at(text, place) {
                Some((code, _)) if is_calm(code) => break code,
                Some((code, _)) if self.classes[code] != 0 => first = place,
                _ => return false,
            }
        };
        let mut last = self.classes[before];
        let mut at = first;
        for _ in 0..=MOST {
            let Some((code, width)) = code_at(text, at) else { return at == text.len() };
            if is_calm(code) {
                return true;
            }
            let class = self.classes[code];
            if class == 0 || class < last || self.composes && composes(before, code) {
                return false;
            }
            (last, at) = (class, at + width);
        }
        false
    }
}

/// Whether two characters make one.
fn composes(first: usize, second: usize) -> bool {
    let both = char::from_u32(first as u32).zip(char::from_u32(second as u32));
    both.is_some_and(|(first, second)| compose(first, second).is_some())
}

/// The character at a byte and its width, unless it has four bytes or the text ends.
#[inline]
fn code_at(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let four = four_at(text, at);
    (at < text.len() && four[0] < 0xF0).then(|| decode(u32::from_le_bytes(four)))
}
