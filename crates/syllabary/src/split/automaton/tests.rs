//! Automata give the matches of `fancy-regex`, on drawn patterns and texts.

use super::{
    super::{
        Split, Tables,
        tests::{pieces as plain, split},
    },
    *,
};
use crate::drawn::{drawn, xorshift};

fn automaton(pattern: &str) -> Option<Automaton> {
    Automaton::new(&Expr::parse_tree(pattern).unwrap().expr)
}

fn matches(automaton: &Automaton, text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    automaton.matches(text, &mut |start, end| found.push((start, end)));
    if automaton.covers() {
        for room in [1, 3, 1000] {
            let (mut search, mut ends, mut buffer) = (Search::default(), Vec::new(), vec![0; room]);
            loop {
                let at = ends.last().copied().unwrap_or(0);
                let count = search.fill(automaton, text, at, &mut buffer);
                if count == 0 {
                    break;
                }
                ends.extend_from_slice(&buffer[..count]);
            }
            assert!(ends.iter().eq(found.iter().map(|(_, end)| end)), "{text:?}, room {room}: {ends:?}");
        }
    }
    found
}

/// What `fancy-regex` finds; `None` if it gives up or matches the empty text.
fn expected(regex: &fancy_regex::Regex, text: &str) -> Option<Vec<(usize, usize)>> {
    let found: Result<Vec<_>, _> = regex.find_iter(text).map(|m| m.map(|m| (m.start(), m.end()))).collect();
    found.ok().filter(|found| found.iter().all(|&(start, end)| start < end))
}

/// Drawn numbers and texts.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        (xorshift(&mut self.0) >> 11) as usize % n
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn text(&mut self, longest: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(longest + 1) {
            let c = self.of(&CHARACTERS);
            let times = if self.below(4) == 0 { 1 + self.below(5) } else { 1 };
            text.extend(std::iter::repeat_n(c, times));
        }
        text
    }

    /// A pattern out of what published patterns are made of, nested up to `depth`.
    fn pattern(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.of(&ATOMS).to_owned();
        }
        let inner = self.pattern(depth - 1);
        match self.below(14) {
            0..3 => format!("{inner}{}", self.pattern(depth - 1)),
            3..5 => format!("(?:{inner}|{})", self.pattern(depth - 1)),
            5 => format!("(?:{inner}|{}|{})", self.pattern(depth - 1), self.pattern(0)),
            6..8 => format!("(?:{inner}){}", self.of(&REPEATS)),
            8 => format!("{}{}{inner}", self.of(&ATOMS), self.of(&REPEATS)),
            9 => format!("(?>{inner}){}", self.of(&ATOMS)),
            10 => format!("{inner}{}{})", self.of(&["(?=", "(?!"]), self.pattern(depth - 1)),
            11 => format!("{}{inner}", self.of(&BEFORE)),
            12 => format!("{inner}{}", self.of(&AFTER)),
            _ => format!("(?i:{inner})"),
        }
    }
}

const CHARACTERS: [&str; 24] = [
    "a", "b", "B", "s", "S", "ſ", "k", "\u{212A}", "é", "\u{301}", "漢", "1", "9", "²", " ", "\u{A0}", "\n",
    "\r", "'", "-", "_", "😀", "l", "ll",
];
const ATOMS: [&str; 24] = [
    "a",
    "b",
    "s",
    "k",
    "1",
    " ",
    "'",
    "\n",
    ".",
    r"\w",
    r"\s",
    r"\S",
    r"\p{L}",
    r"\P{Lu}",
    r"\p{N}",
    r"[^\s\p{L}\p{N}]",
    "[ab]",
    r"[^a\n]",
    r"[\w&&[^b]]",
    r"[\r\n]",
    "'(?i:[sdmt]|ll|ve|re)",
    "ll",
    r"\s+(?!\S)",
    r"[\p{L}\p{M}]",
];
const REPEATS: [&str; 13] =
    ["+", "++", "+?", "{2}", "{1,3}", "{1,3}+", "{2,}?", "?", "*", "?+", "*+", "*?", "{0,2}"];
const BEFORE: [&str; 8] = ["(?<=a)", "(?<!a)", r"(?<![\w'])", r"\b", r"\B", "^", "(?m:^)", r"(?<=\s)"];
const AFTER: [&str; 9] =
    ["$", "(?m:$)", r"\b", r"\B", r"(?!\S)", r"(?=\s|$)", r"(?!\w\w)", r"(?=[ab]+\s)", r"(?!a*$)"];

/// Published patterns, and the shapes that rewriting must get right.
const PATTERNS: [&str; 40] = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\s*+\w+?(?=(?:ll|s|k)(?!\w))|\s*+\w++|\s*+[^\s\w]++|\s++",
    r"[^(\s|[.,!?…。，、।۔،])]+| ?[ab]",
    r"\w+|[^\w\s]+",
    r"\S+",
    "(?>a|ab)1|.",
    "(?>ab|a)b|.",
    "(?>ab|a)",
    "(?>a+?)b|.",
    "(?>ab+|a)b|.",
    "(?>(?>a|b)+)b|.",
    "(?:ab)++a|.",
    "(?:ab)?+ab|.",
    "(?:a|bb){1,2}+b|.",
    "(?>[ab]1|[ab])1|.",
    "(?:(?:ab)*+a)++1|.",
    r"a(?=.*1)|\w",
    r"a(?!.*1)|\w",
    r"\s+$|.",
    "(?:ab)+1|a|b",
    "(?s:.)+?1|a",
    r"(?=a|\p{L}1)\w+|.",
    r"(?!a(?=b(?!1)))\w|b",
    r"\w+?(?=\w$|\w\s)|.",
    r"\w+(?=\W|$)|\s+",
    r"(?<=\s)\w+|\W",
    r"\b\w{2}\b|.",
    "^a+|b",
    "(?m:^)a+$|b",
    r"(?:\s*[\r\n])+|\s+(?!\S)|\s|\S{1,4}",
    r"a{3,5}?b|a{2}|\w",
    "(?i:straſse|kelvin|ss)|.",
    "[a-k]+(?<!b)1|b",
    "(?:|a)b|a",
    "a??b|a",
    r"(?>\w)(?>\s)?+|[^\w]",
    r"\p{Han}+|\P{Han}{1,2}",
    "(?:a(?:b(?:1)?+)?+)?+c|.",
];

#[test]
fn known_patterns_have_an_automaton_and_it_gives_their_matches() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for pattern in PATTERNS {
        let regex = fancy_regex::Regex::new(pattern).unwrap();
        let automaton = automaton(pattern).unwrap_or_else(|| panic!("{pattern} has none"));
        for _ in 0..drawn(500, 2_000) {
            let text = random.text(14);
            assert_eq!(Some(matches(&automaton, &text)), expected(&regex, &text), "{text:?} by {pattern}");
        }
    }
}

#[test]
fn drawn_patterns_give_the_matches_of_fancy_regex() {
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    let (mut made, mut texts) = (0, 0);
    for _ in 0..drawn(250, 1_500) {
        let parts: Vec<String> = (0..1 + random.below(4))
            .map(|_| {
                let depth = random.below(4);
                random.pattern(depth)
            })
            .collect();
        let pattern = parts.join("|");
        let Ok(regex) = fancy_regex::Regex::new(&pattern) else { continue };
        let Some(automaton) = automaton(&pattern) else { continue };
        made += 1;
        for _ in 0..25 {
            let text = random.text(12);
            let Some(expected) = expected(&regex, &text) else { continue };
            assert_eq!(matches(&automaton, &text), expected, "{text:?} by {pattern}");
            texts += 1;
        }
    }
    assert!(made > drawn(150, 900) && texts > drawn(3_300, 20_000), "{made} patterns, {texts} texts");
}

fn pieces<'t>(split: &Split, text: &'t str) -> Vec<&'t str> {
    let out = plain(split, text);
    let (mut ends, mut buffer) = (Vec::new(), [0; 100]);
    if let Some(mut walk) = split.walk(text) {
        while let count @ 1.. = walk.fill(&mut buffer) {
            ends.extend_from_slice(&buffer[..count]);
        }
        let expected = out.iter().map(|piece| piece.as_ptr() as usize + piece.len() - text.as_ptr() as usize);
        assert!(expected.eq(ends));
    }
    out
}

/// What long searches note must not change what they find; a text is long beside the notes' stride here.
#[test]
fn searches_far_beyond_their_match_find_the_same() {
    let patterns = [
        r"\s+$|.",
        "(?:ab)+1|a|b",
        "(?s:.)+?1|a",
        r"a(?=.*1)|\w",
        r"a(?!.*[1\n])|\w|\s",
        r"(?=.*1)a|b|\n",
        r"(?:a|b)*(?=1)1|a|\s|b(?!.*9)",
    ];
    let mut random = Random(0x0DDB_1A5E_5BAD_5EED);
    for pattern in patterns {
        let (regex, automaton) = (fancy_regex::Regex::new(pattern).unwrap(), automaton(pattern).unwrap());
        for _ in 0..drawn(5, 40) {
            let mut text = String::new();
            for _ in 0..random.below(6) {
                let part = random.of(&["a", "ab", " ", "b", "ba", "aab"]);
                text.push_str(&part.repeat(random.below(900)));
                text.push_str(random.of(&["", "1", "9", "\n", " x", "é"]));
            }
            assert_eq!(Some(matches(&automaton, &text)), expected(&regex, &text), "{pattern}");
        }
    }
}

/// Patterns that looked ahead over the whole text at every place, or gave up, on megabytes.
#[test]
fn adverse_megabytes_are_split_in_linear_time() {
    let n = drawn(250_000, 1_000_000);
    let spaces = format!("{}x", " ".repeat(n));
    assert_eq!(pieces(&split(r"\s+$|."), &spaces).len(), n + 1);
    assert_eq!(pieces(&split(r"\s+(?!\S)|\s+|x"), &spaces), [&spaces[1..n], " ", "x"]);
    assert_eq!(pieces(&split(r"(?:a|aa)+(?=!x)|bc|a"), &"a".repeat(n)).len(), n);
    assert_eq!(pieces(&split(r"a(?=.*b)|\w"), &"a".repeat(n)).len(), n);
    assert_eq!(pieces(&split(r"(?:ab)+c"), &"ab".repeat(n / 2)).len(), 1);
    assert_eq!(pieces(&split(r"(?:(?:a|ab)(?:b|c)*)+d|\w"), &"abbc".repeat(n / 4)).len(), n);
}

#[test]
fn what_an_automaton_cannot_do_is_left_to_fancy_regex() {
    for pattern in
        [r"(a|b)\1", r"a\Kb", r"\Ga", "(?<=ab)c", r"(?>\s*\n)\s|.", "(?:a|b*)*c", r"(a)?(?(1)b|c)d"]
    {
        assert!(automaton(pattern).is_none(), "{pattern}");
    }
    assert!(automaton("(?:[ab]{0,99}[cd]{0,99}){1,99}x").is_none());
    assert!(automaton("[ab]*a[ab]{20}").is_none());
}

#[test]
fn a_text_is_cut_where_its_halves_are_split_as_the_whole() {
    let mut random = Random(0xC0FF_EE00_1234_5679);
    let mut cuts = 0;
    for pattern in PATTERNS {
        let split = split(pattern);
        for _ in 0..drawn(500, 2_000) {
            let [before, text, after] = [4, 6, 4].map(|longest| random.text(longest));
            let Some(at) = split.last_safe_cut(&text) else { continue };
            assert!(0 < at && at < text.len());
            let (left, right) = (format!("{before}{}", &text[..at]), format!("{}{after}", &text[at..]));
            let halves = [pieces(&split, &left), pieces(&split, &right)].concat();
            assert_eq!(
                pieces(&split, &format!("{left}{right}")),
                halves,
                "{left:?} | {right:?} by {pattern}"
            );
            cuts += 1;
        }
    }
    assert!(cuts > drawn(1_250, 5_000), "{cuts}");
    assert_eq!(split(PATTERNS[1]).kind(), "gpt4");
    assert_eq!(split(r"\w+|\W+").last_safe_cut("ab cd"), Some(3));
    // Signs are in no match, words are.
    assert_eq!(split(r"\w+|\s").last_safe_cut("ab cd"), Some(3));
    assert_eq!(split(r"\w+|\s").last_safe_cut("!!"), None);
    assert_eq!(split(r"\w+|\s!").last_safe_cut("!!a !"), Some(3));
}

#[test]
fn halves_that_are_apart_have_the_matches_of_the_whole() {
    let mut random = Random(0xBEEF_0000_1234_5679);
    let (mut apart, mut uncut) = (0, 0);
    for pattern in PATTERNS {
        let split = Split::new(Some(pattern), Tables::Tiktoken, false).unwrap();
        for _ in 0..drawn(300, 3_000) {
            let (left, right) = (random.text(6), random.text(6));
            let (Some(before), Some(after)) = (left.chars().next_back(), right.chars().next()) else {
                continue;
            };
            if !split.is_apart(before, after) {
                assert!(!split.can_cut(before, after));
                continue;
            }
            let halves = [pieces(&split, &left), pieces(&split, &right)].concat();
            let whole = format!("{left}{right}");
            assert_eq!(pieces(&split, &whole), halves, "{left:?} | {right:?} by {pattern}");
            apart += 1;
            if split.can_cut(before, after) {
                let at = |piece: &&str| piece.as_ptr() as usize - whole.as_ptr() as usize;
                let meets = |piece: &&str| [at(piece), at(piece) + piece.len()].contains(&left.len());
                assert!(pieces(&split, &whole).iter().any(meets), "{left:?} | {right:?} by {pattern}");
            } else {
                uncut += 1;
            }
        }
    }
    assert!(apart > drawn(1_500, 15_000) && uncut > drawn(100, 1_000), "{apart} {uncut}");
}

#[test]
fn a_walk_gives_the_ends_of_the_pieces() {
    let mut random = Random(0xFACE_FEED_0000_0001);
    let mut walks = 0;
    for pattern in PATTERNS {
        let split = split(pattern);
        for round in 0..200 {
            let text = random.text(if round == 0 { 2_000 } else { 20 });
            let Some(mut walk) = split.walk(&text) else { continue };
            let (mut ends, mut buffer) = (Vec::new(), [0; 3]);
            loop {
                let found = walk.fill(&mut buffer);
                if found == 0 {
                    break;
                }
                ends.extend_from_slice(&buffer[..found]);
            }
            let expected: Vec<usize> = pieces(&split, &text)
                .iter()
                .scan(0, |at, piece| {
                    *at += piece.len();
                    Some(*at)
                })
                .collect();
            assert_eq!(ends, expected, "{text:?} by {pattern}");
            walks += 1;
        }
    }
    assert!(walks > 1_000, "{walks}");
}
