"""One unit of the corpus -> one part: documents are read, encoded in batches and laid one after the other.

Adds the job that all processes share, the token that ends a document, and errors that name the document.
Leaves out: which process does it (`workers`), and what becomes of the parts (`assembly`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from syllabary.corpus.corpus import Corpus, Kept
from syllabary.corpus.document import place_of
from syllabary.corpus.forms import KINDS
from syllabary.corpus.report import Report
from syllabary.corpus.sources import Unit
from syllabary.errors import ShardError, SyllabaryError
from syllabary.ragged import Ragged
from syllabary.shards import layout
from syllabary.shards.parts import Part, write_part
from syllabary.tokenizer import Special, Tokenizer

# Documents are encoded together up to this many bytes, or this many documents: between batches a process
# says how far it is, and hears that nobody listens any more.
BATCH_BYTES = 4 << 20
BATCH_DOCUMENTS = 1 << 14

FORMS = {kind: number for number, kind in enumerate((None, *KINDS))}

Tell = Callable[[int], object]


@dataclass(frozen=True)
class Job:
    """What every process must know. ids: one more than the largest id. end: put after each document."""

    corpus: Corpus
    tokenizer: Tokenizer
    special: Special
    end: int | None
    ids: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that ids are stored in."""
        return np.dtype(layout.IDS[layout.dtype_for(self.ids)])

    def write_unit(self, task: tuple[Unit, Path], tell: Tell) -> None:
        """Read and encode a unit and write its part; `tell` gets the bytes of text, batch by batch."""
        unit, path = task
        write_part(self.encode_unit(unit, tell), path)

    def encode_unit(self, unit: Unit, tell: Tell) -> Part:
        """The part of a unit."""
        report = Report()
        with closing(cast(Any, self.corpus.read_unit(unit, report))) as documents:
            found = list(self.encode(documents, 1, tell))
        if unit.start:  # not the first piece of its file, which is one file still
            report.files, report.encodings = 0, {}
        return joined(found, self.dtype, dataclasses.asdict(report))

    def encode(self, documents: Iterable[Kept], threads: int, tell: Tell) -> Iterator[Part]:
        """A part of each batch of documents, without a report."""
        for batch in batches(documents):
            ragged = self._encode_batch(batch, threads)
            sizes = np.array([kept.size for kept in batch], np.int64)
            yield Part(
                self._stored(ragged),
                np.diff(ragged.offsets) + (self.end is not None),
                np.array([kept.identity for kept in batch], np.uint64),
                sizes,
                np.array([FORMS[kept.form] for kept in batch], np.uint8),
            )
            tell(int(sizes.sum()))

    def _encode_batch(self, batch: list[Kept], threads: int) -> Ragged:
        """The ids of a batch; an error names the document. Dropout is off: shards are the same each time."""
        texts = [kept.document.text for kept in batch]
        try:
            return self.tokenizer.encode_batch_array(texts, self.special, threads, dropout=0.0)
        except SyllabaryError:
            for kept in batch:
                try:
                    self.tokenizer.encode_array(kept.document.text, self.special, dropout=0.0)
                except SyllabaryError as error:
                    place = place_of(kept.document, self.corpus.reading)
                    raise type(error)(f"{place}: {error}") from error
            raise

    def _stored(self, ragged: Ragged) -> NDArray[Any]:
        """The ids in the type of the shards, each document with its end."""
        ids = ragged.ids
        if ids.size and int(ids.max()) >= self.ids:
            raise ShardError(f"id {ids.max()} does not fit: the tokenizer's ids are below {self.ids}")
        if self.end is None:
            return ids.astype(self.dtype)
        stored = np.full(len(ids) + len(ragged), self.end, self.dtype)
        text = np.ones(len(stored), np.bool_)
        text[ragged.offsets[1:] + np.arange(len(ragged))] = False
        stored[text] = ids
        return stored


def batches(documents: Iterable[Kept]) -> Iterator[list[Kept]]:
    """The documents in groups that are encoded together; a large document is a group of its own."""
    batch: list[Kept] = []
    size = 0
    for kept in documents:
        if batch and (size + kept.size > BATCH_BYTES or len(batch) >= BATCH_DOCUMENTS):
            yield batch
            batch, size = [], 0
        batch.append(kept)
        size += kept.size
    if batch:
        yield batch


def joined(parts: list[Part], dtype: np.dtype[Any], report: dict[str, Any]) -> Part:
    """The parts as one, with the report of all."""

    def whole(name: str, kind: Any) -> NDArray[Any]:
        return np.concatenate([np.empty(0, kind), *(getattr(part, name) for part in parts)], dtype=kind)

    return Part(
        whole("ids", dtype),
        whole("lengths", np.int64),
        whole("identities", np.uint64),
        whole("text_bytes", np.int64),
        whole("forms", np.uint8),
        report,
    )
