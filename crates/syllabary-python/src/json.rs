//! The parts of a `tokenizer.json` that are long, read from JSON: names with ids or scores, and pairs of names.
//!
//! Adds no more than what the JSON says, of files as they ought to be; all else of such a file stays JSON. What is wrong
//! with another file, or strange about it, `python/syllabary/formats/strict_json.py` finds out: it is the definition.
//! Leaves out: what names and pairs mean (`listed`).

use std::{borrow::Cow, fmt};

use serde_core::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The largest id of the formats.
pub const MAX_ID: u64 = (1 << 32) - 2;

/// How a file of merges begins, which may stand before them here too.
const HEAD: &str = "#version";

pub type Name<'d> = Cow<'d, str>;

/// A document: the vocabulary, with ids or with scores, the merges if there are any, and the rest.
#[derive(Default)]
pub struct Document<'d> {
    /// The whole document, but with nothing in the two.
    pub rest: String,
    pub vocab: Vec<(Name<'d>, u32)>,
    pub scored: Vec<(Name<'d>, f64)>,
    pub merges: Option<Vec<[Name<'d>; 2]>>,
    /// The vocabulary is one with scores.
    lists: bool,
    prefix: bool,
    other: bool,
}

impl<'d> Document<'d> {
    /// `None` for what is no JSON, has no vocabulary, or anything unusual in it or in the merges.
    ///
    /// lists: whether the vocabulary is one with scores.
    pub fn read(data: &'d [u8], lists: bool) -> Option<Document<'d>> {
        let mut document = Document { lists, ..Document::default() };
        let mut json = serde_json::Deserializer::from_slice(data);
        json.deserialize_map(Members { document: &mut document, inside: false }).ok()?;
        json.end().ok()?;
        // Names that go on in a word are joined otherwise.
        let joins = !(document.prefix && document.merges.is_some());
        let scores = !lists || !document.other && document.merges.is_none();
        let empty = document.vocab.is_empty() && document.scored.is_empty();
        (joins && scores && !empty).then_some(document)
    }
}

/// What a visitor makes of a value.
pub struct By<V>(pub V);

impl<'d, V: Visitor<'d>> DeserializeSeed<'d> for By<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'d>>(self, json: D) -> Result<V::Value, D::Error> {
        json.deserialize_any(self.0)
    }
}

/// The members of the document, or (inside) of its model.
struct Members<'a, 'd> {
    document: &'a mut Document<'d>,
    inside: bool,
}

impl<'d> Visitor<'d> for Members<'_, 'd> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut members: A) -> Result<(), A::Error> {
        let Members { document, inside } = self;
        let mut open = '{';
        while let Some(key) = members.next_key_seed(By(Text))? {
            write_key(&mut document.rest, &mut open, &key)?;
            match (inside, &*key) {
                (false, "model") => members.next_value_seed(By(Members { document, inside: true }))?,
                (true, "vocab") if document.vocab.is_empty() && document.scored.is_empty() => {
                    members.next_value_seed(By(Entries(document)))?;
                    document.rest.push_str(if document.scored.is_empty() { "{}" } else { "[]" });
                }
                (true, "merges") if document.merges.is_none() => {
                    members.next_value_seed(By(Rows(document.merges.insert(Vec::new()), || Pair)))?;
                    document.rest.push_str("[]");
                }
                (true, "type") => {
                    let kind = members.next_value::<&RawValue>()?.get();
                    document.other |= !matches!(kind, "null" | "\"Unigram\"");
                    document.rest.push_str(kind);
                }
                (true, "continuing_subword_prefix") => {
                    let prefix = members.next_value::<&RawValue>()?.get();
                    document.prefix = !matches!(prefix, "null" | "\"\"");
                    document.rest.push_str(prefix);
                }
                (_, "model" | "vocab" | "merges") if inside => return Err(A::Error::custom("given twice")),
                _ => document.rest.push_str(members.next_value::<&RawValue>()?.get()),
            }
        }
        write_end(&mut document.rest, open);
        Ok(())
    }
}

/// Writes the key of the next member of an object. open: what stands before it, `{` before the first.
pub fn write_key<E: Error>(rest: &mut String, open: &mut char, key: &str) -> Result<(), E> {
    rest.push(std::mem::replace(open, ','));
    rest.push_str(&serde_json::to_string(key).map_err(E::custom)?);
    rest.push(':');
    Ok(())
}

/// Writes the end of an object.
pub fn write_end(rest: &mut String, open: char) {
    rest.push_str(if open == '{' { "{}" } else { "}" });
}

/// The vocabulary: an object of name -> id, or a list of names with scores.
struct Entries<'a, 'd>(&'a mut Document<'d>);

impl<'d> Visitor<'d> for Entries<'_, 'd> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("names and ids, or scores")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, rows: A) -> Result<(), A::Error> {
        if !self.0.lists {
            return Err(A::Error::custom("names and ids are asked for"));
        }
        Rows(&mut self.0.scored, || Scored).visit_seq(rows)
    }

    fn visit_map<A: MapAccess<'d>>(self, mut members: A) -> Result<(), A::Error> {
        if self.0.lists {
            return Err(A::Error::custom("scores are asked for"));
        }
        while let Some(name) = members.next_key_seed(By(Text))? {
            let id = members.next_value::<u64>()?;
            if id > MAX_ID {
                return Err(A::Error::custom("no id"));
            }
            self.0.vocab.push((name, id as u32));
        }
        Ok(())
    }
}

/// A list, of which each row is read by what the function gives.
struct Rows<'a, T, R>(&'a mut Vec<T>, fn() -> R);

impl<'d, T, R: Visitor<'d, Value = T>> Visitor<'d> for Rows<'_, T, R> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut rows: A) -> Result<(), A::Error> {
        while let Some(row) = rows.next_element_seed(By(self.1()))? {
            self.0.push(row);
        }
        Ok(())
    }
}

/// A name that is not empty, and its score, which is no integer.
struct Scored;

impl<'d> Visitor<'d> for Scored {
    type Value = (Name<'d>, f64);

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name and a score")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut row: A) -> Result<Self::Value, A::Error> {
        let name = row.next_element_seed(By(Text))?.filter(|name| !name.is_empty());
        let score = row.next_element_seed(By(Score))?.filter(|score| score.abs() <= f64::from(f32::MAX));
        // What follows is refused by the reader of JSON, which comes to no end of the list.
        name.zip(score).ok_or_else(|| A::Error::custom("no name and score"))
    }
}

/// A number with a point or an exponent.
struct Score;

impl Visitor<'_> for Score {
    type Value = f64;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a score")
    }

    fn visit_f64<E: Error>(self, score: f64) -> Result<f64, E> {
        Ok(score)
    }
}

/// Two names, or a text in which one space stands between them.
struct Pair;

impl<'d> Visitor<'d> for Pair {
    type Value = [Name<'d>; 2];

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("two names")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'d str) -> Result<Self::Value, E> {
        let [left, right] = halves(text)?;
        Ok([Name::Borrowed(left), Name::Borrowed(right)])
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(halves(text)?.map(|half| Name::Owned(half.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut names: A) -> Result<Self::Value, A::Error> {
        let mut next = || names.next_element_seed(By(Text))?.ok_or_else(|| A::Error::custom("too few"));
        Ok([next()?, next()?])
    }
}

/// What stands on both sides of the only space.
fn halves<E: Error>(text: &str) -> Result<[&str; 2], E> {
    match text.split_once(' ') {
        Some((left, right)) if !right.contains(' ') && !text.starts_with(HEAD) => Ok([left, right]),
        _ => Err(E::custom("no two names")),
    }
}

/// A text, which lies in the document unless something in it is escaped.
pub struct Text;

impl<'d> Visitor<'d> for Text {
    type Value = Name<'d>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'d str) -> Result<Self::Value, E> {
        Ok(Name::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Name::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_pairs_are_taken_out_and_the_rest_stays() {
        let text = r#" {"a\n": [1, {"b" :2.50}], "model": {"type":"BPE", "vocab": {"a": 0, "\u00e9": 7, "": 1},
            "merges": ["a \u00e9", ["a", " "]], "more": null}, "end": "x"} "#;
        let document = Document::read(text.as_bytes(), false).unwrap();
        assert_eq!(
            document.rest,
            r#"{"a\n":[1, {"b" :2.50}],"model":{"type":"BPE","vocab":{},"merges":[],"more":null},"end":"x"}"#
        );
        assert_eq!(document.vocab, [("a".into(), 0), ("é".into(), 7), ("".into(), 1)]);
        assert_eq!(document.merges.unwrap(), [["a", "é"], ["a", " "]].map(|pair| pair.map(Name::from)));
        let words = Document::read(br#"{"model": {"vocab": {"a": 0}}}"#, false).unwrap();
        assert_eq!((words.rest.as_str(), words.merges), (r#"{"model":{"vocab":{}}}"#, None));
        let scored =
            Document::read(br#"{"model": {"vocab": [["a", -0.5], ["\u00e9", 1e-3]]}}"#, true).unwrap();
        assert_eq!(scored.rest, r#"{"model":{"vocab":[]}}"#);
        assert_eq!(scored.scored, [("a".into(), -0.5), ("é".into(), 0.001)]);
    }

    #[test]
    fn what_is_unusual_is_left_to_python() {
        for model in [
            r#"{"vocab": {}}"#,
            r#"{"vocab": []}"#,
            r#"{"type": "BPE", "vocab": [["a", 0.5]]}"#,
            r#"{"vocab": [["a", 0.5]], "merges": []}"#,
            r#"{"vocab": [["a", 1]]}"#,
            r#"{"vocab": [["", 0.5]]}"#,
            r#"{"vocab": [["a", -4e38]]}"#,
            r#"{"vocab": [["a", 0.5, 0.5]]}"#,
            r#"{"vocab": [["a", 0.5]], "vocab": {"a": 0}}"#,
            r#"{"vocab": {"a": 0}, "vocab": {"b": 0}}"#,
            r#"{"vocab": {"a": -1}}"#,
            r#"{"vocab": {"a": 0.0}}"#,
            r#"{"vocab": {"a": 4294967295}}"#,
            r#"{"vocab": {"a": true}}"#,
            r#"{"vocab": {"\ud800": 0}}"#,
            r#"{"vocab": {"a": 0}, "merges": {}}"#,
            r#"{"vocab": {"a": 0}, "merges": [], "merges": []}"#,
            r#"{"vocab": {"a": 0}, "merges": ["a"]}"#,
            r#"{"vocab": {"a": 0}, "merges": ["a a a"]}"#,
            r#"{"vocab": {"a": 0}, "merges": [["a"]]}"#,
            r#"{"vocab": {"a": 0}, "merges": [["a", "a", "a"]]}"#,
            r#"{"vocab": {"a": 0}, "merges": [["a", 1]]}"#,
            r##"{"vocab": {"a": 0}, "merges": ["#version: 0.2"]}"##,
            r#"{"vocab": {"a": 0}, "merges": [], "continuing_subword_prefix": "@@"}"#,
            r#"{"vocab": {"a": 0}, "x": NaN}"#,
            "[]",
            "7",
        ] {
            let text = format!(r#"{{"model": {model}}}"#);
            assert!(
                [false, true].iter().all(|&lists| Document::read(text.as_bytes(), lists).is_none()),
                "{model}"
            );
        }
        for text in
            ["", "[]", "{}", r#"{"model": {"vocab": {"a": 0}}} x"#, r#"{"model": {"vocab": {"a": 0}}"#]
        {
            assert!(Document::read(text.as_bytes(), false).is_none(), "{text}");
        }
        let twice = r#"{"model": {"vocab": {"a": 0}}, "model": {"vocab": {"a": 0}}}"#;
        assert!(Document::read(twice.as_bytes(), false).is_none());
        assert!(Document::read(b"{\"model\": {\"vocab\": {\"a\": 0}}, \"x\": \"\xff\"}", false).is_none());
    }
}
