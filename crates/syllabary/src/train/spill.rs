//! Tallies on disk, for corpora whose pieces exceed the memory given.
//!
//! ```text
//! a tally that is full  ->  its pieces, sorted, in a file of their own: a run
//! the text has ended    ->  the runs are merged into one, equal pieces added up
//! ```
//!
//! The files live in a folder of the caller's and are deleted with the `Spill`. Leaves out when a tally is full
//! (`memory`).

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    fs::{self, File},
    io::{self, BufReader, BufWriter, Read, Write},
    mem,
    path::{Path, PathBuf},
    sync::Mutex,
};

use super::{
    GoOn, ask,
    tally::{Counted, Tally},
};
use crate::Error;

/// So many runs are merged at a time.
const FAN_IN: usize = if cfg!(test) { 3 } else { 64 };
const BUFFER: usize = 1 << 16;

/// Runs in a folder.
#[derive(Debug)]
pub struct Spill {
    folder: PathBuf,
    runs: Mutex<Runs>,
}

#[derive(Debug, Default)]
struct Runs {
    paths: Vec<PathBuf>,
    made: usize,
}

/// By what the pieces of a run are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Bytes,
    First,
    /// The frequent ones first, equals by bytes.
    Frequent,
}

impl Spill {
    /// Runs will be written to `folder`.
    pub fn new(folder: PathBuf) -> Spill {
        Spill { folder, runs: Mutex::default() }
    }

    fn runs(&self) -> std::sync::MutexGuard<'_, Runs> {
        // What a panicking thread has left is a list of paths still.
        self.runs.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn new_path(&self) -> PathBuf {
        let mut runs = self.runs();
        runs.made += 1;
        let path = self.folder.join(format!("run-{}", runs.made));
        runs.paths.push(path.clone());
        path
    }

    /// A file of another kind in the same folder.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.runs().paths.is_empty()
    }

    /// Writes the pieces of a tally, which is then empty.
    pub(super) fn take(&self, tally: &mut Tally, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        if tally.is_empty() {
            return Ok(());
        }
        let mut run = Writer::new(self.new_path())?;
        tally.each_by_bytes(go_on, &mut |counted| run.put(counted))?;
        tally.clear();
        run.end()
    }

    /// Merges the runs until one is left; gives the number of its pieces.
    pub(super) fn merge(&self, go_on: &mut GoOn<'_>) -> Result<usize, Error> {
        loop {
            let is_last = self.runs().paths.len() <= FAN_IN;
            let pieces = self.merge_some(Order::Bytes, go_on)?;
            if is_last {
                return Ok(pieces);
            }
        }
    }

    /// Merges the first runs, which are sorted so, into one that comes last; gives the number of its pieces.
    fn merge_some(&self, order: Order, go_on: &mut GoOn<'_>) -> Result<usize, Error> {
        let mut some: Vec<PathBuf> = mem::take(&mut self.runs().paths);
        let later = some.split_off(some.len().min(FAN_IN));
        self.runs().paths.extend(later);
        let into = self.new_path();
        let mut pieces = 0;
        let mut run = Writer::new(into)?;
        let merged = each(&some, order, &mut |counted| {
            pieces += 1;
            ask(go_on, pieces)?;
            run.put(counted)
        });
        some.iter().for_each(|path| drop(fs::remove_file(path)));
        merged?;
        run.end()?;
        Ok(pieces)
    }

    /// Sorts the only run otherwise than by bytes, with so many bytes of memory, into no more runs than are merged at a time.
    pub(super) fn sort(&self, order: Order, memory: usize, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let old = mem::take(&mut self.runs().paths);
        let (mut bytes, mut held) = (0, Vec::<Head>::new());
        let flush = |held: &mut Vec<Head>| {
            held.sort_unstable();
            let mut run = Writer::new(self.new_path())?;
            for Head { piece, count, first, .. } in held.drain(..) {
                run.put(Counted { piece: &piece, count, first })?;
            }
            run.end()
        };
        each(&old, Order::Bytes, &mut |Counted { piece, count, first }| {
            bytes += piece.len() + size_of::<Head>() + 16;
            held.push(Head { piece: piece.into(), count, first, order, run: 0 });
            ask(go_on, held.len())?;
            if bytes < memory {
                return Ok(());
            }
            bytes = 0;
            flush(&mut held)
        })?;
        flush(&mut held)?;
        old.iter().for_each(|path| drop(fs::remove_file(path)));
        while self.runs().paths.len() > FAN_IN {
            self.merge_some(order, go_on)?;
        }
        Ok(())
    }

    /// Calls `f` with every piece, merged from all runs, which are sorted so.
    pub(super) fn each(
        &self,
        order: Order,
        f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let paths = self.runs().paths.clone();
        each(&paths, order, f)
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        // What cannot be deleted is in a folder that the caller deletes.
        self.runs().paths.iter().for_each(|path| drop(fs::remove_file(path)));
    }
}

struct Writer {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Writer {
    fn new(path: PathBuf) -> Result<Writer, Error> {
        let file = File::create_new(&path).map_err(|error| Error::of_file(&path, &error))?;
        Ok(Writer { out: BufWriter::with_capacity(BUFFER, file), path })
    }

    fn put(&mut self, counted: Counted<'_>) -> Result<(), Error> {
        let mut head = [0; 20];
        head[..4].copy_from_slice(&(counted.piece.len() as u32).to_le_bytes());
        head[4..12].copy_from_slice(&counted.count.to_le_bytes());
        head[12..].copy_from_slice(&counted.first.to_le_bytes());
        let written = self.out.write_all(&head).and_then(|()| self.out.write_all(counted.piece));
        written.map_err(|error| Error::of_file(&self.path, &error))
    }

    fn end(mut self) -> Result<(), Error> {
        self.out.flush().map_err(|error| Error::of_file(&self.path, &error))
    }
}

/// The next piece of a run, for the heap: the least is taken first.
struct Head {
    piece: Vec<u8>,
    count: u64,
    first: u64,
    order: Order,
    run: usize,
}

impl Head {
    fn key(&self) -> (u64, &[u8]) {
        match self.order {
            Order::Bytes => (0, &self.piece),
            Order::First => (self.first, &[]),
            Order::Frequent => (u64::MAX - self.count, &self.piece),
        }
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> Ordering {
        self.key().cmp(&other.key())
    }
}

struct Reader<'a> {
    path: &'a Path,
    input: BufReader<File>,
}

impl Reader<'_> {
    fn new(path: &Path) -> Result<Reader<'_>, Error> {
        let file = File::open(path).map_err(|error| Error::of_file(path, &error))?;
        Ok(Reader { path, input: BufReader::with_capacity(BUFFER, file) })
    }

    /// Reads the next piece into `head`; false at the end.
    fn next(&mut self, head: &mut Head) -> Result<bool, Error> {
        let mut lengths = [0; 20];
        let mut filled = 0;
        while filled < lengths.len() {
            let read = match self.input.read(&mut lengths[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(|error| Error::of_file(self.path, &error))?,
            };
            match (read, filled) {
                (0, 0) => return Ok(false),
                (0, _) => {
                    return Err(Error::of_file(self.path, &io::Error::from(io::ErrorKind::UnexpectedEof)));
                }
                _ => filled += read,
            }
        }
        let (length, rest) = lengths.split_at(4);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
        (head.count, head.first) = (number(&rest[..8]), number(&rest[8..]));
        head.piece.resize(number(length) as usize, 0);
        self.input.read_exact(&mut head.piece).map_err(|error| Error::of_file(self.path, &error))?;
        Ok(true)
    }
}

/// Calls `f` with every piece of the runs, equal ones added up where they are sorted by bytes.
fn each(
    paths: &[PathBuf],
    order: Order,
    f: &mut impl FnMut(Counted<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut readers = paths.iter().map(|path| Reader::new(path)).collect::<Result<Vec<_>, _>>()?;
    let mut heap = BinaryHeap::new();
    for (run, reader) in readers.iter_mut().enumerate() {
        let mut head = Head { piece: Vec::new(), count: 0, first: 0, order, run };
        if reader.next(&mut head)? {
            heap.push(Reverse(head));
        }
    }
    let mut now: Option<(Vec<u8>, u64, u64)> = None;
    while let Some(Reverse(mut head)) = heap.pop() {
        match &mut now {
            Some((piece, count, first)) if order == Order::Bytes && *piece == head.piece => {
                *count = count.saturating_add(head.count);
                *first = head.first.min(*first);
            }
            _ => {
                if let Some((piece, count, first)) = &now {
                    f(Counted { piece, count: *count, first: *first })?;
                }
                let (piece, _, _) = now.get_or_insert_default();
                piece.clear();
                piece.extend_from_slice(&head.piece);
                now = now.map(|(piece, _, _)| (piece, head.count, head.first));
            }
        }
        if readers[head.run].next(&mut head)? {
            heap.push(Reverse(head));
        }
    }
    now.map_or(Ok(()), |(piece, count, first)| f(Counted { piece: &piece, count, first }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_runs_are_merged_a_few_at_a_time_in_every_order() {
        let folder = std::env::temp_dir().join(format!("syllabary-spill-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let spill = Spill::new(folder.clone());
        let pieces: Vec<(String, u64)> =
            (0..500_u64).map(|number| (format!("{number:03}"), 1 + number * 7 % 13)).collect();
        let mut run = Writer::new(spill.new_path()).unwrap();
        for (first, (piece, count)) in (0..).zip(&pieces) {
            run.put(Counted { piece: piece.as_bytes(), count: *count, first }).unwrap();
        }
        run.end().unwrap();
        // A hundred bytes hold one or two pieces: some hundreds of runs.
        spill.sort(Order::Frequent, 100, &mut || true).unwrap();
        assert!((1..=FAN_IN).contains(&spill.runs().paths.len()));
        let mut found = Vec::new();
        let mut note = |counted: Counted<'_>| {
            found.push((String::from_utf8(counted.piece.to_vec()).unwrap(), counted.count));
            Ok(())
        };
        spill.each(Order::Frequent, &mut note).unwrap();
        let mut expected = pieces;
        expected.sort_by(|(piece, count), (other, others)| others.cmp(count).then(piece.cmp(other)));
        assert_eq!(found, expected);
        drop(spill);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir(folder).unwrap();
    }
}
