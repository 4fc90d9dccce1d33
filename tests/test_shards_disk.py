"""Shards on a full disk, and worker processes that die: errors that say so, and nothing half-valid left.

Leaves out: kills and interrupts (`test_shards_resume`).
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shard_runs import GUARD, held, make_corpus, make_tokenizer, whole, write

import syllabary
from syllabary.errors import ShardError
from syllabary.shards import assembly, parts, workers, writing

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits are POSIX's here")


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    return make_tokenizer()


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tok: syllabary.Tokenizer) -> Path:
    tok.save(tmp_path / "tok.syllabary.json")
    return make_corpus(tmp_path, monkeypatch)


def full(*_: object) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "module, name",
    [(assembly, "put"), (os, "fsync"), (os, "replace")],
    ids=["file", "fsync", "replace"],
)
@pytest.mark.parametrize("call", [0, 1, 3, 6])
def test_a_full_disk_is_an_error_with_the_path(
    module: Any,
    name: str,
    call: int,
    corpus: Path,
    tok: syllabary.Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real: Callable[..., Any] = getattr(module, name)
    calls = 0

    def sometimes(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        return full() if calls > call else real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(module, name, sometimes)
        with pytest.raises(OSError, match="No space left") as caught:
            write(corpus, tok, tmp_path / "out")
    assert str(tmp_path / "out") in str(caught.value.filename)
    assert not (tmp_path / "out" / "index.json").exists()
    assert not list((tmp_path / "out").rglob("*.tmp"))
    write(corpus, tok, tmp_path / "out")
    assert held(tmp_path / "out") == whole(corpus, tok, tmp_path)


@pytest.mark.parametrize("module, name", [(parts, "put"), (os, "replace")], ids=["put", "replace"])
@pytest.mark.parametrize("call", [0, 2])
def test_a_part_for_which_there_is_no_room(
    module: Any, name: str, call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = np.arange(100)
    part = parts.Part(array.astype("<u2"), array, array.astype(np.uint64), array, array.astype(np.uint8))
    real: Callable[..., Any] = getattr(module, name)
    calls = 0

    def sometimes(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        return full() if calls > call else real(*arguments)

    monkeypatch.setattr(module, name, sometimes)
    whole_ones = 0 if name == "put" else call  # a part is written by five calls of `put`, one of `replace`
    for number in range(whole_ones):
        parts.write_part(part, tmp_path / f"part-{number}")
    with pytest.raises(OSError, match="No space left") as caught:
        parts.write_part(part, tmp_path / "part-9")
    assert caught.value.filename == str(tmp_path / "part-9")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"part-{n}" for n in range(whole_ones)]


LIMITED = """
import resource, sys
from pathlib import Path
import syllabary
from syllabary import shards
from syllabary.corpus import Care, Corpus, Reading
from syllabary.shards import assembly, writing
writing.UNIT_BYTES, assembly.CHECKPOINT_BYTES = 3_000, 3_000
folder = Path(sys.argv[1])
tok = syllabary.load(folder / "tok.syllabary.json")
sys.dont_write_bytecode = True  # cut short, it would break who imports it next
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
source = Corpus(folder / "corpus.txt", Reading(documents="line"), Care(drop_duplicates=True))
try:
    shards.write(source, tok, folder / "out", val=0.3, end="<|end|>", processes=int(sys.argv[3]))
except OSError as error:
    print(error.filename, error.strerror)
"""


@pytest.mark.parametrize("limit, processes", [(0, 1), (500, 1), (500, 2), (2_500, 1), (2_500, 2)])
def test_files_that_may_not_grow(
    limit: int, processes: int, corpus: Path, tok: syllabary.Tokenizer, tmp_path: Path
) -> None:
    """The kernel itself refuses a write in the middle of a file, in whichever process."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path), str(limit), str(processes)],
        text=True, capture_output=True, check=False, timeout=GUARD,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(str(tmp_path / "out"))
    assert "File too large" in done.stdout
    assert not (tmp_path / "out" / "index.json").exists()
    write(corpus, tok, tmp_path / "out")
    assert held(tmp_path / "out") == whole(corpus, tok, tmp_path)


DYING = """
import os, signal
def die(task, tell):
    os.kill(os.getpid(), signal.SIGKILL)
def leave(task, tell):
    os._exit(7)
def fail(task, tell):
    raise ZeroDivisionError("of " + task)
def odd(task, tell):
    class Odd(Exception):
        pass
    raise Odd("of " + task)
def warn(task, tell):
    import warnings
    print("on stdout")
    warnings.warn("mind " + task, DeprecationWarning)
    tell(3)
    return task.upper()
"""


@pytest.fixture
def dying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of functions for workers."""
    (tmp_path / "dying.py").write_text(DYING)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("dying")
    sys.modules.pop("dying")


def test_a_worker_that_dies_is_an_error_that_says_so(dying: Any) -> None:
    for function, words in ((dying.die, "by SIGKILL"), (dying.leave, "with exit code 7")):
        with workers.Workers(1, function, [(4, "x")]) as some:
            (event,) = some.events(wait=True)
        assert (event.task, event.kind) == (4, "failed")
        assert isinstance(event.value, ShardError)
        assert words in str(event.value)
        assert "run the same command again to resume" in str(event.value)


def test_what_a_worker_raises_warns_and_gives_comes_home(dying: Any) -> None:
    with workers.Workers(1, dying.fail, [(0, "x")]) as some:
        (event,) = some.events(wait=True)
    assert repr(event.value) == "ZeroDivisionError('of x')"
    with workers.Workers(1, dying.odd, [(0, "x")]) as some:
        (event,) = some.events(wait=True)
    assert "Odd: of x" in str(event.value)
    with workers.Workers(2, dying.warn, [(5, "x")]) as some:
        found: list[Any] = []
        while not found or found[-1].kind != "done":
            found += some.events(wait=True)
    assert [tuple(event) for event in found] == [
        (5, "told", 3), (5, "warned", ("mind x", DeprecationWarning)), (5, "done", "X")
    ]  # fmt: skip


def test_a_dead_worker_leaves_work_that_can_be_resumed(
    corpus: Path, tok: syllabary.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_more(*_: object) -> Any:
        raise workers.died(-9)

    with monkeypatch.context() as patch:
        patch.setattr(writing.Meter, "told", no_more)
        with pytest.raises(ShardError, match="SIGKILL"):
            write(corpus, tok, tmp_path / "out")
    assert json.loads((tmp_path / "out" / ".work" / "plan.json").read_bytes())
    write(corpus, tok, tmp_path / "out")
    assert held(tmp_path / "out") == whole(corpus, tok, tmp_path)
