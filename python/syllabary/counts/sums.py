"""Sums of tables of pieces, and of what is known of their texts.

`reference/counts.py` defines them: of each piece all its counts. Leaves out: the arrays (`piece_table`), sums
that are larger than memory (`counting`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import Trainer
from syllabary.arguments import iterated
from syllabary.errors import TrainingError
from syllabary.piece_table import LARGEST, Arrays, PieceTable, Rows, Rules, arrays_of, feed, total_of
from syllabary.reference.symbols import shown
from syllabary.spec import SplitSpec

# What adds up of two corpora's records; what else they hold says how each was read.
ADDED = "documents bytes files unselected duplicates outside skipped encodings forms".split()


class Sum:
    """Tables that are added, in any order."""

    def __init__(self) -> None:
        self.trainer = Trainer(Rules(SplitSpec(None)).options(), 1)
        self.total = 0

    def add(self, data: NDArray[np.uint8], ends: NDArray[np.uint64], counts: NDArray[np.uint64]) -> None:
        """Add pieces in any order; a piece of several rows as often as they say together."""
        feed(self.trainer, data, ends, counts)
        self.total += total_of(counts)

    def arrays(self) -> Arrays:
        """The sum; `TrainingError`, with the first such piece, if a count is past 2^64-1."""
        found = data, ends, counts = arrays_of(self.trainer)
        if total_of(counts) != self.total:
            row = int(np.argmax(counts == LARGEST))  # the engine stops there
            raise past_largest(piece=data[int(ends[row - 1]) if row else 0 : int(ends[row])].tobytes())
        return found


def past_largest(path: Path | None = None, piece: bytes = b"") -> TrainingError:
    """The error for a sum of counts that 64 bits do not hold: of which piece, and with which file."""
    of = f"the piece {shown(piece.decode())}" if piece else "a piece"
    most = f"add up to more than {LARGEST}, which is the most"
    return TrainingError(
        f"the counts of {of} {most}" if path is None else f"{path}: with it the counts of {of} {most}"
    )


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


def about_of(table: Rows) -> dict[str, Any]:
    """What is known of the text of a table."""
    return {"size": table.size, "documents": table.documents, "corpus": table.corpus}


def about_both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of two texts together."""
    return {name: _both(name, one[name], other[name]) for name in one}


def check_alike(name: str, first_name: str, first: Rules, rules: Rules) -> None:
    """`TrainingError` for a table by other rules than the first, saying what differs."""
    if different := first.differences(rules):
        raise TrainingError(
            f"{name} cannot be added to {first_name}: they differ in {' and in '.join(different)}; "
            "count both texts in one way"
        )


def sum_of(tables: Iterable[PieceTable], names: Sequence[str] = ()) -> tuple[Arrays, Rules, dict[str, Any]]:
    """What the sum of tables is made of: its arrays, rules, and the other arguments of its `__init__`.

    names: of the tables in errors, as their files; else they are called by their number.
    Each table is asked for when it is its turn, so that one of them is in memory at a time.
    Raises `TrainingError` for none at all, for a table by other rules than the first, saying what differs,
    and for a count past 2^64-1.
    """
    rules: Rules | None = None
    added, about = Sum(), dict[str, Any]()
    for number, table in enumerate(iterated("tables", tables, "tables of counts")):
        if not isinstance(table, PieceTable):
            raise TypeError(f"tables[{number}] is {type(table).__name__}: give tables of counts")
        if rules is None:
            rules, about = table.rules, about_of(table)
        else:
            first, this = (names[at] if names else f"table {at}" for at in (0, number))
            check_alike(this, first, rules, table.rules)
            about = about_both(about, about_of(table))
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
