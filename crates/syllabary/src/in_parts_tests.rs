//! Text in parts beside the whole of it: ids, counts, batches, errors. Parts are of 64 characters here.

use std::ops::Range;

use super::*;
use crate::{
    asking::Ask,
    batch,
    drawn::{all_bytes, drawing, drawn, parts_of},
    dropout::Dropout,
    split::{Split, Tables},
    utf8,
};

/// Characters of four bytes each, as Python has them.
struct Wide(Vec<u32>);

impl Text for Wide {
    fn size(&self) -> usize {
        4 * self.0.len()
    }

    fn read<'t>(&'t self, buffer: &'t mut Buffer) -> Result<&'t str, Error> {
        self.read_some(0..self.0.len(), buffer)
    }

    fn characters(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn read_some<'t>(&'t self, some: Range<usize>, buffer: &'t mut Buffer) -> Result<&'t str, Error> {
        utf8::write(&self.0[some], buffer).map_err(|character| Error::Surrogate { character })
    }

    fn place(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }
}

const LETTERS: [&str; 12] = ["a", "b", "é", "ω", "字", " ", "  ", "\n", "1", ".", "<s>", "<a b>"];

/// GPT-2's, and others that are cut elsewhere or nowhere.
const PATTERNS: [&str; 4] = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    r" ?\p{L}+|[^\p{L}]",
    r"\s+|\S+",
    r"(?s).{1,7}",
];

fn text(draw: &mut impl FnMut(usize) -> usize) -> String {
    let (length, letters) = (draw(900), 1 + draw(LETTERS.len()));
    // Few kinds of characters leave few places to cut, or none.
    (0..length).map(|_| LETTERS[draw(letters)]).collect()
}

fn made(draw: &mut impl FnMut(usize) -> usize) -> Tokenizer {
    let mut tokens = all_bytes();
    for _ in 0..60 {
        let word: Vec<u8> = text(draw).bytes().skip(draw(100)).take(2 + draw(6)).collect();
        if !word.is_empty() && !tokens.contains(&word) {
            tokens.push(word);
        }
    }
    let (vocab, mut parts) = parts_of(&tokens);
    parts.split = Split::new(Some(PATTERNS[draw(4)]), Tables::Tiktoken, true).unwrap();
    parts.vocab = Some(vocab);
    let named = |text: &str, number| (text.to_owned(), number);
    (parts.special, parts.added) = match draw(4) {
        0 => (vec![], vec![]),
        1 => (vec![named("<s>", 5_000)], vec![]),
        2 => (vec![named("<s>", 5_000)], vec![named("<a b>", 5_001), named("  ", 5_002)]),
        _ => (vec![named("ωω", 5_000)], vec![named("é", 5_001), named(".\n", 5_002)]),
    };
    Tokenizer::new(parts).unwrap()
}

#[test]
fn parts_have_the_ids_of_the_whole() {
    let mut draw = drawing(11);
    let (mut cut, mut whole, mut failed) = (0, 0, 0);
    for _ in 0..drawn(16, 1_000) {
        let tokenizer = made(&mut draw);
        let texts: Vec<String> = (0..6).map(|_| text(&mut draw)).collect();
        let wide: Vec<Wide> = texts.iter().map(|text| Wide(text.chars().map(u32::from).collect())).collect();
        for policy in
            [SpecialPolicy::Raise, SpecialPolicy::Allow, SpecialPolicy::Text, SpecialPolicy::Only(&[5_001])]
        {
            for (text, wide) in texts.iter().zip(&wide) {
                let (mut buffer, mut ids, mut expected) = (Buffer::default(), vec![7], vec![7]);
                let (mut work, coins) = (Work::default(), || Dropout::NONE.coins(0));
                let done = tokenizer.encode_text((wide, policy), coins(), (&mut work, &mut buffer), &mut ids);
                let right = tokenizer.encode(text, policy, coins(), &mut Work::default(), &mut expected);
                assert_eq!(done, right);
                assert!(done.is_err() || ids == expected, "{text:?}");
                let count = tokenizer.count_text((wide, policy), (&mut work, &mut buffer));
                assert_eq!(count, right.map(|()| expected.len() - 1));
                failed += usize::from(done.is_err());
                match tokenizer.by_parts(wide, policy) {
                    Some(_) => cut += 1,
                    None => whole += 1,
                }
            }
            let none = (Dropout::NONE, 0);
            let made = batch::encode(&tokenizer, &wide, policy, none, (1, &Ask::default()));
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            assert_eq!(made, batch::encode(&tokenizer, &texts, policy, none, (1, &Ask::default())));
        }
    }
    assert!(cut > drawn(250, 15_000) && whole > 5 && failed > 20, "{cut} {whole} {failed}");
}

#[test]
fn what_is_no_character_is_named_by_its_place_in_the_whole() {
    let mut draw = drawing(3);
    let tokenizer = made(&mut draw);
    let mut wide = Wide("ab ω\n".chars().cycle().take(1000).map(u32::from).collect());
    wide.0[777] = 0xD800;
    let mut ids = vec![];
    let coins = Dropout::NONE.coins(0);
    let (mut work, mut buffer) = Default::default();
    let done = tokenizer.encode_text((&wide, SpecialPolicy::Text), coins, (&mut work, &mut buffer), &mut ids);
    assert_eq!((done, ids.len()), (Err(Error::Surrogate { character: 777 }), 0));
}
