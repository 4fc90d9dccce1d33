//! Spans of words: each is encoded as it stands alone, and remembered with the places of its tokens in it.
//!
//! ```text
//! École    ec 0..3, ##ole 3..6    remembered: a token, or several end to end (`tiles`), and all places (`rows`)
//! 学       its token              not even looked up, where it stands alone (`wordwise`)
//! ```
//!
//! Leaves out words without spans (`wordwise`), and what is no word (`run`).

use std::ops::Range;

use super::Job;
use crate::{
    Error,
    cache::PieceCache,
    charwise::memory::Memory,
    encode::{Key, LONG_FAR, LONGER, Longer, SHORT},
    models::Model,
    offsets::Place,
    wordwise::Wordwise,
};

/// Once in so many words it is asked whether to go on.
const OFTEN: usize = 1 << 12;

/// And once in so many pieces.
const MANY: usize = 1 << 16;

/// The memory is asked for a word so many words ahead.
const AHEAD: usize = 6;

/// The memory of words, and buffers.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Words of a piece whose tokens stand end to end.
    tiles: Memory,
    /// All other words, and those that push each other out there: of each token its id, where it begins and ends, and
    /// the number of its piece.
    rows: PieceCache,
    /// Where the words of a stretch are.
    places: Vec<(Range<usize>, Option<u32>)>,
    found: Found,
}

/// Tokens of words, where they are in the text, and their pieces.
#[derive(Debug, Default)]
struct Found {
    ids: Vec<u32>,
    spans: Vec<Range<usize>>,
    /// Of each piece with tokens its number, and where its tokens end.
    pieces: Vec<(u32, usize)>,
    /// Pieces so far.
    count: u32,
}

impl Found {
    fn clear(&mut self) {
        self.ids.clear();
        self.spans.clear();
        self.pieces.clear();
        self.count = 0;
    }

    #[inline]
    fn token(&mut self, id: u32, span: Range<usize>) {
        self.ids.push(id);
        self.spans.push(span);
    }

    #[inline]
    fn end_of_piece(&mut self) {
        self.pieces.push((self.count, self.ids.len()));
        self.count += 1;
    }

    /// Adds a word of one piece, whose tokens stand end to end (`tiles`).
    #[inline]
    fn tiles(&mut self, row: &[u32], word: Range<usize>) {
        if let [id] = row {
            self.token(*id, word);
            return self.end_of_piece();
        }
        let (ids, ends) = row.split_at(4 * row.len() / 5);
        let mut start = word.start;
        for (at, &id) in ids.iter().enumerate() {
            let end = word.start + (ends[at / 4] >> (8 * (at % 4)) & 0xFF) as usize;
            self.token(id, start..end);
            start = end;
        }
        self.end_of_piece();
    }

    /// Adds any word: of each token its id, where it begins and ends, and the number of its piece.
    fn row(&mut self, row: &[u32], start: usize) {
        let count = self.count;
        for &[id, from, to, piece] in row.as_chunks::<4>().0 {
            self.token(id, start + from as usize..start + to as usize);
            match self.pieces.last_mut() {
                Some((number, end)) if *number == count + piece => *end = self.ids.len(),
                _ => self.pieces.push((count + piece, self.ids.len())),
            }
            self.count = count + piece + 1;
        }
    }
}

/// What `Found::tiles` takes, if the tokens of a word of so many bytes stand so: a token alone; or all of them, and then
/// a byte for each, where it ends, four in a number. So the count of these tells the others.
fn tiles(row: &[[u32; 4]], length: usize) -> Option<Vec<u32>> {
    let mut at = 0;
    for &[_, start, end, piece] in row {
        if start != at || piece != 0 {
            return None;
        }
        at = end;
    }
    if at as usize != length || length > usize::from(u8::MAX) || row.is_empty() {
        return None;
    }
    let ids = row.iter().map(|&[id, ..]| id);
    if row.len() == 1 {
        return Some(ids.collect());
    }
    let packed = |four: &[[u32; 4]]| four.iter().rev().fold(0, |ends, &[_, _, end, _]| ends << 8 | end);
    Some(ids.chain(row.chunks(4).map(packed)).collect())
}

/// Asks for the line of a word ahead of its use, unless it is long.
#[inline]
fn ask(tiles: &Memory, text: &[u8], word: &Range<usize>) {
    match word.len() {
        length @ 1..=SHORT => tiles.ask(length, Key::at(text, word.start, length).hash()),
        length if length > SHORT && length <= LONGER => {
            tiles.ask(length, Longer::at(text, word.start, length).hash());
        }
        _ => {}
    }
}

impl<const SPANS: bool, F: FnMut(&[u32], &[Range<usize>], u32)> Job<'_, SPANS, F> {
    /// Encodes a stretch of words with spans. `false`, and nothing is done, if a token stands for nothing in its word
    /// (it then has its place beside something in the text), or a word cannot be encoded.
    pub(super) fn by_words(
        &mut self,
        (wordwise, model): (&Wordwise, &Model),
        run: &str,
        base: usize,
    ) -> Result<bool, Error> {
        let mut places = std::mem::take(&mut self.work.words.here().places);
        let mut found = std::mem::take(&mut self.work.words.here().found);
        places.clear();
        found.clear();
        let work = (self.work.wordwise.here(), &self.work.ask);
        let cut = wordwise.words(run, self.tokenizer, work, &mut places);
        let done = cut.and_then(|()| {
            for (at, (word, token)) in places.iter().enumerate() {
                if at.is_multiple_of(OFTEN) {
                    self.work.ask.check()?;
                }
                if let Some((next, None)) = places.get(at + AHEAD) {
                    ask(&self.work.words.here().tiles, run.as_bytes(), next);
                }
                let span = base + word.start..base + word.end;
                match token {
                    Some(id) => found.tiles(&[*id], span),
                    None if self.word((wordwise, model), &run[word.clone()], span, &mut found)? => {}
                    None => return Ok(false),
                }
            }
            Ok(true)
        });
        if let Ok(true) = done {
            let (first, mut at) = (self.word.wrapping_add(1), 0);
            for (count, &(number, end)) in found.pieces.iter().enumerate() {
                if count % MANY == MANY - 1 {
                    self.work.ask.check()?;
                }
                (self.sink)(&found.ids[at..end], &found.spans[at..end], first.wrapping_add(number));
                at = end;
            }
            self.word = self.word.wrapping_add(found.count);
        }
        (self.work.words.here().places, self.work.words.here().found) = (places, found);
        done.map_err(|error| Place::Text(base).shift(error))
    }

    /// Adds the tokens of a word; whether each stands for something in it.
    #[inline]
    fn word(
        &mut self,
        by: (&Wordwise, &Model),
        word: &str,
        span: Range<usize>,
        found: &mut Found,
    ) -> Result<bool, Error> {
        if let Some(row) = self.work.words.here().tiles.many(word.as_bytes(), true, &mut [0; LONG_FAR]) {
            found.tiles(row, span);
            return Ok(true);
        }
        self.other_word(by, word, span, found)
    }

    /// The same for a word whose tokens do not stand end to end, or that was pushed out or never met.
    #[inline(never)]
    fn other_word(
        &mut self,
        (wordwise, model): (&Wordwise, &Model),
        word: &str,
        span: Range<usize>,
        found: &mut Found,
    ) -> Result<bool, Error> {
        if let Some(row) = self.work.words.here().rows.get(word.as_bytes()) {
            found.row(row, span.start);
            return Ok(true);
        }
        let row = match wordwise.located(word, (self.tokenizer, model), self.work.wordwise.here())? {
            Some(row) => row,
            None => match self.row(word) {
                Ok(row) => row,
                // Which says where in all of the text.
                Err(_) => return Ok(false),
            },
        };
        if row.iter().any(|[_, start, end, _]| start == end) {
            return Ok(false);
        }
        if let Some(tiles) = tiles(&row, word.len()) {
            self.work.words.here().tiles.put(word.as_bytes(), &tiles, false);
        }
        self.work.words.here().rows.insert(word.as_bytes(), row.as_flattened());
        found.row(row.as_flattened(), span.start);
        Ok(true)
    }

    /// The tokens of a word by all stages: of each its id, where it begins and ends in the word, and the number of its
    /// piece.
    fn row(&mut self, word: &str) -> Result<Vec<[u32; 4]>, Error> {
        let mut row = Vec::new();
        let sink = |ids: &[u32], spans: &[Range<usize>], piece: u32| {
            row.extend(
                ids.iter().zip(spans).map(|(&id, span)| [id, span.start as u32, span.end as u32, piece]),
            );
        };
        let job = Job::<true, _>::new(self.tokenizer, (word, self.policy), self.coins, self.work, sink);
        let mut job = if self.trims { job } else { job.untrimmed() };
        job.general(0..word.len())?;
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_end_to_end_are_kept_in_less() {
        for count in 1..=60_u32 {
            let row: Vec<[u32; 4]> = (0..count).map(|at| [7 + at, 4 * at, 4 * at + 4, 0]).collect();
            let length = 4 * count as usize;
            let kept = tiles(&row, length).unwrap();
            assert!(kept.len() <= row.len() + row.len().div_ceil(4));
            let (mut short, mut long) = (Found::default(), Found::default());
            short.tiles(&kept, 100..100 + length);
            long.row(row.as_flattened(), 100);
            assert_eq!((short.ids, short.spans, short.pieces), (long.ids, long.spans, long.pieces));
            assert_eq!(short.count, long.count);
            assert!(tiles(&row, length + 1).is_none() && tiles(&row[1..], length).is_none());
        }
        assert!(tiles(&[[1, 0, 2, 0], [2, 2, 3, 1]], 3).is_none() && tiles(&[], 0).is_none());
        assert!(tiles(&[[1, 0, 300, 0]], 300).is_none());
    }
}
