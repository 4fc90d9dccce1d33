//! Of all ways to cut a piece into tokens, the most probable one (`reference/unigram.py`, which has the rules).
//!
//! Leaves out which pieces are remembered (`charwise`).

mod automaton;
mod brief;
mod couples;
mod draw;
mod lattice;
mod laying;
mod nbest;
mod spelling;
#[cfg(test)]
mod tests;
mod texts;
mod tree;
mod trie;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Found, frozen};
use crate::{Error, parts::Parts, vocab::Vocab};
use automaton::Automaton;
pub(crate) use brief::{BRIEF, Brief};
use couples::Couples;
pub(crate) use couples::{Alone, FEW};
pub(crate) use lattice::Lattice;
pub(crate) use nbest::Several;
use texts::Texts;
#[cfg(simd_x86)]
pub(crate) use trie::LATER;
use trie::{NONE, Trie};

/// An unknown character's score is so much below the lowest.
const PENALTY: f64 = 10.0;
/// The score of a token that the normalizer leaves alone, for each byte but one.
const BONUS: f64 = 0.1;

/// The tokens and their scores.
#[derive(Debug)]
pub(crate) struct Unigram {
    trie: Trie,
    /// The same, to be read character by character; not of texts too long or too many for it.
    automaton: Option<Automaton>,
    /// The beginnings of texts; not of too many characters.
    couples: Option<Couples>,
    /// The largest score, or that of an unknown character.
    heaviest: f64,
    /// By id; that of a token that is not in the lattice is 0.
    scores: Vec<f64>,
    /// Where the search for the n best has others: characters of a frozen token count there, and not bytes.
    search_scores: FxHashMap<u32, f64>,
    unknown_score: f64,
    /// Characters of the longest token.
    longest: usize,
    /// Sums are of 32 bits.
    single: bool,
    unknown: Option<u32>,
    fuses: bool,
    /// Unknown text is spelled with bytes, if all of them have tokens; and each character has its place.
    bytes: Option<Box<[u32; 256]>>,
    surface: bool,
    /// Tokens by their text.
    texts: Texts,
}

impl Unigram {
    /// Of the tokens with a score, and those that the normalizer leaves alone.
    ///
    /// Unused ones are not in the lattice; in 64 bits their scores count where the lowest is looked for.
    pub(crate) fn new(parts: &Parts<'_>, vocab: &Vocab) -> Result<Unigram, Error> {
        let (spelling, single) = (&parts.spelling, parts.single_precision);
        let unused: FxHashSet<u32> = parts.unused.iter().copied().collect();
        let byte_of: FxHashMap<u32, u8> = spelling.byte_tokens.iter().copied().collect();
        let mut lowest = if single { f64::from(f32::MAX) } else { f64::INFINITY };
        let (mut texts, mut listed) = (Texts::for_many(vocab.len()), Vec::with_capacity(vocab.len()));
        let mut add = |text: &str, id: u32, score: f64| {
            texts.put(text, id);
            listed.push((id, score));
            match text {
                "" => Err(Error::Vocabulary(format!("token {id} is empty, and has a score"))),
                _ => Ok(()),
            }
        };
        for &(id, score) in parts.scores.iter().flatten() {
            if !(score as f32).is_finite() {
                return Err(Error::Vocabulary(format!(
                    "scores: that of id {id} is no finite number of 32 bits"
                )));
            }
            let is_unused = unused.contains(&id);
            if !(single && is_unused) {
                lowest = score.min(lowest);
            }
            if is_unused {
                continue;
            }
            if let Some(byte) = byte_of.get(&id) {
                add(&format!("<0x{byte:02X}>"), id, score)?;
            } else if let Some(bytes) = vocab.bytes(id) {
                let text = std::str::from_utf8(bytes);
                let text = text.map_err(|_| Error::Vocabulary(format!("token {id} is no UTF-8 text")))?;
                add(text, id, score)?;
            }
        }
        let bonus = |length: usize| {
            let bonus = (length as f64 - 1.0) * BONUS;
            if single { f64::from(bonus as f32) } else { bonus }
        };
        frozen(parts).try_for_each(|(text, id)| add(text, id, bonus(text.len())))?;
        let mut scores = vec![0.0; listed.iter().map(|&(id, _)| id as usize + 1).max().unwrap_or(0)];
        listed.iter().for_each(|&(id, score)| scores[id as usize] = score);
        let unknown_score = lowest - PENALTY;
        let trie = Trie::new(&texts.iter().collect::<Vec<_>>(), &scores, unknown_score);
        let heaviest = listed.iter().fold(unknown_score.abs(), |most, (_, score)| most.max(score.abs()));
        Ok(Unigram {
            automaton: Automaton::new(&trie, scores.len(), single),
            couples: Couples::new(&trie),
            heaviest,
            trie,
            scores,
            search_scores: frozen(parts).map(|(text, id)| (id, bonus(text.chars().count()))).collect(),
            unknown_score: if single { f64::from(unknown_score as f32) } else { unknown_score },
            longest: texts.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0),
            single,
            unknown: spelling.unknown,
            fuses: spelling.fuse_unknown,
            bytes: spelling.fallback.then(|| bytes(spelling.byte_tokens)),
            surface: spelling.surface_offsets,
            texts,
        })
    }

    /// Takes the characters of a piece into the lattice, each read as another.
    #[inline]
    pub(crate) fn read(&self, piece: &str, canonical: impl Fn(char) -> char, lattice: &mut Lattice) {
        lattice.read(&self.trie, piece, canonical);
    }

    /// Finds the best way through what was read, `from` being the score of what stands before it; by how much it is
    /// better than any other, but for rounding, if that is asked for.
    pub(crate) fn solve<const MARGIN: bool>(&self, from: f64, lattice: &mut Lattice) -> f64 {
        let Lattice { codes, single, double, path, ask, .. } = lattice;
        let (score, margin) = match self.single {
            true => single.solve::<MARGIN>(self, (codes, ask), from, path),
            false => double.solve::<MARGIN>(self, (codes, ask), from, path),
        };
        lattice.score = score;
        margin
    }

    /// The tokens of a piece.
    pub(crate) fn tokens(&self, piece: &str, found: &mut impl Found) {
        self.tokens_behind(piece, 0.0, found);
    }

    /// The same of a piece before which stands what has this score; the score of all.
    pub(crate) fn tokens_behind(&self, piece: &str, from: f64, found: &mut impl Found) -> f64 {
        let mut lattice = Lattice { ask: found.ask(), ..Lattice::default() };
        self.read(piece, |char| char, &mut lattice);
        self.solve::<false>(from, &mut lattice);
        self.spell(piece, &lattice, found);
        lattice.score
    }
}

/// What the fast way asks.
impl Unigram {
    /// The texts that tokens are found by.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, u32)> {
        self.texts.iter()
    }

    /// The score of a token; 0 for one that is not in the lattice.
    pub(crate) fn score(&self, id: u32) -> f64 {
        self.scores.get(id as usize).copied().unwrap_or(0.0)
    }

    pub(crate) fn unknown_score(&self) -> f64 {
        self.unknown_score
    }

    /// Whether sums are of 32 bits.
    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// A sum as it is kept.
    #[inline]
    pub(crate) fn round(&self, sum: f64) -> f64 {
        if self.single { f64::from(sum as f32) } else { sum }
    }

    /// The unknown token, if unknown text is spelled by it: not where it is a byte itself, and all text has bytes.
    pub(crate) fn spelled(&self) -> Option<u32> {
        let is_byte =
            |ids: &[u32; 256]| !ids.contains(&NONE) && self.unknown.is_some_and(|id| ids.contains(&id));
        self.unknown.filter(|_| !self.bytes.as_ref().is_some_and(|ids| is_byte(ids)))
    }

    /// Whether an edge of the lattice is unknown text.
    #[inline]
    pub(crate) fn is_unknown(&self, id: u32) -> bool {
        id == NONE || Some(id) == self.unknown
    }

    /// Whether unknown text becomes the unknown token or bytes, character by character, whatever stands beside it.
    /// `words`: nothing is carried from piece to piece.
    pub(crate) fn is_plain(&self, words: bool) -> bool {
        // Two unknown characters never weigh more than a token.
        let never_whole = self.single || self.unknown_score <= 0.0;
        let is_text = self.unknown.is_some_and(|unknown| self.texts().any(|(_, id)| id == unknown));
        let falls_back = self.bytes.is_some() && !self.single;
        never_whole && !(is_text && (falls_back || !words)) && (words || !falls_back)
    }
}

/// The ids of bytes; `NONE` where a byte has none.
fn bytes(tokens: &[(u32, u8)]) -> Box<[u32; 256]> {
    let mut ids = Box::new([NONE; 256]);
    tokens.iter().for_each(|&(id, byte)| ids[usize::from(byte)] = id);
    ids
}
