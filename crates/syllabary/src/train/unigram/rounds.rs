//! The rounds of learning: where it begins, and who is given the pieces that each leaves.
//!
//! With the pieces of any round learning goes on as if it had never ended: words are the same, and nothing else is
//! known of the rounds before. Leaves out the file in which they are kept (Python's side has it).

use super::{
    Watch,
    model::{Model, Piece},
    words::{ENDS, Words},
};
use crate::Error;

/// Pieces with their scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// One behind the other.
    pub text: String,
    /// Where each ends.
    pub ends: Vec<u64>,
    /// Logarithms of probabilities.
    pub scores: Vec<f64>,
}

/// Is given the pieces of a round; `false` ends learning.
pub type Keep<'a> = dyn FnMut(Scored) -> bool + 'a;

/// Who follows learning.
pub struct Rounds<'a, 'b> {
    /// The pieces to begin with, in place of seeds.
    pub known: Option<Scored>,
    /// Is given the pieces after each round, and the seeds before the first.
    pub keep: Option<&'a mut Keep<'b>>,
    /// Told how many there are.
    pub watch: &'a mut Watch<'b>,
}

impl Rounds<'_, '_> {
    /// Hands on the pieces.
    pub(super) fn kept(&mut self, model: &Model, words: &Words) -> Result<(), Error> {
        let Some(keep) = &mut self.keep else { return Ok(()) };
        let mut all = Scored { scores: model.scores.clone(), ..Scored::default() };
        for piece in &model.pieces {
            let symbols = piece.symbols(&words.text);
            all.text.extend(symbols.iter().filter_map(|symbol| words.characters.get(*symbol as usize)));
            all.ends.push(all.text.len() as u64);
        }
        if keep(all) { Ok(()) } else { Err(Error::Interrupted) }
    }
}

/// A model of pieces over the characters of some words, behind whose text they are spelled.
pub(super) fn model_of<const SINGLE: bool>(known: &Scored, words: &mut Words) -> Result<Model, Error> {
    let broken = || Error::Training("the pieces of a checkpoint are not of these words".to_owned());
    if known.ends.is_empty() || known.ends.len() != known.scores.len() {
        return Err(broken());
    }
    let (mut pieces, mut start) = (Vec::with_capacity(known.ends.len()), 0);
    words.text.reserve_exact(known.text.len());
    for end in &known.ends {
        let end = usize::try_from(*end).unwrap_or(usize::MAX);
        let begun = words.text.len();
        for character in known.text.get(start..end).ok_or_else(broken)?.chars() {
            let symbol = words.characters.binary_search(&character).map_err(|_| broken())?;
            words.text.push(symbol as u32);
        }
        let length = words.text.len() - begun;
        if length == 0 || words.text.len() > ENDS as usize {
            return Err(broken());
        }
        pieces.push(Piece { start: begun as u32, length: length as u32 });
        start = end;
    }
    if known.scores.iter().any(|score| !score.is_finite()) {
        return Err(broken());
    }
    Ok(Model::new::<SINGLE>(pieces, known.scores.clone()))
}
