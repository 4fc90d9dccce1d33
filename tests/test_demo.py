"""`syllabary demo`: every stage on any text, and the text that it holds out.

Leaves out: the other verbs (test_cli).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_cli import TEXT, run, shell

from syllabary import Ragged, Tokenizer
from syllabary.cli import colour, demo_text


@pytest.fixture
def folder(working_folder: Path) -> Path:
    """A working directory with a corpus."""
    Path("corpus.txt").write_text(TEXT, encoding="utf-8")
    return working_folder


def test_demo_shows_every_stage(folder: Path) -> None:
    result = run("demo", "corpus.txt", "-o", "kept", "--vocab-size", "280")
    assert result.exit_code == 0, result.output
    for words in (
        "learn from",
        "times seen",
        "│",
        "characters/token",
        "gpt2",
        "none",
        "round trip",
        "the same ids",
        "MB/s",
    ):
        assert words in result.stdout, words
    assert sorted(path.name for path in Path("kept").iterdir()) == [
        "demo.syllabary.json",
        "demo.tiktoken",
        "tokenizer.json",
    ]
    assert "\x1b" not in result.stdout
    assert max(colour.columns(line) for line in result.stdout.splitlines()) <= 80
    assert "1 document, " in result.stdout


def test_demo_says_when_training_stops_early(folder: Path) -> None:
    result = run("demo", "corpus.txt")
    assert result.exit_code == 0, result.output
    assert "asked for 32,000" in result.stdout


def test_demo_in_colours_and_without(folder: Path) -> None:
    coloured = shell("syllabary demo corpus.txt --vocab-size 280", FORCE_COLOR="1").stdout
    plain = shell("syllabary demo corpus.txt --vocab-size 280", FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "\x1b[38;2;" in coloured
    assert "\x1b" not in plain


def test_python_carries_a_sample(folder: Path) -> None:
    text = demo_text.library()
    assert text == demo_text.library()
    assert text.size > 1_000_000
    held_out = len(text.held_out.encode())
    assert 0.008 < held_out / (text.size + held_out) < 0.04  # 1 %, and at most one long module more
    assert not any(demo_text.paragraph(text.held_out) in document for document in text.documents)


@pytest.mark.parametrize("count", [1, 3, 100])
def test_held_out_text_is_not_trained_on(count: int) -> None:
    documents = [f"document {number}: " + "words and words\n\n" * 9 for number in range(count)]
    kept, held_out = demo_text.split_off(documents)
    assert held_out
    assert sum(map(len, kept)) + len(held_out.replace("\n\n", "")) <= sum(map(len, documents))
    assert "".join(kept) + held_out == "".join(documents) or count == 100


@pytest.mark.parametrize("text", ["a", "abc", "éé", "the cat sat", "\n a"])
def test_a_tiny_corpus_says_what_is_missing(folder: Path, text: str) -> None:
    Path("tiny.txt").write_text(text, encoding="utf-8")
    result = run("demo", "tiny.txt")
    assert result.exit_code == 0, result.output
    if not text.strip("aébc"):
        assert "nothing held out" in result.stdout
        assert result.stdout.count("Nothing to show: the text is too short") == 3
    for empty in ("0.0 kB", "0.0 MB", "0 pieces", "0 tokens", "1 documents", "1 bytes", "1 merges"):
        assert f" {empty}" not in result.stdout
    assert ("times seen" in result.stdout) == (", then 0 merges" not in result.stdout)


def test_a_vocabulary_without_room_says_so(folder: Path) -> None:
    result = run("demo", "corpus.txt", "--vocab-size", "256")
    assert result.exit_code == 0, result.output
    assert "asked for 256: beside the bytes there is room for none" in result.stdout


@pytest.mark.parametrize("data, says", [(b"", "is empty"), (b" \n", "is empty"), (b"a\xff", "0xFF")])
def test_an_unusable_corpus_is_an_error_before_any_heading(folder: Path, data: bytes, says: str) -> None:
    Path("bad.txt").write_bytes(data)
    result = run("demo", "bad.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: bad.txt: ")
    assert says.lower() in result.stderr.lower()


def test_a_file_in_place_of_the_folder_is_an_error_at_once(folder: Path) -> None:
    result = run("demo", "corpus.txt", "-o", "corpus.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: corpus.txt: is a file, not a folder\n"


@pytest.mark.parametrize("text, says", [("plain words\n" * 99, "All its characters are"), ("é ü\n" * 99, "")])
def test_characters_of_one_byte_are_said_to_be(folder: Path, text: str, says: str) -> None:
    Path("some.txt").write_text(text, encoding="utf-8")
    shown = run("demo", "some.txt").stdout
    assert ("All its characters" in shown) == bool(says)
    (row,) = (line for line in shown.splitlines() if "one character a token" in line)
    tokens, of_bytes, of_characters = row.split()[-3:]
    assert of_characters == "1.00"
    assert (of_bytes == "1.00") == bool(says)
    assert int(tokens) > 0


def test_text_in_no_normal_form_is_said_once_and_with_an_option_that_there_is(folder: Path) -> None:
    """The training said it again, of "document 0", and `demo` has no --normalize."""
    Path("oxia.txt").write_text("πόλις \u1f71 λόγος\n" * 99, encoding="utf-8")
    result = run("demo", "oxia.txt", "--vocab-size", "280")
    (line,) = result.stderr.splitlines()
    assert "1 document is in neither form (as oxia.txt, " in line
    assert line.endswith("; `syllabary train --normalize NFC` makes them one")


def test_both_times_of_encoding_are_of_a_first_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all threads it was the second, of text that the tokenizer remembered: twice as fast on a core."""
    seen, plain = [], Tokenizer.encode_batch_array

    def noted(tok: Tokenizer, *args: Any, **options: Any) -> Ragged:
        seen.append(tok)
        return plain(tok, *args, **options)

    monkeypatch.setattr(Tokenizer, "encode_batch_array", noted)
    result = run("demo", "corpus.txt", "--vocab-size", "280")
    assert "encode, all threads" in result.stdout
    first, second = seen
    assert first is not second
    assert first == second
