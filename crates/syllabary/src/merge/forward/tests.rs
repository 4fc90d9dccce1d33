//! Left to right gives what the heap gives, on drawn tables and sequences.

use super::{super::heap, *};
use crate::{
    drawn::{drawn, random},
    vocab::Vocab,
};
use std::sync::Arc;

/// Compares with the heap on `ids`; whether it could merge them.
fn same(merges: &Merges, forward: &Forward, ids: &[u32]) -> bool {
    let (mut expected, mut starts) = (ids.to_vec(), Vec::new());
    heap::apply(merges, &mut expected, Some(&mut starts), &mut heap::Scratch::default(), &mut ()).unwrap();
    let (mut found, mut places) = (ids.to_vec(), Vec::new());
    if forward.apply(merges, &mut found, Some(&mut places), &mut Scratch::default()).is_none() {
        assert_eq!(found, ids);
        return false;
    }
    assert_eq!(found, expected, "{ids:?} by {merges:?}");
    assert_eq!(places, starts);
    true
}

/// A sequence of few symbols in runs and repetitions.
fn sequence(state: &mut u64, symbols: u64, longest: u64) -> Vec<u32> {
    let mut ids: Vec<u32> = Vec::new();
    let length = random(state, longest) as usize;
    while ids.len() < length {
        let symbol = random(state, symbols);
        match random(state, 4) {
            0 => ids.extend(std::iter::repeat_n(symbol, random(state, 12) as usize)),
            1 => ids.extend_from_within(random(state, ids.len() as u64 + 1) as usize..),
            _ => ids.push(symbol),
        }
    }
    ids
}

#[test]
fn lists_as_trainers_make_them() {
    let mut state = 0x9E37_79B9_7F4A_7C15;
    let (mut tables, mut rows) = (0, 0);
    for round in 0..3000 {
        let symbols = 1 + u64::from(random(&mut state, 4));
        let mut list: Vec<(u32, u32, u32)> = Vec::new();
        for new in 0..random(&mut state, 24) {
            let bound = symbols + u64::from(new);
            list.push((random(&mut state, bound), random(&mut state, bound), bound as u32));
        }
        let merges = Merges::from_list(&list).unwrap();
        let Some(forward) = Forward::new(&merges) else { continue };
        tables += 1;
        for _ in 0..8 {
            // Now and then with the first result among the symbols.
            let ids = sequence(&mut state, symbols + u64::from(round % 4 == 0), 120);
            rows += u32::from(same(&merges, &forward, &ids));
        }
    }
    assert!(tables > 2000 && rows > 10_000, "{tables} {rows}");
}

#[test]
fn hostile_lists() {
    let mut state = 0x1234_5678_9ABC_DEF1;
    let mut rows = 0;
    for round in 0..6000 {
        let symbols = 2 + u64::from(random(&mut state, 3));
        let pairs = (0..random(&mut state, 16)).map(|rank| {
            let pair = (random(&mut state, symbols + 8), random(&mut state, symbols + 8));
            let id = random(&mut state, symbols + 12);
            let rank = if round % 2 == 0 { random(&mut state, 4) } else { rank };
            (pair, super::super::Merge { rank, id })
        });
        let merges = Merges::from_pairs(pairs.collect());
        let Some(forward) = Forward::new(&merges) else { continue };
        for _ in 0..4 {
            let ids = sequence(&mut state, symbols + 2, 60);
            rows += u32::from(same(&merges, &forward, &ids));
        }
    }
    assert!(rows > 500, "{rows}");
}

/// Tokens of sentencepiece's kind: all ways to cut one merge, and ranks are shared by equal scores.
#[test]
fn scored_tokens() {
    let mut state = 0xFACE_FEED_0000_0001;
    let (mut tables, mut rows) = (0, 0);
    for round in 0..drawn(800, 4000) as u32 {
        let symbols = 1 + u64::from(random(&mut state, 3));
        let mut tokens: Vec<Vec<u32>> = (0..symbols as u32).map(|symbol| vec![symbol]).collect();
        for _ in 0..random(&mut state, 16) {
            let [a, b] = [0; 2].map(|_| tokens[random(&mut state, tokens.len() as u64) as usize].clone());
            let token = [a, b].concat();
            if token.len() < 24 && !tokens.contains(&token) {
                tokens.push(token);
            }
        }
        let mut pairs = Vec::new();
        for (id, token) in tokens.iter().enumerate() {
            for cut in 1..token.len() {
                let part = |part: &[u32]| tokens.iter().position(|other| other == part);
                if let (Some(left), Some(right)) = (part(&token[..cut]), part(&token[cut..])) {
                    let rank = if round % 2 == 0 { id as u32 / 4 } else { id as u32 / 16 };
                    let merge = super::super::Merge { rank, id: id as u32 };
                    pairs.push(((left as u32, right as u32), merge));
                }
            }
        }
        let merges = Merges::from_pairs(pairs);
        let Some(forward) = Forward::new(&merges) else { continue };
        tables += 1;
        for _ in 0..8 {
            let ids = sequence(&mut state, symbols, 150);
            rows += usize::from(same(&merges, &forward, &ids));
        }
    }
    assert!(tables > drawn(300, 1500) && rows > drawn(2_000, 10_000), "{tables} {rows}");
}

/// Ranked vocabularies, whose tokens may be made in several ways or not at all.
#[test]
fn ranked_tokens() {
    let mut state = 0xC0FF_EE00_1234_5679;
    let (mut tables, mut rows) = (0, 0);
    for round in 0..drawn(800, 4000) {
        let letters = 1 + u64::from(random(&mut state, 3));
        let mut tokens: Vec<Vec<u8>> = (0..letters).map(|letter| vec![letter as u8]).collect();
        for _ in 0..random(&mut state, 30) {
            let (a, b) = (random(&mut state, tokens.len() as u64), random(&mut state, tokens.len() as u64));
            let mut token = [tokens[a as usize].clone(), tokens[b as usize].clone()].concat();
            if round % 3 == 0 && random(&mut state, 4) == 0 {
                token.push(random(&mut state, letters) as u8);
            }
            if token.len() < 40 && !tokens.contains(&token) {
                tokens.push(token);
            }
        }
        let vocab = Vocab::new(tokens.iter().zip(0..).map(|(token, id)| (id, token.as_slice()))).unwrap();
        let merges = Merges::from_ranks(Arc::new(vocab));
        let Some(forward) = Forward::new(&merges) else { continue };
        tables += 1;
        for _ in 0..8 {
            let ids = sequence(&mut state, letters, 150);
            rows += usize::from(same(&merges, &forward, &ids));
        }
    }
    assert!(tables > drawn(300, 1500) && rows > drawn(2_000, 10_000), "{tables} {rows}");
}
