//! Unicode's normalization forms without alignment.
//!
//! Most text is in its form already, and of what is not, most characters change alone: both are told for many
//! characters at once (`calm`). Leaves out what a stretch becomes that has a mark or the like (`forms`).

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::{
    calm::{BITS, Calm, Reached, Single, is_simple},
    calm_joins::Pairs,
    calm_marks::Marks,
    forms::Form,
};
use crate::{asking::Ask, error::Error};

/// Stretches between two questions whether to go on.
const OFTEN: u32 = 1 << 12;
/// What is no character stands before all that others may change.
const ANY: u16 = u16::MAX;
/// Too long to be written by `calm`, which leaves off there.
const LEFT: &str = "a stretch that is normalized as a whole, here";

/// What is known of single characters in a form: those that it keeps, and those that become the same whatever is before
/// them, if what is after them is either.
fn known(form: Form) -> Calm {
    let keeps = |code: usize| char::from_u32(code as u32).is_some_and(|c| form.keeps(c));
    let (mut singles, mut pairs) = (FxHashMap::default(), Pairs::default());
    for c in (0..BITS as u32).filter_map(char::from_u32).filter(|&c| !form.keeps(c)) {
        let mut text = String::new();
        form.write(c.encode_utf8(&mut [0; 4]), &mut text);
        if is_simple(&text) && text.chars().next().is_some_and(|c| form.keeps(c)) {
            singles.insert(c as usize, Single { text: text.into(), is_open: true });
        } else {
            pairs.insert([ANY, c as u16]);
        }
    }
    Calm::new(|code| !keeps(code), singles, pairs).with_marks(Marks::new(form))
}

impl Form {
    /// Made when it is first asked for.
    fn calm(self) -> &'static Calm {
        static KNOWN: [OnceLock<Calm>; 4] = [const { OnceLock::new() }; 4];
        KNOWN[self as usize].get_or_init(|| known(self))
    }

    /// Whether a text is surely in this form.
    pub(super) fn is_sure(self, text: &str) -> bool {
        if text.is_ascii() {
            return true;
        }
        let (calm, mut at) = (self.calm(), 0);
        loop {
            at += calm.kept(&text.as_bytes()[at..]);
            match text[at..].chars().next() {
                None => return true,
                // Those beyond the table.
                Some(c) if c.len_utf8() == 4 && self.keeps(c) => at += 4,
                Some(_) => return false,
            }
        }
    }

    /// Writes what becomes of `text` behind `out`.
    pub(super) fn put(self, text: &str, ask: &Ask, out: &mut String) -> Result<(), Error> {
        let (calm, mut from, mut count) = (self.calm(), Reached { at: 0, after_space: false }, 0_u32);
        let longest = |_: &[u8]| Some((0, LEFT));
        while let Some(reached) = calm.write(text, from, (false, usize::MAX), &longest, out)
            && reached.at < text.len()
        {
            from.at = self.stretch(text, reached.at, out);
            count = count.wrapping_add(1);
            if count.is_multiple_of(OFTEN) {
                ask.check()?;
            }
        }
        Ok(())
    }

    /// Writes a stretch from a byte on where all before is normalized; its end.
    fn stretch(self, text: &str, start: usize, out: &mut String) -> usize {
        let mut kept = start;
        for (offset, c) in text[start..].char_indices() {
            let at = start + offset;
            if !self.keeps(c) {
                let end = text[at..].char_indices().find(|(_, c)| self.keeps(*c));
                let end = end.map_or(text.len(), |(offset, _)| at + offset);
                out.push_str(&text[start..kept]);
                self.write(&text[kept..end], out);
                return end;
            }
            // One that `calm` knows.
            if offset > 0 && c.len_utf8() < 4 {
                out.push_str(&text[start..at]);
                return at;
            }
            kept = at;
        }
        out.push_str(&text[start..]);
        text.len()
    }
}

#[cfg(test)]
mod tests {
    use unicode_normalization_alignments::char::canonical_combining_class;

    use super::*;
    use crate::drawn::drawn;

    const FORMS: [Form; 4] = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd];

    /// What all of a text becomes, by the definition.
    fn whole(form: Form, text: &str) -> String {
        let mut out = String::new();
        form.write(text, &mut out);
        out
    }

    fn check(form: Form, text: &str) {
        let mut out = "before".to_owned();
        form.put(text, &Ask::default(), &mut out).unwrap();
        assert_eq!(out.strip_prefix("before"), Some(whole(form, text).as_str()), "{form:?} {text:?}");
        if form.is_sure(text) {
            assert_eq!(whole(form, text), text, "{form:?}");
            assert!(form.leaves_places(text), "{form:?} {text:?}");
        }
    }

    #[test]
    fn every_character_behind_and_before_others() {
        for form in FORMS {
            let mut many = String::new();
            for c in '\u{80}'..='\u{2FFFF}' {
                many.extend(['a', c, '\u{301}', c, 'b']);
                if many.len() > 1000 {
                    check(form, &many);
                    many.clear();
                }
            }
        }
        for c in ('\u{80}'..='\u{FFFF}').step_by(5) {
            FORMS.iter().for_each(|&form| check(form, &format!("{c}")));
        }
    }

    #[test]
    fn every_mark_behind_what_falls_apart() {
        let all = || ('\u{80}'..='\u{FFFF}').filter(|c| !matches!(c, '\u{3400}'..='\u{F8FF}'));
        let marks: Vec<char> = all().filter(|&c| canonical_combining_class(c) > 0).collect();
        let every = drawn(97, 1);
        for form in FORMS {
            let (mut many, mut number) = (String::new(), 0_usize);
            for c in all().filter(|&c| form.keeps(c) && !Form::Nfd.keeps(c)).chain(['a', 'o', 'b', '\u{915}'])
            {
                for &mark in &marks {
                    number += 1;
                    if number.is_multiple_of(every) {
                        many.extend([c, mark, 'x']);
                    }
                }
                if many.len() > 1000 {
                    check(form, &many);
                    many.clear();
                }
            }
        }
    }

    #[test]
    fn drawn_text() {
        let parts = [
            "a plain text of ASCII, longer than others ",
            "é",
            "e\u{301}",
            "\u{301}\u{323}",
            "\u{331}",
            "\u{303}",
            "\u{336}",
            "\u{94d}",
            "\u{5b4}\u{5bc}",
            "\u{64b}\u{651}",
            "\u{e48}",
            "\u{344}",
            "\u{1d165}",
            "o",
            "b",
            "ẹ",
            "ê",
            "ǖ",
            "क",
            "漢",
            "\u{1100}\u{1161}\u{11a8}",
            "가\u{11a8}",
            "ά",
            "ﬁ",
            "😀",
            "\u{1d15e}",
            "\u{958}",
            " ",
            "\u{a0}",
        ];
        let mut state = 3_u64;
        for round in 0..drawn(10_000, 400_000) {
            let mut text = String::new();
            for _ in 0..round % 30 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(parts[(state >> 33) as usize % parts.len()]);
            }
            FORMS.iter().for_each(|&form| check(form, &text));
        }
    }

    #[test]
    fn text_that_is_sure() {
        let marked =
            ["ọ̀nà ẹ́ ạ̀", "p\u{331}a", "क्ष", "q\u{5b4}\u{5bc} ב\u{5b4}\u{5bc}", "a\u{336}", "x\u{331}\u{301}."];
        for text in ["", "ASCII", "Ångström, ἀρχὴ καὶ, 漢字 가각 😀 и", "ends in three bytes 漢"]
            .iter()
            .chain(&marked)
        {
            assert!(Form::Nfc.is_sure(text), "{text:?}");
        }
        // Of two marks the lower class comes first, of a letter that falls apart too; and nothing is said of five.
        let in_order = ["x\u{301}\u{331}", "ê\u{323}", "p\u{331}\u{331}\u{331}\u{331}\u{331}"];
        for text in ["e\u{301}", "a\u{1f71}b", "😀\u{301}", "\u{2F800}"].iter().chain(&in_order) {
            assert!(!Form::Nfc.is_sure(text), "{text:?}");
        }
    }
}
