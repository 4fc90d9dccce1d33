"""Checkpoints of training on the disk: full ones, damaged files, and where the command keeps them.

And how errors show a split and a start. Leaves out: whether a checkpoint fits (`test_train_checkpoint`),
kills and interrupts (`test_train_resume`).
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from train_runs import GUARD, make_often, saved, stop_in, stopped, train, write_corpus

import syllabary
from syllabary.cli import main
from syllabary.errors import CheckpointError, TrainingError
from syllabary.training import checkpoint as training_checkpoint
from syllabary.training import checkpoint_files as training_checkpoint_files
from syllabary.training.checkpoint_files import Journal, read_counts, write_counts

MODE = "first-seen"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"), 40_000)


@pytest.fixture(scope="module")
def whole(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return saved(train(corpus, MODE), tmp_path_factory.mktemp("whole"))


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    make_often(monkeypatch)


# ---- the disk ----


def full(*_: object) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", ["fsync", "replace"])
@pytest.mark.parametrize("call", [0, 1, 2, 5, 8])
def test_a_full_disk_is_an_error_with_the_path(
    name: str, call: int, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bytes
) -> None:
    real: Callable[..., Any] = getattr(os, name)
    calls, folder = 0, tmp_path / "kept"

    def sometimes(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        return full() if calls > call else real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(os, name, sometimes)
        with pytest.raises(OSError, match="No space left") as caught:
            train(corpus, MODE, folder)
    assert str(folder) in str(caught.value.filename)
    assert not folder.exists() or not list(folder.glob("*.tmp"))
    assert saved(train(corpus, MODE, folder), tmp_path) == whole


LIMITED = """
import builtins, resource, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from train_runs import make_often, train
make_often(builtins)
sys.dont_write_bytecode = True  # cut short, it would break who imports it next
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    train(Path(sys.argv[2]), "first-seen", Path("kept"))
except OSError as error:
    print(error.filename, error.strerror)
"""


@pytest.mark.skipif(os.name == "nt", reason="limits are POSIX's here")
@pytest.mark.parametrize("limit", [100, 3_000, 9_000])
def test_a_file_that_may_not_grow(
    limit: int, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bytes
) -> None:
    """The kernel itself refuses a write: of a table, or of merges in the middle."""
    monkeypatch.chdir(tmp_path)
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LIMITED, here, str(corpus), str(limit)],
        text=True, capture_output=True, check=False, timeout=GUARD,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("kept")
    assert "File too large" in done.stdout
    assert saved(train(corpus, MODE, tmp_path / "kept"), tmp_path) == whole


# ---- the files ----


def test_a_table_comes_back_in_the_order_of_first_appearance(tmp_path: Path) -> None:
    pieces = sorted(
        {f"piece {number * 7919 % 100_003}".encode() for number in range(70_000)} | {b"long" * 9999}
    )
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.uint64)
    counts = np.arange(len(pieces), dtype=np.uint64) + np.uint64(2**33)
    first = np.random.default_rng(1).permutation(len(pieces)).astype(np.uint64) * np.uint64(5)
    write_counts(tmp_path / "counts-0.bin", b"".join(pieces), ends, counts, first)
    found: list[tuple[bytes, int]] = []
    for data, block_ends, block_counts in read_counts(tmp_path / "counts-0.bin"):
        starts = [0, *block_ends.tolist()[:-1]]
        cut = [data[a:b] for a, b in zip(starts, block_ends.tolist(), strict=True)]
        found += zip(cut, block_counts.tolist(), strict=True)
    order = np.argsort(first)
    assert found == [(pieces[number], int(counts[number])) for number in order.tolist()]


def test_merges_after_any_cut(tmp_path: Path) -> None:
    """Whole records before the cut are there, and what is appended then is as if nothing had happened."""
    path, clock = tmp_path / "merges.bin", lambda: 0.0
    rows = np.array([[0, 1], [2, 0], [3, 3], [4, 1]], np.uint32)
    counts = np.array([2**40, 7, 5, 2], np.uint64)
    journal = Journal(path, clock)
    journal.begin("run", [b"a", b"", b"bc"])
    head = path.stat().st_size
    for start, stop in ((0, 1), (1, 3), (3, 4)):
        journal.append(rows[start:stop], counts[start:stop])
    journal.close()
    data = path.read_bytes()
    kept = []
    for size in range(head, len(data) + 1):
        path.write_bytes(data[:size])
        journal = Journal(path, clock)
        assert journal.open("run")
        done = len(journal.merges[0])
        assert (journal.merges[0] == rows[:done]).all()
        assert journal.symbols == [b"a", b"", b"bc"]
        for start, stop in ((0, 1), (1, 3), (3, 4)):
            if start >= done:
                journal.append(rows[start:stop], counts[start:stop])
        journal.close()
        assert path.read_bytes() == data
        kept.append(done)
    assert sorted(set(kept)) == [0, 1, 3, 4]


def test_merges_of_tokens_that_there_are_not(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "merges.bin", lambda: 0.0)
    journal.begin("run", [b"a"])
    journal.append(np.array([[0, 2]], np.uint32), np.array([1], np.uint64))
    journal.close()
    again = Journal(tmp_path / "merges.bin", lambda: 0.0)
    with pytest.raises(CheckpointError, match="a merge of tokens that there are not"):
        again.open("run")
    again.close()


# ---- the command ----


def test_the_command_keeps_it_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain.txt").write_text("low lower lowest newer newest wide wider widest " * 99)
    arguments = ["train", "plain.txt", "-o", "out.json", "--num-merges", "9", "-q"]
    whole_bytes = None
    for more in ([], ["--resume"], ["--checkpoint", "kept"], ["--checkpoint", "kept", "--resume"]):
        done = CliRunner().invoke(main, [*arguments, *more])
        assert (done.exit_code, done.output) == (0, "")
        whole_bytes = whole_bytes or Path("out.json").read_bytes()
        assert Path("out.json").read_bytes() == whole_bytes
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "plain.txt"]
    monkeypatch.setattr(training_checkpoint_files.Journal, "append", lambda *_: full())
    done = CliRunner().invoke(main, [*arguments, "--checkpoint", "kept"])
    assert done.exit_code == 1
    assert "No space left" in done.stderr
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, [*arguments, "--checkpoint", "kept", "--split", "gpt2"])
    assert done.exit_code == 1
    assert "another split (o200k, now gpt2)" in done.stderr
    done = CliRunner().invoke(main, [*arguments, "--checkpoint", ""])
    assert done.stderr == "error: --checkpoint is empty: give a folder\n"
    assert training_checkpoint.holds("kept")
    done = CliRunner().invoke(
        main,
        ["train", "plain.txt", "-o", "m.json", "--superwords", "300", "--resume"],
    )
    assert done.stderr == "error: --superwords and --resume do not go together\n"


@pytest.mark.parametrize("more", [[], ["--resume"], ["--checkpoint", "kept"]])
def test_the_command_resumes_like_sentencepiece(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain.txt").write_text("low lower lowest newer newest wide wider widest\n" * 99)
    syllabary.train([Path("plain.txt").read_text()], like="sentencepiece", options={"vocab_size": 30}).save(
        "whole.model"
    )
    arguments = ["train", "plain.txt", "-o", "m.model", "--like", "sentencepiece", "--vocab-size", "30", "-q"]
    done = CliRunner().invoke(main, [*arguments, *more])
    assert (done.exit_code, done.output) == (0, "")
    assert Path("m.model").read_bytes() == Path("whole.model").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.model", "plain.txt", "whole.model"]


def test_a_split_is_named_and_a_start_is_not_a_hash(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    start, other = (syllabary.train([corpus], num_merges=size) for size in (5, 9))
    with stopped():
        syllabary.train([corpus], num_merges=200, checkpoint=folder, progress=stop_in("merging", 3))
    for split, says in (
        ("gpt2", r"\(o200k, now gpt2\)"),
        ("a+", r'\(o200k, now "a\+"\)'),
        ("none", "now none"),
    ):
        with pytest.raises(CheckpointError, match=f"another split .*{says}"):
            syllabary.train([corpus], num_merges=200, checkpoint=folder, split=split)
    shutil.rmtree(folder)
    with stopped():
        syllabary.train(
            [corpus], num_merges=200, checkpoint=folder, start=start, progress=stop_in("merging", 3)
        )
    with pytest.raises(CheckpointError, match="with another tokenizer to start from; ask for"):
        syllabary.train([corpus], num_merges=200, checkpoint=folder, start=other)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such folder, for a checkpoint") as caught:
        syllabary.train(["low low"], 257, checkpoint=tmp_path / "none" / "kept")
    assert caught.value.filename == str(tmp_path / "none")
    with pytest.raises(TrainingError, match="checkpoint is empty: give a folder"):
        syllabary.train(["low low"], 257, checkpoint="")
