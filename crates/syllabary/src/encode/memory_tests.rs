//! The memory of short and longer strings.

use super::*;
use crate::{drawn::drawn, encode::key::inner};

impl Short {
    /// The ids of a string that is in the line where one would look first.
    pub(in crate::encode) fn first(&self, key: Key) -> Option<&[u32]> {
        let line = &self.lines[key.hash() as usize & (self.lines.len() - 1)].0;
        let slot = line.iter().find(|slot| slot.holds(key) && !slot.is_empty())?;
        Some(self.ids(slot))
    }
}

fn longer(number: u64) -> Longer {
    let text = format!("a longer one {number:06}");
    Longer::at(text.as_bytes(), 0, text.len())
}

fn key(number: u64) -> Key {
    Key::new(format!("k{number}").as_bytes()).unwrap()
}

fn ids_of(number: u64) -> Vec<u32> {
    (0..1 + number % 16).map(|at| (number * 10 + at) as u32).collect()
}

/// A memory may forget, but what it gives is right, and what went in last is there.
#[test]
fn it_forgets_and_never_errs() {
    forgets(Short::default(), key, |memory, slot| memory.ids(slot).to_vec());
    forgets(Longers::default(), longer, |memory, slot| memory.ids(slot, &mut [0; LONG_FAR]).to_vec());
}

fn forgets<K: Name, const WAYS: usize>(
    mut memory: Memory<K, WAYS>,
    name: impl Fn(u64) -> K,
    ids: impl Fn(&Memory<K, WAYS>, &Slot<K>) -> Vec<u32>,
) {
    let named = |number| (name(number), name(number).hash() as u32);
    for number in 0..600_000 {
        let (key, hash) = named(number);
        assert!(memory.find(key, hash).is_none());
        memory.insert(key, hash, &ids_of(number));
        for known in [number, number / 2] {
            let (key, hash) = named(known);
            let Some(slot) = memory.find(key, hash) else {
                assert_ne!(known, number);
                continue;
            };
            assert_eq!(ids(&memory, slot), ids_of(known));
        }
    }
    assert_eq!(memory.lines.len(), K::LINES);
    assert!(memory.far.len() <= K::MOST_FAR + K::FAR);
}

#[test]
fn the_first_place_gives_the_same_ids() {
    let mut memory = Short::default();
    for number in 0..5000 {
        memory.insert(key(number), key(number).hash() as u32, &ids_of(number));
    }
    let mut found = 0;
    for number in 0..6000 {
        let (key, hash) = (key(number), key(number).hash() as u32);
        let lines = memory.lines();
        let place = lines.place(u64::from(hash));
        let (count, first, ids) = lines.any(key, place);
        assert_eq!(lines.count(key, place), count);
        if count == 0 {
            continue;
        }
        let ids = if count <= FEW { &first[..] } else { &ids[..] };
        assert!(number < 5000);
        assert_eq!(ids[..count], ids_of(number));
        found += 1;
    }
    assert!(found > 4000, "{found}");
}

#[test]
fn a_string_inside_a_piece_is_another() {
    let mut memory = Short::default();
    let whole = Key::new(b"\xCE\xB1").unwrap();
    let inside = inner(whole);
    memory.insert(whole, whole.hash() as u32, &[1]);
    memory.insert(inside, inside.hash() as u32, &[2, 3]);
    assert_eq!(memory.find(whole, whole.hash() as u32).unwrap().few(), Some((1, &[1, 0, 0, 0])));
    assert_eq!(memory.find(inside, inside.hash() as u32).unwrap().few(), Some((2, &[2, 3, 0, 0])));
    let keys: Vec<Key> = [b"a".as_slice(), b"a\x01", b"\x01"].into_iter().filter_map(Key::new).collect();
    let all: Vec<Key> = keys.iter().copied().chain(keys.iter().map(|key| inner(*key))).collect();
    all.iter().enumerate().for_each(|(at, key)| assert!(!all[..at].contains(key)));
}

#[test]
fn what_lies_elsewhere_settles_at_home() {
    let mut memory = Short::default();
    let all: Vec<Key> = (0..60_000).map(key).collect();
    for (number, key) in (0..).zip(&all) {
        memory.insert(*key, key.hash() as u32, &ids_of(number));
    }
    let there: Vec<bool> = all.iter().map(|key| memory.find(*key, key.hash() as u32).is_some()).collect();
    let mut moved = 0;
    for (number, key) in (0..).zip(&all) {
        let was_first = memory.first(*key).is_some();
        assert_eq!(memory.settle(*key, key.hash() as u32), there[number as usize]);
        if let Some(ids) = memory.first(*key) {
            assert_eq!(ids, ids_of(number));
            moved += usize::from(!was_first);
        }
    }
    assert!(moved > 1000, "{moved}");
    // None was lost on the way.
    for ((number, key), is_there) in (0..).zip(&all).zip(there) {
        let slot = memory.find(*key, key.hash() as u32);
        let ids = slot.map(|slot| memory.ids(slot));
        assert_eq!(ids.map(<[u32]>::to_vec), is_there.then(|| ids_of(number)));
    }
}

#[test]
fn it_grows_beyond_its_size_when_much_strays_and_it_may() {
    // So many that some are found beyond their first line, and so many that others are pushed out.
    for (count, is_allowed) in [(150_000, false), (150_000, true), (200_000, false), (200_000, true)] {
        let mut memory = Short::default();
        if is_allowed {
            memory.allow_more();
        }
        let all: Vec<Key> = (0..count).map(key).collect();
        all.iter().for_each(|key| memory.insert(*key, key.hash() as u32, &[7]));
        let is_pushing = count == 200_000;
        assert_eq!(memory.lines.len(), if is_allowed && is_pushing { 2 * Key::LINES } else { Key::LINES });
        for _ in 0..drawn(10, 20) {
            all.iter().for_each(|key| {
                if !memory.settle(*key, key.hash() as u32) {
                    memory.insert(*key, key.hash() as u32, &[7]);
                }
            });
        }
        assert_eq!(memory.lines.len(), if is_allowed { 2 * Key::LINES } else { Key::LINES });
        let known = all.iter().filter(|key| memory.find(**key, key.hash() as u32).is_some()).count();
        assert!(known > if is_allowed { 98 * all.len() / 100 } else { 3 * all.len() / 4 }, "{known}");
    }
}

#[test]
fn a_stray_is_found_and_settles() {
    let mut memory = Short::default();
    let keys: Vec<Key> = (0..20_000).map(key).collect();
    for (number, key) in keys.iter().enumerate() {
        let (ids, hash) = (ids_of(number as u64), key.hash() as u32);
        match ids.first_chunk() {
            Some(&few) if ids.len() <= FEW + 1 => memory.insert_few((*key, hash), few, FEW),
            _ => memory.insert(*key, hash, &ids),
        }
    }
    let (mut strays, mut forgotten) = (0, 0);
    for (number, key) in keys.iter().enumerate() {
        let hash = key.hash() as u32;
        let (ids, is_first) = (ids_of(number as u64), memory.first(*key).is_some());
        let few = memory.few(*key, hash).map(|(ids, count)| ids[..count].to_vec());
        let Some(known) = memory.settled(*key, hash).map(<[u32]>::to_vec) else {
            assert!(few.is_none() && !is_first);
            forgotten += 1;
            continue;
        };
        assert_eq!(known, if ids.len() == FEW + 1 { &ids[..FEW] } else { &ids });
        assert_eq!(few, Some(known).filter(|known| is_first && known.len() <= FEW));
        strays += usize::from(!is_first);
    }
    assert!(strays > 100 && forgotten < 200, "{strays} {forgotten}");
}

/// The sizes that a memory has had, once so many strings are in it; hardly any is forgotten on the way.
fn sizes(mut memory: Short, count: u64) -> Vec<usize> {
    let mut sizes = vec![memory.lines.len()];
    for number in 0..count {
        memory.insert(key(number), key(number).hash() as u32, &ids_of(number));
        if memory.lines.len() != sizes[sizes.len() - 1] {
            sizes.push(memory.lines.len());
            let is_there = |&number: &u64| memory.find(key(number), key(number).hash() as u32).is_some();
            let there = (0..=number).filter(is_there).count() as u64;
            assert!(100 * there > 99 * number, "{there} of {number}");
        }
    }
    sizes
}

#[test]
fn it_grows_in_steps_or_at_once() {
    let mut much = Short::default();
    much.expect_much();
    assert_eq!(sizes(much, 60_000), [FIRST_LINES, LEAP, Key::LINES]);
    assert_eq!(
        sizes(Short::default(), 60_000),
        [FIRST_LINES, LEAP, 4 * LEAP, 16 * LEAP, 64 * LEAP, Key::LINES]
    );
}
