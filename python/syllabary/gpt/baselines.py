"""Baselines: what counting alone reaches on the same split, in bits per byte of the same text.

Adds the token unigram, the token bigram and the byte trigram, counted on `train` and measured on `val`. All
three are smoothed by interpolated Witten-Bell (Witten and Bell 1991, method C), which has nothing to tune:

    P(w | h) = (c(h w) + t(h) P(w | h')) / (c(h) + t(h)),    P(w) = (c(w) + t / V) / (n + t)

c counts in `train`; t(h) is the number of different symbols seen after h, h' is h without its first symbol;
a context never seen gives P(w | h'). V is the number of symbols that can come: ids, or bytes.

Contexts begin anew with each document. Where shards end each document with a token, all three predict it
(for bytes it is a 257th symbol), so they answer the same question as a model trained on those shards.

Numpy alone; vectorised over sorted keys, one for each distinct n-gram. Leaves out: neural models
(`evaluate`) and the table (`compare`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syllabary.errors import ShardError
from syllabary.shards.reading import check_rising

if TYPE_CHECKING:
    from syllabary.shards import Shards, Split
    from syllabary.tokenizer import Tokenizer

Ints = NDArray[np.int64]
Pieces = Callable[["Split", int], Iterator[tuple[Ints, Ints]]]

LIMIT = 1 << 26  # tokens of `train` that are counted; with it, memory has a bound
STEP = 1 << 19  # tokens at a time
END = 256  # the symbol after the 256 bytes: the token that ends a document


@dataclass(frozen=True, slots=True)
class Baseline:
    """What one baseline reaches on `val`.

    nats: of all predictions together. predictions: symbols of `val` (tokens, or bytes and ends of
    documents). bytes: UTF-8 bytes of the text of `val`, as read. counted: tokens of `train` it was counted
    on. seconds: that counting and measuring took.
    """

    name: str
    nats: float
    predictions: int
    bytes: int
    counted: int
    seconds: float

    @property
    def bits_per_byte(self) -> float:
        """Bits for each byte of the text."""
        return self.nats / math.log(2) / self.bytes

    def record(self) -> dict[str, Any]:
        """As JSON holds it, with `bits_per_byte`."""
        return asdict(self) | {"bits_per_byte": self.bits_per_byte}


def baselines(shards: Shards, *, limit: int = LIMIT) -> list[Baseline]:
    """Byte trigram, token unigram and token bigram of a shard set, in this order.

    limit: at most so many tokens from the beginning of `train` are counted (`Baseline.counted` says how
    many it was). Memory is about 50 bytes for each distinct pair of tokens among them, and some 200 MB;
    three million tokens take a second or two.

    Raises `ShardError` if `train` or `val` is missing or empty, holds ids beyond the vocabulary, or has
    offsets that fall.
    """
    train, val = _nonempty(shards, "train"), _nonempty(shards, "val")
    size, end = shards.vocab_size, shards.index.end
    tokenizer = shards.tokenizer()

    def as_tokens(split: Split, stop: int) -> Iterator[tuple[Ints, Ints]]:
        return _tokens(split, stop, size)

    def as_bytes(split: Split, stop: int) -> Iterator[tuple[Ints, Ints]]:
        return _bytes(split, stop, size, tokenizer, end)

    letters = END + (end is not None)
    return [
        _measure("byte trigram", 3, letters, as_bytes, train, val, limit),
        _measure("token unigram", 1, size, as_tokens, train, val, limit),
        _measure("token bigram", 2, size, as_tokens, train, val, limit),
    ]


def _nonempty(shards: Shards, name: str) -> Split:
    split: Split | None = getattr(shards, name)
    if split is None or not len(split.ids) or not split.text_bytes:
        way_out = "write them again with val=0.1" if name == "val" else "give more documents"
        raise ShardError(f"the split {name} of the shards is empty: {way_out}")
    check_rising(split)
    return split


def _measure(
    name: str, order: int, size: int, pieces: Pieces, train: Split, val: Split, limit: int
) -> Baseline:
    """Count n-grams of `order` over `size` symbols on `train`, predict `val`."""
    start = time.perf_counter()
    counted = min(limit, len(train.ids))
    model = NGrams(order, size)
    for keys in _keys(pieces(train, counted), order, size):
        model.add(keys)
    nats, predictions = 0.0, 0
    for keys in _keys(pieces(val, len(val.ids)), order, size):
        distinct, times = np.unique(keys, return_counts=True)
        nats -= float(times @ np.log(model.probabilities(distinct)))
        predictions += len(keys)
    seconds = time.perf_counter() - start
    return Baseline(name, nats, predictions, val.text_bytes, counted, seconds)


# ---- documents -> keys of n-grams ----


def _tokens(split: Split, stop: int, size: int) -> Iterator[tuple[Ints, Ints]]:
    """Stretches of ids, and where in each a document begins."""
    offsets = np.asarray(split.offsets)
    for begin in range(0, stop, STEP):
        ids = np.asarray(split.ids[begin : min(begin + STEP, stop)]).astype(np.int64)
        if ids.max() >= size:
            raise ShardError(f"id {ids.max()} in the shards is beyond their {size} ids: write them again")
        first, last = np.searchsorted(offsets, [begin, begin + len(ids)])
        yield ids, np.unique(offsets[first:last]) - begin


def _bytes(
    split: Split, stop: int, size: int, tokenizer: Tokenizer, end: int | None
) -> Iterator[tuple[Ints, Ints]]:
    """The same stretches, decoded: bytes as 0..255, the token `end` as 256."""
    for ids, starts in _tokens(split, stop, size):
        cuts = starts if len(starts) and starts[0] == 0 else np.append(0, starts)
        parts = []
        for document in np.split(ids, cuts[1:]):
            ended = end is not None and document[-1] == end
            text = tokenizer.decode_bytes(document[: len(document) - ended])
            parts.append(np.frombuffer(text, np.uint8).astype(np.int64))
            if ended:
                parts[-1] = np.append(parts[-1], END)
        places = np.append(0, np.cumsum([len(part) for part in parts]))[:-1]
        yield np.concatenate(parts), places if cuts is starts else places[1:]


def _keys(pieces: Iterator[tuple[Ints, Ints]], order: int, size: int) -> Iterator[Ints]:
    """One key for each symbol: it and the `order - 1` before it, the last in the lowest place.

    Before a document stand `order - 1` times the symbol `size`, which itself is never predicted. With n
    symbols before and at a place, key = ((s1 (size + 1) + s2) (size + 1) + …) + sn.
    """
    base, before = size + 1, order - 1
    tail = np.full(before, size, np.int64)  # the last symbols of the stretch before
    for symbols, starts in pieces:
        stream = np.concatenate([tail, np.insert(symbols, np.repeat(starts, before), size)])
        tail = stream[len(stream) - before :]
        keys = np.zeros(len(stream) - before, np.int64)
        for place in range(order):
            keys = keys * base + stream[place : len(stream) - before + place]
        yield keys[stream[before:] != size]


# ---- counting and predicting ----


class NGrams:
    """Counts of n-grams as sorted keys, and Witten-Bell probabilities from them.

    order: 1, 2 or 3. size: the number of symbols; with the one that stands before documents, all keys are
    below (size + 1) ** order, which must fit 63 bits.
    """

    def __init__(self, order: int, size: int) -> None:
        if (size + 1) ** order >= 1 << 63:
            raise ShardError(f"{size} ids are too many to count {order} in a row: give a smaller vocabulary")
        self.order, self.size = order, size
        self._keys: Ints = np.empty(0, np.int64)
        self._counts: Ints = np.empty(0, np.int64)
        self._levels: list[_Level] = []  # of 1, 2, … symbols; made when first asked for

    def add(self, keys: Ints) -> None:
        """Count these keys, shape (n,), too."""
        if not len(keys):
            return
        more, times = np.unique(keys, return_counts=True)
        both = np.concatenate([self._keys, more]), np.concatenate([self._counts, times])
        self._keys, self._counts = _summed(*both)
        self._levels = []

    def probabilities(self, keys: Ints) -> NDArray[np.float64]:
        """P(last symbol | those before it) of each key, shape (n,)."""
        found = np.full(len(keys), 1 / self.size)
        if not len(self._keys):
            return found
        base = self.size + 1
        if not self._levels:
            lengths = range(1, self.order + 1)
            self._levels = [_level(self._keys % base**length, self._counts, base) for length in lengths]
        for length, level in enumerate(self._levels, 1):
            wanted = keys % base**length
            at, known = _look_up(level.contexts, wanted // base)
            place, present = _look_up(level.keys, wanted)
            times = np.where(present, level.counts[place], 0)
            better = (times + level.types[at] * found) / (level.totals[at] + level.types[at])
            found = np.where(known, better, found)
        return found


@dataclass(frozen=True, slots=True)
class _Level:
    """n-grams of one length: their sorted keys and counts; of each context, its sum and its kinds."""

    keys: Ints
    counts: Ints
    contexts: Ints
    totals: Ints
    types: Ints


def _level(keys: Ints, counts: Ints, base: int) -> _Level:
    keys, counts = _summed(keys, counts)
    contexts, first = np.unique(keys // base, return_index=True)
    types = np.diff(np.append(first, len(keys)))
    return _Level(keys, counts, contexts, np.add.reduceat(counts, first), types)


def _summed(keys: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Sorted distinct keys, and the sum of the counts of each."""
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[first], np.add.reduceat(counts, first)


def _look_up(table: Ints, keys: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Where each key is in the sorted table, and whether it is there (if not, the place is any)."""
    places = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return places, table[places] == keys
