//! Merging of a few long runs of one symbol each, as a million spaces are: a merge takes a whole run at once.
//!
//! ```text
//! x x x x x  with  x x -> y  the lowest rank, leftmost   =>   y y x
//! ```
//!
//! The leftmost two merge, then the next two, as long as no pair that this makes (what is before and y, y and
//! x, y and y) ranks as low: where one does, the heap must do it, and so where too many runs or rounds come
//! of it. Where two runs meet there is one merge at a time.

use super::Merges;

/// Sequences of more runs are left to others, and those that become more or take more rounds.
pub(crate) const MAX_RUNS: usize = 16;
const MAX_LATER: usize = 64;
const MAX_ROUNDS: usize = 1024;

/// The same id so many times, each made of `width` symbols.
#[derive(Debug, Clone, Copy)]
struct Run {
    id: u32,
    width: usize,
    count: usize,
}

/// Merges `ids`, as `Merges::apply`; `None`, and nothing is done, where these are not a few runs.
pub(super) fn apply(merges: &Merges, ids: &mut Vec<u32>, starts: Option<&mut Vec<u32>>) -> Option<()> {
    let mut runs: Vec<Run> = Vec::with_capacity(MAX_RUNS);
    for same in ids.chunk_by(|a, b| a == b) {
        if runs.len() == MAX_RUNS {
            return None;
        }
        runs.push(Run { id: same[0], width: 1, count: same.len() });
    }
    write(&merge(merges, runs)?, ids, starts);
    Some(())
}

/// The same for runs of symbols, given with their lengths, into `ids`.
pub(super) fn apply_to_runs(merges: &Merges, runs: &[(u32, usize)], ids: &mut Vec<u32>) -> Option<()> {
    let runs = runs.iter().map(|&(id, count)| Run { id, width: 1, count });
    write(&merge(merges, joined(runs))?, ids, None);
    Some(())
}

fn merge(merges: &Merges, mut runs: Vec<Run>) -> Option<Vec<Run>> {
    for _ in 0..MAX_ROUNDS {
        let Some((rank, at, inside)) = lowest(merges, &runs) else { return Some(runs) };
        runs = if inside { halve(merges, &runs, at, rank)? } else { join(merges, &runs, at)? };
        if runs.len() > MAX_LATER {
            return None;
        }
    }
    None
}

/// The leftmost merge of the lowest rank: its rank, its run, and whether both symbols are of that run.
fn lowest(merges: &Merges, runs: &[Run]) -> Option<(u32, usize, bool)> {
    let mut best: Option<(u32, usize, bool)> = None;
    for (at, run) in runs.iter().enumerate() {
        let inside =
            (run.count > 1).then(|| merges.get(run.id, run.id)).flatten().map(|m| (m.rank, at, true));
        let beside =
            runs.get(at + 1).and_then(|next| merges.get(run.id, next.id)).map(|m| (m.rank, at, false));
        for found in [inside, beside].into_iter().flatten() {
            if best.is_none_or(|best| found.0 < best.0) {
                best = Some(found);
            }
        }
    }
    best
}

/// Merges the symbols of a run two by two, which have `rank`.
fn halve(merges: &Merges, runs: &[Run], at: usize, rank: u32) -> Option<Vec<Run>> {
    let Run { id: old, width, count } = runs[at];
    let new = merges.get(old, old)?.id;
    let later = |left, right| merges.get(left, right).is_none_or(|merge| merge.rank > rank);
    let free = at.checked_sub(1).is_none_or(|before| later(runs[before].id, new));
    if !(free && later(new, old) && later(new, new)) {
        return None;
    }
    let pairs = Run { id: new, width: 2 * width, count: count / 2 };
    let rest = Run { id: old, width, count: count % 2 };
    Some(joined(runs[..at].iter().chain(&[pairs, rest]).chain(&runs[at + 1..]).copied()))
}

/// Merges the last symbol of a run with the first of the next.
fn join(merges: &Merges, runs: &[Run], at: usize) -> Option<Vec<Run>> {
    let (mut left, mut right) = (runs[at], runs[at + 1]);
    let id = merges.get(left.id, right.id)?.id;
    let new = Run { id, width: left.width + right.width, count: 1 };
    left.count -= 1;
    right.count -= 1;
    Some(joined(runs[..at].iter().chain(&[left, new, right]).chain(&runs[at + 2..]).copied()))
}

/// Without empty runs; neighbours of the same id and width as one.
fn joined(runs: impl Iterator<Item = Run>) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::new();
    for run in runs.filter(|run| run.count > 0) {
        match out.last_mut() {
            Some(last) if (last.id, last.width) == (run.id, run.width) => last.count += run.count,
            _ => out.push(run),
        }
    }
    out
}

fn write(runs: &[Run], ids: &mut Vec<u32>, starts: Option<&mut Vec<u32>>) {
    ids.clear();
    for run in runs {
        ids.resize(ids.len() + run.count, run.id);
    }
    let Some(starts) = starts else { return };
    let mut at = 0;
    for run in runs {
        starts.extend((0..run.count).map(|number| (at + number * run.width) as u32));
        at += run.count * run.width;
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Merge, heap},
        *,
    };
    use crate::drawn::random;

    #[test]
    fn runs_merge_as_by_the_heap() {
        let mut state = 0x5EED_5EED_0F0F_0001;
        let mut done = 0;
        for round in 0..8000 {
            let symbols = 1 + u64::from(random(&mut state, 3));
            let pairs = (0..random(&mut state, 20)).map(|new| {
                let bound = symbols + u64::from(new);
                let left = random(&mut state, bound);
                let right = if random(&mut state, 2) == 0 { left } else { random(&mut state, bound) };
                // Results as trainers name them, or any; ranks that are shared now and then.
                let id = if round % 3 == 0 { random(&mut state, bound + 2) } else { bound as u32 };
                ((left, right), Merge { rank: if round % 2 == 0 { new } else { new / 3 }, id })
            });
            let merges = Merges::from_pairs(pairs.collect());
            let mut ids = Vec::new();
            for _ in 0..1 + random(&mut state, 4) {
                let symbol = random(&mut state, symbols);
                ids.extend(std::iter::repeat_n(symbol, random(&mut state, 70) as usize));
            }
            let (mut expected, mut places) = (ids.clone(), Vec::new());
            let scratch = &mut heap::Scratch::default();
            heap::apply(&merges, &mut expected, Some(&mut places), scratch, &mut ()).unwrap();
            let (mut found, mut starts) = (ids.clone(), Vec::new());
            if apply(&merges, &mut found, Some(&mut starts)).is_none() {
                assert_eq!(found, ids);
                continue;
            }
            assert_eq!(found, expected, "{ids:?} by {merges:?}");
            assert_eq!(starts, places);
            let of_runs: Vec<_> = ids.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect();
            let mut by_runs = Vec::new();
            apply_to_runs(&merges, &of_runs, &mut by_runs).unwrap();
            assert_eq!(by_runs, expected);
            done += 1;
        }
        assert!(done > 4000, "{done}");
    }
}
