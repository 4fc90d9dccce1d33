"""Options of corpora on the command line: they reach `Corpus` and `train`, and what was left out is said.

Leaves out: what they mean (`test_corpus_class`, `test_corpus_care`), readers, `shard` (`test_cli_shard`).
"""

from __future__ import annotations

import functools
import gzip
import json
import unicodedata
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from test_cli import run

import syllabary
from syllabary.cli import common, words
from syllabary.cli.corpus_options import care_options, corpus_options, rest_of
from syllabary.corpus import Care, Corpus, Reading
from syllabary.spec import Step

ROWS = [("arma virumque cano", "lat"), ("μῆνιν ἄειδε θεά", "grc"), ("sing, goddess", "eng")]


@pytest.fixture
def folder(working_folder: Path) -> Path:
    """A working directory with texts, rows with languages, and a file that cannot be read."""
    Path("texts").mkdir()
    for number in range(30):
        text = f"the cat and the hat and the bat, number {number % 25}"
        Path("texts", f"{number:02}.txt").write_text(text, encoding="utf-8")
    Path("rows.jsonl").write_text(
        "".join(json.dumps({"text": text, "lang": lang}) + "\n" for text, lang in ROWS), encoding="utf-8"
    )
    Path("lines.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    Path("bad.xml").write_text("<TEI><text>cut", encoding="utf-8")
    syllabary.train(["the cat and the hat"], vocab_size=259).save("tok.json")
    return working_folder


def trained(*args: str) -> syllabary.Tokenizer:
    """What `train` writes with these arguments."""
    result = run("train", *args, "--num-merges", "5", "-o", "out.syllabary.json", "-q")
    assert result.exit_code == 0, result.stderr
    return syllabary.load("out.syllabary.json")


def the_same(tok: syllabary.Tokenizer, source: Any, reading: Reading, care: Care, **options: Any) -> bool:
    expected = syllabary.train(Corpus(source, reading, care), num_merges=5, **options)
    return tok.spec == expected.spec


@pytest.mark.parametrize(
    "args, reading, care",
    [
        (["rows.jsonl", "--select", "lang=lat"], Reading(select=(("lang", "lat"),)), Care()),
        (
            ["rows.jsonl", "--select", "lang=lat", "--select", "lang=grc"],
            Reading(select=(("lang", "lat"), ("lang", "grc"))),
            Care(),
        ),
        (["rows.jsonl", "--column", "lang"], Reading(column="lang"), Care()),
        (["rows.jsonl", "--kind", "text"], Reading(kind="text"), Care()),
        (["texts", "--include", "0*", "--include", "1*"], Reading(include=("0*", "1*")), Care()),
        (["texts", "--exclude", "1*"], Reading(exclude=("1*",)), Care()),
        (["texts", "--documents", "line"], Reading(documents="line"), Care()),
        (["texts", "--separator", r"a\n\t\\"], Reading(separator="a\n\t\\"), Care()),
        (["texts", "--encoding", "cp1252"], Reading(encoding="cp1252"), Care()),
        (["texts", "--drop-duplicates"], Reading(), Care(drop_duplicates=True)),
        (["texts", "--fraction", "0.5"], Reading(), Care(fraction=0.5)),
        (["texts", "--rest", ".5", "--seed", "7"], Reading(), Care(rest=0.5, seed=7)),
        (["texts", "--on-error", "skip"], Reading(on_error="skip"), Care()),
        (
            ["texts", "--division", "work", "--no-beta-code"],
            Reading(division="work", beta_code=False),
            Care(),
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
def test_options_of_train_reach_the_corpus(
    folder: Path, args: list[str], reading: Reading, care: Care
) -> None:
    assert the_same(trained(*args), Path(args[0]), reading, care)


def test_normalize_is_the_tokenizers(folder: Path) -> None:
    tok = trained("texts", "--normalize", "NFD")
    assert the_same(tok, Path("texts"), Reading(), Care(), normalize="NFD")
    assert tok.spec.normalizer == (Step("NFD"),)
    assert "corpus" not in tok.spec.record
    result = run("encode", "-t", "out.syllabary.json", "é")
    assert result.stdout.split() == [str(byte) for byte in "e\u0301".encode()]


def test_a_format_that_cannot_hold_it_is_refused_before_training(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syllabary, "train", None)  # calling it would be a TypeError
    for name in ("a.tiktoken", "a.minbpe", "vocab.json"):
        result = run("train", "texts", "--normalize", "NFC", "-o", name)
        assert result.exit_code == 1
        assert "normalizer (NFC)" in result.stderr
        assert not Path(name).exists()


def test_the_issues_example(folder: Path, shared: Path) -> None:
    args = ["--select", "lang=grc", "--vocab-size", "1000", "-o", "greek.json"]
    result = run("train", str(shared / "corpora" / "perseus"), *args)
    assert result.exit_code == 0, result.stderr
    assert "1,000 tokens" in result.stderr
    assert "selected 28 of " in result.stderr
    tok = syllabary.load("greek.json")
    assert tok.spec.unit == "byte"
    word = unicodedata.normalize("NFC", "καὶ")
    assert len(tok.encode(" " + word)) == 1


def test_what_was_left_out_is_said_on_stderr(folder: Path) -> None:
    result = run(
        "train", "texts", "bad.xml", "--on-error", "skip", "--fraction", "0.6", "--drop-duplicates",
        "--num-merges", "2", "-o", "out.json",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    corpus = Corpus(Path("texts"), care=Care(fraction=0.6, drop_duplicates=True))
    kept = len(list(corpus))
    lines = result.stderr.splitlines()
    assert f"left to the other side of the split: {corpus.report.outside} documents" in lines
    assert f"left out as duplicates: {30 - kept - corpus.report.outside} documents" in lines
    assert "skipped 1 file or part of one:" in lines
    assert any(line.startswith("  bad.xml: ") for line in lines)
    assert any("out.json keeps no record of the fraction" in line and "--rest 0.6" in line for line in lines)
    assert result.stdout == ""


def test_a_file_that_cannot_be_read_ends_it(folder: Path) -> None:
    result = run("train", "texts", "bad.xml", "-o", "out.json")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: bad.xml")
    assert not Path("out.json").exists()


def test_nothing_left_is_an_error_that_says_why(folder: Path) -> None:
    result = run("train", "rows.jsonl", "--select", "lang=xyz", "-o", "out.json")
    assert result.exit_code == 1
    assert "none has lang=xyz: there are eng (1), grc (1), lat (1)" in result.stderr


def test_mixed_forms_are_a_warning_that_names_the_option(folder: Path) -> None:
    Path("texts", "nfc.txt").write_text("café", encoding="utf-8")
    Path("texts", "nfd.txt").write_text("cafe\u0301", encoding="utf-8")
    args = ["train", "texts", "--num-merges", "2", "-o", "out.json"]
    stderr = run(*args).stderr
    assert "warning: the corpus mixes normal forms of Unicode" in stderr
    assert "with other tokens each; --normalize NFC makes them one" in stderr
    assert "warning" not in run(*args, "--normalize", "NFC").stderr


@pytest.mark.parametrize(
    "args, says",
    [
        (["--select", "lang"], "'lang' is not of the form NAME=VALUE, as lang=grc"),
        (["--select", "=grc"], "'=grc' is not of the form NAME=VALUE"),
        (["--separator", ""], r"'--separator': it is empty: give a text, as \n\n"),
        (["--documents", "line", "--separator", "x"], "--documents and --separator both cut plain text"),
        (["--encoding", "utf-88"], "'utf-88' is no encoding"),
        (["--kind", "pdf"], "'pdf' is not one of"),
        (["--normalize", "nfx"], "'nfx' is not one of 'NFC', 'NFD', 'NFKC', 'NFKD'"),
        (["--fraction", "0"], "0 is out of range: give a number above 0, at most 1"),
        (["--fraction", "nan"], "nan is out of range"),
        (["--fraction", "much"], "'much' is not a number"),
        (["--rest", "1"], "1 is out of range: give the fraction that is left out"),
        (["--rest", "recorded"], "'recorded' is not a number"),
        (["--rest", "0.1", "--fraction", "0.1"], "--fraction and --rest are the two sides of one split"),
        (["--seed", "-1"], "-1 is out of range"),
    ],
)
def test_wrong_usage(folder: Path, args: list[str], says: str) -> None:
    result = run("train", "texts", "-o", "out.json", *args)
    assert (result.exit_code, says in result.stderr) == (2, True), result.stderr


# ---- stdin ----


def test_train_reads_stdin_as_any_file(folder: Path) -> None:
    text = "\n".join(["the cat", "and the hat", "and the bat"])
    args = ["train", "-", "--num-merges", "3", "-o", "out.syllabary.json", "-q", "--documents", "line"]
    assert run(*args, stdin=text).exit_code == 0
    lines = text.splitlines()
    expected = syllabary.train(lines, num_merges=3).merges
    assert syllabary.load("out.syllabary.json").merges == expected
    rows = "".join(json.dumps({"text": line}) + "\n" for line in lines)
    assert run(*args[:-2], "--kind", "jsonl", stdin=rows).exit_code == 0
    assert syllabary.load("out.syllabary.json").merges == expected


def test_stdin_is_read_in_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not held whole: no part that reaches training is as long as the text."""
    longest = 0
    parts = Corpus.parts

    def watched(corpus: Corpus, normalized: bool = False, plain: bool = False) -> Any:
        nonlocal longest
        for part, last in parts(corpus, normalized, plain):
            longest = max(longest, len(part))
            yield part, last

    monkeypatch.setattr(Corpus, "parts", watched)
    text = "the cat and the hat\n" * 300_000
    assert run("train", "-", "--num-merges", "3", "-o", "out.json", "-q", stdin=text).exit_code == 0
    assert 0 < longest < len(text) // 2


def test_count_and_encode_take_the_options_of_files(folder: Path) -> None:
    tok = syllabary.load("tok.json")
    lines = [tok.encode(text) for text in ("one", "two", "three")]
    result = run("encode", "-t", "tok.json", "-i", "lines.txt", "--documents", "line")
    assert result.stdout.splitlines() == [" ".join(map(str, ids)) for ids in lines]
    result = run("count", "-t", "tok.json", "rows.jsonl", "--select", "lang=eng")
    assert result.stdout == f"{len(tok.encode('sing, goddess'))} rows.jsonl\n"
    packed = gzip.compress(Path("lines.txt").read_bytes())
    Path("lines.txt.gz").write_bytes(packed)
    counts = run("count", "-t", "tok.json", "lines.txt", "lines.txt.gz").stdout.split()
    assert counts[0] == counts[2]
    args = ["encode", "-t", "tok.json", "--documents", "line", "--json"]
    assert [json.loads(line) for line in run(*args, stdin="one\ntwo\nthree").stdout.splitlines()] == lines


def test_count_says_what_it_skipped(folder: Path) -> None:
    Path("texts", "bad.xml").write_text("<TEI><text>cut", encoding="utf-8")
    result = run("count", "-t", "tok.json", "texts", "--on-error", "skip")
    assert result.exit_code == 0
    assert result.stdout.endswith(" texts\n")
    assert "skipped 1 file or part of one:" in result.stderr


# ---- for other verbs ----


@click.command()
@corpus_options
@functools.partial(care_options, recorded=True)
def verb(reading: Reading, care: Care, rest_recorded: bool) -> None:
    """Show what a verb gets."""
    click.echo(repr((reading, care, rest_recorded)))


@pytest.mark.parametrize(
    "args, care, recorded",
    [
        ([], Care(), False),
        (["--rest"], Care(), True),
        (["--rest", "--seed", "3"], Care(seed=3), True),
        (["--rest", "0.25"], Care(rest=0.25), False),
        (["--rest=0.25", "--normalize", "NFKC"], Care(rest=0.25, normalize="NFKC"), False),
    ],
)
def test_rest_without_a_number(args: list[str], care: Care, recorded: bool) -> None:
    result = CliRunner().invoke(verb, args)
    assert result.output == f"{(Reading(), care, recorded)!r}\n"


def test_rest_and_fraction_exclude_each_other_also_without_a_number() -> None:
    for args in (["--rest", "--fraction", "0.1"], ["--rest", "0.1", "--fraction", "0.1"]):
        assert CliRunner().invoke(verb, args).exit_code == 2


def test_without_options_a_verb_gets_the_defaults() -> None:
    @click.command()
    @corpus_options
    @care_options
    def plain(**given: Any) -> None:
        click.echo(repr(given))

    expected = {"reading": Reading(), "care": Care()}
    assert CliRunner().invoke(plain, []).output in {
        f"{expected!r}\n",
        f"{dict(reversed(expected.items()))!r}\n",
    }


def test_the_rest_of_a_tokenizer(folder: Path) -> None:
    tok = trained("texts", "--fraction", "0.5", "--seed", "7")
    assert rest_of(tok, Care(normalize="NFC", seed=1), "t") == Care(normalize="NFC", rest=0.5, seed=7)
    for other in (syllabary.load("tok.json"), trained("texts"), trained("texts", "--rest", "0.5")):
        with pytest.raises(common.Failure, match="t does not say that it was trained on a fraction") as error:
            rest_of(other, Care(), "t")
        assert "--rest 0.01" in str(error.value.hint)


def test_the_librarys_words_in_options() -> None:
    for said, spoken in [
        ('…; normalize="NFC" makes them one', "…; --normalize NFC makes them one"),
        ("declare its encoding (encoding=…)", "declare its encoding (--encoding)"),
        ("a.csv: no column 'x' (column=…)", "a.csv: no column 'x' (--column)"),
        ("beta_code=False leaves it", "--no-beta-code leaves it"),
    ]:
        assert words.spoken(said) == spoken
