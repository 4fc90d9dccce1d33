//! Words of sentences, by hand.

use super::*;
use crate::{step::Value, train::sentence_cutter::cut};

fn sentences(threads: usize, change: impl Fn(&mut SentenceOptions)) -> Sentences {
    let mut options = SentenceOptions {
        symbols: vec!["<s>".to_owned()],
        pretokenization_delimiter: String::new(),
        max_sentence_length: 12,
        split_by_whitespace: true,
        treat_whitespace_as_suffix: false,
        allow_whitespace_only_pieces: false,
        words_apart: true,
        ends: false,
    };
    change(&mut options);
    let flag = |name: &str, on| (name.to_owned(), Value::Bool(on));
    let step = Step {
        kind: "SentencePiece".to_owned(),
        options: [
            ("precompiled_charsmap".to_owned(), Value::Bytes(Vec::new())),
            flag("add_dummy_prefix", true),
            flag(
                "remove_extra_whitespaces",
                !options.allow_whitespace_only_pieces && !options.treat_whitespace_as_suffix,
            ),
            flag("treat_whitespace_as_suffix", options.treat_whitespace_as_suffix),
            flag("escape_whitespaces", true),
        ]
        .into(),
    };
    Sentences::new(&step, options, threads, Room::default()).unwrap()
}

fn words(mut sentences: Sentences) -> Vec<(String, u64)> {
    let found = sentences.finish(&mut || true).unwrap();
    let Words::Memory(found) = found.words else { unreachable!("no memory limit") };
    let mut found: Vec<_> = found.iter().collect();
    found.sort();
    found
}

fn pair(text: &str, count: u64) -> (String, u64) {
    (text.to_owned(), count)
}

#[test]
fn words_begin_with_spaces_or_end_with_them() {
    let mut plain = sentences(2, |_| ());
    plain.feed(&["a b\na<s>c"], &mut || true).unwrap();
    assert_eq!(words(plain), [pair("▁a", 1), pair("▁a\u{1F}c", 1), pair("▁b", 1)]);
    let mut suffix = sentences(1, |options| options.treat_whitespace_as_suffix = true);
    suffix.feed(&["a  b"], &mut || true).unwrap();
    assert_eq!(words(suffix), [pair("a▁", 1), pair("b▁", 1), pair("▁", 1)]);
    let mut together = sentences(1, |options| options.allow_whitespace_only_pieces = true);
    together.feed(&["a  b"], &mut || true).unwrap();
    assert_eq!(words(together), [pair("▁a", 1), pair("▁▁b", 1)]);
}

#[test]
fn parts_are_those_of_the_whole() {
    let text = "ab cd\r\n\nlonger than twelve\nx\u{2585}\nef\n gh";
    let mut whole = sentences(2, |_| ());
    whole.feed(&[text], &mut || true).unwrap();
    let expected = words(whole);
    assert_eq!(expected.len(), 4);
    for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
        let mut parts = sentences(2, |_| ());
        parts.feed_part(&text[..at], false, &mut || true).unwrap();
        parts.feed_part(&text[at..], true, &mut || true).unwrap();
        assert_eq!(words(parts), expected, "{at}");
    }
}

#[test]
fn threads_change_nothing_and_it_can_be_stopped() {
    let text = "one two\n".repeat(200_000);
    let mut many = sentences(2, |_| ());
    many.feed(&[&text], &mut || true).unwrap();
    assert_eq!(words(many), [pair("▁one", 200_000), pair("▁two", 200_000)]);
    let ended = sentences(2, |_| ()).feed(&[&text], &mut || false);
    assert_eq!(ended, Err(Error::Interrupted));
}

#[test]
fn words_are_cut_wherever_spaces_stand() {
    for bits in 0..1_u32 << 18 {
        // Bytes that differ from a space in one bit, or by one, are none.
        let line: Vec<u8> =
            (0..18).map(|at| if bits >> at & 1 == 1 { b' ' } else { b"\xA0!\x1F"[at % 3] }).collect();
        let mut spans = Vec::new();
        cut(&line, 3, &mut spans);
        let words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        assert!(words.eq(spans.iter().map(|(start, end)| &line[start - 3..end - 3])), "{line:?}");
    }
}

#[test]
fn the_sentence_that_comes_last_is_found() {
    let tail = |documents: &[&str]| {
        let mut all = sentences(2, |options| options.ends = true);
        all.feed(documents, &mut || true).unwrap();
        all.finish(&mut || true).unwrap().tail
    };
    assert_eq!(tail(&["a b\nc d", "", "\n"]), "▁d");
    assert_eq!(tail(&["a b", "c d\r\r\n", "longer than twelve", "x\u{2585}"]), "▁d");
    // Sentences from the back fill the places of those that hold nothing.
    assert_eq!(tail(&["a\n  \nb\nc"]), "▁b");
    assert_eq!(tail(&["a", " ", " ", "b", " "]), "▁b");
    assert_eq!(tail(&[" \n \n"]), "");
    let far = "one two\n".repeat(90_000);
    assert_eq!(tail(&[" ", &far, "a", "b"]), "▁a");
    assert_eq!(tail(&[&far, "a", &far[..far.len() - 1], &far, "b"]), "▁b");
    // However far back that is: the line that is the n-th of all.
    let lines: Vec<String> = (0..100_000).map(|at| format!("n {at}\n \n")).collect();
    assert_eq!(tail(&[&lines.concat()]), "▁50000");
    assert_eq!(tail(&lines.iter().map(String::as_str).collect::<Vec<_>>()), "▁50000");
}

#[test]
fn what_goes_on_from_what_was_saved_finds_the_same() {
    let (first, then) = ("to be or\n\n\u{1}\nnot to\n", "be low\n\u{1}\n");
    for suffix in [false, true] {
        let begin =
            || sentences(1, |options| (options.ends, options.treat_whitespace_as_suffix) = (true, suffix));
        let [mut whole, mut begun, mut again] = [begin(), begin(), begin()];
        whole.feed(&[first, then], &mut || true).unwrap();
        begun.feed(&[first], &mut || true).unwrap();
        let mut saved = Vec::new();
        begun
            .save(&mut || true, &mut |counted| {
                saved.push((counted.piece.to_vec(), counted.count));
                Ok(())
            })
            .unwrap();
        saved.iter().for_each(|(piece, count)| again.restore(piece, *count).unwrap());
        again.feed(&[then], &mut || true).unwrap();
        let found = |mut sentences: Sentences| {
            let found = sentences.finish(&mut || true).unwrap();
            let mut characters = found.words.characters(&mut || true).unwrap();
            characters.sort_unstable();
            let order = found.order.map(|order| {
                let mut followed: Vec<_> = order.followed().iter().map(|each| format!("{each:?}")).collect();
                followed.sort_unstable();
                (followed, order.last_words().collect::<Vec<_>>())
            });
            (characters, found.sentences, found.tail, order)
        };
        let whole = found(whole);
        assert_eq!(whole.3.is_some(), suffix);
        assert_eq!(whole, found(again), "{suffix}");
    }
}

#[test]
fn what_was_never_saved_is_an_error() {
    let mut sentences = sentences(1, |options| {
        (options.ends, options.treat_whitespace_as_suffix) = (true, true);
    });
    for text in ["\n\n", "\n\nx", "\n\no1 2", "\n\noi9 97", "\n\nos97"] {
        assert!(sentences.restore(text.as_bytes(), 1).is_err(), "{text:?}");
    }
}
