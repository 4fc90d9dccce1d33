//! Every scanner equals its pattern as `fancy-regex` runs it.
//!
//! The oracle is the pattern itself, written here a second time: on every short text over one character of each
//! kind that the pattern can tell apart, on long pseudo-random ones, and on adversarial megabytes (which also
//! show, by ending, that the scanners are linear). A debug build takes texts one character shorter
//! and a fifth of a megabyte, every day (without `SYLLABARY_PROVE`) a fortieth and fewer random ones.

#![allow(clippy::unwrap_used)] // A helper that cannot go on fails its test.

use syllabary::split::{Split, Tables};

const GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
const GPT2_ORIGINAL: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const GPT2_BRACKETED: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const GPT2_DIGITS: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++|\p{N}| ?[^\s\p{L}\p{N}]++|\s++(?=\p{N}|$)|\s+(?!\S)|\s";
const GPT4: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";
const O200K: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN35: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const NEMOTRON: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const KIMI: &str = r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const DEEPSEEK: &str = r##"\p{N}{1,3}|[\u4E00-\u9FA5\u3040-\u30FF&&[^\p{L}\p{M}\p{P}\p{S}]]?[\u4E00-\u9FA5\u3040-\u30FF&&[\p{L}\p{M}]]+|[\u4E00-\u9FA5\u3040-\u30FF&&[\p{P}\p{S}]]+|[\u4E00-\u9FA5\u3040-\u30FF&&[^\p{L}\p{M}\p{P}\p{S}]]+(?=[\u4E00-\u9FA5\u3040-\u30FF&&[^\p{L}\p{M}\p{P}\p{S}]][\u4E00-\u9FA5\u3040-\u30FF&&[\p{L}\p{M}]])|[\u4E00-\u9FA5\u3040-\u30FF&&[^\p{L}\p{M}\p{P}\p{S}]]+|[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{N}\p{P}\p{S}\u4E00-\u9FA5\u3040-\u30FF]?[\p{L}\p{M}&&[^\u4E00-\u9FA5\u3040-\u30FF]]+| ?[\p{P}\p{S}&&[^\u4E00-\u9FA5\u3040-\u30FF]]+[\r\n]*|\s*[\r\n]+|\s+(?![^\s\p{N}\u4E00-\u9FA5\u3040-\u30FF])|\s+|[^\s\p{L}\p{M}\p{N}\p{P}\p{S}\u4E00-\u9FA5\u3040-\u30FF]+(?=[^\s\p{L}\p{M}\p{N}\p{P}\p{S}\u4E00-\u9FA5\u3040-\u30FF][\p{L}\p{M}&&[^\u4E00-\u9FA5\u3040-\u30FF]])|[^\s\p{L}\p{M}\p{N}\p{P}\p{S}\u4E00-\u9FA5\u3040-\u30FF]+"##;
const WHITESPACE: &str = r"\w+|[^\w\s]+";
const WHITESPACE_SPLIT: &str = r"\S+";
const LATIN: &str = r"\s*+\w+?(?=(?:que|ve|ne|met|ce|ci)(?!\w))|\s*+\w++|\s*+[^\s\w]++|\s++";

const SUPERWORDS: &str = r"\p{N}{1,3}| ?[^\s\p{L}\p{M}\p{N}](?:[^\s\p{L}\p{M}\p{N}][^\s\p{L}\p{N}]*|[\r\n])[\r\n/]*|\s*[\r\n]+|\s+(?!\S)";

/// Pattern, the name of its scanner, and one character of each kind that it can tell apart.
const LAWS: [(&str, &str, &str); 16] = [
    (GPT2, "gpt2", "'sSlrveé 1½\t!\u{301}"),
    (GPT2_ORIGINAL, "gpt2", "'slrveé 1\n!"),
    (GPT2_BRACKETED, "gpt2", "'slrveé 1\n!"),
    (GPT2_DIGITS, "gpt2-digits", "'slrve 1½\t!\u{301}"),
    (GPT4, "gpt4", "'sſLlve\r\n \u{3000}1!\u{301}"),
    (O200K, "o200k", "'sſEl\r\n \u{A0}1!/\u{301}字ǅ"),
    (LLAMA3, "llama3", "'sſLlve\r\n \u{3000}1!\u{301}"),
    (QWEN2, "qwen2", "'sLve\r\n \u{3000}1!\u{301}"),
    (QWEN35, "qwen3.5", "'sLve\r\n \u{3000}1!\u{301}"),
    (NEMOTRON, "nemotron", "'sEl\r\n \u{A0}1!/\u{301}字ǅ"),
    (KIMI, "kimi", "'sEl\n \u{A0}1!/\u{301}ª字〇⺀"),
    (DEEPSEEK, "deepseek-v3", "'aé\n \u{3000}1½!—字・\u{3040}\u{1}"),
    (WHITESPACE, "whitespace", "a字1½_ \n!\u{301}\u{200D}²"),
    (WHITESPACE_SPLIT, "whitespace-split", "aÉ1 \n\u{3000}!\u{301}"),
    (SUPERWORDS, "superwords", "a字\r\n \u{3000}1!/\u{301}"),
    (LATIN, "latin", "quevnmtci \n!\u{301}Q"),
];

/// Every kind of character that any law knows, and some that none should mind.
const EVERYTHING: &str = "'sſSrevltmdLREV\r\n\t \u{A0}\u{85}\u{1C}\u{2028}\u{3000}\u{0}017½²Ⅷ٣_\u{301}\u{903}ʰª字ǅÉéßΣς!/.-〇⺀ア・゛\u{3097}龦\u{378}\u{E000}😀\u{200D}\u{FEFF}\u{10FFFF}";

const DEPTH: usize = if cfg!(debug_assertions) { 3 } else { 4 };

/// How much to test: in a release build, in a debug build to prove, every day.
fn size(release: usize, prove: usize, daily: usize) -> usize {
    let proves = std::env::var_os("SYLLABARY_PROVE").is_some_and(|value| !value.is_empty());
    match (cfg!(debug_assertions), proves) {
        (false, _) => release,
        (true, true) => prove,
        (true, false) => daily,
    }
}

fn random_texts() -> usize {
    size(300_000, 20_000, 8_000)
}

/// The definition: leftmost matches; what is between is kept.
fn oracle<'t>(regex: &fancy_regex::Regex, text: &'t str) -> Vec<&'t str> {
    kept_and_dropped(regex, text).0
}

/// The same, and without what is between.
fn kept_and_dropped<'t>(regex: &fancy_regex::Regex, text: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let mut at = 0;
    let gap = |from: usize, to: usize, pieces: &mut Vec<&'t str>| {
        if from < to {
            pieces.push(&text[from..to]);
        }
    };
    for found in regex.find_iter(text) {
        let found = found.unwrap();
        gap(at, found.start(), &mut kept);
        kept.push(found.as_str());
        dropped.push(found.as_str());
        at = found.end();
    }
    gap(at, text.len(), &mut kept);
    (kept, dropped)
}

fn pieces<'t>(split: &Split, text: &'t str) -> Vec<&'t str> {
    let mut out = Vec::new();
    split.pieces(text, &mut |piece| out.push(piece)).unwrap();
    out
}

fn split(pattern: &str) -> Split {
    Split::new(Some(pattern), Tables::Tiktoken, true).unwrap()
}

/// The pseudo-random numbers of Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// Up to `longest` characters, in short runs, of those in `alphabet` and now and then of any others.
    fn text(&mut self, alphabet: &[char], longest: usize) -> String {
        let length = self.below(longest + 1);
        let mut text = String::new();
        while text.chars().count() < length {
            let c = match self.below(50) {
                0 => char::from_u32(self.below(0x11_0000) as u32).unwrap_or('\u{FFFD}'),
                1..=5 => 'a',
                _ => alphabet[self.below(alphabet.len())],
            };
            let run = if self.below(4) == 0 { 1 + self.below(4) } else { 1 };
            text.extend(std::iter::repeat_n(c, run));
        }
        text
    }
}

/// Calls `each` with every text of `length` characters over `alphabet`.
fn every_text(alphabet: &[char], length: usize, text: &mut String, each: &mut impl FnMut(&str)) {
    if length == 0 {
        return each(text);
    }
    for &c in alphabet {
        text.push(c);
        every_text(alphabet, length - 1, text, each);
        text.pop();
    }
}

fn all_texts_agree(pattern: &str, alphabet: &str, longest: usize) {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let regex = fancy_regex::Regex::new(pattern).unwrap();
    let [keeping, dropping] =
        [true, false].map(|keep| Split::new(Some(pattern), Tables::Tiktoken, keep).unwrap());
    for length in 0..=longest {
        every_text(&alphabet, length, &mut String::new(), &mut |text| {
            let (kept, dropped) = kept_and_dropped(&regex, text);
            assert_eq!(pieces(&keeping, text), kept, "{text:?} by {pattern}");
            assert_eq!(pieces(&dropping, text), dropped, "{text:?} by {pattern}");
        });
    }
}

#[test]
fn each_law_has_its_scanner() {
    for (pattern, kind, _) in LAWS {
        assert_eq!(split(pattern).kind(), kind);
    }
    assert_eq!(split(r"\w+").kind(), "regex");
    assert_eq!(Split::new(None, Tables::Onig, false).unwrap().kind(), "none");
}

#[test]
fn scanners_equal_their_laws_on_every_short_text_of_the_kinds_they_know() {
    for (pattern, _, alphabet) in LAWS {
        all_texts_agree(pattern, alphabet, DEPTH + 1);
    }
}

#[test]
fn scanners_equal_their_laws_on_every_short_text_of_all_kinds() {
    for (pattern, _, _) in LAWS {
        all_texts_agree(pattern, EVERYTHING, DEPTH - 1);
    }
}

#[test]
fn scanners_equal_their_laws_on_random_texts() {
    let everything: Vec<char> = EVERYTHING.chars().collect();
    for (pattern, _, alphabet) in LAWS {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let (split, regex) = (split(pattern), fancy_regex::Regex::new(pattern).unwrap());
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        for i in 0..random_texts() {
            let text = random.text(if i % 2 == 0 { &alphabet } else { &everything }, 24);
            let found = pieces(&split, &text);
            assert_eq!(found, oracle(&regex, &text), "{text:?} by {pattern}");
            assert_eq!(found.concat(), text);
        }
    }
}

#[test]
fn contractions_in_every_case_and_place() {
    let ends = [
        "s", "S", "ſ", "t", "T", "re", "Re", "rE", "RE", "ve", "VE", "m", "ll", "Ll", "lL", "LL", "d", "l",
        "r", "x", "",
    ];
    for (pattern, _, _) in LAWS {
        let (split, regex) = (split(pattern), fancy_regex::Regex::new(pattern).unwrap());
        for before in ["", "we", "WE", "We", " ", "!", "'", "1", "字", "\u{301}", "\n", "we\u{301}"] {
            for end in ends {
                for after in ["", "a", "A", "'", "'s", " ", "!", "\n", "1", "\u{301}"] {
                    for apostrophe in ["'", "’", "''"] {
                        let text = format!("{before}{apostrophe}{end}{after}");
                        assert_eq!(pieces(&split, &text), oracle(&regex, &text), "{text:?} by {pattern}");
                    }
                }
            }
        }
    }
}

#[test]
fn worked_examples() {
    let gpt2 = ["Hello", "'ve", " world", "123", " how", "'s", " are", " you", "!!!?"];
    assert_eq!(pieces(&split(GPT2), "Hello've world123 how's are you!!!?"), gpt2);
    assert_eq!(
        pieces(&split(GPT4), "Random tes2345t string!!"),
        ["Random", " tes", "234", "5", "t", " string", "!!"]
    );
    assert_eq!(
        pieces(&split(GPT4), "IT'S it'ſ\n \n  x \n"),
        ["IT", "'S", " it", "'ſ", "\n \n", " ", " x", " \n"]
    );
    assert_eq!(
        pieces(&split(O200K), "McDonald's IT'S a/\n/b"),
        ["Mc", "Donald's", " IT'S", " a", "/\n/", "b"]
    );
    assert_eq!(pieces(&split(O200K), "\u{301}AB 字A!\u{301}"), ["\u{301}", "AB", " 字", "A", "!\u{301}"]);
    let dropping = Split::new(Some(WHITESPACE), Tables::Tiktoken, false).unwrap();
    assert_eq!(pieces(&dropping, " it's,  no "), ["it", "'", "s", ",", "no"]);
    assert_eq!(pieces(&split(WHITESPACE), " it's,  no "), [" ", "it", "'", "s", ",", "  ", "no", " "]);
    assert_eq!(pieces(&split(WHITESPACE_SPLIT), " it's,  no"), [" ", "it's,", "  ", "no"]);
}

/// The scanners are chosen by the exact text of the pattern, so it must be the one in the Python package's data.
#[test]
fn the_laws_are_those_of_the_named_splits() {
    for (pattern, kind, _) in LAWS {
        // Other spellings of one, and one that stands for two.
        if [GPT2_ORIGINAL, GPT2_BRACKETED, GPT2_DIGITS].contains(&pattern) {
            continue;
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/syllabary/splits");
        let record = std::fs::read_to_string(format!("{folder}/{kind}.json")).unwrap();
        let quoted = format!("\"pattern\": \"{}\"", pattern.replace('\\', r"\\").replace('"', r#"\""#));
        assert!(record.contains(&quoted), "{kind}.json has not {quoted}");
    }
}

/// A cut holds whatever comes before and after the text it was found in.
#[test]
fn halves_of_a_safe_cut_are_split_as_the_whole() {
    let everything: Vec<char> = EVERYTHING.chars().collect();
    let mut found = 0;
    for (pattern, _, alphabet) in LAWS {
        let alphabet: Vec<char> = alphabet.chars().collect();
        for tables in [Tables::Tiktoken, Tables::Onig] {
            let split = Split::new(Some(pattern), tables, true).unwrap();
            let mut random = Random(88_172_645_463_325_252);
            for i in 0..random_texts() / 2 {
                let letters = if i % 3 == 0 { &everything } else { &alphabet };
                let [before, text, after] = [4, 6, 4].map(|longest| random.text(letters, longest));
                let Some(cut) = split.last_safe_cut(&text) else {
                    continue;
                };
                assert!(0 < cut && cut < text.len());
                let (left, right) = (format!("{before}{}", &text[..cut]), format!("{}{after}", &text[cut..]));
                let whole = format!("{left}{right}");
                let halves = [pieces(&split, &left), pieces(&split, &right)].concat();
                assert_eq!(pieces(&split, &whole), halves, "{left:?} | {right:?} by {pattern}");
                found += 1;
            }
        }
    }
    assert!(found > random_texts(), "too few texts could be cut: {found}");
}

/// A megabyte of each of these; a scanner that looks twice at a run for each of its characters would not end.
#[test]
fn megabytes_of_adversarial_text_end() {
    let units = [
        " ", "a", "A", "1", "'", "!", "/", "\n", "\r\n", "\u{301}", "字", "\u{3000}", "aA", "Aa", "A\u{301}",
        "字A", "\u{301}A", " \n", "\n ", "' ", "'s", "! ", "!\n", "a'", " \u{301}", "\t", "½",
    ];
    let bytes = size(1_000_000, 200_000, 25_000);
    for (pattern, _, _) in LAWS {
        let split = split(pattern);
        for unit in units {
            for (head, tail) in [("", ""), ("", "x"), ("字", ""), ("\u{301}", "X"), ("!", "1")] {
                let text = format!("{head}{}{tail}", unit.repeat(bytes / unit.len()));
                let mut length = 0;
                split.pieces(&text, &mut |piece| length += piece.len()).unwrap();
                assert_eq!(length, text.len());
                let cut = split.last_safe_cut(&text);
                assert!(cut.is_none_or(|cut| text.is_char_boundary(cut)));
            }
        }
    }
}

/// With Oniguruma's tables a scanner equals the same pattern run by `fancy-regex` with `\w` spelled out: a group
/// around the pattern hides it from the scanner and changes nothing else.
#[test]
fn scanners_equal_their_laws_with_onigurumas_tables() {
    let alphabet: Vec<char> = "a½qune !\n\u{200D}\u{301}".chars().collect();
    for (pattern, kind, _) in LAWS {
        let grouped = format!("(?:{pattern})");
        let [scanner, regex] =
            [pattern, &grouped].map(|law| Split::new(Some(law), Tables::Onig, true).unwrap());
        assert_eq!([scanner.kind(), regex.kind()], [kind, "regex"]);
        let mut random = Random(7);
        for _ in 0..random_texts() / 4 {
            let text = random.text(&alphabet, 16);
            assert_eq!(pieces(&scanner, &text), pieces(&regex, &text), "{text:?} by {pattern}");
        }
    }
    let split = Split::new(Some(WHITESPACE), Tables::Onig, true).unwrap();
    let expected = ["a½", " ", "½a", " ", "!½", "a", " ", "a", "\u{200D}", "b"];
    assert_eq!(pieces(&split, "a½ ½a !½a a\u{200D}b"), expected);
}
