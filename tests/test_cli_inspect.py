"""The verb inspect: tables whose columns stay straight, JSON, errors, colours, closed streams.

Leaves out: what is found out (`test_inspecting`), the examples of `--help` (`test_docs`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import syllabary
from syllabary import inspecting
from syllabary.cli import colour, common, main
from syllabary.cli.inspect import unquoted
from syllabary.inspecting import Making
from syllabary.training.ids import train_ids

TEXT = "low lower lowest newest 12 μῆνιν ἄειδε 道可道 e\u0301 \u05d0\u05d1 \u202e\x1b[31m\t\x85\n" * 4


pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")


@pytest.fixture
def folder(working_folder: Path) -> Path:
    Path("corpus.txt").write_text(TEXT, encoding="utf-8")
    syllabary.train([TEXT], vocab_size=310, special_tokens=["<|end|>"]).save("tok.syllabary.json")
    syllabary.train([TEXT], model="unigram", vocab_size=280).save("unigram.syllabary.json")
    syllabary.train([TEXT], model="wordpiece", vocab_size=90).save("words.syllabary.json")
    return working_folder


def run(*args: str, stdin: str | bytes | None = None, **more: Any) -> Result:
    return CliRunner().invoke(main, ["inspect", *args], input=stdin, **more)


def making(name: str = "tok.syllabary.json") -> Making:
    return Making(syllabary.load(name))


# ---- tables ----


@pytest.mark.parametrize("name", ["tok.syllabary.json", "unigram.syllabary.json", "words.syllabary.json"])
def test_a_row_has_what_it_says_and_columns_are_straight(folder: Path, name: str) -> None:
    found = making(name)
    result = run("-t", name, TEXT)
    assert (result.exit_code, result.stderr) == (0, "")
    head, *lines, sums = result.stdout.splitlines()
    rows = inspecting.rows(found, TEXT)
    assert len(lines) == len(rows)
    place = head.index("token")
    for line, row in zip(lines, rows, strict=True):
        cells = line.split(maxsplit=5)
        assert (int(cells[0]), cells[1], cells[2]) == (
            row.id,
            f"{row.start}-{row.end}",
            f"{row.first}-{row.last}",
        )
        assert int(cells[3]) == row.piece
        if row.rank is not None:
            assert int(cells[4]) == row.rank
        assert line[:place].isascii()
        assert line[place:] == cells[5]
        assert unquoted(cells[5]) == row.token
        assert cells[5].isprintable()
    totals = inspecting.totals(TEXT, rows)
    assert f"{totals['bytes']:,} bytes, {len(TEXT):,} characters" in sums
    assert f"{len(rows):,} tokens, {totals['bytes_per_token']:.2f} bytes per token" in sums


def test_texts_files_and_stdin_as_encode_takes_them(folder: Path) -> None:
    one = run("-t", "tok.syllabary.json", TEXT).stdout
    assert run("-t", "tok.syllabary.json", "-i", "corpus.txt").stdout == one
    assert run("-t", "tok.syllabary.json", "--file", "corpus.txt").stdout == one
    assert run("-t", "tok.syllabary.json", "--input", "-", stdin=TEXT).stdout == one
    assert run("tok.syllabary.json", "-i", "-", stdin=TEXT).stdout == one
    twice = run("-t", "tok.syllabary.json", TEXT, "-i", "corpus.txt").stdout
    tokens = len(syllabary.load("tok.syllabary.json").encode(TEXT, special="allow"))
    assert twice.startswith(
        f"{one}\n{one}\n2 texts: {2 * len(TEXT.encode())} bytes, {2 * len(TEXT)} characters, "
    )
    assert f" pieces, {2 * tokens} tokens, {len(TEXT.encode()) / tokens:.2f} bytes per token\n" in twice
    assert len(twice.splitlines()) == 2 * len(one.splitlines()) + 3
    assert run("-t", "tok.syllabary.json", "").stdout.splitlines()[-1] == (
        "0 bytes, 0 characters, 0 pieces, 0 tokens"
    )


@pytest.mark.parametrize("policy", ["allow", "text"])
def test_special_tokens_by_policy(folder: Path, policy: str) -> None:
    lines = run("-t", "tok.syllabary.json", "--special", policy, "low<|end|>").stdout.splitlines()
    assert any(line.split()[4:] == ["special", '"<|end|>"'] for line in lines) == (policy == "allow")


def test_steps_end_in_the_ids(folder: Path) -> None:
    result = run("-t", "tok.syllabary.json", "--steps", "--special", "allow", "lowest μῆνιν<|end|>")
    assert result.exit_code == 0, result.stderr
    table, *pieces = result.stdout.split("\n\npiece ")
    ids = [int(one) for piece in pieces for one in piece.rstrip().splitlines()[-1].split()[1:]]
    assert ids == making().tok.encode("lowest μῆνιν<|end|>", special="allow")
    assert pieces[0].splitlines()[1].split() == ["units", *(f'"{char}"' for char in "lowest")]
    assert 'rank 0  "l" + "o":  "lo"' in pieces[0] or "rank 0" in result.stdout
    assert table


def test_a_whole_piece_says_where_its_merges_are(folder: Path, shared: Path) -> None:
    name = str(shared / "vocabs" / "cl100k_base.tiktoken")
    lines = run("-t", name, "--steps", "hello").stdout.splitlines()
    assert lines[-2].split() == ["whole", "piece", '"hello"']
    assert lines[-1].split() == ["ids", "15339", "(its", "merges:", "--token", "15339)"]


def test_the_overview_has_what_the_file_says(folder: Path) -> None:
    for args in (["tok.syllabary.json"], ["-t", "tok.syllabary.json"]):
        result = run(*args)
        assert (result.exit_code, result.stderr) == (0, "")
        for words in (
            "syllabary",
            "bpe",
            "byte",
            "310",
            "o200k",
            '"<|end|>"',
            "corpus_bytes",
            "Tokens by length",
            "partial UTF-8",
            "Greek",
            "Longest tokens",
            "nothing encodes to",
        ):
            assert words in result.stdout
        assert result.stdout.replace("\n", "").isprintable()
    assert "only byte-pair encoding" in run("words.syllabary.json").stdout
    assert "\n  marks            ## before" in run("words.syllabary.json").stdout


def test_one_token_in_depth(folder: Path) -> None:
    found = making()
    token_id = found.tok.token_to_id("low")
    for name in (str(token_id), "low", '"low"'):
        result = run("-t", "tok.syllabary.json", "--token", name)
        assert (result.exit_code, result.stderr) == (0, "")
        lines = result.stdout.splitlines()
        assert lines[0] == f'{token_id}  "low"'
        assert "  bytes            3 bytes: 6c 6f 77" in lines
        assert "  script           Latin" in lines
        tree = lines[lines.index("Tree of merges") + 1 :][: len(found.tree(token_id))]
        assert [line.split()[0] for line in tree] == [str(node.id) for node in found.tree(token_id)]
    both = run("tok.syllabary.json", "--token", '"\\xff"', "--token", "<|end|>")
    assert '255  "\\xff"' in both.stdout
    assert "special          yes" in both.stdout
    assert "has no merges" in run("words.syllabary.json", "--token", "low").stdout


def test_a_text_that_two_tokens_have_is_both(folder: Path, shared: Path) -> None:
    result = run(str(shared / "vocabs" / "mistral_v1.model"), "--token", "e", "--json")
    byte, letter = json.loads(result.stdout)["tokens"]
    assert (byte["kind"], byte["alone"]) == ("byte", [letter["id"]])
    assert letter["used_in"]["count"] > 100


def test_quotes_are_taken_back() -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b'a"\\n\n', "\x85\u2028\u202e漢".encode(), b"\xc2\xff", "\U0001f600".encode()]
    assert [unquoted(colour.quoted(token)) for token in tokens] == tokens
    assert colour.quoted("\x85".encode()) != colour.quoted(b"\x85")


# ---- JSON ----


def test_json_of_a_text_is_the_same_as_the_rows(folder: Path) -> None:
    result = run("-t", "tok.syllabary.json", "--json", "--steps", "--token", "low", TEXT, "low")
    assert result.stdout.count("\n") == 1
    data = json.loads(result.stdout)
    assert [one["text"] for one in data["texts"]] == [TEXT, "low"]
    found = making()
    for one in data["texts"]:
        rows = inspecting.rows(found, one["text"])
        assert [row["id"] for row in one["rows"]] == [row.id for row in rows]
        assert b"".join(bytes.fromhex(row["bytes"]) for row in one["rows"]).decode() == one["text"]
        assert [row["byte_span"] for row in one["rows"]] == [[row.start, row.end] for row in rows]
        assert [row["rank"] for row in one["rows"]] == [row.rank for row in rows]
        ids = [token_id for states in one["steps"] for token_id in states[-1]["ids"]]
        assert ids == [row.id for row in rows]
        assert one["tokens"] == len(rows)
    assert data["tokens"] == [found.token(found.tok.token_to_id("low"))]


@pytest.mark.parametrize("name", ["tok.syllabary.json", "unigram.syllabary.json", "words.syllabary.json"])
def test_json_of_the_overview(folder: Path, name: str) -> None:
    data = json.loads(run(name, "--json").stdout)
    figures = data["figures"]
    tok = making(name).tok
    assert data["vocab_size"] == tok.vocab_size == figures["named"] + sum(figures["scripts"].values())
    assert tok.vocab_size == figures["named"] + sum(figures["lengths"].values())
    assert (data["format"], data["file"], data["special_tokens"]) == ("syllabary", name, tok.special_tokens)


def test_a_tokenizer_of_integers(folder: Path) -> None:
    train_ids([[60, 64, 67] * 4], num_merges=2).save("ids.json")
    assert "unit             id" in run("ids.json").stdout
    data = json.loads(run("ids.json", "--json").stdout)
    assert (data["vocab_size"], data["symbols"], data["merges"]) == (5, 3, 2)
    assert sum(data["figures"]["lengths"].values()) == 5
    result = run("-t", "ids.json", "text")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "has no text" in result.stderr


# ---- errors, streams, colours ----


@pytest.mark.parametrize(
    "args, words",
    [
        ([], "-t TOK"),
        (["tok.syllabary.json", "text"], "give the tokenizer as -t TOK"),
        (["tok.syllabary.json", "--steps"], "--input FILE"),
        (["-t", "tok.syllabary.json", "--special", "maybe", "x"], "--special"),
        (["-t"], "-t"),
        (["tok.syllabary.json", "--nonsense"], "--nonsense"),
    ],
)
def test_wrong_usage(folder: Path, args: list[str], words: str) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


@pytest.mark.parametrize(
    "args, words",
    [
        (["nowhere.json"], "nowhere.json"),
        ([""], "is no file"),
        (["."], "name the file"),
        (["corpus.txt"], "corpus.txt"),
        (["tok.syllabary.json", "--token", "9999"], "id 9999 is no token"),
        (["tok.syllabary.json", "--token", "9" * 40], "is no token"),
        (["tok.syllabary.json", "--token", ""], "is no token"),
        (["tok.syllabary.json", "--token", "-1"], "is no token"),
        (["tok.syllabary.json", "--token", '"zzz"'], "is no token"),
        (["tok.syllabary.json", "--token", '"\\ud800"'], "is no token"),
        (["tok.syllabary.json", "--token", "\udc80"], "is no token"),
        (["tok.syllabary.json", "--token", "٣"], "is no token"),
        (["-t", "tok.syllabary.json", "a<|end|>"], "--special allow"),
        (["-t", "tok.syllabary.json", "a\udcffb"], "character 1"),
        (["-t", "tok.syllabary.json", "-i", "nowhere.txt"], "nowhere.txt"),
        (["-t", "tok.syllabary.json", "--steps", "a" * 5000], "give a part of it"),
        (["-t", "unigram.syllabary.json", "--steps", "a"], "no merges"),
    ],
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_errors_are_sentences(folder: Path, args: list[str], words: str, form: list[str]) -> None:
    result = run(*args, *form)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert result.stderr.startswith("error: ")
    assert words in result.stderr


def test_a_closed_stdout_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for args in (
        ["tok.syllabary.json"],
        ["-t", "tok.syllabary.json", "low"],
        ["tok.syllabary.json", "--json"],
    ):
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", None)  # as Python does where file 1 is closed
            with pytest.raises(common.Failure, match="stdout is closed"):
                main(["inspect", *args], standalone_mode=False)


def test_a_closed_pipe_is_quiet(folder: Path) -> None:
    Path("large.txt").write_text(TEXT * 500, encoding="utf-8")
    command = f'"{sys.executable}" -m syllabary inspect -t tok.syllabary.json -i large.txt | head -n 1'
    done = subprocess.run(["bash", "-c", command], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")


def test_colours_are_for_terminals(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    args = ("-t", "tok.syllabary.json", "--steps", "lowest 道", "--token", "low")
    plain = run(*args).stdout
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    painted = run(*args, color=True).stdout
    assert "\x1b[" in painted
    assert click.unstyle(painted) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(*args, color=True).stdout == plain


def test_an_output_that_holds_few_characters(folder: Path) -> None:
    command = [sys.executable, "-m", "syllabary", "inspect", "tok.syllabary.json"]
    done = subprocess.run(
        command, capture_output=True, check=False, env=os.environ | {"PYTHONIOENCODING": "latin-1"}
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u2588" in done.stdout


def test_published_files(folder: Path, shared: Path) -> None:
    vocabs = shared / "vocabs"
    for name, split, form in (
        ("o200k_base.tiktoken", ["--split", "o200k"], "tiktoken"),
        ("gpt2_tokenizer.json", [], "huggingface"),
        ("mistral_v1.model", [], "sentencepiece"),
    ):
        result = run(str(vocabs / name), *split, "--json")
        assert result.exit_code == 0, result.stderr
        data = json.loads(result.stdout)
        assert (data["format"], data["file"]) == (form, str(vocabs / name))
        assert data["figures"]["named"] + sum(data["figures"]["lengths"].values()) == data["vocab_size"]
