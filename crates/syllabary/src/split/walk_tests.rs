//! Every way to make masks, held to the scanners: on every short text around the end of a block, on random texts,
//! and on corpora.
//!
//! The scanners themselves are held to their patterns in `tests/split.rs`. A debug build takes fewer and shorter
//! texts; with `SYLLABARY_PROVE` the short ones are one character longer, and the corpora are whole. Without the
//! folder of corpora beside the repository that test says so and ends.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use super::*;
use crate::drawn::xorshift;
use crate::split::Tables;
use crate::split::classes::{LOWER, MARK, NUMBER, SPACE, UPPER};

/// Patterns, and one character of each kind that they can tell apart.
const LAWS: [(&str, &str); 10] = [
    (gpt2::TIKTOKEN, "'sSlrveé 1½\t\u{3000}!—"),
    (gpt2::DIGITS, "'sSlé 1½\t\u{3000}!—"),
    (gpt4::PATTERN, "'sſLv\n \t\u{3000}1½!—字"),
    (o200k::PATTERN, "'sELǅ\n \u{A0}1½!/\u{301}字—"),
    (o200k::NEMOTRON, "'sELǅ\n \u{A0}1½!/\u{301}字—"),
    (llama3::LLAMA3, "'sſLv\n \t\u{3000}1½!—字"),
    (llama3::QWEN2, "'sSLv\n \t\u{3000}1½!—字"),
    (llama3::QWEN35, "'sSLv\n \t\u{3000}1½!\u{301}字"),
    (kimi::PATTERN, "'sELǅ\n \u{A0}1½!\u{301}字ª〇⺀"),
    (deepseek::PATTERN, "'aé\n \t\u{3000}1½!—字・\u{3040}\u{1}\u{200B}"),
];

/// Every kind of character that any law knows, and some that none should mind.
const EVERYTHING: &str = "'sſSrevltmdLREV\r\n\t \u{A0}\u{85}\u{1C}\u{2028}\u{3000}\u{0}017½²Ⅷ٣𝟘_\u{301}\u{903}ʰª字〇⺀ア・゛\u{3097}龦㐀ǅÉéßΣς𐐀𐐨𒀀!/.-—\u{378}\u{E000}😀\u{1E8D0}\u{200D}\u{FEFF}\u{10FFFF}aaaa    ";

/// What stands before a short text, over and over, up to the end of a block.
const RUNS: [&str; 12] = ["a", "A", " ", "1", "!", "\n", "字", "\u{3000}", "½", "\n ", "\u{200B}", "・"];

/// The one for a debug build, the one for any other, or that for the long proof.
fn size(debug: usize, release: usize, prove: usize) -> usize {
    match std::env::var_os("SYLLABARY_PROVE") {
        Some(_) => prove,
        None if cfg!(debug_assertions) => debug,
        None => release,
    }
}

/// The split of a pattern, by each of the ways.
fn splits(pattern: &str) -> Vec<Split> {
    let split = || Split::new(Some(pattern), Tables::Tiktoken, true).unwrap();
    Tier::all().into_iter().map(|tier| Split { tier, ..split() }).collect()
}

fn by_scanner(split: &Split, text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at = piece_end(&split.scanner, &split.classes, text, at);
        ends.push(at);
    }
    ends
}

/// By a walk that has room for `room` ends at a time.
fn by_walk(split: &Split, text: &str, room: usize) -> Vec<usize> {
    let (mut walk, mut all, mut ends) = (split.walk_of_line(text), Vec::new(), vec![usize::MAX; room]);
    loop {
        let found = walk.fill(&mut ends);
        if found == 0 {
            assert_eq!(walk.fill(&mut ends), 0);
            return all;
        }
        all.extend_from_slice(&ends[..found]);
    }
}

fn agree(splits: &[Split], text: &str, room: usize) {
    let expected = by_scanner(&splits[0], text);
    for split in splits {
        let found = by_walk(split, text, room);
        if found != expected {
            let first = found.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0);
            let near = expected.get(first.saturating_sub(3)).copied().unwrap_or(0);
            let near: String = text[near..].chars().take(100).collect();
            panic!(
                "{:?} {:?}, room {room}: {:?} for {:?} at {first}, near {near:?}",
                split.kind(),
                split.tier,
                found.get(first),
                expected.get(first)
            );
        }
    }
}

/// Calls `each` with `head` and every text of `length` characters of `alphabet` after it.
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

#[test]
fn walks_equal_scanners_on_every_short_text() {
    let longest = size(3, 4, 5);
    for (pattern, alphabet) in LAWS {
        let (splits, alphabet) = (splits(pattern), alphabet.chars().collect::<Vec<_>>());
        for length in 0..=longest {
            every_text(&alphabet, length, &mut String::new(), &mut |text| agree(&splits, text, 64));
        }
    }
}

#[test]
fn walks_equal_scanners_on_every_short_text_around_the_end_of_a_block() {
    let longest = size(1, 2, 3);
    for (pattern, alphabet) in LAWS {
        let (splits, alphabet) = (splits(pattern), alphabet.chars().collect::<Vec<_>>());
        for run in RUNS {
            for (head, from) in [("", 57..=67), ("b!", 58..=66), ("?\n", 61..=64), ("b\n", 125..=128)] {
                for at in from {
                    let mut text = head.to_owned();
                    while text.len() < at {
                        text.push_str(run);
                    }
                    every_text(&alphabet, longest, &mut text, &mut |text| {
                        agree(&splits, text, 64);
                        if text.ends_with('!') {
                            agree(&splits, &format!("{text}a 'll\n  1234\n b{run}{run}"), 65);
                        }
                    });
                }
            }
        }
    }
}

/// Drawn numbers and texts.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        (xorshift(&mut self.0) >> 11) as usize % n
    }

    /// Characters of a few kinds, in runs, mostly short ones.
    fn text(&mut self, alphabet: &[char], longest: usize) -> String {
        let (length, kinds) = (self.below(longest + 1), 2 + self.below(alphabet.len() - 1));
        let first = self.below(alphabet.len());
        let mut text = String::new();
        while text.len() < length {
            let c = match self.below(60) {
                0 => char::from_u32(self.below(0x11_0000) as u32).unwrap_or('\u{FFFD}'),
                _ => alphabet[(first + self.below(kinds)) % alphabet.len()],
            };
            let run = match self.below(40) {
                0 => self.below(150),
                1..=10 => self.below(5),
                _ => 1,
            };
            text.extend(std::iter::repeat_n(c, run));
        }
        text
    }
}

#[test]
fn walks_equal_scanners_on_random_texts_with_any_room() {
    let texts = size(600, 15_000, 200_000);
    for (pattern, alphabet) in LAWS {
        let (splits, mut random) = (splits(pattern), Random(11));
        for (alphabet, texts) in [(alphabet, texts / 2), (EVERYTHING, texts / 2)] {
            let alphabet: Vec<char> = alphabet.chars().collect();
            for _ in 0..texts {
                let text = random.text(&alphabet, 400);
                let room = 1 + random.below(150);
                agree(&splits, &text, room);
            }
        }
    }
}

/// What ends a word is looked for behind the next block.
#[test]
fn walks_equal_scanners_on_capitals_of_some_blocks_and_what_follows() {
    for (pattern, _) in LAWS {
        let splits = splits(pattern);
        for count in 50..=260 {
            for (before, after) in
                [("ª", "字b"), ("字", "a"), ("\u{301}", "字"), ("aª", "〇a"), ("א", "字A"), ("ª", "!")]
            {
                agree(&splits, &format!("{before}{}{after}", "A".repeat(count)), 64);
            }
        }
    }
}

#[test]
fn blank_blocks_between_any_two_kinds_of_text_are_passed_over() {
    let sides = [
        "", "a", "A's", "1", "12", "!", "!\n", "\n", "/", "é", "字", "\u{3000}", "\u{301}", "\t", "\u{1}",
        "・",
    ];
    for (pattern, _) in LAWS {
        let splits = splits(pattern);
        for (head, tail) in sides.iter().flat_map(|head| sides.iter().map(move |tail| (head, tail))) {
            // From the beginning of a block on, and from within.
            for before in ["b".repeat(64 - head.len()), String::new()] {
                for blanks in [127, 192, 255, 64 * 5 + head.len(), 64 * 7 - 2] {
                    agree(&splits, &format!("{before}{head}{}{tail} {head}", " ".repeat(blanks)), 3);
                }
            }
        }
    }
}

/// A walk that looked twice at a run for each of its blocks would not end.
#[test]
fn walks_equal_scanners_on_long_runs() {
    let units = [
        " ",
        "a",
        "A",
        "1",
        "'",
        "!",
        "/",
        "\n",
        "\t",
        "½",
        "字",
        "\u{301}",
        "\u{3000}",
        "😀",
        "𝟘",
        "\r\n",
        "\n ",
        "aA",
        "字A",
        "'s",
        "a'",
        "a's",
        "'sB",
        "!\n",
        "\n/",
        "!\u{301}",
        "\u{301}A",
        "a\u{301}",
        "1½",
        "a's\u{301}",
        "A\n  \t\u{3000}",
        "字〇",
        "'aé",
        "\u{1}",
        "\u{200B}a",
        "\u{E0001}",
        "・ア",
        "\u{3040}ア",
    ];
    let length = size(2_000, 40_000, 1_000_000);
    for (pattern, _) in LAWS {
        let splits = splits(pattern);
        for unit in units {
            for (head, tail) in [("", ""), ("", "x"), ("A\n", "\n"), ("字", "A"), ("!", "1"), ("a'", "X")] {
                let text = format!("{head}{}{tail}", unit.repeat(length / unit.len()));
                agree(&splits, &text, 200);
            }
        }
    }
}

fn masks_by<L: Law>(law: L, split: &Split, window: &[u8; WINDOW]) -> Masks {
    match split.tier {
        Tier::Portable => Portable.masks(law, &split.classes, window, 0),
        #[cfg(simd_x86)]
        Tier::Avx2(lanes) => lanes.masks(law, &split.classes, window, 0),
        #[cfg(simd_x86)]
        Tier::Avx512(lanes) => lanes.masks(law, &split.classes, window, 0),
        #[cfg(simd_neon)]
        Tier::Neon(lanes) => lanes.masks(law, &split.classes, window, 0),
    }
}

#[test]
fn every_class_of_every_character_at_every_place_of_a_block() {
    let splits = splits(o200k::PATTERN);
    for at in [0, 1, 30, 60, 61, 62, 63] {
        let mut text = "a".repeat(at);
        for c in (0..=0x10_FFFF).filter_map(char::from_u32).step_by(size(401, 17, 1)) {
            text.push(c);
            for split in &splits {
                let mut padded = [0; WINDOW];
                let window = window(&text, 0, &mut padded);
                let masks = masks_by(Words::O200K, split, window);
                let class = split.classes.of(c);
                let here = (((1u128 << c.len_utf8()) - 1) << at) as u64;
                let expected = |bit| if class & bit != 0 { here } else { 0 };
                assert_eq!(masks.mark, expected(MARK), "{c:?} at {at}");
                assert_eq!(masks.number, expected(NUMBER), "{c:?} at {at}");
                assert_eq!(masks.upper, expected(UPPER), "{c:?} at {at}");
                assert_eq!(masks.word & here, expected(LETTER | MARK), "{c:?} at {at}");
                assert_eq!(masks.lower & here, expected(LOWER), "{c:?} at {at}");
                assert_eq!(masks.space & here, expected(SPACE), "{c:?} at {at}");
                assert_eq!(masks.inner, here & (here << 1), "{c:?} at {at}");
                let whole = at + c.len_utf8() >= BLOCK && !c.is_ascii();
                assert_eq!(masks.last, if whole { class } else { 0 } & masks.last, "{c:?} at {at}");
                // The same by a law that asks for less.
                let less = masks_by(Gpt2::<false>, split, window);
                assert_eq!(less.word & here, expected(LETTER), "{c:?} at {at}");
                let Masks { blank, apostrophe, .. } = masks;
                let (word, number, space) = (less.word, masks.number, masks.space);
                let asked = Masks { word, number, space, blank, apostrophe, ..Masks::default() };
                assert_eq!(less, Masks { inner: masks.inner, last: masks.last, ..asked }, "{c:?} at {at}");
            }
            text.truncate(at);
        }
    }
}

#[test]
fn walks_equal_scanners_on_corpora() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora");
    let Ok(files) = std::fs::read_dir(folder) else {
        eprintln!("skipped: no folder shared/corpora beside the repository");
        return;
    };
    for file in files.map(|file| file.unwrap().path()) {
        if file.extension().is_none_or(|end| end != "xz") {
            continue;
        }
        let mut unpacking = Command::new("xz").arg("-dc").arg(&file).stdout(Stdio::piped()).spawn().unwrap();
        let upto = size(20_000, 300_000, usize::MAX);
        let mut bytes = Vec::new();
        unpacking
            .stdout
            .take()
            .unwrap()
            .take((upto as u64).saturating_add(4))
            .read_to_end(&mut bytes)
            .unwrap();
        unpacking.wait().unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let upto = upto.min(text.len());
        let upto = (upto..).find(|&at| text.is_char_boundary(at)).unwrap();
        for (pattern, _) in LAWS {
            agree(&splits(pattern), &text[..upto], 1000);
        }
    }
}
