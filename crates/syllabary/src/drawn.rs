//! What drawn tests of this crate share: how many cases, numbers, tokens, merges, parts.
//!
//! Adds: `drawn`, a few cases every day and all of them for `make prove`. Leaves out: what is drawn of them, which
//! stands with each test.

use std::sync::Arc;

use crate::{
    alphabet::Unit,
    parts::Parts,
    split::{Split, Tables},
    vocab::Vocab,
};

/// `all` if `SYLLABARY_PROVE` is set, as `make prove` does, else `few`; also for how much must have been found.
pub(crate) fn drawn(few: usize, all: usize) -> usize {
    if std::env::var_os("SYLLABARY_PROVE").is_some_and(|value| !value.is_empty()) { all } else { few }
}

/// Draws numbers below a bound, always the same ones for a seed.
pub(crate) fn drawing(mut state: u64) -> impl FnMut(usize) -> usize {
    move |most| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    }
}

/// The next of Marsaglia's pseudo-random numbers (xorshift64).
pub(crate) fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// The same, below a bound.
pub(crate) fn random(state: &mut u64, below: u64) -> u32 {
    (xorshift(state) % below) as u32
}

/// A token for each byte.
pub(crate) fn all_bytes() -> Vec<Vec<u8>> {
    (0..=u8::MAX).map(|byte| vec![byte]).collect()
}

/// Tokens by number, the first 256 of them the bytes, and the plain parts of a tokenizer of them.
pub(crate) fn parts_of(tokens: &[Vec<u8>]) -> (Arc<Vocab>, Parts<'_>) {
    let vocab = Vocab::new((0..).zip(tokens).map(|(id, token)| (id, &**token))).unwrap();
    let mut parts = Parts::plain(Unit::Byte, Split::new(None, Tables::Tiktoken, true).unwrap());
    parts.alphabet = (0..256).map(|byte| (&*tokens[byte], byte as u32)).collect();
    (Arc::new(vocab), parts)
}

/// A list of merges: any of the ways to cut tokens in two others, in any order, so that some tokens come before their parts.
pub(crate) fn listed(draw: &mut impl FnMut(usize) -> usize, tokens: &[Vec<u8>]) -> Vec<(u32, u32, u32)> {
    let id = |bytes: &[u8]| tokens.iter().position(|token| token == bytes).map(|id| id as u32);
    let mut merges = Vec::new();
    for (whole, token) in (0..).zip(tokens) {
        for cut in 1..token.len() {
            if draw(3) > 0
                && let (Some(left), Some(right)) = (id(&token[..cut]), id(&token[cut..]))
            {
                merges.insert(draw(merges.len() + 1), (left, right, whole));
            }
        }
    }
    merges
}
