//! Characters that merge with nothing, one after another: most of a script that the vocabulary has no words of.
//!
//! Where characters begin is found for 64 bytes at once, so that no character waits for the width of the one before.
//! Leaves out segments (`encode`).

use super::{Charwise, joins::BLOCK, letters::Letter, out::Out};
use crate::first::{READ, decode, starts};

/// So many characters are written before blocks are worth their while.
const FEW: usize = 4;
/// No more ids are written for a block, with some that are written over.
const BLOCK_IDS: usize = BLOCK + 8;

/// Characters alone are written up to about so many bytes in one go, where a score is kept.
pub(super) const STRETCH: usize = 1 << 8;
/// No more ids than these are written before the score of the text is looked at again (`weigh`).
pub(super) const BETWEEN_LOOKS: usize = STRETCH + 4 * BLOCK_IDS;

/// The four bytes from `at` on.
#[inline]
pub(super) fn four(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|four| u32::from_le_bytes(*four))
}

impl Charwise {
    /// Writes the characters from `at` on that merge with nothing, up to the first that may; none if the first is
    /// ASCII.
    #[inline]
    pub(super) fn alone<F: FnMut(&[u32]) -> bool>(
        &self,
        text: &str,
        mut at: usize,
        out: &mut Out<'_, F>,
    ) -> usize {
        let bytes = text.as_bytes();
        // Only a score has to be looked at.
        let most = if out.carry.is_some() { at + STRETCH } else { usize::MAX };
        while at < most && bytes.get(at).is_some_and(|&byte| byte >= 128) {
            if let Some(groups) = self.groups.as_ref().filter(|_| self.shape.cuts_kinds)
                && let (count, end) = groups.unknown(bytes, at)
                && end > at
            {
                // Some characters may go, and none be unknown.
                if count > 0 {
                    out.unknown(count);
                }
                at = end;
                continue;
            }
            let start = at;
            at = self.alone_run(bytes, at, FEW, out);
            if at - start >= FEW {
                at = self.alone_blocks(bytes, at, most, out);
                at = self.alone_run(bytes, at, BLOCK, out);
            }
            let end = self.foreign_run(bytes, at, most, out);
            if end > at {
                at = end;
                continue;
            }
            let mut chars = text[at..].chars();
            let Some(char) = chars.next() else { return at };
            let letter = self.letters.get(char);
            let next = chars.next().map(|next| self.letters.get(next));
            if next.is_some_and(|next| letter.may_join(next)) {
                return at;
            }
            out.make_room();
            self.letter(char, letter, out);
            at += char.len_utf8();
        }
        at
    }

    /// Whether the character at byte `at`, which is not ASCII, merges with nothing after it, or is unknown.
    #[inline]
    pub(super) fn is_alone(&self, text: &str, at: usize) -> bool {
        if let Some(here) = four(text.as_bytes(), at).filter(|&here| (here as u8) < 0xF0)
            && let (letter, width) = self.letters.decode(here)
            && let Some(after) = four(text.as_bytes(), at + width)
            && (letter.is_unknown() || !letter.may_join(self.letters.decode(after).0))
        {
            return true;
        }
        let mut chars = text[at..].chars();
        let Some(char) = chars.next() else { return true };
        let (letter, next) = (self.letters.get(char), chars.next());
        letter.is_unknown() || next.is_none_or(|next| self.joins.cuts(&self.letters, char, next))
    }

    /// Whether the character that `here` begins with must wait: it may join the next, or either is of four bytes, or
    /// it is unknown.
    #[inline]
    fn waits(&self, (letter, here): (Letter, u32), (next, after): (Letter, u32)) -> bool {
        let joins = letter.may_join(next) && !self.joins.cuts_ascii(here as u8, after as u8);
        joins | letter.is_unknown() | (after as u8 >= 0xF0)
    }

    /// Writes at most `most` characters that need not wait, each when the next is known.
    #[inline]
    fn alone_run<F: FnMut(&[u32]) -> bool>(
        &self,
        bytes: &[u8],
        mut at: usize,
        most: usize,
        out: &mut Out<'_, F>,
    ) -> usize {
        let Some(mut here) = four(bytes, at).filter(|&here| (here as u8) < 0xF0) else { return at };
        let (mut letter, mut width) = self.letters.decode(here);
        for _ in 0..most {
            let Some(after) = four(bytes, at + width) else { return at };
            let (next, next_width) = self.letters.decode(after);
            if self.waits((letter, here), (next, after)) {
                return at;
            }
            out.make_room();
            let (ids, count) = letter.ids();
            out.few(&ids, count);
            at += width;
            (here, letter, width) = (after, next, next_width);
        }
        at
    }

    /// Writes characters that are in no token, and spaces between two of them, up to about byte `most`; none of four bytes.
    fn foreign_run<F: FnMut(&[u32]) -> bool>(
        &self,
        bytes: &[u8],
        mut at: usize,
        most: usize,
        out: &mut Out<'_, F>,
    ) -> usize {
        let mut count = 0;
        while at < most
            && let Some(here) = four(bytes, at).filter(|&here| (here as u8) < 0xF0)
        {
            let (number, width) = decode(here);
            if self.letters.is_foreign(number) {
                (at, count) = (at + width, count + 1);
                continue;
            }
            let (letter, _) = self.letters.decode(here);
            let is_foreign = |next: u32| next as u8 >= 128 && self.letters.is_foreign(decode(next).0);
            if count == 0
                || here as u8 != b' '
                || letter.is_unknown()
                || !four(bytes, at + 1).is_some_and(|next| (next as u8) < 0xF0 && is_foreign(next))
            {
                break;
            }
            out.unknown(count);
            out.make_room();
            let (ids, number) = letter.ids();
            out.few(&ids, number);
            (at, count) = (at + 1, 0);
        }
        if count > 0 {
            out.unknown(count);
        }
        at
    }

    /// The same by blocks, as long as there are whole ones.
    fn alone_blocks<F: FnMut(&[u32]) -> bool>(
        &self,
        bytes: &[u8],
        mut at: usize,
        most: usize,
        out: &mut Out<'_, F>,
    ) -> usize {
        while at < most
            && let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<READ>)
        {
            let mut rest = starts(block);
            let here = four(block, 0).filter(|&here| (here as u8) < 0xF0 && rest & 1 == 1);
            let Some(mut here) = here.filter(|_| out.has_room(BLOCK_IDS)) else { return at };
            let (mut letter, _) = self.letters.decode(here);
            let (mut place, mut waits) = (0, false);
            rest &= rest - 1;
            // Apart from `out`, so that the compiler knows that writing ids changes neither.
            let (run, mut written) = (&mut *out.run, out.written);
            while rest != 0 {
                let next_place = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let Some(after) = four(block, next_place) else { break };
                let (next, _) = self.letters.decode(after);
                waits = self.waits((letter, here), (next, after));
                if waits {
                    break;
                }
                let (ids, count) = letter.ids();
                run[written..written + 4].copy_from_slice(&ids);
                written += count;
                (here, letter, place) = (after, next, next_place);
            }
            out.after_unknown &= place == 0;
            out.written = written;
            if waits {
                return at + place;
            }
            at += place;
        }
        at
    }

    /// Writes what stands for a character alone; there must be room.
    #[inline]
    pub(super) fn letter<F: FnMut(&[u32]) -> bool>(&self, char: char, letter: Letter, out: &mut Out<'_, F>) {
        if letter.is_unknown() {
            return out.unknown(1);
        }
        let (ids, count) = self.letters.ids(char);
        out.few(&ids, count);
    }
}
