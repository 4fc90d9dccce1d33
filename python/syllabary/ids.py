"""`IdTokenizer`: sequences of integers to ids and back, by learned merges, without any text.

`reference/ids.py` defines what it computes, the engine computes it. Adds its arguments and its file. Leaves
out: how merges are learned (`training.ids`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syllabary import formats
from syllabary._engine import IdMerges
from syllabary.arguments import unmasked
from syllabary.cached import cached_property
from syllabary.errors import (
    FormatError,
    SyllabaryError,
    UnknownSymbolError,
    UnknownTokenError,
    VocabularyError,
)
from syllabary.files import HEAD_BYTES, read_bounded, write_atomic
from syllabary.formats.signs import of_integers
from syllabary.formats.strict_json import MAX_DEPTH, TOO_DEEP, Json, depth_of, parse
from syllabary.ragged import Ragged
from syllabary.reference import ids as reference
from syllabary.reference.symbols import plural, shown

NAME = "syllabary-ids"
VERSION = 1
KEYS = ("format", "version", "symbols", "merges", "record")
# `vocab` writes every token out; beyond so many integers in all it would take gigabytes.
MOST_WRITTEN_OUT = 1 << 26

Ids = NDArray[np.uint32]


class IdTokenizer:
    """Merges of integers. Immutable; equal ones have the same symbols and merges.

    symbols: uint32 (n,): symbol k has id k. merges: uint32 (m, 2): merge k joins these two ids to id n + k.

    >>> tok = IdTokenizer([60, 64, 67], [(0, 1)])
    >>> tok.encode([60, 64, 67, 60]), tok.decode([3, 2])
    (array([3, 2, 0], dtype=uint32), array([60, 64, 67], dtype=uint32))
    """

    def __init__(
        self,
        symbols: Iterable[int] | ArrayLike,
        merges: Sequence[tuple[int, int]] | NDArray[np.integer[Any]] = (),
        record: Mapping[str, object] | None = None,
    ) -> None:
        """record: how it was trained; plain JSON values. Raises `VocabularyError` for contradictions."""
        self.symbols = _frozen(sequence_of(symbols, "symbols", VocabularyError))
        pairs = np.asarray(merges if len(merges) else np.empty((0, 2), np.uint32))
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise TypeError(f"merges have shape {pairs.shape}: give pairs of ids, shape (m, 2)")
        self.merges = _frozen(sequence_of(pairs.ravel(), "merges", VocabularyError).reshape(-1, 2))
        self.record = dict(record or {})
        self._engine = IdMerges(self.symbols, self.merges)

    @property
    def vocab_size(self) -> int:
        """Symbols and merges together."""
        return len(self.symbols) + len(self.merges)

    @cached_property
    def vocab(self) -> dict[int, tuple[int, ...]]:
        """Id -> the integers that it stands for. `MemoryError` if these are over 2^26 in all."""
        if (size := int(self._engine.lengths.sum(dtype=np.uint64))) > MOST_WRITTEN_OUT:
            raise MemoryError(
                f"the vocabulary has {size} integers, written out: decode the ids that you need"
            )
        pairs = [(left, right) for left, right in self.merges.tolist()]
        return dict(enumerate(reference.vocabulary(self.symbols.tolist(), pairs)))

    def encode(self, sequence: Iterable[int] | ArrayLike) -> Ids:
        """The ids of a sequence, uint32 (n,).

        Raises `UnknownSymbolError` for an integer that is no symbol, with its index.
        """
        return self._engine.encode(sequence_of(sequence, "sequence", UnknownSymbolError))

    def encode_batch(self, sequences: Iterable[Iterable[int] | ArrayLike]) -> Ragged:
        """The ids of every sequence."""
        found = [self.encode(sequence) for sequence in sequences]
        ends = np.cumsum([0, *map(len, found)], dtype=np.int64)
        return Ragged.made(np.concatenate(found) if found else np.empty(0, np.uint32), ends)

    def decode(self, ids: Iterable[int] | ArrayLike) -> Ids:
        """The integers of ids, uint32 (n,). Raises `UnknownTokenError` for what is no id, with its index."""
        return self._engine.decode(sequence_of(ids, "ids", UnknownTokenError))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Put it into a JSON file, whole or not at all; the same has the same bytes."""
        if depth_of(self.record) > MAX_DEPTH:
            raise FormatError(f"record: {TOO_DEEP}, which is not read back")
        members = {
            "format": NAME,
            "version": VERSION,
            "symbols": self.symbols.tolist(),
            "merges": self.merges.tolist(),
            "record": self.record,
        }
        try:
            lines = [
                f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in members.items()
            ]
        except (TypeError, ValueError) as error:
            raise FormatError(f"the record is not plain JSON: {error}") from error
        write_atomic(Path(path), ("{\n" + ",\n".join(lines) + "\n}\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IdTokenizer:
        """The tokenizer of a file; `FormatError` for one that is damaged or of another format, `OSError`."""
        data = read_bounded(Path(path))
        head = data[:HEAD_BYTES]
        if not of_integers(head):
            form = formats.sniffed(Path(path), head)
            if form is not None:
                raise FormatError(f"{path}: a tokenizer of text ({form}): open it with syllabary.load")
        root = parse(data, Path(path))
        if root.member("format").value != NAME:
            raise root.member("format").error(f'must be "{NAME}"')
        if root.member("version").value != VERSION:
            raise root.member("version").error(f"this syllabary reads version {VERSION}")
        root.object(KEYS)
        pairs = [[one.id() for one in _two(row)] for row in root.member("merges").list()]
        record = root.member("record")
        if not isinstance(record.value, dict):
            raise record.wrong("an object")
        try:
            symbols = [one.id() for one in root.member("symbols").list()]
            record.flat()
            return cls(symbols, np.array(pairs, np.uint32).reshape(-1, 2), record.value)
        except ValueError as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"{path}: {error}") from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IdTokenizer):
            return NotImplemented
        return np.array_equal(self.symbols, other.symbols) and np.array_equal(self.merges, other.merges)

    def __hash__(self) -> int:
        return hash((self.symbols.tobytes(), self.merges.tobytes()))

    def __repr__(self) -> str:
        return f"<IdTokenizer: {plural(len(self.symbols), 'symbol')}, {plural(len(self.merges), 'merge')}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.symbols, self.merges, self.record)


def sequence_of(sequence: Iterable[int] | ArrayLike, name: str, outside: type[SyllabaryError]) -> Ids:
    """Integers as an array; `TypeError` for others, `outside` for one that 32 bits do not hold."""
    array: NDArray[Any] = sequence if isinstance(sequence, np.ndarray) else _as_array(sequence)
    if isinstance(sequence, np.ndarray):
        unmasked(name, sequence)
    elif array.dtype == object:
        if isinstance(sequence, (str, bytes)) or not isinstance(sequence, Iterable):
            raise TypeError(f"{name} must be a sequence of integers, not {type(sequence).__name__}")
        listed: list[Any] = list(sequence)
        wild = next((k for k, one in enumerate(listed) if not _is_integer(one)), None)
        if wild is not None:
            raise TypeError(f"{name}[{wild}] is {shown(listed[wild])}: give an integer")
        try:
            array = np.array(listed, np.int64)
        except OverflowError:
            array = np.array([-1 if one < 0 else min(one, 2**32) for one in listed], np.int64)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise TypeError(
            f"{name} is an array of {array.dtype} with shape {array.shape}: give integers, shape (n,)"
        )
    if array.size and (int(array.min()) < 0 or int(array.max()) > reference.LARGEST):
        wild = int(np.flatnonzero((array < 0) | (array > reference.LARGEST))[0])
        raise outside(f"{name}[{wild}] is below 0 or above {reference.LARGEST}: give integers of 32 bits")
    return np.ascontiguousarray(array, dtype=np.uint32)


def _as_array(sequence: object) -> NDArray[Any]:
    """What another library's tensor or column holds; an array of objects for what is neither."""
    if not hasattr(sequence, "__array__") or isinstance(sequence, np.generic):
        return np.empty(0, object)
    return np.asarray(sequence)


def _is_integer(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _two(row: Json) -> Iterator[Json]:
    items = list(row.list())
    if len(items) != 2:
        raise row.wrong("[left, right]")
    return iter(items)


def _frozen(array: Ids) -> Ids:
    kept: Ids = array.copy()
    kept.flags.writeable = False
    return kept
