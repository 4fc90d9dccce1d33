"""Sentences that sentencepiece's trainer leaves out as too long, told of while text goes by on its way to it.

Leaves out: the words of the warning (`reference.train_sentencepiece_sentences.LeftOut`), and the leaving out
itself, which is the engine's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from syllabary.corpus.document import Part
from syllabary.reference.train_sentencepiece_sentences import LeftOut

LINE_END, RETURN = 10, b"\r"
BYTES = 4  # of a character, at most


@dataclass(slots=True)
class _Line:
    """One whose end was not read: its bytes, and how many of the last are carriage returns."""

    size: int = 0
    returns: int = 0

    def add(self, text: str) -> None:
        """More of it."""
        data = _utf8(text)
        after = len(data) - len(data.rstrip(RETURN))
        self.returns = after if after < len(data) else self.returns + after
        self.size += len(data)

    def end(self) -> int:
        """Its bytes, without carriage returns at the end; the next begins."""
        size = self.size - self.returns
        self.size = self.returns = 0
        return size


def watched(parts: Iterable[Part], limit: int) -> Iterator[Part]:
    """The same parts; `CorpusWarning` after the last, if lines are longer than `limit` bytes."""
    left_out, line = LeftOut(limit), _Line()
    for part, last in parts:
        first, end, rest = part.partition("\n")
        line.add(first)
        if end:
            left_out.note(line.end())
            whole, end, rest = rest.rpartition("\n")
            if end:
                _note(whole, left_out)
            line.add(rest)
        if last:
            left_out.note(line.end())
        yield part, last
    left_out.warn()


def _note(text: str, left_out: LeftOut) -> None:
    """Notes the lines of `text`, all of which are whole."""
    if BYTES * len(text) <= left_out.limit:
        return
    data = _utf8(text)
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == LINE_END)
    starts = np.concatenate(([0], ends + 1))
    ends = np.append(ends, len(data))
    for line in np.flatnonzero(ends - starts > left_out.limit).tolist():
        left_out.note(len(data[int(starts[line]) : int(ends[line])].rstrip(RETURN)))


def _utf8(text: str) -> bytes:
    """Its bytes; of a lone surrogate, of which the trainer tells, as if it were a character."""
    return text.encode("utf-8", "surrogatepass")
