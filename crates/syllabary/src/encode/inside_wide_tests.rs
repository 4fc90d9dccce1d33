//! Fifteen characters at a time beside one after the other.

use crate::{
    drawn::{all_bytes, drawing, drawn, parts_of},
    encode::{
        cuts::{Cuts, decode},
        inside::{Inside, Stop},
    },
};

const CHARACTERS: [&str; 14] =
    ["a", "\0", "é", "ἀ", "字", "学", "孩", "。", "\u{3000}", "Ꮳ", "\u{FFFF}", "😀", "𠀀", "\u{7FF}"];

/// Where a string is, what it is, and how many ids come before it.
type Told = ((usize, usize), u64, usize);

/// What a call leaves: where it stopped, the ids, and the strings.
fn left(inside: &Inside, stop: Stop) -> (Stop, Vec<u32>, Vec<Told>) {
    let (strings, filled) = inside.mark();
    let mut ids = Vec::new();
    inside.hand_on(0, filled, &mut ids);
    (stop, ids, (0..strings).map(|at| inside.string(at)).collect())
}

#[test]
fn fifteen_at_a_time_are_each_alone() {
    let mut draw = drawing(5);
    let (mut cut, mut strings, mut stopped) = (0, 0, 0);
    for round in 0..drawn(400, 4000) {
        let characters = 3 + draw(CHARACTERS.len() - 2);
        let word = |most: usize, draw: &mut dyn FnMut(usize) -> usize| -> Vec<u8> {
            (0..1 + draw(most)).flat_map(|_| CHARACTERS[draw(characters)].bytes()).collect()
        };
        let mut tokens = all_bytes();
        for _ in 0..draw(8) {
            let token = word(3, &mut draw);
            // Also tokens that begin or end inside a character.
            let mut token = token[draw(3).min(token.len() - 1)..].to_vec();
            token.truncate((token.len() - draw(3).min(token.len() - 1)).max(1));
            if !tokens.contains(&token) {
                tokens.push(token);
            }
        }
        // Some have so many pairs that strings without a cut grow too long.
        let close = if round % 3 == 0 { characters.min(5) } else { 0 };
        for pair in
            (0..close * close).map(|pair| [CHARACTERS[pair / close], CHARACTERS[pair % close]].concat())
        {
            if !tokens.contains(&pair.clone().into_bytes()) {
                tokens.push(pair.into_bytes());
            }
        }
        let (vocab, _) = parts_of(&tokens);
        let cuts = Cuts::new(&vocab);
        let (mut wide, mut narrow) = (Inside::new(&cuts), Inside::new(&cuts));
        narrow.without_wide();
        for (number, character) in CHARACTERS.iter().enumerate().filter(|_| round % 4 > 0) {
            let ids: Vec<u32> = (0..1 + number as u32 % 4).map(|id| id + 1000 * number as u32).collect();
            for inside in [&mut wide, &mut narrow] {
                inside.characters.insert(decode(character.as_bytes(), 0).0, &ids, None);
            }
        }
        let pieces: Vec<Vec<u8>> = (0..1 + draw([12, 12, 12, 90][round % 4]))
            .map(|_| word([2, 9, 60][draw(3)], &mut draw))
            .collect();
        let before = draw(2) * 5;
        let mut ends = Vec::new();
        let mut text = vec![b'x'; before];
        for piece in &pieces {
            text.extend_from_slice(piece);
            ends.push(text.len());
        }
        // What stands behind the pieces, if anything, does not count.
        text.extend_from_slice([&b""[..], b"\xFF", b"\xFFabc", &"字".repeat(30).into_bytes()][draw(4)]);
        let first = if draw(3) > 0 { before } else { before + decode(&text, before).1 };
        let at = if first < ends[0] { first } else { before };
        let found = [&mut wide, &mut narrow].map(|inside| {
            let stop = inside.cut(&cuts, &text, (before, before, at), &ends);
            left(inside, stop)
        });
        assert_eq!(found[0], found[1], "{tokens:?} {pieces:?} {at}");
        cut += found[0].1.len();
        strings += found[0].2.len();
        stopped += usize::from(found[0].0 != Stop::Done);
    }
    assert!(cut > 5_000 && strings > 5_000 && stopped > 20, "{cut} {strings} {stopped}");
}

/// Where room ends, cutting does, and goes on with the next character.
#[test]
fn room_ends_anywhere() {
    let (vocab, _) = parts_of(&all_bytes());
    let cuts = Cuts::new(&vocab);
    let letters: Vec<&str> = CHARACTERS.into_iter().filter(|letter| letter.len() < 4).collect();
    let mut draw = drawing(9);
    let mut full = 0;
    for round in 0..drawn(40, 400) {
        let text: Vec<&str> = (0..1000 + draw(3000)).map(|_| letters[draw(letters.len())]).collect();
        let ids_of = |letter: &str| {
            let first = 10 * letter.bytes().map(u32::from).sum::<u32>();
            (first..first + 1 + (first / 10 + round as u32) % 3).collect::<Vec<u32>>()
        };
        let expected: Vec<u32> = text.iter().flat_map(|letter| ids_of(letter)).collect();
        let text = text.concat();
        for is_wide in [true, false] {
            let mut inside = Inside::new(&cuts);
            if !is_wide {
                inside.without_wide();
            }
            for letter in &letters {
                inside.characters.insert(decode(letter.as_bytes(), 0).0, &ids_of(letter), None);
            }
            let (mut from, mut found) = (0, Vec::new());
            loop {
                inside.clear();
                let stop = inside.cut(&cuts, text.as_bytes(), (0, from, from), &[text.len()]);
                inside.hand_on(0, inside.mark().1, &mut found);
                match stop {
                    Stop::Full { from: rest, .. } => from = rest,
                    stop => break assert_eq!(stop, Stop::Done),
                }
                full += 1;
            }
            // U+FFFF is never known: it is a string.
            let known = expected.iter().copied().filter(|id| !ids_of("\u{FFFF}").contains(id));
            assert!(found.into_iter().eq(known), "{is_wide} {text}");
        }
    }
    assert!(full > drawn(40, 400), "{full}");
}
