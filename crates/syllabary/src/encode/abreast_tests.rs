//! Strings side by side, and in lanes of vectors where the processor has them, beside strings one by one.

use super::*;
use crate::{
    drawn::{all_bytes, drawing, drawn, listed, parts_of},
    dropout::Dropout,
    encode::short,
    merge::Merges,
    parts::Parts,
    split::{Split, Tables},
    tokenizer::{SpecialPolicy, Tokenizer, Work},
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

/// The ways to merge many at once: with AVX2 if the processor has it, without anything, with AVX-512.
#[derive(Clone, Copy, Debug)]
enum Way {
    Narrow,
    Portable,
    #[cfg(simd_x86)]
    Wide(crate::encode::lanes::Able),
}

impl Way {
    fn all() -> Vec<Way> {
        #[cfg(simd_x86)]
        let wide = crate::encode::lanes::Able::new().map(Way::Wide);
        #[cfg(not(simd_x86))]
        let wide = None;
        [Way::Narrow, Way::Portable].into_iter().chain(wide).collect()
    }

    fn merge(
        self,
        strings: impl ExactSizeIterator<Item = Key>,
        rules: Rules<'_>,
        done: &mut impl FnMut(usize, &[u32], u32),
    ) {
        match self {
            Way::Narrow => merge(strings, rules, done),
            Way::Portable => run(strings, rules, done),
            #[cfg(simd_x86)]
            Way::Wide(lanes) => lanes.merge(strings, rules, done),
        }
    }
}

/// Strings one way and one by one; says how many symbols were merged.
fn compare(way: Way, (parts, vocab, merges): (&Parts<'_>, &Vocab, &Merges), strings: &[Vec<u8>]) -> usize {
    let pairs = BytePairs::new(parts, vocab, merges).unwrap();
    let keys: Vec<Key> = strings.iter().filter_map(|string| Key::new(string)).collect();
    let (mut found, mut merged) = (vec![None; strings.len()], 0);
    way.merge(keys.into_iter(), Rules::of(&pairs, vocab, merges), &mut |number, ids, begins| {
        assert_eq!(found[number].replace((ids.to_vec(), u64::from(begins))), None);
    });
    for (string, found) in strings.iter().zip(found) {
        let (ids, begins) = short::merge_with_places::<16>(&pairs, merges, string, (0, string.len()));
        let count = begins.count_ones() as usize;
        merged += string.len() - count;
        assert_eq!(found, Some((ids[..count].to_vec(), begins)), "{string:?} {:?}", parts.merges);
    }
    merged
}

#[test]
fn many_at_once_are_each_alone() {
    for way in Way::all() {
        are_each_alone(way);
    }
}

fn are_each_alone(way: Way) {
    let mut draw = drawing(11);
    let mut merged = [0; 2];
    for round in 0..drawn(100, 300) {
        let letters = 1 + round % 5;
        let tokens = tokens(&mut draw, letters);
        let (vocab, mut parts) = parts_of(&tokens);
        let strings: Vec<Vec<u8>> = (0..draw(60))
            .map(|_| (0..1 + draw(SHORT)).map(|_| 255 - draw(letters + 1) as u8).collect())
            .collect();
        merged[0] += compare(way, (&parts, &vocab, &Merges::from_ranks(vocab.clone())), &strings);
        let list = listed(&mut draw, &tokens);
        let merges = Merges::from_list(&list).unwrap();
        parts.merges = Some(list);
        merged[1] += compare(way, (&parts, &vocab, &merges), &strings);
    }
    let [by_rank, listed] = merged;
    assert!(by_rank > drawn(3_300, 10_000) && listed > drawn(2_000, 6_000), "{merged:?}");
}

/// Words of few letters, some of them of two bytes, that come again or not.
fn text(draw: &mut impl FnMut(usize) -> usize) -> String {
    const LETTERS: [char; 6] = ['a', 'b', 'c', 'd', 'é', 'ω'];
    let letters = 2 + draw(LETTERS.len() - 1);
    let words = (0..200 + draw(1500)).map(|_| (0..1 + draw(18)).map(|_| LETTERS[draw(letters)]).collect());
    words.collect::<Vec<String>>().join(" ")
}

#[test]
fn whole_texts_are_the_same_with_lanes_and_without_and_one_by_one() {
    let mut draw = drawing(7);
    for round in 0..drawn(12, 300) {
        let mut tokens = all_bytes();
        for _ in 0..200 {
            let word: Vec<u8> = text(&mut draw).bytes().skip(draw(100)).take(2 + draw(6)).collect();
            if !tokens.contains(&word) {
                tokens.push(word);
            }
        }
        let made = || {
            let (vocab, mut parts) = parts_of(&tokens);
            parts.split = Split::new(Some(r" ?\p{L}+|\s+"), Tables::Tiktoken, true).unwrap();
            (parts.vocab, parts.whole_pieces) = (Some(vocab), round % 2 == 0);
            Tokenizer::new(parts).unwrap()
        };
        #[cfg_attr(not(simd_x86), expect(unused_mut))]
        let (wide, mut narrow, mut slow) = (made(), made(), made());
        slow.fast = None;
        #[cfg(simd_x86)]
        narrow.fast.as_mut().unwrap().lanes.take();
        for _ in 0..3 {
            let text = text(&mut draw);
            let [wide, narrow, slow] = [&wide, &narrow, &slow].map(|tokenizer| {
                let mut ids = Vec::new();
                let coins = Dropout::NONE.coins(0);
                tokenizer.encode(&text, SpecialPolicy::Text, coins, &mut Work::default(), &mut ids).unwrap();
                ids
            });
            assert_eq!(wide, slow);
            assert_eq!(narrow, slow);
        }
    }
}
