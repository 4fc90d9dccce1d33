//! Much text that is coming.
//!
//! A table of remembered strings grows in steps, so that a short text never pays for pages that it does not need. Where
//! much is coming, steps cost more than pages: each moves all that is there, and until the next one strings push each
//! other out. Adds: `Work::expect`. Leaves out how tables grow (`encode::memory`).

use crate::{
    charwise::Charwise,
    tokenizer::{Tokenizer, Work},
};

/// So many bytes of text are much.
const MUCH: usize = 1 << 18;

impl Work {
    /// Says that so many bytes of text are coming.
    #[inline]
    pub(crate) fn expect(&mut self, tokenizer: &Tokenizer, bytes: usize) {
        if bytes >= MUCH {
            self.expect_much(tokenizer);
        }
    }

    #[inline(never)]
    fn expect_much(&mut self, tokenizer: &Tokenizer) {
        if tokenizer.fast.is_some() {
            self.fast().0.expect_much();
        }
        // Where words have scores of their own they are looked up one by one, and waited for: larger tables lost there.
        let never_waits = |charwise: &Charwise| tokenizer.model.is_none() || charwise.carries();
        if tokenizer.charwise.as_ref().is_some_and(never_waits) {
            self.charwise.here().expect_much();
        }
        if tokenizer.wordwise.is_some() {
            self.wordwise.here().expect_much();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        drawn::{all_bytes, parts_of},
        dropout::Dropout,
        split::{Split, Tables},
        tokenizer::SpecialPolicy,
        utf8::Buffer,
    };

    #[test]
    fn much_text_has_the_ids_of_its_lines() {
        let tokens: Vec<_> =
            all_bytes().into_iter().chain([b"12".to_vec(), b"34".to_vec(), b" 5".to_vec()]).collect();
        let (vocab, mut parts) = parts_of(&tokens);
        parts.split = Split::new(Some(r" ?\p{L}+| ?\p{N}+|\s"), Tables::Tiktoken, true).unwrap();
        parts.vocab = Some(vocab);
        let tokenizer = Tokenizer::new(parts).unwrap();
        let lines: Vec<String> =
            (0..30_000).map(|number| format!("{number} {}\n", 7 * number + 12)).collect();
        let encode = |text: &str, work: &mut Work, ids: &mut Vec<u32>| {
            let (coins, mut buffer) = (Dropout::NONE.coins(0), Buffer::default());
            tokenizer.encode_text((&text, SpecialPolicy::Text), coins, (work, &mut buffer), ids).unwrap();
        };
        let (mut much, mut little, mut whole, mut each) = (Work::default(), Work::default(), vec![], vec![]);
        let text = lines.concat();
        assert!(text.len() >= MUCH);
        encode(&text[..MUCH], &mut much, &mut whole);
        whole.clear();
        encode(&text, &mut much, &mut whole);
        lines.iter().for_each(|line| encode(line, &mut little, &mut each));
        assert_eq!(whole, each);
        assert_eq!((much.fast().0.leaps(), little.fast().0.leaps()), (true, false));
    }
}
