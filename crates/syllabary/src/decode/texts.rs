//! Text by steps that look at one token at a time: what a token adds to a text is asked of them once.
//!
//! ```text
//! Replace ▁ by a space, Fuse, Strip:    ▁the -> " the"    wherever it stands, but at the beginning
//! ```
//!
//! The steps say it of a token behind another text, and the beginning of each text goes through them, up to where there is
//! some. Leaves out which steps are so (`step_decode`), and bytes in a row, which become characters together.

use std::{borrow::Cow, sync::atomic::Ordering::Relaxed};

use rustc_hash::FxHashMap;

use super::{
    TextDecoder,
    slots::{GROUP_ROOM, Slots, WRITTEN},
};
use crate::{
    Error,
    step_decode::{Class, Token},
    vocab::Vocab,
};

/// Where so many ids have no text, all go through the steps.
const BEGIN: usize = 8;
/// For so many ids room is made at once.
const MANY: usize = 1 << 16;
/// A token may add so many times its bytes and one more.
const LONGER: usize = 64;
/// When a share of the tokens has been decoded, but not before so many.
const SOON: usize = 1 << 10;
const SHARE: usize = 8;

/// A text before a token.
fn before() -> Token<'static> {
    (Cow::Borrowed("a"), Class::Normal)
}

/// What each token adds; of bytes nothing is there, but which they are.
#[derive(Debug)]
pub(super) struct Texts {
    slots: Slots,
    bytes: FxHashMap<u32, u8>,
}

impl TextDecoder {
    /// What tokens add, if the steps are such and enough has been decoded; `more`: so many ids are now.
    pub(super) fn texts(&self, vocab: &Vocab, more: usize) -> Option<&Texts> {
        let seen = self.seen.fetch_add(more, Relaxed).saturating_add(more);
        let bound = vocab.id_bound() as usize;
        if seen < SOON.max(bound / SHARE) || !self.steps.looks_at_one_token() {
            return None;
        }
        self.texts.get_or_init(|| self.ask_all(vocab)).as_ref()
    }

    fn ask_all(&self, vocab: &Vocab) -> Option<Texts> {
        let named = self.called.keys().map(|&id| id + 1).max().unwrap_or(0);
        let bound = vocab.id_bound().max(named);
        let (mut slots, mut bytes) = (Slots::for_many(bound as usize), FxHashMap::default());
        let begin = self.steps.decode_classed(vec![before()]).ok()?;
        for id in 0..bound {
            let Some(token) = self.token(vocab, id) else { continue };
            if let Some(byte) = self.steps.byte(&token) {
                bytes.insert(id, byte);
                continue;
            }
            let most = LONGER * (token.0.len() + 1);
            let made = self.steps.decode_classed(vec![before(), token]).unwrap_or_default();
            if let Some(added) = made.strip_prefix(&*begin).filter(|added| added.len() <= most) {
                slots.put(id as usize, added.as_bytes()).ok()?;
            }
        }
        (!begin.is_empty()).then_some(Texts { slots, bytes })
    }

    /// The text of ids, of which those at the beginning go through the steps; `None`: all must.
    pub(super) fn by_texts(
        &self,
        vocab: &Vocab,
        texts: &Texts,
        ids: &[u32],
    ) -> Result<Option<String>, Error> {
        let slots = &texts.slots;
        let begins = |count: &usize| ids.get(count - 1).is_some_and(|&id| slots.bytes(id).is_some());
        // Of the first token by itself it is not known that it is no byte.
        let begun = (2..=BEGIN).filter(begins).find_map(|count| {
            let text = self.by_steps(vocab, &ids[..count]).ok()?;
            (!text.is_empty()).then_some((count, text))
        });
        let Some((mut at, text)) = begun else { return Ok(None) };
        let (mut made, mut bytes) = (text.into_bytes(), Vec::new());
        while at < ids.len() {
            made.reserve((ids.len() - at).min(MANY) * WRITTEN + GROUP_ROOM);
            let (taken, written) = slots.fill(&ids[at..], made.spare_capacity_mut());
            let length = made.len() + written;
            // SAFETY: so many bytes of the capacity were written, behind those that were there.
            unsafe { made.set_len(length) };
            at += taken;
            let Some(&id) = ids.get(at) else { break };
            if let Some(long) = slots.bytes(id) {
                made.extend_from_slice(long);
                at += 1;
                continue;
            }
            let others = ids[at..].iter().take_while(|&&id| slots.bytes(id).is_none()).count();
            let others = at..at + others;
            at = others.end;
            bytes.clear();
            bytes.extend(ids[others.clone()].iter().map_while(|id| texts.bytes.get(id)));
            if bytes.len() < others.len() || !self.steps.write_bytes(&bytes, &mut made) {
                made.extend_from_slice(self.behind(vocab, &ids[others.clone()], others.start)?.as_bytes());
            }
        }
        // SAFETY: the beginning is a text; what slots add is the end of one, behind a whole text that it began with, and so is
        // what comes from `behind`; `write_bytes` writes characters alone.
        Ok(Some(unsafe { String::from_utf8_unchecked(made) }))
    }

    /// What ids, the first of them of this number, add to a text before them.
    fn behind(&self, vocab: &Vocab, ids: &[u32], first: usize) -> Result<String, Error> {
        let begin = self.steps.decode_classed(vec![before()])?;
        let made = self.steps.decode_classed(self.tokens(vocab, (ids, first), vec![before()])?)?;
        Ok(made.strip_prefix(&*begin).unwrap_or(&made).to_owned())
    }
}
