"""`syllabary train -o OUT`: what OUT cannot hold, and what it would overwrite, is said before training.

Leaves out: which formats hold what (`test_formats…`), and facts that options alone tell (`test_refusal`).
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_cli import shell

import syllabary
from syllabary.cli import main
from syllabary.cli.train import check_output
from syllabary.errors import FormatError
from syllabary.files import write_atomic

TEXT = ["the low lower lowest newer newest widest the cat sat on the mat. a b c d e"] * 5
NAMES = ["x.json", "x.model", "x.vocab", "x.gguf", "vocab.txt", "x.tiktoken"]
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"like": "sentencepiece"}, "x.json"),
    ({"like": "sentencepiece", "model": "unigram", "options": {"character_coverage": 1.0}}, "x.json"),
    ({"like": "sentencepiece", "model": "word", "options": {"hard_vocab_limit": False}}, "x.json"),
    ({"model": "unigram"}, "x.json"),
    ({"model": "unigram"}, "x.model"),
    ({"model": "wordpiece", "like": "huggingface"}, "vocab.txt"),
    ({"unit": "char"}, "x.model"),
    ({"like": "rustbpe"}, "x.gguf"),
    ({"split": "latin"}, "x.gguf"),
    ({"unit": "word"}, "x.gguf"),
    ({"like": "sentencepiece"}, "x.gguf"),
    ({"like": "sentencepiece", "model": "unigram"}, "x.gguf"),
    ({"model": "wordpiece", "like": "huggingface"}, "x.gguf"),
]
HELD: list[dict[str, Any]] = [
    {},
    {"like": "huggingface"},
    {"like": "minbpe"},
    {"like": "subword-nmt"},
    {"model": "unigram", "like": "huggingface"},
    {"model": "wordpiece"},
    {"model": "wordlevel"},
    {"unit": "char", "fallback": True},
    {"split": "a+|."},
    {"like": "rustbpe", "split": r"\S+|\s+"},
    {"special_tokens": ["<x>"], "normalize": "NFC"},
    {"superwords": 260},
]


def trained(options: dict[str, Any]) -> syllabary.Tokenizer:
    """A tokenizer of the first of some sizes that can be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for size in (270, 60, 40, 30, 24):
            try:
                return syllabary.train(TEXT, size, **options)
            except syllabary.errors.TrainingError:
                continue
    raise AssertionError(options)


@pytest.mark.parametrize("options, name", REFUSED)
def test_what_a_format_cannot_hold_is_said_before_training(
    options: dict[str, Any], name: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError) as early:
        check_output(tmp_path / name, None, options)
    with pytest.raises(FormatError) as late:
        trained(options).save(tmp_path / name)
    assert str(early.value) == str(late.value)


@pytest.mark.parametrize("options", [*HELD, *(options for options, _ in REFUSED)], ids=str)
def test_nothing_is_refused_that_can_be_saved(options: dict[str, Any], tmp_path: Path) -> None:
    tok = trained(options)
    for name in NAMES:
        try:
            check_output(tmp_path / name, None, options)
        except FormatError:
            with pytest.raises(FormatError):
                tok.save(tmp_path / name)


@pytest.mark.parametrize("name", ["x.tiktoken", "vocab.bpe"])
def test_a_pattern_that_leaves_text_is_in_no_file_of_ranks(name: str, tmp_path: Path) -> None:
    for like in ("rustbpe", "minbpe"):
        with pytest.raises(FormatError, match="a split that drops the text between its matches"):
            check_output(tmp_path / name, None, {"like": like, "split": "[a-z]+"})
        for options in ({"like": like}, {"split": "[a-z]+"}, {"like": like, "split": r"\S+|\s+"}):
            check_output(tmp_path / name, None, options)


def test_the_verb_says_it_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(syllabary, "train", None)  # nothing is trained
    Path("text.txt").write_text(TEXT[0])
    done = CliRunner().invoke(main, ["train", "text.txt", "-o", "x.json", "--model", "unigram"])
    assert done.exit_code == 1
    assert "tokenizer.json cannot hold unknown characters in a row" in done.stderr


@pytest.mark.parametrize(
    "options, why, held",
    [
        (["--model", "wordpiece", "--vocab-size", "40"], "a limit to the length of words", True),
        (["--model", "unigram", "--like", "sentencepiece"], "never found in text, as '<unk>'", True),
        (["--like", "sentencepiece"], "sentencepiece models that rewrite text, but for the space", False),
    ],
)
def test_what_gguf_holds_with_a_loss_is_told_how(
    options: list[str], why: str, held: bool, working_folder: Path
) -> None:
    Path("text.txt").write_text("\n".join(TEXT))
    command = ["train", "text.txt", "--vocab-size", "24", *options, "-o"]
    done = CliRunner().invoke(main, [*command, "x.gguf"])
    assert (done.exit_code, why in done.stderr) == (1, True), done.stderr
    assert ("`syllabary convert NAME.syllabary.json OUT`" in done.stderr) is held
    assert not Path("x.gguf").exists()
    assert CliRunner().invoke(main, [*command, "x.syllabary.json"]).exit_code == 0
    done = CliRunner().invoke(main, ["convert", "x.syllabary.json", "x.gguf"])
    assert (done.exit_code == 0, Path("x.gguf").exists()) == (held, held), done.stderr


def test_a_folder_that_takes_no_file_is_told_of_at_once(
    working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one on a file system that is mounted for reading, or another user's."""
    Path("text.txt").write_text(TEXT[0])
    Path("kept").mkdir()
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "kept" and access(path, mode))
    for verb in ("train", "count-pieces"):
        with monkeypatch.context() as patch:
            patch.setattr(syllabary, "train", None)  # nothing is trained
            patch.setattr(syllabary, "count_pieces", None)
            name = "kept/x.json" if verb == "train" else "kept/x.parquet"
            done = CliRunner().invoke(main, [verb, "text.txt", "-o", name])
        assert done.exit_code == 1
        assert done.stderr == "error: kept: no file can be made in this folder\n"
    syllabary.train(TEXT, num_merges=1, min_frequency=1).save("tok.json")
    for command in (
        ["shard", "text.txt", "-t", "tok.json", "-o", "kept"],
        ["train", "text.txt", "-o", "x.json", "--checkpoint", "kept"],
    ):
        done = CliRunner().invoke(main, command)
        assert (done.exit_code, done.stderr) == (1, "error: kept: no file can be made in this folder\n")
    assert not [*Path("kept").iterdir()]


def test_a_file_that_may_not_be_written_to_stays(
    working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renaming would put a new one in its place, as if it were not protected."""
    Path("text.txt").write_text(TEXT[0])
    syllabary.train(TEXT, num_merges=1, min_frequency=1).save("tok.json")
    kept = Path("kept.json")
    kept.write_text("{}")
    kept.chmod(0o444)
    access = os.access  # root may write to it, so it is asked as somebody else
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path).name != "kept.json" and access(path, mode)
    )
    said = "kept.json: is read-only: give another name, or make it writable"
    for verb in ("train", "convert", "edit"):
        with monkeypatch.context() as patch:
            patch.setattr(syllabary, "train", None)  # nothing is trained
            arguments = {
                "train": ["text.txt", "-o", "kept.json"],
                "convert": ["tok.json", "kept.json"],
                "edit": ["tok.json", "-o", "kept.json", "--add-special", "<x>"],
            }
            done = CliRunner().invoke(main, [verb, *arguments[verb]])
        assert (done.exit_code, done.stderr) == (1, f"error: {said}\n")
    with pytest.raises(PermissionError, match="is read-only"):
        write_atomic(kept, b"new")
    assert kept.read_text() == "{}"
    assert sorted(path.name for path in Path().iterdir()) == ["kept.json", "text.txt", "tok.json"]


def test_a_file_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not the temporary one, which cannot be removed either where all is for reading."""

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(OSError, match="Read-only") as caught:
        write_atomic(tmp_path / "x.json", b"{}")
    assert caught.value.filename == str(tmp_path / "x.json")


@pytest.mark.parametrize(
    "arguments",
    [
        ["text.txt", "-o", "text.txt", "--format", "syllabary"],
        ["other.txt", "text.txt", "-o", "./text.txt", "--format", "bert", "--model", "wordpiece"],
        ["other.txt", "-o", "text.txt", "--format", "syllabary", "--sizes", "260", "--held-out", "text.txt"],
        ["other.txt", "-o", "text.txt", "--format", "syllabary", "--parity", "--dev", "text.txt"],
    ],
)
def test_a_text_stays(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("text.txt", "other.txt"):
        Path(name).write_text(TEXT[0])
    done = CliRunner().invoke(main, ["train", *arguments])
    assert done.exit_code == 1
    assert "text.txt is read, and the tokenizer would take its place" in done.stderr
    assert Path("text.txt").read_text() == TEXT[0]


OURS = [sys.executable, "-m", "syllabary", "train", "text.txt", "--format", "syllabary", "--num-merges", "5"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_pipe_and_a_full_device(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT[0])
    for name in ("/dev/stdout", "plain"):
        done = subprocess.run([*OURS, "-o", name], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if name == "/dev/stdout":
            piped = done.stdout
    assert piped == (tmp_path / "plain").read_text()
    done = subprocess.run(
        [*OURS, "-o", "/dev/full"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "error: /dev/full: No space left on device\n"
    done = subprocess.run([*OURS, "-o", "-"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "-o names a file: name one, or /dev/stdout and its --format" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "plain"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_behind_stderr_takes_no_training(working_folder: Path) -> None:
    """The warning and the summary are lost, and the tokenizer is saved."""
    Path("mixed.txt").write_text("caf\u00e9 cafe\u0301 " * 9, encoding="utf-8")
    done = shell("syllabary train mixed.txt -o out.json --num-merges 999 2> /dev/full; echo $?")
    assert done.stdout == "0\n"
    assert syllabary.load("out.json").merges
    assert shell("syllabary train none.txt -o more.json 2> /dev/full; echo $?").stdout == "1\n"
