"""Rows of full encodings by the specification, in the form that the engine gives them.

Adds `ReferenceRows`, slow. Leaves out: what they mean (`reference.full`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from syllabary.framing import Framing
from syllabary.framing_plan import Plan
from syllabary.full_batch import PAD, Array
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.full import Asked, encode_full_batch


class ReferenceRows:
    """See `full_batch.Rows`."""

    def __init__(
        self,
        tokenizer: ReferenceTokenizer,
        given: Sequence[tuple[Any, Any]],
        framing: Framing,
        special: Any,
        add_special_tokens: bool,
        unit: Any,
        overflow: bool,
        plans: tuple[Plan | None, Plan | None],
    ) -> None:
        """Encode at once."""
        asked = Asked(framing, special, add_special_tokens, unit or "char")
        whole = encode_full_batch(tokenizer, given, asked)
        self._plans = [plans[pair is not None] for _text, pair in given]
        self._whole = [[row, *(row.overflowing if overflow else ())] for row in whole]
        self._rows = [row for rows in self._whole for row in rows]

    def bounds(self) -> Array:
        """Where each row begins, and the end."""
        return np.cumsum([0, *map(len, self._rows)], dtype=np.int64)

    def samples(self) -> Array:
        """The text that each row is of."""
        return np.repeat(np.arange(len(self._whole)), [len(rows) for rows in self._whole])

    def lengths(self) -> Array:
        """The tokens of each row without padding."""
        return np.array([sum(row.attention_mask) for row in self._rows], np.int64)

    def parts(self) -> Array:
        """How many parts each text was cut into."""
        raise NotImplementedError

    def field(self, name: str) -> Array:
        """A field of all rows."""
        if name == "items":
            found = []
            for sample, rows in enumerate(self._whole):
                plan = self._plans[sample]
                items = [] if plan is None else [at for at, one in enumerate(plan.items) if one.token_id >= 0]
                for row in rows:
                    left = iter(items)
                    for mask, attention in zip(row.special_tokens_mask, row.attention_mask, strict=True):
                        found.append(PAD if not attention else next(left) if mask else -1)
            return np.array(found, np.int64)
        values = [-1 if value is None else value for row in self._rows for value in getattr(row, name)]
        return np.array(values, np.int64).reshape((-1, 2) if name == "offsets" else (-1,))
