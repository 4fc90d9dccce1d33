"""Encoding and counting text that comes in parts, with the ids of the whole.

Adds what `Tokenizer.encoder`, `appender`, `encode_stream` and `count_until` give. Leaves out: what may still
change (`reference.cuts`) and is held back (`reference.stream`), and encoding itself, which is given as a
function. Merges are never passed over at random here: that would need the whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from syllabary.errors import PatternError, SpecialTokenError, TextError, UnknownSymbolError
from syllabary.reference.cuts import Cuts
from syllabary.reference.stream import Characters, Settled, Stream

Encode = Callable[[str], list[int]]
Count = Callable[[str], int]
Part = str | bytes | bytearray | memoryview
Result = TypeVar("Result")
FIRST = 4  # characters a token, about: how much `count_until` reads at first


class IncrementalEncoder:
    """Takes a text in parts and gives ids that nothing to come can change; see `Tokenizer.encoder`.

    What is held back is the text behind the last place where it can be cut for certain: in most texts a word
    or two. `flush` ends the text. After an error, begin with a new one. Not for several threads at once.
    """

    def __init__(self, cuts: Cuts, encode: Encode) -> None:
        self._cuts, self._encode = cuts, encode
        self._begin()

    def _begin(self) -> None:
        self._stream, self._characters = Stream(self._cuts), Characters()

    def push(self, text: Part) -> list[int]:
        """Take the next part, text or UTF-8, and give the ids that are final now.

        Raises what `encode` does, as soon as the text is settled, and `TextError` for what is no UTF-8.
        """
        stream = self._stream
        start = stream.start
        settled = stream.push(self._characters.push(plain(text)))
        return [] if settled is None else self._ids(settled, start)

    def flush(self) -> list[int]:
        """The text ends: the rest of its ids. The encoder is then at the beginning of another text."""
        self._characters.push(b"", True)
        ids = self._ids(self._stream.rest(), self._stream.start)
        self._begin()
        return ids

    @property
    def pending(self) -> str:
        """The text that is held back: its ids may still change."""
        return self._stream.rest().text

    def _ids(self, settled: Settled, start: int) -> list[int]:
        guard, text = settled
        if not guard:
            return placed(self._encode, text, start)
        return placed(self._encode, guard + text, start - len(guard))[len(self._encode(guard)) :]


class Appender:
    """A text that grows, and how many tokens it has; see `Tokenizer.appender`. Not for several threads."""

    def __init__(self, cuts: Cuts, count: Count) -> None:
        self._count = count
        self._stream, self._characters = Stream(cuts), Characters()
        self._settled = self._total = 0

    def append(self, text: Part) -> int:
        """Take the next part; give the count of the whole text so far, as if it ended there.

        Bytes of a character that is not whole yet do not count. Costs as much as encoding the part, and again
        what is held back (`IncrementalEncoder`).
        """
        start = self._stream.start
        settled = self._stream.push(self._characters.push(plain(text)))
        if settled is not None:
            self._settled += counted(self._count, settled, start)
        self._total = self._settled + counted(self._count, self._stream.rest(), self._stream.start)
        return self._total

    @property
    def count(self) -> int:
        """The count of the text so far."""
        return self._total


def encode_stream(encoder: IncrementalEncoder, chunks: Iterator[Part]) -> Iterator[NDArray[np.uint32]]:
    """The ids of a text in parts, array by array, none of them empty."""
    for chunk in chunks:
        ids = encoder.push(chunk)
        if ids:
            yield np.array(ids, np.uint32)
    ids = encoder.flush()
    if ids:
        yield np.array(ids, np.uint32)


def count_until(cuts: Cuts, count: Count, text: str, limit: int) -> int | None:
    """The count of `text`, or `None` as soon as it is certain to be above `limit`."""
    stream, total, at = Stream(cuts), 0, 0
    while at < len(text):
        step = FIRST * (limit - total) + 64
        start = stream.start
        settled = stream.push(text[at : at + step])
        at += step
        if settled is not None:
            total += counted(count, settled, start)
            if total > limit:
                return None
    total += counted(count, stream.rest(), stream.start)
    return total if total <= limit else None


def counted(count: Count, settled: Settled, start: int = 0) -> int:
    """The tokens of settled text."""
    guard, text = settled
    whole = placed(count, guard + text, start - len(guard))
    return whole - count(guard) if guard else whole


def placed(run: Callable[[str], Result], text: str, start: int) -> Result:
    """What `run` gives for a part of a text that begins at character `start`; an error says so."""
    try:
        return run(text)
    except (SpecialTokenError, UnknownSymbolError, TextError, PatternError) as error:
        if not start:
            raise
        raise type(error)(f"in the text from character {start} on, counted from there: {error}") from error


def plain(text: Part) -> str | bytes:
    """A part as `str` or `bytes`; `TypeError` for anything else."""
    if isinstance(text, (str, bytes)):
        return text
    if isinstance(text, (bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"a part of a text must be str or bytes, not {type(text).__name__}")


def parts(chunks: Iterable[Part]) -> Iterator[Part]:
    """`iter(chunks)`; `TypeError` for what cannot be iterated, or is text itself."""
    if isinstance(chunks, (str, bytes, bytearray, memoryview)) or not isinstance(chunks, Iterable):
        raise TypeError(
            f"chunks must be an iterable of str or bytes, not {type(chunks).__name__}; one alone stands in []"
        )
    return iter(chunks)
