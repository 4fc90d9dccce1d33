//! Text by what each token adds, beside the text that the steps make of all tokens.

use super::*;
use crate::{
    drawn::{drawing, drawn},
    matching::Matching,
    step::Value,
};

/// Marks, spaces, bytes that are text and bytes that are none, prefixes, what cleaning looks for, nothing, a long one.
const TOKENS: &[&str] = &[
    "▁",
    "▁▁",
    "▁the",
    "a▁b",
    "the",
    " ",
    "",
    "##s",
    "##",
    "s##",
    ".",
    " .",
    "n't",
    " n't",
    "é",
    "字",
    "<0x41>",
    "<0xE2>",
    "<0x82>",
    "<0xAC>",
    "<0xff>",
    "<0x4>",
    "\u{FFFD}",
    "Ġthe",
    "a long token of many more than sixteen bytes▁",
];

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn replace(pattern: &str, content: &str) -> Step {
    let flags = [("pattern", text(pattern)), ("content", text(content)), ("regex", Value::Bool(false))];
    Step::of("Replace", &flags)
}

fn strip(content: &str, start: i64, stop: i64) -> Step {
    Step::of("Strip", &[("content", text(content)), ("start", Value::Int(start)), ("stop", Value::Int(stop))])
}

fn metaspace(scheme: &str) -> Step {
    let split = ("split", Value::Bool(true));
    Step::of("Metaspace", &[("replacement", text("▁")), ("prepend_scheme", text(scheme)), split])
}

fn sentencepiece(prefix: bool, spaces: bool) -> Step {
    let (suffix, charsmap) = (Value::Bool(false), Value::Bytes(Vec::new()));
    Step::of(
        "SentencePiece",
        &[
            ("add_dummy_prefix", Value::Bool(prefix)),
            ("remove_extra_whitespaces", Value::Bool(spaces)),
            ("treat_whitespace_as_suffix", suffix),
            ("unknown_surface", text(" ⁇ ")),
            ("denormalizer_charsmap", charsmap),
        ],
    )
}

/// Steps, and whether they are asked what each token adds.
fn chains() -> Vec<(Vec<Step>, bool)> {
    let (bytes, fuse) = (|| Step::of("ByteFallback", &[]), || Step::of("Fuse", &[]));
    let words = |cleanup| Step::of("WordPiece", &[("prefix", text("##")), ("cleanup", Value::Bool(cleanup))]);
    vec![
        (vec![replace("▁", " "), bytes(), fuse(), strip(" ", 1, 0)], true),
        (vec![replace("▁", " "), bytes(), fuse()], true),
        (vec![replace("▁", " "), bytes(), fuse(), strip(" ", 3, 0), strip("t", 1, 0)], true),
        (vec![bytes(), metaspace("always")], true),
        (vec![metaspace("never")], true),
        (vec![words(true)], true),
        (vec![words(false), replace("s", "<0x41>"), bytes()], true),
        (vec![strip("t", 1, 1), metaspace("first")], true),
        // Of the text that would stand before a token nothing is left.
        (vec![replace("a", ""), metaspace("first")], false),
        (vec![sentencepiece(true, true)], true),
        (vec![sentencepiece(true, false)], true),
        (vec![sentencepiece(false, true)], true),
        (vec![sentencepiece(false, false)], true),
        (vec![fuse(), strip(" ", 1, 1)], false),
        (vec![fuse(), replace("the", "a")], false),
        (vec![Step::of("BPEDecoder", &[("suffix", text("▁"))])], false),
        (vec![sentencepiece(true, true), fuse()], false),
        (vec![Step::of("Join", &[("separator", text(" "))])], false),
    ]
}

#[test]
fn texts_are_those_of_the_steps() {
    let mut draw = drawing(11);
    let vocab =
        Vocab::new(TOKENS.iter().enumerate().map(|(at, token)| (2 * at as u32, token.as_bytes()))).unwrap();
    let named: Vec<Named> = [(101, "<s>", Stage::Text), (103, "▁<mask>", Stage::Never)]
        .map(|(id, text, stage)| {
            let matching = Matching { stage, single_word: false, lstrip: false, rstrip: false };
            Named { text: text.to_owned(), id, special: true, matching }
        })
        .into();
    let known: Vec<u32> = (0..TOKENS.len() as u32).map(|at| 2 * at).chain([101, 103]).collect();
    for (chain, is_asked) in chains() {
        let byte_tokens = [(32, 0x41), (34, 0xE2), (36, 0x82), (38, 0xAC)];
        let mut spelling = Spelling::plain(Symbol::Char);
        (spelling.byte_tokens, spelling.unknown) = (&byte_tokens, Some(8));
        let normalizer = Normalizer::new(&[]).unwrap();
        let decoder = TextDecoder::new(&chain, &spelling, &named, &normalizer).unwrap();
        assert_eq!(decoder.texts(&vocab, 1 << 10).is_some(), is_asked, "{chain:?}");
        let mut asked = 0;
        for _ in 0..drawn(4_000, 100_000) {
            let count = [5, 40][draw(2)];
            let mut ids: Vec<u32> = (0..draw(count)).map(|_| known[draw(known.len())]).collect();
            if draw(20) == 0 && !ids.is_empty() {
                let at = draw(ids.len());
                ids[at] = [1, 99, 5_000][draw(3)];
            }
            let expected = decoder.by_steps(&vocab, &ids);
            let made = decoder.decode(&vocab, &ids);
            assert_eq!(made, expected, "{ids:?} by {chain:?}");
            assert!(made.is_ok_and(|made| std::str::from_utf8(made.as_bytes()).is_ok()) || expected.is_err());
            if let Some(texts) = decoder.texts(&vocab, 0) {
                asked += usize::from(matches!(decoder.by_texts(&vocab, texts, &ids), Ok(Some(_))));
            }
        }
        assert_eq!(asked > drawn(2_000, 50_000), is_asked, "{asked} by {chain:?}");
    }
}
