//! The merge loop of sentencepiece's trainer: which pair of neighbours becomes a piece next.
//!
//! The rule: the pair with the highest count, then of fewer characters, then of the smaller text. No two pairs
//! have one text, so that is a total order. A pair whose text may be no piece is never counted; one that occurs
//! nowhere any more becomes a piece too. The specification is `reference/train_sentencepiece_merge.py`, with the
//! same state and words. Leaves out: where words come from (`sentences`), and which characters count.
//!
//! Every visit of a place removes one symbol or finds it gone; a count is made new only when its pair comes up.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

use rustc_hash::FxHashMap;

use super::{GoOn, ask, piece_rules::Shape, table::PieceTable};
use crate::Error;

pub use super::piece_rules::{Character, PieceRules, Script};

const EDGE: u32 = u32::MAX;
const GONE: u32 = u32::MAX - 1;
const INVALID: u32 = u32::MAX;

/// A piece as it was learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// The piece.
    pub text: Arc<str>,
    /// At how many places it was joined.
    pub count: u64,
}

/// Where a pair stood when it came to be, ascending, and how often it occurs.
#[derive(Debug, Default)]
struct Places {
    at: Vec<u32>,
    count: u64,
    /// Whether the count is too high, perhaps.
    stale: bool,
}

/// A symbol: a character, or a pair that came to be.
#[derive(Debug)]
struct Symbol {
    text: Arc<str>,
    shape: Shape,
    parts: (u32, u32),
    places: Places,
    waiting: bool,
}

/// An entry of the queue: count, fewer characters, smaller text; the pair.
type Entry = (u64, Reverse<u32>, Reverse<Arc<str>>, u32);

/// The state of the loop.
struct Merging<'r> {
    rules: &'r PieceRules,
    symbols: Vec<Symbol>,
    /// Symbols of all words in a row: one stands where its first character was, its other places are `GONE`.
    flat: Vec<u32>,
    /// Of the last character of each symbol: where the symbol stands.
    starts: Vec<u32>,
    /// The word of each place, and how often each word occurs.
    words: Vec<u32>,
    weights: Vec<u64>,
    of: FxHashMap<(u32, u32), u32>,
    pending: Vec<u32>,
    /// Entries of the pairs that come up next, and the pairs that are too rare for that: all below `least`.
    queue: BinaryHeap<Entry>,
    rare: Vec<(u64, u32)>,
    least: u64,
    empty: Arc<str>,
}

/// Learns at most `room` pieces from words with their counts; characters that are not in `alphabet` are edges.
///
/// # Errors
/// `Error::TooLarge` beyond 2^32 characters in distinct words or pairs, `Error::Interrupted`.
pub fn learn(
    words: &PieceTable,
    alphabet: &[Character],
    rules: &PieceRules,
    room: usize,
    progress: &mut dyn FnMut(usize, u64) -> bool,
) -> Result<Vec<Learned>, Error> {
    let mut learned: Vec<Learned> = Vec::new();
    let mut state = Merging::new(words, alphabet, rules, &mut || progress(0, 0))?;
    while learned.len() < room {
        let last = learned.last().map_or(0, |piece| piece.count);
        if !progress(learned.len(), last) {
            return Err(Error::Interrupted);
        }
        let Some(pair) = state.best() else { break };
        let symbol = &state.symbols[pair as usize];
        learned.push(Learned { text: Arc::clone(&symbol.text), count: symbol.places.count });
        state.accept(pair, &mut || progress(learned.len(), last))?;
    }
    Ok(learned)
}

fn index(number: usize) -> Result<u32, Error> {
    u32::try_from(number)
        .ok()
        .filter(|number| *number < GONE)
        .ok_or_else(|| Error::TooLarge("over 2^32 characters in distinct words, or pairs".to_owned()))
}

impl<'r> Merging<'r> {
    fn new(
        table: &PieceTable,
        alphabet: &[Character],
        rules: &'r PieceRules,
        go_on: &mut GoOn<'_>,
    ) -> Result<Merging<'r>, Error> {
        let used: Vec<Character> = alphabet.iter().copied().filter(|character| !character.refused).collect();
        let mut ids = FxHashMap::default();
        let mut symbols = Vec::with_capacity(used.len());
        for (number, character) in used.iter().enumerate() {
            ids.insert(character.text, index(number)?);
            let mut buffer = [0; 4];
            symbols.push(Symbol {
                text: Arc::from(&*character.text.encode_utf8(&mut buffer)),
                shape: Shape::of(*character),
                parts: (EDGE, EDGE),
                places: Places::default(),
                waiting: false,
            });
        }
        let (mut flat, mut words, mut weights) = (vec![EDGE], vec![0], Vec::with_capacity(table.len()));
        for (number, (word, count)) in table.iter().enumerate() {
            let word = std::str::from_utf8(word).map_err(|error| Error::Training(error.to_string()))?;
            let id = |character| ids.get(&character).copied().unwrap_or(EDGE);
            flat.extend(word.chars().map(id));
            flat.push(EDGE);
            words.resize(flat.len(), index(number)?);
            weights.push(count);
            ask(go_on, number)?;
        }
        let starts = (0..index(flat.len())?).collect();
        let (of, pending, queue, rare) = (FxHashMap::default(), Vec::new(), BinaryHeap::new(), Vec::new());
        let least = u64::MAX;
        let mut state = Merging {
            rules,
            symbols,
            flat,
            starts,
            words,
            weights,
            of,
            pending,
            queue,
            rare,
            least,
            empty: Arc::from(""),
        };
        for at in 1..state.flat.len() {
            state.add(at - 1, at)?;
            ask(go_on, at)?;
        }
        state.push_pending();
        Ok(state)
    }

    /// The symbols at two places are neighbours now.
    fn add(&mut self, at: usize, after: usize) -> Result<(), Error> {
        let (left, right) = (self.flat[at], self.flat[after]);
        if left == EDGE || right == EDGE {
            return Ok(());
        }
        let pair = match self.of.get(&(left, right)) {
            Some(&pair) => pair,
            None => {
                let pair = self.new_pair(left, right)?;
                self.of.insert((left, right), pair);
                pair
            }
        };
        if pair == INVALID {
            return Ok(());
        }
        let symbol = &mut self.symbols[pair as usize];
        symbol.places.at.push(index(at)?);
        if !symbol.waiting {
            symbol.waiting = true;
            self.pending.push(pair);
        }
        Ok(())
    }

    /// The symbol of a pair that was not there before, or `INVALID`.
    fn new_pair(&mut self, left: u32, right: u32) -> Result<u32, Error> {
        let (first, second) = (&self.symbols[left as usize], &self.symbols[right as usize]);
        let Some(shape) = first.shape.joined(second.shape, self.rules) else { return Ok(INVALID) };
        let pair = index(self.symbols.len())?;
        let text = Arc::clone(&self.empty);
        let places = Places { stale: true, ..Places::default() };
        self.symbols.push(Symbol { text, shape, parts: (left, right), places, waiting: false });
        Ok(pair)
    }

    /// Counts the places where the two symbols of a pair still are, if its count is stale.
    fn recount(&mut self, pair: u32) {
        let (left, right) = self.symbols[pair as usize].parts;
        let width = self.symbols[left as usize].shape.length as usize;
        let places = &mut self.symbols[pair as usize].places;
        if !places.stale {
            return;
        }
        let (flat, words, weights) = (&self.flat, &self.words, &self.weights);
        let mut count: u64 = 0;
        places.at.retain(|&at| {
            let at = at as usize;
            let stands = flat[at] == left && flat[at + width] == right;
            if stands {
                count = count.saturating_add(weights[words[at] as usize]);
            }
            stands
        });
        places.count = count;
        places.stale = false;
    }

    /// One more entry of the queue, with the count as it is.
    fn push(&mut self, pair: u32) {
        let count = self.symbols[pair as usize].places.count;
        if count < self.least {
            return self.rare.push((count, pair));
        }
        let (left, right) = self.symbols[pair as usize].parts;
        if self.symbols[pair as usize].text.is_empty() {
            // Texts of rare pairs are never asked for.
            let text = [&*self.symbols[left as usize].text, &*self.symbols[right as usize].text].concat();
            self.symbols[pair as usize].text = text.into();
        }
        let symbol = &self.symbols[pair as usize];
        let text = Arc::clone(&symbol.text);
        self.queue.push((symbol.places.count, Reverse(symbol.shape.length), Reverse(text), pair));
    }

    /// Entries for the pairs that came to be.
    fn push_pending(&mut self) {
        for pair in std::mem::take(&mut self.pending) {
            self.recount(pair);
            self.push(pair);
            self.symbols[pair as usize].waiting = false;
        }
    }

    /// The next pair, taken from the queue; `None` if it is empty.
    fn best(&mut self) -> Option<u32> {
        loop {
            while self.queue.is_empty() {
                self.lower()?;
            }
            let (_, _, _, pair) = self.queue.pop()?;
            if !self.symbols[pair as usize].places.stale {
                return Some(pair);
            }
            self.recount(pair);
            self.push(pair);
        }
    }

    /// Moves the most frequent of the rare pairs into the queue; `None` if there are none.
    fn lower(&mut self) -> Option<()> {
        let most = self.rare.iter().map(|(count, _)| *count).max()?;
        self.least = most / 2;
        let least = self.least;
        let (next, rare): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.rare).into_iter().partition(|(count, _)| *count >= least);
        self.rare = rare;
        next.into_iter().for_each(|(_, pair)| self.push(pair));
        Some(())
    }

    /// Two neighbours part: the count of what they were is stale.
    fn mark(&mut self, left: u32, right: u32, pair: u32) {
        if left == EDGE || right == EDGE {
            return;
        }
        if let Some(&other) = self.of.get(&(left, right))
            && other != INVALID
            && other != pair
        {
            self.symbols[other as usize].places.stale = true;
        }
    }

    /// Joins the pair at all its places, from left to right.
    fn accept(&mut self, pair: u32, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let symbol = &mut self.symbols[pair as usize];
        let ((left, right), length) = (symbol.parts, symbol.shape.length as usize);
        let places = std::mem::take(&mut symbol.places.at);
        let width = self.symbols[left as usize].shape.length as usize;
        for (step, &place) in places.iter().enumerate() {
            let at = place as usize;
            // Subtle: gone where the pair overlapped itself, as in `aaa`.
            if self.flat[at] != GONE {
                let (before, after) = (self.starts[at - 1] as usize, at + length);
                self.mark(self.flat[before], left, pair);
                self.mark(right, self.flat[after], pair);
                self.flat[at] = pair;
                self.flat[at + width] = GONE;
                self.starts[after - 1] = place;
                self.add(before, at)?;
                self.add(at, after)?;
            }
            ask(go_on, step)?;
        }
        self.push_pending();
        Ok(())
    }
}

/// How often each character occurs in words, as often as these do; in no order.
#[must_use]
pub fn characters(words: &PieceTable) -> Vec<(char, u64)> {
    let mut ascii = [0_u64; 128];
    let mut others: FxHashMap<char, u64> = FxHashMap::default();
    for (word, count) in words.iter() {
        for character in String::from_utf8_lossy(word).chars() {
            let total = match ascii.get_mut(character as usize) {
                Some(total) => total,
                None => others.entry(character).or_default(),
            };
            *total = total.saturating_add(count);
        }
    }
    let low = (0_u8..128).map(char::from).zip(ascii).filter(|(_, count)| *count > 0);
    low.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str) -> Vec<Character> {
        text.chars().map(|text| Character { text, script: Script::ANY, refused: false }).collect()
    }

    const RULES: PieceRules = PieceRules {
        max_sentencepiece_length: 16,
        split_by_whitespace: true,
        treat_whitespace_as_suffix: false,
        allow_whitespace_only_pieces: false,
    };

    fn learned(words: &[(&str, u64)], alphabet: &[Character], rules: &PieceRules) -> Vec<(String, u64)> {
        let mut table = PieceTable::default();
        for (word, count) in words {
            table.add(word.as_bytes(), *count).unwrap();
        }
        let pieces = learn(&table, alphabet, rules, 100, &mut |_, _| true).unwrap();
        pieces.into_iter().map(|piece| (piece.text.to_string(), piece.count)).collect()
    }

    #[test]
    fn the_example_of_the_specification() {
        let found = learned(&[("abc", 2), ("bcb", 1)], &letters("abc"), &RULES);
        let expected = [("bc", 3), ("abc", 2), ("bcb", 1), ("ab", 0), ("cb", 0)];
        assert_eq!(found, expected.map(|(text, count)| (text.to_owned(), count)));
    }

    #[test]
    fn counts_pass_32_bits_and_runs_are_joined_from_the_left() {
        let many = u64::from(u32::MAX);
        let found = learned(&[("aaaa", many), ("aaa", 7)], &letters("a"), &RULES);
        assert_eq!(found[0], ("aa".to_owned(), 3 * many + 14));
        assert_eq!(found[1].1, many);
    }

    #[test]
    fn scripts_and_spaces_keep_apart() {
        let mut alphabet = letters("▁ab");
        alphabet[1].script = 2;
        alphabet[2].script = 3;
        assert_eq!(learned(&[("▁ab", 1), ("a▁", 1)], &alphabet, &RULES), [("▁a".to_owned(), 1)]);
        alphabet[2].script = Script::INHERITED;
        let suffix = PieceRules { treat_whitespace_as_suffix: true, ..RULES };
        assert_eq!(learned(&[("▁ab", 1)], &alphabet, &suffix), [("ab".to_owned(), 1)]);
    }

    #[test]
    fn it_can_be_stopped() {
        let mut table = PieceTable::default();
        table.add(b"ab", 1).unwrap();
        let ended = learn(&table, &letters("ab"), &RULES, 9, &mut |_, _| false);
        assert_eq!(ended, Err(Error::Interrupted));
    }
}
