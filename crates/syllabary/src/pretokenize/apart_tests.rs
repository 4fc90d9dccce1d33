//! Halves of texts at places where steps are said to cut, beside the wholes.

use super::*;
use crate::{
    drawn::{drawing, drawn},
    split::Split,
    step::Value,
};

/// What stands beside each other: letters of three scripts, a mark, numbers, white space, signs.
const CHARS: &[char] = &[
    'a', 'S', 's', 'é', 'λ', '字', 'の', '\u{301}', '1', '٣', '½', ' ', '\n', '\t', '\u{a0}', '.', '\'', '-',
    '$', '，', '`', '😀', '\0', '▁',
];

fn cut(pattern: &str, regex: bool, behavior: &str, invert: bool) -> Step {
    let text = |text: &str| Value::Str(text.to_owned());
    let (regex, invert) = (Value::Bool(regex), Value::Bool(invert));
    Step::of(
        "Split",
        &[("pattern", text(pattern)), ("regex", regex), ("behavior", text(behavior)), ("invert", invert)],
    )
}

fn bytes(prefix: bool, regex: bool) -> Step {
    Step::of("ByteLevel", &[("add_prefix_space", Value::Bool(prefix)), ("use_regex", Value::Bool(regex))])
}

fn digits(individual: bool) -> Step {
    Step::of("Digits", &[("individual_digits", Value::Bool(individual))])
}

fn punctuation(behavior: &str) -> Step {
    Step::of("Punctuation", &[("behavior", Value::Str(behavior.to_owned()))])
}

fn metaspace(scheme: &str, split: bool) -> Step {
    let text = |text: &str| Value::Str(text.to_owned());
    let split = Value::Bool(split);
    Step::of("Metaspace", &[("replacement", text("▁")), ("prepend_scheme", text(scheme)), ("split", split)])
}

/// Steps as tokenizers have them, and others.
fn layouts() -> Vec<Vec<Step>> {
    let isolated = |pattern| cut(pattern, true, "isolated", false);
    let words = r"'s|'t|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+";
    vec![
        // DeepSeek's models of code, Falcon, CLIP.
        vec![
            isolated(r"[\r\n]"),
            isolated(r"\s?\p{L}+"),
            isolated(r"\s?\p{P}+"),
            isolated("[一-龥ࠀ-一가-퟿]+"),
            digits(true),
        ],
        vec![punctuation("contiguous"), bytes(false, true), digits(false), isolated("[0-9][0-9][0-9]")],
        vec![cut(words, true, "removed", true), bytes(false, false)],
        vec![isolated(r"\s+$"), isolated(r"\p{L}+(?=\p{N})|."), digits(false)],
        vec![bytes(true, true), isolated("Ċ|ċ")],
        vec![Step::of("WhitespaceSplit", &[]), bytes(true, false), punctuation("isolated")],
        vec![Step::of("Whitespace", &[])],
        vec![Step::of("BertPreTokenizer", &[])],
        vec![cut("a ", false, "isolated", false), cut(" ", false, "removed", false), digits(true)],
        vec![cut(words, true, "contiguous", false), digits(true)],
        vec![metaspace("always", true)],
        vec![metaspace("first", true), digits(true)],
        vec![metaspace("never", false), cut("▁", false, "merged_with_previous", false)],
        vec![Step::of("WhitespaceSplit", &[]), metaspace("always", true)],
        vec![cut("▁", false, "merged_with_next", true), digits(true)],
        vec![punctuation("merged_with_next"), digits(true)],
        vec![digits(true), punctuation("merged_with_previous")],
        vec![Step::of("UnicodeScripts", &[]), digits(true)],
        vec![digits(true), Step::of("FixedLength", &[("length", Value::Int(2))])],
        vec![cut(r"\s+|a+", true, "isolated", true), cut(r"\w+", true, "removed", false)],
        vec![isolated(r"(?<=a)\s|1"), digits(true)],
        vec![cut(r"(\s)\1", true, "isolated", false), digits(true)],
    ]
}

fn parts(steps: &Pretokenizer, last: &Split, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    steps
        .for_each(vec![Aligned::new(text, 1, false).unwrap()], &mut |part| {
            last.pieces(part.text(), &mut |piece| out.push(piece.to_owned()))
        })
        .unwrap();
    out
}

#[test]
fn halves_have_the_parts_of_the_whole() {
    let mut draw = drawing(7);
    let gpt2 = || Split::new(Some(GPT2), Tables::Onig, true).unwrap();
    let none = || Split::new(None, Tables::Onig, true).unwrap();
    let mut counts = Vec::new();
    for layout in layouts() {
        for last in [none(), gpt2()] {
            let steps = Pretokenizer::new(&layout).unwrap();
            let mut cuts = 0;
            for _ in 0..drawn(3_000, 60_000) {
                let mut text = || (0..=draw(5)).map(|_| CHARS[draw(CHARS.len())]).collect::<String>();
                let (left, right) = (text(), text());
                let (before, after) = (left.chars().next_back().unwrap(), right.chars().next().unwrap());
                if steps.cuts(&last, before, after) {
                    let halves = [parts(&steps, &last, &left), parts(&steps, &last, &right)].concat();
                    let whole = parts(&steps, &last, &format!("{left}{right}"));
                    assert_eq!(whole, halves, "{left:?} | {right:?} by {layout:?}");
                    cuts += 1;
                }
            }
            counts.push(cuts);
        }
    }
    // Of 3,000; by these steps alone, and with GPT-2's pattern behind them.
    let least = |at: usize, many: usize| assert!(counts[at] >= drawn(many, 20 * many), "{counts:?}");
    (0..6).for_each(|at| least(at, 1_000));
    (10..18).for_each(|at| least(at, 300));
    (20..28).for_each(|at| least(at, 150));
}

/// Short texts are cut without their places as they are with them.
#[test]
fn text_is_cut_as_parts_are() {
    let mut draw = drawing(8);
    for layout in layouts() {
        let steps = Pretokenizer::new(&layout).unwrap();
        let last = Split::new(None, Tables::Onig, true).unwrap();
        for _ in 0..drawn(300, 6_000) {
            let text: String = (0..draw(9)).map(|_| CHARS[draw(CHARS.len())]).collect();
            let mut found = Vec::new();
            steps.cut_text(&text, &mut |part| found.push(part.to_owned())).unwrap();
            found.retain(|part| !part.is_empty());
            assert_eq!(found, parts(&steps, &last, &text), "{text:?} by {layout:?}");
        }
    }
}
