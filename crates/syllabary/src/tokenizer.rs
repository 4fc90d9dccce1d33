//! The tokenizer: text -> runs -> pieces -> ids, one path for every form of output.
//!
//! Encoding to ids, counting and offsets share the stages (`run`) and differ only in what they do with the
//! tokens. Leaves out threads (`batch`) and how ids become text again (`decode`).

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use rustc_hash::FxHashMap;

use crate::{
    Error,
    alphabet::{Alphabet, Unit},
    asking::Ask,
    boundary,
    cache::PieceCache,
    charwise::{self, Charwise},
    decode::{Decoder, TextDecoder},
    dropout::{Coins, Dropout},
    encode::{Buffer, Count, Fast, FastWork, Ids, Measures},
    later::Later,
    matching::{self, Named, Stage, Stages},
    merge::{Merges, Origins, Scratch},
    models::{Model, Several},
    normalize::Normalizer,
    pool::Pool,
    pretokenize::Pretokenizer,
    run::{self, Job},
    scores::{self, Scores, Tokens},
    split::Split,
    trim::Trim,
    vocab::Vocab,
    wordwise::{self, Wordwise},
};
pub use crate::{offsets::to_characters, parts::Parts};

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

impl SpecialPolicy<'_> {
    /// Whether special tokens are looked for.
    pub(crate) fn finds_special(self) -> bool {
        !matches!(self, SpecialPolicy::Text)
    }

    /// Whether a token found at byte `offset` of the text given may be there.
    pub(crate) fn check(self, token: &Named, offset: usize) -> Result<(), Error> {
        let allowed = match self {
            SpecialPolicy::Raise => false,
            SpecialPolicy::Only(allowed) => allowed.contains(&token.id),
            SpecialPolicy::Allow | SpecialPolicy::Text => true,
        };
        // An added token that is not special is never refused.
        if allowed || !token.special {
            return Ok(());
        }
        Err(Error::SpecialFound { token: token.text.clone(), offset })
    }
}

/// A tokenizer; immutable, shared between threads.
pub struct Tokenizer {
    pub(crate) split: Split,
    /// All cuts of the bytes way at once, where the split has others before it.
    pub(crate) one_split: Option<Split>,
    pub(crate) unit: Unit,
    pub(crate) vocab: Arc<Vocab>,
    pub(crate) alphabet: Alphabet,
    pub(crate) merges: Merges,
    pub(crate) scores: Option<Scores>,
    /// What makes tokens of a piece, where it is not merging.
    pub(crate) model: Option<Model>,
    pub(crate) whole_pieces: bool,
    pub(crate) stages: Stages,
    pub(crate) normalizer: Normalizer,
    pub(crate) pretokenizer: Pretokenizer,
    /// No step rewrites or cuts the text.
    pub(crate) exact: bool,
    /// Pieces are cut before this character, where another stands before it.
    pub(crate) boundary: Option<char>,
    /// Tokens are cut again, so merging must note what they were made of.
    pub(crate) notes: bool,
    /// Tokens are made of all pieces of a run at once.
    pub(crate) joins: bool,
    /// Symbols that are whole pieces and have another id than the first of their bytes.
    pub(crate) whole_symbols: FxHashMap<Box<[u8]>, u32>,
    pub(crate) trim: Option<Trim>,
    /// Where its steps surely cut; filled when it is asked for.
    pub(crate) segments: OnceLock<Option<run::Segments>>,
    /// Its way of encoding at full speed, if it has one.
    pub(crate) fast: Option<Fast>,
    /// The bytes of each token, or its characters, if they are its symbols; filled when spans are asked for.
    pub(crate) widths: OnceLock<Box<[u32]>>,
    /// Likewise.
    measures: OnceLock<Measures>,
    pool: Pool,
    /// The fast way, for tokenizers of characters.
    pub(crate) charwise: Option<Charwise>,
    /// The same, for models that take words.
    pub(crate) wordwise: Option<Wordwise>,
    decoder: Decoder,
    text_decoder: Option<TextDecoder>,
    /// Tokens that full encodings spell as what they were found as: Unigram's unknown one, and those that are looked for
    /// in normalized text and take white space along, or are ordinary tokens as well.
    pub(crate) spelled: Box<[u32]>,
}

/// Memory and buffers that one thread reuses from text to text, with one tokenizer.
#[derive(Debug, Default)]
pub struct Work {
    pub(crate) ids: Vec<u32>,
    /// For each id, its first symbol; empty unless spans are asked for, as the next.
    pub(crate) starts: Vec<u32>,
    /// The span in the text of each symbol.
    pub(crate) symbols: Vec<Range<usize>>,
    /// The ids of tokens that stand among them already.
    pub(crate) fixed: Vec<u32>,
    pub(crate) tokens: Tokens,
    pub(crate) origins: Origins,
    pub(crate) scratch: Scratch,
    pub(crate) cache: PieceCache,
    /// Pieces with the places of their tokens.
    pub(crate) spanned: PieceCache,
    /// Segments between places where steps surely cut; one that is learned.
    pub(crate) segments: PieceCache,
    pub(crate) learned: Vec<u32>,
    pub(crate) row: Vec<u32>,
    /// Words as they stand in text, with the tokens of each, and their places.
    pub(crate) words: Later<run::Words>,
    pub(crate) fast: Option<Box<FastWork>>,
    /// Whether it is that of the first thread, which may remember more than others.
    pub(crate) is_first: bool,
    pub(crate) buffer: Option<Box<Buffer>>,
    /// Asked between blocks of a long text.
    pub ask: Ask,
    pub(crate) charwise: Later<charwise::Work>,
    pub(crate) wordwise: Later<wordwise::Work>,
    /// The ways to cut each piece, where several are asked for.
    pub(crate) several: Vec<Several>,
}

impl Work {
    /// The memory for the fast way, and what is asked between blocks.
    pub(crate) fn fast(&mut self) -> (&mut FastWork, &Ask) {
        (self.fast.get_or_insert_with(|| Box::new(FastWork::new(self.is_first))), &self.ask)
    }
}

impl Tokenizer {
    /// Builds and checks; a vocabulary that cannot be is an error that names the place.
    pub fn new(parts: Parts<'_>) -> Result<Tokenizer, Error> {
        let vocab = parts.vocab()?;
        parts.check(&vocab)?;
        let parts = parts.without_idle_steps();
        let spelling = parts.spelling;
        let alphabet = Alphabet::new(&spelling, parts.alphabet.iter().copied())?;
        let model = Model::new(&parts, &vocab)?;
        let merging = model.is_none();
        let (merges, alphabet) = merges_of(&parts, &vocab, alphabet, merging)?;
        let normalizer = Normalizer::new(&parts.normalizer)?;
        let pretokenizer = Pretokenizer::new(&parts.pretokenizer)?;
        let named = matching::named(&parts.special, &parts.added, &parts.matching)?;
        let stages =
            Stages::new(&named, &normalizer, matches!(model, Some(Model::Unigram(_) | Model::WordLevel(_))))?;
        let decoder = Decoder::new(&vocab, &named, &spelling)?;
        let text_decoder = parts.decoder.as_ref();
        let text_decoder = text_decoder.map(|steps| TextDecoder::new(steps, &spelling, &named, &normalizer));
        let text_decoder = text_decoder.transpose()?;
        let scores = (parts.scores.is_some() && merging).then(|| Scores::new(&parts.unused, &spelling));
        let one_piece = parts.split.kind() == "none" && pretokenizer.is_empty();
        let has_unused = scores.as_ref().is_some_and(Scores::has_unused);
        let exact = normalizer.is_identity() && pretokenizer.is_empty();
        let normalizes = !normalizer.is_identity() && scores.is_none();
        let spelled = spelled((&named, &vocab), normalizes, model.as_ref(), spelling.unknown);
        let joins = spelling.unit == Unit::Word
            || has_unused
            || (scores.is_some() && spelling.fuse_unknown && !one_piece);
        let one_split = parts.split.behind(&parts.pretokenizer);
        // Without a walk, parts that steps cut are too small to be worth a look at many pieces.
        let has_large_parts = pretokenizer.only_cuts() && parts.split.walk("").is_some();
        let cuts = one_split.is_some() || pretokenizer.prefixes_space() || has_large_parts;
        let plain = (pretokenizer.is_empty() || cuts) && !normalizer.freezes() && !joins && merging;
        Ok(Tokenizer {
            exact,
            fast: if plain { Fast::new(&parts, &vocab, &merges) } else { None },
            boundary: boundary::find(&parts, &vocab, &alphabet).filter(|_| merging),
            charwise: Charwise::of((&parts, &pretokenizer), &vocab, (&alphabet, &merges), model.as_ref()),
            wordwise: Wordwise::of(&parts, &pretokenizer, model.as_ref()),
            notes: has_unused,
            joins,
            whole_symbols: whole_symbols(&parts, &vocab),
            unit: spelling.unit,
            one_split,
            split: parts.split,
            whole_pieces: parts.whole_pieces,
            trim: parts.trim_offsets.then(|| Trim::new(&spelling, &parts.normalizer, &parts.pretokenizer)),
            vocab,
            alphabet,
            merges,
            scores,
            model,
            stages,
            normalizer,
            pretokenizer,
            decoder,
            text_decoder,
            spelled,
            segments: OnceLock::new(),
            widths: OnceLock::new(),
            measures: OnceLock::new(),
            pool: Pool::default(),
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

    /// Memory and buffers of its threads, for whoever encodes with it.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// How many symbols each token has.
    pub(crate) fn widths(&self) -> &[u32] {
        self.widths.get_or_init(|| {
            let is_start = |byte: &&u8| self.unit == Unit::Byte || **byte & 0xC0 != 0x80;
            let width = |bytes: &[u8]| bytes.iter().filter(is_start).count() as u32;
            (0..self.vocab.id_bound()).map(|id| self.vocab.bytes(id).map_or(0, width)).collect()
        })
    }

    /// What is known of each token for its place in the text.
    pub(crate) fn measures(&self) -> &Measures {
        self.measures.get_or_init(|| Measures::new(&self.vocab))
    }

    /// The way from ids back to bytes, without steps.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// The way from ids back to text by steps, if there are any.
    pub fn text_decoder(&self) -> Option<&TextDecoder> {
        self.text_decoder.as_ref()
    }

    /// The text of `ids` by the steps of the decoder; `None` if it has none.
    pub fn decode_text(&self, ids: &[u32]) -> Option<Result<String, Error>> {
        self.text_decoder.as_ref().map(|steps| steps.decode(&self.vocab, ids))
    }

    /// Appends the ids of `text` to `out`, merges passed over as `coins` fall.
    pub fn encode(
        &self,
        text: &str,
        policy: SpecialPolicy<'_>,
        mut coins: Coins,
        work: &mut Work,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        if let Some(fast) = self.fast.as_ref().filter(|_| !coins.any()) {
            let (mut buffer, before) = (work.buffer.take().unwrap_or_default(), out.len());
            let mut ids = Ids::new(out, &mut buffer);
            let done = self.plain(fast, (text, policy), work.fast(), &mut ids);
            ids.finish();
            work.buffer = Some(buffer);
            if !self.is_misplaced(&done) {
                return done;
            }
            out.truncate(before);
            work.fast().0.forget_held();
        }
        self.each::<false>(text, policy, &mut coins, work, &mut |ids, _| out.extend_from_slice(ids))
    }

    /// Whether an error tells a place in normalized text; the general way tells it in the text given.
    fn is_misplaced(&self, done: &Result<(), Error>) -> bool {
        !self.exact && done.as_ref().is_err_and(|error| *error != Error::Interrupted)
    }

    /// The number of ids of `text`.
    pub fn count(&self, text: &str, policy: SpecialPolicy<'_>, work: &mut Work) -> Result<usize, Error> {
        if let Some(fast) = &self.fast {
            let mut count = Count::default();
            let done = self.plain(fast, (text, policy), work.fast(), &mut count);
            if !self.is_misplaced(&done) {
                return done.map(|()| count.0);
            }
            work.fast().0.forget_held();
        }
        let mut count = 0;
        let mut coins = Dropout::NONE.coins(0);
        self.each::<false>(text, policy, &mut coins, work, &mut |ids, _| count += ids.len())?;
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
        let mut coins = Dropout::NONE.coins(0);
        self.each::<true>(text, policy, &mut coins, work, &mut |_, spans| out.extend_from_slice(spans))?;
        Ok(out)
    }

    /// Cuts `text` at special tokens and hands the ids and spans of each token, run or piece to `sink`, in order.
    pub(crate) fn each<const SPANS: bool>(
        &self,
        text: &str,
        policy: SpecialPolicy<'_>,
        coins: &mut Coins,
        work: &mut Work,
        sink: &mut impl FnMut(&[u32], &[Range<usize>]),
    ) -> Result<(), Error> {
        let result =
            Job::<SPANS, _>::new(self, (text, policy), coins, work, |ids, spans, _| sink(ids, spans));
        let result = result.all();
        match result {
            // Only with spans is the place known.
            Err(Error::UnknownSymbol { .. } | Error::SpecialFound { .. } | Error::SplitFailed { .. })
                if !SPANS && !self.knows_places() =>
            {
                let mut never = Dropout::NONE.coins(0);
                let again = Job::<true, _>::new(self, (text, policy), &mut never, work, |_, _, _| ()).all();
                again.and(result)
            }
            result => result,
        }
    }
}

/// The merges, and the symbols that they merge.
fn merges_of(
    parts: &Parts<'_>,
    vocab: &Arc<Vocab>,
    alphabet: Alphabet,
    merging: bool,
) -> Result<(Merges, Alphabet), Error> {
    Ok(match (&parts.merges, &parts.scores) {
        _ if !merging => (Merges::from_list(&[])?, alphabet),
        (Some(list), _) => (Merges::from_list(list)?, alphabet),
        (None, Some(scores)) => {
            let (merges, chars) = scores::pairs(vocab, scores)?;
            (merges, alphabet.with_virtual(chars))
        }
        (None, None) => (Merges::from_ranks(vocab.clone()), alphabet),
    })
}

/// The ids of tokens that are spelled as what they were found as (`Tokenizer::spelled`).
fn spelled(
    (named, vocab): (&[Named], &Vocab),
    normalizes: bool,
    model: Option<&Model>,
    unknown: Option<u32>,
) -> Box<[u32]> {
    let takes = |token: &&Named| {
        normalizes
            && token.matching.stage == Stage::Normalized
            && (token.matching.lstrip
                || token.matching.rstrip
                || vocab.bytes(token.id).is_some()
                || unknown == Some(token.id))
    };
    named.iter().filter(takes).map(|token| token.id).chain(model.and_then(Model::spelled)).collect()
}

/// Symbols that are whole pieces and have another id than the first of their bytes.
fn whole_symbols(parts: &Parts<'_>, vocab: &Vocab) -> FxHashMap<Box<[u8]>, u32> {
    let mut out = FxHashMap::default();
    for &(symbol, id) in &parts.alphabet {
        if parts.whole_pieces && vocab.id(symbol).is_some_and(|first| first != id) {
            out.insert(symbol.into(), id);
        }
    }
    out
}
