//! Encoding a stretch of text: cutting it, and what becomes of a word that is not remembered.
//!
//! Leaves out the memory (`ahead`), what characters do (`classes`), the models (`models`) and special tokens.

use std::ops::Range;

use super::{
    Wordwise,
    ahead::Walk,
    classes::{Classes, NUMBER, SPACE, TOKEN, WORD, go_on},
    cut::Sides,
    letters::Letters,
    merging::{Maker, Merging},
};
use crate::encode::Several;
use crate::{
    Error,
    asking::Ask,
    charwise::{
        memory::Memory,
        out::{Out, ROOM, RUN},
    },
    dropout::Dropout,
    encode::decode,
    models::{Found, Model},
    tokenizer::Tokenizer,
};

/// Once in so many words it is asked whether to go on.
const OFTEN: usize = 1 << 16;

/// Memory and buffers that one thread reuses from text to text.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(super) classes: Classes,
    pub(super) letters: Letters,
    pub(super) memory: Memory,
    run: Vec<u32>,
    made: String,
    pub(super) merging: Merging,
    pub(super) ids: Vec<u32>,
    /// How words are cut together, once that is known, and those that are.
    pub(super) wide: Option<Sides>,
    pub(super) several: Option<Several>,
}

impl Work {
    /// Says that much text is coming.
    pub(crate) fn expect_much(&mut self) {
        self.memory.expect_much();
    }
}

impl Wordwise {
    /// Hands the ids of `text`, which has no special tokens, to `sink`, run by run, which says whether to go
    /// on.
    ///
    /// # Errors
    /// `Error::UnknownSymbol` without a place and a name: the general way finds them.
    pub(crate) fn encode(
        &self,
        text: &str,
        (tokenizer, ask): (&Tokenizer, &Ask),
        work: &mut Work,
        sink: impl FnMut(&[u32]) -> bool,
    ) -> Result<(), Error> {
        let mut run = std::mem::take(&mut work.run);
        run.resize(run.len().max(RUN.min(text.len() + 2 * ROOM)), 0);
        let mut out = Out {
            run: &mut run,
            written: 0,
            unknown: 0,
            lacks: false,
            fuses: false,
            after_unknown: false,
            carry: None,
            sink,
            stopped: false,
        };
        let maker = Maker { tokenizer, ask };
        let cutter = Cutter { maker, rules: self, work };
        let mut walk = Walk::new(cutter, &mut out);
        let done = if self.has_kinds { walk.text::<true>(text) } else { walk.text::<false>(text) };
        let done = out.end(done);
        out.flush();
        work.run = run;
        done
    }

    /// Puts the places of the words of `text`, which has no special tokens, into `places`; with its token the place of a
    /// character that stands alone and is one.
    ///
    /// # Errors
    /// Those of the steps, and `Error::Interrupted`.
    pub(crate) fn words(
        &self,
        text: &str,
        tokenizer: &Tokenizer,
        (work, ask): (&mut Work, &Ask),
        places: &mut Vec<(Range<usize>, Option<u32>)>,
    ) -> Result<(), Error> {
        let maker = Maker { tokenizer, ask };
        let mut cutter = Cutter { maker, rules: self, work };
        let mut cut = Cut::default();
        let mut next = || match self.has_kinds {
            true => cutter.next::<true>(text, &mut cut),
            false => cutter.next::<false>(text, &mut cut),
        };
        while let Some((range, class)) = next()? {
            places.push((range, class.checked_sub(TOKEN)));
            if places.len().is_multiple_of(OFTEN) {
                ask.check()?;
            }
        }
        Ok(())
    }
}

impl Wordwise {
    /// The tokens of a word of letters, or of ASCII: of each its id, where it begins and ends in the word, and the number
    /// of its piece. `None` where it is not told here, or a character is unknown.
    pub(crate) fn located(
        &self,
        word: &str,
        (tokenizer, model): (&Tokenizer, &Model),
        work: &mut Work,
    ) -> Result<Option<Vec<[u32; 4]>>, Error> {
        let mut found = Placed { row: Vec::new(), at: 0, piece: 0, is_whole: true };
        if let Some(piece) = work.letters.write_placed(word) {
            model.tokens(piece, &mut Dropout::NONE.coins(0), &mut found);
            let Placed { mut row, is_whole, .. } = found;
            for [_, start, end, _] in &mut row {
                [*start, *end] = work.letters.original(*start as usize..*end as usize);
            }
            return Ok(is_whole.then_some(row));
        }
        if !word.is_ascii() {
            return Ok(None);
        }
        let ask = Ask::default();
        let maker = Maker { tokenizer, ask: &ask };
        let mut cutter = Cutter { maker, rules: self, work };
        // The steps (`LOCAL`) take ASCII away or change it, one for one; they add none.
        let length = cutter.pieces(word, &mut |at, piece| {
            found.at = at as u32;
            model.tokens(piece, &mut Dropout::NONE.coins(0), &mut found);
            found.piece += 1;
        })?;
        Ok((length == word.len() && found.is_whole).then_some(found.row))
    }
}

/// How far a text has been cut.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub(super) at: usize,
    /// What stands behind the last word.
    pub(super) between: Option<(Range<usize>, u32)>,
}

/// Cuts texts.
pub(super) struct Cutter<'w> {
    pub(super) maker: Maker<'w>,
    pub(super) rules: &'w Wordwise,
    pub(super) work: &'w mut Work,
}

impl Cutter<'_> {
    /// The next word, or what stands alone between two, and its class; whitespace is passed over.
    #[inline]
    pub(super) fn next<const KINDS: bool>(
        &mut self,
        text: &str,
        cut: &mut Cut,
    ) -> Result<Option<(Range<usize>, u32)>, Error> {
        if let Some(between) = cut.between.take() {
            return Ok(Some(between));
        }
        let bytes = text.as_bytes();
        let (mut start, mut at, mut kind) = (cut.at, cut.at, WORD); // of the word; the character, and the one before it
        while let Some(&byte) = bytes.get(at) {
            let (class, width) = if byte < 0x80 {
                (self.work.classes.ascii(byte), 1)
            } else {
                let (code, width) = decode(bytes, at);
                (self.work.classes.get(code as u32), width)
            };
            if class == WORD || KINDS && go_on(kind, class) {
                (at, kind) = (at + width, class);
                continue;
            }
            let class = if class == 0 { self.class(&text[at..at + width])? } else { class };
            let word = start..at;
            if class <= NUMBER {
                if class == WORD || KINDS && go_on(kind, class) {
                    continue; // It was not known.
                }
                cut.at = at;
                return Ok(Some((word, WORD)));
            }
            at += width;
            if class != SPACE {
                cut.between = Some((at - width..at, class));
            }
            if !word.is_empty() || class != SPACE {
                cut.at = at;
                return Ok(if word.is_empty() { cut.between.take() } else { Some((word, WORD)) });
            }
            start = at;
        }
        cut.at = bytes.len();
        Ok((start < bytes.len()).then_some((start..bytes.len(), WORD)))
    }
}

impl Cutter<'_> {
    /// Normalizes, cuts and encodes a word.
    pub(super) fn learn(&mut self, word: &str, ids: &mut Vec<u32>) -> Result<(), Error> {
        let (maker, mut tokens) = (self.maker, Tokens { ids, complete: true });
        let Work { letters, merging, .. } = &mut *self.work;
        if let Some(piece) = letters.write(word) {
            if !piece.is_empty() {
                maker.tokens(piece, merging, &mut tokens)?;
            }
        } else {
            let mut merging = std::mem::take(merging);
            let mut done = Ok(());
            self.pieces(word, &mut |_, piece| {
                if done.is_ok() {
                    done = maker.tokens(piece, &mut merging, &mut tokens);
                }
            })?;
            self.work.merging = merging;
            done?;
        }
        if tokens.complete {
            return Ok(());
        }
        Err(Error::UnknownSymbol { symbols: Vec::new(), offset: 0 })
    }

    /// The pieces of a text, by the tokenizer's own steps, and where each begins in what they make of it; its length.
    pub(super) fn pieces(&mut self, text: &str, each: &mut dyn FnMut(usize, &str)) -> Result<usize, Error> {
        let mut made = std::mem::take(&mut self.work.made);
        made.clear();
        let done = self.maker.tokenizer.normalizer.write(text, &mut made);
        let done = done.and_then(|()| self.cut(&made, each));
        let length = made.len();
        self.work.made = made;
        done.map(|()| length)
    }

    /// The pieces of a normalized text, and where each begins.
    pub(super) fn cut(&self, made: &str, each: &mut dyn FnMut(usize, &str)) -> Result<(), Error> {
        let Tokenizer { pretokenizer, split, .. } = self.maker.tokenizer;
        pretokenizer.pieces(split, made, &mut |piece| {
            each(piece.as_ptr() as usize - made.as_ptr() as usize, piece);
        })
    }
}

/// Takes the tokens that a model finds, with their places.
pub(super) struct Placed {
    pub(super) row: Vec<[u32; 4]>,
    /// Where the piece at work begins, and its number.
    pub(super) at: u32,
    pub(super) piece: u32,
    pub(super) is_whole: bool,
}

impl Found for Placed {
    fn token(&mut self, id: u32, bytes: Range<usize>) {
        self.row.push([id, self.at + bytes.start as u32, self.at + bytes.end as u32, self.piece]);
    }

    fn before(&mut self, _id: u32, _bytes: Range<usize>) {
        self.is_whole = false;
    }

    fn missing(&mut self, _bytes: Range<usize>) {
        self.is_whole = false;
    }
}

/// Takes the ids that a model finds.
struct Tokens<'i> {
    ids: &'i mut Vec<u32>,
    complete: bool,
}

impl Found for Tokens<'_> {
    fn token(&mut self, id: u32, _bytes: Range<usize>) {
        self.ids.push(id);
    }

    fn before(&mut self, id: u32, _bytes: Range<usize>) {
        self.ids.push(id);
    }

    fn missing(&mut self, _bytes: Range<usize>) {
        self.complete = false;
    }
}
