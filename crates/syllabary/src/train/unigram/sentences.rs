//! Words as learning takes them: those of sentences as sentencepiece counts them, and those of a table.
//!
//! A character outside the alphabet is one symbol (U+2585, but for Hugging Face zero), which is no piece and in none. Leaves out reading.

use super::{
    super::{
        GoOn, ask,
        huggingface_counted::Counted,
        piece_rules::{Character, PieceRules, Script, Shape},
        sentence_store::{StoredWords, Words as Table},
        sentence_words::SentenceWords,
        sentences::{After, Found, Order},
    },
    limit::Limit,
    seed::{Branching, SeedRules, lead_of},
    words::{LAST, Symbols, Word, Words, last, middle},
};
use crate::Error;

const UNKNOWN_CHARACTER: char = '\u{2585}';

/// What learning needs of sentences.
#[derive(Debug)]
pub struct Prepared {
    /// Their words.
    pub words: Words,
    /// How seeds are chosen.
    pub rules: SeedRules,
    /// Symbols that are no pieces.
    pub outside: Vec<u32>,
}

/// Words over an alphabet, and at most `size` seeds. What was found is used up.
///
/// # Errors
/// `Error::TooLarge` beyond 2^32 characters in distinct words.
pub fn prepare(
    found: Found,
    alphabet: &[Character],
    rules: PieceRules,
    size: usize,
    memory: Limit,
    go_on: &mut GoOn<'_>,
) -> Result<Prepared, Error> {
    let mut all: Vec<(char, Option<Shape>)> = alphabet
        .iter()
        .filter(|character| character.text != UNKNOWN_CHARACTER)
        .map(|character| (character.text, (!character.refused).then(|| Shape::of(*character))))
        .collect();
    all.push((UNKNOWN_CHARACTER, None));
    all.sort_unstable_by_key(|(text, _)| *text);
    let (characters, shapes): (Vec<char>, Vec<Option<Shape>>) = all.into_iter().unzip();
    let unknown = characters.partition_point(|text| *text < UNKNOWN_CHARACTER) as u32;
    let symbols = Symbols::new(&characters, unknown);
    let mut words = Words::new(characters);
    let Found { words: table, last, tail, order, .. } = found;
    match &order {
        Some(order) => in_order(order, &mut words, &symbols, rules.split_by_whitespace)?,
        None => {
            match table {
                Table::Memory(table) => counted((&table, &last), &mut words, &symbols)?,
                Table::Stored(table) => stored(&table, &mut words, &symbols, memory, go_on)?,
            }
            end(&tail, &mut words, &symbols)?;
        }
    }
    let rules = SeedRules {
        branching: Branching::Bytes,
        size,
        longest: rules.max_sentencepiece_length as usize,
        shapes: Some((shapes, rules)),
    };
    Ok(Prepared { words, rules, outside: vec![unknown] })
}

/// Words of sentences that all begin with a space: only what is behind the last one is not known by that.
fn counted(
    (found, ending): (&SentenceWords, &SentenceWords),
    words: &mut Words,
    symbols: &Symbols,
) -> Result<(), Error> {
    let space = lead_of(UNKNOWN_CHARACTER);
    for (table, end) in [(found, middle(space)), (ending, last(space))] {
        for (count, characters) in table.steps() {
            for word in characters.split(|code| *code == u32::MAX).filter(|word| !word.is_empty()) {
                words.push(word.iter().copied(), count, end, symbols)?;
            }
        }
    }
    Ok(())
}

/// The same of words that are normalized anew, once to see how many there are.
fn stored(
    table: &StoredWords,
    words: &mut Words,
    symbols: &Symbols,
    memory: Limit,
    go_on: &mut GoOn<'_>,
) -> Result<(), Error> {
    let (mut characters, mut number) = (0, 0);
    table.each(go_on, &mut |(before, word), _, _| {
        characters += before.chars().count() + word.chars().count() + 1;
        number += 1;
        Ok(())
    })?;
    memory.less("its distinct words", table.memory() + Words::memory_of(characters, number))?;
    words.reserve(characters, number);
    let space = lead_of(UNKNOWN_CHARACTER);
    table.each(go_on, &mut |(before, word), count, ends| {
        let codes = before.chars().chain(word.chars()).map(u32::from);
        words.push(codes, count, if ends { last(space) } else { middle(space) }, symbols)
    })
}

/// Gives the word that ends the sentence that comes last its own end.
fn end(tail: &str, words: &mut Words, symbols: &Symbols) -> Result<(), Error> {
    let space = lead_of(UNKNOWN_CHARACTER);
    let tail: Vec<u32> = tail.chars().map(u32::from).collect();
    let spelled: Vec<u32> = tail.iter().map(|code| symbols.of(*code)).collect();
    let same = |word: &Word| words.end(word) == last(space) && words.symbols(word) == spelled;
    if let Some(at) = words.words.iter().position(same) {
        words.words[at].count -= 1;
        if words.words[at].count == 0 {
            words.words.swap_remove(at);
        }
        words.push(tail.into_iter(), 1, LAST, symbols)?;
    }
    Ok(())
}

/// Words of sentences in order, with what follows them; uncut ones are learned from one by one.
fn in_order(order: &Order, words: &mut Words, symbols: &Symbols, cut: bool) -> Result<(), Error> {
    let texts: Vec<&str> = order.words().map(|(word, _)| word).collect();
    let mut places = vec![Word { start: 0, length: 0, count: 0 }; texts.len()];
    let known: Vec<char> = words.characters.clone();
    let lead = |first: char| lead_of(known[symbols.of(first.into()) as usize]);
    for (number, after, count) in order.followed() {
        let end = match after {
            After::Word(first) => middle(lead(first)),
            After::Sentence(first) => last(lead(first)),
            After::Nothing => LAST,
        };
        words.push(texts[number as usize].chars().map(u32::from), count, end, symbols)?;
        places[number as usize] = words.words.last().copied().unwrap_or(places[number as usize]);
    }
    if !cut {
        let sentences = order.last_words();
        words.sequence = sentences.map(|(word, count)| Word { count, ..places[word as usize] }).collect();
    }
    Ok(())
}

/// Words that were counted without an order, which are used up. `most`: the most frequent characters are the
/// alphabet, until they are 0.9995 of the text or so many; else all are but `outside`, which stands for the others.
///
/// # Errors
/// `Error::TooLarge` beyond 2^32 characters in distinct words; `Error::Training` beyond the memory that there is.
pub fn of_words(
    counted: Counted,
    rules: SeedRules,
    (most, outside): (Option<usize>, char),
    memory: Limit,
    go_on: &mut GoOn<'_>,
) -> Result<Prepared, Error> {
    let left = memory.less("its distinct words", counted.memory())?;
    let mut step = 0;
    let each = &mut |f: &mut Takes<'_>| {
        counted.each(&mut |word, count| {
            step += 1;
            ask(go_on, step)?;
            let broken = |_| Error::Training("a word of the table is not UTF-8".to_owned());
            f(std::str::from_utf8(word).map_err(broken)?, count)
        })
    };
    of_each(each, rules, (most, outside), left)
}

/// The characters that words are spelled in, ascending.
fn alphabet(counts: Vec<u64>, most: Option<usize>, outside: char) -> Vec<char> {
    let all = ('\0'..=char::MAX).filter(|character| counts[*character as usize] > 0);
    let mut characters: Vec<char> = all.filter(|character| *character != outside).collect();
    if let Some(most) = most {
        let total: u128 = counts.iter().map(|count| u128::from(*count)).sum();
        characters.sort_by_key(|character| std::cmp::Reverse(counts[*character as usize]));
        let mut reached = 0;
        let enough = characters.iter().take(most).take_while(|character| {
            let goes_on = reached * 10_000 < total * 9_995;
            reached += u128::from(counts[**character as usize]);
            goes_on
        });
        characters = enough.copied().collect();
    }
    characters.push(outside);
    characters.sort_unstable();
    characters
}

/// Takes a word and its count.
type Takes<'a> = dyn FnMut(&str, u64) -> Result<(), Error> + 'a;

/// Of words that `each` gives, twice.
fn of_each(
    each: &mut dyn FnMut(&mut Takes<'_>) -> Result<(), Error>,
    mut rules: SeedRules,
    (most, outside): (Option<usize>, char),
    left: Limit,
) -> Result<Prepared, Error> {
    let mut counts = vec![0_u64; char::MAX as usize + 1];
    let (mut length, mut number) = (0, 0);
    each(&mut |word, count| {
        for character in word.chars() {
            let total = &mut counts[character as usize];
            *total = total.saturating_add(count);
            length += 1;
        }
        length += 1;
        number += 1;
        Ok(())
    })?;
    left.less("its distinct words", Words::memory_of(length, number))?;
    let characters = alphabet(counts, most, outside);
    let unknown = characters.partition_point(|text| *text < outside) as u32;
    let any = Shape::of(Character { text: 'a', script: Script::ANY, refused: false });
    let shapes = characters.iter().map(|text| (*text != outside).then_some(any)).collect();
    let free = PieceRules {
        max_sentencepiece_length: u32::try_from(rules.longest).unwrap_or(u32::MAX),
        split_by_whitespace: false,
        treat_whitespace_as_suffix: false,
        allow_whitespace_only_pieces: true,
    };
    rules.shapes = Some((shapes, free));
    let symbols = Symbols::new(&characters, unknown);
    let mut words = Words::new(characters);
    words.reserve(length, number);
    each(&mut |word, count| words.push(word.chars().map(u32::from), count, LAST, &symbols))?;
    Ok(Prepared { words, rules, outside: vec![unknown] })
}
