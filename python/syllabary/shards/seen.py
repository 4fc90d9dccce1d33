"""Which identities have been seen: numbers in sorted arrays, 8 bytes each, where a Python set takes 100.

Leaves out: what an identity is (`syllabary.corpus.care`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Seen:
    """A set of 64-bit numbers that grows by arrays.

    >>> seen = Seen()
    >>> seen.new(np.array([7, 5, 7], np.uint64)), seen.new(np.array([9, 5], np.uint64))
    (array([ True,  True, False]), array([ True, False]))
    """

    def __init__(self) -> None:
        self._runs: list[NDArray[np.uint64]] = []  # sorted, each more than twice as long as the next

    def new(self, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of the numbers, shape (n,), are met for the first time; now they are all seen."""
        values, first = np.unique(numbers, return_index=True)
        fresh = np.ones(len(values), np.bool_)
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, values), len(run) - 1)
            fresh &= run[at] != values
        self._add(values[fresh])
        new = np.zeros(len(numbers), np.bool_)
        new[first[fresh]] = True
        return new

    def _add(self, run: NDArray[np.uint64]) -> None:
        if not len(run):
            return
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        self._runs.append(run)
