"""Batches of windows over a flat array of ids, as a pure function of seed and step; no torch.

Nothing is remembered from one batch to the next: a resumed run reads what the unbroken run would have read,
and every process of a run on several devices knows its own rows. The ids stay where they are, in a file
mapped into memory; a batch copies its rows.
Leaves out: where the ids come from (`syllabary.shards`), moving a batch to a device (`train`).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from syllabary.errors import ModelError
from syllabary.reference.symbols import plural

Order = Literal["epoch", "random"]
ORDERS = ("epoch", "random")
CHECKED = 1 << 24  # ids looked at at a time


class Batches:
    """Windows of `block_size` ids and the ids that follow them, `batch_size` a batch.

    order: `"epoch"`: every epoch cuts the ids into windows that do not overlap, from a first id drawn
    below `block_size`, and gives each once, shuffled; `"random"`: windows begin anywhere, with replacement.
    rank, world: this process gives the rows from `rank * batch_size / world` on; those of all processes
    together are the rows that one process alone would give.
    stream: batches of another stream are drawn independently, by the same seed.

    Raises `ModelError` if the ids are fewer than one window and the id after it.

    >>> batches = Batches(np.arange(100, dtype=np.uint16), block_size=4, batch_size=2, seed=1)
    >>> x, y = batches.batch(7)
    >>> x.shape, bool((y == x + 1).all())
    ((2, 4), True)
    """

    def __init__(
        self,
        ids: NDArray[np.integer],
        block_size: int,
        batch_size: int,
        *,
        seed: int = 0,
        order: Order = "epoch",
        rank: int = 0,
        world: int = 1,
        stream: int = 0,
        name: str = "these ids",
    ) -> None:
        if order not in ORDERS:
            raise ValueError(f'order={order!r}: windows come in the order "epoch" or "random"')
        if block_size < 1 or batch_size < 1:
            raise ValueError(f"block_size is {block_size}, batch_size {batch_size}: both are 1 or more")
        if batch_size % world:
            raise ModelError(
                f"a batch of {plural(batch_size, 'window')} cannot be split evenly over {world} processes: "
                f"give a batch size that is a multiple of {world}"
            )
        check_length(ids, block_size, name)
        self.ids, self.block_size, self.batch_size = ids, block_size, batch_size
        self.seed, self.order = (seed, stream), order
        self._share = slice(rank * (batch_size // world), (rank + 1) * (batch_size // world))
        # As many as fit behind the largest first id, so that all epochs are equally long.
        self.windows = max(1, (len(ids) - block_size) // block_size)
        self._epochs: dict[int, NDArray[np.int64]] = {}

    @property
    def tokens(self) -> int:
        """The ids predicted in one batch of all processes."""
        return self.batch_size * self.block_size

    def starts(self, step: int) -> NDArray[np.int64]:
        """Where the windows of this process begin in batch `step`, shape (rows,)."""
        if self.order == "random":
            draw = _generator(self.seed, step)
            return draw.integers(0, len(self.ids) - self.block_size, size=self.batch_size)[self._share]
        numbers = step * self.batch_size + np.arange(self.batch_size, dtype=np.int64)[self._share]
        found = (self._epoch(int(n) // self.windows)[int(n) % self.windows] for n in numbers)
        return np.fromiter(found, np.int64, len(numbers))

    def rows(self, step: int) -> NDArray[np.int64]:
        """The windows of batch `step`, each with the id after it: (rows, block_size + 1) int64."""
        return gather(self.ids, self.starts(step), self.block_size)

    def batch(self, step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Ids and the ids after them, both (rows, block_size) int64, views of `rows`."""
        both = self.rows(step)
        return both[:, :-1], both[:, 1:]

    def _epoch(self, epoch: int) -> NDArray[np.int64]:
        """Where the windows of an epoch begin, in its order, shape (windows,)."""
        if epoch not in self._epochs:
            for old in sorted(self._epochs)[:-1]:
                del self._epochs[old]  # a batch may stand in two epochs, not in three that are long
            draw = _generator(self.seed, epoch)
            room = len(self.ids) - 1 - self.windows * self.block_size
            phase = draw.integers(0, min(self.block_size - 1, room), endpoint=True)
            self._epochs[epoch] = phase + self.block_size * draw.permutation(self.windows).astype(np.int64)
        return self._epochs[epoch]


def spread(ids: NDArray[np.integer], block_size: int, limit: int, name: str) -> NDArray[np.int64]:
    """Where up to `limit` windows begin that do not overlap and lie evenly over the ids, in order.

    Windows stand `block_size` apart, so that all of them together predict every id but the first and
    those after the last whole window. `ModelError` if not one fits.
    """
    check_length(ids, block_size, name)
    windows = (len(ids) - 1) // block_size
    count = min(limit, windows)
    return block_size * (np.arange(count, dtype=np.int64) * windows // count)


def gather(ids: NDArray[np.integer], starts: NDArray[np.int64], block_size: int) -> NDArray[np.int64]:
    """The windows that begin at `starts`, each with the id after it: (rows, block_size + 1) int64."""
    both = np.empty((len(starts), block_size + 1), dtype=np.int64)
    for row, start in zip(both, starts, strict=True):
        row[:] = ids[start : start + block_size + 1]
    return both


def check_length(ids: NDArray[np.integer], block_size: int, name: str) -> None:
    """Raise `ModelError` if the ids are fewer than a window and the id after it."""
    if len(ids) <= block_size:
        raise ModelError(
            f"{name} has {plural(len(ids), 'id', ',')}, and a window of {block_size} needs {block_size + 1}: "
            "give more text, or a smaller block size"
        )


def check_ids(ids: NDArray[np.integer], vocab_size: int, name: str) -> None:
    """Raise `ModelError`, with the position, for the first id that a model of `vocab_size` does not know."""
    for start in range(0, len(ids), CHECKED):
        part = ids[start : start + CHECKED]
        if len(part) and (int(part.max()) >= vocab_size or int(part.min()) < 0):
            place = int(np.flatnonzero((part >= vocab_size) | (part < 0))[0])
            raise ModelError(
                f"{name}: id {int(part[place])} at position {start + place} is outside the model's "
                f"vocabulary of {vocab_size}: the shards are damaged, or the model is for other shards"
            )


def _generator(seed: tuple[int, int], number: int) -> np.random.Generator:
    """A generator that depends on these numbers alone."""
    return np.random.Generator(np.random.PCG64([*seed, number]))
