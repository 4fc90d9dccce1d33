//! The parts of a `.syllabary.json` that are long, read from JSON: tokens by id, and merges.
//!
//! Adds no more than what the JSON says, of files as they ought to be; all else of such a file stays JSON. What is wrong
//! with another file, or strange about it, `python/syllabary/formats/syllabary_json.py` finds out: it is the definition.
//! Leaves out: what the tokens are to each other (`listed`).

use std::fmt;

use serde_core::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::{By, MAX_ID, Text, write_end, write_key};

/// A document: tokens, merges (`Some(None)` where there are none), and the rest with nothing in their places.
#[derive(Default)]
pub struct Own {
    pub rest: String,
    pub bytes: Vec<u8>,
    /// Of each token its id, and where its bytes end.
    pub ends: Vec<(u32, usize)>,
    pub merges: Option<Option<Vec<[u32; 3]>>>,
}

impl Own {
    /// `None` for what is no JSON, or has anything unusual in tokens or merges.
    pub fn read(data: &[u8]) -> Option<Own> {
        let mut own = Own::default();
        let mut json = serde_json::Deserializer::from_slice(data);
        json.deserialize_map(Members(&mut own)).ok()?;
        json.end().ok()?;
        (!own.ends.is_empty() && own.merges.is_some()).then_some(own)
    }
}

struct Members<'a>(&'a mut Own);

impl<'d> Visitor<'d> for Members<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut members: A) -> Result<(), A::Error> {
        let own = self.0;
        let mut open = '{';
        while let Some(key) = members.next_key_seed(By(Text))? {
            write_key(&mut own.rest, &mut open, &key)?;
            match &*key {
                "tokens" if own.ends.is_empty() => {
                    members.next_value_seed(By(Tokens(own)))?;
                    own.rest.push_str("[]");
                }
                "merges" if own.merges.is_none() => {
                    let merges = own.merges.insert(members.next_value()?);
                    own.rest.push_str(if merges.is_some() { "[]" } else { "null" });
                }
                "tokens" | "merges" => return Err(A::Error::custom("given twice")),
                _ => own.rest.push_str(members.next_value::<&RawValue>()?.get()),
            }
        }
        write_end(&mut own.rest, open);
        Ok(())
    }
}

/// A list of rows of id and token.
struct Tokens<'a>(&'a mut Own);

impl<'d> Visitor<'d> for Tokens<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("rows of id and token")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut rows: A) -> Result<(), A::Error> {
        while let Some(id) = rows.next_element_seed(By(Row(&mut self.0.bytes)))? {
            self.0.ends.push((id, self.0.bytes.len()));
        }
        Ok(())
    }
}

/// One of them; its bytes are appended.
struct Row<'a>(&'a mut Vec<u8>);

impl<'d> Visitor<'d> for Row<'_> {
    type Value = u32;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an id and a token")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut row: A) -> Result<u32, A::Error> {
        let id = row.next_element::<u64>()?.filter(|&id| id <= MAX_ID);
        let token = row.next_element_seed(By(Bytes(self.0)))?;
        // What follows is refused by the reader of JSON, which comes to no end of the list.
        id.zip(token).map(|(id, ())| id as u32).ok_or_else(|| A::Error::custom("no id and token"))
    }
}

/// A token: text, or an object with the digits of its bytes.
struct Bytes<'a>(&'a mut Vec<u8>);

impl<'d> Visitor<'d> for Bytes<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("text or bytes")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn visit_map<A: MapAccess<'d>>(self, mut members: A) -> Result<(), A::Error> {
        let digits = match members.next_key_seed(By(Text))? {
            Some(key) if key == "bytes" => members.next_value_seed(By(Text))?,
            _ => return Err(A::Error::custom("no bytes")),
        };
        let value = |digit: u8| char::from(digit).to_digit(16).ok_or_else(|| A::Error::custom("no digit"));
        for pair in digits.as_bytes().chunks(2) {
            let &[high, low] = pair else { return Err(A::Error::custom("half a byte")) };
            self.0.push((value(high)? << 4 | value(low)?) as u8);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_merges_are_taken_out_and_the_rest_stays() {
        let text = r#"{"a": 1.0, "tokens": [[0, "a"], [7, {"bytes": "c3A9"}], [9, "\u00e9"]], "merges": [[0, 7, 9]]}"#;
        let own = Own::read(text.as_bytes()).unwrap();
        assert_eq!(own.rest, r#"{"a":1.0,"tokens":[],"merges":[]}"#);
        assert_eq!((own.bytes, own.ends), ("aéé".into(), vec![(0, 1), (7, 3), (9, 5)]));
        assert_eq!(own.merges, Some(Some(vec![[0, 7, 9]])));
        let ranks = Own::read(br#"{"merges": null, "tokens": [[0, "a"]]}"#).unwrap();
        assert_eq!((ranks.rest.as_str(), ranks.merges), (r#"{"merges":null,"tokens":[]}"#, Some(None)));
    }

    #[test]
    fn what_is_unusual_is_left_to_python() {
        for tokens in [
            "[]",
            "{}",
            r#"[[0]]"#,
            r#"[["0", "a"]]"#,
            r#"[[0, "a", 1]]"#,
            r#"[[-1, "a"]]"#,
            r#"[[4294967295, "a"]]"#,
            r#"[[0, {"bytes": "a"}]]"#,
            r#"[[0, {"bytes": "é1"}]]"#,
            r#"[[0, {"bytes": "a b0"}]]"#,
            r#"[[0, {"bytes": "ab", "more": 1}]]"#,
            r#"[[0, {}]]"#,
            r#"[[0, "\ud800"]]"#,
            r#"[[0, "a"]], "tokens": [[1, "b"]]"#,
        ] {
            assert!(
                Own::read(format!(r#"{{"tokens": {tokens}, "merges": []}}"#).as_bytes()).is_none(),
                "{tokens}"
            );
        }
        for merges in ["{}", "7", "[[0, 0]]", "[[0, 0, 0, 0]]", "[[0, 0, -1]]", "null, \"merges\": null"] {
            let text = format!(r#"{{"tokens": [[0, "a"]], "merges": {merges}}}"#);
            assert!(Own::read(text.as_bytes()).is_none(), "{merges}");
        }
        for text in
            ["", "[]", "{}", r#"{"tokens": [[0, "a"]]}"#, r#"{"tokens": [[0, "a"]], "merges": null} x"#]
        {
            assert!(Own::read(text.as_bytes()).is_none(), "{text}");
        }
    }
}
