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
    learn::{learn as next, places_in, watched_places},
    pairs::{Limits, Pairs},
    piece_rules::Shapes,
    queue::PairQueue,
    sentence_words::Ids,
    ties::{Candidate, ShortestText, Tie},
    unused::Joining,
};
use crate::Error;

pub use super::{
    piece_rules::{Character, PieceRules},
    sentence_store::Words,
};

/// Pairs that occur nowhere any more are held up to so many, or twice those that are wanted.
const MANY: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// A piece as it was learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// The piece.
    pub text: String,
    /// At how many places it was joined.
    pub count: u64,
}

/// Two symbols, by id.
type Pair = (u32, u32);
type Texts = Vec<Arc<[u8]>>;
/// Is told the pairs joined by now, and their counts; says whether to go on.
pub type Progress<'a> = dyn FnMut(&[Pair], &[u64]) -> bool + 'a;

/// What learning needs besides words.
#[derive(Debug, Default)]
pub struct Learning<'a> {
    /// Characters that are not in it are edges.
    pub alphabet: &'a [Character],
    /// Pieces, at most.
    pub room: usize,
    /// Threads that count pairs.
    pub threads: usize,
    /// Bytes of memory for the sequences and their pairs.
    pub memory: Option<usize>,
    /// Pairs that an earlier training has joined, as ids of characters that are not refused and of pairs, with counts.
    pub known: (Vec<Pair>, Vec<u64>),
}

/// Learns pieces from words; gives the pairs that were joined, too, in the same order: the last pieces may be of pairs that
/// were not. `progress` is told the pairs joined by now, and their counts.
///
/// # Errors
/// `Error::TooLarge` beyond 2^32 characters in distinct words or pairs, `Error::Interrupted`; `Error::Training` where
/// memory does not suffice.
pub fn learn(
    words: &Words,
    rules: PieceRules,
    learning: Learning<'_>,
    progress: &mut Progress<'_>,
) -> Result<(Vec<Learned>, Vec<Pair>), Error> {
    let Learning { alphabet, room, threads, memory, known: (mut merges, mut counts) } = learning;
    let used: Vec<Character> = alphabet.iter().copied().filter(|character| !character.refused).collect();
    let ids = Ids::new(used.iter().map(|character| character.text));
    let (mut tokens, shapes) = joined(&used, rules, &merges)?;
    let sequences =
        words.sequences(&ids, &merges, memory.map(places_in), &mut || progress(&merges, &counts))?;
    let places = watched_places(&sequences.places, memory)?;
    let tight = memory.is_some();
    let limits = Limits { min_frequency: 1, max_length: u32::MAX, places, threads, tight };
    let mut pairs = Pairs::shaped(sequences, shapes, limits);
    let mut queue = PairQueue::<ShortestText>::default();
    while merges.len() < room {
        let go_on = &mut || progress(&merges, &counts);
        let Some(learned) = next(&mut queue, &mut pairs, &mut tokens, room - merges.len(), go_on)? else {
            break;
        };
        merges.push(learned.pair);
        counts.push(learned.count);
    }
    drop((pairs, queue));
    let mut rest = Vec::new();
    if merges.len() < room {
        let (_, shapes) = joined(&used, rules, &merges)?;
        let go_on = &mut || progress(&merges, &counts);
        rest = unoccurring(words, &ids, (&merges, &shapes, &tokens), room - merges.len(), go_on)?;
    }
    let texts =
        tokens.into_iter().skip(used.len()).chain(rest).map(|text| String::from_utf8_lossy(&text).into());
    let counts = counts.into_iter().chain(std::iter::repeat(0));
    Ok((texts.zip(counts).map(|(text, count)| Learned { text, count }).collect(), merges))
}

/// The texts and the shapes of characters, and then of pairs that were joined.
fn joined(used: &[Character], rules: PieceRules, merges: &[Pair]) -> Result<(Texts, Shapes), Error> {
    let spelled = |character: &Character| Arc::from(character.text.encode_utf8(&mut [0; 4]).as_bytes());
    let mut tokens: Texts = used.iter().map(spelled).collect();
    let mut shapes = Shapes::of(used, rules);
    for &(left, right) in merges {
        let (Some(first), Some(second)) = (tokens.get(left as usize), tokens.get(right as usize)) else {
            return Err(Error::Training("a merge of symbols that there are not".to_owned()));
        };
        tokens.push([&**first, second].concat().into());
        shapes.join((left, right));
    }
    Ok((tokens, shapes))
}

/// The texts of the pairs that occur nowhere any more, in their order; at most `room`.
fn unoccurring(
    words: &Words,
    ids: &Ids,
    (merges, shapes, tokens): (&[Pair], &Shapes, &Texts),
    room: usize,
    go_on: &mut GoOn<'_>,
) -> Result<Texts, Error> {
    let key = |pair| ShortestText::key(&Candidate { pair, first: 0, tokens }).0;
    let mut joining = Joining::new(merges, shapes);
    words.each_spelled(ids, go_on, &mut |_, word| {
        joining.word(word);
        if joining.len() > room.saturating_mul(2).max(MANY) {
            joining.keep(room, key);
        }
        Ok(())
    })?;
    let mut found: Vec<_> = joining.into_found().map(key).collect();
    found.sort_unstable();
    found.truncate(room);
    Ok(found.into_iter().map(|(_, text)| text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{piece_rules::Script, sentence_words::SentenceWords};

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
        let learning = Learning { alphabet, room: 100, threads: 1, ..Learning::default() };
        let (pieces, _) = learn(&Words::Memory(table), *rules, learning, &mut |_, _| true).unwrap();
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
        let alphabet = letters("ab");
        let learning = Learning { alphabet: &alphabet, room: 9, threads: 1, ..Learning::default() };
        let ended = learn(&Words::Memory(table), RULES, learning, &mut |_, _| false);
        assert_eq!(ended, Err(Error::Interrupted));
    }

    #[test]
    fn counts_beyond_63_bits_are_refused() {
        let mut table = SentenceWords::default();
        table.add("", "ab", u64::MAX / 4);
        let alphabet = letters("ab");
        let learning = Learning { alphabet: &alphabet, room: 9, threads: 1, ..Learning::default() };
        let ended = learn(&Words::Memory(table), RULES, learning, &mut |_, _| true);
        assert!(matches!(ended, Err(Error::TooLarge(_))));
    }
}
