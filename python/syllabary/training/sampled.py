"""Sentences that are chosen before they count (a sample, a table): under a limit, and with a checkpoint.

Which of them count is known when all are read. So the checkpoint says how far the text was read, and has a
table when there is no more to read; the sentences that are held take half of a limit at most. Leaves out:
which sentences are chosen (`reference.train_sentencepiece_sentences`).
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import SentencePieceTrainer
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Part
from syllabary.errors import TrainingError
from syllabary.reference.symbols import plural
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions
from syllabary.reference.train_sentencepiece_sentences import chosen
from syllabary.training.checkpoint import Checkpoint
from syllabary.training.feed import Takes
from syllabary.training.memory import Room
from syllabary.training.watched import count as counted_by

Placed = tuple[bytes, NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]


def is_chosen(options: SentencePieceOptions) -> bool:
    """Whether sentences are chosen, or have counts of their own."""
    return bool(options.input_sentence_size) or options.input_format == "tsv"


def halved(options: SentencePieceOptions, room: Room | None) -> Room | None:
    """What the engine has of the room where sentences are held."""
    return room if room is None or not options.input_sentence_size else (room[0] // 2, room[1])


def count_chosen(
    trainer: SentencePieceTrainer,
    corpus: Corpus,
    options: SentencePieceOptions,
    normalized: bool,
    room: Room | None,
    kept: Checkpoint | None,
) -> int:
    """Give the sentences that are chosen to the trainer; their bytes.

    `TrainingError` where those that are held exceed half of the room; `CheckpointError` as `counted_by`.
    """
    by = _PassedBy(trainer)
    known = kept is not None and kept.whole and kept.tabled

    def feeding(taker: Takes) -> int:
        lines = _lines(_passing(corpus.parts(normalized=normalized), taker))
        for sentence, count in chosen(lines, options, _Held(None if room is None else room[0] // 2)):
            if not known:
                trainer.add(sentence, count)
        by.ended = True
        return trainer.bytes

    size = counted_by(by, corpus, normalized, feeding, kept)
    return kept.state.size if known and kept is not None and kept.state is not None else size


class _PassedBy:
    """Where a checkpoint looks for a trainer: text only goes by, until all is read."""

    def __init__(self, trainer: SentencePieceTrainer) -> None:
        self.ended = False
        self.pending = 0
        self._trainer, self._bytes = trainer, 0

    @property
    def bytes(self) -> int:
        return self._bytes

    @property
    def distinct_pieces(self) -> int:
        return self._trainer.distinct_pieces if self.ended else 0

    def feed(self, documents: list[str]) -> None:
        self._bytes += sum(map(len, documents))

    def feed_part(self, part: str, last: bool) -> None:
        self._bytes += len(part)

    def feed_counts(self, data: builtins.bytes, ends: NDArray[np.uint64], counts: NDArray[np.uint64]) -> None:
        self._trainer.feed_counts(data, ends, counts)

    def counts_and_places(self) -> Placed:
        if self.ended:
            return self._trainer.counts_and_places()
        none = np.empty(0, np.uint64)
        return b"", none, none, none


class _Held(list[tuple[str, int]]):
    """Sentences that are held in so many bytes, or in as many as there are."""

    def __init__(self, most: int | None) -> None:
        super().__init__()
        self._most, self._bytes = most, 0

    def append(self, sentence: tuple[str, int]) -> None:
        self._take(_size(sentence))
        super().append(sentence)

    def __setitem__(self, place: Any, sentence: Any) -> None:
        self._take(_size(sentence) - _size(self[place]))
        super().__setitem__(place, sentence)

    def _take(self, more: int) -> None:
        self._bytes += more
        if self._most is not None and self._bytes > self._most:
            raise TrainingError(
                f"the memory limit is too small for this sample: {plural(len(self), 'sentence', ',')}, which "
                f"are held together, take {self._most >> 20} MiB, half of what there is; give a higher "
                "limit, or a smaller input_sentence_size"
            )


def _size(sentence: tuple[str, int]) -> int:
    """The bytes of a sentence with its count, and of its place in a list."""
    return sys.getsizeof(sentence) + sys.getsizeof(sentence[0]) + 32 + 16


def _passing(parts: Iterable[Part], taker: Takes) -> Iterator[Part]:
    """The parts as they are, shown to who follows the text."""
    for part, last in parts:
        taker.feed_part(part, last)
        yield part, last


def _lines(parts: Iterable[Part]) -> Iterator[str]:
    """The lines of documents that come in parts."""
    held = ""
    for part, last in parts:
        *lines, held = (held + part).split("\n")
        yield from lines
        if last:
            yield held
            held = ""
