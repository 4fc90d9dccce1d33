"""Tables of counts as files: what is written is read, others' files too, and damage is an error with a place.

pyarrow and subword-nmt are the judges. Leaves out: counting (`test_counts`), the command (`test_counts_cli`).
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import texts
from subword_nmt.get_vocab import get_vocab  # type: ignore[import-untyped]
from subword_nmt.learn_bpe import learn_bpe  # type: ignore[import-untyped]
from test_counts import table_of

import syllabary
from syllabary import PieceCounts, piece_table
from syllabary.corpus import Care, Corpus
from syllabary.counts import file as counts_file
from syllabary.counts import parquet as counts_parquet
from syllabary.errors import CorpusError, FormatError, TrainingError

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")

TEXT = ["to be or not to be", "that is the question", "μῆνιν ἄειδε θεά", "漢字\n\n  🐈"]
KEY = counts_parquet.KEY
WORDS = {"like": "subword-nmt"}
GUARD = 120

# Hypothesis gives every example the same folder.
in_a_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def table() -> PieceCounts:
    return PieceCounts.of(TEXT, split="gpt2", special_tokens=["<s>"], normalize="NFC")


def about(table: PieceCounts) -> tuple[object, ...]:
    """What equality does not look at."""
    return table.bytes, table.documents, table.corpus, table.rules, [type(count) for _, count in table][:1]


@in_a_folder
@given(st.lists(texts(), max_size=5), st.sampled_from(["gpt2", None, r"\w+"]), st.booleans())
def test_parquet_keeps_all(tmp_path: Path, some: list[str], split: str | None, cares: bool) -> None:
    source = Corpus(some, care=Care(drop_duplicates=cares))
    table = PieceCounts.of(source, split=split, special_tokens=["<s>", "\x00é"], normalize="NFKC")
    table.save(tmp_path / "table.parquet")
    found = PieceCounts.load(tmp_path / "table.parquet")
    assert found == table
    assert list(found) == list(table)
    assert about(found) == about(table)


def test_other_tools_read_it(tmp_path: Path, table: PieceCounts) -> None:
    table.save(tmp_path / "table.parquet")
    rows = pq.read_table(tmp_path / "table.parquet")
    assert rows.schema.types == [pa.string(), pa.uint64()]
    assert list(zip(*(column.to_pylist() for column in rows.columns), strict=True)) == list(table)
    said = json.loads(rows.schema.metadata[KEY])
    assert said["split"]["name"] == "gpt2"
    assert (said["special_tokens"], said["normalize"]) == (["<s>"], "NFC")


def test_large_tables_come_in_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piece_table, "HAND_ROWS", 1000)
    monkeypatch.setattr(piece_table, "HAND_BYTES", 5000)
    monkeypatch.setattr(counts_parquet, "ROWS", 300)
    monkeypatch.setattr(counts_file, "BATCH_ROWS", 700)
    rows = {f"{number * 7919 % 10_007:05}": number + 2**40 for number in range(10_007)}
    rows |= {"long" * 5000: 1, "9" * 30_000: 2}
    table = table_of(rows)
    for name in ("table.parquet", "table.tsv", "table.txt"):
        table.save(tmp_path / name)
        assert PieceCounts.load(tmp_path / name, split=None) == table
    assert pq.ParquetFile(tmp_path / "table.parquet").num_row_groups > 10
    assert (tmp_path / "table.tsv").read_text().startswith(f"02088\t{2**40 + 10_006}\n")


@in_a_folder
@given(
    rows=st.dictionaries(texts(8).filter(bool), st.integers(1, 2**64 - 1), max_size=20),
    suffix=st.sampled_from([".txt", ".tsv"]),
)
def test_text_keeps_pieces_and_counts_or_refuses(tmp_path: Path, rows: dict[str, int], suffix: str) -> None:
    table, path = table_of(rows), tmp_path / f"table{suffix}"
    spoiling = "\n\r " if suffix == ".txt" else "\n\r\t"
    if any(sign in piece for piece in rows for sign in spoiling):
        with pytest.raises(FormatError, match=r"would spoil its line: save the table as \.parquet"):
            table.save(path)
        return
    table.save(path)
    assert PieceCounts.load(path, split=None) == table
    counts = [int(line.split(b" \t"[suffix == ".tsv" :][:1])[-1]) for line in path.read_bytes().splitlines()]
    assert counts == sorted(counts, reverse=True)


# ---- subword-nmt ----


def test_dictionaries_of_subword_nmt_both_ways(tmp_path: Path) -> None:
    lines = [f"{line}\n" for line in " ".join(TEXT * 3).splitlines()] + ["low lower lowest newer  low\n"]
    theirs, codes, ours = io.StringIO(), io.StringIO(), io.StringIO()
    get_vocab(lines, theirs)
    (tmp_path / "theirs.txt").write_text(theirs.getvalue(), encoding="utf-8")
    table = PieceCounts.of(lines, **WORDS)
    assert PieceCounts.load(tmp_path / "theirs.txt", **WORDS) == table
    table.save(tmp_path / "ours.txt")
    assert sorted((tmp_path / "ours.txt").read_text("utf-8").splitlines()) == sorted(
        theirs.getvalue().splitlines()
    )
    learn_bpe(io.StringIO(theirs.getvalue()), codes, 40, is_dict=True)
    learn_bpe(io.StringIO((tmp_path / "ours.txt").read_text("utf-8")), ours, 40, is_dict=True)
    assert ours.getvalue() == codes.getvalue()
    syllabary.train(table, num_merges=40, **WORDS).save(tmp_path / "out.bpe")
    assert (tmp_path / "out.bpe").read_text("utf-8") == codes.getvalue()


# ---- files from elsewhere ----


def write(path: Path, columns: dict[str, Any], **metadata: str) -> Path:
    rows = pa.table(columns)
    pq.write_table(rows.replace_schema_metadata(metadata), path)
    return path


PIECES = ["b", "a", "b", "é", "none"]
COUNTS = [3, 1, 2**33, 5, 0]


TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]


@pytest.mark.parametrize("text", TEXTS, ids=str)
@pytest.mark.parametrize("number", [pa.int64(), pa.uint64()], ids=str)
def test_parquet_from_elsewhere(tmp_path: Path, text: Any, number: Any) -> None:
    columns = {
        "more": pa.array([None, 1.5, 2, 3, 4]),
        "count": pa.array(COUNTS, number),
        "piece": pa.array(PIECES, text),
    }
    path = write(tmp_path / "other.pq", columns)
    table = PieceCounts.load(path, split="gpt2", special_tokens=["<s>"], normalize="NFC")
    assert dict(table) == {"a": 1, "b": 2**33 + 3, "é": 5}
    assert list(dict(table)) == ["a", "b", "é"]
    assert (table.rules.special_tokens, table.rules.normalize) == (("<s>",), "NFC")
    assert (table.bytes, table.documents) == (2**33 + 3 + 1 + 10, None)
    assert (table + table).documents is None
    tok = syllabary.train(table, num_merges=1)
    assert tok.spec.record["corpus_bytes"] == table.bytes
    columns["piece"] = pa.array(PIECES).dictionary_encode()
    assert dict(PieceCounts.load(write(path, columns), split="gpt2")) == dict(table)


@pytest.mark.parametrize("number", [pa.int8(), pa.uint16(), pa.int32()], ids=str)
def test_small_numbers(tmp_path: Path, number: Any) -> None:
    path = write(tmp_path / "a.parquet", {"piece": ["a", "b"], "count": pa.array([1, 127], number)})
    assert dict(PieceCounts.load(path, like="huggingface")) == {"a": 1, "b": 127}


def test_order_and_duplicates_over_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts_parquet, "ROWS", 4)
    pieces = [f"{number:03}" for number in range(50)]
    for some in (pieces, pieces[:30] + pieces[29:], pieces[:12] + pieces[11::-1], pieces[8:] + pieces[:8]):
        counts = list(range(len(some)))
        path = write(tmp_path / "a.parquet", {"piece": some, "count": counts})
        wanted: dict[str, int] = {}
        for piece, count in zip(some, counts, strict=True):
            wanted[piece] = wanted.get(piece, 0) + count
        found = PieceCounts.load(path, split=None)
        assert list(found) == sorted((piece, count) for piece, count in wanted.items() if count)


def test_a_file_that_says_no_rules_needs_them(tmp_path: Path, table: PieceCounts) -> None:
    path = write(tmp_path / "a.parquet", {"piece": ["a"], "count": [1]})
    (tmp_path / "a.txt").write_text("a 1\n")
    for name in ("a.parquet", "a.txt"):
        with pytest.raises(CorpusError, match="says nothing of how its pieces were cut: give split="):
            PieceCounts.load(tmp_path / name)
    with pytest.raises(TrainingError, match="special tokens of the text as plain text"):
        PieceCounts.load(path, like="huggingface", special_tokens=["<s>"])
    table.save(path)
    assert PieceCounts.load(path, split="gpt2", special_tokens=["<s>"], normalize="NFC") == table
    assert PieceCounts.load(path, like="cs336") == table
    for wrong in (
        {"split": "o200k"},
        {"like": "huggingface"},
        {"special_tokens": ["<e>"]},
        {"normalize": "NFD"},
    ):
        with pytest.raises(
            TrainingError, match=r"a\.parquet was counted otherwise than (you say|like='huggingface' counts)"
        ):
            PieceCounts.load(path, **wrong)
