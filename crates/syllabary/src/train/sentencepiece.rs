//! sentencepiece's trainer: which pair of neighbours becomes a piece next.
//!
//! The rule: the pair with the highest count, then of fewer characters, then of the smaller text. No two pairs
//! have one text, so that is a total order. A pair whose text may be no piece is never counted. As long as some
//! pair occurs, that is the loop of `learn` with another tie-break (`ties`) and another limit (`piece_rules`).
//! Then come the pairs that occur nowhere any more (`unused`). The specification is
//! `reference/train_sentencepiece_merge.py`. Leaves out: where words come from (`sentences`), and which
//! characters count.

use std::sync::Arc;

use super::{
    GoOn,
    learn::{learn as next, watched_places},
    pairs::{Limits, Pairs},
    piece_rules::Shapes,
    queue::PairQueue,
    sentence_words::Ids,
    ties::{Candidate, ShortestText, Tie},
    unused::unused,
};
use crate::Error;

pub use super::{
    piece_rules::{Character, PieceRules, Script},
    sentence_words::SentenceWords,
};

/// A piece as it was learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// The piece.
    pub text: String,
    /// At how many places it was joined.
    pub count: u64,
}

/// Learns at most `room` pieces from words; characters that are not in `alphabet` are edges.
///
/// # Errors
/// `Error::TooLarge` beyond 2^32 characters in distinct words or pairs, `Error::Interrupted`.
pub fn learn(
    words: &SentenceWords,
    alphabet: &[Character],
    rules: PieceRules,
    room: usize,
    threads: usize,
    progress: &mut dyn FnMut(usize, u64) -> bool,
) -> Result<Vec<Learned>, Error> {
    let used: Vec<Character> = alphabet.iter().copied().filter(|character| !character.refused).collect();
    let ids = Ids::new(used.iter().map(|character| character.text));
    let spelled = |character: &Character| Arc::from(character.text.encode_utf8(&mut [0; 4]).as_bytes());
    let mut tokens: Vec<Arc<[u8]>> = used.iter().map(spelled).collect();
    let sequences = words.sequences(&ids)?;
    let places = watched_places(&sequences.places, None)?;
    let limits = Limits { min_frequency: 1, max_length: u32::MAX, places, threads, tight: false };
    let mut pairs = Pairs::shaped(sequences, Shapes::of(&used, rules), limits);
    let mut queue = PairQueue::<ShortestText>::default();
    let (mut merges, mut counts) = (Vec::new(), Vec::new());
    while merges.len() < room {
        let (done, last) = (merges.len(), counts.last().copied().unwrap_or(0));
        let go_on = &mut || progress(done, last);
        let Some(learned) = next(&mut queue, &mut pairs, &mut tokens, room - done, go_on)? else { break };
        merges.push(learned.pair);
        counts.push(learned.count);
    }
    let mut rest = Vec::new();
    if merges.len() < room {
        let mut shapes = Shapes::of(&used, rules);
        merges.iter().for_each(|pair| shapes.join(*pair));
        let go_on = &mut || progress(merges.len(), 0);
        rest = unoccurring(words, &ids, &merges, &shapes, &tokens, go_on)?;
        rest.truncate(room - merges.len());
    }
    let texts =
        tokens.into_iter().skip(used.len()).chain(rest).map(|text| String::from_utf8_lossy(&text).into());
    Ok(texts
        .zip(counts.into_iter().chain(std::iter::repeat(0)))
        .map(|(text, count)| Learned { text, count })
        .collect())
}

/// The texts of the pairs that occur nowhere any more, in their order.
fn unoccurring(
    words: &SentenceWords,
    ids: &Ids,
    merges: &[(u32, u32)],
    shapes: &Shapes,
    tokens: &[Arc<[u8]>],
    go_on: &mut GoOn<'_>,
) -> Result<Vec<Arc<[u8]>>, Error> {
    let words = words.spelled(ids).map(|(_, symbols)| symbols);
    let key = |pair| ShortestText::key(&Candidate { pair, first: 0, tokens }).0;
    let mut found: Vec<_> = unused(words, merges, shapes, go_on)?.into_iter().map(key).collect();
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, text)| text).collect())
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
        let mut table = SentenceWords::default();
        words.iter().for_each(|(word, count)| table.add("", word, *count));
        let pieces = learn(&table, alphabet, *rules, 100, 1, &mut |_, _| true).unwrap();
        pieces.into_iter().map(|piece| (piece.text, piece.count)).collect()
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
        let mut table = SentenceWords::default();
        table.add("", "ab", 1);
        let ended = learn(&table, &letters("ab"), RULES, 9, 1, &mut |_, _| false);
        assert_eq!(ended, Err(Error::Interrupted));
    }

    #[test]
    fn counts_beyond_63_bits_are_refused() {
        let mut table = SentenceWords::default();
        table.add("", "ab", u64::MAX / 4);
        let ended = learn(&table, &letters("ab"), RULES, 9, 1, &mut |_, _| true);
        assert!(matches!(ended, Err(Error::TooLarge(_))));
    }
}
