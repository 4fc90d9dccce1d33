"""Small shards and small models for the tests of training.

Leaves out: the tests (`test_gpt_*`).
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import syllabary
from syllabary import shards as shards_module
from syllabary.gpt import ModelConfig, TrainConfig, log
from syllabary.shards import Shards

VOCAB = 280
WORDS = "arma virumque cano troiae qui primus ab oris italiam fato profugus laviniaque venit litora".split()


def documents(count: int, seed: int = 0) -> list[str]:
    """Texts with something to learn: words in a drawn order, each after its like."""
    draw = random.Random(seed)
    return [" ".join(draw.choice(WORDS) for _ in range(draw.randint(20, 60))) + "\n" for _ in range(count)]


def make_shards(
    path: Path, texts: list[str] | None = None, *, val: float = 0.2, vocab: int = VOCAB
) -> Shards:
    """Shards of texts, with a tokenizer trained on them."""
    chosen = documents(60) if texts is None else texts
    tok = syllabary.train(chosen, vocab_size=vocab)
    return shards_module.write(chosen, tok, path, val=val, processes=1)


def small(shards: Shards, **changes: Any) -> ModelConfig:
    """A model that trains in a moment."""
    shape: dict[str, Any] = {"block_size": 16, "n_layer": 1, "n_head": 2, "n_embd": 16}
    return ModelConfig(vocab_size=shards.vocab_size, **{**shape, **changes})


def short(**changes: Any) -> TrainConfig:
    """A training of 12 steps, measured at 0, 4, 8 and 12 and saved as often, on the CPU."""
    given: dict[str, Any] = {
        "steps": 12,
        "batch_size": 4,
        "warmup": 2,
        "learning_rate": 1e-2,
        "eval_every": 4,
        "save_every": 4,
        "eval_batches": 4,
        "device": "cpu",
    }
    return TrainConfig(**{**given, **changes})


def losses(run: Path) -> list[tuple[int, float]]:
    """Step and loss of the log, in the order in which they stand there."""
    return [
        (entry["step"], entry["loss"]) for entry in log.read(run / "log.jsonl") if entry["kind"] == "step"
    ]


def evaluations(run: Path) -> list[tuple[int, float]]:
    """Step and loss on validation, as in the log."""
    return [
        (entry["step"], entry["val_loss"]) for entry in log.read(run / "log.jsonl") if entry["kind"] == "eval"
    ]


def saved(run: Path) -> list[str]:
    """The names of the files of weights in a run's folder."""
    return sorted(path.name for path in run.glob("*.safetensors"))


def environment(**more: str) -> dict[str, str]:
    """For a process of its own: one thread, so sums are in one order and tests share the cores."""
    return {**os.environ, "OMP_NUM_THREADS": "1", **more}


SCRIPT = """
import json, sys
from syllabary.gpt import ModelConfig, TrainConfig
from syllabary.gpt.train import train
shards, run, model, settings = sys.argv[1:]
train(shards, run, ModelConfig.from_json(json.loads(model)), TrainConfig.from_json(json.loads(settings)))
"""


def command(shards: Shards, run: Path, model: ModelConfig, train: TrainConfig) -> list[str]:
    """The arguments after the interpreter's that train in a process of its own."""
    configs = [json.dumps(each.to_json()) for each in (model, train)]
    return ["-c", SCRIPT, str(shards.path), str(run), *configs]
