//! The pieces of a text to ids, many at a time.

#[cfg(simd_x86)]
use super::lanes;
use super::{
    asked::Asked,
    cuts::Cuts,
    found::{Found, MANY, Missed},
    held::{BEFORE, Held},
    inside::Inside,
    joined::Joined,
    key::Key,
    late::Late,
    memory::{Longers, Short},
    output::Output,
    short::BytePairs,
    spelled::Spelled,
    windows::Windows,
};
use crate::{
    Error,
    asking::Ask,
    cache::PieceCache,
    fetch::Ahead,
    merge::{Merges, Scratch},
    parts::Parts,
    split::Split,
    vocab::Vocab,
};

/// Between so many chunks of a text it is asked whether to go on.
const OFTEN: u32 = 1 << 8;

/// What a tokenizer needs to encode at full speed, besides its vocabulary and merges.
#[derive(Debug)]
pub(crate) struct Fast {
    pub(super) bytes: BytePairs,
    pub(super) cuts: Cuts,
    pub(super) whole_pieces: bool,
    /// Where merges are a list: which characters cannot begin as they are.
    pub(super) late: Option<Late>,
    /// Whether sixteen strings are merged at once.
    #[cfg(simd_x86)]
    pub(super) lanes: Option<lanes::Able>,
}

/// The memory and buffers of one thread; only ever used with one tokenizer.
#[derive(Debug)]
pub(crate) struct FastWork {
    pub(super) short: Short,
    pub(super) longer: Longers,
    pub(super) long: PieceCache,
    /// Where the first piece begins, and where each ends.
    pub(super) edges: Box<[usize]>,
    pub(super) joined: Joined,
    pub(super) asked: Asked,
    pub(super) found: Found,
    pub(super) held: Held,
    pub(super) inside: Option<Box<Inside>>,
    /// The first pieces of the parts of `inside`.
    pub(super) firsts: Vec<Missed>,
    pub(super) ids: Vec<u32>,
    /// Text that is normalized.
    pub(crate) normalized: String,
    /// Text with a space before it.
    pub(crate) prefixed: String,
    pub(super) unknown: Vec<(Key, u32)>,
    pub(super) spelled: Spelled,
    /// Whether some of the last few pieces that were encoded one by one were new.
    pub(super) are_new: bool,
    pub(super) windows: Windows,
    /// The next text.
    pub(crate) ahead: Ahead,
    pub(super) scratch: Scratch,
}

impl FastWork {
    /// Of the first thread, which may remember more than others.
    pub(crate) fn new(is_first: bool) -> FastWork {
        let mut short = Short::default();
        let mut longer = Longers::default();
        if is_first {
            short.allow_more();
            longer.allow_more();
        }
        FastWork {
            short,
            longer,
            long: PieceCache::default(),
            edges: vec![0; MANY + 1].into(),
            joined: Joined::default(),
            asked: Asked::new(MANY),
            found: Found::new(BEFORE),
            held: Held::new(),
            inside: None,
            firsts: Vec::new(),
            ids: Vec::new(),
            normalized: String::new(),
            prefixed: String::new(),
            unknown: Vec::new(),
            spelled: Spelled::default(),
            are_new: false,
            windows: Windows::default(),
            ahead: Ahead::default(),
            scratch: Scratch::default(),
        }
    }

    /// Says that much text is coming.
    pub(crate) fn expect_much(&mut self) {
        self.short.expect_much();
        self.longer.expect_much();
    }

    #[cfg(test)]
    pub(crate) fn leaps(&self) -> bool {
        self.short.leaps() && self.longer.leaps()
    }
}

impl Fast {
    /// `None` where the symbols of a piece are not its bytes.
    pub(crate) fn new(parts: &Parts<'_>, vocab: &Vocab, merges: &Merges) -> Option<Fast> {
        let spelling = &parts.spelling;
        let plain = spelling.end_of_word.is_none()
            && spelling.continuing_prefix.is_none()
            && spelling.byte_tokens.is_empty()
            && parts.scores.is_none();
        let bytes = if plain { BytePairs::new(parts, vocab, merges)? } else { return None };
        Some(Fast {
            bytes,
            cuts: Cuts::new(vocab),
            whole_pieces: parts.whole_pieces,
            late: parts.merges.as_ref().map(|list| Late::new(list, vocab)),
            #[cfg(simd_x86)]
            lanes: lanes::Able::new(),
        })
    }

    /// Whether a short string that is new is merged with others as it is; where that is not done by vectors, those of
    /// which most is not ASCII are sooner cut.
    #[inline(always)]
    pub(super) fn learns(&self, key: Key) -> bool {
        #[cfg(simd_x86)]
        if self.lanes.is_some() {
            return true;
        }
        key.is_mostly_ascii()
    }
}

/// One text on its way.
pub(crate) struct Pieces<'a, O> {
    pub(crate) fast: &'a Fast,
    pub(crate) vocab: &'a Vocab,
    pub(crate) merges: &'a Merges,
    pub(crate) work: &'a mut FastWork,
    pub(crate) out: O,
    /// Asked within long pieces.
    pub(crate) ask: &'a Ask,
    /// Whether new pieces may wait for others, until they are settled.
    pub(crate) waits: bool,
}

impl<O: Output> Pieces<'_, O> {
    /// Encodes a text, cut by `split`.
    pub(crate) fn text(&mut self, split: &Split, text: &str) -> Result<(), Error> {
        let Some(mut walk) = split.walk(text) else { return self.by_matches(split, text) };
        let mut edges = std::mem::take(&mut self.work.edges);
        edges[0] = 0;
        let (mut done, mut chunks) = (Ok(()), 0_u32);
        while done.is_ok() {
            self.work.ahead.some();
            let count = walk.fill(&mut edges[1..]);
            if count == 0 {
                break;
            }
            chunks = chunks.wrapping_add(1);
            if chunks.is_multiple_of(OFTEN)
                && let Err(error) = self.ask.check()
            {
                done = Err(error);
                break;
            }
            done = self.chunk(text.as_bytes(), &edges[..=count]);
            self.out.pieces(text.as_bytes(), edges[0], &edges[1..=count]);
            edges[0] = edges[count];
        }
        self.work.edges = edges;
        done
    }

    /// The same where pieces come one by one and may leave out text between them.
    fn by_matches(&mut self, split: &Split, text: &str) -> Result<(), Error> {
        let (mut edges, mut count, mut last) = ([0; MANY + 1], 0, 0);
        let mut done = Ok(());
        split.pieces(text, &mut |piece| {
            let at = piece.as_ptr() as usize - text.as_ptr() as usize;
            if count == MANY || at != last {
                if done.is_ok() {
                    done = self.chunk(text.as_bytes(), &edges[..=count]);
                    self.out.pieces(text.as_bytes(), edges[0], &edges[1..=count]);
                }
                (count, edges[0]) = (0, at);
            }
            last = at + piece.len();
            count += 1;
            edges[count] = last;
        })?;
        done?;
        self.chunk(text.as_bytes(), &edges[..=count])?;
        self.out.pieces(text.as_bytes(), edges[0], &edges[1..=count]);
        Ok(())
    }
}
