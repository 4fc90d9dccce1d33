//! Training in little memory: pieces on disk and few pairs watched change nothing in what is learned.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::{fs, path::PathBuf};

use syllabary::{
    Error,
    alphabet::Unit,
    split::{Split, Tables},
    train::{Learned, Merging, Room, TieBreak, TrainOptions, count::Counter},
};

/// A small generator: what is drawn is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn texts(random: &mut Random, words: u64) -> Vec<String> {
    let mut texts = Vec::new();
    for _ in 0..4 {
        let mut text = String::new();
        for _ in 0..words {
            for _ in 0..=random.below(12) {
                text.push(char::from(b'a' + random.below(5).min(random.below(5)) as u8));
            }
            text.push(if random.below(40) == 0 { '\n' } else { ' ' });
        }
        texts.push(text);
    }
    texts
}

fn options(tie_break: TieBreak, memory: Option<usize>) -> TrainOptions {
    TrainOptions {
        max_tokens: usize::MAX,
        max_merges: 2_000,
        min_frequency: 1,
        max_token_length: None,
        tie_break,
        gpt2_byte_order: false,
        seen_bytes_only: false,
        end_of_word: None,
        fallback: false,
        threads: 2,
        memory,
    }
}

fn counter(split: Option<&str>, threads: usize, room: Room) -> Counter {
    let split = Split::new(split, Tables::Tiktoken, true).unwrap();
    Counter::new(Unit::Byte, split, &[], threads, room).unwrap()
}

fn fed(split: Option<&str>, texts: &[String]) -> Counter {
    let mut counter = counter(split, 2, Room::default());
    let documents: Vec<&str> = texts.iter().map(|text| &**text).collect();
    counter.feed(&documents, &mut || true).unwrap();
    counter
}

fn learned(mut counter: Counter, texts: &[String], options: &TrainOptions) -> Vec<Learned> {
    let documents: Vec<&str> = texts.iter().map(|text| &**text).collect();
    counter.feed(&documents, &mut || true).unwrap();
    let mut merging = Merging::new(counter, options, None, &mut || true).unwrap();
    let mut merges = Vec::new();
    merging
        .step(
            &mut |learned| {
                merges.push(*learned);
                true
            },
            &mut || true,
        )
        .unwrap();
    merges
}

/// An empty folder of the tests' own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const RULES: [TieBreak; 3] = [TieBreak::SmallestIds, TieBreak::FirstSeen, TieBreak::LargestPair];

#[test]
fn pieces_on_disk_give_the_same_merges() {
    let texts = texts(&mut Random(1), 10_000);
    for tie_break in RULES {
        let plain = learned(counter(Some(GPT2), 1, Room::default()), &texts, &options(tie_break, None));
        assert_eq!(2_000, plain.len());
        for threads in [1, 3] {
            let folder = folder(&format!("spill-{tie_break:?}-{threads}"));
            let room = Room::new(200_000, threads, folder.clone());
            let spilled = learned(counter(Some(GPT2), threads, room), &texts, &options(tie_break, None));
            assert_eq!(plain, spilled, "{tie_break:?}, {threads} threads");
            assert_eq!(0, fs::read_dir(&folder).unwrap().count());
        }
    }
}

#[test]
fn places_on_disk_give_the_same_merges() {
    let texts = texts(&mut Random(5), 20_000);
    for tie_break in RULES {
        let folder = folder(&format!("places-{tie_break:?}"));
        let plain = learned(counter(Some(GPT2), 1, Room::default()), &texts, &options(tie_break, None));
        // Nothing is left for places in memory.
        let tight = options(tie_break, Some((16 << 20) + (9 << 20)));
        let room = Room::new(200_000, 2, folder.clone());
        assert_eq!(plain, learned(counter(Some(GPT2), 2, room), &texts, &tight), "{tie_break:?}");
        assert_eq!(0, fs::read_dir(&folder).unwrap().count());
    }
}

#[test]
fn the_pieces_on_disk_are_those_in_memory() {
    let texts = texts(&mut Random(2), 30_000);
    let documents: Vec<&str> = texts.iter().map(|text| &**text).collect();
    let folder = folder("counts");
    let tables = [Room::default(), Room::new(100_000, 2, folder.clone())].map(|room| {
        let mut counter = counter(Some(GPT2), 2, room);
        counter.feed(&documents, &mut || true).unwrap();
        counter.finish(&mut || true).unwrap();
        let mut table = Vec::new();
        counter
            .each_by_bytes(&mut || true, &mut |counted| {
                table.push((counted.piece.to_vec(), counted.count, counted.first));
                Ok(())
            })
            .unwrap();
        assert_eq!(table.len(), counter.distinct_pieces());
        assert!(table.is_sorted());
        table
    });
    assert!(tables[0].len() > 10_000);
    assert_eq!(tables[0], tables[1]);
    assert_eq!(0, fs::read_dir(&folder).unwrap().count());
}

#[test]
fn few_pairs_watched_give_the_same_merges() {
    let prove = std::env::var_os("SYLLABARY_PROVE").is_some_and(|value| !value.is_empty());
    let texts = texts(&mut Random(3), if prove { 3_000 } else { 1_000 });
    for split in [Some(GPT2), None] {
        let mut found = None;
        for tie_break in RULES {
            let plain = learned(counter(split, 2, Room::default()), &texts, &options(tie_break, None));
            let fits = |memory| {
                let options = options(tie_break, Some(memory));
                Merging::new(fed(split, &texts), &options, None, &mut || true).is_ok()
            };
            // About the least that is not refused: then one place in 32 is watched.
            // Most likely it is that of the rule before.
            let (mut low, mut least) = match found {
                Some((low, least)) if fits(least) && !fits(low) => (low, least),
                _ => (0, 1 << 26),
            };
            while least - low > 1_000 {
                let middle = (low + least) / 2;
                *(if fits(middle) { &mut least } else { &mut low }) = middle;
            }
            found = Some((low, least));
            let tight = options(tie_break, Some(least));
            assert_eq!(plain, learned(counter(split, 2, Room::default()), &texts, &tight), "{tie_break:?}");
        }
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let texts = texts(&mut Random(4), 30_000);
    let documents: Vec<&str> = texts.iter().map(|text| &**text).collect();
    let missing = folder("missing").join("nowhere");
    let mut counter = counter(Some(GPT2), 2, Room::new(100_000, 2, missing.clone()));
    let fed = counter.feed(&documents, &mut || true).and_then(|()| counter.finish(&mut || true));
    match fed {
        Err(Error::File { path, code, .. }) => {
            assert!(path.starts_with(&missing.display().to_string()), "{path}");
            assert_eq!(Some(2), code);
        }
        other => panic!("{other:?}"),
    }
}
