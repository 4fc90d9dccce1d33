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

/// Some characters: before which of them text may be cut, and at which segments begin and before which they end, if some characters
/// go, as bits of bytes; how many they are, how many of these, from the first on, are strangers, and how many bytes they have.
#[derive(Default)]
struct Cut {
    cuts: u64,
    starts: u64,
    ends: u64,
    count: usize,
    row: usize,
    length: usize,
}

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
            let cut = self.cut_sixteen(groups, ahead, (&mut last, &mut gap));
            if cut.count == 0 || cut.row >= ROW {
                break;
            }
            if self.dropped.is_some() {
                several.cut_apart(cut.starts, cut.ends, at);
            } else {
                several.cut(cut.cuts & known, at);
            }
            known = u64::MAX;
            at += cut.length;
            if cut.count < LANES {
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

    /// Cuts up to sixteen characters; `last` is the number and group of that before them, and then of the last of them.
    #[inline]
    fn cut_sixteen(&self, groups: &Groups, ahead: &[u8], (last, gap): (&mut (u16, u8), &mut Gap)) -> Cut {
        let space = u32::from(self.letters.canonical(' ')) as u16;
        let (mut first, mut cut) = (First::of(ahead), Cut::default());
        // All are read before the first pair is asked for: what that waits for, the others do too.
        let mut all = [(0, 0); LANES];
        for one in &mut all {
            let Some(next) = first.next() else { break };
            *one = next;
            cut.count += 1;
        }
        for (lane, &(place, char)) in all[..cut.count].iter().enumerate() {
            let group = groups.get(char);
            let char = if char == u16::from(b' ') { space } else { char };
            let (before, other) = std::mem::replace(last, (char, group));
            let mut is_cut = (other != group) | (group <= ALONE);
            if !is_cut && (group == PAIRS || u32::from(char) >= UNSPACED) {
                is_cut = !self.joins.may_join(before.into(), char.into());
            }
            cut.row += usize::from(cut.row == lane && group <= ALONE);
            let (start, end) = gap.edge(is_cut, group == GONE);
            cut.cuts |= u64::from(is_cut) << place;
            cut.starts |= u64::from(start) << place;
            cut.ends |= u64::from(end) << place;
        }
        cut.length = first.end();
        cut
    }
}

impl Groups {
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
            let mut first = First::of(&text[at..]);
            let mut row = 0;
            for (place, char) in first.by_ref().take(LANES) {
                match self.get(char) {
                    UNKNOWN => count += 1,
                    GONE => {}
                    _ => return (count, at + place),
                }
                row += 1;
            }
            at += first.end();
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
