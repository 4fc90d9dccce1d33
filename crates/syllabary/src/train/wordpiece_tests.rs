//! Tests of WordPiece by likelihood: what merges first, and the same within a limit of memory.

use super::{
    super::{huggingface_learn::of_others, huggingface_names::tests::of},
    *,
};

#[test]
fn products_of_192_bits() {
    assert_eq!(times(u64::MAX, u128::MAX), ((u128::from(u64::MAX) << 64) - 1, 1));
    assert!(times(3, 1 << 127) > times(2, (1 << 127) + 5));
    assert_eq!(times(6, 7), (0, 42));
}

#[test]
fn what_stands_together_merges_before_what_is_frequent() {
    let options = BpeTrainerOptions {
        vocab_size: 9, // letters: a, b, c, q, z, and ##b, ##c, ##z
        continuing_subword_prefix: "##".to_owned(),
        ..BpeTrainerOptions::default()
    };
    let words: [(&[u8], u64); 3] = [(b"ab", 50), (b"ac", 40), (b"qz", 3)];
    let learn = |known, progress: &mut Progress<'_>| learn(&of(&words), &options, None, &known, progress);
    let trained = learn(Known::default(), &mut |_, _| true).unwrap();
    assert_eq!(trained.names[trained.first..], ["qz"]);
    assert_eq!(trained.counts, [3]);
    assert_eq!(learn(Known::default(), &mut |_, _| false), Err(Error::Interrupted));
    let pair = (trained.merges[0].0, trained.merges[0].1);
    assert_eq!(learn((vec![pair], vec![3]), &mut |_, _| true), Ok(trained));
    assert_eq!(learn((vec![pair], vec![4]), &mut |_, _| true), Err(of_others()));
    assert_eq!(learn((vec![(8, 9)], vec![3]), &mut |_, _| true), Err(of_others()));
}

/// Words of letters that some follow more often than others; the same each time.
fn drawn(count: usize) -> Vec<(Vec<u8>, u64)> {
    let mut state = 7_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let word = |number: usize| {
        let letters = (0..3 + draw(5)).map(|_| b'a' + (draw(12) * draw(3)) as u8).collect();
        (letters, 1 + (number % 5) as u64)
    };
    (0..count).map(word).collect()
}

#[test]
fn within_a_limit_the_same_is_learned() {
    let words = drawn(20_000);
    let words: Vec<(&[u8], u64)> = words.iter().map(|(word, count)| (&word[..], *count)).collect();
    let options = BpeTrainerOptions {
        vocab_size: 900,
        min_frequency: 3,
        continuing_subword_prefix: "##".to_owned(),
        ..BpeTrainerOptions::default()
    };
    let learn = |memory, known| super::learn(&of(&words), &options, memory, &known, &mut |_, _| true);
    let whole = learn(None, Known::default()).unwrap();
    assert!(whole.merges.len() > 300);
    let pairs: Vec<_> = whole.merges.iter().map(|&(left, right, _)| (left, right)).collect();
    let known = |done: usize| (pairs[..done].to_vec(), whole.counts[..done].to_vec());
    // Less and less: most places are forgotten time and again, until it does not do.
    let mut fits = 0;
    for memory in (5..40).rev().map(|tenths| Some(tenths << 17)) {
        match learn(memory, Known::default()) {
            Ok(trained) => assert_eq!(trained, whole),
            Err(error) => {
                assert!(matches!(error, Error::Training(_)));
                break;
            }
        }
        fits += 1;
        for done in [1, 100, pairs.len()].into_iter().filter(|_| fits % 4 == 1) {
            assert_eq!(learn(memory, known(done)).as_ref(), Ok(&whole));
        }
    }
    assert!(0 < fits && fits < 35, "{fits}");
    assert_eq!(learn(None, known(100)).as_ref(), Ok(&whole));
}
