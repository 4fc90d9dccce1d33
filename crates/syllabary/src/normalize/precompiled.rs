//! `Precompiled`: the rules of sentencepiece's character map, as `tokenizers` applies them.
//!
//! Adds: one rule for a whole grapheme cluster of fewer than 6 bytes, else one for each of its characters; the
//! shortest rule that begins it wins and replaces all of it. Leaves out: whitespace (`sentencepiece` does that).
//!
//! Source of the rules: `tokenizers` 0.23.3, `normalizers/precompiled.rs`; `spm_precompiled` 0.1.4.

use unicode_segmentation::UnicodeSegmentation;

use super::{characters::is_common_letter, charsmap::Charsmap, limit, too_large};
use crate::{
    aligned::{Aligned, Rewriter},
    error::Error,
};

/// Longer clusters are looked up character by character.
const MAX_CLUSTER: usize = 6;

/// `part` with the rules of `map`; `None` if no rule applies.
pub(super) fn apply(map: &Charsmap, part: &Aligned) -> Result<Option<Aligned>, Error> {
    let text = part.text();
    let limit = limit(text.len());
    let mut writer = Writer { out: Rewriter::new(part), pending: None, modified: false };
    let mut at = 0;
    while at < text.len() {
        let run = unchanged(map, text, at);
        if run > at {
            writer.keep(text, at, run);
            at = run;
            continue;
        }
        let Some(cluster) = text[at..].graphemes(true).next() else { break };
        at += cluster.len();
        match map.shortest(cluster.as_bytes()) {
            Some(rule) if cluster.len() < MAX_CLUSTER => writer.put(cluster, rule),
            _ => writer.characters(map, cluster),
        }
        if writer.out.written() > limit {
            return Err(too_large());
        }
        if writer.out.is_stopped() {
            return Err(Error::Interrupted);
        }
    }
    writer.flush();
    Ok(if writer.modified { Some(writer.out.finish()) } else { None })
}

/// The end of the run of characters from `at`, where a cluster begins, that are clusters by themselves and that no
/// rule concerns.
fn unchanged(map: &Charsmap, text: &str, mut at: usize) -> usize {
    let mut chars = text[at..].chars().peekable();
    while let Some(c) = chars.next() {
        // ASCII and common letters join neither what is before them nor each other; CR LF alone is one cluster.
        let alone = chars.peek().is_none_or(|next| next.is_ascii() || is_common_letter(*next));
        let kept = match u8::try_from(c).ok().filter(u8::is_ascii) {
            Some(byte) => byte != b'\r' && map.plain(byte),
            None => is_common_letter(c) && map.shortest(c.encode_utf8(&mut [0; 4]).as_bytes()).is_none(),
        };
        if !(alone && kept) {
            return at;
        }
        at += c.len_utf8();
    }
    at
}

/// Changes as `tokenizers` counts them: the last one is held back, for what is removed after it changes it.
struct Writer<'a> {
    out: Rewriter<'a>,
    pending: Option<(char, isize)>,
    modified: bool,
}

impl Writer<'_> {
    fn push(&mut self, c: char, change: isize) {
        self.flush();
        self.pending = Some((c, change));
    }

    fn flush(&mut self) {
        if let Some((c, change)) = self.pending.take() {
            self.out.change(c, change);
        }
    }

    /// Text that stays as it is, from byte `start` to `end`.
    fn keep(&mut self, text: &str, start: usize, end: usize) {
        let Some(last) = text[start..end].chars().next_back() else { return };
        let before = end - last.len_utf8();
        self.flush();
        if self.out.offset() == start {
            self.out.copy(before);
        } else {
            // What was removed at the very beginning is not counted, so the alignment lags behind from there on.
            text[start..before].chars().for_each(|c| self.out.change(c, 0));
        }
        self.pending = Some((last, 0));
    }

    fn characters(&mut self, map: &Charsmap, cluster: &str) {
        let mut buffer = [0; 4];
        for c in cluster.chars() {
            let character: &str = c.encode_utf8(&mut buffer);
            match map.shortest(character.as_bytes()) {
                Some(rule) => self.put(character, rule),
                None => self.push(c, 0),
            }
        }
    }

    /// `new` in place of `old`: characters beyond the old number are insertions; those missing are removed after
    /// the character before.
    fn put(&mut self, old: &str, new: &str) {
        self.modified = true;
        let (replaced, written) = (old.chars().count(), new.chars().count());
        for (number, c) in new.chars().enumerate() {
            self.push(c, isize::from(number >= replaced));
        }
        if written < replaced
            && let Some((_, change)) = &mut self.pending
        {
            *change -= (replaced - written) as isize;
        }
    }
}
