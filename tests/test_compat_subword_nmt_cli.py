"""`python -m syllabary.compat.subword_nmt`: the flags of subword-nmt's command, and what it writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from syllabary.compat.subword_nmt import parsers
from syllabary.compat.subword_nmt.subword_nmt import main

TEXT = "in principio erat verbum et verbum erat apud deum\n  né  ñandú \u3000x verbo\r\n\n" * 3
OTHER = "verba erant apud deos\nverbum 12 ñu\n"
# Their module runs nothing by itself: the command of their package calls `main`.
CALL = [sys.executable, "-W", "ignore", "-c", "from subword_nmt.subword_nmt import main; main()"]
OURS = [sys.executable, "-m", "syllabary.compat.subword_nmt"]
PARSERS = ["learn_bpe", "apply_bpe", "get_vocab", "learn_joint_bpe_and_vocab"]


@pytest.fixture
def folder(working_folder: Path) -> Path:
    (working_folder / "text").write_bytes(TEXT.encode())
    (working_folder / "other").write_bytes(OTHER.encode())
    return working_folder


def ran(command: list[str], *arguments: str, standard_input: str = "") -> bytes:
    done = subprocess.run(
        [*command, *arguments], input=standard_input.encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def both(folder: Path, *arguments: str, output: str = "-o", standard_input: str = "") -> bytes:
    """What either command writes to a file: it must be the same."""
    written = []
    for command, name in ((CALL, "theirs"), (OURS, "ours")):
        ran(command, *arguments, output, name, standard_input=standard_input)
        written.append((folder / name).read_bytes())
    assert written[0] == written[1]
    return written[1]


def test_the_commands_write_the_same(folder: Path) -> None:
    codes = both(folder, "learn-bpe", "-i", "text", "-s", "40", "--min-frequency", "3")
    assert codes.startswith(b"#version: 0.2\n")
    (folder / "codes").write_bytes(codes)
    cut = both(folder, "apply-bpe", "-c", "codes", "-i", "other", "--separator", "##")
    assert cut.startswith((b"v##", b"verb"))
    assert b"\r\n\n" in both(folder, "apply-bpe", "-c", "codes", "-i", "text", "-m", "5")
    vocabulary = both(folder, "get-vocab", standard_input=cut.decode())
    (folder / "vocabulary").write_bytes(vocabulary)
    filtered = ["--vocabulary", "vocabulary", "--vocabulary-threshold", "2", "--glossaries", "12", "e?rant"]
    both(folder, "apply-bpe", "-c", "codes", "-i", "other", "--separator", "##", *filtered)
    both(folder, "learn-bpe", "-t", "-s", "90", standard_input=TEXT)
    both(folder, "learn-bpe", "--dict-input", "-s", "9", standard_input="verbum 3\nverbo 4\n")


def test_the_joint_command_writes_the_same(folder: Path) -> None:
    joint_files_are_the_same(folder)


def joint_files_are_the_same(folder: Path, *flags: str) -> None:
    arguments = ["learn-joint-bpe-and-vocab", "-i", "text", "other", "-s", "30", *flags]
    for command, name in ((CALL, "theirs"), (OURS, "ours")):
        ran(command, *arguments, "-o", f"{name}.codes", "--write-vocabulary", f"{name}.1", f"{name}.2")
    for part in ("codes", "1", "2"):
        assert (folder / f"theirs.{part}").read_bytes() == (folder / f"ours.{part}").read_bytes()
        assert (folder / f"ours.{part}").stat().st_size > 30


def test_a_line_ends_where_splitlines_ends_it(folder: Path) -> None:
    """Theirs does so by its commands; by a dictionary of words it then fails, and ours reads it."""
    text = "verbum\u2028verbo verbum\x85erat\nab\x0c\ndeo\x1cdeum \u2028 deo\u2029\r\nab abab\n" * 3
    (folder / "text").write_bytes(text.encode())
    codes = both(folder, "learn-bpe", "-i", "text", "-s", "40")
    assert both(folder, "learn-bpe", "-s", "40", standard_input=text) == codes
    (folder / "codes").write_bytes(codes)
    both(folder, "apply-bpe", "-c", "codes", "-i", "text", "-m", "9")
    both(folder, "get-vocab", "-i", "text")
    for flags in ([], ["-t", "-s", "32", "--separator", "##"]):
        joint_files_are_the_same(folder, *flags)
    counts = "verbum\u2028 3\nverbo 4\n"
    assert ran(OURS, "learn-bpe", "--dict-input", "-s", "1", standard_input=counts).endswith(b"\nv e\n")


def test_standard_input_and_output(folder: Path) -> None:
    codes = ran(OURS, "learn-bpe", "-s", "20", standard_input=TEXT)
    (folder / "codes").write_bytes(codes)
    assert ran(OURS, "apply-bpe", "-c", "codes", standard_input=" verbum\r\nné") == b" verbum\r\nn@@ \xc3\xa9"


def test_a_seed_repeats_the_dropout(folder: Path) -> None:
    (folder / "codes").write_bytes(ran(OURS, "learn-bpe", "-i", "text", "-s", "40"))
    arguments = ["apply-bpe", "-c", "codes", "-i", "text", "--dropout", "0.5", "--seed"]
    first, again, other = (ran(OURS, *arguments, seed) for seed in ("1", "1", "2"))
    assert first == again
    assert first != other


def test_bytes(folder: Path) -> None:
    (folder / "codes").write_bytes(ran(OURS, "learn-bpe", "-i", "text", "-s", "40", "--byte"))
    assert (folder / "codes").read_bytes().startswith(b"#version: 0.2 byte\n")
    cut = ran(OURS, "apply-bpe", "-c", "codes", "-i", "text")
    assert cut.replace(b"@@ ", b"") == TEXT.replace("  né  ", "  né ").encode()


@pytest.mark.parametrize("module", PARSERS)
def test_the_flags_are_the_same(module: str) -> None:
    theirs = __import__(f"subword_nmt.{module}", fromlist=["create_parser"]).create_parser()
    here = __import__(f"syllabary.compat.subword_nmt.{module}", fromlist=["create_parser"]).create_parser()
    flags = {flag: action for action in here._actions for flag in action.option_strings}
    for action in theirs._actions:
        for flag in action.option_strings:
            assert (flags[flag].dest, flags[flag].nargs) == (action.dest, action.nargs)
            if action.default not in (sys.stdin, sys.stdout) and not hasattr(action.default, "write"):
                assert flags[flag].default == action.default
    assert parsers.learn_parser().prog == theirs.prog


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["apply-bpe", "-c", "missing"], "No such file"),
        (["apply-bpe", "-c", "bad"], "bad: line 2: 'ab' is not two symbols"),
        (["learn-bpe", "-i", "bad", "--dict-input"], "bad: line 2: 'ab"),
        (["learn-bpe", "-i", "empty"], "holds no word"),
        (["learn-bpe", "-i", "latin-1"], "not UTF-8 at byte"),
        (["apply-bpe", "-c", "empty", "--glossaries", "a", "("], "--glossaries: '^(a|()$' is no regular"),
        (
            ["learn-joint-bpe-and-vocab", "-i", "bad", "-o", "o", "--write-vocabulary", "1", "2"],
            "give as many",
        ),
    ],
)
def test_what_fails_is_said_in_a_line(
    arguments: list[str], message: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad").write_text("a 1\nab\n")
    (folder / "empty").write_text("")
    (folder / "latin-1").write_bytes(b"n\xe9 n\xe9")
    with pytest.raises(SystemExit) as raised:
        main([*arguments, "-o", "out"] if "-o" not in arguments else arguments)
    assert raised.value.code == 1
    error = capfd.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1


def test_streams_that_are_closed(folder: Path) -> None:
    """Python has `None` in their place, which has no bytes."""
    main(["learn-bpe", "-i", "text", "-o", "codes"])
    (folder / "long").write_bytes(TEXT.encode() * 9000)  # more than a pipe holds
    apply = f"{sys.executable} -m syllabary.compat.subword_nmt apply-bpe -c codes"
    for line, status, said in (
        (f"{apply} <&-", 1, "error: stdin is closed: give --input\n"),
        (f"{apply} -i text >&-", 1, "error: stdout is closed: give --output\n"),
        (f"{apply} -i long | head -n 1 > /dev/null", 0, ""),
    ):
        done = subprocess.run(["sh", "-c", line], text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (status, said)


def test_numbers_without_measure_mean_none_and_all(folder: Path) -> None:
    huge = str(2**70)
    assert both(folder, "learn-bpe", "-i", "text", "--min-frequency", huge) == b"#version: 0.2\n"
    assert ran(OURS, "learn-bpe", "-i", "text", "-s", huge) == ran(OURS, "learn-bpe", "-i", "text")


def test_wrong_usage(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["apply-bpe"], ["segment"]):
        with pytest.raises(SystemExit) as raised:
            main(arguments)
        assert raised.value.code == 2
    assert "usage" in capfd.readouterr().err
