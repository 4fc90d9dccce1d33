//! Which tokenizers have the fast way.

use crate::{
    alphabet::{Spelling, Unit},
    parts::Parts,
    split::{Split, Tables},
    step::{Step, Value},
    tokenizer::Tokenizer,
};

const TOKENS: [&str; 6] = ["▁", "a", "b", "▁a", "ab", "▁ab"];

fn step(kind: &str, options: &[(&str, Value)]) -> Step {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Step { kind: kind.to_owned(), options }
}

/// Whether a tokenizer of these tokens has it, after a change.
fn has_fast_way(change: impl FnOnce(&mut Parts<'_>)) -> bool {
    let mut parts = Parts::plain(Unit::Char, Split::new(None, Tables::Tiktoken, true).unwrap());
    parts.tokens = (0..).zip(TOKENS.map(str::as_bytes)).collect();
    parts.alphabet = TOKENS[..3].iter().map(|token| token.as_bytes()).zip(0..).collect();
    parts.merges = Some(vec![(0, 1, 3), (1, 2, 4), (0, 4, 5), (3, 2, 5)]);
    parts.special = vec![("<unk>".to_owned(), 9)];
    parts.spelling.unknown = Some(9);
    change(&mut parts);
    Tokenizer::new(parts).unwrap().charwise.is_some()
}

#[test]
fn only_where_ids_depend_on_nothing_else() {
    let replace = step(
        "Replace",
        &[
            ("pattern", Value::Str(" ".to_owned())),
            ("regex", Value::Bool(false)),
            ("content", Value::Str("▁".to_owned())),
        ],
    );
    assert!(has_fast_way(|_| ()));
    assert!(has_fast_way(|parts| parts.normalizer.push(replace.clone())));
    assert!(has_fast_way(|parts| parts.normalizer.push(step("Lowercase", &[]))));
    assert!(has_fast_way(|parts| {
        parts.merges = None;
        parts.scores = Some((0..6).map(|id| (id, -f64::from(id))).collect());
    }));
    // What stands for a space, or a character within a token, is no token itself.
    assert!(!has_fast_way(|parts| {
        parts.normalizer.push(replace.clone());
        parts.alphabet.remove(0);
    }));
    assert!(!has_fast_way(|parts| parts.alphabet.truncate(2)));
    // Some character would be an error.
    assert!(!has_fast_way(|parts| parts.spelling.unknown = None));
    // The unknown token merges.
    assert!(!has_fast_way(|parts| parts.spelling.unknown = Some(1)));
    assert!(!has_fast_way(|parts| parts.whole_pieces = true));
    assert!(!has_fast_way(|parts| parts.split = Split::new(Some("a"), Tables::Tiktoken, true).unwrap()));
    assert!(!has_fast_way(|parts| parts.pretokenizer.push(step("WhitespaceSplit", &[]))));
    assert!(!has_fast_way(|parts| parts.merges = None));
    assert!(!has_fast_way(|parts| {
        parts.spelling = Spelling { end_of_word: Some("b"), ..parts.spelling };
    }));
    assert!(!has_fast_way(|parts| {
        parts.merges = None;
        parts.scores = Some((0..6).map(|id| (id, -f64::from(id))).collect());
        parts.unused = vec![3];
    }));
    // A byte that spells characters merges.
    assert!(!has_fast_way(|parts| {
        parts.tokens.extend([(6, &b"\xC3"[..]), (7, "aé".as_bytes()), (8, b"\xA9"), (10, b"a\xC3")]);
        parts.alphabet.extend([(&b"\xC3"[..], 6), (b"\xA9", 8)]);
        parts.spelling.fallback = true;
        parts.merges = Some(vec![(1, 6, 10), (10, 8, 7)]);
    }));
}
