//! Merging of several short strings side by side: while one waits for memory, the others go on.
//!
//! The algorithm is that of `short`, and so are its tables. Each string has a lane and does one merge a step; what the
//! new pairs of all lanes may be is looked up at the end of the step, so that no look-up waits for another.
//!
//! Adds: `merge_all`, which takes `lanes` or `eights` where the processor has them, and `Rules`. Leaves out strings of more than
//! `SHORT` bytes.

use super::{
    key::{Key, SHORT},
    pieces::Fast,
    short::{BytePairs, NONE, PLACE_BITS},
    tokens::ShortTokens,
};
#[cfg(simd_x86)]
use crate::narrow::Narrow;
use crate::{
    merge::{Merges, PairTable},
    vocab::Vocab,
};

/// Strings at a time.
const LANES: usize = 8;
/// Places of a lane: the bytes of a string, and one more.
const PLACES: usize = 16;
const _: () = assert!(SHORT < PLACES);

/// Fewer strings than this are merged sooner one by one.
pub(super) const FEWEST: usize = 3;

/// What merges, and into what.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) pairs: &'a BytePairs,
    /// All tokens: what two symbols become is one of them.
    pub(super) tokens: &'a ShortTokens,
    /// Where merges are a list; or else a token's id is its rank.
    pub(super) list: Option<&'a PairTable>,
}

impl<'a> Rules<'a> {
    fn of(pairs: &'a BytePairs, vocab: &'a Vocab, merges: &'a Merges) -> Rules<'a> {
        Rules { pairs, tokens: vocab.short(), list: merges.list() }
    }
}

/// Merges strings and hands the number of each to `done`, with its ids and a bit for each byte where one of them begins,
/// in any order.
pub(super) fn merge_all(
    (fast, vocab, merges): (&Fast, &Vocab, &Merges),
    strings: impl ExactSizeIterator<Item = Key>,
    done: &mut impl FnMut(usize, &[u32], u32),
) {
    let rules = Rules::of(&fast.bytes, vocab, merges);
    #[cfg(simd_x86)]
    if let Some(lanes) = fast.lanes {
        return lanes.merge(strings, rules, done);
    }
    merge(strings, rules, done);
}

/// The same without AVX-512.
fn merge(
    strings: impl ExactSizeIterator<Item = Key>,
    rules: Rules<'_>,
    done: &mut impl FnMut(usize, &[u32], u32),
) {
    #[cfg(simd_x86)]
    if let Some(narrow) = Narrow::new() {
        return super::eights::merge(narrow, strings, rules, done);
    }
    run(strings, rules, done);
}

/// A string on its way.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Lane {
    /// At each place, the rank and place of the merge there.
    waiting: [u32; PLACES],
    /// The symbol at each place.
    ids: [u32; PLACES],
    bytes: u128,
    /// A bit for each symbol that is left, at the place of its first byte.
    live: u32,
    /// The bit behind the last place.
    end: u32,
    number: usize,
}

/// A new pair that may be a token: its key and hash, its two symbols, its lane, and the place of the first symbol.
#[derive(Clone, Copy)]
struct Asked {
    key: Key,
    hash: u64,
    pair: (u32, u32),
    lane: usize,
    place: usize,
}

const IDLE: Lane = Lane { waiting: [NONE; PLACES], ids: [0; PLACES], bytes: 0, live: 0, end: 0, number: 0 };
const NOTHING: Asked = Asked { key: Key::NONE, hash: 0, pair: (0, 0), lane: 0, place: 0 };

#[inline(always)]
fn run(
    strings: impl ExactSizeIterator<Item = Key>,
    rules: Rules<'_>,
    done: &mut impl FnMut(usize, &[u32], u32),
) {
    let (mut lanes, mut asked) = ([IDLE; LANES], [NOTHING; 2 * LANES]);
    let (mut strings, mut busy) = (strings.enumerate(), 0);
    while busy < LANES
        && let Some((number, key)) = strings.next()
    {
        lanes[busy].take(number, key, rules.pairs);
        busy += 1;
    }
    while busy > 0 {
        let (mut lane, mut count) = (0, 0);
        while lane < busy {
            let least = lanes[lane].least();
            if least != NONE {
                count = lanes[lane].join(least, rules, lane, (&mut asked, count));
                lane += 1;
                continue;
            }
            lanes[lane].hand_on(done);
            if let Some((number, key)) = strings.next() {
                lanes[lane].take(number, key, rules.pairs);
            } else {
                busy -= 1;
                lanes[lane] = lanes[busy];
            }
        }
        for new in &asked[..count] {
            lanes[new.lane % LANES].waiting[new.place % PLACES] = answer(new, rules);
        }
    }
}

/// The rank and place of a new pair, or `NONE`.
#[inline(always)]
fn answer(new: &Asked, rules: Rules<'_>) -> u32 {
    let rank = match rules.list {
        Some(list) => list.find(new.pair.0, new.pair.1).rank,
        None => rules.tokens.find(new.key, new.hash),
    };
    if rank == NONE { NONE } else { rank << PLACE_BITS | new.place as u32 }
}

impl Lane {
    /// Puts a string into the lane.
    #[inline(always)]
    fn take(&mut self, number: usize, key: Key, pairs: &BytePairs) {
        let (bytes, length) = key.parts();
        (self.number, self.bytes) = (number, bytes);
        (self.live, self.end) = ((1 << length) - 1, 1 << length);
        self.waiting = [NONE; PLACES];
        let bytes = self.bytes.to_le_bytes();
        for (at, id) in self.ids.iter_mut().enumerate().take(length) {
            *id = pairs.ids()[usize::from(bytes[at])];
        }
        for (at, pair) in bytes.windows(2).enumerate().take(length - 1) {
            let rank = pairs.ranks()[usize::from(pair[0]) << 8 | usize::from(pair[1])];
            self.waiting[at] = rank | if rank == NONE { 0 } else { at as u32 };
        }
    }

    /// The least rank with its place.
    #[inline(always)]
    fn least(&self) -> u32 {
        let mut halves = [NONE; PLACES / 2];
        for (at, half) in halves.iter_mut().enumerate() {
            *half = self.waiting[at].min(self.waiting[at + PLACES / 2]);
        }
        halves.into_iter().fold(NONE, u32::min)
    }

    /// Does the merge and asks for the two new pairs, behind the `count` that are asked for; how many there are then.
    #[inline(always)]
    fn join(
        &mut self,
        least: u32,
        rules: Rules<'_>,
        lane: usize,
        (asked, mut count): (&mut [Asked; 2 * LANES], usize),
    ) -> usize {
        let (at, rank) = (least as usize % PLACES, least >> PLACE_BITS);
        let made = rules.list.map_or(rank, |_| rules.pairs.results()[rank as usize]);
        let behind = u32::MAX << at << 1;
        let after = self.live & behind;
        let right = after & after.wrapping_neg();
        self.live ^= right;
        self.ids[at] = made;
        self.waiting[right.trailing_zeros() as usize % PLACES] = NONE;
        self.waiting[at] = NONE;
        let rest = (after ^ right) | self.end;
        let next = rest.trailing_zeros() as usize;
        let beyond = ((rest & rest.wrapping_sub(1)) | self.end).trailing_zeros() as usize;
        let before = self.live & !(u32::MAX << at);
        let left = (before | 1).ilog2() as usize;
        self.waiting[left] = NONE;
        let pairs = [
            (at, beyond, (made, self.ids[next % PLACES]), rest != self.end),
            (left, next, (self.ids[left % PLACES], made), before != 0),
        ];
        for (from, to, pair, is_there) in pairs {
            let key = Key::of(self.bytes >> (8 * from), to - from);
            let hash = key.mixed();
            let new = Asked { key, hash, pair, lane, place: from };
            let mut is_asked = is_there & rules.tokens.may_have(hash);
            match rules.list {
                Some(list) => is_asked &= list.may_have(pair.0, pair.1),
                None => rules.tokens.fetch_if(is_asked, hash),
            }
            asked[count % (2 * LANES)] = new;
            count += usize::from(is_asked);
        }
        count
    }

    /// Hands on the ids that are left.
    #[inline(always)]
    fn hand_on(&self, done: &mut impl FnMut(usize, &[u32], u32)) {
        let (mut out, mut count, mut live) = ([0; PLACES], 0, self.live);
        while live != 0 {
            out[count] = self.ids[live.trailing_zeros() as usize];
            count += 1;
            live &= live - 1;
        }
        done(self.number, &out[..count], self.live);
    }
}

#[cfg(test)]
#[path = "abreast_tests.rs"]
mod tests;
