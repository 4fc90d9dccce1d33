"""A table of piece counts in flat arrays: what training from a table reads, and what is added.

Adds the arrays with the rules by which their pieces were cut. `reference/counts.py` defines them.
Leaves out: sums (`counts.sums`), counting (`counts`), files (`counts.file`), training (`training.table`).
"""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import Trainer
from syllabary.arguments import integer
from syllabary.reference.symbols import plural
from syllabary.spec import Form, SplitSpec, TrainOptions

BATCH_ROWS = 1 << 16
BATCH_BYTES = 16 << 20
LARGEST = 2**64 - 1
LOW = np.uint64(2**32 - 1)
HALF = np.uint64(32)
# What is handed on, and written, together.
HAND_ROWS = 1 << 18
HAND_BYTES = 8 << 20

Arrays = tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64]]
Takes = Callable[[Arrays], object]


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    """How text became pieces: cut at the special tokens, normalized, cut by the split."""

    split: SplitSpec
    special_tokens: tuple[str, ...] = ()
    normalize: Form | None = None

    def options(self) -> TrainOptions:
        """The same as options of a trainer that only counts."""
        return TrainOptions(
            self.split,
            num_merges=0,
            special_tokens=self.special_tokens,
            normalize=self.normalize,
            alphabet="seen",  # no symbol is there whatever the corpus, so no special token can be like it
        )

    def differences(self, other: Rules) -> list[str]:
        """What is not the same, in words, as "the split (gpt2 and o200k)"."""
        tokens, theirs = self.special_tokens, other.special_tokens
        differing = {
            "split": (named(self.split), named(other.split), same_split(self.split, other.split)),
            "special tokens": (list(tokens), list(theirs), set(tokens) == set(theirs)),
            "normal form": (self.normalize, other.normalize, self.normalize == other.normalize),
        }
        return [f"the {what} ({one} and {two})" for what, (one, two, same) in differing.items() if not same]


def same_split(one: SplitSpec, other: SplitSpec) -> bool:
    """Whether both cut alike, whatever they are called."""
    return dataclasses.replace(one, name=None) == dataclasses.replace(other, name=None)


def named(split: SplitSpec) -> str:
    """The name of a split, or its pattern."""
    return split.name or ("none" if split.pattern is None else repr(split.pattern))


class Rows(Protocol):
    """A table as it is saved: in memory, or counted and on disk."""

    @property
    def rules(self) -> Rules:
        """How text became pieces."""

    @property
    def size(self) -> int | None:
        """UTF-8 bytes of the text."""

    @property
    def documents(self) -> int | None:
        """How many there were."""

    @property
    def corpus(self) -> Mapping[str, object] | None:
        """How the text was read."""

    def hand(self, put: Takes, by_frequency: bool = False) -> None:
        """Give the rows to `put` in batches, in order of their bytes or the most frequent first."""


class PieceTable:
    """Pieces and counts; never changed.

    data: the UTF-8 of the pieces, back to back, in order of their bytes, uint8 (bytes,). ends: where each
    piece ends in it, uint64 (pieces,). counts: how often each occurs, at least once, uint64 (pieces,).
    rules: how text became pieces. size: UTF-8 bytes of the text, None if that is not known. documents: how
    many there were, or None. corpus: how the text was read, as `Corpus.record` has it, where that says more
    than how much there was.
    """

    __slots__ = ("corpus", "counts", "data", "documents", "ends", "rules", "size")

    def __init__(
        self,
        arrays: Arrays,
        rules: Rules,
        *,
        size: int | None = None,
        documents: int | None = None,
        corpus: Mapping[str, object] | None = None,
    ) -> None:
        """arrays: data, ends and counts, as above: nothing is checked here."""
        self.data, self.ends, self.counts = (_kept(array) for array in arrays)
        self.rules, self.size, self.documents = rules, size, documents
        self.corpus = None if corpus is None else dict(corpus)

    def __len__(self) -> int:
        """Distinct pieces."""
        return len(self.ends)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Pieces and their counts, in order of the pieces' bytes."""
        for start, stop in self.batches():
            rows = np.arange(start, stop)
            yield from zip(self.pieces(rows), self.counts[rows].tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        """The same pieces, as often, by the same rules, in however many documents."""
        if not isinstance(other, PieceTable):
            return NotImplemented
        return not self.rules.differences(other.rules) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("counts", "ends", "data")
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        name, split = type(self).__name__, named(self.rules.split)
        return f"<{name}: {plural(len(self), 'piece', ',')}, {self.total:,} in all, split {split}>"

    @property
    def total(self) -> int:
        """All counts together: the pieces of the text."""
        return total_of(self.counts)

    @property
    def bytes(self) -> int:
        """UTF-8 bytes of the text that was read; if that is not known, `weight`."""
        return self.weight() if self.size is None else self.size

    def weight(self) -> int:
        """UTF-8 bytes of all pieces, each as often as it occurs."""
        weight = 0
        for start, stop in self.batches():
            lengths = np.diff(self.ends[start:stop], prepend=np.uint64(self.begin(start)))
            counts = self.counts[start:stop]
            weight += int(np.sum(lengths * (counts >> HALF))) * 2**32 + int(np.sum(lengths * (counts & LOW)))
        return weight

    def begin(self, row: int) -> int:
        """Where a piece begins in `data`."""
        return int(self.ends[row - 1]) if row else 0

    def batches(self, rows: int = BATCH_ROWS, size: int = BATCH_BYTES) -> Iterator[tuple[int, int]]:
        """The rows in ranges, each of at most so many rows and bytes, or of one row."""
        return _batches(self.ends, rows, size)

    def hand(self, put: Takes, by_frequency: bool = False) -> None:
        """Give the rows to `put` in batches, in order of their bytes or the most frequent first."""
        if by_frequency:
            order = self.by_count()
            for at in range(0, len(order), HAND_ROWS):
                rows = order[at : at + HAND_ROWS]
                put(arrays_from(list(self.spelled(rows)), self.counts[rows]))
            return
        for start, stop in self.batches(HAND_ROWS, HAND_BYTES):
            begin, ends = self.begin(start), self.ends[start:stop]
            put((self.data[begin : int(ends[-1])], ends - np.uint64(begin), self.counts[start:stop]))

    def feed(self, trainer: Trainer) -> None:
        """Hand the table to a trainer."""
        feed(trainer, self.data, self.ends, self.counts)

    def pieces(self, rows: NDArray[np.intp]) -> Iterator[str]:
        """The pieces of some rows, shape (rows,)."""
        return (piece.decode() for piece in self.spelled(rows))

    def spelled(self, rows: NDArray[np.intp]) -> Iterator[builtins.bytes]:
        """The same as UTF-8."""
        begins = np.where(rows > 0, self.ends[rows - 1], 0).tolist()
        text = self.data.data
        return (
            text[begin:end].tobytes() for begin, end in zip(begins, self.ends[rows].tolist(), strict=True)
        )

    def most_common(self, number: int | None = None) -> Iterator[tuple[str, int]]:
        """Pieces and counts, the most frequent first, equals in order of their bytes; so many, or all."""
        if number is not None and integer("number", number) < 0:
            raise ValueError(f"number is {number}: give 0 or more, or None for all")
        rows = self.by_count()[:number]
        for start in range(0, len(rows), BATCH_ROWS):
            some = rows[start : start + BATCH_ROWS]
            yield from zip(self.pieces(some), self.counts[some].tolist(), strict=True)

    def by_count(self) -> NDArray[np.intp]:
        """The rows in that order, shape (pieces,)."""
        return np.argsort(~self.counts, kind="stable")


def arrays_from(pieces: Sequence[builtins.bytes], counts: Sequence[int] | NDArray[np.uint64]) -> Arrays:
    """Pieces and their counts as arrays."""
    lengths = np.fromiter(map(len, pieces), np.uint64, len(pieces))
    return np.frombuffer(b"".join(pieces), np.uint8), np.cumsum(lengths), np.array(counts, np.uint64)


def rows_of(arrays: Arrays) -> Iterator[tuple[builtins.bytes, int]]:
    """The rows of arrays, pieces as UTF-8."""
    data, ends, counts = arrays
    text = data.tobytes()
    stops = ends.tolist()
    for start, stop, count in zip([0, *stops[:-1]], stops, counts.tolist(), strict=True):
        yield text[start:stop], count


def _batches(ends: NDArray[np.uint64], rows: int, size: int) -> Iterator[tuple[int, int]]:
    """Rows whose pieces end there, in ranges; as `PieceTable.batches`."""
    start = 0
    while start < len(ends):
        most = np.uint64((int(ends[start - 1]) if start else 0) + size)
        stop = int(np.searchsorted(ends, most, side="right"))
        stop = min(max(stop, start + 1), start + rows, len(ends))
        yield start, stop
        start = stop


def feed(
    trainer: Trainer, data: NDArray[np.uint8], ends: NDArray[np.uint64], counts: NDArray[np.uint64]
) -> None:
    """Hand pieces to a trainer, in batches: between them Ctrl-C is heard."""
    for start, stop in _batches(ends, BATCH_ROWS, BATCH_BYTES):
        begin, end = int(ends[start - 1]) if start else 0, int(ends[stop - 1])
        some = ends[start:stop] - np.uint64(begin)
        trainer.feed_counts(data[begin:end].tobytes(), some, counts[start:stop])


def total_of(counts: NDArray[np.uint64]) -> int:
    """The sum of counts, however large."""
    return int(np.sum(counts >> HALF)) * 2**32 + int(np.sum(counts & LOW))


def _kept(array: NDArray[Any]) -> NDArray[Any]:
    """The array, not to be written to."""
    kept: NDArray[Any] = array.view()
    kept.flags.writeable = False
    return kept


def arrays_of(trainer: Trainer) -> Arrays:
    """What a trainer has counted."""
    data, ends, counts = trainer.counts()
    return np.frombuffer(data, np.uint8), ends, counts
