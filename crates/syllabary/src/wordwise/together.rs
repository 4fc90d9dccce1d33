//! Words that are looked up together.
//!
//! ```text
//! places to cut  ->  up to 1,024 words, without the white space between them  ->  one look for all, then those not found
//! ```
//!
//! Leaves out how they are cut (`cut`), and few words, which are looked up one by one (`ahead`).

use super::{
    ahead::{Ahead, Walk},
    classes::WORD,
    cut::Sides,
    walk::{Cut, Cutter, Work},
};
use crate::{Error, encode::Several, models::Model};

/// Less text is cut one by one.
const FEWEST: usize = 128;
/// The model is asked for so many new words at once.
const ASKED: usize = 16;
/// Of so many words one is of a script without spaces, if the text is: the others are signs.
const SIGNS: usize = 3;
/// Of so many it is asked.
const SAMPLE: usize = 32;
/// So many characters are made known at once.
const KNOWN: usize = 64;

impl<F: FnMut(&[u32]) -> bool> Walk<'_, '_, F> {
    /// Writes the words from where the text has been cut, as long as they are cut together.
    #[inline]
    pub(super) fn together(&mut self, text: &str, cut: &mut Cut) -> Result<(), Error> {
        if text.len() - cut.at < FEWEST || cut.between.is_some() {
            return Ok(());
        }
        self.cutter.know_ascii()?;
        let mut several = self.cutter.work.several.take().unwrap_or_default();
        let mut done = Ok(());
        while done.is_ok() && !self.out.stopped {
            let (end, are_unspaced) = self.cutter.cut_many(text, cut.at, &mut several);
            if !several.are_many() {
                if text.len() - cut.at >= FEWEST && self.cutter.know(&text[cut.at..])? {
                    continue;
                }
                break;
            }
            cut.at = end;
            done = match are_unspaced {
                true => self.one_by_one(text, &several),
                false => self.look(text, &mut several),
            };
        }
        several.clear();
        self.cutter.work.several = Some(several);
        done
    }

    /// Writes words of which most are not looked for.
    fn one_by_one(&mut self, text: &str, several: &Several) -> Result<(), Error> {
        for number in 0..several.count() {
            let (start, end) = several.span(number);
            if !self.unspaced(text.as_bytes(), start..end) {
                self.out.make_room();
                self.word(text, &Ahead::of(text.as_bytes(), start..end, WORD))?;
            }
        }
        Ok(())
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
            if let Some((ids, count)) = self.cutter.work.merging.learned(number) {
                self.out.first(ids, count);
                continue;
            }
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
    /// Makes sure that the classes of ASCII are known.
    fn know_ascii(&mut self) -> Result<(), Error> {
        if self.work.wide.is_none() {
            let mut letter = [0; 1];
            for byte in 0..128_u8 {
                if self.work.classes.ascii(byte) == 0 {
                    self.class(char::from(byte).encode_utf8(&mut letter))?;
                }
            }
            self.work.wide = Some(Sides::new(|byte| self.work.classes.ascii(byte)));
        }
        Ok(())
    }

    /// Finds the classes of the next characters, if there are some that have none yet; whether there were.
    fn know(&mut self, text: &str) -> Result<bool, Error> {
        let mut were_new = false;
        for (at, char) in text.char_indices().take(KNOWN) {
            if self.work.classes.get(char.into()) == 0 {
                let class = self.class(&text[at..at + char.len_utf8()])?;
                were_new |= class != 0 && char.len_utf8() <= 3;
            }
        }
        Ok(were_new)
    }

    /// The next words of a text, where the last ends, and whether most are of scripts without spaces.
    fn cut_many(&self, text: &str, at: usize, several: &mut Several) -> (usize, bool) {
        let (Work { classes, wide, .. }, bytes) = (&*self.work, text.as_bytes());
        let Some(wide) = wide else { return (at, false) };
        let end = wide.cut(classes, bytes, at, several);
        let first = (0..several.count().min(SAMPLE)).map(|number| several.span(number).0);
        let unspaced = first.clone().filter(|&start| self.is_unspaced(bytes, start)).count();
        (end, SIGNS * unspaced > first.len())
    }
}
