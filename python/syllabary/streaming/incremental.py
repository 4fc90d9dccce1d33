"""Encoding and counting text that comes in parts, with the ids of the whole.

Adds what `Tokenizer.encoder`, `appender`, `encode_stream` and `count_until` give. Leaves out: what may still
change (`reference.cuts`) and is held back (`reference.stream`), and encoding itself, which is given as a
function. Merges are never passed over at random here: that would need the whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from syllabary.errors import PatternError, SpecialTokenError, TextError, UnknownSymbolError
from syllabary.reference.cuts import Cuts
from syllabary.reference.stream import Characters, Settled, Stream

Count = Callable[[str], int]
Part = str | bytes | bytearray | memoryview
Result = TypeVar("Result")
Ids = TypeVar("Ids", list[int], NDArray[np.uint32])
Found = TypeVar("Found")
# Settled text, the character of the whole where it begins, and the score of the way through all that stands
# before (0 where that does not matter) -> what it has, ids or their number, and the score of all.
Onwards = Callable[[Settled, int, float], tuple[Found, float]]
FIRST = 4  # characters a token, about: how much `count_until` reads at first


class Remade:
    """What is pickled and copied as how it was made, and where it is in its text."""

    made_by: Callable[[], Remade]
    WHERE: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return remade, (self.made_by, {name: deepcopy(getattr(self, name)) for name in self.WHERE})


def remade(made_by: Callable[[], Remade], where: Mapping[str, Any]) -> Remade:
    """The same again."""
    found = made_by()
    found.__dict__.update(where, made_by=made_by)
    return found


class IncrementalEncoder(Remade):
    """Takes a text in parts and gives ids that nothing to come can change; see `Tokenizer.encoder`.

    What is held back is the text behind the last place where it can be cut for certain: in most texts a word
    or two. `flush` ends the text. After an error, begin with a new one. Not for several threads at once.
    """

    WHERE = ("_stream", "_characters", "_score")

    def __init__(self, cuts: Cuts, encode: Onwards[list[int]]) -> None:
        self._cuts, self._encode = cuts, encode
        self._begin()

    def _begin(self) -> None:
        self._stream, self._characters, self._score = Stream(self._cuts), Characters(), 0.0

    def push(self, text: Part) -> list[int]:
        """Take the next part, text or UTF-8, and give the ids that are final now.

        Raises what `encode` does, as soon as the text is settled, and `TextError` for what is no UTF-8.
        """
        stream = self._stream
        start = stream.start
        settled = stream.push(self._characters.push(plain(text)))
        if settled is None:
            return []
        ids, self._score = self._encode(settled, start, self._score)
        return ids

    def flush(self) -> list[int]:
        """The text ends: the rest of its ids. The encoder is then at the beginning of another text."""
        self._characters.push(b"", True)
        ids, _score = self._encode(self._stream.rest(), self._stream.start, self._score)
        self._begin()
        return ids

    @property
    def pending(self) -> str:
        """The text that is held back: its ids may still change."""
        return self._stream.rest().text


class Appender(Remade):
    """A text that grows, and how many tokens it has; see `Tokenizer.appender`. Not for several threads."""

    WHERE = ("_stream", "_characters", "_score", "_settled", "_total")

    def __init__(self, cuts: Cuts, count: Onwards[int]) -> None:
        self._count = count
        self._stream, self._characters, self._score = Stream(cuts), Characters(), 0.0
        self._settled = self._total = 0

    def append(self, text: Part) -> int:
        """Take the next part; give the count of the whole text so far, as if it ended there.

        Bytes of a character that is not whole yet do not count. Costs as much as encoding the part, and again
        what is held back (`IncrementalEncoder`).
        """
        start = self._stream.start
        settled = self._stream.push(self._characters.push(plain(text)))
        if settled is not None:
            more, self._score = self._count(settled, start, self._score)
            self._settled += more
        rest, _score = self._count(self._stream.rest(), self._stream.start, self._score)
        self._total = self._settled + rest
        return self._total

    @property
    def count(self) -> int:
        """The count of the text so far."""
        return self._total


def encode_stream(
    cuts: Cuts, encode: Onwards[NDArray[np.uint32]], chunks: Iterator[Part]
) -> Iterator[NDArray[np.uint32]]:
    """The ids of a text in parts, array by array, none of them empty."""
    stream, characters, score = Stream(cuts), Characters(), 0.0
    for chunk in chunks:
        start = stream.start
        settled = stream.push(characters.push(plain(chunk)))
        if settled is None:
            continue
        ids, score = encode(settled, start, score)
        if len(ids):
            yield ids
    characters.push(b"", True)
    ids, _score = encode(stream.rest(), stream.start, score)
    if len(ids):
        yield ids


def behind_guard(encode: Callable[[str], Ids]) -> Onwards[Ids]:
    """The ids of settled text, without those of the guard before it."""

    def encoded(settled: Settled, start: int, score: float) -> tuple[Ids, float]:
        guard, text = settled
        ids = placed(encode, guard + text, start - len(guard))
        return (ids[len(encode(guard)) :] if guard else ids), score

    return encoded


def counted(count: Count) -> Onwards[int]:
    """The number of the ids of settled text."""

    def number(settled: Settled, start: int, score: float) -> tuple[int, float]:
        guard, text = settled
        whole = placed(count, guard + text, start - len(guard))
        return (whole - count(guard) if guard else whole), score

    return number


def behind_score(
    encode: Callable[[str, str, float], tuple[Ids, float]], made: Callable[[Ids], Found]
) -> Onwards[Found]:
    """What `made` makes of the ids of settled text, where they depend on the score of all before."""

    def encoded(settled: Settled, start: int, score: float) -> tuple[Found, float]:
        guard, text = settled
        ids, total = placed(lambda text: encode(text, guard, score), guard + text, start - len(guard))
        return made(ids), total

    return encoded


def count_until(cuts: Cuts, count: Onwards[int], text: str, limit: int) -> int | None:
    """The count of `text`, or `None` as soon as it is certain to be above `limit`."""
    stream, total, at, score = Stream(cuts), 0, 0, 0.0
    while at < len(text):
        step = FIRST * (limit - total) + 64
        start = stream.start
        settled = stream.push(text[at : at + step])
        at += step
        if settled is not None:
            more, score = count(settled, start, score)
            total += more
            if total > limit:
                return None
    total += count(stream.rest(), stream.start, score)[0]
    return total if total <= limit else None


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
