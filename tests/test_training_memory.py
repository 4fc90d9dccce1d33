"""`memory_limit`: the same result out of little memory, sizes as people write them, and no file left behind.

The engine is given a room far below the least that `train` accepts, so that a small corpus spills. Leaves
out: how much memory is taken (`bench`), and the engine's own tests (`training_memory.rs`).
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syllabary
from syllabary._engine import Trainer
from syllabary.cli.words import spoken
from syllabary.errors import TrainingError
from syllabary.spec import TrainOptions
from syllabary.splits import get
from syllabary.training.memory import MOST, limited, size_in_bytes, temporary_folder

ROOM = 22 << 20  # bytes; merging takes 17 MiB of them whatever the corpus
TABLE = bytes(32 if byte < 24 else 97 + byte % 16 for byte in range(256))  # noise -> words of nine letters
GUARD = 120  # seconds after which a process that does not end is a failure


def texts(megabytes: int = 2) -> Iterator[str]:
    draw = random.Random(3)
    for _ in range(10 * megabytes):
        yield draw.randbytes(100_000).translate(TABLE).decode()


def learned(room: tuple[int, Path] | None) -> tuple[list[Any], list[str]]:
    """Everything that the engine learns, and the files that there are when it has."""
    options = TrainOptions(get("gpt2"), num_merges=100)
    trainer = Trainer(options, 2, room)
    trainer.feed(texts())
    merging = trainer.merging(options, 10**6, 100, None)
    steps = []
    while not merging.done:
        steps.append(merging.step(10.0))
    pairs, counts = (np.concatenate(column).tolist() for column in zip(*steps, strict=True))
    return [merging.tokens, pairs, counts], [] if room is None else os.listdir(room[1])


def counted(room: tuple[int, Path] | None) -> tuple[list[Any], list[str]]:
    """The table of the corpus, and the files that there are when it is whole."""
    trainer = Trainer(TrainOptions(get("gpt2")), 2, room)
    trainer.feed(texts(1))
    assert trainer.distinct_pieces > 10_000
    files = [] if room is None else os.listdir(room[1])
    data, ends, counts = trainer.counts()
    return [data, ends.tolist(), counts.tolist()], files


def test_counting_in_little_memory_changes_nothing_and_its_files_go(tmp_path: Path) -> None:
    table, files = counted((200_000, tmp_path))
    assert any(name.startswith("run-") for name in files)
    assert table == counted(None)[0]
    assert list(tmp_path.iterdir()) == []


def test_merging_in_little_memory_changes_nothing_and_its_files_go(tmp_path: Path) -> None:
    merges, files = learned((ROOM, tmp_path))
    assert files == ["places"]
    assert merges == learned(None)[0]
    assert list(tmp_path.iterdir()) == []


def test_a_limit_in_train_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    options: Any = {"vocab_size": 400, "split": "gpt2"}
    one = syllabary.train(texts(1), memory_limit="80 MiB", **options)
    assert one.spec == syllabary.train(texts(1), **options).spec
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "size,expected",
    [
        ("256 MiB", 256 << 20),
        ("2GB", 2 * 10**9),
        ("1.5g", 15 * 10**8),
        ("1 T", 10**12),
        ("0.5 TiB", 1 << 39),
        (10**9, 10**9),
        (2**70, MOST),
        ("9" * 500, MOST),
    ],
)
def test_sizes(size: int | str, expected: int) -> None:
    assert size_in_bytes(size) == expected


@pytest.mark.parametrize(
    "size,message",
    [
        ("80", "memory_limit '80' is 80 bytes: give 80 MiB or more"),
        ("1 MB", "memory_limit '1 MB' is 1,000,000 bytes: give 80 MiB or more"),
        (-1, "memory_limit -1 is -1 bytes: give 80 MiB or more"),
        ("much", "memory_limit 'much' is no size"),
        ("5 PB", "memory_limit '5 PB' is no size"),
    ],
)
def test_what_is_no_size_or_too_small(size: int | str, message: str) -> None:
    with pytest.raises(TrainingError) as caught:
        size_in_bytes(size)
    assert str(caught.value).startswith(message)
    if isinstance(size, str):
        assert spoken(str(caught.value)).startswith("--memory-limit '")


def test_who_has_no_limit_says_so() -> None:
    with pytest.raises(TrainingError, match="memory_limit"):
        syllabary.train(["low low"], 300, memory_limit="1 GB", unit="id")


def test_a_temporary_folder_that_cannot_be_used_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="TMPDIR names") as caught:
        syllabary.train(["low low"], 300, memory_limit="1 GB")
    assert caught.value.filename == str(tmp_path / "none")
    (tmp_path / "file").touch()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "file"))
    with pytest.raises(NotADirectoryError, match="no folder"):
        temporary_folder()
    monkeypatch.setenv("TMPDIR", "")
    monkeypatch.setenv("TEMP", str(tmp_path))
    with limited("1 GB") as room:
        assert room is not None
        assert room[1].parent == tmp_path
    for name in ("TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    assert temporary_folder() is None
    with limited("1 GB") as room:
        assert room is not None
        assert room[1].parent == Path(tempfile.gettempdir())


FULL = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from test_training_memory import ROOM, learned
from syllabary.training.memory import limited
sys.dont_write_bytecode = True  # cut short, it would break who imports it next
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    with limited("80 MiB") as room:
        learned((ROOM, room[1]))
except OSError as error:
    print(error.filename, error.strerror)
"""


@pytest.mark.skipif(os.name == "nt", reason="limits are POSIX's here")
@pytest.mark.parametrize("limit,name", [(10, "run-"), (6_000_000, "places")])
def test_a_full_disk_is_an_error_with_the_path(limit: int, name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(Path(__file__).parent), str(limit)],
        text=True, capture_output=True, check=False, timeout=GUARD,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(str(tmp_path / "syllabary-"))
    assert f"/{name}" in done.stdout
    assert "File too large" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's here")
@pytest.mark.parametrize("verb", ["train", "count-pieces"])
@pytest.mark.parametrize("sign", ["SIGINT", "SIGTERM"])
def test_a_signal_leaves_no_folder(sign: str, verb: str, tmp_path: Path) -> None:
    """The signal comes while the corpus is read: the process gets it from its own corpus."""
    corpus, there = tmp_path / "corpus.txt", tmp_path / "tmp"
    corpus.write_text("low lower lowest\n" * 1000)
    there.mkdir()
    limit = ["--memory-limit", "1 GB", "--resume"] if verb == "train" else []
    out = tmp_path / ("out.json" if verb == "train" else "out.parquet")
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED, sign, str(there), verb, str(corpus), "-o", str(out), *limit],
        text=True, capture_output=True, check=False, timeout=GUARD,
        env={**os.environ, "TMPDIR": str(there)},
    )  # fmt: skip
    kept = f"kept in {out}.checkpoint: the same command goes on from there\n" if verb == "train" else ""
    assert (done.returncode, done.stderr.removeprefix(kept)) == (130, "interrupted\n")
    assert done.stdout == f"{len(limit) and 1} folder\n"
    assert list(there.iterdir()) == []
    assert not out.exists()


SIGNALLED = """
import os, signal, sys
from syllabary.cli import main
from syllabary.corpus.corpus import Corpus
real_parts = Corpus.parts
def parts(self, *arguments, **options):
    for number, part in enumerate(real_parts(self, *arguments, **options)):
        if number == 0:
            print(len(os.listdir(sys.argv[2])), "folder", flush=True)
            signal.raise_signal(getattr(signal, sys.argv[1]))
        yield part
Corpus.parts = parts
main(sys.argv[3:])
"""
