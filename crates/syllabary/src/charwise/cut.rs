//! Where text of any script may be cut, sixteen characters at a time.
//!
//! ```text
//! 64 bytes  ->  where characters begin  ->  the number of each, and its group: cut where it is another than that before
//! where groups do not tell              ->  whether the two may stand together
//! ```
//!
//! Leaves out the same by vectors (`cut_wide`), characters of four bytes and long rows of characters that stand with no other,
//! which are read one by one, and stretches of ASCII, for which there are faster ways (`cover`).

#[cfg(simd_x86)]
use super::cut_wide::unknown_wide;
use super::{
    Charwise,
    groups::{ALONE, GONE, Groups, PAIRS, UNKNOWN},
};
use crate::{
    encode::{Gap, Several},
    first::{BLOCK, First, LANES},
};

/// A row of so many strangers is left out.
pub(super) const ROW: usize = 4;
/// From here on, characters are of scripts without spaces: their pairs are asked for, or all would be one segment.
pub(super) const UNSPACED: u32 = 0x3000;

impl Charwise {
    /// Takes the segments from byte `at` on, where text may be cut, to those that are looked up together, as long as there
    /// is room and this is for them; where the last ends.
    pub(super) fn cut_by_groups(
        &self,
        groups: &Groups,
        text: &[u8],
        at: usize,
        several: &mut Several,
    ) -> usize {
        #[cfg(simd_x86)]
        if let Some(able) = groups.able {
            return self.cut_wide((groups, able), text, at, several);
        }
        self.cut_plain(groups, text, at, several)
    }

    /// The same, whatever the processor has.
    pub(super) fn cut_plain(
        &self,
        groups: &Groups,
        text: &[u8],
        mut at: usize,
        several: &mut Several,
    ) -> usize {
        if self.dropped.is_some() {
            several.open();
        }
        // The first has an edge before it.
        let (mut gap, mut last, mut known) = (Gap::NOTHING, (0, UNKNOWN), u64::MAX << 1);
        while at < text.len() && several.has_room() {
            let ahead = &text[at..];
            if ahead.len() >= BLOCK && ahead[..BLOCK / 2].is_ascii() {
                break;
            }
            let first = First::of(ahead);
            let (chars, of) = (first.chars(), groups.of_first(&first));
            let of = &of[..chars.len()];
            if chars.is_empty() || of.len() >= ROW && of[..ROW].iter().all(|&group| group <= ALONE) {
                break;
            }
            let cuts = self.cuts_of(chars, of, &mut last);
            if self.dropped.is_some() {
                let gone = of.iter().rev().fold(0, |bits, &group| bits << 1 | u64::from(group == GONE));
                let (starts, ends) = gap.edges(cuts | !known, (gone, gone), chars.len() as u32);
                several.cut_apart(first.bytes(starts), first.bytes(ends), at);
            } else {
                several.cut(first.bytes(cuts & known), at);
            }
            known = u64::MAX;
            at += first.length;
            if chars.len() < LANES {
                break;
            }
        }
        if self.dropped.is_some() {
            return several.rest(text.len(), at);
        }
        if at == text.len() {
            several.put(at);
        }
        several.end()
    }

    /// Before which of some characters, of these groups, text may be cut, as bits; `last` is the number and group of that before them, and then
    /// of the last of them.
    #[inline]
    fn cuts_of(&self, chars: &[u16], groups: &[u8], last: &mut (u16, u8)) -> u64 {
        let (space, mut cuts) = (u32::from(self.letters.canonical(' ')) as u16, 0);
        for (lane, (&char, &group)) in chars.iter().zip(groups).enumerate() {
            let char = if char == u16::from(b' ') { space } else { char };
            let (before, other) = std::mem::replace(last, (char, group));
            let mut is_cut = (other != group) | (group <= ALONE);
            if !is_cut && (group == PAIRS || u32::from(char) >= UNSPACED) {
                is_cut = !self.joins.may_join(before.into(), char.into());
            }
            cuts |= u64::from(is_cut) << lane;
        }
        cuts
    }
}

impl Groups {
    /// Those of some characters; behind them stands anything.
    #[inline(always)]
    fn of_first(&self, first: &First) -> [u8; LANES] {
        let mut of = [UNKNOWN; LANES];
        of.iter_mut().zip(first.chars()).for_each(|(group, &char)| *group = self.get(char));
        of
    }

    /// How many characters in a row from byte `at` on nothing stands for, but for those that go, and where they end; none of four
    /// bytes.
    pub(super) fn unknown(&self, text: &[u8], at: usize) -> (usize, usize) {
        #[cfg(simd_x86)]
        if let Some(able) = self.able {
            return unknown_wide((self, able), text, at);
        }
        self.unknown_plain(text, at)
    }

    /// The same, whatever the processor has.
    fn unknown_plain(&self, text: &[u8], mut at: usize) -> (usize, usize) {
        let mut count = 0;
        loop {
            let first = First::of(&text[at..]);
            let of = &self.of_first(&first)[..first.chars().len()];
            let row = of.iter().take_while(|&&group| group == UNKNOWN || group == GONE).count();
            count += of[..row].iter().filter(|&&group| group == UNKNOWN).count();
            at += first.place(row);
            if row < LANES {
                return (count, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        alphabet::{Alphabet, Spelling, Unit},
        charwise::letters::Letters,
        drawn::{drawing, drawn},
    };

    /// Rows of what nothing stands for and what goes, as long as they are, beside a loop.
    #[test]
    fn unknown_characters_are_counted() {
        let spelling = Spelling { unknown: Some(99), ..Spelling::plain(Unit::Char) };
        let symbols = ["a", "é", "字"];
        let symbols = symbols.iter().zip(0..).map(|(char, id)| (char.as_bytes(), id));
        let alphabet = Alphabet::new(&spelling, symbols).unwrap();
        let mut letters = Letters::new(&alphabet, ' ', std::iter::once(('a', 'é')), true).unwrap();
        letters.drop_all(&[' ', '\u{2003}']);
        let groups = Groups::new(&[('a', 'é')], &letters);
        let (mut draw, mut most) = (drawing(8), 0);
        let others: Vec<char> = "жя漢\u{301}! \u{2003}\u{ffff}".chars().collect();
        for _ in 0..drawn(2_000, 40_000) {
            let mut text: String = (0..draw(90)).map(|_| others[draw(others.len())]).collect();
            text.retain(|char| char != '\u{ffff}' || draw(30) == 0);
            let rest = ["", "a", "é", "字жж", "😀жж"][draw(5)];
            text.push_str(rest);
            (0..draw(20)).for_each(|_| text.push(others[draw(others.len())]));
            let goes = |&(_, char): &(usize, char)| !"aé字😀\u{ffff}".contains(char);
            let row: Vec<_> = text.char_indices().take_while(goes).collect();
            let expected = row.iter().filter(|(_, char)| !" \u{2003}".contains(*char)).count();
            let end = row.last().map_or(0, |(at, char)| at + char.len_utf8());
            let found = [groups.unknown(text.as_bytes(), 0), groups.unknown_plain(text.as_bytes(), 0)];
            assert_eq!(found, [(expected, end); 2], "{text:?}");
            most = most.max(expected);
        }
        assert!(most > 60);
    }
}
