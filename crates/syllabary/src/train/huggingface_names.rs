//! Before the first merge: the alphabet, the first names by id, and all words in symbols.
//!
//! The rules stand in `reference/train_huggingface.py`: `kept_characters`, `first_names`, `decorated`, `symbols`.
//! And `Made`: names and merges by now, and the name that the next merge makes. Leaves out: merging (`huggingface`).

use std::{
    cmp::Reverse,
    collections::{BTreeSet, hash_map::Entry},
};

use rustc_hash::FxHashMap;

use super::{
    GoOn, ask,
    huggingface::{BpeTrainerOptions, Trained, index},
};
use crate::Error;

/// Stands between words.
pub(super) const EDGE: u32 = u32::MAX;
/// A place inside a symbol.
pub(super) const GONE: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX;
const CHARACTERS: usize = 0x11_0000;

/// Sees a word and its count.
pub(super) type Sees<'a> = dyn FnMut(&[u8], u64) -> Result<(), Error> + 'a;
/// Calls with every word and its count, each time in the same order.
pub(super) type Each<'a> = dyn Fn(&mut Sees<'_>) -> Result<(), Error> + 'a;

/// What is learned by now.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub trained: Trained,
    /// Of each name.
    ids: FxHashMap<String, u32>,
}

impl Made {
    /// A name before the first merge, unless it is there.
    fn add(&mut self, name: String) -> Result<(), Error> {
        let names = &mut self.trained.names;
        let id = u32::try_from(names.len()).map_err(|_| Error::TooLarge("over 2^32 names".to_owned()))?;
        if let Entry::Vacant(entry) = self.ids.entry(name) {
            names.push(entry.key().clone());
            entry.insert(id);
            self.trained.first = names.len();
        }
        Ok(())
    }

    /// Notes a merge; the id of the name that it makes, which is a new one unless there is such a name.
    ///
    /// # Errors
    /// `Error::TooLarge`.
    pub fn merge(&mut self, (left, right): (u32, u32), count: u64, prefix: &str) -> Result<u32, Error> {
        let Trained { names, merges, counts, .. } = &mut self.trained;
        let rest = names[right as usize].as_str();
        let name = [names[left as usize].as_str(), rest.strip_prefix(prefix).unwrap_or(rest)].concat();
        let id = match self.ids.get(&name) {
            Some(&id) => id,
            None => {
                let id = index(names.len())?;
                names.push(name.clone());
                self.ids.insert(name, id);
                id
            }
        };
        merges.push((left, right, id));
        counts.push(count);
        Ok(id)
    }
}

/// All words in a row, in symbols.
#[derive(Debug, Default)]
pub(super) struct Spelled {
    /// A symbol stands where its first character was; its other places are `GONE`.
    pub flat: Vec<u32>,
    /// Of how many first symbols each symbol is made, at the first of its places and at the last.
    lengths: Vec<u32>,
    /// The word of each place, and how often each word occurs.
    pub words: Vec<u32>,
    weights: Vec<i64>,
}

impl Spelled {
    /// The bytes of memory that the words take.
    pub fn memory(&self) -> usize {
        4 * (self.flat.capacity() + self.lengths.capacity() + self.words.capacity())
            + 8 * self.weights.capacity()
    }
}

impl Spelled {
    /// How often the word of a place occurs.
    pub fn weight(&self, place: u32) -> i64 {
        self.weights[self.words[place as usize] as usize]
    }

    /// Joins the pair at a place into `id`; its length, or `None` if the pair does not stand there.
    pub fn join(&mut self, place: u32, pair: (u32, u32), id: u32) -> Option<u32> {
        let at = place as usize;
        if self.flat[at] != pair.0 {
            return None;
        }
        let next = at + self.lengths[at] as usize;
        if self.flat[next] != pair.1 {
            return None;
        }
        let length = self.lengths[at] + self.lengths[next];
        self.flat[next] = GONE;
        self.flat[at] = id;
        self.lengths[at] = length;
        self.lengths[at + length as usize - 1] = length;
        Some(length)
    }

    /// Place, id and length of the symbol before that at a place, in its word.
    pub fn neighbour_before(&self, place: u32) -> Option<(u32, u32, u32)> {
        let end = place as usize - 1;
        if self.flat[end] == EDGE {
            return None;
        }
        let length = self.lengths[end];
        let start = place - length;
        Some((start, self.flat[start as usize], length))
    }

    /// Id and length of the symbol behind that at a place, in its word.
    pub fn neighbour_after(&self, place: u32) -> Option<(u32, u32)> {
        let next = place as usize + self.lengths[place as usize] as usize;
        if self.flat[next] == EDGE { None } else { Some((self.flat[next], self.lengths[next])) }
    }
}

/// The character that GPT-2 writes for each byte.
fn byte_characters() -> [char; 256] {
    let mut table = ['\0'; 256];
    let mut others = 0x100_u32;
    for byte in 0..=255_u8 {
        table[byte as usize] = match byte {
            33..=126 | 161..=172 | 174..=255 => char::from(byte),
            _ => {
                others += 1;
                char::from_u32(others - 1).unwrap_or_default()
            }
        };
    }
    table
}

/// Calls `each` with every character of a word.
fn characters(word: &[u8], bytes: Option<&[char; 256]>, mut each: impl FnMut(char)) {
    match bytes {
        Some(table) => word.iter().for_each(|&byte| each(table[byte as usize])),
        // Words are counted as `&str`; an empty one in place of a broken one would show in every test.
        None => std::str::from_utf8(word).unwrap_or_default().chars().for_each(each),
    }
}

/// The characters that are kept, by code point.
fn kept(
    words: &Each<'_>,
    options: &BpeTrainerOptions,
    bytes: Option<&[char; 256]>,
    go_on: &mut GoOn<'_>,
) -> Result<Vec<char>, Error> {
    let mut counts = vec![0_u64; CHARACTERS];
    let mut seen = Vec::new();
    let mut add = |character: char, count: u64| {
        let total = &mut counts[character as usize];
        if *total == 0 {
            seen.push(character);
        }
        *total = total.saturating_add(count);
    };
    let mut step = 0;
    words(&mut |word, count| {
        step += 1;
        characters(word, bytes, |character| add(character, count));
        ask(go_on, step)
    })?;
    options.initial_alphabet.iter().for_each(|&character| add(character, u64::MAX));
    if let Some(limit) = options.limit_alphabet {
        seen.sort_unstable_by_key(|&character| (Reverse(counts[character as usize]), character));
        seen.truncate(limit);
    }
    seen.sort_unstable();
    Ok(seen)
}

/// The four symbols of each character: bare, with the prefix, with the suffix, with both.
struct Symbols<'o> {
    of: Vec<u32>,
    texts: Vec<[String; 4]>,
    used: Vec<[bool; 4]>,
    options: &'o BpeTrainerOptions,
}

impl<'o> Symbols<'o> {
    fn new(names: &[String], options: &'o BpeTrainerOptions) -> Symbols<'o> {
        let mut symbols =
            Symbols { of: vec![NONE; CHARACTERS], texts: Vec::new(), used: Vec::new(), options };
        let (prefix, suffix) = (&options.continuing_subword_prefix, &options.end_of_word_suffix);
        for name in names {
            let mut characters = name.chars();
            if let (Some(character), None) = (characters.next(), characters.next()) {
                symbols.of[character as usize] = symbols.texts.len() as u32; // one a character
                symbols.texts.push([
                    name.clone(),
                    [prefix, name].map(String::as_str).concat(),
                    [name, suffix].map(String::as_str).concat(),
                    [prefix, name, suffix].map(String::as_str).concat(),
                ]);
                symbols.used.push([false; 4]);
            }
        }
        symbols
    }

    /// Calls `each` with the symbols of a word, as character and form.
    fn spell(&self, word: &[u8], bytes: Option<&[char; 256]>, mut each: impl FnMut(u32, usize)) {
        let last = match bytes {
            Some(_) => word.len(),
            None => std::str::from_utf8(word).unwrap_or_default().chars().count(),
        };
        let (mut place, has_prefix) = (0, !self.options.continuing_subword_prefix.is_empty());
        let has_suffix = !self.options.end_of_word_suffix.is_empty();
        characters(word, bytes, |character| {
            let form =
                usize::from(has_prefix && place > 0) + 2 * usize::from(has_suffix && place + 1 == last);
            place += 1;
            let symbol = self.of[character as usize];
            if symbol != NONE {
                each(symbol, form);
            }
        });
    }
}

/// What words are spelled with before the first merge.
pub(super) struct First<'o> {
    pub made: Made,
    symbols: Symbols<'o>,
    /// Of each character the ids of its four symbols.
    forms: Vec<[u32; 4]>,
    bytes: Option<[char; 256]>,
    /// Symbols of all words, and their edges.
    pub places: usize,
}

impl<'o> First<'o> {
    /// Of all words.
    ///
    /// # Errors
    /// `Error::TooLarge` beyond 2^32 symbols in distinct words, or 2^63 in all; `Error::Interrupted`.
    pub fn of(
        words: &Each<'_>,
        options: &'o BpeTrainerOptions,
        go_on: &mut GoOn<'_>,
    ) -> Result<First<'o>, Error> {
        let bytes = options.byte_level.then(byte_characters);
        let alphabet = kept(words, options, bytes.as_ref(), go_on)?;
        let mut made = Made::default();
        for name in options.special_tokens.iter().cloned().chain(alphabet.iter().map(char::to_string)) {
            made.add(name)?;
        }
        let mut symbols = Symbols::new(&made.trained.names, options);
        let (mut total, mut places, mut step) = (0_u64, 1_usize, 0);
        let mut used = std::mem::take(&mut symbols.used);
        words(&mut |word, count| {
            let before = places;
            symbols.spell(word, bytes.as_ref(), |symbol, form| {
                used[symbol as usize][form] = true;
                places += 1;
            });
            total =
                total.saturating_add(count.saturating_mul((places - before) as u64)).saturating_add(count);
            (places, step) = (places + 1, step + 1);
            ask(go_on, step)
        })?;
        if total > i64::MAX.cast_unsigned() || places >= GONE as usize {
            return Err(Error::TooLarge("over 2^32 symbols in distinct words, or 2^63 counted".to_owned()));
        }
        let texts = symbols.texts.iter().zip(&used);
        let forms = texts.flat_map(|(texts, used)| texts.iter().zip(used).filter(|(_, used)| **used));
        let decorated: BTreeSet<String> = forms.map(|(text, _)| text.clone()).collect();
        for name in decorated {
            made.add(name)?;
        }
        let id = |text: &String| made.ids.get(text).copied().unwrap_or(NONE);
        let forms = symbols.texts.iter().map(|four| four.each_ref().map(id)).collect();
        Ok(First { made, symbols, forms, bytes, places })
    }

    /// Appends the symbols of a word.
    pub fn spell(&self, word: &[u8], places: &mut Vec<u32>) {
        self.symbols.spell(word, self.bytes.as_ref(), |symbol, form| {
            places.push(self.forms[symbol as usize][form]);
        });
    }
}

/// Words and names before the first merge. fits: is asked whether so many places, each a symbol or an edge, fit.
///
/// # Errors
/// As `First::of`, and as `fits`.
pub(super) fn spell(
    words: &Each<'_>,
    options: &BpeTrainerOptions,
    fits: impl FnOnce(usize) -> Result<(), Error>,
    go_on: &mut GoOn<'_>,
) -> Result<(Spelled, Made), Error> {
    let first = First::of(words, options, go_on)?;
    fits(first.places)?;
    let (flat, words_at) = (Vec::with_capacity(first.places), Vec::with_capacity(first.places));
    let mut spelled = Spelled { flat, words: words_at, ..Spelled::default() };
    spelled.flat.push(EDGE);
    spelled.words.push(0);
    words(&mut |word, count| {
        let flat = &mut spelled.flat;
        first.spell(word, flat);
        flat.push(EDGE);
        spelled.words.resize(flat.len(), spelled.weights.len() as u32); // no more than places
        spelled.weights.push(count.cast_signed());
        ask(go_on, spelled.weights.len())
    })?;
    spelled.lengths = vec![1; first.places];
    Ok((spelled, first.made))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Words that are there.
    pub fn of<'a>(words: &'a [(&'a [u8], u64)]) -> impl Fn(&mut Sees<'_>) -> Result<(), Error> + 'a {
        |f| words.iter().try_for_each(|&(word, count)| f(word, count))
    }

    #[test]
    fn a_name_that_is_there_keeps_its_id() {
        let mut made = Made::default();
        for name in ["a", "##b", "ab"] {
            made.add(name.to_owned()).unwrap();
        }
        assert_eq!(made.merge((0, 1), 7, "##").unwrap(), 2);
        assert_eq!(made.merge((2, 1), 5, "##").unwrap(), 3);
        assert_eq!((made.trained.names[3].as_str(), made.trained.first), ("abb", 3));
        assert_eq!((made.trained.merges, made.trained.counts), (vec![(0, 1, 2), (2, 1, 3)], vec![7, 5]));
    }
}
