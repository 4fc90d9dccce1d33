"""Files that are no tables of counts, and disks without room: errors with a place, and nothing left over.

Leaves out: files that are tables (`test_counts_files`).
"""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_counts import table_of
from test_counts_files import KEY, WORDS, table, write

from syllabary import PieceCounts
from syllabary.counts import file as counts_file
from syllabary.counts import parquet as counts_parquet
from syllabary.errors import CorpusError, FormatError, TrainingError

__all__ = ["table"]  # a fixture

GUARD = 120


@pytest.mark.parametrize(
    "columns, words",
    [
        ({"text": ["a"], "count": [1]}, "has the columns 'piece' and 'count', this 'text', 'count'"),
        ({"piece": [1], "count": [1]}, "column 'piece' holds int64, not text"),
        ({"piece": [["a"]], "count": [1]}, "column 'piece' holds list.*, not text"),
        ({"piece": ["a"], "count": [1.0]}, "column 'count' holds double, not whole numbers"),
        ({"piece": ["a"], "count": ["1"]}, "column 'count' holds string, not whole numbers"),
        ({"piece": ["a", None], "count": [1, 1]}, "row 2: the piece is null"),
        ({"piece": ["a", "b"], "count": [1, None]}, "row 2: the count is null"),
        ({"piece": ["a", "b"], "count": [1, -1]}, "row 2: the count is below 0"),
        ({"piece": ["a", ""], "count": [1, 1]}, "row 2: the piece is empty"),
        ({"piece": [b"a", b"b\xff"], "count": [1, 1]}, r"row 2: the piece .* is not UTF-8"),
        ({"piece": [b"\xed\xa0\x80"], "count": [1]}, r"row 1: the piece .* is not UTF-8"),
        (
            {"piece": ["a", "a"], "count": pa.array([2**64 - 1, 1], pa.uint64())},
            "piece 'a' add up to more than",
        ),
    ],
)
def test_parquet_that_is_no_table(tmp_path: Path, columns: dict[str, Any], words: str) -> None:
    path = write(tmp_path / "bad.parquet", columns)
    with pytest.raises(CorpusError, match=f"bad.parquet.*{words}"):
        PieceCounts.load(path, split="gpt2")


def test_a_bad_row_far_into_the_file_is_named(tmp_path: Path) -> None:
    count = 200_000
    numbers = [1] * count
    numbers[150_000] = -1
    path = write(tmp_path / "a.parquet", {"piece": [str(row) for row in range(count)], "count": numbers})
    with pytest.raises(CorpusError, match="row 150001: the count is below 0"):
        PieceCounts.load(path, split=None)


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda said: said.pop("split"), "'split' is missing"),
        (lambda said: said.update(version=2), "reads version 1; a newer one wrote the file"),
        (lambda said: said.update(split="gpt2"), r"at \$.split: must be an object"),
        (lambda said: said["split"].update(pattern="("), r"at \$.split.pattern"),
        (lambda said: said.update(special_tokens=[1]), r"at \$.special_tokens\[0\]: must be a string"),
        (lambda said: said.update(normalize="NFX"), r"at \$.normalize: must be one of"),
        (lambda said: said.update(bytes=-1), r"at \$.bytes: must be a whole number from 0"),
        (lambda said: said.update(documents=True), r"at \$.documents: must be a whole number from 0"),
        (lambda said: said.update(corpus=[]), r"at \$.corpus: must be an object"),
        (lambda said: said.update(more=1), "unknown key 'more'"),
    ],
)
def test_damaged_metadata(
    tmp_path: Path, table: PieceCounts, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    path = tmp_path / "a.parquet"
    table.save(path)
    rows = pq.read_table(path)
    said = json.loads(rows.schema.metadata[KEY])
    change(said)
    pq.write_table(rows.replace_schema_metadata({KEY: json.dumps(said)}), path)
    with pytest.raises(CorpusError, match=f"a.parquet: .*{words}"):
        PieceCounts.load(path)
    pq.write_table(rows.replace_schema_metadata({KEY: b'{"version": \xff'}), path)
    with pytest.raises(CorpusError, match=r"a\.parquet: not UTF-8"):
        PieceCounts.load(path)


def test_damaged_bytes(tmp_path: Path, table: PieceCounts, prove: bool) -> None:
    """Cut or changed anywhere, a file is an error, or what is changed was no part of the table."""
    path = tmp_path / "a.parquet"
    table.save(path)
    whole, dice, refused, same = path.read_bytes(), random.Random(5), 0, 0
    cut = [whole[:length] for length in range(0, len(whole), 1 if prove else 41)]
    changed = [bytearray(whole) for _ in range(3000 if prove else 150)]
    for data in changed:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    for data in [*cut, *map(bytes, changed)]:
        path.write_bytes(data)
        try:
            found = PieceCounts.load(path)
        except (CorpusError, TrainingError) as error:
            refused += "a.parquet" in str(error)
        else:
            same += list(found) == list(table)
            assert data not in cut
    assert refused + same == len(cut) + len(changed)
    assert refused >= len(cut)


def test_damaged_headers_of_pages(tmp_path: Path, table: PieceCounts) -> None:
    """Of a column whose first page looks empty, Parquet's reader gives no row, and no error."""
    path = tmp_path / "a.parquet"
    table.save(path)
    whole, short = path.read_bytes(), 0
    for at in range(4, 400):
        for bit in (0, 2, 5, 7):
            data = bytearray(whole)
            data[at] ^= 1 << bit
            path.write_bytes(data)
            try:
                assert list(PieceCounts.load(path)) == list(table), (at, bit)
            except (CorpusError, TrainingError) as error:
                short += "rows, of which" in str(error)
    assert short


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("a.txt", b"a 1\nb\n", "line 2: 'b' is not a piece, a space and a count"),
        ("a.txt", "μῆνιν ἄειδε θεὰ\r\n".encode(), "line 1: 'μῆνιν ἄειδε θεὰ' is not a piece"),
        ("a.txt", "語".encode() * 500, f"line 1: '{'語' * 40}…' is not a piece"),
        ("a.txt", b"a\xff\n", r"line 1: b'a\\xff' is not a piece"),
        ("a.txt", b"a\xe8\xaa", r"line 1: b'a\\xe8\\xaa' is not a piece"),
        ("a.txt", b"a 1\n\n", "line 2: .* is not a piece"),
        ("a.txt", b"a 1\n 5\n", "line 2: .* is not a piece"),
        ("a.txt", b"a b 1\n", "line 1: .* is not a piece"),
        ("a.txt", b"a\t1\n", "line 1: .* is not a piece"),
        ("a.txt", b"a -1\n", "line 1: .* is not a piece, a space and a count from 0"),
        ("a.txt", b"a 1.5\n", "line 1: .* is not a piece"),
        ("a.txt", b"a 18446744073709551616\n", "line 1: the count 18446744073709551616 is above"),
        ("a.txt", b"a " + b"9" * 5000, "line 1: the count 9+ is above"),
        ("a.txt", b"a\rb 1\n", "line 1: .* is not a piece"),
        ("a.txt", b"a 1\nb\xff 1\n", r"line 2: the piece .* is not UTF-8 \(invalid start byte at byte 1\)"),
        ("a.txt", b"\xef\xbb\xbf", "line 1: .* is not a piece"),
        ("a.txt", b"a 18446744073709551615\na 1\n", "piece 'a' add up to more than"),
        ("a.tsv", b"a 1\n", "line 1: .* is not a piece, a tab and a count"),
        ("a.tsv", b"a\tb\t1\n", "line 1: .* is not a piece"),
    ],
)
def test_text_that_is_no_table(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=f"{name}.*{words}"):
        PieceCounts.load(tmp_path / name, split=None)


def test_text_as_tools_write_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("a 1\r\n b 0 \né 3\na 2".encode())
    assert dict(PieceCounts.load(tmp_path / "a.txt", **WORDS)) == {"a": 3, "é": 3}
    (tmp_path / "a.tsv").write_bytes(b" a\t1\r\nb c\t2\n")
    assert dict(PieceCounts.load(tmp_path / "a.tsv", split=None)) == {" a": 1, "b c": 2}
    (tmp_path / "a.txt").write_bytes(b"")
    assert len(PieceCounts.load(tmp_path / "a.txt", **WORDS)) == 0


@pytest.mark.parametrize("suffix", [".txt", ".tsv"])
def test_a_byte_order_mark_is_no_piece(tmp_path: Path, suffix: str) -> None:
    separator = " " if suffix == ".txt" else "\t"
    path = tmp_path / f"a{suffix}"
    path.write_bytes(f"\ufeffa{separator}1\n\ufeffa{separator}2\n".encode())
    table = PieceCounts.load(path, split=None)
    assert dict(table) == {"a": 1, "\ufeffa": 2}
    table.save(path)  # the piece with it comes first now
    assert PieceCounts.load(path, split=None) == table


def test_arguments_of_a_table_are_named(table: PieceCounts) -> None:
    wrong: Any = [table, 5]
    with pytest.raises(TypeError, match=r"^tables\[1\] is int: give tables of counts$"):
        PieceCounts.sum(wrong)
    with pytest.raises(TypeError, match=r"^tables\[0\] is tuple: "):
        PieceCounts.sum(table)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^number is -1: give 0 or more, or None for all$"):
        list(table.most_common(-1))
    with pytest.raises(TypeError, match=r"^number is '3': give an integer$"):
        list(table.most_common("3"))  # type: ignore[arg-type]
    assert list(table.most_common(np.int64(0))) == []  # type: ignore[arg-type]


def test_places_where_no_table_can_be(tmp_path: Path, table: PieceCounts) -> None:
    for path in (tmp_path / "a.json", tmp_path / "counts"):
        with pytest.raises(FormatError, match=r"a table of counts is a file called ….parquet, ….pq, ….txt"):
            table.save(path)
        with pytest.raises(FormatError, match="a table of counts is a file called"):
            PieceCounts.load(path)
    (tmp_path / "folder.parquet").mkdir()
    for path, error in (
        (tmp_path / "folder.parquet", IsADirectoryError),
        (tmp_path / "no" / "a.tsv", FileNotFoundError),
    ):
        with pytest.raises(error):
            table.save(path)
        with pytest.raises(OSError, match=path.name):
            PieceCounts.load(path, split=None)


def test_without_pyarrow_the_error_names_the_extra(
    tmp_path: Path, table: PieceCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.save(tmp_path / "a.parquet")
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    for call in (
        lambda: table.save(tmp_path / "b.parquet"),
        lambda: PieceCounts.load(tmp_path / "a.parquet"),
    ):
        with pytest.raises(CorpusError, match=r"pip install 'syllabary\[arrow\]'"):
            call()
    assert not counts_parquet.is_table(tmp_path / "a.parquet")
    words = PieceCounts.of(["a b"], **WORDS)
    words.save(tmp_path / "a.txt")
    assert PieceCounts.load(tmp_path / "a.txt", **WORDS) == words


def test_which_files_are_tables(tmp_path: Path, table: PieceCounts) -> None:
    table.save(tmp_path / "a.parquet")
    write(tmp_path / "b.parquet", {"piece": ["a"], "count": [1]})
    (tmp_path / "c.parquet").write_bytes(b"PAR1 not at all")
    (tmp_path / "d.parquet").mkdir()
    (tmp_path / "e.txt").write_text("a 1\n")
    found = [
        name for name in "abcdef" for path in tmp_path.glob(f"{name}.*") if counts_parquet.is_table(path)
    ]
    assert found == ["a"]


# ---- the disk ----


@pytest.mark.parametrize("suffix", [".parquet", ".txt", ".tsv"])
@pytest.mark.parametrize("function", ["replace", "fsync"])
@pytest.mark.parametrize("old", [None, b"the old file"], ids=["new", "old"])
def test_a_save_that_fails_leaves_nothing(
    tmp_path: Path, suffix: str, function: str, old: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, path = table_of({"a": 1}), tmp_path / f"table{suffix}"
    if old is not None:
        path.write_bytes(old)

    def full(*_: object) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def interrupted(*_: object) -> Any:
        raise KeyboardInterrupt

    for failure, error in ((full, OSError), (interrupted, KeyboardInterrupt)):
        with monkeypatch.context() as patch:
            patch.setattr(os, function, failure)
            with pytest.raises(error) as caught:
                table.save(path)
        assert error is KeyboardInterrupt or caught.value.filename == str(path)
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == (
            {path.name: old} if old else {}
        )
    table.save(path)
    assert PieceCounts.load(path, split=None) == table


LIMITED = """
import resource, sys
from syllabary import PieceCounts
words = [f"{number * 7919 % 100_003}" for number in range(20_000)]
table = PieceCounts.of(words, like="subword-nmt")
sys.dont_write_bytecode = True  # cut short, it would break who imports it next
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    table.save(sys.argv[1])
except OSError as error:
    print(error.filename, error.strerror)
"""


@pytest.mark.skipif(os.name == "nt", reason="limits are POSIX's here")
@pytest.mark.parametrize("limit", [0, 10, 20_000])
@pytest.mark.parametrize("suffix", [".parquet", ".txt"])
def test_a_file_that_may_not_grow(tmp_path: Path, suffix: str, limit: int) -> None:
    """The kernel itself refuses a write in the middle of the file."""
    path = tmp_path / f"table{suffix}"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(limit)],
        text=True, capture_output=True, check=False, timeout=GUARD,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path} File too large\n", "")
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts_file, "LONGEST_LINE", 20)
    (tmp_path / "a.txt").write_bytes(b"a 1\n" + b"b" * 30)
    with pytest.raises(CorpusError, match="line 2: it is longer than 20 bytes"):
        PieceCounts.load(tmp_path / "a.txt", split=None)
