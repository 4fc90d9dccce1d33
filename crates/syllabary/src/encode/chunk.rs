//! Many neighbouring pieces at a time: their keys, one look for all of them, then those that were not there.
//!
//! Leaves out how one piece is encoded (`pieces`).

#[cfg(target_arch = "x86_64")]
use super::lanes;
use super::{
    asked::Name,
    output::Output,
    pieces::{FastWork, Pieces},
};
use crate::Error;

impl<O: Output> Pieces<'_, O> {
    /// Encodes neighbouring pieces of `text`, the first of which begins at `start`; at most `MANY`.
    pub(super) fn chunk(&mut self, text: &[u8], start: usize, ends: &[usize]) -> Result<(), Error> {
        let FastWork { short, longer, asked, found, .. } = &mut *self.work;
        asked.ask((short.lines(), longer), text, start, ends);
        self.out.look(found, short.lines(), asked, ends.len());
        if found.missed().is_empty() {
            found.hand_on(0, found.filled(), &mut self.out);
            return Ok(());
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = self.fast.lanes {
            self.learn(lanes);
        }
        let found = std::mem::take(&mut self.work.found);
        let (mut written, mut done) = (0, Ok(()));
        for missed in found.missed() {
            let (at, filled) = (usize::from(missed.at), usize::from(missed.filled));
            if filled > written {
                found.hand_on(written, filled, &mut self.out);
                written = filled;
            }
            let start = if at == 0 { start } else { ends[at - 1] };
            done = self.missed(text, (start, ends[at]), at);
            if done.is_err() {
                break;
            }
        }
        found.hand_on(written, found.filled(), &mut self.out);
        self.work.found = found;
        done
    }

    /// Encodes the piece at `at`, which was not found.
    #[inline]
    fn missed(&mut self, text: &[u8], span: (usize, usize), at: usize) -> Result<(), Error> {
        match self.work.asked.name(at) {
            Name::Short(key) => {
                self.short(text, span, key, key.hash() as u32);
                Ok(())
            }
            Name::Long(key) => self.longer(text, span, key, key.hash() as u32),
            Name::None => self.long(text, span.0, span.1),
        }
    }

    /// Encodes the short pieces that were not found and are not remembered, many at a time.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[inline(never)]
    fn learn(&mut self, lanes: lanes::Able) {
        let Pieces { fast, vocab, .. } = *self;
        let FastWork { short, asked, found, unknown, .. } = &mut *self.work;
        unknown.clear();
        let tokens = vocab.short();
        for missed in found.missed() {
            let key = asked.key(usize::from(missed.at));
            let hash = key.hash() as u32;
            if key.high != 0 && !short.settle(key, hash) {
                tokens.fetch_key(key);
                unknown.push((key, hash));
            }
        }
        if fast.whole_pieces {
            unknown.retain(|&(key, hash)| {
                let id = tokens.get(key);
                id.inspect(|&id| short.insert_new(key, hash, &[id]));
                id.is_none()
            });
        }
        if unknown.len() >= lanes::FEWEST {
            lanes.merge(unknown.iter().map(|&(key, _)| key), &fast.bytes, tokens, &mut |number, ids| {
                let (key, hash) = unknown[number];
                short.insert_new(key, hash, ids);
            });
        }
    }
}
