//! Windows give what all at once gives, on drawn tokens, lists and strings.

use super::*;
use crate::{
    drawn::{all_bytes, drawing, drawn, parts_of},
    merge::{Merges, Scratch},
    parts::Parts,
    vocab::Vocab,
};

/// A string of few letters in runs and repetitions.
fn string(draw: &mut impl FnMut(usize) -> usize, letters: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    let length = 1 + draw(600);
    while out.len() < length {
        match draw(12) {
            0 => out.extend(std::iter::repeat_n(b'a' + draw(letters) as u8, draw(30))),
            1 => out.extend_from_within(draw(out.len() + 1)..),
            _ => out.push(b'a' + draw(letters) as u8),
        }
    }
    out
}

/// How many strings windows could do, without and with the widest vectors, and how many windows merged ahead fitted.
#[derive(Debug, Default)]
struct Done {
    narrow: usize,
    wide: usize,
    fitted: usize,
}

/// Compares with all at once; strings of less than `FEWEST` bytes are merged window by window, the others ahead too.
fn compare(parts: &Parts<'_>, vocab: &Vocab, merges: &Merges, text: &[u8], done: &mut Done) {
    #[cfg_attr(not(simd_x86), expect(unused_mut))]
    let mut fast = Fast::new(parts, vocab, merges).unwrap();
    #[cfg(simd_x86)]
    let able = fast.lanes.take();
    let mut expected: Vec<u32> = text.iter().map(|&byte| u32::from(byte)).collect();
    merges.apply(&mut expected, None, &mut Scratch::default()).unwrap();
    let mut windows = Windows::default();
    for wide in [false, true] {
        #[cfg(simd_x86)]
        if wide {
            fast.lanes = able;
        }
        let known = (&fast, vocab, merges);
        let mut ids = Vec::new();
        let merged = windows.merge(known, text, (0, text.len()), (&mut ids, &Ask::default())).unwrap();
        assert!(!merged || ids == expected, "{ids:?} for {expected:?} of {text:?} by {merges:?}");
        *(if wide { &mut done.wide } else { &mut done.narrow }) += usize::from(merged);
        done.fitted += windows.ahead.fitted();
    }
}

/// Whether both ways did at least as many, and windows ahead were of use.
fn many(done: &Done, strings: usize, fitted: usize) -> bool {
    done.narrow > strings && done.wide > strings && done.fitted >= fitted
}

#[test]
fn tokens_by_their_ranks() {
    let mut draw = drawing(5);
    let mut done = Done::default();
    for round in 0..drawn(60, 3000) {
        let letters = 1 + round % 5;
        let mut tokens = all_bytes();
        for _ in 0..draw(200) {
            // Of two that are there, mostly: so that they are reached.
            let mut pick =
                || tokens[if draw(3) == 0 { draw(tokens.len()) } else { 97 + draw(letters) }].clone();
            let token = [pick(), pick()].concat();
            if !tokens.contains(&token) && token.len() < 100 {
                tokens.push(token);
            }
        }
        let (vocab, parts) = parts_of(&tokens);
        let merges = Merges::from_ranks(vocab.clone());
        for _ in 0..6 {
            compare(&parts, &vocab, &merges, &string(&mut draw, letters), &mut done);
        }
    }
    assert!(many(&done, drawn(240, 12_000), drawn(5_000, 250_000)), "{done:?}");
}

#[test]
fn lists_as_trainers_make_them_and_others() {
    let mut draw = drawing(6);
    let mut done = Done::default();
    for round in 0..drawn(60, 3000) {
        let letters = 1 + round % 4;
        let mut tokens = all_bytes();
        let mut list: Vec<(u32, u32, u32)> = Vec::new();
        for _ in 0..draw(60) {
            let mut pick = || if draw(2) == 0 { 97 + draw(letters) } else { draw(tokens.len() - 255) + 255 };
            let (left, right) = (pick(), pick());
            let token = [&*tokens[left], &*tokens[right]].concat();
            // In order, or with the ranks of parts above those of what they make.
            let at = if round % 3 == 0 { draw(list.len() + 1) } else { list.len() };
            if token.len() < 100 && !tokens.contains(&token) {
                list.insert(at, (left as u32, right as u32, tokens.len() as u32));
                tokens.push(token);
            }
        }
        let (vocab, mut parts) = parts_of(&tokens);
        parts.merges = Some(list.clone());
        let merges = Merges::from_list(&list).unwrap();
        for _ in 0..6 {
            compare(&parts, &vocab, &merges, &string(&mut draw, letters), &mut done);
        }
    }
    assert!(many(&done, drawn(240, 12_000), drawn(5_000, 250_000)), "{done:?}");
}

/// Where windows meet at a joint, the token before it is that of the first alone: the next must not fit there again.
#[test]
fn tokens_of_several_words() {
    let mut tokens = all_bytes();
    let list = vec![
        (100, 98, 256),  // db
        (256, 95, 257),  // db_
        (100, 102, 258), // df
        (258, 100, 259), // dfd
        (259, 95, 260),  // dfd_
        (101, 98, 261),  // eb
        (261, 101, 262), // ebe
        (262, 100, 263), // ebed
        (263, 95, 264),  // ebed_
        (98, 101, 265),  // be
        (265, 102, 266), // bef
        (266, 95, 267),  // bef_
        (267, 260, 268), // bef_dfd_
        (260, 268, 269), // dfd_bef_dfd_
        (264, 264, 270), // ebed_ebed_
        (264, 260, 271), // ebed_dfd_
    ];
    for &(left, right, _) in &list {
        tokens.push([&*tokens[left as usize], &*tokens[right as usize]].concat());
    }
    let text = b"dbed_bef_dfd_db_ebed_ebed_ebed_dfd_dbed_dbed_bef_ebed_dbed_db_dbed_dfd_dfd_db_dfd_db_ebed_dbed_ebed_db_dbed_\
        ebed_ebed_dbed_dbed_";
    let (vocab, mut parts) = parts_of(&tokens);
    parts.merges = Some(list.clone());
    let merges = Merges::from_list(&list).unwrap();
    let mut done = Done::default();
    compare(&parts, &vocab, &merges, text, &mut done);
    assert_eq!((done.narrow, done.wide), (1, 1));
}

#[test]
fn what_does_not_fit_is_left_to_others() {
    // Tokens of 2, 4, 8 … bytes: no window has one of 128.
    let mut tokens = all_bytes();
    tokens.extend((1..8).map(|power| vec![b' '; 1 << power]));
    let (vocab, parts) = parts_of(&tokens);
    let merges = Merges::from_ranks(vocab.clone());
    let mut done = Done::default();
    compare(&parts, &vocab, &merges, &[b' '; 1000], &mut done);
    assert_eq!((done.narrow, done.wide), (0, 0));
    compare(&parts, &vocab, &merges, &[b'x'; 1000], &mut done);
    assert_eq!((done.narrow, done.wide), (1, 1));
}

#[test]
fn it_is_asked_on_the_way() {
    let tokens = all_bytes();
    let (vocab, parts) = parts_of(&tokens);
    let merges = Merges::from_ranks(vocab.clone());
    let fast = Fast::new(&parts, &vocab, &merges).unwrap();
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = asked.clone();
    let ask = Ask::new(move || count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 3);
    let mut ids = Vec::new();
    let done =
        Windows::default().merge((&fast, &vocab, &merges), &[b'x'; 10_000], (0, 10_000), (&mut ids, &ask));
    assert!(matches!(done, Err(Error::Interrupted)), "{done:?}");
    assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 4);
    assert!(ids.len() < 1_000, "{}", ids.len());
}
