//! Ids with where each is in its text, and of which piece.
//!
//! Adds: `Located` and `Tokenizer::locate`, which is as fast as encoding where nothing rewrites the text. Leaves out:
//! rows of them (`full`), threads (`batch`), and offsets that leave out white space.

use std::cell::Cell;

use crate::{
    Error,
    asking::Ask,
    batch::Text,
    dropout::Coins,
    encode::Spans,
    models::Model,
    pages,
    run::Job,
    tokenizer::{SpecialPolicy, Tokenizer, Work},
};

/// Spans between two questions whether to go on.
const OFTEN: usize = 1 << 16;

/// What is wanted of each token besides its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Nothing.
    Ids,
    /// Its bytes in the text.
    Bytes,
    /// Its characters in the text.
    Characters,
}

/// The tokens of texts, one text after the other.
#[derive(Debug, Default)]
pub struct Located {
    /// All ids.
    pub ids: Vec<u32>,
    /// Start and end of each in its text; empty if only ids are wanted, as the next.
    pub spans: Vec<[u32; 2]>,
    /// The number of its piece in its text.
    pub words: Vec<u32>,
    /// For each text, where its tokens end.
    pub ends: Vec<usize>,
    /// The places of tokens that are spelled as they were found (`Tokenizer::spelled`), and as what, after normalizing.
    pub found: Vec<(usize, Box<str>)>,
}

/// Notes what tokens were found as.
#[derive(Debug)]
pub(crate) struct Spellings<'a> {
    /// Those that are spelled so, and of them the one that a model makes of a piece.
    spelled: &'a [u32],
    unknown: Option<u32>,
    /// How many tokens have been handed on.
    done: &'a Cell<usize>,
    texts: &'a mut Vec<(usize, Box<str>)>,
}

impl Spellings<'_> {
    /// The token that is handed on next, found as `taken`.
    pub(crate) fn token(&mut self, id: u32, taken: &str) {
        self.at(0, id, taken);
    }

    fn at(&mut self, ahead: usize, id: u32, taken: &str) {
        if self.spelled.contains(&id) {
            self.texts.push((self.done.get() + ahead, taken.into()));
        }
    }

    /// The tokens of a piece, which are handed on next, and the bytes of it where each stands.
    pub(crate) fn tokens(&mut self, piece: &str, ids: &[u32], places: &[[u32; 2]]) {
        for (ahead, (&id, &[start, end])) in ids.iter().zip(places).enumerate() {
            if Some(id) == self.unknown {
                self.at(ahead, id, &piece[start as usize..end as usize]);
            }
        }
    }
}

impl Located {
    /// Nothing yet, with room for the tokens of most texts.
    pub fn for_texts(texts: &[impl Text], want: Want) -> Located {
        let bytes: usize = texts.iter().map(Text::size).sum();
        let mut made = Located::default();
        // Room that nobody touches costs nothing; where there is no such room, the vectors grow.
        let _ = made.ids.try_reserve_exact(bytes / 4 * 3 + 1024);
        pages::advise(&mut made.ids);
        if want != Want::Ids {
            let _ = made.spans.try_reserve_exact(bytes / 4 * 3);
            let _ = made.words.try_reserve_exact(bytes / 4 * 3);
            pages::advise(&mut made.spans);
            pages::advise(&mut made.words);
        }
        made.ends.reserve(texts.len());
        made
    }

    /// Appends what comes after.
    pub fn append(&mut self, mut other: Located) {
        let base = self.ids.len();
        self.ids.append(&mut other.ids);
        self.spans.append(&mut other.spans);
        self.words.append(&mut other.words);
        self.found.extend(other.found.into_iter().map(|(place, text)| (base + place, text)));
        self.ends.extend(other.ends.into_iter().map(|end| base + end));
    }
}

impl Tokenizer {
    /// Whether no step changes this text, nor a token takes anything along.
    fn leaves(&self, text: &str) -> bool {
        let is_left = self.pretokenizer.is_empty() || self.one_split.is_some();
        is_left && self.spelled.is_empty() && self.normalizer.keeps(text)
    }

    /// Appends the tokens of `text` to `out`, merges passed over as `coins` fall: the ids are those of `encode`.
    pub fn locate(
        &self,
        text: &str,
        policy: SpecialPolicy<'_>,
        (want, mut coins): (Want, Coins),
        work: &mut Work,
        out: &mut Located,
    ) -> Result<(), Error> {
        let first = out.spans.len();
        if want == Want::Ids {
            self.encode(text, policy, coins, work, &mut out.ids)?;
        } else if u32::try_from(text.len()).is_err() {
            return Err(Error::TooLarge(
                "a text of 4 GiB or more has no offsets; encode it in parts".to_owned(),
            ));
        } else if let Some(fast) = self.fast.as_ref().filter(|_| !coins.any())
            && (self.exact || self.leaves(text))
        {
            let Located { ids, spans, words, .. } = &mut *out;
            let (known, made) = ((self.vocab(), self.measures()), (ids, spans, words));
            if want == Want::Bytes || text.is_ascii() {
                let mut spans = Spans::<false>::new(text, known, made);
                self.plain(fast, (text, policy), work.fast(), &mut spans)?;
            } else {
                let mut spans = Spans::<true>::new(text, known, made);
                self.plain(fast, (text, policy), work.fast(), &mut spans)?;
            }
            out.ends.push(out.ids.len());
            return Ok(());
        } else {
            let Located { ids, spans, words, found, .. } = &mut *out;
            let done = Cell::new(ids.len());
            let unknown = self.model.as_ref().and_then(Model::spelled);
            let spelled = Spellings { spelled: &self.spelled, unknown, done: &done, texts: found };
            let spelled = (!self.spelled.is_empty()).then_some(spelled);
            let sink = |new: &[u32], places: &[std::ops::Range<usize>], word: u32| {
                done.set(done.get() + new.len());
                if let ([id], [place]) = (new, places) {
                    ids.push(*id);
                    spans.push([place.start as u32, place.end as u32]);
                    words.push(word);
                    return;
                }
                ids.extend_from_slice(new);
                spans.extend(places.iter().map(|place| [place.start as u32, place.end as u32]));
                words.resize(ids.len(), word);
            };
            let job = Job::<true, _>::new(self, (text, policy), &mut coins, work, sink);
            job.untrimmed().spelling(spelled).all()?;
        }
        if want == Want::Characters && !text.is_ascii() {
            to_characters(text.as_bytes(), &mut out.spans[first..], &work.ask)?;
        }
        out.ends.push(out.ids.len());
        Ok(())
    }
}

/// Turns byte spans into character spans, as `offsets::to_characters`. In ASCII, characters are bytes less those that
/// went before.
fn to_characters(bytes: &[u8], spans: &mut [[u32; 2]], ask: &Ask) -> Result<(), Error> {
    let is_start = |at: usize| bytes.get(at).is_none_or(|&byte| byte & 0xC0 != 0x80);
    let starts = |from: usize, to: usize| starts(bytes, from, to);
    // `index` is the number of characters that begin in `..at`; from `at` to `wide` all is ASCII.
    let (mut at, mut index, mut wide) = (0, 0, next_wide(bytes, 0));
    // Bytes that spell an unknown text have its span, all of them.
    let (mut before, mut made) = ([0, 0], [0, 0]);
    for (number, [start, end]) in spans.iter_mut().enumerate() {
        if number.is_multiple_of(OFTEN) {
            ask.check()?;
        }
        let (from, to) = (*start as usize, *end as usize);
        if from >= at && to <= wide && from < to {
            (*start, *end) = ((index + from - at) as u32, (index + to - at) as u32);
            continue;
        }
        if [*start, *end] == before {
            [*start, *end] = made;
            continue;
        }
        before = [*start, *end];
        if from >= at {
            index += starts(at, from)
        } else {
            index -= starts(from, at)
        }
        let first = if is_start(from) { index } else { index - 1 };
        index += starts(from, to.max(from));
        let back = to.max(from) < at;
        at = to.max(from);
        *start = first as u32;
        *end = if from < to { index as u32 } else { first as u32 };
        made = [*start, *end];
        if at > wide || back {
            wide = next_wide(bytes, at);
        }
    }
    Ok(())
}

/// How many characters begin in a few of these bytes.
#[inline]
fn starts(bytes: &[u8], mut from: usize, to: usize) -> usize {
    let mut count = 0;
    while from < to {
        let Some(&eight) = bytes[from..].first_chunk() else {
            return count + bytes[from..to].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        };
        let word = u64::from_le_bytes(eight);
        // Of each byte the lowest bit: it is not of the form 10......
        let begins = (!(word >> 7) | word >> 6) & 0x0101_0101_0101_0101;
        let taken = (to - from).min(8);
        let begins = begins & (u64::MAX >> (64 - 8 * taken));
        // Their sum is in the highest byte.
        count += (begins.wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize;
        from += taken;
    }
    count
}

/// The first byte from `from` on that is not ASCII, or the end.
fn next_wide(bytes: &[u8], from: usize) -> usize {
    if let Some(&eight) = bytes[from..].first_chunk() {
        let wide = u64::from_le_bytes(eight) & 0x8080_8080_8080_8080;
        if wide != 0 {
            return from + wide.trailing_zeros() as usize / 8;
        }
    }
    let ascii = bytes[from..].chunks(64).take_while(|block| block.is_ascii()).map(<[u8]>::len).sum::<usize>();
    let start = from + ascii;
    bytes[start..].iter().position(|&byte| byte >= 0x80).map_or(bytes.len(), |at| start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_as_the_plain_way_has_them() {
        let text = "ab é€c😀 dddd ëe";
        let mut spans: Vec<[u32; 2]> = Vec::new();
        for start in 0..text.len() as u32 {
            spans.extend((start..=text.len() as u32).map(|end| [start, end]));
        }
        let mut plain: Vec<_> = spans.iter().map(|&[start, end]| start as usize..end as usize).collect();
        crate::tokenizer::to_characters(text, &mut plain);
        to_characters(text.as_bytes(), &mut spans, &Ask::default()).unwrap();
        let found: Vec<_> = spans.iter().map(|&[start, end]| start as usize..end as usize).collect();
        assert_eq!(found, plain);
    }

    #[test]
    fn equal_spans_are_counted_once() {
        // An emoji that is unknown, again and again: four tokens each, all over the whole text.
        let text = "😀".repeat(200_000);
        let mut spans = vec![[0, text.len() as u32]; text.len()];
        let mut plain = vec![0..text.len(); text.len()];
        to_characters(text.as_bytes(), &mut spans, &Ask::default()).unwrap();
        crate::tokenizer::to_characters(&text, &mut plain);
        assert!(spans.iter().all(|span| *span == [0, 200_000]));
        assert!(plain.iter().all(|span| *span == (0..200_000)));
    }
}
