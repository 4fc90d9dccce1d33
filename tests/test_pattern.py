"""What a pattern means: to tiktoken, to `regex` through `to_regex`, to Oniguruma through `to_onig`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from peers import onig_pieces, tiktoken_pieces

from syllabary import splits
from syllabary.errors import PatternError
from syllabary.reference.pattern import to_onig, to_regex
from syllabary.reference.pattern_joins import finds_all
from syllabary.reference.split import pieces
from syllabary.spec import SplitSpec
from syllabary.training import GPT4_2023

# Characters on which classes, cases and places differ: two letters with case, the odd folds of s and k,
# a letter without case, a mark, digits of two kinds, spaces, newlines, signs.
ALPHABET = "aAbsSſkK\u212aé\u0301漢19² \u00a0\n\r'-_"

PATTERNS = [
    r"\w+", r"\W+", r"\d+", r"\D+", r"\s+", r"\S+", r"\pL+", r"\PL+", r"\p{Lu}\p{Ll}*", r"\p{^L}+",
    r"\P{^L}+",
    r"[a-b]+|.", r".", r".+", r"(?s:.+)", r"(?s).+", r"[^a]+", r"[]a]+", r"[^]a]+", r"[a-]+", r"[-a]+",
    r"[\w-]+",
    r"[\w&&[^a-b]]+", r"[\w--\d]+", r"[\w~~[a-b]]+", r"[\w&&\p{L}--[ab]]+", r"[[ab][19]]+", r"[^\w&&[ab]]+",
    r"[[:alpha:]]+", r"[[:^alpha:]]+", r"[^[:space:]]+", r"[\p{L}\p{M}]+", r"[^\s\p{L}\p{N}]+", r"\h+",
    r"\H+",
    r"[\x61-\x{62}\u{53}\u006b]+", r"\x41|\u{e9}|\U0000212a", r"[\b\n]+", r"\-|\'|\_", r"[\-\']+",
    r"[&&a]|b", r"[a&&]|b",
    r"(?i:s)", r"(?i:k)+", r"(?i)S|É", r"(?i:[a-k])+", r"(?i:[^a-k])+", r"(?i:\p{Lu})+", r"(?i:\P{Lu})+",
    r"(?i:[\p{Lu}&&[ab]])+", r"(?i:[^\p{Lu}])+", r"(?i:[[:lower:]])+", r"(?i:\w)+", r"(?i:\W)+",
    r"(?i:a(?-i:b))|s", r"(?i:ss)",
    r"\ba", r"\b\w+\b", r"\Ba|\w", r"a\B", r"^.|a", r"(?m:^).|a", r".$|a", r"(?m:.$)|a", r"\A.", r".\z",
    r"(?s:.\Z)|a",
    r"a+?b|.", r"a*+b|a", r"a{2}|b", r"a{1,2}+a|b", r"a{2,}?|b", r"[ab]{,2}1|.", r"(?:a|ab)(?:b|)1|.",
    r"(?>a|ab)1|.", r"(?=a)\w+", r"(?!a)\w+", r"(?<=a)b|\n", r"(?<!a)b|\n", r"(?<=[ab]|k1)1|a", r"(a|b)\1|s",
    r"(?<x>a|b)\k<x>|s",
    r"(?P<x>a|b)1\1", r"(?#note)a|b", r"a{|b", r"x{,|a", r"\{|\}|a", r"\N+", r"\O+", r"(?:a|b){2,3}?1|a",
    r"(?u)a", r"[^a]|.", r"[^ ]|[^a]|b", r"\R|a", r"\R\n|.", r"(?s)\R+|.", r"(?i)\R|A",
    r"(?x) a b | .", "(?x) a # note | b\n | s\\ \n| [k #]+", r"(?x) a {1, 2} ? b | .",
    r"(?x)(?:a b)+ ?1|.", "(?x)a # no end", r"(?x) a b | (?-x) a|.", "(?x)a\u00a0b|.",
    r"(?x: a b )| 1", r"(?x)a(?-x: )b|.", r"(?ix) K + | .", r"(?x)(?#c) (?<n> a b) \k<n> | .",
    "(?x) a\t{ 2 }\r\n|.",
]  # fmt: skip

REFUSED = [
    ("(a", 0, "not closed"), ("a)", 1, "closes nothing"), ("[a", 0, "not closed"),
    ("a\\", 2, "ends too early"),
    ("+a", 0, "nothing before"), ("a**", 2, "follows a quantifier"), ("a{2}{3}", 4, "follows a quantifier"),
    ("a{3,2}", 1, "counts down"), ("a{9999}", 1, "1000"), (r"\p{Klingon}+", 0, "Klingon"),
    (r"\p{L", 0, "not closed"),
    (r"\xZ", 0, "hexadecimal"), (r"\u{110000}", 0, "not a character"), (r"\u{D800}", 0, "not a character"),
    (r"\q", 0, r"\q"), (r"\K", 0, r"\K"), (r"\G", 0, r"\G"), (r"\X", 0, r"\X"),
    (r"\<a", 0, r"\<"),
    (r"\b{start}a", 0, r"\b{...}"), (r"a\1", 1, "group 1"), (r"\k<x>", 0, "'x'"),
    ("(?(1)a|b)", 0, "conditional"),
    ("(?P>x)", 0, "subroutine"), ("(?~a)", 0, "absent"), ("(*FAIL)", 0, "verb"),
    ("(?x)a( ?:b)", 5, "white space"),
    ("(?U)a", 0, "'U'"),
    ("(?-u:a)", 0, "'u'"), ("(a(?i)b)c", 2, "middle of a group"), (r"(?i:(a)\1)", 7, "without case"),
    ("(?=a)+", 0, "condition"),
    (r"\b+", 0, "condition"), ("(?:a*)*", 0, "empty string"), ("(?:a|)+", 0, "empty string"),
    ("[b-a]", 1, "wrong way"),
    (r"[\d-z]", 1, "class"), (r"[a-\d]", 3, r"\d"), (r"[\1]", 1, r"\1"), ("a*?+", 3, "both"),
    ("(?)a", 0, "flags"),
]  # fmt: skip

texts = st.text(alphabet=ALPHABET, max_size=8)


def kept(pattern: str, text: str) -> list[str]:
    return pieces(text, SplitSpec(pattern))


def matched(pattern: str, text: str) -> list[str]:
    return pieces(text, SplitSpec(pattern, keep_unmatched=False))


def short_texts() -> list[str]:
    """Every text of one or two characters of the alphabet, and some longer ones."""
    pairs = [a + b for a in ALPHABET for b in ALPHABET]
    longer = [
        "aaab",
        "abab",
        "aab1",
        "abb1",
        "aa\n",
        "a\n\n",
        "\na\n",
        "sſS",
        "kK\u212a",
        "a b",
        "ab1ab",
        "x{,",
        "a{",
        "{}",
        "k11",
    ]
    return ["", *ALPHABET, *pairs, *longer]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_what_tiktoken_means(pattern: str) -> None:
    texts = short_texts()
    expected = tiktoken_pieces(pattern, texts)
    for text, wanted in zip(texts, expected, strict=True):
        assert matched(pattern, text) == wanted, text


@pytest.mark.parametrize("pattern", PATTERNS)
def test_onig_is_given_a_pattern_of_the_same_meaning(pattern: str) -> None:
    rewritten = to_onig(pattern)
    for text in short_texts():
        assert onig_pieces(rewritten, text) == kept(pattern, text), (rewritten, text)


@given(st.sampled_from(PATTERNS), st.lists(texts, min_size=1, max_size=6))
def test_patterns_on_longer_texts(pattern: str, longer: list[str]) -> None:
    assert [matched(pattern, text) for text in longer] == tiktoken_pieces(pattern, longer)
    rewritten = to_onig(pattern)
    assert [kept(pattern, text) for text in longer] == [onig_pieces(rewritten, text) for text in longer]


def atoms() -> st.SearchStrategy[str]:
    classes = [
        r"\w",
        r"\s",
        r"\S",
        r"\p{L}",
        r"\P{Lu}",
        r"[^\s\p{L}\p{N}]",
        r"[ab]",
        r"[^a\n]",
        r"[^a]",
        r"[^ ]",
        ".",
        r"[\w&&[^b]]",
    ]
    return st.sampled_from(["a", "b", "s", "k", "1", " ", "'", *classes])


def built(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A larger pattern out of smaller ones; nothing is repeated that can be empty."""
    return st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        inner.map(lambda part: f"(?i:{part})"),
        inner.map(lambda part: f"(?>{part})"),
        st.tuples(inner, st.sampled_from(["+", "++", "+?", "{2}", "{1,2}", "{1,2}+", "{2,}?"])).map(
            lambda p: f"(?:{p[0]}){p[1]}"
        ),
        st.tuples(inner, st.sampled_from(["?", "*", "?+", "*+", "*?", "{,2}"]), inner).map(
            lambda p: f"(?:{p[0]}){p[1]}{p[2]}"
        ),
        st.tuples(inner, st.sampled_from(["(?=", "(?!"]), inner).map(lambda p: f"{p[0]}{p[1]}{p[2]})"),
        st.tuples(st.sampled_from(["(?<=a)", "(?<!a)", r"(?<![\w']{2})", r"\b", r"\B", "^"]), inner).map(
            "".join
        ),
        inner.map(lambda part: part + "$"),
    )


@given(st.recursive(atoms(), built, max_leaves=5), st.lists(texts, min_size=1, max_size=6))
def test_patterns_out_of_all_constructs(pattern: str, longer: list[str]) -> None:
    assert [matched(pattern, text) for text in longer] == tiktoken_pieces(pattern, longer)
    rewritten = to_onig(pattern)
    assert [kept(pattern, text) for text in longer] == [onig_pieces(rewritten, text) for text in longer]


@pytest.mark.parametrize("pattern,offset,what", REFUSED)
def test_what_is_not_supported_is_named_with_its_offset(pattern: str, offset: int, what: str) -> None:
    for use in (to_regex, to_onig):
        with pytest.raises(PatternError) as caught:
            use(pattern)
        assert f"offset {offset}:" in str(caught.value)
        assert what in str(caught.value)


@pytest.mark.parametrize(
    "escape", ["\\x", "\\x4", "\\uA", "\\U0001F60", "\\xZZ", "\\x{}", "\\x{123456789}", "\\u{4"]
)
def test_hexadecimal_escapes_that_end_early(escape: str) -> None:
    with pytest.raises(PatternError, match=r"is not a hexadecimal escape|is not closed"):
        to_regex(f"a|{escape}")


@pytest.mark.parametrize("pattern", ["", "a*", "a?|b", r"\s*", "$", "^", "(?!a)", "|a", r"\z"])
def test_a_pattern_that_matches_the_empty_text_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="matches the empty string"):
        to_regex(pattern)


@pytest.mark.parametrize(
    "pattern,text,offset", [(r"\b", "  ab", 2), ("(?=a)", "bba", 2), (r"(?<=a)b*", "ca", 2)]
)
def test_an_empty_match_in_a_text_is_an_error_with_its_offset(pattern: str, text: str, offset: int) -> None:
    with pytest.raises(PatternError, match=f"matches the empty string at offset {offset} "):
        kept(pattern, text)


@pytest.mark.parametrize("pattern", [r"(?<=a+)b", r"(?<!(?:a|bc)d)e", r"(?<=a\b)b"])
def test_onig_cannot_look_behind_over_any_width(pattern: str) -> None:
    assert to_regex(pattern).pattern
    with pytest.raises(PatternError, match="look-behind"):
        to_onig(pattern)


def test_the_rewritten_text_stays_readable() -> None:
    assert (
        to_onig(r" ?\p{L}++|\p{N}{1,3}+|\s+(?!\S)|[^\r\n\p{L}]")
        == r" ?\p{L}++|(?>\p{N}{1,3})|\s+(?!\S)|[^\r\n\p{L}]"
    )
    assert to_onig(r"^a$|\pL") == r"\Aa\z|\p{L}"


def test_ss_does_not_fold_to_sharp_s() -> None:
    assert to_regex("(?i:ss)").findall("ß ss sS ſs") == ["ss", "sS", "ſs"]
    assert onig_pieces(to_onig("(?i:ss)"), "ß ss", drop=True) == ["ss"]


ALL_FOUND = [
    r"\S+|\s+", r"[^b]|b+", r"a?b|[^b]", "(?s).", r"(?i:\w)+|\W", GPT4_2023,
    GPT4_2023.replace("{1,3}", "{1,2}"), *(splits.get(name).pattern for name in ("gpt2", "gpt4", "o200k")),
]  # fmt: skip


@given(st.sampled_from([*PATTERNS, *ALL_FOUND]), st.text(ALPHABET, max_size=12))
def test_where_all_is_found_nothing_is_between_matches(pattern: str, text: str) -> None:
    if finds_all(pattern):
        assert "".join(pieces(text, SplitSpec(pattern, keep_unmatched=False))) == text


@pytest.mark.parametrize("pattern", ALL_FOUND)
def test_forms_that_find_all(pattern: str) -> None:
    assert finds_all(pattern)


@pytest.mark.parametrize(
    "pattern",
    [".", r"\w+|\s+", r"\S+|\s+(?!\S)", r"a?+[ab]|[^ab]", r"a?+a|[^a]", "ab|[^a]", r"\b\w|\W", "(?<=a)b|."],
)
def test_forms_that_do_not(pattern: str) -> None:
    assert not finds_all(pattern)
