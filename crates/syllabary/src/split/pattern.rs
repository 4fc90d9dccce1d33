//! Any other pattern: as an automaton where that can be made, else run by `fancy-regex`.
//!
//! Adds: what that crate refuses becomes an `Error` with its own description; so does a pattern that could match
//! without taking a character, and a text that the matcher gives up on. Leaves out the automaton (`automaton`).
//!
//! Bounds where `fancy-regex` runs: one search backtracks at most `BACKTRACK_LIMIT` times and holds at most a
//! million alternatives (the crate's own limit, on the heap); beyond either it is `Error::SplitFailed`. So
//! `(\s)\1*(?!\S)` on two million spaces is an error, and never an endless loop or a stack overflow.
//!
//! Oniguruma's tables: `\w` and `\W` are rewritten to the characters they hold there; `\b`, `\B` and POSIX
//! brackets are refused, for they would silently mean other characters.

use std::sync::Arc;

use fancy_regex::{Expr, Regex, RegexBuilder};

use super::{
    automaton::Automaton,
    classes::{Tables, onig_word},
};
use crate::error::Error;

/// Ten times the default, which is still about a second of search.
const BACKTRACK_LIMIT: usize = 10_000_000;

/// A pattern that compiles to more is refused; those of tokenizers take a few dozen.
const MAX_INSTRUCTIONS: usize = 1_000_000;

/// What finds the matches of a pattern.
#[derive(Debug, Clone)]
pub(super) enum Matcher {
    Automaton(Arc<Automaton>),
    Fancy(Box<Regex>),
}

impl Matcher {
    /// Whether every character of every text is known to be in some match.
    pub(super) fn covers(&self) -> bool {
        match self {
            Matcher::Automaton(automaton) => automaton.covers(),
            Matcher::Fancy(_) => false,
        }
    }
}

/// Compiles `pattern` with the meaning that `tables` give it.
pub(super) fn compile(pattern: &str, tables: Tables) -> Result<Matcher, Error> {
    let refuse = |reason: String| Error::Pattern { pattern: pattern.to_owned(), reason };
    let meant = match tables {
        Tables::Tiktoken => pattern.to_owned(),
        Tables::Onig => with_onig_words(pattern).map_err(refuse)?,
    };
    let tree = Expr::parse_tree(&meant).map_err(|error| refuse(describe(&error)))?;
    let regex = RegexBuilder::new(&meant)
        .backtrack_limit(BACKTRACK_LIMIT)
        .max_prog_size(MAX_INSTRUCTIONS)
        .build()
        .map_err(|error| refuse(describe(&error)))?;
    if !takes_a_character(&tree.expr) {
        return Err(refuse(match undecided(&tree.expr) {
            Some(construct) => {
                format!("with {construct} it may match the empty string, which is no piece; leave that out")
            }
            None => "it can match the empty string, which is no piece; let it take at least one character"
                .to_owned(),
        }));
    }
    Ok(match Automaton::new(&tree.expr) {
        Some(automaton) => Matcher::Automaton(Arc::new(automaton)),
        None => Matcher::Fancy(Box::new(regex)),
    })
}

/// Calls `each` with every match, start and end, in order.
pub(super) fn matches(
    matcher: &Matcher,
    text: &str,
    each: &mut impl FnMut(usize, usize),
) -> Result<(), Error> {
    let regex = match matcher {
        Matcher::Fancy(regex) => regex,
        Matcher::Automaton(automaton) => {
            automaton.matches(text, each);
            return Ok(());
        }
    };
    let mut at = 0;
    for found in regex.find_iter(text) {
        let found = found.map_err(|error| Error::SplitFailed { offset: at, reason: error.to_string() })?;
        if found.end() <= found.start() || found.start() < at {
            let reason = "the pattern matched the empty string".to_owned();
            return Err(Error::SplitFailed { offset: found.start(), reason });
        }
        at = found.end();
        each(found.start(), at);
    }
    Ok(())
}

/// What `fancy-regex` says and why, on one line, without the markers under the pattern.
fn describe(error: &fancy_regex::Error) -> String {
    let mut sentence = error.to_string();
    if let fancy_regex::Error::CompileError(inner) = error
        && let fancy_regex::CompileError::InnerError(build) = inner.as_ref()
    {
        if let Some(limit) = build.size_limit() {
            return format!("it compiles to more than {limit} bytes; repeat fewer times");
        }
        if let Some(syntax) = build.syntax_error() {
            sentence = syntax.to_string();
        }
    }
    let lines = sentence.lines().map(str::trim).filter(|line| !line.chars().all(|c| c == '^'));
    lines.collect::<Vec<_>>().join(" ")
}

/// Whether every match is sure to hold a character. What cannot be decided from the form alone (a
/// back-reference, a condition, a call of a group) is taken as possibly empty.
fn takes_a_character(expr: &Expr) -> bool {
    match expr {
        Expr::Any { .. } | Expr::GeneralNewline { .. } | Expr::Delegate { .. } => true,
        Expr::Literal { val, .. } => !val.is_empty(),
        Expr::LiteralBytes { bytes } => !bytes.is_empty(),
        Expr::Concat(parts) => parts.iter().any(takes_a_character),
        Expr::Alt(branches) => branches.iter().all(takes_a_character),
        Expr::Group(inner) => takes_a_character(inner),
        Expr::AtomicGroup(inner) => takes_a_character(inner),
        Expr::Repeat { child, lo, .. } => *lo > 0 && takes_a_character(child),
        _ => false,
    }
}

/// A construct in `expr` of which the form does not tell whether it takes a character.
fn undecided(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::Concat(parts) | Expr::Alt(parts) => parts.iter().find_map(undecided),
        Expr::Group(inner) => undecided(inner),
        Expr::AtomicGroup(inner) | Expr::LookAround(inner, _) => undecided(inner),
        Expr::Repeat { child, .. } => undecided(child),
        Expr::BackrefExistsCondition { .. } | Expr::Conditional { .. } => Some("a condition `(?(...)...)`"),
        Expr::SubroutineCall(_) => Some("a call of a group"),
        Expr::BacktrackingControlVerb(_) => Some("a backtracking control verb `(*...)`"),
        Expr::Absent(_) => Some("an absent operator `(?~...)`"),
        Expr::DefineGroup { .. } => Some("a group that is only defined `(?(DEFINE)...)`"),
        _ => None,
    }
}

/// `pattern` with `\w` and `\W` spelled out as Oniguruma's, or why that cannot be done.
fn with_onig_words(pattern: &str) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len());
    let mut depth = 0usize;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek().copied()) {
            ('\\', Some(next)) => {
                chars.next();
                push_escape(&mut out, next, depth == 0)?;
                continue;
            }
            ('[', Some(':')) if depth > 0 => {
                return Err(
                    "a POSIX bracket ([:...:]) holds other characters in Oniguruma; spell it out".into()
                );
            }
            ('[', _) => depth += 1,
            (']', _) => depth = depth.saturating_sub(1),
            _ => {}
        }
        out.push(c);
    }
    Ok(out)
}

/// Adds the escape `\next` to `out`; `bare`: it stands outside brackets.
fn push_escape(out: &mut String, next: char, bare: bool) -> Result<(), String> {
    match next {
        'w' | 'W' => out.push_str(&onig_word(bare, next == 'W')),
        'b' | 'B' if bare => {
            return Err(format!(
                "\\{next} depends on \\w, which holds other characters in Oniguruma; use look-around"
            ));
        }
        _ => {
            out.push('\\');
            out.push(next);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{
        Split,
        tests::{pieces, split},
    };
    use super::*;

    fn refused(pattern: &str, tables: Tables) -> String {
        match Split::new(Some(pattern), tables, true).err() {
            Some(Error::Pattern { pattern: given, reason }) => {
                assert_eq!(given, pattern);
                reason
            }
            other => panic!("{pattern} gave {other:?}"),
        }
    }

    #[test]
    fn patterns_that_could_be_empty_are_refused() {
        for pattern in [
            "", "a*", "a?", "a|", "(?=a)", r"\b", "^", "$", "(a*)(b?)", "a{0,3}", "(?>a*)", "a|(?!b)",
            r"(a?)\1",
        ] {
            assert!(refused(pattern, Tables::Tiktoken).contains("empty string"), "{pattern}");
        }
        for pattern in ["a+", "a*b", "(?=a)a", r"\bx", "(?:a|b*c)", "(?<=x)a{1,2}", r"(a)\1", "."] {
            assert_eq!(split(pattern).kind(), "regex");
        }
    }

    #[test]
    fn constructs_that_hide_whether_a_pattern_is_empty_are_named() {
        let cases =
            [(r"(?~ab)", "absent"), (r"(a)?(?(1)a|b)", "condition"), (r"(?<n>a?)\g<n>", "call of a group")];
        for (pattern, says) in cases {
            let reason = refused(pattern, Tables::Tiktoken);
            assert!(reason.contains(says), "{pattern}: {reason}");
        }
    }

    #[test]
    fn patterns_that_do_not_compile_are_refused_and_say_why() {
        let cases = [
            ("(a", "closing parenthesis"),
            ("a)", "position 1"),
            ("[a", "class"),
            (r"\p{Nonsense}x", "Unicode property not found"),
            ("*a", "repeat operator"),
            (r"(a)\2", "back reference to group 2"),
            (r"\k<name>a", "back reference"),
            (r"\Xa", r"\X"),
            ("(?|a)", "(?|"),
            ("(*SKIP)a", "control verbs"),
            ("[z-a]", "invalid character class range"),
            ("a{99999999}", "repeat fewer times"),
            ("a\\", "Backslash"),
        ];
        for (pattern, says) in cases {
            let reason = refused(pattern, Tables::Tiktoken);
            assert!(reason.to_lowercase().contains(&says.to_lowercase()), "{pattern}: {reason}");
            assert!(!reason.contains('\n'), "{reason}");
        }
        let deep = format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(refused(&deep, Tables::Tiktoken).contains("nested"));
    }

    #[test]
    fn what_oniguruma_means_otherwise_is_refused() {
        assert!(refused(r"\bx", Tables::Onig).contains(r"\b depends on \w"));
        assert!(refused(r"x\B", Tables::Onig).contains(r"\B depends on \w"));
        assert!(refused("[[:alpha:]]", Tables::Onig).contains("POSIX"));
        let escaped = Split::new(Some(r"\\w|\[\w"), Tables::Onig, true).unwrap();
        assert_eq!(pieces(&escaped, r"\w[½w"), [r"\w", "[½", "w"]);
    }

    #[test]
    fn any_other_pattern_is_run_as_it_is() {
        let llama3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
        assert_eq!(
            pieces(&split(llama3), "It's  12345\n\n x"),
            ["It", "'s", " ", " ", "123", "45", "\n\n", " x"]
        );
        assert_eq!(pieces(&split("b+"), "abba"), ["a", "bb", "a"]);
        let dropping = Split::new(Some("b+"), Tables::Tiktoken, false).unwrap();
        assert_eq!(pieces(&dropping, "abba"), ["bb"]);
        assert_eq!(pieces(&split("(?<=a)b"), "abb"), ["a", "b", "b"]);
    }

    fn failure(pattern: &str, text: &str) -> Error {
        split(pattern).pieces(text, &mut |_| {}).unwrap_err()
    }

    #[test]
    fn a_matcher_that_gives_up_says_where() {
        let spaces = format!("{}x", " ".repeat(900_000));
        assert_eq!(pieces(&split(r"\s+(?!\S)|\s|x"), &spaces), [&spaces[1..900_000], " ", "x"]);
        let error = failure(r"(\s)\1*(?!\S)|ab", &format!("ab{}x", " ".repeat(3_000_000)));
        assert!(
            matches!(&error, Error::SplitFailed { offset: 2, reason } if reason.contains("stack")),
            "{error}"
        );
        let error = failure(r"(a|aa)+\1x|bc", &format!("bc{}!", "a".repeat(60)));
        assert!(
            matches!(&error, Error::SplitFailed { offset: 2, reason } if reason.contains("backtrack")),
            "{error}"
        );
        let error = failure(r"a\Kb?|c", "ca");
        assert!(
            matches!(&error, Error::SplitFailed { offset: 2, reason } if reason.contains("empty")),
            "{error}"
        );
    }
}
