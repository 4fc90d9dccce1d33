"""`encode --separator "\\n"` or `--documents line`, `decode --lines`: a line of ids for each line, and back.

Empty lines too, so that corpora of two languages stay beside each other. And what is said where a file's name
is given in the place of a text or of ids, or is empty. Leaves out: all else (test_cli).
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import syllabary
from syllabary import corpus
from syllabary.cli import main
from syllabary.corpus.document import Reading, Stream
from syllabary.corpus.text import READER

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
@pytest.mark.parametrize("by", [["--separator", "\\n"], ["--documents", "line"]])
def test_lines_stay_lines(folder: Path, form: list[str], source: list[str], by: list[str]) -> None:
    stdin = None if source else LINES
    written = run("encode", "-t", "tok.json", *source, *form, *by, stdin=stdin).stdout
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


@pytest.mark.parametrize("text", ["", "\n", "a\n\r\n\n b\r\n\n\n", "a\n\n\nb", "\r", "a\n\r", "\n\n"])
def test_as_many_lines_as_there_are(folder: Path, text: str) -> None:
    """Ends of Windows belong to no line."""
    Path("in.txt").write_bytes(text.encode())
    by = ("encode", "-t", "tok.json", "--documents", "line")
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
    tok = syllabary.load("tok.json")
    found = run(*by, "--json", "-i", "in.txt", "-i", "in.txt").stdout.splitlines()
    assert [*map(json.loads, found)] == [*map(tok.encode, [*lines, *lines])]


def test_a_line_that_cannot_be_encoded_is_told_by_its_number(folder: Path) -> None:
    syllabary.train([LINES], num_merges=3, special_tokens=["<|x|>"]).save("special.json")
    Path("wrong.txt").write_text("ok\n\n\na <|x|>\n", "utf-8", newline="\n")
    refused = run("encode", "-t", "special.json", "--documents", "line", "-i", "wrong.txt")
    assert "wrong.txt, line 4" in refused.stderr
    assert refused.stdout.count("\n") == 3


@given(st.text(alphabet="ab \r\n", max_size=12))
def test_every_line_is_a_document(text: str) -> None:
    """In parts too; without `every-line` those that are not empty."""
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
    stream = Stream("x", "x", None, lambda: io.BytesIO(text.encode()))
    assert [one.text for one in corpus.read([stream], documents="every-line")] == lines
    assert [one.text for one in corpus.read([stream], documents="line")] == [line for line in lines if line]
    joined, last = [""], True
    for part, last in READER.parts(stream, Reading(documents="every-line"), lambda _name: None):
        joined[-1] += part
        if last:
            joined.append("")
    assert joined[:-1] == lines
    assert last


@pytest.mark.parametrize("verb", ["encode", "inspect"])
def test_a_text_that_is_the_name_of_a_file_is_a_text_and_told_of(folder: Path, verb: str) -> None:
    Path("two words.txt").write_text("zz")
    shown = run(verb, "-t", "tok.json", "a text", "lines.tx", str(folder))
    assert (shown.exit_code, shown.stderr) == (0, "")
    told = run(verb, "-t", "tok.json", "--json", "lines.txt", "two words.txt", "-", stdin="zz")
    assert told.exit_code == 0
    assert told.stderr.splitlines() == [
        "hint: lines.txt is read as a text; `-i lines.txt` reads the file of that name",
        "hint: 'two words.txt' is read as a text; `-i 'two words.txt'` reads the file of that name",
        "hint: - is read as a text; `-i -` reads stdin",
    ]
    if verb == "encode":
        ids = list(map(json.loads, told.stdout.splitlines()))
        assert syllabary.load("tok.json").decode_batch(ids) == ["lines.txt", "two words.txt", "-"]


def test_ids_that_are_the_name_of_a_file_are_told_of(folder: Path) -> None:
    said = {
        "lines.txt": "the ids in a file are given as `< lines.txt`",
        "-": "leave `-` out: without IDS stdin is read",
    }
    for given_, hint in said.items():
        result = run("decode", "-t", "tok.json", "104", given_)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.endswith(f"index 1 is no id: give decimal numbers\n\nhint: {hint}\n")
    assert "hint" not in run("decode", "-t", "tok.json", "x").stderr


@pytest.mark.parametrize(
    "words",
    [
        "train a.txt -o ", "count-pieces a.txt -o ", "convert tok.json ", "edit tok.json --add zz -o ",
        "edit tok.json -o b.json --add zz --map ", "chunk a.txt -t tok.json --max-tokens 9 -o ",
        "shard a.txt -t tok.json -o ", "demo ", "demo a.txt -o ", "gpt train shards -o ",
        "gpt compare a b -o ", "gpt export run -o ",
    ],
)  # fmt: skip
def test_an_empty_name_is_no_folder(working_folder: Path, words: str) -> None:
    """As of an unset variable of the shell: "" would be the folder in which the command runs."""
    Path("a.txt").write_text("some text")
    syllabary.train(["some text"], num_merges=0).save("tok.json")
    before = sorted(working_folder.iterdir())
    result = run(*words.split(" "))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "an empty name is no file" in result.stderr
    assert sorted(working_folder.iterdir()) == before


@pytest.mark.parametrize(
    "words",
    [
        "convert tok.json -", "edit tok.json --add zz -o -", "edit tok.json -o b.json --add zz --map -",
        "shard a.txt -t tok.json -o -", "shard - -t tok.json -o -", "demo a.txt -o -",
        "gpt train shards -o -", "gpt compare a b -o -", "gpt export run -o -",
    ],
)  # fmt: skip
def test_a_dash_is_no_name_of_what_does_not_go_to_stdout(working_folder: Path, words: str) -> None:
    Path("a.txt").write_text("some text")
    syllabary.train(["some text"], num_merges=0).save("tok.json")
    before = sorted(working_folder.iterdir())
    result = run(*words.split(" "))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'-' is no file's name here: give one, ./- if that is its name" in result.stderr
    assert sorted(working_folder.iterdir()) == before


def test_chunks_go_to_stdout_by_a_dash_too(working_folder: Path) -> None:
    Path("a.txt").write_text("some text")
    syllabary.train(["some text"], num_merges=0).save("tok.json")
    words = ("chunk", "a.txt", "-t", "tok.json", "--max-tokens", "4")
    shown = run(*words).stdout
    assert shown.count("\n") == 3
    assert run(*words, "-o", "-").stdout == shown
    assert not Path("-").exists()
