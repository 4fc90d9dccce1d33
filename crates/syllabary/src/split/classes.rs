//! Character classes as one byte of bits a character: a flat table below U+10000, a two-stage one above.
//!
//! Adds: `Classes`, built from the parser of the pinned `regex-syntax`, whose Unicode tables (16.0) are those
//! of tiktoken and of the `regex` crate, and the walk over text that every scanner uses. Leaves out: what a
//! scanner makes of the classes.
//!
//! `Tables::Onig` differs from `Tables::Tiktoken` in `\w` alone, and in two ways: neither form of Oniguruma's
//! `\w` has the joiners U+200C and U+200D, and a bare `\w` has `²³¹¼½¾`, which `[\w]` has not. So `½` matches
//! `\w` and `[^\w]` there; `WORD` is the bare form, `WORD_IN_CLASS` the one in brackets. In tiktoken's tables
//! both are equal.

use regex_syntax::hir::{Class, HirKind};
use rustc_hash::FxHashMap;

use crate::error::Error;

/// Whose Unicode tables the classes of a pattern mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tables {
    /// tiktoken's: those of the `regex` crate.
    Tiktoken,
    /// Oniguruma's as `tokenizers` carries it: another `\w`.
    Onig,
}

/// `\p{Lu}` and `\p{Lt}`.
pub(super) const UPPER: u8 = 1;
/// `\p{Ll}`.
pub(super) const LOWER: u8 = 2;
/// `\p{Lm}` and `\p{Lo}`: letters without case.
pub(super) const UNCASED: u8 = 4;
/// `\p{M}`.
pub(super) const MARK: u8 = 8;
/// `\p{N}`.
pub(super) const NUMBER: u8 = 16;
/// `\s`.
pub(super) const SPACE: u8 = 32;
/// `\w` outside brackets.
pub(super) const WORD: u8 = 64;
/// `\w` inside brackets.
pub(super) const WORD_IN_CLASS: u8 = 128;
/// `\p{L}`.
pub(super) const LETTER: u8 = UPPER | LOWER | UNCASED;
/// `\p{Han}`, in the tables of `kimi` alone; no letter is both.
pub(super) const HAN: u8 = UPPER | LOWER;

const CLASSES: [(&str, u8); 6] = [
    (r"[\p{Lu}\p{Lt}]", UPPER),
    (r"\p{Ll}", LOWER),
    (r"[\p{Lm}\p{Lo}]", UNCASED),
    (r"\p{M}", MARK),
    (r"\p{N}", NUMBER),
    (r"\s", SPACE),
];
const WORDS: (&str, u8) = (r"\w", WORD | WORD_IN_CLASS);
const ONIG_ONLY_BARE: [char; 6] = ['²', '³', '¹', '¼', '½', '¾'];
const ONIG_LACKS: [char; 2] = ['\u{200C}', '\u{200D}'];

const CODE_POINTS: usize = 0x11_0000;
const BLOCK_BITS: usize = 7;
const BLOCK: usize = 1 << BLOCK_BITS;
/// The code points of at most three bytes.
pub(super) const SHORT: usize = 0x1_0000;

/// What `Classes::leads` has for a first byte whose characters differ; no class has this bit there.
pub(super) const MIXED: u8 = 128;

/// Bytes that begin at a cache line, so that reading 64 of them reads one.
#[repr(align(64))]
pub(super) struct Lines<const LENGTH: usize>(pub(super) [u8; LENGTH]);

/// The class bits of every character.
pub(super) struct Classes {
    pub(super) ascii: Lines<128>,
    /// By the low six bits of a first byte of more: the class bits, of those below `WORD`, that all its characters
    /// have but those with the second byte in `but`, or `MIXED`.
    pub(super) leads: Lines<64>,
    /// Second bytes; 0 for none.
    pub(super) but: Lines<64>,
    /// The characters below `SHORT`.
    pub(super) short: Box<Lines<SHORT>>,
    /// From `SHORT` on: block number of each `BLOCK` code points.
    blocks: Vec<u16>,
    /// The distinct blocks, one after another.
    bits: Vec<u8>,
}

impl Classes {
    /// The table of `tables`; a quarter of a millisecond, so each `Split` makes its own (about 100 kB).
    pub(super) fn new(tables: Tables) -> Result<Classes, Error> {
        Classes::of_classes(CLASSES, tables)
    }

    /// The table of a law that tells apart other classes than all others do: patterns of one character, with the bits
    /// below `WORD` that they have.
    pub(super) fn of_classes(
        classes: impl IntoIterator<Item = (&'static str, u8)>,
        tables: Tables,
    ) -> Result<Classes, Error> {
        let mut flat = vec![0u8; CODE_POINTS];
        for (class, bit) in classes.into_iter().chain([WORDS]) {
            for (first, last) in ranges(class)? {
                flat[first as usize..=last as usize].iter_mut().for_each(|bits| *bits |= bit);
            }
        }
        if tables == Tables::Onig {
            ONIG_ONLY_BARE.iter().for_each(|c| flat[*c as usize] |= WORD);
            ONIG_LACKS.iter().for_each(|c| flat[*c as usize] &= !(WORD | WORD_IN_CLASS));
        }
        Ok(Classes::fold(&flat))
    }

    /// The tables of one byte a code point.
    fn fold(flat: &[u8]) -> Classes {
        let (blocks, bits) = blocks(&flat[SHORT..], BLOCK);
        let (mut ascii, mut short) = (Lines([0; 128]), Box::new(Lines([0; SHORT])));
        ascii.0.copy_from_slice(&flat[..128]);
        short.0.copy_from_slice(&flat[..SHORT]);
        let (leads, but) = leads(flat);
        Classes { ascii, leads, but, short, blocks, bits }
    }

    /// The same where all characters that the standard library calls numeric are numbers, as it may know a later Unicode;
    /// `None` if it knows an earlier one.
    pub(super) fn with_numbers_of_std(&self) -> Option<Classes> {
        let all = || (0..CODE_POINTS as u32).map(char::from_u32);
        let mut flat: Vec<u8> = all().map(|c| c.map_or(0, |c| self.of(c))).collect();
        for (bits, c) in flat.iter_mut().zip(all()).filter_map(|(bits, c)| Some((bits, c?))) {
            match (*bits & NUMBER != 0, c.is_numeric()) {
                (true, false) => return None,
                (false, true) => *bits = NUMBER,
                _ => {}
            }
        }
        Some(Classes::fold(&flat))
    }

    /// The bits of one character.
    #[inline]
    pub(super) fn of(&self, c: char) -> u8 {
        let code = c as usize;
        if code < SHORT {
            return self.short.0[code];
        }
        let block = usize::from(self.blocks[(code - SHORT) >> BLOCK_BITS]);
        self.bits[(block << BLOCK_BITS) | (code & (BLOCK - 1))]
    }

    /// The bits of the character at byte `at` and its length in bytes; `(0, 0)` at the end.
    #[inline]
    pub(super) fn at(&self, text: &str, at: usize) -> (u8, usize) {
        match text.as_bytes().get(at) {
            None => (0, 0),
            Some(&byte) if byte < 128 => (self.ascii.0[usize::from(byte)], 1),
            Some(_) => self.wide(text, at),
        }
    }

    /// The same for a character of more than one byte.
    fn wide(&self, text: &str, at: usize) -> (u8, usize) {
        text[at..].chars().next().map_or((0, 0), |c| (self.of(c), c.len_utf8()))
    }

    /// The end of the run, from `at`, of characters whose bits are such.
    #[inline]
    pub(super) fn run_of(&self, text: &str, mut at: usize, is_such: impl Fn(u8) -> bool) -> usize {
        loop {
            let (bits, width) = self.at(text, at);
            if width == 0 || !is_such(bits) {
                return at;
            }
            at += width;
        }
    }

    /// The end of the run, from `at`, of characters that have any bit of `mask`.
    #[inline]
    pub(super) fn run(&self, text: &str, at: usize, mask: u8) -> usize {
        self.run_of(text, at, |bits| bits & mask != 0)
    }

    /// The end of the run, from `at`, of characters that have no bit of `mask`.
    #[inline]
    pub(super) fn run_without(&self, text: &str, at: usize, mask: u8) -> usize {
        self.run_of(text, at, |bits| bits & mask == 0)
    }
}

/// `Classes::leads` and `but` of one byte a code point.
fn leads(flat: &[u8]) -> (Lines<64>, Lines<64>) {
    let (mut leads, mut but) = ([MIXED; 64], [0; 64]);
    for lead in 0xE0..=0xEFusize {
        let first = (lead & 0x0F) << 12;
        let bits = flat[first + 0xFFF] & (WORD - 1);
        let odd: Vec<usize> = (0..64)
            .filter(|page| flat[first + page * 64..][..64].iter().any(|class| class & (WORD - 1) != bits))
            .collect();
        if odd.len() < 2 {
            leads[lead & 0x3F] = bits;
            but[lead & 0x3F] = odd.first().map_or(0, |page| 0x80 | *page as u8);
        }
    }
    (Lines(leads), Lines(but))
}

/// The blocks of a table of one byte a code point, each once, one behind the other; and by block its number among these.
pub(super) fn blocks(flat: &[u8], size: usize) -> (Vec<u16>, Vec<u8>) {
    let mut numbers: FxHashMap<&[u8], u16> = FxHashMap::default();
    let mut blocks = Vec::with_capacity(flat.len() / size);
    let mut kept = Vec::new();
    for block in flat.chunks_exact(size) {
        // There are fewer than 2^16 blocks.
        let next = numbers.len() as u16;
        let number = *numbers.entry(block).or_insert(next);
        if number == next {
            kept.extend_from_slice(block);
        }
        blocks.push(number);
    }
    (blocks, kept)
}

/// The code point ranges of a one-character pattern, by the parser of `regex-syntax`.
pub(crate) fn ranges(class: &str) -> Result<Vec<(u32, u32)>, Error> {
    let failed = |reason: String| Error::Pattern { pattern: class.to_owned(), reason };
    let hir = regex_syntax::parse(class).map_err(|error| failed(error.to_string()))?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(set)) => {
            Ok(set.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect())
        }
        _ => Err(failed("not a class of characters".to_owned())),
    }
}

/// The whole text of a character class in brackets, in the syntax of `fancy-regex`, that equals
/// Oniguruma's `\w` (`bare`: outside brackets), or its complement.
pub(super) fn onig_word(bare: bool, negated: bool) -> String {
    let more: String = if bare { ONIG_ONLY_BARE.iter().collect() } else { String::new() };
    let lacks: String = ONIG_LACKS.iter().map(|c| format!("\\x{{{:X}}}", *c as u32)).collect();
    let not = if negated { "^" } else { "" };
    format!("[{not}[\\w{more}]--[{lacks}]]")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a class of one character has each of the characters, as a regular expression finds them.
    fn members(class: &str, all: &str) -> Vec<bool> {
        let mut has = vec![false; 0x11_0000];
        for run in fancy_regex::Regex::new(&format!("(?:{class})+")).unwrap().find_iter(all) {
            run.unwrap().as_str().chars().for_each(|c| has[c as usize] = true);
        }
        has
    }

    fn all_characters() -> String {
        ('\0'..=char::MAX).collect()
    }

    /// Every bit of every character, against the definition: the class as a regular expression.
    #[test]
    fn the_table_equals_its_classes_on_every_character() {
        let (table, all) = (Classes::new(Tables::Tiktoken).unwrap(), all_characters());
        for (class, bit) in CLASSES.into_iter().chain([WORDS]) {
            let has = members(class, &all);
            for c in all.chars() {
                let expected = if has[c as usize] { bit } else { 0 };
                assert_eq!(table.of(c) & bit, expected, "{class} {c:?}");
            }
        }
    }

    #[test]
    fn oniguruma_has_another_word_class() {
        let (ours, theirs) = (Classes::new(Tables::Tiktoken).unwrap(), Classes::new(Tables::Onig).unwrap());
        let differ: Vec<char> =
            (0..=0x10_FFFF).filter_map(char::from_u32).filter(|&c| ours.of(c) != theirs.of(c)).collect();
        assert_eq!(differ, ['²', '³', '¹', '¼', '½', '¾', '\u{200C}', '\u{200D}']);
        assert_eq!(theirs.of('½') & (WORD | WORD_IN_CLASS), WORD);
        assert_eq!(theirs.of('\u{200D}') & (WORD | WORD_IN_CLASS), 0);
    }

    #[test]
    fn the_rewritten_word_class_equals_the_table() {
        let (table, all) = (Classes::new(Tables::Onig).unwrap(), all_characters());
        for (bare, bit) in [(true, WORD), (false, WORD_IN_CLASS)] {
            for negated in [false, true] {
                let has = members(&onig_word(bare, negated), &all);
                for c in all.chars() {
                    let word = table.of(c) & bit != 0;
                    assert_eq!(has[c as usize], word != negated, "{c:?}");
                }
            }
        }
    }

    #[test]
    fn first_bytes_tell_the_class_of_common_ideographs() {
        let table = Classes::new(Tables::Tiktoken).unwrap();
        assert!(table.leads.0.iter().all(|&class| class == MIXED || class < WORD));
        for c in (0x80..=0x10_FFFF).filter_map(char::from_u32) {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).as_bytes();
            let lead = usize::from(bytes[0] & 0x3F);
            let (class, but) = (table.leads.0[lead], table.but.0[lead]);
            assert!(class == MIXED || bytes[1] == but || table.of(c) & (WORD - 1) == class, "{c:?}");
        }
        assert_eq!(table.leads.0[0x24..=0x29], [UNCASED; 6]);
        assert_eq!(table.but.0[0x24..=0x29], [0xB7, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn newline_and_space_classes_of_ascii() {
        let table = Classes::new(Tables::Tiktoken).unwrap();
        assert_eq!(table.at("\n", 0), (SPACE, 1));
        assert_eq!(table.at("é", 0), (LOWER | WORD | WORD_IN_CLASS, 2));
        assert_eq!(table.at("", 0), (0, 0));
        assert_eq!(table.run("ab1", 0, LETTER), 2);
        assert_eq!(table.run_without("!?a", 0, LETTER | NUMBER | SPACE), 2);
        assert_eq!(table.run_without("!?", 0, LETTER), 2);
    }
}
