"""Held-out text: the part of a corpus that a training does not see, and keeps for measuring.

Adds `HeldOut`, a corpus that sets a part of itself aside while it is read. What is set aside is chosen by a
hash of its text and a seed (as `syllabary shard --val` does), so it does not depend on order or machine.
A document of at most `LONG` characters goes whole; a longer one is cut at ends of lines into stretches, each
judged for itself, and what stays between two that go is read as a document. A corpus of fewer than `SMALL`
characters, in which a hash might choose nothing, is held in memory: of it those with the lowest hashes go,
until the part asked for is reached. At most `MOST` characters are kept; what comes later is all trained on.
Leaves out: measuring (`growth`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from syllabary.corpus.care import identity, share
from syllabary.corpus.corpus import UNIT, Corpus
from syllabary.corpus.document import Part
from syllabary.corpus.sources import Unit
from syllabary.errors import CorpusError, TrainingError
from syllabary.piece_table import PieceTable

PURPOSE = "validation"  # as of shards
LONG = 1 << 16
STRETCH = 1 << 12
SMALL = 1 << 20
MOST = 32 << 20
PIECES = 40  # of a small corpus, about
REACH = 16  # times the least length of a stretch: how far the end of a line or word is looked for

NOTHING = "no text could be held out: the corpus is too small; give text to measure on, as held_out"

Stretch = tuple[str, bool]  # text, and whether its document ends with it


class HeldOut(Corpus):
    """The documents of another corpus, but those set aside, which are in `held_out` once it was read.

    val: the part to set aside, above 0 and below 1. seed: another one makes another choice.
    """

    def __init__(self, corpus: Corpus, val: float, seed: int = 0) -> None:
        """`ValueError` for a part that is none."""
        super().__init__(corpus.source, corpus.reading, corpus.care)
        if isinstance(val, bool) or not isinstance(val, (int, float)):
            raise TypeError(f"val is {val!r}: give a number above 0 and below 1")
        if not 0 < val < 1:
            raise ValueError(f"val is {val}: give a number above 0 and below 1")
        self.val, self.seed = val, seed
        self.held_out: list[str] = []

    def parts(self, normalized: bool = False, plain: bool = False) -> Iterator[Part]:
        """As `Corpus.parts`, without what is set aside."""
        self.held_out = []
        found = stretches(super().parts(normalized))
        first, size = list[Stretch](), 0
        for one in found:
            first.append(one)
            size += len(one[0])
            if size >= SMALL:
                yield from self._rest(first, found)
                return
        yield from self._of_few(first)

    def _rest(self, first: list[Stretch], found: Iterator[Stretch]) -> Iterator[Part]:
        """Of many: each is judged by its own hash."""
        room = MOST
        inside = False
        for several in (first, found):
            for text, last in several:
                if room > 0 and text and share(identity(text), PURPOSE, self.seed) < self.val:
                    self.held_out.append(text)
                    room -= len(text)
                    if inside:
                        yield "", True
                    inside = False
                elif text or inside:
                    yield text, last
                    inside = not last

    def _of_few(self, found: list[Stretch]) -> Iterator[Part]:
        """Of few: the lowest hashes go, of pieces so small that there are enough of them."""
        size = sum(len(text) for text, _last in found)
        least = max(size // PIECES, 1)
        pieces = [piece for one in found for piece in cut(*one, least)]
        order = sorted(range(len(pieces)), key=lambda at: share(identity(pieces[at][0]), PURPOSE, self.seed))
        chosen, reached = set[int](), 0
        for at in order:
            if reached >= self.val * size or len(chosen) + 1 >= len(pieces):
                break
            if pieces[at][0].strip():
                chosen.add(at)
                reached += len(pieces[at][0])
        if size and not chosen:
            raise CorpusError(NOTHING)
        inside = False
        for at, (text, last) in enumerate(pieces):
            if at in chosen:
                self.held_out.append(text)
                if inside:
                    yield "", True
                inside = False
            elif text or inside:
                yield text, last
                inside = not last

    def units(self, size: int = UNIT) -> list[Unit]:
        """None: what is set aside is known only when all is read in order."""
        return []

    def options(self) -> dict[str, object]:
        """With the part that is set aside, and the seed."""
        return super().options() | {"val": self.val, "val_seed": self.seed}

    def record(self) -> dict[str, object]:
        """With how much was set aside."""
        return super().record() | {"val_characters": sum(map(len, self.held_out))}


def setting_aside(source: Any, val: float, seed: int = 0) -> Any:
    """The source of a training as a `HeldOut`, or a dict of languages with one for each.

    Raises `TrainingError` for a table of pieces.
    """
    if isinstance(source, Mapping):
        return {name: setting_aside(texts, val, seed) for name, texts in source.items()}
    if isinstance(source, PieceTable):
        raise TrainingError("a table of pieces holds no text to measure on: give held_out")
    return HeldOut(source if isinstance(source, Corpus) else Corpus(source), val, seed)


def held_out_of(read: Any, source: Any) -> list[str]:
    """What `setting_aside(source)` set aside, once it was read; `CorpusError` if that is nothing.

    What was found while reading is known of the source then, as if it had been read itself.
    """
    if isinstance(read, Mapping):
        return [text for name, one in read.items() for text in held_out_of(one, source[name])]
    if isinstance(source, Corpus):
        source.report = read.report
    if not read.held_out:
        raise CorpusError(NOTHING)
    held: list[str] = read.held_out
    return held


def stretches(parts: Iterable[Part]) -> Iterator[Stretch]:
    """Documents, the long ones in stretches; joined they are what they were.

    >>> [len(text) for text, _last in stretches([("a line\\n" * 20000, True)])][:2]
    [4102, 4102]
    """
    held, long = "", False
    for part, last in parts:
        held += part
        if not last and len(held) <= LONG:
            continue
        if last and not long and len(held) <= LONG:
            yield held, True
        else:
            long = True
            *whole, rest = cut(held, last, STRETCH)
            yield from whole
            if last:
                yield rest
            held = "" if last else rest[0]
        if last:
            held, long = "", False


def cut(text: str, last: bool, least: int) -> Iterator[Stretch]:
    """A text in stretches of at least `least` characters that end where lines do; else words; else anywhere.

    >>> list(cut("one\\ntwo\\nthree", True, 2))
    [('one\\n', False), ('two\\n', False), ('three', True)]
    """
    at = 0
    while len(text) - at > least:
        most = at + REACH * least
        ends = (text.find(mark, at + least - 1, most) + 1 for mark in ("\n", " "))
        end = next((end for end in ends if end), most)
        if end >= len(text):
            break
        yield text[at:end], False
        at = end
    yield text[at:], last
