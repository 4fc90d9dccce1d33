//! Strings in lanes beside strings one by one.

use super::*;
use crate::{
    drawn::{all_bytes, drawing, drawn, parts_of},
    encode::short,
    merge::Merges,
};

/// All bytes, and strings over few letters, which join and overlap in many ways; some of the highest byte.
fn tokens(draw: &mut impl FnMut(usize) -> usize, letters: usize) -> Vec<Vec<u8>> {
    let mut all = all_bytes();
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
        let (vocab, parts) = parts_of(&tokens);
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
