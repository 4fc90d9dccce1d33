"""Baselines of counting: equal to dictionaries, to a hand's worth of arithmetic, and the same however cut.

Leaves out: their place in a comparison (`test_gpt_compare`) and the command (`test_gpt_compare_cli`).
"""

from __future__ import annotations

import json
import lzma
import math
import unicodedata
from collections import Counter, defaultdict
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import syllabary
from syllabary.errors import ShardError
from syllabary.gpt import baselines as module
from syllabary.gpt.baselines import NGrams, baselines

TRAIN = ["low lower lowest", "the lowest low", "", "γράμματα καὶ γράμμα 🜛", "a", "new newer newest" * 9]
VAL = ["lowest of the low", "καὶ γράμματα ζ", "", "newer"]
END = "<|end|>"


def split(
    tokenizer: syllabary.Tokenizer, texts: list[str], end: str = "", name: str = "train"
) -> SimpleNamespace:
    """What a split of shards says of itself, in memory."""
    ids = [tokenizer.encode(text + end, special="allow") for text in texts]
    return SimpleNamespace(
        path=Path("out"),
        name=name,
        ids=np.array([one for document in ids for one in document], np.uint16),
        offsets=np.array([0, *accumulate(map(len, ids))], np.int64),
        text_bytes=sum(len(text.encode()) for text in texts),
    )


def shard_set(train: list[str], val: list[str], end: str = "") -> Any:
    tokenizer = syllabary.train(TRAIN, vocab_size=280, special_tokens=[END])
    return SimpleNamespace(
        train=split(tokenizer, train, end),
        val=split(tokenizer, val, end, "val"),
        vocab_size=tokenizer.vocab_size,
        index=SimpleNamespace(end=tokenizer.token_to_id(END) if end else None),
        tokenizer=lambda: tokenizer,
    )


def naive(train: list[list[int]], val: list[list[int]], order: int, size: int) -> float:
    """Nats of `val` by the formula as it is written, with dictionaries."""
    counts: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    start = (-1,) * (order - 1)
    for document in train:
        line = (*start, *document)
        for place in range(order - 1, len(line)):
            for length in range(order):
                counts[line[place - length : place]][line[place]] += 1

    def probability(symbol: int, context: tuple[int, ...]) -> float:
        shorter = probability(symbol, context[1:]) if context else 1 / size
        seen = counts.get(context)
        if seen is None:
            return shorter
        return (seen[symbol] + len(seen) * shorter) / (seen.total() + len(seen))

    return -sum(
        math.log(probability(line[place], line[place - order + 1 : place]))
        for document in val
        for line in [(*start, *document)]
        for place in range(order - 1, len(line))
    )


def symbols(shards: Any, name: str, order: int) -> tuple[list[list[int]], list[list[int]]]:
    """The documents of both splits as the baseline sees them."""
    tokenizer, end = shards.tokenizer(), shards.index.end
    found = []
    for part in (shards.train, shards.val):
        documents = [part.ids[a:b].tolist() for a, b in zip(part.offsets, part.offsets[1:], strict=False)]
        if name == "byte trigram":
            documents = [
                [*tokenizer.decode_bytes([i for i in ids if i != end]), *([256] if end in ids else [])]
                for ids in documents
            ]
        found.append(documents)
    return found[0], found[1]


@pytest.mark.parametrize("end", ["", END])
@pytest.mark.parametrize("step", [1, 2, 7, 1 << 19])
def test_equal_to_dictionaries(end: str, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEP", step)
    shards = shard_set(TRAIN, VAL, end)
    results = baselines(shards)
    assert [one.name for one in results] == ["byte trigram", "token unigram", "token bigram"]
    for one, order in zip(results, (3, 1, 2), strict=True):
        train, val = symbols(shards, one.name, order)
        size = 256 + bool(end) if order == 3 else shards.vocab_size
        wanted = naive(train, val, order, size)
        assert one.nats == pytest.approx(wanted, rel=1e-9)
        assert one.predictions == sum(map(len, val))
        assert one.bytes == len("".join(VAL).encode())
        assert one.bits_per_byte == pytest.approx(wanted / math.log(2) / one.bytes, rel=1e-12)
        assert one.counted == len(shards.train.ids)


documents = st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=6)


@given(documents, documents, st.integers(1, 3))
def test_any_documents_are_equal_to_dictionaries(
    train: list[list[int]], val: list[list[int]], order: int
) -> None:
    model = NGrams(order, 6)
    model.add(keys(train, order))
    wanted = naive(train, val, order, 6)
    assert -np.log(model.probabilities(keys(val, order))).sum() == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def keys(documents: list[list[int]], order: int) -> Any:
    """Keys in base 7 of each symbol and those before it, 6 standing before a document."""
    lines = [[6] * (order - 1) + document for document in documents]
    windows = [line[at : at + order] for line in lines for at in range(len(line) - order + 1)]
    return np.array([sum(s * 7**p for p, s in enumerate(reversed(w))) for w in windows], np.int64)


@given(documents, st.lists(st.integers(0, 6), min_size=2, max_size=2))
def test_probabilities_of_what_can_come_add_up_to_one(train: list[list[int]], context: list[int]) -> None:
    model = NGrams(3, 6)
    model.add(keys(train, 3))
    followers = np.array([(context[0] * 7 + context[1]) * 7 + symbol for symbol in range(6)], np.int64)
    assert model.probabilities(followers).sum() == pytest.approx(1)


def test_by_hand() -> None:
    """Of `a a b` twice: after a come a (2) and b (2), so P(b | a) = (2 + 2 P(b)) / (4 + 2)."""
    model = NGrams(2, 3)
    model.add(np.array([3 * 4 + 0, 0 * 4 + 0, 0 * 4 + 1] * 2, np.int64))
    single = (2 + 2 / 3) / (6 + 2)
    assert model.probabilities(np.array([0 * 4 + 1]))[0] == pytest.approx((2 + 2 * single) / 6)


def test_the_limit_counts_the_beginning_only() -> None:
    shards = shard_set(TRAIN, VAL)
    half = len(shards.train.ids) // 2
    cut = next(one for one in baselines(shards, limit=half) if one.name == "token bigram")
    assert cut.counted == half
    ids = shards.train.ids[:half]
    places = [at for at in shards.train.offsets if at < half]
    pieces = [ids[a:b].tolist() for a, b in zip(places, [*places[1:], half], strict=True)]
    _, val = symbols(shards, "token bigram", 2)
    assert cut.nats == pytest.approx(naive(pieces, val, 2, shards.vocab_size), rel=1e-9)


def test_more_context_helps_on_real_text(shared: Any) -> None:
    with lzma.open(shared / "corpora" / "greek.txt.xz", "rt", encoding="utf-8") as file:
        lines = unicodedata.normalize("NFC", file.read(800_000)).splitlines()
    tokenizer = syllabary.train(lines, vocab_size=4000)
    val, train = lines[::10], [line for at, line in enumerate(lines) if at % 10]
    shards: Any = SimpleNamespace(
        train=split(tokenizer, train),
        val=split(tokenizer, val),
        vocab_size=4000,
        index=SimpleNamespace(end=None),
        tokenizer=lambda: tokenizer,
    )
    trigram, unigram, bigram = baselines(shards)
    assert 1 < bigram.bits_per_byte < unigram.bits_per_byte < trigram.bits_per_byte < 2.5


def test_empty_splits_say_what_to_do() -> None:
    shards = shard_set(TRAIN, [""])
    with pytest.raises(ShardError, match=r"split val .* is empty: .*val=0\.1"):
        baselines(shards)
    shards.val = None
    with pytest.raises(ShardError, match="split val"):
        baselines(shards)
    with pytest.raises(ShardError, match="split train"):
        baselines(shard_set([], VAL))


def test_ids_beyond_the_vocabulary_are_an_error() -> None:
    shards = shard_set(TRAIN, VAL)
    shards.vocab_size = 200
    with pytest.raises(ShardError, match=r"beyond their 200 ids"):
        baselines(shards)


@pytest.mark.parametrize("name", ["train", "val"])
def test_offsets_that_fall_are_an_error(name: str) -> None:
    """They gave a figure that was wrong."""
    shards = shard_set(TRAIN, VAL)
    offsets = getattr(shards, name).offsets
    offsets[1:-1] = -5
    with pytest.raises(
        ShardError, match=rf"{name}\.offsets\.bin: offset 1 is -5, below 0 before it: the file"
    ):
        baselines(shards)
    offsets[1:-1] = offsets[-1] + 5
    with pytest.raises(ShardError, match=rf"{name}\.offsets\.bin: offset {len(offsets) - 1} is \d+, below"):
        baselines(shards)


def test_too_many_symbols_are_an_error() -> None:
    with pytest.raises(ShardError, match="too many to count 3 in a row"):
        NGrams(3, 1 << 22)


def test_the_record_is_json() -> None:
    one = baselines(shard_set(TRAIN, VAL))[0]
    assert json.loads(json.dumps(one.record()))["bits_per_byte"] == one.bits_per_byte
