//! Long text that is not UTF-8 yet: made UTF-8 and encoded part by part, so that no second copy of all of it stands anywhere.
//!
//! ```text
//! 65,536 characters -> UTF-8 -> up to the last place where the split cuts whatever follows, and shortly before which no special
//! token may begin -> ids; then on from there
//! ```
//!
//! Leaves out tokenizers with steps before the split, which are given the whole text, and what is done with a part (`plain`).

use crate::{
    Error,
    asking::LONG,
    batch::Text,
    dropout::Coins,
    encode::{Count, Fast, Ids, Output},
    split::floor,
    tokenizer::{SpecialPolicy, Tokenizer, Work},
    utf8::Buffer,
};

/// Characters of a part, if it can be cut.
const PART: usize = if cfg!(test) { 1 << 6 } else { 1 << 16 };

/// Shorter text is read as a whole.
const LEAST: usize = if cfg!(test) { 1 << 7 } else { LONG };

/// So many places to cut a part are tried before it is made longer.
const TRIES: usize = 16;

impl Tokenizer {
    /// Appends the ids of `text`.
    pub fn encode_text<T: Text>(
        &self,
        (text, policy): (&T, SpecialPolicy<'_>),
        coins: Coins,
        (work, buffer): (&mut Work, &mut Buffer),
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        work.expect(self, text.size());
        if let Some(fast) = self.by_parts(text, policy).filter(|_| !coins.any()) {
            let (mut kept, before) = (work.buffer.take().unwrap_or_default(), out.len());
            let mut ids = Ids::new(out, &mut kept);
            let done = self.each_part((fast, policy), text, (work, buffer), &mut ids);
            ids.finish();
            work.buffer = Some(kept);
            if matches!(done, Ok(()) | Err(Error::Interrupted)) {
                return done;
            }
            // The whole text says what is wrong, and where.
            out.truncate(before);
            work.fast().0.forget_held();
        }
        text.read(buffer).and_then(|text| self.encode(text, policy, coins, work, out))
    }

    /// The number of ids of `text`.
    pub fn count_text<T: Text>(
        &self,
        (text, policy): (&T, SpecialPolicy<'_>),
        (work, buffer): (&mut Work, &mut Buffer),
    ) -> Result<usize, Error> {
        work.expect(self, text.size());
        if let Some(fast) = self.by_parts(text, policy) {
            let mut count = Count::default();
            match self.each_part((fast, policy), text, (work, buffer), &mut count) {
                Ok(()) => return Ok(count.0),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(_) => work.fast().0.forget_held(),
            }
        }
        text.read(buffer).and_then(|text| self.count(text, policy, work))
    }

    fn each_part<T: Text>(
        &self,
        (fast, policy): (&Fast, SpecialPolicy<'_>),
        text: &T,
        (work, buffer): (&mut Work, &mut Buffer),
        out: &mut impl Output,
    ) -> Result<(), Error> {
        self.cut_parts::<false, T>((fast, policy), text, (work, buffer), &mut *out)?;
        self.pieces(fast, work.fast(), out).settle()
    }

    /// What encodes a text part by part, if that is to be done.
    pub(crate) fn by_parts(&self, text: &impl Text, policy: SpecialPolicy<'_>) -> Option<&Fast> {
        let fast = self.fast.as_ref().filter(|_| self.exact && text.size() >= LEAST)?;
        let is_plain = self.finders(policy).iter().all(|finder| finder.is_plain());
        (is_plain && text.characters().is_some()).then_some(fast)
    }

    /// Cuts a text, as `cut` does, part by part.
    pub(crate) fn cut_parts<const JOINED: bool, T: Text>(
        &self,
        (fast, policy): (&Fast, SpecialPolicy<'_>),
        text: &T,
        (work, buffer): (&mut Work, &mut Buffer),
        out: &mut impl Output,
    ) -> Result<(), Error> {
        let characters = text.characters().unwrap_or_default();
        let (mut done, mut size, mut seen) = (0, PART, 0);
        while done < characters {
            work.ask.check()?;
            let end = characters.min(done.saturating_add(size));
            let mut part = text.read_some(done..end, buffer)?;
            let mut after = end;
            if end < characters {
                let Some(cut) = self.last_cut(part, seen, policy) else {
                    // From the last character on, which has not been looked at beside the next one.
                    (size, seen) = (size.saturating_mul(2), floor(part, part.len() - 1));
                    continue;
                };
                after -= part[cut..].chars().count();
                part = &part[..cut];
            }
            self.cut::<JOINED>(fast, (part, policy), work.fast(), &mut *out)?;
            (done, size, seen) = (after, PART, 0);
        }
        Ok(())
    }

    /// The last place in a part of a text, behind byte `from`, at which it can be cut.
    fn last_cut(&self, part: &str, from: usize, policy: SpecialPolicy<'_>) -> Option<usize> {
        let finders = self.finders(policy);
        let before = |&cut: &usize| self.split.last_safe_cut(&part[from..cut]).map(|cut| from + cut);
        std::iter::successors(before(&part.len()), before)
            .take(TRIES)
            .find(|&cut| !finders.iter().any(|finder| finder.may_reach_over(part, cut)))
    }
}

#[cfg(test)]
#[path = "in_parts_tests.rs"]
mod tests;
