//! A split together with the steps that cut the text before it, as one.
//!
//! ```text
//! GPT-2's behind single digits (SmolLM, StarCoder)   a scanner of both (`gpt2`)
//! DeepSeek's three, one inside the other             one law: the named split `deepseek-v3`, where the proof stands (`deepseek`)
//! ```
//!
//! Leaves out all other steps, which cut part by part (`pretokenize`).

use super::{Scanner, Split, Tables, deepseek};
use crate::step::Step;

/// What DeepSeek V3 cuts by before its last split, and that.
const DEEPSEEK_STEPS: [&str; 2] = [r"\p{N}{1,3}", "[一-龥\u{3040}-ゟ゠-ヿ]+"];
const DEEPSEEK_LAST: &str = concat!(
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
    r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);
impl Split {
    /// The split whose pieces are those of this one of the parts that these steps make of a text; `None` where there is no
    /// such.
    pub(crate) fn behind(&self, steps: &[Step]) -> Option<Split> {
        if self.lines {
            return None;
        }
        match (&self.scanner, steps) {
            (Scanner::Gpt2, [step]) if is_each_digit(step) => {
                let classes = self.classes.with_numbers_of_std()?.into();
                Some(Split { scanner: Scanner::Gpt2Digits, classes, pattern: None, ..*self })
            }
            (Scanner::Regex(_), [first, second])
                if self.keep_unmatched
                    && self.pattern.as_deref() == Some(DEEPSEEK_LAST)
                    && [first, second].into_iter().zip(DEEPSEEK_STEPS).all(is_cut_at) =>
            {
                Split::new(Some(deepseek::PATTERN), Tables::Tiktoken, true).ok()
            }
            _ => None,
        }
    }
}

/// Whether it cuts at each digit, which is what the standard library calls numeric.
fn is_each_digit(step: &Step) -> bool {
    step.kind == "Digits" && step.flag("individual_digits") == Ok(true)
}

/// Whether it cuts around each match of a pattern.
fn is_cut_at((step, pattern): (&Step, &str)) -> bool {
    step.kind == "Split"
        && step.text("pattern") == Ok(pattern)
        && step.flag("regex") == Ok(true)
        && step.text("behavior") == Ok("isolated")
        && step.flag("invert") == Ok(false)
}

#[cfg(test)]
mod tests {
    use super::{super::tests::pieces, *};
    use crate::{
        drawn::{drawing, drawn},
        split::gpt2,
        step::Value,
    };

    fn split(pattern: &str) -> Split {
        Split::new(Some(pattern), Tables::Onig, true).unwrap()
    }

    fn digits(each: bool) -> Step {
        Step::of("Digits", &[("individual_digits", Value::Bool(each))])
    }

    fn cut_at(pattern: &str, invert: bool) -> Step {
        let text = |text: &str| Value::Str(text.to_owned());
        let flags = [("regex", Value::Bool(true)), ("invert", Value::Bool(invert))];
        let texts = [("pattern", text(pattern)), ("behavior", text("isolated"))];
        Step::of("Split", &[flags, texts].concat())
    }

    #[test]
    fn only_what_is_known_is_one() {
        let [first, second] = DEEPSEEK_STEPS.map(|pattern| cut_at(pattern, false));
        let (gpt2, last) = (split(gpt2::ORIGINAL), split(DEEPSEEK_LAST));
        let kind = |split: &Split, steps: &[Step]| split.behind(steps).map(|split| split.kind());
        assert_eq!(kind(&gpt2, &[digits(true)]), Some("gpt2-digits"));
        assert_eq!(kind(&last, &[first.clone(), second.clone()]), Some("deepseek-v3"));
        assert_eq!(kind(&gpt2, &[]), None);
        assert_eq!(kind(&gpt2, &[digits(false)]), None);
        assert_eq!(kind(&last, &[digits(true)]), None);
        assert_eq!(kind(&gpt2.by_lines(), &[digits(true)]), None);
        assert_eq!(kind(&last, &[second.clone(), first.clone()]), None);
        assert_eq!(kind(&last, &[first.clone(), cut_at(DEEPSEEK_STEPS[1], true)]), None);
        let dropping = Split::new(Some(DEEPSEEK_LAST), Tables::Onig, false).unwrap();
        assert_eq!(kind(&dropping, &[first, second]), None);
    }

    #[test]
    fn behind_digits_is_digits_and_then_the_split() {
        let (gpt2, mut seen) = (split(gpt2::ORIGINAL), 0);
        let behind = gpt2.behind(&[digits(true)]).unwrap();
        let mut check = |text: &str| {
            let (mut expected, mut from) = (Vec::new(), 0);
            for (at, c) in text.char_indices().filter(|(_, c)| c.is_numeric()) {
                expected.extend(pieces(&gpt2, &text[from..at]));
                from = at + c.len_utf8();
                expected.extend(pieces(&gpt2, &text[at..from]));
                seen += 1;
            }
            expected.extend(pieces(&gpt2, &text[from..]));
            assert_eq!(pieces(&behind, text), expected, "{text:?}");
        };
        for c in (0..=0x10_FFFF).filter_map(char::from_u32).step_by(drawn(5, 1)) {
            check(&format!("a{c}{c} {c}  {c}!{c}'s{c}\u{3000}{c} "));
        }
        const KINDS: [&str; 12] = ["a", "é", "字", " ", "  ", "\n", "1", "½", "٣", "!", "'s", "\u{3000}"];
        let mut draw = drawing(3);
        for _ in 0..3000 {
            check(&(0..draw(40)).map(|_| KINDS[draw(KINDS.len())]).collect::<String>());
        }
        assert!(seen > 10_000);
    }
}
