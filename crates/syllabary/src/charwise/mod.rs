//! The fast way of tokenizers whose symbols are characters: sentencepiece's, and those of the same kind.
//!
//! Text is cut where no token of the vocabulary can reach over (`joins`); what lies between is short and repeats,
//! so its ids are remembered (`memory`). A character that is in no token with another, as most of Greek and Chinese
//! where the vocabulary is Latin, is looked up at once (`letters`). Spaces are read as `▁` where they stand: the text
//! is not rewritten, unless a normalizer does more than that.
//!
//! Adds: `Charwise`, which some tokenizers have, and the conditions for it. Leaves out all that makes ids depend on
//! more than the characters: dropout, tokens that are cut again, tokens found in normalized text, errors; and spans
//! of text that is rewritten. The general way (`run`) does those, and gives the same ids for all the rest.

mod ahead;
mod alone;
mod behind;
mod brief;
mod carry;
#[cfg(simd_x86)]
mod cover;
#[cfg(simd_x86)]
mod cover_narrow;
mod cut;
#[cfg(simd_x86)]
mod cut_wide;
mod dropped;
mod encode;
mod gather;
mod groups;
mod joins;
mod kinds;
pub(crate) mod learn;
mod letters;
pub(crate) mod memory;
#[cfg(simd_x86)]
mod mixed;
pub(crate) mod out;
mod pairs;
mod shape;
mod spans;
mod stretch;
#[cfg(simd_x86)]
mod stretch_wide;
#[cfg(test)]
mod tests;
mod weigh;
mod work;

use rustc_hash::FxHashSet;

use crate::{
    alphabet::{Alphabet, NONE, Unit, VIRTUAL},
    merge::{Merge, Merges},
    models::Model,
    parts::Parts,
    pretokenize::Pretokenizer,
    vocab::Vocab,
};
use dropped::Dropped;
use groups::Groups;
use joins::Joins;
use kinds::Kinds;
use letters::Letters;
use pairs::Pairs;
use shape::Shape;
use weigh::Weigh;

pub(crate) use spans::Stretch;
pub(crate) use work::Work;

/// Two symbols and what they become.
type Pair = ((u32, u32), Merge);

/// What marks spaces.
const MARK: char = '▁';

/// A vocabulary knows other scripts than ASCII if so many pairs of their characters stand in its tokens.
const MANY_PAIRS: usize = 1_000;

/// How a segment becomes ids.
enum How {
    /// Its characters merge.
    Merge(Pairs),
    /// Its tokens are weighed.
    Weigh(Weigh),
}

/// The tables of one tokenizer.
pub(crate) struct Charwise {
    shape: Shape,
    letters: Letters,
    joins: Joins,
    /// The processor reads sixteen characters at once.
    #[cfg(simd_x86)]
    singles: Option<mixed::Singles>,
    /// Where segments of all scripts are looked up together.
    groups: Option<Groups>,
    how: How,
    /// No token reaches over the place before a mark.
    begins_words: bool,
    /// Most characters stand beside many others in tokens, so that words are looked for as wholes.
    whole_words: bool,
    /// Segments of all scripts are looked up together, as so many characters that are not ASCII stand beside others in tokens.
    knows_scripts: bool,
    /// The bytes of ASCII that no token stands for, if there are any: they go.
    dropped: Option<Box<Dropped>>,
    /// The unknown token, and whether several in a row are one.
    unknown: u32,
    fuses: bool,
}

impl Charwise {
    /// The tables of a tokenizer with this model; `None` where only the general way is exact.
    pub(crate) fn of(
        (parts, pretokenizer): (&Parts<'_>, &Pretokenizer),
        vocab: &Vocab,
        (alphabet, merges): (&Alphabet, &Merges),
        model: Option<&Model>,
    ) -> Option<Charwise> {
        match model {
            None => Charwise::new((parts, pretokenizer), vocab, alphabet, merges),
            Some(Model::Unigram(unigram)) => Charwise::weighing(parts, unigram),
            Some(_) => None,
        }
    }

    /// The same where symbols merge.
    fn new(
        (parts, pretokenizer): (&Parts<'_>, &Pretokenizer),
        vocab: &Vocab,
        alphabet: &Alphabet,
        merges: &Merges,
    ) -> Option<Charwise> {
        let (spelling, kinds) = (&parts.spelling, Kinds::of(parts, pretokenizer));
        let shape = match kinds {
            Some(_) => Some(Shape::of_kinds(&parts.normalizer)),
            None => Shape::new(&parts.normalizer, &parts.pretokenizer, parts.scores.is_some())
                .filter(|_| parts.split.kind() == "none"),
        };
        let shape = shape.filter(|_| merges_characters(parts))?;
        let pairs = merges.pairs();
        if !only_characters(alphabet, &pairs, spelling.unknown) {
            return None;
        }
        let space = if shape.marks_spaces { MARK } else { ' ' };
        let neighbours = shape.beside(neighbours(vocab, &pairs)?, alphabet)?;
        let beside = neighbours.iter().copied();
        // Where scores say what merges, unknown characters do more than to be an error.
        let may_lack = spelling.unknown.is_some() || parts.scores.is_none();
        let mut letters = Letters::new(alphabet, space, beside, may_lack)?;
        let dropped = match kinds {
            Some(kinds) if !neighbours.iter().all(|&(left, right)| kinds.leave(left, right)) => return None,
            Some(kinds) => {
                let dropped = kinds.dropped();
                letters.drop_all(&dropped);
                Dropped::new(&dropped)
            }
            None => None,
        };
        let spell = |id: u32, symbols: &mut Vec<u32>| {
            let text = std::str::from_utf8(vocab.bytes(id).unwrap_or_default()).unwrap_or_default();
            symbols.extend(text.chars().map(|char| letters.get(char).id()));
        };
        let of_others = neighbours.iter().filter(|(left, right)| !left.is_ascii() && !right.is_ascii());
        // Where text is cut by kinds, characters that are unknown stand among others: one look for all.
        let knows_scripts = shape.cuts_kinds || of_others.count() >= MANY_PAIRS;
        Some(Charwise {
            #[cfg(simd_x86)]
            singles: None,
            groups: match shape.cuts_kinds {
                true => Some(Groups::new(&neighbours, &letters)),
                false => knows_scripts.then(|| Groups::of_pairs(&letters)),
            },
            how: How::Merge(Pairs::new(&pairs, spell)?),
            joins: Joins::new(&neighbours, space).covered(ranked(vocab, &pairs), space),
            begins_words: shape.marks_spaces && neighbours.iter().all(|&(_, right)| right != MARK),
            whole_words: false,
            knows_scripts,
            unknown: spelling.unknown.unwrap_or(NONE),
            letters,
            fuses: spelling.fuse_unknown && !Letters::has_all_bytes(alphabet),
            dropped,
            shape,
        })
    }

    /// Whether unknown characters are remembered: each is a token by itself.
    fn knows_unknown(&self) -> bool {
        self.knows_scripts && self.unknown != NONE && !self.fuses && matches!(self.how, How::Merge(_))
    }
}

/// Whether characters merge as they are, and nothing happens to what they become.
fn merges_characters(parts: &Parts<'_>) -> bool {
    let spelling = &parts.spelling;
    spelling.unit == Unit::Char
        && spelling.end_of_word.is_none()
        && spelling.continuing_prefix.is_none()
        && !parts.whole_pieces
        && parts.unused.is_empty()
        && (parts.merges.is_some() || parts.scores.is_some())
}

/// Whether all that merges are characters and what they become: the unknown token and the bytes that spell
/// characters take no part, and no token is the unknown one by another way.
fn only_characters(alphabet: &Alphabet, pairs: &[Pair], unknown: Option<u32>) -> bool {
    let mut others: FxHashSet<u32> = unknown.into_iter().collect();
    if unknown.is_some_and(|id| alphabet.fallback_bytes.contains(&id)) {
        return false;
    }
    if alphabet.fallback {
        let known = |byte: usize| byte < 128 && alphabet.chars[0].contains_key(&char::from(byte as u8));
        let spells = alphabet.fallback_bytes.iter().enumerate().filter(|(byte, _)| !known(*byte));
        others.extend(spells.map(|(_, &id)| id).filter(|&id| id != NONE));
    }
    let is_other = |id: u32| others.contains(&id);
    let tokens = alphabet.chars[0].values().copied().all(|id| Some(id) != unknown && id < VIRTUAL);
    let apart = pairs
        .iter()
        .all(|&((left, right), merge)| !is_other(left) && !is_other(right) && !is_other(merge.id));
    tokens && apart
}

/// What merging makes, and how many merges come before.
fn ranked<'v>(vocab: &'v Vocab, pairs: &'v [Pair]) -> impl Iterator<Item = (&'v str, u32)> {
    pairs.iter().filter_map(|(_, merge)| {
        let text = std::str::from_utf8(vocab.bytes(merge.id)?).ok()?;
        Some((text, merge.rank))
    })
}

/// The characters that stand side by side in what merging makes; `None` if that is no text.
fn neighbours(vocab: &Vocab, pairs: &[Pair]) -> Option<Vec<(char, char)>> {
    let mut is_done = vec![false; vocab.id_bound() as usize];
    let mut ascii = vec![false; 128 * 128];
    let mut others = FxHashSet::default();
    for (_, merge) in pairs {
        if std::mem::replace(is_done.get_mut(merge.id as usize)?, true) {
            continue;
        }
        let text = std::str::from_utf8(vocab.bytes(merge.id)?).ok()?;
        for (left, right) in text.chars().zip(text.chars().skip(1)) {
            match ascii.get_mut((left as usize) << 7 | right as usize) {
                Some(seen) if right.is_ascii() => *seen = true,
                _ => drop(others.insert((left, right))),
            }
        }
    }
    let seen = ascii.iter().zip(0..).filter(|(seen, _)| **seen);
    let pairs = seen.map(|(_, at): (_, u16)| (char::from((at >> 7) as u8), char::from((at & 127) as u8)));
    Some(pairs.chain(others).collect())
}
