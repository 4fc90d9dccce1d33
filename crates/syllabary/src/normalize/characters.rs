//! Steps that look at one character at a time.
//!
//! Adds: `Lowercase`, `Nmt`, `Strip`, `StripAccents`, `Prepend`, `ByteLevel` and `Bert`. Leaves out: Unicode's
//! normalization forms (`forms`), which `Bert` calls.
//!
//! Source of the rules: `tokenizers` 0.23.3, `normalizers/`; character classes from `unicode_categories`, the crate
//! that it uses, and from Rust's own tables. Each function gives `None` if the text stays as it is.

use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::{UnicodeNormalization, char::is_combining_mark};

use super::{
    forms::{self, Form},
    plain_text::push_lowercase,
};
use crate::{
    aligned::{Aligned, Rewriter},
    asking::Ask,
    error::Error,
    step::Step,
};

/// Whether `c` is one of the many letters that are quickly told from all else: no mark, sign, digit, whitespace,
/// control or invisible character. Most letters of most text are; the tests hold it to every code point.
#[inline]
pub(crate) fn is_common_letter(c: char) -> bool {
    matches!(
        c,
        '\u{C0}'..='\u{D6}'
            | '\u{D8}'..='\u{F6}'
            | '\u{F8}'..='\u{2AF}'
            | '\u{388}'..='\u{3CE}'
            | '\u{400}'..='\u{481}'
            | '\u{1E00}'..='\u{1FBC}'
            | '\u{3041}'..='\u{3096}'
            | '\u{30A1}'..='\u{30FA}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7A3}'
    )
}

/// A shorter text is taken apart character by character.
const SHORT: usize = 64;

/// What becomes of a character.
enum Fate {
    Kept,
    Dropped,
    Becomes(char),
}

/// `part` with the fate that `decide` gives each character; it is not asked for common letters, and of ASCII only
/// for those of `ascii`.
fn each_character(
    part: &Aligned,
    ascii: impl Fn(u8) -> bool,
    decide: impl Fn(char) -> Fate,
) -> Option<Aligned> {
    let text = part.text();
    let mut out: Option<Rewriter<'_>> = None;
    let mut at = 0;
    while let Some(run) = text.as_bytes()[at..].iter().position(|&byte| !byte.is_ascii() || ascii(byte)) {
        at += run;
        let Some(c) = text[at..].chars().next() else { break };
        let end = at + c.len_utf8();
        match if is_common_letter(c) { Fate::Kept } else { decide(c) } {
            Fate::Kept => {}
            fate => {
                let out = out.get_or_insert_with(|| Rewriter::new(part));
                if out.is_stopped() {
                    break;
                }
                out.copy(at);
                match fate {
                    Fate::Becomes(new) => out.replace_bytes(new, end - at),
                    _ => out.skip(end - at),
                }
            }
        }
        at = end;
    }
    finish(out, text)
}

fn finish(out: Option<Rewriter<'_>>, text: &str) -> Option<Aligned> {
    out.map(|mut out| {
        out.copy(text.len());
        out.finish()
    })
}

/// Every character in lower case.
pub(super) fn lowercase(part: &Aligned) -> Option<Aligned> {
    let text = part.text();
    let mut out: Option<Rewriter<'_>> = None;
    let mut at = 0;
    while let Some(run) =
        text.as_bytes()[at..].iter().position(|byte| !byte.is_ascii() || byte.is_ascii_uppercase())
    {
        at += run;
        let Some(c) = text[at..].chars().next() else { break };
        let mut lower = c.to_lowercase();
        if lower.len() > 1 || lower.clone().next() != Some(c) {
            let out = out.get_or_insert_with(|| Rewriter::new(part));
            if out.is_stopped() {
                break;
            }
            out.copy(at);
            if let Some(first) = lower.next() {
                out.replace(first);
            }
            lower.for_each(|c| out.insert(c));
        }
        at += c.len_utf8();
    }
    finish(out, text)
}

/// Control characters dropped, other whitespace and invisible characters a space.
pub(super) fn nmt(part: &Aligned) -> Option<Aligned> {
    each_character(
        part,
        |byte| byte < b' ' || byte == 0x7F,
        |c| match c as u32 {
            0x01..=0x08 | 0x0B | 0x0E..=0x1F | 0x7F | 0x8F | 0x9F => Fate::Dropped,
            0x09
            | 0x0A
            | 0x0C
            | 0x0D
            | 0x1680
            | 0x200B..=0x200F
            | 0x2028
            | 0x2029
            | 0x2581
            | 0xFEFF
            | 0xFFFD => Fate::Becomes(' '),
            _ => Fate::Kept,
        },
    )
}

/// Marks dropped.
pub(super) fn strip_accents(part: &Aligned) -> Option<Aligned> {
    each_character(part, |_| false, |c| if is_combining_mark(c) { Fate::Dropped } else { Fate::Kept })
}

/// Whitespace dropped at the ends.
pub(super) fn strip(part: &Aligned, left: bool, right: bool) -> Option<Aligned> {
    let text = part.text();
    let end = if right { text.trim_end().len() } else { text.len() };
    let start = if left { end - text[..end].trim_start().len() } else { 0 };
    if start == 0 && end == text.len() { None } else { Some(part.slice(start..end)) }
}

/// `prefix` before a text that is not empty; all of it has the span of the first character.
pub(super) fn prepend(part: &Aligned, prefix: &str) -> Option<Aligned> {
    if prefix.is_empty() || part.is_empty() {
        return None;
    }
    let mut out = Rewriter::new(part);
    out.write_text(prefix, 0);
    finish(Some(out), part.text())
}

/// GPT-2's printable character for each byte.
pub(crate) fn byte_characters() -> [char; 256] {
    let mut next = 256;
    std::array::from_fn(|byte| match byte {
        0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => char::from(byte as u8),
        _ => {
            next += 1;
            char::from_u32(next - 1).unwrap_or('\0')
        }
    })
}

/// Each byte as its printable character.
pub(crate) fn write_bytes(out: &mut Rewriter<'_>, text: &str, table: &[char; 256]) {
    let plain = |byte: &u8| matches!(byte, b'!'..=b'~');
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && !out.is_stopped() {
        let run = bytes[at..].iter().position(|byte| !plain(byte)).unwrap_or(bytes.len() - at);
        at += run;
        out.copy(at);
        let Some(c) = text[at..].chars().next() else { break };
        let end = at + c.len_utf8();
        for byte in &bytes[at..end] {
            out.write(table[usize::from(*byte)], at);
        }
        out.skip(end - at);
        at = end;
    }
}

/// The text in GPT-2's printable characters.
pub(super) fn byte_level(part: &Aligned, table: &[char; 256]) -> Option<Aligned> {
    if part.text().bytes().all(|byte| matches!(byte, b'!'..=b'~')) {
        return None;
    }
    let mut out = Rewriter::new(part);
    write_bytes(&mut out, part.text(), table);
    Some(out.finish())
}

/// The normalizer of BERT.
pub(super) struct Bert {
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: bool,
    lowercase: bool,
}

impl Bert {
    pub(super) fn new(step: &Step) -> Result<Bert, Error> {
        let lowercase = step.flag("lowercase")?;
        Ok(Bert {
            clean_text: step.flag("clean_text")?,
            handle_chinese_chars: step.flag("handle_chinese_chars")?,
            strip_accents: step.optional_flag("strip_accents")?.unwrap_or(lowercase),
            lowercase,
        })
    }

    pub(super) fn apply(&self, part: &Aligned) -> Option<Aligned> {
        let mut text: Option<Aligned> = None;
        let mut run = |step: &dyn Fn(&Aligned) -> Option<Aligned>| {
            let from = text.as_ref().unwrap_or(part);
            if from.ask().go_on()
                && let Some(new) = step(from)
            {
                text = Some(new);
            }
        };
        if self.clean_text {
            run(&clean);
        }
        if self.handle_chinese_chars {
            run(&space_out);
        }
        if self.strip_accents {
            run(&|part| forms::apply(Form::Nfd, part));
            run(&|part| {
                each_character(
                    part,
                    |_| false,
                    |c| if is_dropped_mark(c) { Fate::Dropped } else { Fate::Kept },
                )
            });
        }
        if self.lowercase {
            run(&lowercase);
        }
        text
    }

    /// Writes what `apply` makes of a text behind `out`, without alignment.
    pub(super) fn write(&self, text: &str, out: &mut String) {
        let cleaned = text.chars().filter_map(|c| match fate(c) {
            Fate::Becomes(c) if self.clean_text => Some(c),
            Fate::Dropped if self.clean_text => None,
            _ => Some(c),
        });
        if text.is_ascii() {
            return cleaned.for_each(|c| self.write_lower(c, out));
        }
        let spaced = cleaned.flat_map(|c| {
            let space = (self.handle_chinese_chars && is_chinese(c)).then_some(' ');
            [space, Some(c), space].into_iter().flatten()
        });
        if !self.strip_accents {
            return spaced.for_each(|c| self.write_lower(c, out));
        }
        let bare = |c: &char| is_common_letter(*c) || !is_dropped_mark(*c);
        if text.len() < SHORT {
            return spaced.nfd().map(|(c, _)| c).filter(bare).for_each(|c| self.write_lower(c, out));
        }
        let (spaced, mut apart) = (spaced.collect::<String>(), String::with_capacity(text.len()));
        // Nobody is asked, and so nothing goes wrong.
        if Form::Nfd.put(&spaced, &Ask::default(), &mut apart).is_ok() {
            apart.chars().filter(bare).for_each(|c| self.write_lower(c, out));
        }
    }

    fn write_lower(&self, c: char, out: &mut String) {
        match c {
            _ if !self.lowercase => out.push(c),
            _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            _ => push_lowercase(c, out),
        }
    }
}

/// Whether a character is a mark that takes no room.
fn is_dropped_mark(c: char) -> bool {
    match c {
        '\0'..'\u{300}' => false,
        '\u{300}'..='\u{36F}' => true,
        _ => c.is_mark_nonspacing(),
    }
}

/// Control characters and U+FFFD dropped, whitespace a space.
fn clean(part: &Aligned) -> Option<Aligned> {
    each_character(part, |byte| byte < b' ' || byte == 0x7F, fate)
}

/// What cleaning makes of a character.
fn fate(c: char) -> Fate {
    match c {
        '\t' | '\n' | '\r' => Fate::Becomes(' '),
        ' '..='~' => Fate::Kept,
        '\0' | '\u{FFFD}' => Fate::Dropped,
        _ if is_common_letter(c) => Fate::Kept,
        _ if c.is_other() => Fate::Dropped,
        _ if c.is_whitespace() => Fate::Becomes(' '),
        _ => Fate::Kept,
    }
}

/// A space on both sides of every Chinese character.
fn space_out(part: &Aligned) -> Option<Aligned> {
    let text = part.text();
    let mut out: Option<Rewriter<'_>> = None;
    for (at, c) in text.char_indices().filter(|(_, c)| is_chinese(*c)) {
        let out = out.get_or_insert_with(|| Rewriter::new(part));
        if out.is_stopped() {
            break;
        }
        out.copy(at);
        out.write(' ', at);
        out.copy(at + c.len_utf8());
        out.insert(' ');
    }
    finish(out, text)
}

fn is_chinese(c: char) -> bool {
    matches!(
        c as u32,
        0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0x2F800..=0x2FA1F
    )
}
