"""The reference's pre-tokenizers cut as tokenizers' own do: the same parts, from the same places.

Adds every code point for the steps that look at one character, drawn text for each kind, for several in a row
and after normalizers, and the first 50 kB of real text. Leaves out: what a step may be
(`test_steps_validate`).
"""

from __future__ import annotations

from pathlib import Path

import pytest
import step_peers
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import texts

from syllabary.errors import PatternError
from syllabary.reference import normalize, pretokenize
from syllabary.reference.aligned import Aligned
from syllabary.spec import Step

BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
PLAIN = [Step(kind) for kind in "BertPreTokenizer Whitespace WhitespaceSplit UnicodeScripts".split()]
BYTES = [
    Step("ByteLevel", {"add_prefix_space": a, "use_regex": b}) for a in (True, False) for b in (True, False)
]
METASPACE = [
    Step("Metaspace", {"replacement": mark, "prepend_scheme": scheme, "split": split})
    for mark in "▁a"
    for scheme in ("always", "first", "never")
    for split in (True, False)
]
PUNCTUATION = [Step("Punctuation", {"behavior": behavior}) for behavior in BEHAVIORS]
DIGITS = [Step("Digits", {"individual_digits": flag}) for flag in (True, False)]
# Not `\w` in a set: there Oniguruma leaves out six characters, and readers rewrite it (`hf_pattern`).
PATTERNS = [(" ", False), (".", False), (r"\p{L}{1,3}|\s", True), (r"\p{L}+|[^\p{L}\s]+", True)]
SPLITS = [
    Step("Split", {"pattern": pattern, "regex": is_regex, "behavior": behavior, "invert": invert})
    for pattern, is_regex in PATTERNS
    for behavior in BEHAVIORS
    for invert in (True, False)
]
OTHERS = [
    Step("CharDelimiterSplit", {"delimiter": "é"}),
    Step("CharDelimiterSplit", {"delimiter": " "}),
    Step("FixedLength", {"length": 1}),
    Step("FixedLength", {"length": 5}),
]
KINDS = [PLAIN, BYTES, METASPACE, PUNCTUATION, DIGITS, SPLITS, OTHERS]
any_step = st.one_of(*map(st.sampled_from, KINDS))
BEFORE = [
    Step("NFKD"),
    Step("Strip", {"strip_left": True, "strip_right": True}),
    Step("StripAccents"),
    Step("Prepend", {"prepend": "▁"}),
    Step("Replace", {"pattern": " ", "regex": False, "content": "▁"}),
]


def name(step: Step) -> str:
    return "-".join([step.kind, *(str(value) for value in step.options.values())])


def ours(steps: list[Step], text: str, before: list[Step] | None = None) -> step_peers.Spanned:
    whole = normalize.apply(before or [], Aligned.of(text))
    return [(part.text, part.original(0, len(part))) for part in pretokenize.apply(steps, [whole])]


@pytest.mark.parametrize(
    "step", [*PLAIN, *BYTES[1:3], *PUNCTUATION, *DIGITS, SPLITS[-1], METASPACE[0]], ids=name
)
def test_every_code_point(step: Step, prove: bool) -> None:
    text = step_peers.code_points(prove)
    assert ours([step], text) == step_peers.parts([step], text)
    # Between letters, so that what joins its neighbours shows.
    text = "".join(f"a{char}a" for char in text)
    assert ours([step], text) == step_peers.parts([step], text)


@given(texts(), any_step)
@example("  漢ー字 かナ  a", PLAIN[3])
@example("   ", PLAIN[3])
def test_one_step(text: str, step: Step) -> None:
    assert ours([step], text) == step_peers.parts([step], text)


@given(texts(), st.lists(any_step, max_size=4))
def test_steps_in_a_row(text: str, steps: list[Step]) -> None:
    assert ours(steps, text) == step_peers.parts(steps, text)


@given(texts(), st.lists(st.sampled_from(BEFORE), max_size=3), st.lists(any_step, max_size=3))
@example("  ab", [BEFORE[1]], [METASPACE[2]])
def test_after_normalizers(text: str, before: list[Step], steps: list[Step]) -> None:
    assert ours(steps, text, before) == step_peers.parts(steps, text, before)


@pytest.mark.parametrize("corpus", ["english", "greek", "chinese", "multilingual", "code"])
@pytest.mark.parametrize(
    "steps", [[PLAIN[0]], [BYTES[1]], [METASPACE[0]], [DIGITS[0], PUNCTUATION[4], PLAIN[3]]], ids=str
)
def test_real_text(shared: Path, prove: bool, corpus: str, steps: list[Step]) -> None:
    text = step_peers.corpus(shared / "corpora" / f"{corpus}.txt.xz", 300_000 if prove else 50_000)
    assert ours(steps, text) == step_peers.parts(steps, text)


def test_first_means_the_start_of_the_text() -> None:
    parts = pretokenize.apply([METASPACE[2]], [Aligned.of("ab"), Aligned.of("ab", base=2)])
    assert [part.text for part in parts] == ["▁ab", "ab"]


def test_no_part_is_empty() -> None:
    assert pretokenize.apply([], [Aligned.of(""), Aligned.of("a")]) == [Aligned("a", [(0, 1)])]
    assert pretokenize.apply([PLAIN[2]], [Aligned.of("  ")]) == []


def test_a_pattern_that_matches_nothing_at_some_place_is_an_error() -> None:
    step = Step("Split", {"pattern": "(?=b)", "regex": True, "behavior": "isolated", "invert": False})
    with pytest.raises(PatternError, match="matches the empty string at offset 1"):
        ours([step], "ab")
