//! The fast way of Unigram: segments through the lattice, and when what they became may be remembered.
//!
//! No token reaches over a place where text may be cut, so the best way through all of the text is the best through
//! each segment, one after the other. Only the rounding of sums reaches over: a segment's ways are compared with the
//! score of all that stands before it added, and rounded. Each of the sums on the way through a segment is off by half
//! a unit in the last place at most, and rounding keeps the order of numbers; so the best way is the same, whatever
//! stands before, if it is better than the second best by more than all those halves together: one for each token of
//! the one and of the other way. Such a segment is remembered, for texts up to a certain score (`CLASSES`; the larger
//! that is, the coarser the sums, so each has a memory of its own). Any other segment is solved anew each time, with
//! the very score of what stands before it, for which the ids so far are added up (`Carry`). Beyond the last class
//! all is solved, until sums are counted anew (`Sum::FARTHEST`). Where a pre-tokenizer cuts words, segments are whole
//! words, before which nothing stands.
//!
//! Leaves out walking the text (`encode`) and the lattice itself (`models::unigram`).

use std::sync::Arc;

use super::{
    Charwise, How, MARK,
    encode::Work,
    joins::Joins,
    letters::Letters,
    memory::Memory,
    out::Out,
    shape::{Prefix, Shape},
};
use crate::{
    alphabet::{Alphabet, NONE, Spelling},
    models::unigram::{Lattice, Unigram},
    parts::Parts,
    step::Step,
};

/// Texts whose score is below 2 to the power of these have a memory.
const CLASSES: [i32; 2] = [14, 16];
/// Nine tenths of these scores.
const LIMITS: [f64; 2] = [14_745.0, 58_982.0];
/// No segment of a larger part of that is remembered.
const PART: i32 = 6;
/// Lattices of longer segments are not kept.
const KEPT: usize = 1 << 16;
/// Ids that a block adds.
const BLOCK_IDS: f64 = 80.0;
/// A stretch ends before so many bytes of ASCII, or after so many bytes of all.
const ASCII: usize = 16;
const STRETCH: usize = 1 << 14;
/// So long are stretches where nothing is remembered.
const BEYOND: usize = 1 << 9;
/// A word of more bytes is a stretch.
const WORD: usize = 64;

/// What weighing needs besides the tables of every charwise tokenizer.
pub(super) struct Weigh {
    unigram: Arc<Unigram>,
    /// What each id adds to the score: of bytes that spell a character, the first.
    weights: Vec<f64>,
    /// The largest of them, or of an unknown character.
    heaviest: f64,
    /// Segments are words.
    words: bool,
    /// No token reaches over the place before a mark.
    cuts_marks: bool,
}

/// The score of the text so far, as it is rounded.
pub(crate) struct Carry<'a> {
    weigh: &'a Weigh,
    sum: f64,
    /// So many ids of the run are in it.
    folded: usize,
    class: usize,
}

impl Carry<'_> {
    /// Adds the ids of the run that are not in it.
    pub(super) fn fold(&mut self, run: &[u32]) {
        for &id in &run[self.folded.min(run.len())..] {
            self.sum = self.weigh.unigram.round(self.sum + self.weigh.weights[id as usize]);
        }
        self.folded = run.len();
    }

    /// The score.
    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// The run has been handed on.
    pub(super) fn restart(&mut self) {
        self.folded = 0;
    }

    /// Adds an unknown character.
    pub(super) fn unknown(&mut self) {
        self.sum = self.weigh.unigram.round(self.sum + self.weigh.unigram.unknown_score());
    }

    /// Whether the score is within a class, for so many ids more than are in it.
    #[inline]
    fn is_within(&self, class: usize, pending: usize) -> bool {
        let Some(limit) = LIMITS.get(class) else { return true };
        self.sum.abs() + (pending as f64 + BLOCK_IDS) * self.weigh.heaviest <= *limit
    }

    /// Whether nothing may be remembered.
    #[inline]
    pub(super) fn is_beyond(&self) -> bool {
        self.class == CLASSES.len()
    }
}

impl Charwise {
    /// The tables of these parts; `None` where only the general way is exact.
    pub(crate) fn weighing(parts: &Parts<'_>, unigram: &Arc<Unigram>) -> Option<Charwise> {
        let spelling = &parts.spelling;
        let shape = Shape::weighed(&parts.normalizer, &parts.pretokenizer)?;
        let words = shape.cuts_marks;
        if parts.split.kind() != "none" || !unigram.is_plain(words) {
            return None;
        }
        let single: Vec<(Vec<u8>, u32)> = unigram
            .texts()
            .filter(|(text, _)| text.chars().count() == 1)
            .map(|(text, id)| (text.as_bytes().to_vec(), id))
            .collect();
        let plain = Spelling { surface_offsets: false, ..*spelling };
        let alphabet = Alphabet::new(&plain, single.iter().map(|(text, id)| (text.as_slice(), *id))).ok()?;
        let has_bytes = Letters::has_all_bytes(&alphabet);
        if spelling.fallback && !has_bytes {
            return None;
        }
        if shape.marks_spaces && !alphabet.chars[0].contains_key(&MARK) {
            return None;
        }
        let space = if shape.marks_spaces { MARK } else { ' ' };
        let mut neighbours: Vec<(char, char)> = Vec::new();
        for (text, _) in unigram.texts() {
            neighbours.extend(text.chars().zip(text.chars().skip(1)));
        }
        if shape.marks_spaces {
            // Tokens with a space are never made.
            neighbours.retain(|&(left, right)| left != ' ' && right != ' ');
        }
        neighbours.sort_unstable();
        neighbours.dedup();
        let mut letters =
            Letters::new(&alphabet, space, neighbours.iter().copied(), spelling.unknown.is_some())?;
        if words {
            letters.join_all_but(MARK);
        }
        Some(Charwise {
            joins: if words { Joins::all_but_spaces() } else { Joins::new(&neighbours, space) },
            how: How::Weigh(Weigh::new(
                unigram,
                spelling,
                words,
                shape.marks_spaces && neighbours.iter().all(|&(_, right)| right != MARK),
            )),
            unknown: spelling.unknown.unwrap_or(NONE),
            fuses: spelling.fuse_unknown && !has_bytes,
            letters,
            shape,
        })
    }

    /// The score to be carried along, if any is.
    pub(super) fn carry(&self) -> Option<Carry<'_>> {
        match &self.how {
            How::Weigh(weigh) if !weigh.words => Some(Carry { weigh, sum: 0.0, folded: 0, class: 0 }),
            _ => None,
        }
    }

    /// Takes the memory of the class that the score is in.
    #[inline]
    pub(super) fn rise<F: FnMut(&[u32])>(&self, work: &mut Work, out: &mut Out<'_, F>) {
        let leaves = |carry: &Carry<'_>| {
            carry.is_beyond() || !carry.is_within(carry.class, out.written - carry.folded)
        };
        if out.carry.as_ref().is_some_and(leaves) {
            out.settle();
            if let Some(carry) = &mut out.carry {
                let class = (0..=CLASSES.len()).find(|&class| carry.is_within(class, 0));
                change(work, carry, class.unwrap_or(CLASSES.len()));
            }
        }
    }

    /// Puts the memories back as they were.
    pub(super) fn fall<F>(&self, work: &mut Work, out: &mut Out<'_, F>) {
        if let Some(carry) = &mut out.carry {
            change(work, carry, 0);
        }
    }

    /// Writes the ids of a segment that is not remembered, and remembers them if they do not depend on what stands
    /// before.
    pub(super) fn learn_weighed<F: FnMut(&[u32])>(
        &self,
        weigh: &Weigh,
        segment: &str,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) {
        let Work { memory, symbols, lattice, .. } = work;
        let unigram = &weigh.unigram;
        unigram.read(segment, |char| self.letters.canonical(char), lattice);
        let mut keeps = true;
        if let Some(class) = out.carry.as_ref().map(|carry| carry.class) {
            let better = unigram.solve::<true>(0.0, lattice);
            keeps = CLASSES.get(class).is_some_and(|&power| {
                let sums = (lattice.path.len() + lattice.len()) as f64;
                let half = unigram.half_unit() * f64::from(power).exp2();
                // Of a longer one sums may have been counted anew.
                lattice.len() <= WORD
                    && better > 1.1 * sums * half
                    && lattice.score.abs() < f64::from(power - PART).exp2()
            });
            if !keeps {
                return self.write_solved(weigh, segment, work, out);
            }
        } else {
            unigram.solve::<false>(0.0, lattice);
        }
        symbols.clear();
        symbols.extend(lattice.path.iter().map(|edge| edge.id).take_while(|&id| !unigram.is_unknown(id)));
        if symbols.len() == lattice.path.len() {
            if keeps {
                memory.put(segment.as_bytes(), symbols);
            }
            out.many(symbols);
        } else {
            self.write_path(unigram, segment, lattice, out);
        }
        if lattice.len() > KEPT {
            *lattice = Default::default();
        }
    }

    /// Writes the ids of the text from byte `at` on, up to a place where it may be cut and ASCII begins; that place.
    /// Nothing is remembered: words beyond ASCII take as long to look up as to solve.
    pub(super) fn stretch<F: FnMut(&[u32])>(
        &self,
        weigh: &Weigh,
        text: &str,
        at: usize,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> usize {
        let end = self.stretch_end(text, at, out.carry.as_ref().is_some_and(Carry::is_beyond));
        let segment = &text[at..end];
        weigh.unigram.read(segment, |char| self.letters.canonical(char), &mut work.lattice);
        self.write_solved(weigh, segment, work, out);
        end
    }

    /// Solves what was read into the lattice with the score of what stands before it, and writes its ids.
    fn write_solved<F: FnMut(&[u32])>(
        &self,
        weigh: &Weigh,
        segment: &str,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) {
        let (unigram, lattice) = (&weigh.unigram, &mut work.lattice);
        let so_far = out.settle();
        unigram.solve::<false>(so_far, lattice);
        let carry = out.carry.take();
        self.write_path(unigram, segment, lattice, out);
        out.carry = carry.map(|carry| Carry { sum: lattice.score, folded: out.written, ..carry });
        if lattice.len() > KEPT {
            *lattice = Default::default();
        }
    }

    /// The end of the word from byte `at` on, if it may be cut out and is short.
    #[inline]
    pub(super) fn word_end(&self, weigh: &Weigh, text: &str, at: usize) -> Option<usize> {
        let ahead = &text.as_bytes()[at + 1..];
        let ahead = &ahead[..WORD.min(ahead.len())];
        let length = ahead.iter().position(|&byte| byte == b' ').filter(|_| weigh.cuts_marks)?;
        Some(at + 1 + length)
    }

    fn stretch_end(&self, text: &str, at: usize, is_beyond: bool) -> usize {
        let bytes = text.as_bytes();
        let most = if is_beyond { BEYOND } else { STRETCH };
        let mut next = at + 1;
        while next < bytes.len() {
            let ahead = bytes[next..].first_chunk::<ASCII>();
            let ascii = |ahead: &[u8; ASCII]| ahead.iter().fold(0, |all, byte| all | byte) < 128;
            let is_ascii = !is_beyond && bytes[next] < 128 && ahead.is_some_and(ascii);
            let is_long = next - at > most && text.is_char_boundary(next);
            if (is_ascii || is_long) && self.may_cut(text, next) {
                return next;
            }
            next += 1;
        }
        bytes.len()
    }

    /// Whether text may be cut before this byte, which begins a character.
    fn may_cut(&self, text: &str, at: usize) -> bool {
        let (before, after) = text.split_at(at);
        match (before.chars().next_back(), after.chars().next()) {
            (Some(left), Some(right)) => self.joins.cuts(&self.letters, left, right),
            _ => true,
        }
    }

    /// Writes the ids of a way through the lattice.
    fn write_path<F: FnMut(&[u32])>(
        &self,
        unigram: &Unigram,
        segment: &str,
        lattice: &Lattice,
        out: &mut Out<'_, F>,
    ) {
        for edge in &lattice.path {
            out.make_room();
            if edge.id == NONE {
                let text = &segment[lattice.bytes(edge.start, edge.end)];
                text.chars().for_each(|char| self.letter(char, self.letters.get(char), out));
            } else if unigram.is_unknown(edge.id) {
                out.unknown();
            } else {
                out.few(&[edge.id; 4], 1);
            }
        }
    }
}

/// Swaps memories: that of a class is in use.
fn change(work: &mut Work, carry: &mut Carry<'_>, class: usize) {
    if work.more.is_empty() {
        work.more.resize_with(CLASSES.len(), Memory::default);
    }
    for class in [carry.class, class] {
        if let Some(other) = class.checked_sub(1).and_then(|at| work.more.get_mut(at)) {
            std::mem::swap(&mut work.memory, other);
        }
    }
    carry.class = class;
}

impl Weigh {
    fn new(unigram: &Arc<Unigram>, spelling: &Spelling<'_>, words: bool, cuts_marks: bool) -> Weigh {
        let bound = spelling.byte_tokens.iter().map(|&(id, _)| id).chain(unigram.texts().map(|(_, id)| id));
        let bound = bound.chain(spelling.unknown).max().map_or(0, |id| id as usize + 1);
        let mut weights: Vec<f64> = (0..bound).map(|id| unigram.score(id as u32)).collect();
        for &(id, byte) in spelling.byte_tokens {
            // One byte of a character adds what the character does.
            let begins = byte & 0xC0 != 0x80;
            weights[id as usize] = if begins { unigram.unknown_score() } else { 0.0 };
        }
        let unknown = unigram.unknown_score().abs();
        let heaviest = weights.iter().fold(unknown, |most, weight| most.max(weight.abs()));
        Weigh { unigram: unigram.clone(), weights, heaviest, words, cuts_marks }
    }
}

impl Shape {
    /// Of these steps, where pieces are weighed.
    fn weighed(normalizer: &[Step], pretokenizer: &[Step]) -> Option<Shape> {
        match pretokenizer {
            [] => Shape::new(normalizer, &[], false),
            [step] => {
                let shape = Shape::new(&[], std::slice::from_ref(step), false)?;
                // The first of what is normalized need not be the first of what is given.
                let is_told = normalizer.is_empty() || shape.prefix != Prefix::First;
                is_told.then_some(Shape { rewrites: !normalizer.is_empty(), ..shape })
            }
            [split, step] if split.kind == "WhitespaceSplit" => {
                let shape = Shape::new(&[], std::slice::from_ref(step), false)?;
                let plain = shape.prefix == Prefix::Always && shape.cuts_marks;
                plain.then_some(Shape { rewrites: true, splits_spaces: true, prefix: Prefix::Never, ..shape })
            }
            _ => None,
        }
    }
}

impl Unigram {
    /// Half a unit in the last place of the largest number below 1, as sums are kept.
    fn half_unit(&self) -> f64 {
        if self.is_single() { 2f64.powi(-25) } else { 2f64.powi(-54) }
    }
}
