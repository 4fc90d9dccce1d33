//! The character map of sentencepiece: which text becomes which, as a double array.
//!
//! Adds: `Charsmap`, read from the bytes of a model and checked, so that no search can leave it. Leaves out: the
//! check (`charsmap_check`), its tables (`charsmap_tables`, `calm`), and which of its rules applies where
//! (`precompiled`, `sentencepiece`).
//!
//! The bytes: the size of the trie (u32), the trie (u32 each, little-endian, darts-clone's layout), then texts that
//! each end with a zero byte; a value of the trie is where its text begins. Source: sentencepiece 0.2.3,
//! `normalizer.cc` and `third_party/darts_clone/darts.h`.

use rustc_hash::FxHashMap;

use super::{calm::Calm, calm_joins::Pairs, charsmap_check::check};
use crate::error::Error;

/// No more rules that begin a text are looked at, shortest first (sentencepiece's `kMaxTrieResultsSize`).
const MAX_RESULTS: usize = 32;

/// Characters below it are looked up in a table.
pub(super) const TABLE: usize = 1 << 16;

/// In the table: no rule begins with the character; one, which is for it alone; that and others. Else the node that a search is
/// at then.
pub(super) const NO_RULE: u32 = FOLLOWS - 1;
pub(super) const OWN_RULE: u32 = FOLLOWS - 2;
pub(super) const OPEN_RULE: u32 = FOLLOWS - 3;
/// And whether the character stands in some rule behind the first.
pub(super) const FOLLOWS: u32 = 1 << 31;

/// A longer beginning of text is no rule: every place of a text is searched so far.
pub(super) const MAX_RULE: usize = 1024;

/// A checked character map.
pub(crate) struct Charsmap {
    pub(super) units: Vec<u32>,
    texts: String,
    /// For each ASCII byte whether it stays as it is when an ASCII byte or nothing follows.
    plain: [bool; 128],
    /// For each byte that begins a rule, as bits, the bytes that may follow.
    second: Vec<[u64; 4]>,
    /// For each of the first characters how a search for a rule goes on behind it.
    pub(super) firsts: Vec<u32>,
    /// What can be told of single characters.
    pub(super) calm: Calm,
}

impl Charsmap {
    /// The map of these bytes; no bytes: a map without rules.
    pub(crate) fn new(blob: &[u8]) -> Result<Charsmap, Error> {
        if blob.is_empty() {
            let second = vec![[0; 4]; 256];
            return Ok(Charsmap { plain: [true; 128], second, ..Charsmap::of(Vec::new(), String::new()) });
        }
        let (units, texts) = read(blob).map_err(damaged)?;
        check(&units, &texts).map_err(damaged)?;
        let mut map = Charsmap::of(units, texts);
        map.firsts = map.first_nodes();
        let pairs = map.mark_followers();
        let is_rule = |code: usize| is_own(map.firsts[code]);
        map.calm = Calm::new(is_rule, map.single_rules(), pairs);
        map.second = (0..=255).map(|byte| map.second_bytes(byte)).collect();
        map.plain = std::array::from_fn(|byte| {
            // Below 128; the bits of ASCII are the first two words.
            map.longest(&[byte as u8]).is_none() && map.second[byte][..2] == [0, 0]
        });
        Ok(map)
    }

    fn of(units: Vec<u32>, texts: String) -> Charsmap {
        let (plain, second, firsts) = ([false; 128], Vec::new(), Vec::new());
        let calm = Calm::new(|_| false, FxHashMap::default(), Pairs::default());
        Charsmap { units, texts, plain, second, firsts, calm }
    }

    /// Whether the ASCII byte stays as it is when an ASCII byte or nothing follows.
    pub(crate) fn plain(&self, byte: u8) -> bool {
        self.plain.get(usize::from(byte)).is_some_and(|plain| *plain)
    }

    /// Whether it has no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The rule for the longest beginning of `text`: its length and what it becomes.
    pub(crate) fn longest(&self, text: &[u8]) -> Option<(usize, &str)> {
        let mut found = None;
        self.search(text, |length, value, count| {
            found = Some((length, value));
            count < MAX_RESULTS
        });
        found.map(|(length, value)| (length, self.text_at(value)))
    }

    /// What the rule for the shortest beginning of `text`, up to a zero byte, makes of it.
    pub(crate) fn shortest(&self, text: &[u8]) -> Option<&str> {
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        let mut found = None;
        self.search(&text[..end], |_, value, _| {
            found = Some(value);
            false
        });
        found.map(|value| self.text_at(value))
    }

    /// Calls `each` with length, value and number of every rule that begins `text`, until it returns `false`.
    fn search(&self, text: &[u8], mut each: impl FnMut(usize, usize, usize) -> bool) {
        let Some(root) = self.units.first() else { return };
        let mut node = offset(*root);
        let mut count = 0;
        for (at, byte) in text.iter().enumerate() {
            node ^= usize::from(*byte);
            let Some(unit) = self.units.get(node) else { return };
            if label(*unit) != u32::from(*byte) {
                return;
            }
            node ^= offset(*unit);
            if has_leaf(*unit) {
                count += 1;
                let Some(leaf) = self.units.get(node) else { return };
                if !each(at + 1, value(*leaf), count) {
                    return;
                }
            }
        }
    }

    pub(super) fn text_at(&self, value: usize) -> &str {
        let text = self.texts.get(value..).unwrap_or("");
        // Most are a few bytes.
        let end = text.bytes().position(|byte| byte == 0).unwrap_or(text.len());
        &text[..end]
    }

    /// Whether some rule begins with what `text` begins with; `text` is not empty.
    #[inline]
    pub(crate) fn begins_rule(&self, text: &[u8]) -> bool {
        match text {
            [first, second, ..] => {
                let bits = &self.second[usize::from(*first)];
                let follows = (bits[usize::from(*second >> 6)] >> (*second & 63)) & 1 == 1;
                (follows || first.is_ascii() && !self.plain(*first)) && self.longest(text).is_some()
            }
            _ => self.longest(text).is_some(),
        }
    }

    /// The end of the run from `at`, where a character begins, of characters but space that no rule begins with.
    pub(crate) fn unchanged(&self, text: &str, mut at: usize) -> usize {
        let bytes = text.as_bytes();
        // Where the character before begins, and how a search for a rule goes on behind it.
        let (mut before, mut node) = (at, NO_RULE);
        for character in text[at..].chars() {
            let first = match self.firsts.get(character as usize) {
                Some(&first) => first,
                None if self.is_empty() => NO_RULE,
                None if self.begins_rule(&bytes[at..]) => OWN_RULE,
                None => NO_RULE | FOLLOWS,
            };
            if first & FOLLOWS != 0 && node < OPEN_RULE && self.leads_on(node, &bytes[at..]) {
                return before;
            }
            if is_own(first) || character == ' ' {
                return at;
            }
            (before, node) = (at, first & !FOLLOWS);
            at += character.len_utf8();
        }
        at
    }

    /// Whether some rule ends in `text`, which comes after what has led to the children of `node`.
    fn leads_on(&self, node: u32, text: &[u8]) -> bool {
        let mut node = node as usize;
        for byte in text {
            node ^= usize::from(*byte);
            match self.units.get(node) {
                Some(&unit) if label(unit) == u32::from(*byte) => {
                    if has_leaf(unit) {
                        return true;
                    }
                    node ^= offset(unit);
                }
                _ => return false,
            }
        }
        false
    }
}

/// Whether a rule is for a character alone, of which this is in the table.
fn is_own(first: u32) -> bool {
    matches!(first & !FOLLOWS, OWN_RULE | OPEN_RULE)
}

fn damaged(reason: &str) -> Error {
    Error::Vocabulary(format!(
        "the character map of the normalizer is damaged ({reason}); get the file again from where it came from"
    ))
}

pub(super) fn has_leaf(unit: u32) -> bool {
    (unit >> 8) & 1 == 1
}

pub(super) fn value(unit: u32) -> usize {
    (unit & 0x7FFF_FFFF) as usize
}

pub(super) fn label(unit: u32) -> u32 {
    unit & 0x8000_00FF
}

pub(super) fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize
}

fn read(blob: &[u8]) -> Result<(Vec<u32>, String), &'static str> {
    let Some((size, rest)) = blob.split_first_chunk::<4>() else {
        return Err("it has fewer than 4 bytes");
    };
    let size = u32::from_le_bytes(*size) as usize;
    if size >= rest.len() {
        return Err("it is shorter than it says");
    }
    if size < 1024 || !size.is_multiple_of(1024) {
        return Err("the size of its trie is no multiple of 1024");
    }
    let (trie, texts) = rest.split_at(size);
    if texts.last() != Some(&0) {
        return Err("its last text has no end");
    }
    let texts = std::str::from_utf8(texts).map_err(|_| "its texts are not UTF-8")?;
    let units = trie.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
    Ok((units, texts.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(blob: &[u8]) -> String {
        match Charsmap::new(blob) {
            Err(Error::Vocabulary(reason)) => reason,
            _ => panic!("no error"),
        }
    }

    /// A trie of 256 units, leaves but these, whose root has its children at 1, and the texts `"x"` and `""`.
    fn blob(units: &[(usize, u32)]) -> Vec<u8> {
        let mut blob = vec![0, 4, 0, 0];
        (0..256).for_each(|_| blob.extend_from_slice(&(1u32 << 31).to_le_bytes()));
        for (at, unit) in [(0, 1 << 10)].iter().chain(units) {
            blob[4 + 4 * at..8 + 4 * at].copy_from_slice(&u32::to_le_bytes(*unit));
        }
        blob.extend_from_slice(b"x\0\0");
        blob
    }

    #[test]
    fn a_rule_is_found() {
        // Unit 1 ^ b'a' has the label `a`, a leaf and its children at itself ^ 2.
        let at = 1 ^ usize::from(b'a');
        let rule = [(at, u32::from(b'a') | 1 << 8 | 2 << 10), (at ^ 2, 1 << 31)];
        let map = Charsmap::new(&blob(&rule)).unwrap();
        assert_eq!(map.longest(b"ab"), Some((1, "x")));
        assert_eq!(map.shortest(b"ab"), Some("x"));
        assert_eq!(map.shortest(b"\0a"), None);
        assert!(!map.plain(b'a') && map.plain(b'b') && !map.plain(200));
        assert!(Charsmap::new(b"").is_ok_and(|map| map.is_empty() && map.plain(b'a') && !map.plain(200)));
    }

    #[test]
    fn a_run_ends_where_a_rule_begins() {
        // A rule for `a` and U+0301, whose bytes are CC 81.
        let first = 1 ^ usize::from(b'a');
        let second = first ^ 2 ^ 0xCC;
        let end = second ^ 3 ^ 0x81;
        let rule = [
            (first, u32::from(b'a') | 2 << 10),
            (second, 0xCC | 3 << 10),
            (end, 0x81 | 1 << 8 | 1 << 10),
            (end ^ 1, 1 << 31),
        ];
        let map = Charsmap::new(&blob(&rule)).unwrap();
        for (text, end) in [("ba\u{301}c", 1), ("ba\u{302}c", 5), ("aaéa", 5), ("ab c", 2), ("a", 1), ("", 0)]
        {
            assert_eq!(map.unchanged(text, 0), end, "{text}");
            let rules = |at: usize| map.begins_rule(&text.as_bytes()[at..]) || text[at..].starts_with(' ');
            let slow = text.char_indices().map(|(at, _)| at).find(|at| rules(*at));
            assert_eq!(slow.unwrap_or(text.len()), end, "{text}");
        }
    }

    #[test]
    fn damage_is_an_error() {
        let at = 1 ^ usize::from(b'a');
        let unit = u32::from(b'a') | 1 << 8;
        assert!(refusal(&[1]).contains("fewer"));
        assert!(refusal(&blob(&[(0, 300 << 10)])).contains("leads out"));
        assert!(refusal(&blob(&[(0, 1 << 8 | 1 << 10)])).contains("end with a character"));
        assert!(refusal(&blob(&[(at, unit | 2 << 10), (at ^ 2, 7)])).contains("no text"));
        assert!(refusal(&blob(&[(at, unit | 2 << 10), (at ^ 2, 1 << 31 | 3)])).contains("no text"));
        assert!(refusal(&blob(&[(at, u32::from(b'a') | u32::from(b'a') << 10)])).contains("circle"));
        let inside = [(1 ^ 0xC3, 0xC3 | 1 << 8 | 2 << 10), (1 ^ 0xC3 ^ 2, 1 << 31)];
        assert!(refusal(&blob(&inside)).contains("end with a character"));
        let mut cut = blob(&[]);
        cut.pop();
        cut.push(b'y');
        assert!(refusal(&cut).contains("last text"));
        cut.truncate(200);
        assert!(refusal(&cut).contains("shorter"));
        cut[1] = 0;
        assert!(refusal(&cut).contains("1024"));
    }
}
