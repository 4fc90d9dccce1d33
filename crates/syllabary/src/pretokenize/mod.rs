//! Cutting normalized text into parts, some steps rewriting it.
//!
//! Adds: `Pretokenizer`, which runs the steps of a `TokenizerSpec.pretokenizer`. Leaves out: the one pattern of a
//! `SplitSpec` (`split`).
//!
//! Source of the rules: `tokenizers` 0.23.3, `pre_tokenizers/`.

mod apart;
#[cfg(test)]
mod apart_tests;
mod class;
mod cut;
mod pieces;
mod scripts;

use unicode_categories::UnicodeCategories;

use crate::{
    aligned::{Aligned, Rewriter},
    error::Error,
    normalize::{Finder, byte_characters, write_bytes},
    split::Tables,
    step::Step,
};
use class::Class;
use cut::{Behavior, Folder};
use scripts::Scripts;

/// Parts go through the later steps together, up to this many: so memory does not grow with their number.
const BATCH: usize = 1024;

/// GPT-2's own pattern.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The steps, ready to run; immutable, to be shared by reference.
pub struct Pretokenizer {
    steps: Vec<Kind>,
}

/// A step cuts or rewrites; a kind that does both is two steps here.
enum Kind {
    Cut { what: What, behavior: Behavior, invert: bool },
    Scripts(Box<Scripts>),
    Length(usize),
    PrefixSpace,
    Bytes(Box<[char; 256]>),
    Metaspace { replacement: char, prepend: Prepend },
}

/// What is a match.
enum What {
    Finder(Finder),
    Class(Class),
}

/// Before which parts `Metaspace` writes its mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prepend {
    Always,
    First,
    Never,
}

impl Pretokenizer {
    /// The pretokenizer of these steps.
    ///
    /// # Errors
    /// `Error::Vocabulary` for an unknown kind or a wrong option, `Error::Pattern` for a pattern that cannot be
    /// used.
    pub fn new(steps: &[Step]) -> Result<Pretokenizer, Error> {
        let mut kinds = Vec::new();
        steps.iter().try_for_each(|step| add(&mut kinds, step))?;
        Ok(Pretokenizer { steps: kinds })
    }

    /// Whether it has no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The parts as all steps, in order, leave them; none is empty.
    ///
    /// # Errors
    /// `Error::SplitFailed` where a pattern gives up, with the place in the part that its step was given.
    pub fn apply(&self, parts: Vec<Aligned>) -> Result<Vec<Aligned>, Error> {
        let mut out = Vec::new();
        self.for_each(parts, &mut |part| {
            out.push(part);
            Ok(())
        })?;
        Ok(out)
    }

    /// Calls `each` with every part that `apply` would give, in order, without holding all of them.
    ///
    /// # Errors
    /// Those of `apply` and of `each`; the parts before have then been seen by `each`.
    pub fn for_each(
        &self,
        mut parts: Vec<Aligned>,
        each: &mut dyn FnMut(Aligned) -> Result<(), Error>,
    ) -> Result<(), Error> {
        parts.retain(|part| !part.is_empty());
        run(&self.steps, parts, each)
    }

    /// Whether no step rewrites.
    pub(crate) fn only_cuts(&self) -> bool {
        let cuts = |step: &Kind| matches!(step, Kind::Cut { .. } | Kind::Scripts(_) | Kind::Length(_));
        self.steps.iter().all(cuts)
    }

    /// Whether all it does is to write a space before text that does not begin with one.
    pub(crate) fn prefixes_space(&self) -> bool {
        matches!(self.steps[..], [Kind::Metaspace { replacement: ' ', prepend: Prepend::Always }])
    }

    /// Calls `each` with the parts of a text that is not the beginning of another, as `for_each` does; long text is not to
    /// be rewritten, as nobody is asked meanwhile.
    ///
    /// # Errors
    /// Those of `apply`, with no place of use.
    pub(crate) fn cut_text(&self, text: &str, each: &mut dyn FnMut(&str)) -> Result<(), Error> {
        if text.is_empty() { Ok(()) } else { cut_text(&self.steps, text, each) }
    }
}

fn cut_text(steps: &[Kind], text: &str, each: &mut dyn FnMut(&str)) -> Result<(), Error> {
    let Some((step, rest)) = steps.split_first() else {
        each(text);
        return Ok(());
    };
    match step {
        Kind::PrefixSpace if !text.starts_with(' ') => return cut_text(rest, &format!(" {text}"), each),
        Kind::PrefixSpace => return cut_text(rest, text, each),
        Kind::Metaspace { replacement: mark, prepend } => {
            let wanted = *prepend == Prepend::Always && !text.starts_with([' ', *mark]);
            let marked = text.chars().map(|c| if c == ' ' { *mark } else { c });
            let made: String = wanted.then_some(*mark).into_iter().chain(marked).collect();
            return cut_text(rest, &made, each);
        }
        Kind::Bytes(table) => {
            let made: String = text.bytes().map(|byte| table[usize::from(byte)]).collect();
            return cut_text(rest, &made, each);
        }
        _ => {}
    }
    let mut result = Ok(());
    step.parts(text, |start, end| {
        if result.is_ok() {
            result = cut_text(rest, &text[start..end], each);
        }
    })?;
    result
}

fn run(
    steps: &[Kind],
    parts: Vec<Aligned>,
    each: &mut dyn FnMut(Aligned) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some((step, rest)) = steps.split_first() else { return parts.into_iter().try_for_each(each) };
    if parts.is_empty() {
        return Ok(());
    }
    if let Some(parts) = step.rewritten(&parts) {
        parts.first().map_or(Ok(()), |part| part.ask().check())?;
        return run(rest, parts, each);
    }
    if rest.is_empty() {
        return parts.iter().try_for_each(|part| step.cut(part, each));
    }
    let mut batch = Vec::new();
    for part in &parts {
        step.cut(part, &mut |part| {
            batch.push(part);
            if batch.len() < BATCH { Ok(()) } else { run(rest, std::mem::take(&mut batch), each) }
        })?;
    }
    run(rest, batch, each)
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !c.is_alphanumeric() && c.is_punctuation() }
}

fn add(kinds: &mut Vec<Kind>, step: &Step) -> Result<(), Error> {
    let cut = |what, behavior| Kind::Cut { what, behavior, invert: false };
    match step.kind.as_str() {
        "BertPreTokenizer" => {
            kinds.push(cut(What::Class(Class::new(char::is_whitespace)), Behavior::Removed));
            kinds.push(cut(What::Class(Class::new(is_punctuation)), Behavior::Isolated));
        }
        "ByteLevel" => {
            if step.flag("add_prefix_space")? {
                kinds.push(Kind::PrefixSpace);
            }
            if step.flag("use_regex")? {
                kinds.push(cut(What::Finder(Finder::pattern(GPT2, Tables::Onig)?), Behavior::Isolated));
            }
            kinds.push(Kind::Bytes(Box::new(byte_characters())));
        }
        "CharDelimiterSplit" => {
            kinds.push(cut(What::Finder(Finder::Char(step.character("delimiter")?)), Behavior::Removed))
        }
        "Metaspace" => add_metaspace(kinds, step)?,
        "Whitespace" => {
            let words = Finder::pattern(r"\w+|[^\w\s]+", Tables::Tiktoken)?;
            kinds.push(Kind::Cut { what: What::Finder(words), behavior: Behavior::Removed, invert: true });
        }
        "WhitespaceSplit" => kinds.push(cut(What::Class(Class::new(char::is_whitespace)), Behavior::Removed)),
        "Split" => kinds.push(Kind::Cut {
            what: What::Finder(Finder::new(step)?),
            behavior: Behavior::new(step)?,
            invert: step.flag("invert")?,
        }),
        "Punctuation" => kinds.push(cut(What::Class(Class::new(is_punctuation)), Behavior::new(step)?)),
        "Digits" => {
            let behavior =
                if step.flag("individual_digits")? { Behavior::Isolated } else { Behavior::Contiguous };
            kinds.push(cut(What::Class(Class::new(char::is_numeric)), behavior));
        }
        "UnicodeScripts" => kinds.push(Kind::Scripts(Box::new(Scripts::new()?))),
        "FixedLength" => match step.size("length")? {
            0 => return Err(step.wrong("the option length must be at least 1, and it is 0")),
            length => kinds.push(Kind::Length(length)),
        },
        _ => return Err(step.unknown_kind("pretokenizer")),
    }
    Ok(())
}

fn add_metaspace(kinds: &mut Vec<Kind>, step: &Step) -> Result<(), Error> {
    let replacement = step.character("replacement")?;
    let prepend = match step.text("prepend_scheme")? {
        "always" => Prepend::Always,
        "first" => Prepend::First,
        "never" => Prepend::Never,
        other => return Err(step.wrong(&format!("no prepend_scheme is called {other:?}"))),
    };
    kinds.push(Kind::Metaspace { replacement, prepend });
    if step.flag("split")? {
        let behavior = Behavior::MergedWithNext;
        kinds.push(Kind::Cut { what: What::Finder(Finder::Char(replacement)), behavior, invert: false });
    }
    Ok(())
}

impl What {
    fn find(&self, text: &str, each: &mut impl FnMut(usize, usize)) -> Result<(), Error> {
        match self {
            What::Finder(finder) => finder.find(text, each),
            What::Class(class) => {
                class.find(text, each);
                Ok(())
            }
        }
    }
}

impl Kind {
    /// The parts, if this step rewrites.
    fn rewritten(&self, parts: &[Aligned]) -> Option<Vec<Aligned>> {
        match self {
            Kind::PrefixSpace => Some(rewrite(parts, |out, part| {
                if !part.text().starts_with(' ') {
                    out.write(' ', 0);
                }
                out.copy(part.len());
            })),
            Kind::Bytes(table) => Some(rewrite(parts, |out, part| write_bytes(out, part.text(), table))),
            Kind::Metaspace { replacement, prepend } => {
                Some(rewrite(parts, |out, part| mark_spaces(out, part, *replacement, *prepend)))
            }
            Kind::Cut { .. } | Kind::Scripts(_) | Kind::Length(_) => None,
        }
    }

    /// Calls `each` with the parts of `part`, if this step cuts.
    fn cut(&self, part: &Aligned, each: &mut dyn FnMut(Aligned) -> Result<(), Error>) -> Result<(), Error> {
        let mut result = Ok(());
        self.parts(part.text(), |start, end| {
            if result.is_ok() {
                result = each(part.slice(start..end));
            }
        })?;
        result
    }

    /// Calls `emit` with start and end of each part of a text, if this step cuts.
    fn parts(&self, text: &str, emit: impl FnMut(usize, usize)) -> Result<(), Error> {
        match self {
            Kind::Cut { what, behavior, invert } => {
                let mut folder = Folder::new(*behavior, *invert, emit);
                what.find(text, &mut |start, end| folder.found(start, end))?;
                folder.finish(text.len());
            }
            Kind::Scripts(scripts) => scripts.cut(text, emit),
            Kind::Length(length) => by_length(text, *length, emit),
            Kind::PrefixSpace | Kind::Bytes(_) | Kind::Metaspace { .. } => {}
        }
        Ok(())
    }
}

/// Parts of `length` characters, the last one of what is left.
fn by_length(text: &str, length: usize, mut emit: impl FnMut(usize, usize)) {
    let mut at = 0;
    while at < text.len() {
        let size = text[at..].char_indices().nth(length).map_or(text.len() - at, |(size, _)| size);
        emit(at, at + size);
        at += size;
    }
}

fn mark_spaces(out: &mut Rewriter<'_>, part: &Aligned, mark: char, prepend: Prepend) {
    let text = part.text();
    let wanted = match prepend {
        Prepend::Always => true,
        Prepend::First => part.at_zero() > 0,
        Prepend::Never => false,
    };
    if wanted && !text.starts_with([' ', mark]) {
        out.write(mark, 0);
    }
    for (at, _) in text.match_indices(' ') {
        if out.is_stopped() {
            break;
        }
        out.copy(at);
        out.replace_bytes(mark, 1);
    }
    out.copy(text.len());
}

/// The parts as `write` rewrites each, in one text.
fn rewrite(parts: &[Aligned], write: impl Fn(&mut Rewriter<'_>, &Aligned)) -> Vec<Aligned> {
    let Some(first) = parts.first() else { return Vec::new() };
    let mut out = Rewriter::new(first);
    let mut ends = Vec::with_capacity(parts.len());
    for part in parts {
        out.next_part(part);
        write(&mut out, part);
        ends.push(out.written());
    }
    let whole = out.finish();
    let mut start = 0;
    let mut slices = Vec::with_capacity(ends.len());
    for end in ends {
        slices.push(whole.slice(start..end));
        start = end;
    }
    slices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Value;

    /// More parts than go through the later steps together.
    #[test]
    fn many_parts() {
        let off = Value::Bool(false);
        let bytes = Step::of("ByteLevel", &[("add_prefix_space", Value::Bool(true)), ("use_regex", off)]);
        let steps = Pretokenizer::new(&[Step::of("WhitespaceSplit", &[]), bytes]).unwrap();
        let text = "ab é ".repeat(2 * BATCH);
        for tracked in [false, true] {
            let whole = Aligned::new(&text, 7, tracked).unwrap();
            let parts = steps.apply(vec![whole.slice(0..0), whole]).unwrap();
            assert_eq!(parts.len(), 4 * BATCH);
            assert!(parts.chunks(2).all(|pair| pair[0].text() == "Ġab" && pair[1].text() == "ĠÃ©"));
            if tracked {
                assert_eq!(parts[4 * BATCH - 1].original(0..2), 7 + text.len() - 3..7 + text.len() - 1);
            }
        }
    }

    #[test]
    fn an_error_of_the_caller_ends_it() {
        let steps = Pretokenizer::new(&[Step::of("WhitespaceSplit", &[])]).unwrap();
        let mut seen = 0;
        let stopped = steps.for_each(vec![Aligned::new("a b c", 0, false).unwrap()], &mut |_| {
            seen += 1;
            if seen == 2 { Err(Error::Interrupted) } else { Ok(()) }
        });
        assert_eq!((stopped, seen), (Err(Error::Interrupted), 2));
    }
}
