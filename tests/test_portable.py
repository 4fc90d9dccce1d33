"""What must not depend on the system: the order of files, line ends, encodings, words for paths, and locks.

Other systems are played by patches. Leaves out: files that are open (`test_like_windows`), and the layers of
types, which `make check` looks at as on Linux, macOS and Windows.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

import syllabary
from syllabary import arguments, files, locks, progress
from syllabary.cli import standard
from syllabary.corpus import Reading
from syllabary.corpus import files as corpus_files
from syllabary.shards import workers

ROOT = Path(__file__).parent.parent
TEXT = "λόγος ἔργον né " * 40
READING, WRITING = {"read_text"}, {"write_text", "open", "TextIOWrapper", "NamedTemporaryFile", "fdopen"}
# Words that stand in their place, if they have no name of their own: encoding, newline.
PLACES = {"read_text": (0, 2), "write_text": (1, 3), "open": (3, 5), "TextIOWrapper": (1, 3)}


# ---- text in files ----


def careless(source: str) -> Iterator[tuple[int, str]]:
    """Line and reason of each call that reads or writes text by the machine's encoding or line ends.

    `path.open()` alone is left out: so are other things opened. A run shows it (`like_windows`).
    """
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = {word.arg for word in node.keywords}
        if name not in READING | WRITING or None in given:  # None: `**options`, which a run shows
            continue
        of_module = isinstance(node.func, ast.Name)
        modes = [one.value for one in [*node.args[:2], *(word.value for word in node.keywords)]
                 if isinstance(one, ast.Constant) and isinstance(one.value, str)
                 and one.value and set(one.value) <= set("rwxabt+")]  # fmt: skip
        mode = modes[0] if modes else "r"
        if name in ("open", "fdopen") and ("b" in mode or not (modes or of_module)):
            continue
        if name == "NamedTemporaryFile" and not modes:
            continue
        encoding, newline = PLACES.get(name, (9, 9))
        held = len(node.args) + (name == "open" and not of_module)
        if "encoding" not in given and held <= encoding:
            yield node.lineno, f"{name} without encoding"
        writes = name in ("write_text", "TextIOWrapper") or set(mode) & set("wax+")
        if name not in READING and writes and "newline" not in given and held <= newline:
            yield node.lineno, f"{name} without newline"


@pytest.mark.parametrize("folder", ["python", "tools", "fuzz"])
def test_text_is_read_and_written_with_encoding_and_line_ends(folder: str) -> None:
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    found = [
        (path.relative_to(ROOT).as_posix(), *one)
        for path in paths
        for one in careless(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "line, wrong",
    [
        ("path.read_text()", 1),
        ("path.read_text('utf-8')", 0),
        ("path.write_text(text)", 2),
        ("path.write_text(text, 'utf-8')", 1),
        ("path.write_text(text, encoding='utf-8', newline='')", 0),
        ("open(path)", 1),
        ("open(path, 'rb')", 0),
        ("path.open('wb')", 0),
        ("path.open('w')", 2),
        ("path.open('a', encoding='utf-8')", 1),
        ("path.open('w', encoding='utf-8', newline='')", 0),
        ("os.fdopen(1, 'wb')", 0),
        ("io.TextIOWrapper(stream)", 2),
        ("io.TextIOWrapper(stream, 'utf-8', 'strict', '')", 0),
        ("stream.open()", 0),
    ],
)
def test_careless_calls_are_found(line: str, wrong: int) -> None:
    assert len([*careless(line)]) == wrong


# ---- names of files ----


def test_files_of_a_folder_come_in_the_same_order_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its paths are equal but for case, and compared so: documents would come in another order."""
    names = ["a/b.txt", "B.txt", "a/C.txt", "A/z.txt", "a.txt"]
    monkeypatch.setattr(corpus_files, "_walk", lambda *_: map(PureWindowsPath, names))
    monkeypatch.setattr(Path, "is_dir", lambda _: True)
    found = corpus_files.files_of(Path("d"), Reading(), lambda _: None)
    assert [path.as_posix() for path in found] == ["A/z.txt", "B.txt", "a/C.txt", "a/b.txt", "a.txt"]
    assert found == sorted(found, key=lambda path: Path(path.as_posix()))


def test_globs_of_windows_have_its_separator(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading(include=(r"a\*.txt", r"**\b.txt"), exclude=(r"a\c*",))
    assert not corpus_files.included("a/b.txt", reading)
    monkeypatch.setattr(os, "sep", "\\")
    names = ("a/b.txt", "a/c/b.txt", "b.txt", "c/a.txt", "a/d.txt")
    found = [name for name in names if corpus_files.wanted(name, reading)]
    assert found == ["a/b.txt", "b.txt", "a/d.txt"]


@pytest.mark.parametrize("name", ["some/folder/tok", r"some\folder\tok", r"C:\tok"])
def test_a_path_with_either_separator_is_no_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sep", "\\")
    monkeypatch.setattr(os, "altsep", "/")
    with pytest.raises(FileNotFoundError, match="No such tokenizer file or folder"):
        syllabary.load(name)


# ---- what a system has not ----


def test_a_system_without_affinity_or_proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As macOS."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert arguments.cores() == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert arguments.cores() == 1
    monkeypatch.setattr(progress, "STATM", str(tmp_path / "statm"))
    assert progress.memory() is None
    said: list[progress.Progress] = []
    syllabary.train([TEXT], num_merges=3, progress=said.append)
    assert said
    assert {one.memory for one in said} == {None}


WITHOUT = """
import os, sys
for name in ("fcntl", "resource", "termios", "msvcrt", "pwd"):
    sys.modules[name] = None
for name in ("sched_getaffinity", "get_blocking", "posix_fadvise", "fork"):
    if hasattr(os, name):
        delattr(os, name)
from syllabary.cli import main
for line in sys.argv[1:]:
    main.main(line.split(), prog_name="syllabary", standalone_mode=False)
"""


def test_a_posix_system_without_its_modules(tmp_path: Path) -> None:
    """Nothing is locked there, and all works."""
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    lines = (
        "train text -o tok.json --num-merges 9 --resume --memory-limit 100MB --quiet",
        "shard text -t tok.json -o shards --quiet",
        "count -t tok.json text",
    )
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT, *lines], cwd=tmp_path, capture_output=True, timeout=60
    )
    assert ended.returncode == 0, ended.stderr.decode()
    count = syllabary.load(tmp_path / "tok.json").count(TEXT)
    assert ended.stdout.decode().split() == [str(count), "text"]
    assert not (tmp_path / "tok.json.checkpoint").exists()
    assert not (tmp_path / "shards" / ".work").exists()


def test_a_file_system_without_locks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")

    def no_locks(*_: Any) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with (tmp_path / "a").open("wb") as file:
        assert locks.lock(file.fileno()) is False


def test_a_lock_is_let_go_while_nobody_else_can_have_it(tmp_path: Path) -> None:
    path, seen = tmp_path / "lock", list[bool]()

    def taken() -> bool:
        with path.open("ab") as other:
            try:
                return locks.lock(other.fileno())
            except BlockingIOError:
                return False

    with locks.holding(path, lambda: seen.append(taken())):
        assert not taken()
        with pytest.raises(BlockingIOError), locks.holding(path, lambda: seen.append(True)):
            pass
    assert seen == [sys.platform == "win32"]
    assert taken()


@pytest.mark.parametrize("name", ["replace", "remove"])
def test_windows_is_asked_again(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever looks for viruses opens each new file for a moment."""
    new, old = tmp_path / "new", tmp_path / "old"
    new.write_bytes(b"new")
    refused = list[int]()
    acts = {"replace": (lambda: files.replace(new, old)), "remove": (lambda: files.remove(new))}
    where, what = (os, "replace") if name == "replace" else (Path, "unlink")
    original = getattr(where, what)

    def busy(*given: Any, **how: Any) -> None:
        if len(refused) < 3:
            refused.append(1)
            raise PermissionError(13, "used by another process")
        original(*given, **how)

    monkeypatch.setattr(where, what, busy)
    monkeypatch.setattr(files, "PAUSE", 0.0)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(PermissionError):
        acts[name]()
    assert len(refused) == 1
    monkeypatch.setattr(sys, "platform", "win32")
    acts[name]()
    assert (len(refused), new.exists(), old.exists()) == (3, False, name == "replace")
    monkeypatch.setattr(where, what, lambda *given, **how: busy(*given, **how, no=refused.clear()))
    with pytest.raises(PermissionError):
        acts[name]()


@pytest.mark.skipif(os.name == "nt", reason="a name with a colon is made first")
def test_a_colon_names_a_part_of_another_file_on_windows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files.write_atomic(tmp_path / "a:b", b"here")
    monkeypatch.setattr(sys, "platform", "win32")
    for name in ("a:b", "a:c"):
        with pytest.raises(OSError, match=r"has no colon on Windows.*a:"):
            files.write_atomic(tmp_path / name, b"there")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a:b", b"here")]


# ---- streams, processes, times ----


@cache
def told(system: str, terminal: bool, name: str) -> dict[str, Any]:
    """How a stream shows characters on a system."""
    stream = type("Stream", (), {"isatty": lambda _: terminal})()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "platform", system)
        patch.setenv("PYTHONIOENCODING", name)
        return standard.characters(stream)


def test_streams_of_windows_that_are_no_terminal_are_utf_8() -> None:
    escaped = {"errors": "backslashreplace"}
    assert told("linux", False, "") == told("darwin", True, "") == told("win32", True, "") == escaped
    assert told("win32", False, "") == {**escaped, "newline": "\n", "encoding": "utf-8"}
    assert told("win32", False, "cp1252") == {**escaped, "newline": "\n"}


def test_workers_are_a_group_of_their_own_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is for the one process that knows what to do."""

    class Noted(Exception):  # noqa: N818
        pass

    def noted(*_: Any, **how: Any) -> None:
        raise Noted(how["creationflags"], how["start_new_session"])

    monkeypatch.setattr(workers.subprocess, "Popen", noted)
    monkeypatch.setattr(workers, "GROUP", 512)
    with pytest.raises(Noted, match=r"512, True"), workers.Workers(1, print, []):
        pass


def test_a_parent_that_is_gone_is_a_broken_pipe_on_every_system() -> None:
    class Gone:
        def write(self, _data: bytes) -> None:
            raise OSError(22, "Invalid argument")  # as Windows says it

    with pytest.raises(BrokenPipeError):
        workers.reply(Gone(), "told", 1)  # type: ignore[arg-type]


def test_numbers_of_a_date_without_zeros_are_asked_for_as_windows_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sandbox = pytest.importorskip("syllabary.chat.sandbox")

    class Then(datetime):
        def strftime(self, pattern: str) -> str:
            return pattern

    monkeypatch.setattr(sandbox, "datetime", Then)
    for system, found in (("linux", "%-d %%-d %B"), ("win32", "%#d %%-d %B")):
        monkeypatch.setattr(sys, "platform", system)
        assert sandbox.strftime_now("%-d %%-d %B") == found
