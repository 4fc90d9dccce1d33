//! Which tokenizers have the fast way.

#[cfg(simd_x86)]
use crate::models::Kind;
use crate::{
    alphabet::{Spelling, Unit},
    parts::Parts,
    split::{Split, Tables},
    step::{Step, Value},
    tokenizer::Tokenizer,
};

const TOKENS: [&str; 6] = ["▁", "a", "b", "▁a", "ab", "▁ab"];

/// Whether a tokenizer of these tokens has it, after a change.
fn has_fast_way(change: impl FnOnce(&mut Parts<'_>)) -> bool {
    let mut parts = Parts::plain(Unit::Char, Split::new(None, Tables::Tiktoken, true).unwrap());
    parts.tokens = (0..).zip(TOKENS.map(str::as_bytes)).collect();
    parts.alphabet = TOKENS[..3].iter().map(|token| token.as_bytes()).zip(0..).collect();
    parts.merges = Some(vec![(0, 1, 3), (1, 2, 4), (0, 4, 5), (3, 2, 5)]);
    parts.special = vec![("<unk>".to_owned(), 9)];
    parts.spelling.unknown = Some(9);
    change(&mut parts);
    Tokenizer::new(parts).unwrap().charwise.is_some()
}

#[test]
fn only_where_ids_depend_on_nothing_else() {
    let replace = Step::of(
        "Replace",
        &[
            ("pattern", Value::Str(" ".to_owned())),
            ("regex", Value::Bool(false)),
            ("content", Value::Str("▁".to_owned())),
        ],
    );
    let cut = |invert| {
        let options = [
            ("pattern", Value::Str(" ".to_owned())),
            ("regex", Value::Bool(false)),
            ("behavior", Value::Str("merged_with_previous".to_owned())),
            ("invert", Value::Bool(invert)),
        ];
        Step::of("Split", &options)
    };
    assert!(has_fast_way(|_| ()));
    // A cut at spaces where there are none.
    assert!(has_fast_way(|parts| {
        parts.normalizer.push(replace.clone());
        parts.pretokenizer.push(cut(false));
    }));
    assert!(!has_fast_way(|parts| {
        parts.normalizer.push(replace.clone());
        parts.pretokenizer.push(cut(true));
    }));
    assert!(!has_fast_way(|parts| parts.pretokenizer.push(cut(false))));
    assert!(has_fast_way(|parts| parts.normalizer.push(replace.clone())));
    assert!(has_fast_way(|parts| parts.normalizer.push(Step::of("Lowercase", &[]))));
    assert!(has_fast_way(|parts| {
        parts.merges = None;
        parts.scores = Some((0..6).map(|id| (id, -f64::from(id))).collect());
    }));
    // What stands for a space, or a character within a token, is no token itself.
    assert!(!has_fast_way(|parts| {
        parts.normalizer.push(replace.clone());
        parts.alphabet.remove(0);
    }));
    assert!(!has_fast_way(|parts| parts.alphabet.truncate(2)));
    // Some character would be an error, which is told by another way; where scores say what merges it would not.
    assert!(has_fast_way(|parts| parts.spelling.unknown = None));
    assert!(!has_fast_way(|parts| {
        parts.merges = None;
        parts.scores = Some((0..6).map(|id| (id, -f64::from(id))).collect());
        parts.spelling.unknown = None;
    }));
    // The unknown token merges.
    assert!(!has_fast_way(|parts| parts.spelling.unknown = Some(1)));
    assert!(!has_fast_way(|parts| parts.whole_pieces = true));
    assert!(!has_fast_way(|parts| parts.split = Split::new(Some("a"), Tables::Tiktoken, true).unwrap()));
    assert!(!has_fast_way(|parts| parts.merges = None));
    assert!(!has_fast_way(|parts| {
        parts.spelling = Spelling { end_of_word: Some("b"), ..parts.spelling };
    }));
    assert!(!has_fast_way(|parts| {
        parts.merges = None;
        parts.scores = Some((0..6).map(|id| (id, -f64::from(id))).collect());
        parts.unused = vec![3];
    }));
}

#[test]
fn only_where_no_byte_that_spells_characters_merges() {
    assert!(!has_fast_way(|parts| {
        parts.tokens.extend([(6, &b"\xC3"[..]), (7, "aé".as_bytes()), (8, b"\xA9"), (10, b"a\xC3")]);
        parts.alphabet.extend([(&b"\xC3"[..], 6), (b"\xA9", 8)]);
        parts.spelling.fallback = true;
        parts.merges = Some(vec![(1, 6, 10), (10, 8, 7)]);
    }));
}

#[test]
fn only_where_text_is_cut_by_kinds() {
    let punctuation =
        |behavior: &str| Step::of("Punctuation", &[("behavior", Value::Str(behavior.to_owned()))]);
    let has = |kind: &str| has_fast_way(|parts| parts.pretokenizer.push(Step::of(kind, &[])));
    assert!(has("WhitespaceSplit") && has("BertPreTokenizer"));
    // It cuts a token, `▁a`.
    assert!(!has("Whitespace"));
    let by = |behavior| has_fast_way(|parts| parts.pretokenizer.push(punctuation(behavior)));
    assert!(by("isolated") && by("contiguous"));
    assert!(!by("removed") && !by("merged_with_next"));
    assert!(has_fast_way(|parts| {
        parts.split = Split::new(Some(r"\S+"), Tables::Tiktoken, false).unwrap();
    }));
    let behind = |step: Step| {
        has_fast_way(|parts| {
            parts.normalizer.push(step);
            parts.pretokenizer.push(punctuation("isolated"));
        })
    };
    assert!(behind(Step::of("NFKC", &[])) && behind(Step::of("Lowercase", &[])));
    // Several unknown characters of two pieces are not one.
    assert!(!has_fast_way(|parts| {
        parts.spelling.fuse_unknown = true;
        parts.pretokenizer.push(punctuation("isolated"));
    }));
}

#[cfg(simd_x86)]
#[test]
fn sixteen_characters_are_read_as_one_by_one() {
    use super::{
        How,
        stretch::{READ, Read},
    };
    let Some(able) = crate::sixteen::Able::new() else { return };
    let tokens = ["▁", "a", "é", "漢", "字", "漢字", "aé", "é漢", "▁a", "字▁"];
    let mut parts = Parts::plain(Unit::Char, Split::new(None, Tables::Tiktoken, true).unwrap());
    parts.tokens = (0..).zip(tokens.map(str::as_bytes)).collect();
    parts.scores = Some((0..10).map(|id| (id, -f64::from(id))).collect());
    parts.special = vec![("<unk>".to_owned(), 10)];
    parts.spelling.unknown = Some(10);
    parts.model = Kind::Unigram;
    let tokenizer = Tokenizer::new(parts).unwrap();
    let charwise = tokenizer.charwise.as_ref().unwrap();
    let How::Weigh(weigh) = &charwise.how else { panic!("another way") };
    let letters: Vec<char> = "a é漢字漢字漢字ж。字漢\u{ffff}😀x".chars().collect();
    let mut state = 3u64;
    for round in 0..2000 {
        let mut text = String::new();
        for _ in 0..60 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let among = if round % 2 == 0 { 13 } else { letters.len() };
            text.push(letters[(state >> 33) as usize % among]);
        }
        let mut read =
            Read { chars: [7; READ + 1], codes: [0; READ], starts: [0; READ + 1], count: 0, opens: 0 };
        let opens = able.read(&weigh.unigram, &charwise.joins, '▁', text.as_bytes(), &mut read);
        let mut before = 7;
        for (place, (at, char)) in text.char_indices().take(read.count).enumerate() {
            let number = if char == ' ' { u32::from('▁') } else { char.into() };
            assert_eq!((read.chars[place + 1], read.starts[place]), (number, at));
            assert_eq!(read.codes[place], weigh.unigram.code(number));
            assert_eq!(opens >> place & 1 == 1, charwise.joins.may_join(before, number));
            assert_eq!(read.starts[place + 1], at + char.len_utf8());
            before = number;
        }
        assert!(round % 2 == 1 || read.count >= 16);
    }
}

/// A Unigram of these tokens, scores of few tenths so that many ways are nearly equal; `spelled`: unknown text by bytes.
#[cfg(simd_x86)]
fn unigram(fuses: bool, spelled: bool) -> Tokenizer {
    let tokens = [
        "▁",
        "a",
        "b",
        "é",
        "漢",
        "字",
        "ж",
        "ab",
        "▁a",
        "漢字",
        "aé",
        "é漢",
        "字▁",
        "жa",
        "漢字漢",
        "abab",
        "▁漢",
        "aéab",
        "ж漢字ж",
        "b\u{ffff}",
        "😀",
        "a😀",
    ];
    let bytes: Vec<(u32, u8)> = (100..).zip(0..=255).collect();
    let names: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let mut parts = Parts::plain(Unit::Char, Split::new(None, Tables::Tiktoken, true).unwrap());
    parts.tokens = (0..).zip(tokens.map(str::as_bytes)).collect();
    let tenths = |text: &str, id: usize| -(text.chars().count() as f64) * 1.1 - 0.1 * (id % 3) as f64;
    let scores = (0..).zip(tokens.iter().enumerate().map(|(id, text)| tenths(text, id)));
    parts.scores = Some(scores.collect());
    parts.special = vec![("<unk>".to_owned(), 99)];
    parts.spelling = Spelling { unknown: Some(99), fuse_unknown: fuses, ..parts.spelling };
    if spelled {
        parts.tokens.extend((100..).zip(names.iter().map(|name| &name[..])));
        parts.spelling = Spelling { fallback: true, byte_tokens: &bytes, ..parts.spelling };
    }
    parts.single_precision = true;
    parts.model = Kind::Unigram;
    Tokenizer::new(parts).unwrap()
}

/// Up to where sums are counted anew; characters of four bytes, of the end of the table, alone and in tokens, among them.
#[cfg(simd_x86)]
#[test]
fn text_of_any_script_is_written_as_by_the_other_ways() {
    use crate::{
        dropout::Dropout,
        tokenizer::{SpecialPolicy, Work},
    };
    let letters: Vec<char> = "a éb漢字漢字漢字ж.。ω字漢\u{ffff}😀xыы漢字 字".chars().collect();
    let mut state = 5u64;
    for (fuses, spelled) in [(false, false), (true, false), (false, true), (true, true)] {
        let (wide, mut plain) = (unigram(fuses, spelled), unigram(fuses, spelled));
        let tables = plain.charwise.as_mut().unwrap();
        if tables.singles.take().is_none() {
            return;
        }
        let (mut wide_work, mut plain_work) = (Work::default(), Work::default());
        for round in 0..crate::drawn::drawn(300, 3000) {
            let mut text = String::new();
            for _ in 0..round * 7 % 300 + if round % 50 == 49 { 40_000 } else { 0 } {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let among = [9, 14, letters.len(), letters.len()][round % 4];
                text.push(letters[(state >> 33) as usize % among]);
            }
            if round == 0 {
                // Its two ways differ by rounding alone.
                text.push_str("漢жω.aé字字");
            }
            let encode = |tokenizer: &Tokenizer, work: &mut Work| {
                let mut ids = Vec::new();
                tokenizer.encode(&text, SpecialPolicy::Text, Dropout::NONE.coins(0), work, &mut ids).unwrap();
                ids
            };
            let (found, expected) = (encode(&wide, &mut wide_work), encode(&plain, &mut plain_work));
            let place = found.iter().zip(&expected).position(|(one, other)| one != other);
            assert!(found == expected, "{fuses} {spelled} {round}: {place:?} of {}", expected.len());
        }
    }
}

/// A vocabulary of many pairs of characters of some scripts; unknown text by bytes if `spelled`.
fn of_many_pairs(spelled: bool) -> Tokenizer {
    let letters: Vec<char> = ('\u{4E00}'..'\u{4E28}').chain('α'..'ω').chain("▁ab,é".chars()).collect();
    let bytes: Vec<(u32, u8)> = (10_000..).zip(0..=255).collect();
    let names: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let mut tokens: Vec<String> = letters.iter().map(char::to_string).collect();
    let (count, mut merges) = (letters.len(), Vec::new());
    let mut put = |tokens: &mut Vec<String>, (left, right): (usize, usize)| {
        let text = format!("{}{}", tokens[left], tokens[right]);
        if !tokens.contains(&text) {
            merges.push((left as u32, right as u32, tokens.len() as u32));
            tokens.push(text);
        }
    };
    let mut draw = crate::drawn::drawing(11);
    for _ in 0..4000 {
        put(&mut tokens, (draw(count), draw(count)));
    }
    for _ in 0..400 {
        let most = tokens.len();
        put(&mut tokens, (draw(most), draw(most)));
    }
    let mut parts = Parts::plain(Unit::Char, Split::new(None, Tables::Tiktoken, true).unwrap());
    parts.tokens = (0..).zip(tokens.iter().map(|token| token.as_bytes())).collect();
    parts.alphabet = letters.iter().zip(0..).map(|(_, id)| (tokens[id as usize].as_bytes(), id)).collect();
    parts.special = vec![("<unk>".to_owned(), 99_999)];
    parts.spelling = Spelling { unknown: Some(99_999), fuse_unknown: !spelled, ..parts.spelling };
    if spelled {
        parts.tokens.extend((10_000..).zip(names.iter().map(|name| &name[..])));
        parts.alphabet.extend((10_000..).zip(names.iter()).map(|(id, name)| (&name[..], id)));
        parts.spelling = Spelling { fallback: true, byte_tokens: &bytes, ..parts.spelling };
    }
    parts.merges = Some(merges);
    Tokenizer::new(parts).unwrap()
}

/// Rows of what the vocabulary knows and of strangers, characters of four bytes, spaces and ASCII among them.
#[test]
fn segments_of_all_scripts_looked_up_together_have_their_ids() {
    use crate::{
        dropout::Dropout,
        tokenizer::{SpecialPolicy, Work},
    };
    let known: Vec<char> = ('\u{4E00}'..'\u{4E28}').chain('α'..'ω').chain("ab,é aaa ".chars()).collect();
    let strange: Vec<char> = "жЖя😀𠀀\u{ffff}ツ\0z\n".chars().collect();
    let mut draw = crate::drawn::drawing(12);
    for spelled in [false, true] {
        let (together, mut alone) = (of_many_pairs(spelled), of_many_pairs(spelled));
        let tables = alone.charwise.as_mut().unwrap();
        assert!(std::mem::take(&mut tables.knows_scripts));
        drop(tables.groups.take());
        let (mut work, mut alone_work) = (Work::default(), Work::default());
        for round in 0..crate::drawn::drawn(600, 6000) {
            let mut text = String::new();
            let length = draw(300) + if round % 50 == 49 { 5_000 } else { 0 };
            while text.len() < length {
                let among = if draw(8) == 0 { &strange } else { &known };
                let among = &among[..1 + draw(among.len())];
                (0..draw([3, 40][round % 2]) + 1).for_each(|_| text.push(among[draw(among.len())]));
            }
            let encode = |tokenizer: &Tokenizer, work: &mut Work| {
                let mut ids = Vec::new();
                tokenizer.encode(&text, SpecialPolicy::Text, Dropout::NONE.coins(0), work, &mut ids).unwrap();
                ids
            };
            assert_eq!(encode(&together, &mut work), encode(&alone, &mut alone_work), "{spelled} {text:?}");
        }
    }
}

/// Each new and known character is written where nothing was found between: there must be room for it.
#[test]
fn new_characters_at_the_end_of_a_run_have_room() {
    use crate::{
        dropout::Dropout,
        tokenizer::{SpecialPolicy, Work},
    };
    let letters: Vec<String> = ('\u{4E00}'..).take(1200).map(|char| char.to_string()).collect();
    let pairs: Vec<String> = letters.iter().map(|letter| format!("{}{letter}", letters[0])).collect();
    let mut parts = Parts::plain(Unit::Char, Split::new(None, Tables::Tiktoken, true).unwrap());
    parts.tokens = (0..).zip(letters.iter().chain(&pairs).map(|token| token.as_bytes())).collect();
    parts.alphabet = letters.iter().map(|letter| letter.as_bytes()).zip(0..).collect();
    parts.special = vec![("<unk>".to_owned(), 9_999)];
    parts.spelling = Spelling { unknown: Some(9_999), ..parts.spelling };
    parts.merges = Some((0..1200).map(|id| (0, id, 1200 + id)).collect());
    let tokenizer = Tokenizer::new(parts).unwrap();
    assert!(tokenizer.charwise.as_ref().unwrap().knows_scripts);
    for known in (3_900..4_200).step_by(7) {
        let places = (0..known).map(|at| 1 + at % 2).chain(3..203);
        let text: String = places.clone().map(|place| letters[place].as_str()).collect();
        let mut ids = Vec::new();
        let policy = (SpecialPolicy::Text, Dropout::NONE.coins(0));
        tokenizer.encode(&text, policy.0, policy.1, &mut Work::default(), &mut ids).unwrap();
        assert!(ids.iter().map(|&id| id as usize).eq(places), "{known}");
    }
}

/// At each place that two neighbours leave, sixteen at a time, by vectors or not; also behind a stranger that is the last of sixteen and shares the
/// bit of a pair.
#[test]
fn text_of_any_script_is_cut_where_neighbours_are() {
    let tokenizer = of_many_pairs(true);
    let charwise = tokenizer.charwise.as_ref().unwrap();
    let groups = charwise.groups.as_ref().unwrap();
    let (mut several, mut sharing) = (crate::encode::Several::default(), 0);
    for stranger in ('а'..'\u{D7FF}').filter(|&char| !charwise.letters.get(char).has_neighbours()) {
        for next in ('\u{4E00}'..'\u{4E28}').chain('α'..'ω').step_by(7) {
            let is_sharing = charwise.joins.may_join(stranger.into(), next.into());
            if !is_sharing && u32::from(stranger) % 256 != 0 {
                continue;
            }
            sharing += usize::from(is_sharing);
            let text = format!("{}{stranger}{next}丅丅𠀀", "丄".repeat(15));
            several.begin(0);
            let end = charwise.cut_plain(groups, text.as_bytes(), 0, &mut several);
            let found: Vec<usize> = (0..several.count()).map(|at| several.span(at).1).collect();
            several.begin(0);
            assert_eq!(charwise.cut_by_groups(groups, text.as_bytes(), 0, &mut several), end);
            assert!((0..several.count()).map(|at| several.span(at).1).eq(found.iter().copied()), "{text}");
            let chars: Vec<(usize, char)> = text.char_indices().collect();
            let is_cut =
                |pair: &&[(usize, char)]| charwise.joins.cuts(&charwise.letters, pair[0].1, pair[1].1);
            let cuts = chars.windows(2).filter(is_cut).map(|pair| pair[1].0);
            assert_eq!(found, cuts.filter(|&at| at <= end).collect::<Vec<_>>(), "{text}");
            assert!(end >= 15 * 3 + stranger.len_utf8());
        }
    }
    assert!(sharing > 100);
}
