"""Shards as Parquet, Arrow and Hugging Face datasets: the same documents, whole files, nothing left behind.

Leaves out: what the shards hold (`test_shards`).
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syllabary
from syllabary import shards
from syllabary.errors import ShardError
from syllabary.shards import exporting

END = "<|end|>"
TEXTS = [f"low lower lowest {number} " * (number % 7) for number in range(60)]


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    return syllabary.train(["low lower lowest"] * 3, num_merges=5, special_tokens=[END])


@pytest.fixture(params=["one batch", "many batches"])
def written(
    request: pytest.FixtureRequest, tok: syllabary.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> shards.Shards:
    if request.param == "many batches":
        monkeypatch.setattr(exporting, "BATCH_TOKENS", 100)
        monkeypatch.setattr(exporting, "BATCH_DOCUMENTS", 4)
    return shards.write(TEXTS, tok, tmp_path / "shards", val=0.3)


@pytest.fixture
def quiet_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`datasets` keeps its caches here."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def expected(found: shards.Shards) -> dict[str, list[list[int]]]:
    return {name: [ids.tolist() for ids in split] for name, split in found.splits.items()}


def by_split(table: Any) -> dict[str, list[list[int]]]:
    columns = table.to_pydict()
    found: dict[str, list[list[int]]] = {}
    for name, ids in zip(columns["split"], columns["ids"], strict=True):
        found.setdefault(name, []).append(ids)
    return found


def test_parquet(written: shards.Shards, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    shards.export(written, tmp_path / "ids.parquet")
    table = parquet.read_table(tmp_path / "ids.parquet")
    assert by_split(table) == expected(written)
    assert table.column_names == ["ids", "split"]
    assert str(table.schema.field("ids").type) == "list<element: uint16>"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.parquet", "shards"]


def test_arrow(written: shards.Shards, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    shards.export(written, tmp_path / "ids.arrow", "arrow")
    with pa.memory_map(str(tmp_path / "ids.arrow")) as file:
        table = pa.ipc.open_file(file).read_all()
        assert by_split(table) == expected(written)
        assert table.schema.field("ids").type.value_type == pa.uint16()


def test_datasets(written: shards.Shards, tmp_path: Path, quiet_home: Path, capfd: Any) -> None:
    datasets = pytest.importorskip("datasets")
    before = datasets.utils.are_progress_bars_disabled()
    for _ in range(2):  # the second in the place of the first
        shards.export(written, tmp_path / "saved", "datasets")
    found = datasets.load_from_disk(str(tmp_path / "saved"))
    assert {name: split["input_ids"][:] for name, split in found.items()} == expected(written)
    assert found["train"].with_format("numpy")[1]["input_ids"].dtype.kind in "iu"
    assert datasets.utils.are_progress_bars_disabled() is before
    assert not list((tmp_path / "saved").glob(".*"))
    assert sorted(path.name for path in tmp_path.iterdir() if path != quiet_home) == ["saved", "shards"]
    assert capfd.readouterr() == ("", "")


def test_large_ids_are_uint32(tmp_path: Path, tok: syllabary.Tokenizer) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    large = syllabary.Tokenizer(dataclasses.replace(tok.spec, special_tokens={END: 1_000_000}))
    found = shards.write(["low"], large, tmp_path / "shards", end=END)
    shards.export(found, tmp_path / "ids.parquet")
    table = parquet.read_table(tmp_path / "ids.parquet")
    assert by_split(table) == {"train": [[*tok.encode("low"), 1_000_000]]}


def test_batches_are_bounded_and_hold_every_document_once(
    written: shards.Shards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "BATCH_TOKENS", 50)
    found = []
    for ids, offsets in exporting.batches(written.train):
        assert offsets[0] == 0
        assert offsets[-1] == len(ids)
        assert len(ids) <= 50 or len(offsets) == 2
        found += [ids[start:stop].tolist() for start, stop in itertools.pairwise(offsets)]
    assert found == expected(written)["train"]


@pytest.mark.parametrize("format_", ["parquet", "arrow", "datasets"])
def test_an_export_that_fails_leaves_the_old_one(
    format_: Any, tok: syllabary.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_home: Path
) -> None:
    pytest.importorskip("datasets")
    written = shards.write(TEXTS, tok, tmp_path / "shards")
    target = tmp_path / "out"
    shards.export(written, target, format_)
    before = {path.name: path.stat().st_mtime_ns for path in [target, *target.glob("*")]}
    names = sorted(path.name for path in tmp_path.iterdir())

    def broken(*_: object) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "_replace", broken)
    with pytest.raises(OSError, match="No space left") as caught:
        shards.export(written, target, format_)
    assert caught.value.filename == str(target)
    assert {path.name: path.stat().st_mtime_ns for path in [target, *target.glob("*")]} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_places_that_are_taken(tok: syllabary.Tokenizer, tmp_path: Path) -> None:
    written = shards.write(TEXTS, tok, tmp_path / "shards")
    (tmp_path / "file").write_bytes(b"mine")
    for path, format_, error in (
        (tmp_path / "shards", "parquet", IsADirectoryError),
        (tmp_path / "shards", "datasets", FileExistsError),
        (tmp_path / "file", "datasets", NotADirectoryError),
        (tmp_path / "none" / "file", "arrow", FileNotFoundError),
    ):
        with pytest.raises(error) as caught:
            shards.export(written, path, format_)  # type: ignore[arg-type]
        assert caught.value.filename in (str(path), str(path.parent))
    with pytest.raises(ValueError, match="format='csv' is none of parquet, arrow, datasets"):
        shards.export(written, tmp_path / "x", "csv")  # type: ignore[arg-type]
    assert (tmp_path / "file").read_bytes() == b"mine"


@pytest.mark.parametrize(
    "name, format_", [("pyarrow", "parquet"), ("pyarrow", "arrow"), ("datasets", "datasets")]
)
def test_without_the_library_the_error_names_the_extra(
    name: str, format_: Any, tok: syllabary.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = shards.write(TEXTS, tok, tmp_path / "shards")
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ShardError, match=rf"needs {name}: pip install 'syllabary\[arrow\]'"):
        shards.export(written, tmp_path / "out", format_)
    assert [path.name for path in tmp_path.iterdir()] == ["shards"]


def test_offsets_of_one_huge_document(tmp_path: Path, tok: syllabary.Tokenizer) -> None:
    """A document above the size of a batch is a batch of its own."""
    found = shards.write(["low " * 5000, "low", ""], tok, tmp_path / "shards")
    sizes = [np.diff(offsets).tolist() for _, offsets in exporting.batches(found.train)]
    assert [size for batch in sizes for size in batch] == [len(ids) for ids in found.train]
