//! The steps of Unigram training, by hand.

use super::{words::Symbols, *};

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
    SeedRules { branching, size: 1000, longest: 16, shapes: None }
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
        last_iterations: 0,
        last_size: 0,
        memory: Limit::default(),
    }
}

fn watched<'a>(watch: &'a mut Watch<'a>) -> Rounds<'a, 'a> {
    Rounds { known: None, keep: None, watch }
}

const TEXTS: [(&str, u64); 6] =
    [("abab", 5), ("abcab", 3), ("cab", 9), ("abba", 2), ("banana", 4), ("bandana", 3)];

#[test]
fn threads_change_nothing() {
    for single in [false, true] {
        let run = |threads| {
            let mut words = words(&TEXTS);
            learn(&mut words, &rules(Branching::Ends), &[], &options(threads, single), watched(&mut |_| true))
                .unwrap()
        };
        assert_eq!(run(1), run(7));
        assert!(run(1).iter().any(|(text, _)| text == "cab"));
    }
}

#[test]
fn what_ends_sentences_is_a_seed_where_the_next_ones_begin_otherwise() {
    let seeds = |ends: &[(&str, u32)]| {
        let mut words = words(&[]);
        words.characters = "abcdx".chars().collect();
        let symbols = Symbols::new(&words.characters, 0);
        for (text, end) in ends {
            words.push(text.chars().map(u32::from), 1, *end, &symbols).unwrap();
        }
        words.sort();
        let found = seed::seeds(&words, &rules(Branching::Bytes), 1, Limit::default(), &mut || true).unwrap();
        let found = found.iter().map(|seed| (words.spell(seed.symbols(&words)), seed.score));
        found.collect::<Vec<_>>()
    };
    let (a, x) = (words::last(b'a'), words::last(b'x'));
    let found = [("abc".to_owned(), 9), ("bc".to_owned(), 6)];
    for last in [x, words::LAST] {
        assert_eq!(seeds(&[("abc", a), ("abc", a), ("abc", last), ("xbd", a)]), found);
    }
    assert_eq!(seeds(&[("abc", a), ("xbc", words::LAST)]), [("bc".to_owned(), 4)]);
    // One byte follows, or zero and one byte.
    for end in [a, words::middle(b'a')] {
        assert!(seeds(&[("abc", end), ("abc", end), ("xbd", x)]).is_empty());
    }
    assert_eq!(seeds(&[("ab", words::middle(b'c')), ("abd", a)]), [("ab".to_owned(), 4)]);
}

#[test]
fn sums_of_probabilities_are_those_of_logarithms() {
    let mut words = words(&TEXTS);
    words.sort();
    let model = initial::<false>(
        &words,
        &rules(Branching::Ends),
        &[],
        (&options(1, false), Limit::default()),
        &mut || true,
    );
    let mut model = model.unwrap();
    words.order();
    model.find(&words, 3, &mut || true).unwrap();
    let plain = expect::<false>(&words, &model, &options(1, false), &mut || true).unwrap();
    let single = expect::<true>(&words, &model, &options(1, true), &mut || true).unwrap();
    for (a, b) in plain.iter().zip(&single) {
        assert!((a - b).abs() < 1e-4 * (1.0 + a), "{a} {b}");
    }
}

#[test]
fn it_can_be_stopped() {
    let mut words = words(&TEXTS);
    let many: Vec<_> = (0..2000).map(|n| (format!("w{n}"), 2)).collect();
    let many: Vec<(&str, u64)> = many.iter().map(|(text, count)| (text.as_str(), *count)).collect();
    let found = learn(&mut words, &rules(Branching::Ends), &[], &options(1, false), watched(&mut |_| false));
    assert!(found.is_ok() || found == Err(Error::Interrupted));
    let mut words = self::words(&many);
    let found = learn(&mut words, &rules(Branching::Ends), &[], &options(1, false), watched(&mut |_| false));
    assert_eq!(found, Err(Error::Interrupted));
}
