"""Bits per byte: what a model reaches on a whole split, in a unit that no tokenizer changes.

A loss per token says nothing across vocabularies: larger tokens are harder to predict, and there are fewer.
Here the nats of all predictions are added up and divided by the bytes of the text, as it was read.

The ids of the split are one line, as in training, cut into windows of the model's block. Each token but the
first is predicted once; windows that overlap (`stride`) give each more to look back on, at more cost.
Leaves out: baselines by counting (`baselines`), estimates while training (`train`). torch is imported inside
functions.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syllabary.errors import ModelError, ShardError
from syllabary.gpt.data import check_ids

if TYPE_CHECKING:
    from syllabary.gpt.device import Device
    from syllabary.gpt.model import GPT
    from syllabary.shards import Split
    from syllabary.tokenizer import Tokenizer

TOKENS = 1 << 13  # at a time


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a model reaches on a text.

    nats: of all predictions together. tokens: how many there were. bytes: of the text, in UTF-8, as read.
    """

    nats: float
    tokens: int
    bytes: int
    seconds: float

    @property
    def bits_per_byte(self) -> float:
        """Bits for each byte of the text."""
        return self.nats / math.log(2) / self.bytes

    @property
    def bits_per_token(self) -> float:
        """Bits for each prediction; only for one tokenizer with itself."""
        return self.nats / math.log(2) / self.tokens

    def record(self) -> dict[str, Any]:
        """As JSON holds it, with both rates."""
        return asdict(self) | {"bits_per_byte": self.bits_per_byte, "bits_per_token": self.bits_per_token}


def bits_per_byte(
    model: GPT,
    split: Split,
    *,
    batch_size: int | None = None,
    stride: int | None = None,
    device: Device | None = None,
    report: Callable[[int, int], object] | None = None,
) -> Evaluation:
    """Predict the whole split with `model`, where it is, without changing it.

    batch_size: windows at a time; None: 8,192 tokens.
    stride: from one window to the next, in tokens; None: the model's block, so that windows do not overlap.
    device: whose number format is used; None: that of the weights.
    report: called with the tokens predicted so far, and all.

    Raises `ShardError` for a split without text or with one token, `ModelError` for ids beyond the model's
    vocabulary and for predictions that are no number.
    """
    from syllabary.gpt.backend import torch

    block = model.config.block_size
    step = block if stride is None else stride
    if not 1 <= step <= block:
        raise ModelError(f"stride is {stride}: give 1 to {block}, the model's block")
    if len(split.ids) < 2 or not split.text_bytes:
        raise ShardError("the split is empty, or has one token: write the shards again with val=0.1")
    check_ids(split.ids, model.config.vocab_size, "the split")
    rows = batch_size or max(1, TOKENS // block)
    context = contextlib.nullcontext() if device is None else device.autocast()
    start, nats, done, last = time.perf_counter(), 0.0, 0, len(split.ids) - 1
    with _evaluating(model), torch.inference_mode(), context:
        for ids, counted in _batches(split.ids, block, step, rows):
            batch = torch.from_numpy(ids).to(model.device)
            _, losses = model(batch[:, :-1], batch[:, 1:], reduction="none")
            assert losses is not None  # targets were given
            nats += float(losses.cpu().double()[torch.from_numpy(counted)].sum())
            done += int(counted.sum())
            if report is not None:
                report(done, last)
    if not math.isfinite(nats):
        raise ModelError("the model's predictions are no numbers: its weights are damaged or diverged")
    return Evaluation(nats, done, split.text_bytes, time.perf_counter() - start)


def caution(split: Split, tokenizer: Tokenizer, end: int | None) -> str | None:
    """A sentence if ids do not decode to as many bytes as the text had; None if they do.

    Tokens for what is unknown, and normalizers, drop what then need not be predicted. end: the id that
    `shards.write` put after each document.
    """
    decoded = 0
    for ids in split:
        ended = end is not None and len(ids) > 0 and int(ids[-1]) == end
        decoded += len(tokenizer.decode_bytes(ids[: len(ids) - ended]))
    if decoded == split.text_bytes:
        return None
    return (
        f"the tokenizer does not give this text back as it was ({decoded:,} of {split.text_bytes:,} bytes): "
        "bits per byte compare only roughly"
    )


@contextlib.contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """The model without dropout, and then as it was."""
    before = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(before)


def _batches(
    ids: NDArray[np.integer], block: int, stride: int, rows: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Windows and which of their predictions count: (rows, length + 1) int64 and (rows, length) bool.

    Windows begin `stride` apart; the last begins so early that it, too, is whole. A prediction counts
    where no window before has made it.
    """
    last = len(ids) - 1  # the place of the last token, and the number of predictions
    length = min(block, last)
    count = 1 + -(-(last - length) // stride)
    for first in range(0, count, rows):
        numbers = np.arange(first, min(first + rows, count), dtype=np.int64)
        starts = np.minimum(numbers * stride, last - length)
        places = starts[:, None] + np.arange(length + 1)
        made = np.where(numbers, (numbers - 1) * stride + length, 0)  # predictions of the windows before
        yield ids[places].astype(np.int64), places[:, 1:] > made[:, None]
