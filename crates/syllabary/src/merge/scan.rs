//! Merging by scanning for the lowest rank: quadratic, and the fastest for short sequences.

use super::{Merge, Merges};

/// No merge here.
const NONE: Merge = Merge { rank: u32::MAX, id: u32::MAX };

/// The merge of each symbol with its right neighbour.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    next: Vec<Merge>,
}

/// Merges `ids`; `starts` gets the place of the first symbol of each that is left.
pub(super) fn apply(
    merges: &Merges,
    ids: &mut Vec<u32>,
    mut starts: Option<&mut Vec<u32>>,
    scratch: &mut Scratch,
) {
    if let Some(starts) = &mut starts {
        starts.extend(0..ids.len() as u32);
    }
    let next = &mut scratch.next;
    next.clear();
    next.extend(ids.windows(2).map(|pair| merges.get(pair[0], pair[1]).unwrap_or(NONE)));
    while let Some(at) = lowest(next) {
        ids[at] = next[at].id;
        ids.remove(at + 1);
        next.remove(at);
        if let Some(starts) = &mut starts {
            starts.remove(at + 1);
        }
        if let Some(&right) = ids.get(at + 1) {
            next[at] = merges.get(ids[at], right).unwrap_or(NONE);
        }
        if at > 0 {
            next[at - 1] = merges.get(ids[at - 1], ids[at]).unwrap_or(NONE);
        }
    }
}

/// The leftmost place of the lowest rank.
fn lowest(next: &[Merge]) -> Option<usize> {
    let mut best = None;
    let mut rank = u32::MAX;
    for (at, merge) in next.iter().enumerate() {
        if merge.rank < rank {
            rank = merge.rank;
            best = Some(at);
        }
    }
    best
}
