//! Segments that are looked up together.
//!
//! ```text
//! places to cut, of 512 bytes of ASCII at once, and others  ->  up to 1,024 segments  ->  one look for all, then those not found
//! ```
//!
//! Where symbols merge, segments of any letters are taken together; where they are weighed, those of ASCII. Leaves out the look
//! itself (`encode::several`), characters alone (`alone`), and what is done with a segment that was not found (`encode`).

use super::{
    Charwise, How,
    alone::BETWEEN_LOOKS,
    joins::{BLOCK, BLOCKS},
    out::Out,
    work::Work,
};
use crate::{
    Error,
    encode::{LONGER, UNSPACED},
    merge::Merges,
};

/// Of characters that are in no token with another one so many in a row are looked up together.
const STRANGERS: usize = 4;

/// So many characters of ASCII between them are words.
const WORD: usize = 3;

// As a byte has one id at most, and a segment may end behind the blocks.
const _: () = assert!(BLOCKS * BLOCK < BETWEEN_LOOKS);

impl Charwise {
    /// Takes the next segments, where they merge, to those that are looked up together; where they end, or `at`.
    #[inline]
    pub(super) fn gather(&self, text: &str, at: usize, work: &mut Work) -> usize {
        let bytes = text.as_bytes();
        let is_unspaced = bytes[at] >= UNSPACED && !self.knows_scripts;
        if !matches!(self.how, How::Merge(_)) || is_unspaced {
            return at;
        }
        if work.several.count() == 0 {
            self.begin(at, work);
        }
        let mut last = at;
        if bytes[at] < 128 {
            let known;
            (last, known) = self.cut_ascii(bytes, at, work);
            if known - at >= WORD {
                work.strangers = 0;
            }
            if last > at && (last == known || known == bytes.len() || known - at == BLOCKS * BLOCK) {
                return last;
            }
        } else if let end = self.cut_others(text, at, work)
            && end > at
        {
            return end;
        } else if self.is_left_alone(text, at, &mut work.strangers) {
            return at;
        }
        // It goes on behind ASCII.
        let end = self.joins.end(&self.letters, text, last);
        if end - last > LONGER {
            return last;
        }
        work.several.add(last, end);
        end
    }

    /// There are no segments yet to be looked up; the first begins at byte `at`.
    #[inline]
    fn begin(&self, at: usize, work: &mut Work) {
        match &self.dropped {
            Some(_) => work.several.begin_apart(at),
            None => work.several.begin(at),
        }
    }

    /// Whether the character at byte `at`, which is not ASCII, is not looked up with others: it merges with nothing, or, where
    /// segments of all scripts are looked up, it is unknown and not remembered, or in no token with another one as are those before it.
    #[inline]
    fn is_left_alone(&self, text: &str, at: usize, strangers: &mut usize) -> bool {
        if !self.knows_scripts {
            return self.is_alone(text, at);
        }
        let Some(char) = text[at..].chars().next() else { return true };
        let letter = self.letters.get(char);
        *strangers = if letter.has_neighbours() { 0 } else { *strangers + 1 };
        letter.is_unknown() && !self.knows_unknown() || *strangers > STRANGERS
    }

    /// The same of text that is not all ASCII.
    #[inline]
    fn cut_others(&self, text: &str, at: usize, work: &mut Work) -> usize {
        match self.groups.as_ref().filter(|_| work.strangers <= STRANGERS) {
            Some(groups) => self.cut_by_groups(groups, text.as_bytes(), at, &mut work.several),
            None => at,
        }
    }

    /// Takes the segments from byte `at` on, as far as they are ASCII and in some blocks, but for the last, to those that are looked
    /// up together; where that begins, and up to where ASCII is known.
    #[inline]
    fn cut_ascii(&self, bytes: &[u8], start: usize, work: &mut Work) -> (usize, usize) {
        let cuts = self.joins.cuts_from(bytes, start);
        let several = &mut work.several;
        if let Some(dropped) = &self.dropped {
            return (dropped.cut(bytes, start, &cuts, several), cuts.end);
        }
        for (bits, base) in cuts.bits.into_iter().zip((start..cuts.end).step_by(BLOCK)) {
            several.cut(bits, base);
        }
        if cuts.end == bytes.len() && start < cuts.end {
            several.put(cuts.end);
        }
        (several.end(), cuts.end)
    }

    /// Writes the segments from byte `at` on, as far as they are ASCII and in some blocks, but for the last;
    /// where that begins.
    #[inline]
    pub(super) fn blocks<F: FnMut(&[u32]) -> bool>(
        &self,
        text: &str,
        at: usize,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<usize, Error> {
        self.begin(at, work);
        let (end, _) = self.cut_ascii(text.as_bytes(), at, work);
        self.several(text, merges, work, out)?;
        Ok(end)
    }

    /// Writes the segments that are looked up together.
    pub(super) fn several<F: FnMut(&[u32]) -> bool>(
        &self,
        text: &str,
        merges: &Merges,
        work: &mut Work,
        out: &mut Out<'_, F>,
    ) -> Result<(), Error> {
        if !work.several.are_many() {
            for place in 0..work.several.count() {
                let (from, to) = work.several.span(place);
                out.make_room();
                self.segment(text, from..to, merges, work, out)?;
            }
            work.several.clear();
            return Ok(());
        }
        // All lines are asked for before any is needed: most of the time is spent waiting for them.
        let Work { memory, several, .. } = &mut *work;
        let missed = memory.look(several, text.as_bytes());
        self.learn_many(text, missed, work);
        let mut written = 0;
        for number in 0..missed {
            let (range, short, filled) = work.several.missed(number);
            out.first(work.several.ids(written), filled - written);
            written = filled;
            if let Some((ids, count)) = work.new.ids(number) {
                out.first(ids, count);
                continue;
            }
            out.make_room();
            self.other_segment(&text[range], short, merges, work, out)?;
        }
        out.first(work.several.ids(written), work.several.filled() - written);
        work.several.clear();
        Ok(())
    }
}
