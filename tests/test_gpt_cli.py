"""`syllabary gpt train`: what it prints, where it writes, how it ends.

Leaves out: training itself (`test_gpt_train`, `test_gpt_resume`), and the other verbs (`test_gpt_sample`, …).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

torch = pytest.importorskip("torch")

import gpt_runs  # noqa: E402
from gpt_runs import losses, make_shards, saved  # noqa: E402

from syllabary.cli import main  # noqa: E402
from syllabary.errors import ModelError  # noqa: E402
from syllabary.gpt import PRESETS, defaults, run  # noqa: E402
from syllabary.shards import Shards  # noqa: E402

SMALL = ("--depth", "1", "--block-size", "16", "--batch-size", "4", "--threads", "1", "--device", "cpu")
pytestmark = pytest.mark.usefixtures("no_pictures")
GUARD = 120


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Shards:
    return make_shards(tmp_path_factory.mktemp("data") / "shards")


def gpt_train(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["gpt", "train", *map(str, arguments)])


def test_the_shards_alone_are_enough(
    data: Shards, working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All defaults but the width, which a test need not wait for; one epoch of all text."""
    sizes = defaults.SIZES["cpu"]
    monkeypatch.setitem(defaults.SIZES, "cpu", defaults.Sizes(1, 16, 16, sizes.learning_rate))
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    done = gpt_train(data.path, "-o", "run", "--threads", "1")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""
    first, *rows, last = done.stderr.splitlines()
    steps = round(len(data.train.ids) / 256)
    assert re.fullmatch(rf"0\.\d M parameters on cpu, float32; {steps} steps of 256 tokens, .* epochs", first)
    assert rows[0].split()[:5] == ["step", "0", "train", "-", "validation"]
    assert all(" bits/byte " in row for row in rows)
    assert re.fullmatch(
        r"\d\.\d{4} bits per byte, \d\.\d{4} nats per token on all validation text; "
        r"[\d,]+ tokens in \d.*: saved in run",
        last,
    )
    assert losses(Path("run"))[-1][0] == steps
    assert saved(Path("run"))[0] == "best.safetensors"


def test_options_reach_the_run(data: Shards, working_folder: Path) -> None:
    done = gpt_train(
        data.path, "-o", "run", *SMALL, "--steps", 3, "--accumulate", 2, "--learning-rate", 0.02,
        "--warmup", 1, "--dropout", 0.25, "--positions", "learned", "--eval-every", 2, "--eval-batches", 0,
        "--save-every", 1, "--seed", 9, "--dtype", "bfloat16", "--no-compile", "-q",
    )  # fmt: skip
    assert (done.exit_code, done.output) == (0, "")
    config = json.loads(Path("run/config.json").read_text())
    wanted = {
        "steps": 3,
        "batch_size": 4,
        "accumulate": 2,
        "learning_rate": 0.02,
        "warmup": 1,
        "eval_every": 2,
        "eval_batches": None,
        "save_every": 1,
        "seed": 9,
        "dtype": "bfloat16",
        "compile": False,
        "device": "cpu",
    }
    assert {name: config["train"][name] for name in wanted} == wanted
    shape = {"n_layer": 1, "n_embd": 64, "block_size": 16, "dropout": 0.25, "positions": "learned"}
    assert {name: config["model"][name] for name in shape} == shape
    assert saved(Path("run"))[1:] == ["checkpoint-2.safetensors", "checkpoint-3.safetensors"]


def test_a_run_goes_on_without_its_options(data: Shards, working_folder: Path) -> None:
    assert gpt_train(data.path, "-o", "run", *SMALL, "--steps", 4).exit_code == 0
    again = gpt_train(data.path, "-o", "run")
    assert again.exit_code == 0, again.stderr
    assert "goes on from step 4" in again.stderr
    assert [step for step, _ in losses(Path("run"))] == [1, 2, 3, 4]
    other = gpt_train(data.path, "-o", "run", "--depth", 2)
    assert other.exit_code == 1
    assert "n_layer is 1 there and 2 here; n_head is 1 there and 2 here; n_embd is 64" in other.stderr
    larger = make_shards(Path("larger"), vocab=data.vocab_size + 5)
    of_others = gpt_train(larger.path, "-o", "run")
    assert of_others.exit_code == 1
    assert re.match(r"error: run: its tokenizer \(\w+\) is not that of the shards \(\w+\)", of_others.stderr)
    assert gpt_train(data.path, "-o", "run", *SMALL, "--steps", 2, "--restart", "-q").exit_code == 0
    assert [step for step, _ in losses(Path("run"))] == [1, 2]


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's here")
def test_ctrl_c_says_how_to_go_on(data: Shards, working_folder: Path) -> None:
    arguments = ["gpt", "train", str(data.path), "-o", "run", *SMALL, "--steps", "9999", "--eval-every", "5"]
    process = subprocess.Popen(
        [sys.executable, "-m", "syllabary", *arguments],
        stderr=subprocess.PIPE, text=True, env=gpt_runs.environment(),
    )  # fmt: skip
    with process:
        assert process.stderr is not None
        lines = [process.stderr.readline()]
        while lines[-1] and not lines[-1].startswith("step      5"):
            lines.append(process.stderr.readline())
        assert lines[-1], lines
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=GUARD)
    *_, kept, last = rest.splitlines()
    assert (process.returncode, last) == (130, "interrupted")
    found = re.fullmatch(r"step ([\d,]+) is saved in run; the same command goes on from there", kept)
    assert found is not None
    assert f"checkpoint-{found[1].replace(',', '')}.safetensors" in saved(Path("run"))


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--depth", "2", "--preset", "tutorial"], "the preset 'tutorial' has a depth of its own: give one"),
        (["--preset", "tutorials"], "there is no preset 'tutorials': give one of tutorial"),
        (["--steps", "5", "--epochs", "1"], "--steps and --epochs both say how long to train: give one"),
        (["--epochs", "nan"], "error: --epochs is nan: give a number above 0"),
        (["--learning-rate", "nan"], "error: --learning-rate is nan: give a number above 0"),
        (["--dropout", "nan"], "error: --dropout is nan: give a number 0 or more, below 1"),
        (["--accumulate", "9" * 23], f"error: --accumulate is {'9' * 23}: give a whole number, 1 to 1048576"),
        (["--device", "tpu"], "device is 'tpu': give one of auto, cpu, cuda, mps, or cuda:1"),
        (["--learning-rate", "-1"], "--learning-rate is -1.0: give a number above 0"),
        (
            ["--block-size", "100000"],
            "the validation split has 1,360 ids, and a window of 100000 needs",
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_cannot_be_is_a_sentence(
    arguments: list[str], words: str, data: Shards, working_folder: Path
) -> None:
    done = gpt_train(data.path, "-o", "run", *arguments)
    assert done.exit_code == 1
    assert done.stderr.startswith("error: ")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("run").exists()


def test_a_run_is_no_file(data: Shards, working_folder: Path) -> None:
    Path("corpus.txt").write_text("text")
    done = gpt_train(data.path, "-o", "corpus.txt")
    assert (done.exit_code, done.stderr) == (1, "error: corpus.txt: is a file, not a folder\n")


def test_no_shards_there(working_folder: Path) -> None:
    done = gpt_train("nothing", "-o", "run")
    assert (done.exit_code, done.stderr) == (1, "error: nothing: No such folder of shards\n")


# ---- defaults ----


@pytest.mark.parametrize("kind", sorted(defaults.SIZES))
def test_defaults_fit_their_shards(kind: str, data: Shards) -> None:
    model, train = defaults.settings(data, kind, block_size=16)
    assert model.vocab_size == data.vocab_size
    seen = train.steps * train.batch_size * model.block_size
    step = train.batch_size * model.block_size
    assert seen == pytest.approx(defaults.SIZES[kind].epochs * len(data.train.ids), abs=step)
    assert train.validation == "documents"
    assert 0 <= train.warmup < max(train.steps, 1)


def test_without_held_out_text_the_end_of_train_is_held_out(tmp_path: Path) -> None:
    unsplit = make_shards(tmp_path / "shards", gpt_runs.documents(10), val=0.0)
    _, train = defaults.settings(unsplit, "cpu", block_size=16, epochs=2.0)
    assert train.validation == "contiguous"
    step = train.batch_size * 16
    assert train.steps * step == pytest.approx(2 * 0.9 * len(unsplit.train.ids), abs=step)


def test_a_preset_with_something_in_its_place(data: Shards) -> None:
    model, train = defaults.settings(data, "cpu", preset="tutorial", n_layer=2, steps=7)
    preset = PRESETS["tutorial"]
    assert model == preset.model(data.vocab_size).__class__(
        vocab_size=data.vocab_size, **{**preset.shape, "n_layer": 2}
    )
    assert (train.steps, train.learning_rate, train.validation) == (7, 5e-5, "contiguous")
    with pytest.raises(ModelError, match=r"'n_layers' is no setting of a model or its training"):
        defaults.settings(data, "cpu", n_layers=2)


def test_what_is_changed_of_a_run(data: Shards, tmp_path: Path) -> None:
    model, train = defaults.settings(data, "cpu", block_size=16, steps=5)
    old = run.Run(tmp_path, model, train, run.record(data))
    assert defaults.changed(old, data) == (model, train)
    deeper, faster = defaults.changed(old, data, depth=3, learning_rate=0.5, epochs=1.0)
    assert (deeper.n_layer, deeper.n_embd, deeper.block_size) == (3, 192, 16)
    assert faster.learning_rate == 0.5
    assert faster.steps == round(len(data.train.ids) / (train.batch_size * 16))
