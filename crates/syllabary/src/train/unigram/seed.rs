//! The seed vocabulary: texts that occur twice or more and that go on in different ways.
//!
//! The places of all words are sorted from the top down (wotd: Giegerich, Kurtz and Stoye, 2003), only as deep as
//! pieces are long: what comes out is the suffix array to that depth, and its groups are the inner nodes of the
//! suffix tree. A group is a candidate where it branches. Memory: 4 bytes a symbol, and 8 for each place of the
//! groups that are sorted at one time. Leaves out: which characters are pieces anyway.

use std::ops::Range;

use super::{
    super::{
        GoOn,
        parallel::in_parts,
        piece_rules::{PieceRules, Shape},
    },
    limit::Limit,
    model::Piece,
    words::{ENDS, Words, is_last},
};
use crate::Error;

/// So many parts of the places are sorted one after the other, on each thread.
const ROUNDS: usize = 4;
/// The bytes of a candidate, in a list that grows and is sorted.
const CANDIDATE: usize = 80;

/// When a text goes on in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branching {
    /// Followed by two different bytes, as sentencepiece has it: words by the first byte of the next, the last
    /// word of a sentence by zero. What ends sentences counts once more for these, if what comes behind the zero
    /// differs.
    Bytes,
    /// Followed by two different characters; ends, and what may stand in no piece, are one character. Each distinct
    /// word counts once; of equals the larger text comes first.
    Texts,
    /// Followed by two different characters, or ever by the end of a word.
    Ends,
}

/// What decides about seeds.
#[derive(Clone, Debug)]
pub struct SeedRules {
    /// See there.
    pub branching: Branching,
    /// How many there are, at most.
    pub size: usize,
    /// Longest piece, in characters.
    pub longest: usize,
    /// The shapes of characters by symbol, `None` where it may stand in no piece, and the rules for them.
    pub shapes: Option<(Vec<Option<Shape>>, PieceRules)>,
}

/// A text that may be a piece.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    start: u32,
    length: u32,
    /// How often it occurs, times its characters.
    pub score: u64,
}

impl Candidate {
    /// As a piece.
    pub fn piece(&self) -> Piece {
        Piece { start: self.start, length: self.length }
    }

    /// Its symbols.
    pub fn symbols<'a>(&self, words: &'a Words) -> &'a [u32] {
        &words.text[self.start as usize..][..self.length as usize]
    }
}

/// The candidates with the highest scores, of equals in the order of `Branching`; words must be sorted.
///
/// # Errors
/// `Error::Interrupted`.
pub fn seeds(
    words: &Words,
    rules: &SeedRules,
    threads: usize,
    left: Limit,
    go_on: &mut GoOn<'_>,
) -> Result<Vec<Candidate>, Error> {
    let threads = threads.max(1);
    let mut counts = vec![0_usize; words.characters.len()];
    for symbol in &words.text {
        if let Some(count) = counts.get_mut(*symbol as usize) {
            *count += 1;
        }
    }
    let all: usize = counts.iter().sum();
    // Under a limit: so many that the places of a round take a quarter of what is left.
    let finer = left.0.map_or(0, |left| 4 * threads * size_of::<Place>() * all / left.max(1));
    let parts = parts(&counts, finer.max(threads * ROUNDS));
    let places = |part: &Range<usize>| counts[part.clone()].iter().sum::<usize>();
    let most = parts.chunks(threads).map(|round| round.iter().map(places).sum::<usize>()).max().unwrap_or(0);
    let left = left.less("the places of symbols", most * size_of::<Place>())?;
    let room = left.0.map(|left| left / ((2 * threads + 1) * CANDIDATE));
    let mut found = Vec::new();
    for round in parts.chunks(threads) {
        let sorted = in_parts(round.to_vec(), go_on, &|part, go_on: &mut GoOn<'_>| {
            let mut finder = Finder { words, rules, go_on, room, found: Vec::new() };
            let places = places(&part);
            finder.part(part, places)?;
            Ok(finder.found)
        })?;
        for part in sorted {
            found.extend(part);
            thin(&mut found, words, rules, room)?;
        }
    }
    if rules.branching == Branching::Texts {
        found.reverse();
        found.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
        found.truncate(rules.size);
        found.shrink_to_fit();
        return Ok(found);
    }
    best(&mut found, words, rules);
    found.shrink_to_fit();
    Ok(found)
}

/// The best of candidates that come in order of their texts.
fn best(found: &mut Vec<Candidate>, words: &Words, rules: &SeedRules) {
    let bytes = |candidate: &Candidate| -> usize {
        candidate.symbols(words).iter().map(|symbol| words.characters[*symbol as usize].len_utf8()).sum()
    };
    // Stable: so those of a beginning, before the rest, are taken as all are.
    found.sort_by_cached_key(|candidate| {
        (std::cmp::Reverse(candidate.score), std::cmp::Reverse(bytes(candidate)))
    });
    found.truncate(rules.size);
}

/// Leaves the best, where there is room for so many.
fn thin(
    found: &mut Vec<Candidate>,
    words: &Words,
    rules: &SeedRules,
    room: Option<usize>,
) -> Result<(), Error> {
    let Some(room) = room.filter(|room| found.len() > *room) else { return Ok(()) };
    best(found, words, rules);
    let needed = 2 * found.len() * CANDIDATE;
    Limit(Some(room * CANDIDATE)).less("the seeds of its pieces", needed).map(drop)
}

/// Ranges of symbols that occur about equally often together.
fn parts(counts: &[usize], number: usize) -> Vec<Range<usize>> {
    let share = counts.iter().sum::<usize>() / number.max(1) + 1;
    let (mut found, mut start, mut sum) = (Vec::new(), 0, 0);
    for (symbol, count) in counts.iter().enumerate() {
        sum += count;
        if sum >= share || symbol + 1 == counts.len() {
            found.push(start..symbol + 1);
            (start, sum) = (symbol + 1, 0);
        }
    }
    found
}

/// The first byte of a character in UTF-8.
pub fn lead_of(character: char) -> u8 {
    let mut buffer = [0; 4];
    character.encode_utf8(&mut buffer);
    buffer[0]
}

struct Finder<'a, 'g, 'b> {
    words: &'a Words,
    rules: &'a SeedRules,
    go_on: &'g mut GoOn<'b>,
    /// So many candidates may be held.
    room: Option<usize>,
    found: Vec<Candidate>,
}

/// A place: the number of its word, and where it stands.
type Place = (u32, u32);

impl Finder<'_, '_, '_> {
    /// The candidates that begin with symbols in a range.
    fn part(&mut self, symbols: Range<usize>, most: usize) -> Result<(), Error> {
        let words = self.words;
        let mut places: Vec<Place> = Vec::with_capacity(most);
        for (number, word) in (0..).zip(&words.words) {
            for (at, symbol) in (word.start..).zip(words.symbols(word)) {
                if symbols.contains(&(*symbol as usize)) {
                    places.push((number, at));
                }
            }
        }
        self.refine(&mut places, 0)
    }

    /// Sorts places that share `depth` symbols by those that follow.
    fn refine(&mut self, places: &mut [Place], depth: u32) -> Result<(), Error> {
        if places.len() > 1 << 10 && !(self.go_on)() {
            return Err(Error::Interrupted);
        }
        let (words, text) = (self.words, &self.words.text);
        let next = |place: &Place| text[(place.1 + depth) as usize];
        places.sort_unstable_by_key(next);
        if depth >= 2 {
            self.consider(places, depth);
        }
        thin(&mut self.found, words, self.rules, self.room)?;
        if depth as usize >= self.rules.longest {
            return Ok(());
        }
        for group in places.chunk_by_mut(|a, b| next(a) == next(b)) {
            let symbol = next(&group[0]);
            if symbol >= ENDS || self.refused(symbol) || self.weight(group) < 2 {
                continue;
            }
            match group {
                [place] if self.rules.branching == Branching::Ends => self.alone(*place, depth + 1),
                [_] => {}
                group => self.refine(group, depth + 1)?,
            }
        }
        Ok(())
    }

    /// A text at a single place: only as a whole, to the end of its word, where that is another way to go on.
    fn alone(&mut self, place: Place, depth: u32) {
        let word = self.words.words[place.0 as usize];
        let length = word.start + word.length - place.1;
        if length >= depth.max(2) && length as usize <= self.rules.longest && word.count > 1 {
            self.push(place.1, length, word.count);
        }
    }

    fn refused(&self, symbol: u32) -> bool {
        self.rules.shapes.as_ref().is_some_and(|(shapes, _)| shapes[symbol as usize].is_none())
    }

    fn weight(&self, places: &[Place]) -> u64 {
        if self.rules.branching == Branching::Texts {
            return places.len() as u64;
        }
        places.iter().map(|place| self.words.words[place.0 as usize].count).fold(0, u64::saturating_add)
    }

    /// Takes the text that these places share, if it branches.
    fn consider(&mut self, places: &[Place], depth: u32) {
        let text = &self.words.text;
        let next = |place: &Place| text[(place.1 + depth) as usize];
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return };
        let (low, high) = (next(first), next(last));
        let branches = match self.rules.branching {
            Branching::Texts => {
                let ends = |symbol: u32| symbol >= ENDS || self.refused(symbol);
                low != high && (!ends(low) || places.iter().any(|place| !ends(next(place))))
            }
            Branching::Ends => low != high || high >= ENDS,
            Branching::Bytes => {
                let lead = self.lead(low);
                places.iter().any(|place| self.lead(next(place)) != lead)
            }
        };
        let mut weight = if branches { self.weight(places) } else { 0 };
        let ends = &places[places.partition_point(|place| !is_last(next(place)))..];
        if self.rules.branching == Branching::Bytes && ends.first().is_some_and(|end| next(end) != high) {
            weight = weight.saturating_add(self.weight(ends));
        }
        self.push(first.1, depth, weight);
    }

    /// The first byte of what follows.
    fn lead(&self, symbol: u32) -> u8 {
        match symbol {
            symbol if is_last(symbol) => 0,
            ENDS.. => (symbol - ENDS) as u8,
            symbol => lead_of(self.words.characters[symbol as usize]),
        }
    }

    fn push(&mut self, start: u32, length: u32, weight: u64) {
        let candidate = Candidate { start, length, score: weight.saturating_mul(u64::from(length)) };
        if weight > 1 && self.valid(candidate.symbols(self.words)) {
            self.found.push(candidate);
        }
    }

    /// Whether symbols may be a piece.
    fn valid(&self, symbols: &[u32]) -> bool {
        let Some((shapes, rules)) = &self.rules.shapes else { return true };
        let shape = |symbol: &u32| shapes[*symbol as usize];
        // Pieces end with a space or begin with one: from that side on, each part is a piece too.
        if rules.treat_whitespace_as_suffix {
            let mut all = symbols.iter().map(shape);
            let first = all.next().flatten();
            return all
                .try_fold(first, |left, right| left?.joined(right?, rules).map(Some))
                .flatten()
                .is_some();
        }
        let mut all = symbols.iter().rev().map(shape);
        let last = all.next().flatten();
        all.try_fold(last, |right, left| left?.joined(right?, rules).map(Some)).flatten().is_some()
    }
}
