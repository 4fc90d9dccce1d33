//! Many texts on several threads; the result does not depend on how many.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    Error,
    dropout::Dropout,
    threads,
    tokenizer::{SpecialPolicy, Tokenizer, Work},
};

/// Texts a thread takes at a time hold about this many bytes.
const CHUNK_BYTES: usize = 1 << 18;

/// The ids of several texts one after the other; text `k` is `ids[offsets[k]..offsets[k + 1]]`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ragged {
    /// All ids.
    pub ids: Vec<u32>,
    /// Where each text begins, and the end.
    pub offsets: Vec<usize>,
}

/// Runs of texts of about `CHUNK_BYTES` each.
fn chunks<'a, 't>(texts: &'a [&'t str]) -> Vec<(usize, &'a [&'t str])> {
    let mut chunks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        bytes += text.len();
        if bytes >= CHUNK_BYTES || index + 1 == texts.len() {
            chunks.push((start, &texts[start..=index]));
            (start, bytes) = (index + 1, 0);
        }
    }
    chunks
}

/// Applies `job` to every chunk of `texts` on up to `threads` threads; results in order of the texts.
fn map_chunks<R: Send>(
    texts: &[&str],
    thread_count: usize,
    job: &(impl Fn(usize, &[&str], &mut Work) -> Result<R, (usize, Error)> + Sync),
) -> Result<Vec<R>, (usize, Error)> {
    let chunks = chunks(texts);
    let cursor = AtomicUsize::new(0);
    let worker = || {
        let mut work = Work::default();
        let mut done = Vec::new();
        loop {
            let index = cursor.fetch_add(1, Ordering::Relaxed);
            let Some(&(start, chunk)) = chunks.get(index) else { return done };
            done.push((index, job(start, chunk, &mut work)));
        }
    };
    let extra = thread_count.min(chunks.len()).saturating_sub(1);
    let mut results = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..extra).map_while(|_| threads::start(scope, worker)).collect();
        let mut results = worker();
        results.extend(handles.into_iter().flat_map(threads::join));
        results
    });
    results.sort_by_key(|&(index, _)| index);
    // The first error in text order, so that it too is the same for any number of threads.
    results.into_iter().map(|(_, result)| result).collect()
}

/// Encodes every text; an error comes with the index of its text. `first` is the number of the first text.
pub fn encode(
    tokenizer: &Tokenizer,
    texts: &[&str],
    policy: SpecialPolicy<'_>,
    (dropout, first): (Dropout, usize),
    threads: usize,
) -> Result<Ragged, (usize, Error)> {
    let parts = map_chunks(texts, threads, &|start, chunk, work| {
        let mut ids = Vec::new();
        let mut ends = Vec::with_capacity(chunk.len());
        for (index, text) in chunk.iter().enumerate() {
            let coins = dropout.coins(first + start + index);
            tokenizer.encode(text, policy, coins, work, &mut ids).map_err(|error| (start + index, error))?;
            ends.push(ids.len());
        }
        Ok((ids, ends))
    })?;
    let mut ragged = Ragged { ids: Vec::new(), offsets: vec![0] };
    ragged.ids.reserve_exact(parts.iter().map(|(ids, _)| ids.len()).sum());
    for (ids, ends) in parts {
        let base = ragged.ids.len();
        ragged.offsets.extend(ends.iter().map(|end| base + end));
        ragged.ids.extend_from_slice(&ids);
    }
    Ok(ragged)
}

/// The number of ids of every text.
pub fn count(
    tokenizer: &Tokenizer,
    texts: &[&str],
    policy: SpecialPolicy<'_>,
    threads: usize,
) -> Result<Vec<usize>, (usize, Error)> {
    let parts = map_chunks(texts, threads, &|start, chunk, work| {
        let counts = chunk
            .iter()
            .enumerate()
            .map(|(index, text)| tokenizer.count(text, policy, work).map_err(|error| (start + index, error)));
        counts.collect::<Result<Vec<_>, _>>()
    })?;
    Ok(parts.concat())
}
