//! The tokenizer: text -> runs -> pieces -> ids, one path for every form of output.
//!
//! Encoding to ids, counting and offsets share the stages below and differ only in what they do with a
//! merged sequence. Leaves out threads (`batch`) and the way back (`decode`).

use std::ops::Range;

use crate::{
    Error,
    alphabet::{Alphabet, Unit},
    cache::PieceCache,
    decode::Decoder,
    merge::{Merges, Scratch},
    special::{SpecialMatch, SpecialMatcher},
    split::Split,
    vocab::Vocab,
};

/// What a tokenizer is made of; the fields are those of `syllabary.spec.TokenizerSpec`.
pub struct Parts<'a> {
    /// What one initial symbol stands for.
    pub unit: Unit,
    /// How text is cut into pieces.
    pub split: Split,
    /// `(id, bytes)` of every token that is not special.
    pub tokens: Vec<(u32, &'a [u8])>,
    /// `(symbol, id)`.
    pub alphabet: Vec<(&'a [u8], u32)>,
    /// `(left, right, result)` in rank order, or rank order by id.
    pub merges: Option<Vec<(u32, u32, u32)>>,
    /// `(text, id)`, matched as the caller's policy says.
    pub special: Vec<(String, u32)>,
    /// `(text, id)`, always matched.
    pub added: Vec<(String, u32)>,
    /// The mark of the end of a piece.
    pub end_of_word: Option<&'a str>,
    /// Whether symbols outside the alphabet are spelled with smaller ones.
    pub fallback: bool,
    /// Whether a piece that is a token becomes it at once.
    pub whole_pieces: bool,
}

/// What to do with the text of a special token.
#[derive(Clone, Copy, Debug)]
pub enum SpecialPolicy<'a> {
    /// An error.
    Raise,
    /// Its id.
    Allow,
    /// Ordinary text.
    Text,
    /// The ids of these, an error for the others.
    Only(&'a [u32]),
}

/// A tokenizer; immutable, shared between threads.
pub struct Tokenizer {
    split: Split,
    unit: Unit,
    vocab: Vocab,
    alphabet: Alphabet,
    merges: Merges,
    whole_pieces: bool,
    end_of_word: Vec<u8>,
    special: Vec<(String, u32)>,
    all_matcher: SpecialMatcher,
    added_matcher: SpecialMatcher,
    decoder: Decoder,
}

/// Buffers that one thread reuses from text to text.
#[derive(Debug, Default)]
pub struct Work {
    ids: Vec<u32>,
    spans: Vec<Symbol>,
    scratch: Scratch,
    cache: PieceCache,
}

/// An initial symbol: where it stands in the text, and how many bytes it has in a token.
#[derive(Clone, Debug)]
struct Symbol {
    span: Range<usize>,
    width: usize,
}

/// One merged sequence: a piece, a run (for words) or a special token.
struct Merged<'a> {
    ids: &'a [u32],
    /// The initial symbols; empty unless asked for.
    symbols: &'a [Symbol],
}

impl Tokenizer {
    /// Builds and checks; a vocabulary that cannot be is an error that names the place.
    pub fn new(parts: Parts<'_>) -> Result<Tokenizer, Error> {
        let vocab = Vocab::new(parts.tokens.iter().copied())?;
        let alphabet =
            Alphabet::new(parts.unit, parts.alphabet.iter().copied(), parts.end_of_word, parts.fallback)?;
        let merges = match &parts.merges {
            Some(list) => Merges::from_list(list)?,
            None => Merges::from_ranks(&vocab),
        };
        check(&parts, &vocab)?;
        let all: Vec<(String, u32)> = parts.special.iter().chain(&parts.added).cloned().collect();
        let decoder = Decoder::new(&vocab, &all, parts.end_of_word)?;
        Ok(Tokenizer {
            decoder,
            all_matcher: SpecialMatcher::new(&all)?,
            added_matcher: SpecialMatcher::new(&parts.added)?,
            special: parts.special,
            split: parts.split,
            unit: parts.unit,
            whole_pieces: parts.whole_pieces,
            end_of_word: parts.end_of_word.unwrap_or_default().as_bytes().to_vec(),
            vocab,
            alphabet,
            merges,
        })
    }

    /// The vocabulary without special and added tokens.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// How text is cut into pieces.
    pub fn split(&self) -> &Split {
        &self.split
    }

    /// The way from ids back to bytes.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// Appends the ids of `text` to `out`.
    pub fn encode(
        &self,
        text: &str,
        policy: SpecialPolicy<'_>,
        work: &mut Work,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        self.each::<false>(text, policy, work, &mut |merged| out.extend_from_slice(merged.ids))
    }

    /// The number of ids of `text`.
    pub fn count(&self, text: &str, policy: SpecialPolicy<'_>, work: &mut Work) -> Result<usize, Error> {
        let mut count = 0;
        self.each::<false>(text, policy, work, &mut |merged| count += merged.ids.len())?;
        Ok(count)
    }

    /// The byte span in `text` of each of its tokens, in order.
    pub fn offsets(
        &self,
        text: &str,
        policy: SpecialPolicy<'_>,
        work: &mut Work,
    ) -> Result<Vec<Range<usize>>, Error> {
        let mut out = Vec::new();
        self.each::<true>(text, policy, work, &mut |merged| {
            let mut symbols = merged.symbols.iter();
            for &id in merged.ids {
                // A token covers as many symbols as make up its bytes.
                let width = self.vocab.bytes(id).map_or(0, <[u8]>::len);
                let Some(first) = symbols.next() else { return };
                let (mut end, mut covered) = (first.span.end, first.width);
                while covered < width
                    && let Some(symbol) = symbols.next()
                {
                    end = symbol.span.end;
                    covered += symbol.width;
                }
                out.push(first.span.start..end);
            }
        })?;
        Ok(out)
    }

    /// Cuts `text` at special tokens and hands every merged sequence to `sink`, in order.
    fn each<const SPANS: bool>(
        &self,
        text: &str,
        policy: SpecialPolicy<'_>,
        work: &mut Work,
        sink: &mut impl FnMut(Merged<'_>),
    ) -> Result<(), Error> {
        let matcher = match policy {
            SpecialPolicy::Text => &self.added_matcher,
            _ => &self.all_matcher,
        };
        let special: Vec<SpecialMatch> = matcher.find(text).collect();
        special.iter().try_for_each(|found| self.check_policy(policy, found))?;
        let mut done = 0;
        for found in special {
            self.run::<SPANS>(text, done..found.start, work, sink)?;
            let span = found.start..found.end;
            let width = span.len();
            sink(Merged { ids: &[found.id], symbols: &[Symbol { span, width }] });
            done = found.end;
        }
        self.run::<SPANS>(text, done..text.len(), work, sink)
    }

    fn check_policy(&self, policy: SpecialPolicy<'_>, found: &SpecialMatch) -> Result<(), Error> {
        let allowed = match policy {
            SpecialPolicy::Raise => false,
            SpecialPolicy::Only(allowed) => allowed.contains(&found.id),
            SpecialPolicy::Allow | SpecialPolicy::Text => true,
        };
        if allowed {
            return Ok(());
        }
        // An added token that is not special is never refused.
        match self.special.iter().find(|(_, special)| *special == found.id) {
            Some((token, _)) => Err(Error::SpecialFound { token: token.clone(), offset: found.start }),
            None => Ok(()),
        }
    }

    /// Encodes a stretch of text without special tokens.
    fn run<const SPANS: bool>(
        &self,
        text: &str,
        range: Range<usize>,
        work: &mut Work,
        sink: &mut impl FnMut(Merged<'_>),
    ) -> Result<(), Error> {
        let run = &text[range.clone()];
        if run.is_empty() {
            return Ok(());
        }
        let mut state = Ok(());
        work.ids.clear();
        work.spans.clear();
        self.split
            .pieces(run, &mut |piece| {
                if state.is_ok() {
                    state = match self.unit {
                        Unit::Word => self.spell::<SPANS>(text, piece, work),
                        Unit::Byte | Unit::Char => self.piece::<SPANS>(text, piece, work, sink),
                    };
                }
            })
            .map_err(|error| shift(error, range.start))?;
        state.map_err(|_: Missing| self.unknown(run, range.start))?;
        if self.unit == Unit::Word {
            self.merges.apply(&mut work.ids, &mut work.scratch)?;
            sink(Merged { ids: &work.ids, symbols: &work.spans });
        }
        Ok(())
    }

    /// Encodes one piece.
    #[inline]
    fn piece<const SPANS: bool>(
        &self,
        text: &str,
        piece: &str,
        work: &mut Work,
        sink: &mut impl FnMut(Merged<'_>),
    ) -> Result<(), Missing> {
        if !SPANS && let Some(ids) = work.cache.get(piece.as_bytes()) {
            sink(Merged { ids, symbols: &[] });
            return Ok(());
        }
        work.ids.clear();
        work.spans.clear();
        self.spell::<SPANS>(text, piece, work)?;
        let whole = if self.whole_pieces && work.ids.len() > 1 { self.whole_piece(piece) } else { None };
        if let Some(id) = whole {
            work.ids.clear();
            work.ids.push(id);
        } else {
            self.merges.apply(&mut work.ids, &mut work.scratch).map_err(|_| Missing)?;
        }
        sink(Merged { ids: &work.ids, symbols: &work.spans });
        if !SPANS {
            work.cache.insert(piece.as_bytes(), &work.ids);
        }
        Ok(())
    }

    /// The token that is exactly `piece`, with its end-of-word mark.
    fn whole_piece(&self, piece: &str) -> Option<u32> {
        if self.end_of_word.is_empty() {
            return self.vocab.id(piece.as_bytes());
        }
        self.vocab.id(&[piece.as_bytes(), &self.end_of_word].concat())
    }

    /// Appends the initial symbols of `piece` to the work buffers.
    fn spell<const SPANS: bool>(&self, text: &str, piece: &str, work: &mut Work) -> Result<(), Missing> {
        let start = piece.as_ptr() as usize - text.as_ptr() as usize;
        let (ids, spans) = (&mut work.ids, &mut work.spans);
        let mut complete = true;
        self.alphabet.spell(
            piece,
            &mut |id, span| {
                ids.push(id);
                if SPANS {
                    let width = self.vocab.bytes(id).map_or(0, <[u8]>::len);
                    spans.push(Symbol { span: start + span.start..start + span.end, width });
                }
            },
            &mut |_| complete = false,
        );
        if complete { Ok(()) } else { Err(Missing) }
    }

    /// The error that names the symbols of `run` without an id: found again, on the way out only.
    fn unknown(&self, run: &str, base: usize) -> Error {
        let mut symbols: Vec<String> = Vec::new();
        let mut first = None;
        let walked = self.split.pieces(run, &mut |piece| {
            let start = piece.as_ptr() as usize - run.as_ptr() as usize;
            self.alphabet.spell(piece, &mut |_, _| (), &mut |span| {
                first.get_or_insert(base + start + span.start);
                let bytes = &piece.as_bytes()[span];
                let symbol = match std::str::from_utf8(bytes) {
                    Ok(text) => quoted(text),
                    Err(_) => format!("byte 0x{:02X}", bytes[0]),
                };
                if symbols.len() < 10 && !symbols.contains(&symbol) {
                    symbols.push(symbol);
                }
            });
        });
        match (walked, first) {
            (Err(error), _) => shift(error, base),
            (Ok(()), Some(offset)) => Error::UnknownSymbol { symbols, offset },
            (Ok(()), None) => Error::TooLarge("one piece has 2^32 symbols or more".to_owned()),
        }
    }
}

/// A symbol as an error shows it: not all of one that is a long piece.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("'{}…'", text[..end].escape_debug()),
        None => format!("'{}'", text.escape_debug()),
    }
}

/// An error of the split, which saw a run, as one of the text: `start` is where the run begins.
fn shift(error: Error, start: usize) -> Error {
    match error {
        Error::SplitFailed { offset, reason } => Error::SplitFailed { offset: offset + start, reason },
        other => other,
    }
}

/// Turns byte spans of `text` into character spans: from the character that holds the first byte to one
/// past the character that holds the last; an empty span becomes an empty one.
///
/// Spans must not begin before earlier ones by more than one character, as those of tokens do not.
pub fn to_characters(text: &str, spans: &mut [Range<usize>]) {
    let bytes = text.as_bytes();
    let is_start = |at: usize| bytes.get(at).is_none_or(|&byte| byte & 0xC0 != 0x80);
    let starts = |range: Range<usize>| range.filter(|&at| is_start(at)).count();
    // `index` is the number of characters that begin in `..at`.
    let (mut at, mut index) = (0, 0);
    for span in spans {
        index += starts(at..span.start);
        at = span.start;
        let first = if is_start(at) { index } else { index - 1 };
        let last = index + starts(span.clone());
        *span = if span.start == span.end { first..first } else { first..last };
    }
}

/// A piece that cannot be encoded; `Tokenizer::unknown` finds out why.
struct Missing;

/// Every symbol is a token, and every merge joins two tokens to a third.
fn check(parts: &Parts<'_>, vocab: &Vocab) -> Result<(), Error> {
    for &(symbol, id) in &parts.alphabet {
        if vocab.bytes(id) != Some(symbol) {
            let symbol = symbol.escape_ascii();
            return Err(Error::Vocabulary(format!("symbol `{symbol}` has id {id}, which is another token")));
        }
    }
    for (rank, &(left, right, id)) in parts.merges.iter().flatten().enumerate() {
        let (Some(a), Some(b), Some(joined)) = (vocab.bytes(left), vocab.bytes(right), vocab.bytes(id))
        else {
            return Err(Error::Vocabulary(format!(
                "merge {rank} ({left}, {right} -> {id}) names an id that no token has"
            )));
        };
        if joined.strip_prefix(a) != Some(b) {
            return Err(Error::Vocabulary(format!(
                "merge {rank} ({left}, {right} -> {id}) does not give the bytes of token {id}"
            )));
        }
    }
    Ok(())
}
