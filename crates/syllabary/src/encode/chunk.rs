//! Many neighbouring pieces at a time: their keys, one look for all of them, then those that were not there.
//!
//! Leaves out what is done with a piece that was not there (`open`).

use std::ops::Range;

use super::{
    abreast,
    asked::{Asked, Name},
    found::{Found, Missed},
    inside::Inside,
    key::{Key, plain},
    lasts::Lasts,
    memory::{FAR, LONG_FAR, Short, Slot},
    output::Output,
    pieces::{Fast, FastWork, Pieces},
};
use crate::{Error, merge::Merges, vocab::Vocab};

/// Fewer pieces are looked up one by one.
const WORTH: usize = 16;

impl<O: Output> Pieces<'_, O> {
    /// Encodes the pieces of `text` between one edge and the next; at most `MANY`.
    pub(super) fn chunk(&mut self, text: &[u8], edges: &[usize]) -> Result<(), Error> {
        let [starts @ .., _] = edges else { return Ok(()) };
        let ends = &edges[1..];
        if ends.len() < WORTH && self.work.held.is_empty() {
            return self.few(text, (starts, ends));
        }
        let bytes = edges[ends.len()] - edges[0];
        self.make_room(ends.len(), bytes)?;
        let FastWork { short, longer, asked, found, held, joined, ahead, .. } = &mut *self.work;
        let before = found.missed().len();
        ahead.some();
        asked.ask::<false>((short.lines(), longer), text, (starts, ends));
        ahead.some();
        joined.mark(asked);
        self.out.look(found, (short.lines(), longer), asked, ends.len());
        let missed = found.missed().len();
        if missed == 0 {
            found.hand_on(0, found.filled(), &mut self.out);
            found.clear();
            return Ok(());
        }
        let spells = self.merges.list().is_some();
        let waits = self.waits && before == 0 && held.is_worth((asked, found), bytes, spells);
        let asked = std::mem::take(asked);
        let new = New { text, starts, ends, asked: &asked };
        let done = if waits || before > 0 { self.hold(&new, before) } else { self.resolve(&new) };
        self.work.asked = asked;
        done
    }

    /// Encodes less than `WORTH` pieces, one by one; what they will be looked up by is asked for before, and where the
    /// text before had new pieces, the tokens too that they may be.
    fn few(&mut self, text: &[u8], (starts, ends): (&[usize], &[usize])) -> Result<(), Error> {
        let FastWork { short, longer, asked, are_new, joined, .. } = &mut *self.work;
        let spans = || starts.iter().copied().zip(ends.iter().copied());
        for (at, span) in spans().enumerate() {
            asked.one::<false>((short.lines(), longer), text, span, at);
            if *are_new {
                self.vocab.short().fetch_all(asked.key(at));
            }
        }
        *are_new = false;
        joined.mark(asked);
        for (at, span) in spans().enumerate() {
            let (name, short) = (self.work.asked.name(at), &self.work.short);
            if name == Name::Mark {
                self.work.joined.hand_on(&mut self.out);
                continue;
            }
            let slot = if let Name::Short(key) = name { short.find(key, key.hash() as u32) } else { None };
            if let Some(slot) = slot {
                hand_on(short, slot, &mut self.out);
                continue;
            }
            let longer = &self.work.longer;
            let long = if let Name::Long(key) = name { longer.find(key, key.hash() as u32) } else { None };
            if let Some(slot) = long {
                self.out.many(longer.ids(slot, &mut [0; LONG_FAR]));
                continue;
            }
            self.work.are_new = true;
            let plain = if let Name::Short(key) = name { self.learn_plain(text, span, key) } else { None };
            match plain {
                Some((ids, count)) => self.out.many(&ids[..count]),
                None => self.one(text, span, name)?,
            }
        }
        Ok(())
    }

    /// Encodes one piece that is not remembered among the short ones.
    fn one(&mut self, text: &[u8], span: (usize, usize), name: Name) -> Result<(), Error> {
        let mut inside = self.work.take_inside(self.fast);
        inside.clear();
        let mut done = self.open(&mut inside, text, span, name);
        loop {
            self.look_inside(&mut inside, text);
            self.put(&mut inside, text, 0, name);
            let Ok(Some(from)) = done else { break };
            if let Err(error) = self.ask.check() {
                done = Err(error);
                break;
            }
            inside.clear();
            done =
                self.go_on(&mut inside, text, (span.0, from), &[span.1]).map(|rest| rest.map(|(_, at)| at));
        }
        self.work.inside = Some(inside);
        done.map(drop)
    }

    /// Cuts neighbouring pieces as one part.
    fn go_on(
        &mut self,
        inside: &mut Inside,
        text: &[u8],
        places: (usize, usize),
        ends: &[usize],
    ) -> Result<Option<(usize, usize)>, Error> {
        let rest = self.cut_all(inside, text, places, ends)?;
        inside.end(false);
        Ok(rest)
    }

    /// Hands on what was found, and between it the pieces that were not.
    pub(super) fn others(
        &mut self,
        &New { text, starts, ends, asked }: &New<'_>,
        found: &Found,
        inside: &mut Inside,
    ) -> Result<(), Error> {
        let (missed, mut done, mut written, mut rest) = (found.missed(), 0, 0, None);
        while done < missed.len() {
            if rest.is_none() {
                done += self.remembered((asked, &missed[done..]), found, &mut written);
            }
            inside.clear();
            self.work.firsts.clear();
            while inside.has_room()
                && let Some(piece) = missed.get(done)
            {
                let at = usize::from(piece.at);
                self.work.firsts.push(*piece);
                let name = asked.name(at);
                let count = if name == Name::Apart { asked.run(&missed[done..]) } else { 1 };
                rest = match rest {
                    None if name != Name::Apart => {
                        self.open(inside, text, (starts[at], ends[at]), name)?.map(|from| (0, from))
                    }
                    _ => {
                        let from = rest.map_or(starts[at], |(_, from)| from);
                        self.go_on(inside, text, (starts[at], from), &ends[at..at + count])?
                    }
                };
                done += rest.map_or(count, |(pieces, _)| pieces);
                if rest.is_some() {
                    self.ask.check()?;
                    break;
                }
            }
            self.look_inside(inside, text);
            for part in 0..inside.parts() {
                let piece = self.work.firsts[part];
                let (at, filled) = (usize::from(piece.at), piece.filled as usize);
                found.hand_on(written, filled, &mut self.out);
                written = filled;
                match asked.name(at) {
                    Name::Mark => self.work.joined.hand_on(&mut self.out),
                    name => self.put(inside, text, part, name),
                }
            }
        }
        found.hand_on(written, found.filled(), &mut self.out);
        Ok(())
    }

    /// Hands on what is remembered by now and marks, up to the first piece that is neither, and what was found before
    /// each; says how many.
    #[inline]
    fn remembered(
        &mut self,
        (asked, missed): (&Asked, &[Missed]),
        found: &Found,
        written: &mut usize,
    ) -> usize {
        let FastWork { short, longer, joined, .. } = &mut *self.work;
        for (done, piece) in missed.iter().enumerate() {
            let name = asked.name(usize::from(piece.at));
            let slot = if let Name::Short(key) = name { short.find(key, key.hash() as u32) } else { None };
            let long = if let Name::Long(key) = name { longer.find(key, key.hash() as u32) } else { None };
            if slot.is_none() && long.is_none() && name != Name::Mark {
                return done;
            }
            let filled = piece.filled as usize;
            found.hand_on(*written, filled, &mut self.out);
            *written = filled;
            match (slot, long) {
                (Some(slot), _) => hand_on(short, slot, &mut self.out),
                (_, Some(slot)) => self.out.many(longer.ids(slot, &mut [0; LONG_FAR])),
                _ => joined.hand_on(&mut self.out),
            }
        }
        missed.len()
    }

    /// Looks up the strings of `inside`.
    fn look_inside(&mut self, inside: &mut Inside, text: &[u8]) {
        inside.look((self.work.short.lines(), &self.work.longer), text);
        learn((self.fast, self.vocab, self.merges), &mut *self.work, (&inside.asked, &inside.found));
    }

    /// Hands on the ids of one of the parts, which belongs to a piece of this name, and remembers them if they
    /// are new.
    #[inline]
    fn put(&mut self, inside: &mut Inside, text: &[u8], part: usize, name: Name) {
        let (strings, known, is_new) = inside.part(part);
        if !is_new {
            return self.put_all(inside, text, strings, known);
        }
        let Pieces { fast, vocab, merges, ask, waits, .. } = *self;
        let mut ids = std::mem::take(&mut self.work.ids);
        ids.clear();
        let work = &mut *self.work;
        Pieces { fast, vocab, merges, work, out: &mut ids, ask, waits }.put_all(inside, text, strings, known);
        self.out.many(&ids);
        match name {
            Name::Short(key) => self.work.short.insert_new(key, key.hash() as u32, &ids),
            // Of many ids only ASCII, which is merged: other text is cut as soon.
            Name::Long(key) if key.is_ascii() || ids.len() <= FAR => {
                self.work.longer.insert_new(key, key.hash() as u32, &ids);
            }
            _ => {}
        }
        self.work.ids = ids;
    }

    /// Hands on known ids and those of strings between them.
    #[inline]
    fn put_all(&mut self, inside: &mut Inside, text: &[u8], strings: Range<usize>, known: Range<usize>) {
        let mut written = known.start;
        for string in strings {
            let before = inside.string(string).2;
            inside.hand_on(written, before, &mut self.out);
            written = before;
            let (from, to) = inside.found.span(string);
            if from < to {
                inside.found.hand_on(from, to, &mut self.out);
            } else {
                self.string(inside, text, string);
            }
        }
        inside.hand_on(written, known.end, &mut self.out);
    }
}

/// Hands on the ids of a slot.
#[inline(always)]
fn hand_on(short: &Short, slot: &Slot<Key>, out: &mut impl Output) {
    match slot.few() {
        Some((count, ids)) => out.few(ids, count),
        None => out.many(short.ids(slot)),
    }
}

impl FastWork {
    pub(super) fn take_inside(&mut self, fast: &Fast) -> Box<Inside> {
        self.inside.take().unwrap_or_else(|| Box::new(Inside::new(&fast.cuts)))
    }
}

/// Pieces that were not found, if `Found` says which: their text, where in it they are, and what they were looked up by.
pub(super) struct New<'a> {
    pub(super) text: &'a [u8],
    pub(super) starts: &'a [usize],
    pub(super) ends: &'a [usize],
    pub(super) asked: &'a Asked,
}

/// Encodes the short ones that were not found and are not remembered, many at a time; how many they are.
#[inline(never)]
pub(super) fn learn(
    (fast, vocab, merges): (&Fast, &Vocab, &Merges),
    FastWork { short, unknown, .. }: &mut FastWork,
    (asked, found): (&Asked, &Found),
) -> usize {
    unknown.clear();
    let tokens = vocab.short();
    let mut lasts = Lasts::new();
    for missed in found.missed() {
        let key = asked.key(usize::from(missed.at));
        let hash = key.hash() as u32;
        if key.high != 0 && fast.learns(key) && !short.settle(key, hash) {
            if lasts.get(hash).is_some_and(|last| unknown[last].0 == key) {
                continue;
            }
            tokens.fetch_key(key);
            lasts.set(hash, unknown.len());
            unknown.push((key, hash));
        }
    }
    let count = unknown.len();
    if fast.whole_pieces {
        unknown.retain(|&(key, hash)| {
            let id = if key.high >> 56 != 0 { tokens.get(key) } else { None };
            id.inspect(|&id| short.insert_new(key, hash, &[id]));
            id.is_none()
        });
    }
    if unknown.len() >= abreast::FEWEST {
        let keys = unknown.iter().map(|&(key, _)| plain(key));
        abreast::merge_all((fast, vocab, merges), keys, &mut |number, ids, _| {
            let (key, hash) = unknown[number];
            short.insert_new(key, hash, ids);
        });
    }
    count
}
