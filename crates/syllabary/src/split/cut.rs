//! Where a text can be cut so that its halves are split apart as the whole would be.
//!
//! Adds: for each scanner, which two neighbouring characters always have such a place between them, whatever is
//! around them. Leaves out: patterns of which nothing is known.
//!
//! The argument is the same for all. No law looks back, so what follows a cut is split as if it stood alone. It
//! remains to show that (1) a piece always ends at the cut and (2) no piece before it is another one when the
//! text ends there.

use super::classes::{Classes, HAN, LETTER, MARK, NUMBER, SPACE, WORD, WORD_IN_CLASS};
use super::{deepseek, kimi};

/// So many bytes are looked at together.
const ALIKE: usize = 32;

/// The last place in `text`, its ends left out, where `safe(before, after)` holds for the characters around it; never between
/// two of ASCII that are of one of the `kinds`, if these are given.
pub(super) fn last(
    text: &str,
    kinds: Option<&[u8; 128]>,
    safe: impl Fn(char, char) -> bool,
) -> Option<usize> {
    let (mut rest, mut after) = (text, text.chars().next_back()?);
    loop {
        rest = &rest[..rest.len() - after.len_utf8()];
        // Of a run of one kind only its beginning is asked for.
        if after.is_ascii() && !safe(after, after) {
            rest = &rest[..rest.len() - alike(rest.as_bytes(), kinds, after as u8)];
            after = text.as_bytes()[rest.len()].into();
        }
        let before = rest.chars().next_back()?;
        if safe(before, after) {
            return Some(rest.len());
        }
        after = before;
    }
}

/// How many bytes at the end are this one of ASCII, or of its kind.
fn alike(bytes: &[u8], kinds: Option<&[u8; 128]>, byte: u8) -> usize {
    let is_alike = |other: u8| {
        let of_kind = |kinds: &[u8; 128]| kinds.get(usize::from(other)) == kinds.get(usize::from(byte));
        other == byte || kinds.is_some_and(of_kind)
    };
    let run = |bytes: &[u8]| bytes.iter().rev().take_while(|&&byte| is_alike(byte)).count();
    let Some((mut left, last)) = bytes.split_last_chunk::<ALIKE>() else { return run(bytes) };
    let few = run(last);
    if few < ALIKE {
        return few;
    }
    // Its neighbours of the same kind, as the letters of one case are: of long runs these are told many at a time.
    let first = (0..byte).rev().take_while(|&other| is_alike(other)).last().unwrap_or(byte);
    let more = (first + 1..128).take_while(|&other| is_alike(other)).count() as u8;
    while let Some((before, last)) = left.split_last_chunk::<ALIKE>()
        && last.iter().fold(true, |all, byte| all & (byte.wrapping_sub(first) <= more))
    {
        left = before;
    }
    bytes.len() - left.len() + run(left)
}

/// `text` up to the character behind its last white space, or somewhat more: no place that is left out is beside white space.
pub(super) fn to_white_space(text: &str) -> &str {
    let (bytes, mut end) = (text.as_bytes(), text.len());
    if bytes.iter().rev().take(2).any(|&byte| byte <= b' ') {
        return text;
    }
    // None begins at or after the last two bytes before `end`.
    while let Some(window) = bytes[..end].last_chunk()
        && !has_white_space(window)
    {
        end -= ALIKE;
    }
    let end = (end + 1..text.len()).find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(text.len())]
}

/// Whether white space may begin in this window, its last two bytes left out.
fn has_white_space(window: &[u8; ALIKE + 2]) -> bool {
    let begins = |[first, second, third]: [u8; 3]| {
        let two = (first == 0xC2) & ((second == 0x85) | (second == 0xA0));
        let general = (second == 0x80) & ((third <= 0x8A) | (third >= 0xA8)) | (second == 0x81);
        let three = (first == 0xE2) & general
            | (first == 0xE1) & (second == 0x9A)
            | (first == 0xE3) & (second == 0x80);
        (first <= b' ') | two | three
    };
    (0..ALIKE).fold(false, |any, at| any | begins([window[at], window[at + 1], window[at + 2]]))
}

/// The largest character boundary of `text` at or below `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// `gpt2`: no sign, then white space. (1) Only white space and the one space before a body are matched by
/// `\s` or ` ?`, and both only at the beginning of a piece. (2) A body ends at white space as at the end of the
/// text, and white space before it has seen the sign.
pub(super) fn gpt2(classes: &Classes, before: char, after: char) -> bool {
    classes.of(before) & SPACE == 0 && classes.of(after) & SPACE != 0
}

/// `gpt4`, `o200k`: a sign, then white space that is no line end (as for `gpt2`: a line end could still belong
/// to the signs); or a line end, then a sign other than `/` (which `o200k` takes among line ends). The latter:
/// (1) after a line end only white space, a line end or `/` continues a piece. (2) white space up to a line end
/// is one piece, at the end of the text as before a sign.
pub(super) fn gpt4(classes: &Classes, before: char, after: char) -> bool {
    let (ends, begins) = (matches!(before, '\r' | '\n'), matches!(after, '\r' | '\n'));
    match (classes.of(before) & SPACE != 0, classes.of(after) & SPACE != 0) {
        (false, true) => !begins,
        (true, false) => ends && after != '/',
        _ => false,
    }
}

/// `kimi`: as `gpt4`, and around Han letters, unless white space is before them. The latter: (1) nothing but a run of
/// Han characters takes a Han letter. (2) of what may be before one, only white space looks at what follows it.
pub(super) fn kimi(classes: &Classes, before: char, after: char) -> bool {
    let (bits, next) = (classes.of(before), classes.of(after));
    let is_letter = |bits: u8| bits & (HAN | kimi::ODD) == HAN;
    let is_around = match (bits & HAN == HAN, next & HAN == HAN) {
        (true, false) => is_letter(bits),
        (false, true) => is_letter(next) && bits & SPACE == 0,
        _ => false,
    };
    is_around || gpt4(classes, before, after)
}

/// `deepseek-v3`: as `gpt4`, and between numbers, characters of `J` and all others, as each of these is a piece with its
/// own kind alone, and what is before a number or one of `J` ends as at the end of the text.
pub(super) fn deepseek(classes: &Classes, before: char, after: char) -> bool {
    let kind = |c| match classes.of(c) & deepseek::LIKE_END {
        0 => 0,
        NUMBER => 1,
        _ => 2,
    };
    kind(before) != kind(after) || gpt4(classes, before, after)
}

/// `whitespace-split`: between white space and the rest.
pub(super) fn spaces(classes: &Classes, before: char, after: char) -> bool {
    (classes.of(before) ^ classes.of(after)) & SPACE != 0
}

/// `whitespace`: as `spaces`, and between words and signs; the characters that Oniguruma counts to both (see
/// `classes`) decide nothing.
pub(super) fn words(classes: &Classes, before: char, after: char) -> bool {
    const BOTH: u8 = WORD | WORD_IN_CLASS;
    let (word, next) = (classes.of(before) & BOTH, classes.of(after) & BOTH);
    spaces(classes, before, after) || (word ^ next) == BOTH
}

/// `latin`: as `words`, but white space belongs to what follows it.
pub(super) fn latin(classes: &Classes, before: char, after: char) -> bool {
    classes.of(before) & SPACE == 0 && words(classes, before, after)
}

/// `superwords`: a line end, then a sign other than `/` (as for `gpt4`), or a letter or mark beside a number. The
/// latter: (1) a match of numbers takes nothing else, and what is unmatched ends where one begins. (2) numbers
/// are counted off from their first, and letters do not look ahead.
pub(super) fn superwords(classes: &Classes, before: char, after: char) -> bool {
    let (bits, next) = (classes.of(before), classes.of(after));
    if bits & NUMBER != 0 || next & NUMBER != 0 {
        return (bits | next) & (LETTER | MARK) != 0;
    }
    matches!(before, '\r' | '\n') && next & SPACE == 0 && after != '/'
}

#[cfg(test)]
mod tests {
    use super::super::{
        Split, Tables, deepseek, gpt2, gpt4, kimi, latin, o200k, superwords, tests::split, words,
    };
    use crate::drawn::{drawing, drawn};

    #[test]
    fn the_cut_is_the_last_one() {
        assert_eq!(split(gpt2::TIKTOKEN).last_safe_cut("some words more"), Some(10));
        assert_eq!(split(gpt2::TIKTOKEN).last_safe_cut("line\nnext"), Some(4));
        assert_eq!(split(gpt4::PATTERN).last_safe_cut("line\nnext"), Some(5));
        assert_eq!(split(o200k::PATTERN).last_safe_cut("字\n字字"), Some(4));
        assert_eq!(split(o200k::PATTERN).last_safe_cut("!\n/"), None);
        assert_eq!(split(gpt4::PATTERN).last_safe_cut("ab"), None);
        assert_eq!(split(gpt4::PATTERN).last_safe_cut("a \n "), Some(1));
        assert_eq!(split(kimi::PATTERN).last_safe_cut("a字!"), Some(4));
        assert_eq!(split(kimi::PATTERN).last_safe_cut("!字字"), Some(1));
        assert_eq!(split(kimi::PATTERN).last_safe_cut("字〇 字"), Some(6));
        assert_eq!(split(deepseek::PATTERN).last_safe_cut("  1"), Some(2));
        assert_eq!(split(deepseek::PATTERN).last_safe_cut("a\u{1}\u{1}ア"), Some(3));
        assert_eq!(split(words::WHITESPACE).last_safe_cut("a!b"), Some(2));
        assert_eq!(split(words::WHITESPACE_SPLIT).last_safe_cut("a!b c"), Some(4));
        assert_eq!(split(latin::PATTERN).last_safe_cut("arma virum"), Some(4));
        assert_eq!(split(latin::PATTERN).last_safe_cut("arma, virum"), Some(5));
        assert_eq!(split(superwords::PATTERN).last_safe_cut("some. Words\nmore words"), Some(12));
        assert_eq!(split(superwords::PATTERN).last_safe_cut("in the year 1984 it was"), None);
        assert_eq!(split(superwords::PATTERN).last_safe_cut("x1984"), Some(1));
        assert_eq!(split(r"\w+ ?").last_safe_cut("a b c"), Some(4));
        assert_eq!(split(r"\w+ ?").last_safe_cut("! !"), None);
        assert_eq!(split(gpt2::TIKTOKEN).last_safe_cut(""), None);
    }

    #[test]
    fn all_white_space_is_found() {
        for tables in [Tables::Tiktoken, Tables::Onig] {
            let split = Split::new(Some(o200k::PATTERN), tables, true).unwrap();
            for c in ('\0'..=char::MAX).filter(|&c| split.classes.of(c) & super::SPACE != 0) {
                for at in [0, 1, super::ALIKE - 1] {
                    let mut window = [b'a'; super::ALIKE + 2];
                    let length = c.len_utf8().min(window.len() - at);
                    window[at..at + length].copy_from_slice(&c.to_string().as_bytes()[..length]);
                    assert!(super::has_white_space(&window), "{c:?} at {at}");
                }
            }
        }
        assert!(!super::has_white_space(&[b'a'; super::ALIKE + 2]));
    }

    #[test]
    fn a_run_of_one_kind_is_passed_over() {
        let patterns = [
            gpt2::TIKTOKEN,
            gpt4::PATTERN,
            o200k::PATTERN,
            kimi::PATTERN,
            deepseek::PATTERN,
            words::WHITESPACE,
            words::WHITESPACE_SPLIT,
            latin::PATTERN,
            superwords::PATTERN,
            r"\w+ ?",
            "a+|b+|a",
        ];
        let mut draw = drawing(3);
        for pattern in patterns {
            let split = split(pattern);
            if split.kind() != "regex" {
                let ascii: Vec<char> = (0..128_u8).map(char::from).collect();
                for (before, after) in
                    ascii.iter().flat_map(|&one| ascii.iter().map(move |&other| (one, other)))
                {
                    let alike = split.classes.of(before) == split.classes.of(after);
                    assert!(!(alike && split.can_cut(before, after)), "{before:?} {after:?} by {pattern}");
                }
            }
            for _ in 0..drawn(300, 3_000) {
                let mut text = String::new();
                for _ in 0..draw(6) {
                    let unit = [
                        "a",
                        "ab",
                        "B",
                        " ",
                        "\n",
                        "\r\n",
                        "/",
                        "1",
                        "12",
                        "!",
                        "字",
                        "\u{301}",
                        "\u{3000}",
                        "👨\u{200D}",
                    ][draw(14)];
                    text.push_str(&unit.repeat(if draw(4) == 0 { draw(100) } else { 1 }));
                }
                let chars: Vec<(usize, char)> = text.char_indices().collect();
                let plain =
                    chars.windows(2).rfind(|pair| split.can_cut(pair[0].1, pair[1].1)).map(|pair| pair[1].0);
                assert_eq!(split.last_safe_cut(&text), plain, "{text:?} by {pattern}");
            }
        }
    }
}
