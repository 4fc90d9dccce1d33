"""What a hostile user did to runs, exports and comparisons, each once.

Two folders that are one, two processes in one folder, a kill in the middle of a write, damaged logs, a device
that is not there, texts that are alike but not the same. Leaves out: what each module's own tests show.
"""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from gpt_runs import command, documents, environment, make_shards, saved, short, small

import syllabary
from syllabary import shards as shards_module
from syllabary.cli import main
from syllabary.errors import CheckpointError, ModelError, ShardError

pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("matplotlib")

from syllabary.gpt import checkpoint, compare, device, trained
from syllabary.gpt import run as runs
from syllabary.gpt.export import to_transformers
from syllabary.gpt.train import train

pytestmark = pytest.mark.usefixtures("no_pictures")  # but for that of `run`
END = "<|end|>"


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> shards_module.Shards:
    """Shards of a few words."""
    return make_shards(tmp_path_factory.mktemp("review") / "shards")


@pytest.fixture(scope="module")
def run(shards: shards_module.Shards, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of four steps."""
    path = tmp_path_factory.mktemp("review-run") / "run"
    train(shards.path, path, small(shards), short(steps=4))
    return path


def held(folder: Path) -> dict[str, bytes]:
    """Every file and its bytes."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def copy(folder: Path, to: Path) -> Path:
    to.mkdir()
    for name, data in held(folder).items():
        (to / name).write_bytes(data)
    return to


# ---- folders ----


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_does_not_go_into_the_folder_of_shards(
    shards: shards_module.Shards, tmp_path: Path, resume: bool
) -> None:
    folder = copy(shards.path, tmp_path / "both")
    before = held(folder)
    with pytest.raises(ModelError, match="holds shards"):
        train(folder, folder, small(shards), short(), resume=resume)
    assert held(folder) == before


def test_an_export_does_not_go_into_the_folder_of_a_run(run: Path) -> None:
    before = held(run)
    with pytest.raises(ModelError, match="holds a run"):
        to_transformers(run, run)
    assert held(run) == before


def test_restart_checks_the_shards_before_it_removes_a_run(
    shards: shards_module.Shards, run: Path, tmp_path: Path
) -> None:
    folder, old = copy(shards.path, tmp_path / "shards"), copy(run, tmp_path / "run")
    (folder / runs.TOKENIZER).write_bytes(b"{}")
    before = held(old)
    with pytest.raises((ShardError, syllabary.FormatError)):
        train(folder, old, small(shards), short(steps=4), resume=False)
    assert held(old) == before


def test_a_comparison_does_not_put_runs_among_the_shards(tmp_path: Path) -> None:
    one, two = (make_shards(tmp_path / name) for name in ("one", "two"))
    before = held(one.path)
    with pytest.raises(ModelError, match="holds shards"):
        compare.compare([one.path, two.path], tmp_path, settings={"device": "cpu"})
    assert held(one.path) == before
    assert {path.name for path in tmp_path.iterdir()} == {"one", "two"}


def test_one_process_at_a_time(shards: shards_module.Shards, tmp_path: Path) -> None:
    path = tmp_path / "run"
    refused: list[str] = []

    def again(event: Any) -> None:
        if event.kind == "start":
            found = subprocess.run(
                [sys.executable, *command(shards, path, small(shards), short(steps=2))],
                env=environment(), capture_output=True, text=True, check=False, timeout=120,
            )  # fmt: skip
            refused.append(found.stderr)

    pytest.importorskip("fcntl")
    train(shards.path, path, small(shards), short(steps=2), report=again)
    assert "another process is training into this folder" in refused[0]
    assert train(shards.path, path, small(shards), short(steps=2)).step == 2  # the lock went with it


def test_what_fails_at_once_leaves_no_folder(shards: shards_module.Shards, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="smaller block size"):
        train(shards.path, tmp_path / "run", small(shards, block_size=100_000), short())
    assert not (tmp_path / "run").exists()


def test_files_half_written_by_a_kill_are_removed(
    shards: shards_module.Shards, run: Path, tmp_path: Path
) -> None:
    path = copy(run, tmp_path / "run")
    half = [
        f".{name}.{'0a' * 8}.tmp" for name in ("checkpoint-12.safetensors", "best.safetensors", "log.jsonl")
    ]
    for name in (*half, ".mine.tmp", "notes.tmp"):
        (path / name).write_bytes(b"x")
    train(shards.path, path, small(shards), short(steps=4))
    assert {each.name for each in path.iterdir() if each.name.endswith(".tmp")} == {".mine.tmp", "notes.tmp"}


# ---- a run that is cut ----


def test_best_weights_survive_a_full_disk(
    shards: shards_module.Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = tmp_path / "run", checkpoint.save

    def full(file: Path, **what: Any) -> None:
        if file.name == runs.BEST:
            raise OSError(28, "No space left on device", str(file))
        real(file, **what)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save", full)
        with pytest.raises(OSError, match="No space left"):
            train(shards.path, path, small(shards), short(steps=4))
    train(shards.path, path, small(shards), short(steps=4))
    assert runs.BEST in saved(path)
    assert checkpoint.load(path / runs.BEST, parts=()).step == 4


BAD_LINES = {
    "text for a step": {"kind": "step", "step": "3", "tokens": 1, "loss": 1.0, "seconds": 1.0},
    "no seconds": {"kind": "step", "step": 3, "tokens": 1, "loss": 1.0},
    "no loss": {"kind": "eval", "step": 3, "tokens": 1, "seconds": 1.0},
    "unknown kind": {"kind": "party", "step": 3, "tokens": 1, "seconds": 1.0},
    "a list": [1],
}


@pytest.mark.parametrize("what", sorted(BAD_LINES))
def test_a_damaged_line_of_the_log_has_a_way_out(
    shards: shards_module.Shards, run: Path, tmp_path: Path, what: str
) -> None:
    path = copy(run, tmp_path / "run")
    good = (path / runs.LOG).read_bytes()
    (path / runs.LOG).write_bytes(json.dumps(BAD_LINES[what]).encode() + b"\n" + good)
    with pytest.raises(ModelError, match=r"log\.jsonl, line 1: .*delete the line"):
        train(shards.path, path, small(shards), short(steps=4))
    (path / runs.LOG).write_bytes(good)
    assert train(shards.path, path, small(shards), short(steps=4)).step == 4


@pytest.mark.parametrize(
    "data",
    [
        b'{"format": "syllabary-run", ' + b"[" * 100_000,
        b'{"format": "syllabary-run", "ver',
        b'"syllabary-run\xff',
    ],
    ids=["deep", "cut short", "bytes"],
)
def test_a_damaged_config_has_a_way_out(tmp_path: Path, data: bytes) -> None:
    (tmp_path / runs.CONFIG).write_bytes(data)
    with pytest.raises(ModelError, match=r"config\.json: .*begins anew"):
        runs.read(tmp_path)


FOREIGN = {
    "deep": b"[" * 100_000,
    "empty": b"",
    "object": b"{}",
    "list": b"[]",
    "bytes": b"\xff",
    "text": b"important",
    "model": b'{"model_type": "gpt2", "of": "syllabary-run"}',
}


@pytest.mark.parametrize("what", sorted(FOREIGN))
def test_a_config_of_something_else_stays(shards: shards_module.Shards, tmp_path: Path, what: str) -> None:
    """No message advises to begin anew in such a folder, and beginning anew is refused."""
    (tmp_path / runs.CONFIG).write_bytes(FOREIGN[what])
    before = held(tmp_path)
    for resume in (True, False):
        with pytest.raises(ModelError, match=r"config\.json: .*Give another folder for the run$"):
            train(shards.path, tmp_path, small(shards), short(), resume=resume)
    with pytest.raises(ModelError, match=r"config\.json: [^.]*\. Give another folder for the run$"):
        runs.read(tmp_path)
    assert held(tmp_path) == before


# ---- the tokenizer of a run ----


def test_a_run_is_opened_with_the_tokenizer_of_its_training(
    run: Path, shards: shards_module.Shards, tmp_path: Path
) -> None:
    folder, tok = copy(run, tmp_path / "run"), shards.tokenizer()
    beside = folder / runs.TOKENIZER
    beside.write_bytes(beside.read_bytes() + b"\n")  # laid out in another way
    assert trained.open_trained(folder).tok == tok
    syllabary.train(documents(60, seed=1), vocab_size=tok.vocab_size).save(beside)
    with pytest.raises(CheckpointError, match=r"not the tokenizer that best\.safetensors was trained with"):
        trained.open_trained(folder)
    done = CliRunner().invoke(main, ["gpt", "sample", str(folder), "--prompt", "arma"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "put the tokenizer.syllabary.json of the run's shards there" in done.stderr
    model = trained.open_trained(run).model  # of a checkpoint that names no tokenizer nothing is known
    checkpoint.save(folder / runs.BEST, model=model, step=4, extra={"data": {"end": None}})
    assert trained.open_trained(folder).tok == syllabary.load(beside)


# ---- the token that ends documents ----


def test_the_end_is_what_the_shards_say(tmp_path: Path) -> None:
    texts = documents(40)
    tok = syllabary.train(texts, vocab_size=280, special_tokens=["<|odd|>", "<|endoftext|>"])
    for name, end in (("none", None), ("odd", "<|odd|>")):
        found = shards_module.write(texts, tok, tmp_path / name, val=0.2, end=end, processes=1)
        train(found.path, tmp_path / f"run-{name}", small(found), short(steps=1))
    assert trained.open_trained(tmp_path / "run-odd").end == tok.special_tokens["<|odd|>"]
    assert trained.open_trained(tmp_path / "run-none").end is None


def test_a_run_from_before_the_end_was_recorded_goes_on(
    shards: shards_module.Shards, run: Path, tmp_path: Path
) -> None:
    path = copy(run, tmp_path / "run")
    said = json.loads((path / runs.CONFIG).read_bytes())
    del said["data"]["end"]
    (path / runs.CONFIG).write_text(json.dumps(said))
    assert train(shards.path, path, small(shards), short(steps=4)).step == 4
    said["data"]["end"] = 3
    (path / runs.CONFIG).write_text(json.dumps(said))
    with pytest.raises(ModelError, match="other texts"):
        train(shards.path, path, small(shards), short(steps=4))


# ---- comparisons ----


def test_texts_that_differ_in_normal_form_are_not_the_same_text(tmp_path: Path) -> None:
    texts = [text.replace("a", "ά") for text in documents(40)]
    tok = syllabary.train([unicodedata.normalize("NFC", text) for text in texts], vocab_size=280)
    paths = []
    for form in ("NFC", "NFD"):
        same = [unicodedata.normalize(form, text) for text in texts]
        paths.append(shards_module.write(same, tok, tmp_path / form, val=0.3, processes=1).path)
    first, second = (shards_module.open(path).val for path in paths)
    assert first is not None
    assert second is not None
    assert first.digest == second.digest
    with pytest.raises(ShardError, match="hold out different texts"):
        compare.compare(paths, tmp_path / "out", settings={"device": "cpu"})


def test_trigrams_that_differ_are_each_named(tmp_path: Path) -> None:
    texts = documents(60)
    tok = syllabary.train(texts, vocab_size=280, special_tokens=[END])
    plain = shards_module.write(texts, tok, tmp_path / "plain", val=0.3, processes=1)
    ended = shards_module.write(texts, tok, tmp_path / "ended", val=0.3, end=END, processes=1)
    settings = {"device": "cpu", "block_size": 16, "batch_size": 4, "depth": 1}
    found = compare.compare([plain.path, ended.path], tmp_path / "out",
                            budget=compare.Budget(bytes=200), settings=settings)  # fmt: skip
    names = [one.name for one in found.counted if one.baseline.name == "byte trigram"]
    assert names == ["byte trigram, plain", "byte trigram, ended"]
    assert found.words().count("byte trigram") == 1  # of the best alone


def test_held_out_text_below_a_window_is_found_before_training(tmp_path: Path) -> None:
    made = [make_shards(tmp_path / name) for name in ("one", "two")]
    with pytest.raises(ModelError, match="one: the held-out text has"):
        compare.compare([each.path for each in made], tmp_path / "out",
                        settings={"device": "cpu", "block_size": 5_000})  # fmt: skip
    assert not (tmp_path / "out").exists()


# ---- devices ----


@pytest.mark.parametrize("name", ["cuda:x", "gpu", "cpu:", "cuda:-1"])
def test_a_device_that_is_none(name: str) -> None:
    with pytest.raises(ModelError, match="give one of"):
        device.pick(name)


@pytest.mark.parametrize("name, code", [("auto", 0), ("gpu", 1)])
def test_evaluate_takes_the_devices_that_sample_takes(
    shards: shards_module.Shards, run: Path, name: str, code: int
) -> None:
    said = CliRunner().invoke(main, ["gpt", "evaluate", str(run), str(shards.path), "--device", name])
    assert said.exit_code == code, said.output
    assert ("bits per byte" if code == 0 else "give one of auto") in said.output


def test_too_little_memory_says_what_to_make_smaller() -> None:
    with pytest.raises(ModelError, match="smaller batch_size"), device.enough_memory():
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")
    with pytest.raises(ModelError, match="smaller batch_size"), device.enough_memory():
        raise MemoryError
    with pytest.raises(RuntimeError, match="other"), device.enough_memory():
        raise RuntimeError("other")


def test_the_line_of_a_comparison_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from syllabary.cli.gpt_compare import Lines
    from syllabary.gpt.loop import Event

    monkeypatch.setenv("COLUMNS", "30")
    lines = Lines()
    lines.live = True
    lines("a-long-name-of-shards", Event("step", {"step": 1, "tokens_per_second": 1e6}))
    shown = capsys.readouterr().err.strip("\r").removesuffix("\x1b[K")
    assert len(shown) == 29


def test_bits_per_byte_of_a_tokenizer_that_loses_text_come_with_a_caution(tmp_path: Path) -> None:
    texts = [text + f" rare{number}" for number, text in enumerate(documents(40))]
    tok = syllabary.train(texts, vocab_size=280, normalize="NFC", special_tokens=[END])
    exact = shards_module.write(texts, tok, tmp_path / "exact", val=0.3, end=END, processes=1)
    texts = [text.replace("a", "a\u0301") for text in texts]
    lossy = shards_module.write(texts, tok, tmp_path / "lossy", val=0.3, end=END, processes=1)
    for found, expected in ((exact, False), (lossy, True)):
        said = CliRunner().invoke(main, ["gpt", "baselines", str(found.path)])
        assert said.exit_code == 0, said.output
        assert ("does not give this text back" in said.output) is expected
        train(found.path, tmp_path / "run", small(found), short(steps=1), resume=False)
        said = CliRunner().invoke(main, ["gpt", "evaluate", str(tmp_path / "run"), str(found.path)])
        assert said.exit_code == 0, said.output
        assert ("does not give this text back" in said.output) is expected


@pytest.mark.parametrize("name", ["matplotlib.figure", "safetensors.torch"])
def test_a_missing_extra_is_named_before_anything_is_written(
    shards: shards_module.Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModelError, match=r"syllabary\[gpt\]"):
        train(shards.path, tmp_path / "run", small(shards), short())
    assert not (tmp_path / "run").exists()
