//! Merging by scanning for the lowest rank: quadratic, and the fastest for short sequences.
//!
//! Candidates lie in an array, a linked list tells neighbours: nothing is moved, and the least of many is some comparisons
//! of many at a time. Leaves out long sequences, and ranks that leave no room for a place (`RANK_BOUND`).

use super::Merge;

/// Sequences of up to so many symbols are merged here.
pub(crate) const MOST: usize = 48;
/// Ranks are below this.
pub(crate) const RANK_BOUND: u32 = 1 << 25;
/// Candidates are compared so many at a time.
const LANES: usize = 16;
/// No candidate. Others are a rank and, in the last 6 bits, a place.
const NEVER: i32 = i32::MAX;
const PLACE_BITS: u32 = 6;
/// No symbol.
const END: u8 = u8::MAX;

/// The symbols of a sequence, a linked list in place.
#[derive(Debug)]
pub(crate) struct Scratch {
    ids: [u32; MOST],
    /// For each symbol, rank and place of its merge with the next, and what that makes.
    candidates: [i32; MOST],
    makes: [u32; MOST],
    next: [u8; MOST],
    previous: [u8; MOST],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch {
            ids: [0; MOST],
            candidates: [NEVER; MOST],
            makes: [0; MOST],
            next: [END; MOST],
            previous: [END; MOST],
        }
    }
}

/// Merges `ids`, of which there are at most `MOST`, until no pair is left, or `least` symbols; `starts`, which is empty, gets
/// the place of the first symbol of each that is left. `get` says what two become.
pub(crate) fn apply(
    get: impl Fn(u32, u32) -> Option<Merge>,
    ids: &mut Vec<u32>,
    starts: Option<&mut Vec<u32>>,
    scratch: &mut Scratch,
    least: usize,
) {
    if ids.len() > least {
        run(get, ids, scratch, least);
        ids.clear();
        ids.extend(scratch.left().map(|at| scratch.ids[at]));
        if let Some(starts) = starts {
            starts.extend(scratch.left().map(|at| at as u32));
        }
    } else if let Some(starts) = starts {
        starts.extend(0..ids.len() as u32);
    }
}

fn run(get: impl Fn(u32, u32) -> Option<Merge>, symbols: &[u32], scratch: &mut Scratch, least: usize) {
    #[cfg(simd_x86)]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        return unsafe { run_by_vectors(get, symbols, scratch, least) };
    }
    run_here(get, symbols, scratch, least);
}

/// The same: the least of many is eight comparisons at a time.
#[cfg(simd_x86)]
#[target_feature(enable = "avx2")]
fn run_by_vectors(
    get: impl Fn(u32, u32) -> Option<Merge>,
    symbols: &[u32],
    scratch: &mut Scratch,
    least: usize,
) {
    run_here(get, symbols, scratch, least);
}

#[inline(always)]
fn run_here(get: impl Fn(u32, u32) -> Option<Merge>, symbols: &[u32], scratch: &mut Scratch, least: usize) {
    let count = symbols.len();
    scratch.ids[..count].copy_from_slice(symbols);
    let lanes = count.next_multiple_of(LANES);
    scratch.candidates[..lanes].fill(NEVER);
    for at in 0..count {
        scratch.next[at] = if at + 1 == count { END } else { (at + 1) as u8 };
        scratch.previous[at] = (at as u8).wrapping_sub(1);
    }
    for (at, pair) in symbols.windows(2).enumerate() {
        (scratch.candidates[at], scratch.makes[at]) = candidate(&get, pair[0], pair[1], at);
    }
    for _ in least..count {
        let best = lowest(&scratch.candidates[..lanes]);
        if best == NEVER {
            return;
        }
        scratch.join(&get, best as usize % (1 << PLACE_BITS));
    }
}

/// The merge of two symbols as a candidate at `at`, and what it makes.
#[inline(always)]
fn candidate(get: &impl Fn(u32, u32) -> Option<Merge>, left: u32, right: u32, at: usize) -> (i32, u32) {
    match get(left, right) {
        Some(Merge { rank, id }) => ((rank << PLACE_BITS) as i32 | at as i32, id),
        None => (NEVER, 0),
    }
}

/// The least of some candidates.
#[inline(always)]
fn lowest(candidates: &[i32]) -> i32 {
    let mut best = [NEVER; LANES];
    for lanes in candidates.as_chunks::<LANES>().0 {
        for (best, lane) in best.iter_mut().zip(lanes) {
            *best = (*best).min(*lane);
        }
    }
    best.into_iter().fold(NEVER, i32::min)
}

impl Scratch {
    /// Merges the symbol at `at` with the next.
    #[inline(always)]
    fn join(&mut self, get: &impl Fn(u32, u32) -> Option<Merge>, at: usize) {
        let right = usize::from(self.next[at]);
        let (before, after) = (self.previous[at], self.next[right]);
        let id = self.makes[at];
        self.ids[at] = id;
        self.next[at] = after;
        self.candidates[right] = NEVER;
        self.candidates[at] = NEVER;
        if after != END {
            let after = usize::from(after);
            self.previous[after] = at as u8;
            (self.candidates[at], self.makes[at]) = candidate(get, id, self.ids[after], at);
        }
        if before != END {
            let before = usize::from(before);
            (self.candidates[before], self.makes[before]) = candidate(get, self.ids[before], id, before);
        }
    }

    /// The places of the symbols that are left.
    fn left(&self) -> impl Iterator<Item = usize> + use<'_> {
        std::iter::successors(Some(0), |&at| match self.next[at] {
            END => None,
            next => Some(usize::from(next)),
        })
    }
}
