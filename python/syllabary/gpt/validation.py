"""How well a model does while it is trained: a loss on text that it is not trained on.

An estimate, from some windows: evenly spread over the text and the same each time, or drawn anew where the
training draws its windows too (then a loss on training text is estimated likewise). Bits per byte follow from
the bytes that a token of the split has on average. `evaluate.bits_per_byte` reads the whole split.
Leaves out: when this is done, and what is written down of it (`train`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syllabary.errors import ShardError
from syllabary.gpt.backend import torch
from syllabary.gpt.config import ModelConfig, TrainConfig
from syllabary.gpt.data import Batches, check_length, gather, spread
from syllabary.gpt.device import Device
from syllabary.shards import Shards, Split

Ids = NDArray[np.integer]
TRAIN_STREAM, VALIDATION_STREAM = 1, 2  # of draws; 0 is the training's own


@dataclass(frozen=True)
class Validation:
    """Text to measure on: its ids, those trained on, and bytes a token of either (None: not known)."""

    ids: Ids
    trained: Ids
    bytes_per_token: float | None
    trained_bytes_per_token: float | None
    block_size: int
    train: TrainConfig
    device: Device

    @classmethod
    def of(cls, shards: Shards, model: ModelConfig, train: TrainConfig, device: Device) -> Validation:
        """The split that `train.validation` names; `ShardError` if the shards have none."""
        rate = _bytes_per_token(shards.train)
        if train.validation == "documents":
            if shards.val is None or not len(shards.val.ids):
                raise ShardError(
                    "these shards have no text for validation: write them with val=0.1, or set "
                    'validation="contiguous", which takes the last part of the train split'
                )
            ids, trained, val_rate = shards.val.ids, shards.train.ids, _bytes_per_token(shards.val)
        else:
            cut = int(len(shards.train.ids) * (1 - train.validation_share))
            ids, trained, val_rate = shards.train.ids[cut:], shards.train.ids[:cut], rate
        check_length(ids, model.block_size, "the validation split")
        return cls(ids, trained, val_rate, rate, model.block_size, train, device)

    def measure(self, model: Any, step: int, stop: Callable[[], bool]) -> dict[str, float | None] | None:
        """Losses in nats a token and bits a byte; None if `stop` says so on the way.

        model: called as `GPT` is. step: of the training, by which windows are drawn. With several processes
        each measures its rows, and all get the mean.
        """
        loss = self._loss(model, self.ids, VALIDATION_STREAM, step, stop)
        if loss is None:
            return None
        found = {"val_loss": loss, "bits_per_byte": _bits_per_byte(loss, self.bytes_per_token)}
        if self._draws:
            trained = self._loss(model, self.trained, TRAIN_STREAM, step, stop)
            if trained is None:
                return None
            found |= {"train_loss": trained, "train_bits_per_byte": self.trained_bits(trained)}
        return found

    def trained_bits(self, loss: float) -> float | None:
        """Bits a byte of a loss on the text that is trained on."""
        return _bits_per_byte(loss, self.trained_bytes_per_token)

    @property
    def _draws(self) -> bool:
        """Whether windows are drawn anew each time."""
        return self.train.order == "random" and self.train.eval_batches is not None

    def _loss(self, model: Any, ids: Ids, stream: int, step: int, stop: Callable[[], bool]) -> float | None:
        """The mean loss of the windows, over all processes; `model` is left as it was."""
        losses: list[Any] = []
        weights: list[int] = []
        before = model.training
        model.eval()
        try:
            with torch.no_grad(), self.device.autocast():
                for starts in self._batches(ids, stream, step):
                    if stop():
                        return None
                    if len(starts):
                        both = torch.from_numpy(gather(ids, starts, self.block_size)).to(self.device.name)
                        losses.append(model(both[:, :-1].contiguous(), both[:, 1:].contiguous())[1].float())
                        weights.append(len(starts))
        finally:
            model.train(before)
        total = torch.stack(losses).cpu().double() @ torch.tensor(weights).double() if losses else 0.0
        return self._mean(float(total), sum(weights))

    def _batches(self, ids: Ids, stream: int, step: int) -> Any:
        """Where windows begin, batch by batch, of this process."""
        size, count = self.train.batch_size, self.train.eval_batches
        rank, world = self.device.rank, self.device.world
        if self._draws and count is not None:
            drawn = Batches(
                ids, self.block_size, size, seed=self.train.seed, order="random",
                rank=rank, world=world, stream=stream,
            )  # fmt: skip
            return (drawn.starts(step * count + number) for number in range(count))
        limit = len(ids) if count is None else count * size
        starts = spread(ids, self.block_size, limit, "the validation split")
        return (starts[first : first + size][rank::world] for first in range(0, len(starts), size))

    def _mean(self, total: float, weight: int) -> float:
        """The mean over all processes."""
        if self.device.world == 1:
            return total / weight
        sums = torch.tensor([total, weight], dtype=torch.float64, device=self.device.name)
        torch.distributed.all_reduce(sums)
        return float(sums[0] / sums[1])


def _bytes_per_token(split: Split) -> float | None:
    return split.text_bytes / len(split.ids) if split.text_bytes and len(split.ids) else None


def _bits_per_byte(loss: float, bytes_per_token: float | None) -> float | None:
    """Bits a byte, of nats a token."""
    return None if bytes_per_token is None else loss / math.log(2) / bytes_per_token
