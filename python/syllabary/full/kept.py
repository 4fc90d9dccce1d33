"""Rows of full encodings as arrays: what a batch is pickled and copied as.

Adds `KeptRows`. Leaves out: how rows are made (`rows`), and what is made of them (`batch`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class KeptRows:
    """See `batch.Rows`, whose methods return these."""

    kept_bounds: Array
    kept_samples: Array
    kept_lengths: Array
    kept_parts: Array
    fields: Mapping[str, Array]
    kept_unknown: Mapping[int, str]

    def bounds(self) -> Array:
        """Where each row begins, and the end."""
        return self.kept_bounds

    def samples(self) -> Array:
        """The text that each row is of."""
        return self.kept_samples

    def lengths(self) -> Array:
        """The tokens of each row without padding."""
        return self.kept_lengths

    def parts(self) -> Array:
        """How many parts each text and each pair was cut into."""
        return self.kept_parts

    def field(self, name: str) -> Array:
        """A field of all rows."""
        return self.fields[name]

    def lists(self, name: str) -> list[list[int]]:
        """A field as lists, one a row."""
        values, bounds = self.fields[name].tolist(), self.kept_bounds.tolist()
        return [values[start:end] for start, end in pairwise(bounds)]

    def unknown(self) -> Mapping[int, str]:
        """Unknown tokens that are spelled as the text."""
        return self.kept_unknown
