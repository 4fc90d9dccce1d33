//! Text without spaces between words, where nothing is remembered: looking words up takes as long as solving them.
//!
//! ```text
//! no token has these two characters side by side  =>  the best way passes the place between them
//! ```
//!
//! So the best way through a text goes through the parts between such places, one after the other, each with the score of all that
//! stands before it. Most parts of Chinese are one character, which has one way, and most others are two, which have two. Sums are
//! those of the lattice of all of the text, in the same order, so they are rounded as it would round them. Leaves out longer
//! parts (`models::unigram`), and words (`weigh`).

use super::{
    Charwise,
    alone::four,
    carry::Carry,
    out::{Out, ROOM},
    weigh::{KEPT, Weigh},
    work::Work,
};
use crate::{
    first::decode,
    models::unigram::{Alone, FEW},
};
/// A stretch ends before so many bytes of ASCII, or after so many bytes of all.
const ASCII: usize = 16;
const ENOUGH: usize = 1 << 10;
/// Or behind so many characters that are in no token.
const FOREIGN: usize = 4;

/// So many characters are read together: their codes, and whether text may be cut between them, are waited for once.
pub(super) const READ: usize = 32;

/// Characters that are read together.
#[derive(Debug)]
pub(super) struct Read {
    /// The numbers of the characters, behind that of the one before them.
    pub(super) chars: [u32; READ + 1],
    pub(super) codes: [u32; READ],
    /// The bytes where they begin, and where the last ends.
    pub(super) starts: [usize; READ + 1],
    pub(super) count: usize,
    /// As bits, before which of them no place is to cut.
    pub(super) opens: u32,
}

/// A part as far as it is read: where it begins, how many characters, and the codes of the first ones.
#[derive(Clone, Copy, Debug)]
struct Part {
    begin: usize,
    count: usize,
    codes: [u32; FEW],
}

impl Read {
    /// How many characters from one on are parts of their own, as far as is known here.
    #[inline]
    fn alone(&self, place: usize) -> usize {
        let known = (1u64 << self.count) - 1;
        // Cut before and behind; what follows the last is not known.
        let alone = !u64::from(self.opens) & known & !u64::from(self.opens) >> 1 & known >> 1;
        (alone >> place).trailing_ones() as usize
    }

    /// The codes of a character and the next one, if they are known here to be a part.
    #[inline]
    fn couple(&self, place: usize) -> Option<&[u32; 2]> {
        let is_couple = place + 2 < self.count && self.opens >> (place + 1) & 3 == 1;
        self.codes.get(place..)?.first_chunk().filter(|_| is_couple)
    }

    /// Reads characters from the first of `starts` on; `space` stands for a space.
    #[inline]
    fn decode(&mut self, text: &str, space: char) {
        while self.count < READ && self.starts[self.count] < text.len() {
            let start = self.starts[self.count];
            if let Some(bytes) = text.as_bytes()[start..].first_chunk()
                && let Some(four) = four_of_three(bytes)
                && let Some(chars) = self.chars[self.count + 1..].first_chunk_mut()
            {
                *chars = four;
                for number in 1..=4 {
                    self.starts[self.count + number] = start + 3 * number;
                }
                self.count += 4;
                continue;
            }
            let (char, width) = number(text, start);
            self.count += 1;
            self.chars[self.count] = if char == u32::from(b' ') { space.into() } else { char };
            self.starts[self.count] = start + width;
        }
    }
}

impl Part {
    #[inline]
    fn add(&mut self, code: u32) {
        if let Some(place) = self.codes.get_mut(self.count) {
            *place = code;
        }
        self.count += 1;
    }
}

/// Where one is in a stretch: where that begins, the place reached, the score so far, below which score few characters are cut
/// by themselves, how many characters before are in no token, whether nothing is remembered, and the part that is read.
#[derive(Debug)]
struct Reached {
    at: usize,
    end: usize,
    so_far: f64,
    near: f64,
    foreign: usize,
    is_beyond: bool,
    part: Part,
}

impl Reached {
    /// Whether the stretch ends here, where it may be cut.
    #[inline]
    fn is_end(&self, bytes: &[u8]) -> bool {
        let is_ascii = || {
            let ahead = bytes[self.end..].first_chunk::<ASCII>();
            ahead.is_some_and(|ahead| ahead.iter().fold(0, |all, byte| all | byte) < 128)
        };
        let is_enough = self.end - self.at > ENOUGH;
        is_enough || (self.end > self.at && !self.is_beyond && bytes[self.end] < 128 && is_ascii())
    }
}

impl Charwise {
    /// Writes the ids of the text from byte `at` on, up to a place where it may be cut, and ASCII begins or enough is
    /// read; that place.
    pub(super) fn stretch<F: FnMut(&[u32]) -> bool>(
        &self,
        weigh: &Weigh,
        text: &str,
        at: usize,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> usize {
        let is_beyond = out.carry.as_ref().is_some_and(Carry::is_beyond);
        let (so_far, near) = (out.settle(), weigh.unigram.near(READ));
        let carry = out.carry.take();
        let part = Part { begin: at, count: 0, codes: [0; FEW] };
        let mut reached = Reached { at, end: at, so_far, near, foreign: 0, is_beyond, part };
        let mut read =
            Read { chars: [0; READ + 1], codes: [0; READ], starts: [at; READ + 1], count: 0, opens: 0 };
        let mut goes_on = true;
        while goes_on && reached.end < text.len() {
            self.read(weigh, text, &reached, &mut read);
            goes_on = self.write_read(weigh, (text, &read), &mut reached, (work, out));
        }
        self.write_part(weigh, text, &mut reached, (work, out));
        out.carry = carry.map(|carry| carry.at(reached.so_far, out.written));
        reached.end
    }

    /// Reads the next characters of a stretch.
    fn read(&self, weigh: &Weigh, text: &str, reached: &Reached, read: &mut Read) {
        (read.chars[0], read.starts[0], read.count) = (read.chars[read.count], reached.end, 0);
        let space = self.letters.canonical(' ');
        let mut opens = 0;
        #[cfg(simd_x86)]
        if let Some(able) = weigh.able {
            opens = able.read(&weigh.unigram, &self.joins, space, text.as_bytes(), read);
        }
        let known = read.count;
        read.decode(text, space);
        for place in known..read.count {
            let (left, right) = (read.chars[place], read.chars[place + 1]);
            read.codes[place] = weigh.unigram.code(right);
            opens |= u32::from(self.joins.may_join(left, right)) << place;
        }
        read.opens = if reached.end == reached.at { opens & !1 } else { opens };
        let mut rest = opens & !1;
        while rest != 0 {
            let place = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            weigh.unigram.ask(read.codes[place - 1], read.codes[place]);
        }
    }

    /// Writes the ids of what is read, but for the last part; whether the stretch goes on.
    #[inline]
    fn write_read<F: FnMut(&[u32]) -> bool>(
        &self,
        weigh: &Weigh,
        (text, read): (&str, &Read),
        reached: &mut Reached,
        (work, out): (&mut Work, &mut Out<'_, F>),
    ) -> bool {
        let mut place = 0;
        while place < read.count {
            reached.end = read.starts[place];
            if read.opens >> place & 1 == 0 {
                self.write_part(weigh, text, reached, (work, out));
                if reached.is_end(text.as_bytes()) {
                    return false;
                }
                let count = self.write_small(weigh, (read, place), reached, out);
                if count > 0 {
                    place += count;
                    reached.end = read.starts[place];
                    if reached.foreign > FOREIGN && !reached.is_beyond {
                        return false;
                    }
                    continue;
                }
                reached.part.begin = reached.end;
            }
            reached.part.add(read.codes[place]);
            let is_foreign = read.codes[place] == 0 && !self.letters.spells();
            reached.foreign = if is_foreign { reached.foreign + 1 } else { 0 };
            place += 1;
            reached.end = read.starts[place];
            if reached.foreign > FOREIGN && !reached.is_beyond {
                return false;
            }
        }
        true
    }

    /// Writes the ids of parts of one character from a place on, or of one of two; of how many characters.
    #[inline]
    fn write_small<F: FnMut(&[u32]) -> bool>(
        &self,
        weigh: &Weigh,
        (read, place): (&Read, usize),
        reached: &mut Reached,
        out: &mut Out<'_, F>,
    ) -> usize {
        if reached.so_far.abs() >= reached.near || !out.has_room(READ + ROOM) {
            return 0;
        }
        if let Some(&[left, right]) = read.couple(place) {
            let Some((two, count, score)) = weigh.unigram.cut_two([left, right], reached.so_far) else {
                return 0;
            };
            out.few(&[two[0], two[1], two[1], two[1]], count);
            (reached.so_far, reached.foreign) = (score, 0);
            return 2;
        }
        let codes = &read.codes[place..place + read.alone(place)];
        let unknown = Some(out.unknown).filter(|_| !self.letters.spells());
        let mut alone = Alone { unknown, fuses: out.fuses, after_unknown: out.after_unknown };
        let run = &mut out.run[out.written..];
        let (count, written, score) = weigh.unigram.cut_alone(codes, reached.so_far, &mut alone, run);
        (out.written, out.after_unknown) = (out.written + written, alone.after_unknown);
        reached.so_far = score;
        let foreign = codes[..count].iter().rev().take_while(|&&code| code == 0).count();
        reached.foreign = if foreign == count { reached.foreign + foreign } else { foreign };
        count
    }

    /// Writes the ids of the part that is read, if there is one.
    #[inline]
    fn write_part<F: FnMut(&[u32]) -> bool>(
        &self,
        weigh: &Weigh,
        text: &str,
        reached: &mut Reached,
        (work, out): (&mut Work, &mut Out<'_, F>),
    ) {
        let Reached { part, end, so_far, .. } = *reached;
        if part.count > 0 {
            reached.so_far = self.solve_part(weigh, (&text[part.begin..end], &part), so_far, (work, out));
            reached.part.count = 0;
        }
    }

    /// Writes the ids of a part; the score with it.
    fn solve_part<F: FnMut(&[u32]) -> bool>(
        &self,
        weigh: &Weigh,
        (part, read): (&str, &Part),
        so_far: f64,
        (work, out): (&mut Work, &mut Out<'_, F>),
    ) -> f64 {
        let mut ids = [0; FEW];
        if let Some(codes) = read.codes.get(..read.count).filter(|_| so_far.abs() < weigh.unigram.near(FEW))
            && let Some((ids, score)) = weigh.unigram.cut_few(codes, so_far, &mut ids)
        {
            for &id in ids.iter().rev() {
                out.make_room();
                out.few(&[id; 4], 1);
            }
            return score;
        }
        let (unigram, lattice) = (&*weigh.unigram, &mut work.lattice);
        unigram.read(part, |char| self.letters.canonical(char), lattice);
        unigram.solve::<false>(so_far, lattice);
        self.write_path(unigram, part, lattice, out);
        let score = lattice.score;
        if lattice.len() > KEPT {
            *lattice = Default::default();
        }
        score
    }
}

/// The numbers of four characters, if all have three bytes: none waits for the width of the one before.
#[inline(always)]
fn four_of_three(bytes: &[u8; 13]) -> Option<[u32; 4]> {
    let four: [u32; 4] = std::array::from_fn(|at| {
        u32::from_le_bytes([bytes[3 * at], bytes[3 * at + 1], bytes[3 * at + 2], bytes[3 * at + 3]])
    });
    let are_three = four.iter().all(|four| four & 0xF0 == 0xE0);
    are_three.then(|| four.map(|four| (four & 0x0F) << 12 | (four >> 8 & 0x3F) << 6 | four >> 16 & 0x3F))
}

/// The number of the character at byte `at`, and its width.
#[inline(always)]
fn number(text: &str, at: usize) -> (u32, usize) {
    match four(text.as_bytes(), at) {
        Some(bytes) if (bytes as u8) < 0xF0 => {
            let (number, width) = decode(bytes);
            (number.into(), width)
        }
        _ => text[at..].chars().next().map_or((0, 1), |char| (char.into(), char.len_utf8())),
    }
}
