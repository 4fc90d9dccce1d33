"""Rows of full encodings by the engine: texts in, laid-out rows out.

Adds `EngineRows`, which has the engine lay out rows, and raises what the specification raises where texts
cannot be truncated. Leaves out: arguments (`arguments`), and what is made of rows (`batch`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import FullRows
from syllabary.errors import SyllabaryError
from syllabary.full.layout import Layout, white_ends
from syllabary.full.plan import Plan
from syllabary.reference.aligned import Span
from syllabary.reference.encoding import Encoding
from syllabary.reference.truncation import truncate

Array = NDArray[np.int64]
ALONE, PAIRED = np.array([[1, -1]], np.int64), np.array([[1, 1]], np.int64)
FLAT = re.compile(r"text (\d+) of the batch: ")


class EngineRows:
    """See `batch.Rows`."""

    def __init__(
        self,
        rows: FullRows,
        given: Sequence[tuple[Any, Any]],
        is_pretokenized: bool,
        layout: Layout,
        overflow: bool,
        byte_offsets: bool,
    ) -> None:
        """Lay out rows of the engine; `ValueError` where texts cannot be truncated as asked."""
        bad = rows.lay_out(units(given, is_pretokenized), is_pretokenized, *layout.told, overflow)
        if bad is not None:
            raise_truncation(bad, layout)
        self._rows = rows
        self._given = given
        self._layout = layout
        self._byte_offsets = byte_offsets

    def bounds(self) -> Array:
        """Where each row begins, and the end."""
        return self._rows.bounds()

    def samples(self) -> Array:
        """The text that each row is of."""
        return self._rows.samples()

    def lengths(self) -> Array:
        """The tokens of each row without padding."""
        return self._rows.lengths()

    def parts(self) -> Array:
        """How many parts each text and each pair was cut into."""
        return self._rows.parts()

    def field(self, name: str) -> Array:
        """A field of all rows. `spans` are offsets before white space is taken off them."""
        if name == "spans" or (name == "offsets" and not self._layout.trims):
            return self._rows.spans()
        if name != "offsets":
            return self._rows.field(name)
        found = self._rows.spans(self._layout.spelled.ends)
        if self._layout.spelled.taken:
            self._trim_taken(found)
        return found

    def lists(self, name: str) -> list[list[int]]:
        """A field as lists, one a row; offsets have none here."""
        return self._rows.lists(name)

    def unknown(self) -> dict[int, str]:
        """Unknown tokens that are spelled as the text."""
        return dict(self._rows.unknown())

    def _trim_taken(self, found: Array) -> None:
        """Tokens that take white space along have that of the text at their ends."""
        items, ids = self.field("items"), self.field("ids")
        places = np.flatnonzero((items < 0) & (items >= -2) & np.isin(ids, [*self._layout.spelled.taken]))
        if not len(places):
            return
        spans, words, unknown = self.field("spans"), self.field("word_ids"), self.unknown()
        bounds, samples, spelled = self.bounds(), self.samples(), self._layout.spelled
        rows = np.searchsorted(bounds, places, "right") - 1
        for at, row in zip(places.tolist(), rows.tolist(), strict=True):
            given = self._given[int(samples[row])]
            text, span = -1 - int(items[at]), spans[at].tolist()
            token = unknown.get(at)
            if token is None and int(ids[at]) not in spelled.noted:
                token = found_as(given[text], int(words[at]), span, self._byte_offsets)
                token = token if spelled.is_found(int(ids[at]), token) else None
            plan = self._layout.plans[given[1] is not None]
            if token is None or plan is None:
                continue  # spelled as the others are
            is_first = at == bounds[row] or items[at - 1] != items[at]
            found[at] = trimmed(span, white_ends(token), plan, is_first, text)


def trimmed(span: Sequence[int], ends: Span, plan: Plan, is_first: bool, text: int) -> Span:
    """The span of a token without the white space at its ends. is_first: of its text."""
    start, end = span
    for added, firsts in plan.trims:
        before, after = ends
        if before == 1 and added and (start == 0 or (is_first and firsts[text])):
            before = 0
        start = min(start + before, end)
        end = max(end - after, start) if end >= after else end
    return start, end


def found_as(source: Any, word: int, span: Sequence[int], byte_offsets: bool) -> str:
    """What stands between two offsets in a text, or in a word of it."""
    if not isinstance(source, str):
        source = source[word]
    if not byte_offsets:
        return str(source[span[0] : span[1]])
    return str(source.encode()[span[0] : span[1]].decode("utf-8", "replace"))


def flat_texts(given: Sequence[tuple[Any, Any]], is_pretokenized: bool) -> list[str]:
    """Each text, or its words, then those of its pair."""
    if is_pretokenized:
        return [word for pair in given for words in pair if words is not None for word in words]
    return [text for pair in given for text in pair if text is not None]


def named(error: SyllabaryError, given: Sequence[tuple[Any, Any]], is_pretokenized: bool) -> SyllabaryError:
    """An error that names one of the flat texts, which names the text or pair, and the word, instead."""
    found = FLAT.match(str(error))
    if found is None:
        return error
    names = (
        f"{kind} {index} of the batch" + (f", word {word}" if is_pretokenized else "")
        for index, pair in enumerate(given)
        for kind, one in zip(("text", "pair"), pair, strict=True)
        if one is not None
        for word in range(len(one) if is_pretokenized else 1)
    )
    name = next(islice(names, int(found[1]), None))
    return type(error)(f"{name}: {str(error)[found.end() :]}")


def units(given: Sequence[tuple[Any, Any]], is_pretokenized: bool) -> Array:
    """How many of those each text and each pair has, -1 for no pair, shape (texts, 2)."""
    if len(given) == 1 and not is_pretokenized:
        return ALONE if given[0][1] is None else PAIRED
    if is_pretokenized:
        counts = [[-1 if words is None else len(words) for words in pair] for pair in given]
        return np.array(counts, np.int64).reshape(-1, 2)
    found = np.ones((len(given), 2), np.int64)
    found[:, 1] = [-1 if pair is None else 1 for _text, pair in given]
    return found


def raise_truncation(lengths: Sequence[int | None], layout: Layout) -> None:
    """What the specification raises for texts of these lengths."""
    texts = [Encoding(ids=[0] * length) for length in lengths if length is not None]
    plan, truncation = layout.plans[len(texts) - 1], layout.framing.truncation
    if truncation is not None and plan is not None:
        truncate(texts, truncation, plan.added)
    raise SyllabaryError(f"the engine cannot truncate texts of {lengths} tokens, and the specification can")
