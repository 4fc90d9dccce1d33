"""`encode --separator "\\n"` and `decode --lines`: a line of ids for each line of text, and back.

Empty lines too, so that corpora of two languages stay beside each other. Leaves out: all else (test_cli).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import syllabary
from syllabary.cli import main

LINES = "the cat\n\n  on the mat, né\n\n\n北京 <0x41>\n"


def run(*args: str, stdin: str | bytes | None = None) -> Result:
    """A verb, and what it wrote."""
    return CliRunner().invoke(main, args, input=stdin)


@pytest.fixture
def folder(working_folder: Path) -> Path:
    """A working directory with two tokenizers and a text."""
    syllabary.train([LINES * 9], num_merges=15).save("tok.json")
    options = {"hard_vocab_limit": False, "byte_fallback": True}
    syllabary.train([LINES * 9], 285, like="sentencepiece", options=options).save("tok.model")
    Path("lines.txt").write_text(LINES, "utf-8", newline="\n")
    return working_folder


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("source", [["-i", "lines.txt"], []])
def test_lines_stay_lines(folder: Path, form: list[str], source: list[str]) -> None:
    stdin = None if source else LINES
    written = run("encode", "-t", "tok.json", *source, *form, "--separator", "\\n", stdin=stdin).stdout
    assert written.count("\n") == LINES.count("\n")
    assert run("decode", "-t", "tok.json", "--lines", stdin=written).stdout_bytes == LINES.encode()
    joined = run("decode", "-t", "tok.json", stdin=written).stdout_bytes
    assert joined == LINES.replace("\n", "").encode()


def test_each_line_is_decoded_as_a_text_of_its_own(folder: Path) -> None:
    """sentencepiece takes one space from the front of a text."""
    tok = syllabary.load("tok.model")
    written = run("encode", "-t", "tok.model", "-i", "lines.txt", "--separator", "\\n").stdout
    found = run("decode", "-t", "tok.model", "--lines", stdin=written).stdout
    assert found == "".join(tok.decode(tok.encode(line)) + "\n" for line in LINES.splitlines())
    assert found.startswith("the cat\n\non the mat, né\n")


def test_the_line_of_what_is_wrong_is_told(folder: Path) -> None:
    for stdin, says in (
        ("104\n\n104 x\n", "line 3: 'x' at index 1 is no id"),
        ("104\n99999", "line 2: id 99999 at index 0 is no token"),
        ("104\n128\n", "line 2: the ids decode to invalid UTF-8"),
    ):
        found = run("decode", "-t", "tok.json", "--lines", "--errors", "strict", stdin=stdin)
        assert found.exit_code == 1
        assert says in found.stderr
        assert found.stdout == ""


def test_no_lines_and_a_last_line_without_an_end(folder: Path) -> None:
    assert run("decode", "-t", "tok.json", "--lines", stdin="").stdout == ""
    assert run("decode", "-t", "tok.json", "--lines", stdin="116\n104").stdout == "t\nh\n"
    assert run("decode", "-t", "tok.json", "--lines", stdin="\n").stdout == "\n"
    assert run("decode", "-t", "tok.json", "--lines", "116", "104").stdout == "th\n"
