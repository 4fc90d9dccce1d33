//! Encoding a stretch of text: walking its characters, word by word.
//!
//! Leaves out what characters do (`classes`), the models (`models`) and special tokens.

use std::ops::Range;

use super::{
    Wordwise,
    classes::{self, ALONE, Classes, SPACE, TOKEN, WORD},
};
use crate::{
    Error,
    charwise::{
        memory::Memory,
        out::{Out, ROOM, RUN},
    },
    dropout::Dropout,
    encode::{Key, SHORT, decode},
    models::{Found, Model},
    tokenizer::Tokenizer,
};

/// Memory and buffers that one thread reuses from text to text.
#[derive(Debug, Default)]
pub(crate) struct Work {
    classes: Classes,
    memory: Memory,
    run: Vec<u32>,
    made: String,
    ids: Vec<u32>,
}

impl Wordwise {
    /// Hands the ids of `text`, which has no special tokens, to `sink`, run by run.
    ///
    /// # Errors
    /// `Error::UnknownSymbol` without a place and a name: the general way finds them.
    pub(crate) fn encode(
        &self,
        text: &str,
        (tokenizer, model): (&Tokenizer, &Model),
        work: &mut Work,
        sink: impl FnMut(&[u32]),
    ) -> Result<(), Error> {
        let mut run = std::mem::take(&mut work.run);
        run.resize(run.len().max(RUN.min(text.len() + 2 * ROOM)), 0);
        let mut out = Out {
            run: &mut run,
            written: 0,
            unknown: 0,
            fuses: false,
            after_unknown: false,
            carry: None,
            sink,
        };
        let mut walk = Walk { tokenizer, model, isolates: self.isolates, work, out: &mut out };
        let done = walk.text(text);
        out.flush();
        work.run = run;
        done
    }
}

/// One text on its way.
struct Walk<'w, 'o, F> {
    tokenizer: &'w Tokenizer,
    model: &'w Model,
    isolates: bool,
    work: &'w mut Work,
    out: &'w mut Out<'o, F>,
}

impl<F: FnMut(&[u32])> Walk<'_, '_, F> {
    fn text(&mut self, text: &str) -> Result<(), Error> {
        let bytes = text.as_bytes();
        let (mut start, mut at) = (0, 0); // of the word, and of the character
        while let Some(&byte) = bytes.get(at) {
            let (class, width) = if byte < 0x80 {
                (self.work.classes.ascii(byte), 1)
            } else {
                let (code, width) = decode(bytes, at);
                (self.work.classes.get(code as u32), width)
            };
            if class == WORD {
                at += width;
                continue;
            }
            let class = if class == 0 { self.class(&text[at..at + width])? } else { class };
            if class != WORD {
                self.word(text, start..at)?;
                self.between(text, at..at + width, class)?;
                start = at + width;
            }
            at += width;
        }
        self.word(text, start..bytes.len())
    }

    /// What stands between words.
    #[inline]
    fn between(&mut self, text: &str, range: Range<usize>, class: u32) -> Result<(), Error> {
        match class {
            SPACE => Ok(()),
            ALONE => self.word(text, range),
            _ => {
                self.out.make_room();
                self.out.few(&[class - TOKEN; 4], 1);
                Ok(())
            }
        }
    }

    /// The ids of a word, which may be empty.
    #[inline]
    fn word(&mut self, text: &str, range: Range<usize>) -> Result<(), Error> {
        if range.is_empty() {
            return Ok(());
        }
        if range.len() <= SHORT {
            let key = Key::at(text.as_bytes(), range.start, range.len());
            if let Some((ids, count)) = self.work.memory.few(key, key.hash()) {
                self.out.make_room();
                self.out.few(ids, count);
                return Ok(());
            }
        }
        self.other_word(&text[range])
    }

    /// The same for a word that is long, has many ids or is not remembered.
    #[inline(never)]
    fn other_word(&mut self, word: &str) -> Result<(), Error> {
        if let Some(ids) = self.work.memory.many(word.as_bytes(), true) {
            self.out.many(ids);
            return Ok(());
        }
        let mut ids = std::mem::take(&mut self.work.ids);
        ids.clear();
        let known = self.learn(word, &mut ids);
        if known.is_ok() {
            self.work.memory.put(word.as_bytes(), &ids, false);
            self.out.many(&ids);
        }
        self.work.ids = ids;
        known
    }

    /// Normalizes, cuts and encodes a word.
    fn learn(&mut self, word: &str, ids: &mut Vec<u32>) -> Result<(), Error> {
        let model = self.model;
        let mut tokens = Tokens { ids, complete: true };
        self.pieces(word, &mut |piece| model.tokens(piece, &mut Dropout::NONE.coins(0), &mut tokens))?;
        if tokens.complete {
            return Ok(());
        }
        Err(Error::UnknownSymbol { symbols: Vec::new(), offset: 0 })
    }

    /// The pieces of a text, by the tokenizer's own steps.
    fn pieces(&mut self, text: &str, each: &mut dyn FnMut(&str)) -> Result<(), Error> {
        let Tokenizer { normalizer, pretokenizer, split, .. } = self.tokenizer;
        let mut made = std::mem::take(&mut self.work.made);
        made.clear();
        let mut done = normalizer.write(text, &mut made);
        if done.is_ok() {
            let mut inner = Ok(());
            done = pretokenizer.cut_text(&made, &mut |part| {
                if inner.is_ok() {
                    inner = split.pieces(part, &mut |piece| each(piece));
                }
            });
            done = done.and(inner);
        }
        self.work.made = made;
        done
    }

    /// The class of a character met for the first time.
    #[cold]
    #[inline(never)]
    fn class(&mut self, character: &str) -> Result<u32, Error> {
        let mut pieces = Vec::new();
        self.pieces(&["a", character, "a"].concat(), &mut |piece| pieces.push(piece.to_owned()))?;
        let mut class = classes::of_pieces(&pieces, self.isolates);
        if let (ALONE, [_, piece, _]) = (class, &pieces[..]) {
            let mut ids = Vec::new();
            let mut tokens = Tokens { ids: &mut ids, complete: true };
            self.model.tokens(piece, &mut Dropout::NONE.coins(0), &mut tokens);
            if let (true, [id]) = (tokens.complete, &ids[..]) {
                class = id.checked_add(TOKEN).unwrap_or(ALONE);
            }
        }
        let (code, _) = decode(character.as_bytes(), 0);
        self.work.classes.put(code as u32, class);
        Ok(class)
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
