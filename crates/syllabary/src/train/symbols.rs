//! The initial symbols of a corpus, in the order of their ids (the rule stands in `reference/assemble.py`).

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Error,
    alphabet::Unit,
    train::{TrainOptions, count::Counter},
};

/// The initial symbols of a corpus by id: alphabet order is in `reference/assemble.py`.
pub(super) fn alphabet(counter: &Counter, options: &TrainOptions) -> Result<Vec<Arc<[u8]>>, Error> {
    match counter.unit() {
        Unit::Byte => byte_alphabet(counter, options),
        Unit::Char => char_alphabet(counter, options),
        Unit::Word => Ok(word_alphabet(counter, options)),
    }
}

fn byte_alphabet(counter: &Counter, options: &TrainOptions) -> Result<Vec<Arc<[u8]>>, Error> {
    let mut seen = [!options.seen_bytes_only; 256];
    if options.seen_bytes_only {
        counter.each(&mut |counted| {
            counted.piece.iter().for_each(|&byte| seen[byte as usize] = true);
            Ok(())
        })?;
    }
    // GPT-2's characters: printable bytes keep their code point, the others follow in byte order.
    let printable = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut bytes: Vec<u8> = (0..=255).filter(|&byte| seen[byte as usize]).collect();
    if options.gpt2_byte_order {
        bytes.sort_by_key(|&byte| (!printable(byte), byte));
    }
    Ok(bytes.into_iter().map(|byte| Arc::from([byte].as_slice())).collect())
}

fn every_byte(fallback: bool) -> Vec<Arc<[u8]>> {
    let bytes = (0..=255u8).take(if fallback { 256 } else { 0 });
    bytes.map(|byte| Arc::from([byte].as_slice())).collect()
}

/// The text of a piece.
pub(super) fn text(piece: &[u8]) -> &str {
    // Pieces come from `&str`; an empty one in place of a broken one would show in every test.
    std::str::from_utf8(piece).unwrap_or_default()
}

fn char_alphabet(counter: &Counter, options: &TrainOptions) -> Result<Vec<Arc<[u8]>>, Error> {
    let mark = options.end_of_word.as_deref().unwrap_or_default();
    // Without and with the mark.
    let mut chars = [BTreeSet::new(), BTreeSet::new()];
    counter.each(&mut |counted| {
        let piece = text(counted.piece);
        if !mark.is_empty() && piece.contains(mark) {
            return Err(Error::Training(format!(
                "the text itself contains the end-of-word mark `{mark}` (in `{piece}`); choose another mark"
            )));
        }
        let last = piece.char_indices().next_back().map_or(0, |(at, _)| at);
        for (at, char) in piece.char_indices() {
            chars[usize::from(at == last && !mark.is_empty())].insert(char);
        }
        Ok(())
    })?;
    let spelled = |char: &char, ends: &str| [char.encode_utf8(&mut [0; 4]), ends].concat().into_bytes();
    let mut symbols: BTreeSet<Vec<u8>> = chars[0].iter().map(|char| spelled(char, "")).collect();
    symbols.extend(chars[1].iter().map(|char| spelled(char, mark)));
    let mut alphabet = every_byte(options.fallback);
    if options.fallback && !mark.is_empty() {
        alphabet.push(Arc::from(mark.as_bytes()));
    }
    let is_new = |symbol: &Vec<u8>| !(options.fallback && symbol.len() == 1);
    alphabet.extend(symbols.into_iter().filter(is_new).map(Arc::from));
    Ok(alphabet)
}

fn word_alphabet(counter: &Counter, options: &TrainOptions) -> Vec<Arc<[u8]>> {
    let pieces: BTreeSet<&[u8]> = counter.words.iter().map(|(piece, _)| piece).collect();
    let mut alphabet = every_byte(options.fallback);
    let mut chars = BTreeSet::new();
    if options.fallback {
        chars = pieces.iter().flat_map(|piece| text(piece).chars()).filter(|char| !char.is_ascii()).collect();
        alphabet.extend(chars.iter().map(|char| Arc::from(char.encode_utf8(&mut [0; 4]).as_bytes())));
    }
    let known = |piece: &[u8]| {
        let mut letters = text(piece).chars();
        let first = letters.next();
        options.fallback
            && letters.next().is_none()
            && first.is_some_and(|char| char.is_ascii() || chars.contains(&char))
    };
    alphabet.extend(pieces.into_iter().filter(|piece| !known(piece)).map(Arc::from));
    alphabet
}
