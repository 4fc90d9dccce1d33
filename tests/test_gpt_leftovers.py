"""A folder without `config.json`: a run replaces and removes only what a run wrote.

Leaves out: folders with one (test_gpt_resume, test_gpt_review).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from gpt_runs import make_shards, short, small

from syllabary.errors import ModelError, ShardError
from syllabary.shards import Shards

pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("matplotlib")

import torch
from safetensors.torch import save_file

from syllabary.gpt import run as runs
from syllabary.gpt.train import train

pytestmark = pytest.mark.usefixtures("no_pictures")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Shards:
    return make_shards(tmp_path_factory.mktemp("leftovers") / "shards")


@pytest.fixture(scope="module")
def left(shards: Shards, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that has lost its `config.json`."""
    path = tmp_path_factory.mktemp("leftovers-run") / "run"
    train(shards.path, path, small(shards), short(steps=4))
    (path / runs.CONFIG).unlink()
    (path / runs.PLOT).write_bytes(b"a picture")
    return path


def held(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def weights(path: Path) -> None:
    save_file({"a": torch.zeros(3)}, path, metadata={"format": "pt"})


def board(path: Path) -> None:
    path.mkdir()
    (path / "events.out.tfevents.1.mine").write_bytes(b"mine")


FOREIGN: dict[str, Callable[[Path], object]] = {
    "checkpoint-1000.safetensors": weights,
    "best.safetensors": lambda path: path.write_bytes(b"mine"),
    "log.jsonl": lambda path: path.write_text('{"level": "info", "step": 3}\n'),
    "loss.png": lambda path: path.write_bytes(b"mine"),
    "tensorboard": board,
    "tokenizer.syllabary.json": lambda path: path.write_text("{}"),
}


@pytest.mark.parametrize("resume", [False, True], ids=["restart", "resume"])
@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_somebody_else_is_refused_and_stays(
    name: str, resume: bool, shards: Shards, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    FOREIGN[name](folder / name)
    (folder / "notes.txt").write_text("mine")
    before = held(folder)
    with pytest.raises(ModelError, match=f"{name}: has a name of a run's files.*Give another folder.*move"):
        train(shards.path, folder, small(shards), short(steps=1), resume=resume)
    assert held(folder) == before


@pytest.mark.parametrize("name", ["checkpoint-1000.safetensors", "best.safetensors", "log.jsonl"])
def test_one_among_those_of_a_run_is_refused_too(
    name: str, left: Path, shards: Shards, tmp_path: Path
) -> None:
    folder = shutil.copytree(left, tmp_path / "run")
    FOREIGN[name](folder / name)
    before = held(folder)
    with pytest.raises(ModelError, match=f"{name}: has a name of a run's files"):
        train(shards.path, folder, small(shards), short(steps=1), resume=False)
    assert held(folder) == before


@pytest.mark.parametrize(
    "kept",
    [
        ["checkpoint-4.safetensors", "loss.png", "tokenizer.syllabary.json"],
        ["best.safetensors", "loss.png"],
        ["log.jsonl", "loss.png", "tokenizer.syllabary.json"],
        ["tokenizer.syllabary.json"],
        [],
    ],
    ids=["checkpoint", "best", "log", "tokenizer", "nothing"],
)
def test_what_a_run_left_goes(kept: list[str], left: Path, shards: Shards, tmp_path: Path) -> None:
    """The tokenizer alone is that of the shards; beside something of a run it may be another."""
    folder = tmp_path / "run"
    folder.mkdir()
    for name in kept:
        shutil.copy(left / name, folder / name)
    if len(kept) > 1 and "tokenizer.syllabary.json" in kept:
        (folder / "tokenizer.syllabary.json").write_text("{}")
    (folder / "log.jsonl").touch()
    (folder / "notes.txt").write_text("mine")
    assert train(shards.path, folder, small(shards), short(steps=2), resume=False).step == 2
    assert json.loads((folder / runs.CONFIG).read_text())["format"] == runs.FORMAT
    assert (folder / runs.TOKENIZER).read_bytes() == (shards.path / runs.TOKENIZER).read_bytes()
    assert [step for step, _file in runs.checkpoints(folder)][-1] == 2
    assert (folder / "notes.txt").read_text() == "mine"


def test_what_a_kill_leaves_of_a_removal_can_be_removed(
    left: Path, shards: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever file the removal of a run was stopped at."""
    other, unlink = make_shards(tmp_path / "other", vocab=270), Path.unlink
    ours = {*FOREIGN, "checkpoint-4.safetensors"}
    for stop in range(1, len(held(left))):
        folder, removed = shutil.copytree(left, tmp_path / f"run-{stop}"), list[Path]()

        def until(path: Path, missing_ok: bool = False, stop: int = stop, seen: list[Path] = removed) -> None:
            if len(seen) == stop:
                raise KeyboardInterrupt
            seen += [path] * (path.exists() and path.name in ours)
            unlink(path, missing_ok=missing_ok)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "unlink", until)
            with pytest.raises(KeyboardInterrupt):
                train(other.path, folder, small(other), short(steps=1), resume=False)
        assert train(other.path, folder, small(other), short(steps=1), resume=False).step == 1


def test_shards_that_do_not_fit_are_refused_first(left: Path, shards: Shards, tmp_path: Path) -> None:
    folder, damaged = shutil.copytree(left, tmp_path / "run"), shutil.copytree(shards.path, tmp_path / "data")
    (damaged / runs.TOKENIZER).unlink()
    before = held(folder)
    with pytest.raises((ShardError, OSError)):
        train(damaged, folder, small(shards), short(steps=1), resume=False)
    assert held(folder) == before
