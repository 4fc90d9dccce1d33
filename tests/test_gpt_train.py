"""Training: the same losses as a plain loop, what a run leaves behind, and what stops it.

The oracle of the loop is thirty lines of torch that share nothing with it but the model. Leaves out: runs
that are stopped and go on (`test_gpt_resume`), log and devices (`test_gpt_log`), the command
(`test_gpt_cli`), the model (`test_gpt_model`).
"""

from __future__ import annotations

import json
import lzma
import math
import subprocess
import sys
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import gpt_runs  # noqa: E402
from gpt_runs import losses, make_shards, saved, short, small  # noqa: E402

import syllabary  # noqa: E402
from syllabary import shards as shards_module  # noqa: E402
from syllabary.errors import ModelError, ShardError  # noqa: E402
from syllabary.gpt import PRESETS, ModelConfig, TrainConfig, checkpoint, log  # noqa: E402
from syllabary.gpt.data import Batches  # noqa: E402
from syllabary.gpt.device import Device  # noqa: E402
from syllabary.gpt.evaluate import bits_per_byte  # noqa: E402
from syllabary.gpt.model import GPT  # noqa: E402
from syllabary.gpt.train import Event, train  # noqa: E402
from syllabary.gpt.validation import Validation  # noqa: E402
from syllabary.shards import Shards  # noqa: E402

CPU = Device("cpu", "float32", compiled=False)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Shards:
    return make_shards(tmp_path_factory.mktemp("data") / "shards")


def plain_loop(data: Shards, model: ModelConfig, config: TrainConfig) -> list[float]:
    """The losses of the steps, by torch alone: its own AdamW, not fused, a group for each parameter."""
    net = GPT(model, config.seed)
    groups = [
        {"params": [each], "weight_decay": config.weight_decay if each.dim() > 1 else 0.0}
        for each in net.parameters()
    ]
    optimizer = torch.optim.AdamW(groups, betas=(config.beta1, config.beta2), foreach=False, fused=False)
    size = config.batch_size * config.accumulate
    batches = Batches(data.train.ids, model.block_size, size, seed=config.seed, order=config.order)
    found = []
    for step in range(config.steps):
        x, y = (torch.from_numpy(np.ascontiguousarray(each)) for each in batches.batch(step))
        optimizer.zero_grad()
        scores, _ = net(x)
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), y.flatten())
        loss.backward()
        norm = math.sqrt(sum(float((each.grad**2).sum()) for each in net.parameters()))
        for group in optimizer.param_groups:
            group["lr"] = config.rate(step)
        if config.clip is not None and norm > config.clip:
            for each in net.parameters():
                each.grad *= config.clip / norm
        optimizer.step()
        found.append(float(loss.detach()))
    return found


@pytest.mark.parametrize(
    "changes",
    [{}, {"clip": None}, {"clip": 0.05}, {"accumulate": 3}, {"schedule": "constant", "seed": 3}],
    ids=["defaults", "no clipping", "much clipping", "accumulated", "constant"],
)
@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
@pytest.mark.usefixtures("no_pictures")
def test_losses_are_those_of_a_plain_loop(
    changes: dict[str, Any], tied: bool, data: Shards, tmp_path: Path
) -> None:
    model, config = small(data, tie_weights=tied), short(eval_every=12, **changes)
    train(data.path, tmp_path / "run", model, config)
    found = losses(tmp_path / "run")
    assert [step for step, _ in found] == list(range(1, 13))
    np.testing.assert_allclose([loss for _, loss in found], plain_loop(data, model, config), rtol=2e-5)


def test_what_a_run_leaves_behind(data: Shards, tmp_path: Path) -> None:
    events: list[Event] = []
    run, model, config = tmp_path / "run", small(data), short(steps=40, eval_every=10, save_every=15)
    result = train(data.path, run, model, config, report=events.append)
    assert saved(run) == ["best.safetensors", "checkpoint-30.safetensors", "checkpoint-40.safetensors"]
    assert sorted(path.name for path in run.iterdir()) == [
        *saved(run), "config.json", "log.jsonl", "loss.png", "tokenizer.syllabary.json"
    ]  # fmt: skip
    assert syllabary.load(run / "tokenizer.syllabary.json").spec.tokens == data.tokenizer().spec.tokens
    written = json.loads((run / "config.json").read_text())
    assert ModelConfig.from_json(written["model"]) == model
    assert TrainConfig.from_json(written["train"]) == config
    entries = log.read(run / "log.jsonl")
    assert [entry["step"] for entry in entries if entry["kind"] == "eval"] == [0, 10, 20, 30, 40]
    first, last = (entry for entry in entries if entry["kind"] == "eval" and entry["step"] in (0, 40))
    assert last["val_loss"] < first["val_loss"] - 0.5  # it learns
    assert entries[-1]["kind"] == "final"
    assert entries[-1]["bits_per_byte"] == result.bits_per_byte
    assert (result.step, result.tokens, result.exact) == (40, 40 * 4 * 16, True)
    assert [event.entry for event in events if event.kind in ("step", "eval", "final")] == entries
    assert (run / "loss.png").read_bytes().startswith(b"\x89PNG\r\n")
    for entry in entries:
        assert entry["tokens"] == entry["step"] * 64
        if entry["kind"] == "step":
            assert entry["learning_rate"] == config.rate(entry["step"] - 1)
            assert entry["grad_norm"] > 0
            assert entry["tokens_per_second"] > 0
    assert [entry["seconds"] for entry in entries] == sorted(entry["seconds"] for entry in entries)


def test_best_holds_the_weights_of_the_lowest_loss(data: Shards, tmp_path: Path) -> None:
    """With a rate that ruins the model in the end, they are not the last."""
    run, model = tmp_path / "run", small(data)
    config = short(warmup=100, steps=40, learning_rate=2.0, clip=None)
    train(data.path, run, model, config)
    measured = gpt_runs.evaluations(run)
    step, loss = min(measured[1:], key=lambda each: each[1])
    best = checkpoint.load(run / "best.safetensors")
    assert (best.step, best.optimizer) == (step, {})
    assert step < 40
    again = Validation.of(data, model, config, CPU).measure(best.build(), step, lambda: False)
    assert again is not None
    assert again["val_loss"] == pytest.approx(loss, rel=1e-6)


def test_a_measurement_of_everything_is_the_exact_one(data: Shards) -> None:
    """Where windows fill the split to its last id; else they leave the rest out."""
    block = next(size for size in range(8, 60) if (len(data.val.ids) - 1) % size == 0)
    model = small(data, block_size=block)
    net = GPT(model, seed=5)
    validation = Validation.of(data, model, short(eval_batches=None), CPU)
    found, exact = validation.measure(net, 0, lambda: False), bits_per_byte(net, data.val)
    assert found is not None
    assert exact.tokens == len(data.val.ids) - 1
    assert found["val_loss"] == pytest.approx(exact.nats / exact.tokens, rel=1e-5)
    # one token, the first, is predicted by neither
    ratio = exact.tokens / len(data.val.ids)
    assert found["bits_per_byte"] * ratio == pytest.approx(exact.bits_per_byte, rel=1e-5)
    assert net.training


def test_a_sample_is_the_same_each_time_unless_windows_are_drawn(data: Shards) -> None:
    net = GPT(small(data), seed=5)
    for config, same in ((short(eval_batches=2), True), (short(eval_batches=2, order="random"), False)):
        validation = Validation.of(data, small(data), config, CPU)
        one, other = (validation.measure(net, step, lambda: False)["val_loss"] for step in (0, 4))
        assert (one == other) is same
        assert validation.measure(net, 4, lambda: False)["val_loss"] == other


def test_validation_on_the_last_part_of_train(data: Shards, tmp_path: Path) -> None:
    config = short(validation="contiguous", validation_share=0.25, order="random")
    validation = Validation.of(data, small(data), config, CPU)
    np.testing.assert_array_equal(np.concatenate([validation.trained, validation.ids]), data.train.ids)
    assert len(validation.ids) == pytest.approx(len(data.train.ids) / 4, abs=1)
    result = train(data.path, tmp_path / "run", small(data), config)
    assert not result.exact
    last = log.read(tmp_path / "run" / "log.jsonl")[-1]
    assert last["kind"] == "eval"
    assert set(last) >= {"val_loss", "train_loss", "bits_per_byte", "train_bits_per_byte"}


def test_bfloat16_on_a_cpu(data: Shards, tmp_path: Path) -> None:
    model = small(data)
    train(data.path, tmp_path / "wide", model, short())
    train(data.path, tmp_path / "narrow", model, short(dtype="bfloat16"))
    wide, narrow = (np.array(losses(tmp_path / name))[:, 1] for name in ("wide", "narrow"))
    assert (wide != narrow).any()
    np.testing.assert_allclose(wide, narrow, rtol=0.02)


def test_compiled_where_asked(data: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That the compiler is used; what it makes is torch's own affair, and slow to wait for."""
    given: list[Any] = []
    monkeypatch.setattr(torch, "compile", lambda model: given.append(model) or model)
    train(data.path, tmp_path / "run", small(data), short(steps=1, compile=True))
    assert [type(model) for model in given] == [GPT]
    train(data.path, tmp_path / "other", small(data), short(steps=1))
    assert len(given) == 1


def test_tensorboard(data: Shards, tmp_path: Path) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    train(data.path, tmp_path / "run", small(data), short(), tensorboard=True)
    board = reader.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    board.Reload()
    assert [each.step for each in board.Scalars("step/loss")] == list(range(1, 13))
    found = [(each.step, each.value) for each in board.Scalars("eval/val_loss")]
    np.testing.assert_allclose(found, gpt_runs.evaluations(tmp_path / "run"), rtol=1e-6)


def test_the_callers_torch_is_left_as_it_was(data: Shards, tmp_path: Path) -> None:
    torch.manual_seed(7)
    before = torch.get_rng_state(), torch.get_num_threads()
    train(data.path, tmp_path / "run", small(data, dropout=0.2), short(steps=3), threads=2)
    assert (torch.get_rng_state() == before[0]).all()
    assert torch.get_num_threads() == before[1]


# ---- the tutorial ----


def test_twenty_steps_of_the_tutorial(shared: Path, tmp_path: Path, prove: bool) -> None:
    """Its model and its training on real Greek; one batch of validation in place of its 200.

    A batch is 4 windows; with `prove` its 64, which take ten times as long to learn no other way.
    """
    with lzma.open(shared / "corpora" / "greek.txt.xz", "rt", encoding="utf-8") as file:
        text = file.read(150_000)
    text = unicodedata.normalize("NFC", text)
    tok = syllabary.train([text], vocab_size=1000)
    data = shards_module.write([text], tok, tmp_path / "shards", processes=1)
    preset = PRESETS["tutorial"]
    model, config = preset.model(data.vocab_size), replace(preset.train, steps=20, eval_batches=1)
    config = config if prove else replace(config, batch_size=4)
    train(data.path, tmp_path / "run", model, config)
    found = [loss for _, loss in losses(tmp_path / "run")]
    assert len(found) == 20
    assert found[0] == pytest.approx(math.log(data.vocab_size), rel=0.05)  # it begins with no opinion
    assert found[-1] < found[0] - 0.15
    (_, before), (_, after) = gpt_runs.evaluations(tmp_path / "run")
    assert after < before - 0.15


# ---- several processes ----


def test_two_processes_train_as_one(data: Shards, tmp_path: Path) -> None:
    model, config = small(data), short(steps=6, eval_every=3, save_every=3, accumulate=2)
    train(data.path, tmp_path / "one", model, config)
    arguments = gpt_runs.command(data, tmp_path / "two", model, config)
    script = tmp_path / "script.py"
    # A thread that outlives the group can end the process by a signal, when the interpreter has gone.
    left = "print(*(each.read_text() for each in Path('/proc/self/task').glob('*/comm')))"
    script.write_text(f"{arguments[1]}\nfrom pathlib import Path\n{left}\n")
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
         str(script), *arguments[2:]],
        env=gpt_runs.environment(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "gloo" not in done.stdout
    for read in (losses, gpt_runs.evaluations):
        np.testing.assert_allclose(read(tmp_path / "two"), read(tmp_path / "one"), rtol=1e-4)
    assert saved(tmp_path / "two") == saved(tmp_path / "one")
    one, two = (checkpoint.load(tmp_path / name / "checkpoint-6.safetensors") for name in ("one", "two"))
    for name, weight in one.model.items():
        torch.testing.assert_close(two.model[name], weight, rtol=1e-4, atol=1e-4)


# ---- what stops it ----


def test_a_loss_that_is_no_number(data: Shards, tmp_path: Path) -> None:
    run, model = tmp_path / "run", small(data)
    config = short(learning_rate=1e38, warmup=0, clip=None, weight_decay=0.0)
    with pytest.raises(ModelError, match=r"step 2: the loss is nan, .*; training cannot go on\. No check"):
        train(data.path, run, model, config)
    assert [step for step, _ in losses(run)] == [1]


def test_weights_from_which_no_loss_comes_are_not_saved(data: Shards, tmp_path: Path) -> None:
    """Though the step that left them had a loss."""
    run, model = tmp_path / "run", small(data)
    config = short(learning_rate=1e38, warmup=0, clip=None, weight_decay=0.0, save_every=1)
    with pytest.raises(ModelError, match=r"step 1: the loss after it is nan; training cannot go on"):
        train(data.path, run, model, config)
    assert saved(run) == []


@pytest.mark.parametrize("step", [3, 10])
def test_poisoned_weights_are_not_saved(
    step: int, data: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, model = tmp_path / "run", small(data)
    rate = TrainConfig.rate
    monkeypatch.setattr(TrainConfig, "rate", lambda self, at: math.nan if at == step - 2 else rate(self, at))
    with pytest.raises(ModelError, match=rf"step {step}: the loss is nan") as caught:
        train(data.path, run, model, short())
    kept = [name for name in saved(run) if name.startswith("checkpoint")]
    assert kept == (["checkpoint-4.safetensors", "checkpoint-8.safetensors"] if step > 8 else [])
    assert (kept[-1] if kept else "No checkpoint had been written yet") in str(caught.value)
    for name in saved(run):
        weights = checkpoint.load(run / name).model.values()
        assert all(bool(weight.isfinite().all()) for weight in weights)
    assert [at for at, _ in losses(run)] == list(range(1, step))


def test_shards_that_do_not_fit(data: Shards, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(ModelError, match=r"ids up to 279, and the model's vocab_size is 100: give it 280"):
        train(data.path, run, replace(small(data), vocab_size=100), short())
    with pytest.raises(ModelError, match=r"the validation split has [\d,]+ ids, and a window of 90000"):
        train(data.path, run, small(data, block_size=90_000), short())
    unsplit = make_shards(tmp_path / "unsplit", gpt_runs.documents(5), val=0.0)
    with pytest.raises(ShardError, match=r"no text for validation: write them with val=0\.1"):
        train(unsplit.path, run, small(unsplit), short())
    assert not run.exists()
    assert train(unsplit.path, run, small(unsplit), short(validation="contiguous")).step == 12


def test_an_id_outside_the_vocabulary(tmp_path: Path) -> None:
    bad = make_shards(tmp_path / "shards")
    ids = np.fromfile(bad.path / "val.bin", dtype="<u2")
    ids[21] = 60_000
    ids.tofile(bad.path / "val.bin")
    with pytest.raises(ModelError, match=r"the val split: id 60000 at position 21 is outside"):
        train(bad.path, tmp_path / "run", small(bad), short())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.filterwarnings("ignore")  # the compiler has warnings of its own
def test_on_a_gpu_compiled_in_bfloat16(data: Shards, tmp_path: Path) -> None:
    events: list[Event] = []
    config = short(device="cuda", batch_size=8)
    train(data.path, tmp_path / "gpu", small(data), config, report=events.append)
    assert (events[0].entry["device"], events[0].entry["compiled"]) == ("cuda:0", True)
    train(data.path, tmp_path / "cpu", small(data), short(batch_size=8))
    np.testing.assert_allclose(losses(tmp_path / "gpu"), losses(tmp_path / "cpu"), rtol=0.03)
