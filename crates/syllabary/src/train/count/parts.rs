//! Documents that come in parts: as strings, or as the bytes of a file, which become no string of the caller's.
//!
//! Adds where a long text is cut, and reading: what is no UTF-8 is left to the caller, who knows what to say of
//! it. Leaves out counting itself.

use std::{
    fs::File,
    io::{ErrorKind, Read, Seek, SeekFrom},
    mem,
    path::Path,
};

use super::{Counter, GoOn, STRETCH_BYTES, floor};
use crate::{Error, alphabet::Unit};

/// So many bytes of a file are looked at together.
const CHUNK: usize = 1 << 16;

/// Sees the text of a file whose normal form of Unicode is not plain, in slices counted from the beginning of each
/// 64 KiB.
pub struct Watch<'a> {
    /// Characters of a slice.
    pub characters: usize,
    /// Whether the text may yet turn out to be in NFC, and in NFD: what there is left to find out.
    pub open: (bool, bool),
    /// Is given a slice; answers with what is open now.
    pub see: &'a mut dyn FnMut(&str) -> (bool, bool),
}

impl Watch<'_> {
    fn look(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() && self.open != (false, false) {
            let ascii = rest.as_bytes().get(..self.characters).is_some_and(<[u8]>::is_ascii);
            let end = if ascii {
                self.characters
            } else {
                let mut after = rest.chars();
                after.nth(self.characters - 1);
                rest.len() - after.as_str().len()
            };
            let slice;
            (slice, rest) = rest.split_at(end);
            if !ascii && !self.is_plain(slice) {
                self.open = (self.see)(slice);
            }
        }
    }

    /// Whether a text is in the forms that are open for sure: made of characters that these forms keep, whatever
    /// stands beside them.
    fn is_plain(&self, text: &str) -> bool {
        let mut at = 0;
        while let Some(rest) = text.get(at..) {
            let ascii = rest.as_bytes().chunks(16).take_while(|chunk| chunk.is_ascii()).count();
            let Some(rest) = rest.get(16 * ascii..) else { return true };
            let Some((next, char)) = rest.char_indices().find(|(_, char)| !char.is_ascii()) else {
                return true;
            };
            let kept = match char {
                // Signs, punctuation, box drawing, ideographs: no form changes them.
                '\u{a0}'..='\u{bf}' | '\u{2010}'..='\u{2027}' | '\u{2500}'..='\u{257f}' => true,
                '\u{4e00}'..='\u{9fff}' => true,
                // Letters that NFD takes apart: Latin, Cyrillic.
                '\u{c0}'..='\u{17f}' | '\u{400}'..='\u{45f}' => !self.open.1,
                _ => false,
            };
            if !kept {
                return false;
            }
            at += 16 * ascii + next + char.len_utf8();
        }
        true
    }
}

impl Counter {
    /// Where a long text is cut: at the first place that leaves no less than a stretch, or nowhere.
    pub(super) fn cut_of(&self, text: &str) -> Option<usize> {
        let mut reach = STRETCH_BYTES;
        while self.unit != Unit::Word && text.len() > reach {
            let cut = self.gather.cutter().safe_cut(&text[..floor(text, reach)]);
            if cut.is_some() {
                return cut;
            }
            reach *= 2;
        }
        None
    }

    /// Takes the next part of a long document.
    pub fn feed_part(&mut self, part: &str, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.bytes += part.len() as u64;
        self.tail.push_str(part);
        self.take_tail(go_on)
    }

    /// Takes the next part of a long document from a file: what begins at byte `start`, up to about `most`
    /// bytes or to bytes that are no UTF-8. Gives the place behind, `start` if nothing can be read there.
    pub fn feed_file(
        &mut self,
        path: &Path,
        start: u64,
        most: u64,
        mut watch: Watch<'_>,
        go_on: &mut GoOn<'_>,
    ) -> Result<u64, Error> {
        // What the system refuses, the caller will meet when it reads on.
        let Ok(mut file) = File::open(path) else { return Ok(start) };
        if file.seek(SeekFrom::Start(start)).is_err() {
            return Ok(start);
        }
        let mut held = Vec::new(); // The beginning of a character that a chunk cuts in two.
        let (mut done, mut whole) = (start, true);
        while whole && done - start < most {
            let mut bytes = mem::take(&mut self.tail).into_bytes();
            let enough =
                if bytes.len() > STRETCH_BYTES { bytes.len() + STRETCH_BYTES } else { STRETCH_BYTES };
            bytes.reserve(enough + 2 * CHUNK - bytes.len());
            while whole && bytes.len() <= enough {
                let known = bytes.len();
                bytes.append(&mut held);
                // Chunks end where they end when a file is read from its beginning.
                let end = (done + 3) / CHUNK as u64 * CHUNK as u64 + CHUNK as u64;
                let wanted = (end - done) as usize - (bytes.len() - known);
                whole = read(&mut file, wanted, &mut bytes) > 0;
                let text = checked(&bytes[known..]);
                if !text.is_ascii() {
                    watch.look(text);
                }
                let text = text.len();
                whole = whole && bytes.len() - known - text <= 3;
                held = bytes.split_off(known + text);
                done += text as u64;
                self.bytes += text as u64;
            }
            debug_assert!(std::str::from_utf8(&bytes).is_ok());
            // SAFETY: it was a `String` before; each round above appended bytes and cut off (`split_off`) all but those
            // that `checked` gave, which are a `str`.
            self.tail = unsafe { String::from_utf8_unchecked(bytes) };
            self.take_tail(go_on)?;
        }
        Ok(done)
    }

    /// Takes of the document under way what can be taken, if that is long enough.
    fn take_tail(&mut self, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        // A text without a place to cut is searched again when it has doubled: linear in all.
        if self.tail.len() <= STRETCH_BYTES.max(2 * self.searched) {
            return Ok(());
        }
        let mut tail = mem::take(&mut self.tail);
        let mut start = 0;
        while let Some(cut) = self.cut_of(&tail[start..]) {
            if start == 0 && tail.len() < 2 * STRETCH_BYTES {
                let mut rest = self.gather.spare();
                rest.push_str(&tail[cut..]);
                tail.truncate(cut);
                self.gather.take_whole(mem::replace(&mut tail, rest), go_on)?;
                continue;
            }
            self.take(&tail[start..start + cut], go_on)?;
            start += cut;
        }
        tail.drain(..start);
        self.searched = if tail.len() > STRETCH_BYTES { tail.len() } else { 0 };
        self.tail = tail;
        Ok(())
    }

    /// Ends the document begun by `feed_part`.
    pub fn end_document(&mut self, go_on: &mut GoOn<'_>) -> Result<(), Error> {
        self.searched = 0;
        let tail = mem::take(&mut self.tail);
        self.take(&tail, go_on)
    }
}

/// Appends so many bytes, fewer at the end of a file or where the system refuses; says how many.
fn read(file: &mut File, wanted: usize, bytes: &mut Vec<u8>) -> usize {
    let (start, end) = (bytes.len(), bytes.len() + wanted);
    bytes.resize(end, 0);
    let mut at = start;
    while at < end {
        match file.read(&mut bytes[at..]) {
            Ok(read) if read > 0 => at += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => break,
        }
    }
    bytes.truncate(at);
    at - start
}

/// The text at the beginning of some bytes; nothing if there are bytes that no text has.
fn checked(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_some() => "",
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
    }
}
