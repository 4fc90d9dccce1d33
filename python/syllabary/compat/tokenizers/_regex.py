"""`Regex`, and the patterns that are a text or a `Regex`.

Leaves out: what patterns mean (`formats.hf_pattern`, `reference.pattern`).
"""

from __future__ import annotations

from typing import Any

from syllabary.formats.hf_pattern import portable
from syllabary.reference.aligned import Span
from syllabary.reference.step_match import find


class Regex:
    """A regular expression of Oniguruma's; `PatternError` for one that ours does not read as it does."""

    def __init__(self, s: str) -> None:
        """From its source."""
        if not isinstance(s, str):
            raise TypeError(f"'{type(s).__name__}' object is not an instance of 'str'")
        portable(s)
        self._source = s


def read_pattern(value: Any) -> dict[str, str]:
    """A pattern -> its JSON."""
    if isinstance(value, Regex):
        return {"Regex": value._source}
    if isinstance(value, str):
        return {"String": value}
    raise TypeError(f"a pattern is a str or a Regex, not '{type(value).__name__}'")


def no_pattern(_value: Any) -> Any:
    """What reading a pattern back does there."""
    raise Exception("Cannot get pattern")


def matches(pattern: Any, text: str) -> list[Span]:
    """Where a pattern is in a text; an empty one is nowhere."""
    ((kind, source),) = read_pattern(pattern).items()
    if not source:
        return []
    return find(text, portable(source) if kind == "Regex" else source, kind == "Regex")
