//! The flat array of tokens that training works on, in memory or in a file.
//!
//! In a file, pages are kept in a cache; a merge uses its places in ascending order, so one page serves many.
//! What the system refuses is kept until `check`, so that reading a place stays one step. Leaves out what stands
//! in the array (`sequences`).

use std::{
    fs::{self, File},
    io,
    ops::Range,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::Error;

/// Places of a page.
const PAGE: usize = 1 << 10;
/// Pages in the smallest cache.
const PAGES: usize = 1 << 9;
/// So many places of a file are scanned at a time.
const SCAN: usize = 1 << 14;

/// Token ids by place.
#[derive(Debug)]
pub(super) enum Places {
    Memory(Vec<u32>),
    Disk(Disk),
}

impl Default for Places {
    fn default() -> Self {
        Places::Memory(Vec::new())
    }
}

impl Places {
    /// So many places in a new file, undefined before they are set, and bytes of memory to keep pages in.
    pub fn on_disk(path: PathBuf, len: usize, memory: usize) -> Result<Places, Error> {
        Disk::new(path, len, memory).map(Places::Disk)
    }

    /// The bytes of memory that they take.
    pub fn memory(&self) -> usize {
        match self {
            Places::Memory(places) => 4 * places.capacity(),
            Places::Disk(disk) => 4 * PAGE * disk.pages().cache.len(),
        }
    }

    #[inline(always)]
    pub fn get(&mut self, at: usize) -> u32 {
        match self {
            Places::Memory(places) => places[at],
            Places::Disk(disk) => disk.get(at),
        }
    }

    #[inline(always)]
    pub fn set(&mut self, at: usize, id: u32) {
        match self {
            Places::Memory(places) => places[at] = id,
            Places::Disk(disk) => disk.set(at, id),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Places::Memory(places) => places.len(),
            Places::Disk(disk) => disk.len,
        }
    }

    /// Leaves out what is beyond; gives memory back.
    pub fn truncate(&mut self, len: usize) {
        match self {
            Places::Memory(places) => {
                places.truncate(len);
                places.shrink_to_fit();
            }
            Places::Disk(disk) => disk.len = len,
        }
    }

    /// The error of an earlier `get` or `set`.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Places::Memory(_) => Ok(()),
            Places::Disk(disk) => disk.pages().error.clone().map_or(Ok(()), Err),
        }
    }

    /// Calls `f` with the places of a range, and the one after it, some at a time; and where they begin.
    pub fn scan(
        &self,
        range: Range<usize>,
        f: &mut impl FnMut(usize, &[u32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if range.is_empty() {
            return Ok(());
        }
        let disk = match self {
            Places::Memory(places) => {
                return f(range.start, &places[range.start..places.len().min(range.end + 1)]);
            }
            Places::Disk(disk) => disk,
        };
        let mut some = Vec::with_capacity(SCAN + 1);
        for start in range.clone().step_by(SCAN) {
            let end = disk.len.min(range.end.min(start + SCAN) + 1);
            some.clear();
            {
                let mut pages = disk.pages();
                some.extend((start..end).map(|at| pages.get(at)));
            }
            self.check()?;
            f(start, &some)?;
        }
        Ok(())
    }
}

/// An array in a file, which is deleted with it.
#[derive(Debug)]
pub(super) struct Disk {
    len: usize,
    pages: Mutex<Pages>,
}

#[derive(Debug)]
struct Pages {
    path: PathBuf,
    file: File,
    cache: Vec<Page>,
    error: Option<Error>,
}

#[derive(Debug)]
struct Page {
    number: Option<usize>,
    changed: bool,
    /// Four for each place, the lowest first.
    bytes: Box<[u8]>,
}

impl Disk {
    fn new(path: PathBuf, len: usize, memory: usize) -> Result<Disk, Error> {
        let failed = |error: io::Error| Error::of_file(&path, &error);
        let file = File::options().read(true).write(true).create_new(true).open(&path).map_err(failed)?;
        without_reading_ahead(&file);
        let page = || Page { number: None, changed: false, bytes: vec![0; 4 * PAGE].into() };
        let pages = (memory / (4 * PAGE)).max(PAGES);
        let cache = std::iter::repeat_with(page).take(pages).collect();
        // From here on the file is deleted with what holds it.
        let disk = Disk { len, pages: Mutex::new(Pages { path, file, cache, error: None }) };
        let sized = disk.pages().file.set_len(4 * len.next_multiple_of(PAGE) as u64);
        sized.map_err(|error| Error::of_file(&disk.pages().path, &error))?;
        Ok(disk)
    }

    #[inline(never)]
    fn get(&mut self, at: usize) -> u32 {
        self.own_pages().get(at)
    }

    #[inline(never)]
    fn set(&mut self, at: usize, id: u32) {
        self.own_pages().set(at, id);
    }

    /// The pages, which nobody else can have.
    fn own_pages(&mut self) -> &mut Pages {
        self.pages.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        // A thread that panicked has left pages that no result is made of.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // What cannot be deleted is in a folder that the caller deletes.
        drop(fs::remove_file(&self.pages().path));
    }
}

impl Pages {
    #[inline]
    fn get(&mut self, at: usize) -> u32 {
        let bytes = &self.page(at / PAGE).bytes[4 * (at % PAGE)..][..4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    #[inline]
    fn set(&mut self, at: usize, id: u32) {
        let page = self.page(at / PAGE);
        page.bytes[4 * (at % PAGE)..][..4].copy_from_slice(&id.to_le_bytes());
        page.changed = true;
    }

    #[inline]
    fn page(&mut self, number: usize) -> &mut Page {
        let slot = number % self.cache.len();
        if self.cache[slot].number != Some(number)
            && let Err(error) = self.turn(slot, number)
        {
            self.error.get_or_insert(Error::of_file(&self.path, &error));
        }
        &mut self.cache[slot]
    }

    /// Writes the page in a slot of the cache, if it was changed, and reads another.
    #[cold]
    fn turn(&mut self, slot: usize, number: usize) -> io::Result<()> {
        let page = &mut self.cache[slot];
        if let (Some(old), true) = (page.number, page.changed) {
            write_at(&self.file, &page.bytes, (4 * PAGE * old) as u64)?;
        }
        (page.number, page.changed) = (None, false);
        read_at(&self.file, &mut page.bytes, (4 * PAGE * number) as u64)?;
        page.number = Some(number);
        Ok(())
    }
}

/// Tells the system that pages are asked for in no order: else it keeps the file in pieces so large that each write looks at
/// much of it.
fn without_reading_ahead(file: &File) {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: the file is open; nothing is asked of memory. It is advice: what comes of it changes no result.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    io::Read::read_exact(&mut file, bytes)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    io::Write::write_all(&mut file, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_holds_what_memory_holds() {
        let path = std::env::temp_dir().join(format!("syllabary-places-{}", std::process::id()));
        let len = 3 * PAGE * PAGES + 5;
        let mut disk = Places::on_disk(path.clone(), len, 0).unwrap();
        let mut memory = vec![0; len];
        for step in 0..200_000usize {
            let at = step.wrapping_mul(2_654_435_761) % len;
            assert_eq!(memory[at], disk.get(at));
            memory[at] = step as u32;
            disk.set(at, step as u32);
        }
        let mut found = Vec::new();
        disk.scan(0..len, &mut |start, places| {
            found.truncate(start);
            found.extend_from_slice(places);
            Ok(())
        })
        .unwrap();
        assert_eq!(memory, found);
        disk.check().unwrap();
        drop(disk);
        assert!(!path.exists());
    }
}
