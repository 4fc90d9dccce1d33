"""A run that was stopped, in any way, goes on as if it had not been; what does not fit together is refused.

Losses are compared bit for bit: on one machine, with one thread, nothing may differ. Leaves out: training
that nobody stops (`test_gpt_train`).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import gpt_runs  # noqa: E402
from gpt_runs import evaluations, losses, make_shards, saved, short, small  # noqa: E402

from syllabary.errors import CheckpointError, ModelError, ShardError  # noqa: E402
from syllabary.gpt import ModelConfig, TrainConfig, checkpoint, log  # noqa: E402
from syllabary.gpt.train import Event, train  # noqa: E402
from syllabary.shards import Shards  # noqa: E402

pytestmark = pytest.mark.usefixtures("no_pictures")
GUARD = 120  # seconds after which a process that does not end is a failure


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Shards:
    return make_shards(tmp_path_factory.mktemp("data") / "shards")


@pytest.fixture(scope="module")
def unbroken(data: Shards, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 40 steps with dropout that nobody stopped."""
    run = tmp_path_factory.mktemp("unbroken") / "run"
    train(data.path, run, *settings(data))
    return run


def settings(data: Shards, **changes: Any) -> tuple[ModelConfig, TrainConfig]:
    """Of the runs here: with dropout, so that draws must go on too; two epochs, so that a second begins."""
    given = {"steps": 40, "batch_size": 20, "eval_every": 20, "save_every": 10}
    return small(data, dropout=0.1), short(**{**given, **changes})


def same(run: Path, unbroken: Path) -> None:
    """Every number that training gave is the same, and stands there once."""
    assert losses(run) == losses(unbroken)
    assert evaluations(run) == evaluations(unbroken)
    for name in ("best.safetensors", "checkpoint-40.safetensors"):
        mine, theirs = checkpoint.load(run / name), checkpoint.load(unbroken / name)
        assert mine.step == theirs.step
        for key, weight in theirs.model.items():
            assert torch.equal(mine.model[key], weight)
        for key, state in theirs.optimizer.items():
            assert all(torch.equal(mine.optimizer[key][each], value) for each, value in state.items())


def stop_at(step: int, action: Callable[[], object]) -> Callable[[Event], None]:
    """A report that acts once, when a step has been made."""

    def report(event: Event) -> None:
        if event.kind == "step" and event.entry["step"] == step:
            action()

    return report


def test_two_epochs_are_seen(data: Shards) -> None:
    """Else the tests here would not cross from one into the next."""
    model, config = settings(data)
    assert config.steps * config.batch_size * model.block_size > 1.5 * len(data.train.ids)


@pytest.mark.parametrize("step", [1, 10, 17, 39])
def test_ctrl_c_in_python(step: int, data: Shards, unbroken: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    interrupt = stop_at(step, lambda: signal.raise_signal(signal.SIGINT))
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train(data.path, run, *settings(data), report=interrupt)
    assert signal.getsignal(signal.SIGINT) is handler
    assert f"checkpoint-{step}.safetensors" in saved(run)
    assert losses(run) == losses(unbroken)[:step]
    train(data.path, run, *settings(data))
    same(run, unbroken)


def test_a_second_ctrl_c_does_not_wait(data: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it comes at once: the terminal and `torchrun` both send one."""

    def twice() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    for patience, kept in ((60.0, ["checkpoint-3.safetensors"]), (-1.0, [])):
        monkeypatch.setattr("syllabary.gpt.train.PATIENCE", patience)
        run = tmp_path / f"run {patience}"
        report = stop_at(3, twice)
        if not kept:  # not where the loop would take it for the first one
            monkeypatch.setattr("syllabary.gpt.loop.update", lambda *_: twice())
        with pytest.raises(KeyboardInterrupt):
            train(data.path, run, *settings(data), report=report)
        assert [name for name in saved(run) if name.startswith("checkpoint")] == kept


def test_a_report_that_interrupts(data: Shards, unbroken: Path, tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(data.path, tmp_path / "run", *settings(data), report=stop_at(13, interrupt))
    assert "checkpoint-13.safetensors" in saved(tmp_path / "run")
    train(data.path, tmp_path / "run", *settings(data))
    same(tmp_path / "run", unbroken)


def test_an_error_of_the_report_comes_out(data: Shards, unbroken: Path, tmp_path: Path) -> None:
    """It leaves what was saved before, and log lines beyond it, which do not stay."""

    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train(data.path, tmp_path / "run", *settings(data), report=stop_at(27, fail))
    assert saved(tmp_path / "run")[1:] == ["checkpoint-10.safetensors", "checkpoint-20.safetensors"]
    assert len(losses(tmp_path / "run")) == 27
    train(data.path, tmp_path / "run", *settings(data))
    same(tmp_path / "run", unbroken)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX's")
def test_a_killed_run_goes_on_to_the_same_losses(data: Shards, unbroken: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    slow = settings(data)
    script = gpt_runs.SCRIPT.replace("import json, sys", "import json, sys, time").replace(
        "json.loads(settings)))", "json.loads(settings)), report=lambda event: time.sleep(0.05))"
    )
    arguments = [script, *gpt_runs.command(data, run, *slow)[2:]]
    process = subprocess.Popen([sys.executable, "-c", *arguments], env=gpt_runs.environment())
    deadline = time.monotonic() + GUARD
    while not (run / "log.jsonl").exists() or len(losses(run)) < 13:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    assert process.wait(GUARD) == -signal.SIGKILL
    assert 13 <= len(losses(run)) < 40
    train(data.path, run, *settings(data))
    same(run, unbroken)


def test_a_run_that_is_done_stays_as_it_is(
    data: Shards, unbroken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # it draws its curves as it did
    before = {path.name: path.read_bytes() for path in unbroken.iterdir()}
    events: list[Event] = []
    result = train(data.path, unbroken, *settings(data), report=events.append)
    assert [event.kind for event in events] == ["start"]
    assert (result.step, result.exact) == (40, True)
    assert {path.name: path.read_bytes() for path in unbroken.iterdir()} == before


def test_seconds_and_lines_go_on(data: Shards, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(data.path, run, *settings(data), report=stop_at(12, lambda: signal.raise_signal(signal.SIGINT)))
    before = log.read(run / "log.jsonl")
    with (run / "log.jsonl").open("a") as file:
        file.write('{"kind": "step", "step": 13, "lo')  # as a kill in the middle of a line leaves it
    train(data.path, run, *settings(data))
    entries = log.read(run / "log.jsonl")
    assert entries[: len(before)] == before
    assert [entry["step"] for entry in entries if entry["kind"] == "step"] == list(range(1, 41))
    assert [entry["seconds"] for entry in entries] == sorted(entry["seconds"] for entry in entries)


def test_begin_anew(data: Shards, unbroken: Path, tmp_path: Path) -> None:
    """What an older run left goes, what else is in the folder stays."""
    run = tmp_path / "run"
    train(data.path, run, *settings(data, steps=20, seed=5), tensorboard=False)
    (run / "notes.txt").write_text("mine")
    train(data.path, run, *settings(data), resume=False)
    same(run, unbroken)
    assert (run / "notes.txt").read_text() == "mine"
    assert saved(run) == saved(unbroken)


# ---- settings ----


@pytest.mark.parametrize(
    "changes",
    [{"save_every": 7}, {"eval_every": 30}, {"eval_batches": 2}, {"compile": False}],
    ids=["save_every", "eval_every", "eval_batches", "compile"],
)
def test_when_and_where_may_change(
    changes: dict[str, Any], data: Shards, unbroken: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(data.path, run, *settings(data), report=stop_at(14, lambda: signal.raise_signal(signal.SIGINT)))
    train(data.path, run, *settings(data, **changes))
    assert losses(run) == losses(unbroken)
    name, value = next(iter(changes.items()))
    assert json.loads((run / "config.json").read_text())["train"][name] == value


def test_a_constant_rate_may_go_on_for_longer(data: Shards, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(data.path, whole, *settings(data, schedule="constant"))
    for steps in (15, 40):
        train(data.path, parts, *settings(data, schedule="constant", steps=steps))
    assert losses(parts) == losses(whole)


def test_another_run_in_the_folder(data: Shards, unbroken: Path) -> None:
    before = {path.name: path.read_bytes() for path in unbroken.iterdir()}
    model, config = settings(data)
    way_out = r"Give the same, or another folder for the run; resume=False begins anew"
    for changed, words in (
        ((model, replace(config, learning_rate=0.5)), r"learning_rate is 0\.01 there and 0\.5 here"),
        ((model, replace(config, steps=50)), r"steps is 40 there and 50 here"),
        (
            (replace(model, n_layer=2), replace(config, seed=1)),
            r"n_layer is 1 .* 2 here; seed is 0 .* 1",
        ),
    ):
        with pytest.raises(ModelError, match=rf"holds a run with other settings: {words}.*\. {way_out}"):
            train(data.path, unbroken, *changed)
    assert {path.name: path.read_bytes() for path in unbroken.iterdir()} == before


def test_other_shards_under_the_run(data: Shards, unbroken: Path, tmp_path: Path) -> None:
    fewer = make_shards(tmp_path / "fewer", vocab=270)
    with pytest.raises(ShardError, match=r"its tokenizer \([0-9a-f]{12}\) is not that of the shards"):
        train(fewer.path, unbroken, *settings(data))
    held_out = make_shards(tmp_path / "held out", val=0.4)
    assert held_out.tokenizer_hash == data.tokenizer_hash
    with pytest.raises(ModelError, match=r"it was trained on other texts than those of these shards"):
        train(held_out.path, unbroken, *settings(data))


# ---- damage ----


def test_a_checkpoint_cut_short(data: Shards, unbroken: Path, tmp_path: Path) -> None:
    """An error that says which file; without it, the run goes on from the one before."""
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(data.path, run, *settings(data), report=stop_at(25, lambda: signal.raise_signal(signal.SIGINT)))
    newest = run / "checkpoint-25.safetensors"
    newest.write_bytes(newest.read_bytes()[:-1000])
    with pytest.raises(CheckpointError, match=r"checkpoint-25\.safetensors: cut short"):
        train(data.path, run, *settings(data))
    newest.unlink()
    train(data.path, run, *settings(data))
    same(run, unbroken)


@pytest.mark.parametrize(
    "damage, words",
    [
        (lambda text: text[:50], r"config\.json: no JSON"),
        (lambda text: "{}", r"config\.json: not the config of a run"),
        (lambda text: text.replace('"n_head": 2', '"n_head": 3'), r"config\.json: n_embd is 16: give a mult"),
        (lambda text: text.replace('"data"', '"date"'), r"config\.json: 'data' is missing"),
    ],
    ids=["cut short", "foreign", "impossible", "incomplete"],
)
def test_a_damaged_config(damage: Callable[[str], str], words: str, data: Shards, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(data.path, run, *settings(data, steps=10))
    config = run / "config.json"
    config.write_text(damage(config.read_text()))
    with pytest.raises(ModelError, match=words):
        train(data.path, run, *settings(data, steps=10))
    config.unlink()
    with pytest.raises(ModelError, match=r"checkpoint-10\.safetensors: a checkpoint without config\.json"):
        train(data.path, run, *settings(data, steps=10))
    assert train(data.path, run, *settings(data, steps=10), resume=False).step == 10
