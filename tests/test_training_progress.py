"""Progress of training: what a function is told, what the bar shows, and the time that is left.

The clock is the test's own. Leaves out: what is raised (`test_interrupted`), checkpoints
(`test_train_resume`).
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from terminal import interrupt_when

import syllabary
from syllabary import progress
from syllabary.progress import Progress, duration, reporter, size, told
from syllabary.training import learning as training_learning

WORDS = ["low lower lowest newer newest wide wider widest né 北京 " * 30]


@pytest.fixture
def tick(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the clock."""
    now = 0.0
    monkeypatch.setattr(progress, "clock", lambda: now)

    def set_to(seconds: float) -> None:
        nonlocal now
        now = seconds

    return set_to


def test_each_merge_is_told_with_its_pair_and_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_learning, "MOST", 1)
    seen: list[Progress] = []
    tok = syllabary.train(WORDS, num_merges=20, progress=seen.append)
    merging = [now for now in seen if now.stage == "merging"]
    assert [now.done for now in merging] == [*range(21), 20]
    assert {now.total for now in merging} == {20}
    assert [now.pair for now in merging[1:-1]] == tok.merges
    assert [now.count for now in merging[1:-1]] == tok.spec.record["counts"]
    assert merging[-1].pair is merging[-1].count is None
    counting = [now for now in seen if now.stage == "counting"]
    assert counting[-1].done == len(WORDS[0].encode())
    assert {(now.total, now.pair, now.count, now.seconds_left) for now in counting} == {(None,) * 4}


@pytest.mark.parametrize(
    "options, total",
    [({"vocab_size": 270}, 14), ({"vocab_size": 270, "special_tokens": ["<e>"]}, 13), ({"num_merges": 4}, 4)],
)
def test_the_total_is_of_merges(options: dict[str, Any], total: int) -> None:
    seen: list[Progress] = []
    syllabary.train(WORDS, progress=seen.append, **options)
    assert {now.total for now in seen if now.stage == "merging"} == {total}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is told by /proc")
def test_memory_is_that_of_the_process() -> None:
    status = Path("/proc/self/status").read_text()
    resident = int(status.partition("VmRSS:")[2].split()[0]) * 1024
    found = progress.memory()
    assert found is not None
    assert abs(found - resident) < 8 << 20
    with mmap.mmap(-1, 64 << 20) as held:  # memory of its own: any other may have been there already
        held[::4096] = b"\1" * (len(held) // 4096)
        grown = progress.memory()
        assert grown is not None
        assert grown - found > len(held) - (8 << 20)
    seen: list[Progress] = []
    syllabary.train(WORDS, num_merges=2, progress=seen.append)
    assert all(now.memory is not None and now.memory > 8 << 20 for now in seen)


@pytest.mark.parametrize("content", [None, b"", b"nothing", b"1 x 2"])
def test_memory_is_none_where_nobody_tells(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "statm"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(progress, "STATM", str(path))
    assert progress.memory() is None
    seen: list[Progress] = []
    syllabary.train(WORDS, num_merges=2, progress=seen.append)
    assert {now.memory for now in seen} == {None}


def test_the_time_left_is_by_the_speed_of_the_last_seconds(tick: Callable[[float], None]) -> None:
    seen: list[Progress] = []
    with reporter(seen.append) as report:
        assert report is not None

        def at(seconds: float, done: int, total: int | None = 1000) -> float | None:
            tick(seconds)
            report(Progress("merging", done, total))
            return seen[-1].seconds_left

        assert at(0, 0) is None
        assert at(0.5, 100) is None  # too short to tell
        assert at(1, 100) == pytest.approx(9)
        assert at(2, 100) == pytest.approx(18)
        assert at(10, 500) == pytest.approx(10)
        assert at(12, 510) == pytest.approx(490 * 10 / 410)  # since 2: the last ten seconds
        assert at(30, 510) is None  # nothing came: nobody knows
        assert at(40, 520) == pytest.approx(480)
        assert at(42, 1000) == 0
        assert at(43, 1000, None) is None
        tick(44)
        report(Progress("counting", 5, 10))
        assert seen[-1].seconds_left is None  # another stage begins anew
        tick(46)
        report(Progress("counting", 7, 10))
        assert seen[-1].seconds_left == pytest.approx(3)


def test_what_is_read_beside_the_bar() -> None:
    now = Progress("merging", 9, 99, 1200, ("né".encode(), b"\xc3"), 2_300_000_000, 3675.2)
    assert told(now) == "1:01:15 left, 'né' b'\\xc3' 1,200 times, 2.30 GB"
    assert told(now, 12) == "1:01:15 left"
    assert told(now, -5) == ""
    assert told(Progress("merging", 0, 9)) == ""
    hostile = Progress("merging", 1, 9, 1, (b"\x1b[2J\n", "\u202e".encode() + b"x" * 50), None, None)
    assert told(hostile) == "'\\x1b[2J\\n' '\\u202exxxxxxxxxxxxxxx…' 1 time"
    assert (duration(0.4), duration(59.6), size(0)) == ("0:00", "1:00", "0.0 MB")


@pytest.mark.parametrize("columns", [20, 60, 80, 200])
def test_the_bar_is_no_wider_than_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    drawn = progress._drawn(32_000, "merging")
    drawn.update(12_345, Progress("merging", 12_345, 32_000, 77, (b"a" * 40, b"b" * 40), 10**9, 75.0))
    line = drawn.format_progress_line().rstrip()
    assert line.startswith("merging  [######")
    assert len(line) < max(columns, len("merging  [----------------]  12345/32000") + 1)
    assert ("1:15 left" in line) is (columns >= 60)


@pytest.mark.parametrize("columns", [1, 20, 40, 80])
def test_the_line_of_counting_is_no_wider_than_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its spaces it had 46 columns, so that a narrower terminal got a new line for each look."""
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    with progress.bar() as report:
        report(Progress("counting", 12_345_678, None, memory=53_000_000))
    line = capsys.readouterr().err.removeprefix("\r").removesuffix("\n")
    assert len(line) < columns
    assert "counting: 12.3 MB, 53.0 MB of memory".startswith(line.rstrip())


def trained_on_a_terminal(merges: int) -> tuple[int, bytes]:
    """The status of `syllabary train corpus.txt`, and what the terminal was shown."""
    options = ["corpus.txt", "-o", "out.json", "--num-merges", str(merges)]
    return interrupt_when([sys.executable, "-m", "syllabary", "train", *options], b"never shown", 120)


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are a thing of POSIX")
def test_the_bar_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("corpus.txt").write_text(WORDS[0], "utf-8")
    status, shown = trained_on_a_terminal(15)
    text = shown.decode()
    assert status == 0
    assert "counting: 0.0 MB" in text
    assert "merging  [################]  15/15" in text
    assert " times" in text
    assert Path("/proc").exists() is (" MB of memory" in text)


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are a thing of POSIX")
def test_a_warning_does_not_go_on_in_the_line_of_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    Path("corpus.txt").write_text(WORDS[0] + " \u1f71", "utf-8")  # in no normal form
    status, shown = trained_on_a_terminal(5)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert status == 0
    assert f"\r{' ' * 59}\rwarning: the corpus has text in no normal form" in text
