//! Tokens that a text begins with, by its first two characters at once, if these have three bytes each, as those of
//! Chinese have.
//!
//! ```text
//! 漢字典...  ->  漢字    the slot of both: no token goes on from them
//! 漢語學...  ->  漢      they have no slot: the table of characters
//! 漢字表...  ->  漢字表  in the slot is a number of what goes on: its slots with the next character say how far
//! ```
//!
//! Each two have a slot that no others have (`apart`), so a look is two loads that do not wait for one another, and a
//! comparison. Leaves out other text.

use std::hint::select_unpredictable;

use rustc_hash::FxHashMap;

use super::apart::Apart;

/// One more than the last character of three bytes.
pub(super) const END: usize = 0x1_0000;
/// Bytes of such a character.
pub(super) const WIDE: usize = 3;
/// Longer tokens begin so: what is below is the number of what goes on. Else it is one more than an id, or 0 for none.
const MORE: u32 = 1 << 31;
/// Numbers are below: with a character they are 32 bits.
const NUMBERS: u32 = 1 << 16;

/// Tokens of characters of three bytes.
#[derive(Debug)]
pub(super) struct Pairs {
    /// What is said of one character, and of the first two.
    one: Box<[u32; END]>,
    two: Apart,
    /// By number, what is said of the token that ends there; and by number and the next character, what goes on.
    ends: Vec<u32>,
    more: Apart,
}

impl Pairs {
    /// Of tokens and their ids; of those of the same text the first counts. `None` if they cannot be told so.
    pub(super) fn of<'a>(tokens: impl Iterator<Item = (u32, &'a [u8])>) -> Option<Pairs> {
        let mut making = Making { one: vec![0; END], ..Making::default() };
        for (id, token) in tokens {
            if are_wide(token) && std::str::from_utf8(token).is_ok() {
                making.put(token, if id < MORE - 1 { id + 1 } else { return None })?;
            }
        }
        let Making { one, two, ends, more } = making;
        let one = one.into_boxed_slice().try_into().ok()?;
        Some(Pairs { one, two: Apart::of(&two)?, ends, more: Apart::of(&more)? })
    }

    /// Of two characters, if something is said of both, and what. `second` is 0 where the text ends.
    #[inline(always)]
    pub(super) fn said(&self, first: u32, second: u32) -> (bool, u32) {
        let both = first << 16 | second;
        let slot = self.two.slot(both);
        let one = self.one[first as usize % END];
        let of_both = (slot >> 32) as u32 == both;
        (of_both, select_unpredictable(of_both, slot as u32, one))
    }

    /// The token that is this character.
    #[inline(always)]
    pub(super) fn alone(&self, code: usize) -> Option<u32> {
        self.one[code % END].checked_sub(1)
    }

    /// Whether longer tokens begin with what this is said of.
    #[inline(always)]
    pub(super) fn goes_on(said: u32) -> bool {
        said >= MORE
    }

    /// What is said of the longest token that these begin with, if longer ones begin with the first two, and
    /// how many characters that has.
    #[inline(never)]
    pub(super) fn longest(&self, letters: &[[u8; WIDE]], mut said: u32) -> (u32, usize) {
        let mut best = (self.one[letters.first().map_or(0, code) % END], 1);
        let mut chars = 2;
        while said >= MORE {
            let number = said & !MORE;
            if self.ends[number as usize] != 0 {
                best = (self.ends[number as usize], chars);
            }
            let next = letters.get(chars).map(code);
            said = next.and_then(|next| self.more.get(number << 16 | next as u32)).unwrap_or(0);
            chars += 1;
        }
        if said != 0 {
            best = (said, chars);
        }
        best
    }
}

/// What `Pairs` has, as it is made.
#[derive(Default)]
struct Making {
    one: Vec<u32>,
    two: FxHashMap<u32, u32>,
    ends: Vec<u32>,
    more: FxHashMap<u32, u32>,
}

impl Making {
    /// Puts a token of characters of three bytes; `None` if numbers are at an end.
    fn put(&mut self, token: &[u8], said: u32) -> Option<()> {
        let Making { one, two, ends, more } = self;
        let mut chars = token.as_chunks().0.iter().map(code);
        let first = chars.next()?;
        let mut place = match chars.next() {
            None => &mut one[first],
            Some(second) => two.entry((first << 16 | second) as u32).or_default(),
        };
        for next in chars {
            if *place < MORE {
                ends.push(*place);
                *place = MORE | (ends.len() - 1) as u32;
            }
            let number = *place & !MORE;
            if number >= NUMBERS {
                return None;
            }
            place = more.entry(number << 16 | next as u32).or_default();
        }
        let place = if *place >= MORE { &mut ends[(*place & !MORE) as usize] } else { place };
        if *place == 0 {
            *place = said;
        }
        Some(())
    }
}

/// Whether all characters have three bytes; this is text.
#[inline(always)]
pub(super) fn are_wide(text: &[u8]) -> bool {
    let (letters, rest) = text.as_chunks();
    rest.is_empty() && letters.iter().all(is_wide)
}

/// Whether a character of three bytes is first.
#[inline(always)]
pub(super) fn is_wide(letter: &[u8; WIDE]) -> bool {
    letter[0] >> 4 == 0xE
}

/// The first character, which has three bytes.
#[inline(always)]
pub(super) fn code(letter: &[u8; WIDE]) -> usize {
    let part = |at: usize| usize::from(letter[at]) & 0x3F;
    (usize::from(letter[0]) & 0xF) << 12 | part(1) << 6 | part(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::{drawing, drawn};

    /// Characters of three bytes, the first and the last of them; then others.
    const CHARS: [char; 10] = ['\u{800}', '漢', '字', '典', '語', '學', '\u{ffff}', 'a', 'é', '😀'];
    const WIDE_CHARS: usize = 7;

    /// The longest token of these that a text begins with: its number and its characters.
    fn longest(tokens: &[String], text: &str) -> Option<(u32, usize)> {
        let starts = (0..).zip(tokens).filter(|(_, token)| !token.is_empty() && text.starts_with(*token));
        // Of those of the same text the first counts.
        let best = starts.max_by_key(|&(number, token)| (token.len(), u32::MAX - number))?;
        Some((best.0, best.1.chars().count()))
    }

    #[test]
    fn the_longest_token_is_said() {
        let mut draw = drawing(11);
        let (mut deep, mut none) = (0, 0);
        for round in 0..drawn(300, 6_000) {
            let few = [3, WIDE_CHARS][round % 2];
            let mut word = |among: usize, most: usize| -> String {
                (0..1 + draw(most)).map(|_| CHARS[draw(among)]).collect()
            };
            let tokens: Vec<String> = (0..round % 90)
                .map(|_| if round % 3 == 0 { word(CHARS.len(), 3) } else { word(few, 5) })
                .collect();
            let pairs = Pairs::of((0..).zip(tokens.iter().map(String::as_bytes))).unwrap();
            let wide: Vec<String> = tokens
                .iter()
                .map(|token| if are_wide(token.as_bytes()) { token.clone() } else { String::new() })
                .collect();
            for _ in 0..40 {
                let text = word(few, 9);
                let letters = text.as_bytes().as_chunks().0;
                let said = pairs.said(code(&letters[0]) as u32, letters.get(1).map_or(0, code) as u32);
                let (id, chars) = match said {
                    (_, said) if Pairs::goes_on(said) => pairs.longest(letters, said),
                    (of_both, said) => (said, 1 + usize::from(of_both)),
                };
                let found = id.checked_sub(1).map(|id| (id, chars));
                assert_eq!(found, longest(&wide, &text), "{text:?} {tokens:?}");
                assert_eq!(pairs.alone(code(&letters[0])), longest(&wide, &text[..WIDE]).map(|(id, _)| id));
                deep += usize::from(chars > 2 && found.is_some());
                none += usize::from(found.is_none());
            }
        }
        assert!(deep > drawn(800, 16_000) && none > drawn(1_000, 20_000), "{deep} {none}");
    }

    #[test]
    fn what_cannot_be_told_has_no_table() {
        let name = "漢".as_bytes();
        assert!(Pairs::of([(MORE - 1, name)].into_iter()).is_none());
        assert!(Pairs::of([(MORE - 2, name)].into_iter()).is_some());
        // More beginnings that go on than there are numbers.
        let char = |number: u32| char::from_u32(0x4E00 + number).unwrap();
        let tokens: Vec<String> = (0..NUMBERS + 1)
            .map(|number| [char(number / 256), char(number % 256), '漢'].iter().collect())
            .collect();
        let of = |count: usize| Pairs::of((0..).zip(tokens[..count].iter().map(String::as_bytes)));
        assert!(of(tokens.len()).is_none() && of(tokens.len() - 1).is_some());
    }
}
