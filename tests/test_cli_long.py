"""What one long document takes on the command line: memory for its ids, not for an object of Python each.

Leaves out: what is printed (test_cli), and text that comes in parts (`--stream`, test_stream).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import syllabary

IDS = 2_000_000
ALLOWED = 20  # bytes an id; as objects of Python it is eighty and more, as a list that is printed 25

# Runs the verb in its process, then says on stderr by how many bytes its peak is above that of a small text.
MEASURED = """
import re, sys
from syllabary.cli import main
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
main(["encode", "-t", "tok.json", "a"], standalone_mode=False)
before = peak()
main(sys.argv[1:], standalone_mode=False)
print(peak() - before, file=sys.stderr)
"""


@pytest.fixture
def folder(working_folder: Path) -> Path:
    """A working directory with a text of `IDS` tokens, none of a single digit, and its tokenizer."""
    syllabary.train(["ab cd"], vocab_size=256).save("tok.json")
    Path("long.txt").write_bytes(b"abcdefgh" * (IDS // 8))
    return working_folder


def grown(*args: str, stdin: Path | None = None, output: Path) -> int:
    """Bytes of memory that a verb takes beyond what it takes for a small text; its data goes to `output`."""
    with open(stdin or os.devnull, "rb") as given, output.open("wb") as written:
        ended = subprocess.run(
            [sys.executable, "-c", MEASURED, *args],
            stdin=given,
            stdout=written,
            stderr=subprocess.PIPE,
            check=True,
        )
    return int(ended.stderr)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peaks are read from /proc")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_long_document_takes_bytes_for_an_id_not_objects(folder: Path, form: list[str]) -> None:
    ids, text = Path("ids.txt"), Path("text.txt")
    encoding = grown("encode", "-t", "tok.json", "-i", "long.txt", *form, output=ids)
    line = ids.read_bytes().removeprefix(b"97\n")  # the small text's
    expected = list(b"abcdefgh") * (IDS // 8)
    between, ends = (b", ", (b"[", b"]\n")) if form else (b" ", (b"", b"\n"))
    assert line == ends[0] + between.join(b"%d" % id_ for id_ in expected) + ends[1]
    ids.write_bytes(line)
    decoding = grown("decode", "-t", "tok.json", stdin=ids, output=text)
    assert text.read_bytes().removeprefix(b"97\n") == Path("long.txt").read_bytes()
    assert encoding < ALLOWED * IDS
    assert decoding < ALLOWED * IDS
