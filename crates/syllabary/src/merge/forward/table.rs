//! The tables of `Forward`, from the pairs that merge.
//!
//! A token is what merging makes of its own symbols if some pair makes it whose two parts are so and stand
//! side by side up to that merge (`Forward::stand`); shorter tokens are decided before longer ones. Leaves
//! out, with `None`, what `Forward` leaves out, and tables that would be large.

use std::collections::BTreeMap;

use super::{Forward, Joins, NONE, NUMBERS, Node, Relaxed, SYMBOL, Token};
use crate::{
    merge::{Merges, Rule},
    vocab::Vocab,
};

/// The most symbols of all tokens together.
const MAX_SYMBOLS: usize = 1 << 22;
/// The most symbols looked at to see what cuts there are.
const MAX_WORK: usize = 1 << 28;

/// A pair and what it becomes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    left: u32,
    right: u32,
    id: u32,
    rank: u32,
}

/// The symbols of every token that is not a symbol itself.
#[derive(Debug, Default)]
struct Spellings {
    symbols: Vec<u32>,
    /// For each id its place in `symbols`; no place: not spelled.
    spans: Vec<Option<(u32, u32)>>,
}

impl Spellings {
    fn of(&self, id: u32) -> Option<&[u32]> {
        let (start, end) = (*self.spans.get(id as usize)?)?;
        self.symbols.get(start as usize..end as usize)
    }

    fn add(&mut self, id: u32, symbols: &[u32]) -> Option<()> {
        let start = self.symbols.len();
        if start + symbols.len() > MAX_SYMBOLS {
            return None;
        }
        self.symbols.extend_from_slice(symbols);
        self.spans[id as usize] = Some((start as u32, self.symbols.len() as u32));
        Some(())
    }
}

pub(super) fn build(merges: &Merges) -> Option<Forward> {
    let (spellings, pairs, open) = match merges.rule() {
        Rule::Listed(table) => {
            let pairs: Vec<Pair> =
                table.iter().map(|((left, right), m)| Pair { left, right, id: m.id, rank: m.rank }).collect();
            (spell(&pairs)?, pairs, true)
        }
        Rule::Ranked(vocab) => {
            let spellings = spell_bytes(vocab)?;
            let pairs = cuts(vocab, &spellings)?;
            (spellings, pairs, false)
        }
    };
    let pairs = by_length(&pairs, &spellings);
    let blank = Token { length: 0, ..SYMBOL };
    let tokens = (0..spellings.spans.len() as u32)
        .map(|id| if spellings.of(id).is_some_and(|symbols| symbols.len() == 1) { SYMBOL } else { blank })
        .collect();
    // The rank of a ranked pair is its result.
    let joins =
        if open { None } else { Joins::new(pairs.iter().map(|pair| (pair.left, pair.right, pair.id))) };
    let number = NUMBERS.fetch_add(1, Relaxed);
    let mut forward = Forward { tokens, nodes: Vec::new(), joins, number, open };
    for pair in &pairs {
        forward.decide(merges, &spellings, pair)?;
    }
    // What is never made must not pass for a symbol.
    for (id, token) in forward.tokens.iter_mut().enumerate() {
        if token.length == 0 && spellings.of(id as u32).is_some() {
            token.made = 1;
        }
    }
    forward.grow(&spellings);
    Some(forward)
}

/// The symbols of the results of a list, if each has one spelling.
fn spell(pairs: &[Pair]) -> Option<Spellings> {
    let bound =
        pairs.iter().map(|pair| pair.left.max(pair.right).max(pair.id) as usize + 1).max().unwrap_or(0);
    if bound > 16 * pairs.len() + 1_000_000 {
        return None;
    }
    let mut made_by: Vec<Option<usize>> = vec![None; bound];
    for (number, pair) in pairs.iter().enumerate() {
        made_by[pair.id as usize] = Some(number);
    }
    let mut spellings = Spellings { symbols: Vec::new(), spans: vec![None; bound] };
    let mut waiting = Vec::new();
    for pair in pairs {
        waiting.extend([pair.id, pair.left, pair.right]);
        let mut steps = 0;
        while let Some(&id) = waiting.last() {
            steps += 1;
            if steps > 4 * bound {
                return None; // A result is made of itself.
            }
            if spellings.of(id).is_some() {
                waiting.pop();
                continue;
            }
            let Some(number) = made_by[id as usize] else {
                spellings.add(id, &[id])?;
                continue;
            };
            let Pair { left, right, .. } = pairs[number];
            match (spellings.of(left), spellings.of(right)) {
                (Some(first), Some(second)) => {
                    let symbols = [first, second].concat();
                    spellings.add(id, &symbols)?;
                }
                (first, _) => waiting.push(if first.is_none() { left } else { right }),
            }
        }
    }
    let work = pairs.iter().filter_map(|pair| spellings.of(pair.id)).map(<[u32]>::len).sum::<usize>();
    let agrees = |pair: &Pair| {
        let (left, right) = (spellings.of(pair.left)?, spellings.of(pair.right)?);
        let whole = spellings.of(pair.id)?;
        Some(whole.len() == left.len() + right.len() && whole.starts_with(left) && whole.ends_with(right))
    };
    (work <= MAX_WORK && pairs.iter().all(|pair| agrees(pair) == Some(true))).then_some(spellings)
}

/// The tokens of a vocabulary by the ids of their bytes.
fn spell_bytes(vocab: &Vocab) -> Option<Spellings> {
    let mut spellings = Spellings { symbols: Vec::new(), spans: vec![None; vocab.id_bound() as usize] };
    let bytes: Vec<Option<u32>> = (0..=u8::MAX).map(|byte| vocab.id(&[byte])).collect();
    let mut symbols = Vec::new();
    for (id, token) in vocab.iter() {
        symbols.clear();
        symbols.extend(token.iter().filter_map(|&byte| bytes[usize::from(byte)]));
        if !token.is_empty() && symbols.len() == token.len() && vocab.id(token) == Some(id) {
            spellings.add(id, &symbols)?;
        }
    }
    Some(spellings)
}

/// Every way to cut a token of a vocabulary in two of them, if that does not take too long.
fn cuts(vocab: &Vocab, spellings: &Spellings) -> Option<Vec<Pair>> {
    let mut sorted: Vec<(&[u8], u32)> =
        vocab.iter().filter(|&(id, _)| spellings.of(id).is_some()).map(|(id, token)| (token, id)).collect();
    sorted.sort_unstable();
    let (mut pairs, mut work) = (Vec::new(), 0);
    // In this order the tokens that one begins with are those before it that have not been left.
    let mut begins: Vec<(&[u8], u32)> = Vec::new();
    for (token, id) in sorted {
        while begins.last().is_some_and(|(begin, _)| !token.starts_with(begin)) {
            begins.pop();
        }
        for &(begin, left) in &begins {
            let rest = &token[begin.len()..];
            work += rest.len();
            pairs.extend(vocab.id(rest).map(|right| Pair { left, right, id, rank: id }));
        }
        if work > MAX_WORK {
            return None;
        }
        begins.push((token, id));
    }
    Some(pairs)
}

/// The pairs by the length of what they make.
fn by_length(pairs: &[Pair], spellings: &Spellings) -> Vec<Pair> {
    let mut by_length: BTreeMap<usize, Vec<Pair>> = BTreeMap::new();
    for pair in pairs {
        by_length.entry(spellings.of(pair.id).map_or(0, <[u32]>::len)).or_default().push(*pair);
    }
    by_length.into_values().flatten().collect()
}

impl Forward {
    /// Notes whether `pair` is how merging makes its result; `None` if the laws do not hold.
    fn decide(&mut self, merges: &Merges, spellings: &Spellings, pair: &Pair) -> Option<()> {
        let (left, right) = (*self.of(pair.left), *self.of(pair.right));
        if left.length == 0 || right.length == 0 || !self.stand(merges, pair.left, pair.right, true) {
            return Some(());
        }
        let made = pair.rank.checked_add(1)?;
        let length = spellings.of(pair.id)?.len() as u32;
        let token = self.tokens.get_mut(pair.id as usize)?;
        if made < left.made || made < right.made || token.length != 0 {
            return None;
        }
        *token = Token { length, made, left: pair.left, right: pair.right, ..SYMBOL };
        Some(())
    }

    /// Makes the trie, level by level.
    fn grow(&mut self, spellings: &Spellings) {
        let made = |&id: &u32| self.tokens[id as usize].length > 0;
        let mut sorted: Vec<u32> = (0..self.tokens.len() as u32).filter(made).collect();
        sorted.sort_unstable_by_key(|&id| spellings.of(id));
        let spelled = |at: usize| spellings.of(sorted[at]).unwrap_or_default();
        // Each node: the tokens below it, how many symbols they share, and the longest of them that ends
        // above.
        let mut level = vec![(0, sorted.len(), 0, NONE)];
        let root = Node { symbol: NONE, token: NONE, children: 0 };
        let mut nodes = vec![root];
        let mut at = 0;
        while at < level.len() {
            let (mut start, end, depth, mut above) = level[at];
            nodes[at].children = nodes.len() as u32;
            if start < end && depth > 0 && spelled(start).len() == depth {
                let token = sorted[start];
                nodes[at].token = token;
                self.tokens[token as usize].shorter = above;
                self.tokens[token as usize].node = at as u32;
                above = token;
                start += 1;
            }
            while start < end {
                let symbol = spelled(start)[depth];
                let count = (start..end).take_while(|&other| spelled(other)[depth] == symbol).count();
                nodes.push(Node { symbol, ..root });
                level.push((start, start + count, depth + 1, above));
                start += count;
            }
            at += 1;
        }
        nodes.push(Node { children: nodes.len() as u32, ..root });
        self.nodes = nodes;
    }
}
