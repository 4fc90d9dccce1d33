"""Where a step finds what it replaces or cuts at, and how it cuts there.

Adds `find`, for patterns and plain text; `runs`, for tests of characters; and `arrange`, the five behaviours
of tokenizers' `SplitDelimiterBehavior`. Leaves out: what patterns mean (`pattern`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import groupby

from syllabary.errors import PatternError
from syllabary.reference.aligned import Span
from syllabary.reference.split import matches

Piece = tuple[int, int, bool]  # start, end, whether it is a match


def find(text: str, pattern: str, is_regex: bool) -> list[Span]:
    """All matches of a pattern, or of a plain text, in order: `(start, end)`, none of them empty.

    Raises `PatternError` for a pattern that is not supported, takes too long, or matches the empty string.

    >>> find("a--b", "-", False), find("a--b", "-+", True)
    ([(1, 2), (2, 3)], [(1, 3)])
    """
    if not is_regex:
        return _plain(text, pattern)
    found = matches(text, pattern, "onig")
    for start, end in found:
        if start == end:
            raise PatternError(f"a step's pattern {pattern!r} matches the empty string at offset {start}")
    return found


def _plain(text: str, pattern: str) -> list[Span]:
    """The leftmost places of a text that is not empty."""
    found, at = [], text.find(pattern)
    while at >= 0:
        found.append((at, at + len(pattern)))
        at = text.find(pattern, at + len(pattern))
    return found


def cover(length: int, found: Iterable[Span], invert: bool = False) -> list[Piece]:
    """Matches and what is between them, so that all of a text is covered."""
    pieces, last = list[Piece](), 0
    for start, end in found:
        if last < start:
            pieces.append((last, start, invert))
        pieces.append((start, end, not invert))
        last = end
    return [*pieces, (last, length, invert)] if last < length else pieces


def runs(text: str, members: Collection[str]) -> list[Piece]:
    """As `cover`, where each character that is a member is a match."""
    return cover(len(text), [(at, at + 1) for at, char in enumerate(text) if char in members])


def arrange(pieces: list[Piece], behavior: str) -> list[Span]:
    """What is left of the pieces: tokenizers' `NormalizedString::split`.

    >>> pieces = cover(10, [(3, 4), (4, 5), (9, 10)])
    >>> for behavior in ("removed", "isolated", "contiguous", "merged_with_previous", "merged_with_next"):
    ...     print(arrange(pieces, behavior))
    [(0, 3), (5, 9)]
    [(0, 3), (3, 4), (4, 5), (5, 9), (9, 10)]
    [(0, 3), (3, 5), (5, 9), (9, 10)]
    [(0, 4), (4, 5), (5, 10)]
    [(0, 3), (3, 4), (4, 9), (9, 10)]
    """
    if behavior == "removed":
        return [(start, end) for start, end, matched in pieces if not matched]
    if behavior == "isolated":
        return [(start, end) for start, end, _ in pieces]
    if behavior == "contiguous":
        groups = [list(group) for _, group in groupby(pieces, key=lambda piece: piece[2])]
        return [(group[0][0], group[-1][1]) for group in groups]
    backwards = behavior == "merged_with_next"
    merged: list[Span] = []
    before = False
    for start, end, matched in reversed(pieces) if backwards else pieces:
        if matched and not before and merged:
            other_start, other_end = merged[-1]
            merged[-1] = (start, other_end) if backwards else (other_start, end)
        else:
            merged.append((start, end))
        before = matched
    return merged[::-1] if backwards else merged
