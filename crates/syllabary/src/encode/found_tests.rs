//! Keys and looks, wide and one by one, on drawn text.

use super::*;
use crate::encode::{
    asked::Name,
    key::{Key, LONGER, Longer},
    memory::{LONG_FAR, Longers, Short},
};

struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % most
    }
}

/// A text and where its pieces end; some are longer than any key.
fn drawn(draw: &mut Draw) -> (Vec<u8>, Vec<usize>) {
    const LETTERS: [&str; 8] = ["a", "b", " ", "é", "ω", "字", "。", "😀"];
    let (mut text, mut ends) = (String::new(), Vec::new());
    let most = [3, 9, 40][draw.below(3)];
    let letters = 1 + draw.below(LETTERS.len());
    for _ in 0..draw.below(MANY + 1) {
        (0..1 + draw.below(most)).for_each(|_| text.push_str(LETTERS[draw.below(letters)]));
        ends.push(text.len());
    }
    // What follows the pieces is of no meaning.
    (0..draw.below(20)).for_each(|_| text.push('z'));
    (text.into_bytes(), ends)
}

/// Remembers some of the pieces, with few ids or many.
fn remember((memory, longer): (&mut Short, &mut Longers), text: &[u8], ends: &[usize], draw: &mut Draw) {
    let mut start = 0;
    for &end in ends {
        let ids: Vec<u32> = (0..1 + draw.below(end - start)).map(|_| draw.below(1000) as u32).collect();
        match name(&text[start..end]) {
            Name::Short(key) if draw.below(3) > 0 => memory.insert_new(key, key.hash() as u32, &ids),
            Name::Long(key) if draw.below(3) > 0 => longer.insert_new(key, key.hash() as u32, &ids),
            _ => {}
        }
        start = end;
    }
}

/// What must be asked of each piece, by definition.
fn name(piece: &[u8]) -> Name {
    match piece {
        [0xE3..=0xFF, ..] => Name::Apart,
        _ if piece.len() > LONGER => Name::None,
        _ => match Key::new(piece) {
            Some(key) => Name::Short(key),
            None => Name::Long(Longer::at(&[piece, &[0; 32]].concat(), 0, piece.len())),
        },
    }
}

/// By definition: ids of what the first look finds.
fn expected((memory, longer): (&Short, &Longers), names: &[Name]) -> (Vec<u32>, Vec<u16>, Vec<Missed>) {
    let (mut ids, mut ends, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    let mut room = [0; LONG_FAR];
    for (at, name) in names.iter().enumerate() {
        let found = match name {
            Name::Short(key) => memory.first(*key),
            Name::Long(key) => {
                let slot = longer.find(*key, key.hash() as u32);
                slot.map(|slot| longer.ids(slot, &mut room))
            }
            _ => None,
        };
        match found {
            Some(found) => ids.extend_from_slice(found),
            None => missed.push(Missed { at: at as u16, filled: ids.len() as u32 }),
        }
        ends.push(ids.len() as u16);
    }
    (ids, ends, missed)
}

#[test]
fn wide_looks_are_those_of_one_string_after_the_other() {
    let mut draw = Draw(1);
    let (mut memory, mut longer) = (Short::default(), Longers::default());
    let (mut hits, mut long, mut misses) = (0, 0, 0);
    for _ in 0..crate::drawn::drawn(1000, 3000) {
        let (text, ends) = drawn(&mut draw);
        remember((&mut memory, &mut longer), &text, &ends, &mut draw);
        let lines = memory.lines();
        let mut asked = Asked::new(MANY);
        let starts: Vec<usize> = [0].into_iter().chain(ends.iter().copied()).take(ends.len()).collect();
        asked.ask::<false>((lines, &longer), &text, (&starts, &ends));
        let names: Vec<Name> =
            starts.iter().zip(&ends).map(|(&start, &end)| name(&text[start..end])).collect();
        let mut alone = Asked::new(MANY);
        alone.size = lines.size();
        for (at, name) in names.iter().enumerate() {
            assert_eq!(asked.name(at), *name);
            alone.one::<false>((lines, &longer), &text, (starts[at], ends[at]), at);
            assert_eq!(alone.name(at), *name);
            assert_eq!(alone.places[at], asked.places[at]);
            assert_eq!(alone.places[at], lines.place(alone.key(at).hash()));
        }
        let ((ids, places, missed), both) = (expected((&memory, &longer), &names), (lines, &longer));
        let mut found = Found::new((0, 0));
        let one_by_one = |asked: &Asked, found: &mut Found| {
            found.clear();
            (0..ends.len()).map(|at| found.one::<true, true>(both, asked, at)).sum()
        };
        for count in [found.look::<true, true>(both, &asked, ends.len()), one_by_one(&alone, &mut found)] {
            assert_eq!(count, ids.len());
        }
        for wide in [true, false] {
            found.clear();
            match wide {
                true => found.look::<true, true>(both, &asked, ends.len()),
                false => one_by_one(&alone, &mut found),
            };
            let mut out = Vec::new();
            found.hand_on(0, found.filled(), &mut out);
            assert_eq!(out, ids);
            let spans: Vec<_> = (0..ends.len()).map(|at| found.span(at)).collect();
            let begins = [0].into_iter().chain(places.iter().copied());
            assert!(
                spans
                    .iter()
                    .copied()
                    .eq(begins.map(usize::from).zip(places.iter().copied().map(usize::from)))
            );
            assert_eq!(found.missed(), missed);
        }
        found.clear();
        assert_eq!(found.look::<false, false>(both, &asked, ends.len()), ids.len());
        let missed_too: Vec<u16> = found.missed().iter().map(|missed| missed.at).collect();
        assert_eq!(missed_too, missed.iter().map(|missed| missed.at).collect::<Vec<_>>());
        let is_missed = |at| missed.iter().any(|missed| usize::from(missed.at) == at);
        long += (0..names.len()).filter(|&at| asked.key(at) == LONG && !is_missed(at)).count();
        hits += names.len() - missed.len();
        misses += missed.len();
    }
    let enough = crate::drawn::drawn(15_000, 50_000);
    assert!(hits > enough && misses > enough && 10 * long > enough, "{hits} {misses} {long}");
}
