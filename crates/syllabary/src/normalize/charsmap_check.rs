//! Whether a character map is whole: its trie, as far as a search of UTF-8 goes, and its texts.
//!
//! Leaves out what the bytes mean (`charsmap`).

use super::charsmap::{MAX_RULE, has_leaf, label, offset, value};

/// What UTF-8 expects next: how many bytes of the character are to come, and the least and greatest next one.
type State = (u8, u8, u8);
const START: State = (0, 0, 0x7F);
const STATES: usize = 8;

/// Each state that `after` gives has its own, below `STATES`.
fn number(state: State) -> usize {
    match state {
        (0, ..) => 0,
        (1, ..) => 1,
        (2, 0x80, 0xBF) => 2,
        (2, 0x80, _) => 3,
        (2, ..) => 4,
        (_, 0x80, 0xBF) => 5,
        (_, 0x80, _) => 6,
        _ => 7,
    }
}

/// Where units have their children: those of one begin at one place.
struct Labelled {
    /// Of each such place, where its list begins in `units`; the next place's is its end.
    starts: Vec<u32>,
    units: Vec<u32>,
}

impl Labelled {
    fn new(units: &[u32]) -> Labelled {
        let labelled = || units.iter().enumerate().skip(1).filter(|(_, unit)| label(**unit) <= 0xFF);
        let mut starts = vec![0; (units.len() | 0xFF) + 2];
        labelled().for_each(|(at, unit)| starts[(at ^ label(*unit) as usize) + 1] += 1);
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let (mut ends, mut children) = (starts.clone(), vec![0; units.len()]);
        for (at, unit) in labelled() {
            let end = &mut ends[at ^ label(*unit) as usize];
            children[*end as usize] = at as u32;
            *end += 1;
        }
        Labelled { starts, units: children }
    }

    fn of(&self, place: usize) -> &[u32] {
        match (self.starts.get(place), self.starts.get(place + 1)) {
            (Some(&start), Some(&end)) => &self.units[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// All that a search of UTF-8 can reach is in the trie, each rule ends with a character and has a text, and no
/// search is longer than `MAX_RULE` or goes in a circle.
pub(super) fn check(units: &[u32], texts: &str) -> Result<(), &'static str> {
    let labelled = Labelled::new(units);
    // For each state of each unit 2 and the length of the longest search from there on; 1: one is on the way.
    let mut lengths = vec![0_u16; units.len() * STATES];
    let slot = |(node, state): (usize, State)| node * STATES + number(state);
    let mut waiting = vec![((0, START), false)];
    while let Some((place, is_done)) = waiting.pop() {
        if is_done {
            let length = |next| lengths[slot(next)].saturating_sub(2);
            let longest = next_places(units, &labelled, place).map(length).max().unwrap_or(0) + 1;
            if usize::from(longest) > MAX_RULE {
                return Err("a rule is too long");
            }
            lengths[slot(place)] = longest + 2;
            continue;
        }
        match std::mem::replace(&mut lengths[slot(place)], 1) {
            0 => {}
            1 => return Err("its trie leads in a circle"),
            done => {
                lengths[slot(place)] = done;
                continue;
            }
        }
        check_unit(units, texts, place)?;
        waiting.push((place, true));
        waiting.extend(next_places(units, &labelled, place).map(|next| (next, false)));
    }
    Ok(())
}

/// Where a search of UTF-8 can go on from a unit.
fn next_places(
    units: &[u32],
    labelled: &Labelled,
    (node, state): (usize, State),
) -> impl Iterator<Item = (usize, State)> {
    // The label of a child is one byte.
    labelled.of(node ^ offset(units[node])).iter().filter_map(move |&child| {
        after(state, label(units[child as usize]) as u8).map(|after| (child as usize, after))
    })
}

fn check_unit(units: &[u32], texts: &str, (node, state): (usize, State)) -> Result<(), &'static str> {
    let children = node ^ offset(units[node]);
    if (children | 0xFF) >= units.len() {
        return Err("a step leads out of its trie");
    }
    if !has_leaf(units[node]) {
        return Ok(());
    }
    if node == 0 || state != START {
        return Err("a rule does not end with a character");
    }
    let leaf = units[children];
    if label(leaf) <= 0xFF || value(leaf) >= texts.len() || !texts.is_char_boundary(value(leaf)) {
        return Err("a rule has no text");
    }
    Ok(())
}

/// What UTF-8 expects after one more byte; `None` if it may not come here.
fn after((count, low, high): State, byte: u8) -> Option<State> {
    match (count, byte) {
        (0, 0..=0x7F) => Some(START),
        (0, 0xC2..=0xDF) => Some((1, 0x80, 0xBF)),
        (0, 0xE0) => Some((2, 0xA0, 0xBF)),
        (0, 0xED) => Some((2, 0x80, 0x9F)),
        (0, 0xE1..=0xEF) => Some((2, 0x80, 0xBF)),
        (0, 0xF0) => Some((3, 0x90, 0xBF)),
        (0, 0xF4) => Some((3, 0x80, 0x8F)),
        (0, 0xF1..=0xF3) => Some((3, 0x80, 0xBF)),
        (1, _) if (low..=high).contains(&byte) => Some(START),
        (2.., _) if (low..=high).contains(&byte) => Some((count - 1, 0x80, 0xBF)),
        _ => None,
    }
}
