"""The engine cuts by any pattern as its owner does: drawn patterns and texts, and megabytes that are hard."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from peers import onig_pieces, tiktoken_pieces
from step_peers import chunks, code_points
from test_pattern import PATTERNS, atoms, built, short_texts, texts

from syllabary import splits
from syllabary._engine import Split as Engine
from syllabary.reference.pattern import to_onig
from syllabary.reference.split import pieces
from syllabary.spec import SplitSpec

# What published tokenizers say about spaces, words, signs and digits.
SPACES = [
    r"\s+(?!\S)|\s+",
    r"\s+(?!\S)|\s",
    r"\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\s",
]
WORDS = [
    r" ?\p{L}+", r" ?\p{L}++", r"[^\r\n\p{L}\p{N}]?+\p{L}++",
    r"[\p{Lu}]*[\p{Ll}\p{M}]+(?i:'s|'t)?|\p{L}+",
    r"\w+(?=\s|$)|\w", r"\b\w+\b", r"[\p{L}\p{M}&&[^\p{Han}]]+|\p{Han}",
]  # fmt: skip
SIGNS = [r" ?[^\s\p{L}\p{N}]+", r" ?[^\s\w]++[\r\n/]*+", r"[^\s\p{L}\p{N}]", r"(?:[^\s\w]|_)+?(?=\s|\w|$)"]
DIGITS = [r"\p{N}{1,3}", r"\p{N}{1,3}+", r" ?\p{N}+", r"\d(?=(?:\d{3})*\b)|\d", r"\p{N}"]
CONTRACTIONS = [r"'(?i:[sdmt]|ll|ve|re)", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"'(?:[sdmt]|ll)(?!\w)"]


def published() -> st.SearchStrategy[str]:
    """A pattern as tokenizers have them: one of each kind, in some order."""
    kinds = [SPACES, WORDS, SIGNS, DIGITS, CONTRACTIONS]
    return st.tuples(*map(st.sampled_from, kinds)).flatmap(st.permutations).map("|".join)


def engine_pieces(pattern: str, text: str, tables: str = "tiktoken", keep: bool = True) -> list[str]:
    return Engine(SplitSpec(pattern, tables, keep)).pieces(text)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_construct_on_short_texts(pattern: str) -> None:
    engine, inputs = Engine(SplitSpec(pattern, keep_unmatched=False)), short_texts()
    for text, wanted in zip(inputs, tiktoken_pieces(pattern, inputs), strict=True):
        assert engine.pieces(text) == wanted, text


@given(published(), st.lists(texts, min_size=1, max_size=6))
def test_patterns_as_tokenizers_have_them(pattern: str, inputs: list[str]) -> None:
    assert [engine_pieces(pattern, text, keep=False) for text in inputs] == tiktoken_pieces(pattern, inputs)
    rewritten = to_onig(pattern)
    for text in inputs:
        assert engine_pieces(pattern, text) == onig_pieces(rewritten, text)


@given(published(), st.text("abXY 019'!?.\n\tſté漢", max_size=30))
def test_assigned_text_is_cut_as_regex_cuts_it(pattern: str, text: str) -> None:
    found = regex.compile(pattern, regex.VERSION1).finditer(text)
    assert engine_pieces(pattern, text, keep=False) == [match[0] for match in found]


@given(st.recursive(atoms(), built, max_leaves=5), st.lists(texts, min_size=1, max_size=6))
def test_patterns_out_of_all_constructs(pattern: str, inputs: list[str]) -> None:
    assert [engine_pieces(pattern, text, keep=False) for text in inputs] == tiktoken_pieces(pattern, inputs)


@given(texts, st.sampled_from([r"\w+|\W", r"[\w']+|[^\w]", r"\s+(?!\S)|\w++|.", r"(?!\w)[^\n]|\w{1,3}|\n"]))
def test_onigurumas_tables(text: str, pattern: str) -> None:
    assert engine_pieces(pattern, text, tables="onig") == onig_pieces(pattern, text)


@pytest.mark.parametrize(
    "pattern", [r"\w", r"\W", r"[\w]", r"[^\w\s]", r"[\W]", r"[^a[\W]]", r"\w+|[^\w\s]+"]
)
def test_onigurumas_words_inside_and_outside_of_brackets(pattern: str) -> None:
    """`\\w` has `½`, `[\\w]` has not."""
    split = SplitSpec(pattern, "onig")
    for text in ("a½!½½ ²a!¹-", "".join(f"~{char}{char}~" for char in "²³¹¼½¾\u200c\u200d①Ⅷaé٣_!ª")):
        assert pieces(text, split) == Engine(split).pieces(text) == onig_pieces(pattern, text)
    for text in chunks(code_points(prove=False)):
        assert pieces(text, split) == Engine(split).pieces(text)


@pytest.mark.parametrize("name", ["kimi", "deepseek-v3"])
@pytest.mark.parametrize("unit", [" ", "a", "7", "\n", "漢", "か", "👩\u200d", "'s", "\u0378", "!"])
def test_published_patterns_do_not_give_up_on_a_megabyte(name: str, unit: str) -> None:
    engine = Engine(splits.get(name))
    # A multiple of three, as numbers are counted by, so that both texts end alike.
    text, short = (unit * (3 * count) + "x" for count in (300_000 // len(unit.encode()), 40))
    pieces, few = engine.pieces(text), engine.pieces(short)
    assert "".join(pieces) == text
    assert few == onig_pieces(to_onig(splits.get(name).pattern or ""), short)
    if len(few) < 4:
        assert [piece[:1] for piece in pieces] == [piece[:1] for piece in few]
    else:
        assert pieces[:2] + pieces[-2:] == few[:2] + few[-2:]
