"""`Ragged`: the ids of many documents in one array.

Adds views by document. Leaves out: files of ids (`syllabary.shards`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from syllabary.arguments import place, unmasked


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Documents of different lengths, one after the other.

    ids: uint32 (n,), all ids. offsets: int64 (documents + 1,); document k is
    `ids[offsets[k]:offsets[k + 1]]`.

    >>> ragged = Ragged(np.array([5, 6, 7], np.uint32), np.array([0, 2, 2, 3]))
    >>> len(ragged), ragged[0], ragged.to_list()
    (3, array([5, 6], dtype=uint32), [[5, 6], [], [7]])

    Raises `TypeError` for arrays of another kind, `ValueError` for offsets that do not begin at 0, fall, or
    do not end where the ids end.
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Look at what is given: a document would begin in another one, or be cut short, without a word."""
        for name, kind in (("ids", np.uint32), ("offsets", np.int64)):
            array: object = getattr(self, name)
            unmasked(name, array)
            if not isinstance(array, np.ndarray):
                raise TypeError(f"{name} is {type(array).__name__}: give an array of {kind.__name__}, 1-D")
            if array.dtype != kind or array.ndim != 1:
                said = f"{array.dtype}, shape {array.shape}"
                raise TypeError(f"{name} is an array of {said}: give one of {kind.__name__}, 1-D")
        ends = self.offsets
        if not len(ends) or ends[0] != 0 or ends[-1] != len(self.ids):
            said = f"go from {ends[0]} to {ends[-1]}" if len(ends) else "are none"
            raise ValueError(f"offsets {said}: give the first as 0 and the last as {len(self.ids)}, all ids")
        falls = np.flatnonzero(ends[1:] < ends[:-1])
        if len(falls):
            at = int(falls[0])
            raise ValueError(f"document {at} would go from {ends[at]} to {ends[at + 1]}: offsets never fall")

    @classmethod
    def made(cls, ids: NDArray[np.uint32], offsets: NDArray[np.int64]) -> Ragged:
        """Of arrays that are known to fit, as the engine's do: nothing is looked at."""
        ragged = cls.__new__(cls)
        object.__setattr__(ragged, "ids", ids)
        object.__setattr__(ragged, "offsets", offsets)
        return ragged

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> NDArray[np.uint32]: ...
    @overload
    def __getitem__(self, index: slice) -> list[NDArray[np.uint32]]: ...
    def __getitem__(self, index: int | slice) -> NDArray[np.uint32] | list[NDArray[np.uint32]]:
        """A view of one document's ids, or of several; `IndexError` beyond the last."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = place("document", index, len(self), "an integer or a slice")
        return self.ids[self.offsets[at] : self.offsets[at + 1]]

    def __iter__(self) -> Iterator[NDArray[np.uint32]]:
        """A view of each document's ids."""
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same documents."""
        if not isinstance(other, Ragged):
            return NotImplemented
        return np.array_equal(self.ids, other.ids) and np.array_equal(self.offsets, other.offsets)

    __hash__ = None  # type: ignore[assignment]

    def to_list(self) -> list[list[int]]:
        """The ids of each document as plain lists."""
        return [document.tolist() for document in self]
