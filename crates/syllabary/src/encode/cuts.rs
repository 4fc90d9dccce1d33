//! Where a piece can be cut because no token reaches over the place.
//!
//! ```text
//! no token has the two bytes side by side            =>  no merge ever joins what stands on both sides
//! no token has the two characters, whole, side by side, and none has part of one beside the other  =>  the same
//! ```
//!
//! A merge makes a token, and a token that reaches over the place has its bytes there. So both sides are merged as
//! if each stood alone. Scripts without spaces are cut into short strings in this way, which repeat. Leaves out
//! merges whose result is no token of the vocabulary: there are none.

use crate::vocab::Vocab;

const PAIR_BITS: usize = 18;

/// What stands side by side in tokens.
#[derive(Debug)]
pub(crate) struct Cuts {
    /// A bit for two bytes, the first the higher part of the index.
    bytes: Box<[u64]>,
    /// The same where one of the two is a part of a character whose rest is not in the token.
    partial: Box<[u64]>,
    /// A bit for the hash of two whole characters, not both of them ASCII.
    characters: Box<[u64]>,
    /// A bit for each character below `CHARACTERS` that stands, whole, before or after another one.
    before: Box<[u64]>,
    after: Box<[u64]>,
}

/// Characters of up to three bytes; they have tables.
pub(crate) const CHARACTERS: usize = 1 << 16;

fn has(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 != 0
}

fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

fn bytes_at(text: &[u8], at: usize) -> usize {
    usize::from(text[at - 1]) << 8 | usize::from(text[at])
}

fn is_inside(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The bytes of the character that ends before `at`, as a number; `None` if it begins before `text`.
#[inline]
fn character_before(text: &[u8], at: usize) -> Option<u32> {
    let mut out = 0;
    for (width, &byte) in text[..at].iter().rev().take(4).enumerate() {
        out |= u32::from(byte) << (8 * width);
        if !is_inside(byte) {
            return (width + 1 == width_of(byte)).then_some(out);
        }
    }
    None
}

/// The bytes of the character that begins at `at`, as a number; `None` if it ends after `text`.
#[inline]
fn character_after(text: &[u8], at: usize) -> Option<u32> {
    let bytes = text.get(at..at + width_of(text[at]))?;
    Some(bytes.iter().fold(0, |out, &byte| out << 8 | u32::from(byte)))
}

/// The code of the character of these bytes.
fn code_of(bytes: u32) -> usize {
    let [first, second, third, last] = bytes.to_be_bytes().map(|byte| usize::from(byte & 0x3F));
    match bytes {
        0..0x80 => bytes as usize,
        0x80..0x1_0000 => (third & 0x1F) << 6 | last,
        0x1_0000..0x100_0000 => (second & 0x0F) << 12 | third << 6 | last,
        _ => (first & 0x07) << 18 | second << 12 | third << 6 | last,
    }
}

/// The code and the width of the character at `at`, which is whole.
#[inline(always)]
pub(crate) fn decode(text: &[u8], at: usize) -> (usize, usize) {
    let inside = |place: usize| usize::from(text.get(place).copied().unwrap_or(0) & 0x3F);
    let first = usize::from(text[at]);
    match first {
        0..0x80 => (first, 1),
        0x80..0xE0 => ((first & 0x1F) << 6 | inside(at + 1), 2),
        0xE0..0xF0 => ((first & 0x0F) << 12 | inside(at + 1) << 6 | inside(at + 2), 3),
        _ => {
            let high = (first & 0x07) << 18 | inside(at + 1) << 12;
            (high | inside(at + 2) << 6 | inside(at + 3), 4)
        }
    }
}

/// The width of the character that begins with `byte`.
fn width_of(byte: u8) -> usize {
    match byte {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

fn place(before: u32, after: u32) -> usize {
    let key = u64::from(before) << 32 | u64::from(after);
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - PAIR_BITS)) as usize
}

impl Cuts {
    pub(crate) fn new(vocab: &Vocab) -> Cuts {
        let mut cuts = Cuts {
            bytes: vec![0; 1 << 10].into(),
            partial: vec![0; 1 << 10].into(),
            characters: vec![0; 1 << (PAIR_BITS - 6)].into(),
            before: vec![0; CHARACTERS / 64].into(),
            after: vec![0; CHARACTERS / 64].into(),
        };
        vocab.iter().for_each(|(_, token)| cuts.add(token));
        cuts
    }

    fn add(&mut self, token: &[u8]) {
        for at in 1..token.len() {
            let pair = bytes_at(token, at);
            set(&mut self.bytes, pair);
            if (token[at - 1] | token[at]) < 0x80 || is_inside(token[at]) {
                continue;
            }
            match (character_before(token, at), character_after(token, at)) {
                (Some(before), Some(after)) => {
                    set(&mut self.characters, place(before, after));
                    set(&mut self.before, code_of(before) & (CHARACTERS - 1));
                    set(&mut self.after, code_of(after) & (CHARACTERS - 1));
                }
                _ => set(&mut self.partial, pair),
            }
        }
    }

    /// Whether no token reaches over the place `at`, inside `text`, where a character begins.
    #[inline]
    pub(crate) fn safe(&self, text: &[u8], at: usize) -> bool {
        let pair = bytes_at(text, at);
        if !has(&self.bytes, pair) {
            return true;
        }
        if (text[at - 1] | text[at]) < 0x80 || has(&self.partial, pair) {
            return false;
        }
        match (character_before(text, at), character_after(text, at)) {
            (Some(before), Some(after)) => !has(&self.characters, place(before, after)),
            _ => false,
        }
    }

    /// The same, where the characters around the place are known by their codes; one of them is not ASCII.
    #[inline(always)]
    pub(crate) fn safe_between(&self, text: &[u8], at: usize, (before, after): (usize, usize)) -> bool {
        if has(&self.partial, bytes_at(text, at)) {
            return false;
        }
        !(has(&self.before, before & (CHARACTERS - 1)) && has(&self.after, after & (CHARACTERS - 1)))
            || self.safe(text, at)
    }

    /// The first safe place in `text` after `at` and before `end`, or `end`.
    #[inline]
    pub(crate) fn next(&self, text: &[u8], at: usize, end: usize) -> usize {
        (at + 1..end).find(|&place| !is_inside(text[place]) && self.safe(text, place)).unwrap_or(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: whether some token reaches over `at`.
    fn reached(tokens: &[Vec<u8>], text: &[u8], at: usize) -> bool {
        tokens.iter().any(|token| {
            (1..token.len())
                .any(|inside| at >= inside && text.get(at - inside..at - inside + token.len()) == Some(token))
        })
    }

    #[test]
    fn no_token_reaches_over_a_cut() {
        let letters = ["a", "b", "é", "è", "字", "学", "孩", "😀"];
        let mut state = 7u64;
        let mut draw = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % most
        };
        let (mut cut, mut kept) = (0, 0);
        for _ in 0..2000 {
            let mut string = |most: usize| -> Vec<u8> {
                (0..1 + draw(most)).flat_map(|_| letters[draw(letters.len())].bytes()).collect()
            };
            let whole: Vec<Vec<u8>> = (0..4).map(|_| string(3)).collect();
            let text = string(8);
            // Also tokens that begin or end inside a character.
            let tokens: Vec<Vec<u8>> = whole.iter().map(|t| t[draw(2).min(t.len() - 1)..].to_vec()).collect();
            let vocab = Vocab::new(tokens.iter().zip(0..).map(|(token, id)| (id, token.as_slice()))).unwrap();
            let cuts = Cuts::new(&vocab);
            for at in (1..text.len()).filter(|&at| !is_inside(text[at])) {
                let safe = cuts.safe(&text, at);
                let (after, _) = decode(&text, at);
                let start = (0..at).rfind(|&start| !is_inside(text[start])).unwrap();
                let (before, width) = decode(&text, start);
                assert_eq!(start + width, at);
                assert_eq!(code_of(character_before(&text, at).unwrap()), before);
                if before.max(after) >= 0x80 {
                    assert_eq!(cuts.safe_between(&text, at, (before, after)), safe);
                }
                assert!(!safe || !reached(&tokens, &text, at), "{tokens:?} {text:?} {at}");
                if safe { cut += 1 } else { kept += 1 }
            }
        }
        assert!(cut > 1000 && kept > 300, "{cut} {kept}");
    }
}
