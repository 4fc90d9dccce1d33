//! The parts of a `tokenizer.json` that are long, read from JSON: names and ids, and pairs of names.
//!
//! Adds no more than what the JSON says, of files as they ought to be; all else of such a file stays JSON. What is wrong
//! with another file, or strange about it, `python/syllabary/formats/strict_json.py` finds out: it is the definition.
//! Leaves out: what names and pairs mean (`listed`).

use std::{borrow::Cow, fmt};

use serde_core::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The largest id of the formats.
const MAX_ID: u64 = (1 << 32) - 2;

/// How a file of merges begins, which may stand before them here too.
const HEAD: &str = "#version";

pub type Name<'d> = Cow<'d, str>;

/// A document: the vocabulary, the merges if there are any, and the rest.
#[derive(Default)]
pub struct Document<'d> {
    /// The whole document, but with nothing in the two.
    pub rest: String,
    pub vocab: Vec<(Name<'d>, u32)>,
    pub merges: Option<Vec<[Name<'d>; 2]>>,
    prefix: bool,
}

impl<'d> Document<'d> {
    /// `None` for what is no JSON, has no vocabulary of names, or anything unusual in it or in the merges.
    pub fn read(data: &'d [u8]) -> Option<Document<'d>> {
        let mut document = Document::default();
        let mut json = serde_json::Deserializer::from_slice(data);
        Members { document: &mut document, inside: false }.deserialize(&mut json).ok()?;
        json.end().ok()?;
        // Names that go on in a word are joined otherwise.
        let joins = !(document.prefix && document.merges.is_some());
        (joins && !document.vocab.is_empty()).then_some(document)
    }
}

/// The members of the document, or (inside) of its model.
struct Members<'a, 'd> {
    document: &'a mut Document<'d>,
    inside: bool,
}

impl<'d> DeserializeSeed<'d> for Members<'_, 'd> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'d> Visitor<'d> for Members<'_, 'd> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut members: A) -> Result<(), A::Error> {
        let Members { document, inside } = self;
        let mut open = '{';
        while let Some(key) = members.next_key_seed(Text)? {
            document.rest.push(open);
            open = ',';
            document.rest.push_str(&serde_json::to_string(&key).map_err(A::Error::custom)?);
            document.rest.push(':');
            match (inside, &*key) {
                (false, "model") => members.next_value_seed(Members { document, inside: true })?,
                (true, "vocab") if document.vocab.is_empty() => {
                    members.next_value_seed(Ids(&mut document.vocab))?;
                    document.rest.push_str("{}");
                }
                (true, "merges") if document.merges.is_none() => {
                    members.next_value_seed(Pairs(document.merges.insert(Vec::new())))?;
                    document.rest.push_str("[]");
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
        document.rest.push_str(if open == '{' { "{}" } else { "}" });
        Ok(())
    }
}

/// An object of name -> id.
struct Ids<'a, 'd>(&'a mut Vec<(Name<'d>, u32)>);

impl<'d> DeserializeSeed<'d> for Ids<'_, 'd> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'d> Visitor<'d> for Ids<'_, 'd> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("names and ids")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key_seed(Text)? {
            let id = members.next_value::<u64>()?;
            if id > MAX_ID {
                return Err(A::Error::custom("no id"));
            }
            self.0.push((name, id as u32));
        }
        Ok(())
    }
}

/// A list of pairs of names, or of texts in which one space stands between them.
struct Pairs<'a, 'd>(&'a mut Vec<[Name<'d>; 2]>);

impl<'d> DeserializeSeed<'d> for Pairs<'_, 'd> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'d> Visitor<'d> for Pairs<'_, 'd> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("pairs of names")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut rows: A) -> Result<(), A::Error> {
        while let Some(row) = rows.next_element_seed(Pair)? {
            self.0.push(row);
        }
        Ok(())
    }
}

/// One of them.
struct Pair;

impl<'d> DeserializeSeed<'d> for Pair {
    type Value = [Name<'d>; 2];

    fn deserialize<D: Deserializer<'d>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

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
        let mut next = || names.next_element_seed(Text)?.ok_or_else(|| A::Error::custom("too few"));
        let pair = [next()?, next()?];
        match names.next_element_seed(Text)? {
            None => Ok(pair),
            Some(_) => Err(A::Error::custom("too many")),
        }
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
struct Text;

impl<'d> DeserializeSeed<'d> for Text {
    type Value = Name<'d>;

    fn deserialize<D: Deserializer<'d>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

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
        let document = Document::read(text.as_bytes()).unwrap();
        assert_eq!(
            document.rest,
            r#"{"a\n":[1, {"b" :2.50}],"model":{"type":"BPE","vocab":{},"merges":[],"more":null},"end":"x"}"#
        );
        assert_eq!(document.vocab, [("a".into(), 0), ("é".into(), 7), ("".into(), 1)]);
        assert_eq!(document.merges.unwrap(), [["a", "é"], ["a", " "]].map(|pair| pair.map(Name::from)));
        let words = Document::read(br#"{"model": {"vocab": {"a": 0}}}"#).unwrap();
        assert_eq!((words.rest.as_str(), words.merges), (r#"{"model":{"vocab":{}}}"#, None));
    }

    #[test]
    fn what_is_unusual_is_left_to_python() {
        for model in [
            r#"{"vocab": {}}"#,
            r#"{"vocab": [["a", 0.5]]}"#,
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
            assert!(Document::read(format!(r#"{{"model": {model}}}"#).as_bytes()).is_none(), "{model}");
        }
        for text in
            ["", "[]", "{}", r#"{"model": {"vocab": {"a": 0}}} x"#, r#"{"model": {"vocab": {"a": 0}}"#]
        {
            assert!(Document::read(text.as_bytes()).is_none(), "{text}");
        }
        let twice = r#"{"model": {"vocab": {"a": 0}}, "model": {"vocab": {"a": 0}}}"#;
        assert!(Document::read(twice.as_bytes()).is_none());
        assert!(Document::read(b"{\"model\": {\"vocab\": {\"a\": 0}}, \"x\": \"\xff\"}").is_none());
    }
}
