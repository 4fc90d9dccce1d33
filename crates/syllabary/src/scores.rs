//! Merging by scores, as sentencepiece does: the pairs, and what becomes of symbols that are no token.
//!
//! Any two neighbours whose joined bytes have a score merge, the highest score first, then leftmost. Symbols
//! are characters, whether they are tokens or not: those that are none have virtual ids (`alphabet`). What is
//! no token in the end is spelled with bytes or becomes the unknown token; a token that is unused is cut again
//! into the two symbols it was last found to be made of. (Source: sentencepiece 0.2.3, `bpe_model.cc` and
//! `sentencepiece_processor.cc`, `PopulateSentencePieceText`.)
//!
//! Leaves out: merging itself (`merge`) and where tokens stand in the text.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Error,
    alphabet::{Alphabet, Spelling, VIRTUAL, virtual_char},
    asking::Ask,
    merge::{Merge, Merges, Origins},
    unknown::quoted,
    vocab::Vocab,
};

/// A token is cut again at most so many times over (as sentencepiece).
const MAX_DEPTH: usize = 100;

/// Once in so many tokens it is asked whether to go on.
const OFTEN: usize = 1 << 16;

/// What merging by scores needs besides the pairs.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    /// Ids that are cut again.
    unused: FxHashSet<u32>,
    unknown: Option<u32>,
    fuse_unknown: bool,
    surface_offsets: bool,
}

/// Between two pieces of a run: nothing merges with it, and it is no token.
pub(crate) const WALL: u32 = u32::MAX - 1;
/// A token that is there already: nothing merges with it. Which one it is, stands apart.
pub(crate) const FIXED: u32 = u32::MAX - 2;

/// What is left of a run after merging, on its way to tokens.
#[derive(Clone, Copy)]
pub(crate) struct Merged<'a> {
    /// The ids.
    pub ids: &'a [u32],
    /// The first symbol of each; empty where spans are not asked for.
    pub starts: &'a [u32],
    /// The span of each symbol in the text; empty likewise.
    pub symbols: &'a [Range<usize>],
    /// The ids of those that are `FIXED`, in order.
    pub fixed: &'a [u32],
    /// Whether the span of a symbol holds its very bytes.
    pub exact: bool,
}

/// Tokens and, if asked for, their spans.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub ids: Vec<u32>,
    pub spans: Vec<Range<usize>>,
}

impl Merged<'_> {
    /// The symbols of the id at this place.
    pub(crate) fn symbols_of(&self, at: usize) -> Range<usize> {
        let end = self.starts.get(at + 1).map_or(self.symbols.len(), |&start| start as usize);
        self.starts[at] as usize..end
    }

    /// From where the first of some symbols begins to where the last ends.
    pub(crate) fn span(&self, symbols: Range<usize>) -> Range<usize> {
        self.symbols[symbols.start].start..self.symbols[symbols.end - 1].end
    }
}

/// The pairs that merge, ranked by score, with equal scores sharing a rank; and the characters that are tokens.
pub(crate) fn pairs(vocab: &Vocab, scores: &[(u32, f64)]) -> Result<(Merges, FxHashMap<char, u32>), Error> {
    if vocab.id_bound() > VIRTUAL {
        return Err(Error::TooLarge("too many tokens for merging by scores".to_owned()));
    }
    let mut ids = FxHashMap::default();
    let mut ranked: Vec<f32> = Vec::with_capacity(scores.len());
    for &(id, score) in scores {
        let bytes = vocab.bytes(id).unwrap_or_default();
        if !(score as f32).is_finite() {
            return Err(Error::Vocabulary(format!("scores: that of id {id} is no finite 32-bit number")));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Error::Vocabulary(format!("scores: token {id} is no UTF-8 text")))?;
        if let Some(other) = ids.insert(text, id) {
            return Err(Error::Vocabulary(format!("scores: ids {other} and {id} are both {text:?}")));
        }
        ranked.push(score as f32);
    }
    check_work(&ids.keys().map(|text| text.len()).collect::<Vec<_>>())?;
    let chars = ids.iter().filter_map(|(text, &id)| Some((only_char(text)?, id))).collect();
    ranked.sort_unstable_by(|a, b| b.total_cmp(a));
    ranked.dedup_by(|a, b| a.total_cmp(b).is_eq());
    let rank_of =
        |score: f64| ranked.partition_point(|other| other.total_cmp(&(score as f32)).is_gt()) as u32;
    let lengths: FxHashSet<usize> = ids.keys().map(|text| text.len()).collect();
    // A part of a token is a token itself, or a character that is none.
    let part = |text: &str| match only_char(text) {
        Some(char) => Some(ids.get(text).copied().unwrap_or(VIRTUAL | u32::from(char))),
        None => lengths.contains(&text.len()).then(|| ids.get(text).copied()).flatten(),
    };
    let mut table = Vec::new();
    for &(id, score) in scores {
        let text = vocab.bytes(id).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
        let merge = Merge { rank: rank_of(score), id };
        let cuts = text.char_indices().skip(1).map(|(cut, _)| text.split_at(cut));
        table.extend(cuts.filter_map(|(left, right)| Some(((part(left)?, part(right)?), merge))));
    }
    Ok((Merges::from_pairs(table.into_iter().collect()), chars))
}

fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

impl Scores {
    pub(crate) fn new(unused: &[u32], spelling: &Spelling<'_>) -> Scores {
        Scores {
            unused: unused.iter().copied().collect(),
            unknown: spelling.unknown,
            fuse_unknown: spelling.fuse_unknown,
            surface_offsets: spelling.surface_offsets,
        }
    }

    /// Whether any token may be cut again.
    pub(crate) fn has_unused(&self) -> bool {
        !self.unused.is_empty()
    }

    /// Whether these ids are tokens already.
    #[inline]
    pub(crate) fn settled(&self, ids: &[u32]) -> bool {
        // Walls and fixed tokens are above as well.
        ids.iter().all(|&id| id < VIRTUAL) && (self.unused.is_empty() || !self.any_unused(ids))
    }

    fn any_unused(&self, ids: &[u32]) -> bool {
        ids.iter().any(|id| self.unused.contains(id))
    }

    /// Cuts unused tokens again, then spells what is no token with bytes or as unknown.
    ///
    /// # Errors
    /// `Error::UnknownSymbol` for what can be neither; its place is known only with spans. `Error::Interrupted`.
    pub(crate) fn resolve<const SPANS: bool>(
        &self,
        (alphabet, vocab): (&Alphabet, &Vocab),
        (origins, ask): (&Origins, &Ask),
        merged: Merged<'_>,
        tokens: &mut Tokens,
    ) -> Result<(), Error> {
        tokens.ids.clear();
        tokens.spans.clear();
        let mut fixed = merged.fixed.iter();
        let mut output = Output {
            scores: self,
            alphabet,
            vocab,
            origins,
            merged,
            tokens,
            after_unknown: false,
            lost: Vec::new(),
            first_lost: 0,
        };
        for (at, &id) in merged.ids.iter().enumerate() {
            if at.is_multiple_of(OFTEN) {
                ask.check()?;
            }
            let symbols = if SPANS { merged.symbols_of(at) } else { 0..0 };
            match id {
                WALL => {}
                FIXED => output.put::<SPANS>(fixed.next().copied().unwrap_or(FIXED), symbols),
                id => output.token::<SPANS>(id, symbols, 0),
            }
        }
        let (symbols, offset) = (output.lost, output.first_lost);
        if symbols.is_empty() { Ok(()) } else { Err(Error::UnknownSymbol { symbols, offset }) }
    }
}

/// The tokens so far.
struct Output<'a> {
    scores: &'a Scores,
    alphabet: &'a Alphabet,
    vocab: &'a Vocab,
    origins: &'a Origins,
    merged: Merged<'a>,
    tokens: &'a mut Tokens,
    after_unknown: bool,
    /// What neither fallback nor the unknown token can stand for, as an error shows it, and where the first is.
    lost: Vec<String>,
    first_lost: usize,
}

impl Output<'_> {
    fn token<const SPANS: bool>(&mut self, id: u32, symbols: Range<usize>, depth: usize) {
        if let Some(char) = virtual_char(id) {
            return self.unknown::<SPANS>(char.encode_utf8(&mut [0; 4]).as_bytes(), symbols);
        }
        if depth <= MAX_DEPTH && self.scores.unused.contains(&id) {
            let Some(&(left, right)) = self.origins.get(&id) else {
                let vocab = self.vocab;
                return self.unknown::<SPANS>(vocab.bytes(id).unwrap_or_default(), symbols);
            };
            let cut = if SPANS { symbols.start + self.characters(left) } else { 0 };
            self.token::<SPANS>(left, symbols.start..cut, depth + 1);
            return self.token::<SPANS>(right, cut..symbols.end, depth + 1);
        }
        self.put::<SPANS>(id, symbols);
    }

    fn put<const SPANS: bool>(&mut self, id: u32, symbols: Range<usize>) {
        self.after_unknown = false;
        self.tokens.ids.push(id);
        if SPANS {
            self.tokens.spans.push(self.merged.span(symbols));
        }
    }

    /// How many symbols an id is made of.
    fn characters(&self, id: u32) -> usize {
        let bytes = self.vocab.bytes(id).unwrap_or_default();
        if virtual_char(id).is_some() { 1 } else { String::from_utf8_lossy(bytes).chars().count() }
    }

    fn unknown<const SPANS: bool>(&mut self, bytes: &[u8], symbols: Range<usize>) {
        let span = if SPANS { self.merged.span(symbols) } else { 0..0 };
        if self.alphabet.spells(bytes) {
            self.after_unknown = false;
            for (at, &byte) in bytes.iter().enumerate() {
                self.tokens.ids.push(self.alphabet.fallback_bytes[usize::from(byte)]);
                if SPANS {
                    self.tokens.spans.push(self.byte_span(&span, at, bytes.len()));
                }
            }
            return;
        }
        let Some(id) = self.scores.unknown else {
            if self.lost.is_empty() {
                self.first_lost = span.start;
            }
            let symbol = quoted(&String::from_utf8_lossy(bytes));
            if self.lost.len() < 10 && !self.lost.contains(&symbol) {
                self.lost.push(symbol);
            }
            return;
        };
        if self.after_unknown && self.scores.fuse_unknown {
            if let Some(last) = self.tokens.spans.last_mut() {
                last.end = span.end;
            }
            return;
        }
        self.after_unknown = true;
        self.tokens.ids.push(id);
        if SPANS {
            self.tokens.spans.push(span);
        }
    }

    /// The span of byte `at` of `length` that spell one character.
    fn byte_span(&self, span: &Range<usize>, at: usize, length: usize) -> Range<usize> {
        if self.scores.surface_offsets {
            return if at + 1 == length { span.clone() } else { span.start..span.start };
        }
        if self.merged.exact && span.len() == length {
            return span.start + at..span.start + at + 1;
        }
        span.clone()
    }
}

/// So many bytes may be looked at to find all ways of cutting tokens in two; those of vocabularies in use are some
/// ten million.
const WORK_LIMIT: u64 = 1 << 34;

/// Refuses tokens of these lengths if cutting each into two of them would take too long.
fn check_work(lengths: &[usize]) -> Result<(), Error> {
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let mut known = vec![false; longest + 1];
    lengths.iter().for_each(|&length| known[length] = true);
    let mut work = 0u64;
    for &length in lengths {
        let cuts = (1..length).filter(|&cut| known[cut] && known[length - cut]).count();
        work = work.saturating_add((cuts as u64).saturating_mul(length as u64));
        if work > WORK_LIMIT {
            return Err(Error::Vocabulary(format!(
                "the tokens are too long, up to {longest} bytes: to find all pairs that make them would take too long"
            )));
        }
    }
    Ok(())
}
