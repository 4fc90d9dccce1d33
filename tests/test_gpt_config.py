"""What a model and its training are: checked numbers, strict JSON, the dial, the tutorial's preset."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from syllabary.errors import ModelError
from syllabary.gpt import PRESETS, ModelConfig, TrainConfig, model_for_depth

SMALL = {"vocab_size": 300, "block_size": 8, "n_layer": 2, "n_head": 2, "n_embd": 16}

BAD_MODELS = [
    ({"n_embd": 17}, "n_embd is 17", "multiple of n_head, which is 2"),
    ({"n_embd": 6, "positions": "rotary"}, "is 3", "even number"),
    ({"vocab_size": 0}, "vocab_size is 0", "1 to"),
    ({"n_layer": 0}, "n_layer is 0", "1 to"),
    ({"n_head": True}, "n_head is True", "whole number"),
    ({"block_size": 8.0}, "block_size is 8.0", "whole number"),
    ({"block_size": 1 << 40}, "block_size is 1099511627776", "1 to"),
    ({"dropout": 1.0}, "dropout is 1.0", "below 1"),
    ({"dropout": math.nan}, "dropout is nan", "0 or more"),
    ({"dropout": "0.1"}, "dropout is '0.1'", "number"),
    ({"positions": "alibi"}, "positions is 'alibi'", '"learned", "rotary"'),
    ({"activation": ["gelu"]}, "activation is ['gelu']", '"gelu", "relu"'),
    ({"attention_scale": 1}, "attention_scale is 1", '"head", "embd"'),
    ({"bias": 1}, "bias is 1", "True, False"),
]
BAD_TRAININGS = [
    ({"steps": 0}, "steps is 0"),
    ({"batch_size": -1}, "batch_size is -1"),
    ({"batch_size": 10**23}, "batch_size is 100000000000000000000000: give a whole number, 1 to 1048576"),
    ({"accumulate": 10**23}, "accumulate is 100000000000000000000000"),
    ({"steps": 10**23}, "steps is 100000000000000000000000"),
    ({"warmup": -1}, "warmup is -1"),
    ({"learning_rate": 0}, "learning_rate is 0"),
    ({"learning_rate": math.inf}, "learning_rate is inf"),
    ({"min_learning_rate": 1.5}, "min_learning_rate is 1.5"),
    ({"beta2": 1}, "beta2 is 1"),
    ({"clip": 0}, "clip is 0"),
    ({"eval_batches": 0}, "eval_batches is 0"),
    ({"seed": -1}, "seed is -1"),
    ({"seed": 2**63}, "seed is 9223372036854775808"),
    ({"validation_share": 1}, "validation_share is 1"),
    ({"schedule": "linear"}, "schedule is 'linear'"),
    ({"compile": "yes"}, "compile is 'yes'"),
    ({"compile": 1}, "compile is 1"),
    ({"device": ""}, "device is ''"),
]


@pytest.mark.parametrize("changes, what, allowed", BAD_MODELS)
def test_a_model_that_cannot_be_is_refused(changes: dict[str, Any], what: str, allowed: str) -> None:
    with pytest.raises(ModelError) as caught:
        ModelConfig(**{**SMALL, **changes})
    assert what in str(caught.value)
    assert allowed in str(caught.value)


@pytest.mark.parametrize("changes, what", BAD_TRAININGS)
def test_a_training_that_cannot_be_is_refused(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(ModelError) as caught:
        TrainConfig(**changes)
    assert what in str(caught.value)
    assert ": give " in str(caught.value)


@pytest.mark.parametrize(
    "config",
    [ModelConfig(**SMALL), model_for_depth(3, 70_000, dropout=0.1), TrainConfig(), PRESETS["tutorial"].train],
    ids=["small", "depth", "defaults", "tutorial"],
)
def test_json_and_back(config: ModelConfig | TrainConfig) -> None:
    assert type(config).from_json(json.loads(json.dumps(config.to_json()))) == config


def test_json_is_strict() -> None:
    data = ModelConfig(**SMALL).to_json()
    with pytest.raises(ModelError, match="unknown key 'n_embed'; known are vocab_size"):
        ModelConfig.from_json({**data, "n_embed": 3})
    with pytest.raises(ModelError, match="'n_embd' is missing"):
        ModelConfig.from_json({key: value for key, value in data.items() if key != "n_embd"})
    with pytest.raises(ModelError, match="n_layer is '2'"):
        ModelConfig.from_json({**data, "n_layer": "2"})
    with pytest.raises(ModelError, match="must be an object of settings, not list"):
        TrainConfig.from_json([])


def test_the_dial() -> None:
    for depth in (1, 4, 12):
        model = model_for_depth(depth, 1000)
        assert (model.n_layer, model.n_embd, model.head_size) == (depth, 64 * depth, 64)
    assert model_for_depth(2, 1000, 32, positions="rotary").positions == "rotary"
    for depth in (0, -1, 257, 2.5, True):
        with pytest.raises(ModelError, match="depth is"):
            model_for_depth(depth, 1000)  # type: ignore[arg-type]


def test_the_tutorial() -> None:
    preset = PRESETS["tutorial"]
    model, train = preset.model(5000), preset.train
    assert (model.vocab_size, model.n_embd, model.n_head, model.n_layer) == (5000, 128, 16, 16)
    assert (model.block_size, train.batch_size, train.steps) == (64, 64, 5000)
    assert (train.learning_rate, train.schedule, train.warmup) == (5e-5, "constant", 0)
    assert (train.eval_every, train.eval_batches) == (100, 200)
    assert (train.validation, train.validation_share, train.order) == ("contiguous", 0.1, "random")
    assert (model.activation, model.positions, model.tie_weights) == ("relu", "learned", False)
    assert (model.bias, model.qkv_bias, train.clip, train.accumulate) == (True, False, None, 1)
    assert model.score_scale == 128**-0.5
    assert (model.dropout, preset.unused["dropout"]) == (0.0, 0.2)
    assert "dropout 0.2" in preset.note
    assert (train.weight_decay, train.decay, train.beta1, train.beta2) == (0.01, "all", 0.9, 0.999)


def test_the_rate_of_a_cosine_and_of_a_constant() -> None:
    train = TrainConfig(steps=1001, learning_rate=2.0, warmup=100, min_learning_rate=0.25)
    rates = [train.rate(step) for step in range(1001)]
    assert rates[:100] == [2.0 * (step + 1) / 100 for step in range(100)]
    assert all(before >= after for before, after in pairwise(rates[99:]))
    assert (rates[100], rates[550], rates[1000]) == (2.0, pytest.approx(1.25), 0.5)
    constant = TrainConfig(steps=10, learning_rate=2.0, warmup=2, schedule="constant")
    assert [constant.rate(step) for step in range(10)] == [1.0] + [2.0] * 9
    short = TrainConfig(steps=5, learning_rate=1.0, warmup=100)
    assert [short.rate(step) for step in range(5)] == [0.01, 0.02, 0.03, 0.04, 0.05]
    assert TrainConfig(steps=1, warmup=0, learning_rate=1.0).rate(0) > 0


def test_configs_are_had_without_torch() -> None:
    script = "import sys, syllabary.gpt as g; g.model_for_depth(2, 300); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, check=True)
    assert done.stdout.split() == ["False"]


def test_without_torch_the_error_says_what_to_install() -> None:
    script = (
        "import sys, importlib; sys.modules['torch'] = None\n"
        "from syllabary.errors import ModelError\n"
        "for name in sys.argv[1:]:\n"
        "    try: importlib.import_module('syllabary.gpt.' + name)\n"
        "    except ModelError as error: print(name, 'pip install \\'syllabary[gpt]\\'' in str(error))"
    )
    names = ["checkpoint", "export", "generate", "loss", "model", "trained"]
    command = [sys.executable, "-c", script, *names]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    assert done.stdout.splitlines() == [f"{name} True" for name in names]


def test_names_of_the_package() -> None:
    import syllabary.gpt as gpt

    assert gpt.GPT.__name__ == "GPT"
    with pytest.raises(AttributeError, match="no attribute 'Gpt'"):
        _ = gpt.Gpt
