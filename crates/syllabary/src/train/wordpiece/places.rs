//! Under a limit of memory, the places of those pairs alone that may merge soon.
//!
//! How often each pair stands is always known, and so which is next; where it stands is looked for when that has not been
//! noted, in one pass over the words for all that wait before the others. Leaves out: merging (`wordpiece`).

use rustc_hash::FxHashMap;

use super::{Merging, NOTED, Waiting, check};
use crate::{
    Error,
    train::{
        GoOn, ask,
        huggingface_learn::of_others,
        huggingface_names::{EDGE, GONE},
    },
};

/// So many pairs are looked for together, at most.
const TOGETHER: usize = 1 << 16;

impl Merging {
    /// `Error::Training` where what is held takes more than the memory given, all places forgotten.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        let Some(most) = self.most else { return Ok(()) };
        if self.placed > 0 && (self.placed > 2 * self.room || self.memory() > most) {
            self.forget();
        }
        check(self.memory(), self.most)
    }

    /// The pair that merges next, its places known; `None` if there is none.
    pub(super) fn best(&mut self, go_on: &mut GoOn<'_>) -> Result<Option<Waiting>, Error> {
        let Some(best) = self.first() else { return Ok(None) };
        if self.pairs[best.pair as usize].placed {
            return Ok(Some(best));
        }
        self.forget();
        let (mut sought, mut popped) = (vec![best.pair], Vec::new());
        let mut places = self.pairs[best.pair as usize].stands as usize;
        while sought.len() < TOGETHER
            && let Some(next) = self.first()
        {
            popped.push(next);
            places += self.pairs[next.pair as usize].stands as usize;
            if places > self.room {
                break;
            }
            sought.push(next.pair);
        }
        self.queue.extend(popped);
        self.find(&sought, go_on)?;
        Ok(Some(best))
    }

    /// The first of the pairs that an earlier training has merged next, if it stands there so often; its places known.
    pub(super) fn known(
        &mut self,
        left: &[(u32, u32)],
        count: u64,
        go_on: &mut GoOn<'_>,
    ) -> Result<Waiting, Error> {
        let found = left.first().and_then(|ids| self.of.get(ids)).map(|&pair| self.waiting(pair));
        let next = found.filter(|found| found.count == count).ok_or_else(of_others)?;
        if !self.pairs[next.pair as usize].placed {
            self.forget();
            let (mut sought, mut places) = (Vec::new(), 0);
            for &pair in left.iter().filter_map(|ids| self.of.get(ids)).take(TOGETHER) {
                places += self.pairs[pair as usize].stands as usize;
                if places > self.room && !sought.is_empty() {
                    break;
                }
                sought.push(pair);
            }
            self.find(&sought, go_on)?;
        }
        Ok(next)
    }

    /// Forgets all places; from now on there is room for those that take half of the memory that is left.
    fn forget(&mut self) {
        for pair in &mut self.pairs {
            pair.places = Vec::new();
            pair.placed = pair.stands == 0;
        }
        self.placed = 0;
        if let Some(most) = self.most {
            self.room = (most.saturating_sub(self.memory()) / (2 * NOTED)).max(1);
        }
    }

    /// Notes where some pairs stand, of which nothing is noted.
    fn find(&mut self, sought: &[u32], go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let mut of = FxHashMap::default();
        for &pair in sought {
            let known = &mut self.pairs[pair as usize];
            if !known.placed {
                known.placed = true;
                known.places = Vec::with_capacity(known.stands as usize);
                of.insert(known.ids, pair);
            }
        }
        let (mut left, mut start) = (EDGE, 0);
        for (place, &id) in (0..).zip(&self.spelled.flat) {
            ask(go_on, place as usize)?;
            if id == GONE {
                continue;
            }
            if left != EDGE
                && id != EDGE
                && let Some(&pair) = of.get(&(left, id))
            {
                self.pairs[pair as usize].places.push(start);
                self.placed += 1;
            }
            (left, start) = (id, place);
        }
        Ok(())
    }
}
