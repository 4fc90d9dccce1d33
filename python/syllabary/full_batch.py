"""`EncodingBatch`: the full encodings of many texts, as arrays that a model eats.

Adds arrays of rows, padded or row by row, and torch tensors of them. Leaves out: how rows are made
(`reference.full`, the engine), and what a field means (`reference.encoding.Encoding`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary.reference.encoding import Encoding


class EncodingBatch:
    """Rows of tokens: one a text (or pair), after it with `overflow=True` one for each part cut off.

    The fields are arrays, computed when they are asked for: `ids`, `attention_mask`, `type_ids`,
    `special_tokens_mask` int64 (rows, length); `word_ids`, `sequence_ids` int64 (rows, length), -1 for none;
    `offsets` int64 (rows, length, 2). They need rows of one length: pad, or take rows one by one (`batch[k]`, an
    `Encoding`); `ValueError` says so. `lengths` int64 (rows,): tokens of each row without padding. `samples` int64
    (rows,): the text that each row is of.
    """

    ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]
    type_ids: NDArray[np.int64]
    special_tokens_mask: NDArray[np.int64]
    word_ids: NDArray[np.int64]
    sequence_ids: NDArray[np.int64]
    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    samples: NDArray[np.int64]

    def __len__(self) -> int:
        """The number of rows."""
        raise NotImplementedError

    def __getitem__(self, row: int) -> Encoding:
        """One row; its `overflowing` are the rows cut off of it, if those were asked for."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Encoding]:
        """Each row."""
        return (self[row] for row in range(len(self)))

    def to_lists(self, field: str) -> list[list[int]]:
        """A field as lists, one a row, each as long as its row: padded or not."""
        raise NotImplementedError

    def to_torch(self) -> dict[str, Any]:
        """`input_ids`, `token_type_ids`, `attention_mask` as torch tensors (rows, length), int64.

        They share memory with the arrays. `ImportError` if torch is not installed.
        """
        raise NotImplementedError
