"""The fast way to arrays: ids of a batch, framed, cut and padded, without a list in between.

Adds `columns`, numpy arrays (rows, length) of int64, and `as_torch`, the same memory as tensors. Leaves out:
rows of several lengths, which make no array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary.compat.transformers.asked import Asked
from syllabary.compat.transformers.state import Frame
from syllabary.ragged import Ragged

Array = NDArray[np.int64]
Column = Callable[[int, Any, Any, Any], Array]


def columns(ragged: Ragged, frame: Frame, room: int | None, asked: Asked) -> dict[str, Any] | None:
    """Every field asked for, or `None` where rows differ in length. room: tokens of a text, at most."""
    ids, sizes = _cut(ragged, room, asked.truncation_side)
    full = sizes + len(frame)
    longest = int(full.max(initial=0))
    length = max(asked.length(longest), longest)
    if not len(full) or max(asked.length(longest), int(full.min())) != length:
        return None
    starts = length - full if asked.padding_side == "left" else np.zeros_like(full)
    first = starts + len(frame.before)
    place = np.arange(length)
    inside = (place >= first[:, None]) & (place < (first + sizes)[:, None])

    def column(fill: int, text: Any, before: Any, after: Any) -> Array:
        found = np.full(inside.shape, fill, dtype=np.int64)
        found[inside] = text
        for at, value in enumerate(before):
            np.put_along_axis(found, (starts + at)[:, None], value, axis=1)
        for at, value in enumerate(after):
            np.put_along_axis(found, (first + sizes + at)[:, None], value, axis=1)
        return found

    return _fields(column, ids, np.maximum(full, length), frame, asked)


def columns_of_one(ids: NDArray[np.uint32], frame: Frame, room: int | None, asked: Asked) -> dict[str, Any]:
    """The same for one text, whose ids are given."""
    if room is not None and len(ids) > room:
        ids = ids[:room] if asked.truncation_side == "right" else ids[len(ids) - room :]
    full = len(ids) + len(frame)
    length = max(asked.length(full), full)
    start = length - full if asked.padding_side == "left" else 0
    first = start + len(frame.before)
    last = first + len(ids)

    def column(fill: int, text: Any, before: Any, after: Any) -> Array:
        found = np.full((1, length), fill, dtype=np.int64)
        row = found[0]
        row[first:last] = text
        if before:
            row[start:first] = before
        if after:
            row[last : last + len(after)] = after
        return found

    return _fields(column, ids, np.array([length]), frame, asked)


def _fields(column: Column, ids: Any, lengths: Array, frame: Frame, asked: Asked) -> dict[str, Any]:
    """The fields asked for. column: makes one of what stands in padding, texts, before and after them."""
    ends = (1,) * len(frame.before), (1,) * len(frame.after)
    data: dict[str, Any] = {"input_ids": column(asked.pad_id, ids, frame.before, frame.after)}
    if asked.return_token_type_ids:
        data["token_type_ids"] = column(asked.pad_type_id, frame.types[1], frame.types[0], frame.types[2])
    if asked.return_attention_mask:
        data["attention_mask"] = column(0, 1, *ends)
    if asked.return_special_tokens_mask:
        data["special_tokens_mask"] = column(1, 0, *ends)
    if asked.return_length:
        data["length"] = lengths
    return data


def _cut(ragged: Ragged, room: int | None, side: str) -> tuple[NDArray[np.uint32], Array]:
    """The ids that stay, one row after the other, and how many of each row."""
    sizes = np.diff(ragged.offsets)
    if room is None or int(sizes.max(initial=0)) <= room:
        return ragged.ids, sizes
    place = np.arange(len(ragged.ids)) - np.repeat(ragged.offsets[:-1], sizes)
    stays = place < room if side == "right" else place >= np.repeat(sizes - room, sizes)
    return ragged.ids[stays], np.minimum(sizes, room)


def as_torch(arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays as tensors that share their memory."""
    from torch import from_numpy

    return {name: from_numpy(value) for name, value in arrays.items()}
