"""What a call gives, by one of two ways: ids and masks alone, or full encodings.

Adds `encoded`. The fast way is for texts without a pair of which nothing is asked that needs offsets; it is
most of what training and inference ask for. Leaves out: which texts a call means (`inputs`), the engine
(`state`).
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from syllabary.compat.tokenizers._rows import later
from syllabary.compat.transformers.arrays import as_torch, columns, columns_of_one
from syllabary.compat.transformers.asked import Asked, Texts
from syllabary.compat.transformers.backend import BatchEncoding
from syllabary.compat.transformers.rows import Rows
from syllabary.compat.transformers.state import Frame, Made
from syllabary.framing import Padding, Truncation


def encoded(made: Made, texts: Texts, asked: Asked) -> Any:
    """The `BatchEncoding` of a call."""
    # Fields that are computed later are of the same draw.
    seed = secrets.randbits(64) if made.tok.spec.dropout else None
    data, rows = _plain(made, texts, asked, seed) or _full(made, texts, asked, seed)
    tensors, count = asked.return_tensors, 1 if texts.second is None else 2
    if not texts.batched and tensors is None and not asked.return_overflowing_tokens:
        data = {
            key: value[0] if value and isinstance(value[0], list) else value for key, value in data.items()
        }
    return BatchEncoding(data, rows, tensor_type=tensors, n_sequences=count)


# ---- ids and masks ----


def _plain(made: Made, texts: Texts, asked: Asked, seed: int | None) -> tuple[dict[str, Any], Rows] | None:
    """The fast way, or `None` where it is not enough. seed: of dropout."""
    frame = made.frame if asked.add_special_tokens else Frame()
    if made.frame is None or frame is None or texts.second is not None or asked.is_split_into_words:
        return None
    if asked.return_offsets_mapping or asked.return_overflowing_tokens:
        return None
    room = None
    if asked.truncates:
        room = (asked.max_length or 0) - len(frame)
        if asked.stride or asked.truncation_strategy == "only_second" or room < 1:
            return None
    rows = Rows(len(texts.first), lambda: list(_full(made, texts, asked, seed)[1]))
    kind = str(getattr(asked.return_tensors, "value", asked.return_tensors))
    if kind in ("np", "pt"):
        ragged = made.tok.encode_batch_array(texts.first, asked.special, seed=seed)
        one = len(texts.first) == 1
        arrays = (
            columns_of_one(ragged.ids, frame, room, asked) if one else columns(ragged, frame, room, asked)
        )
        if arrays is not None:
            return (as_torch(arrays) if kind == "pt" else arrays), rows
    ids = made.tok.encode_batch(texts.first, asked.special, seed=seed)
    if room is not None:
        ids = [_cut(row, room, asked.truncation_side) for row in ids]
    return _columns(ids, frame, asked), rows


def _cut(row: list[int], room: int, side: str) -> list[int]:
    if len(row) <= room:
        return row
    return row[:room] if side == "right" else row[len(row) - room :]


def _columns(ids: list[list[int]], frame: Frame, asked: Asked) -> dict[str, Any]:
    """The lists of every row, padded; in the order that `transformers` has them."""
    sizes = [len(row) + len(frame) for row in ids]
    length = asked.length(max(sizes, default=0))
    before, after = list(frame.before), list(frame.after)
    if frame.before or frame.after:
        ids = [[*before, *row, *after] for row in ids]
    columns: dict[str, Any] = {"input_ids": _padded(ids, sizes, length, asked.pad_id, asked)}
    if asked.return_token_type_ids:
        first, text, last = frame.types
        types = [[*first, *[text] * (size - len(frame)), *last] for size in sizes]
        columns["token_type_ids"] = _padded(types, sizes, length, asked.pad_type_id, asked)
    if asked.return_attention_mask:
        columns["attention_mask"] = _padded([[1] * size for size in sizes], sizes, length, 0, asked)
    if asked.return_special_tokens_mask:
        ends = [1] * len(before), [1] * len(after)
        masks = [[*ends[0], *[0] * (size - len(frame)), *ends[1]] for size in sizes]
        columns["special_tokens_mask"] = _padded(masks, sizes, length, 1, asked)
    if asked.return_length:
        columns["length"] = [max(size, length) for size in sizes]
    return columns


def _padded(
    rows: list[list[int]], sizes: list[int], length: int, value: int, asked: Asked
) -> list[list[int]]:
    if not length:
        return rows
    if asked.padding_side == "right":
        return [row + [value] * (length - size) for row, size in zip(rows, sizes, strict=True)]
    return [[value] * (length - size) + row for row, size in zip(rows, sizes, strict=True)]


# ---- full encodings ----


def _full(made: Made, texts: Texts, asked: Asked, seed: int | None) -> tuple[dict[str, Any], Rows]:
    """Every field of every row, those that truncation cut off too where they are asked for."""
    batch = made.tok.encode_full_batch(
        texts.first,
        texts.second,
        special=asked.special,
        add_special_tokens=asked.add_special_tokens,
        padding=_padding(asked),
        truncation=_truncation(asked),
        is_pretokenized=asked.is_split_into_words,
        offsets="char" if asked.return_offsets_mapping else None,
        overflow=asked.return_overflowing_tokens,
        seed=seed,
    )
    data: dict[str, Any] = {"input_ids": batch.to_lists("ids")}
    if asked.return_token_type_ids:
        data["token_type_ids"] = batch.to_lists("type_ids")
    if asked.return_attention_mask:
        data["attention_mask"] = batch.to_lists("attention_mask")
    if asked.return_special_tokens_mask:
        data["special_tokens_mask"] = batch.to_lists("special_tokens_mask")
    if asked.return_offsets_mapping:
        data["offset_mapping"] = batch.offset_pairs()
    if asked.return_length:
        data["length"] = [len(row) for row in data["input_ids"]]
    if asked.return_overflowing_tokens:
        data["overflow_to_sample_mapping"] = np.asarray(batch.samples).tolist()
    return data, Rows(len(batch), lambda: [*map(later, batch)])


def _padding(asked: Asked) -> Padding | bool:
    if not asked.pads:
        return False
    longest = asked.padding_strategy == "longest"
    return Padding(
        length="longest" if longest else asked.max_length or 0,
        pad_id=asked.pad_id,
        pad_type_id=asked.pad_type_id,
        pad_token=asked.pad_token,
        direction="left" if asked.padding_side == "left" else "right",
        multiple_of=asked.pad_to_multiple_of or None,
    )


def _truncation(asked: Asked) -> Truncation | bool:
    if not asked.truncates:
        return False
    strategy: Any = asked.truncation_strategy
    side: Any = asked.truncation_side
    return Truncation(asked.max_length or 0, asked.stride, strategy, side)
