use std::{collections::BTreeMap, fs, time::Instant};
use syllabary::{
    alphabet::{Spelling, Unit},
    dropout::Dropout,
    split::{Split, Tables},
    step::{Step, Value},
    tokenizer::{Parts, SpecialPolicy, Tokenizer, Work},
};
fn hex(s: &str) -> Vec<u8> {
    (0..s.len() / 2).map(|i| u8::from_str_radix(&s[2 * i..2 * i + 2], 16).unwrap()).collect()
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mb: f64 = args[1].parse().unwrap();
    let passes: usize = args[2].parse().unwrap();
    let data = fs::read_to_string("/tmp/c6/pieces_mistral.txt").unwrap();
    let mut tokens = vec![];
    let mut alphabet = vec![];
    let mut scores = vec![];
    let mut bytes = vec![];
    for line in data.lines() {
        let f: Vec<&str> = line.split(' ').collect();
        let id: u32 = f[1].parse().unwrap();
        match f[0] {
            "t" => tokens.push((id, hex(f[2]))),
            "a" => alphabet.push((hex(f[2]), id)),
            "s" => scores.push((id, f[2].parse::<f64>().unwrap())),
            _ => bytes.push((id, f[2].parse::<u8>().unwrap())),
        }
    }
    let spelling = Spelling {
        unit: Unit::Char,
        fallback: true,
        byte_tokens: &bytes,
        unknown: Some(0),
        fuse_unknown: true,
        surface_offsets: true,
        ..Spelling::plain(Unit::Char)
    };
    let mut parts = Parts::plain(Unit::Char, Split::new(None, Tables::Tiktoken, true).unwrap());
    parts.spelling = spelling;
    parts.tokens = tokens.iter().map(|(i, b)| (*i, &b[..])).collect();
    parts.alphabet = alphabet.iter().map(|(b, i)| (&b[..], *i)).collect();
    parts.scores = Some(scores);
    parts.special = vec![("<unk>".into(), 0)];
    parts.matching = vec![(
        "<unk>".into(),
        syllabary::matching::Matching {
            stage: syllabary::matching::Stage::Never,
            single_word: false,
            lstrip: false,
            rstrip: false,
        },
    )];
    let mut o = BTreeMap::new();
    o.insert("precompiled_charsmap".to_string(), Value::Bytes(vec![]));
    for (k, v) in [
        ("add_dummy_prefix", true),
        ("remove_extra_whitespaces", false),
        ("treat_whitespace_as_suffix", false),
        ("escape_whitespaces", true),
    ] {
        o.insert(k.to_string(), Value::Bool(v));
    }
    parts.normalizer = vec![Step { kind: "SentencePiece".into(), options: o }];
    let t0 = Instant::now();
    let t = Tokenizer::new(parts).unwrap();
    println!("load {:.1} ms", t0.elapsed().as_secs_f64() * 1e3);
    for c in &args[3..] {
        let raw = fs::read(format!("/tmp/corp/{c}.txt")).unwrap();
        let text = String::from_utf8_lossy(&raw[..((mb * 1e6) as usize).min(raw.len())]).into_owned();
        let mut docs = vec![];
        let mut rest = &text[..];
        while !rest.is_empty() {
            let mut e = rest.len().min(3000);
            while !rest.is_char_boundary(e) {
                e += 1
            }
            docs.push(&rest[..e]);
            rest = &rest[e..];
        }
        let mut out: Vec<u32> = vec![0; text.len() * 3]; // faulted in
        let mut work = Work::default();
        print!("{c:13}");
        let mut h = 0u64;
        for p in 0..passes {
            out.clear();
            let t0 = Instant::now();
            for d in &docs {
                t.encode(d, SpecialPolicy::Allow, Dropout::NONE.coins(0), &mut work, &mut out).unwrap();
            }
            let s = t0.elapsed().as_secs_f64();
            if p < 2 || p + 1 == passes {
                print!(" {:7.1}", text.len() as f64 / s / 1e6);
            }
            h = out.iter().fold(0u64, |h, &i| (h ^ u64::from(i)).wrapping_mul(0x100000001b3));
        }
        println!("  {:.3} ids/byte {:x}", out.len() as f64 / text.len() as f64, h);
    }
}
