r"""Cutting a run of text into the pieces that merges never cross.

Adds `spans` and `pieces`, the definition, and `latin_tutorial`, a function that people know from a
tutorial, kept with its flaws so that they can be compared (`splits/latin.json` is what it means).
Leaves out: what patterns mean (`pattern`), the named splits (`syllabary.splits`), lone surrogates (callers
refuse them) and special tokens: the text given here is a run, what stands between two of them, and `$` or
`(?!\S)` see its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from syllabary.errors import PatternError
from syllabary.on_demand import later
from syllabary.spec import SplitSpec, Tables

if TYPE_CHECKING:
    from syllabary.reference import pattern as patterns
else:
    later(globals(), patterns="syllabary.reference.pattern")

# A run may take so many seconds of computing, and one more for every so many characters: a hundred times
# what a sound pattern needs. One that tries every way of cutting `aaaa…` would not end in this life.
SECONDS = 5.0
CHARACTERS_A_SECOND = 10_000


def spans(text: str, split: SplitSpec) -> Iterator[tuple[int, int]]:
    r"""A run of text -> `(start, end)` of its pieces, in characters and in order.

    Pieces are the leftmost matches of the pattern, each search beginning where the last match ended. Text
    between matches is a piece of its own if `split.keep_unmatched`, else it is dropped. Without a pattern
    the run is one piece, and the empty run none.
    Raises `PatternError` for a pattern that is not supported or matches the empty string, be it in this
    text only (with the offset), and for one that takes longer than `SECONDS`.
    """
    if split.pattern is None:
        yield from [(0, len(text))] if text else []
        return
    end = 0
    for start, match_end in matches(text, split.pattern, split.tables):
        if start == match_end:
            raise PatternError(
                f"split pattern {split.pattern!r} matches the empty string at offset {start} of the text"
            )
        if split.keep_unmatched and start > end:
            yield end, start
        yield start, match_end
        end = match_end
    if split.keep_unmatched and end < len(text):
        yield end, len(text)


def matches(text: str, pattern: str, tables: Tables) -> list[tuple[int, int]]:
    """All matches in a run, found in one go, so that the time is that of the pattern alone."""
    seconds = SECONDS + len(text) / CHARACTERS_A_SECOND
    try:
        return [match.span() for match in patterns.to_regex(pattern, tables).finditer(text, timeout=seconds)]
    except TimeoutError as error:
        raise PatternError(
            f"split pattern {pattern!r} took more than {seconds:.1f} seconds on a text of {len(text)} "
            "characters: it tries too many ways to match; repeat with ++ or *+, which do not try again"
        ) from error


def pieces(text: str, split: SplitSpec) -> list[str]:
    r"""A run of text -> its pieces, in order: the text of each of `spans`, errors included.

    >>> pieces("to be,  or", SplitSpec(r"\w+|[^\w\s]+", keep_unmatched=False))
    ['to', 'be', ',', 'or']
    >>> pieces("to be", SplitSpec(r"\w+"))
    ['to', ' ', 'be']
    >>> pieces("to be", SplitSpec(None))
    ['to be']
    """
    return [text[start:end] for start, end in spans(text, split)]


def latin_tutorial(text: str) -> list[str]:
    r"""The tutorial's words of a Latin text, enclitics cut off, with its flaws.

    `-que -ve -ne -met -ce -ci` become words of their own, then words, digits, signs and spaces are found
    with the space before them. Flaws, all kept: an enclitic is any ending, so `bene` is cut; only the last
    one is (`hocine` -> `hoci ne`); case counts; a word that merely looks like an enclitic loses the spaces
    before it (`quid ne`); `\w` and `\s` are Python's own.

    >>> latin_tutorial("atque bene, quid ne")
    ['at', 'que', ' be', 'ne', ',', ' quid', 'ne']
    """
    enclitics = ("que", "ve", "ne", "met", "ce", "ci")
    spaced = re.sub(r"(\w)(que|ve|ne|met|ce|ci)\b", r"\1 \2", text)
    words = re.findall(r"\s*\w+|\s*\d+|\s*[^\s\w\d]+|\s+(?!\S)|\s+", spaced)
    return [word.strip() if word.strip() in enclitics else word for word in words]
