//! Pieces that begin as characters, beside the same as bytes.

use super::*;
use crate::{
    drawn::{all_bytes, drawing, drawn, listed, parts_of},
    dropout::Dropout,
    encode::{
        asked::{Asked, UNSPACED},
        inside::Inside,
        key::{LONGER, SHORT},
        memory::LONG_FAR,
        short::merge,
    },
    split::{Split, Tables},
    tokenizer::{SpecialPolicy, Tokenizer, Work},
};

const CHARACTERS: [&str; 10] =
    ["a", "b", "\u{e9}", "\u{3c9}", "\u{3c4}", "\u{1f78}", "\u{1f79}", "\u{5b57}", "\u{5b66}", "\u{1f600}"];

/// Some of the first characters.
fn word(draw: &mut impl FnMut(usize) -> usize, letters: usize, most: usize) -> Vec<u8> {
    (0..1 + draw(most)).flat_map(|_| CHARACTERS[draw(letters)].bytes()).collect()
}

/// All bytes and words, if asked for also such as begin or end inside a character.
fn tokens(draw: &mut impl FnMut(usize) -> usize, letters: usize, with_parts: bool) -> Vec<Vec<u8>> {
    let mut tokens = all_bytes();
    for _ in 0..draw(400) {
        let token = word(draw, letters, 4);
        let from = draw(3).min(token.len() - 1);
        let to = token.len().saturating_sub(draw(3)).max(from + 1);
        for token in [&token[..], &token[if with_parts { from..to } else { 0..token.len() }]] {
            if !tokens.iter().any(|other| other == token) {
                tokens.push(token.to_vec());
            }
        }
    }
    tokens
}

/// The ids of a piece that is remembered.
fn remembered((short, longer): (&Short, &Longers), name: Name) -> Option<Vec<u32>> {
    match name {
        Name::Short(key) => short.find(key, key.hash() as u32).map(|slot| short.ids(slot).to_vec()),
        Name::Long(key) => {
            let slot = longer.find(key, key.hash() as u32)?;
            Some(longer.ids(slot, &mut [0; LONG_FAR]).to_vec())
        }
        _ => None,
    }
}

#[test]
fn pieces_that_are_learned_are_what_their_bytes_become() {
    let mut draw = drawing(31);
    let (mut learned, mut pushed_out, mut whole, mut shorter, mut as_characters) = (0, 0, 0, 0, 0);
    for round in 0..drawn(200, 3000) {
        let letters = 1 + draw(CHARACTERS.len());
        let mut tokens = tokens(&mut draw, letters, round % 2 == 0);
        let pieces: Vec<Vec<u8>> = (0..draw(200)).map(|_| word(&mut draw, letters, 16)).collect();
        let one = pieces.first().filter(|&piece| !tokens.contains(piece)).cloned();
        tokens.extend(one);
        let mut list = listed(&mut draw, &tokens);
        if round % 4 < 2 {
            list.sort_by_key(|&(_, _, id)| tokens[id as usize].len());
        }
        let merges = Merges::from_list(&list).unwrap();
        let (vocab, mut parts) = parts_of(&tokens);
        (parts.merges, parts.whole_pieces) = (Some(list), round % 5 == 0);
        #[cfg_attr(not(simd_x86), expect(unused_mut))]
        let mut fast = Fast::new(&parts, &vocab, &merges).unwrap();
        #[cfg(simd_x86)]
        if round % 3 == 0 {
            fast.lanes.take();
        }
        let text = pieces.concat();
        let edges: Vec<usize> = (0..=pieces.len()).map(|count| pieces[..count].concat().len()).collect();
        let (starts, ends) = (&edges[..pieces.len()], &edges[1..]);
        let (mut short, mut longer) = (Short::default(), Longers::default());
        let (mut asked, mut found) = (Asked::new(200), Found::new((0, 0)));
        asked.ask::<false>((short.lines(), &longer), &text, (starts, ends));
        found.look::<true, false>((short.lines(), &longer), &asked, pieces.len());
        let new = New { text: &text, starts, ends, asked: &asked };
        let mut inside = Inside::new(&fast.cuts);
        let known = (&fast, &*vocab, &merges);
        Spelled::default().learn(known, (&mut short, &mut longer), &mut inside.characters, (&new, &found));
        for (at, piece) in pieces.iter().enumerate() {
            let Some(found) = remembered((&short, &longer), asked.name(at)) else {
                pushed_out += usize::from((SHORT + 1..=LONGER).contains(&piece.len()) && piece[0] < UNSPACED);
                continue;
            };
            let (ids, count) = merge::<64>(&fast.bytes, &merges, piece, (0, piece.len()));
            let expected = match vocab.id(piece).filter(|_| parts.whole_pieces) {
                Some(id) => vec![id],
                None => ids[..count].to_vec(),
            };
            assert_eq!(found, expected, "{piece:?} {:?}", parts.merges);
            shorter += usize::from(piece.len() <= SHORT);
            (learned, whole) = (learned + 1, whole + usize::from(expected.len() == 1));
            let (known, place) =
                ((&fast, &*vocab, &merges, fast.late.as_ref().unwrap()), (&**piece, (0, piece.len())));
            let begun = symbols_of(known, &mut inside.characters, place, &mut [0; PLACES + WIDTH]);
            as_characters += usize::from(begun < piece.len());
        }
    }
    assert!(learned > drawn(3500, 69_000) && pushed_out < learned / 50, "{learned} {pushed_out}");
    assert!(shorter > drawn(500, 9000), "{shorter}");
    assert!(whole > drawn(8, 150) && as_characters > drawn(900, 15_000), "{whole} {as_characters}");
}

/// Words, characters alone among them, as are scripts without spaces.
fn text(draw: &mut impl FnMut(usize) -> usize, letters: usize) -> String {
    let words = (0..40 + draw(300)).map(|_| {
        let most = [1, 1, 4, 12][draw(4)];
        (0..1 + draw(most)).map(|_| CHARACTERS[draw(letters)]).collect::<String>()
    });
    words.collect::<Vec<String>>().join([" ", "\n"][draw(2)])
}

/// What is learned of one text is of use for the next.
#[test]
fn texts_have_the_ids_of_the_general_way() {
    let mut draw = drawing(37);
    for round in 0..drawn(80, 1500) {
        let letters = 1 + draw(CHARACTERS.len());
        let tokens = tokens(&mut draw, letters, round % 2 == 0);
        let mut list = listed(&mut draw, &tokens);
        if round % 4 < 2 {
            list.sort_by_key(|&(_, _, id)| tokens[id as usize].len());
        }
        // Some characters are tokens that nothing merges into.
        list.retain(|_| draw(8) > 0);
        let made = || {
            let (vocab, mut parts) = parts_of(&tokens);
            parts.split = Split::new(Some(r" ?\p{L}+|\s+|[^\s\p{L}]"), Tables::Tiktoken, true).unwrap();
            (parts.vocab, parts.whole_pieces) = (Some(vocab), round % 3 > 0);
            parts.merges = Some(list.clone());
            Tokenizer::new(parts).unwrap()
        };
        let (fast, mut slow, mut work) = (made(), made(), Work::default());
        slow.fast = None;
        for _ in 0..3 {
            let text = text(&mut draw, letters);
            let [found, expected] = [(&fast, &mut work), (&slow, &mut Work::default())].map(|(tok, work)| {
                let mut ids = Vec::new();
                tok.encode(&text, SpecialPolicy::Text, Dropout::NONE.coins(0), work, &mut ids).unwrap();
                ids
            });
            assert_eq!(found, expected, "{text:?} {tokens:?} {list:?}");
        }
    }
}
