"""What a model and its training are, as plain data that is checked: no torch here.

Adds `ModelConfig`, `TrainConfig`, the one dial `model_for_depth`, and `PRESETS`. Both go through JSON, and a
key that is not known is an error. Leaves out: what the numbers do (`model`, `train`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from syllabary.errors import ModelError

Config = TypeVar("Config", bound="ModelConfig | TrainConfig")

HEAD_SIZE = 64  # of `model_for_depth`, as in GPT-2
MAX_VOCABULARY = 1 << 32  # ids are uint32
MAX_SIZE = 1 << 20  # of any other dimension: above it is a slip of the finger
MAX_STEPS = 1 << 40  # times MAX_SIZE it is a number of 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """The shape of a decoder-only transformer. The defaults are GPT-2's choices.

    vocab_size: rows of the embedding; the largest id + 1, or more.
    block_size: tokens that the model sees at once. n_layer, n_head, n_embd: as in GPT-2; the feed-forward
        layer is 4 * n_embd wide.
    dropout: on embeddings, attention weights and both residual branches.
    positions: "learned" (a vector for each of block_size places) or "rotary" (heads are turned by an angle
        that grows with the place; n_embd // n_head must be even).
    activation: "gelu" is GPT-2's form by tanh.
    bias: of linear layers and norms. qkv_bias: of q, k and v alone, where bias is on.
    tie_weights: the output layer is the embedding, transposed; untied, it has no bias.
    attention_scale: scores are divided by the root of n_embd // n_head ("head") or of n_embd ("embd", the
        slip of a well-known tutorial, kept so that its numbers can be had again).

    Raises `ModelError` with the field, its value and what is allowed.

    >>> ModelConfig(vocab_size=300, block_size=8, n_layer=1, n_head=2, n_embd=16).head_size
    8
    """

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0
    positions: Literal["learned", "rotary"] = "learned"
    activation: Literal["gelu", "relu"] = "gelu"
    bias: bool = True
    qkv_bias: bool = True
    tie_weights: bool = True
    attention_scale: Literal["head", "embd"] = "head"

    def __post_init__(self) -> None:
        _whole(self, "vocab_size", 1, MAX_VOCABULARY)
        for name in ("block_size", "n_layer", "n_head", "n_embd"):
            _whole(self, name, 1, MAX_SIZE)
        _real(self, "dropout", 0, 1, below=True)
        _choice(self, "positions", "learned", "rotary")
        _choice(self, "activation", "gelu", "relu")
        _choice(self, "attention_scale", "head", "embd")
        for name in ("bias", "qkv_bias", "tie_weights"):
            _choice(self, name, True, False)
        if self.n_embd % self.n_head:
            raise ModelError(f"n_embd is {self.n_embd}: give a multiple of n_head, which is {self.n_head}")
        if self.positions == "rotary" and self.head_size % 2:
            raise ModelError(
                f"n_embd // n_head is {self.head_size}: rotary positions need an even number; "
                'give another n_head, or positions="learned"'
            )

    @property
    def head_size(self) -> int:
        """Width of one head."""
        return self.n_embd // self.n_head

    @property
    def score_scale(self) -> float:
        """What the attention scores are multiplied by."""
        width: int = self.head_size if self.attention_scale == "head" else self.n_embd
        return float(width**-0.5)

    def to_json(self) -> dict[str, Any]:
        """Field -> plain JSON value."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: object) -> ModelConfig:
        """The reverse of `to_json`; `ModelError` for a key that is unknown or missing, and a bad value."""
        return _from_json(cls, data)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """How a model is trained.

    steps: updates of the weights. batch_size: sequences in one pass. accumulate: passes before an update;
        one update sees batch_size * accumulate * block_size tokens (torchrun's processes share the batch).
    learning_rate: the highest. warmup: updates from 0 to it (a warm-up longer than the run ends with it).
        schedule: then "constant", or "cosine" down to min_learning_rate * learning_rate at the last step.
    weight_decay, beta1, beta2: AdamW's. decay: what weight decay shrinks; "matrices" is what one does today,
        "all" is torch's own default (norms and biases too). clip: the largest norm of all gradients
        together; None: no clipping.
    eval_every, save_every: steps. eval_batches: batches of validation each time; None: the whole split.
    seed: of weights, order and dropout.
    order: "epoch" (every window once, shuffled, from a new phase each time) or "random" (windows drawn with
        replacement).
    validation: "documents" (the shards' own val split) or "contiguous" (the last validation_share of the
        tokens of train, as tutorials do).
    dtype: of the multiplications; weights and the optimizer are always float32. "auto": bfloat16 where the
        device is good at it. compile: torch.compile; "auto": on CUDA with Triton. device: "auto",
        "cpu", "cuda", "cuda:1", "mps".

    Raises `ModelError` with the field, its value and what is allowed.
    """

    steps: int = 1000
    batch_size: int = 16
    accumulate: int = 1
    learning_rate: float = 1e-3
    min_learning_rate: float = 0.1
    warmup: int = 100
    schedule: Literal["cosine", "constant"] = "cosine"
    weight_decay: float = 0.1
    decay: Literal["matrices", "all"] = "matrices"
    beta1: float = 0.9
    beta2: float = 0.95
    clip: float | None = 1.0
    eval_every: int = 250
    eval_batches: int | None = 50
    save_every: int = 250
    seed: int = 0
    order: Literal["epoch", "random"] = "epoch"
    validation: Literal["documents", "contiguous"] = "documents"
    validation_share: float = 0.1
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    compile: Literal["auto"] | bool = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        for name in ("batch_size", "accumulate"):
            _whole(self, name, 1, MAX_SIZE)
        for name in ("steps", "eval_every", "save_every"):
            _whole(self, name, 1, MAX_STEPS)
        _whole(self, "warmup", 0, MAX_STEPS)
        _whole(self, "seed", 0, 2**63 - 1)
        if self.eval_batches is not None:
            _whole(self, "eval_batches", 1, MAX_STEPS)
        if self.clip is not None:
            _real(self, "clip", 0, above=True)
        _real(self, "learning_rate", 0, above=True)
        _real(self, "min_learning_rate", 0, 1)
        _real(self, "weight_decay", 0)
        _real(self, "beta1", 0, 1, below=True)
        _real(self, "beta2", 0, 1, below=True)
        _real(self, "validation_share", 0, 1, above=True, below=True)
        _choice(self, "schedule", "cosine", "constant")
        _choice(self, "decay", "matrices", "all")
        _choice(self, "order", "epoch", "random")
        _choice(self, "validation", "documents", "contiguous")
        _choice(self, "dtype", "auto", "float32", "bfloat16")
        _choice(self, "compile", "auto", True, False)
        device: object = self.device
        if not isinstance(device, str) or not device:
            raise ModelError(f'device is {self.device!r}: give "auto", "cpu", "cuda", "cuda:1", "mps", …')

    def rate(self, step: int) -> float:
        """The learning rate of update `step`, counted from 0.

        >>> train = TrainConfig(steps=111, learning_rate=1.0, warmup=10, min_learning_rate=0.1)
        >>> [round(train.rate(step), 3) for step in (0, 9, 10, 60, 110, 500)]
        [0.1, 1.0, 1.0, 0.55, 0.1, 0.1]
        """
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        if self.schedule == "constant":
            return self.learning_rate
        last = self.steps - 1
        done = min(1.0, (step - self.warmup) / (last - self.warmup)) if last > self.warmup else 1.0
        share = self.min_learning_rate + (1 - self.min_learning_rate) * (1 + math.cos(math.pi * done)) / 2
        return self.learning_rate * share

    def to_json(self) -> dict[str, Any]:
        """Field -> plain JSON value."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: object) -> TrainConfig:
        """The reverse of `to_json`; `ModelError` for a key that is unknown or missing, and a bad value."""
        return _from_json(cls, data)


@dataclass(frozen=True, slots=True)
class Preset:
    """A model without its vocabulary, its training, and what must be said of it.

    unused: settings of the source that its own code never uses, with their values there.
    """

    shape: Mapping[str, Any]
    train: TrainConfig
    note: str
    unused: Mapping[str, Any] = field(default_factory=dict)

    def model(self, vocab_size: int) -> ModelConfig:
        """The model for a vocabulary."""
        return ModelConfig(vocab_size=vocab_size, **self.shape)


def model_for_depth(depth: int, vocab_size: int, block_size: int = 256, **changes: Any) -> ModelConfig:
    """A model by one dial: `depth` layers of width 64 * depth, with `depth` heads of 64.

    Width grows with depth, so the layers hold about 49,000 * depth**3 weights: 3 M at 4, 21 M at 12 with
    width 768 as GPT-2's smallest has (85 M), 4 and 6 fit a CPU. changes: other fields of `ModelConfig`.

    >>> model = model_for_depth(4, 16000)
    >>> model.n_layer, model.n_head, model.n_embd, model.block_size
    (4, 4, 256, 256)
    """
    _check_whole("depth", depth, 1, 256)
    shape = {"n_layer": depth, "n_head": depth, "n_embd": HEAD_SIZE * depth, "block_size": block_size}
    return ModelConfig(vocab_size=vocab_size, **{**shape, **changes})


def _from_json(cls: type[Config], data: object) -> Config:
    """A config from an object of exactly its fields."""
    if not isinstance(data, Mapping):
        raise ModelError(f"{cls.__name__}: must be an object of settings, not {type(data).__name__}")
    names = [each.name for each in dataclasses.fields(cls)]
    unknown = sorted(str(key) for key in data if key not in names)
    if unknown:
        raise ModelError(f"{cls.__name__}: unknown key {unknown[0]!r}; known are {', '.join(names)}")
    missing = [name for name in names if name not in data]
    if missing:
        raise ModelError(f"{cls.__name__}: {missing[0]!r} is missing")
    return cls(**data)


def _whole(config: Any, name: str, low: int, high: int | None = None) -> None:
    _check_whole(name, getattr(config, name), low, high)


def _check_whole(name: str, value: object, low: int, high: int | None) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low or (high and value > high):
        upwards = "or more" if high is None else f"to {high}"
        raise ModelError(f"{name} is {value!r}: give a whole number, {low} {upwards}")


def _real(
    config: Any, name: str, low: float, high: float = math.inf, *, above: bool = False, below: bool = False
) -> None:
    """Check a number between bounds, which belong to it unless `above` or `below`; an int becomes a float."""
    value = getattr(config, name)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (
        number
        and math.isfinite(value)
        and (low < value if above else low <= value)
        and (value < high if below else value <= high)
    ):
        least = f"above {low}" if above else f"{low} or more"
        most = "" if high == math.inf else f", below {high}" if below else f", at most {high}"
        raise ModelError(f"{name} is {value!r}: give a number {least}{most}")
    object.__setattr__(config, name, float(value))


def _choice(config: Any, name: str, *allowed: object) -> None:
    value = getattr(config, name)
    if not any(value is choice or (isinstance(choice, str) and value == choice) for choice in allowed):
        shown = ", ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in allowed)
        raise ModelError(f"{name} is {value!r}: give one of {shown}")


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "tutorial": Preset(
            shape=MappingProxyType(
                {
                    "block_size": 64,
                    "n_layer": 16,
                    "n_head": 16,
                    "n_embd": 128,
                    "dropout": 0.0,
                    "positions": "learned",
                    "activation": "relu",
                    "bias": True,
                    "qkv_bias": False,
                    "tie_weights": False,
                    "attention_scale": "embd",
                }
            ),
            train=TrainConfig(
                steps=5000,
                batch_size=64,
                learning_rate=5e-5,
                schedule="constant",
                warmup=0,
                weight_decay=0.01,
                decay="all",
                beta1=0.9,
                beta2=0.999,
                clip=None,
                eval_every=100,
                eval_batches=200,
                save_every=500,
                order="random",
                validation="contiguous",
                validation_share=0.1,
                dtype="float32",
            ),
            note="The tutorial's own numbers. Its settings say dropout 0.2, but its code never passes that "
            "on: 0 in effect, and 0 here. What it does not set of AdamW is torch's default: weight decay "
            "0.01 on everything, betas 0.9 and 0.999.",
            unused=MappingProxyType({"dropout": 0.2}),
        )
    }
)
