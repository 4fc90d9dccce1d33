"""The pinned tables are what the peers answer today, on every code point."""

from __future__ import annotations

import itertools

import pytest
import tiktoken
from strategies import code_points
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

from syllabary.errors import PatternError
from syllabary.unicode import (
    SCALARS,
    Ranges,
    class_names,
    complement,
    fold_orbits,
    intersection,
    ranges,
    union,
)

TEXT = "".join(chr(point) for low, high in SCALARS for point in range(low, high + 1))
IN_PATTERNS = [
    *("L N M P S Z Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Han Hiragana Katakana Hangul Greek White_Space".split()),
    r"\s", r"\w", r"\d",
]  # fmt: skip


def members(spans: Ranges) -> str:
    return "".join(chr(point) for low, high in spans for point in range(low, high + 1))


def spelled(name: str) -> str:
    return name if name.startswith("\\") else f"\\p{{{name}}}"


def tiktoken_members(pattern: str, text: str = TEXT) -> str:
    ranks = {bytes([value]): value for value in range(256)}
    encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return bytes(encoding.encode_ordinary(text)).decode()


@pytest.mark.parametrize("name", IN_PATTERNS)
def test_a_class_is_tiktokens_on_every_code_point(name: str) -> None:
    assert tiktoken_members(spelled(name)) == members(ranges("tiktoken", name))


@pytest.mark.parametrize("name", IN_PATTERNS)
def test_a_class_is_onigs_on_every_code_point(name: str, prove: bool) -> None:
    """Every day words on all of them, the others on both sides of each bound and on some between."""
    asked = TEXT if name == r"\w" else "".join(code_points(prove))
    splitter = Split(Regex(spelled(name)), "removed", invert=True)
    found = "".join(piece for piece, _ in splitter.pre_tokenize_str(asked))
    assert found == "".join(sorted(set(members(ranges("onig", name))) & set(asked)))


def test_only_word_characters_differ_between_the_tables() -> None:
    names = [name for section in class_names().values() for name in section]
    assert [name for name in names if ranges("tiktoken", name) != ranges("onig", name)] == [r"\w"]


def test_the_general_categories_part_all_scalar_values() -> None:
    categories = class_names()["category"]
    sets = [ranges("tiktoken", name) for name in categories]
    assert len(categories) == 29
    assert union(*sets) == SCALARS
    assert sum(high - low + 1 for spans in sets for low, high in spans) == len(TEXT)


def test_the_scripts_do_not_overlap_and_cover_what_is_assigned() -> None:
    scripts = [ranges("tiktoken", name) for name in class_names()["script"]]
    assert sum(len(members(spans)) for spans in scripts) == len(members(union(*scripts)))
    assert members(intersection(union(*scripts), ranges("tiktoken", "Cn"))) == ""


@pytest.mark.parametrize(
    "name,same",
    [
        ("Letter", "L"), ("Lowercase_Letter", "Ll"), ("lowercase letter", "Ll"), ("LL", "Ll"),
        ("White_Space", r"\s"), ("whitespace", r"\s"), ("Script=Han", "Han"), ("sc=Greek", "greek"),
        ("gc=Lu", "Uppercase_Letter"), ("General_Category=Letter", "L"), ("punct", "P"), ("word", r"\w"),
    ],
)  # fmt: skip
def test_long_and_loose_names(name: str, same: str) -> None:
    assert ranges("tiktoken", name) == ranges("tiktoken", same)
    assert tiktoken_members(spelled(name)) == members(ranges("tiktoken", same))


@pytest.mark.parametrize("name", ["", "Klingon", "sc=Lu", "gc=Han", "sc=", "=L", r"\W", r"\q", "Lx"])
def test_an_unknown_class_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(PatternError) as caught:
        ranges("tiktoken", name)
    assert repr(name) in str(caught.value)


def test_every_class_is_sorted_and_apart() -> None:
    for section in class_names().values():
        for name in section:
            spans = ranges("tiktoken", name)
            assert all(low <= high for low, high in spans), name
            assert all(a[1] + 1 < b[0] for a, b in itertools.pairwise(spans)), name


def test_folding_is_tiktokens_on_every_code_point() -> None:
    orbits = fold_orbits()
    text = members(union(*orbits))
    assert len(text) == sum(len(members(orbit)) for orbit in orbits)
    for orbit in orbits:
        for char in members(orbit):
            assert tiktoken_members(f"(?i:\\x{{{ord(char):X}}})", text) == members(orbit)
    uncased = complement(union(*orbits))
    pattern = "".join(f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in uncased)
    assert tiktoken_members(f"(?i:[{pattern}])") == members(uncased)
