"""`EncodingBatch`: the full encodings of many texts, as arrays that a model eats.

Adds arrays of rows, padded or row by row, single `Encoding`s of them, and torch tensors. Leaves out: how rows
are made (the engine, as `reference.full` says), and what a field means (`reference.encoding.Encoding`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from syllabary._engine import pairs
from syllabary.arguments import place
from syllabary.cached import cached_property
from syllabary.full.kept import KeptRows
from syllabary.full.layout import Layout
from syllabary.full.row import Row
from syllabary.full.rows import found_as
from syllabary.reference.encoding import Encoding, joined
from syllabary.reference.symbols import plural

Array = NDArray[np.int64]
PAD = -3  # in the field `items`: padding; -1: the text, -2: its pair; from 0 on the item of the plan


class Rows(Protocol):
    """Rows as the engine makes them: fields of all rows, one after the other."""

    def bounds(self) -> Array:
        """Where each row begins, and the end, shape (rows + 1,)."""
        ...

    def samples(self) -> Array:
        """The text that each row is of, shape (rows,)."""
        ...

    def lengths(self) -> Array:
        """The tokens of each row without padding, shape (rows,)."""
        ...

    def parts(self) -> Array:
        """How many parts each text and each pair was cut into, shape (texts, 2)."""
        ...

    def field(self, name: str) -> Array:
        """A field of all rows, shape (n,): `ids`, `type_ids`, `attention_mask`, `special_tokens_mask`,
        `word_ids` and `sequence_ids` (-1: none), `items` (of the plan); `offsets` shape (n, 2).
        """
        ...

    def lists(self, name: str) -> list[list[int]]:
        """A field other than `offsets` and `spans` as lists, one a row."""
        ...

    def unknown(self) -> Mapping[int, str]:
        """Unknown tokens that are spelled as the text, normalized, by their place in the fields."""
        ...


class EncodingBatch:
    """Rows of tokens: one a text (or pair), after it with `overflow=True` one for each part cut off.

    The fields are arrays, made when they are asked for: `ids`, `attention_mask`, `type_ids`,
    `special_tokens_mask` int64 (rows, length); `word_ids`, `sequence_ids` int64 (rows, length), -1 for none;
    `offsets` int64 (rows, length, 2). They need rows of one length: pad, or take rows one by one (`batch[k]`,
    an `Encoding`), or as `to_lists`; `ValueError` says so.
    """

    def __init__(
        self,
        rows: Rows,
        layout: Layout,
        given: Sequence[tuple[Any, Any]],
        unit: str,
        located: Callable[[], Rows] | None = None,
    ) -> None:
        """From the engine's rows. given: each text and pair. unit: of the offsets.

        located: makes the same rows with offsets, where these have none.
        """
        self._rows = rows
        self._bounds = rows.bounds()
        self._alone = len(self._bounds) == 2
        self._layout = layout
        self._given = given
        self._unit = unit
        self._locate = located
        self._found_rows: Rows | None = None  # with offsets, once they are asked for
        self._columns: dict[str, Array] = {}

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._bounds) - 1

    def __repr__(self) -> str:
        """How many rows, and how long."""
        lengths = sorted({int(length) for length in self.lengths})
        first = f"{lengths[0]} to " if lengths[1:] else ""
        long = f" of {first}{plural(lengths[-1], 'token')}" if lengths else ""
        return f"<EncodingBatch: {plural(len(self), 'row')}{long}>"

    def __eq__(self, other: object) -> bool:
        """Whether both hold rows of the same texts with the same arrays and tokens; not what made them."""
        if not isinstance(other, EncodingBatch):
            return NotImplemented
        if self is other:
            return True
        if not np.array_equal(self._bounds, other._bounds) or [*self._given] != [*other._given]:
            return False
        return (
            np.array_equal(self.samples, other.samples)
            and all(np.array_equal(self._array(name), other._array(name)) for name in ARRAYS)
            and all(self.tokens(row) == other.tokens(row) for row in range(len(self)))
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[EncodingBatch], tuple[Any, ...]]:
        """All fields as arrays, and of the vocabulary the names of its tokens: what pickle and copy take."""
        fields = {name: self._flat(name) for name in FIELDS}
        rows = KeptRows(
            self._bounds, self.samples, self.lengths, self._rows.parts(), fields, dict(self._unknown)
        )
        spelled = self._layout.spelled.of(np.unique(fields["ids"]).tolist())
        return type(self), (rows, replace(self._layout, spelled=spelled), self._given, self._unit)

    def __getitem__(self, row: int) -> Encoding:
        """One row; its `overflowing` are the rows cut off of it, if those were asked for.

        Its fields become lists when they are asked for: until then it keeps the batch.
        """
        at = self._at(row)
        if self._alone or (at and self.samples[at] == self.samples[at - 1]):
            return Row.of(self, at)
        end = int(np.searchsorted(self.samples, self.samples[at], "right"))
        return self._nested(range(at, end), int(self.samples[at]))

    def __iter__(self) -> Iterator[Encoding]:
        """Each row."""
        return (self[row] for row in range(len(self)))

    def tokens(self, row: int) -> list[str]:
        """How the tokens of a row are spelled, as `batch[row].tokens`."""
        at = self._at(row)
        return self.spelled(self._cell("ids", at), self._cell("special_tokens_mask", at), at)

    # ---- fields ----

    @cached_property
    def ids(self) -> Array:
        """The ids, (rows, length)."""
        return self._shaped(self._flat("ids"))

    @cached_property
    def attention_mask(self) -> Array:
        """1 for tokens, 0 for padding, (rows, length)."""
        return self._shaped(self._flat("attention_mask"))

    @cached_property
    def type_ids(self) -> Array:
        """The type ids, as the post-processor says, (rows, length)."""
        return self._shaped(self._flat("type_ids"))

    @cached_property
    def special_tokens_mask(self) -> Array:
        """1 for what was put around the texts, 0 for their tokens, (rows, length)."""
        return self._shaped(self._flat("special_tokens_mask"))

    @cached_property
    def word_ids(self) -> Array:
        """The piece or word of each token, -1 for none, (rows, length)."""
        return self._shaped(self._flat("word_ids"))

    @cached_property
    def sequence_ids(self) -> Array:
        """0 for tokens of the text, 1 for those of the pair, -1 for none, (rows, length)."""
        return self._shaped(self._flat("sequence_ids"))

    @cached_property
    def offsets(self) -> Array:
        """Start and end of each token in its text or word, (rows, length, 2)."""
        return self._shaped(self._flat("offsets"))

    @cached_property
    def samples(self) -> Array:
        """The text that each row is of, (rows,)."""
        return self._rows.samples()

    @cached_property
    def lengths(self) -> Array:
        """The tokens of each row, padding left out, (rows,)."""
        return self._rows.lengths()

    def to_lists(self, field: str) -> list[Any]:
        """A field, by its name, as plain lists, one a row, each as long as its row: padded or not."""
        if field not in ("offsets", "spans"):
            return self._having(field).lists(field)
        values, bounds = self._flat(field).tolist(), self._bounds.tolist()
        return [values[start:end] for start, end in pairwise(bounds)]

    def offset_pairs(self) -> list[list[tuple[int, int]]]:
        """`offsets` as pairs of start and end, one list a row, each as long as its row: padded or not."""
        return pairs(np.ascontiguousarray(self._flat("offsets")), self._bounds)

    def to_torch(self) -> dict[str, Any]:
        """`input_ids`, `token_type_ids`, `attention_mask` as torch tensors (rows, length), int64.

        They share memory with the arrays. `ImportError` if torch is not installed.
        """
        from torch import from_numpy

        fields = {"input_ids": self.ids, "token_type_ids": self.type_ids}
        fields["attention_mask"] = self.attention_mask
        return {name: from_numpy(value) for name, value in fields.items()}

    # ---- inside ----

    def _at(self, row: int) -> int:
        """The number of a row, which may be counted from the end."""
        return place("row", row, len(self))

    @cached_property
    def _length(self) -> int | None:
        """The length of all rows, if they have one."""
        widths = np.diff(self._bounds)
        if len(widths) and (widths != widths[0]).any():
            return None
        return int(widths[0]) if len(widths) else 0

    @property
    def _located(self) -> Rows:
        if self._found_rows is None and self._locate is not None:
            self._found_rows = self._locate()
        return self._rows if self._found_rows is None else self._found_rows

    def _having(self, name: str) -> Rows:
        """The rows that have a field."""
        if name not in FIELDS:
            raise ValueError(f"{name!r} is no field: give one of {', '.join(FIELDS)}")
        return self._located if name in ("offsets", "spans", "word_ids") else self._rows

    def _flat(self, name: str) -> Array:
        return self._having(name).field(name)

    def _array(self, name: str) -> Array:
        """A field as it is handed out, or flat where rows make no array."""
        found: Array = self._flat(name) if self._length is None else getattr(self, name)
        return found

    def _shaped(self, flat: Array) -> Array:
        if self._length is None:
            widths = np.diff(self._bounds)
            raise ValueError(
                f"the rows have {widths.min()} to {widths.max()} tokens and make no array: give padding=, or "
                "take the rows one by one, or to_lists()"
            )
        return flat.reshape((len(self), self._length, *flat.shape[1:]))

    @cached_property
    def _unknown(self) -> Mapping[int, str]:
        return self._located.unknown()

    def _cell(self, name: str, row: int) -> list[Any]:
        """A field of a row as a list; of one row alone without an array in between."""
        if self._alone and name != "spans":
            return self._having(name).lists(name)[0]
        if name not in self._columns:
            self._columns[name] = self._flat(name)
        flat: list[Any] = self._columns[name][self._bounds[row] : self._bounds[row + 1]].tolist()
        return flat

    def _places(self, row: int) -> list[tuple[int, int]]:
        """The offsets of a row."""
        if self._alone:
            return self.offset_pairs()[0]
        return [(first, last) for first, last in self._cell("offsets", row)]

    def _sample(self, row: int) -> int:
        """The text that a row is of."""
        return 0 if len(self._given) == 1 else int(self.samples[row])

    def column(self, name: str, row: Encoding, at: int) -> Any:
        """A field of a row, the `Encoding` at `at`; nothing overflows of it."""
        if name in PLAIN:
            return self._rows.lists(name)[0] if self._alone else self._cell(name, at)
        if name == "tokens":
            return self.spelled(row.ids, row.special_tokens_mask, at)
        if name == "offsets":
            return self._places(at)
        if name == "word_ids":
            words = self._cell(name, at)
            return [None if word < 0 else word for word in words] if -1 in words else words
        if name == "ranges":
            return ranges_of(
                self._cell("sequence_ids", at), 1 + (self._given[self._sample(at)][1] is not None)
            )
        return []

    def spelled(self, ids: list[int], special: list[int], row: int) -> list[str]:
        """`tokens` of a row, of which these are the `ids` and the `special_tokens_mask`."""
        layout, names = self._layout, self._layout.spelled.names
        if 1 not in special:  # all are of the text
            tokens = [*map(names.__getitem__, ids)]
        else:
            plan = layout.plans[self._given[self._sample(row)][1] is not None]
            items, fill = () if plan is None else plan.items, layout.fill
            tokens = [
                items[item].token if item >= 0 else fill if item == PAD else names[token_id]
                for token_id, item in zip(ids, self._cell("items", row), strict=True)
            ]
        if not layout.spelled.taken.isdisjoint(ids):
            self._take(tokens, ids, row)
        return tokens

    def _take(self, tokens: list[str], ids: list[int], row: int) -> None:
        """Spell tokens that take white space along, and unknown ones, as they were found."""
        spelled, unknown, start = self._layout.spelled, self._unknown, int(self._bounds[row])
        taken = spelled.taken - spelled.noted
        sample = self._sample(row)
        items, words, spans = (self._cell(name, row) for name in ("items", "word_ids", "spans"))
        for at, token_id in enumerate(ids):
            if start + at in unknown:
                tokens[at] = unknown[start + at]
            elif token_id in taken and items[at] in (-1, -2):
                found = self._found(-1 - items[at], max(words[at], 0), spans[at], sample)
                if spelled.is_found(token_id, found):
                    tokens[at] = found

    def _found(self, text: int, word: int, span: Sequence[int], sample: int) -> str:
        """What a token that takes white space along was found as."""
        return found_as(self._given[sample][text], word, span, self._unit == "byte")

    def _nested(self, rows: range, sample: int) -> Encoding:
        """Rows of one text, each with what overflows of it, as `encoding.joined` nests them."""
        if len(rows) == 1:
            return Row.of(self, rows[0])
        plan = self._layout.plans[self._given[sample][1] is not None]
        counts = self._rows.parts()[sample]
        numbered = [
            Encoding([0], overflowing=[Encoding([part]) for part in range(1, counts[slot])])
            for slot in (() if plan is None else plan.slots)
        ]
        tree = numbered[0]
        for one in numbered[1:]:
            tree = joined(tree, one)
        by_parts = {tuple(node.ids): row for node, row in zip((tree, *tree.overflowing), rows, strict=True)}

        def grown(node: Encoding) -> Encoding:
            made = Row.of(self, by_parts[tuple(node.ids)])
            made.overflowing = [*map(grown, node.overflowing)]
            return made

        return grown(tree)


PLAIN = frozenset(["ids", "type_ids", "attention_mask", "special_tokens_mask"])
ARRAYS = "ids type_ids attention_mask special_tokens_mask word_ids sequence_ids offsets".split()
FIELDS = [*ARRAYS, "spans", "items"]


def ranges_of(sequence_ids: list[int], texts: int) -> dict[int, tuple[int, int]]:
    """The ranges of a row of so many texts, of its sequence ids."""
    if texts == 1 and sequence_ids.count(0) == len(sequence_ids):
        return {0: (0, len(sequence_ids))}
    found = dict.fromkeys(range(max(max(sequence_ids, default=-1) + 1, texts)), (0, 0))
    for text in found:
        if text in sequence_ids:
            found[text] = sequence_ids.index(text), len(sequence_ids) - sequence_ids[::-1].index(text)
    return found
