"""Ctrl-C, a full disk and other ends before the end: nothing half-written, the old file as it was.

No clock is read: a signal is sent when the command shows that it is in the stage to be stopped.
Leaves out: how fast that is (`test_cli`), and bad input (`test_bad_input`).
"""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from terminal import interrupt_when

import syllabary
from syllabary import formats
from syllabary.cli import main
from syllabary.formats.record import Facts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals, pipes and limits are POSIX's here")

COMMAND = [sys.executable, "-m", "syllabary"]
GUARD = 120  # seconds after which a process that does not end is a failure
WRITABLE = [
    form.suffixes[0]
    for form in formats.FORMATS
    if form.write is not None and form.refuses(Facts()) is None  # those that hold tokens of bytes
]
OUTPUTS = pytest.mark.parametrize("old", [None, b"the old file"], ids=["new", "old"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def long_text() -> str:
    """Text on which merging takes many times longer than a signal needs."""
    return random.Random(7).randbytes(6_000_000).hex()


def prepare(folder: Path, old: bytes | None) -> dict[str, bytes]:
    """Put the old file there; the folder's files and what is in them."""
    if old is not None:
        Path("out.json").write_bytes(old)
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def feed(process: subprocess.Popen[Any], pipe: Path, ready: Callable[[], object]) -> None:
    """Write text into a named pipe for as long as somebody reads; call `ready` after the first megabytes."""
    try:
        with pipe.open("wb", buffering=0) as file:
            for number in range(1_000_000):
                file.write(b"arma virumque cano, Troiae qui primus ab oris\n" * 1000)
                if number == 500:
                    ready()
    except BrokenPipeError:
        return
    process.kill()  # it read all that and did not stop: the return code will tell


@OUTPUTS
def test_ctrl_c_while_counting(folder: Path, old: bytes | None) -> None:
    os.mkfifo("pipe.txt")
    before = prepare(folder, old)
    command = [*COMMAND, "train", "pipe.txt", "-o", "out.json"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    interrupt = lambda: process.send_signal(signal.SIGINT)  # noqa: E731
    writer = threading.Thread(target=feed, args=(process, folder / "pipe.txt", interrupt))
    writer.start()
    _, stderr = process.communicate(timeout=GUARD)
    writer.join(GUARD)
    assert (process.returncode, stderr) == (130, "interrupted\n")
    assert contents(folder) == before


@OUTPUTS
def test_ctrl_c_while_merging(folder: Path, old: bytes | None, long_text: str) -> None:
    Path("long.txt").write_text(long_text, "utf-8")
    before = prepare(folder, old)
    command = [*COMMAND, "train", "long.txt", "-o", "out.json", "--split", "none", "--vocab-size", "900000"]
    status, shown = interrupt_when(command, b"merging", GUARD)
    assert status == 130
    assert shown.endswith(b"interrupted\r\n")
    assert contents(folder) == before


SCRIPT = """
import sys, syllabary
stage, source, options = sys.argv[1], sys.stdin.read(), {"vocab_size": 900_000, "split": "none"}
def report(now):
    if now.stage == stage:
        print("now", flush=True)
try:
    syllabary.train([source] * 3, progress=report, **options)
except KeyboardInterrupt as error:
    print("KeyboardInterrupt", type(error).__mro__[1].__name__)
print(syllabary.train(["low low"], vocab_size=258).tokens("low"))
"""


@pytest.mark.parametrize("stage", ["counting", "merging"])
def test_ctrl_c_is_keyboard_interrupt_in_python(stage: str, long_text: str) -> None:
    """And the process goes on: the next training is as good as any."""
    command = [sys.executable, "-c", SCRIPT, stage]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(long_text)
        process.stdin.close()
        assert process.stdout.readline() == "now\n"
        process.send_signal(signal.SIGINT)
        rest = [line for line in process.stdout.read().splitlines() if line != "now"]
        assert process.wait(GUARD) == 0
    assert rest == ["KeyboardInterrupt BaseException", "[b'low']"]


@pytest.mark.parametrize("stage", ["counting", "merging"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_the_progress_function_raises_comes_out(stage: str, error: type[BaseException]) -> None:
    def report(now: syllabary.Progress) -> None:
        if now.stage == stage:
            raise error("mine")

    with pytest.raises(error, match="mine"):
        syllabary.train(["low low lower"], num_merges=2, progress=report)


def test_ctrl_c_while_documents_are_made() -> None:
    def documents() -> Any:
        yield "low low"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        syllabary.train(documents(), num_merges=1)


FIRST_ARRAY = """
import os, signal, sys, threading, time
from syllabary import train
def interrupt():
    time.sleep(float(sys.argv[1]))
    os.kill(os.getpid(), signal.SIGINT)
text = sys.stdin.read()
try:
    threading.Thread(target=interrupt, daemon=True).start()
    train([text], num_merges=0, split="none")
    time.sleep(60)
except KeyboardInterrupt:
    print("KeyboardInterrupt")
"""


@pytest.mark.parametrize("delay", ["0.001", "0.005", "0.01", "0.02"])
def test_ctrl_c_just_before_the_first_array_is_made(delay: str, long_text: str) -> None:
    """While the engine ends its work the signal waits; it must come out as itself, whenever it was sent.

    All is imported before: what Python's own import makes of a signal is not ours.
    """
    done = subprocess.run(
        [sys.executable, "-c", FIRST_ARRAY, delay],
        input=long_text[:2_000_000], text=True, capture_output=True, check=False, timeout=GUARD,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "KeyboardInterrupt\n", "")


# ---- the disk ----


def full(*_: object) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted(*_: object) -> Any:
    raise KeyboardInterrupt


@pytest.mark.parametrize("function", ["replace", "fsync"])
@pytest.mark.parametrize("failure, error", [(full, OSError), (interrupted, KeyboardInterrupt)])
@pytest.mark.parametrize("suffix", WRITABLE)
@OUTPUTS
def test_a_save_that_fails_leaves_nothing(
    function: str,
    failure: Callable[..., Any],
    error: type[BaseException],
    suffix: str,
    old: bytes | None,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tok = syllabary.train(["low low"], num_merges=2)
    target = folder / f"out{suffix}"
    if old is not None:
        target.write_bytes(old)
    before = contents(folder)
    with monkeypatch.context() as patch:
        patch.setattr(os, function, failure)
        with pytest.raises(error):
            tok.save(target)
    assert contents(folder) == before
    tok.save(target)
    assert [path.name for path in folder.iterdir()] == [target.name]
    assert syllabary.load(target, split="o200k" if suffix == ".tiktoken" else None).encode("low low") == [
        257, tok.encode(" low")[0], *tok.encode(" low")[1:]
    ]  # fmt: skip


@pytest.mark.parametrize(
    "failure, code, words", [(full, 1, "No space left"), (interrupted, 130, "interrupted")]
)
@OUTPUTS
def test_the_command_on_a_full_disk(
    failure: Callable[..., Any],
    code: int,
    words: str,
    old: bytes | None,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = prepare(folder, old)
    monkeypatch.setattr(os, "fsync", failure)
    done = CliRunner().invoke(
        main, ["train", "-", "-o", "out.json", "--num-merges", "2"], input="low low low low"
    )
    assert done.exit_code == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(folder) == before


LIMITED = """
import resource, sys
sys.dont_write_bytecode = True  # cut short, it would break who imports it next
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from syllabary.cli import main
main(sys.argv[2:])
"""


@pytest.mark.parametrize("limit", [0, 1, 1000])
@OUTPUTS
def test_a_file_that_may_not_grow(limit: int, old: bytes | None, folder: Path) -> None:
    """The kernel itself refuses a write in the middle of the file."""
    before = prepare(folder, old)
    arguments = ["train", "-", "-o", "out.json", "--num-merges", "2", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), *arguments],
        input="low low low low", text=True, capture_output=True, check=False, timeout=GUARD,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "File too large" in done.stderr
    assert contents(folder) == before


IMPORTING = """
import runpy, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
sys.modules.pop("typing", None)
sys.argv[:1] = [sys.argv.pop()]
runpy.run_module("syllabary", run_name="__main__")
"""


@pytest.mark.parametrize("name", ["-m", "/usr/bin/syllabary", "program.py"])
@pytest.mark.parametrize(
    "module", ["typing", "numpy", "click", "syllabary.cli.common", "syllabary.corpus.corpus"]
)
def test_ctrl_c_while_the_command_is_imported(module: str, name: str) -> None:
    """typing and numpy are imported with the package, by anyone; who is no command hears of it."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING, module, name],
        text=True, capture_output=True, check=False, timeout=GUARD,
    )  # fmt: skip
    if module in ("typing", "numpy") and name == "program.py":
        assert "KeyboardInterrupt" in done.stderr
    else:
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


STARTING = """
import runpy, sys
from syllabary.cli import common, main

def interrupted(*_: object, **_more: object):
    raise KeyboardInterrupt

if sys.argv[1] == "click":
    type(main).main = interrupted
else:
    common._in_sentences = interrupted
runpy.run_module("syllabary", run_name="__main__")
"""


@pytest.mark.parametrize("where", ["click", "arguments"])
def test_ctrl_c_before_a_verb_is_at_work(where: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTING, where],
        text=True, capture_output=True, check=False, timeout=GUARD,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
