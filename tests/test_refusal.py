"""What a format refuses beforehand, it refuses when it writes, in the same words; what it takes, it writes.

Leaves out: reasons that only the tokens tell (test_formats).
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import syllabary
from syllabary import formats
from syllabary.errors import FormatError

TEXT = "low lower lowest newer wider " * 9
SUFFIX = {"syllabary": ".syllabary.json", "huggingface": ".json", "tiktoken": ".tiktoken"}
OPTIONS: list[dict[str, Any]] = [
    {"unit": unit, "fallback": fallback, "end_of_word": mark, "alphabet": alphabet}
    for unit, fallback, mark, alphabet in itertools.product(
        ("byte", "char", "word"), (False, True), (None, "</w>"), ("all", "seen")
    )
    if not (unit == "byte" and fallback) and not (unit != "char" and mark)
]


@pytest.mark.parametrize("name", SUFFIX)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options.values())))
def test_refusal_is_what_write_says(tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    tok = syllabary.train([TEXT], num_merges=5, split="whitespace-split", **options)
    said = formats.refusal(name, **options)
    if said is None:
        tok.save(tmp_path / f"t{SUFFIX[name]}")
        assert syllabary.load(tmp_path / f"t{SUFFIX[name]}", **bare(name)).decode(tok.encode("low")) == "low"
        return
    with pytest.raises(FormatError) as caught:
        tok.save(tmp_path / f"t{SUFFIX[name]}")
    assert without_detail(str(caught.value)) == without_detail(said)
    assert not list(tmp_path.iterdir())


def bare(name: str) -> dict[str, Any]:
    """What a rank file does not say."""
    return {"split": "whitespace-split"} if name == "tiktoken" else {}


def without_detail(sentence: str) -> str:
    """The sentence without what stands in brackets: beforehand one cannot know which bytes are missing."""
    return sentence.partition(" (")[0] + sentence.partition(")")[2]


def test_some_are_refused_and_some_are_not() -> None:
    refused = {(name, str(o)) for name in SUFFIX for o in OPTIONS if formats.refusal(name, **o)}
    assert 0 < len(refused) < len(SUFFIX) * len(OPTIONS)
    assert not any(name == "syllabary" for name, _ in refused)


def test_the_format_of_a_path() -> None:
    assert [formats.format_of(f"x{suffix}").name for suffix in SUFFIX.values()] == list(SUFFIX)
    assert formats.format_of("x.txt", "tiktoken").name == "tiktoken"
    for path, name in (("x.txt", None), ("x.json", "tekken"), ("x.json", "unknown")):
        with pytest.raises(FormatError):
            formats.format_of(path, name)
    with pytest.raises(FormatError):
        formats.refusal("unknown")
