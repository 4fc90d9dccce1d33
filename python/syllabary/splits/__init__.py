"""The named splits: one data file each, found by its name.

A new split is one more JSON file in this folder: `name`, `aliases`, `pattern` (or null), `tables` (whose
Unicode tables its classes mean), `keep_unmatched`, `source` (who made it, what to know), and `examples`, a
list of `[text, pieces]` that the tests hold every implementation to.
Leaves out: what patterns mean and how text is cut (`syllabary.reference.split`, the engine).
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from syllabary.errors import SplitError
from syllabary.spec import SplitSpec

__all__ = ["aliases", "examples", "get", "names", "same", "source"]

_NAME = re.compile(r"[a-z0-9_-]+(?:\.[0-9]+)?")


@lru_cache(maxsize=1)
def _records() -> dict[str, dict[str, Any]]:
    """Every data file, by name; read at the first question."""
    texts = [entry.read_text(encoding="utf-8") for entry in Path(__file__).parent.glob("*.json")]
    records = [json.loads(text) for text in texts]
    return {record["name"]: record for record in sorted(records, key=lambda record: str(record["name"]))}


def _record(name: str) -> dict[str, Any]:
    """The data of a name or alias. Raises `SplitError` listing the names."""
    record = _records().get(aliases().get(name, name))
    if record is None:
        raise SplitError(
            f"unknown split {name[:80]!r}; known: {', '.join([*names(), *aliases()])}. "
            "A pattern made of letters alone can be written in brackets: (?:...)"
        )
    return record


def names() -> list[str]:
    """The names of all splits, sorted, without aliases.

    >>> names()[:6]
    ['deepseek-v3', 'gpt2', 'gpt4', 'kimi', 'latin', 'llama3']
    """
    return list(_records())


def aliases() -> dict[str, str]:
    """Other names -> the names that they stand for.

    >>> aliases()["cl100k"]
    'gpt4'
    """
    return {alias: name for name, record in _records().items() for alias in record["aliases"]}


def get(name_or_pattern: str | None) -> SplitSpec:
    r"""A name, a pattern or `None` -> how to split.

    A bare word (`[a-z0-9_-]+`, a version as `.5` after it) is a name or alias; anything else is
    a pattern, by tiktoken's tables, whose unmatched text stays; `None` and `"none"` are no split.
    Raises `SplitError` for a word that is no name, listing the names.

    >>> get(r"\S+|\s+")
    SplitSpec(pattern='\\S+|\\s+', tables='tiktoken', keep_unmatched=True, name=None)
    >>> get("cl100k").name, get(None).name
    ('gpt4', 'none')
    """
    word = "none" if name_or_pattern is None else name_or_pattern
    if not _NAME.fullmatch(word):
        return SplitSpec(pattern=word)
    record = _record(word)
    return SplitSpec(record["pattern"], record["tables"], record["keep_unmatched"], record["name"])


def examples(name: str) -> list[tuple[str, list[str]]]:
    """The examples of a named split: `(text, pieces)`. Raises `SplitError` for an unknown name."""
    return [(text, pieces) for text, pieces in _record(name)["examples"]]


def source(name: str) -> str:
    """Where a named split comes from. Raises `SplitError` for an unknown name."""
    return str(_record(name)["source"])


def same(split: SplitSpec, other: SplitSpec) -> bool:
    """Whether two splits cut alike: all but the name.

    >>> same(get("gpt4"), get("gpt2"))
    False
    """
    return _cutting(split) == _cutting(other)


def _cutting(split: SplitSpec) -> tuple[object, ...]:
    return split.pattern, split.tables, split.keep_unmatched
