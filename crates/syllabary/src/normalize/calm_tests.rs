//! What characters become, one by one, against both ways of `calm`.

use super::calm::*;

/// What becomes something else.
const CHANGE: &str = "ωx\nψ\u{3000}，\u{1f71}";

/// A map in which `ω` becomes `oo`, `ψ` longer than pages hold, a line feed and U+3000 a space, `x` nothing, a wide comma a narrow
/// one, U+1F71 another letter; `q` may begin a rule with U+0301.
fn calm() -> Calm {
    let singles = [
        ('ω', "oo"),
        ('\n', " "),
        ('x', ""),
        ('ψ', "psi!"),
        ('\u{3000}', " "),
        ('，', ","),
        ('\u{1f71}', "\u{3ac}"),
    ];
    let singles = singles.map(|(char, made)| (char as usize, Box::from(made)));
    let follows = |code: usize| code == 0x301;
    Calm::new(
        |code| !CHANGE.contains(char::from_u32(code as u32).unwrap_or('x')) && !follows(code),
        follows,
        singles.into_iter().collect(),
    )
}

/// The same character by character, up to the end or U+0301 or a character of four bytes.
fn slow(text: &str, squeezes: bool) -> (String, usize) {
    let (mut out, mut after, mut states) = (String::new(), squeezes, Vec::new());
    for (at, char) in text.char_indices() {
        if char == '\u{301}' || char.len_utf8() == 4 {
            return states.pop().unwrap_or((out, at));
        }
        states.push((out.clone(), at));
        let made = match char {
            'ω' => "oo".to_owned(),
            'ψ' => "psi!".to_owned(),
            '\n' | '\u{3000}' => " ".to_owned(),
            'x' => String::new(),
            '，' => ",".to_owned(),
            '\u{1f71}' => "\u{3ac}".to_owned(),
            char => char.to_string(),
        };
        if !(made == " " && after) {
            out.push_str(&made);
        }
        if !made.is_empty() {
            after = squeezes && made == " ";
        }
        if CHANGE.contains(char) {
            states = vec![(out.clone(), at + char.len_utf8())];
        }
    }
    (out, text.len())
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
        "q\u{301}",
        "😀",
        "é~",
        "\u{7f}",
    ];
    let calm = calm();
    for round in 0..3000 {
        let mut text = String::new();
        for _ in 0..round % 40 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % if round % 3 == 0 { parts.len() } else { 15 };
            text.push_str(parts[at]);
        }
        for squeezes in [false, true] {
            let mut out = "before".to_owned();
            let from = Reached { at: 0, after_space: squeezes };
            let reached = calm.write(&text, from, (squeezes, usize::MAX), &mut out).unwrap();
            let (expected, end) = slow(&text, squeezes);
            let mut one = b"before".to_vec();
            let (portable, written, _) = calm.put(text.as_bytes(), from, squeezes, &mut one);
            assert_eq!(slow(&text[..portable.at], squeezes).0.as_bytes(), &one[6..written], "{text:?}");
            assert!(portable.at <= end && portable.at + 8 > end, "{text:?}");
            // The last characters may be left.
            assert!(reached.at <= end && reached.at + 8 > end, "{text:?}");
            assert!(expected.starts_with(&out[6..]), "{text:?}: {out:?}");
            let rest = slow(&text[..reached.at], squeezes).0;
            assert_eq!(rest, out[6..], "{text:?}");
        }
    }
    let mut out = String::new();
    assert_eq!(calm.write("aωaaaa", Reached { at: 0, after_space: true }, (true, 2), &mut out), None);
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
