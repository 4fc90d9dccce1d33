//! The steps of Unigram training, by hand.

use super::*;

fn words(texts: &[(&str, u64)]) -> Words {
    let mut characters: Vec<char> = texts.iter().flat_map(|(text, _)| text.chars()).collect();
    characters.sort_unstable();
    characters.dedup();
    let symbols = Symbols::new(&characters, 0);
    let mut words = Words::new(characters);
    for (text, count) in texts {
        words.push(text.chars().map(u32::from), *count, words::LAST, &symbols).unwrap();
    }
    words
}

fn rules(branching: Branching) -> SeedRules {
    SeedRules { branching, size: 1000, longest: 16, shapes: None, tail: Vec::new() }
}

fn options(threads: usize, single: bool) -> UnigramOptions {
    UnigramOptions {
        desired: 12,
        sub_iterations: 2,
        shrinking_factor: 0.75,
        lanes: 4,
        threads,
        single,
        settle: true,
        unknown: Unknown::Nothing,
        all_grow: false,
        logarithms: false,
    }
}

const TEXTS: [(&str, u64); 6] =
    [("abab", 5), ("abcab", 3), ("cab", 9), ("abba", 2), ("banana", 4), ("bandana", 3)];

#[test]
fn threads_change_nothing() {
    for single in [false, true] {
        let run = |threads| {
            let mut words = words(&TEXTS);
            learn(&mut words, &rules(Branching::Ends), &[], &options(threads, single), &mut |_| true).unwrap()
        };
        assert_eq!(run(1), run(7));
        assert!(run(1).iter().any(|(text, _)| text == "cab"));
    }
}

#[test]
fn what_ends_the_last_sentence_is_a_seed_where_it_ends_sentences_twice() {
    let seeds = |tail: &str| {
        let mut words = words(&[("abc", 3), ("xbd", 1)]);
        words.sort();
        let symbols = Symbols::new(&words.characters, 0);
        let tail = tail.chars().map(|character| symbols.of(character.into())).collect();
        let rules = SeedRules { tail, ..rules(Branching::Bytes) };
        let found = seed::seeds(&words, &rules, 1, &mut || true).unwrap();
        let found = found.iter().map(|seed| (words.spell(seed.symbols(&words)), seed.score));
        found.collect::<Vec<_>>()
    };
    // One distinct word holds them: no other continues them in another way.
    assert_eq!(seeds("abc"), [("abc".to_owned(), 9), ("bc".to_owned(), 6)]);
    assert_eq!(seeds("xbc"), [("bc".to_owned(), 6)]);
    assert!(seeds("xbd").is_empty());
}

#[test]
fn sums_of_probabilities_are_those_of_logarithms() {
    let mut words = words(&TEXTS);
    words.sort();
    let model = initial::<false>(&words, &rules(Branching::Ends), &[], &options(1, false), &mut || true);
    let model = model.unwrap();
    words.order();
    let plain = expect::<false>(&words, &model, &options(1, false), &Lanes::new(), &mut || true).unwrap();
    let single = expect::<true>(&words, &model, &options(1, true), &Lanes::new(), &mut || true).unwrap();
    for (a, b) in plain.iter().zip(&single) {
        assert!((a - b).abs() < 1e-4 * (1.0 + a), "{a} {b}");
    }
}

#[test]
fn it_can_be_stopped() {
    let mut words = words(&TEXTS);
    let many: Vec<_> = (0..2000).map(|n| (format!("w{n}"), 2)).collect();
    let many: Vec<(&str, u64)> = many.iter().map(|(text, count)| (text.as_str(), *count)).collect();
    let found = learn(&mut words, &rules(Branching::Ends), &[], &options(1, false), &mut |_| false);
    assert!(found.is_ok() || found == Err(Error::Interrupted));
    let mut words = self::words(&many);
    let found = learn(&mut words, &rules(Branching::Ends), &[], &options(1, false), &mut |_| false);
    assert_eq!(found, Err(Error::Interrupted));
}
