"""`count_pieces`, and the verb under `--memory-limit`: the same files as a table in memory writes.

The limit is taken far below the least that is accepted, so that small corpora go to files; and once as it is
accepted, in a process whose peak is read. Leaves out: what the tables are (`test_counts`).
"""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from limited_runs import allow_little
from test_cli import run

import syllabary
from syllabary import PieceCounts, count_pieces, piece_table
from syllabary.counts import file as counts_file
from syllabary.errors import CheckpointError, CorpusError, FormatError, TrainingError
from syllabary.files import open_atomic
from syllabary.piece_table import Rules
from syllabary.splits import get
from syllabary.training import checkpoint as training_checkpoint

GUARD = 600  # seconds
SUFFIXES = [".parquet", ".tsv", ".txt"]
WAYS: dict[str, dict[str, Any]] = {
    "plain": {"split": "whitespace-split"},
    "special": {"split": "latin", "special_tokens": ["ab", "<s>"]},
    "normal form": {"split": "latin", "normalize": "NFD", "special_tokens": ["é"]},
    "huggingface": {"like": "huggingface"},
    "subword-nmt": {"like": "subword-nmt"},
}


def text(seed: int, words: int = 9_000) -> str:
    """Rare words and familiar ones; the same each time."""
    draw = random.Random(seed)
    rare = ("".join(draw.choices("aeiouklmnsté ab", k=draw.randint(1, 30))) for _ in range(words))
    return "".join(word + draw.choice([" ", "\n", "<s>", " the the of "]) for word in rare)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with texts, in which what exceeds a limit of a few hundred kilobytes goes to files."""
    allow_little(monkeypatch, tmp_path)
    monkeypatch.setattr(piece_table, "HAND_ROWS", 1_000)
    for seed in range(3):
        (tmp_path / f"{seed}.txt").write_text(text(seed), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_the_file_is_that_of_a_table_in_memory(way: str, threads: int, suffix: str, small: Path) -> None:
    if suffix == ".txt" and way != "subword-nmt":
        return  # spaces in pieces are another test's
    options, source = WAYS[way], [small / "0.txt", small / "1.txt"]
    if suffix == ".tsv" and way != "subword-nmt":
        options, source = {"split": "whitespace-split"}, [small / "0.txt"]
    table = PieceCounts.of(source, **options, threads=threads)
    table.save(small / f"whole{suffix}")
    for limit in (None, 200_000, 1 << 40):
        found = count_pieces(source, small / f"a{suffix}", **options, threads=threads, memory_limit=limit)
        assert found == (len(table), table.total)
        assert (small / f"a{suffix}").read_bytes() == (small / f"whole{suffix}").read_bytes()
    assert list((small / "spilled").iterdir()) == []


@pytest.mark.parametrize("way", WAYS)
def test_tables_are_added_within_a_limit(way: str, small: Path) -> None:
    options = WAYS[way]
    tables = [PieceCounts.of(small / f"{number}.txt", **options) for number in range(3)]
    for number, table in enumerate(tables):
        table.save(small / f"{number}.parquet")
    added = [small / "0.parquet", small / "1.parquet"]
    PieceCounts.sum(tables[:2]).save(small / "two.parquet")
    PieceCounts.sum(tables).save(small / "three.parquet")
    for limit in (None, 200_000):
        two = count_pieces(None, small / "a.parquet", tables=added, memory_limit=limit)
        assert two == (len(tables[0] + tables[1]), tables[0].total + tables[1].total)
        assert (small / "a.parquet").read_bytes() == (small / "two.parquet").read_bytes()
        told = {} if "like" not in options else {"like": options["like"]}
        count_pieces(small / "2.txt", small / "b.parquet", tables=added, memory_limit=limit, **told)
        assert (small / "b.parquet").read_bytes() == (small / "three.parquet").read_bytes()
    assert list((small / "spilled").iterdir()) == []


def test_tables_of_text_in_any_order_are_added(small: Path) -> None:
    table = PieceCounts.of(small / "0.txt", split="whitespace-split")
    table.save(small / "a.tsv")
    count_pieces(
        None, small / "b.tsv", tables=[small / "a.tsv"] * 3, split="whitespace-split", memory_limit=200_000
    )
    rows = [line.split("\t") for line in (small / "b.tsv").read_text("utf-8").splitlines()]
    assert rows == [[piece, str(3 * count)] for piece, count in table.most_common()]


def counted(rows: dict[str, int]) -> PieceCounts:
    """A table with these pieces, in order."""
    ends = np.cumsum([len(piece.encode()) for piece in rows], dtype=np.uint64)
    counts = np.array(list(rows.values()), np.uint64)
    return PieceCounts((np.frombuffer("".join(rows).encode(), np.uint8), ends, counts), Rules(get("none")))


def test_a_count_past_64_bits_is_an_error(small: Path) -> None:
    counted({"a": 2**64 - 2, "b": 3}).save(small / "large.parquet")
    tables = [small / "large.parquet"]
    count_pieces(["a"], small / "sum.parquet", tables=tables)
    assert dict(PieceCounts.load(small / "sum.parquet")) == {"a": 2**64 - 1, "b": 3}
    with pytest.raises(TrainingError, match=rf"large\.parquet: .* piece 'a' add up to more than {2**64 - 1}"):
        count_pieces(["a", "a"], small / "more.parquet", tables=tables)
    assert not (small / "more.parquet").exists()


@pytest.mark.parametrize("limit", [None, 200_000])
def test_the_file_that_makes_a_count_too_large_is_named(limit: int | None, small: Path) -> None:
    rows = [
        {"a": 1, "b": 2**64 - 1},
        {"a": 2**64 - 3, "é": 7},
        {"a": 1, "é": 1},
        {"a": 2, "b": 0, "z": 2**64 - 1},
        {"a": 5},
    ]
    tables = [small / f"{number}.parquet" for number in range(len(rows))]
    for path, row in zip(tables, rows, strict=True):
        counted(row).save(path)
    count_pieces(None, small / "sum.parquet", tables=tables[:3], memory_limit=limit)
    assert dict(PieceCounts.load(small / "sum.parquet")) == {"a": 2**64 - 1, "b": 2**64 - 1, "é": 8}
    for number in (4, 5):
        with pytest.raises(TrainingError, match=r"/3\.parquet: with it the counts of the piece 'a' add up"):
            count_pieces(None, small / "sum.parquet", tables=tables[:number], memory_limit=limit)


def test_what_contradicts_is_told_before_anything_is_counted(small: Path) -> None:
    PieceCounts.of(["a"], split="gpt2").save(small / "a.parquet")
    PieceCounts.of(["a"], split="latin").save(small / "b.parquet")
    (small / "c.parquet").write_bytes(b"no table")
    (small / "d.tsv").write_bytes(b"a\t1\n")
    never = (number for number in [1 / 0 for _ in ()])
    for tables, options, error, words in (
        (
            ["a", "b"],
            {},
            TrainingError,
            r"b\.parquet cannot be added to .*a\.parquet: they differ in the split",
        ),
        (["a"], {"split": "latin"}, TrainingError, "was counted otherwise than you say"),
        (["a", "c"], {}, CorpusError, "damaged or truncated Parquet file"),
        (["d.tsv"], {}, CorpusError, "says nothing of how its pieces were cut"),
        (["e"], {}, FileNotFoundError, r"e\.parquet"),
        ([], {"memory_limit": "x"}, TrainingError, "is no size"),
        ([], {"like": "sentencepiece"}, TrainingError, "counts sentences"),
    ):
        files = [small / (name if "." in name else f"{name}.parquet") for name in tables]
        given: dict[str, Any] = options
        with pytest.raises(error, match=words):
            count_pieces(never, small / "out.parquet", tables=files, **given)
    with pytest.raises(TrainingError, match="nothing to count"):
        count_pieces(None, small / "out.parquet")
    with pytest.raises(FormatError, match="a table of counts is a file called"):
        count_pieces(never, small / "out.json")
    assert not (small / "out.parquet").exists()
    assert not (small / "kept").exists()


@pytest.mark.parametrize("limit", [None, 200_000])
def test_a_piece_that_spoils_a_line_is_no_half_written_file(limit: int | None, small: Path) -> None:
    with pytest.raises(FormatError, match=r"would spoil its line: save the table as \.parquet"):
        count_pieces(small / "0.txt", small / "a.txt", split="gpt2", memory_limit=limit)
    assert not (small / "a.txt").exists()
    assert list((small / "spilled").iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told(small: Path) -> None:
    (small / "full.parquet").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        count_pieces(small / "0.txt", small / "full.parquet", split="latin")


class EndedError(Exception):
    """What a progress function raises."""


@pytest.mark.parametrize("file", [True, False])
def test_counting_goes_on_after_an_end(file: bool, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_checkpoint, "SECONDS", 0.0)
    kept, out = small / "kept", small / "out.parquet"
    source: Any = [small / "0.txt", small / "1.txt"] if file else [text(number, 900) for number in range(400)]
    steps = iter(range(2))

    def end(_told: object) -> None:
        if next(steps, None) is None:
            raise EndedError

    whole = PieceCounts.of(source, split="latin")
    with pytest.raises(EndedError):
        count_pieces(source, out, split="latin", progress=end, checkpoint=kept)
    assert not out.exists()
    with pytest.raises(CheckpointError, match="another split"):
        count_pieces(source, out, split="gpt2", checkpoint=kept)
    with pytest.raises(CheckpointError, match="purpose"):
        syllabary.train(source, split="latin", checkpoint=kept)
    assert PieceCounts.of(source, split="latin", checkpoint=kept) == whole
    assert PieceCounts.of(source, split="latin", checkpoint=kept) == whole
    count_pieces(source, out, split="latin", checkpoint=kept)
    whole.save(small / "whole.parquet")
    assert out.read_bytes() == (small / "whole.parquet").read_bytes()


# ---- the verb ----


def test_the_verb_keeps_to_a_limit(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small)
    first = ["count-pieces", "0.txt", "1.txt", "--split", "latin"]
    for more in ([], ["--memory-limit", "200 kB"]):
        name = "b" if more else "a"
        result = run(*first, "-o", f"{name}.parquet", *more)
        assert result.exit_code == 0, result.stderr
        run("count-pieces", "a.parquet", "2.txt", "-o", f"sum-{name}.parquet", "-q", *more)
        top = run("count-pieces", "sum-a.parquet", "2.txt", "-o", "-", "--top", "9", "-q", *more).stdout
        Path(f"top-{name}").write_text(top, encoding="utf-8")
    for pair in (("a.parquet", "b.parquet"), ("sum-a.parquet", "sum-b.parquet"), ("top-a", "top-b")):
        one, other = (Path(name).read_bytes() for name in pair)
        assert one == other
        assert one
    assert len(top.splitlines()) == 9


def test_the_verb_goes_on(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small)
    result = run("count-pieces", "0.txt", "-o", "a.parquet", "--resume")
    assert result.exit_code == 0, result.stderr
    assert not Path("a.parquet.checkpoint").exists()
    PieceCounts.of("0.txt", checkpoint="a.parquet.checkpoint")
    result = run("count-pieces", "0.txt", "-o", "a.parquet", "--resume", "--split", "latin")
    assert result.exit_code == 1
    assert "another split" in result.stderr
    assert run("count-pieces", "0.txt", "-o", "a.parquet", "--resume").exit_code == 0
    assert not Path("a.parquet.checkpoint").exists()
    result = run("count-pieces", "0.txt", "-o", "-", "--resume")
    assert result.exit_code == 2
    assert "`-o -` saves nothing" in result.stderr
    whole = Path("a.parquet").read_bytes()
    result = run("count-pieces", "0.txt", "-o", "a.parquet", "--resume", "--memory-limit", "200 kB")
    assert result.exit_code == 0, result.stderr
    assert Path("a.parquet").read_bytes() == whole
    assert not Path("a.parquet.checkpoint").exists()


def test_the_verb_leaves_what_it_reads_and_checkpoints_of_others(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small)
    text = Path("0.txt").read_bytes()
    for name in ("0.txt", "./0.txt"):
        result = run("count-pieces", "0.txt", "-o", name, "--like", "subword-nmt")
        assert result.exit_code == 1
        assert "is read, and the table would take its place" in result.stderr
    assert Path("0.txt").read_bytes() == text
    PieceCounts.of("0.txt", checkpoint="kept").save("a.parquet")
    before = sorted(Path("kept").iterdir())
    for tables in (["a.parquet"], ["a.parquet", "a.parquet"]):
        result = run("count-pieces", *tables, "-o", "b.parquet", "--checkpoint", "kept")
        assert result.exit_code == 1
        assert "there are tables alone" in result.stderr
    assert sorted(Path("kept").iterdir()) == before
    assert not Path("b.parquet").exists()


def test_long_pieces_of_a_table_are_read_a_few_at_a_time(small: Path) -> None:
    rows = {f"{number:04}" + "x" * 9_000: 1 for number in range(2_000)}
    counted(rows).save(small / "long.parquet")
    sizes = [len(arrays[0]) for arrays, _ascending in counts_file.batches(small / "long.parquet")]
    assert sum(sizes) == sum(map(len, rows))
    assert max(sizes) <= 8 << 20


def test_an_error_names_the_file_that_it_is_of(tmp_path: Path) -> None:
    for name, told in ((None, tmp_path / "out"), (str(tmp_path / "run-1"), tmp_path / "run-1")):
        with pytest.raises(OSError, match="No space left") as caught, open_atomic(tmp_path / "out"):
            raise OSError(errno.ENOSPC, "No space left on device", name)
        assert caught.value.filename == str(told)
    assert list(tmp_path.iterdir()) == []


PEAK = r"""
import random, re, sys
import syllabary
def texts(megabytes):
    draw = random.Random(1)
    for _ in range(megabytes):
        yield " ".join("".join(draw.choices("abcdefghijklmnopqrst", k=9)) for _ in range(100_000))
limit, out = sys.argv[1:3]
syllabary.count_pieces(["low low lower"] * 9, out, split="whitespace-split")
def status(name):
    return int(re.search(name + r":\s*(\d+)", open("/proc/self/status").read())[1]) << 10
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before = status("VmRSS")
limit = limit if limit != "none" else None
found = syllabary.count_pieces(texts(20), out, split="whitespace-split", memory_limit=limit, threads=2)
print((status("VmHWM") - before) >> 20, found[0])
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peaks are read from /proc")
@pytest.mark.parametrize("suffix", [".parquet", ".tsv"])
def test_the_peak_stays_below_the_limit(suffix: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PEAK, "80 MiB", str(tmp_path / f"a{suffix}")]
    (tmp_path / "spilled").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "spilled")}
    done = subprocess.run(
        command, text=True, capture_output=True, check=False, timeout=GUARD, env=environment
    )
    assert done.returncode == 0, done.stderr
    peak, pieces = map(int, done.stdout.split())
    assert peak <= 80
    assert pieces > 1_900_000
    assert list((tmp_path / "spilled").iterdir()) == []
