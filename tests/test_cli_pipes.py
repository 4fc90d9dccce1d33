"""The command in real pipes: what comes slowly, and what is taken slowly, where a pipe is set not to wait.

And on a terminal, in which colours an error is said.

Leaves out: full disks, and most about streams that are closed (test_cli_corpus_review).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import syllabary

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes that do not wait are POSIX's")

TEXT = "the cat on the mat, né, 北京 " * 40


@pytest.fixture
def folder(working_folder: Path) -> Path:
    """A working directory with a tokenizer."""
    syllabary.train([TEXT], num_merges=15).save("tok.json")
    return working_folder


@pytest.mark.parametrize(
    "args", [["encode", "--stream"], ["encode"], ["count"], ["decode"], ["train", "-", "-o", "out.json"]]
)
def test_stdin_that_is_set_not_to_wait_is_read_to_its_end(folder: Path, args: list[str]) -> None:
    """ "Nothing yet" was the end of the text for `encode --stream`, which gave no ids and said nothing."""
    tok = syllabary.load("tok.json")
    ids = " ".join(map(str, tok.encode(TEXT)))
    given = ids.encode() if args == ["decode"] else TEXT.encode()
    verb, *more = args
    options = ["-q", "--num-merges", "15"] if verb == "train" else ["-t", "tok.json"]
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    # It is slow to begin, so the pipe is empty when it first reads; then bytes come with pauses between.
    with subprocess.Popen(
        [sys.executable, "-m", "syllabary", verb, *options, *more], stdin=reading, stdout=subprocess.PIPE
    ) as process:
        os.close(reading)
        assert process.stdout is not None
        with open(writing, "wb", buffering=0) as pipe:
            for start in range(0, len(given), 1 + len(given) // 3):
                time.sleep(1.5 if not start else 0.2)
                pipe.write(given[start : start + 1 + len(given) // 3])
        written = process.stdout.read().decode()
    assert process.returncode == 0
    number = str(len(tok.encode(TEXT)))
    expected = {"encode": f"{ids}\n", "count": f"{number}\n", "decode": TEXT, "train": ""}
    assert written == expected[verb]
    if verb == "train":
        assert syllabary.load("out.json").merges == tok.merges


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_stdout_that_is_set_not_to_wait_takes_all(folder: Path, unbuffered: str) -> None:
    """It was `error: stdout: Resource temporarily unavailable` where the pipe was full."""
    tok = syllabary.load("tok.json")
    text = TEXT * 60
    Path("text.txt").write_text(text, "utf-8")
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with subprocess.Popen(
        [sys.executable, "-m", "syllabary", "encode", "-t", "tok.json", "-i", "text.txt", "--json"],
        stdout=writing,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    ) as process:
        os.close(writing)
        with open(reading, "rb") as pipe:
            written = pipe.read(1)
            time.sleep(0.3)
            written += pipe.read()
    assert process.returncode == 0
    assert len(written) > 100_000
    assert written.decode() == str(tok.encode(text)) + "\n"


def test_a_stream_without_stdin_says_what_to_give(folder: Path) -> None:
    """`--input` alone was advised, which `--stream` does not take."""
    line = f"{sys.executable} -m syllabary encode -t tok.json --stream <&-"
    done = subprocess.run(["sh", "-c", line], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: stdin is closed: give --input, without --stream\n")


def test_streams_that_a_program_has_put_in_place_stay_open(folder: Path) -> None:
    """Nobody else holds them then: they were closed as soon as ours took their place."""
    program = (
        "import os, sys; from syllabary.cli import main; "
        "sys.__stdin__ = sys.__stdout__ = None; "
        "sys.stdin, sys.stdout = open(0, closefd=False), open(1, 'w', closefd=False); "
        "os.set_blocking(1, False); "
        "main(['encode', '-t', 'tok.json'])"
    )
    done = subprocess.run([sys.executable, "-c", program], input=TEXT, capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)
    assert list(map(int, done.stdout.split())) == syllabary.load("tok.json").encode(TEXT)


@pytest.mark.parametrize("colours", [{}, {"NO_COLOR": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
@pytest.mark.parametrize("args", [["count", "-t", "none.json", "x"], ["count", "--bad"], ["bad"]])
def test_errors_on_a_terminal_have_the_colours_that_are_wanted(
    folder: Path, args: list[str], colours: dict[str, str]
) -> None:
    """Errors are said when click has closed its context: they were red whatever NO_COLOR said."""
    ours, theirs = os.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_COLOR")}
    command = [sys.executable, "-m", "syllabary", *args]
    done = subprocess.run(command, stderr=theirs, env=environment | colours, check=False)
    os.close(theirs)
    shown = os.read(ours, 4096)
    os.close(ours)
    assert done.returncode > 0
    assert shown.startswith(b"error: " if colours else b"\x1b[31m\x1b[1merror:\x1b[0m ")
    assert (b"\x1b" in shown) is not bool(colours)
    piped = subprocess.run(command, capture_output=True, env=environment | {"FORCE_COLOR": "1"}, check=False)
    assert piped.stderr.startswith(b"\x1b[31m")
