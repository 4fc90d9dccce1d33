"""Parquet, Arrow and what `datasets` saves, written by their own libraries."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from corpus_files import PACK, tar, texts, zipped

from syllabary.corpus import arrow, read
from syllabary.errors import CorpusError

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS: dict[str, list[Any]] = {
    "text": ["μῆνιν", "", None, "arma\nvirum"],
    "id": [1, 2, 3, None],
    "lang": ["grc", "lat", "lat", "lat"],
    "ok": [True, False, None, True],
    "deep": [[1], [], None, [2, 3]],
}
EXPECTED = [
    ("μῆνιν", {"id": 1, "lang": "grc", "ok": True, "row": 1}),
    ("", {"id": 2, "lang": "lat", "ok": False, "row": 2}),
    ("arma\nvirum", {"lang": "lat", "ok": True, "row": 4}),
]


def table(**changed: Any) -> Any:
    return pa.table(ROWS | changed)


def written(kind: str, path: Path, content: Any) -> Path:
    if kind == "parquet":
        parquet.write_table(content, path, row_group_size=2)
    elif kind == "feather":
        feather.write_feather(content, path, compression="lz4")
    else:
        new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        with new(path, content.schema) as writer:
            writer.write_table(content, max_chunksize=3)
    return path


KINDS = {"feather": "a.feather", "file": "a.arrow", "parquet": "a.parquet", "stream": "a.arrow"}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_tables(kind: str, tmp_path: Path) -> None:
    path = written(kind, tmp_path / KINDS[kind], table())
    found = [(document.text, dict(document.meta)) for document in read(path)]
    assert found == [(text, meta | {"path": str(path)}) for text, meta in EXPECTED]
    assert texts(path, column="lang", select={"ok": "true"}) == ["grc", "lat"]
    with pytest.raises(CorpusError, match=rf"{path.name}: no column 'body'; the columns are 'text', 'id', "):
        texts(path, column="body")
    with pytest.raises(
        CorpusError, match=r"column 'deep' holds list<.*>, not text; the plain columns are 'text'"
    ):
        texts(path, column="deep")
    with pytest.raises(CorpusError, match=r"row 1: column 'id' holds int, not text"):
        texts(path, column="id")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_tables_packed_and_in_archives(kind: str, tmp_path: Path) -> None:
    data = written(kind, tmp_path / KINDS[kind], table()).read_bytes()
    (tmp_path / KINDS[kind]).unlink()
    expected = [text for text, _ in EXPECTED]
    for name, packed in (
        (f"{KINDS[kind]}.gz", PACK[".gz"](data)),
        ("a.tar.zst", PACK[".zst"](tar({f"x/{KINDS[kind]}": data}))),
        ("a.zip", zipped({KINDS[kind]: data})),
    ):
        (tmp_path / name).write_bytes(packed)
        assert texts(tmp_path / name) == expected


def test_a_copy_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = written("parquet", tmp_path / "a.parquet", table()).read_bytes()
    (tmp_path / "a.parquet.gz").write_bytes(PACK[".gz"](data))
    monkeypatch.setattr(arrow, "SPOOL", 100)
    with pytest.raises(CorpusError, match=r"a\.parquet\.gz: larger than 100 bytes, and must be copied"):
        texts(tmp_path / "a.parquet.gz")
    assert texts(tmp_path / "a.parquet") == [text for text, _ in EXPECTED]


def test_damaged_headers_of_pages(tmp_path: Path, prove: bool) -> None:
    """Parquet's reader gives fewer rows then, and no error: none is lost so. Sums tell other damage."""
    path = tmp_path / "a.parquet"
    parquet.write_table(table(), path, row_group_size=2, write_page_checksum=True)
    whole, short = path.read_bytes(), 0
    for at in range(4, len(whole) // 2):
        for bit in (0, 2, 5, 7) if prove else ((7, 5, 2, 0)[at % 4],):
            data = bytearray(whole)
            data[at] ^= 1 << bit
            path.write_bytes(data)
            try:
                assert len(texts(path)) == len(EXPECTED), (at, bit)
            except CorpusError as error:
                short += "rows, of which" in str(error)
    assert short


@pytest.mark.parametrize("kind", ["parquet", "stream"])
def test_two_columns_of_one_name(kind: str, tmp_path: Path) -> None:
    def columns(*names: str) -> Any:
        return pa.table([pa.array(["a"]), pa.array(["b"]), pa.array(["c"])], names=names)

    path = written(kind, tmp_path / KINDS[kind], columns("text", "x", "text"))
    with pytest.raises(CorpusError, match="two columns are called 'text'; give each a name of its own"):
        texts(path)
    [document] = read(written(kind, path, columns("x", "text", "x")))
    assert (document.text, document.meta["x"]) == ("b", "c")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_columns_of_other_types_of_text(kind: str, tmp_path: Path) -> None:
    for text in (
        pa.array(["a", "b", None, "a"], pa.large_string()),
        pa.array(["a", "b", None, "a"]).dictionary_encode(),
    ):
        if kind == "feather" and text.type == pa.large_string():
            text = text.cast(pa.string())
        assert texts(written(kind, tmp_path / KINDS[kind], table(text=text))) == ["a", "b", "a"]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_damaged_tables(kind: str, tmp_path: Path) -> None:
    path = written(kind, tmp_path / KINDS[kind], table(text=["arma virumque cano " * 50] * 4))
    whole = path.read_bytes()
    for data in (
        b"",
        whole[:7],
        whole[: len(whole) // 2],
        b"not a table at all, but text",
        whole[:-3] + b"xxx",
    ):
        if kind == "stream" and data[:-3] == whole[:-3]:
            continue  # what follows a stream's end is not looked at
        path.write_bytes(data)
        with pytest.raises(CorpusError, match=rf"{path.name}: damaged or truncated"):
            texts(path)


def test_feather_1_is_told_from_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.feather"
    path.write_bytes(b"FEA1" + bytes(20) + b"FEA1")
    with pytest.raises(CorpusError, match=r"a\.feather: Feather 1, which is not read: save it as Feather 2"):
        list(read(path))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_text_that_is_not_utf8(kind: str, tmp_path: Path) -> None:
    binary = pa.array([b"a", b"\xff\xfe", b"c", b"d"], pa.binary())
    wrong = pa.Array.from_buffers(pa.string(), 4, binary.buffers())
    path = written(kind, tmp_path / KINDS[kind], table(text=wrong))
    with pytest.raises(CorpusError, match=rf"{path.name}: damaged or truncated"):
        texts(path)


def test_batches_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    inner = arrow._documents

    def watched(batches: Any, *rest: Any) -> Any:
        def counted() -> Any:
            for batch in batches:
                seen.append(batch.num_rows)
                yield batch

        return inner(counted(), *rest)

    monkeypatch.setattr(arrow, "_documents", watched)
    content = pa.table({"text": ["x"] * 10_000})
    for kind in ("parquet", "file"):
        assert len(texts(written(kind, tmp_path / KINDS[kind], content))) == 10_000
    assert max(seen) <= arrow.ROWS


def test_without_pyarrow_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written("parquet", tmp_path / "a.parquet", table())

    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    for on_error in ("raise", "skip"):
        with pytest.raises(CorpusError, match=r"a\.parquet: .*pip install 'syllabary\[arrow\]'"):
            texts(path, on_error=on_error)


# ---- what datasets saves ----


def saved(folder: Path, content: Any) -> Path:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    content(datasets).save_to_disk(str(folder))
    return folder


def test_a_dataset_on_disk(tmp_path: Path) -> None:
    def content(datasets: Any) -> Any:
        return datasets.Dataset.from_dict({"text": ["a", "b", "c"], "lang": ["grc", "lat", "lat"]})

    folder = saved(tmp_path / "d", content)
    (folder / "cache-0123.arrow").write_bytes(b"of datasets itself")
    assert texts(folder) == texts(tmp_path) == ["a", "b", "c"]
    assert texts(folder, select={"lang": "lat"}) == ["b", "c"]


def test_a_dataset_in_shards_that_was_filtered(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    content = datasets.Dataset.from_dict({"text": [str(number) for number in range(100)]})
    content.select(range(0, 100, 3)).save_to_disk(str(tmp_path / "d"), num_shards=3)
    assert len(list((tmp_path / "d").glob("data-*.arrow"))) == 3
    assert texts(tmp_path / "d") == [str(number) for number in range(0, 100, 3)]


def test_splits_of_a_dataset_on_disk(tmp_path: Path) -> None:
    def content(datasets: Any) -> Any:
        new = datasets.Dataset.from_dict
        return datasets.DatasetDict({"train": new({"text": ["a", "b"]}), "test": new({"text": ["c"]})})

    folder = saved(tmp_path / "d", content)
    assert texts(folder) == ["c", "a", "b"]  # folders sorted
    assert texts(folder, include="train/*") == ["a", "b"]


def test_other_files_called_state(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"x": 1}', "utf-8")
    assert texts(tmp_path) == ['{"x": 1}']
    written("file", tmp_path / "a.arrow", table())
    for content in ('{"x": 1}', "[]", "no JSON", '{"_data_files": [1]}', "[" * 99_999):
        (tmp_path / "state.json").write_text(content, "utf-8")
        assert texts(tmp_path) == [text for text, _ in EXPECTED]
