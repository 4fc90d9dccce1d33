//! Where a piece can be cut further without changing any id.
//!
//! Tokenizers in the manner of sentencepiece cut nothing before they merge: a whole text is one piece. But most
//! of them have no token that holds a `▁` after another character, and then no merge can reach over such a
//! place: whatever joined both sides would be a token with that character and the `▁` in it. The two sides are
//! then merged as if each stood alone, since the order of merges on one side does not depend on the other. So
//! text may be cut there, which makes short pieces that repeat.
//!
//! For this to hold, the symbols must not depend on the cut: no mark of a piece's begin or end, no piece looked
//! up as a whole, and the `▁` must be a symbol of its own, so that unknown symbols before it cannot be fused
//! with what follows. Tokens that are cut again (`unused`) depend on the whole run. Leaves out dropout, whose
//! coins are drawn in the order of the whole piece: the caller must not cut then.

use crate::{
    alphabet::{Alphabet, Unit},
    parts::Parts,
    vocab::Vocab,
};

/// Characters that begin words.
const CANDIDATES: [char; 2] = ['▁', ' '];

/// The character before which pieces can be cut, where another one stands before it.
pub(crate) fn find(parts: &Parts<'_>, vocab: &Vocab, alphabet: &Alphabet) -> Option<char> {
    let uncut = parts.split.kind() == "none";
    if !uncut || parts.spelling.unit != Unit::Char || parts.whole_pieces || !parts.unused.is_empty() {
        return None;
    }
    if parts.merges.is_none() && parts.scores.is_none() {
        return None;
    }
    CANDIDATES.into_iter().find(|&boundary| {
        let holds = |id: u32| holds_inside(vocab.bytes(id).unwrap_or_default(), boundary);
        let empty = |id: u32| vocab.bytes(id).is_none_or(<[u8]>::is_empty);
        alphabet.knows(boundary)
            && !parts.merges.iter().flatten().any(|&(a, b, id)| holds(id) || empty(a) || empty(b))
            && !parts.scores.iter().flatten().any(|&(id, _)| holds(id))
    })
}

/// Whether `boundary` stands in `token` after anything but itself.
fn holds_inside(token: &[u8], boundary: char) -> bool {
    let mut buffer = [0; 4];
    let mark = boundary.encode_utf8(&mut buffer).as_bytes();
    let mut rest = token;
    while let Some(after) = rest.strip_prefix(mark) {
        rest = after;
    }
    rest.windows(mark.len()).any(|window| window == mark)
}

/// Calls `f` with the parts of `piece` between boundaries, and where each begins.
pub(crate) fn cut<'t>(piece: &'t str, boundary: char, f: &mut impl FnMut(&'t str, usize)) {
    let mut start = 0;
    let mut last_end = 0;
    for (at, found) in piece.match_indices(boundary) {
        if at > last_end {
            f(&piece[start..at], start);
            start = at;
        }
        last_end = at + found.len();
    }
    f(&piece[start..], start);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_stand_after_other_characters() {
        let mut out = Vec::new();
        cut("▁▁a▁b▁▁c", '▁', &mut |part, at| out.push((part, at)));
        assert_eq!(out, [("▁▁a", 0), ("▁b", 7), ("▁▁c", 11)]);
        assert!(!holds_inside("▁▁a".as_bytes(), '▁'));
        assert!(holds_inside("a▁".as_bytes(), '▁'));
        assert!(holds_inside("▁a▁".as_bytes(), '▁'));
    }
}
