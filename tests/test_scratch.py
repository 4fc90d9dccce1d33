"""Folders for a run alone: gone at its end, and after a kill by the next run; those in use stay."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from syllabary.scratch import HELD, scratch

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no locks of this kind")

HOLD = """
import sys
from syllabary.scratch import scratch
with scratch(sys.argv[1]) as folder:
    (folder / "run-1").write_bytes(b"pieces")
    print(folder, flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_elsewhere(where: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process that has a folder there, until it is killed or the end."""
    command = [sys.executable, "-c", HOLD, str(where)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().rstrip("\n"))


def test_it_is_gone_at_the_end(tmp_path: Path) -> None:
    with scratch(str(tmp_path)) as folder:
        (folder / "run-1").write_bytes(b"pieces")
        assert folder.parent == tmp_path
        assert (folder / HELD).exists()
    assert not any(tmp_path.iterdir())
    run = scratch(str(tmp_path))
    run.__enter__()
    assert run.__exit__(KeyError, KeyError(), None) is False
    assert not any(tmp_path.iterdir())
    with scratch() as folder:
        assert folder.parent == Path(tempfile.gettempdir())
    assert not folder.exists()


def test_what_a_killed_run_left_goes_with_the_next(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as (process, left):
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (left / "run-1").read_bytes() == b"pieces"
    with scratch(str(tmp_path)) as folder:
        assert [*tmp_path.iterdir()] == [folder]


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as (process, theirs):
        with scratch(str(tmp_path)) as mine, scratch(str(tmp_path)) as another:
            assert {*tmp_path.iterdir()} == {theirs, mine, another}
        assert (theirs / "run-1").exists()
        process.communicate("")
    assert process.returncode == 0
    assert not any(tmp_path.iterdir())


def test_what_is_no_such_folder_stays(tmp_path: Path) -> None:
    """Not yet locked; no folder; a link to one; of another name."""
    elsewhere = tmp_path / "elsewhere"
    for name in ("syllabary-a.scratch", "elsewhere", "syllabary-mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "text").write_text("kept")
    for folder in (elsewhere, tmp_path / "syllabary-mine"):
        (folder / HELD).touch()
    (tmp_path / "syllabary-b.scratch").write_text("kept")
    (tmp_path / "syllabary-c.scratch").symlink_to(elsewhere)
    before = sorted(tmp_path.rglob("*"))
    with scratch(str(tmp_path)):
        pass
    assert sorted(tmp_path.rglob("*")) == before
