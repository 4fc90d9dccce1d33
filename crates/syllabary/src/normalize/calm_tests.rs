//! What rules make of text, character by character, against both ways of `calm`.

use super::{calm::*, calm_blocks::*, calm_joins::Pairs};

/// Of one character: longer than pages hold, nothing, spaces, a wide comma; of more, some of which begin alike, one with a
/// character of four bytes. The last two are left to others.
const RULES: [(&str, &str); 16] = [
    ("ω", "oo"),
    ("\n", " "),
    ("x", ""),
    ("ψ", "psi!"),
    ("\u{3000}", " "),
    ("，", ","),
    ("\u{1f71}", "\u{3ac}"),
    ("q\u{301}", "Q1"),
    ("p\u{301}", "P"),
    ("ω\u{302}", "ώ"),
    ("ω\u{302}\u{301}", "ὤ"),
    ("\u{301}\u{302}", ""),
    ("ω\u{301}", " "),
    ("😀\u{301}", ":)"),
    ("p\u{302}", "a text of more than thirty-two bytes"),
    ("o\u{302}", " o"),
];

fn longest(text: &[u8]) -> Option<(usize, &'static str)> {
    let begins = RULES.iter().filter(|(from, _)| text.starts_with(from.as_bytes()));
    begins.max_by_key(|(from, _)| from.len()).map(|(from, made)| (from.len(), *made))
}

fn calm() -> Calm {
    let firsts = |text: &str| -> Vec<usize> { text.chars().map(|char| char as usize).collect() };
    let is_rule = |code: usize| RULES.iter().any(|(from, _)| firsts(from) == [code]);
    let others = |code: usize| {
        RULES.iter().map(|(from, _)| firsts(from)).any(|codes| codes[0] == code && codes.len() > 1)
    };
    let singles = RULES.iter().filter(|(from, _)| firsts(from).len() == 1).map(|(from, made)| {
        let code = firsts(from)[0];
        (code, Single { text: (*made).into(), is_open: others(code) })
    });
    let pairs: Pairs = RULES
        .iter()
        .filter_map(|(from, _)| firsts(from).first_chunk().copied())
        .filter(|codes: &[usize; 2]| codes[0] < BITS)
        .map(|codes| codes.map(|code| code as u16))
        .collect();
    Calm::new(is_rule, singles.collect(), pairs)
}

/// The same character by character, up to what is left to others, and where that is.
fn slow(text: &str, squeezes: bool) -> (String, usize) {
    let (mut out, mut after, mut at) = (String::new(), squeezes, 0);
    while at < text.len() {
        let rest = &text[at..];
        let width = rest.chars().next().map_or(0, char::len_utf8);
        let (width, made) = longest(rest.as_bytes()).unwrap_or((width, &rest[..width]));
        if !is_simple(made) {
            break;
        }
        if !(made == " " && after) {
            out.push_str(made);
        }
        if !made.is_empty() {
            after = squeezes && made == " ";
        }
        at += width;
    }
    (out, at)
}

#[test]
fn writes_what_characters_become() {
    let mut state = 7u64;
    let parts = [
        "a plain word of ASCII, and one more ",
        "α",
        "漢",
        "漢字漢字漢字漢字漢字漢字",
        "、。「」",
        "\u{3000}",
        "，",
        "\u{1f71}",
        "ὰὶῦ“”",
        "ω",
        "\n",
        "x",
        "ψ",
        " ",
        "  ",
        "o\u{301}",
        "\u{301}\u{301}",
        "ap\u{301}\u{302}",
        "ω\u{302}",
        "ω\u{302}\u{301}",
        "😀",
        "q\u{301}",
        "😀\u{301}",
        "ω\u{301}",
        "p\u{302}",
        "o\u{302}",
        "é~",
        "\u{7f}",
    ];
    let calm = calm();
    for round in 0..3000 {
        let mut text = String::new();
        for _ in 0..round % 40 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % if round % 3 == 0 { parts.len() } else { 24 };
            text.push_str(parts[at]);
        }
        for squeezes in [false, true] {
            let mut out = "before".to_owned();
            let from = Reached { at: 0, after_space: squeezes };
            let reached = calm.write(&text, from, (squeezes, usize::MAX), &longest, &mut out).unwrap();
            let (expected, end) = slow(&text, squeezes);
            let mut one = b"before".to_vec();
            let (portable, written, _) = calm.put((text.as_bytes(), &longest), from, squeezes, &mut one);
            assert_eq!((portable.at, reached.at), (end, end), "{text:?}");
            assert_eq!((expected.as_bytes(), expected.as_str()), (&one[6..written], &out[6..]), "{text:?}");
        }
    }
    let mut out = String::new();
    assert_eq!(
        calm.write("aωaaaa", Reached { at: 0, after_space: true }, (true, 2), &longest, &mut out),
        None
    );
}

#[test]
fn classes_are_those_of_bytes() {
    for byte in 0..=255u8 {
        let mut block = [b'a'; BLOCK];
        (block[3], block[17], block[31]) = (byte, b' ', byte);
        assert_eq!(classes(&block), by_bytes(&block));
        assert_eq!(not_han(&block), not_han_by_bytes(&block));
    }
}
