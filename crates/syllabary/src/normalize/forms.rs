//! Unicode's normalization forms.
//!
//! Adds: NFC, NFD, NFKC, NFKD with the tables and the alignment of `unicode-normalization-alignments`, the crate of
//! `tokenizers`. Only what is not surely normalized goes through it: text between two characters that no form
//! changes, and that nothing before them changes, is normalized by itself. Leaves out text without alignment (`form_text`).

use std::sync::OnceLock;

use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization,
    char::{canonical_combining_class, compose},
    is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use crate::aligned::{Aligned, Rewriter};

/// Whether no form joins a character to what is before it, nor moves it: what it falls into begins with one that stays.
pub(crate) fn begins_anew(c: char) -> bool {
    let mut room = [0; 4];
    let text = &*c.encode_utf8(&mut room);
    [text.nfd().next(), text.nfkd().next()].into_iter().flatten().all(|(first, _)| Form::Nfc.keeps(first))
}

/// Whether a form joins some character to one of these, as a stroke to `=`.
pub(crate) fn takes_marks(text: &str) -> bool {
    static JOINED: OnceLock<Vec<char>> = OnceLock::new();
    let may_join = |c: &char| is_nfc_quick(std::iter::once(*c)) == IsNormalized::Maybe;
    let joined = JOINED.get_or_init(|| ('\0'..='\u{2FFFF}').filter(may_join).collect());
    text.nfd().any(|(c, _)| joined.iter().any(|&mark| compose(c, mark).is_some()))
}

/// A normalization form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Form {
    /// Whether `c` stays itself in this form, whatever comes before it; what follows may still change it.
    pub(super) fn keeps(self, c: char) -> bool {
        let sure = match self {
            Form::Nfc => {
                c <= '\u{2FF}'
                    || matches!(c, '\u{388}'..='\u{481}' | '\u{3041}'..='\u{3096}')
                    || is_east_asian(c)
            }
            Form::Nfkc => {
                c <= '\u{7F}'
                    || matches!(c, '\u{388}'..='\u{3CE}' | '\u{400}'..='\u{481}')
                    || is_east_asian(c)
            }
            Form::Nfd | Form::Nfkd => c <= '\u{7F}' || matches!(c, '\u{4E00}'..='\u{9FFF}'),
        };
        if sure {
            return true;
        }
        self.has(c) && canonical_combining_class(c) == 0
    }

    /// Whether `c` alone is surely in this form.
    pub(super) fn has(self, c: char) -> bool {
        let one = std::iter::once(c);
        let quick = match self {
            Form::Nfc => is_nfc_quick(one),
            Form::Nfd => is_nfd_quick(one),
            Form::Nfkc => is_nfkc_quick(one),
            Form::Nfkd => is_nfkd_quick(one),
        };
        quick == IsNormalized::Yes
    }

    /// The form before anything is composed.
    pub(super) fn apart(self) -> Form {
        match self {
            Form::Nfc | Form::Nfd => Form::Nfd,
            Form::Nfkc | Form::Nfkd => Form::Nfkd,
        }
    }

    /// Writes a text in this form.
    pub(super) fn write(self, text: &str, out: &mut String) {
        match self {
            Form::Nfc => out.extend(text.nfc().map(|(c, _)| c)),
            Form::Nfd => out.extend(text.nfd().map(|(c, _)| c)),
            Form::Nfkc => out.extend(text.nfkc().map(|(c, _)| c)),
            Form::Nfkd => out.extend(text.nfkd().map(|(c, _)| c)),
        }
    }

    /// Whether each character comes from that at its place.
    #[cfg(test)]
    pub(super) fn leaves_places(self, text: &str) -> bool {
        match self {
            Form::Nfc => text.nfc().all(|(_, change)| change == 0),
            Form::Nfd => text.nfd().all(|(_, change)| change == 0),
            Form::Nfkc => text.nfkc().all(|(_, change)| change == 0),
            Form::Nfkd => text.nfkd().all(|(_, change)| change == 0),
        }
    }

    fn rewrite(self, text: &str, out: &mut Rewriter<'_>) {
        match self {
            Form::Nfc => text.nfc().for_each(|(c, change)| out.change(c, change)),
            Form::Nfd => text.nfd().for_each(|(c, change)| out.change(c, change)),
            Form::Nfkc => text.nfkc().for_each(|(c, change)| out.change(c, change)),
            Form::Nfkd => text.nfkd().for_each(|(c, change)| out.change(c, change)),
        }
    }
}

/// An ideograph or a syllable of Hangul.
fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// `part` in this form; `None` if it is in it already.
pub(super) fn apply(form: Form, part: &Aligned) -> Option<Aligned> {
    let text = part.text();
    if form.is_sure(text) {
        return None;
    }
    let mut out: Option<Rewriter<'_>> = None;
    let mut at = 0;
    while let Some((start, end)) = next_unsure(form, text, at) {
        let out = out.get_or_insert_with(|| Rewriter::new(part));
        if out.is_stopped() {
            break;
        }
        out.copy(start);
        form.rewrite(&text[start..end], out);
        at = end;
    }
    out.map(|mut out| {
        out.copy(text.len());
        out.finish()
    })
}

/// The next stretch from `at`, which is an end of stretches, that may not be normalized: from a character that is
/// kept up to the next such one.
fn next_unsure(form: Form, text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut next = at;
    let mut kept = at;
    loop {
        let run = bytes[next..].iter().position(|byte| !byte.is_ascii())?;
        if run > 0 {
            kept = next + run - 1;
        }
        next += run;
        let c = text[next..].chars().next()?;
        if !form.keeps(c) {
            break;
        }
        kept = next;
        next += c.len_utf8();
    }
    let tail = text[next..].char_indices().find(|(_, c)| form.keeps(*c));
    Some((kept, tail.map_or(text.len(), |(offset, _)| next + offset)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn;

    /// Characters to which some mark, vowel or consonant is joined, and ends of what is.
    const BEFORE: [char; 12] = [
        'a',
        '=',
        'ι',
        'e',
        '\u{1100}',
        '\u{AC00}',
        '\u{9C7}',
        '\u{1025}',
        '\u{301}',
        '\u{327}',
        'か',
        '\u{11347}',
    ];

    #[test]
    fn what_begins_anew_is_joined_to_nothing_before() {
        let mut anew = 0;
        let near = ('\0'..='\u{33FF}').step_by(drawn(5, 1));
        for c in near.chain(('\u{3400}'..=char::MAX).step_by(drawn(499, 1))).filter(|&c| begins_anew(c)) {
            anew += 1;
            for before in BEFORE {
                let (own, text) = (c.to_string(), String::from_iter([before, c]));
                for form in [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd] {
                    let of = |text: &str| -> String {
                        match form {
                            Form::Nfc => text.nfc().map(|(c, _)| c).collect(),
                            Form::Nfd => text.nfd().map(|(c, _)| c).collect(),
                            Form::Nfkc => text.nfkc().map(|(c, _)| c).collect(),
                            Form::Nfkd => text.nfkd().map(|(c, _)| c).collect(),
                        }
                    };
                    assert_eq!(of(&text), of(&before.to_string()) + &of(&own), "{text:?} {form:?}");
                }
            }
        }
        assert!(anew > drawn(3_000, 1_000_000), "{anew}");
        assert!(begins_anew('\u{1F77}') && begins_anew('ﬁ') && begins_anew('한'));
        assert!(!begins_anew('\u{301}') && !begins_anew('\u{1161}') && !begins_anew('\u{344}'));
    }
}
