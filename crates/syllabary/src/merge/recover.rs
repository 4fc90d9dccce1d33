//! The merges that do what rank order does (`reference/rank_merges.py`, which has the rule and why it holds).
//!
//! Leaves out merging text by rank (`merge`).

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::FxHashMap;

/// Tokens by their bytes, numbered in the order of their ranks.
type Numbers<'a> = FxHashMap<&'a [u8], u32>;

/// The numbers of the two parts, and its own, of each of the tokens that merges can reach; the tokens are in the order
/// of their ranks.
pub fn recover(tokens: &[&[u8]]) -> Vec<(u32, u32, u32)> {
    let numbers: Numbers<'_> = tokens.iter().copied().zip(0..).collect();
    let mut parts = Parts::default();
    let merge = |(token, number): (&&[u8], u32)| {
        let middle = parts.last_two(token, &numbers)?;
        Some((*numbers.get(&token[..middle])?, *numbers.get(&token[middle..])?, number))
    };
    tokens.iter().zip(0..).filter_map(merge).collect()
}

/// Where parts of a token begin: of each of these places, that of the part before and that of the one after.
#[derive(Default)]
struct Parts {
    before: Vec<usize>,
    after: Vec<usize>,
    /// Rank, start and end of two parts that merge; stale ones too.
    queue: BinaryHeap<Reverse<(u32, usize, usize)>>,
}

/// No part begins here any more.
const GONE: usize = usize::MAX;

impl Parts {
    /// Where the second of the last two parts of a token begins; `None` if its own merges do not lead to two.
    fn last_two(&mut self, token: &[u8], numbers: &Numbers<'_>) -> Option<usize> {
        let size = token.len();
        if size < 2 || token.chunks(1).any(|byte| !numbers.contains_key(byte)) {
            return None;
        }
        self.before.clear();
        self.before.extend((0..=size).map(|at| at.wrapping_sub(1)));
        self.after.clear();
        self.after.extend(1..=size + 1);
        self.queue.clear();
        (0..size - 1).for_each(|start| self.offer(token, start, numbers));
        for _ in 2..size {
            let (start, end) = self.next(size)?;
            let middle = self.after[start];
            self.after[middle] = GONE;
            self.after[start] = end;
            self.before[end] = start;
            if start > 0 {
                self.offer(token, self.before[start], numbers);
            }
            self.offer(token, start, numbers);
        }
        Some(self.after[0])
    }

    /// Queues the part that starts here and the one after it, if they make a token that is not the whole.
    fn offer(&mut self, token: &[u8], start: usize, numbers: &Numbers<'_>) {
        let middle = self.after[start];
        if middle >= token.len() {
            return;
        }
        let end = self.after[middle];
        if end - start < token.len()
            && let Some(&rank) = numbers.get(&token[start..end])
        {
            self.queue.push(Reverse((rank, start, end)));
        }
    }

    /// The two parts of the lowest rank, the leftmost of these, from where to where.
    fn next(&mut self, size: usize) -> Option<(usize, usize)> {
        while let Some(Reverse((_, start, end))) = self.queue.pop() {
            let middle = self.after[start];
            if middle < size && self.after[middle] == end {
                return Some((start, end));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::recover;

    #[test]
    fn finds_the_two_parts_by_rank() {
        let tokens: [&[u8]; 6] = [b"a", b"b", b"ab", b"ba", b"aba", b"bbb"];
        assert_eq!(recover(&tokens), [(0, 1, 2), (1, 0, 3), (2, 0, 4)]);
        assert_eq!(recover(&[b"a", b"", b"ax", b"aa"]), [(0, 0, 3)]);
    }
}
