//! Strings in lanes beside strings one by one.

use std::sync::Arc;

use super::*;
use crate::{
    alphabet::Unit,
    drawn::drawn,
    encode::short,
    merge::Merges,
    parts::Parts,
    split::{Split, Tables},
    vocab::Vocab,
};

/// Draws numbers below a bound.
fn drawing(mut state: u64) -> impl FnMut(usize) -> usize {
    move |most| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    }
}

/// All bytes, and strings over few letters, which join and overlap in many ways; some of the highest byte.
fn tokens(draw: &mut impl FnMut(usize) -> usize, letters: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    for _ in 0..draw(300) {
        let length = 2 + draw(SHORT + 2);
        let token: Vec<u8> = (0..length).map(|_| 255 - draw(letters) as u8).collect();
        if !all.contains(&token) {
            all.push(token);
        }
    }
    all
}

#[test]
fn sixteen_at_once_are_each_alone() {
    let Some(able) = Able::new() else { return };
    let mut draw = drawing(11);
    let mut merged = 0;
    for round in 0..drawn(100, 300) {
        let letters = 1 + round % 5;
        let tokens = tokens(&mut draw, letters);
        let vocab = Arc::new(Vocab::new((0..).zip(&tokens).map(|(id, token)| (id, &**token))).unwrap());
        let split = Split::new(None, Tables::Tiktoken, true).unwrap();
        let mut parts = Parts::plain(Unit::Byte, split);
        parts.alphabet = (0..256).map(|byte| (&*tokens[byte], byte as u32)).collect();
        let merges = Merges::from_ranks(vocab.clone());
        let pairs = BytePairs::new(&parts, &vocab, &merges).unwrap();
        let strings: Vec<Vec<u8>> = (0..draw(60))
            .map(|_| (0..1 + draw(SHORT)).map(|_| 255 - draw(letters + 1) as u8).collect())
            .collect();
        let keys: Vec<Key> = strings.iter().filter_map(|string| Key::new(string)).collect();
        let mut found = vec![None; strings.len()];
        able.merge(keys.into_iter(), &pairs, vocab.short(), &mut |number, ids| {
            assert_eq!(found[number].replace(ids.to_vec()), None);
        });
        for (string, found) in strings.iter().zip(found) {
            let (ids, count) = short::merge::<16>(&pairs, &merges, string, (0, string.len()));
            merged += string.len() - count;
            assert_eq!(found.as_deref(), Some(&ids[..count]), "{string:?} {tokens:?}");
        }
    }
    assert!(merged > drawn(3_300, 10_000), "{merged}");
}
