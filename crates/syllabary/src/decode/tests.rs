//! Decoding beside the bytes of the tokens, joined, and what the standard library makes of them.

use std::mem::MaybeUninit;

use super::*;
use crate::{characters::Unit, drawn::drawn, places};

/// Numbers that look like chance.
struct Chance(u32);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % bound
    }
}

/// Tokens of every length around those that a slot and a measure hold.
fn decoder() -> (Decoder, Vec<Vec<u8>>) {
    let lengths = [0, 1, 2, 7, 14, 15, 16, 17, 31, 62, 63, 64, 253, 254, 255, 256, 70_000];
    let tokens: Vec<Vec<u8>> =
        lengths.iter().map(|&length| vec![b'a' + (length % 26) as u8; length]).collect();
    (decoder_of(&tokens), tokens)
}

/// Token `k` has the id 3 k + 1: there are gaps below, between and above.
fn decoder_of(tokens: &[Vec<u8>]) -> Decoder {
    let vocab =
        Vocab::new(tokens.iter().enumerate().map(|(at, token)| (3 * at as u32 + 1, &token[..]))).unwrap();
    Decoder::new(&vocab, &[], &Spelling::plain(Symbol::Byte)).unwrap()
}

/// What is written into so much room.
fn written(begun: &Begun<'_>, room: usize) -> Vec<u8> {
    let mut out = vec![MaybeUninit::new(b'?'); room];
    let filled = begun.write(&mut out);
    // SAFETY: all of them are set.
    unsafe { places::written(&out[..filled]) }.to_vec()
}

#[test]
fn tokens_of_every_length_in_every_order() {
    let (decoder, tokens) = decoder();
    let (mut chance, mut buffer) = (Chance(7), Vec::new());
    for round in 0..drawn(200, 600) {
        let most = tokens.len() - usize::from(round % 7 != 0);
        let count = chance.below([20, 90, 600][round % 3]);
        let places: Vec<usize> = (0..count).map(|_| chance.below(most)).collect();
        let ids: Vec<u32> = places.iter().map(|&at| 3 * at as u32 + 1).collect();
        let wanted: Vec<u8> = places.iter().flat_map(|&at| tokens[at].clone()).collect();
        let begun = decoder.begin(&ids, &mut buffer).unwrap();
        assert_eq!(begun.bytes(), wanted.len());
        // Tokens that are longer than slots may not fit in.
        assert!(begun.whole().map_or(!ids.is_empty(), |whole| whole == wanted));
        let size = Size { bytes: wanted.len(), characters: wanted.len(), width: Width::Ascii };
        assert_eq!(begun.size(), size);
        let mut out = b"before".to_vec();
        decoder.decode(&ids, &mut out).unwrap();
        assert_eq!(out, [b"before", &wanted[..]].concat());
        // Too little room: as much as there is, and nothing beyond.
        for room in [0, 1, wanted.len() / 2, wanted.len().saturating_sub(1), wanted.len() + 20] {
            assert_eq!(written(&begun, room), wanted[..room.min(wanted.len())]);
        }
    }
}

#[test]
fn ids_without_a_token() {
    let (decoder, tokens) = decoder();
    assert_eq!(decoder.bytes(0), None);
    assert_eq!(decoder.bytes(1), Some(&b""[..]));
    let long = 3 * (tokens.len() as u32 - 1) + 1;
    for wrong in [0, 2, decoder.id_bound() as u32, 1 << 28, u32::MAX] {
        for before in (0..40).chain([5000, 5003]) {
            for start in [4, long] {
                let ids = [vec![start], vec![4; before], vec![wrong], vec![4; 20]].concat();
                let error = Error::UnknownId { id: i64::from(wrong), index: before + 1 };
                let mut buffer = Vec::new();
                assert_eq!(decoder.begin(&ids, &mut buffer).map(|_| ()), Err(error));
            }
        }
    }
}

/// Their text as units, if it can be written so into this room.
fn units<T: Unit>(begun: &Begun<'_>, room: usize) -> Option<Vec<T>> {
    let mut out = vec![MaybeUninit::<T>::uninit(); room];
    // SAFETY: where it says so, all are written.
    begun.write_text(&mut out).then(|| unsafe { places::written(&out) }.to_vec())
}

/// What the ids are as text of each width, beside what the standard library makes of their bytes.
fn compare(decoder: &Decoder, ids: &[u32], bytes: &[u8]) {
    let mut buffer = Vec::new();
    let begun = decoder.begin(ids, &mut buffer).unwrap();
    let size = begun.size();
    let codes = std::str::from_utf8(bytes).ok().map(|text| text.chars().map(u32::from).collect::<Vec<_>>());
    assert_eq!(units(&begun, size.characters), codes);
    assert_eq!((size.bytes, written(&begun, size.bytes)), (bytes.len(), bytes.to_vec()));
    assert_eq!(begun.write_ascii(&mut vec![MaybeUninit::uninit(); size.bytes]), bytes.is_ascii());
    let Some(codes) = codes else { return };
    assert_eq!(units::<u32>(&begun, codes.len() + 1), None);
    let widest = codes.iter().copied().max().unwrap_or(0);
    let width = [(0x80, Width::Ascii), (0x100, Width::One), (0x1_0000, Width::Two)];
    let width = width.iter().find(|(bound, _)| widest < *bound).map_or(Width::Four, |&(_, width)| width);
    assert_eq!((size.characters, size.width), (codes.len(), width));
    assert_eq!(units::<u16>(&begun, codes.len()), codes.iter().map(|&code| code.try_into().ok()).collect());
    assert_eq!(units::<u8>(&begun, codes.len()), codes.iter().map(|&code| code.try_into().ok()).collect());
}

/// Characters of all widths, cut into tokens anywhere; some bytes are changed, so that they are no UTF-8.
#[test]
fn text_of_every_width() {
    let kinds = [
        &["a", "b", "yz", "0"][..],
        &["a", "\u{E9}"],
        &["b", "\u{7FF}", "\u{FFFD}", "\u{E000}"],
        &["\u{10FFFF}", "\u{800}", "c", "\u{80}"],
        &["\u{4E2D}", "\u{6587}"],
    ];
    let mut chance = Chance(5);
    for round in 0..drawn(240, 600) {
        let kind = kinds[round % kinds.len()];
        let most = [10, 100, 1000, 9000][round / 5 % 4];
        let mut bytes: Vec<u8> =
            (0..chance.below(most)).flat_map(|_| kind[chance.below(kind.len())].bytes()).collect();
        if round % 3 == 0 && !bytes.is_empty() {
            let at = chance.below(bytes.len());
            bytes[at] = chance.below(256) as u8;
        }
        let longest = [1, 2, 5, 20, 40_000][round % 5];
        let mut tokens: Vec<Vec<u8>> = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (token, after) = rest.split_at(1 + chance.below(longest.min(rest.len())));
            tokens.push(token.to_vec());
            rest = after;
        }
        let mut distinct = tokens.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let id = |token: &Vec<u8>| 3 * distinct.binary_search(token).unwrap() as u32 + 1;
        compare(&decoder_of(&distinct), &tokens.iter().map(id).collect::<Vec<_>>(), &bytes);
    }
}
