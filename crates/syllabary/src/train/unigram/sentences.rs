//! The words of sentences as sentencepiece's unigram trainer takes them.
//!
//! A character outside the alphabet is one symbol, U+2585, which is no piece and in none. Leaves out reading.

use super::{
    super::{
        piece_rules::{Character, PieceRules, Shape},
        sentences::Found,
    },
    seed::{Branching, SeedRules},
    words::{LAST, MIDDLE, Symbols, Words},
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
    for (table, end) in [(found.words, MIDDLE), (found.last, LAST)] {
        for (count, characters) in table.steps() {
            for word in characters.split(|code| *code == u32::MAX).filter(|word| !word.is_empty()) {
                words.push(word.iter().copied(), count, end, &symbols)?;
            }
        }
    }
    let tail = found.tail.chars().map(|character| symbols.of(character.into())).collect();
    let rules = SeedRules {
        branching: Branching::Bytes,
        size,
        longest: rules.max_sentencepiece_length as usize,
        shapes: Some((shapes, rules)),
        tail,
    };
    Ok(Prepared { words, rules, outside: vec![unknown] })
}
