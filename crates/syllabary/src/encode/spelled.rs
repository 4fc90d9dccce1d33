//! New pieces that are not merged as they are (`abreast`): their characters as symbols, to be merged by a list, many at a time.
//!
//! ```text
//! no token has part of a character beside another one   =>  a merge of two characters, or more, takes them whole
//! nor is what makes the character listed behind that    =>  all that makes it may as well be done at once
//! so a piece begins as the ids of each character alone  τ ὸ ν, and not as its bytes: less is left to merge
//! ```
//!
//! For the first merge over a place between two characters makes a token that has both whole, and its two symbols meet
//! there, as none before reached over it: so each character was one symbol, merged alone. And a merge whose turn it is
//! has the lowest rank; if all such characters were made at once, what is new then would be merges that have them, of
//! higher ranks than what makes them (`late`) and so than it: its turn it would still be. Adds: `Spelled`. Leaves out
//! pieces of scripts without spaces, which are cut (`inside`), and merging itself (`listed`).

use super::{
    asked::{LONG, Name},
    characters::{Characters, stand_in_part},
    chunk::New,
    cuts::character_at,
    found::Found,
    key::LONGER,
    lasts::Lasts,
    late::Late,
    listed::{self, Listed, PLACES, Strings},
    memory::{Longers, Short},
    pieces::Fast,
    short,
};
use crate::{merge::Merges, vocab::Vocab};

/// The most ids of a character: its bytes.
const WIDTH: usize = 4;
const _: () = assert!(LONGER <= PLACES);

/// Pieces to be merged together: their symbols, and what they are remembered by.
#[derive(Debug, Default)]
pub(super) struct Spelled {
    strings: Strings,
    keys: Vec<(Name, u32)>,
}

impl Spelled {
    /// Merges pieces that were not found and are not remembered: those of `SHORT` to `LONGER` bytes, and shorter ones that
    /// are not merged with others as they are; how many they are.
    pub(super) fn learn(
        &mut self,
        (fast, vocab, merges): (&Fast, &Vocab, &Merges),
        (short, longer): (&mut Short, &mut Longers),
        characters: &mut Characters,
        (new, found): (&New<'_>, &Found),
    ) -> usize {
        let (Some(list), Some(late)) = (merges.list(), &fast.late) else { return 0 };
        self.strings.clear();
        self.keys.clear();
        let mut lasts = Lasts::new();
        let mut symbols = [0; PLACES + WIDTH];
        for missed in found.missed() {
            let at = usize::from(missed.at);
            let key = new.asked.key(at);
            if key != LONG && (key.high == 0 || fast.learns(key)) {
                continue;
            }
            let (name, span) = (new.asked.name(at), (new.starts[at], new.ends[at]));
            let (hash, is_there) = match name {
                Name::Long(key) => (key.hash() as u32, longer.find(key, key.hash() as u32).is_some()),
                Name::Short(key) => (key.hash() as u32, short.find(key, key.hash() as u32).is_some()),
                _ => continue,
            };
            if is_there || lasts.get(hash).is_some_and(|last| self.keys[last].0 == name) {
                continue;
            }
            if fast.whole_pieces
                && let Some(id) = vocab.id_at(new.text, span.0, span.1)
            {
                remember((short, longer), (name, hash), &[id]);
            } else {
                let known = (fast, vocab, merges, late);
                let count = symbols_of(known, characters, (new.text, span), &mut symbols);
                self.strings.push(&symbols[..count]);
                lasts.set(hash, self.keys.len());
                self.keys.push((name, hash));
            }
        }
        let (keys, list) = (&self.keys, Listed { pairs: list, firsts: None });
        listed::merge_all(&self.strings, list, &mut |number, ids| {
            remember((short, longer), keys[number], ids);
        });
        keys.len()
    }
}

/// Remembers a piece, unless it is.
fn remember((short, longer): (&mut Short, &mut Longers), (name, hash): (Name, u32), ids: &[u32]) {
    match name {
        Name::Short(key) => short.insert_new(key, hash, ids),
        Name::Long(key) => longer.insert_new(key, hash, ids),
        _ => {}
    }
}

/// Writes what `text[start..end]` is to be merged from: the ids of each character alone or, beside a place where a token
/// has part of one or if it is `late`, of its bytes; how many there are.
fn symbols_of(
    (fast, vocab, merges, late): (&Fast, &Vocab, &Merges, &Late),
    characters: &mut Characters,
    (text, (start, end)): (&[u8], (usize, usize)),
    out: &mut [u32; PLACES + WIDTH],
) -> usize {
    let (mut at, mut count, mut is_part) = (start, 0, false);
    let (mut code, mut width) = character_at(text, at);
    let mut character = characters.get(code);
    loop {
        let next = at + width;
        let (after, after_width) = if next < end { character_at(text, next) } else { (0, 1) };
        let following = characters.get(after);
        let both = [(code, character), (after, following)];
        let was_part =
            std::mem::replace(&mut is_part, next < end && stand_in_part(&fast.cuts, text, next, both));
        let Some(room) = out.get_mut(count..).and_then(<[u32]>::first_chunk_mut::<WIDTH>) else {
            return count;
        };
        count += match character.count() {
            _ if width == 1 || was_part | is_part || late.has(code) => {
                for (id, &byte) in room.iter_mut().zip(&text[at..next]) {
                    *id = fast.bytes.ids()[usize::from(byte)];
                }
                width
            }
            0 => {
                let (ids, count) = short::merge::<WIDTH>(&fast.bytes, merges, text, (at, next));
                let whole = if fast.whole_pieces { vocab.id_at(text, at, next) } else { None };
                characters.insert(code, &ids[..count], whole);
                *room = ids;
                count
            }
            known => {
                *room = character.ids();
                known
            }
        };
        if next >= end {
            return count;
        }
        (at, code, width, character) = (next, after, after_width, following);
    }
}

#[cfg(test)]
#[path = "spelled_tests.rs"]
mod tests;
