//! The fast ways through the lattice against the plain one, which pushes every token that begins at a place.

use super::{BRIEF, Brief, FEW, NONE, Unigram, lattice::Ways};
use crate::{
    alphabet::Unit,
    asking::Ask,
    drawn::drawn,
    models::{Kind, Model},
    parts::Parts,
    split::{Split, Tables},
    tokenizer::Tokenizer,
};

/// Numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn text(&mut self, letters: &[char], most: usize) -> String {
        (0..1 + self.below(most)).map(|_| letters[self.below(letters.len())]).collect()
    }
}

/// Of these texts and scores; of 32 bits or of 64.
fn unigram(texts: &[(String, f64)], single: bool, check: impl FnOnce(&Unigram)) {
    let mut parts = Parts::plain(Unit::Char, Split::new(None, Tables::Tiktoken, true).unwrap());
    parts.tokens = (0..).zip(texts.iter().map(|(text, _)| text.as_bytes())).collect();
    parts.scores = Some((0..).zip(texts.iter().map(|(_, score)| *score)).collect());
    parts.special = vec![("<unk>".to_owned(), texts.len() as u32)];
    parts.spelling.unknown = Some(texts.len() as u32);
    parts.single_precision = single;
    parts.model = Kind::Unigram;
    let tokenizer = Tokenizer::new(parts).unwrap();
    match &tokenizer.model {
        Some(Model::Unigram(unigram)) => check(unigram),
        _ => panic!("another model"),
    }
}

fn texts(draw: &mut Draw, letters: &[char]) -> Vec<(String, f64)> {
    let mut texts: Vec<String> = (0..60).map(|_| draw.text(letters, 5)).collect();
    texts.extend(["ab".repeat(20), "abcdefg".to_owned(), "gabcdefg".to_owned()]);
    texts.sort();
    texts.dedup();
    // Of few scores, so that ways are often equal.
    let score = |draw: &mut Draw, text: &str| -(text.chars().count() as f64) - 0.5 * draw.below(3) as f64;
    texts.into_iter().map(|text| (text.clone(), score(draw, &text))).collect()
}

fn agree(unigram: &Unigram, codes: &[u32], from: f64) {
    let (mut left, mut right, ask) = (Vec::new(), Vec::new(), Ask::default());
    let automaton = unigram.automaton.as_ref().unwrap();
    let mut ids = [0; FEW];
    let few = unigram.cut_few(&codes[..codes.len().min(FEW)], from, &mut ids);
    let few = few.map(|(ids, score)| (ids.iter().rev().copied().collect::<Vec<u32>>(), score));
    macro_rules! both {
        ($sum:ty) => {
            let mut ways = Ways::<$sum>::default();
            let pushed = ways.push::<true>(unigram, (codes, &ask), from, &mut left);
            assert_eq!(ways.pull::<true>(automaton, (codes, &ask), from, &mut right), pushed);
            assert_eq!(left, right);
            assert_eq!(ways.pull::<false>(automaton, (codes, &ask), from, &mut right).0, pushed.0);
            assert_eq!(left, right);
            let pushed = ways.push::<false>(unigram, (&codes[..codes.len().min(FEW)], &ask), from, &mut left);
            let path: Vec<u32> = left.iter().map(|edge| edge.id).collect();
            let expected = (!path.contains(&NONE)).then_some((path, pushed.0));
            assert_eq!(few, expected);
        };
    }
    if unigram.is_single() {
        both!(f32);
    } else {
        both!(f64);
    }
}

/// What few characters become by the arrays of one size, and by pushing.
fn brief_agrees(unigram: &Unigram, codes: &[u32], brief: &mut Brief) {
    let codes = &codes[..codes.len().min(BRIEF - 1)];
    brief.count = codes.len();
    brief.codes.iter_mut().zip(codes).for_each(|(place, &code)| *place = code as u16);
    let mut path = Vec::new();
    let (score, margin) =
        Ways::<f32>::default().push::<true>(unigram, (codes, &Ask::default()), 0.0, &mut path);
    let ids: Vec<u32> = path.iter().map(|edge| edge.id).collect();
    let expected = (unigram.is_single() && !ids.contains(&NONE)).then_some((score as f32, margin as f32));
    assert_eq!(unigram.solve_brief(brief), expected);
    if expected.is_some() {
        assert_eq!((brief.ids(), brief.len()), (&ids[..], ids.len()));
        let first = ids.len().min(brief.copied().len());
        assert_eq!(brief.copied()[..first], ids[..first]);
    }
}

#[test]
fn all_ways_are_the_same() {
    let letters: Vec<char> = "abcdefgé漢字😀".chars().collect();
    let others: Vec<char> = "aabbcdefgé漢漢字😀xж".chars().collect();
    let (mut draw, mut brief) = (Draw(5), Brief::default());
    for round in 0..drawn(40, 400) {
        let texts = texts(&mut draw, &letters);
        unigram(&texts, round % 2 == 0, |unigram| {
            for _ in 0..100 {
                let text = draw.text(if round % 3 == 0 { &letters } else { &others }, 30);
                let codes: Vec<u32> = text.chars().map(|char| unigram.trie.code(char)).collect();
                let from = [0.0, -0.25, -7001.3, -90_000.1][draw.below(4)];
                brief_agrees(unigram, &codes, &mut brief);
                agree(unigram, &codes, if unigram.is_single() { f64::from(from as f32) } else { from });
            }
        });
    }
}

#[test]
fn without_an_automaton_where_texts_are_long() {
    let texts = |length| [("a".to_owned(), -1.0), ("a".repeat(length), -2.0)];
    unigram(&texts(255), true, |unigram| assert!(unigram.automaton.is_some()));
    unigram(&texts(256), true, |unigram| {
        assert!(unigram.automaton.is_none());
        let mut lattice = super::Lattice::default();
        unigram.read(&"a".repeat(300), |char| char, &mut lattice);
        unigram.solve::<false>(0.0, &mut lattice);
        assert_eq!((lattice.path.len(), lattice.score), (45, -46.0));
    });
}
