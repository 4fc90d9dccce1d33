//! Many texts on several threads; the result does not depend on how many.
//!
//! It is asked now and then whether to go on (`Ask`), between texts and between blocks of long ones: a `false` ends all
//! threads with `Error::Interrupted`.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::{
    Error,
    asking::{Ask, LONG},
    dropout::Dropout,
    fetch,
    located::{Located, Want},
    pages,
    pool::Seat,
    threads,
    tokenizer::{SpecialPolicy, Tokenizer, Work},
    utf8::Buffer,
};

/// Texts a thread takes at a time hold about this many bytes.
const CHUNK_BYTES: usize = 1 << 18;

/// The most texts that are asked how long they may be.
const SOME: usize = 256;

/// Between questions while others work.
const PAUSE: Duration = Duration::from_millis(1);

/// An error, and the index of its text.
type Failed = (usize, Error);

/// A text of a batch, which need not be UTF-8 before its turn.
pub trait Text: Sync {
    /// Bytes that it takes, about as many as its UTF-8.
    fn size(&self) -> usize;

    /// The text, where it lies or written over what is in `buffer`.
    fn read<'t>(&'t self, buffer: &'t mut Buffer) -> Result<&'t str, Error>;

    /// About how many bytes its UTF-8 has, by its first characters.
    fn expected_bytes(&self) -> usize {
        self.size()
    }

    /// How many characters there are, if it is not UTF-8 and `read_some` reads some of them.
    fn characters(&self) -> Option<usize> {
        None
    }

    /// Some of these characters, as `read` reads all.
    fn read_some<'t>(&'t self, _some: Range<usize>, buffer: &'t mut Buffer) -> Result<&'t str, Error> {
        self.read(buffer)
    }

    /// Where it lies, to be asked for ahead of its turn.
    fn place(&self) -> *const u8;
}

impl Text for &str {
    fn size(&self) -> usize {
        self.len()
    }

    #[inline]
    fn read<'t>(&'t self, _buffer: &'t mut Buffer) -> Result<&'t str, Error> {
        Ok(self)
    }

    fn place(&self) -> *const u8 {
        self.as_ptr()
    }
}

/// The ids of several texts one after the other; text `k` is `ids[offsets[k]..offsets[k + 1]]`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ragged {
    /// All ids.
    pub ids: Vec<u32>,
    /// Where each text begins, and the end.
    pub offsets: Vec<usize>,
}

impl Ragged {
    /// Nothing yet, with room for the ids of most texts.
    fn for_texts(texts: &[impl Text]) -> Ragged {
        let mut ids = Vec::new();
        // Room that nobody touches costs nothing; where there is no such room, the vector grows. Room that was freed is
        // used again up to 32 MiB by glibc, and it costs the most of all that memory does to have new pages.
        let _ = ids.try_reserve_exact(expected_bytes(texts) / 2);
        pages::advise(&mut ids);
        let mut offsets = Vec::with_capacity(texts.len() + 1);
        offsets.push(0);
        Ragged { ids, offsets }
    }
}

/// About how many bytes texts have as UTF-8: some of them say it of all.
fn expected_bytes(texts: &[impl Text]) -> usize {
    let all: usize = texts.iter().map(Text::size).sum();
    let some = || texts.iter().step_by(texts.len().div_ceil(SOME).max(1));
    let sizes: usize = some().map(Text::size).sum();
    let bytes: usize = some().map(Text::expected_bytes).sum();
    (all as u128 * bytes as u128 / sizes.max(1) as u128) as usize
}

/// Runs of texts of about `CHUNK_BYTES` each.
fn chunks<T: Text>(texts: &[T]) -> Vec<(usize, &[T])> {
    let mut chunks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        bytes += text.size();
        if bytes >= CHUNK_BYTES || index + 1 == texts.len() {
            chunks.push((start, &texts[start..=index]));
            (start, bytes) = (index + 1, 0);
        }
    }
    chunks
}

/// Applies `job` to every chunk of `texts` on up to `threads` threads, which take them in order and stop at an
/// error; the first in text order is given, so that it too is the same for any number of threads.
fn each_chunk<T: Text>(
    tokenizer: &Tokenizer,
    texts: &[T],
    (thread_count, ask): (usize, &Ask),
    job: &(impl Fn((usize, usize), &[T], &mut Seat) -> Result<(), Failed> + Sync),
) -> Result<(), Failed> {
    let chunks = chunks(texts);
    let cursor = AtomicUsize::new(0);
    let worker = || {
        tokenizer.pool().with(|seat| {
            loop {
                let index = cursor.fetch_add(1, Ordering::Relaxed);
                let Some(&(start, chunk)) = chunks.get(index) else { return Ok(()) };
                let done =
                    asking((tokenizer, ask), (start, chunk), seat, |seat| job((index, start), chunk, seat));
                if done.is_err() {
                    cursor.store(chunks.len(), Ordering::Relaxed);
                    return done;
                }
            }
        })
    };
    let extra = thread_count.min(chunks.len()).saturating_sub(1);
    let has_long = ask.is_open() && texts.iter().any(|text| text.size() >= LONG);
    let results: Vec<_> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..extra).map_while(|_| threads::start(scope, worker)).collect();
        let own = worker();
        // Only this thread may hear of Ctrl-C: others that are in a long text ask in vain.
        while has_long && handles.iter().any(|handle| !handle.is_finished()) && ask.go_on() {
            std::thread::sleep(PAUSE);
        }
        handles.into_iter().map(threads::join).chain([own]).collect()
    });
    let failed = results.into_iter().filter_map(Result::err);
    failed.min_by_key(|&(index, _)| index).map_or(Ok(()), Err)
}

/// Does a job if it is to go on, and has it asked within long texts.
fn asking<T: Text>(
    (tokenizer, ask): (&Tokenizer, &Ask),
    (start, chunk): (usize, &[T]),
    seat: &mut Seat,
    job: impl FnOnce(&mut Seat) -> Result<(), Failed>,
) -> Result<(), Failed> {
    seat.work.expect(tokenizer, chunk.iter().map(Text::size).sum());
    ask.check().map_err(|error| (start, error))?;
    if chunk.iter().any(|text| text.size() >= LONG) {
        seat.work.ask = ask.clone();
    }
    let done = job(seat);
    seat.work.ask = Ask::default();
    done
}

/// The same on this thread.
fn alone<T: Text>(
    tokenizer: &Tokenizer,
    texts: &[T],
    ask: &Ask,
    mut job: impl FnMut(usize, &[T], &mut Seat) -> Result<(), Failed>,
) -> Result<(), Failed> {
    tokenizer.pool().with(|seat| {
        chunks(texts).into_iter().try_for_each(|(start, chunk)| {
            asking((tokenizer, ask), (start, chunk), seat, |seat| job(start, chunk, seat))
        })
    })
}

/// What the threads have made, put together in the order of the chunks.
#[derive(Default)]
struct Gathered {
    whole: Ragged,
    /// The chunk that comes next.
    next: usize,
    /// Chunks that came before their turn: their ids and the ends of their texts.
    early: BTreeMap<usize, (Vec<u32>, Vec<usize>)>,
    /// Vectors to be used again.
    spare: Vec<(Vec<u32>, Vec<usize>)>,
}

impl Gathered {
    /// Takes a chunk and gives back empty vectors.
    fn take(&mut self, index: usize, made: (Vec<u32>, Vec<usize>)) -> (Vec<u32>, Vec<usize>) {
        self.early.insert(index, made);
        while let Some((mut ids, mut ends)) = self.early.remove(&self.next) {
            let base = self.whole.ids.len();
            pages::extend(&mut self.whole.ids, &ids);
            self.whole.offsets.extend(ends.drain(..).map(|end| base + end));
            ids.clear();
            self.spare.push((ids, ends));
            self.next += 1;
        }
        self.spare.pop().unwrap_or_default()
    }
}

/// Appends the ids of some texts, of which the first has the number `first`, and where those of each end.
fn append<T: Text>(
    tokenizer: &Tokenizer,
    (texts, policy): (&[T], SpecialPolicy<'_>),
    (dropout, first): (Dropout, usize),
    (work, buffer): (&mut Work, &mut Buffer),
    made: &mut Ragged,
) -> Result<(), Failed> {
    let drops = dropout.coins(0).any();
    if !drops && tokenizer.encode_texts((texts, policy), (work, buffer), made).map_err(|error| (0, error))? {
        return Ok(());
    }
    for (index, text) in texts.iter().enumerate() {
        let coins = dropout.coins(first + index);
        if let Some(next) = texts.get(index + 1) {
            fetch::all(next.place(), next.size());
        }
        tokenizer
            .encode_text((text, policy), coins, (&mut *work, &mut *buffer), &mut made.ids)
            .map_err(|error| (index, error))?;
        made.offsets.push(made.ids.len());
    }
    Ok(())
}

/// Appends the ids of texts on this thread, with a seat that the caller has; else as `encode`.
pub fn encode_alone<T: Text>(
    tokenizer: &Tokenizer,
    texts: (&[T], SpecialPolicy<'_>),
    numbers: (Dropout, usize),
    (seat, ask): (&mut Seat, &Ask),
    made: &mut Ragged,
) -> Result<(), (usize, Error)> {
    asking((tokenizer, ask), (0, texts.0), seat, |seat| {
        append(tokenizer, texts, numbers, (&mut seat.work, &mut seat.text), made)
    })
}

/// Encodes every text; an error comes with the index of its text. `first` is the number of the first text.
pub fn encode<T: Text>(
    tokenizer: &Tokenizer,
    texts: &[T],
    policy: SpecialPolicy<'_>,
    (dropout, first): (Dropout, usize),
    (threads, ask): (usize, &Ask),
) -> Result<Ragged, (usize, Error)> {
    let append = |start: usize, chunk: &[T], seat: (&mut Work, &mut Buffer), made: &mut Ragged| {
        let done = append(tokenizer, (chunk, policy), (dropout, first + start), seat, made);
        done.map_err(|(index, error)| (start + index, error))
    };
    if threads < 2 || texts.len() < 2 {
        let mut whole = Ragged::for_texts(texts);
        alone(tokenizer, texts, ask, |start, chunk, seat| {
            append(start, chunk, (&mut seat.work, &mut seat.text), &mut whole)
        })?;
        return Ok(whole);
    }
    let gathered = Mutex::new(Gathered { whole: Ragged::for_texts(texts), ..Gathered::default() });
    each_chunk(tokenizer, texts, (threads, ask), &|(index, start), chunk, seat| {
        let Seat { work, ids, ends, text, .. } = seat;
        let mut made = Ragged { ids: std::mem::take(ids), offsets: std::mem::take(ends) };
        append(start, chunk, (work, text), &mut made)?;
        (*ids, *ends) = lock(&gathered).take(index, (made.ids, made.offsets));
        Ok(())
    })?;
    Ok(gathered.into_inner().unwrap_or_else(PoisonError::into_inner).whole)
}

/// The tokens of every text, with what is wanted of them; an error comes with the index of its text.
pub fn locate<T: Text>(
    tokenizer: &Tokenizer,
    texts: &[T],
    policy: SpecialPolicy<'_>,
    (want, dropout): (Want, Dropout),
    (threads, ask): (usize, &Ask),
) -> Result<Located, (usize, Error)> {
    let located = |(index, text): (usize, &T), seat: &mut Seat, made: &mut Located| {
        let Seat { work, text: buffer, .. } = seat;
        let wanted = (want, dropout.coins(index));
        let done = text.read(buffer).and_then(|text| tokenizer.locate(text, policy, wanted, work, made));
        done.map_err(|error| (index, error))
    };
    if threads < 2 || texts.len() < 2 {
        let mut whole = Located::for_texts(texts, want);
        alone(tokenizer, texts, ask, |start, chunk, seat| {
            (start..).zip(chunk).try_for_each(|(index, text)| located((index, text), seat, &mut whole))
        })?;
        return Ok(whole);
    }
    let done: Mutex<BTreeMap<usize, Located>> = Mutex::default();
    each_chunk(tokenizer, texts, (threads, ask), &|(index, start), chunk, seat| {
        let mut made = Located::for_texts(chunk, want);
        for (index, text) in (start..).zip(chunk) {
            located((index, text), seat, &mut made)?;
        }
        done.lock().unwrap_or_else(PoisonError::into_inner).insert(index, made);
        Ok(())
    })?;
    let parts = done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values();
    let mut whole = Located::for_texts(texts, want);
    parts.for_each(|part| whole.append(part));
    Ok(whole)
}

fn lock(gathered: &Mutex<Gathered>) -> MutexGuard<'_, Gathered> {
    gathered.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of ids of every text.
pub fn count<T: Text>(
    tokenizer: &Tokenizer,
    texts: &[T],
    policy: SpecialPolicy<'_>,
    (threads, ask): (usize, &Ask),
) -> Result<Vec<usize>, (usize, Error)> {
    let counts: Vec<AtomicUsize> = texts.iter().map(|_| AtomicUsize::new(0)).collect();
    each_chunk(tokenizer, texts, (threads, ask), &|(_, start), chunk, seat| {
        let Seat { work, text, ends, .. } = seat;
        if tokenizer.count_texts((chunk, policy), (work, text), ends).map_err(|error| (start, error))? {
            let mut before = 0;
            for (count, &end) in counts[start..].iter().zip(&*ends) {
                count.store(end - before, Ordering::Relaxed);
                before = end;
            }
            return Ok(());
        }
        for (index, text) in (start..).zip(chunk) {
            let count = tokenizer.count_text((text, policy), (&mut seat.work, &mut seat.text));
            let count = count.map_err(|error| (index, error))?;
            counts[index].store(count, Ordering::Relaxed);
        }
        Ok(())
    })?;
    Ok(counts.into_iter().map(AtomicUsize::into_inner).collect())
}
