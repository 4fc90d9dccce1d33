"""Which steps may be: every kind with all its options, and an error that names what is wrong with any other.

Adds: nothing that a checked step can be told makes it fail in another way than the documented ones.
Leaves out: character maps (`test_steps_charsmap`), what steps do.
"""

from __future__ import annotations

from typing import Any

import pytest
import step_maps
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts

from syllabary.errors import PatternError, SyllabaryError, VocabularyError
from syllabary.reference import normalize, pretokenize, step_decoders
from syllabary.reference.aligned import Aligned
from syllabary.reference.steps import STAGES, Kind, Stage, validate, validate_steps
from syllabary.spec import Step

VALUES: dict[str, list[Any]] = {
    "flag": [True, False],
    "flag or None": [True, False, None],
    "text": ["", "a", "▁", "é漢"],
    "character": ["a", "\0", "▁", " "],
    "pattern": ["a", r"\s+", r"\w|[^\s]{2}", " "],
    "character map": [b"", step_maps.charsmap("custom")],
    "rules": [step_maps.charsmap("custom")],
    "count": [0, 1, 10**9],
    "length": [1, 3, 10**12],
}
WRONG: dict[str, list[Any]] = {
    "flag": [None, 0, 1, "True"],
    "flag or None": [0, "None"],
    "text": [None, b"a", 3, "\ud800"],
    "character": ["", "ab", 3, None, "\udfff"],
    "pattern": [None, b"a", "\ud800"],
    "character map": [None, "", bytearray(), b"x"],
    "rules": [None, "", b"", b"x"],
    "count": [-1, True, 1.0, None, "1"],
    "length": [0, -1, True, None],
}


def values(kind: Kind) -> list[Any]:
    return list(kind) if isinstance(kind, tuple) else VALUES[kind]


def whole(stage: Stage, kind: str) -> Step:
    """A step of this kind that may be."""
    return Step(kind, {name: values(option)[0] for name, option in STAGES[stage][kind].items()})


KINDS = [(stage, kind) for stage, kinds in STAGES.items() for kind in kinds]
OPTIONS = [(stage, kind, option) for stage, kind in KINDS for option in STAGES[stage][kind]]


def refused(stage: Stage, step: Any, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        validate(stage, step, f"{stage}[0]")


def test_the_tables_are_the_kinds_that_run() -> None:
    assert set(STAGES["normalizer"]) == set(normalize.NORMALIZERS)
    assert set(STAGES["pretokenizer"]) == set(pretokenize.PRETOKENIZERS)
    assert set(STAGES["decoder"]) == set(step_decoders.DECODERS)


@pytest.mark.parametrize("stage, kind, option", OPTIONS)
def test_an_option_missing_or_wrong(stage: Stage, kind: str, option: str) -> None:
    step = whole(stage, kind)
    validate(stage, step, "here")
    for value in values(STAGES[stage][kind][option]):
        validate(stage, Step(kind, {**step.options, option: value}), "here")
    without = {name: value for name, value in step.options.items() if name != option}
    refused(stage, Step(kind, without), rf"{stage}\[0\] \({kind}\): option '{option}' is missing")
    wanted = STAGES[stage][kind][option]
    for value in ["other", 3, None] if isinstance(wanted, tuple) else WRONG[wanted]:
        refused(stage, Step(kind, {**step.options, option: value}), rf"\({kind}\): option '{option}'")


@pytest.mark.parametrize("stage, kind", KINDS)
def test_an_option_too_many(stage: Stage, kind: str) -> None:
    step = whole(stage, kind)
    refused(stage, Step(kind, {**step.options, "colour": 1}), rf"\({kind}\): unknown option 'colour'; it has")


@pytest.mark.parametrize("kind", ["", "nfc", "Sequence", "BertNormalizer", None, 3, [], "NFC\0"])
def test_an_unknown_kind(kind: Any) -> None:
    for stage in STAGES:
        refused(stage, Step(kind), f"{stage}.0. is of kind .* which is none of ")


def test_what_is_no_step() -> None:
    refused("decoder", "Fuse", "is 'Fuse': give a Step")
    refused("decoder", Step("Fuse", None), "options are None: give a Mapping")  # type: ignore[arg-type]
    with pytest.raises(VocabularyError, match="normalizer is 'NFC': give a tuple of Step"):
        validate_steps("NFC", (), None)  # type: ignore[arg-type]
    with pytest.raises(VocabularyError, match=r"pretokenizer\[1\] is of kind 'NFC'"):
        validate_steps((Step("NFC"),), (Step("Whitespace"), Step("NFC")), (Step("Fuse"),))
    validate_steps((Step("NFC"),), (Step("Whitespace"),), (Step("Fuse"),))


@pytest.mark.parametrize("pattern", ["(", "a*", r"\q", "(?R)", "[z-a]"])
def test_a_pattern_that_is_not_supported(pattern: str) -> None:
    options = {"pattern": pattern, "regex": True, "content": ""}
    with pytest.raises(PatternError):
        validate_steps((Step("Replace", options),), (), None)
    validate_steps((Step("Replace", {**options, "regex": False}),), (), None)


def test_an_empty_pattern() -> None:
    for is_regex in (True, False):
        with pytest.raises(PatternError, match="empty"):
            validate_steps((Step("Replace", {"pattern": "", "regex": is_regex, "content": "x"}),), (), None)


@st.composite
def steps(draw: st.DrawFn, stage: Stage) -> list[Step]:
    kinds = draw(st.lists(st.sampled_from(sorted(STAGES[stage])), max_size=4))
    return [
        Step(
            kind,
            {name: draw(st.sampled_from(values(option))) for name, option in STAGES[stage][kind].items()},
        )
        for kind in kinds
    ]


@given(texts(), st.data())
def test_a_checked_step_runs_or_says_why_not(text: str, data: st.DataObject) -> None:
    normalizer, pretokenizer, decoder = (data.draw(steps(stage)) for stage in STAGES)
    try:
        validate_steps(normalizer, pretokenizer, decoder)
        done = normalize.apply(normalizer, Aligned.of(text), frozen=("a", "  "))
        parts = pretokenize.apply(pretokenizer, [done])
        step_decoders.decode(decoder, [part.text for part in parts])
    except SyllabaryError:
        return
    assert len(done.text) == len(done.spans)
    assert all(0 <= start <= end <= len(text) for start, end in done.spans)
    for part in parts:
        assert part.text
        assert len(part.text) == len(part.spans)
