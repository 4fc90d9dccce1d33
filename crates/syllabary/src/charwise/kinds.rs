//! Steps that cut text by the kinds of its characters, as `Whitespace` and `Punctuation` do.
//!
//! ```text
//! so be it.  ->  so|be|it|.     white space goes; two neighbours are cut or not, whatever stands around them
//! ```
//!
//! Which characters go and which neighbours are cut is found by trying it, with the steps themselves. Leaves out steps that look at
//! more, and neighbours of no token: text is cut between those anyway.

use crate::{Error, parts::Parts, pretokenize::Pretokenizer, split::Split};

/// The steps, which only look at the kinds of characters.
pub(super) struct Kinds<'s> {
    steps: &'s Pretokenizer,
    split: &'s Split,
}

impl<'s> Kinds<'s> {
    /// Those of a tokenizer; `None` if it has none, or some of them look at more.
    pub(super) fn of(parts: &'s Parts<'_>, steps: &'s Pretokenizer) -> Option<Kinds<'s>> {
        let has_some = !steps.is_empty() || parts.split.kind() != "none";
        let tells = |behavior| ["isolated", "contiguous"].contains(&behavior);
        let is_told = has_some && parts.cuts_by_kind() && parts.behaviors().all(tells);
        // Unknown characters of two pieces stay two. Behind BERT's normalizer words cost less as they are given (`wordwise`).
        let is_plain = parts.scores.is_none() && !parts.spelling.fuse_unknown;
        let is_bert = parts.normalizer.iter().any(|step| step.kind == "Bert");
        (is_told && is_plain && !is_bert).then_some(Kinds { steps, split: &parts.split })
    }

    /// The white space that they take away; they leave all other characters.
    pub(super) fn dropped(&self) -> Vec<char> {
        ('\0'..='\u{FFFF}').filter(|&c| c.is_whitespace() && self.pieces(&[c]) == Ok(Vec::new())).collect()
    }

    /// Whether they leave two neighbours together.
    pub(super) fn leave(&self, left: char, right: char) -> bool {
        self.pieces(&[left, right])
            .is_ok_and(|pieces| pieces.len() == 1 && pieces[0] == left.len_utf8() + right.len_utf8())
    }

    /// How many bytes the pieces of some characters have.
    fn pieces(&self, chars: &[char]) -> Result<Vec<usize>, Error> {
        let (text, mut lengths) = (String::from_iter(chars), Vec::new());
        self.steps.pieces(self.split, &text, &mut |piece| lengths.push(piece.len()))?;
        Ok(lengths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        alphabet::Unit,
        split::Tables,
        step::{Step, Value},
    };

    /// The names of all steps there are, with the options that they have.
    fn steps() -> Vec<Vec<Step>> {
        let flag = |on| [("individual_digits", Value::Bool(on))];
        let behavior = |name: &str| [("behavior", Value::Str(name.to_owned()))];
        let [whitespace, split, bert] =
            ["Whitespace", "WhitespaceSplit", "BertPreTokenizer"].map(|kind| Step::of(kind, &[]));
        let [one, many] = [true, false].map(|on| Step::of("Digits", &flag(on)));
        let [isolated, contiguous] =
            ["isolated", "contiguous"].map(|name| Step::of("Punctuation", &behavior(name)));
        vec![
            vec![whitespace.clone()],
            vec![split.clone()],
            vec![bert.clone()],
            vec![one.clone()],
            vec![many.clone()],
            vec![isolated.clone()],
            vec![contiguous.clone()],
            vec![whitespace.clone(), one.clone()],
            vec![split, contiguous, many],
            vec![isolated, bert],
            vec![one, whitespace],
        ]
    }

    /// What is left of a text, and the places where it is cut.
    fn cut(kinds: &Kinds<'_>, text: &str) -> (String, Vec<usize>) {
        let (mut left, mut places) = (String::new(), Vec::new());
        let mut each = |piece: &str| {
            left.push_str(piece);
            places.push(left.len());
        };
        kinds.steps.pieces(kinds.split, text, &mut each).unwrap();
        (left, places)
    }

    /// All characters: no other than white space goes, and of three neighbours each two are as they are alone.
    #[test]
    fn nothing_else_is_asked_by_these_steps() {
        let (near, far) = (crate::drawn::drawn(13, 1), crate::drawn::drawn(1009, 1));
        for steps in steps() {
            for pattern in [None, Some(r"\S+"), Some(r"\w+|[^\w\s]+")] {
                let mut parts =
                    Parts::plain(Unit::Char, Split::new(pattern, Tables::Tiktoken, false).unwrap());
                parts.pretokenizer = steps.clone();
                let pretokenizer = Pretokenizer::new(&steps).unwrap();
                let kinds = Kinds::of(&parts, &pretokenizer).unwrap();
                let dropped = kinds.dropped();
                let all = ('\0'..='\u{3100}').step_by(near).chain(('\0'..=char::MAX).step_by(far));
                let all = all.chain(dropped.clone()).chain('\0'..'\u{80}');
                for char in all {
                    for around in ['a', '!', '7', '\u{301}', 'é', '漢'] {
                        let text = String::from_iter([around, char, char, around]);
                        let (left, places) = cut(&kinds, &text);
                        let kept: String = text.chars().filter(|c| !dropped.contains(c)).collect();
                        assert_eq!(left, kept, "{char:?} {steps:?} {pattern:?}");
                        if !dropped.contains(&char) {
                            let widths = [around, char, char].map(char::len_utf8);
                            let pairs = [(around, char), (char, char), (char, around)];
                            let (mut expected, mut at) = (Vec::new(), 0);
                            for (width, (left, right)) in widths.into_iter().zip(pairs) {
                                at += width;
                                expected.extend((!kinds.leave(left, right)).then_some(at));
                            }
                            expected.push(text.len());
                            assert_eq!(places, expected, "{text:?} {steps:?} {pattern:?}");
                        }
                    }
                }
            }
        }
    }
}
