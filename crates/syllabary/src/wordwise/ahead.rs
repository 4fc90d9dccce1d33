//! Words of a text, several at a time: what is remembered of them.
//!
//! A second pass over a text of many words waited for the memory at most of them: so the lines of some words are asked for before
//! the first is needed, and then, of those that are new, what the model looks at first. Leaves out how text is cut and what
//! becomes of new words (`walk`).

use std::ops::Range;

use super::{
    classes::{ALONE, TOKEN, WORD},
    walk::{Cut, Cutter},
};
use crate::{
    Error,
    charwise::out::Out,
    encode::{Key, LONG_FAR, LONGER, Longer, SHORT, decode},
    models::Model,
};

/// One text on its way.
pub(super) struct Walk<'w, 'o, F> {
    pub(super) cutter: Cutter<'w>,
    pub(super) out: &'w mut Out<'o, F>,
    /// A word was new.
    learned: bool,
}

/// The first byte of characters of three bytes or four.
const WIDE: u8 = 0xE0;

/// So many words are looked for together.
const AHEAD: usize = 16;

/// A word, or what stands alone, and its class; the hash of one that is not long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead {
    start: usize,
    end: usize,
    class: u32,
    hash: u64,
}

impl Ahead {
    #[inline]
    pub(super) fn of(text: &[u8], Range { start, end }: Range<usize>, class: u32) -> Ahead {
        let length = end - start;
        let hash = match length {
            _ if class >= TOKEN || length > LONGER => 0,
            ..=SHORT => Key::at(text, start, length).hash(),
            _ => Longer::at(text, start, length).hash(),
        };
        Ahead { start, end, class, hash }
    }
}

impl<'w, 'o, F: FnMut(&[u32]) -> bool> Walk<'w, 'o, F> {
    pub(super) fn new(cutter: Cutter<'w>, out: &'w mut Out<'o, F>) -> Self {
        Walk { cutter, out, learned: true }
    }

    /// Writes the ids of a text; `KINDS`: its characters are of several (`Wordwise::has_kinds`).
    pub(super) fn text<const KINDS: bool>(&mut self, text: &str) -> Result<(), Error> {
        let (mut cut, mut ahead) = (Cut::default(), [Ahead::default(); AHEAD]);
        loop {
            self.together(text, &mut cut)?;
            let (count, more) = self.ahead::<KINDS>(text, &mut cut, &mut ahead);
            if std::mem::take(&mut self.learned) {
                self.ask_for_new(text, &ahead[..count]);
            }
            for word in &ahead[..count] {
                self.out.make_room();
                match word.class {
                    WORD | ALONE if self.unspaced(text.as_bytes(), word.start..word.end) => {}
                    WORD | ALONE => self.word(text, word)?,
                    class => self.out.few(&[class - TOKEN; 4], 1),
                }
            }
            if !more? || self.out.stopped {
                return Ok(());
            }
        }
    }

    /// The next words: how many, and whether more may come. The lines of the memory in which they are looked for are asked
    /// for before the first is needed. Tokens before the first word are written at once.
    #[inline]
    fn ahead<const KINDS: bool>(
        &mut self,
        text: &str,
        cut: &mut Cut,
        words: &mut [Ahead; AHEAD],
    ) -> (usize, Result<bool, Error>) {
        let mut count = 0;
        while count < AHEAD && !self.out.stopped {
            let (Range { start, end }, class) = match self.cutter.next::<KINDS>(text, cut) {
                Ok(Some(word)) => word,
                Ok(None) => return (count, Ok(false)),
                Err(error) => return (count, Err(error)),
            };
            let is_token = class >= TOKEN;
            if is_token && count == 0 {
                self.out.make_room();
                self.out.few(&[class - TOKEN; 4], 1);
                continue;
            }
            words[count] = Ahead::of(text.as_bytes(), start..end, class);
            if !is_token && end - start <= LONGER && !self.cutter.is_unspaced(text.as_bytes(), start) {
                self.cutter.work.memory.ask(end - start, words[count].hash);
            }
            count += 1;
        }
        (count, Ok(true))
    }

    /// Writes the ids of a word that comes again too seldom to be looked for; whether it is one.
    #[inline]
    pub(super) fn unspaced(&mut self, text: &[u8], place: Range<usize>) -> bool {
        let Cutter { maker, work, .. } = &self.cutter;
        let letters = if place.len() == 3 { work.letters.alone() } else { work.letters.unspaced() };
        let (Some(model), Some(letters)) = (&maker.tokenizer.model, letters) else { return false };
        self.out.some(|room| model.write(&text[place], letters, room))
    }

    /// Asks for what is needed of words that are not remembered.
    #[inline]
    fn ask_for_new(&self, text: &str, words: &[Ahead]) {
        let Cutter { maker, work, .. } = &self.cutter;
        let Some(model) = &maker.tokenizer.model else { return };
        let (bytes, mut new, mut count) = (text.as_bytes(), [0; AHEAD], 0);
        for &Ahead { start, end, class, hash } in words {
            let length = end - start;
            // No branch: which words are new is not to be foretold.
            new[count] = start;
            count += usize::from(
                class < TOKEN
                    && length <= SHORT
                    && work.memory.few(Key::at(bytes, start, length), hash).is_none(),
            );
        }
        new[..count].iter().for_each(|&start| model.ask(bytes, start));
    }

    /// The ids of a word; there must be room.
    #[inline]
    pub(super) fn word(&mut self, text: &str, &Ahead { start, end, hash, .. }: &Ahead) -> Result<(), Error> {
        let length = end - start;
        let mut short = None;
        if length <= SHORT {
            let key = Key::at(text.as_bytes(), start, length);
            if let Some((ids, count)) = self.cutter.work.memory.few(key, hash) {
                self.out.few(ids, count);
                return Ok(());
            }
            short = Some((key, hash));
        } else if length <= LONGER {
            let key = Longer::at(text.as_bytes(), start, length);
            if self.out.longer(&self.cutter.work.memory, key) {
                return Ok(());
            }
        }
        self.other_word(&text[start..end], short)
    }

    /// The same for a word that is long, has many ids or is not where one looks first; `short`: its key and hash, if it is short.
    #[inline(never)]
    pub(super) fn other_word(&mut self, word: &str, short: Option<(Key, u64)>) -> Result<(), Error> {
        let (memory, mut room) = (&mut self.cutter.work.memory, [0; LONG_FAR]);
        if let Some(ids) = memory.elsewhere((word.as_bytes(), short), true, &mut room) {
            self.out.many(ids);
            return Ok(());
        }
        let mut ids = std::mem::take(&mut self.cutter.work.ids);
        ids.clear();
        self.learned = true;
        let known = self.cutter.learn(word, &mut ids);
        if known.is_ok() {
            let memory = &mut self.cutter.work.memory;
            match short {
                Some((key, hash)) => memory.put_short(key, hash, &ids),
                None => memory.put(word.as_bytes(), &ids, false),
            }
            self.out.many(&ids);
        }
        self.cutter.work.ids = ids;
        known
    }
}

impl Cutter<'_> {
    /// Whether a word that begins here is looked for only if it has other letters (`Walk::unspaced`).
    #[inline]
    pub(super) fn is_unspaced(&self, text: &[u8], start: usize) -> bool {
        text[start] >= WIDE
            && self.maker.tokenizer.model.as_ref().is_some_and(Model::writes)
            && self.work.letters.is_unspaced(decode(text, start).0)
    }
}
