"""Documents on their way into the trainer: short ones together, long ones in parts, normalized if need be.

Adds the batches, the check for the end-of-word mark, and the way of text that is normalized: as in `encode`,
special tokens are cut out of it first, then each run between them is rewritten, with the engine's tables;
what a run becomes does not depend on how its document is cut into parts. Leaves out: reading (`corpus`), and
what is learned (`call`).
"""

from __future__ import annotations

import builtins
import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import Trainer
from syllabary.corpus.care import normalized_parts
from syllabary.corpus.document import Part, PlainFile
from syllabary.corpus.forms import SLICE
from syllabary.errors import CorpusError, TextError, TrainingError
from syllabary.files import named
from syllabary.progress import Progress, Report
from syllabary.reference.symbols import plural, utf8
from syllabary.spec import TrainOptions

# Documents are handed to the engine together up to this many characters, or this many documents.
BATCH_CHARACTERS = 1 << 18
BATCH_DOCUMENTS = 1 << 14
FILE_BYTES = 1 << 22  # of a file that the engine reads: progress is told so often


def no_piece(size: int) -> CorpusError:
    """The error for a corpus of so many bytes without anything to learn from.

    >>> str(no_piece(1))
    'the corpus is empty: 1 byte of text was read and no piece was found in it'
    """
    were, them = ("was", "it") if size == 1 else ("were", "them")
    read = f"{plural(size, 'byte')} of text {were} read"
    return CorpusError(f"the corpus is empty: {read} and no piece was found in {them}")


def check_same(is_same: bool) -> None:
    """`CorpusError` unless what was read twice was the same text, as far as can be told."""
    if not is_same:
        raise CorpusError(
            "the text was another one when it was read again: it must not change while training"
        )


class Takes(Protocol):
    """What documents are handed to: an engine's trainer, or who passes them on to one."""

    @property
    def bytes(self) -> int:
        """Bytes of text taken so far."""

    def feed(self, documents: list[str]) -> None:
        """Takes whole documents."""

    def feed_part(self, part: str, last: bool) -> None:
        """Takes the next part of a long document."""


class Counts(Takes, Protocol):
    """An engine's trainer whose counts can be kept."""

    @property
    def pending(self) -> int:
        """Bytes that are taken and not counted yet."""

    @property
    def distinct_pieces(self) -> int:
        """How many distinct texts are counted."""

    def feed_counts(self, data: builtins.bytes, ends: NDArray[np.uint64], counts: NDArray[np.uint64]) -> None:
        """Takes what was counted before."""

    def counts_and_places(
        self,
    ) -> tuple[builtins.bytes, NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
        """What is counted: the texts, where each ends, its count, and its place in an order."""


class Numbered(Protocol):
    """What knows the number of the document that is on its way."""

    @property
    def number(self) -> int:
        """From 0."""


def uncut(options: TrainOptions) -> TrainOptions:
    """The options of a trainer that `feed` hands documents to: text to be normalized comes without special
    tokens, since what looks like one afterwards is none in `encode`."""
    return options if options.normalize is None else dataclasses.replace(options, cut_special=False)


def feed(trainer: Takes, parts: Iterable[Part], options: TrainOptions, report: Report | None) -> int:
    """Hands every document to the engine; the bytes of text that there were, before normalizing.

    Of text to be normalized, the runs between special tokens are handed over as documents: the trainer must
    have been made with options that do not cut them (`uncut`).
    Raises `TrainingError` for a document that holds the end-of-word mark, `TextError` for a lone surrogate.
    """
    parts = _bounded(parts)
    if options.normalize is None:
        _feed(trainer, _without(options.end_of_word, parts), report)
        return trainer.bytes
    documents = _Documents(parts)
    specials = options.special_tokens if options.cut_special else ()
    runs = normalized_parts(_runs(documents, specials), options.normalize)
    _feed(trainer, _without(options.end_of_word, runs, documents), report)
    return documents.bytes


def feed_parts(trainer: Takes, parts: Iterable[Part], report: Report | None) -> None:
    """Hands documents to the engine as they are; `TextError` as `feed`."""
    _feed(trainer, _bounded(parts), report)


def feed_runs(
    trainer: Takes, runs: Iterable[Part], documents: Numbered, mark: str | None, report: Report | None
) -> None:
    """Hands runs of documents to the engine, each as a document; errors as `feed`, by `documents.number`."""
    _feed(trainer, _without(mark, _bounded(runs), documents), report)


def _feed(trainer: Takes, parts: Iterable[Part], report: Report | None) -> None:
    batch: list[str] = []
    size, ended = 0, 0  # characters in the batch; documents before it
    inside = False  # a document has begun and not ended
    for part, last in parts:
        if isinstance(part, PlainFile):
            _feed_batch(trainer, batch, ended)
            ended, batch, size = ended + len(batch), [], 0
            inside = _feed_file(trainer, part, report)
            continue
        if last and not inside:
            batch.append(part)
            size += len(part)
        if batch and (not last or inside or size >= BATCH_CHARACTERS or len(batch) >= BATCH_DOCUMENTS):
            _feed_batch(trainer, batch, ended)
            ended += len(batch)
            batch, size = [], 0
            tell(report, Progress("counting", trainer.bytes, None))
        if inside or not last:
            trainer.feed_part(part, last)
            ended += last
            tell(report, Progress("counting", trainer.bytes, None))
        inside = not last
    _feed_batch(trainer, batch, ended)
    tell(report, Progress("counting", trainer.bytes, None))


def _feed_file(trainer: Takes, part: PlainFile, report: Report | None) -> bool:
    """Lets an engine's trainer read a file by itself, as far as it can; whether it has taken anything."""
    if isinstance(trainer, Trainer):
        while (done := _read_on(trainer, part)) > part.done:
            part.done = done
            tell(report, Progress("counting", trainer.bytes, None))
    return part.done > 0


def _read_on(trainer: Trainer, part: PlainFile) -> int:
    with named(part.path):
        return trainer.feed_file(part.path, part.done, FILE_BYTES, SLICE, part.see)


def tell(report: Report | None, progress: Progress) -> None:
    """Report, if anyone listens."""
    if report is not None:
        report(progress)


def _bounded(parts: Iterable[Part]) -> Iterator[Part]:
    """The same documents, none of the parts longer than a batch: between them Ctrl-C is heard."""
    for part, last in parts:
        if len(part) <= BATCH_CHARACTERS:
            yield part, last
            continue
        for start in range(0, len(part) - BATCH_CHARACTERS, BATCH_CHARACTERS):
            yield part[start : start + BATCH_CHARACTERS], False
        yield part[max(len(part) - 1, 0) // BATCH_CHARACTERS * BATCH_CHARACTERS :], last


def _feed_batch(trainer: Takes, batch: list[str], first: int) -> None:
    """Counts documents; `TextError` names the one with a lone surrogate, `first` being the first's number."""
    try:
        trainer.feed(batch)
    except TextError:
        for index, document in enumerate(batch, first):
            utf8(document, f"document {index}")
        raise


class _Documents:
    """Parts as they are; counts documents and bytes, and names the document with a lone surrogate.

    number: of the document that the part now on its way belongs to.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self.parts = parts
        self.number, self.bytes = 0, 0

    def __iter__(self) -> Iterator[Part]:
        for part, last in self.parts:
            self.bytes += len(utf8(part, f"document {self.number}"))
            yield part, last
            self.number += last


def _runs(parts: Iterable[Part], special_tokens: Sequence[str]) -> Iterator[Part]:
    """Each run between special tokens as a document of its own; `reference.special.ordinary_runs`, in parts.

    The leftmost special token counts, of those that start there the longest: a match is certain where the
    longest of them would have fitted.
    """
    if not special_tokens:
        yield from parts
        return
    tokens = sorted(special_tokens, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, tokens)))
    text = ""
    for part, last in parts:
        text += part
        certain = len(text) if last else max(len(text) - len(tokens[0]) + 1, 0)
        start = 0
        for match in pattern.finditer(text):
            if match.start() >= certain:
                break
            yield text[start : match.start()], True
            start = match.end()
        end = max(start, certain)
        yield text[start:end], last
        text = "" if last else text[end:]


def _without(mark: str | None, parts: Iterable[Part], documents: Numbered | None = None) -> Iterator[Part]:
    """The parts as they are; `TrainingError` for a document that holds the end-of-word mark.

    documents: what the parts were made of, if they are no longer the documents themselves.
    """
    if mark is None:
        yield from parts
        return
    number, done, before = 0, 0, ""  # the document, its characters before this part, and the last of them
    for part, last in parts:
        if isinstance(part, PlainFile):
            continue  # it must be seen here
        found = (before + part).find(mark)
        if found >= 0 and documents is not None:
            raise TrainingError(
                f"document {documents.number}, normalized, holds the end_of_word mark {mark!r}: choose "
                "another mark"
            )
        if found >= 0:
            raise TrainingError(
                f"document {number} holds the end_of_word mark {mark!r} at character "
                f"{done - len(before) + found}: choose another mark"
            )
        before = "" if last or len(mark) == 1 else (before + part)[1 - len(mark) :]
        number, done = (number + 1, 0) if last else (number, done + len(part))
        yield part, last
