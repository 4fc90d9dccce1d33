//! The ends of many pieces in one run over a text, where every character is in some piece.
//!
//! ```text
//! a match ends before the symbol ahead, and nothing goes on   =>  the next search begins with that symbol: its state is
//!                                                                 known, and is the entry, with a mark that a piece ends
//! nothing goes on, and a match ended before                   =>  the run goes back to there
//! a look-ahead is asked for, or too much was read             =>  one search as ever (`search`)
//! ```
//!
//! So no symbol is read twice for most pieces, nor does a branch depend on where they end. Adds: `Ends`. Leaves out
//! automata that look at what is behind a piece.

use super::{
    kinds::Kinds,
    states::{ASK, DEAD, MATCH, States},
};

/// Set in an entry: a piece ends before the symbol ahead.
const CUT: u32 = 1 << 29;
/// The entry where nothing goes on.
const STOP: u32 = 1 << 28;
/// A piece is left to a search where so many bytes were read beyond its last match.
const LONG: usize = 256;
/// It is seen to that, and to the end of the text, between so many bytes.
const BLOCK: usize = 128;

/// For each state and symbol what follows, as said above.
#[derive(Debug)]
pub(super) struct Ends {
    table: Vec<u32>,
    start: u32,
}

impl Ends {
    /// Of states that forget what is behind.
    pub(super) fn new(states: &States, symbols: usize) -> Option<Ends> {
        let start = states.starts.first().copied().filter(|_| states.forgets())?;
        let table = states.table.iter().enumerate().map(|(at, &entry)| {
            let first = states.table[start as usize + at % symbols];
            match (entry & ASK != 0, entry & MATCH != 0, entry & !MATCH) {
                (true, ..) => ASK,
                (false, true, DEAD) if first & ASK != 0 || first == DEAD => ASK,
                (false, true, DEAD) => first | CUT,
                (false, false, DEAD) => STOP,
                _ => entry,
            }
        });
        (states.table.len() <= STOP as usize).then(|| Ends { table: table.collect(), start })
    }

    /// Writes where pieces end, the first of which begins at `begin`, and says how many; where it says less than there is
    /// room for, the next is for a search to find, or the text ends with it.
    pub(super) fn fill(&self, kinds: &Kinds, text: &[u8], begin: usize, ends: &mut [usize]) -> usize {
        let (mut row, mut place, mut last, mut count) = (self.start, begin, begin, 0);
        loop {
            let upto = text.len().min(place + BLOCK);
            while place < upto {
                let Some(end) = ends.get_mut(count) else { return count };
                let (kind, width) = kinds.at(text, place);
                let entry = self.table[row as usize + usize::from(kind)];
                if entry & (ASK | STOP) != 0 {
                    let begin = if count == 0 { begin } else { ends[count - 1] };
                    if entry & ASK != 0 || last == begin {
                        return count;
                    }
                    (ends[count], row, place) = (last, self.start, last);
                    count += 1;
                    continue;
                }
                *end = place;
                count += (entry / CUT % 2) as usize;
                last = if entry & (CUT | MATCH) != 0 { place } else { last };
                row = entry & !(CUT | MATCH);
                place += width;
            }
            if place >= text.len() || place > last + LONG {
                return count;
            }
        }
    }
}
