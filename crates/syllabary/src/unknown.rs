//! Why a text cannot be encoded: the symbols that nothing stands for, found again on the way out only.

use std::ops::Range;

use crate::{
    Error,
    dropout::Dropout,
    models::{Found, Model},
    offsets::Place,
    tokenizer::Tokenizer,
};

/// So many symbols are named.
const SHOWN: usize = 10;

impl Tokenizer {
    /// The token that a piece is, where pieces that are tokens become them at once.
    pub(crate) fn whole_piece(&self, piece: &str) -> Option<u32> {
        let symbol = self.whole_symbols.get(piece.as_bytes()).copied();
        symbol.or_else(|| self.vocab.id(piece.as_bytes()))
    }

    /// Whether text is encoded as it is given, stage after stage: then its place is at hand where something is wrong.
    pub(crate) fn knows_places(&self) -> bool {
        let has_other_way = self.scores.is_some() || self.wordwise.is_some() || self.charwise.is_some();
        self.exact && !has_other_way
    }

    /// The error that names the symbols of a part without an id; where the best way has an id for all of them, those of
    /// single characters, which another way may be made of.
    pub(crate) fn unknown(&self, part: &str, place: Place<'_>) -> Error {
        let found = self.missing(part, place, false);
        let found = if matches!(found, Ok((None, _))) { self.missing(part, place, true) } else { found };
        match found {
            Err(error) => place.shift(error),
            Ok((first, symbols)) => Error::UnknownSymbol { symbols, offset: first.unwrap_or(0) },
        }
    }

    /// Where the first symbol without an id begins, and the first of them as an error shows them.
    fn missing(
        &self,
        part: &str,
        place: Place<'_>,
        singly: bool,
    ) -> Result<(Option<usize>, Vec<String>), Error> {
        let mut symbols: Vec<String> = Vec::new();
        let mut seen: Vec<Box<[u8]>> = Vec::new();
        let mut first = None;
        self.split.pieces(part, &mut |piece| {
            if self.whole_pieces && self.whole_piece(piece).is_some() {
                return;
            }
            let start = piece.as_ptr() as usize - part.as_ptr() as usize;
            let mut missing = |span: Range<usize>| {
                first.get_or_insert_with(|| place.original(start + span.start..start + span.end).start);
                let bytes = &piece.as_bytes()[span];
                // Most of a long text: to write a symbol takes longer than to look for it.
                if symbols.len() == SHOWN || seen.iter().any(|other| **other == *bytes) {
                    return;
                }
                let symbol = match std::str::from_utf8(bytes) {
                    Ok(text) => quoted(text),
                    Err(_) => format!("byte 0x{:02X}", bytes[0]),
                };
                if !symbols.contains(&symbol) {
                    seen.push(bytes.into());
                    symbols.push(symbol);
                }
            };
            match &self.model {
                Some(Model::Unigram(model)) if singly => model.singly(piece, &mut Missing(missing)),
                Some(model) => model.tokens(piece, &mut Dropout::NONE.coins(0), &mut Missing(missing)),
                None => self.alphabet.spell(piece, &mut |_, _| (), &mut missing),
            }
        })?;
        Ok((first, symbols))
    }
}

/// Takes only what has no token.
struct Missing<F>(F);

impl<F: FnMut(Range<usize>)> Found for Missing<F> {
    fn token(&mut self, _id: u32, _bytes: Range<usize>) {}

    fn before(&mut self, _id: u32, _bytes: Range<usize>) {}

    fn missing(&mut self, bytes: Range<usize>) {
        (self.0)(bytes);
    }
}

/// A symbol as an error shows it, as Python writes it: not all of one that is a long piece.
pub(crate) fn quoted(text: &str) -> String {
    let (shown, more) = match text.char_indices().nth(40) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    };
    let quote = if shown.contains('\'') && !shown.contains('"') { '"' } else { '\'' };
    let escaped: String = shown.chars().map(|character| escaped(character, quote)).collect();
    format!("{quote}{escaped}{more}{quote}")
}

fn escaped(character: char, quote: char) -> String {
    match character {
        '\n' | '\r' | '\t' | '\\' => character.escape_default().to_string(),
        '\'' | '"' if character == quote => format!("\\{character}"),
        '\'' | '"' => character.to_string(),
        // Not in the first place, where an accent would be escaped.
        _ if format!("a{character}").escape_debug().count() == 2 => character.to_string(),
        _ => match u32::from(character) {
            code @ ..=0xFF => format!("\\x{code:02x}"),
            code @ ..=0xFFFF => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    /// Each as `repr` gives it.
    #[test]
    fn unknown_symbols_are_shown_as_python_writes_them() {
        for (text, shown) in [
            ("a", "'a'"),
            ("\u{feff}", r"'\ufeff'"),
            ("\0\x1f\u{ad}", r"'\x00\x1f\xad'"),
            ("\n\\", r"'\n\\'"),
            ("\u{301}e\u{301}", "'\u{301}e\u{301}'"),
            ("\u{e0001}😀", r"'\U000e0001😀'"),
            ("\u{a0}\u{2028} ", r"'\xa0\u2028 '"),
            ("'", r#""'""#),
            ("\"", r#"'"'"#),
            ("'\"", r#"'\'"'"#),
        ] {
            assert_eq!(quoted(text), shown);
        }
        assert_eq!(quoted(&"b".repeat(41)), format!("'{}…'", "b".repeat(40)));
    }
}
