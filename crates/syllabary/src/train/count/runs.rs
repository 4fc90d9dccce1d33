//! Words: the runs of a corpus as the numbers of their pieces, in memory or in a file.
//!
//! Adds `Runs`, which under a limit of memory goes to a file, and the counting of runs. Distinct words are the
//! alphabet, so they are held in memory whatever the limit: one that they do not fit into is refused while text is
//! read. Leaves out how runs become sequences of tokens (`sequences`).

use std::{
    fs::{self, File},
    io::{BufReader, BufWriter, Read, Write},
    path::PathBuf,
};

use super::Counter;
use crate::{
    Error,
    train::{GoOn, ask, going, memory::Room, table::PieceTable},
};

/// Marks the end of a run.
pub(in crate::train) const RUN_END: u32 = u32::MAX;
/// So many numbers are written, or read, at a time.
const BLOCK: usize = if cfg!(test) { 1 << 6 } else { 1 << 18 };
/// What a distinct word takes, besides its bytes: here, as a symbol, and in the tokenizer. Measured.
const WORD: usize = 640;

/// Numbers of pieces by run, each run ended by `RUN_END`.
#[derive(Debug, Default)]
pub(in crate::train) struct Runs {
    last: Vec<u32>,
    /// Where those before are, if they are on disk.
    file: Option<(PathBuf, BufWriter<File>)>,
    len: usize,
    /// Whether a run has begun and not ended.
    begun: bool,
}

impl Runs {
    /// Appends a number; `room` says whether, and where, there is a file.
    pub fn push(&mut self, number: u32, room: &Room) -> Result<(), Error> {
        self.last.push(number);
        (self.len, self.begun) = (self.len + 1, number != RUN_END);
        if self.last.len().is_multiple_of(BLOCK) { self.write(room) } else { Ok(()) }
    }

    /// Ends a run, if one has begun.
    pub fn end(&mut self, room: &Room) -> Result<(), Error> {
        if self.begun { self.push(RUN_END, room) } else { Ok(()) }
    }

    /// Numbers and ends of runs.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_on_disk(&self) -> bool {
        self.file.is_some()
    }

    fn write(&mut self, room: &Room) -> Result<(), Error> {
        if self.file.is_none() {
            let Some(path) = room.beside("words") else { return Ok(()) };
            let made = File::create_new(&path).map_err(|error| Error::of_file(&path, &error))?;
            self.file = Some((path, BufWriter::with_capacity(1 << 16, made)));
        }
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        for number in self.last.drain(..) {
            file.write_all(&number.to_le_bytes()).map_err(|error| Error::of_file(path, &error))?;
        }
        file.flush().map_err(|error| Error::of_file(path, &error))
    }

    /// Calls `f` with all numbers, some at a time.
    pub fn each(
        &self,
        go_on: &mut GoOn<'_>,
        f: &mut dyn FnMut(&[u32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Some((path, _)) = &self.file {
            let failed = |error| Error::of_file(path, &error);
            let mut input = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
            let (mut left, mut some) = (self.len - self.last.len(), Vec::with_capacity(BLOCK));
            while left > 0 {
                let mut bytes = [0; 4];
                some.clear();
                for _ in 0..left.min(BLOCK) {
                    input.read_exact(&mut bytes).map_err(failed)?;
                    some.push(u32::from_le_bytes(bytes));
                }
                left -= some.len();
                f(&some)?;
                going(go_on)?;
            }
        }
        for some in self.last.chunks(BLOCK) {
            f(some)?;
            going(go_on)?;
        }
        Ok(())
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        if let Some((path, _)) = &self.file {
            // What cannot be deleted is in a folder that the caller deletes.
            drop(fs::remove_file(path));
        }
    }
}

impl Counter {
    /// Counts the pieces of a text as words.
    pub(super) fn count_runs(&mut self, text: &str, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        let (words, runs, mut step) = (&mut self.words, &mut self.runs, 0);
        let (cutter, room) = (self.gather.cutter(), self.gather.room());
        cutter.each_run(text, &mut |run| {
            let mut state = Ok(());
            cutter.split.pieces(run, &mut |piece| {
                if state.is_ok() {
                    step += 1;
                    state = ask(go_on, step).and_then(|()| {
                        let known = words.len();
                        runs.push(words.add(piece.as_bytes(), 1)?, room)?;
                        if words.len() == known { Ok(()) } else { check_words(words, room) }
                    });
                }
            })?;
            state.and_then(|()| runs.end(room))
        })
    }

    /// Of the bytes of memory given, those that distinct words leave.
    pub(in crate::train) fn left_by_words(&self, memory: usize) -> usize {
        memory.saturating_sub(memory_of(&self.words))
    }

    /// Adds a sequence of integers; each is a word, written with eight hexadecimal digits, so in their order.
    pub fn add_ids(&mut self, ids: &[u32], go_on: &mut GoOn<'_>) -> Result<(), Error> {
        for (at, id) in ids.iter().enumerate() {
            ask(go_on, at)?;
            let mut digits = [0; 8];
            for (place, digit) in digits.iter_mut().enumerate() {
                *digit = b"0123456789abcdef"[(id >> (28 - 4 * place) & 15) as usize];
            }
            self.runs.push(self.words.add(&digits, 1)?, self.gather.room())?;
        }
        if ids.is_empty() { Ok(()) } else { self.runs.end(self.gather.room()) }
    }
}

/// What distinct words take, here and in the tokenizer.
fn memory_of(words: &PieceTable) -> usize {
    words.len() * WORD + 4 * words.total_bytes()
}

/// `Error::Training` where distinct words would take more than half of the memory given.
fn check_words(words: &PieceTable, room: &Room) -> Result<(), Error> {
    let Some(limit) = room.bytes() else { return Ok(()) };
    let needed = memory_of(words);
    if needed <= limit / 2 {
        return Ok(());
    }
    Err(Error::Training(format!(
        "the memory limit is too small for this corpus: its first {} distinct words, each of which is a token, need \
         {} MiB where {} MiB are left for them; give a higher limit, or a split that makes fewer words",
        words.len(),
        needed.div_ceil(1 << 20),
        limit >> 21,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(runs: &Runs) -> Vec<u32> {
        let mut found = Vec::new();
        runs.each(&mut || true, &mut |some| {
            found.extend_from_slice(some);
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn a_file_holds_what_memory_holds_and_no_run_ends_twice() {
        let folder = std::env::temp_dir().join(format!("syllabary-runs-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        for count in [0, 1, BLOCK - 2, BLOCK - 1, BLOCK, 3 * BLOCK + 5] {
            let rooms = [Room::default(), Room::new(1 << 20, 1, folder.clone())];
            let [memory, disk] = rooms.map(|room| {
                let mut runs = Runs::default();
                for number in 0..count as u32 {
                    runs.push(number, &room).unwrap();
                    if number % 7 == 0 {
                        (0..2).for_each(|_| runs.end(&room).unwrap());
                    }
                }
                runs.end(&room).unwrap();
                (numbers(&runs), runs.is_on_disk())
            });
            assert_eq!(memory.0, disk.0, "{count}");
            assert!(!memory.1);
            assert_eq!(disk.1, disk.0.len() >= BLOCK, "{count}");
            assert!(disk.0.windows(2).all(|two| two != [RUN_END; 2]));
            assert!(disk.0.last().is_none_or(|&last| last == RUN_END));
        }
        fs::remove_dir(&folder).unwrap();
    }
}
