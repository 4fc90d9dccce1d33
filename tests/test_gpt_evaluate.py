"""Bits per byte of a whole split: equal to one window at a time, whatever the batch; each token once.

Leaves out: the comparison that reports it (`test_gpt_compare`).
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from syllabary.errors import ModelError, ShardError
from syllabary.gpt.config import ModelConfig
from syllabary.gpt.evaluate import _batches, bits_per_byte

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

SIZE, BLOCK = 11, 8


@pytest.fixture(scope="module")
def model() -> Any:
    from syllabary.gpt import GPT

    torch.manual_seed(0)
    return GPT(
        ModelConfig(vocab_size=SIZE, block_size=BLOCK, n_layer=2, n_head=2, n_embd=16, dropout=0.5)
    ).train()


def split(tokens: int, text_bytes: int = 100) -> Any:
    ids = np.random.default_rng(tokens).integers(0, SIZE, tokens).astype(np.uint16)
    return SimpleNamespace(ids=ids, text_bytes=text_bytes)


def naive(model: Any, ids: Any, stride: int) -> float:
    """Nats, one prediction at a time, each with what its first window shows it."""
    nats, done, start = 0.0, 0, 0
    last = len(ids) - 1
    while done < last:
        begin = max(0, min(start, last - BLOCK))
        window = torch.from_numpy(ids[begin : begin + BLOCK + 1].astype(np.int64))
        logits, _ = model(window[None, :-1])
        chances = torch.log_softmax(logits[0].double(), -1)
        for place in range(begin + 1, min(begin + BLOCK, last) + 1):
            if place > done:
                nats -= float(chances[place - begin - 1, int(ids[place])])
                done = place
        start += stride
    return nats


@pytest.mark.parametrize("tokens", [2, 5, 8, 9, 10, 16, 17, 18, 50])
@pytest.mark.parametrize("stride", [1, 3, None])
def test_equal_to_one_window_at_a_time(model: Any, tokens: int, stride: int | None) -> None:
    part = split(tokens)
    found = bits_per_byte(model, part, stride=stride, batch_size=3)
    model.eval()
    with torch.no_grad():
        wanted = naive(model, part.ids, stride or BLOCK)
    model.train()
    assert found.tokens == tokens - 1
    assert found.nats == pytest.approx(wanted, rel=1e-5)
    assert found.bits_per_byte == found.nats / math.log(2) / 100
    assert found.bits_per_token == found.nats / math.log(2) / (tokens - 1)


@pytest.mark.parametrize("stride", [1, 3, 7, 8])
@pytest.mark.parametrize("tokens", [2, 8, 9, 10, 25, 41])
def test_each_token_but_the_first_counts_once(tokens: int, stride: int) -> None:
    places = np.arange(tokens)
    counted: list[int] = []
    for windows, counts in _batches(places, BLOCK, stride, rows=2):
        assert (np.diff(windows, axis=1) == 1).all()
        counted += windows[:, 1:][counts].tolist()
    assert sorted(counted) == list(range(1, tokens))


def test_dropout_is_off_and_then_as_it_was(model: Any) -> None:
    part = split(40)
    assert bits_per_byte(model, part).nats == bits_per_byte(model, part).nats
    assert model.training


def test_the_batch_changes_nothing(model: Any) -> None:
    part = split(200)
    several = [bits_per_byte(model, part, batch_size=size).nats for size in (1, 4, 1000, None)]
    assert several == pytest.approx([several[0]] * 4, rel=1e-6)


def test_more_to_look_back_on_is_another_number(model: Any) -> None:
    part = split(200)
    assert bits_per_byte(model, part, stride=2).nats != bits_per_byte(model, part).nats


def test_progress_ends_with_all(model: Any) -> None:
    said: list[tuple[int, int]] = []
    bits_per_byte(model, split(60), batch_size=2, report=lambda done, total: said.append((done, total)))
    assert said[-1] == (59, 59)
    assert said == sorted(said)


@pytest.mark.parametrize("part", [split(0), split(1), split(9, 0)], ids=["none", "one", "no-text"])
def test_an_empty_split_says_what_to_do(model: Any, part: Any) -> None:
    with pytest.raises(ShardError, match=r"again with val=0\.1"):
        bits_per_byte(model, part)


def test_ids_beyond_the_vocabulary_are_named(model: Any) -> None:
    part = split(20)
    part.ids[7] = SIZE
    with pytest.raises(ModelError, match=f"id {SIZE} at position 7"):
        bits_per_byte(model, part)


@pytest.mark.parametrize("stride", [0, BLOCK + 1])
def test_a_stride_outside_the_block_is_an_error(model: Any, stride: int) -> None:
    with pytest.raises(ModelError, match="give 1 to 8"):
        bits_per_byte(model, split(20), stride=stride)


def test_predictions_that_are_no_number_are_an_error() -> None:
    from syllabary.gpt import GPT

    broken = GPT(ModelConfig(vocab_size=SIZE, block_size=BLOCK, n_layer=1, n_head=2, n_embd=16))
    with torch.no_grad():
        next(broken.parameters()).fill_(math.nan)
    with pytest.raises(ModelError, match="no numbers"):
        bits_per_byte(broken, split(20))
