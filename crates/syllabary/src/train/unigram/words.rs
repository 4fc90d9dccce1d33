//! Distinct words with their counts, in one array of symbols.
//!
//! A symbol is the rank of a character among those of the corpus, by code point, so that order by symbols is order
//! by text. Each word is followed by a symbol that says how it ended: seeds depend on it (`seed`). Leaves out
//! where words come from (`sentences`, `count`).

use rustc_hash::FxHashMap;

use crate::Error;

/// The first symbol that stands behind words, and the first behind words that end sentences.
pub const ENDS: u32 = u32::MAX - 0x1FF;
const LASTS: u32 = u32::MAX - 0xFF;
/// Behind the last word of the sentence that comes last, or of a word that is taken alone.
pub const LAST: u32 = u32::MAX;

/// Behind a word that another followed, which begins with this byte.
pub fn middle(lead: u8) -> u32 {
    ENDS + u32::from(lead)
}

/// Behind the last word of a sentence that another followed, which begins with this byte; none begins with 0xFF.
pub fn last(lead: u8) -> u32 {
    LASTS + u32::from(lead)
}

/// Whether a symbol stands behind the last word of a sentence.
pub fn is_last(symbol: u32) -> bool {
    symbol >= LASTS
}

/// A word, and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it begins in `Words::text`.
    pub start: u32,
    /// Its symbols.
    pub length: u32,
    /// How often it occurs.
    pub count: u64,
}

/// Words in one array.
#[derive(Debug, Default)]
pub struct Words {
    /// The characters, ascending: symbol -> character.
    pub characters: Vec<char>,
    /// Symbols; behind each word is one of `middle`, `last` or `LAST`.
    pub text: Vec<u32>,
    /// The words, in no order; one may be there more than once.
    pub words: Vec<Word>,
    /// The words as EM takes them, if that is another order than `order` makes.
    pub sequence: Vec<Word>,
}

/// The symbols of characters.
#[derive(Debug)]
pub struct Symbols {
    low: Vec<u32>,
    others: FxHashMap<u32, u32>,
    unknown: u32,
}

impl Symbols {
    /// Of characters in ascending order; `unknown` is the symbol of all others.
    pub fn new(characters: &[char], unknown: u32) -> Symbols {
        let mut symbols = Symbols { low: vec![unknown; 1 << 16], others: FxHashMap::default(), unknown };
        for (symbol, character) in (0..).zip(characters) {
            match symbols.low.get_mut(*character as usize) {
                Some(place) => *place = symbol,
                None => drop(symbols.others.insert(u32::from(*character), symbol)),
            }
        }
        symbols
    }

    /// The symbol of a code point.
    #[inline]
    pub fn of(&self, code: u32) -> u32 {
        match self.low.get(code as usize) {
            Some(symbol) => *symbol,
            None => *self.others.get(&code).unwrap_or(&self.unknown),
        }
    }
}

impl Words {
    /// No words yet, of these characters in ascending order.
    pub fn new(characters: Vec<char>) -> Words {
        Words { characters, ..Words::default() }
    }

    /// Adds a word; `end` is one of `middle`, `last` or `LAST`.
    ///
    /// # Errors
    /// `Error::TooLarge` beyond 2^32 characters.
    pub fn push(
        &mut self,
        codes: impl Iterator<Item = u32>,
        count: u64,
        end: u32,
        symbols: &Symbols,
    ) -> Result<(), Error> {
        let start = self.text.len();
        self.text.extend(codes.map(|code| symbols.of(code)));
        let length = self.text.len() - start;
        self.text.push(end);
        if self.text.len() > ENDS as usize {
            return Err(Error::TooLarge("the distinct words have over 2^32 characters".to_owned()));
        }
        if length > 0 {
            self.words.push(Word { start: start as u32, length: length as u32, count });
        }
        Ok(())
    }

    /// Room for so many symbols and ends of words, and so many words.
    pub fn reserve(&mut self, symbols: usize, words: usize) {
        self.text.reserve_exact(symbols);
        self.words.reserve_exact(words);
    }

    /// The bytes that so many symbols, ends and words take, sorting included.
    pub fn memory_of(symbols: usize, words: usize) -> usize {
        4 * symbols + 3 * size_of::<Word>() / 2 * words
    }

    /// The same of these.
    pub fn memory(&self) -> usize {
        Words::memory_of(self.text.capacity(), self.words.capacity() + self.sequence.capacity())
    }

    /// The symbols of a word.
    #[inline]
    pub fn symbols(&self, word: &Word) -> &[u32] {
        &self.text[word.start as usize..][..word.length as usize]
    }

    /// How a word ended.
    #[inline]
    pub fn end(&self, word: &Word) -> u32 {
        self.text[(word.start + word.length) as usize]
    }

    /// In ascending order, each text with each end once.
    pub fn sort(&mut self) {
        let mut words = std::mem::take(&mut self.words);
        words.sort_unstable_by(|a, b| {
            self.symbols(a).cmp(self.symbols(b)).then_with(|| self.end(a).cmp(&self.end(b)))
        });
        self.words = words;
        self.join(|words, a, b| words.symbols(a) == words.symbols(b) && words.end(a) == words.end(b));
    }

    /// As EM takes them: each text once, the most frequent first, then in ascending order, unless they are in
    /// `sequence`. Must be sorted.
    pub fn order(&mut self) {
        if !self.sequence.is_empty() {
            self.words = std::mem::take(&mut self.sequence);
            return;
        }
        self.join(|words, a, b| words.symbols(a) == words.symbols(b));
        self.words.sort_by_key(|word| std::cmp::Reverse(word.count));
    }

    /// Makes one of neighbours that are `same`.
    fn join(&mut self, same: impl Fn(&Words, &Word, &Word) -> bool) {
        let mut words = std::mem::take(&mut self.words);
        words.dedup_by(|word, before| {
            let joined = same(self, word, before);
            if joined {
                before.count = before.count.saturating_add(word.count);
            }
            joined
        });
        words.shrink_to_fit();
        self.words = words;
    }

    /// The text of some symbols.
    pub fn spell(&self, symbols: &[u32]) -> String {
        symbols.iter().filter_map(|symbol| self.characters.get(*symbol as usize)).collect()
    }
}
