//! Learning a segment of few characters: its codes, the best way through it, and its place in the memory.
//!
//! Leaves out what is longer or in which something is unknown, and ways that hang on what stands before
//! (`weigh`).

use super::{Charwise, carry::Kept, out::Out, weigh::Weigh, work::Work};
use crate::{
    encode::Key,
    models::unigram::{BRIEF, Brief, Unigram},
};

const ASCII: usize = 128;

/// The codes of ASCII, as it is read.
pub(super) type Codes = [u16; ASCII];

/// Those of a model in which `space` stands for a space.
pub(super) fn codes(unigram: &Unigram, space: char) -> Box<Codes> {
    Box::new(std::array::from_fn(|number| match u32::try_from(number).ok().and_then(char::from_u32) {
        Some(char) => unigram.code(if char == ' ' { space } else { char }.into()) as u16,
        None => 0,
    }))
}

impl Charwise {
    /// Writes and remembers a segment that is not remembered, if it is for this; whether it was. `new`: its key
    /// and hash, if it is short.
    #[inline(never)]
    pub(super) fn learn_brief<F: FnMut(&[u32]) -> bool>(
        &self,
        weigh: &Weigh,
        (segment, new): (&str, Option<(Key, u64)>),
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> bool {
        let Work { lattice, memory, .. } = work;
        let brief = &mut lattice.brief;
        if segment.len() >= BRIEF || out.carry.is_none() || !out.has_room(BRIEF) {
            return false;
        }
        self.read_brief(weigh, segment, brief);
        let Some((score, better)) = weigh.unigram.solve_brief(brief) else { return false };
        let kept = weigh.kept((brief.len(), brief.count), score.into(), better.into());
        if kept == Kept::Never || (kept == Kept::Near && !out.is_near()) {
            return false;
        }
        let first = *brief.copied();
        match out.run[out.written..].first_chunk_mut() {
            Some(room) if brief.len() <= first.len() => {
                *room = first;
                out.written += brief.len();
                out.after_unknown = false;
            }
            _ => out.many(brief.ids()),
        }
        match new {
            Some(new) if kept == Kept::Always => memory.put_new(new, (&first, brief.ids())),
            _ => memory.put(segment.as_bytes(), brief.ids(), kept == Kept::Near),
        }
        true
    }

    /// Takes in the codes of fewer characters than `BRIEF`.
    #[inline]
    fn read_brief(&self, weigh: &Weigh, segment: &str, brief: &mut Brief) {
        if segment.is_ascii() {
            for (code, byte) in brief.codes.iter_mut().zip(segment.bytes()) {
                *code = weigh.codes[usize::from(byte) % ASCII];
            }
            brief.count = segment.len();
            return;
        }
        brief.count = 0;
        for char in segment.chars() {
            brief.codes[brief.count % BRIEF] = weigh.unigram.code(self.letters.canonical(char).into()) as u16;
            brief.count += 1;
        }
    }
}
