//! What a tokenizer does to text before it is spelled, where that is little.
//!
//! Leaves out other normalizers, which run as they are.

use super::{Charwise, MARK};
use crate::{Error, alphabet::Alphabet, normalize::Normalizer, step::Step};

/// Where a mark is written before the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    Never,
    Always,
    /// Before text at the beginning of all that is given.
    First,
}

/// What becomes of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The normalizer does more than the rest says: it must run, and the rest is about what it makes.
    pub(super) rewrites: bool,
    /// Spaces are marks; where the normalizer must run, it leaves no spaces.
    pub(super) marks_spaces: bool,
    pub(super) prefix: Prefix,
    /// No prefix before a mark.
    pub(super) unless_marked: bool,
    /// Text is cut before every mark.
    pub(super) cuts_marks: bool,
    /// Text is cut at white space, which goes, and every part has a mark before it.
    pub(super) splits_spaces: bool,
    /// Text is cut by the kinds of its characters (`kinds`).
    pub(super) cuts_kinds: bool,
}

const PLAIN: Shape = Shape {
    rewrites: false,
    marks_spaces: false,
    prefix: Prefix::Never,
    unless_marked: false,
    cuts_marks: false,
    splits_spaces: false,
    cuts_kinds: false,
};

impl Shape {
    /// Of these steps; `None` where a pretokenizer does more than to mark spaces. `by_scores`: what is merged so.
    pub(super) fn new(normalizer: &[Step], pretokenizer: &[Step], by_scores: bool) -> Option<Shape> {
        match pretokenizer {
            [] => Some(normalized(normalizer).unwrap_or(Shape { rewrites: true, ..PLAIN })),
            [step] if !by_scores => metaspace(step)?.behind(normalizer),
            _ => None,
        }
    }

    /// Where text is cut by kinds, behind these steps.
    pub(super) fn of_kinds(normalizer: &[Step]) -> Shape {
        Shape { rewrites: !normalizer.is_empty(), cuts_kinds: true, ..PLAIN }
    }

    /// Which of the neighbours in tokens may stand side by side; `None` where what merges need not be a token, or what stands
    /// for a space.
    pub(super) fn beside(
        self,
        mut neighbours: Vec<(char, char)>,
        alphabet: &Alphabet,
    ) -> Option<Vec<(char, char)>> {
        let known = |char: char| alphabet.chars[0].contains_key(&char);
        let all = neighbours.iter().all(|&(left, right)| known(left) && known(right));
        if !all || self.marks_spaces && !known(MARK) {
            return None;
        }
        if self.marks_spaces {
            // Tokens with a space are never made.
            neighbours.retain(|&(left, right)| left != ' ' && right != ' ');
        }
        if self.cuts_marks {
            neighbours.retain(|&(_, right)| right != MARK);
        }
        Some(neighbours)
    }

    /// The same behind these steps; `None` where the first of what is normalized need not be the first of what is given.
    fn behind(self, normalizer: &[Step]) -> Option<Shape> {
        let is_told = normalizer.is_empty() || self.prefix != Prefix::First;
        is_told.then_some(Shape { rewrites: !normalizer.is_empty(), ..self })
    }
}

impl Charwise {
    /// Writes what becomes of text to `made`.
    pub(super) fn normalize(
        &self,
        text: &str,
        normalizer: &Normalizer,
        made: &mut String,
        spaced: &mut String,
    ) -> Result<(), Error> {
        made.clear();
        normalizer.write_spaced(text, self.shape.marks_spaces, made)?;
        if self.shape.splits_spaces {
            spaced.clear();
            for word in made.split_whitespace() {
                spaced.extend((!word.starts_with(MARK)).then_some(' '));
                spaced.push_str(word);
            }
            std::mem::swap(made, spaced);
        } else if self.shape.marks_spaces && !normalizer.spaces() {
            // No spaces are left: those that marks become here are read as marks, and ASCII is faster.
            spaced.clear();
            for (number, part) in made.split(MARK).enumerate() {
                spaced.extend((number > 0).then_some(' '));
                spaced.push_str(part);
            }
            std::mem::swap(made, spaced);
        }
        Ok(())
    }
}

fn normalized(steps: &[Step]) -> Option<Shape> {
    let marked = Shape { marks_spaces: true, ..PLAIN };
    let prefixed = Shape { prefix: Prefix::Always, ..marked };
    match steps {
        [] => Some(PLAIN),
        [step] if marks_spaces(step) => Some(marked),
        [a, b] if (prepends(a) && marks_spaces(b)) || (marks_spaces(a) && prepends(b)) => Some(prefixed),
        [step] if step.kind == "SentencePiece" => {
            let flag = |name| step.flag(name).ok();
            let marks_spaces = flag("escape_whitespaces")?;
            let plain = step.bytes("precompiled_charsmap").ok()?.is_empty()
                && marks_spaces
                && !flag("remove_extra_whitespaces")?
                && !flag("treat_whitespace_as_suffix")?;
            let shape = if flag("add_dummy_prefix")? { prefixed } else { marked };
            let rewrites = Shape { rewrites: true, marks_spaces, ..PLAIN };
            Some(if plain { shape } else { rewrites })
        }
        _ => None,
    }
}

fn marks_spaces(step: &Step) -> bool {
    step.kind == "Replace"
        && step.text("pattern") == Ok(" ")
        && step.flag("regex") == Ok(false)
        && is_mark(step, "content")
}

fn prepends(step: &Step) -> bool {
    step.kind == "Prepend" && is_mark(step, "prepend")
}

fn is_mark(step: &Step, name: &str) -> bool {
    let mut buffer = [0; 4];
    step.text(name).is_ok_and(|text| *text == *MARK.encode_utf8(&mut buffer))
}

fn metaspace(step: &Step) -> Option<Shape> {
    if step.kind != "Metaspace" || step.character("replacement").ok()? != MARK {
        return None;
    }
    let prefix = match step.text("prepend_scheme").ok()? {
        "always" => Prefix::Always,
        "first" => Prefix::First,
        "never" => Prefix::Never,
        _ => return None,
    };
    let cuts_marks = step.flag("split").ok()?;
    Some(Shape { marks_spaces: true, prefix, unless_marked: true, cuts_marks, ..PLAIN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Value;

    fn text(text: &str) -> Value {
        Value::Str(text.to_owned())
    }

    #[test]
    fn shapes_of_steps() {
        let replace = |content: &str, regex| {
            Step::of(
                "Replace",
                &[("pattern", text(" ")), ("regex", Value::Bool(regex)), ("content", text(content))],
            )
        };
        let prepend = Step::of("Prepend", &[("prepend", text("▁"))]);
        let marked = Shape { marks_spaces: true, ..PLAIN };
        let prefixed = Some(Shape { prefix: Prefix::Always, ..marked });
        let rewrites = Some(Shape { rewrites: true, ..PLAIN });
        let of = |steps: &[Step]| Shape::new(steps, &[], false);
        assert_eq!(of(&[]), Some(PLAIN));
        assert_eq!(of(&[replace("▁", false)]), Some(marked));
        assert_eq!(of(&[prepend.clone(), replace("▁", false)]), prefixed);
        assert_eq!(of(&[replace("▁", false), prepend.clone()]), prefixed);
        assert_eq!(of(&[replace("▁", true)]), rewrites);
        assert_eq!(of(&[replace("_", false)]), rewrites);
        assert_eq!(of(std::slice::from_ref(&prepend)), rewrites);
        let metaspace = |scheme: &str, split| {
            let options =
                [("replacement", text("▁")), ("prepend_scheme", text(scheme)), ("split", Value::Bool(split))];
            Step::of("Metaspace", &options)
        };
        let first = Shape { prefix: Prefix::First, unless_marked: true, ..marked };
        assert_eq!(Shape::new(&[], &[metaspace("first", false)], false), Some(first));
        assert_eq!(Shape::new(&[], &[metaspace("first", false)], true), None);
        assert_eq!(Shape::new(std::slice::from_ref(&prepend), &[metaspace("first", false)], false), None);
        let split = Shape { prefix: Prefix::Always, unless_marked: true, cuts_marks: true, ..marked };
        assert_eq!(Shape::new(&[], &[metaspace("always", true)], false), Some(split));
        let behind = Shape { rewrites: true, ..split };
        assert_eq!(Shape::new(&[prepend], &[metaspace("always", true)], false), Some(behind));
        assert_eq!(Shape::new(&[], &[Step::of("WhitespaceSplit", &[])], false), None);
        let sentencepiece = |rules: &[u8], extra| {
            let on = Value::Bool(true);
            let options = [
                ("precompiled_charsmap", Value::Bytes(rules.to_vec())),
                ("escape_whitespaces", on.clone()),
                ("add_dummy_prefix", on),
                ("remove_extra_whitespaces", Value::Bool(extra)),
                ("treat_whitespace_as_suffix", Value::Bool(false)),
            ];
            Step::of("SentencePiece", &options)
        };
        assert_eq!(of(&[sentencepiece(b"", false)]), prefixed);
        let rewrites = Some(Shape { rewrites: true, ..marked });
        assert_eq!(of(&[sentencepiece(b"", true)]), rewrites);
        assert_eq!(of(&[sentencepiece(b"x", false)]), rewrites);
    }
}
