"""Rows that the engine made of many texts, as encodings: a field becomes a list when it is asked for.

Adds `encodings_of`, and `later` for a row by itself. Leaves out: how rows are made (`syllabary.full.batch`),
what an encoding can do (`_encoding`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from syllabary.compat.tokenizers._encoding import Encoding
from syllabary.full.batch import EncodingBatch, ranges_of
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
    """The rows of a batch.

    samples: the text of each; a range where nothing can overflow. bare: without offsets, words and tokens,
    as `encode_batch_fast` gives them. framed: whether there is a post-processor, which says type ids and
    which text tokens are of. pairs: which texts have a pair, if any has. again: encodes a text of the batch
    by itself, for what follows from neither (what overflows of bare rows, and without a post-processor).
    """

    def __init__(
        self,
        batch: EncodingBatch,
        samples: Sequence[int],
        bare: bool,
        framed: bool,
        pairs: Sequence[bool] | None,
        again: Callable[[int], Encoding],
    ) -> None:
        """See the class."""
        self.batch, self.samples, self.bare, self.framed = batch, samples, bare, framed
        self.pairs, self.again = pairs, again
        self.unknown: int | None = None  # a token that is shown as the text that it stands for (Unigram)
        self.fields: dict[str, list[Any]] = {}

    def column(self, name: str, at: int) -> Any:
        """A column of an encoding."""
        if self.bare and name in ("_tokens", "_words", "_offsets", "_type_ids"):
            return self._bare(name, at)
        if name in PLAIN:
            return self.field(PLAIN[name])[at]
        if name == "_offsets":
            return self.field("offsets")[at]
        if name == "_words":
            words = self.field("word_ids")[at]
            return [None if word < 0 else word for word in words] if -1 in words else words
        if name == "_overflowing":
            return self._overflowing(at)
        if name == "_ranges":
            return self._ranges(at)
        if self.unknown is not None:
            return self.again(self.samples[at])._tokens
        return self._tokens(at)

    def _tokens(self, at: int) -> list[str]:
        return self.batch.spelled(self.field("ids")[at], self.field("special_tokens_mask")[at], at)

    def _overflowing(self, at: int) -> list[Encoding]:
        if isinstance(self.samples, range):
            return []
        if self.bare or not self.framed or self.unknown is not None:
            return self.again(self.samples[at])._overflowing
        return [nested(one) for one in self.batch[at].overflowing]

    def _ranges(self, at: int) -> dict[int, tuple[int, int]]:
        """Which tokens each text has: none are said of one text without a post-processor."""
        if not self.framed and self.pairs is None:
            return {}
        found = None if self.bare or not self.framed else self._ranges_of_ids(at)
        if found is None or any(start == end for start, end in found.values()):
            return self.again(self.samples[at])._ranges  # where a text without tokens stands, no token says
        return found

    def _ranges_of_ids(self, at: int) -> dict[int, tuple[int, int]]:
        texts = 1 if self.pairs is None else 1 + self.pairs[self.samples[at]]
        return ranges_of(self.field("sequence_ids")[at], texts)

    def field(self, name: str) -> list[Any]:
        """A field of all rows."""
        if name not in self.fields:
            pairs = name == "offsets"
            self.fields[name] = self.batch.offset_pairs() if pairs else self.batch.to_lists(name)
        return self.fields[name]

    def _bare(self, name: str, at: int) -> list[Any]:
        special = self.field("special_tokens_mask")[at]
        if name == "_offsets":
            return [(0, 0)] * len(special)
        if name == "_words":
            return [None] * len(special)
        if name == "_tokens":
            tokens = self._tokens(at)
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


class Later:
    """A row, field by field."""

    def __init__(self, row: Row) -> None:
        """See the class."""
        self.row = row

    def column(self, name: str, _at: int) -> Any:
        """A column of its encoding."""
        if name == "_ranges":
            return dict(self.row.ranges)
        if name == "_overflowing":
            return [later(one) for one in self.row.overflowing]
        return getattr(self.row, NAMES[name])


def later(row: Row) -> Encoding:
    """A row as an encoding, which takes its columns when they are asked for."""
    made = Encoding.__new__(Encoding)  # without columns
    made._row = (Later(row), 0)
    return made


def encodings_of(rows: Rows) -> list[Encoding]:
    """An encoding for each text, which takes its columns from the rows when they are asked for."""
    found, samples = [], rows.samples
    for at, sample in enumerate(samples):
        if not at or sample != samples[at - 1]:
            made = Encoding.__new__(Encoding)  # without columns
            made._row = (rows, at)
            found.append(made)
    return found
