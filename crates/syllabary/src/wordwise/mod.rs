//! The fast way of text that is cut into words (BERT's and the like; merging of characters too): text is read as it is given, and the memory of
//! words knows them as they are written.
//!
//! ```text
//! The École, 学校!  ->  The | École | , | 学 | 校 | !     cut where the pretokenizer surely cuts
//! École            ->  ids                             known, or normalized, cut and encoded once
//! ```
//!
//! So a word is normalized when it is met first, and never again: no text is rewritten, nothing is aligned. What a
//! character does between two words, whether it is a space, a piece alone or a part of words, is found by trying it
//! (`classes`), with the steps themselves: this way knows no rule of theirs. So is what becomes of a character inside a
//! word (`letters`), where it does not matter what stands around it.
//!
//! Adds: `Wordwise`, which some tokenizers have, and the conditions for it. Leaves out offsets (`run` has those of each
//! word), and tokens found in normalized text: the general way (`run`) does those, and gives the same ids for all the
//! rest.

mod ahead;
mod classes;
mod cut;
#[cfg(simd_x86)]
mod cut_wide;
mod letters;
mod merging;
mod together;
mod tries;
mod walk;

use crate::{alphabet::Unit, models::Model, parts::Parts, pretokenize::Pretokenizer, step::Step};

pub(crate) use walk::Work;

/// Steps of normalizing that look at a character, or at one and the marks behind it: none looks past whitespace.
const LOCAL: [&str; 7] = ["Bert", "Lowercase", "StripAccents", "NFC", "NFD", "NFKC", "NFKD"];
/// Those that may join a sign with the mark behind it: `=` and U+0338 are `≠`.
const COMPOSING: [&str; 2] = ["NFC", "NFKC"];
/// First steps of cutting that cut at all whitespace.
const CUTTING: [&str; 3] = ["BertPreTokenizer", "Whitespace", "WhitespaceSplit"];

/// Those that leave no characters together but what stands between spaces and characters that stand alone.
const ISOLATING: [&str; 2] = ["BertPreTokenizer", "WhitespaceSplit"];

/// Where text may be cut before anything else happens to it.
pub(crate) struct Wordwise {
    /// No step of cutting looks at what is beside a character: so what one between two letters shows is true everywhere,
    /// and text may be cut between characters of two kinds, not at whitespace alone.
    by_kind: bool,
    /// None joins what it finds to what is beside it, so that two kinds may be cut from each other here but not there.
    tells: bool,
    /// Some of them leave characters of a kind together that they cut from others: spaces too, where they stay.
    has_kinds: bool,
    /// A character may be joined to the one behind it.
    composes: bool,
}

impl Wordwise {
    /// `None` where only the general way is exact, and where pieces are not independent of each other.
    pub(crate) fn of(
        parts: &Parts<'_>,
        pretokenizer: &Pretokenizer,
        model: Option<&Model>,
    ) -> Option<Wordwise> {
        let is = |step: &Step, kinds: &[&str]| kinds.contains(&step.kind.as_str());
        match model {
            // Where steps look at more, it costs less to look up segments.
            None if !parts.cuts_by_kind() && !parts.normalizer.iter().any(|step| is(step, &["Bert"])) => {
                return None;
            }
            None if parts.scores.is_some() || parts.spelling.unit != Unit::Char => return None,
            Some(Model::Unigram(_)) => return None,
            Some(Model::WordLevel(model)) if !model.is_plain() => return None,
            None | Some(Model::WordLevel(_) | Model::WordPiece(_)) => {}
        }
        let local = parts.normalizer.iter().all(|step| is(step, &LOCAL));
        let cuts = match parts.pretokenizer.first() {
            Some(step) => is(step, &CUTTING) && pretokenizer.only_cuts(),
            None => ["whitespace", "whitespace-split"].contains(&parts.split.kind()),
        };
        let composes = parts.normalizer.iter().any(|step| is(step, &COMPOSING));
        let by_kind = parts.cuts_by_kind();
        let isolates = |step: &Step| is(step, &ISOLATING);
        let merges = |behavior: &str| behavior.starts_with("merged");
        let tells = by_kind && !parts.behaviors().any(merges);
        let has_kinds = tells && !parts.pretokenizer.iter().all(isolates)
            || parts.split.kind() == "whitespace"
            || parts.split.kind() == "whitespace-split" && parts.split.keeps_unmatched();
        (local && cuts).then_some(Wordwise { by_kind, tells, has_kinds, composes })
    }
}
