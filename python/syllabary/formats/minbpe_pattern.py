r"""Split patterns for Python's module `regex` and its `findall`, as minbpe runs them.

Adds `foreign`, what in a pattern means something else there than here, and `findall_pattern`, which makes
unmatched text match. Leaves out: what patterns mean here (`reference.pattern`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from syllabary import splits
from syllabary.errors import PatternError
from syllabary.formats.patterns import check_runs
from syllabary.spec import SplitSpec

# Splits whose pattern matches every character, wherever it stands: nothing is ever between matches.
TOTAL = ("gpt2", "gpt4", "o200k")
# And minbpe's own, which is GPT-4's of 2023.
GPT4_2023 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|"
    r"\s+(?!\S)|\s+"
)
SAME = frozenset("pPsSwWdDbBnrtfvxuU") | frozenset("\\.^$*+?{}[]|()/-'\"#&~@!%,:;<=> _")
CLASS_OPERATORS = ("--", "&&", "||", "~~", "[")


def foreign(pattern: str) -> str | None:
    """Why a pattern is not the same for minbpe and here, or `None` if it is.

    >>> foreign(r"'(?i:[sdmt])| ?\\p{L}+|\\s+(?!\\S)") is None
    True
    >>> foreign("(a|b)+")
    'findall would return what its group captures; write (?:...)'
    """
    if not pattern:
        return None
    if "\n" in pattern or "\r" in pattern:
        return "it holds a line end, and stands on one line"
    if pattern != pattern.strip():
        return "it begins or ends with white space, which minbpe strips when it opens the file"
    try:
        check_runs(pattern, "tiktoken")
        regex.compile(pattern)
    except (PatternError, regex.error, ValueError, RecursionError) as error:
        return str(error)
    return next(_differences(pattern), None)


def findall_pattern(split: SplitSpec) -> str:
    r"""The pattern, with a branch for the text between its matches if that is a piece of its own.

    >>> findall_pattern(SplitSpec("a+"))
    'a+|(?:(?!a+)[\\s\\S])+'
    """
    pattern = split.pattern or ""
    total = pattern == GPT4_2023 or any(pattern == splits.get(name).pattern for name in TOTAL)
    if total or not split.keep_unmatched:
        return pattern
    return rf"{pattern}|(?:(?!{pattern})[\s\S])+"


def _differences(pattern: str) -> Iterator[str]:
    """What the two dialects read differently, in order."""
    at, inside = 0, False
    while at < len(pattern):
        rest = pattern[at:]
        if rest.startswith("\\"):
            if rest[1] not in SAME:
                yield f"{rest[:2]!r} is not the same escape there"
            at += 2
            continue
        if inside:
            for operator in CLASS_OPERATORS:
                if rest.startswith(operator):
                    yield f"{operator!r} in a class is no operator there"
            inside = not rest.startswith("]")
        elif rest.startswith("["):
            inside = True
            at += len(re.match(r"\[\^?\]?", rest).group()) - 1  # type: ignore[union-attr]  # starts with [
        elif rest.startswith("(") and not rest.startswith("(?"):
            yield "findall would return what its group captures; write (?:...)"
        elif re.match(r"\(\?P?<[^=!]", rest):
            yield "findall would return what its named group captures; write (?:...)"
        elif rest.startswith("$") and not pattern[:at].endswith(r"\s++"):
            yield "'$' also matches before a last line end there"
        at += 1
