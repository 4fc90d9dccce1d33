//! The cases in `testdata/`, written by the specification, on the engine without Python.
//!
//! `testdata/README.md` says what the files hold. A file or a kind without cases fails its test.

#![allow(clippy::unwrap_used, clippy::panic)] // A case that cannot be read fails its test.

use std::{collections::HashMap, ops::Range, path::Path};

use serde_json::{Map, Value};
use syllabary::{
    Error,
    alphabet::{Spelling, Unit},
    dropout::Dropout,
    split::{Split, Tables},
    tokenizer::{Parts, SpecialPolicy, Tokenizer, Work, to_characters},
    train::{Learned, Merging, Room, TieBreak, TrainOptions, count::Counter},
};

type Record = Map<String, Value>;

/// A file of cases, in which nothing is empty.
fn read(name: &str) -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    let Value::Object(record) = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() else {
        panic!("{name} is no object");
    };
    assert!(!record.is_empty(), "{name} holds nothing");
    record
}

/// The members of a list that must have some.
fn list(value: &Value) -> &[Value] {
    let items = value.as_array().unwrap();
    assert!(!items.is_empty(), "no case");
    items
}

fn number<T: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value) -> T {
    T::try_from(value.as_u64().unwrap()).unwrap()
}

fn numbers<T: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value) -> Vec<T> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn optional<T: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value) -> Option<T> {
    (!value.is_null()).then(|| number(value))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(text).collect()
}

/// Bytes, of which each is written as one character.
fn bytes(value: &Value) -> Vec<u8> {
    text(value).chars().map(|char| u8::try_from(u32::from(char)).unwrap()).collect()
}

fn spans(value: &Value) -> Vec<Range<usize>> {
    value.as_array().unwrap().iter().map(|span| number(&span[0])..number(&span[1])).collect()
}

fn flag(value: &Value) -> bool {
    value.as_bool().unwrap()
}

fn unit(value: &Value) -> Unit {
    match text(value) {
        "byte" => Unit::Byte,
        "char" => Unit::Char,
        "word" => Unit::Word,
        other => panic!("no unit {other}"),
    }
}

fn split(record: &Value) -> Split {
    let tables = match text(&record["tables"]) {
        "tiktoken" => Tables::Tiktoken,
        "onig" => Tables::Onig,
        other => panic!("no tables {other}"),
    };
    Split::new(record["pattern"].as_str(), tables, flag(&record["keep_unmatched"])).unwrap()
}

fn ids_of(value: &Value) -> Vec<(String, u32)> {
    value.as_object().unwrap().iter().map(|(text, id)| (text.clone(), number(id))).collect()
}

fn tokenizer(record: &Value, splits: &Record) -> Tokenizer {
    let tokens: Vec<(u32, Vec<u8>)> =
        list(&record["tokens"]).iter().map(|token| (number(&token[0]), bytes(&token[1]))).collect();
    let by_id: HashMap<u32, &[u8]> = tokens.iter().map(|(id, token)| (*id, token.as_slice())).collect();
    let merges = record["merges"].as_array();
    let unit = unit(&record["unit"]);
    Tokenizer::new(Parts {
        spelling: Spelling {
            end_of_word: record["end_of_word"].as_str(),
            fallback: flag(&record["fallback"]),
            ..Spelling::plain(unit)
        },
        tokens: tokens.iter().map(|(id, token)| (*id, token.as_slice())).collect(),
        alphabet: numbers(&record["alphabet"]).into_iter().map(|id| (by_id[&id], id)).collect(),
        merges: merges
            .map(|list| list.iter().map(|m| (number(&m[0]), number(&m[1]), number(&m[2]))).collect()),
        special: ids_of(&record["special_tokens"]),
        added: ids_of(&record["added_tokens"]),
        whole_pieces: flag(&record["whole_pieces"]),
        ..Parts::plain(unit, split(&splits[text(&record["split"])]))
    })
    .unwrap()
}

/// Runs `check(tokenizer, its record, case, where)` on every case of a file.
fn each_case(name: &str, check: impl Fn(&Tokenizer, &Value, &Value, &str)) {
    let (splits, records) = (read("splits.json"), read("tokenizers.json"));
    for (key, cases) in read(name) {
        let tokenizer = tokenizer(&records[&key], &splits);
        for (number, case) in list(&cases).iter().enumerate() {
            check(&tokenizer, &records[&key], case, &format!("{name}, {key} {number}: {case}"));
        }
    }
}

#[test]
fn splits() {
    for (name, record) in read("splits.json") {
        let split = split(&record);
        for case in list(&record["cases"]) {
            let mut pieces = Vec::new();
            split.pieces(text(&case["text"]), &mut |piece| pieces.push(piece)).unwrap();
            assert_eq!(pieces, texts(&case["pieces"]), "{name}: {case}");
        }
    }
}

fn train_options(record: &Value, tie_break: TieBreak) -> TrainOptions {
    let specials = record["special_tokens"].as_array().unwrap().len();
    TrainOptions {
        max_tokens: optional(&record["vocab_size"]).map_or(usize::MAX, |size: usize| size - specials),
        max_merges: optional(&record["num_merges"]).unwrap_or(usize::MAX),
        min_frequency: number(&record["min_frequency"]),
        max_token_length: optional(&record["max_token_length"]),
        tie_break,
        gpt2_byte_order: text(&record["byte_order"]) == "gpt2",
        seen_bytes_only: text(&record["alphabet"]) == "seen",
        end_of_word: record["end_of_word"].as_str().map(str::to_owned),
        fallback: flag(&record["fallback"]),
        threads: 2,
        memory: None,
    }
}

#[test]
fn training() {
    let splits = read("splits.json");
    for (name, record) in read("training.json") {
        let options = &record["options"];
        let cut = if flag(&options["cut_special"]) { texts(&options["special_tokens"]) } else { Vec::new() };
        let cut: Vec<String> = cut.into_iter().map(str::to_owned).collect();
        let alphabet: Vec<Vec<u8>> = list(&record["alphabet"]).iter().map(bytes).collect();
        let rules = [
            ("smallest-ids", TieBreak::SmallestIds),
            ("first-seen", TieBreak::FirstSeen),
            ("largest-pair", TieBreak::LargestPair),
        ];
        for (rule, tie_break) in rules {
            let split = split(&splits[text(&options["split"])]);
            let mut counter = Counter::new(unit(&options["unit"]), split, &cut, 2, Room::default()).unwrap();
            counter.feed(&texts(&record["documents"]), &mut || true).unwrap();
            let options = train_options(options, tie_break);
            let mut merging = Merging::new(counter, &options, None, &mut || true).unwrap();
            let mut merges = Vec::new();
            let mut note = |learned: &Learned| {
                merges.push(vec![learned.pair.0.into(), learned.pair.1.into(), learned.count]);
                true
            };
            merging.step(&mut note, &mut || true).unwrap();
            assert!(merging.done());
            let expected = record["merges"][rule].as_array().unwrap();
            let expected: Vec<Vec<u64>> = expected.iter().map(numbers).collect();
            let known: Vec<Vec<u8>> = merging.known().iter().map(|token| token.to_vec()).collect();
            assert_eq!(known, alphabet, "{name}");
            assert_eq!(merges, expected, "{name}, {rule}");
        }
    }
}

/// The kind of an error and the character of `text` that it names.
fn kind_and_place(error: &Error, text: &str) -> (&'static str, usize) {
    match *error {
        Error::UnknownSymbol { offset, .. } => ("UnknownSymbolError", text[..offset].chars().count()),
        Error::SpecialFound { offset, .. } => ("SpecialTokenError", text[..offset].chars().count()),
        _ => panic!("another error: {error}"),
    }
}

fn check_encoding(tokenizer: &Tokenizer, record: &Value, case: &Value, place: &str) {
    let special = &record["special_tokens"];
    let allowed: Vec<u32> = case["special"]
        .as_array()
        .map_or_else(Vec::new, |names| names.iter().map(|name| number(&special[text(name)])).collect());
    let policy = match case["special"].as_str() {
        Some("raise") => SpecialPolicy::Raise,
        Some("allow") => SpecialPolicy::Allow,
        Some("text") => SpecialPolicy::Text,
        Some(other) => panic!("no policy {other}"),
        None => SpecialPolicy::Only(&allowed),
    };
    let (sample, work) = (text(&case["text"]), &mut Work::default());
    let mut ids = Vec::new();
    let outcome = tokenizer.encode(sample, policy, Dropout::NONE.coins(0), work, &mut ids);
    if let Some(kind) = case.get("error") {
        let wanted = (text(kind), number(&case["character"]));
        assert_eq!(kind_and_place(&outcome.unwrap_err(), sample), wanted, "{place}");
        return;
    }
    outcome.unwrap();
    assert_eq!(ids, numbers::<u32>(&case["ids"]), "{place}");
    assert_eq!(tokenizer.count(sample, policy, work), Ok(ids.len()), "{place}");
    let mut offsets = tokenizer.offsets(sample, policy, work).unwrap();
    assert_eq!(offsets, spans(&case["bytes"]), "{place}");
    to_characters(sample, &mut offsets);
    assert_eq!(offsets, spans(&case["chars"]), "{place}");
}

#[test]
fn encoding() {
    each_case("encoding.json", check_encoding);
}

#[test]
fn special_tokens() {
    each_case("special.json", check_encoding);
}

#[test]
fn decoding() {
    each_case("decoding.json", |tokenizer, _, case, place| {
        let (ids, mut out) = (numbers::<u32>(&case["ids"]), Vec::new());
        let outcome = tokenizer.decoder().decode(&ids, &mut out);
        if case.get("error").is_some() {
            let index: usize = number(&case["index"]);
            assert_eq!(outcome, Err(Error::UnknownId { id: i64::from(ids[index]), index }), "{place}");
            return;
        }
        assert_eq!(outcome, Ok(()), "{place}");
        assert_eq!(out, bytes(&case["bytes"]), "{place}");
        assert_eq!(String::from_utf8_lossy(&out), text(&case["text"]), "{place}");
    });
}
