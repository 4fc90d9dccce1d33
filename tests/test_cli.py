"""The command line: what goes to stdout and stderr, exit codes, pipes, Ctrl-C.

Leaves out: the demo (test_demo), the words of errors (test_cli_words), the examples of `--help` (test_docs),
and the algorithms behind the verbs.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import syllabary
from syllabary.cli import colour, main

# Prose of ours, with more than ASCII in it.
TEXT = Path(__file__).parent.parent.joinpath("CONTRIBUTING.md").read_text("utf-8") + "naïve café 漢字 🐈\n"
COMMAND = [sys.executable, "-m", "syllabary"]


@pytest.fixture
def folder(working_folder: Path) -> Path:
    """A working directory with a corpus and a tokenizer that has a special token."""
    Path("corpus.txt").write_text(TEXT, encoding="utf-8")
    Path("bad.txt").write_bytes(b"good\nbad \xff here\n")
    syllabary.train([TEXT], vocab_size=300, special_tokens=["<|end|>"]).save("tok.json")
    return working_folder


def run(*args: str, stdin: str | bytes | None = None) -> Result:
    """The command in this process."""
    return CliRunner().invoke(main, args, input=stdin)


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A real shell with real pipes; `syllabary` is this checkout's."""
    script = f'syllabary() {{ "{sys.executable}" -m syllabary "$@"; }}\n{line}\n'
    return subprocess.run(
        ["bash", "-c", script],
        text=True,
        encoding="utf-8",
        capture_output=True,
        check=False,
        env=os.environ | environment,
    )


def test_arguments_that_are_read_as_ascii(folder: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = "syllabary encode -t tok.json 'naïve 漢字 🐈'; syllabary edit tok.json -o new.json --add '漢字'"
    done = shell(command, **plain)
    assert (done.returncode, "error" in done.stderr) == (0, False), done.stderr
    tok = syllabary.load("new.json")
    assert done.stdout.split() == [*map(str, syllabary.load("tok.json").encode("naïve 漢字 🐈"))]
    assert len(tok.encode("漢字")) == 1


def ids(text: str, **options: str) -> str:
    """The ids of a text as `encode` prints them."""
    return " ".join(map(str, syllabary.load("tok.json").encode(text, **options)))


def test_encode_prints_one_line_a_text(folder: Path) -> None:
    result = run("encode", "-t", "tok.json", "the cat", "the mat", "")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{ids('the cat')}\n{ids('the mat')}\n\n"


def test_encode_reads_stdin_whole_and_files_exactly(folder: Path) -> None:
    assert run("encode", "-t", "tok.json", stdin=TEXT).stdout == ids(TEXT) + "\n"
    assert run("encode", "-t", "tok.json", "-i", "corpus.txt").stdout == ids(TEXT) + "\n"
    assert run("encode", "-t", "tok.json", "-i", "-", "-i", "corpus.txt", stdin="a\r\nb").stdout == (
        f"{ids(chr(97) + chr(13) + chr(10) + chr(98))}\n{ids(TEXT)}\n"
    )


def test_encode_json_and_tokens(folder: Path) -> None:
    tok = syllabary.load("tok.json")
    assert json.loads(run("encode", "-t", "tok.json", "--json", "the cat").stdout) == tok.encode("the cat")
    lines = run("encode", "-t", "tok.json", "--tokens", 'the "cat"\n').stdout.splitlines()
    assert [int(line.split("\t")[0]) for line in lines] == tok.encode('the "cat"\n')
    assert lines[-1].endswith('\t"\\n"')


@pytest.mark.parametrize("policy", ["allow", "text"])
def test_special_tokens_by_policy(folder: Path, policy: str) -> None:
    text = "the cat<|end|>the mat"
    assert (
        run("encode", "-t", "tok.json", "--special", policy, text).stdout == ids(text, special=policy) + "\n"
    )
    expected = len(syllabary.load("tok.json").encode(text, special=policy))
    assert run("count", "-t", "tok.json", "--special", policy, stdin=text).stdout == f"{expected}\n"


@pytest.mark.parametrize("verb", ["count", "encode -i", "chunk --max-tokens 9", "inspect -i"])
def test_an_error_about_a_text_names_its_file(folder: Path, verb: str) -> None:
    Path("b.txt").write_text("the\nthe cat<|end|>", "utf-8")
    name, *more = verb.split()
    said = "the text holds the special token '<|end|>' at character"
    for options, stdin, place in (
        (["b.txt"], None, "b.txt: {said} 11\n"),
        (["b.txt", "--documents", "line"], None, "b.txt, line 2: {said} 7\n"),
        (["-"], "cat<|end|>", "stdin: {said} 3\n"),
    ):
        result = run(name, "-t", "tok.json", *more, *options, stdin=stdin)
        assert result.exit_code == 1
        assert result.stderr.startswith(f"error: {place.format(said=said)}")
    if "-i" in verb:  # an argument has no file
        result = run(name, "-t", "tok.json", "cat<|end|>")
        assert result.stderr.startswith(f"error: {said} 3\n")


def test_decode_takes_what_encode_prints(folder: Path) -> None:
    for form in ([], ["--json"]):
        line = run("encode", "-t", "tok.json", *form, TEXT).stdout
        assert run("decode", "-t", "tok.json", stdin=line).stdout_bytes == TEXT.encode()
    assert run("decode", "-t", "tok.json", "116", "104").stdout == "th"
    assert run("decode", "-t", "tok.json", stdin="").stdout == ""
    assert run("decode", "-t", "tok.json", stdin="\ufeff116 104").stdout == "th"  # as editors save it
    assert run("decode", "-t", "tok.json", stdin="116 \ufeff104").exit_code == 1


@pytest.mark.parametrize(
    "policy, expected", [("replace", "\ufffd"), ("ignore", ""), ("backslashreplace", "\\x80")]
)
def test_decode_errors(folder: Path, policy: str, expected: str) -> None:
    assert run("decode", "-t", "tok.json", "--errors", policy, "128").stdout == expected


@pytest.mark.parametrize("word", ["x3", "1_0", "\uff11", "0x10", "9" * 5000])
def test_decode_says_which_word_is_no_id(folder: Path, word: str) -> None:
    result = run("decode", "-t", "tok.json", stdin=f"[104, 105]\n104 {word}\n")
    assert result.exit_code == 1
    quoted = word if len(word) <= 40 else word[:40] + "…"
    assert f"error: {quoted!r} at index 3 is no id" in result.stderr
    assert len(result.stderr) < 200


def test_a_stream_is_text_of_utf8(folder: Path) -> None:
    for options in (["--encoding", "latin-1"], ["--errors", "replace"], ["--documents", "line"]):
        result = run("encode", "-t", "tok.json", "--stream", *options, stdin="th")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "leave out how files are read" in result.stderr
    result = run("encode", "-t", "tok.json", "--stream", stdin=b"th\xe9 x")
    assert result.exit_code == 1
    assert "error: stdin is not UTF-8 at byte 2 (invalid continuation byte)\n" in result.stderr
    assert "--encoding" in result.stderr


def test_count_is_like_wc(folder: Path) -> None:
    number = len(syllabary.load("tok.json").encode(TEXT))
    assert run("count", "-t", "tok.json", stdin=TEXT).stdout == f"{number}\n"
    assert run("count", "-t", "tok.json", "corpus.txt").stdout == f"{number} corpus.txt\n"
    rows = run("count", "-t", "tok.json", "corpus.txt", "-", stdin="").stdout.splitlines()
    width = len(str(number))
    assert rows == [f"{number} corpus.txt", f"{0:>{width}} -", f"{number} total"]


def test_count_reads_what_train_reads(folder: Path) -> None:
    Path("packed.txt.xz").write_bytes(lzma.compress(TEXT.encode()))
    plain, packed = (
        run("count", "-t", "tok.json", name).stdout.split()[0] for name in ("corpus.txt", "packed.txt.xz")
    )
    assert plain == packed


@pytest.mark.parametrize(
    "args, options",
    [
        (["--vocab-size", "290"], {"vocab_size": 290}),
        (["--num-merges", "9", "--split", "gpt2"], {"num_merges": 9, "split": "gpt2"}),
        (["--num-merges", "9", "--split", r"\w+|\W+"], {"num_merges": 9, "split": r"\w+|\W+"}),
        (
            ["--vocab-size", "300", "--special", "<a>", "--special", "<b>", "--min-frequency", "3"],
            {"vocab_size": 300, "special_tokens": ["<a>", "<b>"], "min_frequency": 3},
        ),
        (
            [
                "--num-merges",
                "9",
                "--unit",
                "char",
                "--end-of-word",
                "</w>",
                "--fallback",
                "--split",
                "whitespace",
            ],
            {"num_merges": 9, "unit": "char", "end_of_word": "</w>", "fallback": True, "split": "whitespace"},
        ),
        (
            ["--num-merges", "9", "--tie-break", "largest-pair", "--max-token-length", "3", "--threads", "1"],
            {"num_merges": 9, "tie_break": "largest-pair", "max_token_length": 3, "threads": 1},
        ),
    ],
)
def test_train_passes_on_what_is_given(folder: Path, args: list[str], options: dict[str, object]) -> None:
    result = run("train", "corpus.txt", "-o", "out.syllabary.json", *args)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert "saved as out.syllabary.json" in result.stderr
    ours, expected = syllabary.load("out.syllabary.json"), syllabary.train("corpus.txt", **options)  # type: ignore[arg-type]
    assert ours.vocab == expected.vocab
    assert ours.merges == expected.merges
    assert ours.encode(TEXT) == expected.encode(TEXT)


def test_train_quiet_from_stdin(folder: Path) -> None:
    result = run("train", "-", "-o", "out.json", "--vocab-size", "280", "-q", stdin=TEXT)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert syllabary.load("out.json").merges == syllabary.train([TEXT], vocab_size=280).merges


def test_early_stop_is_a_warning_in_words(folder: Path) -> None:
    result = run("train", "-", "-o", "out.json", "--vocab-size", "5000", "-q", stdin="abab")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: ")
    assert ".py" not in result.stderr
    assert Path("out.json").exists()


@pytest.mark.parametrize(
    "args, words",
    [
        (["encode", "-t", "missing.json", "x"], ["missing.json"]),
        (["encode", "-t", "tok.json", "a<|end|>"], ["<|end|>", "hint: ", "--special allow"]),
        (["encode", "-t", "tok.json", "-i", "nowhere.txt"], ["nowhere.txt: No such file or directory"]),
        (["encode", "-t", "tok.json", "-i", "bad.txt"], ["bad.txt", "9"]),
        (["count", "-t", "tok.json", "bad.txt"], ["bad.txt", "9"]),
        (["decode", "-t", "tok.json", "999999"], ["999999"]),
        (["decode", "-t", "tok.json", "-1"], ["-1"]),
        (["decode", "-t", "tok.json", "word"], ["word"]),
        (["decode", "-t", "tok.json", "--errors", "strict", "128"], ["byte 0", "hint: "]),
        (["train", "corpus.txt", "-o", "out.json", "--vocab-size", "10"], ["10"]),
        (["train", "corpus.txt", "-o", "out.json", "--split", "nonsense"], ["nonsense", "gpt2"]),
        (["train", "corpus.txt", "-o", "out.json", "--split", "(a"], ["(a"]),
        (["train", "corpus.txt", "-o", "nowhere/out.json"], ["nowhere"]),
        (["train", "bad.txt", "-o", "out.json"], ["bad.txt"]),
        (["train", "corpus.txt", "-o", "out.unknown", "--vocab-size", "280"], ["out.unknown"]),
        (["demo", "missing.txt"], ["missing.txt"]),
    ],
)
def test_errors_are_sentences(folder: Path, args: list[str], words: list[str]) -> None:
    before = sorted(folder.iterdir())
    result = run(*args)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr
    assert ".syllabary-" not in result.stderr
    for word in words:
        assert word in result.stderr
    if "hint: " in result.stderr:
        assert "\n\nhint: " in result.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "args",
    [
        ["encode"],
        ["encode", "-t"],
        ["train", "-o", "x"],
        ["train", "corpus.txt"],
        ["nonsense"],
        ["--nonsense"],
        ["count", "--nonsense"],
        ["train", "corpus.txt", "-o", "out.json", "--threads", "5000"],
        ["train", "corpus.txt", "-o", "out.json", "--vocab-size", "many"],
        ["encode", "-t", "tok.json", "--json", "--tokens", "x"],
        ["demo", "corpus.txt", "--vocab-size", "255"],
    ],
)
def test_wrong_usage_is_exit_code_2(folder: Path, args: list[str]) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "Error" not in result.stderr
    assert "Usage" not in result.stderr
    assert result.stdout == ""


def test_wrong_usage_names_the_range_and_the_help(folder: Path) -> None:
    stderr = run("train", "corpus.txt", "-o", "out.json", "--threads", "5000").stderr
    assert "5000 is out of range: give 1 to 1024" in stderr
    assert "\n\nhint: syllabary train [OPTIONS] FILES...\n" in stderr.replace("main", "syllabary")
    assert "--help` says more" in stderr
    assert run().stderr.startswith("Usage: ")  # nothing was asked: the help, as click has it


def test_a_file_whose_name_begins_with_a_dash(folder: Path) -> None:
    Path("-qed.txt").write_bytes(Path("corpus.txt").read_bytes())
    result = run("count", "-t", "tok.json", "-qed.txt")
    assert result.exit_code == 2
    assert "No such option '-q'" in result.stderr
    assert "--help` says more; a file whose name begins so is given as ./-q…" in result.stderr
    assert run("count", "-t", "tok.json", "./-qed.txt").exit_code == 0
    assert "a file" not in run("count", "-t", "tok.json", "--qed").stderr


def test_stdin_that_is_not_utf8_names_the_byte(folder: Path) -> None:
    result = run("count", "-t", "tok.json", stdin=b"one\ntwo \xff")
    assert result.exit_code == 1
    assert "stdin: not UTF-8: byte 0xFF at byte offset 8" in result.stderr
    assert "(--encoding)" in result.stderr


def test_a_real_pipe_gives_the_file_back(folder: Path) -> None:
    done = shell(
        "syllabary encode -t tok.json -i corpus.txt | syllabary decode -t tok.json | cmp - corpus.txt"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_closed_pipe_is_quiet(folder: Path) -> None:
    Path("large.txt").write_text(TEXT * 500, encoding="utf-8")
    done = shell("syllabary encode --tokens -t tok.json -i large.txt | head -n 1")
    assert done.returncode == 0
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are a thing of POSIX")
def test_a_bar_on_a_terminal_and_only_there(folder: Path) -> None:
    command = ["train", "corpus.txt", "-o", "out.json", "--vocab-size", "300"]
    shown = terminal(*command)
    assert "counting: 0.0 MB" in shown
    assert "merging  [####" in shown
    assert "44/44" in shown
    assert terminal(*command, "--quiet") == ""
    piped = subprocess.run([*COMMAND, *command], text=True, capture_output=True, check=True)
    assert "merging" not in piped.stderr


def terminal(*args: str) -> str:
    """What the command shows on stderr when that is a terminal."""
    ours, theirs = os.openpty()
    process = subprocess.Popen([*COMMAND, *args], stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # Linux says EIO when the other side has closed
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    assert process.communicate() == (b"", None)
    assert process.returncode == 0
    return shown.decode()


def test_no_traceback_from_the_real_command(folder: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "decode", "-t", "nowhere.json", "1"], text=True, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")


def test_a_stopped_training_keeps_the_old_file(folder: Path) -> None:
    old = Path("tok.json").read_bytes()
    assert run("train", "corpus.txt", "-o", "tok.json", "--vocab-size", "3").exit_code == 1
    assert Path("tok.json").read_bytes() == old


def test_quoted_tokens_differ() -> None:
    tokens = [bytes([byte]) for byte in range(256)] + [
        b"\\n",
        b"\\x80",
        b'"',
        "é".encode(),
        "\u2028".encode(),
    ]
    shown = [colour.quoted(token) for token in tokens]
    assert len(set(shown)) == len(set(tokens))
    assert all("\n" not in line for line in shown)


@pytest.mark.parametrize("colours", [True, False])
@pytest.mark.parametrize("width", [10, 40])
def test_a_picture_fits_its_width(width: int, colours: bool) -> None:
    tokens = [b"the", b" cat", b"\n", "漢字".encode() * 9, b"\xff\xfe", b" " * 30, b"e\xcc\x81"]
    lines = colour.picture(tokens, width, colours)
    plain = [click.unstyle(line) for line in lines]
    assert max(map(colour.columns, plain)) <= width
    joined = "".join(plain).replace("│", "").replace("⏎", "\n")
    assert joined == b"".join(tokens).decode("utf-8", "backslashreplace")
