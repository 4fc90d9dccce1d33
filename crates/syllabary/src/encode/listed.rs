//! Merging of several strings by a list of merges, side by side: while one waits for memory, the others go on.
//!
//! ```text
//! symbols of a string   τ ὸ ν   their pairs are in a square, or asked for before the first is looked up
//! a step                each string does one merge, and asks for its two new pairs; then all are looked up
//! ```
//!
//! What a string begins with need not be its bytes (`spelled`): the list tells what two symbols become, whatever they
//! stand for. Adds: `merge_all`. Leaves out strings of more than `PLACES` symbols, and merging without a list, which
//! needs bytes (`abreast`).

use super::short::{NONE, PLACE_BITS};
use crate::{
    merge::{Firsts, Merge, PairTable, Wanted},
    narrow::Narrow,
};

/// The most symbols of a string.
pub(super) const PLACES: usize = 32;
const _: () = assert!(PLACES <= 1 << PLACE_BITS);
/// Strings at a time.
const LANES: usize = 16;

/// Strings as symbols, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    symbols: Vec<u32>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Strings {
    /// The most symbols of one.
    pub(crate) const MOST: usize = PLACES;

    pub(crate) fn clear(&mut self) {
        self.symbols.clear();
        self.ends.clear();
    }

    /// Adds one, of 1 to `PLACES` symbols.
    pub(crate) fn push(&mut self, symbols: &[u32]) {
        debug_assert!((1..=PLACES).contains(&symbols.len()));
        self.symbols.extend_from_slice(symbols);
        self.ends.push(self.symbols.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.symbols[start..end])
    }
}

/// What merges, and into what.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a> {
    pub(crate) pairs: &'a PairTable,
    /// Of the symbols that most strings are of.
    pub(crate) firsts: Option<&'a Firsts>,
}

/// Merges strings and hands the number of each to `done`, with its ids, in any order.
pub(crate) fn merge_all(strings: &Strings, list: Listed<'_>, done: &mut impl FnMut(usize, &[u32])) {
    let narrow = Narrow::new();
    #[cfg(simd_x86)]
    if let Some(narrow) = narrow {
        // SAFETY: the processor has all features that the function has.
        return unsafe { merge_narrow(strings, list, narrow, done) };
    }
    run(strings, list, narrow, done);
}

/// The same, compiled for processors that have what `Narrow` tells.
#[cfg(simd_x86)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn merge_narrow(strings: &Strings, list: Listed<'_>, narrow: Narrow, done: &mut impl FnMut(usize, &[u32])) {
    run(strings, list, Some(narrow), done);
}

/// A string on its way.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Lane {
    /// At each place, the rank and place of the merge there, and what it makes.
    waiting: [u32; PLACES],
    makes: [u32; PLACES],
    /// The symbol at each place.
    ids: [u32; PLACES],
    /// A bit for each symbol that is left.
    live: u32,
    number: usize,
}

/// Two symbols side by side, their lane, and the place of the first.
#[derive(Clone, Copy)]
struct Asked {
    wanted: Wanted,
    lane: u8,
    place: u8,
}

const IDLE: Lane = Lane { waiting: [NONE; PLACES], makes: [0; PLACES], ids: [0; PLACES], live: 0, number: 0 };
const NOTHING: Asked = Asked { wanted: Wanted::NOTHING, lane: 0, place: 0 };
/// Pairs of a step: two of each lane, or all of a string that comes.
const ROOM: usize = LANES * PLACES;

#[inline(always)]
fn run(strings: &Strings, list: Listed<'_>, narrow: Option<Narrow>, done: &mut impl FnMut(usize, &[u32])) {
    let (mut lanes, mut asked) = ([IDLE; LANES], Questions { all: [NOTHING; ROOM], count: 0 });
    let (mut strings, mut busy) = (strings.iter().enumerate(), 0);
    while busy < LANES
        && let Some((number, symbols)) = strings.next()
    {
        lanes[busy].take(number, symbols);
        asked.about(&mut lanes[busy], busy, symbols.len(), list);
        busy += 1;
    }
    asked.answer(&mut lanes, list.pairs, narrow);
    while busy > 0 {
        let mut lane = 0;
        while lane < busy {
            let least = lanes[lane].least();
            if least != NONE {
                lanes[lane].join(least, lane, &mut asked, list.pairs);
                lane += 1;
                continue;
            }
            lanes[lane].hand_on(done);
            if let Some((number, symbols)) = strings.next() {
                lanes[lane].take(number, symbols);
                asked.about(&mut lanes[lane], lane, symbols.len(), list);
                lane += 1;
            } else {
                busy -= 1;
                lanes[lane] = lanes[busy];
            }
        }
        asked.answer(&mut lanes, list.pairs, narrow);
    }
}

/// The pairs that a step asks for.
struct Questions {
    all: [Asked; ROOM],
    count: usize,
}

impl Questions {
    /// Asks for a pair, if there is one, without a branch: which it is nothing foretells.
    #[inline(always)]
    fn push(&mut self, pair: (u32, u32), is_there: bool, (lane, place): (usize, usize), list: &PairTable) {
        let (wanted, may_merge) = list.ask(pair.0, pair.1);
        self.all[self.count % ROOM] = Asked { wanted, lane: lane as u8, place: place as u8 };
        self.count += usize::from(may_merge & is_there);
    }

    /// Asks for all pairs of a new string.
    #[inline(always)]
    fn about(&mut self, new: &mut Lane, lane: usize, length: usize, list: Listed<'_>) {
        let code = |symbol| list.firsts.and_then(|firsts| firsts.code(symbol).map(|code| (firsts, code)));
        let mut left = code(new.ids[0]);
        for place in 0..length - 1 {
            let pair = (new.ids[place], new.ids[(place + 1) % PLACES]);
            let right = code(pair.1);
            match (left, right) {
                (Some((firsts, left)), Some((_, right))) => new.answered(place, firsts.get(left, right)),
                _ => self.push(pair, true, (lane, place), list.pairs),
            }
            left = right;
        }
    }

    /// Looks all of them up.
    #[inline(always)]
    fn answer(&mut self, lanes: &mut [Lane; LANES], list: &PairTable, narrow: Option<Narrow>) {
        for new in &self.all[..self.count] {
            let merge = list.found(new.wanted, narrow);
            lanes[usize::from(new.lane) % LANES].answered(usize::from(new.place) % PLACES, merge);
        }
        self.count = 0;
    }
}

impl Lane {
    /// Puts a string into the lane.
    #[inline(always)]
    fn take(&mut self, number: usize, symbols: &[u32]) {
        (self.number, self.live) = (number, u32::MAX >> (PLACES - symbols.len()));
        self.waiting = [NONE; PLACES];
        self.ids[..symbols.len()].copy_from_slice(symbols);
    }

    /// Notes what the symbol at a place and the next become.
    #[inline(always)]
    fn answered(&mut self, place: usize, merge: Merge) {
        let rank = merge.rank << PLACE_BITS | place as u32;
        self.waiting[place] = if merge.rank == NONE { NONE } else { rank };
        self.makes[place] = merge.id;
    }

    /// The least rank with its place.
    #[inline(always)]
    fn least(&self) -> u32 {
        let mut parts = [NONE; PLACES / 4];
        for (at, part) in parts.iter_mut().enumerate() {
            let four = [0, 1, 2, 3].map(|row| self.waiting[at + row * (PLACES / 4)]);
            *part = four[0].min(four[1]).min(four[2].min(four[3]));
        }
        parts.into_iter().fold(NONE, u32::min)
    }

    /// Does the merge and asks for the two new pairs.
    #[inline(always)]
    fn join(&mut self, least: u32, lane: usize, asked: &mut Questions, list: &PairTable) {
        let at = least as usize % PLACES;
        let made = self.makes[at];
        let behind = self.live & (u32::MAX << at << 1);
        let right = behind & behind.wrapping_neg();
        self.live ^= right;
        self.ids[at] = made;
        self.waiting[right.trailing_zeros() as usize % PLACES] = NONE;
        self.waiting[at] = NONE;
        let (rest, before) = (behind ^ right, self.live & !(u32::MAX << at));
        let next = rest.trailing_zeros() as usize % PLACES;
        asked.push((made, self.ids[next]), rest != 0, (lane, at), list);
        let left = (before | 1).ilog2() as usize % PLACES;
        self.waiting[left] = NONE;
        asked.push((self.ids[left], made), before != 0, (lane, left), list);
    }

    /// Hands on the ids that are left.
    #[inline(always)]
    fn hand_on(&self, done: &mut impl FnMut(usize, &[u32])) {
        let (mut out, mut count, mut live) = ([0; PLACES], 0, self.live);
        while live != 0 {
            out[count] = self.ids[live.trailing_zeros() as usize];
            count += 1;
            live &= live - 1;
        }
        done(self.number, &out[..count]);
    }
}

#[cfg(test)]
#[path = "listed_tests.rs"]
mod tests;
