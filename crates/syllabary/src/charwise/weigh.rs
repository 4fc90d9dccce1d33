//! The fast way of Unigram: segments through the lattice, and when what they became may be remembered.
//!
//! No token reaches over a place where text may be cut, so the best way through all of the text is the best through
//! each segment, one after the other. Only the rounding of sums reaches over: a segment's ways are compared with the
//! score of all that stands before it added, and rounded. Each of the sums on the way through a segment is off by half
//! a unit in the last place at most, and rounding keeps the order of numbers; so the best way is the same, whatever
//! stands before, if it is better than the second best by more than all those halves together: one for each token of
//! the one and of the other way. Such a segment is remembered, for texts up to a certain score, or a smaller one
//! (`Bounds`; the larger that is, the coarser the sums). Any other segment is solved anew each time, with the very score of what stands
//! before it, for which the ids so far are added up (`Carry`). Beyond that score all is solved, until sums are counted
//! anew (`Sum::FARTHEST`). A character alone has one way only. Where a pre-tokenizer cuts words, segments are whole
//! words, before which nothing stands.
//!
//! Leaves out walking the text (`encode`) and the lattice itself (`models::unigram`).

use std::sync::Arc;

#[cfg(simd_x86)]
use super::mixed::Singles;
use super::{
    Charwise, How, MARK,
    ahead::are_dense,
    brief::{Codes, codes},
    carry::{Bounds, Carry, DOUBLE, Kept, Reach, SINGLE},
    joins::Joins,
    letters::Letters,
    out::Out,
    shape::{Prefix, Shape},
    work::Work,
};
#[cfg(simd_x86)]
use crate::sixteen::Able;
use crate::{
    alphabet::{Alphabet, NONE, Spelling},
    models::unigram::{Lattice, Unigram},
    parts::Parts,
    step::Step,
};

/// No segment of a larger part of that is remembered.
const PART: i32 = 6;
/// Lattices of longer segments are not kept.
pub(super) const KEPT: usize = 1 << 16;
/// Segments of more characters are not remembered.
const WORD: usize = 64;
/// The longest word, in bytes, that is looked for as a whole.
const WHOLE: usize = 32;

/// What weighing needs besides the tables of every charwise tokenizer.
pub(super) struct Weigh {
    pub(super) unigram: Arc<Unigram>,
    /// What each id adds to the score, rounded as sums are: of bytes that spell a character, the first.
    pub(super) weights: Vec<f64>,
    /// The largest of them, or of an unknown character.
    pub(super) heaviest: f64,
    /// Segments are words.
    words: bool,
    /// The codes of ASCII.
    pub(super) codes: Box<Codes>,
    /// The processor reads sixteen characters at once.
    #[cfg(simd_x86)]
    pub(super) able: Option<Able>,
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
        let begins_words = shape.marks_spaces && neighbours.iter().all(|&(_, right)| right != MARK);
        Some(Charwise {
            dropped: None,
            joins: joins_of((words, unigram), &neighbours, space),
            whole_words: begins_words && !words && are_dense(&neighbours),
            begins_words,
            knows_scripts: false,
            groups: None,
            #[cfg(simd_x86)]
            singles: if words { None } else { Singles::new(&letters) },
            how: How::Weigh(Weigh::new((unigram, space), spelling, words)),
            unknown: spelling.unknown.unwrap_or(NONE),
            fuses: spelling.fuse_unknown && !has_bytes,
            letters,
            shape,
        })
    }

    /// The score to be carried along, if any is.
    pub(super) fn carry(&self) -> Option<Carry<'_>> {
        match &self.how {
            How::Weigh(weigh) if !weigh.words => {
                let (hidden, reach) = (Vec::new(), Reach::Near);
                let (sum, bound) = (0.0, 0.0);
                Some(Carry { weigh, sum, folded: 0, hidden, waiting: 0, bounded: 0, bound, reach })
            }
            _ => None,
        }
    }

    /// Looks whether the score is still within its bounds, or again.
    #[inline]
    pub(super) fn look<F: FnMut(&[u32]) -> bool>(&self, out: &mut Out<'_, F>) {
        if let Some(carry) = &mut out.carry
            && carry.leaves(out.written)
        {
            carry.widen(&out.run[..out.written]);
            let (&Bounds { near, far, .. }, waiting) = (carry.weigh.bounds(), carry.waiting);
            carry.reach = match (carry.is_within(near, waiting), carry.is_within(far, waiting)) {
                (true, _) => Reach::Near,
                (_, true) => Reach::Far,
                _ => Reach::Beyond,
            };
        }
    }

    /// Writes the ids of a segment that is not remembered; for which texts it may be, the symbols being its ids.
    pub(super) fn learn_weighed<F: FnMut(&[u32]) -> bool>(
        &self,
        weigh: &Weigh,
        segment: &str,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Kept {
        let Work { symbols, lattice, .. } = work;
        let unigram = &weigh.unigram;
        unigram.read(segment, |char| self.letters.canonical(char), lattice);
        let kept = if out.carry.is_none() {
            unigram.solve::<false>(0.0, lattice);
            Kept::Always
        } else if lattice.len() <= WORD {
            let better = unigram.solve::<true>(0.0, lattice);
            weigh.kept((lattice.path.len(), lattice.len()), lattice.score, better)
        } else {
            // Sums may have been counted anew.
            Kept::Never
        };
        if kept == Kept::Never || (kept == Kept::Near && !out.is_near()) {
            self.write_solved(weigh, segment, work, out);
            return Kept::Never;
        }
        symbols.clear();
        symbols.extend(lattice.path.iter().map(|edge| edge.id).take_while(|&id| !unigram.is_unknown(id)));
        let is_known = symbols.len() == lattice.path.len();
        if is_known {
            out.many(symbols);
        } else {
            self.write_path(unigram, segment, lattice, out);
        }
        if lattice.len() > KEPT {
            *lattice = Default::default();
        }
        if is_known { kept } else { Kept::Never }
    }

    /// Solves what was read into the lattice with the score of what stands before it, and writes its ids.
    fn write_solved<F: FnMut(&[u32]) -> bool>(
        &self,
        weigh: &Weigh,
        segment: &str,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) {
        let so_far = out.settle();
        weigh.unigram.solve::<false>(so_far, &mut work.lattice);
        let lattice = &mut work.lattice;
        let carry = out.carry.take();
        self.write_path(&weigh.unigram, segment, lattice, out);
        out.carry = carry.map(|carry| carry.at(lattice.score, out.written));
        if lattice.len() > KEPT {
            *lattice = Default::default();
        }
    }

    /// The end of the word from byte `at` on, if it may be cut out and is short.
    #[inline]
    pub(super) fn word_end(&self, text: &str, at: usize) -> Option<usize> {
        let ahead = &text.as_bytes()[at + 1..];
        let ahead = &ahead[..WHOLE.min(ahead.len())];
        let length = ahead.iter().position(|&byte| byte == b' ').filter(|_| self.begins_words)?;
        Some(at + 1 + length)
    }

    /// Whether the character at byte `at` is in no token.
    pub(super) fn is_foreign(&self, text: &str, at: usize) -> bool {
        text[at..].chars().next().is_some_and(|char| self.letters.get(char).is_foreign())
    }

    /// Whether text may be cut before this byte, which begins a character.
    pub(super) fn may_cut(&self, text: &str, at: usize) -> bool {
        let (before, after) = text.split_at(at);
        match (before.chars().next_back(), after.chars().next()) {
            (Some(left), Some(right)) => self.joins.cuts(&self.letters, left, right),
            _ => true,
        }
    }

    /// Writes the ids of a way through the lattice.
    pub(super) fn write_path<F: FnMut(&[u32]) -> bool>(
        &self,
        unigram: &Unigram,
        segment: &str,
        lattice: &Lattice,
        out: &mut Out<'_, F>,
    ) {
        if self.letters.spells() || out.carry.is_some() || !out.has_room(lattice.path.len()) {
            for edge in &lattice.path {
                out.make_room();
                if edge.id == NONE {
                    let text = &segment[lattice.bytes(edge.start, edge.end)];
                    text.chars().for_each(|char| self.letter(char, self.letters.get(char), out));
                } else if unigram.is_unknown(edge.id) {
                    out.unknown(1);
                } else {
                    out.few(&[edge.id; 4], 1);
                }
            }
            return;
        }
        let (run, mut written, mut after_unknown) = (&mut *out.run, out.written, out.after_unknown);
        for edge in &lattice.path {
            let is_unknown = unigram.is_unknown(edge.id);
            run[written] = if is_unknown { out.unknown } else { edge.id };
            written += usize::from(!(is_unknown && after_unknown && out.fuses));
            after_unknown = is_unknown;
        }
        (out.written, out.after_unknown) = (written, after_unknown);
    }
}

/// Where text may be cut; `words`: before spaces alone.
fn joins_of((words, unigram): (bool, &Unigram), neighbours: &[(char, char)], space: char) -> Joins {
    let joins = if words { Joins::all_but_spaces() } else { Joins::new(neighbours, space) };
    joins.covered(unigram.texts(), space)
}

/// 2 to a small power.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((1023 + i64::from(power)) as u64) << 52)
}

impl Weigh {
    /// For which texts the best way of so many tokens through so many characters, of this score and so much
    /// better than any other, is the same.
    pub(super) fn kept(&self, (tokens, characters): (usize, usize), score: f64, better: f64) -> Kept {
        let sums = (tokens + characters) as f64;
        let is_kept = |power: i32| {
            let half = self.unigram.half_unit() * power_of_two(power);
            better > 1.1 * sums * half && score.abs() < power_of_two(power - PART)
        };
        let Bounds { near_power, far_power, .. } = *self.bounds();
        match (is_kept(far_power), is_kept(near_power)) {
            (true, _) => Kept::Always,
            (_, true) => Kept::Near,
            _ => Kept::Never,
        }
    }

    pub(super) fn bounds(&self) -> &'static Bounds {
        if self.unigram.is_single() { &SINGLE } else { &DOUBLE }
    }

    fn new((unigram, space): (&Arc<Unigram>, char), spelling: &Spelling<'_>, words: bool) -> Weigh {
        let bound = spelling.byte_tokens.iter().map(|&(id, _)| id).chain(unigram.texts().map(|(_, id)| id));
        let bound = bound.chain(spelling.unknown).max().map_or(0, |id| id as usize + 1);
        let weight = |id: usize| unigram.round(unigram.score(id as u32));
        let mut weights: Vec<f64> = (0..bound).map(weight).collect();
        for &(id, byte) in spelling.byte_tokens {
            // One byte of a character adds what the character does.
            let begins = byte & 0xC0 != 0x80;
            weights[id as usize] = if begins { unigram.unknown_score() } else { 0.0 };
        }
        if let Some(weight) = spelling.unknown.and_then(|id| weights.get_mut(id as usize)) {
            *weight = unigram.unknown_score();
        }
        let unknown = unigram.unknown_score().abs();
        let heaviest = weights.iter().fold(unknown, |most, weight| most.max(weight.abs()));
        Weigh {
            unigram: unigram.clone(),
            weights,
            heaviest,
            words,
            codes: codes(unigram, space),
            #[cfg(simd_x86)]
            able: Able::new(),
        }
    }
}

impl Shape {
    /// Of these steps, where pieces are weighed.
    fn weighed(normalizer: &[Step], pretokenizer: &[Step]) -> Option<Shape> {
        match pretokenizer {
            [] => Shape::new(normalizer, &[], false),
            [_] => Shape::new(normalizer, pretokenizer, false),
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
