//! Words that are looked up together, where the processor cuts many at once.
//!
//! ```text
//! places to cut  ->  up to 1,024 words, without the white space between them  ->  one look for all, then those not found
//! ```
//!
//! Leaves out how they are cut (`cut_wide`), and few words, which are looked up one by one (`ahead`).

use super::{
    ahead::Walk,
    classes::SPACE,
    cut_wide::Wide,
    walk::{Cut, Cutter, Work},
};
use crate::{
    Error,
    encode::{Several, decode},
    models::Model,
};

/// Less text is cut one by one.
const FEWEST: usize = 128;
/// The model is asked for so many new words at once.
const ASKED: usize = 16;

impl<F: FnMut(&[u32]) -> bool> Walk<'_, '_, F> {
    /// Writes the words from where the text has been cut, as long as they are cut together.
    #[inline]
    pub(super) fn together(&mut self, text: &str, cut: &mut Cut) -> Result<(), Error> {
        if text.len() - cut.at < FEWEST || cut.between.is_some() || !self.cutter.is_wide()? {
            return Ok(());
        }
        let mut several = self.cutter.work.several.take().unwrap_or_default();
        let mut done = Ok(());
        while done.is_ok() && !self.out.stopped {
            let end = self.cutter.cut_many(text, cut.at, &mut several);
            if !several.are_many() {
                break;
            }
            cut.at = end;
            done = self.look(text, &mut several);
        }
        several.clear();
        self.cutter.work.several = Some(several);
        done
    }

    /// Writes the words that are looked up together.
    fn look(&mut self, text: &str, several: &mut Several) -> Result<(), Error> {
        let Cutter { maker, work, .. } = &mut self.cutter;
        let tokenizer = maker.tokenizer;
        let missed = work.memory.look(several, text.as_bytes());
        if tokenizer.model.is_none() {
            let Work { merging, letters, memory, .. } = &mut **work;
            merging.learn_many(tokenizer, (text, several, missed), (letters, memory));
        }
        let mut written = 0;
        for number in 0..missed {
            if let Some(model) = tokenizer.model.as_ref().filter(|_| number.is_multiple_of(ASKED)) {
                ask(model, text.as_bytes(), several, number..missed.min(number + ASKED));
            }
            let (range, short, filled) = several.missed(number);
            self.out.first(several.ids(written), filled - written);
            written = filled;
            self.out.make_room();
            self.other_word(&text[range], short)?;
        }
        self.out.first(several.ids(written), several.filled() - written);
        Ok(())
    }
}

/// Asks for what a model needs of new words.
fn ask(model: &Model, text: &[u8], several: &Several, numbers: std::ops::Range<usize>) {
    numbers.for_each(|number| model.ask(text, several.missed(number).0.start));
}

impl Cutter<'_> {
    /// Whether words are cut together.
    fn is_wide(&mut self) -> Result<bool, Error> {
        if self.work.wide.is_none() {
            let mut letter = [0; 1];
            for byte in 0..128_u8 {
                if self.work.classes.ascii(byte) == 0 {
                    self.class(char::from(byte).encode_utf8(&mut letter))?;
                }
            }
            self.work.wide = Some(Wide::new(|byte| self.work.classes.ascii(byte)));
        }
        Ok(matches!(self.work.wide, Some(Some(_))))
    }

    /// The next words of a text, and where the last ends.
    fn cut_many(&self, text: &str, at: usize, several: &mut Several) -> usize {
        let (Work { classes, wide, .. }, bytes) = (&*self.work, text.as_bytes());
        let Some(wide) = wide.as_ref().and_then(Option::as_ref) else { return at };
        let end = wide.cut(classes, bytes, at, several);
        several.leave_out(|start| match bytes[start] {
            byte @ 0..128 => wide.is_space(byte),
            _ => classes.get(decode(bytes, start).0 as u32) == SPACE,
        });
        end
    }
}
