"""What is trained if one says little more than where the shards are: by device, in one table.

Leaves out: presets (`config`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from syllabary.errors import ModelError
from syllabary.gpt.config import PRESETS, ModelConfig, TrainConfig, model_for_depth
from syllabary.gpt.run import Run, check_tokenizer
from syllabary.shards import Shards

MODEL = frozenset(field.name for field in fields(ModelConfig))
TRAIN = frozenset(field.name for field in fields(TrainConfig))
DEPTH = ("n_layer", "n_head", "n_embd")  # what the one dial sets
MOST_OFTEN = 10  # steps between two measurements, at least


@dataclass(frozen=True)
class Sizes:
    """Defaults of one kind of device. epochs: how often the train split is read.

    warmup, evals, saves: of the steps, the share that warms up, and how often a run is measured and saved.
    eval_batches: of each measurement but the last, which is of all.
    """

    depth: int
    block_size: int
    batch_size: int
    learning_rate: float
    positions: str = "rotary"
    dropout: float = 0.0
    epochs: float = 1.0
    warmup: float = 0.05
    evals: int = 20
    eval_batches: int = 50
    saves: int = 10


SIZES: Mapping[str, Sizes] = {
    "cpu": Sizes(depth=3, block_size=256, batch_size=8, learning_rate=4e-3, evals=10, eval_batches=16),
    "mps": Sizes(depth=6, block_size=256, batch_size=32, learning_rate=1e-3, epochs=2.0),
    "cuda": Sizes(depth=12, block_size=512, batch_size=64, learning_rate=6e-4, dropout=0.1, epochs=4.0),
}


def settings(
    shards: Shards,
    kind: str,
    *,
    preset: str | None = None,
    depth: int | None = None,
    epochs: float | None = None,
    **given: Any,
) -> tuple[ModelConfig, TrainConfig]:
    """Model and training for shards on a kind of device (`"cpu"`, `"cuda"`, `"mps"`).

    preset: one of `config.PRESETS`, in place of the table; depth: of `model_for_depth`; epochs: in place of
    steps; given: fields of either config, which go before all others. Without held-out documents,
    validation is on the last part of the train split. `ModelError` for settings that exclude one another.
    """
    shape, training = _sorted(epochs, given)
    if preset is not None:
        return _of_preset(shards, preset, depth, epochs, shape, training)
    sizes = SIZES[kind]
    shape = {"positions": sizes.positions, "dropout": sizes.dropout, "block_size": sizes.block_size, **shape}
    model = model_for_depth(sizes.depth if depth is None else depth, shards.vocab_size, **shape)
    train = TrainConfig(**{"batch_size": sizes.batch_size, "learning_rate": sizes.learning_rate, **training})
    if shards.val is None and "validation" not in given:
        train = replace(train, validation="contiguous")
    steps = training.get("steps", _steps(shards, model, train, sizes.epochs if epochs is None else epochs))
    often = {
        "steps": steps,
        "warmup": int(steps * sizes.warmup),
        "eval_every": max(MOST_OFTEN, steps // sizes.evals),
        "eval_batches": sizes.eval_batches,
        "save_every": max(MOST_OFTEN, steps // sizes.saves),
    }
    return model, replace(train, **{**often, **training})


def changed(
    run: Run, shards: Shards, *, depth: int | None = None, epochs: float | None = None, **given: Any
) -> tuple[ModelConfig, TrainConfig]:
    """Those of a run, with what is given in their place, as of `settings`. `ShardError`: others' shards."""
    check_tokenizer(run, shards.tokenizer_hash)
    shape, training = _sorted(epochs, given)
    if depth is not None:
        shape = {name: getattr(model_for_depth(depth, 1), name) for name in DEPTH} | shape
    model, train = replace(run.model, **shape), replace(run.train, **training)
    return model, train if epochs is None else replace(train, steps=_steps(shards, model, train, epochs))


def _sorted(epochs: float | None, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings of the model, and of its training."""
    if unknown := sorted(set(given) - MODEL - TRAIN):
        raise ModelError(f"{unknown[0]!r} is no setting of a model or its training")
    if epochs is not None and "steps" in given:
        raise ModelError("steps and epochs both say how long to train: give one")
    if epochs is not None and not 0 < epochs < math.inf:
        raise ModelError(f"epochs is {epochs}: give a number above 0")
    shape = {name: value for name, value in given.items() if name in MODEL}
    return shape, {name: value for name, value in given.items() if name in TRAIN}


def _of_preset(
    shards: Shards,
    name: str,
    depth: int | None,
    epochs: float | None,
    shape: Mapping[str, Any],
    training: Mapping[str, Any],
) -> tuple[ModelConfig, TrainConfig]:
    """A preset, with what was given in place of its own."""
    if name not in PRESETS:
        raise ModelError(f"there is no preset {name!r}: give one of {', '.join(PRESETS)}")
    if depth is not None:
        raise ModelError(f"the preset {name!r} has a depth of its own: give one of both")
    model = replace(PRESETS[name].model(shards.vocab_size), **shape)
    train = replace(PRESETS[name].train, **training)
    if epochs is not None:
        train = replace(train, steps=_steps(shards, model, train, epochs))
    return model, train


def _steps(shards: Shards, model: ModelConfig, train: TrainConfig, epochs: float) -> int:
    """Updates in which the part of the train split that is trained on is read `epochs` times."""
    share = 1.0 if train.validation == "documents" else 1 - train.validation_share
    step = train.batch_size * train.accumulate * model.block_size
    return max(1, round(epochs * share * len(shards.train.ids) / step))
