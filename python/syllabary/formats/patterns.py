"""Patterns that files hold: whether they run is known when a file is read, so that errors name the place.

Leaves out: what patterns mean (`reference.pattern`), and in which dialect a file has them (`hf_pattern`,
`minbpe_pattern`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from syllabary._engine import Split
from syllabary.on_demand import later
from syllabary.spec import SplitSpec, Tables

if TYPE_CHECKING:
    from syllabary.reference import pattern as patterns
else:
    later(globals(), patterns="syllabary.reference.pattern")


@lru_cache(maxsize=64)
def check_runs(pattern: str, tables: Tables) -> None:
    r"""Raise `PatternError` for a pattern that the specification cannot read, or the engine not compile.

    >>> check_runs(r"\p{L}+|\s", "tiktoken")
    >>> check_runs(r"\bfoo\b", "onig")
    Traceback (most recent call last):
    syllabary.errors.PatternError: split pattern "\\bfoo\\b": \b depends on \w, which holds other characters in Oniguruma; use look-around
    """  # noqa: E501 (a message is one line)
    patterns.to_regex(pattern, tables)
    check_compiles(pattern, tables)


def check_compiles(pattern: str, tables: Tables) -> None:
    r"""Raise `PatternError` for a pattern that the engine does not compile; the specification is not asked.

    >>> check_compiles(r"\Ga|b", "tiktoken")
    """
    Split(SplitSpec(pattern, tables))
