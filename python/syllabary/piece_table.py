"""A table of piece counts in flat arrays: what training from a table reads, and what is added.

Adds the arrays with the rules by which their pieces were cut, and sums. `reference/counts.py` defines them.
Leaves out: counting a corpus (`counts`), files (`counts_file`), and training (`training_table`).
"""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import Trainer
from syllabary.errors import TrainingError
from syllabary.spec import Form, SplitSpec, TrainOptions

BATCH_ROWS = 1 << 16
BATCH_BYTES = 16 << 20
LARGEST = 2**64 - 1
LOW = np.uint64(2**32 - 1)
HALF = np.uint64(32)
# What adds up of two corpora's records; what else they hold says how each was read.
ADDED = "documents bytes files unselected duplicates outside skipped encodings forms".split()

Arrays = tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64]]


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
        return f"<{name}: {len(self):,} pieces, {self.total:,} in all, split {split}>"

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

    def feed(self, trainer: Trainer) -> None:
        """Hand the table to a trainer."""
        _feed(trainer, self.data, self.ends, self.counts)

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
        rows = self.by_count()[:number]
        for start in range(0, len(rows), BATCH_ROWS):
            some = rows[start : start + BATCH_ROWS]
            yield from zip(self.pieces(some), self.counts[some].tolist(), strict=True)

    def by_count(self) -> NDArray[np.intp]:
        """The rows in that order, shape (pieces,)."""
        return np.argsort(~self.counts, kind="stable")


def _batches(ends: NDArray[np.uint64], rows: int, size: int) -> Iterator[tuple[int, int]]:
    """Rows whose pieces end there, in ranges; as `PieceTable.batches`."""
    start = 0
    while start < len(ends):
        most = np.uint64((int(ends[start - 1]) if start else 0) + size)
        stop = int(np.searchsorted(ends, most, side="right"))
        stop = min(max(stop, start + 1), start + rows, len(ends))
        yield start, stop
        start = stop


def _feed(
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


class Sum:
    """Tables that are added, in any order."""

    def __init__(self) -> None:
        self.trainer = Trainer(Rules(SplitSpec(None)).options(), 1)
        self.total = 0

    def add(self, data: NDArray[np.uint8], ends: NDArray[np.uint64], counts: NDArray[np.uint64]) -> None:
        """Add pieces in any order; a piece of several rows as often as they say together."""
        _feed(self.trainer, data, ends, counts)
        self.total += total_of(counts)

    def arrays(self) -> Arrays:
        """The sum; `TrainingError` if a count is past 2^64-1."""
        found = arrays_of(self.trainer)
        if total_of(found[2]) != self.total:
            raise TrainingError(f"the counts of a piece add up to more than {LARGEST}, which is the most")
        return found


class Gathered:
    """A table that comes in batches: kept as it is while the pieces are in order, else added up."""

    def __init__(self) -> None:
        self.parts = (bytearray(), bytearray(), bytearray())
        self.last = b""
        self.sum: Sum | None = None

    def add(self, arrays: Arrays, ascending: bool) -> None:
        """Add a batch; rows of count 0 are left out. ascending: it has its pieces in order, each once."""
        data, ends, counts = _occurring(arrays)
        if not len(ends):
            return
        first = data[: int(ends[0])].tobytes()
        if self.sum is None and not (ascending and self.last < first):
            self.sum = Sum()
            self.sum.add(*self._kept())
            self.parts = (bytearray(), bytearray(), bytearray())
        if self.sum is not None:
            self.sum.add(data, ends, counts)
            return
        self.last = data[int(ends[-2]) if len(ends) > 1 else 0 :].tobytes()
        ends = ends + np.uint64(len(self.parts[0]))
        for part, array in zip(self.parts, (data, ends, counts), strict=True):
            part += np.ascontiguousarray(array).data.cast("B")

    def arrays(self) -> Arrays:
        """The table; `TrainingError` if a count is past 2^64-1."""
        return self._kept() if self.sum is None else self.sum.arrays()

    def _kept(self) -> Arrays:
        data, ends, counts = self.parts
        return np.frombuffer(data, np.uint8), np.frombuffer(ends, np.uint64), np.frombuffer(counts, np.uint64)


def _occurring(arrays: Arrays) -> Arrays:
    """The rows whose count is above 0."""
    data, ends, counts = arrays
    kept = counts > 0
    if kept.all():
        return arrays
    lengths = np.diff(ends, prepend=np.uint64(0))
    return (
        data[np.repeat(kept, lengths.astype(np.int64))],
        np.cumsum(lengths[kept], dtype=np.uint64),
        counts[kept],
    )


def sum_of(tables: Iterable[PieceTable]) -> tuple[Arrays, Rules, dict[str, Any]]:
    """What the sum of tables is made of: its arrays, rules, and the other arguments of its `__init__`.

    Each table is asked for when it is its turn, so that one of them is in memory at a time.
    Raises `TrainingError` for none at all, for a table by other rules than the first, saying what differs,
    and for a count past 2^64-1.
    """
    rules: Rules | None = None
    added, about = Sum(), dict[str, Any]()
    for number, table in enumerate(tables):
        more = {"size": table.size, "documents": table.documents, "corpus": table.corpus}
        if rules is None:
            rules, about = table.rules, more
        elif different := rules.differences(table.rules):
            raise TrainingError(
                f"table {number} cannot be added to table 0: they differ in {' and in '.join(different)}; "
                "count both texts in one way"
            )
        else:
            about = {name: _both(name, about[name], more[name]) for name in more}
        added.add(table.data, table.ends, table.counts)
    if rules is None:
        raise TrainingError("there is no table to add: give one or more")
    return added.arrays(), rules, about


def _both(name: str, one: Any, other: Any) -> Any:
    """What is known of two corpora together: None if it is not known of one of them."""
    if one is None or other is None:
        return None
    return one + other if name != "corpus" else _records(one, other)


def _records(one: Mapping[str, Any], other: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The record of two corpora that were read alike; None if they were not."""
    how, theirs = (
        {name: value for name, value in record.items() if name not in ADDED} for record in (one, other)
    )
    if how != theirs or how.get("drop_duplicates"):  # a duplicate may be in both
        return None
    numbers: dict[str, Any] = {}
    for name in ADDED:
        found = [record[name] for record in (one, other) if name in record]
        if found and isinstance(found[0], dict):
            keys = sorted({key for counts in found for key in counts})
            numbers[name] = {key: sum(counts.get(key, 0) for counts in found) for key in keys}
        elif found:
            numbers[name] = sum(found)
    return how | numbers
