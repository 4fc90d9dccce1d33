"""Checkpoints: what is saved comes back bit by bit, training goes on from it, and damage is named."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")

from syllabary.errors import CheckpointError  # noqa: E402
from syllabary.gpt import checkpoint  # noqa: E402
from syllabary.gpt.config import ModelConfig, TrainConfig  # noqa: E402
from syllabary.gpt.model import GPT  # noqa: E402

SHAPE = ModelConfig(vocab_size=29, block_size=8, n_layer=2, n_head=2, n_embd=16, dropout=0.2)


class Training:
    """A model that learns random ids, with dropout."""

    def __init__(self, shape: ModelConfig = SHAPE, seed: int = 0) -> None:
        self.model = GPT(shape, seed)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2)
        self.step = 0

    def run(self, steps: int) -> list[float]:
        found = []
        for _ in range(steps):
            ids = torch.randint(29, (4, 9), generator=torch.Generator().manual_seed(self.step))
            _, loss = self.model(ids[:, :-1], ids[:, 1:])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            found.append(loss.item())
        return found

    def save(self, path: Path, **changes: Any) -> Path:
        given = {
            "model": self.model,
            "optimizer": self.optimizer,
            "step": self.step,
            "configs": {"train": TrainConfig(steps=7)},
            "rng": checkpoint.rng_state(),
            "extra": {"end": 3, "name": "μῆνιν"},
        }
        checkpoint.save(path, **{**given, **changes})
        return path


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    training = Training()
    training.run(2)
    return training.save(tmp_path_factory.mktemp("run") / "checkpoint-2.safetensors")


def changed(saved: Path, path: Path, tensors: Any = None, record: Any = None, metadata: Any = None) -> Path:
    """A copy of a checkpoint after functions that change its parts in place."""
    parts = safetensors.load_file(saved)
    with safetensors.safe_open(saved, framework="pt") as file:
        header = json.loads(file.metadata()["syllabary"])
    if tensors is not None:
        tensors(parts)
    if record is not None:
        record(header)
    whole = {"syllabary": json.dumps(header)} if metadata is None else metadata
    safetensors.save_file(parts, path, metadata=whole)
    return path


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    training = Training()
    training.run(3)
    data = checkpoint.load(training.save(tmp_path / "a.safetensors"))
    assert (data.step, data.extra) == (3, {"end": 3, "name": "μῆνιν"})
    assert data.model_config == SHAPE
    assert TrainConfig.from_json(data.configs["train"]) == TrainConfig(steps=7)
    weights = dict(training.model.named_parameters())
    assert list(data.model) == sorted(weights)
    for name, weight in weights.items():
        assert torch.equal(data.model[name], weight)
        state = training.optimizer.state[weight]
        assert set(data.optimizer[name]) == set(state) == {"step", "exp_avg", "exp_avg_sq"}
        assert all(torch.equal(data.optimizer[name][key], state[key]) for key in state)
    assert torch.equal(data.rng["cpu"], torch.get_rng_state())
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


@pytest.mark.parametrize("shape", [{}, {"tie_weights": False, "positions": "rotary"}], ids=["tied", "untied"])
def test_training_goes_on_bit_by_bit(shape: dict[str, Any], tmp_path: Path) -> None:
    config = ModelConfig(**{**SHAPE.to_json(), **shape})
    torch.manual_seed(5)
    first = Training(config)
    first.run(4)
    path = first.save(tmp_path / "a.safetensors")
    wanted = first.run(4)

    torch.manual_seed(99)
    second = Training(config, seed=99)
    data = checkpoint.load(path)
    data.restore(second.model, second.optimizer)
    checkpoint.set_rng_state(data.rng)
    second.step = data.step
    assert second.run(4) == wanted
    for mine, other in zip(first.model.parameters(), second.model.parameters(), strict=True):
        assert torch.equal(mine, other)


def test_a_tied_layer_is_stored_once(saved: Path) -> None:
    names = list(safetensors.load_file(saved))
    assert "model.tokens.weight" in names
    assert "model.head.weight" not in names
    weights = sum(each.numel() for each in GPT(SHAPE).parameters())
    assert saved.stat().st_size < 4 * 3 * weights + 5056 + 16_000  # state of the generator, header


def test_only_the_weights_are_read_if_asked(saved: Path) -> None:
    data = checkpoint.load(saved, parts=("model",))
    assert (data.optimizer, data.rng, data.step) == ({}, {}, 2)
    model = data.build()
    assert not model.training
    assert torch.equal(model.tokens.weight, data.model["tokens.weight"])


def test_weights_alone(tmp_path: Path) -> None:
    training = Training()
    training.run(1)
    path = training.save(tmp_path / "best.safetensors", optimizer=None, rng=None)
    data = checkpoint.load(path)
    data.restore(Training(seed=1).model)
    with pytest.raises(CheckpointError, match=r"best.safetensors: weights without the optimizer's state"):
        data.restore(training.model, training.optimizer)
    fresh = Training()
    at_the_beginning = checkpoint.load(fresh.save(tmp_path / "0.safetensors"))
    at_the_beginning.restore(training.model, training.optimizer)
    assert not training.optimizer.state


def test_the_file_does_not_hang_on_what_is_read_later(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(saved.read_bytes())
    data = checkpoint.load(path)
    before = data.model["tokens.weight"].clone()
    with path.open("rb+") as file:
        file.write(b"\xff" * path.stat().st_size)
    assert torch.equal(data.model["tokens.weight"], before)


# ---- damage ----


@pytest.mark.parametrize("left", [0, 1, 7, 8, 100, 0.2, 0.5, 0.999, -1])
def test_a_file_cut_short(left: float, saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    path = tmp_path / "cut.safetensors"
    path.write_bytes(whole[: int(left * len(whole)) if 0 < left < 1 else int(left)])
    with pytest.raises(CheckpointError, match=r"cut.safetensors: cut short, damaged.*older checkpoint"):
        checkpoint.load(path)


FOREIGN = {
    "text": (b"this is no checkpoint, but it is long enough", "cut short, damaged, or no checkpoint"),
    "pickle": (b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.", "cut short, damaged, or no checkpoint"),
    "zip": (b"PK\x03\x04" + b"\0" * 60, "cut short, damaged, or no checkpoint"),
    "huge header": (struct.pack("<Q", 2**63) + b"{}", "cut short, damaged, or no checkpoint"),
    "empty header": (struct.pack("<Q", 2) + b"{}", "no checkpoint of syllabary"),
}


@pytest.mark.parametrize("name", sorted(FOREIGN))
def test_a_file_of_another_kind(name: str, tmp_path: Path) -> None:
    data, message = FOREIGN[name]
    path = tmp_path / "x.safetensors"
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match=message) as caught:
        checkpoint.load(path)
    assert str(path) in str(caught.value)


RECORDS = {
    "other format": ({"format": "x"}, "not of the format"),
    "later version": ({"version": 2}, "version 2 of the format.*update"),
    "no step": ({"step": None}, "no 'step'"),
    "no configs": ({"configs": []}, "no 'configs'"),
    "no extra": ({"extra": 1}, "no 'extra'"),
}


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_header_that_says_something_else(name: str, saved: Path, tmp_path: Path) -> None:
    changes, message = RECORDS[name]
    path = changed(saved, tmp_path / "x.safetensors", record=lambda header: header.update(changes))
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load(path)


@pytest.mark.parametrize("metadata", [{}, {"syllabary": "{"}, {"syllabary": "[" * 10**5}], ids=[*"abc"])
def test_a_header_that_is_none(metadata: dict[str, str], saved: Path, tmp_path: Path) -> None:
    path = changed(saved, tmp_path / "x.safetensors", metadata=metadata)
    with pytest.raises(CheckpointError, match=r"x.safetensors: .*gpt train"):
        checkpoint.load(path)


def _shorter(name: str) -> Any:
    return lambda tensors: tensors.update({name: tensors[name][:-1].contiguous()})


TENSORS = {
    "weight gone": (lambda t: t.pop("model.norm.weight"), "the weight norm.weight is missing"),
    "weight added": (lambda t: t.update({"model.x": torch.zeros(1)}), "unknown weight x"),
    "weight of another shape": (_shorter("model.tokens.weight"), r"shape \(28, 16\), not \(29, 16\)"),
    "state gone": (lambda t: t.pop("optimizer.norm.weight.exp_avg"), "norm.weight, exp_avg is missing"),
    "states gone": (
        lambda t: [t.pop(f"optimizer.norm.weight.{key}") for key in ("step", "exp_avg", "exp_avg_sq")],
        "optimizer state of norm.weight is missing",
    ),
    "state added": (
        lambda t: t.update({"optimizer.x.step": torch.zeros(())}),
        "unknown optimizer state of x",
    ),
    "state of another shape": (_shorter("optimizer.tokens.weight.exp_avg"), r"shape \(28, 16\)"),
    "tensor of no part": (lambda t: t.update({"x": torch.zeros(1)}), "unknown tensor x"),
}


@pytest.mark.parametrize("name", sorted(TENSORS))
def test_tensors_that_do_not_fit_change_nothing(name: str, saved: Path, tmp_path: Path) -> None:
    change, message = TENSORS[name]
    path = changed(saved, tmp_path / "x.safetensors", tensors=change)
    training = Training(seed=4)
    before = {key: value.clone() for key, value in training.model.state_dict().items()}
    with pytest.raises(CheckpointError, match=message) as caught:
        checkpoint.load(path).restore(training.model, training.optimizer)
    assert str(path) in str(caught.value)
    assert "older checkpoint" in str(caught.value)
    assert all(torch.equal(before[key], value) for key, value in training.model.state_dict().items())


def test_another_model_is_refused(saved: Path) -> None:
    other = Training(ModelConfig(**{**SHAPE.to_json(), "n_head": 4, "positions": "rotary"}))
    with pytest.raises(CheckpointError, match="it has n_head 2, not 4; positions 'learned', not 'rotary'"):
        checkpoint.load(saved).restore(other.model)


def test_a_config_that_cannot_be(saved: Path, tmp_path: Path) -> None:
    path = changed(saved, tmp_path / "x", record=lambda header: header["configs"]["model"].update(n_head=3))
    with pytest.raises(CheckpointError, match="x: n_embd is 16: give a multiple of n_head"):
        checkpoint.load(path).build()


@pytest.mark.parametrize("lie", [{"vocab_size": 2**32}, {"n_layer": 2**20}, {"n_embd": 2**20}], ids=str)
def test_a_config_of_a_huge_model_takes_no_memory(lie: dict[str, int], saved: Path, tmp_path: Path) -> None:
    path = changed(saved, tmp_path / "x", record=lambda header: header["configs"]["model"].update(lie))
    with pytest.raises(CheckpointError, match="x: its weights are not of the model that it says"):
        checkpoint.load(path).build()


def test_random_states_that_are_none() -> None:
    before = torch.get_rng_state()
    for state in (torch.zeros(3, dtype=torch.uint8), torch.zeros(5056)):
        with pytest.raises(CheckpointError, match="random state of cpu"):
            checkpoint.set_rng_state({"cpu": state})
    checkpoint.set_rng_state({"cuda:77": torch.zeros(3), "x": torch.zeros(1)})  # of another machine
    assert torch.equal(torch.get_rng_state(), before)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none.safetensors"):
        checkpoint.load(tmp_path / "none.safetensors")
    with pytest.raises(IsADirectoryError):
        checkpoint.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        Training().save(tmp_path / "none" / "a.safetensors")


# ---- writing ----


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    training = Training()
    path = training.save(tmp_path / "a.safetensors")
    before = path.read_bytes()
    training.run(1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))  # a disk that is full
    try:
        with pytest.raises(OSError, match=r"a.safetensors"):
            training.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.safetensors"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = Training()
    path = training.save(tmp_path / "a.safetensors")
    before = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    training.run(1)
    with pytest.raises(KeyboardInterrupt):
        training.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.safetensors"]


def test_a_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    path = Training().save(tmp_path / "a.safetensors")
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    path.chmod(0o640)
    Training().save(path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_the_same_state_gives_the_same_bytes(tmp_path: Path) -> None:
    training = Training()
    training.run(1)
    first, second = (training.save(tmp_path / name).read_bytes() for name in ("a", "b"))
    assert first == second


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are POSIX's")
def test_a_pipe_is_no_checkpoint(tmp_path: Path) -> None:
    """It was "No such device" without a name, or waited for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(CheckpointError, match="pipe: is a pipe, not a file"):
        checkpoint.load(pipe)
