//! Merging from left to right by the longest token that may stand there: a few look-ups a token, on sequences
//! of any length and however regular.
//!
//! Two laws make it exact (proofs below), where no merge of a token ranks below those that made its parts:
//!
//! 1. A row of tokens is what merging gives if and only if each is what merging makes of its own symbols, and
//!    each two neighbours are what merging makes of the symbols of both (`Forward::stand`).
//! 2. What merging makes of the beginning of a sequence is unique; so if from some place no token can go on,
//!    no row ever passes that place, and it need not be tried again.
//!
//! So: take the longest token that may follow the last one; if none may, mark the place, take the last one
//! back and try the next shorter one there. A place is marked at most once, so the time grows with the
//! length.
//!
//! Law 1. Merges happen in order of rank, leftmost first. Look at the first merge over the border of two
//! tokens, of the symbols `l` and `r` that stand at the border then. Up to then both sides were merged as if
//! alone, those of one rank first all of the left side, then those of the right; so `l` ends the left token
//! and `r` begins the right one at one time, and the merge came before `l` and `r` were taken by their own
//! tokens. Whether there is such a merge depends on the two tokens alone. Where there is none at any border,
//! each token is merged as if alone.
//!
//! Law 2. By the first, a row up to a place is what merging makes of the symbols up to there.
//!
//! Leaves out (the heap does them): ranks of another order, results with several spellings, sequences with
//! symbols that are results themselves.

mod joins;
mod table;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Merges;
use joins::Joins;

/// No token, no node.
const NONE: u32 = u32::MAX;

/// What is known of each token, and a trie of those that merging makes of their own symbols.
#[derive(Debug)]
pub(super) struct Forward {
    tokens: Vec<Token>,
    /// Level by level; one more at the end.
    nodes: Vec<Node>,
    /// What pairs become, where that is not asked of the merges.
    joins: Option<Joins>,
    /// Whose answers a `Scratch` has.
    number: u64,
    /// Other symbols than those of the table merge with nothing, and may stand in a sequence.
    open: bool,
}

/// A token that merging makes of its own symbols, or a symbol.
#[derive(Debug, Clone, Copy)]
struct Token {
    /// Its symbols; 0: merging never makes this id.
    length: u32,
    /// One more than the rank of the merge that makes it; 0: it is a symbol.
    made: u32,
    /// The two that the last merge joins.
    left: u32,
    right: u32,
    /// The longest token that it begins with.
    shorter: u32,
    /// Its node in the trie.
    node: u32,
}

/// A node of the trie.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// On the way to it.
    symbol: u32,
    /// The token that ends there.
    token: u32,
    /// The first of its children, which stand together, up to the first of the next node.
    children: u32,
}

const SYMBOL: Token = Token { length: 1, made: 0, left: NONE, right: NONE, shorter: NONE, node: NONE };

/// Answers that a `Scratch` remembers.
const ANSWERS: usize = 1 << 12;
/// In an answer, above the pair: it stands.
const STANDS: u64 = 1 << 63;

/// The row so far, and the places where no row passes.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    row: Vec<u32>,
    blocked: Vec<u64>,
    /// Pairs asked about last, and whether they stand.
    answers: Vec<u64>,
    number: u64,
}

/// Gives every table a number of its own, from 1.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl Forward {
    /// The tables for `merges`, if the laws hold for them.
    pub(super) fn new(merges: &Merges) -> Option<Forward> {
        table::build(merges)
    }

    /// Merges `ids`, as `Merges::apply`; `None`, and nothing is done, if there are symbols that it cannot
    /// merge.
    pub(super) fn apply(
        &self,
        merges: &Merges,
        ids: &mut Vec<u32>,
        starts: Option<&mut Vec<u32>>,
        scratch: &mut Scratch,
    ) -> Option<()> {
        scratch.row.clear();
        scratch.blocked.clear();
        scratch.blocked.resize(ids.len() / 64 + 1, 0);
        if scratch.number != self.number {
            scratch.number = self.number;
            scratch.answers.clear();
            scratch.answers.resize(ANSWERS, u64::MAX);
        }
        self.fill(merges, ids, scratch)?;
        if let Some(starts) = starts {
            let mut at = 0;
            for &id in &scratch.row {
                starts.push(at);
                at += self.length(id) as u32;
            }
        }
        ids.clear();
        ids.extend_from_slice(&scratch.row);
        Some(())
    }

    fn fill(&self, merges: &Merges, ids: &[u32], scratch: &mut Scratch) -> Option<()> {
        let Scratch { row, blocked, answers, .. } = scratch;
        let (mut at, mut last) = (0, NONE);
        let mut next = if ids.is_empty() { return Some(()) } else { self.longest(ids, 0)? };
        loop {
            let end = at + self.length(next);
            let free = blocked[end / 64] >> (end % 64) & 1 == 0;
            if free && (last == NONE || self.may_follow(merges, last, next, answers)) {
                row.push(next);
                last = next;
                at = end;
                if at == ids.len() {
                    return Some(());
                }
                next = self.after(ids, at, last)?;
                continue;
            }
            next = self.shorter(next);
            while next == NONE {
                blocked[at / 64] |= 1 << (at % 64);
                // Merging gives some row, so there is a token to take back.
                let taken = row.pop()?;
                at -= self.length(taken);
                next = self.shorter(taken);
                last = row.last().copied().unwrap_or(NONE);
            }
        }
    }

    fn of(&self, id: u32) -> &Token {
        self.tokens.get(id as usize).unwrap_or(&SYMBOL)
    }

    fn length(&self, id: u32) -> usize {
        self.of(id).length.max(1) as usize
    }

    fn shorter(&self, id: u32) -> u32 {
        self.of(id).shorter
    }

    /// The longest token that the symbols from `at` begin with; `None` at an id that is no symbol.
    fn longest(&self, ids: &[u32], at: usize) -> Option<u32> {
        let symbol = self.of(ids[at]);
        if symbol.made != 0 || symbol.node == NONE {
            return (self.open && symbol.made == 0).then_some(ids[at]);
        }
        Some(self.go_on(&ids[at + 1..], symbol.node))
    }

    /// The same after the token `last`, which ends there and often comes again.
    fn after(&self, ids: &[u32], at: usize, last: u32) -> Option<u32> {
        let Token { length, node, .. } = *self.of(last);
        let length = length as usize;
        if node == NONE || length < 2 || ids.get(at..at + length) != Some(&ids[at - length..at]) {
            return self.longest(ids, at);
        }
        Some(self.go_on(&ids[at + length..], node))
    }

    /// The last token on the way from `node` by `symbols`.
    fn go_on(&self, symbols: &[u32], mut node: u32) -> u32 {
        let mut found = self.nodes[node as usize].token;
        for &symbol in symbols {
            let first = self.nodes[node as usize].children as usize;
            let children = &self.nodes[first..self.nodes[node as usize + 1].children as usize];
            let child = if children.len() <= 8 {
                children.iter().position(|child| child.symbol == symbol)
            } else {
                children.binary_search_by_key(&symbol, |child| child.symbol).ok()
            };
            let Some(child) = child else { break };
            node = (first + child) as u32;
            if children[child].token != NONE {
                found = children[child].token;
            }
        }
        found
    }

    /// `stand`, of which the answers are remembered.
    #[inline]
    fn may_follow(&self, merges: &Merges, left: u32, right: u32, answers: &mut [u64]) -> bool {
        let key = u64::from(left) << 32 | u64::from(right);
        if key & STANDS != 0 {
            return self.stand(merges, left, right, false);
        }
        let place = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - ANSWERS.trailing_zeros());
        let answer = &mut answers[place as usize];
        if *answer & !STANDS != key {
            *answer = key | if self.stand(merges, left, right, false) { STANDS } else { 0 };
        }
        *answer & STANDS != 0
    }

    /// The rank of the merge of two.
    #[inline]
    fn rank(&self, merges: &Merges, left: u32, right: u32) -> Option<u32> {
        match &self.joins {
            Some(joins) => joins.get(left, right),
            None => merges.get(left, right).map(|merge| merge.rank),
        }
    }

    /// Whether merging the symbols of `left` and then `right` gives the two; `joining`: up to the merge of
    /// the two.
    ///
    /// Goes back in time: of the two symbols at the border, the one made last (of equals the right one) falls
    /// into its parts. Where they merge, that comes before `left`'s next merge if it ranks lower (of equals
    /// the left one comes first), and before `right`'s if it does not rank higher.
    fn stand(&self, merges: &Merges, mut left: u32, mut right: u32, joining: bool) -> bool {
        let (mut left_until, mut right_until) = (u32::MAX, u32::MAX);
        let mut ask = !joining;
        loop {
            if ask && let Some(rank) = self.rank(merges, left, right) {
                // Ranks are below the largest number, so this is no overflow.
                let made = rank + 1;
                if made < left_until && made <= right_until {
                    return false;
                }
            }
            ask = true;
            let (first, second) = (self.of(left), self.of(right));
            if first.made > second.made {
                left_until = first.made;
                left = first.right;
            } else if second.made > 0 {
                right_until = second.made;
                right = second.left;
            } else {
                return true;
            }
        }
    }
}
