//! The split of DeepSeek V3: three splits, one inside the other, as one.
//!
//! The law (`J` stands for `\u4E00-\u9FA5\u3040-\u30FF` here, common ideographs and kana):
//!
//! ```text
//! \p{N}{1,3}
//! |[J&&[^\p{L}\p{M}\p{P}\p{S}]]?[J&&[\p{L}\p{M}]]+|[J&&[\p{P}\p{S}]]+
//! |[J&&[^\p{L}\p{M}\p{P}\p{S}]]+(?=[J&&[^\p{L}\p{M}\p{P}\p{S}]][J&&[\p{L}\p{M}]])|[J&&[^\p{L}\p{M}\p{P}\p{S}]]+
//! |[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+
//! |[^\r\n\p{L}\p{N}\p{P}\p{S}J]?[\p{L}\p{M}&&[^J]]+| ?[\p{P}\p{S}&&[^J]]+[\r\n]*|\s*[\r\n]+|\s+(?![^\s\p{N}J])|\s+
//! |[^\s\p{L}\p{M}\p{N}\p{P}\p{S}J]+(?=[^\s\p{L}\p{M}\p{N}\p{P}\p{S}J][\p{L}\p{M}&&[^J]])
//! |[^\s\p{L}\p{M}\p{N}\p{P}\p{S}J]+
//! ```
//!
//! (`deepseek-v3.json` says why this is the three.) Words are letters and marks. Characters that are neither words nor
//! numbers, signs or white space are *others*: controls, joiners, what is not assigned. Numbers and the characters of
//! `J` stand apart: what is before them ends as at the end of the text. A sign of ASCII takes the letters of ASCII
//! behind it, and nothing more, where it is alone and no blank is before it.
//!
//! Leaves out nothing: every character is in some piece.

use super::Tables;
use super::classes::{Classes, LOWER, MARK, NUMBER, SPACE, UNCASED, UPPER};
use super::gpt2;
use super::gpt4::{is_line_end, last_line_end, line_ends, numbers_end};
use crate::error::Error;

pub(super) const PATTERN: &str = concat!(
    r#"\p{N}{1,3}"#,
    r#"|[\u4E00-\u9FA5\u3040-\u30FF&&[^\p{L}\p{M}\p{P}\p{S}]]?[\u4E00-\u9FA5\u3040-\u30FF"#,
    r#"&&[\p{L}\p{M}]]+"#,
    r#"|[\u4E00-\u9FA5\u3040-\u30FF&&[\p{P}\p{S}]]+"#,
    r#"|[\u4E00-\u9FA5\u3040-\u30FF&&[^\p{L}\p{M}\p{P}\p{S}]]+(?=[\u4E00-\u9FA5\u3040-\u30FF"#,
    r#"&&[^\p{L}\p{M}\p{P}\p{S}]][\u4E00-\u9FA5\u3040-\u30FF&&[\p{L}\p{M}]])"#,
    r#"|[\u4E00-\u9FA5\u3040-\u30FF&&[^\p{L}\p{M}\p{P}\p{S}]]+"#,
    r##"|[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
    r#"|[^\r\n\p{L}\p{N}\p{P}\p{S}\u4E00-\u9FA5\u3040-\u30FF]?[\p{L}\p{M}"#,
    r#"&&[^\u4E00-\u9FA5\u3040-\u30FF]]+"#,
    r#"| ?[\p{P}\p{S}&&[^\u4E00-\u9FA5\u3040-\u30FF]]+[\r\n]*"#,
    r#"|\s*[\r\n]+"#,
    r#"|\s+(?![^\s\p{N}\u4E00-\u9FA5\u3040-\u30FF])"#,
    r#"|\s+"#,
    r#"|[^\s\p{L}\p{M}\p{N}\p{P}\p{S}\u4E00-\u9FA5\u3040-"#,
    r#"\u30FF]+(?=[^\s\p{L}\p{M}\p{N}\p{P}\p{S}\u4E00-\u9FA5\u3040-\u30FF][\p{L}\p{M}"#,
    r#"&&[^\u4E00-\u9FA5\u3040-\u30FF]])"#,
    r#"|[^\s\p{L}\p{M}\p{N}\p{P}\p{S}\u4E00-\u9FA5\u3040-\u30FF]+"#,
);

// The letters of other laws have no meaning here, so their bits say what this one tells apart. Signs have none.
/// Letters and marks.
pub(super) const WORD: u8 = UNCASED;
/// The characters of `J` that are letters or marks,
pub(super) const APART: u8 = UPPER;
/// that are signs,
pub(super) const APART_SIGN: u8 = LOWER;
/// and the others, which are not assigned, with `APART` besides.
pub(super) const OTHER: u8 = MARK;
/// The others of `J`.
const APART_OTHER: u8 = APART | OTHER;
/// What ends white space before it as the end of the text does.
pub(super) const LIKE_END: u8 = NUMBER | APART | APART_SIGN;

pub(super) fn classes(tables: Tables) -> Result<Classes, Error> {
    const CLASSES: [(&str, u8); 7] = [
        (r"[\p{L}\p{M}--[\u4E00-\u9FA5\u3040-\u30FF]]", WORD),
        (r"[[\p{L}\p{M}]&&[\u4E00-\u9FA5\u3040-\u30FF]]", APART),
        (r"[[\p{P}\p{S}]&&[\u4E00-\u9FA5\u3040-\u30FF]]", APART_SIGN),
        (r"[[\u4E00-\u9FA5\u3040-\u30FF]--[\p{L}\p{M}\p{P}\p{S}]]", APART_OTHER),
        (r"[^\s\p{L}\p{M}\p{N}\p{P}\p{S}\u4E00-\u9FA5\u3040-\u30FF]", OTHER),
        (r"\p{N}", NUMBER),
        (r"\s", SPACE),
    ];
    Classes::of_classes(CLASSES, tables)
}

/// The end of the piece that begins at `at`, which is before the end of `text`.
pub(super) fn piece_end(classes: &Classes, text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let (bits, width) = classes.at(text, at);
    let (next, next_width) = classes.at(text, at + width);
    match kind(bits) {
        NUMBER => return numbers_end(classes, text, at, 3),
        WORD => return classes.run(text, at, WORD),
        same @ (APART | APART_SIGN) => return classes.run_of(text, at, |bits| kind(bits) == same),
        APART_OTHER => return others_end(classes, text, at, APART),
        0 if bytes[at].is_ascii() && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic) => {
            return at + 1 + bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        }
        0 => return signs_end(classes, text, at),
        OTHER => return others_end(classes, text, at, WORD),
        _ => {}
    }
    if kind(next) == WORD && !is_line_end(bytes[at]) {
        return classes.run(text, at + width, WORD);
    }
    if bytes[at] == b' ' && next_width != 0 && kind(next) == 0 {
        return signs_end(classes, text, at + width);
    }
    let end = classes.run(text, at, SPACE);
    last_line_end(text, at, end).unwrap_or_else(|| gpt2::space_end(classes, text, at, LIKE_END))
}

/// The bits that have a meaning here.
fn kind(bits: u8) -> u8 {
    bits & (WORD | APART | APART_SIGN | OTHER | NUMBER | SPACE)
}

/// `[\p{P}\p{S}&&[^J]]*[\r\n]*` from `at`.
fn signs_end(classes: &Classes, text: &str, at: usize) -> usize {
    line_ends(text.as_bytes(), classes.run_of(text, at, |bits| kind(bits) == 0))
}

/// The end of the piece that begins with the other character at `at`: of others like it, the last of which goes with
/// a word of `words` behind it.
fn others_end(classes: &Classes, text: &str, at: usize, words: u8) -> usize {
    let same = kind(classes.at(text, at).0);
    let (mut last, mut end) = (at, at);
    loop {
        let (bits, width) = classes.at(text, end);
        match kind(bits) {
            bits if bits == same && width != 0 => (last, end) = (end, end + width),
            bits if bits == words && last == at => {
                return classes.run_of(text, end, |bits| kind(bits) == words);
            }
            bits if bits == words => return last,
            _ => return end,
        }
    }
}
