//! Which pieces are dropped: those without which the corpus is hardly less likely.
//!
//! A piece that is dropped is taken to be replaced, wherever the best ways use it, by the second best way to cut its
//! own text. The specification is `reference/train_unigram.py`.

use std::ops::Range;

use super::{
    super::{GoOn, parallel::in_parts},
    STRIDE, UnigramOptions, in_lanes,
    lattice::{Lattice, TwoBest, round},
    model::{Model, UNKNOWN},
    words::Words,
};
use crate::Error;

/// What stands for a piece when it is gone.
#[derive(Clone, Debug)]
enum Instead {
    /// Nothing can: it stays.
    Nothing,
    /// It is not used even now: its own text is better cut.
    Unused,
    /// These pieces.
    Pieces(Vec<u32>),
}

/// The model with its most useful pieces: those that nothing replaces, then by loss.
pub fn prune<const SINGLE: bool>(
    words: &Words,
    model: Model,
    options: &UnigramOptions,
    go_on: &mut GoOn<'_>,
) -> Result<Model, Error> {
    let used = in_lanes::<SINGLE>(words, &model, options, go_on, &|lattice, count, sums| {
        lattice.viterbi::<SINGLE>();
        for number in &lattice.best {
            let piece = match lattice.node(*number).piece {
                UNKNOWN if options.unknown_first => 0,
                UNKNOWN => continue,
                piece => piece as usize,
            };
            sums[piece] = round::<SINGLE>(sums[piece] + count);
        }
    })?;
    let total = round::<SINGLE>(used.iter().sum());
    let mut kept = Vec::new();
    let mut losses = Vec::new();
    let size = model.pieces.len();
    let share = size.div_ceil(options.threads.max(1)).max(1);
    let parts = (0..size).step_by(share).map(|start| start..(start + share).min(size)).collect();
    let found = in_parts(parts, go_on, &|part: Range<usize>, go_on: &mut GoOn<'_>| {
        judge::<SINGLE>(words, &model, part, (&used, total), options.unknown_first, go_on)
    })?;
    for part in found {
        kept.extend(part.kept);
        losses.extend(part.losses);
    }
    losses.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let wanted = options.desired.max((options.shrinking_factor * size as f64) as usize);
    let room = wanted.saturating_sub(kept.len());
    kept.extend(losses.iter().take(room).map(|(id, _)| *id));
    let pieces = kept.iter().map(|id| model.pieces[*id]).collect();
    let scores = kept.iter().map(|id| model.scores[*id]).collect();
    drop(model);
    Ok(Model::new::<SINGLE>(pieces, scores, &words.text, words.characters.len()))
}

/// What was found out of some pieces.
#[derive(Default)]
struct Judged {
    kept: Vec<usize>,
    /// How much less likely the corpus is without each of these.
    losses: Vec<(usize, f64)>,
}

/// Judges some of the pieces; `used`: how often each stands in the best ways, and all of them.
fn judge<const SINGLE: bool>(
    words: &Words,
    model: &Model,
    part: Range<usize>,
    (used, total): (&[f64], f64),
    unknown_first: bool,
    go_on: &mut GoOn<'_>,
) -> Result<Judged, Error> {
    let (mut lattice, mut search) = (Lattice::default(), TwoBest::default());
    let mut judged = Judged::default();
    for id in part {
        if id % STRIDE == STRIDE - 1 && !go_on() {
            return Err(Error::Interrupted);
        }
        if used[id] == 0.0 {
            continue;
        }
        lattice.set(model.pieces[id].symbols(&words.text), model);
        match instead::<SINGLE>(&mut lattice, &mut search) {
            Instead::Unused => {}
            Instead::Nothing => judged.kept.push(id),
            Instead::Pieces(pieces) => {
                let count = |piece: &u32| match *piece {
                    UNKNOWN if unknown_first => used[0],
                    UNKNOWN => 0.0,
                    piece => used[piece as usize],
                };
                let others: Vec<f64> = pieces.iter().map(count).collect();
                judged.losses.push((id, loss::<SINGLE>(used[id], total, &others)));
            }
        }
    }
    Ok(judged)
}

fn instead<const SINGLE: bool>(lattice: &mut Lattice, search: &mut TwoBest) -> Instead {
    match search.find::<SINGLE>(lattice) {
        (_, None) => Instead::Nothing,
        (best, Some(_)) if best.len() > 1 => Instead::Unused,
        (_, Some(second)) => Instead::Pieces(second),
    }
}

/// How much the logarithm of the likelihood, by token, loses when `count` tokens become others.
fn loss<const SINGLE: bool>(count: f64, total: f64, others: &[f64]) -> f64 {
    let all = round::<SINGLE>(total.ln());
    let with = round::<SINGLE>(count.ln() - all);
    let more = round::<SINGLE>(count * (others.len() as f64 - 1.0));
    let all = round::<SINGLE>(round::<SINGLE>(total + more).ln());
    let mut without = 0.0;
    for other in others {
        without = round::<SINGLE>(without + (round::<SINGLE>(other + count).ln() - all));
    }
    round::<SINGLE>(round::<SINGLE>(count / total) * round::<SINGLE>(with - without))
}
