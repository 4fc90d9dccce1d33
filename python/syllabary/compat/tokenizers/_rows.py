"""Rows that the engine made of many texts, as encodings: a field becomes a list when it is asked for.

Adds `encodings_of`. Leaves out: how rows are made (`syllabary.full_batch`), what an encoding can do
(`_encoding`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from syllabary.compat.tokenizers._encoding import COLUMNS, Encoding
from syllabary.full_batch import EncodingBatch
from syllabary.reference.encoding import Encoding as Row

# Fields that are the same lists in both.
PLAIN = {
    "_ids": "ids",
    "_type_ids": "type_ids",
    "_special": "special_tokens_mask",
    "_attention": "attention_mask",
}
NAMES = {**PLAIN, "_tokens": "tokens", "_words": "word_ids", "_offsets": "offsets"}


class Rows:
    """The rows of a batch. bare: without offsets, words and tokens, as `encode_batch_fast` gives them."""

    def __init__(self, batch: EncodingBatch, bare: bool, framed: bool) -> None:
        """framed: whether a post-processor said the type ids."""
        self.batch, self.bare, self.framed = batch, bare, framed
        self.fields: dict[str, list[Any]] = {}
        self.whole: dict[int, Row] = {}

    def column(self, name: str, at: int) -> Any:
        """A column of an encoding."""
        if self.bare and name in ("_tokens", "_words", "_offsets", "_type_ids"):
            return self._bare(name, at)
        if name in PLAIN:
            return self.field(PLAIN[name])[at]
        if name == "_offsets":
            return [(start, end) for start, end in self.field("offsets")[at]]
        if name == "_words":
            return [None if word < 0 else word for word in self.field("word_ids")[at]]
        if at not in self.whole:
            self.whole[at] = self.batch[at]
        row = self.whole[at]
        if name == "_tokens":
            return list(row.tokens)
        return dict(row.ranges) if name == "_ranges" else [nested(one) for one in row.overflowing]

    def field(self, name: str) -> list[Any]:
        """A field of all rows."""
        if name not in self.fields:
            self.fields[name] = self.batch.to_lists(name)
        return self.fields[name]

    def _bare(self, name: str, at: int) -> list[Any]:
        special = self.field("special_tokens_mask")[at]
        if name == "_offsets":
            return [(0, 0)] * len(special)
        if name == "_words":
            return [None] * len(special)
        if name == "_tokens":
            if at not in self.whole:
                self.whole[at] = self.batch[at]
            tokens = self.whole[at].tokens
            return [token if added else "" for token, added in zip(tokens, special, strict=True)]
        types = self.field("type_ids")[at]
        return [kind if added or self.framed else 0 for kind, added in zip(types, special, strict=True)]


def nested(row: Row) -> Encoding:
    """A row that is all there, as an encoding."""
    made = Encoding()
    for name, field in NAMES.items():
        setattr(made, name, getattr(row, field))
    made._ranges = dict(row.ranges)
    made._overflowing = [nested(one) for one in row.overflowing]
    return made


def encodings_of(rows: Rows) -> list[Encoding]:
    """An encoding for each text, which takes its columns from the rows when they are asked for."""
    samples = rows.batch.samples
    first = np.flatnonzero(np.diff(samples, prepend=-1)).tolist() if len(samples) else []
    found = []
    for at in first:
        made = Encoding()
        for name in (*COLUMNS, "_overflowing", "_ranges"):
            delattr(made, name)
        made._row = (rows, at)
        found.append(made)
    return found
