//! The n best ways to encode a text: those of its pieces, put together (`reference/tokenizer.py`, `encode_nbest`).
//!
//! Leaves out the search in a piece (`models/unigram/nbest`).

use std::cmp::Ordering;

use crate::{
    Error,
    dropout::{Dropout, Ways},
    models::Several,
    tokenizer::{SpecialPolicy, Tokenizer, Work},
};

/// A way to encode a text: the ids and the score.
pub type Way = (Vec<u32>, f64);

/// No link.
const NONE: usize = usize::MAX;

/// The end of a way so far: which way of a piece, or a token that is no part of one; and the link before it.
struct Link {
    tail: Result<(usize, usize), u32>,
    before: usize,
}

impl Tokenizer {
    /// The `count` best ways to encode `text`, the best first; one, if no piece has scores.
    pub fn encode_nbest(
        &self,
        text: &str,
        policy: SpecialPolicy<'_>,
        count: usize,
        work: &mut Work,
    ) -> Result<Vec<Way>, Error> {
        let mut coins = Dropout { ways: Ways::Several(count), ..Dropout::NONE }.coins(0);
        // A piece hands on no ids: its ways are in `work`.
        let mut groups: Vec<Option<u32>> = Vec::new();
        self.each::<false>(text, policy, &mut coins, work, &mut |ids, _| groups.push(ids.first().copied()))?;
        let pieces = std::mem::take(&mut work.several);
        let mut links: Vec<Link> = Vec::new();
        let mut ways = vec![(0.0, NONE)];
        let mut piece = 0;
        for group in groups {
            let together = match group {
                Some(_) => ways.iter().enumerate().map(|(way, &(score, _))| (score, way, 0)).collect(),
                None => best_sums(&ways, &pieces[piece].scores, count),
            };
            let link = |(score, way, number): (f64, usize, usize)| {
                links.push(Link {
                    tail: group.ok_or((piece, number)).map_or_else(Ok, Err),
                    before: ways[way].1,
                });
                (score, links.len() - 1)
            };
            ways = together.into_iter().map(link).collect();
            piece += usize::from(group.is_none());
        }
        Ok(ways.into_iter().map(|(score, last)| (unrolled(&links, last, &pieces), score)).collect())
    }
}

/// The `count` largest sums of a way's score and a later one, with the numbers of both; of equal ones the first.
///
/// The n largest are among the first ways and the first of the later ones: with `i` and `j` before them, (i + 1) *
/// (j + 1) pairs are as good. Rounding may leave the later ones out of order; then all are tried.
fn best_sums(ways: &[(f64, usize)], later: &[f64], count: usize) -> Vec<(f64, usize, usize)> {
    let in_order =
        ways.is_sorted_by(|one, other| one.0 >= other.0) && later.is_sorted_by(|one, other| one >= other);
    let mut sums = Vec::new();
    for (way, &(score, _)) in ways.iter().enumerate() {
        let reach = if in_order { count / (way + 1) } else { count };
        sums.extend(later.iter().take(reach).enumerate().map(|(number, plus)| (score + plus, way, number)));
    }
    sums.sort_by(|one, other| other.0.partial_cmp(&one.0).unwrap_or(Ordering::Equal));
    sums.truncate(count);
    sums
}

/// The ids of a way.
fn unrolled(links: &[Link], mut last: usize, pieces: &[Several]) -> Vec<u32> {
    let mut tails = Vec::new();
    while last != NONE {
        tails.push(&links[last].tail);
        last = links[last].before;
    }
    let mut ids = Vec::new();
    for tail in tails.into_iter().rev() {
        match tail {
            Ok((piece, way)) => ids.extend_from_slice(pieces[*piece].ids(*way)),
            Err(id) => ids.push(*id),
        }
    }
    ids
}
