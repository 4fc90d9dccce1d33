"""`syllabary count-pieces`, and `train` from tables: files, stdin, sums, what contradicts, and Ctrl-C.

Leaves out: the examples of `--help` (`test_docs`), and tables themselves (`test_counts` and its neighbours).
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_cli import COMMAND, TEXT, run
from test_interrupted import GUARD, contents, feed

import syllabary
from syllabary import PieceCounts
from syllabary.corpus import Corpus, Reading

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")

MORE = "μῆνιν ἄειδε θεά, e\u0301té\n" * 3
LIKES = ["cs336", "huggingface", "rustbpe", "subword-nmt"]


@pytest.fixture
def folder(working_folder: Path) -> Path:
    """A working directory with two texts, and rows of documents."""
    Path("a.txt").write_text(TEXT, encoding="utf-8")
    Path("b.txt").write_text(MORE, encoding="utf-8")
    pq.write_table(pa.table({"text": [TEXT, MORE], "lang": ["eng", "grc"]}), "rows.parquet")
    return working_folder


def ok(*args: str, stdin: str | None = None) -> str:
    """The verb's stdout; it must end well."""
    result = run(*args, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def wrong(*args: str) -> str:
    """What the verb says on stderr; it must fail, and leave no file."""
    before = contents(Path.cwd())
    result = run(*args)
    assert result.exit_code in (1, 2), result.stderr
    assert contents(Path.cwd()) == before
    return result.stderr


@pytest.mark.parametrize("verb", ["train", "count-pieces"])
def test_what_looks_like_a_table_of_counts_is_asked_about(verb: str, folder: Path) -> None:
    pq.write_table(pa.table({"piece": ["low"], "count": [3]}), "pieces.parquet")
    said = wrong(verb, "pieces.parquet", "-o", "out.parquet" if verb == "count-pieces" else "out.json")
    assert said.endswith("'piece', 'count' (--column); if it is a table of counts, say --counts\n")
    ok("train", "pieces.parquet", "--counts", "--split", "gpt2", "-o", "out.json", "--num-merges", "1", "-q")
    pq.write_table(pa.table({"word": ["low"], "freq": [3]}), "words.parquet")
    assert "--counts" not in wrong(verb, "words.parquet", "-o", "a.parquet" if "c" in verb else "a.json")


def test_files_become_a_table(folder: Path) -> None:
    result = run(
        "count-pieces", "a.txt", "b.txt", "-o", "all.parquet", "--special", "the", "--normalize", "NFC"
    )
    assert result.exit_code == 0, result.stderr
    wanted = PieceCounts.of([TEXT, MORE], special_tokens=["the"], normalize="NFC")
    assert PieceCounts.load("all.parquet") == wanted
    assert PieceCounts.load("all.parquet").documents == 2
    assert f"{len(wanted):,} pieces, {wanted.total:,} in all" in result.stderr
    assert "saved as all.parquet" in result.stderr


def test_parts_add_up(folder: Path) -> None:
    whole = PieceCounts.of([TEXT, MORE, "more <e>"], split="gpt2", special_tokens=["<e>"])
    for name in ("a", "b"):
        ok(
            "count-pieces",
            f"{name}.txt",
            "-o",
            f"{name}.parquet",
            "--split",
            "gpt2",
            "--special",
            "<e>",
            "-q",
        )
    ok("count-pieces", "b.parquet", "-", "a.parquet", "-o", "sum.parquet", stdin="more <e>")
    assert PieceCounts.load("sum.parquet") == whole
    ok("count-pieces", "sum.parquet", "-o", "again.parquet", "--split", "gpt2")
    assert PieceCounts.load("again.parquet") == whole
    ok("count-pieces", "sum.parquet", "-o", "all.pq", "-q", "--special", "<e>")
    ok("count-pieces", "rows.parquet", "-o", "rows.pq", "--select", "lang=grc")
    assert PieceCounts.load("rows.pq") == PieceCounts.of([MORE])


def test_a_table_on_stdout(folder: Path) -> None:
    table = PieceCounts.of([TEXT + "\\\t"])
    shown = ok("count-pieces", "-", "-o", "-", "-q", stdin=TEXT + "\\\t")
    rows = [line.split("\t") for line in shown.splitlines()]
    assert [int(count) for _, count in rows] == [count for _, count in table.most_common()]
    assert {"\\n", "\\\\\\t"} <= {piece for piece, _ in rows} or {"\\n", "\\\\"} <= {
        piece for piece, _ in rows
    }
    assert (
        ok("count-pieces", "-", "-o", "-", "-q", "--top", "3", stdin=TEXT + "\\\t").splitlines()
        == (shown.splitlines()[:3])
    )
    assert "--top is for what is printed" in wrong("count-pieces", "a.txt", "-o", "a.parquet", "--top", "3")


@pytest.mark.parametrize("like", [None, *LIKES])
def test_training_from_tables_writes_the_same_file(folder: Path, like: str | None) -> None:
    tool = ["--like", like] if like else []
    options = ["--num-merges", "30", *tool, "-q"]
    ok("train", "a.txt", "b.txt", "-o", "text.syllabary.json", *options)
    for name in ("a", "b"):
        ok("count-pieces", f"{name}.txt", "-o", f"{name}.parquet", "-q", *tool)
    ok("train", "b.parquet", "a.parquet", "-o", "tables.syllabary.json", *options)
    assert Path("tables.syllabary.json").read_bytes() == Path("text.syllabary.json").read_bytes()


def test_words_and_counts_as_text(folder: Path) -> None:
    ok("count-pieces", "a.txt", "-o", "words.txt", "--like", "subword-nmt")
    ok("train", "words.txt", "--counts", "--like", "subword-nmt", "--num-merges", "9", "-o", "c.bpe")
    ok("train", "a.txt", "--like", "subword-nmt", "--num-merges", "9", "-o", "text.bpe")
    assert Path("c.bpe").read_bytes() == Path("text.bpe").read_bytes()
    ok("count-pieces", "words.txt", "words.txt", "--counts", "--like", "subword-nmt", "-o", "twice.parquet")
    one = PieceCounts.of([TEXT], like="subword-nmt")
    assert PieceCounts.load("twice.parquet") == one + one
    ok("count-pieces", "words.txt", "-o", "of-words.parquet")  # without --counts a .txt is text
    assert PieceCounts.load("of-words.parquet") == PieceCounts.of(Path("words.txt"))
    assert "give --split, or --like" in wrong("train", "words.txt", "--counts", "-o", "x.json")


def test_documents_in_parquet_are_documents_still(folder: Path) -> None:
    ok("train", "rows.parquet", "-o", "rows.json", "--num-merges", "9", "--select", "lang=eng")
    corpus = Corpus(Path("rows.parquet"), Reading(select=(("lang", "eng"),)))
    assert syllabary.load("rows.json").merges == syllabary.train(corpus, num_merges=9).merges


def test_the_table_decides(folder: Path) -> None:
    ok(
        "count-pieces",
        "b.txt",
        "-o",
        "b.parquet",
        "--special",
        "<e>",
        "--normalize",
        "NFC",
        "--split",
        "gpt2",
    )
    ok("train", "b.parquet", "-o", "b.json", "--num-merges", "5")
    tok = syllabary.load("b.json")
    assert list(tok.special_tokens) == ["<e>"]
    assert tok.encode("e\u0301") == tok.encode("é")
    assert tok.merges == syllabary.train([MORE], num_merges=5, split="gpt2", normalize="NFC").merges
    train = ["train", "b.parquet", "-o", "x.json"]
    assert "b.parquet was counted otherwise than you say" in wrong(*train, "--split", "o200k")
    assert "counted otherwise than --like rustbpe counts" in wrong(*train, "--like", "rustbpe")
    assert "the special tokens" in wrong(*train, "--special", "<x>")
    assert "the normal form (NFC and NFD)" in wrong(*train, "--normalize", "NFD")
    assert "--unit word cannot be learned from a table" in wrong(
        *train[:2], "-o", "x.syllabary.json", "--unit", "word"
    )
    assert "--tie-break first-seen cannot be learned" in wrong(*train, "--tie-break", "first-seen")
    assert "--fraction is about documents" in wrong(*train, "--fraction", "0.5")
    assert "--select is about documents" in wrong(*train, "--select", "lang=grc")
    assert "--documents is about documents" in wrong(*train, "--documents", "line")
    assert "is a table of counts, and a.txt is not" in wrong(*train, "a.txt")
    assert "normalizer" in wrong("train", "b.parquet", "-o", "x.tiktoken")
    count = ["count-pieces", "b.parquet", "-o", "x.parquet"]
    assert "--drop-duplicates is about documents" in wrong(*count, "--drop-duplicates")
    assert "b.parquet was counted otherwise" in wrong(*count, "--normalize", "NFD")
    assert "b.parquet was counted otherwise" in wrong(*count, "a.txt", "--split", "latin")


def test_tables_by_different_rules_are_not_added(folder: Path) -> None:
    ok("count-pieces", "a.txt", "-o", "a.parquet")
    ok("count-pieces", "b.txt", "-o", "b.parquet", "--split", "gpt2")
    for verb in ("train", "count-pieces"):
        said = wrong(
            verb, "a.parquet", "b.parquet", "-o", "x.parquet" if verb == "count-pieces" else "x.json"
        )
        assert "b.parquet cannot be added to a.parquet: they differ in the split (o200k and gpt2)" in said


@pytest.mark.parametrize(
    "args, words",
    [
        (["a.txt", "-o", "x.json"], "a table of counts is a file called …"),
        (["a.txt", "-o", "no/x.parquet"], "no such folder"),
        (["no.txt", "-o", "x.parquet"], "No such file"),
        (["a.txt", "-o", "x.parquet", "--split", "no-such"], "unknown split 'no-such'"),
        (["a.txt", "-o", "x.parquet", "--like", "gigatoken"], "--like 'gigatoken' is none of"),
        (["a.txt", "-o", "x.parquet", "--like", "sentencepiece"], "counts sentences"),
        (["a.txt", "-o", "x.parquet", "--like", "huggingface", "--special", "x"], "leave --special out"),
        (["a.txt", "--counts", "--split", "gpt2", "-o", "x.parquet"], "a.txt, line 1: "),
        (["bad.parquet", "-o", "x.parquet"], "bad.parquet: at $.version: "),
        (["-o", "x.parquet"], "Missing argument"),
    ],
)
def test_errors_are_sentences(folder: Path, args: list[str], words: str) -> None:
    said = {"syllabary.counts": '{"version": 9}'}
    pq.write_table(pa.table({"piece": ["a"], "count": [1]}).replace_schema_metadata(said), "bad.parquet")
    message = wrong("count-pieces", *args)
    assert words in message
    assert "Traceback" not in message


def test_a_table_that_text_cannot_hold_is_kept(folder: Path) -> None:
    ok("count-pieces", "a.txt", "-o", "a.parquet")
    result = run("count-pieces", "a.txt", "-o", "x.txt")
    said = result.stderr
    assert result.exit_code == 1
    assert "which would spoil its line" in said
    assert "the table is kept as x.txt.parquet" in said
    assert not Path("x.txt").exists()
    kept = Path("x.txt.parquet").read_bytes()
    assert ok("count-pieces", "x.txt.parquet", "-o", "-") == ok("count-pieces", "a.parquet", "-o", "-")
    # What is there already stays.
    assert "which would spoil its line" in wrong("count-pieces", "b.txt", "-o", "x.txt")
    assert Path("x.txt.parquet").read_bytes() == kept


@pytest.mark.skipif(os.name == "nt", reason="signals and pipes are POSIX's here")
@pytest.mark.parametrize("old", [None, b"the old file"], ids=["new", "old"])
def test_ctrl_c_while_counting_leaves_nothing(folder: Path, old: bytes | None) -> None:
    os.mkfifo("pipe.txt")
    if old is not None:
        Path("out.parquet").write_bytes(old)
    before = contents(folder)
    command = [*COMMAND, "count-pieces", "pipe.txt", "-o", "out.parquet"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    interrupt: Callable[[], None] = lambda: process.send_signal(signal.SIGINT)  # noqa: E731
    writer = threading.Thread(target=feed, args=(process, folder / "pipe.txt", interrupt))
    writer.start()
    _, stderr = process.communicate(timeout=GUARD)
    writer.join(GUARD)
    assert (process.returncode, stderr) == (130, "interrupted\n")
    assert contents(folder) == before
