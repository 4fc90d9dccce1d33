"""The normalization forms NFC, NFD, NFKC and NFKD, and how each character of them came about.

Adds `decompose` and `compose`, Unicode's algorithms in the order of tokenizers' crate
(unicode-normalization-alignments, version 9 of Unicode), whose order decides the spans. Leaves out: the
tables (`syllabary.unicode.rewriting`) and the spans (`aligned`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from syllabary.unicode import rewriting

Change = tuple[str, int]


def decompose(text: str, compatible: bool) -> Iterator[Change]:
    """Every character fully decomposed, marks in canonical order: `(character, change)` as `rewrite` takes.

    The first character that one decomposes to stands for it, the others are new; they keep that when marks
    trade places.

    >>> [change for char, change in decompose("\u00e9", False)]
    [0, 1]
    """
    classes = rewriting.combining_classes()
    waiting: list[tuple[int, Change]] = []
    for char in text:
        for index, part in enumerate(rewriting.decomposed(char, compatible)):
            order = classes.get(part, 0)
            if order == 0:
                yield from _in_order(waiting)
                waiting.clear()
            waiting.append((order, (part, int(index > 0))))
    yield from _in_order(waiting)


def _in_order(waiting: list[tuple[int, Change]]) -> list[Change]:
    """A character and the marks after it, sorted by combining class; equal ones stay in order."""
    return [change for _, change in sorted(waiting, key=lambda item: item[0])]


def compose(changes: Iterable[Change]) -> Iterator[Change]:
    """Decomposed characters, composed again: each with what it is made of behind it gone.

    A mark is blocked from the character before it by one of its own class or above in between (Unicode 3.11,
    D115). Marks that stay come after what the others were composed to.

    >>> list(compose([("e", 0), ("\u0301", 0), ("x", 0)]))
    [('é', -1), ('x', 0)]
    """
    classes = rewriting.combining_classes()
    base: Change | None = None
    marks: list[Change] = []
    last = 0  # the class of the last mark that stayed; 0: none
    for char, change in changes:
        order = classes.get(char, 0)
        if base is None:
            if order:
                yield char, change
            else:
                base = (char, change)
            continue
        whole = rewriting.composed(base[0], char) if not marks or last < order else None
        if whole is not None:
            base = (whole, base[1] + change - 1)
        elif order:
            marks.append((char, change))
            last = order
        else:
            yield base
            yield from marks
            base, marks, last = (char, change), [], 0
    if base is not None:
        yield base
    yield from marks
