//! Which pieces are dropped: those without which the corpus is hardly less likely.
//!
//! A piece that is dropped is taken to be replaced, wherever the best ways use it, by the second best way to cut its
//! own text. With `all_grow` as Hugging Face has it: what nothing replaces stays, used or not, and each piece that is
//! gone is taken to become as many tokens as there are pieces. The specification is `reference/train_unigram.py`.

use std::ops::Range;

use super::{
    super::{GoOn, going, parallel::in_parts},
    STRIDE, UnigramOptions, in_lanes,
    lattice::{Lattice, TwoBest, place_of, round},
    model::Model,
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
    let unknown = options.unknown_of(&model);
    let used = in_lanes::<SINGLE>(words, &model, options, go_on, &|lattice, word, count, sums| {
        lattice.best::<SINGLE>(word.start, word.length, &model, |piece| {
            if let Some(piece) = place_of(piece, unknown) {
                sums[piece] = round::<SINGLE>(sums[piece] + count);
            }
        });
    })?;
    let total = round::<SINGLE>(used.iter().sum());
    let mut kept = Vec::new();
    let mut losses = Vec::new();
    let size = model.pieces.len();
    let share = size.div_ceil(options.threads.max(1)).max(1);
    let parts = (0..size).step_by(share).map(|start| start..(start + share).min(size)).collect();
    let found = in_parts(parts, go_on, &|part: Range<usize>, go_on: &mut GoOn<'_>| {
        judge::<SINGLE>(&model, part, (&used, total), options, go_on)
    })?;
    for part in found {
        kept.extend(part.kept);
        losses.extend(part.losses);
    }
    losses.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let all = options.size_of(&model);
    let wanted = options.desired.max(round::<SINGLE>(options.shrinking_factor * all as f64) as usize);
    let room = match wanted.checked_sub(kept.len() + all - size) {
        None if options.all_grow => size,
        room => room.unwrap_or(0),
    };
    kept.extend(losses.iter().take(room).map(|(id, _)| *id));
    let scores = kept.iter().map(|id| model.scores[*id]).collect();
    Ok(model.of::<SINGLE>(&kept, scores))
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
    model: &Model,
    part: Range<usize>,
    (used, total): (&[f64], f64),
    options: &UnigramOptions,
    go_on: &mut GoOn<'_>,
) -> Result<Judged, Error> {
    let (mut lattice, mut search) = (Lattice::default(), TwoBest::default());
    let mut judged = Judged::default();
    let unknown = options.unknown_of(model);
    for id in part {
        if id % STRIDE == STRIDE - 1 {
            going(go_on)?;
        }
        if used[id] == 0.0 && !options.all_grow {
            continue;
        }
        let piece = model.pieces[id];
        lattice.set(piece.start, piece.length, model);
        match instead::<SINGLE>(&mut lattice, &mut search) {
            Instead::Nothing => judged.kept.push(id),
            Instead::Unused if options.all_grow && used[id] > 0.0 => judged.kept.push(id),
            Instead::Pieces(pieces) if used[id] > 0.0 => {
                let count = |piece: &u32| place_of(*piece, unknown).map(|piece| used[piece]);
                let others: Vec<Option<f64>> = pieces.iter().map(count).collect();
                let tokens = if options.all_grow { options.size_of(model) } else { others.len() };
                judged.losses.push((id, loss::<SINGLE>((used[id], total), (&others, model.unknown), tokens)));
            }
            Instead::Pieces(_) | Instead::Unused => {}
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

/// How much the logarithm of the likelihood, by token, loses when each of `count` tokens becomes `tokens`; `others`:
/// how often each of those that stand for it is used; those for which nothing is counted are worth `unknown`.
fn loss<const SINGLE: bool>(
    (count, total): (f64, f64),
    (others, unknown): (&[Option<f64>], f64),
    tokens: usize,
) -> f64 {
    let all = round::<SINGLE>(total.ln());
    let with = round::<SINGLE>(count.ln() - all);
    let more = round::<SINGLE>(count * (tokens as f64 - 1.0));
    let all = round::<SINGLE>(round::<SINGLE>(total + more).ln());
    let mut without = 0.0;
    for other in others {
        let score = other.map_or(unknown, |other| round::<SINGLE>(other + count).ln() - all);
        without = round::<SINGLE>(without + score);
    }
    round::<SINGLE>(round::<SINGLE>(count / total) * round::<SINGLE>(with - without))
}
